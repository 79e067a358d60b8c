"""``veridical schema``: what does the JSON of a verb look like?"""

from __future__ import annotations

from typing import Annotated

import typer

from veridical.cli import console, names

_KNOWN = names.ANSWERING


def schema(
    verb: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="VERB",
            help=f"Whose --json is described: {names.one_of(_KNOWN)}.",
            show_default=False,
            autocompletion=names.completing(_KNOWN),
        ),
    ] = None,
) -> None:
    """Print the JSON Schema of a verb's --json, or list the verbs."""
    from veridical._core.errors import InputError
    from veridical._core.text import did_you_mean
    from veridical.cli.json_schema import schema_of

    if not verb:
        for name in _KNOWN:
            typer.echo(name)
        return
    asked = " ".join(verb)
    if asked not in _KNOWN:
        raise InputError(
            f"There is no JSON of {asked!r}{did_you_mean(asked, _KNOWN)} Use one of "
            f"{', '.join(_KNOWN)}."
        )
    console.dump(schema_of(asked))
