"""Add the best next feature, again and again, weighing relevance against repetition.

References
----------
.. [1] C. H. Ooi, M. Chetty & S. W. Teng, "Differential prioritization between
   relevance and redundancy in correlation-based feature selection techniques for
   multiclass gene expression data", BMC Bioinformatics 7:320 (2006).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from veridical._records import FloatArray, IntArray
from veridical.kernels.ordering import order_by_score
from veridical.kernels.threads import run, spans
from veridical.kernels.tradeoff import (
    DIFFERENCE,
    PRIORITIZED,
    QUOTIENT,
    SAME,
    Chosen,
    Columns,
    State,
    absorb,
    advance,
    correlate,
)

# A climb that makes more than this share of all comparisons had better share them;
# looked at after so many steps at a time.
_FEW, _AT_ONCE = 0.6, 20


class Redundancy(Protocol):
    """How much features repeat each other, in each training set."""

    def columns(self, s: int) -> Columns:
        """All columns as training set `s` sees them."""

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
        self._done = np.zeros(2)
        p = relevance.size
        self._state = State(
            np.ascontiguousarray(relevance), np.zeros(p), np.zeros(p, dtype=np.int32)
        )
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
            for old, new in zip(self._chosen, grown, strict=True):
                new[: self.size] = old[: self.size]
        self._chosen = grown

    @property
    def looked(self) -> float:
        """Share of all comparisons of features with chosen ones that were made."""
        known = self._state.known
        return float(known.sum()) / max(1, self.size * known.size)

    @property
    def last(self) -> int:
        """The feature chosen last."""
        return int(self._chosen.order[self.size - 1])

    @property
    def force(self) -> FloatArray:
        """The feature chosen last, ready to be correlated with others."""
        return self._chosen.force[self.size - 1]

    def step(self, redundancy: Redundancy, columns: Columns, n_steps: int) -> None:
        """Choose the next features."""
        fragile = redundancy.fragile(self.train_set)
        at_once = 1 if fragile.size else n_steps
        for _ in range(0, n_steps, at_once):
            self._hint = advance(
                at_once,
                self.size,
                self.tradeoff.kind,
                self.tradeoff.alpha,
                self._hint,
                self._done,
                columns,
                self._state,
                self._chosen,
            )
            self.size += at_once
            if fragile.size:
                self._tend(redundancy, fragile, columns.floor)

    def absorb(self, correlations: FloatArray, fragile: IntArray) -> None:
        """Be told how much every feature repeats the last one chosen."""
        similarity, known = self._state.similarity, self._state.known
        tended = similarity[fragile]
        absorb(similarity, known, correlations)
        similarity[fragile], known[fragile] = tended, self.size

    def catch_up(self, shared: Shared, redundancy: Redundancy) -> None:
        """Compare every feature with all chosen ones; others can then be absorbed."""
        similarity, known = self._state.similarity, self._state.known
        fragile, taken = redundancy.fragile(self.train_set), np.isinf(similarity)
        tended = similarity[fragile]
        found = shared.find(dict(zip(self.order, self._chosen.force, strict=False)))
        similarity[:], known[:] = 0.0, 0
        for j in self.order:
            absorb(similarity, known, found[j])
        similarity[fragile] = tended
        similarity[taken] = np.inf

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
        np.zeros(n_chosen),
        np.zeros(n_chosen),
    )


class Shared:
    """Correlations that several climbs in one training set have use for.

    Parameters
    ----------
    columns : Columns
        The training set.
    n_threads : int
        Threads to take correlations with.
    """

    def __init__(self, columns: Columns, n_threads: int) -> None:
        self._columns, self._n_threads = columns, n_threads
        self._known: dict[int, FloatArray] = {}
        self._most = max(16, columns.weight.size)  # as much as X

    def find(self, new: Mapping[int, FloatArray]) -> dict[int, FloatArray]:
        """Correlations of every feature with these, given ready to be correlated."""
        found = {j: self._known[j] for j in new if j in self._known}
        missing = [j for j in new if j not in found]
        if missing:
            n_features = self._columns.inverse.size
            force = np.stack([new[j] for j in missing])
            out = np.empty((len(missing), n_features))
            jobs = [
                (self._columns, force, lo, hi, out)
                for lo, hi in spans(n_features, self._n_threads, minimum=1000)
            ]
            run(correlate, jobs, self._n_threads)
            found |= dict(zip(missing, out, strict=True))
            if len(self._known) < self._most:
                self._known |= found
        return found


def climb_together(
    climbs: Sequence[Climb],
    redundancy: Redundancy,
    n_steps: int,
    tick: Callable[[], None] | None = None,
    n_threads: int = 1,
) -> None:
    """Take `n_steps` steps in every climb.

    Climbs in one training set share the correlations of the features they choose,
    which are often the same; training sets have nothing to share but the columns.
    `tick`, if given, is called after every step, or after several of a climb that is
    one of many.
    """
    n_steps = min(n_steps, climbs[0].relevance.size - climbs[0].size)
    if n_steps < 1:
        return
    groups: dict[int, list[Climb]] = {}
    for climb in climbs:
        groups.setdefault(climb.train_set, []).append(climb)
    alone = n_threads if len(groups) == 1 else 1

    def work(group: list[Climb]) -> None:
        columns = redundancy.columns(group[0].train_set)
        for climb in group:
            climb.make_room(n_steps, columns.weight.size)
        if len(group) > 1:
            # Sets are worked on by several threads; only one may report.
            watched = tick if len(groups) == 1 else None
            _share(group, redundancy, columns, n_steps, watched, alone)
        elif tick is None or len(groups) > 1:
            group[0].step(redundancy, columns, n_steps)
        else:
            for _ in range(n_steps):
                group[0].step(redundancy, columns, 1)
                tick()

    run(work, [(group,) for group in groups.values()], n_threads)


def _share(
    climbs: Sequence[Climb],
    redundancy: Redundancy,
    columns: Columns,
    n_steps: int,
    tick: Callable[[], None] | None,
    n_threads: int,
) -> None:
    """Climb alone as long as that takes few comparisons, else share them.

    The more relevance counts, the fewer features are worth a comparison. What a climb
    chooses does not depend on whether it shares.
    """
    shared = Shared(columns, n_threads)
    sharing = set[int]()
    for start in range(0, n_steps, _AT_ONCE):
        n_now = min(_AT_ONCE, n_steps - start)
        alone = [climb for k, climb in enumerate(climbs) if k not in sharing]
        jobs = [(climb, redundancy, columns, n_now) for climb in alone]
        run(_step, jobs, n_threads)
        together = [climbs[k] for k in sorted(sharing)]
        if together:
            _side_by_side(together, redundancy, columns, n_now, shared, n_threads)
        for k, climb in enumerate(climbs):
            if k not in sharing and climb.looked > _FEW:
                sharing.add(k)
                climb.catch_up(shared, redundancy)
        if tick is not None:
            tick()


def _step(climb: Climb, redundancy: Redundancy, columns: Columns, n_steps: int) -> None:
    climb.step(redundancy, columns, n_steps)


def _side_by_side(
    climbs: Sequence[Climb],
    redundancy: Redundancy,
    columns: Columns,
    n_steps: int,
    shared: Shared,
    n_threads: int,
) -> None:
    """Step through one training set together; every choice is compared with all."""
    fragile = redundancy.fragile(climbs[0].train_set)
    parts = [climbs[k::n_threads] for k in range(min(n_threads, len(climbs)))]
    found: dict[int, FloatArray] = {}

    def step(part: Sequence[Climb]) -> None:
        for climb in part:
            if found:
                climb.absorb(found[climb.last], fragile)
            climb.step(redundancy, columns, 1)

    for _ in range(n_steps):
        run(step, [(part,) for part in parts], n_threads)
        found = shared.find({climb.last: climb.force for climb in climbs})
    for climb in climbs:
        climb.absorb(found[climb.last], fragile)


def complete(order: Sequence[int], relevance: FloatArray) -> IntArray:
    """Continue an order with the features left out, by relevance."""
    rest = order_by_score(relevance)
    left_out = np.ones(relevance.size, dtype=bool)
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
