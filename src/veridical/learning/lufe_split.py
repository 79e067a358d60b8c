"""How LUFe splits the features, and the training cases that are left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectFromModel, SelectorMixin

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.sklearn_private import importances_of
from veridical.kernels.statistics import between_classes


class BestByAnova(SelectorMixin, BaseEstimator):
    """The ten best features by weighted ANOVA F: what LUFe selects if nobody says."""

    def fit(self, X: Any, y: NDArray[Any], sample_weight: Any = None) -> Self:
        """Compare the variation between classes with that within."""
        weights = np.ones(len(y)) if sample_weight is None else sample_weight
        classes, codes = np.unique(y, return_inverse=True)
        shares = np.zeros((len(classes), len(y)))
        shares[codes, np.arange(len(y))] = weights
        (between,), (centre,), _ = between_classes(X, shares[:, None, :])
        squares = X.multiply(X) if sparse.issparse(X) else X * X
        whole = np.asarray(weights @ squares) - weights.sum() * centre**2
        within = np.maximum(whole - between, 0.0)
        told = whole > 1e-12 * np.asarray(weights @ squares)
        ratio = np.divide(
            between, within, out=np.full(len(whole), np.inf), where=within > 0
        )
        self.scores_ = np.where(told, ratio, -np.inf)
        return self

    def _get_support_mask(self) -> NDArray[np.bool_]:
        best = np.argsort(-self.scores_, kind="stable")[:10]
        return np.isin(np.arange(len(self.scores_)), best)


@dataclass(frozen=True, eq=False)
class Training:
    """Training cases, split into what was selected and what was not.

    Parameters
    ----------
    X : array or sparse matrix
        The features.
    y, weights : arrays
        Labels and weights of the cases.
    selected, unselected : int arrays
        Columns; the unselected ones best first.
    """

    X: Any
    y: NDArray[Any]
    weights: FloatArray
    selected: IntArray
    unselected: IntArray

    def merged(self) -> tuple[IntArray, Training]:
        """Keep one of equal cases with their weights summed, and none without weight.

        The optimum is the same: a case with weight 2 is a case given twice. But equal
        cases make a problem degenerate, whose solution has fewer correct digits.

        Returns
        -------
        kept : int array
            Rows that are kept, in the order of the data.
        training : Training
            These rows.
        """
        first: dict[Any, int] = {}
        weights = np.zeros(len(self.y))
        for i, key in enumerate(_row_keys(self.X)):
            if self.weights[i] > 0:
                weights[first.setdefault((key, self.y[i]), i)] += self.weights[i]
        kept = np.flatnonzero(weights)
        if kept.size == len(self.y):
            return kept, self
        return kept, replace(
            self, X=self.X[kept], y=self.y[kept], weights=weights[kept]
        )

    def gram(self) -> FloatArray:
        """Gram matrix of the selected features."""
        return _product(self.X[:, self.selected])

    def gram_star(self) -> FloatArray:
        """Gram matrix of the unselected features."""
        return _product(self.X[:, self.unselected])


def _row_keys(X: Any) -> Iterator[Any]:
    """Give something hashable for every row, the same for equal rows."""
    if not sparse.issparse(X):
        yield from (row.tobytes() for row in X)
        return
    X = X.tocsr(copy=True)
    X.sum_duplicates()  # sorts, too
    for lo, hi in pairwise(X.indptr):
        yield X.indices[lo:hi].tobytes(), X.data[lo:hi].tobytes()


def _product(part: Any) -> FloatArray:
    product = part @ part.T
    return product if isinstance(product, np.ndarray) else product.toarray()


def check_fraction(fraction: Any) -> None:
    """Refuse a share that is none."""
    if not isinstance(fraction, Real) or not 0 < float(fraction) <= 1:
        raise InputError(
            f"unselected_fraction={fraction!r} must be above 0 and at most 1: it is "
            "the share of the unselected features to learn with."
        )


def cut(selector: Any, support: NDArray[np.bool_], fraction: float) -> IntArray:
    """Take the best of the unselected columns, by the selector's own order."""
    unselected = np.flatnonzero(~support)
    order = read_order(selector, len(support))
    if order is None:
        if fraction < 1:
            raise InputError(
                f"{type(selector).__name__} does not order the features it leaves out "
                "(it has no order_, ranking_, scores_ or variances_), so there is no "
                "best share of them; use unselected_fraction=1."
            )
        return unselected
    ranked = order[~support[order]]
    return ranked[: int(np.floor(fraction * ranked.size + 1e-9))]


def read_order(selector: Any, n_features: int) -> IntArray | None:
    """Order of all features, best first, ties by index; None where there is none."""
    for name in ("order_", "ranking_", "scores_", "variances_"):
        values = getattr(selector, name, None)
        if values is None or np.shape(values) != (n_features,):
            continue
        if name == "order_":
            return np.asarray(values, dtype=np.intp)
        if name == "ranking_":
            return np.argsort(values, kind="stable")
        return _best_first(values)
    if isinstance(selector, SelectFromModel):
        return _best_first(importances_of(selector))
    return None


def _best_first(scores: Any) -> IntArray:
    return np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")
