"""What verbs share: options, where a record comes from, lists of words."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

DEFAULT_FEATURES = 20

Target = Annotated[
    str | None,
    typer.Option(help="The column that holds the class.", show_default=False),
]
Out = Annotated[
    Path | None,
    typer.Option(help="Write a report to this HTML file.", show_default=False),
]
Jobs = Annotated[int, typer.Option(help="Processes at work; -1 for one per core.")]
Seed = Annotated[int, typer.Option(help="Decides all that is left to chance.")]


def data_argument(otherwise: str) -> Any:
    """Take DATA, and say what happens without it."""
    return typer.Argument(
        help="A table with one row per case: CSV or TSV, plain or packed, or npz. "
        f"Without it: {otherwise}.",
        show_default=False,
    )


def json_option(summary: str) -> Any:
    """Offer ``--json``, and say where the keys of the answer are described."""
    return typer.Option(
        "--json",
        help="Print JSON and nothing else; its keys are those of "
        f"veridical.report.schema.{summary}, and page.",
    )


def features_option(who: str) -> Any:
    """Offer ``--features``, with the default of `how_many`."""
    return typer.Option(
        help=rf"How many features {who}. \[default: {DEFAULT_FEATURES}, or "
        f"half of them where there are fewer than {2 * DEFAULT_FEATURES}]",
        show_default=False,
    )


def how_many(asked: int | None, n_columns: int) -> int:
    """How many features to select; all of them would be no selection."""
    return min(DEFAULT_FEATURES, (n_columns + 1) // 2) if asked is None else asked


def check_target(verb: str, data: Path | None, target: str | None) -> None:
    """Refuse the name of a column where there is no file to look for it."""
    from veridical._records import InputError

    if data is None and target is not None:
        raise InputError(
            f"--target {target} names a column, but there is no file; give it first: "
            f"veridical {verb} DATA --target COLUMN"
        )


def command(verb: str, data: Path | None, target: str | None, *options: object) -> str:
    """Write the command that asks the same question again."""
    words = ["veridical", verb]
    if data is not None:
        words.append(str(data))
    if target is not None:
        words += ["--target", target]
    return shlex.join([*words, *map(str, options)])


def origin(data: Path | None, repeat: str) -> Mapping[str, str]:
    """Tell what it takes to repeat a run: the data, the versions, the command."""
    import hashlib
    import platform
    from importlib.metadata import version

    packages = ", ".join(
        f"{name} {version(name)}" for name in ("numpy", "scikit-learn", "numba")
    )
    known = {}
    if data is not None:
        with data.expanduser().open("rb") as file:
            known["data sha256"] = hashlib.file_digest(file, "sha256").hexdigest()
    return {
        **known,
        "versions": f"Python {platform.python_version()}, {packages}",
        "command": repeat,
    }


class TakesLists(TyperCommand):
    """A command whose options of several values take them in one go.

    ``--methods cv10 loo`` is read as ``--methods cv10 --methods loo``: all words up to
    the next option belong to it.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat the name of a list before each of its words."""
        lists = {name for p in self.params if _is_list(p) for name in p.opts}
        words, name = [], ""
        for i, word in enumerate(args):
            if word == "--":
                words += args[i:]
                break
            if word.startswith("-"):
                name = word.partition("=")[0]
                name = name if name in lists else ""
                follows = args[i + 1 : i + 2]
                if word == name and follows and not follows[0].startswith("-"):
                    continue  # its words will bring it
            elif name:
                words.append(name)
            words.append(word)
        return super().parse_args(ctx, words)


def _is_list(parameter: Any) -> bool:
    return parameter.param_type_name == "option" and parameter.multiple
