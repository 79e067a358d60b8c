"""Fit and test on many splits: by ``predict_table``, ``rank_many``, or plainly.

Whatever the way, the predictions are those of ``clone(estimator).fit(X[train],
y[train]).predict(X[test])``; only the time differs.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import Binarizer, FunctionTransformer, Normalizer
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import validate_data
from threadpoolctl import ThreadpoolController

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.reading import check_table
from veridical._core.scoring import Scorer, score
from veridical._core.splits import Split, class_counts
from veridical._core.table import Classes, Table
from veridical.learning.many import predict_table
from veridical.selection import SELECTORS

#: Rankings kept at a time, in numbers: bounds the memory that ``rank_many`` takes.
_RANKS_AT_A_TIME = 1 << 24


@dataclass(frozen=True, eq=False)
class Problem:
    """Data and labels, with the classes numbered in sorted order."""

    X: Any
    y: NDArray[Any]
    codes: IntArray
    classes: NDArray[Any]

    @classmethod
    def read(cls, X: Any, y: Any) -> Problem:
        """Check the labels; what X may be is for the estimator to say."""
        labels = np.asarray(y)
        if labels.ndim == 2 and labels.shape[1] == 1:
            labels = labels[:, 0]
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        check_table(np.zeros((max(n_rows, 1), 1)), labels)
        classes, codes = np.unique(labels, return_inverse=True)
        return cls(X, labels, codes.astype(np.intp), classes)

    def __len__(self) -> int:
        return len(self.y)

    @cached_property
    def table(self) -> Table:
        """The same as a table; features are encoded when they are asked for."""
        target = Classes(self.y, self.classes, self.codes)
        return Table(None, target, source=self.X, name="X")

    def encode(self, predicted: Any) -> IntArray:
        """Number predicted labels; −1 for one that is no class of the data."""
        return pd.Index(self.classes).get_indexer(pd.Index(np.asarray(predicted)))


# -- predictions and scores over splits ----------------------------------------------


def predict_splits(
    estimator: Any, problem: Problem, splits: Sequence[Split], n_jobs: int | None
) -> list[IntArray]:
    """Predict the test rows of every split, as class numbers.

    Parameters
    ----------
    estimator : classifier
        Not fitted; it is cloned for every split.
    problem : Problem
        The data.
    splits : sequence of (train, test)
        Row indices; a row may occur several times in a training set.
    n_jobs : int or None
        Processes for the splits that `predict_table` does not serve.
    """
    found = predict_table(estimator, problem.table, splits)
    predicted: list[Any] = [None] * len(splits)
    if found is not None:
        predicted = [None if codes is None else codes[0] for codes in found]
    left = [s for s, codes in enumerate(predicted) if codes is None]
    plain = _over_splits(estimator, problem, [splits[s] for s in left], None, n_jobs)
    for s, codes in zip(left, plain, strict=True):
        predicted[s] = codes
    return predicted


def score_splits(
    estimator: Any,
    problem: Problem,
    splits: Sequence[Split],
    scorer: Scorer,
    n_jobs: int | None,
) -> tuple[FloatArray, str]:
    """Score a model fitted on the training rows of every split on its test rows.

    Returns
    -------
    scores : array of shape (n_splits,)
        NaN where the score is not defined.
    reason : str
        Why it is not, as far as scikit-learn said.
    """
    found = _over_splits(estimator, problem, splits, scorer, n_jobs)
    for category, text in dict.fromkeys(w for one in found for w in one.warned):
        warnings.warn(text, category, stacklevel=4)
    reasons = [one.reason for one in found if one.reason]
    return np.array([one.value for one in found]), next(iter(reasons), "")


def _over_splits(
    estimator: Any,
    problem: Problem,
    splits: Sequence[Split],
    scorer: Scorer | None,
    n_jobs: int | None,
) -> list[Any]:
    if n_jobs == 0:
        raise InputError("n_jobs=0 does no work; use 1, or -1 for all cores.")
    if not splits:
        return []
    supports = _supports(estimator, problem, splits)
    if effective_n_jobs(n_jobs) == 1:
        return _work(estimator, problem, splits, supports, scorer)
    n_parts = min(len(splits), 4 * effective_n_jobs(n_jobs))
    parts = np.array_split(np.arange(len(splits)), n_parts)
    done = Parallel(n_jobs=n_jobs)(
        delayed(_work)(
            estimator,
            problem,
            [splits[s] for s in part],
            [supports[s] for s in part],
            scorer,
        )
        for part in parts
    )
    return [result for part in done for result in part]


def _work(
    estimator: Any,
    problem: Problem,
    splits: Sequence[Split],
    supports: Sequence[Any],
    scorer: Scorer | None,
) -> list[Any]:
    results: list[Any] = []
    # BLAS sums in another order on another number of threads; one is always the same.
    with _threads().limit(limits=1):
        for (train, test), support in zip(splits, supports, strict=True):
            model = _fit(estimator, problem, train, support)
            X = _safe_indexing(problem.X, test)
            if scorer is None:
                results.append(problem.encode(model.predict(X)))
            else:
                y = problem.y[test]
                results.append(score(scorer, model, X, y, problem.classes))
    return results


@cache
def _threads() -> ThreadpoolController:
    """Look for the libraries that use threads; once, since looking takes a while."""
    return ThreadpoolController()


def _fit(estimator: Any, problem: Problem, train: IntArray, support: Any) -> Any:
    X, y = _safe_indexing(problem.X, train), problem.y[train]
    if (y == y[0]).all():
        # Many learners refuse one class; naming it is all that could be learned.
        return DummyClassifier(strategy="most_frequent").fit(np.zeros((len(y), 1)), y)
    if support is None:
        return clone(estimator).fit(X, y)
    return _fit_selected(estimator, X, y, support)


# -- pipelines with one of our selectors ---------------------------------------------


def _place_of_selector(estimator: Any) -> int | None:
    """Where in a pipeline the selector stands whose work ``rank_many`` can do.

    Before it may stand only steps that treat every row alone and learn nothing: then
    transforming all rows once is the same as transforming them split by split.
    """
    if type(estimator) is not Pipeline or estimator.memory is not None:
        return None
    if getattr(estimator, "transform_input", None) is not None:
        return None
    for place, (_, step) in enumerate(estimator.steps[:-1]):
        if type(step) in SELECTORS.values():
            wanted = step.n_features_to_select  # None: only a fit can tell how many
            ok = isinstance(wanted, Real) and not isinstance(wanted, bool)
            return place if ok and wanted > 0 else None
        if not _is_rowwise(step):
            return None
    return None


def _is_rowwise(step: Any) -> bool:
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return True
    if type(step) is FunctionTransformer:
        return step.func is None or isinstance(step.func, np.ufunc)
    return type(step) in (Binarizer, Normalizer)


def _supports(estimator: Any, problem: Problem, splits: Sequence[Split]) -> list[Any]:
    """Columns selected on every training set; None where a plain fit has to do it."""
    supports: list[Any] = [None] * len(splits)
    place = _place_of_selector(estimator)
    if place is None or len(splits) < 2:
        return supports
    X = problem.X if hasattr(problem.X, "shape") else np.asarray(problem.X)
    X = _through(clone(estimator).steps[:place], X, problem.y)
    selector = clone(estimator.steps[place][1])
    # One class cannot be ranked; such sets are dealt with where the model is fitted.
    counts = class_counts(splits, problem.codes, len(problem.classes))
    able = np.flatnonzero(np.count_nonzero(counts, axis=1) > 1).tolist()
    n_features = X.shape[1]
    batch = max(1, _RANKS_AT_A_TIME // n_features)
    n_selected = _how_many(selector.n_features_to_select, n_features)
    for start in range(0, len(able), batch):
        some = able[start : start + batch]
        orders = selector.rank_many(X, problem.y, [splits[s].train for s in some])
        for s, order in zip(some, orders, strict=True):
            supports[s] = order[:n_selected].copy()
    return supports


def _how_many(wanted: float, n_features: int) -> int:
    if isinstance(wanted, Integral):
        return min(int(wanted), n_features)
    return max(1, int(wanted * n_features))


def _through(steps: Sequence[tuple[str, Any]], X: Any, y: Any) -> Any:
    for _, step in steps:
        if step is not None and not isinstance(step, str):
            X = step.fit_transform(X, y)
    return X


def _fit_selected(estimator: Any, X: Any, y: NDArray[Any], chosen: IntArray) -> Any:
    """Fit a pipeline whose selection is known already."""
    place = _place_of_selector(estimator)
    assert place is not None
    model = clone(estimator)
    X = _through(model.steps[:place], X, y)
    selector = model.steps[place][1]
    validate_data(selector, X, skip_check_array=True)  # names and number of columns
    selector.classes_ = np.unique(y)
    selector.support_ = np.zeros(selector.n_features_in_, dtype=bool)
    selector.support_[chosen] = True
    selector.n_features_ = len(chosen)
    rest = Pipeline(model.steps[place + 1 :])
    rest.fit(selector.transform(X), y)
    return model
