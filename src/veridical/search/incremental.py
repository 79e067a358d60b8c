"""Add the best next feature, again and again, weighing relevance against repetition.

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
    LANES,
    SAME,
    Chosen,
    Columns,
    State,
    catch_up,
    write_table,
)
from veridical.kernels.threads import run, spans
from veridical.kernels.tradeoff import DIFFERENCE, PRIORITIZED, QUOTIENT, advance

# Where a step takes comparisons with more than this share of all features, a draft of
# the columns is quicker; mRMR compares many features at first and few later on.
_PATIENCE = {PRIORITIZED: 0.35, QUOTIENT: np.inf, DIFFERENCE: np.inf}
_AT_ONCE = 10  # steps of many climbs between two reports


class Redundancy(Protocol):
    """How much features repeat each other, in each training set."""

    def columns(self, s: int, *, draft: bool = False) -> Columns:
        """All columns as training set `s` sees them, with a draft if there is one."""

    def fragile(self, s: int) -> IntArray:
        """Columns whose correlations in set `s` have to be taken by `alone`."""

    def alone(self, s: int, j: int) -> FloatArray:
        """Column `j`, centred over the rows of set `s` and of length 1."""


@dataclass(frozen=True)
class Tradeoff:
    """How to weigh relevance against similarity with the chosen features."""

    kind: int
    alpha: float = 1.0


def prioritized(alpha: float) -> Tradeoff:
    """Largest ``V^alpha U^(1 - alpha)``: mean relevance against antiredundancy."""
    return Tradeoff(PRIORITIZED, alpha)


#: Largest relevance divided by mean similarity with the chosen.
quotient = Tradeoff(QUOTIENT)
#: Largest relevance less mean similarity with the chosen.
difference = Tradeoff(DIFFERENCE)


class Climb:
    """One incremental search in one training set, as far as it has come.

    Parameters
    ----------
    relevance : array of shape (n_features,)
        Finite and not negative.
    tradeoff : Tradeoff
        What the best next feature is.
    train_set : int
        Which training set it works in.
    """

    def __init__(
        self, relevance: FloatArray, tradeoff: Tradeoff, train_set: int
    ) -> None:
        self.relevance, self.tradeoff, self.train_set = relevance, tradeoff, train_set
        self.size = 0
        self._hint = -1
        self._done = np.zeros(3)
        p = relevance.size
        similarity, known = np.zeros(p), np.zeros(p, dtype=np.int32)
        relevance = np.ascontiguousarray(relevance)
        self._state = State(relevance, similarity, known, similarity)
        self._columns: Columns | None = None
        self._chosen = _room_for(0, 0)

    @property
    def order(self) -> list[int]:
        """The features chosen so far."""
        return self._chosen.order[: self.size].tolist()

    @property
    def relevance_path(self) -> FloatArray:
        """Mean relevance of the first 1, 2, 3, … features."""
        return self._chosen.mean_relevance[: self.size].copy()

    @property
    def antiredundancy_path(self) -> FloatArray:
        """Mean antiredundancy of the first 1, 2, 3, … features."""
        return self._chosen.antiredundancy[: self.size].copy()

    def make_room(self, n_steps: int, n_rows: int) -> None:
        """Get ready for `n_steps` more steps."""
        grown = _room_for(self.size + n_steps, n_rows)
        if self.size:
            for name in Chosen._fields:
                old, new = getattr(self._chosen, name), getattr(grown, name)
                new[: self.size] = old[: self.size]
        self._chosen = grown

    @property
    def forces(self) -> dict[int, NDArray[np.float32]]:
        """The features chosen so far, ready to be correlated in single precision."""
        return dict(zip(self.order, self._chosen.sharp, strict=False))

    def climb(self, redundancy: Redundancy, goal: int, patience: float) -> None:
        """Choose features until there are `goal`, or it takes more than `patience`."""
        if self._columns is None:
            self._columns = redundancy.columns(self.train_set)
        fragile = redundancy.fragile(self.train_set)
        while self.size < goal:
            now = self.size + 1 if fragile.size else goal
            size, self._hint = advance(
                now,
                self.size,
                patience,
                self.tradeoff.kind,
                self.tradeoff.alpha,
                self._hint,
                self._done,
                self._columns,
                self._state,
                self._chosen,
            )
            arrived, self.size = size == now, size
            if not arrived:
                return
            if fragile.size:
                self._tend(redundancy, fragile, self._columns.floor)

    def take(self, columns: Columns) -> None:
        """Use a draft of the columns from now on."""
        self._columns = columns
        self._state = self._state._replace(least=np.empty(self.relevance.size))
        catch_up(self.size, columns, self._state, self._chosen)

    def _tend(self, redundancy: Redundancy, fragile: IntArray, floor: float) -> None:
        """Take the correlations of fragile columns with the last choice, one by one."""
        state, s = self._state, self.train_set
        j = int(self._chosen.order[self.size - 1])
        column = redundancy.alone(s, j)
        weight = redundancy.columns(s).weight
        if j in fragile:
            self._chosen.force[self.size - 1] = weight * column
        for k in fragile:
            r = abs(float((weight * column) @ redundancy.alone(s, int(k))))
            state.similarity[k] += 1.0 if r > SAME else max(r, floor)
            state.known[k] = self.size


def _room_for(n_chosen: int, n_rows: int) -> Chosen:
    return Chosen(
        np.zeros(n_chosen, dtype=np.intp),
        np.empty((n_chosen, n_rows)),
        np.zeros((n_chosen, -(-n_rows // LANES) * LANES), dtype=np.float32),
        np.zeros(n_chosen),
        np.zeros(n_chosen),
    )


def climb_together(
    climbs: Sequence[Climb],
    redundancy: Redundancy,
    n_steps: int,
    tick: Callable[[], None] | None = None,
    n_threads: int = 1,
) -> None:
    """Take `n_steps` steps in every climb.

    Climbs share the columns, and a draft of them where one needs it. `tick`, if given,
    is called after every step, or after several of climbs in one training set; never
    where there are several sets.
    """
    n_steps = min(n_steps, climbs[0].relevance.size - climbs[0].size)
    if n_steps < 1:
        return
    groups: dict[int, list[Climb]] = {}
    n_rows = redundancy.columns(climbs[0].train_set).weight.size
    for climb in climbs:
        climb.make_room(n_steps, n_rows)
        groups.setdefault(climb.train_set, []).append(climb)
    begin, end = climbs[0].size, climbs[0].size + n_steps
    watched = tick is not None and len(groups) == 1
    at_once = n_steps if not watched else 1 if len(climbs) == 1 else _AT_ONCE
    for goal in [*range(begin + at_once, end, at_once), end]:
        # Threads for the training sets, or else for the climbs in one.
        inner = n_threads if len(groups) == 1 else 1
        jobs = [(group, redundancy, goal, inner) for group in groups.values()]
        run(_climb_in_one_set, jobs, n_threads)
        if tick is not None and watched:
            tick()


def _climb_in_one_set(
    climbs: Sequence[Climb], redundancy: Redundancy, goal: int, n_threads: int
) -> None:
    """Climb, first where few comparisons do, then with a draft of the columns.

    There is no draft where columns are fragile: it would be made of what is left of
    them beside their outliers.
    """
    fragile = redundancy.fragile(climbs[0].train_set).size > 0
    patience = {k: np.inf if fragile else v for k, v in _PATIENCE.items()}
    jobs = [(one, redundancy, goal, patience[one.tradeoff.kind]) for one in climbs]
    run(Climb.climb, jobs, n_threads)
    slow = [climb for climb in climbs if climb.size < goal]
    if not slow:
        return
    columns = redundancy.columns(slow[0].train_set, draft=True)
    if columns.draft.size:
        if len(climbs) > 1:
            columns = _with_table(columns, climbs, slow, n_threads)
        run(Climb.take, [(climb, columns) for climb in slow], n_threads)
    run(Climb.climb, [(one, redundancy, goal, np.inf) for one in slow], n_threads)


def _with_table(
    columns: Columns, climbs: Sequence[Climb], slow: Sequence[Climb], n_threads: int
) -> Columns:
    """Compare all features with those that the slow climbs will probably choose.

    They have chosen some already, and come to most of those that the others agree on.
    """
    forces: dict[int, NDArray[np.float32]] = {}
    for climb in climbs:
        forces |= climb.forces
    votes = Counter(j for climb in climbs if climb not in slow for j in climb.order)
    agreed = {j for j in votes if 2 * votes[j] >= len(climbs) - len(slow)}
    wanted = sorted(agreed.union(*(climb.order for climb in slow)))
    wanted = wanted[: columns.weight.size]  # no more memory than half of X
    p = columns.inverse.size
    table, place = np.empty((len(wanted), p), np.float32), np.full(p, -1, np.int32)
    place[wanted] = np.arange(len(wanted))
    sharp = np.stack([forces[j] for j in wanted])
    jobs = [(columns, sharp, lo, hi, table) for lo, hi in spans(p, p // 1000)]
    run(write_table, jobs, n_threads)
    return columns._replace(table=table, place=place)


def complete(order: Sequence[int], rest: IntArray) -> IntArray:
    """Continue an order with the features left out, as they follow in `rest`."""
    left_out = np.ones(rest.size, dtype=bool)
    left_out[list(order)] = False
    return np.concatenate([np.array(order, dtype=np.intp), rest[left_out[rest]]])


def take_turns(orders: Sequence[Sequence[int]], n_wanted: int) -> list[int]:
    """Merge orders: each in turn gives its best feature not yet taken.

    Stops when an order runs out, because what it would have given next is not known.
    """
    taken: dict[int, None] = {}
    places = [iter(order) for order in orders]
    while len(taken) < n_wanted:
        for place in places:
            found = next((j for j in place if j not in taken), None)
            if found is None:
                return list(taken)
            taken[found] = None
            if len(taken) == n_wanted:
                break
    return list(taken)
