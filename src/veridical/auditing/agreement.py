"""Test whether a selector chose features on all samples, labels included.

A selector that saw all samples agrees with its own choice completely. Features that
were fixed before the data were seen agree with it only as far as the data repeat what
was known. The best such features are those that the selector would choose on infinitely
many samples, and even they differ from its choice on n samples, by chance.

Half-samples show by how much. The difference between an estimate from a random half
and one from all n samples has the variance of the difference between an estimate from
n samples and the truth (σ²/(n/2) − σ²/n = σ²/n), so that the choice on a half is to the
choice on all samples as the latter is to the truth [1]_. Halves keep the correlation
of the features, and have no repeated samples as bootstrap samples do.

| symbol | meaning                                                              |
|--------|----------------------------------------------------------------------|
| S      | the k features in question                                           |
| T      | the k features that a selector chooses on all samples                |
| T_b    | the k features that it chooses on the b-th half, classes in proportion |
| a      | number of features in both S and T                                   |
| a_b    | number of features in both T and T_b                                 |

S counts as chosen on these samples where a is larger than the a_b explain, by Student's
distribution for one more a_b. Where the selector chooses the same features on nearly
every half, this cannot be shown; but then the choice inside training folds is the same
too. On halves of noise the a_b contain what is by chance common to a half and to all
samples, which features fixed beforehand do not have, so the test is conservative.

References
----------
.. [1] J. Shao & C. F. J. Wu, "A general theory for jackknife variance estimation",
   Annals of Statistics 17 (1989).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtr

from veridical._core.arrays import IntArray
from veridical._core.errors import InputError
from veridical._core.seeds import as_generator
from veridical._core.table import Table
from veridical.evaluation.engine import rank
from veridical.selection import SELECTORS, Correlation

#: Smallest share of agreement at which a selector is named as having chosen the
#: features.
AGREES = 0.8
#: Number of half-samples: for selectors that are fast on every table, and for others.
HALVES, FEW_HALVES = 99, 24
# Largest ``n**power * p`` of a selector's cost; beyond it the selector is not tried.
_LARGEST_COST = 2e8
# Largest ``p * (n**3 + n * p)`` for each pair of classes at which recursive elimination
# is tried; beyond it one selection takes more than some seconds.
_LARGEST_ELIMINATION = 2e9


@dataclass(frozen=True)
class Agreement:
    """How well selectors agree with features, and the test of the best of them.

    Parameters
    ----------
    selector : selector
        The selector that repeats the selection inside the folds: the named one, or of
        the fast ones the one that agrees best.
    name : str
        Its name.
    overlap : mapping of str to int
        For every selector tried, a: how many of the features it chooses on all samples.
    best : str
        The selector that agrees best, and was tested; it may be slower than
        `selector`.
    halves : tuple of int
        a_b: how many of the features that `best` chooses on all samples it also
        chooses on each half.
    pvalue : float
        p-value of a, if the features had been fixed before these samples were seen.
    """

    selector: Any
    name: str
    overlap: Mapping[str, int]
    best: str
    halves: tuple[int, ...]
    pvalue: float


def find_agreement(table: Table, features: IntArray, seed: int) -> Agreement:
    """Find the selector that agrees best with features on all samples, and test it.

    Parameters
    ----------
    table : Table
        All samples, all features.
    features : int array
        The features in question.
    seed : int
        Seed of the halves.
    """
    k = features.size
    chosen: dict[str, IntArray] = {}
    for name in candidates(table):
        chosen[name] = choose_on_all(SELECTORS[name](n_features_to_select=k), table, k)
        if np.isin(chosen[name], features).all():
            break  # no selector can agree better
    overlap = {name: _common(found, features) for name, found in chosen.items()}
    best = used = max(overlap, key=lambda name: overlap[name])  # the first of equals
    slow = slow_candidates(table) if overlap[best] < AGREES * k else []
    for name in slow:
        chosen[name] = choose_on_all(SELECTORS[name](n_features_to_select=k), table, k)
        overlap[name] = _common(chosen[name], features)
        if overlap[name] > overlap[best]:
            best = name
    selector = SELECTORS[best](n_features_to_select=k)
    n_halves = FEW_HALVES if best in slow else HALVES
    halves = agreement_on_halves(selector, table, chosen[best], n_halves, seed)
    return Agreement(
        SELECTORS[used](n_features_to_select=k),
        used,
        overlap,
        best,
        halves,
        agreement_pvalue(overlap[best], halves),
    )


def measure_agreement(
    selector: Any, name: str, table: Table, features: IntArray, seed: int
) -> Agreement:
    """Measure and test the agreement of features with a named selector."""
    chosen = choose_on_all(selector, table, features.size)
    common = _common(chosen, features)
    cost = getattr(selector, "_cost", None)
    fast = cost is not None and cost.power is not None
    n_halves = HALVES if fast else FEW_HALVES
    halves = agreement_on_halves(selector, table, chosen, n_halves, seed)
    pvalue = agreement_pvalue(common, halves)
    return Agreement(selector, name, {name: common}, name, halves, pvalue)


def choose_on_all(selector: Any, table: Table, n_features: int) -> IntArray:
    """Return the features that a selector chooses on all samples."""
    (ranking,) = rank(selector, table, [np.arange(table.n_samples)], n_features)
    return ranking.order


def agreement_on_halves(
    selector: Any, table: Table, chosen: IntArray, n_halves: int, seed: int
) -> tuple[int, ...]:
    """Count how many of the features chosen on all samples are chosen on each half.

    Empty where the selector cannot be fitted on the halves, which may be too small.
    """
    rng = as_generator(seed)
    halves = [draw_half(table.y, rng) for _ in range(n_halves)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rankings = rank(selector, table, halves, chosen.size)
    except (InputError, ValueError):
        return ()
    return tuple(_common(ranking.order, chosen) for ranking in rankings)


def draw_half(codes: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw half of the samples of each class; an odd one is taken half of the time.

    A class keeps at least one sample.
    """
    parts = []
    for k in range(codes.max() + 1):
        rows = rng.permutation(np.flatnonzero(codes == k))
        size = rows.size // 2 + (rows.size % 2 and int(rng.integers(2)))
        parts.append(rows[: max(1, size)])
    return np.sort(np.concatenate(parts))


