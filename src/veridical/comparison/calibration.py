"""How often does a test reject where there is nothing to find? Measured, not assumed.

The null is exact: the columns fall into blocks that are drawn alike, and each side may
select from one block only. So neither side is better, whatever the resampling, and
every rejection is an error. Selector (largest F statistic), learners and data are the
simplest that behave like the real ones, which makes thousands of data sets cheap.

| symbol | meaning                                                           |
|--------|-------------------------------------------------------------------|
| n      | cases, half of them in each of two classes                        |
| p      | columns in a block, normal with standard deviation 1              |
| r      | of them, those whose means differ between the classes, by `effect`|
| F      | columns that each side selects                                    |
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from veridical._records import (
    Calibration,
    FloatArray,
    InputError,
    IntArray,
    MeasuredSize,
    TestResult,
)
from veridical.comparison.five_by_two import reach_of_f
from veridical.comparison.significance import Geometry, check_alpha
from veridical.comparison.splits import repeats_and_folds, root_seed
from veridical.comparison.testing import TESTS, apply_test, check_fit, find_test
from veridical.datasets.wording import listed
from veridical.kernels import exchangeable

BoolArray = NDArray[np.bool_]

#: What may learn in a simulation, and how a page calls it.
LEARNERS = {
    "centroid": (exchangeable.CENTROID, "nearest centroid"),
    "nb": (exchangeable.BAYES, "naive Bayes"),
    "1nn": (exchangeable.NEIGHBOUR, "nearest neighbour"),
}


@dataclass(frozen=True)
class NullDesign:
    """What is simulated; see the table of the module."""

    n_repeats: int
    n_folds: int
    method: Literal["in", "out"] = "in"
    n_samples: int = 100
    classifier: str = "centroid"
    effect: float = 1.0
    n_columns: int = 20
    n_relevant: int = 5
    n_features: int = 5

    def __post_init__(self) -> None:
        _check(self)

    @property
    def geometry(self) -> Geometry:
        """The shape of the folds; only means of their sizes matter to a test."""
        n_splits = self.n_repeats * self.n_folds
        n_test = self.n_samples // self.n_folds
        sizes = [
            n_test + (f < self.n_samples % self.n_folds) for f in range(self.n_folds)
        ] * self.n_repeats
        assert len(sizes) == n_splits
        return Geometry(
            tuple(self.n_samples - size for size in sizes),
            tuple(sizes),
            self.n_repeats,
            self.n_folds,
        )

    def describe(self, accuracy: float) -> str:
        """Write the design as a page shows it."""
        return describe(
            self.n_repeats,
            self.n_folds,
            self.n_samples,
            self.classifier,
            accuracy,
            self.method,
        )


def describe(
    n_repeats: int,
    n_folds: int,
    n_samples: int,
    classifier: str,
    accuracy: float,
    method: str,
) -> str:
    """Write a design as a page shows it.

    Examples
    --------
    >>> describe(10, 10, 100, "nb", 0.834, "in")
    '10 x 10 folds of 100 cases under IN, naive Bayes right on 83 %'
    """
    folds = f"{n_repeats} x {n_folds}" if n_repeats > 1 else str(n_folds)
    return (
        f"{folds} folds of {n_samples} cases under {method.upper()}, "
        f"{LEARNERS[classifier][1]} right on {100 * accuracy:.0f} %"
    )


def calibrate(
    test: str,
    *,
    cv: int | str = 10,
    method: Literal["in", "out"] = "in",
    n_samples: int = 100,
    classifier: str = "centroid",
    effect: float = 1.0,
    n_columns: int = 20,
    n_relevant: int = 5,
    n_features: int = 5,
    n_simulations: int = 2000,
    calibrated: bool | Calibration = False,
    alpha: float = 0.05,
    rope: float = 0.01,
    random_state: Any = 0,
) -> Calibration:
    """Measure how often a test rejects where neither selector is better.

    Parameters
    ----------
    test : str
        As in `compare`, such as "corrected-t".
    cv : int or str, default=10
        Number of folds, or repeats and folds: "10x10".
    method : {"in", "out"}, default="in"
        Whether selection is inside the folds.
    n_samples : int, default=100
        Cases, half of them in each of two classes.
    classifier : {"centroid", "nb", "1nn"}, default="centroid"
        Nearest centroid, naive Bayes or nearest neighbour.
    effect : float, default=1.0
        By how many standard deviations the means of a relevant column differ.
    n_columns, n_relevant : int
        Columns in each of the two blocks, and how many of them are relevant.
    n_features : int, default=5
        Columns that each side selects from its block.
    n_simulations : int, default=2000
        Number of data sets.
    calibrated : bool or Calibration, default=False
        Measure the test with p-values from a measured null instead of its own: that of
        an earlier call, or, with True, of five times as many data sets drawn apart.
    alpha : float, default=0.05
        Nominal size.
    rope : float, default=0.01
        Region of practical equivalence, for Bayesian tests.
    random_state : int, numpy random generator or None, default=0
        Decides what is drawn.

    Returns
    -------
    Calibration
        ``size`` has the share of rejections with its interval, ``statistics`` the
        measured null.

    Notes
    -----
    The two sides select from blocks of columns that are drawn alike given the class, so
    every rejection is an error of the test. How often it errs depends on the folds, the
    number of cases, the learner and how strong the columns are: `effect` moves it from
    far below to far above its nominal size.

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
    if isinstance(cv, str):
        shape = repeats_and_folds(cv)
        if shape is None:
            raise InputError(f"cv={cv!r} is no number of folds such as 10 or '10x10'.")
    else:
        shape = (1, cv)
    design = NullDesign(
        *shape,
        method=method,
        n_samples=n_samples,
        classifier=classifier,
        effect=effect,
        n_columns=n_columns,
        n_relevant=n_relevant,
        n_features=n_features,
    )
    check_fit(test, *shape)
    if n_simulations < 1:
        raise InputError(f"n_simulations must be at least 1, got {n_simulations!r}.")
    root = root_seed(random_state)
    null = calibrated if isinstance(calibrated, Calibration) else None
    if calibrated and null is None:
        check_calibrated(test)
        apart = simulate(design, 5 * n_simulations, root, stream=1)
        null = measure(test, design, apart, alpha, rope)
    return measure(
        test, design, simulate(design, n_simulations, root), alpha, rope, null
    )


