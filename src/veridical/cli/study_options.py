"""The options of ``veridical study``, and what their words mean."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veridical._core import interrupts
from veridical.cli import names, options
from veridical.cli.commands import WORK
from veridical.cli.failures import in_one_line

if TYPE_CHECKING:
    from veridical.experiments import Limits, PaperStudy
    from veridical.experiments.executors import Executor


_STOPPED_AT_ONCE = "Stopped at once; what was saved before is intact."


def work(metavar: str, help: str) -> Any:
    """Offer an option that changes how the work is done, not what is found."""
    return typer.Option(
        metavar=metavar, help=help, show_default=False, rich_help_panel=WORK
    )


def _complete(incomplete: str) -> list[str]:
    """Offer our studies, and those that other packages bring."""
    from veridical.papers import names as studies

    return names.completing(studies())(incomplete)


Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help=f"The study: {names.one_of(names.STUDIES)}.",
        autocompletion=_complete,
    ),
]
Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="NAME",
        help=f"The study, or several: {names.one_of(names.STUDIES)}.",
        autocompletion=_complete,
        show_default=False,
    ),
]
Scale = Annotated[
    str | None,
    options.unset(
        "SCALE",
        rf"How much of it: {names.one_of(names.SCALES)}. \[default: smoke]",
        autocompletion=names.completing(names.SCALES),
    ),
]
Spec = Annotated[
    Path | None,
    options.unset("FILE", "A TOML file that says what is varied, instead of a scale."),
]
Store = Annotated[
    Path | None,
    options.unset("FILE", r"Where the results are kept. \[default: NAME.sqlite]"),
]
Where = Annotated[
    list[str] | None,
    options.unset(
        "COORDINATE=VALUE",
        "Only these cells, selector=relieff say; may be given more than once.",
    ),
]
Seed = Annotated[
    int | None, work("N", r"Decides all that is left to chance. \[default: 0]")
]
File = Annotated[
    Path, typer.Argument(metavar="STORE", help="Where a study keeps its results.")
]


def read_spec(
    study: Any, scale: str | None, path: Path | None, seed: int | None
) -> Any:
    """Find out what is varied: at a scale, or as a file says."""
    from veridical._core.errors import InputError
    from veridical._core.text import did_you_mean
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
        raise InputError(
            f"There is no scale {scale!r}{did_you_mean(scale, SCALES)} Use one of "
            f"{', '.join(SCALES)}."
        )
    options.check_numbers(seed)
    return study.plan(scale, seed)


_UNITS = {
    "time": {"s": 1, "m": 60, "h": 3600, "d": 86400},
    "size": {"k": 2**10, "m": 2**20, "g": 2**30},
}


def _quantity(text: str, option: str, kind: str, examples: str) -> float:
    from veridical._core.errors import InputError

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


def find(name: str) -> PaperStudy:
    """Find a study by its name."""
    from veridical.papers import find_study

    return find_study(name)


def choose(given: list[str] | None, every: bool) -> list[str]:
    """Return the names of the studies to run: those that were named, or all."""
    from veridical._core.errors import InputError
    from veridical.papers import names as studies

    if every and given:
        raise InputError(f"--all and {', '.join(given)}: name studies, or give --all.")
    if not (every or given):
        raise InputError(
            f"Name a study ({names.one_of(studies())}), or give --all to run all."
        )
    return studies() if every else list(dict.fromkeys(given or ()))


def place(given: Path | None, name: str, suffix: str, n_studies: int) -> Path | None:
    """Return where a study writes a file: where it was told, or in a folder of many."""
    if given is None or n_studies == 1:
        return given
    from veridical._core.errors import InputError

    if not given.is_dir():
        raise InputError(
            f"{given} is no folder; of several studies each writes a file of its own, "
            f"such as {name}{suffix}, so name a folder that is there."
        )
    return given / f"{name}{suffix}"


def refuse_if_held(path: Path) -> None:
    """Say at once that another run has the store, before loading what takes time."""
    from veridical.experiments.lock import WriterLock

    if path.is_file():
        WriterLock(path).release()


def limits(cell: str, memory: str | None, total: str | None) -> tuple[Limits, Any]:
    """Read the limits of a cell, and when all work has to end; None for never."""
    from veridical.experiments import Limits

    of_a_cell = Limits(seconds(cell, "--limit-cell"), size(memory, "--limit-memory"))
    end = time.monotonic() + seconds(total, "--limit-time") if total else None
    return of_a_cell, end


def seconds_until(end: float | None) -> float | None:
    """Return the seconds that are left; None where there is no end."""
    return None if end is None else max(0.0, end - time.monotonic())


def executor(jobs: int, dask: str | None, limits: Any) -> Executor:
    """Say who works: processes here, or a Dask scheduler."""
    import os

    from veridical.experiments import Cluster, Processes

    if jobs == -1:
        jobs = os.cpu_count() or 1
    if dask is None:
        return Processes(jobs, limits)
    return Cluster(None if dask == "local" else dask, jobs, limits)


@contextmanager
def told() -> Iterator[None]:
    """Tell what stopped the engine in a sentence; no bad input, so status 1."""
    from veridical.experiments import StoreError, WorkerError

    try:
        with interrupts.stop_message(_STOPPED_AT_ONCE):
            yield
    except (StoreError, WorkerError) as error:
        typer.echo(f"veridical: {in_one_line(error)}", err=True)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:  # a second Ctrl-C: no time to finish anything
        typer.echo(_STOPPED_AT_ONCE, err=True)
        raise typer.Exit(interrupts.STATUS) from None
