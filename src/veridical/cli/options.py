"""What verbs share: the same options by the same names, and where data come from."""

from __future__ import annotations

import math
import shlex
import warnings
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veridical.cli import names
from veridical.cli.commands import ANSWER, ASKED, WORK

if TYPE_CHECKING:
    from veridical.evaluation import Method

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
Drop = Annotated[
    list[str] | None,
    unset("COLUMN,...", "Columns to leave out, an identifier say."),
]
Features = Annotated[
    str | None,
    unset(
        "N",
        r"How many features to select, or a share of them such as 0.1. \[default: "
        f"{DEFAULT_FEATURES}, or half of them where there are fewer than "
        f"{2 * DEFAULT_FEATURES}]",
    ),
]
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


def estimator_option() -> Any:
    """Offer ``--estimator``."""
    about = f"What learns: {names.one_of(names.ESTIMATORS)}."
    known = names.completing(names.ESTIMATORS)
    return asked("NAME", help=about, autocompletion=known)


def cv_option(help: str, default: str | None = None) -> Any:
    """Offer ``--cv`` where it takes any method; the default is shown in words."""
    about = f"{help}: {', '.join(names.METHODS)}, with any numbers.{default or ''}"
    known = names.completing(names.METHODS)
    return asked("CV", help=about, autocompletion=known, show_default=default is None)


def examples(*commands: str) -> str:
    """Write examples for the end of a help text, each in a line of its own."""
    return "\n\n".join(["Examples:", *(f"  veridical {line}" for line in commands)])


def read_features(text: str | None) -> int | float | None:
    """Read ``--features``: a number of features, or a share of them."""
    from veridical._core.errors import InputError

    if text is None:
        return None
    number: int | float = math.nan
    for kind in (float, int):
        with suppress(ValueError):
            number = kind(text)
    if isinstance(number, int) and number < 1:
        raise InputError(f"--features {text} selects nothing; give 1 or more.")
    if isinstance(number, int) or 0 < number <= 1:
        return number
    raise InputError(
        f"--features {text} is neither a number of features nor a share of them; give "
        "20, or 0.1 for a tenth."
    )


