"""Records as pages, pictures, text for a terminal and tables for papers.

A record is turned into a view (`veridical.report.views`, one file per kind), which says
in plain text and numbers what it shows; renderers (`veridical.report.render`) turn any
view into HTML with SVG, matplotlib, a terminal's text, LaTeX or Markdown. JSON is the
record itself. A report never computes a result and never decides what may be believed:
both are stored in the record.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from veridical._core.csv_text import csv_line
from veridical.report import views as _views  # noqa: F401 (they register)
from veridical.report.files import PICTURES, check_writable, write
from veridical.report.plain import to_json
from veridical.report.render import html, latex, markdown, terminal
from veridical.report.view import view

__all__ = [
    "check_writable",
    "figures",
    "fragment",
    "page",
    "save",
    "to_json",
    "view",
]


def save(record: Any, path: str | Path) -> Path:
    """Write a record to a file; the end of its name says how.

    Parameters
    ----------
    record : record
        What a verb returned.
    path : str or Path
        Where to write it; an existing file is replaced in one step. The name ends in

        - ``.html``, or in nothing that is listed here: one self-contained page, which
          loads nothing from anywhere;
        - ``.json``: the record as ``--json`` prints it;
        - ``.csv``: its data frame, `to_frame`;
        - ``.tex`` or ``.md``: its main table;
        - ``.png`` or ``.svg``: the first figure of its page;
        - ``.pdf``: all figures of its page, one per sheet.

    Returns
    -------
    Path
        The same path.

    Raises
    ------
    InputError
        Where the file cannot be written there, the name ends in another format, or the
        record has no figure.
    """
    return write(_WRITERS.get(Path(path).suffix.lower(), page)(record), path)


def page(record: Any) -> str:
    """Write a record as a whole HTML page.

    Parameters
    ----------
    record : record
        What a verb returned.
    """
    return html.page(view(record))


def fragment(record: Any) -> str:
    """Show a record's answer, picture and first tables as HTML for a notebook.

    Parameters
    ----------
    record : record
        What a verb returned.
    """
    return html.fragment(view(record))


def figures(record: Any) -> list[Any]:
    """Draw all figures of a record on matplotlib, in the order of its page.

    Parameters
    ----------
    record : record
        What a verb returned.

    Returns
    -------
    list of matplotlib Figure
        For ``savefig``; they do not belong to pyplot, so nothing has to be closed.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from veridical import estimate, report
    >>> found = estimate("nb", *load_iris(return_X_y=True), random_state=0)
    >>> [len(figure.axes) for figure in report.figures(found)]
    [1]
    """
    from veridical.report.render import matplotlib

    return matplotlib.figures(view(record))


def plot(record: Any, which: int = 0, **kwargs: Any) -> Any:
    """Draw a figure of a record with pyplot.

    Parameters
    ----------
    record : record
        What a verb returned.
    which : int, default=0
        The place of the figure on the page.
    **kwargs
        As `veridical.report.displays.FigureDisplay.plot` takes them.
    """
    from veridical.report.displays import FigureDisplay

    return FigureDisplay.from_record(record, which=which, **kwargs)


def _write_json(record: Any) -> str:
    return json.dumps(to_json(record), indent=2, allow_nan=False) + "\n"


def _write_csv(record: Any) -> str:
    cells = record.to_frame()
    rows = zip(*(cells[column].tolist() for column in cells), strict=True)
    known = ([None if one != one else one for one in row] for row in rows)
    return "".join(map(csv_line, [cells.columns, *known]))


def _draw_as(kind: str) -> Callable[[Any], bytes]:
    def drawn(record: Any) -> bytes:
        from veridical.report.render import matplotlib

        return matplotlib.to_file(view(record), kind)

    return drawn


def to_markdown(record: Any) -> str:
    """Write the main table of a record as Markdown, its caption below.

    Parameters
    ----------
    record : record
        What a verb returned.
    """
    return markdown.to_markdown(view(record).tables[0])


def to_latex(record: Any) -> str:
    """Write the main table of a record as LaTeX, with rules of ``booktabs``.

    Parameters
    ----------
    record : record
        What a verb returned.
    """
    return latex.to_latex(view(record).tables[0])


def to_html(record: Any) -> str:
    """Write the main table of a record as HTML, without style or script.

    Parameters
    ----------
    record : record
        What a verb returned.
    """
    return html.write_table(view(record).tables[0])


def to_rich(record: Any) -> Any:
    """Lay a record out for a terminal: what was found, the main table, remarks.

    Parameters
    ----------
    record : record
        What a verb returned.
    """
    return terminal.to_rich(view(record))


def method_section(record: Any) -> str:
    """Say how the figures came about, in a paragraph for a method section.

    Protocol, resampling, estimators, test, its correction and its measured
    false-positive rate are stated, and assumptions as assumptions.

    Parameters
    ----------
    record : record
        What a verb returned.
    """
    return view(record).method


#: How a record is written, by the end of the name of the file.
_WRITERS: dict[str, Callable[[Any], str | bytes]] = {
    ".json": _write_json,
    ".csv": _write_csv,
    ".tex": to_latex,
    ".md": to_markdown,
    **{kind: _draw_as(kind) for kind in PICTURES},
}
