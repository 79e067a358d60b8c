"""Cut columns of numbers in two, at the median of the training cases."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from veridical._core.arrays import FloatArray
from veridical._core.reading import read_numeric
from veridical.learning.bias_corrected_columns import median_cuts


class MedianBinarizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Turn numbers into zeros and ones: is the value above the median?

    The median is that of the training cases alone, so that nothing of a test case
    enters. A value equal to it is a zero. A column of two values is cut between them.

    Attributes
    ----------
    cuts_ : array of shape (n_features,)
        Where each column is cut.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, where they have any.

    See Also
    --------
    BiasCorrectedNB : Cuts in the same way by itself.
    sklearn.preprocessing.Binarizer : Cuts at one given number.

    Examples
    --------
    >>> from veridical.learning import MedianBinarizer
    >>> MedianBinarizer().fit_transform([[1.0, 0], [2.0, 1], [9.0, 1]])
    array([[0., 0.],
           [0., 1.],
           [1., 1.]])
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the median of every column.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The training cases.
        y : None
            Ignored.

        Returns
        -------
        MedianBinarizer
            The fitted transformer itself.
        """
        X = read_numeric(self, X)
        self.cuts_ = median_cuts(X)
        return self

    def transform(self, X: Any) -> FloatArray:
        """Cut every column.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Any cases.

        Returns
        -------
        array of shape (n_samples, n_features)
            1 where a value is above its cut, else 0.
        """
        check_is_fitted(self)
        X = read_numeric(self, X, reset=False)
        return (self.cuts_ < X).astype(np.float64)
