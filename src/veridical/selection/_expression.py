"""Preprocessing of gene expression arrays: thresholds, fold change, logarithm."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import (
    check_is_fitted,
    validate_data,
)

from veridical._core.arrays import FloatArray
from veridical._core.encoding import refuse_lazy
from veridical._core.errors import InputError


class ExpressionFilter(TransformerMixin, BaseEstimator):
    """Drop genes that hardly vary, take logarithms, and standardize every array.

    The steps of Dudoit, Fridlyand and Speed for Affymetrix intensities [1]_: clip to
    [100, 16000]; drop genes whose largest value is not more than 5 times, and not more
    than 500 above, the smallest; take the logarithm to base 10; bring every array (row)
    to mean 0 and variance 1 over its genes. Labels are not used. Which genes are kept
    is learned in ``fit``: in a pipeline, from the training samples alone.

    Parameters
    ----------
    low : float or None, default=100.0
        Smaller intensities are raised to this; None leaves them alone.
    high : float or None, default=16000.0
        Larger intensities are lowered to this; None leaves them alone.
    min_fold : float or None, default=5.0
        Keep genes whose largest value, after clipping, is more than this many times
        the smallest. None does not look at it.
    min_difference : float or None, default=500.0
        Keep genes whose largest value, after clipping, is more than this above the
        smallest. None does not look at it.
    log : float or None, default=10
        Base of the logarithm; None takes none, as for data that are log ratios already.
    standardize : bool, default=True
        Whether to bring every array to mean 0 and variance 1 over the genes kept.

    Attributes
    ----------
    support_ : ndarray of shape (n_features_in_,)
        Which genes are kept. Genes that are constant after clipping never are.
    n_features_ : int
        How many.
    n_features_in_ : int
        Number of genes seen in ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, where they have any.

    See Also
    --------
    DifferentialPrioritization : Selects from the genes that are kept.

    Notes
    -----
    The paper filtered all samples together, training and test. To do as it did, fit on
    all of them; labels play no part, so the leak is small, but it is one.

    For cDNA ratios use ``ExpressionFilter(low=None, high=None, min_fold=None,
    min_difference=None, log=2)``, and ``log=None`` where they are logarithms already.
    Missing values are refused: impute them first, say by
    :class:`sklearn.impute.KNNImputer`.

    References
    ----------
    .. [1] S. Dudoit, J. Fridlyand & T. P. Speed, "Comparison of discrimination methods
       for the classification of tumors using gene expression data", JASA 97 (2002).

    Examples
    --------
    >>> import numpy as np
    >>> from veridical.selection import ExpressionFilter
    >>> X = np.array([[90.0, 200.0, 20000.0, 400.0], [800.0, 260.0, 900.0, 410.0]])
    >>> genes = ExpressionFilter().fit(X)
    >>> genes.support_
    array([ True, False,  True, False])
    >>> genes.transform(X)
    array([[-1.,  1.],
           [-1.,  1.]])
    """

    def __init__(
        self,
        *,
        low: float | None = 100.0,
        high: float | None = 16000.0,
        min_fold: float | None = 5.0,
        min_difference: float | None = 500.0,
        log: float | None = 10,
        standardize: bool = True,
    ) -> None:
        self.low = low
        self.high = high
        self.min_fold = min_fold
        self.min_difference = min_difference
        self.log = log
        self.standardize = standardize

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the genes to keep.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Arrays in rows, genes in columns.
        y : None
            Not used.

        Returns
        -------
        ExpressionFilter
            The fitted filter itself.
        """
        self._check_parameters()
        values = self._clip(self._read(X, reset=True))
        least, most = values.min(axis=0), values.max(axis=0)
        keep = most > least
        if self.min_fold is not None:
            if (least <= 0).any():
                raise InputError(
                    f"Column {self._name(least <= 0)} holds a value that is not "
                    "positive, so that there is no fold change; set low to a positive "
                    "number, or min_fold=None."
                )
            keep &= most > self.min_fold * least
        if self.min_difference is not None:
            keep &= most - least > self.min_difference
        if not keep.any():
            raise InputError(
                f"None of the {keep.size} genes varies enough; the largest values lie "
                f"between {most.min():g} and {most.max():g}. Set low, min_fold and "
                "min_difference to the scale of the data, or to None."
            )
        self.support_ = keep
        self.n_features_ = int(keep.sum())
        return self

    def transform(self, X: Any) -> FloatArray:
        """Clip, keep the genes found in ``fit``, take logarithms and standardize.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Arrays in rows.

        Returns
        -------
        array of shape (n_samples, n_features_)
            Standardized logarithms.
        """
        check_is_fitted(self)
        values = self._clip(self._read(X, reset=False)[:, self.support_])
        if self.log is not None:
            without = np.asarray((values <= 0).any(axis=0))
            if without.any():
                raise InputError(
                    f"Column {self._name(without, kept=True)} holds "
                    "a value that is not positive and has no logarithm; set low to a "
                    "positive number, or log=None."
                )
            values = np.log(values) / np.log(self.log)
        if self.standardize:
            values -= values.mean(axis=1, keepdims=True)
            deviation = values.std(axis=1, keepdims=True)
            values /= np.where(deviation > 0, deviation, 1.0)
        return values

    def get_support(self, indices: bool = False) -> NDArray[Any]:
        """Tell which genes are kept.

        Parameters
        ----------
        indices : bool, default=False
            Whether to return their numbers instead of a mask.
        """
        check_is_fitted(self)
        return np.flatnonzero(self.support_) if indices else self.support_

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Name the genes that are kept.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of all genes, if ``fit`` has seen none.
        """
        check_is_fitted(self)
        names = OneToOneFeatureMixin.get_feature_names_out(self, input_features)
        return np.asarray(names)[self.support_]

    def _check_parameters(self) -> None:
        for name in ("low", "high", "min_fold", "min_difference", "log"):
            value = getattr(self, name)
            number = isinstance(value, Real) and not isinstance(value, bool)
            if value is not None and not number:
                raise InputError(f"{name}={value!r} must be a number or None.")
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise InputError(f"low={self.low} must be below high={self.high}.")
        if self.log is not None and (self.log <= 0 or self.log == 1):
            raise InputError(f"log={self.log} is not a base; use 2, 10 or None.")

    def _read(self, X: Any, *, reset: bool) -> FloatArray:
        refuse_lazy(X)
        values: FloatArray = validate_data(
            self,
            X,
            reset=reset,
            dtype=np.float64,
            copy=True,
            ensure_min_samples=2 if reset else 1,  # one array alone does not vary
        )
        return values

    def _clip(self, values: FloatArray) -> FloatArray:
        if self.low is None and self.high is None:
            return values
        return np.clip(values, self.low, self.high)

    def _name(self, bad: NDArray[np.bool_], *, kept: bool = False) -> str:
        j = int(np.argmax(bad))
        if kept:
            j = int(np.flatnonzero(self.support_)[j])
        names = getattr(self, "feature_names_in_", None)
        return str(j) if names is None else repr(names[j])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = self.log is not None
        return tags