def how_many(asked: int | float | None, n_columns: int) -> int:
    """How many features to select; by default not all, which would be no selection."""
    from veridical._core.validation import count_features

    if asked is None:
        asked = min(DEFAULT_FEATURES, (n_columns + 1) // 2)
    return count_features(asked, n_columns, name="--features", strict=True)


# -- before anything is read ---------------------------------------------------------


def check_target(
    verb: str,
    data: Path | None,
    target: str | None,
    drop: Iterable[str] | None = None,
) -> None:
    """Refuse the name of a column where there is no file to look for it."""
    from veridical._core.errors import InputError

    named = [("--target", target), *(("--drop", column) for column in drop or ())]
    for option, column in named:
        if data is None and column is not None:
            raise InputError(
                f"{option} {column} names a column, but there is no file; give it "
                f"first: veridical {verb} DATA {option} COLUMN"
            )


def check_numbers(seed: int, jobs: int = 1) -> None:
    """Refuse numbers that make no sense in any verb."""
    from veridical._core.errors import InputError

    if seed < 0:
        raise InputError(f"--seed {seed} is below 0; give a number from 0 up.")
    if jobs == 0:
        raise InputError("--jobs 0 does no work; give 1 or more, or -1 for all cores.")


def check_names(selectors: Iterable[str] = (), estimators: Iterable[str] = ()) -> None:
    """Refuse selectors and estimators that there are not; near misses are named."""
    from veridical.evaluation.reading import make_selector
    from veridical.learning import make_estimator

    for name in selectors:
        make_selector(name)
    for name in estimators:
        make_estimator(name)


def one_of(option: str, given: str, known: Iterable[str]) -> str:
    """Refuse a word that is not known; near misses are named."""
    from veridical._core.errors import InputError
    from veridical._core.text import did_you_mean

    if given not in known:
        raise InputError(
            f"There is no {option} {given!r}{did_you_mean(given, known)} Use one of "
            f"{', '.join(known)}."
        )
    return given


def method(given: str) -> Method:
    """Read ``--cv``."""
    from veridical._core.advice import for_the_command_line
    from veridical._core.errors import InputError
    from veridical.evaluation.naming import make_method

    if given.isdecimal() and int(given) < 2:
        raise InputError(f"--cv {given} leaves nothing to test; give 2 folds or more.")
    with for_the_command_line():
        return make_method(given)


def split(given: Iterable[str] | None) -> list[str]:
    """Take words with commas between them, or one at a time."""
    words = [word.strip() for text in given or () for word in text.split(",")]
    return [word for word in words if word]


# -- the data ------------------------------------------------------------------------


def take(
    data: Path, target: str | None, drop: Iterable[str] = ()
) -> tuple[Any, Any, str]:
    """Read DATA: a file, or the name of a data set.

    Parameters
    ----------
    data : Path
        As given.
    target : str or None
        The column that holds the class.
    drop : iterable of str
        Columns to leave out, each by itself or with commas between them.

    Returns
    -------
    X, y, name
        The table, the labels, and what to call them.

    Raises
    ------
    InputError
        If there is neither, or it cannot be used; near misses are named.
    """
    with warnings.catch_warnings(record=True) as caught:
        X, y, name = _take(data, target)
    X, left_out = _without(X, list(drop), target)
    for warning in caught:
        # What is left out needs no remark.
        if not any(repr(column) in str(warning.message) for column in left_out):
            warnings.warn(warning.message, warning.category, stacklevel=2)
    return X, y, name


def _take(data: Path, target: str | None) -> tuple[Any, Any, str]:
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


def _without(X: Any, drop: list[str], target: str | None) -> tuple[Any, list[str]]:
    """Leave columns out; a name may itself hold commas."""
    if not drop:
        return X, []
    from veridical._core.errors import InputError
    from veridical._core.text import did_you_mean, listed

    if not hasattr(X, "columns"):
        raise InputError(
            f"--drop {drop[0]} names a column, but the columns of these data have no "
            "names."
        )
    known = [str(column) for column in X.columns]
    asked = [
        name for text in drop for name in ([text] if text in known else split([text]))
    ]
    for name in asked:
        if name == target:
            raise InputError(f"--drop {name} would leave out the target; keep it.")
        if name not in known:
            raise InputError(
                f"--drop {name}: there is no such column{did_you_mean(name, known)} "
                f"The columns are {listed(known)}."
            )
    kept = [name not in asked for name in known]
    if not any(kept):
        raise InputError("--drop leaves out all columns; keep one at least.")
    return X.loc[:, kept], asked


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


def command(
    verb: str,
    data: Path | None,
    target: str | None,
    *options: object,
    drop: Iterable[str] = (),
) -> str:
    """Write the command that asks the same question again."""
    words = ["veridical", verb]
    if data is not None:
        words.append(str(data))
    if target is not None:
        words += ["--target", target]
    for column in drop:
        words += ["--drop", column]
    return shlex.join([*words, *map(str, options)])


def with_origin(
    settings: Mapping[str, str], data: Path | None, repeat: str
) -> dict[str, str]:
    """Add what it takes to repeat a run: the data, the versions, the command.

    The command takes the place of the call in Python that it came to.
    """
    import hashlib

    from veridical._core.version import __version__
    from veridical._core.versions import version_line

    known = {}
    file_of_data = None if data is None else _file_of(data)
    if file_of_data is not None:
        with file_of_data.open("rb") as file:
            known["data sha256"] = hashlib.file_digest(file, "sha256").hexdigest()
    return {
        **{key: value for key, value in settings.items() if not key.endswith("call")},
        **known,
        "veridical": __version__,
        "versions": version_line(),
        "command": repeat,
    }
