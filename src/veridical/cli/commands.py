"""How a verb reads its words, and a help that is easy to read."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup

#: Options that only some verbs have, and what to say where they are not.
ELSEWHERE = {
    "--dask": "A cluster works on studies: veridical study run NAME --dask ADDRESS; "
    "here --jobs N takes several cores"
}

ASKED, WORK, ANSWER = "Question", "Work", "Answer"


def tidy(parameters: list[Any], panel: str | None = None) -> list[Any]:
    """Show flags and arguments without a type, and ``--help`` in a panel."""
    for parameter in parameters:
        if parameter.param_type_name == "argument":
            parameter.display_type_rich = lambda ctx: None
        elif parameter.is_flag:
            parameter.metavar = ""
        if parameter.name == "help":
            parameter.help = "Show this text."
            parameter.rich_help_panel = panel
    return parameters


class Verb(TyperCommand):
    """A command whose errors say what to do instead."""

    def get_params(self, ctx: Any) -> list[Any]:
        """List the parameters, as help shows them."""
        return tidy(super().get_params(ctx), ANSWER)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words; add to typer's errors where an option is elsewhere."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            told = getattr(error, "message", "")
            known = {name for parameter in self.params for name in parameter.opts}
            if "unexpected extra argument" in told and "--target" in known:
                cure = "Name the class with --target COLUMN"
                if "--selectors" in known:
                    cure += ", and put commas between selectors"
                error.message = f"{told}. {cure}"  # type: ignore[attr-defined]
            elsewhere = ELSEWHERE.get(getattr(error, "option_name", ""))
            if elsewhere is not None:
                error.message, error.possibilities = f"{told}. {elsewhere}", None  # type: ignore[attr-defined]
            raise


class Group(TyperGroup):
    """Commands that belong together."""

    def get_params(self, ctx: Any) -> list[Any]:
        """List the parameters, as help shows them."""
        return tidy(super().get_params(ctx))
