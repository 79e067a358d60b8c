"""Who chooses columns, on which rows: the selector of a pipeline, or a stand-in.

Where only the chosen columns are known, the selector that chose them is not. Several
selectors are asked for as many columns on all cases, and the one that agrees best
stands in: its choice is repeated inside the folds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.table import Table
from veridical.evaluation.rankers import Ranker
from veridical.selection import SELECTORS, AnovaF, Correlation

# Largest ``n**power * p`` of a selector's cost; beyond it the selector is not tried.
_MOST = 2e8


@dataclass(frozen=True, eq=False)
class Chooser:
    """A selector, how many columns it keeps, and the table it sees.

    Parameters
    ----------
    ranker : Ranker
        The selector and its name.
    n_features : int
        How many columns it keeps.
    data : Table
        The cases.
    order : int array
        Order in which the selector sees the columns.
    quick : QuickF or None
        Does the same in one matrix product, where there is no doubt about ties.
    """

    ranker: Ranker
    n_features: int
    data: Table
    order: IntArray
    quick: QuickF | None = None

    def choose(self, codes: IntArray, train_sets: Sequence[IntArray]) -> IntArray:
        """Choose columns on each training set, for classes in any order.

        Returns
        -------
        int array of shape (n_train_sets, n_features)
        """
        if self.quick is not None:
            return self.quick.choose(codes, train_sets, self.n_features)
        labelled = self.data.with_codes(codes)
        return self.ranker.choose(
            labelled, self.data.n_samples, self.order, train_sets, self.n_features
        )

    def hurried(self) -> Chooser:
        """Prepare for many orders of the labels."""
        selector = self.ranker.selector
        by_f = type(selector) is AnovaF or (
            type(selector) is Correlation and self.data.y.max() == 1
        )
        values = self.data.values
        if not by_f or sparse.issparse(values) or self.data.categorical.any():
            return self
        return replace(self, quick=QuickF.of(values))


@dataclass(frozen=True, eq=False)
class QuickF:
    """The best columns by the F ratio, for many training sets and orders of labels.

    Sums over training sets are one matrix product. They are rounded otherwise than
    those of `AnovaF`, which is exact; so columns whose F ratios agree to about twelve
    digits may change places. Under random labels that is of no consequence.

    Parameters
    ----------
    values : array of shape (n, p)
        The columns, each about its mean.
    squares : array of shape (n, p)
        Their squares.
    """

    values: FloatArray
    squares: FloatArray

    @classmethod
    def of(cls, values: FloatArray) -> QuickF:
        """Prepare a table."""
        centred = values - values.mean(axis=0)
        return cls(centred, centred**2)

    def choose(
        self, codes: IntArray, train_sets: Sequence[IntArray], n_features: int
    ) -> IntArray:
        """Choose columns, best first, on each training set."""
        n, n_classes = len(self.values), int(codes.max()) + 1
        counts = np.zeros((len(train_sets), n))
        for s, rows in enumerate(train_sets):
            np.add.at(counts[s], rows, 1.0)
        square = counts @ self.squares
        total = np.zeros_like(square)
        between = np.zeros_like(square)
        for k in range(n_classes):
            member = counts * (codes == k)
            weight = member.sum(axis=1, keepdims=True)
            sums = member @ self.values
            total += sums
            between += sums**2 / np.maximum(weight, 1.0)
        mean_part = total**2 / counts.sum(axis=1, keepdims=True)
        between -= mean_part
        spread = square - mean_part
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(spread > 1e-12 * square, between / spread, -1.0)
        best = np.argpartition(-share, n_features - 1, axis=1)[:, :n_features]
        inside = np.argsort(-np.take_along_axis(share, best, axis=1), axis=1)
        return np.take_along_axis(best, inside, axis=1)


def name_of(selector: Any) -> str:
    """Name a selector as the command line does, or by its class."""
    for name, known in SELECTORS.items():
        if type(selector) is known:
            return name
    return type(selector).__name__


def find_stand_in(
    data: Table, columns: IntArray, order: IntArray
) -> tuple[Chooser, dict[str, int]]:
    """Find the selector that agrees best with the columns, on all cases.

    Parameters
    ----------
    data : Table
        The cases.
    columns : int array
        The columns that were chosen.
    order : int array
        Order in which selectors see the columns.

    Returns
    -------
    tuple
        The stand-in, and for each selector tried, how many columns it agrees on.
    """
    everything = [np.arange(data.n_samples)]
    choosers, overlap = {}, {}
    for name in candidates(data):
        selector = SELECTORS[name](n_features_to_select=columns.size)
        chooser = Chooser(Ranker(selector, name), columns.size, data, order)
        (chosen,) = chooser.choose(data.y, everything)
        choosers[name] = chooser
        overlap[name] = int(np.isin(chosen, columns).sum())
        if overlap[name] == columns.size:
            break  # nobody can agree better
    best = max(overlap, key=lambda name: overlap[name])  # the first of equals
    return choosers[best], overlap


def candidates(data: Table) -> list[str]:
    """Return the selectors that can read the data in reasonable time, quick ones first.

    Of selectors that agree equally well the first stands in.
    """
    missing = not sparse.issparse(data.values) and bool(np.isnan(data.values).any())
    powers = {}
    for name, selector in SELECTORS.items():
        abilities, power = selector._abilities, selector._cost.power
        able = (
            (abilities.nominal or not data.categorical.any())
            and (abilities.missing or not missing)
            and (abilities.sparse or not sparse.issparse(data.values))
        )
        # With two classes Correlation gives the order of AnovaF.
        same = selector is Correlation and data.y.max() == 1
        if power is None or not able or same:
            continue
        if data.n_features * data.n_samples**power <= _MOST:
            powers[name] = power
    return sorted(powers, key=lambda name: powers[name])
