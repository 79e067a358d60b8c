"""Samples that belong together although no groups were given.

Two traces are looked for: a column that names subjects, or identifiers with a repeating
stem; and folds, made elsewhere, that keep nearest neighbours together. The latter is a
permutation test: without groups, any order of the samples within a class is equally
probable. For numbers and survival times, thirds of the samples are the classes. Groups
that folds divide are looked for by VD021 and VD022.

| symbol | meaning                                                              |
|--------|----------------------------------------------------------------------|
| j(i)   | nearest other sample of the class of sample i, features scaled       |
| T      | share of samples i for which i and j(i) are in one fold              |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from veridical._core.arrays import IntArray
from veridical._core.seeds import as_generator
from veridical._core.splits import Split
from veridical._core.table import Table
from veridical.auditing.association import coarse_outcome, fine_outcome
from veridical.auditing.duplicates import MOST_SAMPLES, sample_distances
from veridical.datasets.identifiers import find_groups_in_ids, find_identifiers

#: Permutations of the samples within classes; the smallest p-value is 1/1000.
N_PERMUTATIONS = 999
#: p-value up to which, and excess of T from which on, a trace is reported.
KINSHIP_LEVEL, EXCESS = 0.001, 0.15
#: Samples of a class; smaller classes are left out.
_FEWEST_IN_CLASS = 8


class Kinship(NamedTuple):
    """How often nearest neighbours are kept together, and how often by chance."""

    observed: float
    expected: float
    pvalue: float

    @property
    def is_shown(self) -> bool:
        """Whether it is more often than by chance, and by much."""
        return self.pvalue <= KINSHIP_LEVEL and self.observed >= self.expected + EXCESS


class Subjects(NamedTuple):
    """A column of subjects, what it holds in words, and the subject of each sample."""

    column: str
    description: str
    codes: IntArray


def name_subjects(data: Table) -> Subjects | None:
    """Return a column of subjects; None if there is none.

    Only data frames have names of columns.
    """
    frame = data.source
    if not isinstance(frame, pd.DataFrame):
        return None
    fewest = 2 * max(data.n_classes, 2)
    for column, kind in find_identifiers(frame).items():
        if kind == "subjects":
            n_subjects = frame[column].nunique()
            if n_subjects > fewest:
                codes = pd.factorize(frame[column])[0].astype(np.intp)
                unknown = codes < 0  # each is a subject of its own
                codes[unknown] = n_subjects + np.arange(np.count_nonzero(unknown))
                return Subjects(str(column), f"{n_subjects} subjects", codes)
            continue
        stems = find_groups_in_ids(frame[column])
        if stems is not None and len(set(stems[0])) > fewest:
            codes = np.unique(stems[0], return_inverse=True)[1].astype(np.intp)
            return Subjects(str(column), stems[1], codes)
    return None


def nearest_of_class(data: Table) -> tuple[IntArray, IntArray] | None:
    """Return samples, and the nearest other sample of the class of each.

    None where distances cannot be computed: without numeric features, or for too many
    samples.
    """
    numeric = np.flatnonzero(~data.categorical)
    if not numeric.size or data.n_samples > MOST_SAMPLES:
        return None
    distance = sample_distances(data, numeric)
    codes = coarse_outcome(data)
    distance[codes[:, None] != codes[None, :]] = np.inf
    large = np.bincount(codes)[codes] >= _FEWEST_IN_CLASS
    rows = np.flatnonzero(large & np.isfinite(distance.min(axis=1)))
    return (rows, distance[rows].argmin(axis=1)) if rows.size else None


def by_folds(data: Table, splits: Sequence[Split], seed: int) -> Kinship | None:
    """Measure whether folds keep nearest neighbours together.

    None where test sets are no folds.
    """
    fold = np.full(data.n_samples, -1)
    for number, split in enumerate(splits):
        if (fold[split.test] >= 0).any():
            return None
        fold[split.test] = number
    if (fold < 0).any() or len(splits) < 2:
        return None
    found = nearest_of_class(data)
    if found is None:
        return None
    rows, nearest = found
    observed = float(np.mean(fold[rows] == fold[nearest]))
    rng = as_generator(seed)
    codes = coarse_outcome(data)
    members = [np.flatnonzero(codes == k) for k in np.unique(codes)]
    drawn = np.empty(N_PERMUTATIONS)
    mixed = fold.copy()
    for b in range(N_PERMUTATIONS):
        for own in members:
            mixed[own] = fold[rng.permutation(own)]
        drawn[b] = np.mean(mixed[rows] == mixed[nearest])
    as_large = int(np.count_nonzero(drawn >= observed - 1e-12))
    pvalue = (1 + as_large) / (1 + N_PERMUTATIONS)
    return Kinship(observed, float(drawn.mean()), pvalue)


# Number of random orders within classes.
_ORDERS = 199


def units_in_order(data: Table, order: IntArray) -> list[IntArray]:
    """Return the samples of each group, in the order of the first of them.

    Without groups every sample is a group of its own.
    """
    if data.groups is None:
        return [order[[i]] for i in range(order.size)]
    codes = data.groups[order]
    _, first = np.unique(codes, return_index=True)
    return [order[codes == codes[i]] for i in np.sort(first)]


def order_likeness(data: Table, order: IntArray, seed: int) -> float:
    """Return how alike neighbours in an order are, in standard errors.

    The mean scalar product of consecutive samples, centred within classes and scaled,
    against the orders that permute samples of the same class. For numbers and survival
    times the classes are narrow, so that a table that is sorted by its outcome shows no
    likeness by that alone. Groups, which no split divides, are one sample each: their
    mean.
    """
    codes = fine_outcome(data)
    values = np.where(np.isnan(data.values), 0.0, data.values)[:, ~data.categorical]
    if not values.shape[1]:
        return 0.0
    values = values - values.mean(axis=0)
    for k in np.unique(codes):
        values[codes == k] -= values[codes == k].mean(axis=0)
    units = units_in_order(data, order)
    values = np.stack([values[rows].mean(axis=0) for rows in units])
    classes = codes[[rows[0] for rows in units]]
    spread = values.std(axis=0)
    values = values[:, spread > 0] / spread[spread > 0]
    gram = values @ values.T
    norms = np.sqrt(np.maximum(np.diag(gram), 1e-12))
    gram /= norms[:, None] * norms[None, :]
    rng = as_generator(seed)
    places = [np.flatnonzero(classes == k) for k in np.unique(classes)]
    likeness = np.empty(_ORDERS + 1)
    for b in range(_ORDERS + 1):
        drawn = np.arange(len(units))
        if b:
            for place in places:
                drawn[place] = rng.permutation(place)
        likeness[b] = gram[drawn[1:], drawn[:-1]].mean()
    spread_null = likeness[1:].std(ddof=1)
    if spread_null <= 0:
        return 0.0
    return float((likeness[0] - likeness[1:].mean()) / spread_null)
