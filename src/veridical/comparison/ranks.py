"""Several selectors on the same splits: Friedman's test and Nemenyi's distances.

| symbol | meaning                                                  | shape  |
|--------|----------------------------------------------------------|--------|
| scores | accuracies, one row per selector                         | (S, N) |
| ranks  | per split: 1 for the best, ties share the mean           | (S, N) |
| R      | mean ranks                                               | (S,)   |
| CD     | critical difference of two mean ranks                    |        |

Axes before these count tests.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc, fdtrc
from scipy.stats import rankdata, studentized_range

from veridical._core.arrays import FloatArray
from veridical._core.errors import InputError
from veridical.comparison.records import Friedman
from veridical.comparison.significance import as_number, check_alpha

#: What Friedman's χ² leaves of its largest value; below it, all splits rank alike.
_NO_REST = 1e-12


def friedman(scores: ArrayLike, *, alpha: float = 0.05) -> Friedman:
    """Test whether several selectors differ, and which pairs do.

    Parameters
    ----------
    scores : array-like of shape (..., n_selectors, n_splits)
        Scores of at least three selectors, paired: same fold or same data set. Leading
        axes count tests.
    alpha : float, default=0.05
        Significance level of the test and of the critical difference.

    Returns
    -------
    Friedman
        Mean ranks (1 is best), the test in the form of Iman and Davenport, and
        Nemenyi's critical difference.

    Notes
    -----
    Splits are ranked one by one and the mean ranks compared [1]_; Iman and Davenport's
    ``F = (N - 1) χ² / (N (S - 1) - χ²)`` is less conservative than Friedman's χ² itself
    [2]_. Ties share their mean rank, and χ² is corrected for them. Two selectors differ
    where their mean ranks are more than ``q sqrt(S (S + 1) / (6 N))`` apart, with ``q``
    from the studentized range over √2 [3]_. Both treat the splits as independent, which
    data sets are and folds of one data set are not: on folds they reject too often.
    Where all splits rank alike, F is infinite, and the p-value is the exact probability
    that splits rank alike by chance.

    References
    ----------
    .. [1] M. Friedman, "The use of ranks to avoid the assumption of normality implicit
       in the analysis of variance", Journal of the American Statistical Association 32
       (1937).
    .. [2] R. L. Iman & J. M. Davenport, "Approximations of the critical region of the
       Friedman statistic", Communications in Statistics A 9 (1980).
    .. [3] J. Demšar, "Statistical comparisons of classifiers over multiple data sets",
       Journal of Machine Learning Research 7 (2006).

    Examples
    --------
    >>> from veridical.comparison import friedman
    >>> scores = [[0.9, 0.8, 0.9, 0.7], [0.8, 0.7, 0.8, 0.6], [0.7, 0.6, 0.7, 0.5]]
    >>> result = friedman(scores)
    >>> result.mean_ranks, result.chi2, round(result.critical_difference, 3)
    ((1.0, 2.0, 3.0), 8.0, 1.657)
    """
    check_alpha(alpha)
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim < 2 or values.shape[-2] < 3 or values.shape[-1] < 2:
        raise InputError(
            "Friedman's test needs at least three selectors (rows) on at least two "
            f"splits (columns); the scores have shape {values.shape}."
        )
    if not np.isfinite(values).all():
        raise InputError("Friedman's test needs a finite score in every place.")
    n_selectors, n = values.shape[-2:]
    ranks = rank_splits(values)
    means = ranks.mean(axis=-1)
    chi2 = _friedman_chi_squared(ranks, means)
    df = (n_selectors - 1.0, (n_selectors - 1.0) * (n - 1))
    rest = n * (n_selectors - 1) - chi2
    varied = rest > _NO_REST
    statistic = np.divide(
        (n - 1) * chi2, rest, np.full_like(chi2, np.inf), where=varied
    )
    pvalue = np.where(varied, fdtrc(*df, statistic), _agree_by_chance(ranks))
    critical = _quantile(n_selectors, alpha) * rank_error(n_selectors, n)
    found: list[Any] = [
        group(each, critical) for each in means.reshape(-1, n_selectors)
    ]
    many = values.ndim > 2
    return Friedman(
        mean_ranks=means if many else tuple(means.tolist()),
        chi2=as_number(chi2),
        chi2_pvalue=as_number(chdtrc(n_selectors - 1, chi2)),
        statistic=as_number(statistic),
        df=df,
        pvalue=as_number(pvalue),
        critical_difference=critical,
        n=n,
        alpha=float(alpha),
        groups=tuple(found) if many else found[0],
    )


def group(mean_ranks: FloatArray, critical: float) -> tuple[tuple[int, ...], ...]:
    """Return the groups of selectors that do not differ: the largest within a distance.

    Examples
    --------
    >>> group(np.array([1.2, 3.0, 1.5, 2.4]), 1.0)
    ((0, 2), (2, 3), (3, 1))
    """
    order = np.argsort(mean_ranks, kind="stable")
    ranks = mean_ranks[order]
    runs: list[tuple[int, int]] = []
    for start in range(ranks.size):
        end = int(np.searchsorted(ranks, ranks[start] + critical, side="right"))
        if end - start > 1 and (not runs or end > runs[-1][1]):
            runs.append((start, end))
    return tuple(tuple(int(i) for i in order[a:b]) for a, b in runs)


@cache
def _quantile(n_selectors: int, alpha: float) -> float:
    """Compute Nemenyi's q, the studentized range over √2; cached because it is slow."""
    range_ = float(studentized_range.ppf(1 - alpha, n_selectors, np.inf))
    return range_ / math.sqrt(2)


def rank_error(n_selectors: int, n: int) -> float:
    """Compute the standard error of the difference of two mean ranks."""
    return math.sqrt(n_selectors * (n_selectors + 1) / (6 * n))


def rank_splits(values: FloatArray) -> FloatArray:
    """Rank the selectors on every split; 1 is the best, equal scores are tied."""
    # Accuracies are fractions of small counts; averages of them may differ by rounding.
    ranks = rankdata(-values.round(12), axis=-2)
    return np.asarray(ranks, dtype=np.float64)


def _agree_by_chance(ranks: FloatArray) -> FloatArray:
    """Compute the probability that all splits have the ranks of the first by chance.

    Examples
    --------
    >>> round(float(_agree_by_chance(np.array([[1, 1], [2, 2], [3, 3]]))), 6)
    0.166667
    """
    n_selectors, n = ranks.shape[-2:]
    first = ranks[..., 0]
    # A product over the selectors of 1, …, m for every m that are tied.
    same = first[..., :, None] == first[..., None, :]
    orders = math.factorial(n_selectors) / np.tril(same).sum(axis=-1).prod(axis=-1)
    return np.asarray(np.power(orders, 1.0 - n))


def _friedman_chi_squared(ranks: FloatArray, means: FloatArray) -> FloatArray:
    """Compute Friedman's χ² with the correction for ties; 0 where all are tied."""
    n_selectors, n = ranks.shape[-2:]
    middle = (n_selectors + 1) / 2
    spread = ((ranks - middle) ** 2).sum(axis=(-2, -1)) / (n * (n_selectors - 1))
    among = n * ((means - middle) ** 2).sum(axis=-1)
    return np.divide(among, spread, np.zeros_like(spread), where=spread > 0)
