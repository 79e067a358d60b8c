"""One command measures all that pages show, in the time that it promises."""

from __future__ import annotations

from importlib.util import find_spec

from benchmarks.truth.__main__ import AT_ONCE, BUDGET, LIMITS


def test_the_limits_of_all_scripts_are_within_the_budget():
    assert sum(LIMITS.values()) + sum(AT_ONCE.values()) <= BUDGET == 120


def test_every_script_is_there():
    for name in (*LIMITS, *AT_ONCE):
        assert find_spec(f"benchmarks.truth.{name}") is not None
