"""The best of many as an estimator, which can be cross-validated itself."""

from __future__ import annotations

import math
import threading
import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.base import BaseEstimator, MetaEstimatorMixin, is_classifier
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, column_or_1d

from veridical._core.arrays import FloatArray
from veridical._core.errors import InputError
from veridical._core.reading import read_labels, read_samples, read_target
from veridical._core.scoring import DEFAULTS, read_scoring
from veridical._core.survival_scores import Observed
from veridical._core.table import Table
from veridical._core.text import listed
from veridical.evaluation.arguments import read_problem
from veridical.evaluation.candidates import list_estimators, read_sparse
from veridical.evaluation.choices import Choice
from veridical.evaluation.choosing import Search
from veridical.learning.many import predict_responses


def _best_has(method: str) -> Any:
    def check(self: SelectionSearchCV) -> bool:
        if hasattr(self, "best_estimator_"):
            getattr(self.best_estimator_, method)  # raises with the reason
            return True
        learners = list_estimators(self.estimators)
        return bool(learners) and all(hasattr(one, method) for one in learners)

    return check


class SelectionSearchCV(MetaEstimatorMixin, BaseEstimator):
    """Search over selectors, numbers of features and estimators, as an estimator.

    It is used like scikit-learn's ``GridSearchCV``: `fit` chooses the best candidate by
    cross-validation with selection inside the folds and fits it on all samples. The
    best score is too good, because it was chosen; `corrected_score_` is not.

    Parameters
    ----------
    selectors : str, selector, sequence or mapping, default="auto"
        As in :func:`veridical.choose`.
    sizes : int, float, sequence, "auto" or None, default="auto"
        Numbers of features, as in :func:`veridical.choose`.
    estimators : str, estimator, sequence or mapping, default="auto"
        As in :func:`veridical.choose`.
    scoring : str, callable, list or mapping of these, default=None
        What counts; the first score decides.
    cv : int, str, splitter or method, default=5
        How to split.
    correction : {"auto", "bbc", "nested"}, default="bbc"
        How the score is corrected for the choice.
    drop : float, default=None
        Probability of keeping the truly best candidate where hopeless ones are dropped.
    baselines : bool, default=True
        Whether candidates without selection, and without features, join.
    n_bootstrap : int, default=None
        Number of bootstrap draws.
    random_state : int, RandomState or None, default=None
        Decides folds and draws.
    n_jobs : int, default=None
        Number of processes.

    Attributes
    ----------
    best_estimator_ : Pipeline
        The winner, fitted on all samples.
    best_score_ : float
        Its cross-validated score, as ``GridSearchCV`` has it; a loss has the opposite
        sign.
    corrected_score_ : float
        The score corrected for the choice, with the same sign.
    corrected_interval_ : tuple of float
        Its 95 % interval.
    best_params_ : dict
        Names of selector and estimator, and the number of features.
    best_index_ : int
        Place of the winner in `cv_results_`.
    cv_results_ : dict of arrays
        All candidates, the best first: the columns of ``choice_.candidates`` and, as in
        ``GridSearchCV``, `params`, `mean_test_score` and `rank_test_score`. Dropped
        candidates have no score, and the last rank.
    choice_ : Choice
        The whole result.
    classes_ : array of shape (n_classes,)
        The classes, of a classifier.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    veridical.choose : The same as a function, with a page.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import cross_val_score
    >>> from veridical.evaluation import SelectionSearchCV
    >>> X, y = load_wine(return_X_y=True)
    >>> search = SelectionSearchCV("anova", sizes=[2, 5], estimators=["nb"],
    ...                            random_state=0).fit(X, y)
    >>> search.corrected_score_ <= search.best_score_
    True
    >>> cross_val_score(search, X, y, cv=3).shape
    (3,)
    """

    def __init__(
        self,
        selectors: Any = "auto",
        *,
        sizes: Any = "auto",
        estimators: Any = "auto",
        scoring: Any = None,
        cv: Any = 5,
        correction: str = "bbc",
        drop: float | None = None,
        baselines: bool = True,
        n_bootstrap: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.selectors = selectors
        self.sizes = sizes
        self.estimators = estimators
        self.scoring = scoring
        self.cv = cv
        self.correction = correction
        self.drop = drop
        self.baselines = baselines
        self.n_bootstrap = n_bootstrap
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None
    ) -> Self:
        """Choose the best candidate, and fit it on all samples.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            The target.
        groups : array-like of shape (n_samples,), optional
            Samples that belong together.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples.

        Returns
        -------
        self : object
            The fitted search.
        """
        X = read_samples(self, X, reset=True, categorical=False, accept_sparse=True)
        learners = list_estimators(self.estimators)
        if isinstance(y, np.ndarray) and y.ndim == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        if y is None or (learners and is_classifier(learners[0])):
            y = read_labels(self, y, X.shape[0])
        table = read_problem(learners, X, y, groups=groups, sample_weight=sample_weight)
        search = Search(
            **{name: getattr(self, name) for name in self._searched()},
            progress=False,
        )
        found = search.run(table, threading.Event())
        self.choice_: Choice = found
        self.best_estimator_ = found.estimator_
        sign = found.scoring.sign
        self.best_score_ = sign * found.naive_score
        self.corrected_score_ = sign * found.score
        low, high = (sign * bound for bound in found.interval())
        self.corrected_interval_ = (min(low, high), max(low, high))
        self.best_index_ = 0
        self.cv_results_ = _list_results(found)
        self.best_params_ = self.cv_results_["params"][self.best_index_]
        self._outcome = table.kind, table.target.labels, table.weights
        if table.kind == "classes":
            self.classes_ = table.classes
        return self

    @classmethod
    def _searched(cls) -> list[str]:
        return list(cls._get_param_names())

    @available_if(_best_has("predict"))
    def predict(self, X: Any) -> NDArray[Any]:
        """Predict by the winner.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The features.
        """
        model, X = self._best(X)
        return np.asarray(model.predict(X))

    @available_if(_best_has("predict_proba"))
    def predict_proba(self, X: Any) -> FloatArray:
        """Predict probabilities by the winner.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The features.
        """
        model, X = self._best(X)
        return np.asarray(model.predict_proba(X))

    @available_if(_best_has("decision_function"))
    def decision_function(self, X: Any) -> FloatArray:
        """Compute decision values by the winner.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The features.
        """
        model, X = self._best(X)
        return np.asarray(model.decision_function(X))

    def score(self, X: Any, y: Any) -> float:
        """Score the winner on other samples, by the score that chose it.

        As scikit-learn has it, a loss comes with the opposite sign. Where the score is
        not defined, as without samples of a class that it needs, it is NaN, and a
        warning says so.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            The target.
        """
        model, X = self._best(X)
        kind, outcome, weights = self._outcome
        table = Table(
            None, read_target(outcome, len(outcome), kind=kind), weights=weights
        )
        score, *_ = read_scoring(self.scoring, table.target)
        if score.name == DEFAULTS[table.kind]:
            return float(model.score(X, y))
        n, everyone = X.shape[0], np.arange(len(table))
        if len(model) > 1 and score.needs == "survival":  # no method of pipelines
            X = model[:-1].transform(X)
        response = score.response(model[-1])
        asked = () if response is None else (response,)
        last = model[-1] if score.needs == "survival" else model
        outputs = predict_responses(last, X, table, everyone, asked)
        truth: Any
        if table.kind == "classes":
            truth = table.as_classes.encode(read_labels(self, y, n))
            if (truth < 0).any():
                raise InputError(
                    f"y holds classes that the search was not fitted on; its classes "
                    f"are {listed(map(str, table.classes.tolist()))}."
                )
        else:
            new = Table(None, read_target(y, n, kind=table.kind))
            if table.kind == "numbers":
                truth = new.as_numbers.values
            else:
                truth = Observed(new.as_survival, table.as_survival)
        found = score.score_outputs(truth, outputs, table.classes, response)
        if math.isnan(found.value):
            warnings.warn(
                f"The {score.label} of these samples is not defined: {found.reason}.",
                UndefinedMetricWarning,
                stacklevel=2,
            )
        return score.sign * found.value

    def _best(self, X: Any) -> tuple[Any, Any]:
        check_is_fitted(self)
        X = read_samples(self, X, reset=False, categorical=False, accept_sparse=True)
        return self.best_estimator_, X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        learners = list_estimators(self.estimators)
        first = get_tags(learners[0]) if learners else None
        if first is None or is_classifier(learners[0]):
            from sklearn.utils import ClassifierTags

            tags.estimator_type = "classifier"
            tags.classifier_tags = (
                ClassifierTags() if first is None else first.classifier_tags
            )
            tags.regressor_tags = None
        else:
            tags.estimator_type = first.estimator_type
            tags.regressor_tags = first.regressor_tags
        tags.target_tags.required = True
        tags.input_tags.sparse = read_sparse(self.selectors, self.estimators)
        return tags


def _list_results(found: Choice) -> dict[str, Any]:
    """Describe all candidates, also by the names that scikit-learn's searches use."""
    frame = found.candidates
    names = ["selector", "n_features", "estimator"]
    dropped = frame["dropped_after"].notna()
    scores = found.scoring.sign * frame["score"].mask(dropped).to_numpy(float)
    lowest_last = np.where(np.isnan(scores), np.inf, -scores)
    return {
        **{str(name): column.to_numpy() for name, column in frame.items()},
        "params": frame[names].to_dict("records"),
        "mean_test_score": scores,
        "rank_test_score": stats.rankdata(lowest_last, "min").astype(np.int32),
    }
