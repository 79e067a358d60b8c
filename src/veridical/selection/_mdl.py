"""Fayyad and Irani's discretisation as a scikit-learn transformer."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from veridical._core.arrays import FloatArray
from veridical._core.encoding import Categories, encode
from veridical._core.reading import read_samples
from veridical._core.sklearn_private import take
from veridical.criteria.information import MdlCost, cut_points, interval_codes
from veridical.kernels.trainsets import TrainSets
from veridical.selection._inputs import Abilities, read_arguments


class MDLDiscretizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Cut numeric features into intervals that separate the classes.

    Each feature is cut where the classes separate best, again and again, as long as
    the description length shrinks [1]_. A feature not worth cutting becomes a constant.
    Categorical features are not cut: their codes are passed through.

    Parameters
    ----------
    mdl_cost : {"cuts", "samples"}, default="cuts"
        What a cut point costs to write down: log2 of the number of candidate cuts (as
        Weka's evaluators) or of the number of samples less one (the original).
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which features are categorical: those with a categorical data type, none, or
        those given by a mask, indices or names.

    Attributes
    ----------
    cut_points_ : list of ndarray or None
        Cuts of each feature, rising; a value equal to a cut goes to the left. None for
        a categorical feature.
    categories_ : tuple of ndarray or None
        The values behind the codes of each categorical feature; None for a numeric
        one.
    n_features_in_ : int
        Number of features seen in `fit`.

    Notes
    -----
    Sample weights must be whole numbers, because the rule counts samples.

    References
    ----------
    .. [1] U. M. Fayyad & K. B. Irani, "Multi-interval discretization of
       continuous-valued attributes for classification learning", IJCAI 1993.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from veridical.selection import MDLDiscretizer
    >>> X, y = load_iris(return_X_y=True)
    >>> MDLDiscretizer().fit(X, y).cut_points_[3]
    array([0.8 , 1.75])
    """

    def __init__(
        self, *, mdl_cost: MdlCost = "cuts", categorical_features: Any = "from_dtype"
    ) -> None:
        self.mdl_cost = mdl_cost
        self.categorical_features = categorical_features

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the cuts.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Numbers and categories; NaN is a missing value and is ignored.
        y : array-like of shape (n_samples,)
            The class labels.
        sample_weight : array-like of shape (n_samples,), optional
            How often each sample counts, in whole numbers: the cuts are those of
            repeating the samples, and a sample of weight 0 is left out.

        Returns
        -------
        self : object
            The fitted discretizer.
        """
        chosen = self.categorical_features
        abilities = Abilities(categorical=True, missing=True, weights="whole")
        data = read_arguments(self, X, y, abilities, chosen, sample_weight)
        if data.weights is not None and not data.weights.all():
            kept = np.flatnonzero(data.weights)  # the others bring no categories
            return self.fit(take(X, kept), data.labels[kept], data.weights[kept])
        self.categories_: Categories = data.categories
        sets = TrainSets.all_rows(data.n_samples, data.weights)
        self.cut_points_: list[FloatArray | None] = [
            None if categorical else cut_points(data, sets, 0, j, self.mdl_cost)
            for j, categorical in enumerate(data.categorical)
        ]
        return self

    def transform(self, X: Any) -> Any:
        """Replace every value by the number of its interval, 0 for the lowest.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Numbers and categories; NaN stays NaN.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Interval numbers as floats. A categorical feature has the places of its
            values in ``categories_``, NaN for a value that ``fit`` has not seen.
        """
        check_is_fitted(self)
        X = read_samples(self, X, reset=False, categorical=True)
        values = encode(X, categories=self.categories_).values
        result = np.empty(values.shape, dtype=values.dtype)
        for j, cuts in enumerate(self.cut_points_):
            if cuts is None:
                result[:, j] = values[:, j]
            else:
                codes = interval_codes(values[:, j], cuts)
                result[:, j] = np.where(codes < 0, np.nan, codes)
        return result

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags
