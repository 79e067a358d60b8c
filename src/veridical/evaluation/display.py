"""How an estimate is shown: as a line, in the terminal and in a notebook."""

from __future__ import annotations

from html import escape
from math import nan
from typing import Any

from veridical._core.numbers import count, percent
from veridical.evaluation.conclusions import write_score
from veridical.evaluation.records import Coverage, Estimate
from veridical.evaluation.trust import default_interval

_STYLE = (
    "border-collapse:collapse;font-variant-numeric:tabular-nums;text-align:left;"
    "margin:0.5em 0"
)
#: Labels of the entries of ``Estimate.details``.
_LABELS = {
    "mean_of_splits": "mean of the splits",
    "resubstitution": "on the training samples",
    "outside": "outside the samples",
    "outside_by_sample": "outside, averaged by sample",
    "no_information_rate": "no-information error rate",
    "overfitting_rate": "overfitting rate",
    "weight": "weight of the outside accuracy",
}


def estimate_line(estimate: Estimate) -> str:
    """Write the estimate in one line."""
    parts = [f"{estimate.metric} {write_score(estimate.value, estimate.metric)}"]
    kind = default_interval(estimate)
    if kind is not None:
        parts.append(f"95 % interval {_bounds(estimate, kind)} ({kind})")
    parts.append(f"by {estimate.method}")
    if estimate.notes:
        parts.append(count(len(estimate.notes), "note"))
    return f"<Estimate: {', '.join(parts)}>"


def _bounds(estimate: Estimate, kind: str) -> str:
    low, high = (write_score(b, estimate.metric) for b in estimate.interval(kind=kind))
    return f"{low} to {high}"


def _lines(estimate: Estimate) -> list[tuple[str, str]]:
    """Return the lines to show, each with its label."""
    metric = estimate.metric
    lines = [(metric, write_score(estimate.value, metric))]
    lead = default_interval(estimate)
    for kind in sorted(estimate.assumes, key=lambda kind: kind != lead):
        if kind == "nested" and kind != lead:
            # It takes many fits, so it is computed only on request.
            text = 'call interval(kind="nested") to compute it'
        else:
            text = _bounds(estimate, kind)
        text += f"; assumes {estimate.assumes[kind]}"
        if kind in estimate.coverage:
            text += f"; {_write_coverage(estimate.coverage[kind])}"
        lines.append((f"95 % interval, {kind}", text))
    if not estimate.assumes:
        lines.append(("interval", "none is valid for this method and score"))
    lines += [
        ("spread over splits", write_score(estimate.std, metric)),
        ("splits", str(len(estimate.scores))),
        ("samples tested", str(estimate.n_test)),
        ("method", estimate.method),
        ("estimator", estimate.estimator),
        ("random_state", str(estimate.random_state)),
    ]
    for key, value in estimate.details.items():
        is_share = key not in ("overfitting_rate", "weight")
        text = write_score(value, metric) if is_share else f"{value:.3f}"
        lines.append((_LABELS.get(key, key), text))
    return lines + [("note", note) for note in estimate.notes]


def estimate_row(estimator: str, estimate: Estimate) -> tuple[Any, ...]:
    """Return an estimate as a row of `Estimates.to_frame`."""
    kind = default_interval(estimate)
    bounds = (nan, nan) if kind is None else estimate.interval(kind=kind)
    first = (estimator, estimate.metric, estimate.method, estimate.value, estimate.std)
    return (*first, kind, *bounds, len(estimate.scores), estimate.n_test)


def _write_coverage(measured: Coverage) -> str:
    """Write how often intervals of a kind have covered the truth, and where."""
    low, high = percent(measured.low), percent(measured.high)
    share = low if low == high else f"{low} to {high}"
    return f"measured coverage {share} ({measured.conditions})"


def estimate_table(estimate: Estimate) -> Any:
    """Make a table of the estimate for a terminal."""
    from rich.table import Table
    from rich.text import Text

    grid = Table(show_header=False, box=None, pad_edge=False)
    for name, text in _lines(estimate):
        style = "bold" if name == estimate.metric else ""
        if name == "note":
            style = "yellow"
        grid.add_row(Text(name, style="dim"), Text(text, style=style))
    return grid


def estimate_html(estimate: Estimate) -> str:
    """Make a table of the estimate for a notebook, without scripts or links."""
    body = "".join(
        f'<tr><th scope="row" style="padding-right:1em">{escape(name)}</th>'
        f"<td>{escape(text)}</td></tr>"
        for name, text in _lines(estimate)
    )
    return f'<table style="{_STYLE}"><tbody>{body}</tbody></table>'
