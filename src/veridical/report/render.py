"""From a summary to a page: one HTML file that asks nobody for anything."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import re
import secrets
import stat
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from veridical import __version__
from veridical._records import InputError
from veridical.report import audit_draw, correction_draw, draw, many_draw, numbers
from veridical.report.estimates_words import covered
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
        p_value=numbers.p_value,
        count=numbers.count,
        seconds=numbers.seconds,
        size_short=size_short,
        covered=covered,
        prose=prose,
    )
    return environment


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
def _style() -> Markup:
    """Return the style sheet; our own file, so it needs no escaping."""
    return Markup(_templates().get_template("style.css").render().strip())


def content_policy(style: str) -> str:
    """Say what a page may load: its own style sheet, by hash, and nothing else."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def page(summary: AnySummary) -> str:
    """Write a summary as a whole HTML page."""
    policy = content_policy(_style())
    return _render("page.html", summary, policy=policy, version=__version__)


def fragment(summary: AnySummary) -> str:
    """Write the first part of a page, for a notebook's cell."""
    return _render("fragment.html", summary)


def _render(frame: str, summary: AnySummary, **more: str) -> str:
    """Fill a frame: the template named after the summary's kind says what is in it."""
    return (
        _templates()
        .get_template(frame)
        .render(
            s=summary,
            pictures=_pictures(summary),
            style=_style(),
            body=f"{summary['kind']}.html",
            **more,
        )
    )


def _pictures(summary: AnySummary) -> dict[str, Any]:
    if summary["kind"] == "comparison":
        return {"bands": draw.bands(summary), "bar": draw.bar}
    if summary["kind"] == "many":
        return {"distances": many_draw.critical_differences(summary)}
    if summary["kind"] == "sensitivity":
        return {}
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
