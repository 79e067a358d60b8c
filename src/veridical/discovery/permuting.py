"""Random orders of the outcome, and halves of the samples, that respect groups.

Samples of one group (of one patient, say) are not independent. Where the outcome is the
same for all samples of a group, whole groups exchange their outcomes; where it varies
inside the groups, samples exchange outcomes inside their group only. Strata (of sites,
say) restrict every exchange to samples of one stratum.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.arrays import IntArray
from veridical._core.errors import InputError
from veridical._core.seeds import Purpose, as_generator, stream
from veridical._core.table import Table

#: Orders that are drawn together, from one stream of random numbers.
CHUNK = 250
# Kinds of streams.
_ORDERS, _HALVES = 0, 1


@dataclass(frozen=True, eq=False)
class Permutations:
    """Random orders of the outcome.

    Parameters
    ----------
    units : list of int arrays of shape (n_units, size)
        Rows that move together, one unit per line; units of one array exchange places.
    n_samples : int
        Number of samples; those in no unit keep their outcome.
    seed : int
        Root of the random numbers.
    words : str
        What is exchanged, for the record.
    """

    units: tuple[IntArray, ...]
    n_samples: int
    seed: int
    words: str

    def chunks(self, n: int) -> Iterator[IntArray]:
        """Yield n orders in arrays of at most `CHUNK`."""
        for number, start in enumerate(range(0, n, CHUNK)):
            rng = as_generator(stream(self.seed, Purpose.DISCOVERY, _ORDERS, number))
            size = CHUNK  # a shorter last chunk begins as a whole one does
            orders = np.tile(np.arange(self.n_samples), (size, 1))
            for units in self.units:
                places = np.tile(np.arange(len(units)), (size, 1))
                moved = rng.permuted(places, axis=1)
                orders[:, units.ravel()] = units[moved].reshape(size, -1)
            yield orders[: min(CHUNK, n - start)]

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
        If nothing can be exchanged.
    """
    n, groups = table.n_samples, table.groups
    block = np.zeros(n, dtype=np.intp) if strata is None else strata
    inside = "" if strata is None else " of their stratum"
    if groups is None:
        units = [rows[:, None] for rows in _blocks(block)]
        words = f"samples exchange outcomes with others{inside}"
    elif _is_constant(outcome_codes(table), groups):
        units = list(_units_of_groups(groups, block))
        words = (
            "whole groups exchange outcomes with other groups of the same size"
            f"{inside}, because the outcome is constant inside each group"
        )
    else:
        both = block * (groups.max() + 1) + groups
        units = [rows[:, None] for rows in _blocks(both)]
        words = (
            "samples exchange outcomes with others of their group"
            f"{' and stratum' if inside else ''}, because the outcome varies inside "
            "groups"
        )
    units = [each for each in units if len(each) > 1]
    if not units:
        raise InputError(
            "No two samples may exchange their outcomes: every group or stratum stands "
            "alone. Use larger strata, or leave groups or strata out."
        )
    return Permutations(tuple(units), n, seed, words)


def outcome_codes(table: Table) -> IntArray:
    """Return a number for each different outcome."""
    labels = np.asarray(table.labels)
    return np.unique(labels, return_inverse=True)[1].reshape(-1)


def _blocks(block: IntArray) -> list[IntArray]:
    order = np.argsort(block, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(block[order])) + 1)


def _is_constant(codes: IntArray, groups: IntArray) -> bool:
    return all((codes[rows] == codes[rows[0]]).all() for rows in _blocks(groups))


def _units_of_groups(groups: IntArray, block: IntArray) -> Iterator[IntArray]:
    """Yield the groups of every stratum and size, a group per line."""
    found: dict[tuple[int, int], list[IntArray]] = {}
    for rows in _blocks(groups):
        if (block[rows] != block[rows[0]]).any():
            raise InputError(
                "A group has samples in two strata; strata must keep groups whole."
            )
        found.setdefault((int(block[rows[0]]), rows.size), []).append(rows)
    for each in found.values():
        yield np.stack(each)


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
    strata = _strata(table)
    units: list[Any] = [np.array([i]) for i in range(table.n_samples)]
    if table.groups is not None:
        units = _blocks(table.groups)
    kind = np.array([strata[rows[0]] for rows in units])
    halves = []
    for number in range(n_pairs):
        rng = as_generator(stream(seed, Purpose.DISCOVERY, _HALVES, number))
        first: list[IntArray] = []
        second: list[IntArray] = []
        for own in _blocks(kind):
            shuffled = rng.permutation(own)
            middle = own.size // 2
            first += [units[u] for u in shuffled[:middle]]
            second += [units[u] for u in shuffled[middle : 2 * middle]]
        halves += [np.sort(np.concatenate(first)), np.sort(np.concatenate(second))]
    return halves


def _strata(table: Table) -> IntArray:
    """Return the kinds of samples that both halves need: classes, or events."""
    target: Any = table.target
    if hasattr(target, "codes"):
        return target.codes
    if hasattr(target, "event"):
        return np.asarray(target.event).astype(np.intp)
    return np.zeros(table.n_samples, dtype=np.intp)
