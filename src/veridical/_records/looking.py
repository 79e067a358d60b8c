"""How a record that lies below every room finds the room that shows it."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar


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


class OnAPage(ForPapers):
    """A record with a page of its own, and a part of it to show in a notebook.

    Records lie below every room, so they may not import one; they ask for the one that
    draws them by name, and only when somebody wants to look.
    """

    _drawn_by: ClassVar[str] = "veridical.report"

    def save(self, path: str | Path) -> Path:
        """Write it as one self-contained HTML page.

        Parameters
        ----------
        path : str or Path
            Where to write it; an existing file is replaced in one step.

        Returns
        -------
        Path
            The same path.
        """
        written: Path = import_module(self._drawn_by).save(self, path)
        return written

    def _repr_html_(self) -> str:
        shown: str = import_module(self._drawn_by).fragment(self)
        return shown


def _paper() -> Any:
    return import_module("veridical.report.paper")
