"""The page of a study that is still running; it asks for itself again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from veridical import __version__
from veridical.experiments.progress import duration
from veridical.report import render

REFRESH = 3  # seconds


def page(state: Mapping[str, Any]) -> str:
    """Write where a study stands as a page.

    Parameters
    ----------
    state : mapping
        ``study``, ``store``, ``planned``, ``ok``, ``failed``, ``pending``,
        ``cells_per_second`` and ``seconds_left`` (None while nothing moves),
        ``failures``, ``looked`` (a time of day), ``trouble`` (a sentence or None) and
        ``findings`` (as `veridical.report.studies.to_json` gives them, or None).
    """
    style = render._style()
    return (
        render._templates()
        .get_template("watch.html")
        .render(
            state=state,
            headline=headline(state),
            refresh=REFRESH if state["pending"] else None,
            style=style,
            policy=render.content_policy(style),
            version=__version__,
        )
    )


def headline(state: Mapping[str, Any]) -> str:
    """Say in a sentence how far it is."""
    name, done = state["study"], state["planned"] - state["pending"]
    if not state["pending"]:
        failed = f"; {state['failed']} failed" if state["failed"] else ""
        return f"{name} is complete: all {state['planned']} cells{failed}."
    share = 100 * done / state["planned"]
    words = f"{name} is at {share:.0f} %: {done} of {state['planned']} cells"
    if state["seconds_left"] is None:
        return f"{words}; nothing has been saved in the last two minutes."
    return f"{words}, about {duration(state['seconds_left'])} left."
