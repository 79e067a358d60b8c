"""Add the best next feature, again and again, weighing relevance against repetition.

References
----------
.. [1] C. H. Ooi, M. Chetty & S. W. Teng, "Differential prioritization between
   relevance and redundancy in correlation-based feature selection techniques for
   multiclass gene expression data", BMC Bioinformatics 7:320 (2006).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from veridical._records import FloatArray, IntArray
from veridical.kernels.ordering import order_by_score
from veridical.kernels.tradeoff import (
    best_difference,
    best_prioritized,
    best_quotient,
)


class Redundancy(Protocol):
    """How much every feature repeats a given one, in each training set."""

    def prepare(self, columns: set[int]) -> None:
        """Do the work that training sets share for these features."""

    def add_to(self, similarity: FloatArray, s: int, j: int) -> None:
        """Add every feature's similarity with feature `j` in training set `s`."""


@dataclass
class Climb:
    """One incremental search in one training set, as far as it has come.

    Parameters
    ----------
    relevance : array of shape (n_features,)
        Finite and not negative.
    tradeoff : callable
        Given the climb, the best next feature.
    train_set : int
        Which training set it works in.
    """

    relevance: FloatArray
    tradeoff: Callable[[Climb], int]
    train_set: int
    order: list[int] = field(default_factory=list)
    gathered: float = 0.0
    apart: float = 0.0
    relevance_path: list[float] = field(default_factory=list)
    antiredundancy_path: list[float] = field(default_factory=list)
    similarity: FloatArray = field(init=False)
    taken: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        self.similarity = np.zeros(self.relevance.size)
        self.taken = np.zeros(self.relevance.size, dtype=bool)

    def step(self) -> int:
        """Choose the next feature and note the mean relevance and antiredundancy."""
        j = self.tradeoff(self)
        size = len(self.order)
        self.gathered += float(self.relevance[j])
        self.apart += size - float(self.similarity[j])
        self.order.append(j)
        self.taken[j] = True
        self.relevance_path.append(self.gathered / (size + 1))
        self.antiredundancy_path.append(2.0 * self.apart / (size + 1) ** 2)
        return j


@dataclass(frozen=True)
class Prioritized:
    """Largest ``V^alpha U^(1 - alpha)``: mean relevance against antiredundancy."""

    alpha: float

    def __call__(self, climb: Climb) -> int:
        """Return the best next feature."""
        return best_prioritized(
            climb.relevance,
            climb.similarity,
            climb.taken,
            len(climb.order),
            climb.gathered,
            climb.apart,
            self.alpha,
        )


def quotient(climb: Climb) -> int:
    """Largest relevance divided by mean similarity with the chosen."""
    return best_quotient(
        climb.relevance, climb.similarity, climb.taken, len(climb.order)
    )


def difference(climb: Climb) -> int:
    """Largest relevance less mean similarity with the chosen."""
    return best_difference(
        climb.relevance, climb.similarity, climb.taken, len(climb.order)
    )


def climb_together(
    climbs: Sequence[Climb],
    redundancy: Redundancy,
    n_steps: int,
    tick: Callable[[], None] = lambda: None,
    n_threads: int = 1,
) -> None:
    """Take `n_steps` steps in every climb, side by side.

    Climbs in different training sets choose many of the same features; stepping
    together, they pay for each only once. `tick` is called after every step.
    """
    n_steps = min(n_steps, climbs[0].relevance.size - len(climbs[0].order))

    def settle(group: Sequence[Climb]) -> None:
        for climb in group:
            redundancy.add_to(climb.similarity, climb.train_set, climb.order[-1])

    n_threads = min(n_threads, len(climbs))
    groups = [climbs[k::n_threads] for k in range(n_threads)]
    with ThreadPoolExecutor(n_threads) as pool:
        each = pool.map if n_threads > 1 else map
        for _ in range(n_steps):
            redundancy.prepare({climb.step() for climb in climbs})
            deque(each(settle, groups), maxlen=0)
            tick()


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
