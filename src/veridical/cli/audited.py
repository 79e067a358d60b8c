"""What ``veridical audit`` prints: a table of figures, then finding after finding."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from veridical.report.schema import AuditSummary


def figures(summary: AuditSummary, new_table: Callable[[str], Table]) -> Table:
    """Show the accuracies on the true labels and on labels in random order."""
    from rich.text import Text

    from veridical._core.numbers import count, percent, percent_range

    data = summary["data"]
    table = new_table(
        f"Accuracy of {summary['estimator']} on {data['name']}: "
        f"{count(data['n_samples'], 'case')}, {count(data['n_features'], 'feature')}, "
        f"chance {percent(data['chance'])}"
    )
    table.add_column("")
    confidence = f"{100 * (1 - summary['alpha']):g} % interval"
    for header in ("Accuracy", confidence, "On random labels", "95 % of them", "p"):
        table.add_column(header, justify="right", no_wrap=True)
    for lane in summary["lanes"]:
        a, p = lane["accuracy"], lane["pvalue"]
        row = [
            lane["label"],
            percent(a["value"]),
            percent_range(a["low"], a["high"]),
            percent(lane["null_mean"]),
            percent_range(lane["null_low"], lane["null_high"]),
            "" if p is None else f"{p:.3f}",
        ]
        table.add_row(*map(Text, row))
    return table


def remarks_on(summary: AuditSummary) -> list[str]:
    """Say what the optimism is, and every finding with its cure."""
    said = [summary["words"]["verdict"]] if summary["words"]["verdict"] else []
    for f in summary["findings"]:
        said.append(
            f"\n{f['code']} {f['severity']}: {f['title']}. {f['evidence']}\n"
            f"  Cure: {f['cure']}"
        )
    if summary["muted"]:
        codes = ", ".join(f["code"] for f in summary["muted"])
        said.append(f"\nFound but ignored: {codes}.")
    return said
