"""Orders of the outcome, and halves of the samples, that respect groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from veridical._core.arrays import IntArray
from veridical._core.errors import InputError
from veridical._core.permutations import OutcomePermuter
from veridical._core.seeds import Purpose, as_generator, stream
from veridical._core.table import Table

#: Orders that are drawn from one stream of random numbers.
CHUNK = 250
#: Bytes of the orders that are drawn together; of many samples they are fewer.
ORDERS_BYTES = 1 << 25
# Kinds of streams.
_ORDERS, _HALVES = 0, 1


@dataclass(frozen=True, eq=False)
class Permutations:
    """Orders of the outcome: random ones, or every other arrangement once.

    Parameters
    ----------
    permuter : OutcomePermuter
        Draws an order that respects groups or strata.
    seed : int
        Root of the random numbers.
    words : str
        What is exchanged, for the record.
    inside : str
        Inside which samples only: "within groups", "inside strata", or empty.
    exhaustive : bool, default=False
        Whether all arrangements but the true one take the place of random orders.
    """

    permuter: OutcomePermuter
    seed: int
    words: str
    inside: str = ""
    exhaustive: bool = False

    def enumerated(self) -> Permutations:
        """Return all arrangements but the true one, in place of random orders."""
        words = self.words.removesuffix(".")
        words = f"{words}, in all {self.permuter.n_ways:.0f} different ways."
        return replace(self, words=words, exhaustive=True)

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return self.permuter.n

    def chunks(self, n: int) -> Iterator[IntArray]:
        """Yield n orders in arrays of at most `CHUNK`, and `ORDERS_BYTES`."""
        row = np.arange(self.n_samples)
        most = min(CHUNK, max(1, ORDERS_BYTES // row.nbytes))
        if self.exhaustive:
            others = islice(self.permuter.enumerate_others(), n)
            while some := list(islice(others, most)):
                yield np.stack(some)
            return
        for number, start in enumerate(range(0, n, CHUNK)):
            rng = as_generator(stream(self.seed, Purpose.DISCOVERY, _ORDERS, number))
            end = min(CHUNK, n - start)
            for first in range(0, end, most):
                size = min(most, end - first)
                if self.permuter.groups is not None:
                    yield np.stack([self.permuter.draw(rng) for _ in range(size)])
                    continue
                orders = np.tile(row, (size, 1))
                yield rng.permuted(orders, axis=1, out=orders)

    def draw(self, n: int) -> IntArray:
        """Draw n orders, of shape (n, n_samples)."""
        if n == 0:
            return np.empty((0, self.n_samples), dtype=np.intp)
        return np.concatenate(list(self.chunks(n)))


def make_permutations(table: Table, strata: IntArray | None, seed: int) -> Permutations:
    """Decide which outcomes may be exchanged.

    Parameters
    ----------
    table : Table
        The samples; its groups are kept.
    strata : int array of shape (n_samples,) or None
        Samples exchange outcomes inside their stratum only.
    seed : int
        Root of the random numbers.

    Raises
    ------
    InputError
        If nothing can be exchanged, or both groups and strata are given.
    """
    codes = np.unique(table.labels, return_inverse=True)[1].reshape(-1)
    if strata is None:
        permuter = OutcomePermuter(codes, table.groups, table.subgroups)
        words = permuter.describe() or "between all samples"
        words = f"Outcomes are exchanged {words}."
        grouped = table.groups is not None and not permuter.moves_groups
        inside = "within groups" if grouped else ""
    else:
        if table.groups is not None:
            raise InputError(
                "groups and strata are given together; give one of them. Of groups "
                "whose outcome varies, outcomes are exchanged inside groups anyway."
            )
        permuter = OutcomePermuter(codes, strata, as_strata=True)
        words = "Outcomes are exchanged inside strata."
        inside = "inside strata"
    made = Permutations(permuter, seed, words, inside)
    if all((codes[order] == codes).all() for order in made.draw(20)):
        raise InputError(
            "No two samples with different outcomes may exchange them: every group or "
            "stratum stands alone. Use larger strata, or leave groups or strata out."
        )
    return made


def _blocks(block: IntArray) -> list[IntArray]:
    order = np.argsort(block, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(block[order])) + 1)


def draw_pairs(table: Table, n_pairs: int, seed: int) -> list[IntArray]:
    """Draw complementary pairs of halves, one half after the other.

    Both halves of a pair have the same number of samples of every class, or of events
    and censored times; groups stay whole.

    Parameters
    ----------
    table : Table
        The samples.
    n_pairs : int
        Number of pairs.
    seed : int
        Root of the random numbers.

    Returns
    -------
    list of int arrays
        Rows of 2 × `n_pairs` halves, ascending.
    """
    strata = _kinds_of_samples(table)
    units: list[Any] = [np.array([i]) for i in range(table.n_samples)]
    if table.groups is not None:
        units = _blocks(table.groups)
    kind = np.array([strata[rows[0]] for rows in units])
    halves = []
    for number in range(n_pairs):
        rng = as_generator(stream(seed, Purpose.DISCOVERY, _HALVES, number))
        # With one unit of every kind, halves are empty.
        first: list[IntArray] = [np.empty(0, dtype=np.intp)]
        second: list[IntArray] = [np.empty(0, dtype=np.intp)]
        for own in _blocks(kind):
            shuffled = rng.permutation(own)
            middle = own.size // 2
            first += [units[u] for u in shuffled[:middle]]
            second += [units[u] for u in shuffled[middle : 2 * middle]]
        halves += [np.sort(np.concatenate(first)), np.sort(np.concatenate(second))]
    return halves


def _kinds_of_samples(table: Table) -> IntArray:
    """Return the kinds of samples that both halves need: classes, or events."""
    if table.kind == "numbers":
        return np.zeros(table.n_samples, dtype=np.intp)
    return np.unique(table.target.strata, return_inverse=True)[1].reshape(-1)
