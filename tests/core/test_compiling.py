"""Compilation: its time is counted, and values of arguments make no difference."""

from __future__ import annotations

import pytest

from veridical._core import compiling
from veridical._core.compiling import njit


@pytest.fixture
def pair():
    """Return two kernels, of which the second calls the first."""

    @njit(cache=False)
    def add(a, b):
        return a + b

    @njit(cache=False)
    def add_up(values):
        total = 0
        for value in values:
            total = add(total, value)
        return total

    return add, add_up


def test_the_time_of_a_compilation_is_counted_once(pair, monkeypatch):
    times = []
    monkeypatch.setattr(compiling, "add_compiling_time", times.append)
    _, add_up = pair

    assert add_up((1, 2, 3)) == 6
    assert add_up((4, 5, 6)) == 15
    assert len(times) == 1  # that of `add` is part of it
    assert times[0] > 0


def test_a_kernel_is_compiled_for_types_and_not_for_a_first_zero(pair):
    add, add_up = pair

    assert add_up((1, 2, 3)) == 6
    assert len(add.signatures) == 1
    assert add(1, 2) == 3
    assert len(add.signatures) == 1