def agreement_pvalue(common: int, halves: tuple[int, ...]) -> float:
    """Return the probability that halves agree as well as the features do.

    By Student's distribution for one more value, the observed one included as in a
    permutation test; at least the share of halves that agree as well.
    """
    if not halves:
        return 1.0
    values = np.array([*halves, common], dtype=np.float64)
    as_good = float(np.count_nonzero(values >= common)) / values.size
    if as_good > 1 / values.size:
        return as_good
    spread = float(values.std(ddof=1))
    return float(stdtr(values.size - 1, -(common - values.mean()) / spread))


def _common(chosen: IntArray, features: IntArray) -> int:
    return int(np.isin(chosen, features).sum())


def candidates(data: Table) -> list[str]:
    """Return the selectors that can read the data in reasonable time, fast ones first.

    Of selectors that agree equally well the first is used.
    """
    powers = {}
    for name, selector in SELECTORS.items():
        power = selector._cost.power
        # With two classes Correlation gives the order of AnovaF.
        same = selector is Correlation and data.y.max() == 1
        if power is None or not _is_able(selector, data) or same:
            continue
        if data.n_features * data.n_samples**power <= _LARGEST_COST:
            powers[name] = power
    return sorted(powers, key=lambda name: powers[name])


def slow_candidates(data: Table) -> list[str]:
    """Return the selectors that are tried only where no fast one agrees."""
    n, p = data.n_samples, data.n_features
    pairs = data.n_classes * (data.n_classes - 1) / 2
    if pairs * p * (n**3 + n * p) > _LARGEST_ELIMINATION:
        return []
    return [
        name
        for name, selector in SELECTORS.items()
        if selector._cost.power is None and _is_able(selector, data)
    ]


def _is_able(selector: Any, data: Table) -> bool:
    abilities = selector._abilities
    return bool(
        (abilities.categorical or not data.categorical.any())
        and (abilities.missing or not data.has_missing)
        and (abilities.sparse or not data.is_sparse)
    )
