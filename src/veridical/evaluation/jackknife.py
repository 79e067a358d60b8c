"""The standard error of any score on one test set, by leaving units out.

======  ========================================================================
symbol  meaning
======  ========================================================================
m       number of blocks: units (groups, or samples where there are no groups), or
        several units each where there are more than `MOST_BLOCKS`
θ       the score of all test samples
θ_b     the score without the samples of block b
σ       its standard error, √((m − 1)/m Σ (θ_b − mean θ_b)²)
g       log θ/(1 − θ), where θ lies between two limits, 0 and 1 say; the logarithm of
        the distance from the limit where there is one; θ itself where there is none
======  ========================================================================

The models stay as they are: it is the error of the score of these models, on samples
like those of the test set. An interval is made on the scale of g, where limits are
infinitely far away, and so stays inside them: g(θ) ± t g'(θ) σ.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtrit

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.seeds import as_generator
from veridical._core.survival_scores import Observed

if TYPE_CHECKING:
    from veridical._core.scoring import Outputs, Score
    from veridical._core.table import Table

#: Blocks of test samples that are left out, one at a time.
MOST_BLOCKS = 200

#: Spread of the scores; below it they are equal up to rounding.
_EQUAL_WITHIN = 1e-12

#: Exponents are cut here, where numbers are all but infinite.
_LARGEST_POWER = 300.0


def divide_units(units: IntArray) -> IntArray:
    """Return the block of every sample: its unit, or several units together.

    Units are put together at random, because neighbours may be alike; the same number
    of units is always divided in the same way.

    Examples
    --------
    >>> divide_units(np.array([7, 7, 3, 9])).tolist()
    [1, 1, 0, 2]
    >>> len(set(divide_units(np.arange(1000)).tolist()))
    200
    """
    place = np.unique(units, return_inverse=True)[1]
    n_units = int(place.max(initial=-1)) + 1
    if n_units <= MOST_BLOCKS:
        return np.asarray(place, dtype=np.intp)
    shuffled = as_generator(n_units).permutation(n_units)
    return np.asarray(shuffled[place] % MOST_BLOCKS, dtype=np.intp)


def divide_test_set(table: Table, test: IntArray) -> IntArray:
    """Return the block of every test sample: of its group, where there are groups.

    Parameters
    ----------
    table : Table
        All samples, with their groups and weights.
    test : int array
        Rows of the test samples.

    Returns
    -------
    int array of shape (n_test,)
        −1 for a sample of weight 0, which is in no block.
    """
    units = np.arange(table.n_samples) if table.groups is None else table.groups
    counted = np.ones(len(test), bool)
    if table.weights is not None:
        counted = table.weights[test] > 0
    blocks = np.full(len(test), -1)
    blocks[counted] = divide_units(units[test][counted])
    return blocks


def has_jackknife(score: Score) -> bool:
    """Return whether the jackknife is valid for a score.

    It needs predictions, of which some can be left out, and a smooth score.
    """
    return score.needs != "model" and score.smooth


def leave_out(
    score: Score,
    y: Any,
    outputs: Outputs,
    classes: Any,
    response: str | None,
    weights: FloatArray | None,
    blocks: IntArray,
) -> FloatArray:
    """Score a test set without one block at a time, at every size.

    Parameters
    ----------
    score, y, outputs, classes, response, weights
        As in ``Score.score_sizes``.
    blocks : int array of shape (n_test,)
        From `divide_units`.

    Returns
    -------
    array of shape (n_blocks, n_sizes)
        NaN where the score is not defined without the block.
    """
    found = []
    for block in range(int(blocks.max(initial=-1)) + 1):
        rows = np.flatnonzero(blocks != block)
        left = None if weights is None else weights[rows]
        part = type(outputs)(
            *(None if one is None else one[:, rows] for one in outputs)
        )
        scored = score.score_sizes(_take(y, rows), part, classes, response, left)
        found.append([one.value for one in scored])
    return np.array(found, dtype=np.float64)


def _take(y: Any, rows: IntArray) -> Any:
    if not isinstance(y, Observed):
        return y[rows]
    counts = None if y.counts is None else y.counts[rows]
    return Observed(y.test.take(rows), y.train, counts, y.train_counts)


def standard_error(left_out: FloatArray) -> Any:
    """Compute the standard error along the first axis; NaN where it is not known.

    It is not, with a single block, where the score is not defined without one of the
    blocks, and where nothing varies.

    Examples
    --------
    For a mean it is that of the mean:

    >>> values = np.array([1.0, 2.0, 4.0, 8.0])
    >>> without = (values.sum() - values) / 3
    >>> error = standard_error(without)
    >>> bool(np.isclose(error, values.std(ddof=1) / 2))
    True
    """
    m = len(left_out)
    if m < 2:
        return np.full(np.shape(left_out)[1:], math.nan)
    apart = left_out - left_out.mean(axis=0)
    error = np.sqrt((m - 1) / m * (apart**2).sum(axis=0))
    varied = np.abs(apart).max(axis=0) > _EQUAL_WITHIN
    return np.where(varied, error, math.nan)


def jackknife_interval(
    value: float,
    error: float,
    n_blocks: int,
    limits: tuple[float, float],
    confidence: float = 0.95,
) -> tuple[float, float]:
    """Compute an interval of a score inside its limits.

    Parameters
    ----------
    value, error : float
        The score, and its standard error.
    n_blocks : int
        Number of blocks that gave the error.
    limits : tuple of float
        The smallest and the largest possible score; may be infinite.
    confidence : float, default=0.95
        Nominal coverage.

    Examples
    --------
    >>> low, high = jackknife_interval(0.9, 0.04, 60, (0.0, 1.0))
    >>> round(low, 3), round(high, 3)
    (0.787, 0.956)
    """
    reach = float(stdtrit(n_blocks - 1, (1 + confidence) / 2)) * error
    low, high = limits
    below, above = value - low, high - value
    if math.isfinite(below) and math.isfinite(above):
        odds, step = below / above, _exp(reach * (high - low) / (below * above))
        share = 1 / (1 + step / odds), 1 / (1 + odds * step)
        return low + (high - low) * share[0], high - (high - low) * share[1]
    if math.isfinite(below):
        step = _exp(reach / below)
        return low + below / step, low + below * step
    if math.isfinite(above):
        step = _exp(reach / above)
        return high - above * step, high - above / step
    return value - reach, value + reach


def _exp(power: float) -> float:
    return math.exp(min(power, _LARGEST_POWER))
