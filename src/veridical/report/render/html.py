"""From a view to a page: one HTML file that loads nothing from anywhere."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from veridical._core.version import __version__
from veridical.report.render import svg
from veridical.report.view import Rows, View

MOST_ROWS = 1000  # of a table on a page; the rest is in the JSON
_TIES = re.compile(r"(?<=\d) (?=%)|(?<=\b[pn]) (?=[=<] )|(?<=\b[pn] [=<]) (?=\d)")


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("veridical.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        prose=prose, pictures=svg.draw, kind=lambda block: type(block).__name__
    )
    environment.globals.update(bar=svg.bar, most=MOST_ROWS)
    return environment


def prose(text: str) -> str:
    """Keep a number on the line of its unit.

    Examples
    --------
    >>> prose("n = 10, 5 % of it").replace("\N{NO-BREAK SPACE}", "~")
    'n~=~10, 5~% of it'
    """
    return _TIES.sub("\N{NO-BREAK SPACE}", text)


@cache
def _own(name: str) -> Markup:
    """Return a style sheet or script of this package, which needs no escaping."""
    return Markup(_templates().get_template(name).render().strip())


def content_policy(
    style: str, scripts: Sequence[str] = (), *, live: bool = False
) -> str:
    """Say what a page may load: its own style sheet and scripts, by hash, nothing else.

    A ``live`` page may also reload itself from its own server.
    """
    parts = ["default-src 'none'", f"style-src '{_digest(style)}'"]
    if scripts:
        parts.append(" ".join(["script-src", *(f"'{_digest(s)}'" for s in scripts)]))
    if live:
        parts.append("connect-src 'self'")
    return "; ".join([*parts, "img-src data:", "base-uri 'none'", "form-action 'none'"])


def _digest(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"sha256-{digest}"


def page(view: View) -> str:
    """Write a view as a whole HTML page.

    Parameters
    ----------
    view : View
        What is shown; a live page reloads itself.
    """
    every = None if view.live is None else view.live.every
    style, scripts = _own("style.css"), [_own("page.js")]
    if every is not None:
        scripts.append(_own("watch.js"))
    template = _templates().get_template("page.html")
    return template.render(
        view=view,
        sections=[section for section in view.sections if section.blocks],
        style=style,
        scripts=scripts,
        policy=content_policy(style, scripts, live=every is not None),
        every=every,
        version=__version__,
    )


def fragment(view: View) -> str:
    """Write the first part of a page, for a notebook's cell."""
    template = _templates().get_template("fragment.html")
    return template.render(view=view, style=_own("style.css"))


def write_table(rows: Rows) -> str:
    """Write a table as HTML without style or script, its caption above.

    Examples
    --------
    >>> from veridical.report.view import table as make
    >>> print(write_table(make("Two", "A! | B", [("x", "y")])))
    <table><caption>Two</caption><thead><tr><th scope="col">A</th>\
<th scope="col">B</th></tr></thead><tbody><tr><th scope="row">x</th><td>y</td></tr>\
</tbody></table>
    """
    rows = rows.flat()
    head = Markup("").join(
        Markup('<th scope="col">{}</th>').format(column.header)
        for column in rows.columns
    )
    body = Markup("").join(
        Markup("<tr>{}</tr>").format(
            Markup("").join(
                Markup("<td>{}</td>" if i else '<th scope="row">{}</th>').format(
                    cell.text
                )
                for i, cell in enumerate(row.cells)
            )
        )
        for row in rows.rows
    )
    return str(
        Markup(
            "<table><caption>{}</caption><thead><tr>{}</tr></thead>"
            "<tbody>{}</tbody></table>"
        ).format(rows.caption, head, body)
    )
