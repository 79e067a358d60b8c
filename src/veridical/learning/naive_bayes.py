"""Naive Bayes for tables of numeric and categorical features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from veridical._core.arrays import BoolArray, FloatArray, IntArray
from veridical._core.encoding import encode
from veridical._core.errors import InputError
from veridical._core.reading import read_samples, read_training
from veridical._core.sklearn_private import is_first_batch
from veridical._core.splits import Split
from veridical._core.table import Table
from veridical._core.text import listed, quote
from veridical.learning.bayes_many import BayesSettings, predict_sizes, predict_splits
from veridical.learning.class_distributions import (
    ZERO_COUNTS,
    ClassSums,
    NormalDensities,
    gaussians,
    in_chunks,
    log_frequencies,
    most_probable,
    normalize_logs,
    positions,
)
from veridical.learning.inputs import MixedFeatures
from veridical.learning.many import Orders, Predicted, PredictMany, Sizes
from veridical.learning.probability_classifiers import LogProbabilityClassifier


class NaiveBayes(PredictMany, MixedFeatures, LogProbabilityClassifier):
    """Naive Bayes classifier for numeric and categorical features.

    Within a class, features are taken as independent: a numeric one as Gaussian, a
    categorical one with the relative frequencies seen. Missing values are skipped, in
    training and in prediction, and so is a value never seen before.

    Parameters
    ----------
    categorical_features : "from_dtype", None, bool mask, integer indices or names
        Which features are categorical. ``"from_dtype"`` takes the category, string and
        boolean columns of a data frame, and none of an array.
    zero_counts : {"0.5/n", "laplace"}, default="0.5/n"
        What to do where a category never occurs in a class: with a frequency of 0 the
        class would be impossible. ``"0.5/n"`` replaces it by ``0.5 / n``, where n is
        the number of training samples, and does not change the other frequencies [1]_.
        ``"laplace"`` adds 1 to the count of every category in every class.
    min_std : float, default=1e-3
        Least standard deviation within a class, relative to that of the feature over
        all classes. A feature that is constant within a class would have a density
        that is infinite there.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels.
    class_count_ : array of shape (n_classes,)
        Weight of the training samples of each class.
    theta_, var_ : arrays of shape (n_classes, n_features)
        Mean and variance per class; NaN for a categorical feature.
    categories_ : tuple of n_features arrays or None
        The categories of each categorical feature; None for a numeric one.
    feature_log_prob_ : tuple of n_features arrays (n_classes, n_categories) or None
        Log-probability of each category within each class.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, where they have any.

    See Also
    --------
    sklearn.naive_bayes.GaussianNB : For numeric features only.
    sklearn.naive_bayes.CategoricalNB : For categorical features only.

    Notes
    -----
    The least variance is set feature by feature. scikit-learn's ``GaussianNB`` adds a
    share of the *largest* variance of all features to each, which hides the
    differences in a feature of small numbers where another has large ones.

    Where a class has no known value of a feature, it takes the distribution of the
    feature over all classes (with ``"laplace"``, for a categorical feature, the
    uniform distribution that follows from the added counts). A numeric feature that is
    constant carries no information and is left out. A sample weight of 2 counts as two
    samples.

    Where classes are equally probable up to rounding, `predict` returns the most
    frequent of them in training, then the one that occurs first: the order of the
    labels does not matter.

    The sums take O(n_samples * n_features) time for fit and predict alike, times the
    number of classes for prediction from numeric features.

    References
    ----------
    .. [1] R. Kohavi, "A study of cross-validation and bootstrap for accuracy
       estimation and model selection", IJCAI 1995.

    Examples
    --------
    >>> import pandas as pd
    >>> from veridical.learning import NaiveBayes
    >>> X = pd.DataFrame(
    ...     {"mass": [7.0, 8.0, 150.0, None], "colour": ["red", "red", "green", "red"]}
    ... )
    >>> y = ["cherry", "cherry", "apple", "apple"]
    >>> NaiveBayes().fit(X, y).predict(pd.DataFrame({"mass": [7.5], "colour": [None]}))
    array(['cherry'], dtype='<U6')
    """

    def __init__(
        self,
        categorical_features: Any = "from_dtype",
        *,
        zero_counts: str = "0.5/n",
        min_std: float = 1e-3,
    ) -> None:
        self.categorical_features = categorical_features
        self.zero_counts = zero_counts
        self.min_std = min_std

    _sums: ClassSums
    _normals: NormalDensities
    _categorical: NDArray[np.bool_]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from training samples.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The features; NaN or null is missing.
        y : array-like of shape (n_samples,)
            The class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each sample; none negative.

        Returns
        -------
        NaiveBayes
            The fitted classifier itself.
        """
        return self._learn(X, y, sample_weight, classes=None, first=True)

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn from one more batch, as if all batches had come at once.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The features; NaN or null is missing. Which features are categorical is
            decided by the first batch; later ones may bring new categories.
        y : array-like of shape (n_samples,)
            The class labels.
        classes : array-like of shape (n_classes,), optional
            All labels that any batch will have; needed with the first batch.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each sample; none negative.

        Returns
        -------
        NaiveBayes
            The classifier itself.
        """
        first = is_first_batch(self, classes)
        first = first or not hasattr(self, "_sums")  # an earlier call may have failed
        return self._learn(X, y, sample_weight, classes=self.classes_, first=first)

    def predict_joint_log_proba(self, X: Any) -> FloatArray:
        """Compute ``log P(class) + log P(x | class)``.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The features, as in ``fit``.

        Returns
        -------
        array of shape (n_samples, n_classes)
            One column per class, in the order of ``classes_``.
        """
        check_is_fitted(self)
        X = read_samples(self, X, reset=False, categorical=any(self._categorical))
        table = encode(X, categories=self.categories_)
        with np.errstate(divide="ignore"):  # a class without samples: probability 0
            result = np.log(self.class_count_ / self.class_count_.sum())
        result = np.tile(result, (len(table.values), 1))
        result += self._numeric_log_likelihood(table.values[:, ~self._categorical])
        result += self._categorical_log_likelihood(table.values[:, self._categorical])
        return result

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Compute log-probabilities of the classes.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The features, as in ``fit``.

        Returns
        -------
        array of shape (n_samples, n_classes)
            One column per class, in the order of ``classes_``.
        """
        joint = self.predict_joint_log_proba(X)
        return normalize_logs(joint)

    def _most_probable(self, X: Any) -> IntArray:
        joint = self.predict_joint_log_proba(X)
        return most_probable(joint, self._sums.by_frequency)

    # -- learning --------------------------------------------------------------------

    def _learn(
        self, X: Any, y: Any, sample_weight: Any, *, classes: Any, first: bool
    ) -> Self:
        self._check_parameters()
        chosen = self.categorical_features if first else self._categorical
        X, y, weights = read_training(self, X, y, sample_weight, chosen, reset=first)
        table = encode(X, chosen)
        if classes is None:
            classes = np.unique(y)
        self.classes_ = classes
        batch = ClassSums.from_features(
            table, _class_codes(y, classes), weights, len(classes)
        )
        self._sums = batch if first else self._sums.merge(batch)
        self._categorical = table.categorical
        self._derive()
        return self

    def _check_parameters(self) -> None:
        if self.zero_counts not in ZERO_COUNTS:
            raise InputError(
                f"zero_counts={self.zero_counts!r} must be '0.5/n' or 'laplace'."
            )
        if not 0 < self.min_std <= 1:
            raise InputError(
                f"min_std={self.min_std!r} must be positive and at most 1: it is "
                "relative to the standard deviation of a feature."
            )

    def _derive(self) -> None:
        """Compute from the sums what prediction needs."""
        sums = self._sums
        shape = (len(self.classes_), len(self._categorical))
        self.class_count_ = sums.class_weight
        self.theta_, self.var_ = np.full(shape, np.nan), np.full(shape, np.nan)
        mean, variance, overall = gaussians(
            sums.weight, sums.mean, sums.spread, self.min_std
        )
        if not np.isfinite(overall).all():
            raise InputError(
                "Some numbers in X are too large to be squared; divide their feature "
                "by a large constant."
            )
        used = (variance > 0).all(axis=0)  # a constant feature is left out
        self._normals = NormalDensities.from_moments(mean, variance, used)
        self.theta_[:, ~self._categorical] = mean
        self.var_[:, ~self._categorical] = variance
        n = sums.class_weight.sum()
        logs = (log_frequencies(c, n, self.zero_counts) for c in sums.counts)
        categories = iter(sums.categories)
        chosen = self._categorical
        self.feature_log_prob_ = tuple(next(logs) if c else None for c in chosen)
        self.categories_ = tuple(next(categories) if c else None for c in chosen)

    # -- predicting ------------------------------------------------------------------

    def _numeric_log_likelihood(self, values: NDArray[Any]) -> FloatArray:
        missing = np.isnan(values)
        known: BoolArray | None = None
        if missing.any():
            known = ~missing
            values = np.where(missing, 0.0, values)
        ends = np.array([values.shape[1]])
        result = np.empty((len(values), len(self.classes_)))
        for part in in_chunks(len(values), self._normals.mean.size):
            there = None if known is None else known[part]
            distance, volume = self._normals.log_density(values[part], there, ..., ends)
            result[part] = -(0.5 * distance + volume)[..., 0]
        return result

    def _categorical_log_likelihood(self, codes: NDArray[Any]) -> FloatArray:
        tables = [logs for logs in self.feature_log_prob_ if logs is not None]
        places = positions(codes, [logs.shape[1] for logs in tables])
        result = np.zeros((len(codes), len(self.classes_)))
        for k in range(len(self.classes_)):
            # The tables of all features, then a 0 for an unknown value.
            line = np.concatenate([*(logs[k] for logs in tables), [0.0]])
            result[:, k] = line[places].sum(axis=1)
        return result

    # -- many training sets ----------------------------------------------------------

    def _predict_table(
        self,
        table: Table,
        splits: Sequence[Split],
        orders: Orders,
        sizes: Sizes,
        responses: Sequence[str] = (),
    ) -> Predicted | None:
        self._check_parameters()
        read = self._read_features(table, orders)
        if read is None:
            return None
        settings = BayesSettings(self.min_std, self.zero_counts)
        y, n_classes = table.y, table.n_classes
        if orders is None or sizes is None:
            return predict_splits(
                settings, *read, y, n_classes, splits, responses=responses
            )
        return predict_sizes(
            settings,
            *read,
            y,
            splits,
            orders,
            sizes,
            n_classes=n_classes,
            responses=responses,
        )


def _class_codes(y: NDArray[Any], classes: NDArray[Any]) -> IntArray:
    codes = pd.Index(classes).get_indexer(pd.Index(y))
    if (codes < 0).any():
        unknown = y[np.flatnonzero(codes < 0)[0]]
        raise InputError(
            f"y holds the label {quote(unknown)}, which is not among the classes "
            f"{listed(classes)}; pass all classes in the first call of partial_fit."
        )
    return codes
