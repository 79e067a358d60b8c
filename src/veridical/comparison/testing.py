"""All tests by name, applied with what they need to know of the splits.

Sizes, folds and repeats are taken from the splits; a test that is not made for a
resampling raises an error, with the resampling that it is made for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from veridical._core.arrays import FloatArray
from veridical._core.errors import InputError
from veridical._core.scoring import ACCURACY, ScoreInfo
from veridical._core.text import did_you_mean, listed
from veridical.comparison.bayesian import bayesian_correlated_t
from veridical.comparison.five_by_two import five_by_two_f, five_by_two_t
from veridical.comparison.records import TestResult
from veridical.comparison.significance import (
    Geometry,
    corrected_resampled_t,
    paired_t,
    repeated_cv_t,
    sorted_runs_t,
)
from veridical.evaluation.intervals import clip

#: Number of differences; from fewer, whose variance has one degree of freedom and is
#: often zero by chance, because accuracies are shares of few samples, nothing is
#: claimed.
LEAST_DIFFERENCES = 3

Routine = Callable[[FloatArray, FloatArray, Geometry, float, float], TestResult]


@dataclass(frozen=True)
class NamedTest:
    """A test, and the resampling that it needs.

    Parameters
    ----------
    run : callable
        ``f(a, b, geometry, alpha, rope)``.
    repeats, folds : int or None
        The only numbers it is made for; None where any will do.
    least_repeats, least_folds : int
        The smallest numbers of repeats and folds it can use.
    calibrated : bool
        Whether its p-value can be taken from a measured null instead.
    """

    run: Routine
    repeats: int | None = None
    folds: int | None = None
    least_repeats: int = 1
    least_folds: int = 1
    calibrated: bool = True

    def fits(self, n_repeats: int, n_folds: int) -> bool:
        """Return whether the test is made for such a resampling."""
        return (
            self.repeats in (None, n_repeats)
            and self.folds in (None, n_folds)
            and n_repeats >= self.least_repeats
            and n_folds >= self.least_folds
        )

    @property
    def wanted(self) -> str:
        """The resampling it is made for, as ``cv=`` takes it."""
        return f"{self.repeats or 10}x{self.folds or 10}"


def _sizes(geometry: Geometry) -> dict[str, tuple[int, ...]]:
    return {"n_train": geometry.n_train, "n_test": geometry.n_test}


#: Tests by name, for ``compare(test=...)``.
TESTS: dict[str, NamedTest] = {
    "corrected-t": NamedTest(
        lambda a, b, g, alpha, rope: corrected_resampled_t(
            a, b, **_sizes(g), alpha=alpha
        )
    ),
    "paired-t": NamedTest(lambda a, b, g, alpha, rope: paired_t(a, b, alpha=alpha)),
    "five-by-two-t": NamedTest(
        lambda a, b, g, alpha, rope: five_by_two_t(a, b, alpha=alpha), 5, 2
    ),
    "five-by-two-f": NamedTest(
        lambda a, b, g, alpha, rope: five_by_two_f(a, b, alpha=alpha), 5, 2
    ),
    "repeated-cv-t": NamedTest(
        lambda a, b, g, alpha, rope: repeated_cv_t(a, b, alpha=alpha), 10, 10
    ),
    "sorted-runs-t": NamedTest(
        lambda a, b, g, alpha, rope: sorted_runs_t(
            a, b, n_repeats=g.n_repeats, alpha=alpha
        ),
        least_repeats=2,
        least_folds=3,
    ),
    "bayesian-correlated-t": NamedTest(
        lambda a, b, g, alpha, rope: bayesian_correlated_t(
            a, b, **_sizes(g), rope=rope, alpha=alpha
        ),
        calibrated=False,
    ),
}
_ALIASES = {"corrected-resampled-t": "corrected-t", "sign-test": "mcnemar"}

#: Tests that need more than the scores of the splits, for `compare` alone.
FURTHER_TESTS = ("conservative-z", "mcnemar", "delong", "jackknife")
#: Those of one test set (`veridical.comparison.paired`): the first that fits the score
#: and the samples is the usual one.
ON_ONE_TEST_SET = FURTHER_TESTS[1:]


def find_test(test: str | Callable[..., TestResult], *, further: bool = False) -> str:
    """Return the name of a test, given by name, by that of its function, or by both.

    Those that need more than the scores of splits are found if `further` is true.

    Examples
    --------
    >>> find_test("five_by_two_f"), find_test(corrected_resampled_t)
    ('five-by-two-f', 'corrected-t')
    """
    name = str(getattr(test, "__name__", test)).replace("_", "-")
    name = _ALIASES.get(name, name)
    known = (*TESTS, *FURTHER_TESTS) if further else tuple(TESTS)
    if name in FURTHER_TESTS and not further:
        raise InputError(
            f"The test {name!r} needs more than the scores of splits, which compare() "
            f"alone gives it; use one of {listed(known)}."
        )
    if name not in known:
        raise InputError(
            f"There is no test {name!r}{did_you_mean(name, known)} Use one of "
            f"{listed(known)}."
        )
    return name


def check_fit(test: str, n_repeats: int, n_folds: int) -> None:
    """Raise if a test is not made for this resampling."""
    found = TESTS[test]
    if not found.fits(n_repeats, n_folds):
        raise InputError(
            f"The test {test!r} is not made for {n_repeats} repeat(s) of {n_folds} "
            f"split(s); use cv={found.wanted!r} (repeats x folds), or test="
            "'corrected-t', which takes any resampling."
        )


def apply_test(
    test: str,
    scores_a: FloatArray,
    scores_b: FloatArray,
    geometry: Geometry,
    alpha: float = 0.05,
    rope: float = 0.01,
    scoring: ScoreInfo = ACCURACY,
) -> TestResult:
    """Test paired scores, with the geometry of their resampling.

    Parameters
    ----------
    test : str
        A name in `TESTS`.
    scores_a, scores_b : array of shape (n_splits,)
        Scores of the two sides, in order of repeat and fold.
    geometry : Geometry
        From ``Splits.geometry``.
    alpha, rope : float
        Significance level; region of practical equivalence, for Bayesian tests.
    scoring : ScoreInfo
        What the scores are; less is better for a loss.

    Raises
    ------
    InputError
        If the test is not made for this resampling.
    """
    check_fit(test, geometry.n_repeats, geometry.n_folds)
    found = TESTS[test].run(scores_a, scores_b, geometry, alpha, rope)
    largest = scoring.high - scoring.low
    return on_accuracies(of_scoring(found, scoring), largest)


def of_scoring(found: TestResult, scoring: ScoreInfo) -> TestResult:
    """Say which side of a test is better, and cut its interval, by what is scored."""
    largest = scoring.high - scoring.low
    found = replace(found, interval=clip(found.interval, (-largest, largest)))
    if scoring.greater_is_better:
        return found
    shares = found.probabilities
    if shares is not None:  # that of the greater scores is that of the worse side
        shares = {"a": shares["b"], "rope": shares["rope"], "b": shares["a"]}
    return replace(found, greater_is_better=False, probabilities=shares)


def on_accuracies(found: TestResult, largest: float = 1.0) -> TestResult:
    """Keep of a test what accuracies support.

    A difference of accuracies lies between -1 and 1, and so does its interval; that of
    other scores between minus and plus the `largest` difference. Two
    differences support neither an interval nor a p-value (`LEAST_DIFFERENCES`).

    Examples
    --------
    >>> found = on_accuracies(paired_t([1.0, 0.9], [0.2, 0.3]))
    >>> found.pvalue, found.interval, found.winner
    (nan, (nan, nan), 'draw')
    """
    low, high = clip(found.interval, (-largest, largest))
    if found.n >= LEAST_DIFFERENCES:
        return replace(found, interval=(low, high))
    shares = found.probabilities
    return replace(
        found,
        pvalue=math.nan,
        interval=(math.nan, math.nan),
        probabilities=None if shares is None else dict.fromkeys(shares, math.nan),
        note=f"{found.n} differences are too few to estimate how much they vary, so "
        "there is neither an interval nor a p-value; use more folds or data sets.",
    )
