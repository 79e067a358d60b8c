"""From the accuracies of a pair to a verdict, with the size of its test.

The size of a test is how often it rejects where neither side is better. It is looked up
in the table of measured sizes or, on request, measured on data sets like the data of
the user, which also gives calibrated p-values.

On a null data set every selector is compared with itself: two blocks of features are
drawn from the same distribution (`SimulatedSource`), it selects from each, and neither
selection can be better. The null distribution of a pair of selectors joins those of the
two.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.parallel import Runner, serial
from veridical._core.scoring import ACCURACY, ScoreInfo
from veridical._core.seeds import Purpose, as_generator, stream
from veridical._core.table import Table
from veridical.comparison.calibration import (
    check_calibrated,
    extremeness,
    measure_rate,
    run_test,
)
from veridical.comparison.design import Design, run_data_set
from veridical.comparison.paired import PairTest
from veridical.comparison.records import Calibration, MeasuredSize, PairVerdict, Verdict
from veridical.comparison.significance import Geometry
from veridical.comparison.simulation import SimulatedSource
from veridical.comparison.sizes import measured_size, structured_size
from veridical.comparison.splits import Splits
from veridical.comparison.testing import apply_test
from veridical.evaluation.situations import HEAVY_TAILS, Situation
from veridical.evaluation.structured import Structure, find_rows

#: Number of null data sets for ``calibrated=True``; a pair has twice as many values.
N_DRAWS = 100


@dataclass(frozen=True)
class SignificanceTest:
    """A test by name, its level, and the region of practical equivalence."""

    name: str
    alpha: float
    rope: float


@dataclass(frozen=True, eq=False)
class Nulls:
    """Every selector against itself on null data sets.

    Parameters
    ----------
    statistics, rejected : mapping of (method, estimator) to array (n_selectors, n)
        The absolute value of the test's statistic, and whether it rejected; the
        estimator "" stands for the mean of all.
    accuracy : mapping of method to float
        Mean accuracy.
    test : SignificanceTest
        The test and its level.
    """

    statistics: Mapping[tuple[str, str], FloatArray]
    rejected: Mapping[tuple[str, str], FloatArray]
    accuracy: Mapping[str, float]
    test: SignificanceTest

    def join_pair(
        self, method: str, estimator: str, pair: tuple[int, int]
    ) -> Calibration:
        """Join the nulls of a pair of selectors."""
        both = list(dict.fromkeys(pair))
        values = self.statistics[method, estimator][both].ravel()
        rejected = int(self.rejected[method, estimator][both].sum())
        words = (
            f"each selector against itself under {method.upper()}, on "
            f"{values.size // len(both)} pairs of data sets like these"
        )
        return Calibration(
            test=self.test.name,
            size=measure_rate(rejected, values.size, self.test.alpha, words),
            statistics=np.sort(values),
            accuracy=self.accuracy[method],
        )


def count_draws(calibrated: bool | int, alpha: float, n_pairs: int = 1) -> int:
    """Return the number of null data sets for ``calibrated=``; 0 for none.

    A null of m values gives no p-value below 1 / (m + 1). With many pairs p-values are
    multiplied, and more values are needed.

    Parameters
    ----------
    calibrated : bool or int
        What the user asked for.
    alpha : float
        Significance level.
    n_pairs : int, default=1
        Factor of the smallest p-value.
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
    test: SignificanceTest,
    root: int,
    n_draws: int,
    run: Runner,
) -> Nulls | None:
    """Test every selector against itself on data sets like these, on the same splits.

    Parameters
    ----------
    design, data, splits : Design, Table, Splits
        Those of the comparison; TRUTH is not used.
    test : SignificanceTest
        The test and its level.
    root : int
        Seed of the comparison.
    n_draws : int
        Number of null data sets; with 0 the result is None.
    run : callable
        Runs the jobs.
    """
    if not n_draws:
        return None
    check_calibrated(test.name)
    source = SimulatedSource.from_table(data)
    drawn = run(
        (null_pair, (design, data, splits, source, root, number))
        for number in range(n_draws)
    )
    names = ["", *(one.name for one in design.estimators)]
    statistics, rejected, accuracy = {}, {}, {}
    for method in design.methods:
        # draw, block, selector, estimator, split
        values = np.stack([outcome[method] for outcome in drawn])
        accuracy[method] = float(values.mean())
        values = np.concatenate([values.mean(axis=3, keepdims=True), values], axis=3)
        for c, name in enumerate(names):
            found = _apply(values[:, :, :, c], splits.geometry, test)
            statistics[method, name], rejected[method, name] = found
    return Nulls(statistics, rejected, accuracy, test)


