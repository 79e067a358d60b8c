"""How a record that lies below every room finds the room that shows it."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def report_room() -> Any:
    """Find the room that draws.

    Records lie below every room, so they may not import one; they ask for the report
    by name, and only when somebody wants to look.
    """
    return import_module("veridical.report")


class ForPapers:
    """What a record offers to those who write about it."""

    def to_markdown(self) -> str:
        """Write the main table as Markdown, with its caption."""
        return _paper().to_markdown(self)

    def to_latex(self) -> str:
        r"""Write the main table as LaTeX, with the rules of ``booktabs``."""
        return _paper().to_latex(self)

    def to_html(self) -> str:
        """Write the main table as HTML, its caption above; names are escaped."""
        return _paper().to_html(self)

    def method_section(self) -> str:
        """Say how the figures came about, in a paragraph for a method section."""
        return _paper().method_section(self)


def _paper() -> Any:
    return import_module("veridical.report.paper")
