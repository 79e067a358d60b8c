"""Partial likelihood of Cox's proportional hazards, with Efron's averaging of ties.

Samples are sorted from the longest time to the shortest, so that those at risk at a
time are the first ones, and sums over them are running sums. Events at the same time
are averaged over all orders in which they may have happened [1]_: the l-th of d tied
events (l from 0) finds the share l/d of all tied events gone. Strata have hazards of
their own: they follow one another, and sums begin anew in each.

| symbol   | meaning                                                         | shape  |
|----------|-----------------------------------------------------------------|--------|
| rows     | the samples, from the longest time to the shortest; of the same | (m,)   |
|          | time, events first                                              |        |
| weight   | weight of each of them                                          | (m,)   |
| event    | whether their event was seen                                    | (m,)   |
| start    | where the samples of each time with events begin in `rows`      | (g,)   |
| tied     | where the events of that time end                               | (g,)   |
| end      | where the samples of that time end                              | (g,)   |
| base     | where the stratum of that time begins in `rows`                 | (g,)   |
| beyond   | number of the first time with events after the stratum of a row | (m,)   |
| size     | number d of tied events                                         | (g,)   |
| mean     | mean weight of the tied events                                  | (g,)   |
| r        | weight times exp(linear predictor)                              | (m,)   |
| S0, S1   | Σ r and Σ r x over the samples at risk                          | (g,)   |
| E0, E1   | Σ r and Σ r x over the tied events                              | (g,)   |
| D_l      | S0 − l/d E0, the sum at risk of the l-th of d tied events       |        |
| expected | expected events of each sample, times its weight                | (m,)   |
| moments  | Σ_l mean (1, l/d, l²/d²) / D_l² at each time                    | (g, 3) |
| U, V     | score Σ (event − expected) x, and its variance                  | (B, S) |

References
----------
.. [1] B. Efron, "The efficiency of Cox's likelihood function for censored data", JASA
   72 (1977).
.. [2] T. M. Therneau & P. M. Grambsch, "Modeling Survival Data: Extending the Cox
   Model", Springer 2000.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from veridical._core.arrays import BoolArray, FloatArray, IntArray
from veridical._core.compiling import njit

# Variance at risk relative to Σ x²; below it the variance is rounding, and zero.
VARIANCE_ROUNDING = 1e-13
# A sum relative to the sum of its absolute terms; below it the sum is rounding, and 0.
SUM_ROUNDING = 1e-14
# Absolute value; features with a larger or much smaller one are scaled, because squares
# would overflow or underflow.
MAX_SIZE = 1e100


@dataclass(frozen=True, eq=False)
class RiskSets:
    """The samples at risk at each time with events; see the notation above."""

    rows: IntArray
    weight: FloatArray
    event: BoolArray
    start: IntArray
    tied: IntArray
    end: IntArray
    size: IntArray
    mean: FloatArray
    base: IntArray
    beyond: IntArray

    @classmethod
    def build(
        cls,
        time: FloatArray,
        event: BoolArray,
        weight: FloatArray | None = None,
        copies: IntArray | None = None,
        strata: IntArray | None = None,
    ) -> RiskSets:
        """Sort the samples and find the times with events.

        Parameters
        ----------
        time, event : arrays of shape (n,)
            Times, and whether the event was seen.
        weight : array of shape (n,), optional
            Weights of the samples; those of weight 0 are left out.
        copies : int array of shape (n,), optional
            For how many tied events a sample counts. By default its weight if all
            weights are whole numbers, or else 1.
        strata : int array of shape (n,), optional
            Samples are compared within these only; by default all with all.
        """
        weight = np.ones(time.size) if weight is None else weight
        if copies is None:
            whole = bool((weight == np.rint(weight)).all())
            copies = (weight if whole else np.ones(time.size)).astype(np.intp)
        present = np.flatnonzero(weight > 0)
        if strata is None:
            strata = np.zeros(time.size, dtype=np.intp)
        keys = (~event[present], -time[present], strata[present])
        rows = present[np.lexsort(keys)]
        times, died, w, stratum = time[rows], event[rows], weight[rows], strata[rows]
        differs = (times[1:] != times[:-1]) | (stratum[1:] != stratum[:-1])
        last = np.flatnonzero(np.append(differs, True)) + 1
        first = np.concatenate([[0], last[:-1]])
        tied = first + np.add.reduceat(died.astype(np.intp), first)
        some = tied > first
        first, tied, last = first[some], tied[some], last[some]
        spans = np.stack([first, tied], axis=1).ravel()
        size = np.add.reduceat(np.append(copies[rows], 0), spans)[::2]
        total = np.add.reduceat(np.append(w, 0.0), spans)[::2]
        base = np.searchsorted(stratum, stratum[first])
        beyond = np.searchsorted(stratum[first], stratum, side="right")
        return cls(rows, w, died, first, tied, last, size, total / size, base, beyond)

    def sums(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Sum over the samples at risk, and over the tied events, at each time."""
        padded = np.concatenate([values, np.zeros((1, *values.shape[1:]))])
        spans = np.stack([self.start, self.tied], axis=1).ravel()
        tied = np.add.reduceat(padded, spans, axis=0)[::2]
        running = np.cumsum(values, axis=0)
        at_risk = running[self.end - 1]
        later = self.base > 0  # strata after the first
        at_risk[later] -= running[self.base[later] - 1]
        return at_risk, tied

    def hazards(self, r: FloatArray) -> Hazards:
        """Compute the parts of the likelihood that do not depend on features."""
        at_risk, tied = self.sums(r)
        group = np.repeat(np.arange(self.end.size), self.size)
        # The place l of each event among those of its time, as a share of all.
        begins = np.cumsum(self.size) - self.size
        gone = (np.arange(group.size) - begins[group]) / self.size[group]
        left = at_risk[group] - gone * tied[group]
        weight = self.mean[group]

        def total(values: FloatArray) -> FloatArray:
            return np.asarray(np.bincount(group, values, self.end.size), np.float64)

        step, reduced = total(weight / left), total(weight * gone / left)
        # A sample is at risk at its own time and at all shorter ones, which come later.
        sums = np.concatenate([np.cumsum(step[::-1])[::-1], [0.0]])
        place = np.searchsorted(self.end, np.arange(self.rows.size), side="right")
        own = np.zeros(self.rows.size)
        of_event = np.flatnonzero(self.event)
        own[of_event] = reduced[place[of_event]]
        moments = np.stack(
            [total(weight * gone**k / left**2) for k in range(3)], axis=1
        )
        return Hazards(
            step,
            r * (sums[place] - sums[self.beyond] - own),
            moments,
            float(weight @ np.log(left)),
        )

    def to_table(self, hazards: Hazards) -> RiskTable:
        """Return what the kernel of scores reads: a time of events by its last row."""
        group = np.full(self.rows.size, -1, dtype=np.intp)
        group[self.end - 1] = np.arange(self.end.size)
        died = np.where(self.event, self.weight, 0.0)
        begins = np.zeros(self.rows.size, dtype=np.bool_)
        begins[self.base] = True
        return RiskTable(
            self.rows,
            self.weight,
            self.event,
            died - hazards.expected,
            hazards.expected,
            group,
            hazards.moments,
            begins,
        )