def _apply(
    values: FloatArray, geometry: Geometry, test: SignificanceTest
) -> tuple[FloatArray, FloatArray]:
    """Return statistics and rejections, (n_selectors, n_draws) each."""
    n_draws, _, n_selectors = values.shape[:3]
    statistics = np.empty((n_selectors, n_draws))
    rejected = np.empty((n_selectors, n_draws))
    for s, b in product(range(n_selectors), range(n_draws)):
        one, other = values[b, :, s]
        result = apply_test(test.name, one, other, geometry, test.alpha, test.rope)
        statistics[s, b] = extremeness(result)
        rejected[s, b] = result.winner != "draw"
    return statistics, rejected


def null_pair(
    design: Design,
    data: Table,
    splits: Splits,
    source: SimulatedSource,
    root: int,
    number: int,
) -> dict[str, FloatArray]:
    """Compute accuracies on two blocks from the same distribution, per method.

    Of shape (2, n_selectors, n_estimators, n_splits).
    """
    rng = as_generator(stream(root, Purpose.NULL, number))
    rows = np.arange(data.n_samples)
    outcomes = []
    for _ in range(2):
        drawn = source.draw(rows, rng, data.groups)
        features = replace(data.features, stored=drawn)
        block = data.replace(features=features, source=None)
        columns: IntArray = rng.permutation(data.n_features)
        outcomes.append(run_data_set(design, block, splits, columns, serial).leading)
    return {m: np.stack([outcome[m] for outcome in outcomes]) for m in design.methods}


