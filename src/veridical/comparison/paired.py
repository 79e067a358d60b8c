"""Tests that need more than the scores of splits.

On one test set two selectors are compared sample by sample: by the exact McNemar test
(accuracy), by DeLong's test (area under the ROC curve), or, for any score, with groups
and with weights, by the jackknife. The conservative z-test needs the scores of disjoint
halves of the samples beside those of the splits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.parallel import Runner
from veridical._core.scoring import Score, ScoreInfo
from veridical._core.seeds import Purpose, seed_for
from veridical._core.splits import (
    CrossValidation,
    Method,
    RandomSubsampling,
    Split,
    split_table,
)
from veridical._core.table import Table
from veridical.comparison.auc import delong
from veridical.comparison.design import Design, run_data_set
from veridical.comparison.records import MeasuredSize, TestResult
from veridical.comparison.significance import (
    conservative_z,
    t_result,
    without_rounding,
)
from veridical.comparison.sizes import structured_size
from veridical.comparison.splits import Splits
from veridical.comparison.testing import ON_ONE_TEST_SET, of_scoring
from veridical.comparison.truthfulness import binomial_truthfulness
from veridical.evaluation.engine import Evaluation
from veridical.evaluation.estimating import accuracy_of_hits, estimate_of_score
from veridical.evaluation.intervals import paired_shares
from veridical.evaluation.jackknife import (
    divide_test_set,
    has_jackknife,
    standard_error,
)
from veridical.evaluation.records import Estimate
from veridical.evaluation.situations import Situation
from veridical.evaluation.structured import rows_of_test_set

#: Ways to divide the samples into halves, for the conservative z-test.
N_HALVES = 10


class PairTest(Protocol):
    """Tests a pair of selectors with what it has beside the scores of the splits."""

    def test(
        self,
        scores: FloatArray,
        method: str,
        estimator: int | None,
        pair: tuple[int, int],
        alpha: float,
    ) -> TestResult:
        """Test two selectors.

        Parameters
        ----------
        scores : array of shape (2, n_splits)
            Their scores.
        method : str
            IN or OUT.
        estimator : int or None
            Place of the estimator; None for the mean of all.
        pair : tuple of int
            Places of the selectors.
        alpha : float
            Significance level.
        """


# -- one test set ----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class OneTestSet:
    """The predictions of all selectors on one test set.

    Parameters
    ----------
    name : {"mcnemar", "delong", "jackknife"}
        The test.
    method : Method
        What made the split.
    split : Split
        The split.
    table : Table
        The samples.
    score : Score
        What is compared.
    scoring : ScoreInfo
        Its name, unit and direction.
    found : mapping of method to array of Evaluation
        Of shape (n_selectors, n_estimators).
    """

    name: str
    method: Method
    split: Split
    table: Table
    score: Score
    scoring: ScoreInfo
    found: Mapping[str, NDArray[Any]]

    def test(
        self,
        scores: FloatArray,
        method: str,
        estimator: int | None,
        pair: tuple[int, int],
        alpha: float,
    ) -> TestResult:
        """Test two selectors, see `PairTest`."""
        evaluations = self.found[method][list(pair)]
        if estimator is not None:
            evaluations = evaluations[:, [estimator]]
        if self.name == "jackknife":
            found = self._jackknife(scores, evaluations, alpha)
        elif self.name == "mcnemar":
            first, second = (one.hits[0][-1] for one in evaluations[:, 0])
            found = _mcnemar(first, second, alpha)
        else:
            place = self.score.place_of_positive(self.table.classes)
            found = delong(
                self.table.y[self.split.test],
                *(_outputs(one, self.score, place) for one in evaluations[:, 0]),
                alpha=alpha,
                positive=place,
            )
        return replace(of_scoring(found, self.scoring), size=self._size(scores, alpha))

    def _size(self, scores: FloatArray, alpha: float) -> MeasuredSize | None:
        """Look up how often the test rejects on such test sets; None if not known.

        Of each score, with groups and without, the usual test was measured.
        """
        tested = self.table.rows(self.split.test)
        if self.name == "mcnemar" or self.name != choose_test(self.score, tested, 1):
            return None
        rows = rows_of_test_set(self.scoring.name, tested, float(scores.mean()))
        return structured_size(rows, alpha)

    def _jackknife(
        self, scores: FloatArray, evaluations: NDArray[Any], alpha: float
    ) -> TestResult:
        """Test by the scores without one unit at a time."""
        blocks = divide_test_set(self.table, self.split.test)
        noun = "test samples" if self.table.groups is None else "groups of test samples"
        sides = [
            np.mean([self._left_out(one, blocks) for one in row], axis=0)
            for row in evaluations
        ]
        gap = without_rounding(float(scores[0].mean() - scores[1].mean()))
        error = float(standard_error(sides[0] - sides[1]))
        known = math.isfinite(error)
        n = len(sides[0])
        return t_result(
            "jackknife",
            gap,
            error if known else 0.0,
            n - 1,
            alpha,
            n=n,
            assumptions=f"The {noun} are independent, took no part in fitting, and are "
            "many enough for the difference to be normal; its variance is that of "
            "leaving one of them out at a time, of a score that varies smoothly with "
            "the samples.",
            note=""
            if known
            else f"Leaving out one of the {noun} at a time says nothing about how much "
            "the difference varies, so that there is no interval.",
        )

    def _left_out(self, one: Evaluation, blocks: IntArray) -> FloatArray:
        return one.left_out(self.score, blocks)[:, -1]

    def intervals(self) -> dict[str, tuple[Estimate, ...]]:
        """Estimate the score of every selector with the only estimator, by method."""
        splits = [self.split]
        where = Situation.from_summary(self.table.summary(None), 1, "", math.nan)
        made = {}
        for method, rows in self.found.items():
            found = []
            for (one,) in rows:
                if self.score.is_accuracy:
                    hits = [one.hits[0][-1]]
                    made_one = accuracy_of_hits(
                        self.method, splits, hits, where, random_state=0,
                        table=self.table,
                    )  # fmt: skip
                else:
                    made_one = estimate_of_score(
                        self.method, splits, one, self.score, self.table
                    )
                found.append(made_one)
            made[method] = tuple(found)
        return made


def _mcnemar(
    first: NDArray[np.bool_], second: NDArray[np.bool_], alpha: float
) -> TestResult:
    """Test which side classifies more of the same samples correctly.

    The p-value is that of the sign test, given how many samples one side alone
    classifies correctly. The interval is not: that number varies, too.
    """
    counted = binomial_truthfulness(first, second, alpha=alpha)
    won, lost = counted.only_in, counted.only_out
    return TestResult(
        name="exact McNemar",
        statistic=float(won),
        pvalue=min(1.0, 2 * counted.pvalue),
        df=math.nan,
        mean_difference=counted.mean_difference,
        interval=paired_shares(won, lost, first.size, 1 - alpha),
        n=counted.n,
        alpha=alpha,
        assumptions="The test samples are independent and took no part in fitting. The "
        "p-value is exact, on those that one side alone classifies correctly; the "
        "interval is Bonett and Price's for all samples, and the p-value decides.",
    )


def _outputs(one: Evaluation, score: Score, place: int) -> FloatArray:
    """Return what ranks the test samples: the greater, the more likely positive."""
    outputs = one.all_outputs[0].at(-1)
    if score.response(one.estimator) == "decision_function":
        assert outputs.decision is not None
        return outputs.decision if place else -outputs.decision
    assert outputs.proba is not None
    return np.asarray(outputs.proba[:, place], dtype=np.float64)


def choose_test(score: Score, table: Table, n_estimators: int) -> str:
    """Return the test for one test set: an exact or usual one, else the jackknife.

    Raises
    ------
    InputError
        If there is none for the score.
    """
    _refuse_untested(score)
    return next(
        name
        for name in ON_ONE_TEST_SET
        if not _why_not(name, score, table, n_estimators)
    )


def check_one_test_set(
    name: str, score: Score, table: Table, n_selectors: int, n_estimators: int
) -> None:
    """Raise if a test of one test set does not fit the score or the samples."""
    if n_selectors > 2:
        raise InputError(
            f"There are {n_selectors} selectors, but on one test set two are compared; "
            "pass two, or split the samples by cross-validation."
        )
    _refuse_untested(score)
    if why := _why_not(name, score, table, n_estimators):
        raise InputError(
            f"The test {name!r} {why}; use test='jackknife', which takes "
            "other scores, groups and weights."
        )


def _refuse_untested(score: Score) -> None:
    """Raise if no test of one test set is valid for a score, not even the jackknife."""
    if has_jackknife(score):
        return
    if score.needs == "model":
        raise InputError(
            f"The score {score.name!r} is computed from the fitted model, so that no "
            "test sample can be left out of it; on one test set use a score of "
            "predictions, by name or by sklearn.metrics.make_scorer, or split the "
            "samples by cross-validation."
        )
    raise InputError(
        f"The {score.label} depends on one or two of the test samples, and no test of "
        "one test set is valid for medians and extremes; use "
        "scoring='mean_absolute_error', or split the samples by cross-validation."
    )


def _why_not(name: str, score: Score, table: Table, n_estimators: int) -> str:
    if name == "jackknife":
        return ""
    what = {"mcnemar": "accuracy", "delong": "roc_auc"}[name]
    if score.name != what or (name == "delong" and table.n_classes != 2):
        classes = " of two classes" if name == "delong" else ""
        return f"is for scoring={what!r}{classes}"
    if table.groups is not None or table.weights is not None:
        return "counts every sample once, but there are groups or weights"
    if n_estimators > 1:
        return "is for one estimator"
    return ""


# -- halves ----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Halves:
    """Mean scores on disjoint halves of the samples.

    Parameters
    ----------
    means : mapping of method to array
        Of shape (n_selectors, n_estimators, n_halves, 2).
    scoring : ScoreInfo
        What is compared.
    """

    means: Mapping[str, FloatArray]
    scoring: ScoreInfo

    def test(
        self,
        scores: FloatArray,
        method: str,
        estimator: int | None,
        pair: tuple[int, int],
        alpha: float,
    ) -> TestResult:
        """Test two selectors, see `PairTest`."""
        means = self.means[method][list(pair)]
        own = means.mean(axis=1) if estimator is None else means[:, estimator]
        found = conservative_z(*scores, halves_a=own[0], halves_b=own[1], alpha=alpha)
        return of_scoring(found, self.scoring)


def score_halves(
    design: Design,
    table: Table,
    method: Method,
    columns: IntArray,
    scoring: ScoreInfo,
    root: int,
    run: Runner,
) -> Halves:
    """Repeat a comparison on disjoint halves of the samples, divided in several ways.

    Parameters
    ----------
    design : Design
        What is compared.
    table : Table
        The samples; groups stay whole, and classes keep their shares.
    method : CrossValidation or RandomSubsampling
        How all samples are split; each half is split in the same way.
    columns : int array
        Order in which selectors see the features.
    scoring : ScoreInfo
        What is compared.
    root : int
        Seed of the comparison.
    run : callable
        Runs the jobs.
    """
    if not isinstance(method, CrossValidation | RandomSubsampling):
        raise InputError(
            "The test 'conservative-z' also splits halves of the samples, so that cv "
            "must be a number of folds, such as 10 or '10x5', or RandomSubsampling."
        )
    ways = CrossValidation(2, n_repeats=N_HALVES)
    halves = split_table(ways, table, seed_for(root, Purpose.HALVES))
    found: dict[str, list[FloatArray]] = {m: [] for m in design.methods}
    for number, half in enumerate(halves):
        part = table.rows(half.test)
        seed = seed_for(root, Purpose.HALVES, number + 1)
        splits = Splits(tuple(split_table(method, part, seed)), 1, "", partitions=False)
        _refuse_small_half(part, splits.splits)
        outcome = run_data_set(design, part, splits, columns, run)
        for m, values in outcome.leading.items():
            found[m].append(values.mean(axis=-1))
    means = {
        m: np.stack(values, axis=-1).reshape(*values[0].shape, N_HALVES, 2)
        for m, values in found.items()
    }
    return Halves(means, scoring)


def _refuse_small_half(part: Table, splits: Sequence[Split]) -> None:
    """Raise if a training set of a half holds one class only."""
    if part.kind == "classes" and any(
        part.target.is_constant(split.train) for split in splits
    ):
        raise InputError(
            "The test 'conservative-z' splits halves of the samples, and a class has "
            "so few samples that a training set of a half lacks all others; use fewer "
            "folds, or another test."
        )
