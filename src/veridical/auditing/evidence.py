"""All that the checks of an audit look at, gathered before any of them speaks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.arrays import IntArray
from veridical._core.records import Interval
from veridical._core.splits import Split
from veridical.auditing.procedures import Audited, Run
from veridical.auditing.records import Null, Preselection


@dataclass(frozen=True, eq=False)
class Evidence:
    """What was measured.

    Parameters
    ----------
    procedure : Audited
        What is audited, with its data.
    method : Method
        How cases are split.
    splits : list of Split
        The splits of the true labels.
    inside : Run
        The honest run.
    outside : Run or None
        The other one.
    accuracy : mapping of "in" and "out" to Interval
        What they reached.
    optimism : Interval or None
        "out" minus "in".
    null : mapping of "in" and "out" to Null
        What they reach on random labels.
    preselection : Preselection or None
        Columns that were chosen beforehand.
    stability : Interval or None
        Agreement of the selections of the folds.
    n_selected : float or None
        Their mean size.
    balanced : float
        Balanced accuracy of the honest run.
    recalls : mapping of int to float
        Share of right predictions among the cases of each class.
    test : str or None
        The significance test that is going to be reported.
    alpha : float
        Significance level.
    seed : int
        The root of all chance.
    """

    procedure: Audited
    method: Any
    splits: Sequence[Split]
    inside: Run
    outside: Run | None
    accuracy: Mapping[str, Interval]
    optimism: Interval | None
    null: Mapping[str, Null]
    preselection: Preselection | None
    stability: Interval | None
    n_selected: float | None
    balanced: float
    recalls: Mapping[int, float]
    test: str | None
    alpha: float
    seed: int

    @property
    def n_cases(self) -> int:
        """Number of cases."""
        return self.procedure.table.n_samples

    @property
    def class_sizes(self) -> IntArray:
        """Cases of each class, in the order of the sorted labels."""
        return np.bincount(self.procedure.table.y)

    @property
    def majority(self) -> float:
        """Accuracy of always naming the most frequent class."""
        return float(self.class_sizes.max() / self.n_cases)

    @property
    def above_chance(self) -> bool:
        """Whether the honest accuracy beats random labels."""
        return self.null["in"].pvalue <= self.alpha

    @property
    def leaves_one_out(self) -> bool:
        """Whether every test set is a single case."""
        return all(len(split.test) == 1 for split in self.splits)
