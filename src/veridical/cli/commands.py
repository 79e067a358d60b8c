"""Commands of the command line: their errors and their help."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup

#: Options that only some verbs have, and the advice for the other verbs.
ELSEWHERE = {
    "--dask": "A cluster runs studies: veridical study run NAME --dask ADDRESS; here "
    "--jobs N uses several cores"
}

#: Panels of the help.
METHODS_PANEL, WORK_PANEL, OUTPUT_PANEL = "Data and methods", "Computation", "Output"


def simplify_help(parameters: list[Any], panel: str | None = None) -> list[Any]:
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
        return simplify_help(super().get_params(ctx), OUTPUT_PANEL)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; add advice to errors of typer."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            message = getattr(error, "message", "")
            known = {name for parameter in self.params for name in parameter.opts}
            if "unexpected extra argument" in message and "--target" in known:
                cure = "Name the class with --target COLUMN"
                if "--selectors" in known:
                    cure += ", and put commas between selectors"
                error.message = f"{message}. {cure}"  # type: ignore[attr-defined]
            elsewhere = ELSEWHERE.get(getattr(error, "option_name", ""))
            if elsewhere is not None:
                error.message, error.possibilities = f"{message}. {elsewhere}", None  # type: ignore[attr-defined]
            raise


class Group(TyperGroup):
    """A group of commands."""

    def get_params(self, ctx: Any) -> list[Any]:
        """List the parameters, as help shows them."""
        return simplify_help(super().get_params(ctx))
