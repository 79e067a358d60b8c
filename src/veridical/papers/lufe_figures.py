"""Accuracies of the LUFe study per task, pairs of methods, and published figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from veridical._core.arrays import FloatArray
from veridical.papers.accuracy_figures import Mean

#: Table 1 of the paper: accuracy in per cent; wins of 49 and mean gain over ALL; the
#: same over the selector.
PUBLISHED: dict[tuple[str, int], tuple[float, Any, Any]] = {
    ("all", 0): (72.04, None, None),
    ("rfe", 300): (73.85, (33, 1.81), None),
    ("lufe-rfe", 300): (75.82, (41, 3.78), (44, 1.97)),
    ("rfe", 500): (74.11, (36, 2.07), None),
    ("lufe-rfe", 500): (75.76, (45, 3.72), (43, 1.65)),
    ("anova", 300): (74.77, (37, 2.73), None),
    ("lufe-anova", 300): (77.42, (45, 5.38), (44, 2.65)),
    ("anova", 500): (74.26, (36, 2.22), None),
    ("lufe-anova", 500): (76.81, (44, 4.77), (44, 2.55)),
}

_NAMES = {
    "all": "all words",
    "rfe": "RFE-{k}",
    "anova": "ANOVA-{k}",
    "lufe-rfe": "LUFe-RFE-{k}",
    "lufe-anova": "LUFe-ANOVA-{k}",
    "lufe-rfe-random": "LUFe-RFE-{k} with noise",
    "rfe-augmented": "RFE-{k} augmented",
}


def name_of(method: str, k: int) -> str:
    """Name a method as the paper does."""
    return _NAMES[method].format(k=k)


def share_of(method: str) -> int:
    """Give the share of unselected features that a method of table 1 uses."""
    return 100 if method.startswith("lufe") else 0


@dataclass(frozen=True)
class Pair:
    """Two methods over the same tasks."""

    gains: FloatArray

    @property
    def mean(self) -> Mean:
        """Mean gain in points."""
        return Mean.of(self.gains)

    @property
    def wins(self) -> int:
        """Tasks on which the first is better."""
        return int((self.gains > 1e-9).sum())

    @property
    def losses(self) -> int:
        """Tasks on which it is worse."""
        return int((self.gains < -1e-9).sum())

    @property
    def pvalue(self) -> float:
        """Sign test against equal chances, both sides; ties do not count."""
        n = self.wins + self.losses
        return float(stats.binomtest(self.wins, n).pvalue) if n else 1.0

    def words(self) -> str:
        """Gain with interval, wins, losses and the sign test."""
        ties = len(self.gains) - self.wins - self.losses
        return (
            f"{self.mean.words(True, 'task')}; better on {self.wins}, worse on "
            f"{self.losses}, equal on {ties}; sign test p = {self.pvalue:.2g}"
        )


@dataclass(frozen=True, eq=False)
class Figures:
    """Accuracy in per cent per task (rows) and method, K, share (columns)."""

    means: pd.DataFrame
    n_folds: int

    @classmethod
    def of(cls, frame: pd.DataFrame) -> Figures:
        """Average over folds; tasks with folds missing keep those they have."""
        ok = frame[frame["status"] == "ok"]
        if ok.empty:
            return cls(pd.DataFrame(), 0)
        keys = ["method", "k", "share"]
        table = ok.pivot_table(
            index="data", columns=keys, values="accuracy", aggfunc="mean"
        )
        counts = ok.groupby(["data", *keys]).size()
        return cls(100 * table.sort_index(), int(counts.min()))

    @property
    def tasks(self) -> list[str]:
        """Names of the tasks."""
        return list(self.means.index)

    def _keys(self) -> list[tuple[str, int, int]]:
        keys: list[Any] = self.means.columns.tolist()
        return [(str(m), int(k), int(t)) for m, k, t in keys]

    def get(self, method: str, k: int, share: int) -> FloatArray | None:
        """Accuracies of a method over tasks; NaN where a task lacks it."""
        key = (method, k, share)
        return self.means[key].to_numpy() if key in self.means else None

    def pair(self, a: tuple[str, int, int], b: tuple[str, int, int]) -> Pair | None:
        """First minus second, over the tasks that have both."""
        first, second = self.get(*a), self.get(*b)
        if first is None or second is None:
            return None
        gains = (first - second)[~np.isnan(first - second)]
        return Pair(gains) if gains.size else None

    def sizes(self) -> list[int]:
        """Numbers of selected features."""
        return sorted({k for _, k, _ in self._keys() if k})

    def shares(self, method: str, k: int) -> list[int]:
        """Shares of the curve."""
        return sorted({t for m, n, t in self._keys() if (m, n) == (method, k)})
