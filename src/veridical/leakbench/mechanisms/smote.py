"""Synthetic samples of the rare class made before the split."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.neighbors import NearestNeighbors

from veridical._core.arrays import FloatArray
from veridical._core.seeds import as_generator
from veridical.leakbench.honest_tables import HonestTable, nearest
from veridical.leakbench.planting import Mechanism, Planted, Scenario


class SmoteInside(ClassifierMixin, BaseEstimator):
    """Fit a classifier to the training samples and to those that SMOTE makes of them.

    Parameters
    ----------
    estimator : classifier
        The classifier.
    seed : int
        Seed of SMOTE.
    """

    def __init__(self, estimator: Any, seed: int) -> None:
        self.estimator = estimator
        self.seed = seed

    def fit(self, X: Any, y: Any) -> SmoteInside:
        """Make as many samples of class 1 as it lacks, and fit."""
        rare = X[y == 1]
        rng = as_generator(self.seed)
        new = interpolate(rare, len(y) - 2 * len(rare), rng)
        self.classes_ = np.unique(y)
        both = np.vstack([X, new]), np.r_[y, np.ones(len(new), dtype=y.dtype)]
        self.model_ = clone(self.estimator).fit(*both)
        return self

    def predict(self, X: Any) -> Any:
        """Predict the class of each sample."""
        return self.model_.predict(X)


def interpolate(rare: FloatArray, n_new: int, rng: np.random.Generator) -> FloatArray:
    """Make samples between samples of a class and their nearest neighbours."""
    n_new, n_near = max(0, n_new), min(5, len(rare) - 1)
    near = NearestNeighbors(n_neighbors=n_near).fit(rare)
    neighbours = near.kneighbors(return_distance=False)
    start = rng.integers(len(rare), size=n_new)
    end = neighbours[start, rng.integers(n_near, size=n_new)]
    share = rng.random((n_new, 1))
    return np.asarray((1 - share) * rare[start] + share * rare[end])


def plant(table: HonestTable, dose: float, rng: np.random.Generator) -> Planted:
    """Make one class rare, then interpolate between its neighbours."""
    rare = np.flatnonzero(table.y == 1)
    rare = rare[: max(8, round(dose * rare.size))]
    rows = rng.permutation(np.r_[np.flatnonzero(table.y == 0), rare])
    new = interpolate(table.X[rare], rows.size - 2 * rare.size, rng)
    X = np.vstack([table.X[rows], new])
    y = np.r_[table.y[rows], np.ones(len(new), dtype=np.intp)]
    order = rng.permutation(y.size)
    inside = SmoteInside(nearest(1), table.seed)
    return Planted(
        Scenario(nearest(1), X[order], y[order]),
        Scenario(inside, table.X[rows], table.y[rows]),
    )


MECHANISM = Mechanism(
    name="smote",
    recipe="SMOTE makes samples of the rare class before the samples are split.",
    dose="share of the rare class that is kept",
    doses=(0.4,),
    cure="Run SMOTE inside the training folds only.",
    codes=("VD027", "VD003"),
    plant=plant,
    cause="duplicates",
)
