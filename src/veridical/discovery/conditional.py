"""Claims given the other features: knockoffs, and the distilled randomization test.

| symbol | meaning                                                      | shape  |
|--------|--------------------------------------------------------------|--------|
| Z      | features as normal scores                                    | (n, p) |
| R      | the outcome as numbers: one column, or one per class         | (n, k) |
| W      | importance of a feature minus that of its knockoff           | (p,)   |
| d_j    | prediction of the outcome from the other features            | (n, k) |
| ε_j    | residual of feature j, predicted from the other features     | (n,)   |

References
----------
.. [1] Z. Ren & R. F. Barber, "Derandomised knockoffs: leveraging e-values for false
   discovery rate control", Journal of the Royal Statistical Society B 86 (2024).
.. [2] M. Liu, E. Katsevich, L. Janson & A. Ramdas, "Fast and powerful conditional
   randomization testing via distillation", Biometrika 109 (2022).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import stats
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso, LassoCV, MultiTaskLasso, MultiTaskLassoCV
from sklearn.model_selection import KFold
from sklearn.svm import LinearSVC

from veridical._core.arrays import BoolArray, FloatArray, IntArray
from veridical._core.seeds import Purpose, as_generator, stream
from veridical._core.table import Table
from veridical.discovery.knockoffs import (
    Construction,
    KnockoffSampler,
    from_scores,
    make_sampler,
    mean_scores,
    normal_scores_without_ties,
)
from veridical.discovery.multiplicity import knockoff_evalues, knockoff_threshold

#: Importance of each of 2p features: ``importance(values, scores, first)``, where the
#: first p of the values and normal scores are the features, in a random exchange with
#: their knockoffs; `first` is whether this is the first draw.
Importance = Callable[[FloatArray, FloatArray], FloatArray]
# Kind of streams of random numbers.
_KNOCKOFFS, _FOLDS = 2, 3
# Numbers of penalties on the path of the lasso, smallest relative to the largest.
_N_PENALTIES, _SMALLEST = 25, 0.05
# Least number of features that are tested, where there are this many.
_LEAST_TESTED = 30
# Penalty of a feature on all others, in units of √(2 log p / n).
_FEATURE_PENALTY = 0.5
# Largest share of the samples that the regression of a feature uses up.
_MOST_NEIGHBOURS = 0.25


# -- the outcome as numbers ------------------------------------------------------------


def responses(table: Table) -> FloatArray:
    """Write the outcome as centred columns of numbers.

    Two classes are 0 and 1, more classes are their indicators; survival times are
    martingale residuals without features: the event less the cumulative hazard.
    """
    if table.kind == "classes":
        chosen = range(1, 2) if table.n_classes == 2 else range(table.n_classes)
        R = np.stack([(table.y == k).astype(np.float64) for k in chosen], axis=1)
    elif table.kind == "survival":
        R = _martingale(table.as_survival.time, table.as_survival.event)[:, None]
    else:
        R = table.as_numbers.values[:, None]
    return R - R.mean(axis=0)


def _martingale(time: FloatArray, event: BoolArray) -> FloatArray:
    """Return the event less the cumulative hazard of Nelson and Aalen."""
    _, place = np.unique(time, return_inverse=True)
    n_events = np.bincount(place, weights=event.astype(np.float64))
    at_risk = np.bincount(place)[::-1].cumsum()[::-1]
    hazard = np.cumsum(n_events / at_risk)
    return event.astype(np.float64) - hazard[place]


# -- knockoffs -------------------------------------------------------------------------


class Draws(NamedTuple):
    """What several draws of knockoffs say.

    Parameters
    ----------
    W : array of shape (p,)
        Mean difference of importance.
    evalues : array of shape (p,)
        Mean e-values.
    frequency : array of shape (p,)
        Share of the draws in which knockoff+ claims the feature.
    sampler : KnockoffSampler
        The model of the features.
    """

    W: FloatArray
    evalues: FloatArray
    frequency: FloatArray
    sampler: KnockoffSampler


def draw_knockoffs(
    X: FloatArray,
    importance: Importance,
    fdr: float,
    n_draws: int,
    seed: int,
    *,
    construction: Construction = "auto",
    tick: Callable[[int, int], object] | None = None,
) -> Draws:
    """Compare features with several draws of their knockoffs.

    Parameters
    ----------
    X : array of shape (n, p)
        The features.
    importance : callable
        As `Importance`.
    fdr : float
        Nominal rate of knockoff+ in each draw.
    n_draws : int
        Number of draws.
    seed : int
        Root of the random numbers.
    construction
        As in `make_sampler`.
    tick : callable, optional
        Called with the number of draws done and their number.
    """
    p = X.shape[1]
    totals = np.zeros((3, p))
    rng = as_generator(stream(seed, Purpose.DISCOVERY, _KNOCKOFFS))
    Z = normal_scores_without_ties(X, rng)
    sampler = make_sampler(Z, construction)
    tied = bool((np.sort(X, axis=0)[1:] == np.sort(X, axis=0)[:-1]).any())
    for draw in range(n_draws):
        rng = as_generator(stream(seed, Purpose.DISCOVERY, _KNOCKOFFS, draw + 1))
        if tied:  # equal values share their ranks anew
            Z = normal_scores_without_ties(X, rng)
        W = _knockoff_statistics(X, Z, sampler.draw(Z, rng), importance, rng)
        threshold = knockoff_threshold(W, fdr)
        totals += W, knockoff_evalues(W, fdr), threshold <= W
        if tick is not None:
            tick(draw + 1, n_draws)
    mean = totals / n_draws
    return Draws(mean[0], mean[1], mean[2], sampler)


def _knockoff_statistics(
    X: FloatArray,
    Z: FloatArray,
    knockoffs: FloatArray,
    importance: Importance,
    rng: np.random.Generator,
) -> FloatArray:
    """Compute W; features and knockoffs change places at random.

    So an importance that prefers the first of equal features prefers no side.
    """
    p = X.shape[1]
    swapped = rng.random(p) < 0.5
    copies = from_scores(knockoffs, X)
    values = np.hstack([np.where(swapped, copies, X), np.where(swapped, X, copies)])
    scores = np.hstack(
        [np.where(swapped, knockoffs, Z), np.where(swapped, Z, knockoffs)]
    )
    found = np.nan_to_num(importance(values, scores), nan=0.0, posinf=1e300)
    W = found[:p] - found[p:]
    W[np.ptp(X, axis=0) == 0] = 0.0  # a constant feature has no knockoff
    return np.where(swapped, -W, W)


class LassoImportance:
    """Absolute coefficients of the lasso; its penalty is that of the first draw.

    Parameters
    ----------
    R : array of shape (n, k)
        The outcome as numbers.
    seed : int
        Root of the random numbers of the folds.
    """

    def __init__(self, R: FloatArray, seed: int) -> None:
        self.R, self.seed, self.penalty = R, seed, 0.0

    def __call__(self, values: FloatArray, scores: FloatArray) -> FloatArray:
        """Return the size of the coefficient of every feature."""
        if not self.penalty:
            self.penalty, coefficients = fit_lasso_cv(scores, self.R, self.seed)
        else:
            coefficients = fit_lasso(scores, self.R, self.penalty)
        return np.abs(coefficients).sum(axis=1)


class RidgeImportance:
    """Absolute coefficients of ridge regression.

    Parameters
    ----------
    R : array of shape (n, k)
        The outcome as numbers.
    """

    def __init__(self, R: FloatArray) -> None:
        self.R = R

    def __call__(self, values: FloatArray, scores: FloatArray) -> FloatArray:
        """Return the size of the coefficient of every feature."""
        n = len(scores)
        products = scores @ scores.T
        penalty = np.trace(products) / n
        dual = np.linalg.solve(products + penalty * np.eye(n), self.R)
        return np.abs(scores.T @ dual).sum(axis=1)


class SvmImportance:
    """Absolute weights of linear support vector machines, one for each class.

    Parameters
    ----------
    table : Table
        With the outcome: classes.
    """

    def __init__(self, table: Table) -> None:
        self.labels = table.y

    def __call__(self, values: FloatArray, scores: FloatArray) -> FloatArray:
        """Return the size of the weight of every feature."""
        model = LinearSVC(C=1.0 / scores.shape[1], dual=True, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(scores, self.labels)
        return np.abs(model.coef_).sum(axis=0)


# -- the lasso -------------------------------------------------------------------------


def fit_lasso(Z: FloatArray, R: FloatArray, penalty: float) -> FloatArray:
    """Fit the lasso; return coefficients of shape (p, k)."""
    one = R.shape[1] == 1
    model = (Lasso if one else MultiTaskLasso)(
        alpha=penalty, fit_intercept=True, max_iter=2000, tol=1e-4
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(Z, R[:, 0] if one else R)
    return np.asarray(model.coef_).reshape(R.shape[1], -1).T


def fit_lasso_cv(Z: FloatArray, R: FloatArray, seed: int) -> tuple[float, FloatArray]:
    """Choose the penalty of the lasso by five folds, and fit it."""
    one = R.shape[1] == 1
    words = stream(seed, Purpose.DISCOVERY, _FOLDS).generate_state(1)
    folds = KFold(5, shuffle=True, random_state=int(words[0]))
    model = (LassoCV if one else MultiTaskLassoCV)(
        eps=_SMALLEST, alphas=_N_PENALTIES, cv=folds, max_iter=1000, tol=1e-3
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(Z, R[:, 0] if one else R)
    coefficients = np.asarray(model.coef_).reshape(R.shape[1], -1).T
    return float(model.alpha_), coefficients


# -- the distilled conditional randomization test --------------------------------------


class Distilled(NamedTuple):
    """Result of the distilled test.

    Parameters
    ----------
    statistic : array of shape (p,)
        Partial correlation of feature and outcome, or its multiple version; 0 where the
        lasso leaves the feature out.
    pvalues : array of shape (p,)
        1 where the lasso leaves the feature out.
    """

    statistic: FloatArray
    pvalues: FloatArray


def distilled_test(
    X: FloatArray,
    R: FloatArray,
    seed: int,
    tick: Callable[[int, int], object] | None = None,
) -> Distilled:
    """Test every feature given the others (D0CRT).

    The lasso predicts the outcome from all features. Features with a coefficient are
    tested, and those that are most correlated with the residual, up to half as many as
    there are samples; the others have p = 1, which can only lose claims. For a tested
    feature j, the lasso without it leaves the residual ``R − d_j``, and the lasso of
    feature j on the others (fitted again by least squares on the features that it
    keeps) the residual ε_j. Without an effect of j given the others, their angle is
    that of random directions.

    Parameters
    ----------
    X : array of shape (n, p)
        The features.
    R : array of shape (n, k)
        The outcome as numbers.
    seed : int
        Root of the random numbers.
    tick : callable, optional
        Called with the number of features tested and their number.
    """
    n, p = X.shape
    Z = np.asfortranarray(mean_scores(X))
    statistic, pvalues = np.zeros(p), np.ones(p)
    penalty, coefficients = fit_lasso_cv(Z, R, seed) if p > 1 else (1.0, None)
    fitted = np.zeros_like(R) if coefficients is None else Z @ coefficients
    kept = np.zeros(p, dtype=bool)
    if coefficients is not None:
        kept = np.abs(coefficients).sum(axis=1) > 0
    tested = _screen(Z, R - fitted, kept)
    for done, j in enumerate(tested):
        others = np.delete(np.arange(p), j)
        left = R - fitted
        if kept[j]:  # the lasso without this feature; for others it is the same
            rest = np.asfortranarray(Z[:, others])
            left = R - rest @ fit_lasso(rest, R, penalty)
        left = left - left.mean(axis=0)
        own, n_used = _own_part(Z, int(j), others)
        statistic[j], pvalues[j] = _angle(left, own, n - 1 - n_used)
        if tick is not None:
            tick(done + 1, len(tested))
    return Distilled(statistic, pvalues)


def _screen(Z: FloatArray, left: FloatArray, kept: BoolArray) -> IntArray:
    """Choose the features to test: those of the lasso, and the next best."""
    n, p = Z.shape
    most = min(p, max(_LEAST_TESTED, n // 2))
    size = ((Z.T @ (left - left.mean(axis=0))) ** 2).sum(axis=1)
    size[kept] = np.inf
    order = np.argsort(-size, kind="stable")
    return np.sort(order[: max(most, int(np.count_nonzero(kept)))])


def _own_part(Z: FloatArray, j: int, others: IntArray) -> tuple[FloatArray, int]:
    """Return what the other features do not say about feature j, and how many do."""
    x = Z[:, j]
    if not others.size:
        return x - x.mean(), 0
    n = len(x)
    rest = Z[:, others]
    penalty = _FEATURE_PENALTY * np.sqrt(2 * np.log(max(others.size, 2)) / n)
    strength = np.abs(rest.T @ x) / n
    if not x.any() or strength.max() <= penalty:
        return x, 0
    coefficients = fit_lasso(np.asfortranarray(rest), x[:, None], penalty)[:, 0]
    kept = np.flatnonzero(coefficients)
    most = max(1, int(_MOST_NEIGHBOURS * n))
    if kept.size > most:
        kept = kept[np.argsort(-np.abs(coefficients[kept]), kind="stable")[:most]]
    near = rest[:, kept]
    fitted, *_ = np.linalg.lstsq(near, x, rcond=None)
    return x - near @ fitted, kept.size


def _angle(left: FloatArray, own: FloatArray, df: int) -> tuple[float, float]:
    """Return the multiple correlation of two residuals, and its p-value."""
    directions, sizes, _ = np.linalg.svd(left, full_matrices=False)
    directions = directions[:, sizes > 1e-8 * max(float(sizes[0]), 1e-300)]
    k, total = directions.shape[1], float(own @ own)
    if total <= 0 or k == 0 or df <= k:
        return 0.0, 1.0
    share = min(float(((own @ directions) ** 2).sum()) / total, 1.0)
    pvalue = float(stats.beta.sf(share, k / 2, (df - k) / 2))
    return float(np.sqrt(share)), max(pvalue, 1e-300)
