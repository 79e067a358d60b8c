"""What it takes to repeat an answer: the call, written down, and the versions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ParamSpec, TypeVar

from veridical._core.progress import reporting
from veridical._core.versions import in_a_line

P = ParamSpec("P")
R = TypeVar("R", bound=Any)

#: Parameters that change how an answer comes or looks, not what it is.
_IDLE = {"n_jobs", "progress", "name"}
#: What is longer is not written out; the reader is told its name.
_LONGEST = 300


def repeatable(function: Callable[P, R]) -> Callable[P, R]:
    """Have the settings of a record tell the call that made it, and the versions.

    The call is written with all that differs from defaults and with the seed that was
    drawn where none was given; data go by their names. Progress is reported meanwhile,
    see `veridical._core.progress`.
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def asked(*arguments: P.args, **options: P.kwargs) -> R:
        label, asked_for = function.__name__, options.get("progress")
        with reporting(asked_for, label) as progress:  # type: ignore[arg-type]
            options["progress"] = progress
            record = function(*arguments, **options)
        given = signature.bind(*arguments, **options).arguments
        written = {name: _write(name, value) for name, value in given.items()}
        if "random_state" in record.settings:
            written["random_state"] = record.settings["random_state"]
        call = _call(function, signature, written)
        told = {"versions": in_a_line(), "call": call}
        return replace(record, settings={**record.settings, **told})

    return asked


def _call(
    function: Callable[..., Any],
    signature: inspect.Signature,
    written: dict[str, str],
) -> str:
    words = []
    for name, parameter in signature.parameters.items():
        text = written.get(name)
        if text is None or name in _IDLE or text == repr(parameter.default):
            continue
        named = parameter.kind is parameter.KEYWORD_ONLY
        words.append(f"{name}={text}" if named else text)
    room = function.__module__.split(".")[1]
    name = function.__name__
    return f"from veridical.{room} import {name}; {name}({', '.join(words)})"


def _write(name: str, value: Any) -> str:
    """Write a value as code, or its name where that would be too long to read."""
    if name in ("X", "y"):
        return name
    if hasattr(value, "tolist"):  # numpy's numbers and arrays, pandas' columns
        value = value.tolist()
    if inspect.isfunction(value) and value.__name__.isidentifier():
        return value.__name__
    text = " ".join(repr(value).split())
    return name if len(text) > _LONGEST or "<" in text else text
