"""Test whether features are those that a selector chooses on all samples.

A selector that saw all samples agrees with its own choice completely. How much it
agrees with the same features by chance is measured by permuting the labels and
selecting again, which keeps the correlation of the features.

| symbol | meaning                                                              |
|--------|----------------------------------------------------------------------|
| S      | the k features in question                                           |
| T      | the k features that a selector chooses on all samples                |
| T_b    | the k features that it chooses for the b-th permutation of the labels|
| a      | number of features in both S and T, those chosen by a tie left out   |
| a_b    | how many of those a are also in T_b                                  |

The p-value of a is that of one more a_b by Student's distribution. Features that are
tied are chosen by their place in the table and not by the labels; they are those that
change if the selector sees the features in reverse order.

Agreement beyond chance does not show that S was chosen on these samples: features that
are known to be useful are also chosen by a good selector. Where labels can be predicted
with a selection inside the training folds, the two cannot be distinguished. Where they
cannot, features that are known to be useful would not agree with T.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtr

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.seeds import as_generator
from veridical._core.table import Table
from veridical.auditing.records import LEAST_AGREEMENT
from veridical.evaluation.engine import rank
from veridical.selection import SELECTORS, Correlation

#: Number of permutations of the labels: for selectors that are fast, and for others.
DRAWS, FEW_DRAWS = 99, 12
# Largest ``n**power * p`` of a selector's cost; beyond it the selector is not tried.
_LARGEST_COST = 2e8
# Largest cost of one recursive elimination, about four seconds: of every pair of
# classes, with m samples, ``p * m**2``, and more where solving anew takes most of it.
_LARGEST_ELIMINATION = 5e8
# Samples at which solving anew takes as long as the rest of an elimination.
_ANEW = 100


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
    permuted : tuple of int
        a_b: how many of the features `best` chooses for each permutation of the labels.
    pvalue : float
        p-value of a, if the features had nothing to do with the labels.
    """

    selector: Any
    name: str
    overlap: Mapping[str, int]
    best: str
    permuted: tuple[int, ...]
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
        Seed of the permutations.
    """
    k = features.size
    overlap: dict[str, int] = {}
    for name in candidates(table):
        selector = SELECTORS[name](n_features_to_select=k)
        overlap[name] = _count_shared(selector, table, features)
        if overlap[name] == k:
            break  # no selector can agree better
    best = used = max(overlap, key=lambda name: overlap[name])  # the first of equals
    slow = slow_candidates(table) if overlap[best] < LEAST_AGREEMENT * k else []
    for name in slow:
        selector = SELECTORS[name](n_features_to_select=k)
        overlap[name] = _count_shared(selector, table, features)
        if overlap[name] > overlap[best]:
            best = name
    selector = SELECTORS[best](n_features_to_select=k)
    n_draws = FEW_DRAWS if best in slow else DRAWS
    permuted, pvalue = permute_labels(selector, table, features, n_draws, seed)
    used_selector = SELECTORS[used](n_features_to_select=k)
    return Agreement(used_selector, used, overlap, best, permuted, pvalue)


def measure_agreement(
    selector: Any, name: str, table: Table, features: IntArray, seed: int
) -> Agreement:
    """Measure and test the agreement of features with a named selector."""
    common = _common(choose_on_all(selector, table, features.size), features)
    cost = getattr(selector, "_cost", None)
    fast = cost is not None and cost.power is not None
    n_draws = DRAWS if fast else FEW_DRAWS
    permuted, pvalue = permute_labels(selector, table, features, n_draws, seed)
    return Agreement(selector, name, {name: common}, name, permuted, pvalue)


def choose_on_all(
    selector: Any, table: Table, n_features: int, order: IntArray | None = None
) -> IntArray:
    """Return the features that a selector chooses on all samples."""
    everything = [np.arange(table.n_samples)]
    (ranking,) = rank(selector, table, everything, n_features, order)
    return ranking.order


def permute_labels(
    selector: Any, table: Table, features: IntArray, n_draws: int, seed: int
) -> tuple[tuple[int, ...], float]:
    """Select again for permuted labels; return the agreements and the p-value.

    Parameters
    ----------
    selector : selector
        What may have chosen the features.
    table : Table
        All samples, all features.
    features : int array
        The features in question.
    n_draws : int
        Number of permutations.
    seed : int
        Seed of the permutations.
    """
    k = features.size
    untied = _choose_untied(selector, table, k)
    tied = untied.size < k
    # Features that are tied are left out, also of those in question.
    agreed = np.intersect1d(untied, features)
    rng = as_generator(seed)
    permuted = []
    for _ in range(n_draws):
        drawn = table.permuted(rng.permutation(table.n_samples))
        choose = _choose_untied if tied else choose_on_all
        again = choose(selector, drawn, k)
        permuted.append(_common(again, agreed))
    return tuple(permuted), student_pvalue(agreed.size, permuted)


def student_pvalue(observed: float, permuted: Sequence[float] | FloatArray) -> float:
    """Return the probability that permuted labels give a value as large as observed.

    By Student's distribution for one more value, the observed one included as in a
    permutation test, so that few permutations suffice for a small p-value; at least the
    share of permutations that give as much.
    """
    values = np.array([*permuted, observed], dtype=np.float64)
    as_good = np.count_nonzero(values >= observed - 1e-12)
    if as_good > 1:
        return float(as_good / values.size)
    spread = float(values.std(ddof=1))
    return float(stdtr(values.size - 1, (values.mean() - observed) / spread))


def _choose_untied(selector: Any, table: Table, n_features: int) -> IntArray:
    """Return the features that are chosen in either order of the columns."""
    reverse = np.arange(table.n_features)[::-1].copy()
    backward = choose_on_all(selector, table, n_features, reverse)
    return np.intersect1d(choose_on_all(selector, table, n_features), backward)


def _count_shared(selector: Any, table: Table, features: IntArray) -> int:
    """Count the features that a selector chooses on all samples.

    Ties are chosen by their place, from the beginning of the table. Where the features
    in question are the first of the table, their place explains that, and ties do not
    count.
    """
    k = features.size
    first = bool(features.max() < k)
    choose = _choose_untied if first else choose_on_all
    return _common(choose(selector, table, k), features)


def _common(chosen: IntArray, features: IntArray) -> int:
    return int(np.isin(chosen, features).sum())


def candidates(data: Table) -> list[str]:
    """Return the selectors that can read the data in reasonable time, fast ones first.

    Of selectors that agree equally well the first is used.
    """
    powers = {}
    for name, selector in SELECTORS.items():
        power = selector._cost.power
        # With two classes, or numbers, Correlation gives the order of AnovaF.
        same = selector is Correlation and data.n_classes <= 2
        if power is None or not _is_able(selector, data) or same:
            continue
        if data.n_features * data.n_samples**power <= _LARGEST_COST:
            powers[name] = power
    return sorted(powers, key=lambda name: powers[name])


def slow_candidates(data: Table) -> list[str]:
    """Return the selectors that are tried only where no fast one agrees."""
    k = max(data.n_classes, 2)
    m = 2 * data.n_samples / (1 if data.kind == "numbers" else k)
    cost = k * (k - 1) / 2 * data.n_features * m**2 * (1 + m / _ANEW)
    if cost > _LARGEST_ELIMINATION:
        return []
    return [
        name
        for name, selector in SELECTORS.items()
        if selector._cost.power is None and _is_able(selector, data)
    ]


def _is_able(selector: Any, data: Table) -> bool:
    abilities = selector._abilities
    return bool(
        data.kind in abilities.targets
        and selector._uses_target  # without the outcome nothing can leak
        and (abilities.categorical or not data.categorical.any())
        and (abilities.missing or not data.has_missing)
        and (abilities.sparse or not data.is_sparse)
    )
