"""Correct the score of the best of many candidates, from their predictions alone.

The best of many cross-validated scores is too good: the candidate was chosen because
its score is high. Bootstrap bias-corrected cross-validation (BBC) repeats the choice.
Every draw of samples with replacement chooses a winner, which is scored on the samples
that were not drawn.

======  ==========================================================  ============
symbol  meaning                                                     shape
======  ==========================================================  ============
n       samples that were tested
C       candidates
B       bootstrap draws
w       how often each sample was drawn; 0: it is outside           (B, n)
drawn   score of every candidate on the drawn samples               (B, C)
c*      the winner of a draw: the best on the drawn samples         (B,)
======  ==========================================================  ============

All scores are "greater is better" here; a loss comes with the opposite sign. A score is
computed from the samples of all folds together (pooled). In repeated cross-validation
the same samples are drawn in every repeat, and the score is the mean over repeats.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from veridical._core.arrays import BoolArray, FloatArray, IntArray
from veridical._core.errors import InputError
from veridical.evaluation.intervals import vary
from veridical.kernels.statistics import wilson_bounds

#: Numbers in the weights handled at a time; more draws make a new batch.
_WEIGHTS_AT_A_TIME = 1 << 22
#: Relative difference of two scores; below it they are equal up to rounding.
_EQUAL_WITHIN = 1e-12


class RowScores(Protocol):
    """Scores of candidates on any samples, each with its multiplicity."""

    @property
    def n_candidates(self) -> int:
        """Number of candidates."""
        ...

    def score(self, weights: FloatArray, candidates: Sequence[int]) -> FloatArray:
        """Score some candidates, (n_draws, n_candidates), on weights (n_draws, n).

        NaN where the score is not defined on the samples.
        """
        ...


@dataclass(frozen=True, eq=False)
class MeanScores:
    """Scores that are means over samples, or means of such means over classes.

    Parameters
    ----------
    values : array of shape (n, n_candidates)
        What each sample contributes; the mean over repeats.
    parts : bool array of shape (n_parts, n)
        The samples of each mean: all samples for accuracy, those of every class for
        balanced accuracy, those of the positive class for sensitivity.
    """

    values: FloatArray
    parts: BoolArray

    @property
    def n_candidates(self) -> int:
        """Number of candidates."""
        return self.values.shape[1]

    def score(self, weights: FloatArray, candidates: Sequence[int]) -> FloatArray:
        """Compute weighted means."""
        values = self.values[:, list(candidates)]
        result = np.zeros((len(weights), values.shape[1]))
        n_there = np.zeros(len(weights))
        for part in self.parts:
            own = weights[:, part]
            total = own.sum(axis=1)
            there = total > 0
            mean = own[there] @ values[part] / total[there, np.newaxis]
            result[there] += mean
            n_there += there
        with np.errstate(invalid="ignore"):
            # A class that was not drawn does not count, as in balanced accuracy.
            return result / n_there[:, np.newaxis]


@dataclass(frozen=True, eq=False)
class WeightedScores:
    """Other scores of samples that have weights: weight 3 counts as three samples.

    Parameters
    ----------
    scores : RowScores
        The scores of samples that count once.
    weights : array of shape (n,)
        How often each counts.
    """

    scores: RowScores
    weights: FloatArray

    @property
    def n_candidates(self) -> int:
        """Number of candidates."""
        return self.scores.n_candidates

    def score(self, weights: FloatArray, candidates: Sequence[int]) -> FloatArray:
        """Score with multiplicities times weights."""
        return self.scores.score(weights * self.weights, candidates)


@dataclass(frozen=True, eq=False)
class AreaScores:
    """The area under the ROC curve.

    Parameters
    ----------
    positive : bool array of shape (n,)
        Samples of the positive class.
    values : array of shape (n_repeats, n_candidates, n)
        The greater, the more likely positive.
    """

    positive: BoolArray
    values: FloatArray

    @property
    def n_candidates(self) -> int:
        """Number of candidates."""
        return self.values.shape[1]

    def score(self, weights: FloatArray, candidates: Sequence[int]) -> FloatArray:
        """Compute the share of pairs in which the positive sample is above."""
        n_pairs = weights[:, self.positive].sum(axis=1)
        n_pairs = n_pairs * weights[:, ~self.positive].sum(axis=1)
        areas = np.zeros((len(weights), len(candidates)))
        for layer in self.values:
            for place, c in enumerate(candidates):
                areas[:, place] += self._pairs_above(weights, layer[c])
        with np.errstate(invalid="ignore", divide="ignore"):
            return areas / (n_pairs[:, np.newaxis] * len(self.values))

    def _pairs_above(self, weights: FloatArray, values: FloatArray) -> FloatArray:
        """Count the pairs by their weights; equal values count one half."""
        order = np.argsort(values, kind="stable")
        ranked, positive = values[order], self.positive[order]
        negative = np.where(positive, 0.0, weights[:, order])
        below = np.zeros((len(weights), len(order) + 1))
        np.cumsum(negative, axis=1, out=below[:, 1:])
        first = np.searchsorted(ranked, ranked[positive], "left")
        last = np.searchsorted(ranked, ranked[positive], "right")
        own = weights[:, order[positive]]
        counted = own * (below[:, first] + below[:, last])
        return np.asarray(counted.sum(axis=1) / 2)


@dataclass(frozen=True, eq=False)
class PairScores:
    """Scores that are shares of pairs of samples, such as Harrell's concordance.

    Parameters
    ----------
    comparable : bool array of shape (n, n)
        Whether the event of the first sample of a pair is known to come before that of
        the second.
    risks : array of shape (n_repeats, n_candidates, n)
        The greater, the sooner the event is expected.
    """

    comparable: BoolArray
    risks: FloatArray

    @property
    def n_candidates(self) -> int:
        """Number of candidates."""
        return self.risks.shape[1]

    def score(self, weights: FloatArray, candidates: Sequence[int]) -> FloatArray:
        """Compute the share of pairs in order; equal risks count one half."""
        n_pairs = _weigh_pairs(weights, self.comparable.astype(np.float64))
        result = np.zeros((len(weights), len(candidates)))
        for layer in self.risks:
            for place, c in enumerate(candidates):
                gap = layer[c][:, np.newaxis] - layer[c]
                ordered = np.where(self.comparable, (np.sign(gap) + 1) / 2, 0.0)
                result[:, place] += _weigh_pairs(weights, ordered)
        with np.errstate(invalid="ignore", divide="ignore"):
            return result / (n_pairs[:, np.newaxis] * len(self.risks))


def _weigh_pairs(weights: FloatArray, pairs: FloatArray) -> FloatArray:
    return np.asarray(((weights @ pairs) * weights).sum(axis=1))


@dataclass(frozen=True, eq=False)
class ExplainedScores:
    """The coefficient of determination: 1 − squared error / variance.

    Parameters
    ----------
    y : array of shape (n,)
        The true numbers.
    errors : array of shape (n, n_candidates)
        Squared errors; the mean over repeats.
    """

    y: FloatArray
    errors: FloatArray

    @property
    def n_candidates(self) -> int:
        """Number of candidates."""
        return self.errors.shape[1]

    def score(self, weights: FloatArray, candidates: Sequence[int]) -> FloatArray:
        """Compute R²; NaN where all numbers are the same."""
        with np.errstate(invalid="ignore", divide="ignore"):
            total = weights.sum(axis=1)
            mean = weights @ self.y / total
            spread = (weights * (self.y - mean[:, np.newaxis]) ** 2).sum(axis=1)
            left = weights @ self.errors[:, list(candidates)]
            found = 1 - left / spread[:, np.newaxis]
        found[spread <= 0] = np.nan
        return np.asarray(found)


@dataclass(frozen=True, eq=False)
class AnyScores:
    """Any score, computed for one candidate and one draw at a time.

    Parameters
    ----------
    n_candidates : int
        Number of candidates.
    compute : callable
        ``compute(candidate, samples)`` scores a candidate on samples, repeats counted;
        NaN where the score is not defined there.
    """

    n_candidates: int
    compute: Callable[[int, IntArray], float]

    def score(self, weights: FloatArray, candidates: Sequence[int]) -> FloatArray:
        """Compute scores one by one."""
        result = np.empty((len(weights), len(candidates)))
        samples = np.arange(weights.shape[1])
        for b, own in enumerate(weights):
            rows = np.repeat(samples, own.astype(np.intp))
            for place, c in enumerate(candidates):
                result[b, place] = self.compute(c, rows) if len(rows) else np.nan
        return result


@dataclass(frozen=True, eq=False)
class PartScores:
    """The mean of the scores of parts of the samples, each of one candidate.

    Parameters
    ----------
    parts : tuple of RowScores
        The score of every part.
    columns : tuple of int arrays
        The samples of every part.
    """

    parts: tuple[RowScores, ...]
    columns: tuple[IntArray, ...]

    @property
    def n_candidates(self) -> int:
        """Number of candidates."""
        return 1

    def score_parts(self, weights: FloatArray, candidates: Sequence[int]) -> FloatArray:
        """Compute the score of every part, (n_parts, n_draws, n_candidates)."""
        return np.stack(
            [
                part.score(weights[:, columns], candidates)
                for part, columns in zip(self.parts, self.columns, strict=True)
            ]
        )

    def score(self, weights: FloatArray, candidates: Sequence[int]) -> FloatArray:
        """Average the parts that have a score; NaN where none has."""
        found = self.score_parts(weights, candidates)
        there = ~np.isnan(found)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(there, found, 0.0).sum(0) / there.sum(0))


@dataclass(frozen=True, eq=False)
class Resampled:
    """What the bootstrap of a choice found; see `bootstrap_choice`.

    Parameters
    ----------
    naive : array of shape (n_candidates,)
        Score of every candidate on all samples.
    drawn : array of shape (n_draws, n_candidates)
        Score of every candidate on the drawn samples.
    winners : int array of shape (n_draws,)
        The winner of every draw.
    outside : array of shape (n_draws,)
        Score of the winner on the samples that were not drawn.
    """

    naive: FloatArray
    drawn: FloatArray
    winners: IntArray
    outside: FloatArray

    @property
    def best(self) -> int:
        """The best candidate on all samples."""
        return int(first_best(self.naive[np.newaxis])[0])

    @property
    def estimate(self) -> float:
        """The corrected score: the mean score of the winners outside their draws."""
        return float(self.outside.mean())

    @property
    def standard_errors(self) -> FloatArray:
        """Standard error of the score of every candidate, over the draws."""
        return np.asarray(self.drawn.std(axis=0, ddof=1))

    @property
    def wins(self) -> FloatArray:
        """Share of the draws that every candidate won."""
        counts = np.bincount(self.winners, minlength=len(self.naive))
        return np.asarray(counts / len(self.winners))

    def pvalues(self) -> FloatArray:
        """Compute p-values of the hypothesis that a candidate is the best of all.

        The gap of a candidate to the best is compared with the largest gap that the
        draws give where every candidate has the same score, so that looking for the
        best of many is accounted for (multiple comparisons with the best, Hsu 1996).
        """
        noise = self.drawn - self.naive
        gaps = self.naive[self.best] - self.naive
        largest = noise.max(axis=1, keepdims=True) - noise
        slack = _EQUAL_WITHIN * max(1.0, float(np.abs(self.naive).max()))
        beyond = np.count_nonzero(largest >= gaps - slack, axis=0)
        return np.asarray((1 + beyond) / (1 + len(self.drawn)))

    @property
    def standard_error(self) -> float:
        """Standard error of the score of one candidate, averaged over the winners."""
        return float(math.sqrt(self.wins @ self.standard_errors**2))


def inflate_for_shared_training(n_samples: float, n_train: float) -> float:
    """Return the factor from the error of independent predictions to that of folds.

    Models of different folds share training samples, so that their errors are
    correlated. Nadeau and Bengio [1]_ put this correlation at the share of the samples
    that are tested: over K folds the variance of the mean is ``1/K + n_test/n_train``
    times that of a fold instead of ``1/K``, which is ``1 + n_samples/n_train`` times as
    large.

    Parameters
    ----------
    n_samples, n_train : float
        Number of samples, and the mean number that a model was trained on.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine
       Learning 52, 2003.

    Examples
    --------
    >>> round(inflate_for_shared_training(100, 90), 2)  # ten folds
    1.45
    """
    return math.sqrt(1.0 + n_samples / n_train)


@dataclass(frozen=True, eq=False)
class CorrectedInterval:
    """The interval of a corrected score.

    "percentile" are the percentiles of the scores of the winners outside their draws,
    and never narrower than "sampling". "sampling" is centred at the corrected score and
    has the sampling error of the score, times `shared`. Where a score has bounds, its
    error depends on the distance from them. Between two bounds it is Wilson's interval
    with as many samples as give this standard error; below or above one bound, as R²
    and losses are, the logarithm of the distance from it has a symmetric interval.

    Parameters
    ----------
    value : float
        The corrected score.
    standard_error : float
        Of a score, by the bootstrap of predictions.
    n_units : int
        Number of samples or groups that are drawn.
    low, high : float
        The range of the score; infinite without a bound.
    draws : array of shape (n_draws,)
        Scores of the winners outside their draws.
    at : float
        The score of which the standard error was found.
    shared : float
        Factor of the standard error, from `inflate_for_shared_training`.
    n_spread : int, optional
        Number of scores whose spread gave the standard error; by default the units.
    """

    value: float
    standard_error: float
    n_units: int
    low: float
    high: float
    draws: FloatArray
    at: float
    shared: float
    n_spread: int | None = None

    def interval(
        self, confidence: float = 0.95, kind: str = "percentile"
    ) -> tuple[float, float]:
        """Compute the interval; see `Choice.interval`."""
        if not (isinstance(confidence, float) and 0 < confidence < 1):
            raise InputError(
                f"confidence={confidence!r} must be a number between 0 and 1, such as "
                "0.95."
            )
        if kind not in ("sampling", "percentile"):
            raise InputError(
                f"kind={kind!r} is no interval of a corrected score; use 'sampling' or "
                "'percentile'."
            )
        n_spread = self.n_units if self.n_spread is None else self.n_spread
        t = float(stats.t.ppf((1 + confidence) / 2, max(n_spread - 1, 1)))
        low, high = self._sampling(t)
        if kind == "percentile":
            tail = (1 - confidence) / 2
            first, last = np.quantile(self.draws, [tail, 1 - tail])
            low, high = min(low, float(first)), max(high, float(last))
        return low, high

    def at_least(self, standard_error: float, at: float) -> CorrectedInterval:
        """Return the interval with another standard error, if that one is larger.

        Parameters
        ----------
        standard_error, at : float
            Of another score, and this score. The errors are compared relative to the
            distances of the scores from the bounds.
        """
        other = replace(self, standard_error=standard_error, at=at)
        return other if other._relative_error() > self._relative_error() else self

    def for_scores_of_folds(
        self, value: float, scores: FloatArray, test_share: float
    ) -> CorrectedInterval:
        """Return the interval of the mean of the scores of folds.

        Its "sampling" error is that of the corrected t interval (`corrected_t`), whose
        degrees of freedom are those of the folds. A bootstrap of the few samples of
        each fold would give too large an error: samples that are drawn twice make equal
        pairs. Without a spread of the scores the standard error stays.

        Parameters
        ----------
        value : float
            The mean.
        scores : array of shape (n_folds,)
            The score of every fold; NaN where it has none.
        test_share : float
            Size of a test set over the size of a training set.
        """
        known = scores[~np.isnan(scores)]
        if not vary(known):
            return replace(self, value=value)
        spread = known.std(ddof=1) * math.sqrt(1 / len(known) + test_share)
        error = float(spread) / self.shared
        return replace(
            self, value=value, standard_error=error, at=value, n_spread=len(known)
        )

    def flipped(self) -> CorrectedInterval:
        """Return the interval of a loss, whose scores came with the opposite sign."""
        return replace(
            self,
            value=-self.value,
            low=-self.high,
            high=-self.low,
            draws=-self.draws,
            at=-self.at,
        )

    @property
    def _distances(self) -> list[float]:
        """Distances of the corrected score from its bounds."""
        return self._distances_of(self.value)

    def _distances_of(self, value: float) -> list[float]:
        ends = value - self.low, self.high - value
        return [max(end, 0.0) for end in ends if math.isfinite(end)]

    def _relative_error(self) -> float:
        """Return the standard error in units that do not depend on the score.

        0 where it is not known: at a bound all predictions are the same.
        """
        distances = self._distances_of(self.at)
        unit = math.sqrt(math.prod(distances)) if len(distances) == 2 else 1.0
        unit = distances[0] if len(distances) == 1 else unit
        return self.standard_error / unit if unit > 0 else 0.0

    def _sampling(self, t: float) -> tuple[float, float]:
        error, distances = self.shared * self._relative_error(), self._distances
        if len(distances) == 2:
            n_effective = self.n_units / self.shared**2
            if error > 0:
                n_effective = 1.0 / error**2
            width = self.high - self.low
            share = (self.value - self.low) / width
            low, high = wilson_bounds(share, n_effective, t)
            return self.low + low * width, self.low + high * width
        if len(distances) == 1 and distances[0] > 0:
            near, far = (distances[0] * math.exp(sign * t * error) for sign in (-1, 1))
            if math.isfinite(self.high):
                return self.high - far, self.high - near
            return self.low + near, self.low + far
        reach = t * self.shared * self.standard_error
        return max(self.value - reach, self.low), min(self.value + reach, self.high)


def first_best(scores: FloatArray) -> IntArray:
    """Return the first of the best candidates of every draw, up to rounding.

    Parameters
    ----------
    scores : array of shape (n_draws, n_candidates)
        NaN is worse than any score.
    """
    known = np.where(np.isnan(scores), -np.inf, scores)
    most = known.max(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        slack = _EQUAL_WITHIN * np.maximum(1.0, np.abs(most))
        return np.argmax(known >= most - slack, axis=1)


def bootstrap_choice(
    scores: RowScores,
    units: IntArray,
    n_draws: int,
    rng: np.random.Generator,
) -> Resampled:
    """Choose the best candidate in bootstrap draws, and score it on the other samples.

    Parameters
    ----------
    scores : RowScores
        Scores of all candidates on any samples.
    units : int array of shape (n,)
        The unit of every sample, from 0 up: what is drawn, a sample or a whole group.
    n_draws : int
        Number of draws.
    rng : Generator
        Random number generator.

    Returns
    -------
    Resampled
        Draws on which no score is defined, or which leave no samples to score the
        winner on, are drawn again.

    References
    ----------
    .. [1] I. Tsamardinos, E. Greasidou and G. Borboudakis, "Bootstrapping the
       out-of-sample predictions for efficient and accurate cross-validation", Machine
       Learning 107, 2018.
    """
    everyone = range(scores.n_candidates)
    naive = scores.score(np.ones((1, len(units))), everyone)[0]
    batch = max(1, _WEIGHTS_AT_A_TIME // (len(units) + scores.n_candidates))
    drawn: list[FloatArray] = []
    winners: list[IntArray] = []
    outside: list[FloatArray] = []
    left, tries = n_draws, 0
    while left > 0:
        weights = draw_weights(units, min(left, batch), rng)
        found = scores.score(weights, everyone)
        chosen = first_best(found)
        others = _score_winners(scores, (weights == 0).astype(np.float64), chosen)
        able = ~np.isnan(others) & ~np.isnan(found).all(axis=1)
        drawn.append(found[able])
        winners.append(chosen[able])
        outside.append(others[able])
        left -= int(np.count_nonzero(able))
        tries += len(weights)
        if tries > 20 * n_draws:  # nearly no draw has a score: use those that have
            break
    return Resampled(
        naive, np.concatenate(drawn), np.concatenate(winners), np.concatenate(outside)
    )


def _score_winners(
    scores: RowScores, weights: FloatArray, winners: IntArray
) -> FloatArray:
    result = np.empty(len(winners))
    for c in np.unique(winners).tolist():
        own = winners == c
        result[own] = scores.score(weights[own], [c])[:, 0]
    return result


def draw_weights(units: IntArray, n_draws: int, rng: np.random.Generator) -> FloatArray:
    """Draw units with replacement, as many as there are; count each sample.

    Returns
    -------
    array of shape (n_draws, n)
        Multiplicity of every sample.
    """
    n_units = int(units.max()) + 1
    chosen = rng.integers(n_units, size=(n_draws, n_units))
    cells = chosen + n_units * np.arange(n_draws)[:, np.newaxis]
    counts = np.bincount(cells.ravel(), minlength=n_draws * n_units)
    return counts.reshape(n_draws, n_units)[:, units].astype(np.float64)


def find_hopeless(
    scores: RowScores,
    units: IntArray,
    error: float,
    n_draws: int,
    rng: np.random.Generator,
) -> NDArray[np.bool_]:
    """Find candidates that are not the best, as far as the bootstrap tells.

    This is the dropping of BBCD: after each fold, on the samples tested so far. The
    published rule drops a candidate that is worse than the best one in 99 % of the
    draws. On few samples, though, the best of many candidates is best by chance, and
    over all folds that rule often drops the candidate that is truly the best. Here its
    chance of being dropped is at most `error`: the p-value is that of
    `Resampled.pvalues`, which accounts for looking for the best of many.

    Parameters
    ----------
    scores, units, n_draws, rng
        As in `bootstrap_choice`, of the samples tested so far.
    error : float
        Largest p-value of a candidate to drop; no fewer draws than its inverse.

    Returns
    -------
    bool array of shape (n_candidates,)
        Candidates to drop; never the best one.
    """
    everyone = range(scores.n_candidates)
    naive = scores.score(np.ones((1, len(units))), everyone)[0]
    drawn = scores.score(draw_weights(units, n_draws, rng), everyone)
    drawn = drawn[~np.isnan(drawn).any(axis=1)]
    if not len(drawn) or np.isnan(naive).any():
        return np.zeros(scores.n_candidates, dtype=np.bool_)
    found = Resampled(naive, drawn, first_best(drawn), np.zeros(0))
    hopeless = found.pvalues() <= error
    hopeless[found.best] = False
    return hopeless
