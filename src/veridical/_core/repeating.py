"""Record how a result can be repeated: the call as code, and the versions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ParamSpec, TypeVar

from veridical._core.progress import reporting
from veridical._core.versions import version_line

P = ParamSpec("P")
R = TypeVar("R", bound=Any)

#: Parameters that do not change the result; they are not written.
_NO_EFFECT = {"n_jobs", "progress", "name"}
#: Characters; of a longer value the name of the parameter is written.
_MAX_LENGTH = 300


def repeatable(function: Callable[P, R]) -> Callable[P, R]:
    """Add the call that made a record, and the versions, to its settings.

    The call is written with all arguments that differ from defaults and with the seed
    that was drawn where none was given; data are written by their names. Progress is
    reported, see `veridical._core.progress`.
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def recorded(*arguments: P.args, **options: P.kwargs) -> R:
        label, progress_given = function.__name__, options.get("progress")
        with reporting(progress_given, label) as progress:  # type: ignore[arg-type]
            options["progress"] = progress
            record = function(*arguments, **options)
        given = signature.bind(*arguments, **options).arguments
        written = {name: _write_value(name, value) for name, value in given.items()}
        if "random_state" in record.settings:
            written["random_state"] = str(record.settings["random_state"])
        call = _call(function, signature, written)
        provenance = {"versions": version_line(), "call": call}
        return replace(record, settings={**record.settings, **provenance})

    return recorded


def _call(
    function: Callable[..., Any],
    signature: inspect.Signature,
    written: dict[str, str],
) -> str:
    written_arguments = []
    for name, parameter in signature.parameters.items():
        text = written.get(name)
        if text is None or name in _NO_EFFECT or text == repr(parameter.default):
            continue
        named = parameter.kind is parameter.KEYWORD_ONLY
        written_arguments.append(f"{name}={text}" if named else text)
    package = function.__module__.split(".")[1]
    name = function.__name__
    joined = ", ".join(written_arguments)
    return f"from veridical.{package} import {name}; {name}({joined})"


def _write_value(name: str, value: Any) -> str:
    """Write a value as code, or its name where that would be too long to read."""
    if name in ("X", "y"):
        return name
    if hasattr(value, "tolist"):  # numpy's numbers and arrays, pandas' columns
        value = value.tolist()
    if inspect.isfunction(value) and value.__name__.isidentifier():
        return value.__name__
    text = " ".join(repr(value).split())
    return name if len(text) > _MAX_LENGTH or "<" in text else text