def check_calibrated(test: str) -> None:
    """Refuse to calibrate a test that has no null."""
    if not TESTS[test].calibrated:
        known = [name for name, entry in TESTS.items() if entry.calibrated]
        raise InputError(
            f"The test {test!r} gives posterior probabilities, which have no null to "
            f"be calibrated on; use one of {listed(known)}."
        )


def simulate(
    design: NullDesign,
    n_simulations: int,
    seed: int,
    *,
    stream: int = 0,
    sides: int = 2,
) -> FloatArray:
    """Accuracies on data sets where no side is better.

    Parameters
    ----------
    design : NullDesign
        What is simulated. Its method does not change the data sets drawn.
    n_simulations : int
        How many data sets.
    seed, stream : int
        Two streams of one seed are independent.
    sides : int, default=2
        How many selectors, each with a block of its own.

    Returns
    -------
    array of shape (n_simulations, sides, n_splits)
    """
    y = np.arange(design.n_samples, dtype=np.intp) % 2
    shift = np.zeros((design.n_samples, design.n_columns))
    shift[:, : design.n_relevant] = design.effect * (y - 0.5)[:, np.newaxis]
    shift = np.tile(shift, sides)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(stream,)))
    learner = LEARNERS[design.classifier][0]
    result = np.empty((n_simulations, sides, design.n_repeats * design.n_folds))
    for b in range(n_simulations):
        X = rng.standard_normal(shift.shape) + shift
        test = _folds(design, y, rng)
        result[b] = exchangeable.block_accuracies(
            X,
            y,
            2,
            ~test,
            test,
            design.n_features,
            learner,
            design.method == "in",
            sides,
        )
    return result


def _folds(design: NullDesign, y: IntArray, rng: np.random.Generator) -> BoolArray:
    """Draw plain shuffled folds: which cases each split tests.

    They are drawn again where a training set would have fewer than two cases of a
    class, as a comparison would refuse them.
    """
    number = np.arange(design.n_samples) % design.n_folds
    first = y == 0
    while True:
        test = np.concatenate(
            [
                rng.permutation(number) == np.arange(design.n_folds)[:, np.newaxis]
                for _ in range(design.n_repeats)
            ]
        )
        if (
            min((~test[:, first]).sum(axis=1).min(), (~test[:, ~first]).sum(1).min())
            > 1
        ):
            return test


