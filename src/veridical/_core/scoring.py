"""Scorers: names, ranges, and training or test sets that lack classes.

The classifier of a training set that lacks a class is passed to the scorer with all
classes of the data, the absent ones with probability 0. Where the score of a test
set that lacks a class is not defined (the area under a ROC curve, say), that split has
no score, and the estimate is the mean of the others.
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import metrics
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils.metaestimators import available_if

from veridical._core.arrays import FloatArray
from veridical._core.errors import InputError
from veridical._core.sklearn_private import parts_of

Scorer = Callable[[Any, Any, Any], float]

_ZERO_TO_ONE = (0.0, 1.0)
_UNBOUNDED = (-math.inf, math.inf)

#: Least and greatest value of scikit-learn's scoring functions.
_RANGES = {
    metrics.accuracy_score: _ZERO_TO_ONE,
    metrics.average_precision_score: _ZERO_TO_ONE,
    metrics.balanced_accuracy_score: _ZERO_TO_ONE,
    metrics.brier_score_loss: (0.0, 2.0),  # of two classes it is half of that
    metrics.class_likelihood_ratios: (0.0, math.inf),
    metrics.cohen_kappa_score: (-1.0, 1.0),
    metrics.d2_log_loss_score: (-math.inf, 1.0),
    metrics.f1_score: _ZERO_TO_ONE,
    metrics.fbeta_score: _ZERO_TO_ONE,
    metrics.hamming_loss: _ZERO_TO_ONE,
    metrics.jaccard_score: _ZERO_TO_ONE,
    metrics.log_loss: (0.0, math.inf),
    metrics.matthews_corrcoef: (-1.0, 1.0),
    metrics.precision_score: _ZERO_TO_ONE,
    metrics.recall_score: _ZERO_TO_ONE,
    metrics.roc_auc_score: _ZERO_TO_ONE,
    metrics.top_k_accuracy_score: _ZERO_TO_ONE,
    metrics.zero_one_loss: _ZERO_TO_ONE,
}

#: Scorers of scikit-learn by name, as people call them; reports use these names.
SCORERS: dict[str, str] = {
    "accuracy": "accuracy",
    "average_precision": "average precision",
    "balanced_accuracy": "balanced accuracy",
    "d2_brier_score": "D² (Brier score)",
    "d2_log_loss_score": "D² (log loss)",
    "f1": "F1 score",
    "f1_macro": "F1 score, macro-averaged over classes",
    "f1_micro": "F1 score, micro-averaged",
    "f1_samples": "F1 score, averaged over samples",
    "f1_weighted": "F1 score, weighted by class size",
    "jaccard": "Jaccard index",
    "jaccard_macro": "Jaccard index, macro-averaged over classes",
    "jaccard_micro": "Jaccard index, micro-averaged",
    "jaccard_weighted": "Jaccard index, weighted by class size",
    "matthews_corrcoef": "Matthews correlation coefficient",
    "neg_brier_score": "Brier score (negated, so that more is better)",
    "neg_log_loss": "log loss (negated, so that more is better)",
    "neg_negative_likelihood_ratio": "negative likelihood ratio (negated)",
    "positive_likelihood_ratio": "positive likelihood ratio",
    "precision": "precision",
    "precision_macro": "precision, macro-averaged over classes",
    "precision_micro": "precision, micro-averaged",
    "precision_weighted": "precision, weighted by class size",
    "r2": "coefficient of determination (R²)",
    "recall": "recall (sensitivity)",
    "recall_macro": "recall, macro-averaged over classes",
    "recall_micro": "recall, micro-averaged",
    "recall_weighted": "recall, weighted by class size",
    "roc_auc": "area under the ROC curve",
    "roc_auc_ovo": "area under the ROC curve, mean over pairs of classes",
    "roc_auc_ovo_weighted": "area under the ROC curve, weighted over pairs of classes",
    "roc_auc_ovr": "area under the ROC curve, each class against the rest",
    "roc_auc_ovr_weighted": "area under the ROC curve, each class against the rest, "
    "weighted by class size",
    "top_k_accuracy": "top-k accuracy",
}


def find_scorer(learner: Any, scoring: Any) -> tuple[str, Scorer | None]:
    """Return name and scorer; None for accuracy, which is counted from predictions."""
    if scoring is None or (isinstance(scoring, str) and scoring == "accuracy"):
        return "accuracy", None
    if isinstance(scoring, str):
        try:
            return scoring, metrics.get_scorer(scoring)
        except ValueError as error:
            raise InputError(
                f"scoring={scoring!r} is not a scorer of scikit-learn; see "
                "sklearn.metrics.get_scorer_names()."
            ) from error
    if not callable(scoring):
        raise InputError(
            f"scoring={scoring!r} must be the name of a scorer, a callable "
            "scorer(estimator, X, y), or None for accuracy."
        )
    name = getattr(scoring, "__name__", None) or " ".join(repr(scoring).split())
    return str(name), metrics.check_scoring(learner, scoring)


def range_of(scorer: Scorer | None) -> tuple[float, float]:
    """Return the least and the greatest score; infinite where not known."""
    if scorer is None:
        return _ZERO_TO_ONE
    function, options, _, greater_is_better = parts_of(scorer)
    low, high = _UNBOUNDED if function is None else _RANGES.get(function, _UNBOUNDED)
    if options.get("adjusted"):  # chance is 0, and below it is possible
        low = -1.0
    if options.get("normalize", True) is not True:  # a count
        high = math.inf
    return (low, high) if greater_is_better else (-high, -low)


class Scored(NamedTuple):
    """The score of a split; NaN with the reason if it is undefined.

    Warnings are collected, so that each is given once and not for every split.
    """

    value: float
    reason: str = ""
    warned: tuple[tuple[type[Warning], str], ...] = ()


def score(
    scorer: Scorer, model: Any, X: Any, y: NDArray[Any], classes: NDArray[Any]
) -> Scored:
    """Score a fitted model on a test set.

    Parameters
    ----------
    scorer : callable
        ``scorer(model, X, y)``.
    model : classifier
        Fitted, perhaps on fewer classes.
    X, y : array-like
        The test samples and their labels; classes may be absent here too.
    classes : array of shape (n_classes,)
        All classes of the data, sorted.

    Returns
    -------
    Scored
        NaN where a test set that lacks classes has no such score.

    Raises
    ------
    InputError
        If the scorer raises for a test set with all classes.
    """
    known = getattr(model, "classes_", classes)
    if len(known) < len(classes):
        model = AllClasses(model, classes)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            value = float(_with_labels(scorer, classes)(model, X, y))
    except (ValueError, TypeError) as error:
        if len(np.unique(y)) < len(classes):
            return Scored(math.nan, _sentence(error))
        raise InputError(
            f"The score cannot be computed: {_sentence(error)}. Choose another "
            "scoring, or make one with sklearn.metrics.make_scorer (which takes "
            "pos_label, average, multi_class and the like)."
        ) from error
    # Undefined scores are reported in a note.
    said = {
        (w.category, str(w.message)): None
        for w in caught
        if not (math.isnan(value) and w.category is UndefinedMetricWarning)
    }
    return Scored(value, warned=tuple(said))


def _with_labels(scorer: Scorer, classes: NDArray[Any]) -> Scorer:
    """Pass all classes to a scorer of probabilities that takes `labels`."""
    function, options, response, greater_is_better = parts_of(scorer)
    if function is None or response == "predict" or "labels" in options:
        return scorer
    if "labels" not in inspect.signature(function).parameters:
        return scorer
    if function is metrics.roc_auc_score and len(classes) < 3:
        return scorer  # for two classes it takes no labels
    return metrics.make_scorer(
        function,
        response_method=response,
        greater_is_better=greater_is_better,
        labels=classes,
        **options,
    )


def _sentence(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".")


# -- a classifier that was fitted on fewer classes ----------------------------


def _has(name: str) -> Callable[[Any], bool]:
    return lambda self: hasattr(self.model, name)


class AllClasses(ClassifierMixin, BaseEstimator):
    """A fitted classifier, extended by classes that its training set lacked.

    Parameters
    ----------
    model : classifier
        Fitted on some of the classes.
    classes : array of shape (n_classes,)
        All of them, sorted.
    """

    def __init__(self, model: Any, classes: NDArray[Any]) -> None:
        self.model = model
        self.classes = classes

    @property
    def classes_(self) -> NDArray[Any]:
        """All classes, also those absent from the training set."""
        return self.classes

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict classes of the training set."""
        return np.asarray(self.model.predict(X))

    @available_if(_has("predict_proba"))
    def predict_proba(self, X: Any) -> FloatArray:
        """Return probabilities; 0 for a class absent from the training set."""
        return self._add_classes(np.asarray(self.model.predict_proba(X)), 0.0)

    @available_if(_has("decision_function"))
    def decision_function(self, X: Any) -> FloatArray:
        """Return decision values; the lowest for absent classes."""
        values = np.asarray(self.model.decision_function(X))
        if values.ndim == 1:  # of two classes: for the second, against the first
            values = np.column_stack([-values, values])
        return self._add_classes(values, float(values.min()) - 1.0)

    def _add_classes(self, values: FloatArray, fill: float) -> FloatArray:
        result = np.full((len(values), len(self.classes)), fill)
        places = np.searchsorted(self.classes, self.model.classes_)
        result[:, places] = values
        return result
