"""From the accuracies of a pair to a verdict that says what its p-value is worth.

Beside the p-value stands how often the test rejects where there is nothing to find:
looked up in the shipped table, or, if asked for, measured on data sets like the user's
own. The latter also gives calibrated p-values.

On a null data set every selector is judged against itself: two blocks of columns are
drawn alike (`Lookalike`), it selects from each, and neither choice can be better. The
null of a pair of selectors is made of those of the two.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.parallel import Runner, serial
from veridical._core.seeds import Purpose, generator_for
from veridical._core.table import Table
from veridical.comparison.calibration import check_calibrated, judge, rate
from veridical.comparison.engine import Design, run_data_set
from veridical.comparison.lookalike import Lookalike
from veridical.comparison.records import Calibration, MeasuredSize, Verdict
from veridical.comparison.significance import Geometry
from veridical.comparison.sizes import measured_size
from veridical.comparison.splits import Splits
from veridical.comparison.testing import apply_test

#: Null data sets drawn for ``calibrated=True``; a pair then has twice as many values.
N_DRAWS = 100


@dataclass(frozen=True)
class Question:
    """How differences are to be judged."""

    test: str
    alpha: float
    rope: float


@dataclass(frozen=True, eq=False)
class Nulls:
    """Every selector against itself on null data sets.

    Parameters
    ----------
    statistics, rejected : mapping of (method, classifier) to array (n_selectors, n)
        The test's statistic, and whether it rejected; the classifier "" stands for the
        mean of all.
    accuracy : mapping of method to float
        Mean accuracy.
    question : Question
        The test and its level.
    """

    statistics: Mapping[tuple[str, str], FloatArray]
    rejected: Mapping[tuple[str, str], FloatArray]
    accuracy: Mapping[str, float]
    question: Question

    def of(self, method: str, classifier: str, pair: tuple[int, int]) -> Calibration:
        """The null of a pair of selectors: that of both, taken together."""
        both = list(dict.fromkeys(pair))
        values = np.abs(self.statistics[method, classifier][both]).ravel()
        rejected = int(self.rejected[method, classifier][both].sum())
        words = (
            f"each selector against itself under {method.upper()}, on "
            f"{values.size // len(both)} pairs of data sets like these"
        )
        return Calibration(
            test=self.question.test,
            size=rate(rejected, values.size, self.question.alpha, words),
            statistics=np.sort(values),
            accuracy=self.accuracy[method],
        )


def count_draws(calibrated: bool | int, alpha: float, n_pairs: int = 1) -> int:
    """How many null data sets ``calibrated=`` asks for; 0 for none.

    A null of m values gives no p-value below 1 / (m + 1), so that many pairs, which
    have their p-values multiplied, need a long one.

    Parameters
    ----------
    calibrated : bool or int
        What the user asked for.
    alpha : float
        Significance level.
    n_pairs : int, default=1
        By how much the smallest p-value will be multiplied.
    """
    if calibrated is False or calibrated is None:
        return 0
    # Two values come from each null data set.
    least = max(20, math.floor((n_pairs / alpha - 1) / 2) + 1)
    if calibrated is True:
        return max(N_DRAWS, 2 * least)
    if not isinstance(calibrated, int) or calibrated < least:
        raise InputError(
            "calibrated must be True, False or a number of null data sets from "
            f"{least} up, got {calibrated!r}; with fewer nothing could be significant "
            "here."
        )
    return calibrated


def measure_nulls(
    design: Design,
    data: Table,
    splits: Splits,
    question: Question,
    root: int,
    n_draws: int,
    run: Runner,
) -> Nulls | None:
    """Judge every selector against itself on data sets like these, on the same splits.

    Parameters
    ----------
    design, data, splits : Design, Table, Splits
        Those of the comparison; TRUTH has no part in it.
    question : Question
        The test and its level.
    root : int
        Seed of the comparison.
    n_draws : int
        How many null data sets; with 0 there is nothing to do.
    run : callable
        Does the jobs.
    """
    if not n_draws:
        return None
    check_calibrated(question.test)
    source = Lookalike.of(data)
    alone = replace(
        design, rankers=tuple(ranker.on_one_thread() for ranker in design.rankers)
    )
    drawn = run(
        (_null_pair, (alone, data, splits, source, root, number))
        for number in range(n_draws)
    )
    names = ["", *(judge.name for judge in design.judges)]
    statistics, rejected, accuracy = {}, {}, {}
    for method in design.methods:
        # draw, block, selector, classifier, split
        values = np.stack([outcome[method] for outcome in drawn])
        accuracy[method] = float(values.mean())
        values = np.concatenate([values.mean(axis=3, keepdims=True), values], axis=3)
        for c, name in enumerate(names):
            found = _apply(values[:, :, :, c], splits.geometry, question)
            statistics[method, name], rejected[method, name] = found
    return Nulls(statistics, rejected, accuracy, question)


def _apply(
    values: FloatArray, geometry: Geometry, question: Question
) -> tuple[FloatArray, FloatArray]:
    """Statistics and rejections, (n_selectors, n_draws), of (draw, block, selector)."""
    n_draws, _, n_selectors = values.shape[:3]
    statistics = np.empty((n_selectors, n_draws))
    rejected = np.empty((n_selectors, n_draws))
    for s, b in product(range(n_selectors), range(n_draws)):
        one, other = values[b, :, s]
        result = apply_test(
            question.test, one, other, geometry, question.alpha, question.rope
        )
        statistics[s, b] = result.statistic
        rejected[s, b] = result.winner != "draw"
    return statistics, rejected


def _null_pair(
    design: Design,
    data: Table,
    splits: Splits,
    source: Lookalike,
    root: int,
    number: int,
) -> dict[str, FloatArray]:
    """Accuracies on two blocks drawn alike, per method.

    Of shape (2, n_selectors, n_classifiers, n_splits).
    """
    rng = generator_for(root, Purpose.NULL, number)
    outcomes = []
    for _ in range(2):
        drawn = source.draw(data.target.by_appearance, rng)
        features = replace(data.features, values=drawn)
        block = data.replace(features=features, source=None)
        columns: IntArray = rng.permutation(data.n_features)
        outcomes.append(run_data_set(design, block, splits, columns, serial).accuracy)
    return {m: np.stack([outcome[m] for outcome in outcomes]) for m in design.methods}


@dataclass(frozen=True, eq=False)
class Court:
    """Gives verdicts on the pairs of one comparison.

    Parameters
    ----------
    question : Question
        The test, its level, what counts as no difference.
    geometry : Geometry
        Of the splits.
    n_samples : int
        Cases in the data.
    nulls : Nulls or None
        Measured nulls, for calibrated verdicts.
    """

    question: Question
    geometry: Geometry
    n_samples: int
    nulls: Nulls | None = None

    def verdict(
        self,
        method: str,
        classifier: str,
        scores: FloatArray,
        pair: tuple[int, int] = (0, 1),
    ) -> Verdict:
        """Judge two rows of scores; the classifier "" stands for the mean of all."""
        a, b = scores.reshape(2, -1)
        null = self.nulls.of(method, classifier, pair) if self.nulls else None
        q = self.question
        result = judge(q.test, a, b, self.geometry, q.alpha, q.rope, null)
        size = null.size if null else self._size(method, classifier, scores)
        return Verdict.of(replace(result, size=size))

    def _size(
        self, method: str, classifier: str, scores: FloatArray
    ) -> MeasuredSize | None:
        return measured_size(
            self.question.test,
            method,
            self.geometry.shape,
            n_samples=self.n_samples,
            classifier=classifier,
            accuracy=float(scores.mean()),
            alpha=self.question.alpha,
        )

    def verdicts(
        self,
        accuracy: Mapping[str, FloatArray],
        classifiers: Sequence[str],
        pair: tuple[int, int] = (0, 1),
    ) -> tuple[dict[str, Verdict], dict[str, dict[str, Verdict]]]:
        """Judge a pair by every method, on the mean over classifiers and on each.

        Parameters
        ----------
        accuracy : mapping of method to array
            Of shape (n_selectors, n_classifiers, n_repeats, n_folds).
        classifiers : sequence of str
            Their names.
        pair : tuple of int
            Which two selectors.
        """
        rows = list(pair)
        only = classifiers[0] if len(classifiers) == 1 else ""
        overall = {
            method: self.verdict(method, only, values[rows].mean(axis=1), pair)
            for method, values in accuracy.items()
        }
        alone: dict[str, dict[str, Verdict]] = {name: {} for name in classifiers}
        for (c, name), (method, values) in product(
            enumerate(classifiers), accuracy.items()
        ):
            alone[name][method] = self.verdict(method, name, values[rows, c], pair)
        return overall, alone
