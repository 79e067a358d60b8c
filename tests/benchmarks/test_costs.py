"""The page of costs names every method, and holds what was measured."""

from __future__ import annotations

import inspect
import re

import pytest
from benchmarks.methods import KINDS, Kind, Method, Size, make_table
from sklearn.base import BaseEstimator

from benchmarks import costs
from veridical import auditing, comparison, evaluation, learning, selection
from veridical.comparison.testing import TESTS

NAMES = [method.name for kind in KINDS for method in kind.methods]


def called(name):
    """What a row is about: the words before its parameters."""
    return re.match(r"\w+", name)[0]


def classes(module, parent):
    return {
        name
        for name in module.__all__
        if inspect.isclass(getattr(module, name))
        and issubclass(getattr(module, name), parent)
    }


@pytest.mark.parametrize(
    "names",
    [
        classes(selection, BaseEstimator),
        classes(learning, BaseEstimator),
        {
            name
            for name in evaluation.__all__
            if inspect.isclass(getattr(evaluation, name))
            and hasattr(getattr(evaluation, name), "describe")
            and name not in {"Method"}
        },
        {name.replace("-", "_") for name in TESTS} - {"corrected_t"},
        {"corrected_resampled_t", "binomial_truthfulness", "welch_bias", "friedman"},
        {"compare", "truth", "sensitivity", "audit", "select"},
    ],
    ids=["selectors", "learners", "estimates", "tests", "more tests", "questions"],
)
def test_every_method_has_a_row(names):
    assert len(names) >= 4
    assert names <= {called(name) for name in NAMES}


def test_names_are_unique_and_exist():
    assert len(set(NAMES)) == len(NAMES)
    rooms = (selection, learning, evaluation, comparison, auditing)
    for name in NAMES:
        assert any(hasattr(room, called(name)) for room in rooms), name


def test_the_page_is_that_of_the_figures():
    figures = costs.load()
    # What is new waits for the next measurement, which nobody makes by hand.
    may_wait = {f"{cls.__name__}()" for cls in selection.SELECTORS.values()}
    may_wait |= {"CoxRidge()"}
    times = set(figures["times"])
    assert times <= set(NAMES) <= times | may_wait, "run python -m benchmarks.costs"
    shown = costs.PAGE.read_text(encoding="utf-8")
    assert shown == costs.page(figures), "run python -m benchmarks.costs --write"
    assert all(f"| `{name}` |" in shown for name in times)


class Clock:
    """A clock that only work moves on."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        return self.now

    def works(self, seconds):
        self.now += seconds


def test_growth_is_that_of_the_work(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(costs, "time", clock)
    kind = Kind(
        "loops",
        "Loops",
        "On {size}.",
        Size(40, 60),
        (
            Method("linear", "n p", lambda X, y: clock.works(1e-3 * X.size), "np"),
            Method("square", "n²", lambda X, y: clock.works(1e-3 * len(y) ** 2), "np"),
        ),
    )
    times = costs.measure_kind(kind)
    assert times["linear"]["base"] == pytest.approx(2.4)
    shown = {
        name: [costs.show_growth(found, symbol) for symbol in "npK"]
        for name, found in times.items()
    }
    assert shown == {
        "linear": ["×\u00a02.0", "×\u00a02.0", "–"],
        "square": ["×\u00a04.0", "×\u00a01.0", "–"],
    }


def test_a_method_without_figures_is_not_on_the_page():
    name, *others = NAMES
    times = {other: {"base": 1.0} for other in others}
    shown = costs.page({"times": times})
    assert f"| `{name}` |" not in shown
    assert all(f"| `{other}` |" in shown for other in others)


def test_best_of_stops_when_time_is_up():
    calls = []
    costs.best_of(lambda: calls.append(1), longest=0.0)
    assert len(calls) == 1
    costs.best_of(lambda: calls.append(1), longest=60.0, most=4)
    assert len(calls) == 5


def test_show_time_takes_the_unit_that_suits():
    assert costs.show_time(12.34) == "12\u00a0s"
    assert costs.show_time(0.0123) == "12\u00a0ms"
    assert costs.show_time(1.23e-3) == "1.2\u00a0ms"
    assert costs.show_time(4.2e-6) == "4.2\u00a0µs"


def test_tables_have_the_size_that_was_asked_for():
    X, y = make_table(Size(30, 40, 3).doubled("K"))
    assert X.shape == (30, 40)
    assert len(set(y)) == 6
    X, _ = make_table(Size(30, 40), binary=True)
    assert set(X.ravel()) == {0.0, 1.0}
