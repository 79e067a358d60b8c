"""What verbs share: the same options by the same names, and where data come from."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from veridical.cli import names
from veridical.cli.commands import ANSWER, ASKED, WORK

DEFAULT_FEATURES = 20


def asked(metavar: str | None = None, **more: Any) -> Any:
    """Offer an option that is part of the question."""
    return typer.Option(metavar=metavar, rich_help_panel=ASKED, **more)


def unset(metavar: str, help: str, **more: Any) -> Any:
    """Offer an option that is absent unless given; its help says what happens then."""
    return asked(metavar, help=help, show_default=False, **more)


def flag(name: str, help: str) -> Any:
    """Offer something that is done only if asked for."""
    return typer.Option(name, help=help, rich_help_panel=ASKED)


Target = Annotated[str | None, unset("COLUMN", "The column that holds the class.")]
Folds = Annotated[int, asked("N", help="Folds of the cross-validation.")]
Out = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write a report to this HTML file.",
        show_default=False,
        rich_help_panel=ANSWER,
    ),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", help="No progress and no notes.", rich_help_panel=ANSWER),
]
Jobs = Annotated[
    int,
    typer.Option(
        metavar="N",
        help="Processes at work; -1 for one per core.",
        rich_help_panel=WORK,
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        metavar="N", help="Decides all that is left to chance.", rich_help_panel=WORK
    ),
]


def json_option(verb: str) -> Any:
    """Offer ``--json``, and say what describes the answer."""
    return typer.Option(
        "--json",
        help=f"Print JSON and nothing else, as veridical schema {verb} describes it.",
        rich_help_panel=ANSWER,
    )


def data_argument(otherwise: str) -> Any:
    """Take DATA, and say what happens without it."""
    return typer.Argument(
        metavar="DATA",
        help="A table with one row per case: CSV, TSV, ARFF or libsvm, plain or "
        "packed, Parquet or npz; or a name from veridical data list. "
        f"Without it: {otherwise}.",
        show_default=False,
    )


def selector_option(help: str) -> Any:
    """Offer ``--selector``."""
    known = names.completing(names.SELECTORS)
    return asked("NAME", help=help, autocompletion=known)


def learner_option(help: str, known: tuple[str, ...] = names.LEARNERS) -> Any:
    """Offer ``--learner``."""
    return asked("NAME", help=help, autocompletion=names.completing(known))


def features_option(who: str) -> Any:
    """Offer ``--features``, with the default of `how_many`."""
    return unset(
        "N",
        rf"How many features {who}. \[default: {DEFAULT_FEATURES}, or half of them "
        f"where there are fewer than {2 * DEFAULT_FEATURES}]",
    )


def examples(*commands: str) -> str:
    """Write examples for the end of a help text, each in a line of its own."""
    return "\n\n".join(["Examples:", *(f"  veridical {line}" for line in commands)])


def how_many(asked: int | None, n_columns: int) -> int:
    """How many features to select; all of them would be no selection."""
    return min(DEFAULT_FEATURES, (n_columns + 1) // 2) if asked is None else asked


# -- before anything is read ---------------------------------------------------------


def check_target(verb: str, data: Path | None, target: str | None) -> None:
    """Refuse the name of a column where there is no file to look for it."""
    from veridical._core.errors import InputError

    if data is None and target is not None:
        raise InputError(
            f"--target {target} names a column, but there is no file; give it first: "
            f"veridical {verb} DATA --target COLUMN"
        )


def check_numbers(seed: int, jobs: int = 1, folds: int = 2) -> None:
    """Refuse numbers that make no sense in any verb."""
    from veridical._core.errors import InputError

    if seed < 0:
        raise InputError(f"--seed {seed} is below 0; give a number from 0 up.")
    if jobs == 0:
        raise InputError("--jobs 0 does no work; give 1 or more, or -1 for all cores.")
    if folds < 2:
        raise InputError(f"--folds {folds} leaves nothing to test; give 2 folds or up.")


def check_names(selectors: Iterable[str] = (), learners: Iterable[str] = ()) -> None:
    """Refuse selectors and learners that there are not; near misses are named."""
    from veridical.comparison import make_selector
    from veridical.learning import make_estimator

    for name in selectors:
        make_selector(name)
    for name in learners:
        make_estimator(name)


# -- the data ------------------------------------------------------------------------


def take(data: Path, target: str | None) -> tuple[Any, Any, str]:
    """Read DATA: a file, or the name of a data set.

    Returns
    -------
    X, y, name
        The table, the labels, and what to call them.

    Raises
    ------
    InputError
        If there is neither, or it cannot be used; near misses are named.
    """
    from veridical._core.errors import InputError
    from veridical.datasets import available, load, read
    from veridical.datasets.loading import locate

    text = str(data)
    if data.expanduser().exists():
        return *read(data, target), data.name
    if not (text.startswith("openml:") or text in available()):
        raise InputError(_not_found(data))
    found = locate(text)
    if found is not None:
        path, own = found
        return *read(path, own if target is None else target), text
    if target is not None:
        raise InputError(
            f"--target {target} is for files; the source {text} knows its class. "
            "Leave it out."
        )
    return *load(text), f"{text} source"


def _not_found(data: Path) -> str:
    from veridical._core.text import did_you_mean
    from veridical.datasets import available

    if data.parent != Path() or data.suffix:
        near = [path.name for path in data.expanduser().parent.glob("*")]
        return f"There is no file {data}{did_you_mean(data.name, near)}"
    near = [*available(), *(path.name for path in Path().glob("*"))]
    return (
        f"There is no file {data}, nor a data set of that name"
        f"{did_you_mean(str(data), near)} veridical data list tells the names."
    )


def _file_of(data: Path) -> Path | None:
    from veridical.datasets.loading import locate

    if data.expanduser().exists():
        return data.expanduser()
    found = locate(str(data))
    return None if found is None else found[0]


def command(verb: str, data: Path | None, target: str | None, *options: object) -> str:
    """Write the command that asks the same question again."""
    words = ["veridical", verb]
    if data is not None:
        words.append(str(data))
    if target is not None:
        words += ["--target", target]
    return shlex.join([*words, *map(str, options)])


def with_origin(
    settings: Mapping[str, str], data: Path | None, repeat: str
) -> dict[str, str]:
    """Add what it takes to repeat a run: the data, the versions, the command.

    The command takes the place of the call in Python that it came to.
    """
    import hashlib

    from veridical import __version__
    from veridical._core.versions import in_a_line

    known = {}
    file_of_data = None if data is None else _file_of(data)
    if file_of_data is not None:
        with file_of_data.open("rb") as file:
            known["data sha256"] = hashlib.file_digest(file, "sha256").hexdigest()
    return {
        **{key: value for key, value in settings.items() if not key.endswith("call")},
        **known,
        "veridical": __version__,
        "versions": in_a_line(),
        "command": repeat,
    }
