"""Relevance for survival times: score tests of Cox models, and concordance.

References
----------
.. [1] D. R. Cox, "Regression models and life-tables", JRSS-B 34 (1972).
.. [2] F. E. Harrell, R. M. Califf, D. B. Pryor, K. L. Lee & R. A. Rosati, "Evaluating
   the yield of medical tests", JAMA 247 (1982).
.. [3] R. Peto & J. Peto, "Asymptotically efficient rank invariant test procedures",
   JRSS-A 135 (1972).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.table import Table
from veridical._core.targets import Survival
from veridical.kernels.columns import map_blocks
from veridical.kernels.concordance import block_concordances, order_by_time
from veridical.kernels.cox import RiskSets, block_scores
from veridical.kernels.sorting import sort_rows
from veridical.kernels.trainsets import TrainSets


@dataclass(frozen=True)
class CoxRelevance:
    """χ² of the score test of a Cox model with one feature, with Efron's ties.

    NaN for a feature that does not vary among the samples at risk.
    """

    rtol: float = 1e-10
    atol: float = 1e-12

    def scores(self, data: Table, sets: TrainSets, n_threads: int) -> FloatArray:
        """Return χ², with one degree of freedom."""
        return score_chi_squares(*cox_scores(data, sets, n_threads))


def score_chi_squares(U: FloatArray, V: FloatArray) -> FloatArray:
    """Return U²/V, NaN where the variance is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(V > 0, U * (U / V), np.nan)


def cox_scores(
    data: Table, sets: TrainSets, n_threads: int
) -> tuple[FloatArray, FloatArray]:
    """Compute the scores at coefficient 0 and their variances, each (S, p).

    Features whose squares would overflow are scaled, both results with them.
    """
    target = data.as_survival
    tables = []
    for s in range(len(sets)):
        risk_sets = RiskSets.build(
            target.time, target.event, sets.counts[s], _copies(sets, s), data.strata
        )
        tables.append(risk_sets.to_table(risk_sets.hazards(risk_sets.weight)))
    U, V = np.empty((2, len(sets), data.values.shape[1]))

    def work(lo: int, hi: int, block: FloatArray) -> None:
        for s, table in enumerate(tables):
            block_scores(block, table, U[s, lo:hi], V[s, lo:hi])

    map_blocks(work, data.values, n_threads)
    return U, V


def cox_relevance(data: Table, sets: TrainSets, n_threads: int) -> FloatArray:
    """Return χ² of the score tests, 0 where a feature does not vary at risk."""
    return np.nan_to_num(CoxRelevance().scores(data, sets, n_threads), nan=0.0)


def _copies(sets: TrainSets, s: int) -> IntArray:
    """Return for how many tied events each sample of a training set counts.

    Whole weights count samples; with other weights a sample is one event.
    """
    counts = sets.counts[s]
    if sets.weights is not None:
        rows = sets.indices[s]
        weights = sets.weights[rows]
        if (weights != np.rint(weights)).any():
            return np.bincount(rows, minlength=counts.size)
    return counts.astype(np.intp)


def event_weights(data: Table, sets: TrainSets) -> FloatArray:
    """Return the weight of all events in each training set, shape (S, 1)."""
    return sets.counts[:, data.as_survival.event].sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class ConcordanceRelevance:
    """Harrell's concordance of each feature, the larger of C and 1 − C."""

    rtol: float = 0.0
    atol: float = 1e-12

    def scores(self, data: Table, sets: TrainSets, n_threads: int) -> FloatArray:
        """Return values between ½ and 1."""
        C = concordances(data, sets, n_threads)
        return 0.5 + np.abs(C - 0.5)


def concordances(data: Table, sets: TrainSets, n_threads: int) -> FloatArray:
    """Compute the concordance of large values with early events, shape (S, p)."""
    target = data.as_survival
    orders = [order_by_time(target.time, target.event, one) for one in sets.counts]
    C = np.empty((len(sets), data.values.shape[1]))

    def work(lo: int, hi: int, block: FloatArray) -> None:
        order = sort_rows(block)
        for s, times in enumerate(orders):
            block_concordances(block, order, *times, C[s, lo:hi])

    map_blocks(work, data.values, n_threads)
    return C


def expected_quantiles(target: Survival, counts: FloatArray) -> FloatArray:
    """Return the expected quantile of each sample's time, between 0 and 1.

    An event at a time t lies in the middle of the step of the Kaplan–Meier curve there;
    a censored time could lie anywhere beyond, and has the mean of these quantiles
    [3]_. Without censoring and ties it is ``(rank − ½) / n``.

    Parameters
    ----------
    target : Survival
        Times and events.
    counts : array of shape (n_samples,)
        How often each sample counts; those that count 0 have no effect.
    """
    times, place = np.unique(target.time, return_inverse=True)
    died = np.bincount(place, counts * target.event, minlength=times.size)
    left = np.bincount(place, counts, minlength=times.size)
    at_risk = np.cumsum(left[::-1])[::-1]
    share = np.ones(times.size)
    np.divide(at_risk - died, at_risk, out=share, where=at_risk > 0)
    after = np.cumprod(share)
    before = np.concatenate([[1.0], after[:-1]])
    survival = after[place]
    return 1.0 - 0.5 * np.where(target.event, before[place] + survival, survival)
