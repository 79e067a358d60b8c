"""A case and its record, made by hand: one contender for every fate there is."""

from benchmarks.aims import Faster, Lean
from benchmarks.definitions import (
    Agreement,
    Case,
    CaseRecord,
    Contender,
    Measurement,
    Result,
)
from benchmarks.problems import normal


def nothing(_):
    return Result()


CASE = Case(
    name="sample",
    title="A sample",
    make=normal,
    size={"n": 40, "p": 30},
    small={"n": 20, "p": 12},
    contenders=(
        Contender("ours", nothing),
        Contender("equal", nothing),
        Contender("wrong", nothing),
        Contender("slow", nothing),
        Contender("absent", nothing),
        Contender("broken", nothing),
        Contender("guessed", nothing, differs="solves half of it"),
    ),
    aims=(Faster("ours", "equal", 2), Lean("ours")),
    notes="Made by hand.",
)

AGREES = Agreement(True, "order: equal")
DIFFERS = Agreement(False, "order: differs first at place 1")

RECORD = CaseRecord(
    "sample",
    (40, 30),
    "2026-01-31",
    "0000000",
    0.25,
    (
        Measurement("ours", "measured", 0.5, 3, 2**20, 9600, 40),
        Measurement("equal", "measured", 2.0, 3, 0, 9600, 40, agreement=AGREES),
        Measurement("wrong", "measured", 0.1, 3, 0, 9600, 40, agreement=DIFFERS),
        Measurement("slow", "over", 300.0, note="over 300 s"),
        Measurement("absent", "missing", note="not installed: absent"),
        Measurement("broken", "failed", note="ValueError: a | b"),
        Measurement("guessed", "measured", 100.0, 1, None, note="extrapolated: twice"),
    ),
)
