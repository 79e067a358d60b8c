"""Claims that a procedure selects a feature again and again.

| symbol | meaning                                                        | shape   |
|--------|----------------------------------------------------------------|---------|
| q      | features that a half of the samples selects at most            |         |
| Π      | share of the halves that select each feature                   | (p,)    |
| τ      | threshold on Π                                                 |         |

References
----------
.. [1] R. D. Shah & R. J. Samworth, "Variable selection with error control: another look
   at stability selection", Journal of the Royal Statistical Society B 75 (2013).
.. [2] J. Hédou et al., "Discovery of sparse, reliable omic biomarkers with Stabl",
   Nature Biotechnology 42 (2024).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.encoding import Features
from veridical._core.seeds import Purpose, as_generator, stream
from veridical._core.table import Table
from veridical.discovery.bounds import Assumption, false_selections
from veridical.discovery.multiplicity import RATE_ROUNDING

#: The first features of every half: ``lead(table, halves, n_features)``.
Lead = Callable[[Table, Sequence[IntArray], int], list[IntArray]]
# Kind of streams of random numbers.
_DECOYS = 4
# Halves that are ranked together, and of very wide tables; so that progress is seen and
# memory is bounded.
_BATCH, _WIDE_BATCH = 250, 100
#: Features of a table that is not very wide.
_WIDE = 1 << 14
#: Bytes of the halves that are ranked together, and those of a sample in a half, about;
#: of many samples they are fewer halves.
_HALVES_BYTES, _SAMPLE_BYTES = 1 << 27, 40


class Shares(NamedTuple):
    """How often the halves select each feature, for each number of features.

    Parameters
    ----------
    leading : list of int arrays
        The first features of each half, best first.
    n_features : int
        Number of all features.
    """

    leading: list[IntArray]
    n_features: int

    def at(self, n_selected: int) -> FloatArray:
        """Return the share of halves that select each feature among the first few."""
        counts = np.zeros(self.n_features)
        for order in self.leading:
            counts[order[:n_selected]] += 1
        return counts / len(self.leading)

    def path(self, sizes: Sequence[int], features: IntArray) -> FloatArray:
        """Return shares of shape (n_sizes, n_features) for some features."""
        return np.stack([self.at(size)[features] for size in sizes])


def select_halves(
    table: Table,
    halves: Sequence[IntArray],
    n_selected: int,
    lead: Lead,
    tick: Callable[[int, int], object] | None = None,
) -> Shares:
    """Select features on every half.

    Parameters
    ----------
    table : Table
        The samples.
    halves : sequence of int arrays
        Rows of the halves.
    n_selected : int
        q: how many features at most.
    lead : callable
        As `Lead`.
    tick : callable, optional
        Called with the number of halves done and their number.
    """
    leading: list[IntArray] = []
    batch = _BATCH if table.n_features <= _WIDE else _WIDE_BATCH
    n_pairs = _HALVES_BYTES // (2 * _SAMPLE_BYTES * table.n_samples)
    batch = min(batch, max(2, 2 * n_pairs))  # whole pairs, which share sums
    for start in range(0, len(halves), batch):
        part = list(halves[start : start + batch])
        leading += lead(table, part, n_selected)
        if tick is not None:
            tick(len(leading), len(halves))
    return Shares(leading, table.n_features)


def expected_false(
    frequency: FloatArray,
    n_selected: float,
    n_pairs: int,
    assumption: Assumption,
) -> FloatArray:
    """Bound the false selections at the threshold that just claims each feature.

    Parameters
    ----------
    frequency : array of shape (p,)
        Π.
    n_selected : float
        q.
    n_pairs : int
        Number of pairs of halves.
    assumption : str
        As in `false_selections`.

    Returns
    -------
    array of shape (p,)
        The smallest expected number of false selections at which each feature is
        claimed; p where it never is.
    """
    p = frequency.size
    places = np.rint(2 * n_pairs * frequency).astype(np.intp)
    bounds = np.full(2 * n_pairs + 1, float(p))
    for place in range(n_pairs + 1, 2 * n_pairs + 1):
        bounds[place] = false_selections(
            place / (2 * n_pairs), n_selected, p, n_pairs, assumption
        )
    # A lower threshold may have a smaller bound: take the least up to here.
    least = np.minimum.accumulate(bounds)
    return least[places]


def decoy_qvalues(frequency: FloatArray, decoys: FloatArray) -> FloatArray:
    """Compare how often features and decoys are selected; a heuristic.

    The rate at threshold t is taken for ``(1 + #{decoys ≥ t}) / max(1, #{features ≥
    t})``, as Stabl does.

    Parameters
    ----------
    frequency : array of shape (p,)
        Share of halves that select each feature.
    decoys : array of shape (p,)
        The same for the permuted copies of the features.

    Returns
    -------
    array of shape (p,)
        The smallest rate at which each feature is claimed, at most 1.

    Examples
    --------
    >>> decoy_qvalues(np.array([1.0, 0.9, 0.8, 0.1]), np.array([0.2, 0.1, 0.0, 0.0]))
    array([0.33333333, 0.33333333, 0.33333333, 0.75      ])
    """
    thresholds = np.unique(frequency[frequency > 0])[::-1]
    sizes, others = np.sort(frequency), np.sort(decoys)
    n_real = sizes.size - np.searchsorted(sizes, thresholds - RATE_ROUNDING)
    n_decoys = others.size - np.searchsorted(others, thresholds - RATE_ROUNDING)
    rates = np.minimum((1 + n_decoys) / np.maximum(1, n_real), 1.0)
    # From the highest threshold down: a feature is claimed at any one up to its share.
    least = np.minimum.accumulate(rates[::-1])[::-1]
    adjusted = np.ones(frequency.size)
    for value, rate in zip(thresholds, least, strict=True):
        adjusted[frequency == value] = rate
    return adjusted


def add_decoys(table: Table, seed: int) -> Table:
    """Add a copy of every feature whose samples are in random order.

    Parameters
    ----------
    table : Table
        The samples.
    seed : int
        Root of the random numbers.
    """
    rng = as_generator(stream(seed, Purpose.DISCOVERY, _DECOYS))
    return double_features(table, lambda values: rng.permuted(values, axis=0))


def double_features(
    table: Table, copy: Callable[[Any], Any], values: FloatArray | None = None
) -> Table:
    """Add a copy of every feature to a table; categorical copies stay categorical.

    Parameters
    ----------
    table : Table
        The samples.
    copy : callable
        From the values of the features to those of the copies.
    values : array of shape (n_samples, n_features), optional
        Other values of the features themselves.
    """
    rows, columns = np.arange(table.n_samples), np.arange(table.n_features)
    own = table.take(rows, columns) if values is None else values
    features = Features(
        np.hstack([own, copy(own)]),
        np.concatenate([table.categorical, table.categorical]),
        tuple(table.categories) * 2,
    )
    return table.replace(features=features, source=None)
