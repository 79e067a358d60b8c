"""The options of ``veridical study``, and how their values are read."""

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
from veridical.cli.commands import WORK_PANEL
from veridical.cli.failures import in_one_line

if TYPE_CHECKING:
    from veridical.experiments import Limits
    from veridical.experiments.executors import Executor


_STOPPED_AT_ONCE = "Stopped at once; what was saved before is intact."


def work_option(metavar: str, help: str) -> Any:
    """Make an option that changes how the work is done, not the results."""
    return typer.Option(
        metavar=metavar, help=help, show_default=False, rich_help_panel=WORK_PANEL
    )


def _complete(incomplete: str) -> list[str]:
    """Complete the names of our studies and of those in other packages."""
    from veridical.papers import names as studies

    return names.completer(studies())(incomplete)


NameOption = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help=f"The study: {names.join_or(names.STUDIES)}.",
        autocompletion=_complete,
    ),
]
NamesOption = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="NAME",
        help=f"The study, or several: {names.join_or(names.STUDIES)}.",
        autocompletion=_complete,
        show_default=False,
    ),
]
ScaleOption = Annotated[
    str | None,
    options.optional(
        "SCALE",
        rf"How much of it: {names.join_or(names.SCALES)}. \[default: smoke]",
        autocompletion=names.completer(names.SCALES),
    ),
]
SpecOption = Annotated[
    Path | None,
    options.optional("FILE", "A TOML file with the specification, instead of a scale."),
]
StoreOption = Annotated[
    Path | None,
    options.optional("FILE", r"The file for the results. \[default: NAME.sqlite]"),
]
ConditionsOption = Annotated[
    list[str] | None,
    options.optional(
        "COORDINATE=VALUE",
        "Only these cells, such as selector=relieff; may be repeated.",
    ),
]
StudySeedOption = Annotated[
    int | None, work_option("N", r"Seed of everything random. \[default: 0]")
]
FileOption = Annotated[
    Path, typer.Argument(metavar="STORE", help="The file with the results of a study.")
]


def read_spec(
    study: Any, scale: str | None, path: Path | None, seed: int | None
) -> Any:
    """Return the specification of a scale, or read it from a file."""
    from veridical._core.errors import InputError

    if path is not None:
        for option, given in (("--scale", scale), ("--seed", seed)):
            if given is not None:
                raise InputError(
                    f"{option} {given} and --spec {path}: the file is the whole "
                    f"specification, with the seed; leave out {option}."
                )
        return study.spec.from_toml(path)
    scale = "smoke" if scale is None else scale
    seed = 0 if seed is None else seed
    options.check_choice("scale", scale, names.SCALES)
    options.check_numbers(seed)
    return study.plan(scale, seed)


_UNITS = {
    "time": {"s": 1, "m": 60, "h": 3600, "d": 86400},
    "read_size": {"k": 2**10, "m": 2**20, "g": 2**30},
}


def _quantity(text: str, option: str, kind: str, examples: str) -> float:
    from veridical._core.errors import InputError

    units = _UNITS[kind]
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-z]?)", text.strip().lower())
    if match is None or (match[2] and match[2] not in units) or float(match[1]) == 0:
        raise InputError(f"{option} {text} is not a {kind}; write {examples}.")
    return float(match[1]) * units.get(match[2], 1)


def read_seconds(text: str, option: str) -> float:
    """Read a time."""
    return _quantity(text, option, "time", "90s, 30m or 8h")


def read_size(text: str | None, option: str) -> int | None:
    """Read an amount of memory."""
    if text is None:
        return None
    return int(_quantity(text, option, "read_size", "500M or 4G"))


def choose_studies(given: list[str] | None, every: bool) -> list[str]:
    """Return the names of the studies: those named, or those of all papers."""
    from veridical._core.errors import InputError
    from veridical.papers import NOT_OF_A_PAPER
    from veridical.papers import names as studies

    if every and given:
        raise InputError(f"--all and {', '.join(given)}: name studies, or give --all.")
    if not (every or given):
        raise InputError(
            f"Name a study ({names.join_or(studies())}), or give --all to run those of "
            "all papers."
        )
    if every:
        return [name for name in studies() if name not in NOT_OF_A_PAPER]
    return list(dict.fromkeys(given or ()))


def path_of_study(
    given: Path | None, name: str, suffix: str, n_studies: int
) -> Path | None:
    """Return the file of a study: as given, or in a folder for several studies.

    A folder that does not exist is made.
    """
    if given is None or n_studies == 1:
        return given
    from veridical._core.errors import InputError

    if given.suffix and not given.is_dir():
        raise InputError(
            f"{given} is not a folder; with several studies each writes its own file, "
            f"such as {name}{suffix}, so name a folder."
        )
    try:
        given.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"The folder {given} cannot be made ({error.strerror or error}); name "
            "another one."
        ) from error
    return given / f"{name}{suffix}"


def refuse_if_locked(path: Path) -> None:
    """Raise if another run writes to the store, before slow imports."""
    from veridical.experiments.lock import WriterLock

    if path.is_file():
        WriterLock(path).release()


def limits(cell: str, memory: str | None, total: str | None) -> tuple[Limits, Any]:
    """Return the limits of a cell, and the time at which to stop, or None."""
    from veridical.experiments import Limits

    of_a_cell = Limits(
        read_seconds(cell, "--limit-cell"), read_size(memory, "--limit-memory")
    )
    end = time.monotonic() + read_seconds(total, "--limit-time") if total else None
    return of_a_cell, end


def seconds_until(end: float | None) -> float | None:
    """Return the remaining seconds; None without a time limit."""
    return None if end is None else max(0.0, end - time.monotonic())


def executor(jobs: int, dask: str | None, limits: Any) -> Executor:
    """Return the executor: local processes, or Dask."""
    import os

    from veridical.experiments import Cluster, Processes

    if jobs == -1:
        jobs = os.cpu_count() or 1
    if dask is None:
        return Processes(jobs, limits)
    return Cluster(None if dask == "local" else dask, jobs, limits)


@contextmanager
def errors_printed() -> Iterator[None]:
    """Print an error of the store or the workers; the exit status is 1."""
    from veridical.experiments import StoreError, WorkerError

    try:
        with interrupts.stop_message(_STOPPED_AT_ONCE):
            yield
    except (StoreError, WorkerError) as error:
        typer.echo(f"veridical: {in_one_line(error)}", err=True)
        raise typer.Exit(1) from None
