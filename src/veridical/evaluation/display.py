"""An estimate to look at: a line, a table in the terminal, a table in a notebook."""

from __future__ import annotations

from html import escape
from math import nan
from typing import Any

from veridical._core.numbers import count, percent
from veridical.evaluation.records import Coverage, Estimate
from veridical.evaluation.trust import default_interval

_STYLE = (
    "border-collapse:collapse;font-variant-numeric:tabular-nums;text-align:left;"
    "margin:0.5em 0"
)
_NAMES = {
    "mean_of_splits": "mean of the splits",
    "resubstitution": "on the training cases",
    "outside": "outside the samples",
    "outside_by_case": "outside, averaged by case",
    "no_information_rate": "no-information error rate",
    "overfitting_rate": "overfitting rate",
    "weight": "weight of the outside accuracy",
}


def figure(estimate: Estimate, value: float) -> str:
    """Write an accuracy as a percentage, any other score as a number."""
    return percent(value) if estimate.metric == "accuracy" else f"{value:.4g}"


def one_line(estimate: Estimate) -> str:
    """Say the estimate in one line."""
    parts = [f"{estimate.metric} {figure(estimate, estimate.value)}"]
    kind = default_interval(estimate)
    if kind is not None:
        low, high = (figure(estimate, b) for b in estimate.interval(kind=kind))
        parts.append(f"95 % interval {low} to {high} ({kind})")
    parts.append(f"by {estimate.method}")
    if estimate.notes:
        parts.append(count(len(estimate.notes), "note"))
    return f"<Estimate: {', '.join(parts)}>"


def rows(estimate: Estimate) -> list[tuple[str, str]]:
    """List what to show, line by line."""
    lines = [(estimate.metric, figure(estimate, estimate.value))]
    lead = default_interval(estimate)
    for kind in sorted(estimate.assumes, key=lambda kind: kind != lead):
        if kind == "nested" and kind != lead:
            # it costs many fits; whoever wants it asks for it
            text = 'ask for it: interval(kind="nested")'
        else:
            low, high = (figure(estimate, b) for b in estimate.interval(kind=kind))
            text = f"{low} to {high}"
        text += f"; assumes {estimate.assumes[kind]}"
        if kind in estimate.coverage:
            text += f"; {covered(estimate.coverage[kind])}"
        lines.append((f"95 % interval, {kind}", text))
    if not estimate.assumes:
        lines.append(("interval", "none is valid for this method and score"))
    lines += [
        ("spread over splits", figure(estimate, estimate.std)),
        ("splits", str(len(estimate.scores))),
        ("cases tested", str(estimate.n_test)),
        ("method", estimate.method),
        ("estimator", estimate.estimator),
        ("random_state", str(estimate.random_state)),
    ]
    for key, value in estimate.details.items():
        is_share = key not in ("overfitting_rate", "weight")
        text = figure(estimate, value) if is_share else f"{value:.3f}"
        lines.append((_NAMES.get(key, key), text))
    return lines + [("note", note) for note in estimate.notes]


def row(estimator: str, estimate: Estimate) -> tuple[Any, ...]:
    """Give the figures of an estimate, as a row of `Estimates.to_frame`."""
    kind = default_interval(estimate)
    bounds = (nan, nan) if kind is None else estimate.interval(kind=kind)
    first = (estimator, estimate.metric, estimate.method, estimate.value, estimate.std)
    return (*first, kind, *bounds, len(estimate.scores), estimate.n_test)


def covered(measured: Coverage) -> str:
    """Say how often intervals of a kind have covered the truth."""
    low, high = percent(measured.low), percent(measured.high)
    share = low if low == high else f"{low} to {high}"
    return f"measured coverage {share} ({measured.conditions})"


def table(estimate: Estimate) -> Any:
    """Lay the estimate out for a terminal."""
    from rich.table import Table
    from rich.text import Text

    grid = Table(show_header=False, box=None, pad_edge=False)
    for name, text in rows(estimate):
        style = "bold" if name == estimate.metric else ""
        if name == "note":
            style = "yellow"
        grid.add_row(Text(name, style="dim"), Text(text, style=style))
    return grid


def html(estimate: Estimate) -> str:
    """Lay the estimate out for a notebook: no script, nothing from elsewhere."""
    body = "".join(
        f'<tr><th scope="row" style="padding-right:1em">{escape(name)}</th>'
        f"<td>{escape(text)}</td></tr>"
        for name, text in rows(estimate)
    )
    return f'<table style="{_STYLE}"><tbody>{body}</tbody></table>'
