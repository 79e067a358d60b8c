"""The page of a study that is still running; it asks for itself again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from veridical._core.numbers import duration
from veridical.experiments.findings import Check
from veridical.report import render
from veridical.report.findings_draw import strip
from veridical.report.summarize import clean

SCHEMA = "veridical/watch/1"
REFRESH = 3  # seconds


def page(state: Mapping[str, Any]) -> str:
    """Write where a study stands as a page.

    Parameters
    ----------
    state : mapping
        ``study``, ``store``, ``planned``, ``ok``, ``failed``, ``pending``,
        ``cells_per_second`` and ``seconds_left`` (None while nothing moves),
        ``failures``, ``looked`` (a time of day), ``trouble`` (a sentence or None),
        ``findings`` (as `veridical.report.studies.to_json` gives them, or None) and
        ``unchanged`` (for how many cells each finding has had its outcome).
    """
    findings = state["findings"]
    summary = {
        **state,
        "schema": SCHEMA,
        "study": clean(state["study"]),
        "store": clean(state["store"], 2000),
        "trouble": None if state["trouble"] is None else clean(state["trouble"], 2000),
        "failures": [_failure(one) for one in state["failures"]],
        "unchanged": state.get("unchanged")
        or [0] * len(findings["checks"] if findings else ()),
        "headline": headline(state),
        "belief": _belief(state),
        "settings": findings["settings"] if findings else {},
    }
    every = REFRESH if state["pending"] else None
    return render.whole("watch", summary, {"strip": _strip(findings)}, every=every)


def _failure(one: Mapping[str, Any]) -> dict[str, Any]:
    """Make a failure safe to show: its words come from anywhere."""
    return {
        "status": clean(one["status"]),
        "cell": {clean(key): clean(value) for key, value in one["cell"].items()},
        "detail": None if one["detail"] is None else clean(one["detail"], 2000),
    }


def _strip(findings: Mapping[str, Any] | None) -> Markup:
    found = findings["checks"] if findings else []
    fields = ("statement", "outcome", "published", "ours", "rule")
    return strip([Check(*(one[field] for field in fields)) for one in found])


def _belief(state: Mapping[str, Any]) -> dict[str, str]:
    if not state["pending"]:
        if state["failed"]:
            return {"kind": "care", "badge": "Complete, with failures"}
        return {"kind": "yes", "badge": "Complete"}
    if state["trouble"]:
        return {"kind": "care", "badge": "Trouble"}
    if state["seconds_left"] is None:
        return {"kind": "open", "badge": "Nothing moves"}
    return {"kind": "note", "badge": "Running"}


def headline(state: Mapping[str, Any]) -> str:
    """Say in a sentence how far it is."""
    name, done = clean(state["study"]), state["planned"] - state["pending"]
    if not state["pending"]:
        failed = f"; {state['failed']} failed" if state["failed"] else ""
        return f"{name} is complete: all {state['planned']} cells{failed}."
    share = min(99, round(100 * done / state["planned"]))  # 100 is for the end
    words = f"{name} is at {share} %: {done} of {state['planned']} cells"
    if state["seconds_left"] is None:
        return f"{words}; nothing has been saved in the last two minutes."
    return f"{words}, about {duration(state['seconds_left'])} left."
