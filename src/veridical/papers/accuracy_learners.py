"""The paper's two learners on many training sets of one table.

The predictions are those of ``C45()`` and ``NaiveBayes()`` fitted on each training
set. What is saved is everything around the fits: reading, checking and encoding a data
frame takes longer than growing a tree of a hundred cases.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import ndtri

from veridical._core.arrays import IntArray
from veridical._core.sklearn_private import take
from veridical._core.splits import Split
from veridical.evaluation.fitting import Problem, predict_splits
from veridical.kernels.c45 import grow
from veridical.kernels.c45_nodes import Nodes, compact, predict
from veridical.kernels.c45_problem import make_problem
from veridical.kernels.c45_pruning import collapse, prune_and_raise
from veridical.learning import C45, NaiveBayes
from veridical.learning.tree import Tree, first_largest
from veridical.papers.accuracy_data import Table

#: ``predict(table, rows, splits)``: class numbers of the test cases of every split.
#: Splits count in `rows`, the cases of the table that matter.
Predictor = Callable[[Table, IntArray, Sequence[Split]], list[IntArray]]


def predict_by_trees(
    table: Table, rows: IntArray, splits: Sequence[Split]
) -> list[IntArray]:
    """Grow a C4.5 tree on every training set and classify its test cases."""
    settings = C45()
    n_values = np.array(
        [0 if c is None else max(1, len(c)) for c in table.categories], dtype=np.intp
    )
    columns, codes = table.columns[:, rows], table.codes[rows]
    confidence = float(settings.confidence)
    z = float(ndtri(1 - confidence))
    predicted = []
    for split in splits:
        train, weights = _with_weights(split, len(rows))
        classes, y = np.unique(codes[train], return_inverse=True)
        problem = make_problem(
            np.ascontiguousarray(columns[:, train]),
            n_values,
            y.astype(np.int32),
            len(classes),
            float(weights.sum()),
            float(settings.min_samples_leaf),
        )
        nodes = grow(problem, weights)
        collapse(nodes)
        prune_and_raise(problem, nodes, weights, confidence, z)
        final = compact(nodes)
        probability = predict(
            Nodes(*final),
            Tree(*final).probability,
            n_values,
            np.ascontiguousarray(columns[:, split.test]),
        )
        predicted.append(classes[first_largest(probability)])
    return predicted


def _with_weights(split: Split, n_rows: int) -> tuple[IntArray, np.ndarray]:
    """Training rows once each, and how often they were drawn."""
    if split.leaves_out:
        train = split.train
        return train, np.ones(len(train))
    times = np.bincount(split.train, minlength=n_rows)
    train = np.flatnonzero(times)
    return train, times[train].astype(np.float64)


def predict_by_bayes(
    table: Table, rows: IntArray, splits: Sequence[Split]
) -> list[IntArray]:
    """Fit naive Bayes on every training set and classify its test cases."""
    codes = table.codes[rows]
    X = take(table.X, rows)
    problem = Problem(X, codes, codes, np.arange(table.n_classes))
    return predict_splits(NaiveBayes(), problem, splits, None)


#: Learners by the names that the study uses: title and predictor.
LEARNERS: dict[str, tuple[str, Predictor]] = {
    "c45": ("C4.5", predict_by_trees),
    "nb": ("Naive Bayes", predict_by_bayes),
}
