"""What a comparison of several selectors found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from veridical._records.base import DataSummary, FloatArray, IntArray, Interval
from veridical._records.calibration import Friedman
from veridical._records.comparison import Verdict, tidy
from veridical._records.looking import OnAPage

if TYPE_CHECKING:
    import pandas as pd


class PairVerdict(NamedTuple):
    """Two of several selectors, with a p-value that allows for all the pairs.

    ``first`` and ``second`` are places among the names; ``better`` is the place of the
    one that is significantly better after the correction, or None. ``verdict`` is that
    of the pair alone, ``"a"`` being the first.
    """

    first: int
    second: int
    better: int | None
    adjusted: float
    verdict: Verdict


@dataclass(frozen=True, eq=False, repr=False)
class ManyComparison(OnAPage):
    """Several selectors, one classifier or several, judged by one method or several.

    Parameters
    ----------
    names : tuple of str
        Display names of the selectors, all different.
    classifiers : tuple of str
        Display names of the classifiers.
    n_features : int
        How many features each selector had to return.
    data : DataSummary
        The data set.
    accuracy : mapping of method to array (n_selectors, n_classifiers, repeats, folds)
        Method is "in" or "out".
    selected : mapping of method to array (n_selectors, repeats, folds, n_features)
        Column indices chosen, best first; OUT has one fold, because it selects once.
    pairs : mapping of method to tuple of PairVerdict
        All pairs, on the accuracies averaged over the classifiers.
    friedman : mapping of method to Friedman
        Mean ranks over the folds, and whether they differ.
    optimism : tuple of Interval
        Per selector: accuracy under OUT minus under IN; empty unless both were run.
    stability : mapping of method to tuple of Interval
        How steadily each selector chose from fold to fold, by Nogueira's measure.
    seconds : tuple of float
        How long each selector took to choose, all selections together.
    correction : str
        How p-values allow for the number of pairs: "holm", "bonferroni" or "none".
    alpha : float
        Significance level.
    recommendation : str
        What may be claimed, in words.
    settings : mapping of str to str
        Everything else a reader needs to repeat the run.
    """

    names: tuple[str, ...]
    classifiers: tuple[str, ...]
    n_features: int
    data: DataSummary
    accuracy: Mapping[str, FloatArray]
    selected: Mapping[str, IntArray]
    pairs: Mapping[str, tuple[PairVerdict, ...]]
    friedman: Mapping[str, Friedman]
    optimism: tuple[Interval, ...]
    stability: Mapping[str, tuple[Interval, ...]]
    seconds: tuple[float, ...]
    correction: str
    alpha: float
    recommendation: str
    settings: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        found = []
        for method, result in self.friedman.items():
            ranks = zip(result.mean_ranks, self.names, strict=True)
            order = ", ".join(f"{name} {rank:.1f}" for rank, name in sorted(ranks))
            found.append(
                f"{method.upper()} mean ranks {order} (p = {result.p_value:.3g})"
            )
        return f"ManyComparison({'; '.join(found)})"

    @property
    def scores(self) -> dict[str, FloatArray]:
        """Accuracies per method: (n_selectors, n_splits), averaged over classifiers."""
        return {
            method: values.mean(axis=1).reshape(len(self.names), -1)
            for method, values in self.accuracy.items()
        }

    def to_frame(self) -> pd.DataFrame:
        """Every accuracy in a row of its own.

        Returns
        -------
        DataFrame
            Columns method, selector, classifier, repeat, fold, accuracy, n_features.
        """
        return tidy(self.accuracy, self.names, self.classifiers, self.n_features)
