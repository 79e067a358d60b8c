"""Permutations of the outcome that leave no trace of groups.

Samples of one group resemble each other, so their outcomes must not be permuted as if
they were independent: a classifier that recognises the group would look worse on
permuted outcomes than it is without any signal. What is permuted are units:

- where the outcome is constant within a group, the group; outcomes move between groups
  of equal size;
- where it varies within a group, its samples; outcomes move within the group;
- of nested groups, where it varies within an outermost group but is constant within an
  innermost one, the innermost one; outcomes move within the outermost group, between
  innermost groups of equal size.

Groups of equal size may be too few for a permutation test. Then outcomes that are
constant within groups move between groups of any size, which assumes that the size of a
group does not depend on its outcome.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations

import numpy as np

from veridical._core.arrays import BoolArray, IntArray

#: Ways to arrange the outcomes; with fewer, groups of different size are exchanged too.
_FEWEST_ARRANGEMENTS = 1000


class OutcomePermuter:
    """Draws permutations of the outcome, by groups where there are any.

    Parameters
    ----------
    outcome : int array of shape (n,)
        A number for each different outcome; for classes their codes.
    groups, subgroups : int arrays of shape (n,), optional
        Outermost and innermost groups.
    as_strata : bool, default=False
        Whether `groups` are strata: outcomes never move between them, also where they
        are constant within them.

    Examples
    --------
    The outcome is constant within three groups of two samples:

    >>> outcome, groups = np.array([1, 1, 0, 0, 0, 0]), np.array([0, 0, 1, 1, 2, 2])
    >>> permuter = OutcomePermuter(outcome, groups)
    >>> rows = permuter.draw(np.random.default_rng(0))
    >>> outcome[rows].reshape(3, 2).tolist()
    [[0, 0], [0, 0], [1, 1]]
    """

    def __init__(
        self,
        outcome: IntArray,
        groups: IntArray | None = None,
        subgroups: IntArray | None = None,
        *,
        as_strata: bool = False,
    ) -> None:
        self.n = len(outcome)
        self.groups = groups
        self._outcome = outcome
        if groups is None:
            return
        whole = _is_constant(outcome, groups)[groups] & (not as_strata)
        inner = np.arange(self.n)
        part = np.zeros(self.n, dtype=bool)  # in an innermost group that moves whole
        if subgroups is not None:
            part = _is_constant(outcome, subgroups)[subgroups] & ~whole
            inner = subgroups
        self.moves_groups = bool(whole.any())
        self.moves_within = bool((~whole).any())
        # Units are numbered: groups first, then innermost groups, then samples.
        n_groups = int(groups.max()) + 1
        n_inner = 0 if subgroups is None else int(subgroups.max()) + 1
        rows = np.arange(self.n)
        number = np.where(
            whole,
            groups,
            np.where(part, n_groups + inner, n_groups + n_inner + rows),
        )
        _, first, self._unit, sizes = np.unique(
            number, return_index=True, return_inverse=True, return_counts=True
        )
        self._row_of_unit = first
        # Outcomes move between units of the same block and size.
        outer = np.where(whole, -1, groups)[first]
        if subgroups is not None:  # samples stay within their innermost group
            alone = ~whole[first] & ~part[first]
            outer = np.where(alone, n_groups + subgroups[first], outer)
        self.equal_sizes = True
        blocks = _number_pairs(outer, sizes)
        between = outer == -1
        if between.any() and _log_arrangements(
            outcome[first][between], blocks[between]
        ) < math.log(_FEWEST_ARRANGEMENTS):
            self.equal_sizes = bool(np.ptp(sizes[between]) == 0)
            blocks = _number_pairs(outer, np.where(between, 0, sizes))
        self._blocks = blocks
        self._base = np.argsort(blocks, kind="stable")

    def draw(self, rng: np.random.Generator) -> IntArray:
        """Draw a permutation: for every sample, the sample whose outcome it gets."""
        if self.groups is None:
            return rng.permutation(self.n)
        mixed = np.lexsort((rng.random(len(self._blocks)), self._blocks))
        source = np.empty(len(mixed), dtype=np.intp)
        source[self._base] = self._row_of_unit[mixed]
        return source[self._unit]

    def enumerate_others(self) -> Iterator[IntArray]:
        """Yield an order for every arrangement of the outcome but the true one.

        There are `n_ways` - 1 of them.
        """
        outcome, blocks = self._units
        mixed = [np.flatnonzero(blocks == block) for block in np.unique(blocks)]
        mixed = [units for units in mixed if np.ptp(outcome[units])]
        source = np.arange(len(outcome))

        def fill(mixed: list[IntArray]) -> Iterator[None]:
            if not mixed:
                yield
                return
            for order in _arrangements(outcome[mixed[0]]):
                source[mixed[0]] = mixed[0][order]
                yield from fill(mixed[1:])

        for _ in fill(mixed):
            if (outcome[source] == outcome).all():
                continue
            if self.groups is None:
                yield source.copy()
            else:
                yield self._row_of_unit[source][self._unit]

    @property
    def n_ways(self) -> float:
        """Number of different arrangements of the outcome; infinite if very large."""
        size = _log_arrangements(*self._units)
        return round(math.exp(size)) if size < 30 else math.inf

    @property
    def n_renamings(self) -> float:
        """Number of ways to exchange classes that give another arrangement.

        These are classes of equal size, in every block. A score that treats classes
        alike is the same for all these arrangements.
        """
        outcome, blocks = self._units
        counts = np.zeros((int(outcome.max()) + 1, int(blocks.max()) + 1), np.intp)
        np.add.at(counts, (outcome, blocks), 1)
        alike = np.unique(counts[counts.any(axis=1)], axis=0, return_counts=True)[1]
        return math.exp(sum(math.lgamma(n + 1) for n in alike))

    @property
    def _units(self) -> tuple[IntArray, IntArray]:
        """Outcome and block of every unit."""
        if self.groups is None:
            return self._outcome, np.zeros(self.n, dtype=np.intp)
        return self._outcome[self._row_of_unit], self._blocks

    def describe(self) -> str:
        """Say what is permuted; empty where there are no groups."""
        if self.groups is None:
            return ""
        said = []
        if self.moves_groups:
            sizes = "of equal size" if self.equal_sizes else "of any size"
            said.append(f"between groups {sizes}, where they are constant within them")
        if self.moves_within:
            said.append("within groups, where they vary")
        return ", and ".join(said)


def _is_constant(outcome: IntArray, groups: IntArray) -> BoolArray:
    """Return for each group whether all its outcomes are the same."""
    n = int(groups.max()) + 1
    low, high = np.full(n, np.iinfo(np.intp).max), np.full(n, -1)
    np.minimum.at(low, groups, outcome)
    np.maximum.at(high, groups, outcome)
    return low == high


def _number_pairs(a: IntArray, b: IntArray) -> IntArray:
    """Give each different pair of two arrays a number."""
    pairs = np.column_stack([a, b])
    return np.unique(pairs, axis=0, return_inverse=True)[1].reshape(-1).astype(np.intp)


def _arrangements(outcome: IntArray) -> Iterator[IntArray]:
    """Yield, for every different order of the outcome, which element comes where."""
    kinds = [np.flatnonzero(outcome == one) for one in np.unique(outcome)]
    order = np.empty(len(outcome), dtype=np.intp)

    def fill(free: list[int], kinds: list[IntArray]) -> Iterator[IntArray]:
        if not kinds:
            yield order.copy()
            return
        for places in combinations(free, len(kinds[0])):
            order[list(places)] = kinds[0]
            yield from fill([i for i in free if i not in places], kinds[1:])

    return fill(list(range(len(outcome))), kinds)


def _log_arrangements(outcome: IntArray, blocks: IntArray) -> float:
    """Return the logarithm of the number of ways to arrange outcomes in blocks."""
    total = 0.0
    for block in np.unique(blocks):
        counts = np.unique(outcome[blocks == block], return_counts=True)[1]
        total += math.lgamma(counts.sum() + 1)
        total -= sum(math.lgamma(count + 1) for count in counts)
    return total
