"""The measured size of a test: how often it rejects where neither side is better.

On the data sets of `veridical.comparison.null_designs` neither side is better, so every
rejection is an error. Their statistics are also the null distribution from which
calibrated p-values are computed.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from scipy.special import ndtri, stdtrit

from veridical._core.arrays import FloatArray
from veridical._core.errors import InputError
from veridical._core.scoring import ACCURACY, ScoreInfo
from veridical._core.seeds import root_seed
from veridical._core.text import listed
from veridical.comparison.five_by_two import reach_of_f
from veridical.comparison.null_designs import NullDesign, simulate
from veridical.comparison.records import Calibration, MeasuredSize, TestResult
from veridical.comparison.significance import Geometry, check_alpha
from veridical.comparison.splits import repeats_and_folds
from veridical.comparison.testing import (
    FURTHER_TESTS,
    TESTS,
    apply_test,
    check_fit,
    find_test,
    on_accuracies,
)
from veridical.kernels.statistics import wilson_bounds


def calibrate(
    test: Any,
    *,
    cv: int | str = 10,
    method: Literal["in", "out"] = "in",
    n_samples: int = 100,
    estimator: str = "centroid",
    effect: float = 1.0,
    n_columns: int = 20,
    n_relevant: int = 5,
    n_features_to_select: int = 5,
    n_simulations: int = 2000,
    calibrated: bool | Calibration = False,
    alpha: float = 0.05,
    rope: float = 0.01,
    random_state: Any = 0,
) -> Calibration:
    """Measure how often a test rejects where neither selector is better.

    Parameters
    ----------
    test : str or function
        As in `compare`, such as "corrected-t".
    cv : int or str, default=10
        Number of folds, or repeats and folds: "10x10".
    method : {"in", "out"}, default="in"
        Whether selection is inside the folds.
    n_samples : int, default=100
        Number of samples, half of them in each of two classes.
    estimator : {"centroid", "nb", "1nn"}, default="centroid"
        Nearest centroid, naive Bayes or nearest neighbour.
    effect : float, default=1.0
        Difference of the class means of a relevant feature, in standard deviations.
    n_columns, n_relevant : int
        Features in each of the two blocks, and the number of relevant ones.
    n_features_to_select : int, default=5
        Features that each side selects from its block.
    n_simulations : int, default=2000
        Number of data sets.
    calibrated : bool or Calibration, default=False
        Measure the test with p-values from a measured null instead of its own: that of
        an earlier call, or, with True, of five times as many other data sets.
    alpha : float, default=0.05
        Nominal size.
    rope : float, default=0.01
        Region of practical equivalence, for Bayesian tests.
    random_state : int, numpy random generator or None, default=0
        Decides the data sets.

    Returns
    -------
    Calibration
        ``size`` has the share of rejections with its interval, ``statistics`` the
        measured null.

    Notes
    -----
    The two sides select from blocks of features with the same distribution given the
    class, so every rejection is an error of the test. How often it errs depends on the
    folds, the number of samples, the estimator and the strength of the features: with
    `effect` it goes from far below to far above the nominal size.

    Examples
    --------
    >>> from veridical.comparison import calibrate
    >>> naive = calibrate("paired-t", cv="10x10", n_simulations=100).size
    >>> corrected = calibrate("corrected-t", cv="10x10", n_simulations=100).size
    >>> naive.rate > 0.3 > corrected.rate
    True
    """
    test = find_test(test)
    check_alpha(alpha)
    shape = repeats_and_folds(cv)
    if shape is None:
        raise InputError(f"cv={cv!r} is not a number of folds, such as 10 or '10x10'.")
    design = NullDesign(
        *shape,
        method=method,
        n_samples=n_samples,
        estimator=estimator,
        effect=effect,
        n_columns=n_columns,
        n_relevant=n_relevant,
        n_features_to_select=n_features_to_select,
    )
    check_fit(test, *shape)
    if n_simulations < 1:
        raise InputError(f"n_simulations must be at least 1, got {n_simulations!r}.")
    root = root_seed(random_state)
    null = calibrated if isinstance(calibrated, Calibration) else None
    if calibrated and null is None:
        check_calibrated(test)
        apart = simulate(design, 5 * n_simulations, root, stream=1)
        null = measure_test(test, design, apart, alpha, rope)
    return measure_test(
        test, design, simulate(design, n_simulations, root), alpha, rope, null
    )


def check_calibrated(test: str) -> None:
    """Raise if a test has no null distribution to be calibrated on."""
    if test in FURTHER_TESTS:
        raise InputError(
            f"The test {test!r} has no calibrated form; leave out calibrated, or use "
            "test='corrected-t'."
        )
    if not TESTS[test].calibrated:
        known = [name for name, one in TESTS.items() if one.calibrated]
        raise InputError(
            f"The test {test!r} gives posterior probabilities, which cannot be "
            f"calibrated; use one of {listed(known)}."
        )


def measure_test(
    test: str,
    design: NullDesign,
    accuracies: FloatArray,
    alpha: float,
    rope: float,
    null: Calibration | None = None,
) -> Calibration:
    """Count how often a test rejects, by itself or against a measured null."""
    geometry = design.geometry
    found = [
        run_test(test, a, b, geometry, alpha, rope, null) for a, b in accuracies[:, :2]
    ]
    rejected = sum(result.winner != "draw" for result in found)
    accuracy = float(accuracies.mean())
    words = design.describe(accuracy)
    if null is not None:
        words += f"; p-values from a null of {null.statistics.size} data sets"
    return Calibration(
        test=test,
        size=measure_rate(rejected, len(found), alpha, words),
        statistics=np.sort([extremeness(result) for result in found]),
        accuracy=accuracy,
        settings={**vars(design), "rope": rope, "calibrated": null is not None},
    )


def extremeness(result: TestResult) -> float:
    """Return the absolute statistic; infinite where it is not defined.

    So a null with such data sets makes calibrated p-values larger, never smaller.
    """
    return math.inf if math.isnan(result.statistic) else abs(result.statistic)


def measure_rate(rejected: int, n: int, nominal: float, words: str) -> MeasuredSize:
    """Return the share of rejections with Wilson's 95 % interval.

    Examples
    --------
    >>> size = measure_rate(100, 2000, 0.05, "")
    >>> size.rate, round(size.low, 4), round(size.high, 4)
    (0.05, 0.0413, 0.0604)
    """
    share = rejected / n
    low, high = wilson_bounds(share, n, float(ndtri(0.975)))
    return MeasuredSize(nominal, share, low, high, n, words)


def run_test(
    test: str,
    scores_a: FloatArray,
    scores_b: FloatArray,
    geometry: Geometry,
    alpha: float,
    rope: float,
    null: Calibration | None = None,
    scoring: ScoreInfo = ACCURACY,
) -> TestResult:
    """Apply a test; with a measured null, compute p-value and interval from that.

    The interval then holds the differences which the calibrated test does not reject:
    those of a t-test keep their centre and their standard error.
    """
    result = apply_test(test, scores_a, scores_b, geometry, alpha, rope, scoring)
    if null is None:
        return result
    critical = null.critical(alpha)
    mean = result.mean_difference if result.estimate is None else result.estimate
    # What has no p-value of its own does not vary, and a null cannot help.
    unknown = math.isnan(result.pvalue)
    if test == "five-by-two-f":
        reach = reach_of_f(scores_a, scores_b, critical)
    else:
        # The half width is the standard error times a quantile; change the quantile.
        half = (result.interval[1] - result.interval[0]) / 2
        quantile = float(stdtrit(result.df, 1 - alpha / 2))
        reach = half / quantile * critical
    found = replace(
        result,
        name=f"calibrated {result.name}",
        calibrated=True,
        pvalue=math.nan if unknown else null.pvalue(result.statistic),
        df=np.nan,
        interval=(mean - reach, mean + reach),
        assumptions=(
            f"The p-value is the share of {null.statistics.size} data sets, on which "
            "neither side is better by construction, whose statistic is at least as "
            f"extreme ({null.size.design})."
        ),
        note=result.note if math.isnan(reach) else "",
    )
    return on_accuracies(found, scoring.high - scoring.low)
