"""Subtract the linear effect of covariates, learned on training samples."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from veridical._core.arrays import FloatArray
from veridical._core.errors import InputError
from veridical.preparation.correction_columns import (
    BesideFeatures,
    Coding,
    Parts,
    code_covariates,
    least_squares,
    list_columns,
)


class Residualize(BesideFeatures):
    """Subtract from every feature what a linear function of covariates explains.

    ``fit`` regresses each feature on the covariates and an intercept, by least squares
    over the training samples. ``transform`` subtracts the fitted part from any sample.

    Parameters
    ----------
    covariates : column name or index, or list of these, or None, default=None
        Columns of X, such as age and sex. A covariate of text or categories becomes
        an indicator of every category but the first. None if they are passed to
        ``fit`` and ``transform``.
    remove : bool, default=True
        Whether to leave these columns out of the result.

    Attributes
    ----------
    coef_ : array of shape (n_covariate_columns, n_features)
        Effect of every covariate, or indicator of a category, on every feature.
    intercept_ : array of shape (n_features,)
        Fitted value where all covariates are 0.
    features_ : int array of shape (n_features,)
        The columns of X that are features.
    categories_ : list
        Categories of every covariate, None where it is a number.
    n_features_in_ : int
        Number of columns of X in ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, where they have any.

    See Also
    --------
    ComBat : Differences between batches of samples.

    Notes
    -----
    What a covariate and the class have in common is subtracted too. A covariate that
    determines the class therefore leaves nothing to learn.

    Missing values of features stay missing; a feature is fitted on the samples in which
    it is known. Missing covariates are refused.

    The covariates are columns of X, or, with metadata routing of scikit-learn,
    arguments: ``Residualize().set_fit_request(covariates=True)
    .set_transform_request(covariates=True)``.

    References
    ----------
    .. [1] L. Snoek, S. Miletić & H. S. Scholte, "How to control for confounds in
       decoding analyses of neuroimaging data", NeuroImage 184 (2019).

    Examples
    --------
    >>> import pandas as pd
    >>> from veridical.preparation import Residualize
    >>> train = pd.DataFrame({"gene": [1.0, 2.0, 3.5], "age": [10, 20, 30]})
    >>> Residualize("age").fit_transform(train).ravel().round(3)
    array([ 0.083, -0.167,  0.083])
    """

    def __init__(self, covariates: Any = None, *, remove: bool = True) -> None:
        self.covariates = covariates
        self.remove = remove

    def _named_columns(self) -> dict[str, list[Any]]:
        return {"covariates": list_columns(self.covariates, "covariates")}

    def fit(self, X: Any, y: Any = None, *, covariates: Any = None) -> Self:
        """Fit every feature on the covariates.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The training samples.
        y : None
            Not used.
        covariates : array-like or data frame of shape (n_samples, ...), optional
            The covariates, where they are not columns of X.

        Returns
        -------
        Residualize
            The fitted transformer itself.
        """
        parts = self._read(X, {"covariates": covariates}, reset=True)
        side = parts.sides.get("covariates")
        coded, coding = np.empty((len(parts.values), 0)), Coding()
        if side is None:
            warnings.warn(
                "Residualize has no covariates, so only the mean of each feature is "
                "subtracted; name their columns: Residualize(['age', 'sex']).",
                stacklevel=2,
            )
        else:
            coded, coding = code_covariates(side, None)
        n, k = coded.shape
        if k and n <= k + 1:
            raise InputError(
                f"{n} training samples are explained entirely by {k} columns of "
                "covariates and an intercept, so that nothing would be left; use fewer "
                "covariates or categories, or more samples."
            )
        centre = coded.mean(axis=0)
        design = np.hstack([np.ones((n, 1)), coded - centre])
        found = least_squares(design, parts.values)
        self.coef_: FloatArray = found[1:]
        self.intercept_: FloatArray = found[0] - centre @ found[1:]
        self.categories_: Coding = coding
        self.features_ = parts.places
        return self

    def transform(self, X: Any, *, covariates: Any = None) -> Any:
        """Subtract the fitted part.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Any samples, with the columns of ``fit``.
        covariates : array-like or data frame of shape (n_samples, ...), optional
            Their covariates, where they are not columns of X.

        Returns
        -------
        array or data frame of shape (n_samples, n_features_out)
            The residuals.
        """
        check_is_fitted(self)
        parts = self._read(X, {"covariates": covariates}, reset=False)
        fitted = self.intercept_ + self._coded(parts) @ self.coef_
        return self._result(X, parts, parts.values - fitted)

    def fit_transform(self, X: Any, y: Any = None, *, covariates: Any = None) -> Any:
        """Fit, and subtract the fitted part from the same samples.

        Parameters
        ----------
        X, y, covariates
            As in ``fit``.
        """
        fitted = self.fit(X, y, covariates=covariates)
        return fitted.transform(X, covariates=covariates)

    def _coded(self, parts: Parts) -> FloatArray:
        side = parts.sides.get("covariates")
        if side is None:
            if self.categories_:
                raise InputError(
                    "fit had covariates, but transform has none; pass covariates= too."
                )
            return np.empty((len(parts.values), 0))
        if not self.categories_:
            raise InputError("transform has covariates, but fit had none; pass them.")
        return code_covariates(side, self.categories_)[0]