class Hazards(NamedTuple):
    """Parts of the partial likelihood; see the notation above.

    `step` is the increase of the cumulative hazard at each time, and `log_at_risk` the
    sum of the logarithms of D_l.
    """

    step: FloatArray
    expected: FloatArray
    moments: FloatArray
    log_at_risk: float


class RiskTable(NamedTuple):
    """Samples of one training set for `block_scores`, each array as in the notation.

    `group` is the number of a time with events at its last sample, −1 elsewhere;
    `residual` is event minus expected, times the weight; `begins` is true where a
    stratum begins.
    """

    rows: IntArray
    weight: FloatArray
    event: BoolArray
    residual: FloatArray
    expected: FloatArray
    group: IntArray
    moments: FloatArray
    begins: BoolArray


@njit(cache=True, nogil=True)
def _centre_and_size(x: FloatArray, table: RiskTable) -> tuple[float, float]:
    """Return the mean of a feature in a training set, and a size to divide it by."""
    first = x[table.rows[0]]
    total, weight, largest = 0.0, 0.0, 0.0
    for t in range(table.rows.size):
        difference = x[table.rows[t]] - first
        total += table.weight[t] * difference
        weight += table.weight[t]
        largest = max(largest, abs(difference))
    tame = 1.0 / MAX_SIZE < largest < MAX_SIZE
    return first + total / weight, 1.0 if tame or largest == 0.0 else largest


@njit(cache=True, nogil=True)
def block_scores(
    columns: FloatArray, table: RiskTable, U: FloatArray, V: FloatArray
) -> None:
    """Write the scores of some features at coefficient 0, and their variances.

    They are divided by a common size of the feature, so that ``U²/V`` has no overflow.
    """
    rows, weight, event, residual, expected, group, moments, begins = table
    for j in range(columns.shape[0]):
        x = columns[j]
        centre, size = _centre_and_size(x, table)
        score, absolute, square, spread = 0.0, 0.0, 0.0, 0.0
        at_risk, tied = 0.0, 0.0
        for t in range(rows.size):
            v = (x[rows[t]] - centre) / size
            score += residual[t] * v
            absolute += abs(residual[t] * v)
            square += expected[t] * v * v
            if begins[t]:
                at_risk = 0.0
            at_risk += weight[t] * v
            if event[t]:
                tied += weight[t] * v
            g = group[t]
            if g >= 0:
                spread += (
                    moments[g, 0] * at_risk - 2.0 * moments[g, 1] * tied
                ) * at_risk + moments[g, 2] * tied * tied
                tied = 0.0
        U[j] = score if abs(score) > SUM_ROUNDING * rows.size * absolute else 0.0
        variance = square - spread
        V[j] = variance if variance > VARIANCE_ROUNDING * square else 0.0
