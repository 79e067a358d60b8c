"""Choose the exponent of differential prioritization on splits of the training set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.seeds import as_generator
from veridical._core.splits import Split, stratified_split
from veridical._core.table import Table
from veridical.kernels.dagsvm import predict_nested
from veridical.kernels.threads import run_jobs

#: Exponents tried by default.
EXPONENTS = tuple(round(0.1 * k, 1) for k in range(1, 11))
#: Largest size of a predictor set that is tried, unless more features are selected.
MOST_SEARCHED = 100
#: Share of the samples of each class that is tested.
TEST_SHARE = 1 / 3


def draw_splits(codes: IntArray, n_splits: int, seed: int) -> list[Split]:
    """Draw stratified splits, two thirds for training.

    Raises
    ------
    InputError
        If the classes are too small for that.
    """
    rng = as_generator(seed)
    splits = [stratified_split(codes, TEST_SHARE, rng) for _ in range(n_splits)]
    if not splits[0].test.size:
        raise InputError(
            "alpha='auto' splits the training data, but every class has a single "
            "sample; give a number for alpha."
        )
    return splits


def score_alphas(
    data: Table,
    splits: Sequence[Split],
    orders: Sequence[Sequence[IntArray]],
    sizes: IntArray,
    estimator: Any,
    n_threads: int,
) -> FloatArray:
    """Compute the accuracy of every alpha at every size, averaged over the splits.

    Parameters
    ----------
    data : Table
        The training data.
    splits : sequence of Split
        Its splits.
    orders : sequence of n_splits sequences of n_alphas int arrays
        Features selected on the training rows of each split, best first.
    sizes : int array
        Sizes of predictor sets, growing.
    estimator : classifier or None
        Fitted at every size; with ``predict_many`` it predicts for all sizes at once.
        None is the linear DAGSVM with C = 1 on standardized features.
    n_threads : int
        Threads for None.

    Returns
    -------
    array of shape (n_alphas, n_sizes)
        Accuracies on the test samples.
    """
    predict = _predict_by_dagsvm if estimator is None else _predict_by(estimator)
    n_alphas = len(orders[0])
    found = np.empty((len(splits), n_alphas, sizes.size))

    def one(f: int, a: int) -> None:
        train, test = splits[f]
        order = orders[f][a][: sizes[-1]]
        X = data.take(np.arange(data.n_samples), order)
        predicted = predict(X, data.y, train, test, sizes)
        found[f, a] = (predicted == data.y[test]).mean(axis=1)

    jobs = [(f, a) for f in range(len(splits)) for a in range(n_alphas)]
    run_jobs(one, jobs, n_threads if estimator is None else 1)
    return found.mean(axis=0)


def _predict_by_dagsvm(
    X: FloatArray, y: IntArray, train: IntArray, test: IntArray, sizes: IntArray
) -> IntArray:
    """Predict by a linear DAGSVM with C = 1 on standardized features."""
    present, codes = np.unique(y[train], return_inverse=True)
    deviation = X[train].std(axis=0)
    centre, scale = X[train].mean(axis=0), np.where(deviation > 0, deviation, 1.0)
    found, _ = predict_nested(
        (X[train] - centre) / scale,
        codes.astype(np.intp),
        present.size,
        (X[test] - centre) / scale,
        1.0,
        sizes,
    )
    return present[found]


def _predict_by(estimator: Any) -> Callable[..., Any]:
    if not (hasattr(estimator, "fit") and hasattr(estimator, "predict")):
        raise InputError(
            f"estimator={estimator!r} is not a classifier; it needs fit and predict."
        )

    def predict(X: Any, y: Any, train: Any, test: Any, sizes: IntArray) -> Any:
        if hasattr(estimator, "predict_many"):
            order = np.arange(X.shape[1])
            return estimator.predict_many(X, y, [(train, test)], [order], sizes)[0]
        return np.array(
            [
                clone(estimator).fit(X[train, :size], y[train]).predict(X[test, :size])
                for size in sizes
            ]
        )

    return predict
