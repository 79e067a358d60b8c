"""How a pair of selectors reacts to IN and OUT on sources like one data set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from veridical._records.base import DataSummary
from veridical._records.comparison import SIDES, Comparison, Side
from veridical._records.looking import OnAPage

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class Sensitivity(OnAPage):
    """IN, OUT and TRUTH on sources like a data set, and IN and OUT on itself.

    Parameters
    ----------
    names : mapping of "a" and "b" to str
        Display names of the selectors.
    data : DataSummary
        The data set.
    observed : Comparison
        IN and OUT on the data set itself; the sources resemble it where their
        accuracies do.
    strengths : tuple of float
        By how much the strength found in the data was multiplied in each source.
    n_relevant : tuple of int
        How many columns carry something in each source.
    sources : tuple of Comparison
        What `veridical.comparison.truth` found on each source.
    recommendation : str
        How often IN and OUT would have told the truth, in words.
    recipe : str
        How the sources were made, in words.
    settings : mapping of str to str
        Everything else a reader needs to repeat the run.
    """

    names: Mapping[Side, str]
    data: DataSummary
    observed: Comparison
    strengths: tuple[float, ...]
    n_relevant: tuple[int, ...]
    sources: tuple[Comparison, ...]
    recommendation: str
    recipe: str
    settings: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        pair = " against ".join(self.names[side] for side in SIDES)
        right = {"in": 0, "out": 0}
        for source in self.sources:
            true = source.verdicts["truth"].winner
            for method in right:
                right[method] += source.set_verdicts[method].count(true)
        n_sets = sum(len(source.set_verdicts["in"]) for source in self.sources)
        found = f"of {n_sets} data sets IN told the truth on {right['in']}"
        return f"Sensitivity({pair}: {found}, OUT on {right['out']})"

    def to_frame(self) -> pd.DataFrame:
        """One row per source.

        Returns
        -------
        DataFrame
            Columns strength, n_relevant, the accuracies truth_a, truth_b, in_a, in_b,
            out_a, out_b, true_winner, n_sets, in_right and out_right (on how many data
            sets each reached the true verdict), p_value and more_truthful.
        """
        import pandas as pd

        rows = []
        for strength, n_relevant, record in zip(
            self.strengths, self.n_relevant, self.sources, strict=True
        ):
            true = record.verdicts["truth"].winner
            row: dict[str, object] = {"strength": strength, "n_relevant": n_relevant}
            for method in ("truth", "in", "out"):
                for i, side in enumerate(SIDES):
                    row[f"{method}_{side}"] = float(record.accuracy[method][i].mean())
            row["true_winner"] = true
            row["n_sets"] = len(record.set_verdicts["in"])
            for method in ("in", "out"):
                found = record.set_verdicts[method]
                row[f"{method}_right"] = sum(winner == true for winner in found)
            assert record.truthfulness is not None
            row["p_value"] = record.truthfulness.p_value
            row["more_truthful"] = record.truthfulness.better
            rows.append(row)
        return pd.DataFrame(rows)
