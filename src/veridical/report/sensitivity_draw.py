"""The picture of a sensitivity analysis: how often IN and OUT find the truth."""

from __future__ import annotations

from markupsafe import Markup

from veridical.comparison.records import Side
from veridical.evaluation.intervals import wilson
from veridical.report.rows_draw import Row, rows
from veridical.report.sensitivity_schema import SensitivitySummary

SIDES: dict[str, Side] = {"in": "a", "out": "b"}


def truths(summary: SensitivitySummary) -> Markup:
    """Draw the shares of data sets judged rightly, with Wilson's 95 % intervals."""
    found = []
    for source in summary["sources"]:
        n = source["n_sets"]
        for method, side in SIDES.items():
            right = source["right"][method]
            label = f"Strength {source['strength']:g}, {method.upper()}"
            low, high = wilson(right / n, n)
            found.append(Row(label, right / n, low, high, side, f"{right} of {n}"))
    return rows(found, about="Data sets on which the true verdict was reached")