@dataclass(frozen=True, eq=False)
class PairTester:
    """Tests the pairs of selectors of one comparison.

    Parameters
    ----------
    test : SignificanceTest
        The test, its level and its region of equivalence.
    geometry : Geometry
        Of the splits.
    situation : Situation
        Samples, features and classes, on which the size of the test depends.
    nulls : Nulls or None
        Measured nulls, for calibrated verdicts.
    scoring : ScoreInfo
        What is compared.
    structure : Structure, optional
        The table, where other scores than accuracy are compared, or where there are
        groups; sizes of tests were measured apart for these.
    further : PairTest, optional
        The test, where it needs more than the scores of the splits.
    tails : float, default=nan
        How heavy the tails of the features are; beyond `HEAVY_TAILS` no measured design
        is near.
    """

    test: SignificanceTest
    geometry: Geometry
    situation: Situation
    nulls: Nulls | None = None
    scoring: ScoreInfo = ACCURACY
    structure: Structure | None = None
    tails: float = math.nan
    further: PairTest | None = None
    estimators: tuple[str, ...] = ()

    def verdict(
        self,
        method: str,
        estimator: str,
        scores: FloatArray,
        pair: tuple[int, int] = (0, 1),
    ) -> Verdict:
        """Test two rows of scores; the estimator "" stands for the mean of all."""
        a, b = scores.reshape(2, -1)
        null = self.nulls.join_pair(method, estimator, pair) if self.nulls else None
        test = self.test
        if self.further is not None:
            own = self.estimators.index(estimator) if estimator else None
            both = np.stack([a, b])
            return Verdict.from_test(
                self.further.test(both, method, own, pair, test.alpha)
            )
        result = run_test(
            test.name, a, b, self.geometry, test.alpha, test.rope, null, self.scoring
        )
        size = null.size if null else self.size(test.name, method, estimator, scores)
        return Verdict.from_test(replace(result, size=size))

    def size(
        self,
        test: str,
        method: str,
        estimator: str,
        scores: FloatArray,
        n_selectors: int = 2,
    ) -> MeasuredSize | None:
        """Look up how often a test rejects in designs like this one."""
        if self.structure is not None:
            place = self.structure._replace(
                estimator=estimator, value=float(scores.mean())
            )
            return self._structured_size(test, method, place, n_selectors)
        if not self.scoring.is_accuracy:
            return None
        return measured_size(
            test,
            method,
            self.geometry.shape,
            self.situation._replace(estimator=estimator, accuracy=float(scores.mean())),
            alpha=self.test.alpha,
            n_selectors=n_selectors,
            tails=self.tails,
        )

    def _structured_size(
        self, test: str, method: str, place: Structure, n_selectors: int
    ) -> MeasuredSize | None:
        """Look up the size for this score and these groups; None if not measured."""
        n_repeats, n_folds = self.geometry.shape or (0, 0)
        alpha = self.test.alpha
        measured = test == "corrected-t" and method == "in" and n_selectors == 2
        if not measured or n_repeats != 1 or self.tails > HEAVY_TAILS:
            return None
        return structured_size(find_rows(n_folds, place), alpha, ", under IN")

    def pairs(
        self,
        accuracy: Mapping[str, FloatArray],
        estimator: str,
        names: Sequence[str],
        correction: str,
    ) -> dict[str, tuple[PairVerdict, ...]]:
        """Test every pair by every method, with p-values adjusted for all pairs.

        Parameters
        ----------
        accuracy : mapping of method to array
            Of shape (n_selectors, n_repeats, n_folds).
        estimator : str
            Estimator of the accuracies; "" stands for the mean of several.
        names : sequence of str
            Display names of the selectors.
        correction : {"holm", "bonferroni", "none"}
            See `adjust`.
        """
        places = list(combinations(range(len(names)), 2))
        return {
            method: pair_verdicts(
                [
                    self.verdict(method, estimator, values[list(pair)], pair)
                    for pair in places
                ],
                names,
                correction,
            )
            for method, values in accuracy.items()
        }


def pair_verdicts(
    verdicts: Sequence[Verdict], names: Sequence[str], correction: str
) -> tuple[PairVerdict, ...]:
    """Adjust the verdicts of all pairs for their number.

    Parameters
    ----------
    verdicts : sequence of Verdict
        One per pair, in the order of ``itertools.combinations``.
    names : sequence of str
        Display names of the selectors.
    correction : {"holm", "bonferroni", "none"}
        See `adjust`.
    """
    adjusted = adjust(np.array([verdict.pvalue for verdict in verdicts]), correction)
    found = []
    for (first, second), verdict, pvalue in zip(
        combinations(names, 2), verdicts, adjusted, strict=True
    ):
        winner = replace(verdict.test, pvalue=float(pvalue)).winner
        better = {"a": first, "b": second, "draw": None}[winner]
        found.append(PairVerdict(first, second, better, float(pvalue), verdict))
    return tuple(found)


def adjust(pvalues: FloatArray, correction: str) -> FloatArray:
    """Adjust p-values for their number.

    Parameters
    ----------
    pvalues : array of shape (n,)
        One per pair.
    correction : {"holm", "bonferroni", "none"}
        Holm's step-down procedure rejects at least as much as Bonferroni's.

    Examples
    --------
    >>> adjust(np.array([0.01, 0.04, 0.03]), "holm").tolist()
    [0.03, 0.06, 0.06]
    """
    n = pvalues.size
    if correction == "none":
        return pvalues.copy()
    if correction == "bonferroni":
        return np.minimum(1.0, n * pvalues)
    order = np.argsort(pvalues, kind="stable")
    stepped = np.maximum.accumulate(pvalues[order] * (n - np.arange(n)))
    result = np.empty(n)
    result[order] = np.minimum(1.0, stepped)
    return result
