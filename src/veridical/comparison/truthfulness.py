"""How do IN and OUT stand to TRUTH? Who is right more often, and who is how far off?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from veridical._records import InputError, Truthfulness
from veridical.comparison.significance import (
    check_alpha,
    read_scores,
    snap,
    t_and_p,
    variance,
)


def binomial_truthfulness(
    only_in: int,
    only_out: int,
    *,
    both_right: int = 0,
    both_wrong: int = 0,
    alpha: float = 0.05,
) -> Truthfulness:
    """Which of IN and OUT finds the true verdict more often? An exact binomial test.

    Parameters
    ----------
    only_in, only_out : int
        Data sets on which only IN, only OUT, reached the true verdict.
    both_right, both_wrong : int, default=0
        The other data sets; they are recorded and play no part in the test.
    alpha : float, default=0.05
        A protocol is better where the one-tail p-value is below ``alpha / 2``.

    Returns
    -------
    Truthfulness
        With ``p_value`` and ``better``: "in", "out" or "same".

    References
    ----------
    .. [1] P. Refaeilzadeh, L. Tang & H. Liu, "On comparison of feature selection
       algorithms", AAAI Workshop on Evaluation Methods for Machine Learning II (2007).

    Examples
    --------
    >>> from veridical.comparison import binomial_truthfulness
    >>> result = binomial_truthfulness(6, 0)
    >>> result.p_value, result.better
    (0.015625, 'in')
    """
    check_alpha(alpha)
    counts = {
        "only_in": only_in,
        "only_out": only_out,
        "both_right": both_right,
        "both_wrong": both_wrong,
    }
    for name, count in counts.items():
        if isinstance(count, bool) or int(count) != count or count < 0:
            raise InputError(
                f"{name} must be a count of data sets (0, 1, 2, ...), got {count!r}."
            )
    n = int(only_in) + int(only_out)
    # Exact in integers; one division at the end, correctly rounded.
    tail = sum(math.comb(n, k) for k in range(min(int(only_in), int(only_out)) + 1))
    p_value = tail / 2**n
    better: Literal["in", "out", "same"] = "same"
    if p_value < alpha / 2:
        better = "in" if only_in > only_out else "out"
    return Truthfulness(
        only_in=int(only_in),
        only_out=int(only_out),
        both_right=int(both_right),
        both_wrong=int(both_wrong),
        p_value=p_value,
        better=better,
    )


@dataclass(frozen=True)
class Bias:
    """How far a protocol's accuracy lies from the true one, on one data set.

    Parameters
    ----------
    value : float
        The difference where it is significant, else 0 (the paper's rule).
    difference : float
        The plain difference of the means.
    p_value, statistic, df : float
        Of Welch's test.
    """

    value: float
    difference: float
    p_value: float
    statistic: float
    df: float


def welch_bias(
    fold_scores: ArrayLike, truth_scores: ArrayLike, alpha: float = 0.05
) -> Bias:
    """Bias of one data set's fold accuracies against the true accuracies.

    Parameters
    ----------
    fold_scores : array-like of shape (n_folds,)
        Accuracies of IN or OUT on the folds of one data set.
    truth_scores : array-like of shape (n_sets,)
        TRUTH accuracies of the same selector over many data sets.
    alpha : float, default=0.05
        A difference that is not significant at this level counts as no bias.

    Returns
    -------
    Bias
        ``value`` (0 where not significant), the plain ``difference``, the p-value.

    References
    ----------
    .. [1] B. L. Welch, "The generalization of 'Student's' problem when several
       different population variances are involved", Biometrika 34 (1947).

    Examples
    --------
    >>> from veridical.comparison import welch_bias
    >>> bias = welch_bias([0.9, 0.8, 1.0], [0.70, 0.72, 0.68, 0.70])
    >>> round(bias.difference, 3), bias.value, round(bias.p_value, 3)
    (0.2, 0.0, 0.071)
    """
    check_alpha(alpha)
    folds = read_scores(fold_scores, "fold_scores")
    truths = read_scores(truth_scores, "truth_scores")
    difference = snap(float(folds.mean() - truths.mean()))
    spread = np.array([variance(sample) / sample.size for sample in (folds, truths)])
    total = float(spread.sum())
    freedom = np.array([folds.size - 1, truths.size - 1])
    # With one sample constant the formula leaves the other's degrees of freedom; with
    # both constant there is nothing to estimate and any value serves.
    df = total**2 / float((spread**2 / freedom).sum()) if total else float(sum(freedom))
    statistic, p_value = t_and_p(difference, math.sqrt(total), df)
    value = difference if p_value < alpha else 0.0
    return Bias(value, difference, p_value, statistic, df)
