"""Fayyad and Irani's discretisation as a scikit-learn transformer."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from veridical._records import FloatArray
from veridical.criteria.information import MdlCost, cut_points, interval_codes
from veridical.datasets.encoding import refuse_lazy
from veridical.kernels.trainsets import TrainSets
from veridical.selection._reading import Abilities, read


class MDLDiscretizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Cut numeric features into intervals that tell the classes apart.

    Each feature is cut where the classes separate best, again and again, as long as
    the description length shrinks [1]_. A feature not worth cutting becomes a constant.

    Parameters
    ----------
    mdl_cost : {"cuts", "cases"}, default="cuts"
        What a cut point costs to write down: log2 of the number of candidate cuts (as
        Weka's evaluators) or of the number of cases less one (the original).

    Attributes
    ----------
    cut_points_ : list of ndarray
        Cuts of each feature, rising; a value equal to a cut goes to the left.
    n_features_in_ : int
        Number of features seen in `fit`.

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

    def __init__(self, *, mdl_cost: MdlCost = "cuts") -> None:
        self.mdl_cost = mdl_cost

    def fit(self, X: Any, y: Any) -> Self:
        """Find the cuts.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers; NaN is a missing value and is ignored.
        y : array-like of shape (n_samples,)
            The class labels.

        Returns
        -------
        self : object
            The fitted discretizer.
        """
        data, _ = read(self, X, y, Abilities(missing=True))
        sets = TrainSets.all_rows(len(data.y))
        self.cut_points_: list[FloatArray] = [
            cut_points(data, sets, 0, j, self.mdl_cost)
            for j in range(data.values.shape[1])
        ]
        return self

    def transform(self, X: Any) -> Any:
        """Replace every value by the number of its interval, 0 for the lowest.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers; NaN stays NaN.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Interval numbers as floats.
        """
        check_is_fitted(self)
        refuse_lazy(X)
        X = validate_data(
            self,
            X,
            dtype=(np.float64, np.float32),
            ensure_all_finite="allow-nan",
            reset=False,
        )
        result = np.empty(X.shape, dtype=X.dtype)
        for j, cuts in enumerate(self.cut_points_):
            codes = interval_codes(X[:, j], cuts)
            result[:, j] = np.where(codes < 0, np.nan, codes)
        return result

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        return tags
