"""Forward search: add features one by one, relevant and not redundant.

References
----------
.. [1] C. H. Ooi, M. Chetty & S. W. Teng, "Differential prioritization between
   relevance and redundancy in correlation-based feature selection techniques for
   multiclass gene expression data", BMC Bioinformatics 7:320 (2006).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray, IntArray
from veridical.kernels.similarity import (
    COPY,
    LANES,
    Chosen,
    Columns,
    FeatureState,
    rebuild_bounds,
    write_bounds,
)
from veridical.kernels.threads import run_jobs, spans
from veridical.kernels.tradeoff import (
    DIFFERENCE,
    PRIORITIZED,
    QUOTIENT,
    add_feature,
    advance,
    choose_next,
)
from veridical.search.feature_groups import FeatureGroups

# Share of all features that a step compares on average; beyond it bounds in single
# precision are faster. mRMR compares many features at first and few later.
_MAX_SHARE = {PRIORITIZED: 0.35, QUOTIENT: np.inf, DIFFERENCE: np.inf}
_STEPS_PER_REPORT = 10  # steps of several searches between two reports


class Redundancy(Protocol):
    """Similarity of features in each training set."""

    def columns(self, s: int, *, single: bool = False) -> Columns:
        """Return the features in training set `s`; in single precision too if asked."""

    def ill_conditioned(self, s: int) -> IntArray:
        """Return the features of set `s` whose correlations need `correlations`."""

    def unit_column(self, s: int, j: int) -> FloatArray:
        """Return feature `j`, centred over the rows of set `s` and of length 1."""

    def correlations(self, s: int, j: int, others: IntArray) -> FloatArray:
        """Return the absolute correlations of feature `j` with others in set `s`."""


@dataclass(frozen=True)
class Tradeoff:
    """Criterion that combines relevance and similarity with the chosen features."""

    kind: int
    alpha: float = 1.0


def prioritized(alpha: float) -> Tradeoff:
    """Maximise ``V^alpha U^(1 - alpha)``: mean relevance and antiredundancy."""
    return Tradeoff(PRIORITIZED, alpha)


#: Maximise relevance divided by mean similarity with the chosen features.
quotient = Tradeoff(QUOTIENT)
#: Maximise relevance minus mean similarity with the chosen features.
difference = Tradeoff(DIFFERENCE)


class ForwardSearch:
    """State of a forward search in one training set.

    Parameters
    ----------
    relevance : array of shape (n_features,)
        Finite and not negative.
    tradeoff : Tradeoff
        Criterion of the next feature.
    train_set : int
        Number of the training set.
    groups : FeatureGroups, optional
        The search starts with the features that are always selected. A step chooses
        the feature of most merit and adds its whole group.
    """

    def __init__(
        self,
        relevance: FloatArray,
        tradeoff: Tradeoff,
        train_set: int,
        groups: FeatureGroups | None = None,
    ) -> None:
        self.relevance, self.tradeoff, self.train_set = relevance, tradeoff, train_set
        self.groups = groups
        self.size = self._n_groups = 0
        self._hint = -1
        self._totals = np.zeros(3)
        p = relevance.size
        similarity, known = np.zeros(p), np.zeros(p, dtype=np.int32)
        relevance = np.ascontiguousarray(relevance)
        self._state = FeatureState(relevance, similarity, known, similarity)
        self._columns: Columns | None = None
        self._chosen = _empty_chosen(0, 0)

    @property
    def order(self) -> list[int]:
        """The features chosen so far."""
        return self._chosen.order[: self.size].tolist()

    @property
    def steps(self) -> list[int]:
        """The features chosen so far, or the groups where there are groups."""
        if self.groups is None:
            return self.order
        return self.groups.in_order(self._chosen.order[: self.size]).tolist()

    @property
    def first_relevance(self) -> float:
        """Relevance of the first choice; of a group, that of its best feature."""
        first = self.steps[0]
        features = [first] if self.groups is None else self.groups.members[first]
        return float(self.relevance[features].max())

    @property
    def n_steps(self) -> int:
        """Number of steps so far: features, or groups where there are groups."""
        return self.size if self.groups is None else self._n_groups

    @property
    def n_left(self) -> int:
        """Number of steps that are still possible."""
        groups = self.groups
        total = self.relevance.size if groups is None else groups.n_free
        return total - self.n_steps

    @property
    def relevance_path(self) -> FloatArray:
        """Mean relevance of the first 1, 2, 3, … features."""
        return self._chosen.mean_relevance[: self.size].copy()

    @property
    def antiredundancy_path(self) -> FloatArray:
        """Mean antiredundancy of the first 1, 2, 3, … features."""
        return self._chosen.antiredundancy[: self.size].copy()

    def allocate(self, n_steps: int, n_rows: int) -> None:
        """Allocate memory for `n_steps` more steps."""
        if self.groups is not None:  # a group may hold any number of features
            n_steps = self.relevance.size - self.size
        grown = _empty_chosen(self.size + n_steps, n_rows)
        if self.size:
            for name in Chosen._fields:
                old, new = getattr(self._chosen, name), getattr(grown, name)
                new[: self.size] = old[: self.size]
        self._chosen = grown

    @property
    def weighted_columns(self) -> dict[int, NDArray[np.float32]]:
        """Weighted columns of the chosen features, in single precision."""
        return dict(zip(self.order, self._chosen.weighted_single, strict=False))

    def extend(self, redundancy: Redundancy, goal: int, max_share: float) -> None:
        """Choose features, or groups where there are groups, until there are `goal`.

        Stops earlier if steps compare more than `max_share` of all features.
        """
        if self.groups is not None:
            self._extend_by_groups(redundancy, self.groups, goal)
            return
        if self._columns is None:
            self._columns = redundancy.columns(self.train_set)
        ill_conditioned = redundancy.ill_conditioned(self.train_set)
        while self.size < goal:
            now = self.size + 1 if ill_conditioned.size else goal
            size, self._hint = advance(
                now,
                self.size,
                max_share,
                self.tradeoff.kind,
                self.tradeoff.alpha,
                self._hint,
                self._totals,
                self._columns,
                self._state,
                self._chosen,
            )
            reached, self.size = size == now, size
            if not reached:
                return
            if ill_conditioned.size:
                self._add_ill_conditioned(
                    redundancy, ill_conditioned, self._columns.floor
                )

    def _extend_by_groups(
        self, redundancy: Redundancy, groups: FeatureGroups, goal: int
    ) -> None:
        """Choose groups until there are `goal`; first take the features to keep."""
        if self.size == 0:
            self._take(redundancy, groups.kept_features)
        while self._n_groups < goal:
            j, self._hint = choose_next(
                self.tradeoff.kind,
                self.size,
                self.tradeoff.alpha,
                self._totals,
                self._hint,
                redundancy.columns(self.train_set),
                self._state,
                self._chosen,
            )
            self._take(redundancy, groups.members[groups.number[j]])
            self._n_groups += 1

    def _take(self, redundancy: Redundancy, features: IntArray) -> None:
        """Add features whatever their merit."""
        columns = redundancy.columns(self.train_set)
        ill_conditioned = redundancy.ill_conditioned(self.train_set)
        work = np.empty((0, self.relevance.size), dtype=np.float32)
        for j in features:
            add_feature(
                j, self.size, self._totals, columns, self._state, self._chosen, work
            )
            self.size += 1
            if ill_conditioned.size:
                self._add_ill_conditioned(redundancy, ill_conditioned, columns.floor)

    def use_single(self, columns: Columns) -> None:
        """Use bounds in single precision from now on."""
        self._columns = columns
        self._state = self._state._replace(lower_bound=np.empty(self.relevance.size))
        rebuild_bounds(self.size, columns, self._state, self._chosen)

    def _add_ill_conditioned(
        self, redundancy: Redundancy, ill_conditioned: IntArray, floor: float
    ) -> None:
        """Add the similarities of ill-conditioned features with the last choice."""
        state, s = self._state, self.train_set
        j = int(self._chosen.order[self.size - 1])
        if j in ill_conditioned:
            weight = redundancy.columns(s).weight
            self._chosen.weighted[self.size - 1] = weight * redundancy.unit_column(s, j)
        r = redundancy.correlations(s, j, ill_conditioned)
        similarity = np.where(r > COPY, 1.0, np.maximum(r, floor))
        state.similarity[ill_conditioned] += similarity
        state.known[ill_conditioned] = self.size


def _empty_chosen(n_chosen: int, n_rows: int) -> Chosen:
    return Chosen(
        np.zeros(n_chosen, dtype=np.intp),
        np.empty((n_chosen, n_rows)),
        np.zeros((n_chosen, -(-n_rows // LANES) * LANES), dtype=np.float32),
        np.zeros(n_chosen),
        np.zeros(n_chosen),
    )


def search_together(
    searches: Sequence[ForwardSearch],
    redundancy: Redundancy,
    n_steps: int,
    tick: Callable[[], None] | None = None,
    n_threads: int = 1,
) -> None:
    """Take `n_steps` steps in every search.

    Searches share the features, and bounds in single precision where they are needed.
    `tick`, if given, is called after every step of a single search, after every
    `_STEPS_PER_REPORT` steps of several in one training set, and never where there are
    several training sets.
    """
    n_steps = min(n_steps, searches[0].n_left)
    if n_steps < 1:
        return
    groups: dict[int, list[ForwardSearch]] = {}
    n_rows = redundancy.columns(searches[0].train_set).weight.size
    for search in searches:
        search.allocate(n_steps, n_rows)
        groups.setdefault(search.train_set, []).append(search)
    begin, end = searches[0].n_steps, searches[0].n_steps + n_steps
    watched = tick is not None and len(groups) == 1
    at_once = n_steps if not watched else 1 if len(searches) == 1 else _STEPS_PER_REPORT
    for goal in [*range(begin + at_once, end, at_once), end]:
        # Threads for the training sets, or else for the searches in one.
        inner = n_threads if len(groups) == 1 else 1
        jobs = [(group, redundancy, goal, inner) for group in groups.values()]
        run_jobs(_search_in_one_set, jobs, n_threads)
        if tick is not None and watched:
            tick()


def _search_in_one_set(
    searches: Sequence[ForwardSearch], redundancy: Redundancy, goal: int, n_threads: int
) -> None:
    """Search; where that takes many comparisons, with bounds in single precision.

    There are no such bounds where features are ill-conditioned: beside an outlier
    single precision leaves no digits of the other values.
    """
    ill_conditioned = redundancy.ill_conditioned(searches[0].train_set).size > 0
    max_share = {k: np.inf if ill_conditioned else v for k, v in _MAX_SHARE.items()}
    jobs = [
        (search, redundancy, goal, max_share[search.tradeoff.kind])
        for search in searches
    ]
    run_jobs(ForwardSearch.extend, jobs, n_threads)
    slow = [search for search in searches if search.n_steps < goal]
    if not slow:
        return
    columns = redundancy.columns(slow[0].train_set, single=True)
    if columns.single.size:
        if len(searches) > 1:
            columns = _with_bounds(columns, searches, slow, n_threads)
        run_jobs(
            ForwardSearch.use_single, [(search, columns) for search in slow], n_threads
        )
    run_jobs(
        ForwardSearch.extend,
        [(search, redundancy, goal, np.inf) for search in slow],
        n_threads,
    )


def _with_bounds(
    columns: Columns,
    searches: Sequence[ForwardSearch],
    slow: Sequence[ForwardSearch],
    n_threads: int,
) -> Columns:
    """Compute bounds of all features with those that slow searches probably choose.

    These are the features they have chosen already, and those that at least half of
    the other searches have chosen.
    """
    weighted_columns: dict[int, NDArray[np.float32]] = {}
    for search in searches:
        weighted_columns |= search.weighted_columns
    votes = Counter(
        j for search in searches if search not in slow for j in search.order
    )
    agreed = {j for j in votes if 2 * votes[j] >= len(searches) - len(slow)}
    wanted = sorted(agreed.union(*(search.order for search in slow)))
    wanted = wanted[: columns.weight.size]  # no more memory than half of X
    p = columns.inverse.size
    bounds, bound_row = np.empty((len(wanted), p), np.float32), np.full(p, -1, np.int32)
    bound_row[wanted] = np.arange(len(wanted))
    weighted_single = np.stack([weighted_columns[j] for j in wanted])
    jobs = [
        (columns, weighted_single, lo, hi, bounds) for lo, hi in spans(p, p // 1000)
    ]
    run_jobs(write_bounds, jobs, n_threads)
    return columns._replace(bounds=bounds, bound_row=bound_row)


def append_rest(order: Sequence[int], rest: IntArray) -> IntArray:
    """Append the features that are not in an order, in the order of `rest`."""
    left_out = np.ones(rest.size, dtype=bool)
    left_out[list(order)] = False
    return np.concatenate([np.array(order, dtype=np.intp), rest[left_out[rest]]])


def take_turns(orders: Sequence[Sequence[int]], n_wanted: int) -> list[int]:
    """Merge orders: each in turn gives its best feature not yet taken.

    Stops at the end of an order, because its next feature is not known.
    """
    taken: dict[int, None] = {}
    iterators = [iter(order) for order in orders]
    while len(taken) < n_wanted:
        for features in iterators:
            found = next((j for j in features if j not in taken), None)
            if found is None:
                return list(taken)
            taken[found] = None
            if len(taken) == n_wanted:
                break
    return list(taken)
