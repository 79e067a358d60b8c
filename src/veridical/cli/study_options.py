"""The options of ``veridical study``, and what their words mean."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

Name = Annotated[str, typer.Argument(help="The study, see veridical study list.")]
Scale = Annotated[
    str | None,
    typer.Option(
        metavar="SCALE",
        help=r"How much of it: smoke, laptop or paper. \[default: smoke]",
        show_default=False,
    ),
]
Spec = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="A TOML file that says what is varied, instead of a scale.",
        show_default=False,
    ),
]
Store = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help=r"Where the results are kept. \[default: NAME.sqlite]",
        show_default=False,
    ),
]
Where = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COORDINATE=VALUE",
        help="Only these cells, selector=relieff say; may be given more than once.",
        show_default=False,
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        help=r"Decides all that is left to chance. \[default: 0]", show_default=False
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write what was found as a page, beside what the paper says.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
File = Annotated[Path, typer.Argument(metavar="STORE", help="The store.")]


def read_spec(
    study: Any, scale: str | None, path: Path | None, seed: int | None
) -> Any:
    """Find out what is varied: at a scale, or as a file says."""
    from veridical._records import InputError
    from veridical.experiments import SCALES

    if path is not None:
        for option, given in (("--scale", scale), ("--seed", seed)):
            if given is not None:
                raise InputError(
                    f"{option} {given} and --spec {path}: the file says all that is "
                    f"varied, the seed included; leave out {option}."
                )
        return study.spec.from_toml(path)
    scale = "smoke" if scale is None else scale
    seed = 0 if seed is None else seed
    if scale not in SCALES:
        raise InputError(f"There is no scale {scale!r}; use {', '.join(SCALES)}.")
    if seed < 0:
        raise InputError(f"--seed {seed} is below 0; give a number from 0 up.")
    return study.plan(scale, seed)


_UNITS = {
    "time": {"s": 1, "m": 60, "h": 3600, "d": 86400},
    "size": {"k": 2**10, "m": 2**20, "g": 2**30},
}


def _quantity(text: str, option: str, kind: str, examples: str) -> float:
    from veridical._records import InputError

    units = _UNITS[kind]
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-z]?)", text.strip().lower())
    if match is None or (match[2] and match[2] not in units) or float(match[1]) == 0:
        raise InputError(f"{option} {text} is no {kind}; write {examples}.")
    return float(match[1]) * units.get(match[2], 1)


def seconds(text: str, option: str) -> float:
    """Read a time."""
    return _quantity(text, option, "time", "90s, 30m or 8h")


def size(text: str | None, option: str) -> int | None:
    """Read an amount of memory."""
    if text is None:
        return None
    return int(_quantity(text, option, "size", "500M or 4G"))
