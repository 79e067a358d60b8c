"""The procedure that is audited, run honestly (IN) and as it should not be (OUT).

IN does everything that looks at labels inside each training fold. OUT does it once on
all cases and tests only what comes after. Both are run on the true labels and on labels
in random order, which is what makes an accuracy comparable to nothing at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    RobustScaler,
    StandardScaler,
)
from sklearn.utils import _safe_indexing

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.splits import Split
from veridical._core.table import Table
from veridical.audit.choosing import Chooser, name_of
from veridical.evaluation.fitting import Problem, predict_splits
from veridical.evaluation.rankers import Ranker
from veridical.learning.many import has_predict_table
from veridical.learning.tabular import TabularClassifier
from veridical.selection import SELECTORS, AnovaF

#: Steps that move and stretch each column, and do nothing else.
SCALERS = (StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler)
#: Columns are nominal by their data type, as they are for the audit itself.
DTYPE = "from_dtype"


@dataclass(frozen=True, eq=False)
class Run:
    """What one run over all splits gave.

    Parameters
    ----------
    predicted : list of int arrays
        Predicted class numbers of the test cases of each split.
    hits : float array of shape (n_splits,)
        Share of right predictions per split.
    accuracy : float
        Share of right predictions, all test cases together.
    chosen : int array of shape (n_splits, n_features) or None
        Columns chosen in each split, where that is known.
    """

    predicted: list[IntArray]
    hits: FloatArray
    accuracy: float
    chosen: Any = None


@dataclass(frozen=True, eq=False)
class Procedure:
    """What is audited.

    Parameters
    ----------
    X : array, data frame or sparse matrix
        The data as the estimator takes it.
    data : Table
        The same, checked and encoded.
    classes : array
        The labels, sorted; class numbers refer to it.
    whole : classifier
        The estimator as it was given.
    estimator : classifier
        The whole procedure, if there is no chooser; else what learns from the columns
        that the chooser chose.
    chooser : Chooser or None
        Chooses columns on the training cases.
    columns : int array or None
        Columns that were chosen beforehand.
    known : bool
        Whether it has run before, so that its parameters and data need no more checks.
    """

    X: Any
    data: Table
    classes: NDArray[Any]
    whole: Any
    estimator: Any
    chooser: Chooser | None = None
    columns: IntArray | None = None
    known: bool = False

    @property
    def has_outside(self) -> bool:
        """Whether there is anything to do before the folds."""
        return self.chooser is not None or self._steps_before is not None

    @cached_property
    def _steps_before(self) -> Any:
        """All but the last step of a pipeline, if they learn anything."""
        if type(self.estimator) is not Pipeline:
            return None
        before = [step for _, step in self.estimator.steps[:-1]]
        if all(is_rowwise(step) for step in before):
            return None
        return self.estimator[:-1]

    def codes(self) -> IntArray:
        """Class numbers of the true labels."""
        return np.searchsorted(self.classes, self.data.labels).astype(np.intp)

    def hurried(self) -> Procedure:
        """Prepare for many orders of the labels: the same, for less."""
        if self.chooser is not None:
            return replace(self, chooser=self.chooser.hurried(), known=True)
        taken_apart = _take_apart(self)
        return self if taken_apart is None else taken_apart

    def inside(self, codes: IntArray, splits: Sequence[Split]) -> Run:
        """Run it honestly: all that looks at labels sees training cases alone."""
        if self.chooser is None:
            predicted = self._predict_plainly(self.estimator, self.X, codes, splits)
            return _run(codes, splits, predicted)
        chosen = self._choose_inside(codes, [split.train for split in splits])
        predicted = self.predict_chosen(codes, splits, chosen)
        return _run(codes, splits, predicted, chosen)

    def outside(self, codes: IntArray, splits: Sequence[Split]) -> Run:
        """Run it as it should not be: what comes before the last step sees all."""
        if self.chooser is not None:
            (chosen,) = self._choose_outside(codes)
            return self.on_columns(chosen, codes, splits)
        before = clone(self._steps_before)
        Z = before.fit_transform(self.X, self.classes[codes])
        last = self.estimator.steps[-1][1]
        predicted = self._predict_plainly(last, Z, codes, splits)
        return _run(codes, splits, predicted)

    def on_columns(
        self, columns: IntArray, codes: IntArray, splits: Sequence[Split]
    ) -> Run:
        """Run what learns on columns that are given."""
        columns = np.sort(columns)
        if not has_predict_table(self.estimator):
            predicted = self.predict_chosen(codes, splits, [columns] * len(splits))
        else:
            Z = self.data.frame(np.arange(self.data.n_samples), columns)
            predicted = self._predict_plainly(self.estimator, Z, codes, splits)
        return _run(codes, splits, predicted)

    def _choose_inside(
        self, codes: IntArray, train_sets: Sequence[IntArray]
    ) -> list[IntArray | None]:
        """Choose on each training set; None where it holds one class only."""
        assert self.chooser is not None
        able = [s for s, rows in enumerate(train_sets) if np.ptp(codes[rows])]
        chosen: list[IntArray | None] = [None] * len(train_sets)
        found = self.chooser.choose(codes, [train_sets[s] for s in able])
        for s, columns in zip(able, found, strict=True):
            chosen[s] = np.sort(columns)
        return chosen

    def _choose_outside(self, codes: IntArray) -> IntArray:
        assert self.chooser is not None
        return self.chooser.choose(codes, [np.arange(len(codes))])

    def _predict_plainly(
        self, estimator: Any, X: Any, codes: IntArray, splits: Sequence[Split]
    ) -> list[IntArray]:
        problem = Problem(X, self.classes[codes], codes, self.classes)
        return predict_splits(estimator, problem, splits, 1)

    def predict_chosen(
        self, codes: IntArray, splits: Sequence[Split], chosen: Sequence[Any]
    ) -> list[IntArray]:
        """Fit on the chosen columns of each training set."""
        model = clone(self.estimator)
        ours = isinstance(model, TabularClassifier)
        work = _encoded if ours and model.categorical_features == DTYPE else _plain
        warm = any(
            value is True
            for name, value in model.get_params(deep=True).items()
            if name.endswith("warm_start")
        )
        predicted = []
        with config_context(
            assume_finite=self.known and self.is_finite,
            skip_parameter_validation=self.known,
        ):
            for (train, test), columns in zip(splits, chosen, strict=True):
                if columns is None or not np.ptp(codes[train]):
                    # One class to learn from; naming it is all that could be learned.
                    predicted.append(np.full(len(test), codes[train[0]]))
                    continue
                # By scikit-learn's contract a second fit forgets the first.
                fresh = clone(self.estimator) if warm else model
                predicted.append(work(fresh, self, codes, train, test, columns))
        return predicted

    @cached_property
    def is_finite(self) -> bool:
        """Whether there are neither missing nor infinite values."""
        if sparse.issparse(self.data.values):
            return True
        return bool(np.isfinite(self.data.values).all())


def _plain(
    model: Any, p: Procedure, codes: IntArray, train: Any, test: Any, columns: Any
) -> IntArray:
    """Fit and predict as any classifier does."""
    model.fit(p.data.frame(train, columns), p.classes[codes[train]])
    named = model.predict(p.data.frame(test, columns))
    return np.searchsorted(p.classes, named).astype(np.intp)


def _encoded(
    model: Any, p: Procedure, codes: IntArray, train: Any, test: Any, columns: Any
) -> IntArray:
    """Fit and predict as our own do, which take numbers and codes as they are."""
    categorical = p.data.categorical[columns]
    model.fit_encoded(p.data.take(train, columns), categorical, codes[train])
    return np.asarray(model.predict_encoded(p.data.take(test, columns)))


def _run(
    codes: IntArray,
    splits: Sequence[Split],
    predicted: list[IntArray],
    chosen: Any = None,
) -> Run:
    right = [
        guess == codes[split.test]
        for guess, split in zip(predicted, splits, strict=True)
    ]
    hits = np.array([part.mean() for part in right])
    return Run(predicted, hits, float(np.concatenate(right).mean()), chosen)


# -- from what the user passed to a procedure ----------------------------------------


def is_rowwise(step: Any) -> bool:
    """Tell a step that treats every row alone and learns nothing."""
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return True
    if type(step) is FunctionTransformer:
        return step.func is None or isinstance(step.func, np.ufunc)
    return type(step) in (Binarizer, Normalizer)


def make_procedure(estimator: Any, X: Any, data: Table, classes: Any) -> Procedure:
    """Read a procedure off an estimator; one of our selectors in front is seen.

    A pipeline that begins with a selector of `veridical.selection` is taken apart, so
    that rankings for many folds are made at once.
    """
    if type(estimator) is Pipeline and estimator.memory is None:
        first = estimator.steps[0][1]
        wanted = getattr(first, "n_features_to_select", None)
        ours = type(first) in SELECTORS.values() and len(estimator.steps) > 1
        plain = not data.categorical.any() and not sparse.issparse(X)
        if ours and plain and isinstance(wanted, (int, np.integer)) and wanted > 0:
            rest = Pipeline(estimator.steps[1:])
            learner = rest if len(rest.steps) > 1 else rest.steps[0][1]
            chooser = Chooser(
                Ranker(first, name_of(first)),
                min(int(wanted), data.n_features),
                data,
                np.arange(data.n_features),
            )
            return Procedure(X, data, classes, estimator, learner, chooser)
    return Procedure(X, data, classes, estimator, estimator)


def _take_apart(p: Procedure) -> Procedure | None:
    """Find a selector by the F ratio behind scalers, and let it choose first.

    The F ratio of a column does not change with its scale, so scaling the chosen
    columns afterwards comes to the same.
    """
    if type(p.estimator) is not Pipeline or p.estimator.memory is not None:
        return None
    if p.data.categorical.any() or sparse.issparse(p.data.values) or not p.is_finite:
        return None
    steps = p.estimator.steps[:-1]
    place = next((i for i, (_, s) in enumerate(steps) if type(s) not in SCALERS), None)
    n_features = None if place is None else _keeps(steps[place][1], p.data)
    if place is None or n_features is None:
        return None
    rest = p.estimator.steps[:place] + p.estimator.steps[place + 1 :]
    learner = Pipeline(rest) if len(rest) > 1 else rest[0][1]
    chooser = Chooser(
        Ranker(AnovaF(n_features), "anova"),
        n_features,
        p.data,
        np.arange(p.data.n_features),
    )
    return replace(p, estimator=learner, chooser=chooser.hurried(), known=True)


def _keeps(selector: Any, data: Table) -> int | None:
    """How many columns a selector by the F ratio keeps; None if it is another."""
    wanted: Any = None
    if type(selector) is SelectKBest and selector.score_func is f_classif:
        wanted = selector.k
    elif type(selector) is AnovaF:
        wanted = selector.n_features_to_select
    if isinstance(wanted, Integral) and 0 < int(wanted) <= data.n_features:
        return int(wanted)
    return None


def supports(
    estimator: Any, X: Any, labels: NDArray[Any], splits: Sequence[Split]
) -> list[IntArray] | None:
    """Columns that the selector of a pipeline keeps in each split.

    None where no step selects, or where one before it changes what columns mean.
    """
    if type(estimator) is not Pipeline:
        return None
    steps = [step for _, step in estimator.steps[:-1]]
    places = [i for i, step in enumerate(steps) if hasattr(step, "get_support")]
    if not places:
        return None
    found = []
    for train, _ in splits:
        rows = _safe_indexing(X, train)
        n_columns = rows.shape[1]
        kept = np.arange(n_columns)
        for i in range(places[-1] + 1):
            step = steps[i]
            if is_rowwise(step) and not hasattr(step, "fit_transform"):
                continue
            fitted = clone(step).fit(rows, labels[train])
            rows = fitted.transform(rows)
            if i in places:
                kept = kept[np.asarray(fitted.get_support(indices=True))]
            if rows.shape[1] != kept.size:
                return None
        found.append(kept)
    return found
