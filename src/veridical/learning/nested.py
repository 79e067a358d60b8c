"""The named classifiers on nested sets of columns: the best 3, the best 5, the best 10.

A ranking gives a subset of columns for every size, each inside the next. What can be
shared between them is: distances and log-densities add up column by column, scaling and
counting is done once. Nothing is checked and no estimator is made, since reading and
checking a table takes longer than learning from a hundred cases. Predictions are those
of `make_classifier`, up to rounding where a case lies on the border of two classes.

| symbol  | meaning                                                  | shape  |
|---------|----------------------------------------------------------|--------|
| known   | training cases: numbers and codes, columns best first    | (n, p) |
| unknown | test cases                                               | (m, p) |
| y       | classes of the training cases, the most frequent is 0    | (n,)   |
| sizes   | how many of the leading columns count, rising            | (e,)   |
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.encoding import Features
from veridical._core.table import Table
from veridical.kernels.c45 import grow
from veridical.kernels.c45_nodes import Nodes, compact, predict
from veridical.kernels.c45_problem import make_problem
from veridical.kernels.c45_pruning import collapse, prune_and_raise
from veridical.kernels.neighbours import nearest_classes
from veridical.learning.c45 import C45
from veridical.learning.expansion import BoolArray, Expansion
from veridical.learning.linear_svm import fit_machines, vote
from veridical.learning.naive_bayes import NaiveBayes
from veridical.learning.sufficient import Sums, gaussians, log_frequencies
from veridical.learning.tree import Tree, first_largest

#: Cost of an error of the support vector machine.
COST = 1.0
#: Height of indicators that puts two different categories one apart.
ONE_APART = math.sqrt(0.5)
#: Squared distances and log-probabilities that agree to this differ by rounding only.
ROUNDING = 1e-9

# As in `NaiveBayes`: larger standardised values would overflow when squared.
_FAR = 1e150


@dataclass(frozen=True, eq=False)
class Task:
    """Cases to learn from and cases to classify; see the notation above.

    `columns` are the places of the columns in the data: where a tree can choose
    between equal tests, it takes the first column of the data, not the best-ranked.
    """

    known: FloatArray
    unknown: FloatArray
    nominal: BoolArray
    columns: IntArray
    y: IntArray
    n_classes: int
    sizes: tuple[int, ...]


def number_classes(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], IntArray]:
    """Number the classes, the most frequent first, then as they occur.

    Returns the sorted labels, the labels by number, and the numbers of `y`.
    """
    classes, start, inverse, counts = np.unique(
        y, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.lexsort((start, -counts))
    number = np.empty(order.size, dtype=np.intp)
    number[order] = np.arange(order.size)
    return classes, classes[order], number[inverse]


def predict_by_margins(task: Task) -> IntArray:
    """Linear support vector machine on scaled numbers and indicators."""
    expansion = Expansion.learn(task.known, task.nominal)
    X, asked = expansion.matrix(task.known), expansion.matrix(task.unknown)
    predicted = []
    for end in expansion.ends[np.array(task.sizes) - 1]:
        machines = fit_machines(X[:, :end], task.y, task.n_classes, COST)
        predicted.append(vote(machines, asked[:, :end], task.n_classes))
    return np.array(predicted)


def predict_by_neighbours(task: Task) -> IntArray:
    """Nearest neighbour on scaled numbers; different categories are one apart."""
    expansion = Expansion.learn(task.known, task.nominal, weight=ONE_APART)
    return nearest_classes(
        np.ascontiguousarray(expansion.matrix(task.known).T),
        task.y,
        np.ascontiguousarray(expansion.matrix(task.unknown)),
        expansion.ends[np.array(task.sizes) - 1],
        task.n_classes,
        ROUNDING,
    )


def predict_by_bayes(task: Task) -> IntArray:
    """Naive Bayes: the evidence of the columns adds up."""
    settings = NaiveBayes()
    nominal = np.flatnonzero(task.nominal)
    seen = [_n_codes(task.known[:, j], task.unknown[:, j]) for j in nominal]
    categories: list[NDArray[Any] | None] = [None] * task.nominal.size
    for j, n_codes in zip(nominal, seen, strict=True):
        categories[j] = np.arange(n_codes)
    table = Features(task.known, task.nominal, tuple(categories), None)
    sums = Sums.of(table, task.y, np.ones(len(task.y)), task.n_classes)
    mean, variance = gaussians(sums, settings.min_std)
    logs = log_frequencies(sums, settings.zero_counts)
    numeric = np.flatnonzero(~task.nominal)
    told: BoolArray = np.all(variance > 0, axis=0)  # a constant column tells nothing
    evidence = np.empty((task.n_classes, len(task.unknown), task.nominal.size))
    for k in range(task.n_classes):
        evidence[k][:, numeric] = _log_density(
            task.unknown[:, numeric], mean[k], variance[k], told
        )
        for j, table_of_logs in zip(nominal, logs, strict=True):
            evidence[k][:, j] = _log_share(task.unknown[:, j], table_of_logs[k])
    joint = np.cumsum(evidence, axis=2)[:, :, np.array(task.sizes) - 1]
    with np.errstate(divide="ignore"):
        joint += np.log(sums.class_weight / len(task.y))[:, None, None]
    # Of classes that are equal but for rounding the most frequent one wins.
    slack = ROUNDING * np.maximum(1.0, np.abs(joint.max(axis=0)))
    return (joint >= joint.max(axis=0) - slack).argmax(axis=0).T


def _n_codes(*columns: FloatArray) -> int:
    """Count the codes up to the largest; one where all values are missing."""
    return 1 + int(max(np.where(np.isnan(c), 0.0, c).max(initial=0.0) for c in columns))


def _log_density(
    values: FloatArray, mean: FloatArray, variance: FloatArray, told: BoolArray
) -> FloatArray:
    """Normal log-density per value; 0 where it is missing or the column constant."""
    deviation = np.sqrt(np.where(told, variance, 1.0))
    z = np.clip((values - mean) / deviation, -_FAR, _FAR)
    terms = -0.5 * z**2 - np.log(np.sqrt(2 * np.pi) * deviation)
    return np.where(told & ~np.isnan(values), terms, 0.0)


def _log_share(codes: FloatArray, logs: FloatArray) -> FloatArray:
    missing = np.isnan(codes)
    places = np.where(missing, 0, codes).astype(np.intp)
    return np.where(missing, 0.0, logs[places])


def predict_by_trees(task: Task) -> IntArray:
    """C4.5, a tree of its own for every size."""
    settings = C45()
    confidence = float(settings.confidence)
    z = float(ndtri(1 - confidence))
    known, unknown, n_values = _recode(task)
    weights = np.ones(len(task.y))
    y = task.y.astype(np.int32)
    predicted = []
    for size in task.sizes:
        chosen = np.argsort(task.columns[:size])
        problem = make_problem(
            known[chosen],
            n_values[chosen],
            y,
            task.n_classes,
            float(len(y)),
            float(settings.min_samples_leaf),
        )
        nodes = grow(problem, weights)
        collapse(nodes)
        prune_and_raise(problem, nodes, weights, confidence, z)
        final = compact(nodes)
        probability = predict(
            Nodes(*final), Tree(*final).probability, n_values[chosen], unknown[chosen]
        )
        predicted.append(first_largest(probability))
    return np.array(predicted)


def _recode(task: Task) -> tuple[FloatArray, FloatArray, IntArray]:
    """Number the categories that training has seen; others are as good as missing.

    Returns training and test cases, one column per row, and the numbers of categories.
    """
    known, unknown = (np.array(v.T, order="C") for v in (task.known, task.unknown))
    n_values = np.zeros(task.nominal.size, dtype=np.intp)
    for j in np.flatnonzero(task.nominal):
        seen = np.unique(known[j][~np.isnan(known[j])])
        n_values[j] = max(1, seen.size)
        for column in (known[j], unknown[j]):
            places = np.searchsorted(seen, column)
            strange = ~np.isin(column, seen)
            column[:] = np.where(strange, np.nan, places)
    return known, unknown, n_values


#: ``predict(task)``: numbers of the classes, one row per size.
NESTED: dict[str, Callable[[Task], IntArray]] = {
    "svm": predict_by_margins,
    "nb": predict_by_bayes,
    "1nn": predict_by_neighbours,
    "tree": predict_by_trees,
}


def nested_accuracies(
    names: Sequence[str],
    data: Table,
    train: IntArray,
    test: IntArray,
    order: IntArray,
    sizes: Sequence[int],
) -> FloatArray:
    """Learn from the first columns of a ranking, count hits on the test rows.

    Parameters
    ----------
    names : sequence of str
        Keys of `NESTED`.
    data : Table
        The cases.
    train, test : int arrays
        Rows to learn from, rows to classify.
    order : int array
        Columns, best first.
    sizes : sequence of int
        How many of them to use.

    Returns
    -------
    array of shape (n_names, n_sizes)
    """
    rising = np.unique(np.asarray(sizes, dtype=np.intp))
    columns = order[: rising[-1]]
    _, labels, y = number_classes(data.y[train])
    task = Task(
        known=data.take(train, columns),
        unknown=data.take(test, columns),
        nominal=data.categorical[columns],
        columns=columns,
        y=y,
        n_classes=labels.size,
        sizes=tuple(int(size) for size in rising),
    )
    places = np.searchsorted(rising, np.asarray(sizes))
    hits = [labels[NESTED[name](task)] == data.y[test] for name in names]
    return np.array([found.mean(axis=1)[places] for found in hits])
