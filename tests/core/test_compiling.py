"""Compilation: its time is counted, and values of arguments make no difference."""

from __future__ import annotations

import importlib
from typing import Any

import numba
import pytest
from numba.core import event

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


@pytest.fixture
def compiled():
    """Return the names of the kernels of this file that are compiled from now on."""
    names = []

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            function = event.data["dispatcher"].py_func
            if function.__module__ == __name__:
                names.append(function.__name__)

        def on_end(self, event: Any) -> None:
            pass

    with event.install_listener("numba:compile", Listener()):
        yield names


def test_the_time_of_a_compilation_is_counted_once(pair, monkeypatch):
    times = []
    monkeypatch.setattr(compiling, "add_compiling_time", times.append)
    _, add_up = pair

    assert add_up((1, 2, 3)) == 6
    assert add_up((4, 5, 6)) == 15
    assert len(times) == 1  # that of `add` is part of it
    assert times[0] > 0


def test_a_kernel_is_compiled_for_types_and_not_for_a_first_zero(pair, compiled):
    add, add_up = pair

    assert add_up((1, 2, 3)) == 6
    assert sorted(compiled) == ["add", "add_up"]
    assert add(1, 2) == add(3, 0) == 3
    assert sorted(compiled) == ["add", "add", "add_up"]
    assert len(add.signatures) == 1


def test_what_only_kernels_call_has_no_wrappers_and_no_file(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    source = tmp_path / "two_kernels.py"
    source.write_text(
        "from veridical._core.compiling import njit\n"
        "@njit()\n"
        "def double(x):\n"
        "    return 2 * x\n"
        "@njit()\n"
        "def quadruple(x):\n"
        "    return double(double(x))\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    kernels = importlib.import_module("two_kernels")

    assert kernels.quadruple(3) == 12
    assert not kernels.double.signatures
    code = next(iter(kernels.quadruple.inspect_llvm().values()))
    assert "cpython" in code
    assert "cfunc" not in code
    assert {path.name.split("-")[0] for path in tmp_path.rglob("*.nbi")} == {
        "two_kernels.quadruple"
    }
    assert kernels.double(3) == 6  # Python may call it all the same
    assert kernels.quadruple(2.5) == 10.0
