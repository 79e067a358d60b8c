"""One split of a data set: every alpha, every size of predictor set."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.seeds import as_generator
from veridical._core.splits import stratified_split
from veridical.experiments import derive_seed
from veridical.experiments.study import Values
from veridical.learning import DAGSVM
from veridical.papers.differential_data import DATA, get_arrays
from veridical.selection import (
    DifferentialPrioritization,
    class_relevance,
    count_class_features,
)


@dataclass(frozen=True, eq=False)
class Trial:
    """A stratified split, the same for both kinds of relevance.

    Parameters
    ----------
    X_train, X_test : arrays of shape (n, n_genes)
        Genes that are constant in training are left out.
    train, test : int arrays
        Classes of the cases.
    n_classes : int
        How many there are.
    """

    X_train: FloatArray
    X_test: FloatArray
    train: IntArray
    test: IntArray
    n_classes: int

    @classmethod
    def draw(cls, name: str, seed: int, split: int) -> Trial:
        """Draw the split; the seed knows nothing of what will be tried on it."""
        arrays, row = get_arrays(name), DATA[name]
        rng = as_generator(derive_seed(seed, purpose="split", data=name, split=split))
        train, test = stratified_split(arrays.codes, row.test_share, rng)
        # The place of a gene must not decide ties.
        genes = rng.permutation(arrays.X.shape[1])
        varies = np.ptp(arrays.X[np.ix_(train, genes)], axis=0) > 0
        genes = genes[varies]
        return cls(
            np.ascontiguousarray(arrays.X[np.ix_(train, genes)]),
            np.ascontiguousarray(arrays.X[np.ix_(test, genes)]),
            arrays.codes[train],
            arrays.codes[test],
            len(arrays.classes),
        )

    def measure(
        self, relevance: Any, alphas: Sequence[float], max_size: int
    ) -> Iterator[Values]:
        """Select with each alpha, learn at each size, count what was right."""
        size = min(max_size, self.X_train.shape[1])
        selector = DifferentialPrioritization(
            size, relevance=relevance, n_searched=size, n_jobs=1
        )
        with warnings.catch_warnings():
            # A gene constant within every class of a small class's training cases.
            warnings.filterwarnings("ignore", message="Some features are constant")
            fitted = selector.path(self.X_train, self.train, alphas)
        by_class = class_relevance(self.X_train, self.train)
        for one in fitted:
            order = one.order_[:size]
            yield {
                **self._accuracies(order, size),
                "class_features": count_class_features(by_class, order).tolist(),
                "mean_relevance": float(one.scores_[order].mean()),
                "mean_correlation": _mean_correlation(self.X_train[:, order]),
            }

    def _accuracies(self, order: IntArray, size: int) -> dict[str, Any]:
        """Accuracy by size, and by class averaged over sizes."""
        sizes = range(min(2, size), size + 1)
        rows = np.arange(len(self.train) + len(self.test))
        (named,) = DAGSVM(standardize=True).predict_many(
            np.concatenate([self.X_train[:, order], self.X_test[:, order]]),
            np.concatenate([self.train, self.test]),
            [(rows[: len(self.train)], rows[len(self.train) :])],
            [np.arange(size)],
            sizes,
        )
        right = named == self.test
        tested = np.bincount(self.test, minlength=self.n_classes)
        by_class = [
            float(right[:, self.test == k].mean()) if tested[k] else 0.0
            for k in range(self.n_classes)
        ]
        return {
            "accuracy": float(right.mean()),
            "curve": right.mean(axis=1).tolist(),
            "class_accuracy": by_class,
            "class_tested": tested.tolist(),
        }


def _mean_correlation(columns: FloatArray) -> float:
    """Mean absolute correlation over all pairs of different columns."""
    p = columns.shape[1]
    if p < 2:
        return 0.0
    R = np.abs(np.corrcoef(columns.T))
    return float((R.sum() - p) / (p * (p - 1)))
