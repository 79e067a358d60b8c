"""The tables that ``veridical compare`` prints for several selectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from veridical.report.many_schema import ManySummary


def ranked(summary: ManySummary, new_table: Callable[[str], Table]) -> Table:
    """List the selectors: accuracy and mean rank by method, stability, time."""
    from rich.text import Text

    from veridical._core.numbers import count, percent, seconds

    data = summary["data"]
    table = new_table(
        f"Mean accuracy on {data['name']}: {count(data['n_samples'], 'case')}, "
        f"{summary['n_features_to_select']} of {count(data['n_features'], 'feature')}, "
        f"chance {percent(data['chance'])}, "
        f"n = {count(summary['methods'][0]['friedman']['n'], 'fold')}"
    )
    table.add_column("", overflow="fold")
    for method in summary["methods"]:
        table.add_column(method["label"], justify="right", no_wrap=True)
        table.add_column("Rank", justify="right", no_wrap=True)
    table.add_column("Stability", justify="right", no_wrap=True)
    table.add_column("Time (s)", justify="right", no_wrap=True)
    for one in summary["selectors"]:
        row = [one["name"]]
        for method in summary["methods"]:
            name = method["method"]
            row += [percent(one["means"][name]["value"]), f"{one['ranks'][name]:.2f}"]
        steady = one["stability"]
        row.append("" if steady is None else f"{steady['value']:.2f}")
        row.append(seconds(one["seconds"]))
        table.add_row(*map(Text, row))
    return table


def pairs(summary: ManySummary, new_table: Callable[[str], Table]) -> Table:
    """List the pairs of the first method: difference, interval, p-values, verdict."""
    from rich.text import Text

    from veridical._core.numbers import points, points_range, pvalue
    from veridical.report.many import describe_pair

    method = summary["methods"][0]
    table = new_table(f"All pairs under {method['label']}; differences in points")
    table.add_column("First minus second", overflow="fold")
    confidence = f"{100 * (1 - summary['alpha']):g} % interval"
    for header in ("Diff.", confidence, "p-value", "Corrected"):
        table.add_column(header, justify="right", no_wrap=True)
    table.add_column("Verdict", overflow="fold")
    for pair in method["pairs"]:
        gap = pair["difference"]
        first, second = (summary["names"][pair[end]] for end in ("first", "second"))
        row = [
            f"{first} − {second}",
            points(gap["value"], unit=False),
            points_range(gap["low"], gap["high"], unit=False),
            pvalue(gap["pvalue"]).removeprefix("p ").removeprefix("= "),
            pvalue(pair["adjusted"]).removeprefix("p ").removeprefix("= "),
            describe_pair(summary, pair),
        ]
        table.add_row(*map(Text, row))
    return table
