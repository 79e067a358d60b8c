"""ComBat: differences between batches, learned on training samples.

| symbol | meaning                                                                |
|--------|------------------------------------------------------------------------|
| α      | mean of a feature over batches, weighted by their sizes                |
| β      | effects of covariates on a feature                                     |
| σ      | standard deviation of a feature around batch means and covariates      |
| γ, δ²  | mean and variance of the standardised feature in a batch               |
| γ*, δ*²| the same, shrunk towards what the other features have in that batch    |
"""

from __future__ import annotations

import warnings
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from veridical._core.advice import for_users
from veridical._core.arrays import BoolArray, FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.targets import number_labels
from veridical._core.text import listed, quote
from veridical.preparation.correction_columns import (
    BesideFeatures,
    Coding,
    Parts,
    code_covariates,
    least_squares,
    list_columns,
    read_batches,
)

# Variance of a standardised feature in a batch; below it the feature is constant there.
_CONSTANT = 1e-12
# Largest number of iterations of the parametric estimate; it takes some dozen.
_ITERATIONS = 1000
# Numbers held at a time by the non-parametric estimate.
_AT_A_TIME = 1 << 22


class ComBat(BesideFeatures):
    """Correct differences between batches by empirical Bayes.

    The model of Johnson, Li and Rabinovic [1]_: in batch b, a feature is its mean, plus
    effects of covariates, plus a shift γ_b, plus noise scaled by δ_b. ``fit``
    estimates γ and δ on the training samples and shrinks them towards what all
    features have in common in that batch, which matters where batches are small.
    ``transform`` subtracts γ* and divides by δ*, for training samples and new samples
    alike.

    Parameters
    ----------
    batch : column name or index, or None, default=None
        The column of X that says which batch a sample belongs to: a site, a scanner,
        a plate. None if it is passed to ``fit`` and ``transform``.
    covariates : column name or index, or list of these, or None, default=None
        Columns of X whose effect is kept: differences between batches that come from
        them are not removed.
    protect_outcome : bool, default=False
        Whether the effect of y on the training samples is accounted for while γ and δ
        are estimated. y is not needed, and not used, to transform a sample.
    parametric : bool, default=True
        Whether shifts are assumed to be normal, and variances inverse gamma, over
        features. Otherwise their distribution is that of the other features, which
        takes time with the square of the number of features.
    mean_only : bool, default=False
        Whether batches are shifted only, and not scaled. It accepts batches of one
        sample.
    unknown : {"error", "estimate"}, default="error"
        What to do with samples of a batch that ``fit`` has not seen: refuse them, or
        estimate γ and δ of that batch from its own samples given to ``transform``,
        which takes at least two of them, or one with `mean_only`.
    reference : label, optional
        A batch that stays as it is; the others are given its mean and variance. By
        default all batches are given those of all training samples.
    remove : bool, default=True
        Whether to leave the columns `batch` and `covariates` out of the result.
    tol : float, default=1e-4
        Iterations of the parametric estimate end when no value changes by more than
        this share; that of the R package sva.

    Attributes
    ----------
    batches_ : array of shape (n_batches,)
        The batches of the training samples.
    gamma_ : array of shape (n_batches, n_features)
        γ*, in units of σ.
    delta_ : array of shape (n_batches, n_features)
        δ*², in units of σ².
    mean_ : array of shape (n_features,)
        α, of the reference where there is one.
    scale_ : array of shape (n_features,)
        σ, of the reference where there is one.
    coef_ : array of shape (n_covariate_columns, n_features)
        β.
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
    Residualize : Subtracts effects of covariates.

    Notes
    -----
    Fitted on all samples, the result is that of the R package sva and of neuroCombat.
    (pycombat of inmoose divides variances by n where sva divides by n − 1, so its
    results are near these.)
    Where ``mean_only`` is used with the parametric estimate, shifts are shrunk as sva
    does it, as if every batch had one sample.

    A feature that is constant within a batch is shifted by its batch means and not
    scaled; so are features that are known in fewer than two samples of a batch. With
    fewer than two other features nothing is shrunk. Missing values stay missing.

    With `protect_outcome`, sva corrects the samples with their outcome known, and the
    outcome of new samples is not known. Here samples are corrected without it, training
    samples too. Protecting the outcome on all samples, before cross-validation, lets
    the classes of test samples shape the features they are tested on [2]_.

    References
    ----------
    .. [1] W. E. Johnson, C. Li & A. Rabinovic, "Adjusting batch effects in microarray
       expression data using empirical Bayes methods", Biostatistics 8 (2007).
    .. [2] V. Nygaard, E. A. Rødland & E. Hovig, "Methods that remove batch effects
       while retaining group differences may lead to exaggerated confidence in
       downstream analyses", Biostatistics 17 (2016).

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from veridical.preparation import ComBat
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame(rng.normal(size=(40, 5)), columns=list("abcde"))
    >>> X["site"] = np.repeat(["north", "south"], 20)
    >>> X.loc[20:, list("abcde")] += 3
    >>> corrected = ComBat("site").fit_transform(X)
    >>> abs(corrected[20:].mean() - corrected[:20].mean()) < 0.05
    np.True_
    """

    def __init__(
        self,
        batch: Any = None,
        *,
        covariates: Any = None,
        protect_outcome: bool = False,
        parametric: bool = True,
        mean_only: bool = False,
        unknown: Literal["error", "estimate"] = "error",
        reference: Any = None,
        remove: bool = True,
        tol: float = 1e-4,
    ) -> None:
        self.batch = batch
        self.covariates = covariates
        self.protect_outcome = protect_outcome
        self.parametric = parametric
        self.mean_only = mean_only
        self.unknown = unknown
        self.reference = reference
        self.remove = remove
        self.tol = tol

    def _named_columns(self) -> dict[str, list[Any]]:
        named = list_columns(self.batch, "batch")
        if len(named) > 1:
            raise InputError(
                f"batch={self.batch!r} names several columns; name one. If a batch is "
                "a combination of them, make a column of the combinations."
            )
        return {
            "batch": named,
            "covariates": list_columns(self.covariates, "covariates"),
        }

    def fit(
        self, X: Any, y: Any = None, *, batch: Any = None, covariates: Any = None
    ) -> Self:
        """Estimate shift and scale of every batch.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The training samples.
        y : array-like of shape (n_samples,), optional
            Classes or numbers, used with `protect_outcome` only.
        batch : array-like of shape (n_samples,), optional
            The batch of every sample, where it is not a column of X.
        covariates : array-like or data frame of shape (n_samples, ...), optional
            Covariates, where they are not columns of X.

        Returns
        -------
        ComBat
            The fitted transformer itself.
        """
        self._check_parameters()
        given = {"batch": batch, "covariates": covariates}
        parts = self._read(X, given, reset=True)
        values, n = parts.values, len(parts.values)
        self.features_ = parts.places
        coded, self.categories_ = self._learn_covariates(parts)
        if "batch" not in parts.sides:
            warnings.warn(
                "ComBat has no batch, so nothing is corrected; name its column: "
                "ComBat('site').",
                stacklevel=2,
            )
            self.batches_: NDArray[Any] = np.empty(0)
            self.mean_: FloatArray = np.zeros(values.shape[1])
            self.scale_: FloatArray = np.ones(values.shape[1])
            self.coef_: FloatArray = np.zeros((coded.shape[1], values.shape[1]))
            self.gamma_: FloatArray = np.empty((0, values.shape[1]))
            self.delta_: FloatArray = np.empty((0, values.shape[1]))
            return self
        codes, self.batches_ = number_labels(read_batches(parts.sides["batch"]))
        sizes = np.bincount(codes)
        self._check_sizes(sizes)
        model = self._find_reference(sizes)
        indicators = (codes[:, None] == np.arange(sizes.size)).astype(np.float64)
        outcome = self._outcome(y, n)
        _refuse_confounded(indicators, coded, outcome, parts)
        centred = coded - coded.mean(axis=0)
        found = least_squares(np.hstack([indicators, centred, outcome]), values)
        n_batches = sizes.size
        effects = found[n_batches : n_batches + coded.shape[1]]
        self.coef_ = effects
        shares = sizes / n if model is None else np.arange(n_batches) == model
        self.mean_ = shares @ found[:n_batches] - coded.mean(axis=0) @ effects
        residuals = values - np.hstack([indicators, centred, outcome]) @ found
        known = ~np.isnan(values)
        if model is not None:
            known &= (codes == model)[:, None]
            self._refuse_missing_reference(known, parts.places)
        counts = np.maximum(known.sum(axis=0), 1)
        scale = np.sqrt((np.where(known, residuals, 0.0) ** 2).sum(axis=0) / counts)
        size = np.sqrt((np.where(known, values, 0.0) ** 2).sum(axis=0) / counts)
        varies = scale > 1e-9 * size
        self.scale_ = np.where(varies, scale, 1.0)
        explained = coded @ effects + outcome @ found[n_batches + coded.shape[1] :]
        standard = (values - self.mean_ - explained) / self.scale_
        moments = [_moments(standard[codes == b]) for b in range(n_batches)]
        if not self.mean_only:
            for _, variance, count in moments:
                varies &= (variance > _CONSTANT) & (count > 1)
        self.varies_: BoolArray = varies
        stars = [self._shrink(*one, varies) for one in moments]
        self.gamma_ = np.stack([gamma for gamma, _ in stars])
        self.delta_ = np.stack([delta for _, delta in stars])
        if model is not None:
            self.gamma_[model], self.delta_[model] = 0.0, 1.0
        return self

    def transform(self, X: Any, *, batch: Any = None, covariates: Any = None) -> Any:
        """Correct samples by the shift and scale of their batch.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Any samples, with the columns of ``fit``.
        batch : array-like of shape (n_samples,), optional
            Their batches, where they are not a column of X.
        covariates : array-like or data frame of shape (n_samples, ...), optional
            Their covariates, where they are not columns of X.

        Returns
        -------
        array or data frame of shape (n_samples, n_features_out)
            The corrected features.
        """
        check_is_fitted(self)
        given = {"batch": batch, "covariates": covariates}
        parts = self._read(X, given, reset=False)
        if not self.batches_.size:
            return self._result(X, parts, parts.values.copy())
        if "batch" not in parts.sides:
            raise InputError("fit had a batch, but transform has none; pass batch=.")
        if ("covariates" in parts.sides) != bool(self.categories_):
            raise InputError(
                "fit and transform must have the same covariates; pass covariates= to "
                "both or to none."
            )
        batches = read_batches(parts.sides["batch"])
        coded = np.empty((len(batches), 0))
        if self.categories_:
            coded, _ = code_covariates(parts.sides["covariates"], self.categories_)
        location = self.mean_ + coded @ self.coef_
        standard = (parts.values - location) / self.scale_
        for label in pd.unique(batches):
            rows = np.flatnonzero(batches == label)
            known = np.flatnonzero(self.batches_ == label)
            if known.size:
                gamma, delta = self.gamma_[known[0]], self.delta_[known[0]]
            else:
                gamma, delta = self._estimate_unknown(label, standard[rows])
            standard[rows] = (standard[rows] - gamma) / np.sqrt(delta)
        corrected = standard * self.scale_ + location
        if self.reference is not None:
            stays = batches == self.reference
            corrected[stays] = parts.values[stays]
        return self._result(X, parts, corrected)

    def fit_transform(
        self, X: Any, y: Any = None, *, batch: Any = None, covariates: Any = None
    ) -> Any:
        """Fit, and correct the same samples.

        Parameters
        ----------
        X, y, batch, covariates
            As in ``fit``.
        """
        fitted = self.fit(X, y, batch=batch, covariates=covariates)
        return fitted.transform(X, batch=batch, covariates=covariates)

    # -- checks ----------------------------------------------------------------------

    def _check_parameters(self) -> None:
        if self.unknown not in ("error", "estimate"):
            raise InputError(
                f"unknown={self.unknown!r} must be 'error', which refuses samples of a "
                "new batch, or 'estimate'."
            )
        if not self.tol > 0:
            raise InputError(f"tol={self.tol!r} must be above 0.")

    def _check_sizes(self, sizes: NDArray[Any]) -> None:
        if self.mean_only or sizes.min() > 1:
            return
        alone = self.batches_[sizes < 2].tolist()
        cure = for_users("; or shift only: ComBat(mean_only=True)", "")
        raise InputError(
            f"{'Batch' if len(alone) == 1 else 'Batches'} {listed(alone)} "
            f"{'has' if len(alone) == 1 else 'have'} one training sample only, from "
            "which no variance can be estimated; join it with a similar batch, leave "
            f"it out, or use fewer folds{cure}."
        )

    def _find_reference(self, sizes: NDArray[Any]) -> int | None:
        """Return the number of the reference batch; None without one."""
        if self.reference is None:
            return None
        found = np.flatnonzero(self.batches_ == self.reference)
        if not found.size:
            raise InputError(
                f"reference={self.reference!r} is no batch of the training samples, "
                f"which have {listed(self.batches_.tolist())}. If it is a batch of "
                "other samples, use splits whose training sets all have it: fewer "
                "folds, say, or folds within batches; otherwise name one of these."
            )
        if sizes[found[0]] < 2:
            raise InputError(
                f"The reference batch {quote(self.reference)} has one training sample, "
                "from which no variance can be estimated; name a larger batch."
            )
        return int(found[0])

    def _refuse_missing_reference(self, known: BoolArray, places: IntArray) -> None:
        """Raise if the reference batch has no value of a feature."""
        empty = np.flatnonzero(~known.any(axis=0))
        if empty.size:
            raise InputError(
                f"Column {places[empty[0]]} of X has no value in the reference batch "
                f"{quote(self.reference)}, so that no other batch can be made like it; "
                "leave the column out, or name another batch."
            )

    def _learn_covariates(self, parts: Parts) -> tuple[FloatArray, Coding]:
        side = parts.sides.get("covariates")
        if side is None:
            return np.empty((len(parts.values), 0)), []
        return code_covariates(side, None)

    def _outcome(self, y: Any, n: int) -> FloatArray:
        """Return y as columns of numbers; none unless it is to be protected."""
        if not self.protect_outcome:
            return np.empty((n, 0))
        if y is None:
            raise InputError(
                "protect_outcome=True requires y to be passed, but the target y is "
                "None; pass the outcome of the training samples to fit."
            )
        outcome = np.asarray(y)
        if outcome.dtype.names is not None or outcome.ndim != 1 or len(outcome) != n:
            raise InputError(
                "protect_outcome=True takes classes or numbers, one per sample; to "
                "protect anything else, name it in covariates=."
            )
        if type_of_target(outcome, input_name="y") == "continuous":
            return (outcome - outcome.mean())[:, None].astype(np.float64)
        codes, classes = pd.factorize(outcome, sort=True)
        columns = (codes[:, None] == np.arange(1, len(classes))).astype(np.float64)
        return columns - columns.mean(axis=0)

    # -- empirical Bayes ---------------------------------------------------------------

    def _estimate_unknown(
        self, label: Any, standard: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Estimate a batch that ``fit`` has not seen from its own samples."""
        if self.unknown == "error":
            cure = for_users("ComBat(unknown='estimate')", "--unknown-batch estimate")
            raise InputError(
                f"Batch {quote(label)} is not among the training samples, which have "
                f"{listed(self.batches_.tolist())}, so its shift and scale are not "
                "known; use splits in which every batch is trained on, or estimate it "
                f"from its own samples: {cure}."
            )
        if len(standard) < 2 and not self.mean_only:
            raise InputError(
                f"Batch {quote(label)} is not among the training samples and has one "
                "sample only, from which no variance can be estimated; pass more of "
                "its samples, or shift only: ComBat(mean_only=True)."
            )
        mean, variance, count = _moments(standard)
        varies = self.varies_.copy()
        if not self.mean_only:
            varies &= (variance > _CONSTANT) & (count > 1)
        return self._shrink(mean, variance, count, varies)

    def _shrink(
        self,
        mean: FloatArray,
        variance: FloatArray,
        count: FloatArray,
        varies: BoolArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Return γ* and δ*² of one batch."""
        gamma, delta = mean.copy(), np.ones(mean.size)
        if not self.mean_only:
            delta = np.where(varies, variance, 1.0)
        if np.count_nonzero(varies) < 2:
            return gamma, delta
        g, d, n = mean[varies], delta[varies], count[varies]
        squares = np.maximum(count - 1, 0)[varies] * variance[varies]
        if not self.parametric:
            g, d = shrink_nonparametric(g, d, squares, n)
        elif self.mean_only:
            spread = g.var(ddof=1)
            g = (spread * g + g.mean()) / (spread + 1)
        else:
            g, d = shrink_parametric(g, d, n, self.tol)
        gamma[varies] = g
        if not self.mean_only:
            delta[varies] = d
        return gamma, delta


def _moments(standard: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean, variance (n − 1) and number of known values of every feature."""
    known = ~np.isnan(standard)
    count = known.sum(axis=0).astype(np.float64)
    mean = np.where(known, standard, 0.0).sum(axis=0) / np.maximum(count, 1)
    squares = (np.where(known, standard - mean, 0.0) ** 2).sum(axis=0)
    return mean, squares / np.maximum(count - 1, 1), count


def _refuse_confounded(
    indicators: FloatArray, coded: FloatArray, outcome: FloatArray, parts: Parts
) -> None:
    """Raise if covariates or the outcome are linear functions of the batch."""
    n_batches = indicators.shape[1]
    if np.linalg.matrix_rank(np.hstack([indicators, coded])) < (
        n_batches + coded.shape[1]
    ):
        names = parts.sides["covariates"].names
        raise InputError(
            f"The batch and the covariates {listed(names)} determine each other among "
            f"the {len(coded)} training samples, so that their effects cannot be told "
            "apart; leave out the covariate that follows the batch."
        )
    every = np.hstack([indicators, coded, outcome])
    if np.linalg.matrix_rank(every) < every.shape[1]:
        raise InputError(
            "The outcome is determined by the batch and the covariates among the "
            f"{len(coded)} training samples, so that their effects cannot be told "
            "apart; protect_outcome needs batches with several classes."
        )


def shrink_parametric(
    mean: FloatArray, variance: FloatArray, count: FloatArray, tol: float
) -> tuple[FloatArray, FloatArray]:
    """Shrink shifts by a normal, and variances by an inverse gamma distribution.

    Parameters
    ----------
    mean, variance : arrays of shape (n_features,)
        Estimates of one batch, the variance with n − 1.
    count : array of shape (n_features,)
        Number of samples.
    tol : float
        Largest relative change at which iterations end.

    Returns
    -------
    tuple of arrays
        γ* and δ*².
    """
    centre, spread = mean.mean(), mean.var(ddof=1)
    m, s = variance.mean(), variance.var(ddof=1)
    squares = (count - 1) * variance
    gamma, delta = mean, variance
    for _ in range(_ITERATIONS):
        new = (spread * count * mean + delta * centre) / (spread * count + delta)
        # a = (2s + m²)/s and b = (ms + m³)/s, multiplied by s, which may be 0.
        numerator = 0.5 * s * (squares + count * (mean - new) ** 2) + m * s + m**3
        scale = numerator / (0.5 * s * count + s + m**2)
        # sva divides by γ itself; so negative shifts do not prolong the iteration.
        with np.errstate(divide="ignore", invalid="ignore"):
            change = np.fmax(
                np.nanmax(np.abs(new - gamma) / gamma),
                np.max(np.abs(scale - delta) / delta),
            )
        gamma, delta = new, scale
        if not change > tol:
            break
    return gamma, delta


def shrink_nonparametric(
    mean: FloatArray, variance: FloatArray, squares: FloatArray, count: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Average the estimates of the other features, weighted by their likelihood.

    Parameters
    ----------
    mean, variance : arrays of shape (n_features,)
        Estimates of one batch.
    squares : array of shape (n_features,)
        Sum of squared deviations from the mean.
    count : array of shape (n_features,)
        Number of samples.

    Returns
    -------
    tuple of arrays
        γ* and δ*².
    """
    n = mean.size
    gamma, delta = np.empty(n), np.empty(n)
    step = max(1, _AT_A_TIME // n)
    for start in range(0, n, step):
        rows = np.arange(start, min(start + step, n))
        distance = squares[rows, None] + count[rows, None] * (
            (mean[rows, None] - mean) ** 2
        )
        log = -0.5 * (count[rows, None] * np.log(variance) + distance / variance)
        log[rows - start, rows] = -np.inf
        weights = np.exp(log - logsumexp(log, axis=1, keepdims=True))
        gamma[rows], delta[rows] = weights @ mean, weights @ variance
    return gamma, delta
