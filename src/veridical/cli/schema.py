"""``veridical schema``: the JSON Schema of the output of a verb."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from veridical.cli import console, names, options

_KNOWN = names.ANSWERING


def schema(
    verb: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="VERB",
            help=f"Whose --json is described: {names.join_or(_KNOWN)}.",
            show_default=False,
            autocompletion=names.completer(_KNOWN),
        ),
    ] = None,
) -> None:
    """Print the JSON Schema of a verb's --json, or list the verbs."""
    if not verb:
        for name in _KNOWN:
            typer.echo(name)
        return
    console.dump(schema_of(options.check_choice("JSON of", " ".join(verb), _KNOWN)))


def schema_of(verb: str) -> dict[str, Any]:
    """Write the JSON Schema of a verb's answer.

    Parameters
    ----------
    verb : str
        A key of `veridical.cli.answers.ANSWERS`.
    """
    from pydantic import TypeAdapter
    from pydantic.json_schema import GenerateJsonSchema

    from veridical.cli.answers import ANSWERS

    class Closed(GenerateJsonSchema):
        """Schema without additional keys and without redundant titles."""

        def typed_dict_schema(self, schema: Any) -> dict[str, Any]:
            described = super().typed_dict_schema(schema)
            del described["title"]
            return {**described, "additionalProperties": False}

        def field_title_should_be_set(self, schema: Any) -> bool:
            return False

    kinds, has_page = ANSWERS[verb]
    answers, written = TypeAdapter.json_schemas(
        [(kind, "serialization", TypeAdapter(kind)) for kind in kinds],
        schema_generator=Closed,
    )
    parts = list(answers.values())
    for part in parts if has_page else ():
        described = written["$defs"][part["$ref"].removeprefix("#/$defs/")]
        described["properties"]["page"] = {
            "description": "Where the report was written, if one was asked for.",
            "type": ["string", "null"],
        }
        described["required"].append("page")
    return {
        "$schema": GenerateJsonSchema.schema_dialect,
        "title": f"The answer of veridical {verb} --json",
        **(parts[0] if len(parts) == 1 else {"anyOf": parts}),
        "$defs": written.get("$defs", {}),
    }
