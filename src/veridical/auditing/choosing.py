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

from veridical._core.arrays import BoolArray, FloatArray, IntArray
from veridical._core.table import Table
from veridical.evaluation.engine import rank
from veridical.kernels.statistics import between_classes
from veridical.selection import SELECTORS, AnovaF, Correlation

# Largest ``n**power * p`` of a selector's cost; beyond it the selector is not tried.
_MOST = 2e8


# Relative difference of two F ratios; below it rounding may order them either way.
_TIED = 1e-9


def quick_version(
    selector: Any, table: Table, n_features: int, order: IntArray | None = None
) -> QuickF | None:
    """Return what chooses the same features for many permutations of the labels.

    None where there is no quicker way. `order` is that in which the selector sees the
    features, which decides ties.
    """
    by_f = type(selector) is AnovaF or (
        type(selector) is Correlation and table.n_classes == 2
    )
    if not by_f or table.is_sparse or table.categorical.any():
        return None
    return replace(QuickF.of(table.values, n_features), selector=selector, order=order)


@dataclass(frozen=True, eq=False)
class QuickF:
    """The best columns by the F ratio, for many training sets and orders of labels.

    Sums over training sets are one matrix product, which is rounded. Where the last
    chosen and the first other feature are too close to tell, the selector that this
    stands for is asked, so that the chosen features are the same; only their order may
    differ.

    Parameters
    ----------
    values : array of shape (n, p)
        The columns, each about its mean.
    squares : array of shape (n, p)
        Their squares.
    n_features : int
        How many features to choose.
    selector : selector, optional
        What is asked about ties; without one, rounding decides.
    order : int array, optional
        Order in which the selector sees the features.
    """

    values: FloatArray
    squares: FloatArray
    n_features: int
    selector: Any = None
    order: IntArray | None = None

    @classmethod
    def of(cls, values: FloatArray, n_features: int) -> QuickF:
        """Prepare a table."""
        centred = values - values.mean(axis=0)
        return cls(centred, centred**2, n_features)

    def __sklearn_clone__(self) -> QuickF:
        return self  # it learns nothing, and its arrays are large

    def rank_table(self, table: Table, train_sets: Sequence[IntArray]) -> IntArray:
        """Choose features, best first, on each training set."""
        codes, n_features = table.y, self.n_features
        counts = np.zeros((len(train_sets), len(self.values)))
        for s, rows in enumerate(train_sets):
            np.add.at(counts[s], rows, 1.0)
        square = counts @ self.squares
        members = (counts * (codes == k) for k in range(table.n_classes))
        between, mean, weight = between_classes(self.values, members)
        spread = square - weight * mean**2
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(spread > 1e-12 * square, between / spread, -1.0)
        best = np.argpartition(-share, n_features - 1, axis=1)[:, :n_features]
        inside = np.argsort(-np.take_along_axis(share, best, axis=1), axis=1)
        chosen = np.take_along_axis(best, inside, axis=1)
        if self.selector is not None and n_features < share.shape[1]:
            for s in np.flatnonzero(_is_tied(share, n_features)).tolist():
                asked = (self.selector, table, [train_sets[s]], n_features, self.order)
                chosen[s] = rank(*asked)[0].order
        return chosen


def _is_tied(share: FloatArray, n_features: int) -> BoolArray:
    """Tell, row by row, whether the best features cannot be told from the next one."""
    ranked = -np.partition(-share, (n_features - 1, n_features), axis=1)
    last, following = ranked[:, n_features - 1], ranked[:, n_features]
    return np.asarray(last - following <= _TIED * np.abs(last))


def find_stand_in(
    table: Table, columns: IntArray, order: IntArray
) -> tuple[Any, dict[str, int]]:
    """Find the selector that agrees best with the features, on all samples.

    Parameters
    ----------
    table : Table
        The samples.
    columns : int array
        The features that were chosen.
    order : int array
        Order in which selectors see the features.

    Returns
    -------
    tuple
        The stand-in, and for each selector tried, how many features it agrees on.
    """
    selectors, overlap = {}, {}
    for name in candidates(table):
        selectors[name] = SELECTORS[name](n_features_to_select=columns.size)
        overlap[name] = agreement(selectors[name], table, columns, order)
        if overlap[name] == columns.size:
            break  # nobody can agree better
    best = max(overlap, key=lambda name: overlap[name])  # the first of equals
    return selectors[best], overlap


def agreement(selector: Any, table: Table, columns: IntArray, order: IntArray) -> int:
    """Count the features that a selector would choose too, on all samples."""
    everything = [np.arange(table.n_samples)]
    (chosen,) = rank(selector, table, everything, columns.size, order)
    return int(np.isin(chosen.order, columns).sum())


def candidates(data: Table) -> list[str]:
    """Return the selectors that can read the data in reasonable time, quick ones first.

    Of selectors that agree equally well the first stands in.
    """
    powers = {}
    for name, selector in SELECTORS.items():
        abilities, power = selector._abilities, selector._cost.power
        able = (
            (abilities.categorical or not data.categorical.any())
            and (abilities.missing or not data.has_missing)
            and (abilities.sparse or not data.is_sparse)
        )
        # With two classes Correlation gives the order of AnovaF.
        same = selector is Correlation and data.y.max() == 1
        if power is None or not able or same:
            continue
        if data.n_features * data.n_samples**power <= _MOST:
            powers[name] = power
    return sorted(powers, key=lambda name: powers[name])
