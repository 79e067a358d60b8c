"""ReliefF and MultiSURF: who are the neighbours?

Rows of D are the cases of one training set, sorted by class, so that each class is a
run of rows.

| symbol  | meaning                                                         | shape   |
|---------|-----------------------------------------------------------------|---------|
| D       | quick distances between cases                                   | (m, m)  |
| error   | how far a quick distance can lie from the exact one             |         |
| counts  | how often a case occurs in the training set                     | (m,)    |
| queries | how often a case is asked for its neighbours                    | (m,)    |
| bounds  | class k is rows ``bounds[k]:bounds[k + 1]``                     | (K + 1,)|
| names   | what the cases are called in all training sets, ascending       | (m,)    |
| places  | how many neighbours are wanted of a class                       |         |
| pull    | weight of the difference between two cases, times the number of |         |
|         | cases asked: the same in training sets of different sizes       |         |

ReliefF takes the k nearest cases of each class. Neighbours at the same distance as the
k-th share the places that are left, so that the weights do not depend on the order of
the rows: what one gets on average by breaking such ties at random.

MultiSURF takes all cases within a radius, which each case has of its own: the mean of
its distances to all others less half their standard deviation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.compiling import njit
from veridical.kernels.distance import QuickArray, mixed_distance, numeric_distance
from veridical.kernels.threads import run, spans

# Distances closer than this (relatively) are equal.
TIE = 1e-11
# How far beyond the k-th neighbour of the case before one looks for those of the next,
# in widths of the shell that its neighbours fill, and how often one looks further.
MARGIN = 0.3
STEPS = 4


class Pairs(NamedTuple):
    """Neighbour pairs ``first[t] ≤ second[t]`` of a training set, and their pull."""

    first: IntArray
    second: IntArray
    pull: FloatArray


def join(parts: Sequence[Pairs]) -> Pairs:
    """Put several lists of pairs one after the other."""
    if len(parts) == 1:
        return parts[0]
    return Pairs(*map(np.concatenate, zip(*parts, strict=True)))


class Cases(NamedTuple):
    """The cases themselves, for exact distances: two kinds of columns, their scales."""

    plain: Any
    inverse: FloatArray
    mixed: FloatArray
    low: FloatArray
    mixed_inverse: FloatArray
    n_vals: IntArray
    rows: IntArray


class Neighbourhood(NamedTuple):
    """What neighbours are found from in one training set; see the table of symbols.

    Cases have ascending names below `n_names`, the same in all training sets.
    """

    D: QuickArray
    error: float
    counts: FloatArray
    queries: FloatArray
    bounds: IntArray
    cases: Cases
    names: IntArray
    n_names: int
    n_threads: int


class _Some(NamedTuple):
    """Room for some cases: who, how far, how many of each."""

    who: IntArray
    distance: FloatArray
    weight: FloatArray


@njit(cache=True, nogil=True)
def _exact(cases: Cases, i: int, j: int) -> float:
    a, b = cases.rows[i], cases.rows[j]
    return numeric_distance(cases.plain, a, b, cases.inverse) + mixed_distance(
        cases.mixed, a, b, cases.low, cases.mixed_inverse, cases.n_vals
    )


@njit(cache=True, nogil=True)
def _shell(some: _Some, n: int, k: float, best: _Some) -> tuple[float, float]:
    """Least distance of n cases, and the distance within which they have weight k."""
    near, heavy = best.distance, best.weight
    kept, total, bar = 0, 0.0, np.inf
    for t in range(n):
        d, w = some.distance[t], some.weight[t]
        if d >= bar:
            continue
        at = kept
        while at > 0 and near[at - 1] > d:
            near[at], heavy[at] = near[at - 1], heavy[at - 1]
            at -= 1
        near[at], heavy[at] = d, w
        kept += 1
        total += w
        while total - heavy[kept - 1] >= k:
            kept -= 1
            total -= heavy[kept]
        if total >= k:
            bar = near[kept - 1]
    return near[0], near[kept - 1]


@njit(cache=True, nogil=True)
def _bar(row: QuickArray, places: float, guess: float, step: float) -> float:
    """A distance within which more cases lie than there are places, or infinity."""
    for _ in range(STEPS):
        bar, n = np.float32(guess), np.int32(0)
        for d in row:
            n += np.int32(d <= bar)
        if n > places:
            return guess
        guess, step = guess + step, 2 * step
    return np.inf


@njit(cache=True, nogil=True)
def _within(
    row: QuickArray,
    counts: FloatArray,
    lo: int,
    hi: int,
    me: int,
    bar: float,
    some: _Some,
) -> int:
    """Collect the cases of ``lo:hi`` up to `bar` away; `me` counts once less."""
    n = 0
    for j in range(lo, hi):
        some.who[n] = j
        n += row[j] <= bar
    kept = 0
    for t in range(n):
        j = some.who[t]
        w = counts[j] - (j == me)
        if w > 0:
            some.who[kept], some.distance[kept], some.weight[kept] = j, row[j], w
            kept += 1
    return kept


@njit(cache=True, nogil=True)
def _neighbours_in(
    i: int,
    lo: int,
    hi: int,
    places: float,
    D: QuickArray,
    error: float,
    counts: FloatArray,
    cases: Cases,
    near: _Some,
    open_: _Some,
    spare: _Some,
    guess: float,
    step: float,
) -> tuple[int, float, float]:
    """Neighbours of case i among cases ``lo:hi``, with the places that each gets.

    Return how many, the first of `near`, and where to look for those of the next case.
    Quick distances settle all but the cases near the k-th; for these the exact ones are
    taken, unless all of them find a place.
    """
    row = D[i]
    bar = _bar(row[lo:hi], places, guess, step)
    n = _within(row, counts, lo, hi, i, bar, near)
    least, quick = _shell(near, n, places, spare)
    sure, limit = quick - 2 * error, quick + 2 * error
    if limit > bar:
        n = _within(row, counts, lo, hi, i, limit, near)
    found, n_open, inside, doubtful = 0, 0, 0.0, 0.0
    for t in range(n):
        j, w = near.who[t], near.weight[t]
        if near.distance[t] < sure:
            near.who[found], near.weight[found] = j, w
            inside += w
            found += 1
        elif near.distance[t] <= limit:
            open_.who[n_open], open_.weight[n_open] = j, w
            doubtful += w
            n_open += 1
    left = places - inside
    if doubtful == left:
        radius = np.inf
    else:
        for t in range(n_open):
            open_.distance[t] = _exact(cases, i, open_.who[t])
        _, radius = _shell(open_, n_open, left, spare)
    found = _give(open_, n_open, radius, left, near, found)
    return found, limit + MARGIN * (quick - least), quick - least


@njit(cache=True, nogil=True)
def _give(
    some: _Some, n: int, radius: float, places: float, near: _Some, found: int
) -> int:
    """Add the cases within `radius` to the neighbours; those as far as it share."""
    low, high = radius - TIE * radius, radius + TIE * radius
    border = 0.0
    if radius < np.inf:
        for t in range(n):
            if some.distance[t] < low:
                places -= some.weight[t]
            elif some.distance[t] <= high:
                border += some.weight[t]
    for t in range(n):
        if radius < np.inf and some.distance[t] > high:
            continue
        w = some.weight[t]
        if radius < np.inf and some.distance[t] >= low:
            w *= places / border
        near.who[found], near.weight[found] = some.who[t], w
        found += 1
    return found


@njit(cache=True, nogil=True)
def _room(n: int) -> _Some:
    return _Some(np.empty(n + 1, dtype=np.intp), np.empty(n + 1), np.empty(n + 1))


@njit(cache=True, nogil=True)
def _longer(values: Any, size: int) -> Any:
    more = np.empty(size, dtype=values.dtype)
    more[: values.size] = values
    return more


@njit(cache=True, nogil=True)
def _find_nearest(
    D: QuickArray,
    error: float,
    counts: FloatArray,
    queries: FloatArray,
    bounds: IntArray,
    k: int,
    cases: Cases,
    names: IntArray,
    lo: int,
    hi: int,
) -> Pairs:
    """Each case ``lo:hi`` with each of its neighbours, by the names of both."""
    n_classes, m = bounds.size - 1, counts.size
    near, open_, spare = _room(m), _room(m), _room(m)
    size = np.zeros(n_classes)
    for c in range(n_classes):
        size[c] = counts[bounds[c] : bounds[c + 1]].sum()
    n = size.sum()
    room = (hi - lo) * n_classes * (k + 1)
    first, second = np.empty((2, room), dtype=np.intp)
    pull = np.empty(room)
    guess, step = np.full(n_classes, np.inf), np.zeros(n_classes)
    at, mine = 0, 0
    for i in range(lo, hi):
        while i >= bounds[mine + 1]:
            mine += 1
            guess[:] = np.inf
        if queries[i] == 0:
            continue
        for c in range(n_classes):
            available = size[c] - (c == mine)
            if available <= 0:
                continue
            places = min(float(k), available)
            begin, end = bounds[c], bounds[c + 1]
            found, guess[c], step[c] = _neighbours_in(
                i,
                begin,
                end,
                places,
                D,
                error,
                counts,
                cases,
                near,
                open_,
                spare,
                guess[c],
                step[c],
            )
            force = queries[i] / places
            force *= -1.0 if c == mine else size[c] / (n - size[mine])
            if at + found > pull.size:
                room = 2 * (at + found)
                first, second = _longer(first, room), _longer(second, room)
                pull = _longer(pull, room)
            for t in range(found):
                j = near.who[t]
                first[at], second[at] = names[min(i, j)], names[max(i, j)]
                pull[at] = force * near.weight[t]
                at += 1
    return Pairs(first[:at], second[:at], pull[:at])


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _radius(distance: Any, others: FloatArray) -> tuple[float, float]:
    """Mean distance to the other cases, and that less half the standard deviation."""
    n, mean, square = 0.0, 0.0, 0.0
    for j in range(others.size):
        n += others[j]
        mean += others[j] * distance[j]
    mean /= n
    for j in range(others.size):
        square += others[j] * (distance[j] - mean) ** 2
    return mean, mean - np.sqrt(square / n) / 2.0


@njit(cache=True, nogil=True)
def _is_near(
    i: int,
    row: Any,
    error: float,
    others: FloatArray,
    cases: Cases,
    exact: FloatArray,
    near: Any,
) -> None:
    """Find the cases that are nearer to case i than its radius; `near` is filled.

    Where a quick distance cannot tell, the exact ones are taken, for radius and case. A
    case that is as far as the radius is not near.
    """
    mean, radius = _radius(row, others)
    # Mean and standard deviation are off by at most `error` each, as is the distance.
    doubt = 2.5 * error + 2.0 * TIE * mean
    n_doubtful = 0
    for j in range(others.size):
        near[j] = (row[j] < radius) & (others[j] > 0)
        n_doubtful += (abs(row[j] - radius) <= doubt) & (others[j] > 0)
    if n_doubtful == 0:
        return
    for j in range(others.size):
        exact[j] = _exact(cases, i, j) if others[j] > 0 else 0.0
    mean, radius = _radius(exact, others)
    for j in range(others.size):
        near[j] = (exact[j] < radius - TIE * mean) & (others[j] > 0)


@njit(cache=True, nogil=True)
def _find_within(
    D: QuickArray,
    error: float,
    counts: FloatArray,
    bounds: IntArray,
    cases: Cases,
    names: IntArray,
    lo: int,
    hi: int,
) -> Pairs:
    """Each case ``lo:hi`` with each case within its radius, by the names of both."""
    n_classes, m = bounds.size - 1, counts.size
    n_rivals = -1  # classes in the training set beside one's own
    for c in range(n_classes):
        n_rivals += bounds[c + 1] > bounds[c]
    near, exact, inside = np.empty(m, dtype=np.bool_), np.empty(m), np.empty(n_classes)
    others = counts.copy()
    room = (hi - lo) * (m // 3 + 1) + m + 1
    first, second = np.empty((2, room), dtype=np.intp)
    pull = np.empty(room)
    at, mine = 0, 0
    for i in range(lo, hi):
        while i >= bounds[mine + 1]:
            mine += 1
        others[i] -= 1.0
        _is_near(i, D[i], error, others, cases, exact, near)
        misses = 0.0
        for c in range(n_classes):
            inside[c] = 0.0
            for j in range(bounds[c], bounds[c + 1]):
                inside[c] += near[j] * others[j]
            misses += inside[c] if c != mine else 0.0
        if at + m >= pull.size:
            room = 2 * (at + m) + 1
            first, second = _longer(first, room), _longer(second, room)
            pull = _longer(pull, room)
        for c in range(n_classes):
            if inside[c] == 0.0:
                continue
            if c == mine:
                force = -counts[i] / inside[c]
            else:
                force = counts[i] * n_rivals * (inside[c] / misses) / misses
            for j in range(bounds[c], bounds[c + 1]):
                # Written for every case, and kept for those that are near.
                first[at], second[at] = names[min(i, j)], names[max(i, j)]
                pull[at] = force * others[j]
                at += near[j]
        others[i] += 1.0
    return Pairs(first[:at], second[:at], pull[:at])


@njit(cache=True, nogil=True)
def _both_ways(pairs: Pairs, n: int) -> Pairs:
    """Add up the pulls of pairs that occur twice, order pairs by their first case."""
    found = pairs.pull.size
    start = np.zeros(n + 1, dtype=np.intp)
    for t in range(found):
        start[pairs.first[t] + 1] += 1
    for i in range(n):
        start[i + 1] += start[i]
    order, end = np.empty(found, dtype=np.intp), start[:-1].copy()
    for t in range(found):
        i = pairs.first[t]
        order[end[i]] = t
        end[i] += 1
    first, second = np.empty((2, found), dtype=np.intp)
    pull = np.empty(found)
    place = np.full(n, -1, dtype=np.intp)  # of a pair (i, j), at or after that of i
    at = 0
    for i in range(n):
        here = at
        for u in range(start[i], start[i + 1]):
            t = order[u]
            j = pairs.second[t]
            if place[j] >= here:
                pull[place[j]] += pairs.pull[t]
            else:
                place[j] = at
                first[at], second[at], pull[at] = i, j, pairs.pull[t]
                at += 1
    return Pairs(first[:at], second[:at], pull[:at])


def _gather(find: Any, fixed: Any, problem: Neighbourhood) -> Pairs:
    """Find the pairs of all cases in pieces; each pair once, ordered by first case."""
    found: dict[int, Pairs] = {}

    def work(lo: int, hi: int) -> None:
        found[lo] = find(*fixed, lo, hi)

    n_threads = problem.n_threads
    pieces = spans(len(problem.D), 1 if n_threads == 1 else 4 * n_threads, 16)
    run(work, pieces, n_threads)
    parts = [found[lo] for lo, _ in pieces]
    return _both_ways(join(parts), problem.n_names)


def find_nearest(problem: Neighbourhood, k: int) -> Pairs:
    """Neighbour pairs of ReliefF, each once, ordered by the first case."""
    D, error, counts, queries, bounds, cases, names, *_ = problem
    fixed = D, error, counts, queries, bounds, k, cases, names
    return _gather(_find_nearest, fixed, problem)


def find_within(problem: Neighbourhood) -> Pairs:
    """Neighbour pairs of MultiSURF, each once, ordered by the first case."""
    D, error, counts, _, bounds, cases, names, *_ = problem
    fixed = D, error, counts, bounds, cases, names
    return _gather(_find_within, fixed, problem)