def measure(
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
        judge(test, a, b, geometry, alpha, rope, null) for a, b in accuracies[:, :2]
    ]
    rejected = sum(result.winner != "draw" for result in found)
    accuracy = float(accuracies.mean())
    words = design.describe(accuracy)
    if null is not None:
        words += f"; p-values from a null of {null.statistics.size} data sets"
    return Calibration(
        test=test,
        size=rate(rejected, len(found), alpha, words),
        statistics=np.sort(np.abs([result.statistic for result in found])),
        accuracy=accuracy,
        settings={**vars(design), "rope": rope, "calibrated": null is not None},
    )


def rate(rejected: int, n: int, nominal: float, words: str) -> MeasuredSize:
    """A share of rejections with Wilson's 95 % interval.

    References
    ----------
    .. [1] E. B. Wilson, "Probable inference, the law of succession, and statistical
       inference", Journal of the American Statistical Association 22 (1927).

    Examples
    --------
    >>> size = rate(100, 2000, 0.05, "")
    >>> size.rate, round(size.low, 4), round(size.high, 4)
    (0.05, 0.0413, 0.0604)
    """
    z2 = float(ndtri(0.975)) ** 2
    share = rejected / n
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    spread = z2 * (share * (1 - share) / n + z2 / (4 * n**2))
    reach = math.sqrt(spread) / (1 + z2 / n)
    low, high = max(0.0, centre - reach), min(1.0, centre + reach)
    return MeasuredSize(nominal, share, low, high, n, words)


def judge(
    test: str,
    scores_a: FloatArray,
    scores_b: FloatArray,
    geometry: Geometry,
    alpha: float,
    rope: float,
    null: Calibration | None = None,
) -> TestResult:
    """Apply a test; with a measured null, take p-value and interval from that.

    The interval then holds the differences which the calibrated test does not reject:
    those of a t-test keep their centre and their standard error.
    """
    result = apply_test(test, scores_a, scores_b, geometry, alpha, rope)
    if null is None:
        return result
    critical = null.critical(alpha)
    mean = result.mean_difference if result.estimate is None else result.estimate
    if test == "five-by-two-f":
        reach = reach_of_f(scores_a, scores_b, critical)
    else:
        # The half width is the standard error times a quantile; change the quantile.
        half = (result.interval[1] - result.interval[0]) / 2
        quantile = float(stdtrit(result.df, 1 - alpha / 2))
        reach = half / quantile * critical if half else 0.0
    return replace(
        result,
        name=f"{result.name}, calibrated",
        p_value=null.p_value(result.statistic),
        df=np.nan,
        interval=(mean - reach, mean + reach),
        assumptions=(
            f"The p-value is the share of {null.statistics.size} data sets, on which "
            "neither side is better by construction, whose statistic is at least as "
            f"extreme ({null.size.design})."
        ),
    )


def _check(design: NullDesign) -> None:
    """Refuse designs that cannot be simulated."""
    if design.classifier not in LEARNERS:
        raise InputError(
            f"There is no classifier {design.classifier!r} here; simulations know "
            f"{listed(LEARNERS)}."
        )
    if design.method not in ("in", "out"):
        raise InputError(f"method must be 'in' or 'out', got {design.method!r}.")
    few = design.n_samples < 12
    if design.n_repeats < 1 or few or not 2 <= design.n_folds <= design.n_samples // 4:
        raise InputError(
            f"{design.n_repeats} repeat(s) of {design.n_folds} folds cannot be drawn "
            f"from {design.n_samples} cases; use at least 2 folds, 4 "
            "cases a fold and 12 cases."
        )
    if not 1 <= design.n_features <= design.n_columns:
        raise InputError(
            f"n_features={design.n_features} of n_columns={design.n_columns} cannot be "
            "selected; use 1 to n_columns."
        )
    if not 0 <= design.n_relevant <= design.n_columns:
        raise InputError(
            f"n_relevant={design.n_relevant} must lie between 0 and n_columns="
            f"{design.n_columns}."
        )
