"""From a summary to a page: one HTML file that asks nobody for anything."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import itertools
import os
import re
import secrets
import stat
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from veridical._core import numbers
from veridical._core.errors import InputError
from veridical._core.version import __version__
from veridical.report import (
    audit_draw,
    correction_draw,
    draw,
    many_draw,
    sensitivity_draw,
)
from veridical.report.estimates_words import covered, figure, figure_range
from veridical.report.schema import AnySummary
from veridical.report.size_words import short as size_short


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
        percent=numbers.percent,
        percent_range=numbers.percent_range,
        points=numbers.points,
        points_range=numbers.points_range,
        pvalue=numbers.pvalue,
        count=numbers.count,
        seconds=numbers.seconds,
        size_short=size_short,
        covered=covered,
        figure=figure,
        figure_range=figure_range,
        prose=prose,
        numbered=numbered,
        sections=sections,
    )
    return environment


# A page under such a name could not be opened.
_OTHER_KINDS = (
    *(".csv", ".json", ".jsonl", ".md", ".parquet", ".tex", ".xlsx"),
    *(".docx", ".ipynb", ".jpg", ".pdf", ".png", ".svg"),
)
_TIES = re.compile(r"(?<=\d) (?=%)|(?<=\b[pn]) (?=[=<] )|(?<=\b[pn] [=<]) (?=\d)")


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
    """Return our own style sheet or script; our own file, so it needs no escaping."""
    return Markup(_templates().get_template(name).render().strip())


def content_policy(
    style: str, scripts: Sequence[str] = (), *, live: bool = False
) -> str:
    """Say what a page may load: its own style sheet and scripts, by hash, nothing else.

    A ``live`` page may also ask again where it came from.
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


def page(summary: AnySummary) -> str:
    """Write a summary as a whole HTML page."""
    return whole(summary["kind"], summary, _pictures(summary))


def whole(
    kind: str, summary: Mapping[str, Any], pictures: Any, *, every: int | None = None
) -> str:
    """Fill the frame that all pages share: the kind's template says what is in it.

    Parameters
    ----------
    kind : str
        Names the template.
    summary : mapping
        Plain numbers and strings.
    pictures : Any
        What the template wants besides.
    every : int, optional
        Seconds after which the page asks for itself again, on this machine.
    """
    style, scripts = _own("style.css"), [_own("page.js")]
    ending = ". This page is one file and loads nothing from anywhere."
    if every is not None:
        scripts.append(_own("watch.js"))
        ending = ", on this machine and for it alone."
    return (
        _templates()
        .get_template("page.html")
        .render(
            s=summary,
            pictures=pictures,
            body=f"{kind}.html",
            style=style,
            scripts=scripts,
            policy=content_policy(style, scripts, live=every is not None),
            every=every,
            ending=ending,
            version=__version__,
        )
    )


def fragment(summary: AnySummary) -> str:
    """Write the first part of a page, for a notebook's cell."""
    return part(summary["kind"], summary, _pictures(summary))


def part(kind: str, summary: Mapping[str, Any], pictures: Any) -> str:
    """Fill the frame for a notebook's cell: the kind's template says what is in it."""
    return (
        _templates()
        .get_template("fragment.html")
        .render(
            s=summary,
            pictures=pictures,
            style=_own("style.css"),
            body=f"{kind}.html",
        )
    )


def numbered(body: Markup) -> Markup:
    """Give every section's heading an address; a name in it has no say in that.

    Examples
    --------
    >>> print(numbered(Markup("<h2>Means</h2>")))
    <h2 id="section-1">Means</h2>
    """
    numbers = itertools.count(1)
    return Markup(
        re.sub("<h2>", lambda _: f'<h2 id="section-{next(numbers)}">', str(body))
    )


def sections(body: Markup) -> list[tuple[str, Markup]]:
    """List addresses and titles of the sections, as they stand in the page."""
    found = re.findall(r'<h2 id="(section-\d+)">(.*?)</h2>', str(body), re.DOTALL)
    return [(address, Markup(title)) for address, title in found]


def _pictures(summary: AnySummary) -> dict[str, Any]:
    if summary["kind"] == "comparison":
        return {"bands": draw.bands(summary), "bar": draw.bar}
    if summary["kind"] == "many":
        return {"distances": many_draw.critical_differences(summary)}
    if summary["kind"] == "sensitivity":
        return {"truths": sensitivity_draw.truths(summary)}
    if summary["kind"] == "audit":
        return {"lanes": audit_draw.lanes(summary)}
    if summary["kind"] == "correction":
        return {"calibration": correction_draw.calibration(summary)}
    return {"forest": draw.forest(summary)}


def check_writable(path: str | Path) -> Path:
    """Make sure that a page can be written, before the work that it will show.

    Parameters
    ----------
    path : str or Path
        Where the page shall go; nothing is left there.

    Raises
    ------
    InputError
        Where the folder is missing or closed, or something other than a file is there.
    """
    target = _target(path)
    with _promise(target), _scratch(target):
        pass
    return target


def write(text: str, path: str | Path) -> Path:
    """Write a file in one step: a reader finds the old one or the new one, whole.

    Parameters
    ----------
    text : str
        What to write, as UTF-8.
    path : str or Path
        Where; a link is followed.
    """
    target = _target(path)
    with _promise(target), _scratch(target) as scratch:
        with scratch.open("wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        os.replace(scratch, target)
        _sync_folder(target.parent)
    return Path(path)


def _target(path: str | Path) -> Path:
    """Find the file that a path means, and refuse to replace anything but a file."""
    if Path(path).suffix.lower() in _OTHER_KINDS:
        raise InputError(
            f"cannot write the page to {str(path)!r}: it is HTML; name it "
            f"{Path(path).with_suffix('.html').name} (a browser prints it to PDF, and "
            "--json gives the figures to programs)"
        )
    target = Path(os.path.realpath(path))
    with _promise(target):
        try:
            mode = target.stat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            return target
    if stat.S_ISDIR(mode):
        raise InputError(
            f"cannot write the page to {str(path)!r}: that is a folder; "
            "name a file in it, such as report.html"
        )
    if not stat.S_ISREG(mode):
        raise InputError(
            f"cannot write the page to {str(path)!r}: that is a device or a pipe; "
            "name an ordinary file, such as report.html"
        )
    return target


@contextlib.contextmanager
def _promise(target: Path) -> Iterator[None]:
    """Turn the system's refusals into words."""
    try:
        yield
    except OSError as error:
        cure = (
            "make the folder first"
            if not target.parent.is_dir()
            else "choose a place where you may write"
        )
        raise InputError(
            f"cannot write {target.name!r} in {str(target.parent)!r}: "
            f"{error.strerror or error}; {cure}"
        ) from error


@contextlib.contextmanager
def _scratch(target: Path) -> Iterator[Path]:
    """Create an empty file beside the target, gone at the end unless it was renamed."""
    scratch = target.with_name(f".veridical-{secrets.token_hex(8)}.tmp")
    # Not tempfile: its files are private, and a page should have the usual rights.
    os.close(os.open(scratch, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    try:
        yield scratch
    finally:
        scratch.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Make a rename last through a power cut, where the system can do that."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
