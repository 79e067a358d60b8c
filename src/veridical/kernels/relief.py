"""Find the neighbours of each sample, for ReliefF and MultiSURF.

The samples of one training set are sorted by class, so that each class is a run of
them. Their neighbours are searched for piece by piece, so that a piece of distances is
all that must be in memory.

| symbol  | meaning                                                        | shape    |
|---------|----------------------------------------------------------------|----------|
| asked   | samples whose neighbours are wanted, ascending                 | (n,)     |
| here    | a piece of these                                               | (h,)     |
| D       | quick distances of these samples to all                        | (h, m)   |
| error   | how far a quick distance can lie from the exact one            |          |
| counts  | how often a sample occurs in the training set                  | (m,)     |
| queries | how often the neighbours of a sample are wanted                | (m,)     |
| bounds  | class k is rows ``bounds[k]:bounds[k + 1]``                    | (K + 1,) |
| ids     | number of each sample among all samples, ascending             | (m,)     |
| places  | how many neighbours are wanted of a class                      |          |
| weight  | weight of the difference between two samples, times the number |          |
|         | of queries: the same in training sets of different sizes       |          |

ReliefF takes the k nearest samples of each class. Neighbours at the same distance as
the k-th share the remaining places, so that the weights do not depend on the order of
the rows: the average over all ways to break such ties at random.

MultiSURF takes all samples within a radius. Each sample has its own radius: the mean
of its distances to all others minus half their standard deviation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.compiling import by_type, njit
from veridical.kernels.distance import QuickArray, mixed_distance, numeric_distance
from veridical.kernels.threads import run_jobs, spans

# Relative difference of two distances; with a smaller one they are equal.
DISTANCE_TIE = 1e-11
# The k nearest of a sample are first searched for within this distance beyond the k-th
# neighbour of the sample before, as a share of the difference between the distances of
# its nearest and its k-th neighbour. Both samples count from their mean distance.
SEARCH_MARGIN = 0.3
# Attempts to find them, each with a larger distance; then all samples are searched.
MAX_WIDENINGS = 4
BLOCK = 64  # samples that are compared with a distance at a time
N_PARTS = 10  # parts of the work where progress is reported


class NeighbourPairs(NamedTuple):
    """Neighbour pairs ``first[t] ≤ second[t]`` of a training set, and their weights."""

    first: IntArray
    second: IntArray
    weight: FloatArray


def join(parts: Sequence[NeighbourPairs]) -> NeighbourPairs:
    """Put several lists of pairs one after the other."""
    if len(parts) == 1:
        return parts[0]
    return NeighbourPairs(*map(np.concatenate, zip(*parts, strict=True)))


class Samples(NamedTuple):
    """Values and scales of the features, for exact distances.

    `plain` are numeric features without missing values, `mixed` the others.
    """

    plain: Any
    inverse: FloatArray
    mixed: FloatArray
    low: FloatArray
    mixed_inverse: FloatArray
    n_vals: IntArray
    rows: IntArray


class Neighbourhood(NamedTuple):
    """Input of the search for neighbours in one training set; see the notation above.

    ``distances(here)`` returns D for at most `step` samples at a time (or for all of
    them, if they are in memory anyway); `ids` are below `n_ids`. With `tick` the search
    has `N_PARTS` parts, and `tick` is called after each.
    """

    distances: Callable[[IntArray], QuickArray]
    step: int
    asked: IntArray
    error: float
    counts: FloatArray
    queries: FloatArray
    bounds: IntArray
    samples: Any
    ids: IntArray
    n_ids: int
    n_threads: int
    tick: Callable[[], None] | None = None


class _NearSamples(NamedTuple):
    """Work arrays for some samples: index, distance, number of copies."""

    sample: IntArray
    distance: FloatArray
    weight: FloatArray


@by_type
def exact_distance(samples: Any, i: int, j: int) -> float:
    """Compute the exact distance of two samples."""
    raise NotImplementedError


@exact_distance.register(Samples)
def _exact(samples: Samples, i: int, j: int) -> float:
    a, b = samples.rows[i], samples.rows[j]
    return numeric_distance(samples.plain, a, b, samples.inverse) + mixed_distance(
        samples.mixed, a, b, samples.low, samples.mixed_inverse, samples.n_vals
    )


@njit(cache=True, nogil=True)
def _nearest_and_kth(
    candidates: _NearSamples, n: int, k: float, best: _NearSamples
) -> tuple[float, float]:
    """Return the least distance of n samples, and that within which they weigh k."""
    near, kept_weight = best.distance, best.weight
    kept, total, cutoff = 0, 0.0, np.inf
    for t in range(n):
        d, w = candidates.distance[t], candidates.weight[t]
        if d >= cutoff:
            continue
        at = kept
        while at > 0 and near[at - 1] > d:
            near[at], kept_weight[at] = near[at - 1], kept_weight[at - 1]
            at -= 1
        near[at], kept_weight[at] = d, w
        kept += 1
        total += w
        while total - kept_weight[kept - 1] >= k:
            kept -= 1
            total -= kept_weight[kept]
        if total >= k:
            cutoff = near[kept - 1]
    return near[0], near[kept - 1]


@njit(cache=True, nogil=True)
def _mean_of_some(row: QuickArray) -> float:
    """Return the mean of some hundred distances, to compare samples by."""
    step, total, n = row.size // 256 + 1, 0.0, 0
    for j in range(0, row.size, step):
        total += row[j]
        n += 1
    return total / n


@njit(cache=True, nogil=True)
def _collect_within(
    row: QuickArray,
    counts: FloatArray,
    lo: int,
    hi: int,
    own: int,
    cutoff: float,
    candidates: _NearSamples,
) -> int:
    """Collect the samples of ``lo:hi`` up to `cutoff` away; `own` counts once less."""
    n, sample = 0, candidates.sample
    limit = np.float32(cutoff)
    for first in range(lo, hi, BLOCK):
        # Most blocks have no such sample, and are compared in one go.
        last, inside = min(first + BLOCK, hi), 0
        block = row[first:last]
        for j in range(block.size):
            inside += block[j] <= limit
        if inside > 0:
            for j in range(block.size):
                sample[n] = first + j
                n += block[j] <= cutoff
    kept = 0
    for t in range(n):
        j = candidates.sample[t]
        w = counts[j] - (j == own)
        if w > 0:
            (
                candidates.sample[kept],
                candidates.distance[kept],
                candidates.weight[kept],
            ) = j, row[j], w
            kept += 1
    return kept


@njit(cache=True, nogil=True)
def _collect_enough(
    row: QuickArray,
    counts: FloatArray,
    lo: int,
    hi: int,
    own: int,
    places: float,
    start: float,
    step: float,
    candidates: _NearSamples,
) -> tuple[int, float]:
    """Collect samples that weigh at least `places`; return their number, and how far.

    The first distance is `start`.
    """
    for _ in range(MAX_WIDENINGS):
        n = _collect_within(row, counts, lo, hi, own, start, candidates)
        weight = 0.0
        for t in range(n):
            weight += candidates.weight[t]
        if weight >= places:
            return n, start
        start, step = start + step, 2 * step
    return _collect_within(row, counts, lo, hi, own, np.inf, candidates), np.inf


@njit(cache=True, nogil=True)
def _neighbours_in(
    i: int,
    lo: int,
    hi: int,
    places: float,
    row: QuickArray,
    error: float,
    counts: FloatArray,
    samples: Any,
    near: _NearSamples,
    undecided: _NearSamples,
    work: _NearSamples,
    start: float,
    step: float,
) -> tuple[int, float, float]:
    """Find the neighbours of sample i among samples ``lo:hi``, and their places.

    Returns their number in `near`, and where the search for the next sample starts.
    Quick distances decide all but the samples near the k-th; for these exact distances
    are computed, unless there is a place for each of them. Neighbours are ascending, so
    that their order does not depend on the error of quick distances.
    """
    n, cutoff = _collect_enough(row, counts, lo, hi, i, places, start, step, near)
    least, quick = _nearest_and_kth(near, n, places, work)
    certain, limit = quick - 2 * error, quick + 2 * error
    if limit > cutoff:
        n = _collect_within(row, counts, lo, hi, i, limit, near)
    found, n_undecided, inside, undecided_weight = 0, 0, 0.0, 0.0
    for t in range(n):
        j, w = near.sample[t], near.weight[t]
        if near.distance[t] < certain:
            near.sample[found], near.weight[found] = j, w
            inside += w
            found += 1
        elif near.distance[t] <= limit:
            undecided.sample[n_undecided], undecided.weight[n_undecided] = j, w
            undecided_weight += w
            n_undecided += 1
    places_left = places - inside
    if undecided_weight == places_left:
        radius = np.inf
    else:
        for t in range(n_undecided):
            undecided.distance[t] = exact_distance(samples, i, undecided.sample[t])
        _, radius = _nearest_and_kth(undecided, n_undecided, places_left, work)
    found = _share_places(undecided, n_undecided, radius, places_left, near, found)
    _sort_samples(near, found)
    return found, limit + SEARCH_MARGIN * (quick - least), quick - least


@njit(cache=True, nogil=True)
def _sort_samples(near: _NearSamples, n: int) -> None:
    """Sort the first n samples; most are sorted already."""
    sample, weight = near.sample, near.weight
    for t in range(1, n):
        j, w = sample[t], weight[t]
        at = t
        while at > 0 and sample[at - 1] > j:
            sample[at], weight[at] = sample[at - 1], weight[at - 1]
            at -= 1
        sample[at], weight[at] = j, w


@njit(cache=True, nogil=True)
def _share_places(
    candidates: _NearSamples,
    n: int,
    radius: float,
    places: float,
    near: _NearSamples,
    found: int,
) -> int:
    """Add the samples within `radius` to the neighbours; those at the radius share."""
    low, high = radius - DISTANCE_TIE * radius, radius + DISTANCE_TIE * radius
    border = 0.0
    if radius < np.inf:
        for t in range(n):
            if candidates.distance[t] < low:
                places -= candidates.weight[t]
            elif candidates.distance[t] <= high:
                border += candidates.weight[t]
    for t in range(n):
        if radius < np.inf and candidates.distance[t] > high:
            continue
        w = candidates.weight[t]
        if radius < np.inf and candidates.distance[t] >= low:
            w *= places / border
        near.sample[found], near.weight[found] = candidates.sample[t], w
        found += 1
    return found


@njit(cache=True, nogil=True)
def _make_candidates(n: int) -> _NearSamples:
    return _NearSamples(
        np.empty(n + 1, dtype=np.intp), np.empty(n + 1), np.empty(n + 1)
    )


@njit(cache=True, nogil=True)
def _enlarge(values: Any, size: int) -> Any:
    more = np.empty(size, dtype=values.dtype)
    for i in range(values.size):
        more[i] = values[i]
    return more


@njit(cache=True, nogil=True)
def _find_nearest(
    D: QuickArray,
    here: IntArray,
    error: float,
    counts: FloatArray,
    queries: FloatArray,
    bounds: IntArray,
    k: int,
    samples: Any,
    ids: IntArray,
) -> NeighbourPairs:
    """Pair each sample with each of its neighbours, by the ids of both."""
    n_classes, m = bounds.size - 1, counts.size
    near, undecided, work = (
        _make_candidates(m),
        _make_candidates(m),
        _make_candidates(m),
    )
    size = np.zeros(n_classes)
    for c in range(n_classes):
        size[c] = counts[bounds[c] : bounds[c + 1]].sum()
    n = size.sum()
    capacity = here.size * n_classes * (k + 1)
    first, second = np.empty((2, capacity), dtype=np.intp)
    weight = np.empty(capacity)
    start, step = np.full(n_classes, np.inf), np.zeros(n_classes)
    at, own_class = 0, 0
    for row in range(here.size):
        i = here[row]
        while i >= bounds[own_class + 1]:
            own_class += 1
            start[:] = np.inf
        for c in range(n_classes):
            available = size[c] - (c == own_class)
            if available <= 0:
                continue
            places = min(float(k), available)
            begin, end = bounds[c], bounds[c + 1]
            level = _mean_of_some(D[row, begin:end])
            found, limit, step[c] = _neighbours_in(
                i,
                begin,
                end,
                places,
                D[row],
                error,
                counts,
                samples,
                near,
                undecided,
                work,
                level + start[c],
                step[c],
            )
            start[c] = limit - level
            factor = queries[i] / places
            factor *= -1.0 if c == own_class else size[c] / (n - size[own_class])
            if at + found > weight.size:
                capacity = 2 * (at + found)
                first, second = _enlarge(first, capacity), _enlarge(second, capacity)
                weight = _enlarge(weight, capacity)
            for t in range(found):
                j = near.sample[t]
                first[at], second[at] = ids[min(i, j)], ids[max(i, j)]
                weight[at] = factor * near.weight[t]
                at += 1
    return NeighbourPairs(first[:at], second[:at], weight[:at])


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _radius(distance: Any, others: FloatArray) -> tuple[float, float]:
    """Return the mean distance to the others, and the radius of MultiSURF."""
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
    samples: Any,
    exact: FloatArray,
    near: Any,
) -> None:
    """Mark in `near` the samples that are nearer to sample i than its radius.

    Where a quick distance cannot decide, radius and distances are computed exactly. A
    sample at the radius is not near.
    """
    mean, radius = _radius(row, others)
    # Mean, standard deviation and distance each have an error of at most `error`.
    uncertainty = 2.5 * error + 2.0 * DISTANCE_TIE * mean
    n_uncertain = 0
    for j in range(others.size):
        near[j] = (row[j] < radius) & (others[j] > 0)
        n_uncertain += (abs(row[j] - radius) <= uncertainty) & (others[j] > 0)
    if n_uncertain == 0:
        return
    for j in range(others.size):
        exact[j] = exact_distance(samples, i, j) if others[j] > 0 else 0.0
    mean, radius = _radius(exact, others)
    for j in range(others.size):
        near[j] = (exact[j] < radius - DISTANCE_TIE * mean) & (others[j] > 0)


@njit(cache=True, nogil=True)
def _find_within(
    D: QuickArray,
    here: IntArray,
    error: float,
    counts: FloatArray,
    bounds: IntArray,
    samples: Any,
    ids: IntArray,
) -> NeighbourPairs:
    """Pair each sample with those within its radius, by the ids of both."""
    n_classes, m = bounds.size - 1, counts.size
    n_other_classes = -1  # other classes in the training set
    for c in range(n_classes):
        n_other_classes += bounds[c + 1] > bounds[c]
    near, exact, inside = np.empty(m, dtype=np.bool_), np.empty(m), np.empty(n_classes)
    others = counts.copy()
    capacity = here.size * (m // 3 + 1) + m + 1
    first, second = np.empty((2, capacity), dtype=np.intp)
    weight = np.empty(capacity)
    at, own_class = 0, 0
    for row in range(here.size):
        i = here[row]
        while i >= bounds[own_class + 1]:
            own_class += 1
        others[i] -= 1.0
        _is_near(i, D[row], error, others, samples, exact, near)
        misses = 0.0
        for c in range(n_classes):
            inside[c] = 0.0
            for j in range(bounds[c], bounds[c + 1]):
                inside[c] += near[j] * others[j]
            misses += inside[c] if c != own_class else 0.0
        if at + m >= weight.size:
            capacity = 2 * (at + m) + 1
            first, second = _enlarge(first, capacity), _enlarge(second, capacity)
            weight = _enlarge(weight, capacity)
        for c in range(n_classes):
            if inside[c] == 0.0:
                continue
            if c == own_class:
                factor = -counts[i] / inside[c]
            else:
                factor = counts[i] * n_other_classes * (inside[c] / misses) / misses
            for j in range(bounds[c], bounds[c + 1]):
                # Written for every sample, and kept for those that are near.
                first[at], second[at] = ids[min(i, j)], ids[max(i, j)]
                weight[at] = factor * others[j]
                at += near[j]
        others[i] += 1.0
    return NeighbourPairs(first[:at], second[:at], weight[:at])


@njit(cache=True, nogil=True)
def merge_repeated(pairs: NeighbourPairs, n: int) -> NeighbourPairs:
    """Sum the weights of pairs that occur twice; order pairs by their first sample."""
    found = pairs.weight.size
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
    weight = np.empty(found)
    place = np.full(n, -1, dtype=np.intp)  # of a pair (i, j), at or after that of i
    at = 0
    for i in range(n):
        here = at
        for u in range(start[i], start[i + 1]):
            t = order[u]
            j = pairs.second[t]
            if place[j] >= here:
                weight[place[j]] += pairs.weight[t]
            else:
                place[j] = at
                first[at], second[at], weight[at] = i, j, pairs.weight[t]
                at += 1
    return NeighbourPairs(first[:at], second[:at], weight[:at])


def _gather(
    find: Callable[[QuickArray, IntArray], NeighbourPairs], problem: Neighbourhood
) -> NeighbourPairs:
    """Find the pairs of all samples in pieces; each once, ordered by first sample."""
    found: dict[int, NeighbourPairs] = {}
    asked, n_threads = problem.asked, problem.n_threads

    def work(lo: int, hi: int) -> None:
        here = asked[lo:hi]
        found[lo] = find(problem.distances(here), here)

    n_pieces = 1 if n_threads == 1 else 4 * n_threads
    pieces = spans(asked.size, max(n_pieces, -(-asked.size // problem.step)), 16)
    parts = spans(len(pieces), 1 if problem.tick is None else N_PARTS)
    for lo, hi in parts:
        run_jobs(work, pieces[lo:hi], n_threads)
        if problem.tick is not None:
            problem.tick()
    return merge_repeated(join([found[lo] for lo, _ in pieces]), problem.n_ids)


def find_nearest(
    problem: Neighbourhood, k: int, shares: FloatArray | None = None
) -> NeighbourPairs:
    """Find the neighbour pairs of ReliefF, each once, ordered by the first sample.

    Parameters
    ----------
    problem : Neighbourhood
        The samples.
    k : int
        Number of neighbours of each class.
    shares : array of shape (k,), optional
        Weight of the neighbour of each rank, instead of 1 / k.
    """
    _, _, _, error, counts, queries, bounds, samples, ids, *_ = problem
    factors = {k: 1.0}
    if shares is not None:
        # Each rank is the k nearest samples less the k − 1 nearest, so that equally far
        # samples share the weights of their ranks.
        ranks = np.arange(1, shares.size + 1)
        each = ranks * (shares - np.append(shares[1:], 0.0))
        factors = dict(zip(ranks.tolist(), each.tolist(), strict=True))

    def find(D: QuickArray, here: IntArray) -> NeighbourPairs:
        found = []
        for n, factor in factors.items():
            one = _find_nearest(
                D, here, error, counts, queries, bounds, n, samples, ids
            )
            found.append(one._replace(weight=factor * one.weight))
        return join(found)

    return _gather(find, problem)


def find_within(problem: Neighbourhood) -> NeighbourPairs:
    """Find the neighbour pairs of MultiSURF, each once, ordered by the first sample."""
    _, _, _, error, counts, _, bounds, samples, ids, *_ = problem

    def find(D: QuickArray, here: IntArray) -> NeighbourPairs:
        pairs: NeighbourPairs = _find_within(
            D, here, error, counts, bounds, samples, ids
        )
        return pairs

    return _gather(find, problem)


@njit(cache=True, nogil=True)
def _mark_near(
    D: QuickArray,
    here: IntArray,
    error: float,
    counts: FloatArray,
    samples: Any,
    near: Any,
) -> None:
    """Mark in each row of `near` the samples within the radius of a sample."""
    exact, others = np.empty(counts.size), counts.copy()
    for row in range(here.size):
        i = here[row]
        others[i] -= 1.0
        _is_near(i, D[row], error, others, samples, exact, near[row])
        others[i] += 1.0


def find_within_by_target(
    problem: Neighbourhood, target: FloatArray, reach: float
) -> NeighbourPairs:
    """Find the neighbour pairs of MultiSURF where the target is a number.

    Near samples whose targets differ by less than `reach` are hits, the others misses.
    `target` is indexed by the ids of the samples.
    """
    counts, ids = problem.counts, problem.ids
    own = target[ids]

    def find(D: QuickArray, here: IntArray) -> NeighbourPairs:
        near = np.empty(D.shape, dtype=np.bool_)
        _mark_near(D, here, problem.error, counts, problem.samples, near)
        others = np.where(near, counts, 0.0)
        rows = np.arange(here.size)
        others[rows, here] -= near[rows, here]
        hit = np.abs(own[here, None] - own) < reach
        weight = np.zeros(near.shape)
        for part, sign in ((hit, -1.0), (~hit, 1.0)):
            inside = np.where(part, others, 0.0)
            size = inside.sum(axis=1, keepdims=True)
            weight += sign * np.divide(inside, size, out=inside, where=size > 0)
        row, second = np.nonzero(weight)
        weights = counts[here[row]] * weight[row, second]
        first, second = ids[here[row]], ids[second]
        return NeighbourPairs(
            np.minimum(first, second), np.maximum(first, second), weights
        )

    return _gather(find, problem)
