"""``python -m benchmarks.costs``: what every method costs, in theory and measured.

Times go to ``costs.json`` and the page ``docs/costs.md`` is written from it. Names of
tables measure these alone; ``--write`` measures nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import machine, store
from benchmarks.methods import KINDS, Kind, Method, Size, make_table

HERE = Path(__file__).resolve().parent
FIGURES, PAGE = HERE / "costs.json", HERE.parent / "docs" / "costs.md"
LONGEST = 1.0  # seconds for one figure; a slower call is made once
SYMBOLS = "npK"

INTRODUCTION = """\
# What every method costs

Written by `python -m benchmarks.costs`; do not edit.

*Cost* is the theory: n samples, p features, K classes, k features searched for, f
folds. *Time* is one call on this machine, the best of several, everything compiled and
two cores where the method uses them. The last columns are the theory's test: by how
much the time grew when there were twice as many samples, features or classes (4 instead
of 2). Small problems grow less than the theory says, because a call has a fixed part,
and more where the table outgrows the processor's cache; searches that leave out what
cannot win depend on the data.

How fast this is beside other packages stands in `benchmarks/RESULTS.md`, time, memory
and growth on large tables in `benchmarks/SCALE.md`; `rank_many` makes
[many training sets](many-training-sets.md) cheaper than as many fits.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.costs")
    names = [kind.name for kind in KINDS]
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=", ".join(names))
    parser.add_argument("--write", action="store_true", help="measure nothing")
    options = parser.parse_args(arguments)
    unknown = set(options.tables) - set(names)
    if unknown:
        parser.error(f"no table {', '.join(unknown)}; there are {', '.join(names)}")
    figures = load()
    if not options.write:
        for kind in KINDS:
            if not options.tables or kind.name in options.tables:
                figures["times"].update(measure_kind(kind))
        about = machine.describe()
        figures["machine"] = {name: about[name] for name in ("Cores", "Processor")}
        figures["measured_on"] = time.strftime("%Y-%m-%d")
        store.write(FIGURES, json.dumps(figures, indent=1, ensure_ascii=False) + "\n")
    store.write(PAGE, page(figures))
    return 0


def load() -> dict[str, Any]:
    """Read the times measured so far."""
    if FIGURES.exists():
        stored: dict[str, Any] = json.loads(FIGURES.read_text(encoding="utf-8"))
        return stored
    return {"times": {}}


def measure_kind(kind: Kind) -> dict[str, dict[str, float]]:
    """Measure every method of a table, at its size and with each number doubled."""
    small = Size(max(20, kind.size.n // 4), max(12, kind.size.p // 10))
    found = {}
    for method in kind.methods:
        method.call(*make_table(small, binary=kind.binary))  # compiles
        times = {"base": _at(kind, method, kind.size)}
        for symbol in method.grows:
            times[symbol] = _at(kind, method, kind.size.doubled(symbol))
        found[method.name] = times
        print(f"{kind.name}: {method.name} {times['base']:.4g} s", file=sys.stderr)
    return found


def _at(kind: Kind, method: Method, size: Size) -> float:
    X, y = make_table(size, binary=kind.binary)
    return best_of(lambda: method.call(X, y))


def best_of(call: Callable[[], Any], longest: float = LONGEST, most: int = 7) -> float:
    """Return the shortest of several calls, as many as fit into a time limit."""
    best, spent = float("inf"), 0.0
    for _ in range(most):
        start = time.perf_counter()
        call()
        passed = time.perf_counter() - start
        best, spent = min(best, passed), spent + passed
        if spent >= longest:
            break
    return best


def page(figures: Mapping[str, Any]) -> str:
    """Return the page as Markdown; a method appears once it has been measured."""
    about = figures.get("machine", {})
    lines = [INTRODUCTION]
    if about:
        lines.append(
            f"Measured on {figures['measured_on']}: {about['Cores']} cores of an "
            f"{about['Processor']}.\n"
        )
    lines += [_table(kind, figures["times"]) for kind in KINDS]
    return "\n".join(lines)


def _table(kind: Kind, times: Mapping[str, Mapping[str, float]]) -> str:
    symbols = [s for s in SYMBOLS if any(s in m.grows for m in kind.methods)]
    headings = ["", "cost", "time", *(f"2 {symbol}" for symbol in symbols)]
    size = f"{kind.size.n} samples × {kind.size.p} features, {kind.size.K} classes"
    lines = [
        f"## {kind.title}\n",
        kind.words.format(size=size) + "\n",
        "| " + " | ".join(headings) + " |",
        "|" + " --- |" * len(headings),
    ]
    for method in kind.methods:
        if method.name not in times:
            continue
        found = times[method.name]
        cells = [f"`{method.name}`", method.cost, show_time(found["base"])]
        cells += [show_growth(found, symbol) for symbol in symbols]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def show_time(seconds: float) -> str:
    """Write a time with two digits, in a suitable unit."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        value = seconds * factor
        if value >= 0.95 or unit == "µs":
            return f"{value:.{0 if value >= 9.5 else 1}f}\u00a0{unit}"
    raise AssertionError


def show_growth(found: Mapping[str, float], symbol: str) -> str:
    """Write by which factor the time grew."""
    if symbol not in found:
        return "–"
    return f"×\u00a0{found[symbol] / found['base']:.1f}"


if __name__ == "__main__":
    sys.exit(main())
