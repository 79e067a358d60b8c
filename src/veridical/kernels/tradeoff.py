"""Incremental search: who is the best next feature, asked of few and not of all.

A step wants the feature of most merit beside those already chosen. Merit falls with
similarity to the chosen, and similarity only grows: what is known of it bounds the
merit from above. So a feature is compared with the features chosen since it was last
looked at only where its bound reaches the best merit found; most never do. The answer
is that of looking at all.

| symbol     | meaning                                                   | shape    |
|------------|-----------------------------------------------------------|----------|
| relevance  | F of each feature                                         | (p,)     |
| similarity | Σ of ``|R|`` with the first `known` chosen features; ∞    | (p,)     |
|            | for a feature that is chosen itself                       |          |
| known      | how many of the chosen `similarity` has counted           | (p,)     |
| size       | number of chosen features                                 |          |
| gathered   | Σ relevance of the chosen features                        |          |
| apart      | Σ over pairs of chosen features of ``1 − |R|``            |          |
| force      | chosen columns, centred and of length 1 in the set, times | (m, n)   |
|            | the weight of each row: its product with any column is    |          |
|            | their correlation times that column's length              |          |
| values     | the columns end to end; with `rows` and `start` as in CSC | (p·n,)   |
| inverse    | 1 / length of each centred column in the set, 0 if const. | (p,)     |
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from veridical._records import FloatArray, IntArray

TIE = 1e-10  # merits closer than this (relatively) are equal: the lower index wins
NOTHING = 1e-12
SAME = 1.0 - 1e-12  # correlations nearer to 1 than this are those of copies
TILE = 64
PRIORITIZED, QUOTIENT, DIFFERENCE = 0, 1, 2


class Columns(NamedTuple):
    """The columns as one training set sees them; dense where `start` is empty."""

    values: Any
    rows: NDArray[np.int32]
    start: IntArray
    centre: FloatArray
    inverse: FloatArray
    weight: FloatArray
    floor: float


class State(NamedTuple):
    """What is known of each feature."""

    relevance: FloatArray
    similarity: FloatArray
    known: NDArray[np.int32]


class Chosen(NamedTuple):
    """The features chosen so far, in their order, and what came of them."""

    order: IntArray
    force: FloatArray
    mean_relevance: FloatArray
    antiredundancy: FloatArray


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _product(column: Any, centre: float, force: FloatArray) -> float:
    """Multiply a dense column with a force."""
    total = 0.0
    for r in range(force.size):
        total += (np.float64(column[r]) - centre) * force[r]
    return total


@njit(cache=True, nogil=True)
def _sparse_product(values: Any, rows: Any, force: FloatArray) -> float:
    """The same; what a sparse column leaves out adds nothing, nor does its centre."""
    total = 0.0
    for k in range(values.size):
        total += np.float64(values[k]) * force[rows[k]]
    return total


@njit(cache=True, nogil=True)
def _write_force(columns: Columns, j: int, out: FloatArray) -> None:
    """Centre column j in the set, scale it to length 1, and weigh its rows."""
    n, weight = columns.weight.size, columns.weight
    if columns.start.size == 0:
        for r in range(n):
            out[r] = np.float64(columns.values[j * n + r]) - columns.centre[j]
    else:
        out[:] = 0.0
        for k in range(columns.start[j], columns.start[j + 1]):
            out[columns.rows[k]] = np.float64(columns.values[k])
    total, mass = 0.0, 0.0
    for r in range(n):
        total += weight[r] * out[r]
        mass += weight[r]
    mean = total / mass
    for r in range(n):
        out[r] = weight[r] * (out[r] - mean) * columns.inverse[j]


@njit(cache=True, nogil=True)
def _look(
    i: int,
    size: int,
    values: Any,
    rows: Any,
    start: IntArray,
    centre: float,
    inverse: float,
    floor: float,
    force: FloatArray,
    seen: int,
    total: float,
) -> float:
    """Add to `total` the similarity with the chosen features from number `seen` on."""
    n = force.shape[1]
    lo, hi = (i * n, (i + 1) * n) if start.size == 0 else (start[i], start[i + 1])
    column = values[lo:hi]
    for k in range(seen, size):
        if start.size == 0:
            r = abs(_product(column, centre, force[k])) * inverse
        else:
            r = abs(_sparse_product(column, rows[lo:hi], force[k])) * inverse
        total += 1.0 if r > SAME else max(r, floor)
    return total


@njit(cache=True, nogil=True)
def _is_reached(
    kind: int, F: float, similarity: float, bar: tuple[float, float, float]
) -> bool:
    """Whether a feature whose similarity is at least this may be better.

    `bar` is ``(a, b, c)``: ``a F − b similarity ≥ c`` where merit is a sum, and
    ``a F ≥ c similarity`` where it is a quotient.
    """
    a, b, c = bar
    return a * F >= c * similarity if kind == QUOTIENT else a * F - b * similarity >= c


@njit(cache=True, nogil=True)
def _any_reaches(
    kind: int,
    relevance: FloatArray,
    similarity: FloatArray,
    known: Any,
    size: int,
    floor: float,
    bar: tuple[float, float, float],
) -> bool:
    """The same for a run of features at once, without a branch."""
    found = 0
    if floor == 0.0:
        for i in range(relevance.size):
            found += _is_reached(kind, relevance[i], similarity[i], bar)
    else:
        for i in range(relevance.size):
            least = similarity[i] + floor * (size - known[i])
            found += _is_reached(kind, relevance[i], least, bar)
    return found > 0


@njit(cache=True, nogil=True)
def _merit(
    kind: int, size: int, share: float, done: FloatArray, F: float, similarity: float
) -> tuple[float, float, float]:
    """Merit of a feature whose similarity is up to date; −∞ if it is worth nothing.

    For prioritization the logarithm of V^α U^(1−α), with V and U themselves. A copy of
    all that is chosen is worth nothing.
    """
    if kind == PRIORITIZED:
        V = done[0] + F
        U = 1.0 if share == 1.0 else done[1] + (size - similarity)
        if V <= 0.0 or NOTHING * size >= U:
            return -np.inf, V, U
        return share * np.log(V) + (1.0 - share) * np.log(U), V, U
    mean = similarity / size if size > 0 else 0.0
    if kind == DIFFERENCE:
        return F - mean, 0.0, 0.0
    if F <= 0.0 or mean >= 1.0 - NOTHING:
        return -np.inf, 0.0, 0.0
    return (F / mean if size > 0 else F), 0.0, 0.0


@njit(cache=True, nogil=True)
def _raise_bar(
    kind: int,
    size: int,
    share: float,
    done: FloatArray,
    found: tuple[float, float, float],
) -> tuple[float, float, float]:
    """What a feature must reach to be looked at, once merit `found` is known.

    For prioritization by the inequality of weighted means: ``(V/v)^α (U/u)^(1−α) ≤
    α V/v + (1−α) U/u``, which takes no logarithm.
    """
    merit, V, U = found
    if kind == PRIORITIZED:
        a, b = share / V, (1.0 - share) / U
        return a, b, 1.0 - 2.0 * TIE - a * done[0] - b * (done[1] + size)
    if kind == DIFFERENCE:
        return 1.0, 1.0 / max(size, 1), merit - 2.0 * TIE
    return float(size), 0.0, merit * (1.0 - 2.0 * TIE)


@njit(cache=True, nogil=True)
def _choose(
    kind: int,
    size: int,
    alpha: float,
    done: FloatArray,
    hint: int,
    columns: Columns,
    state: State,
    chosen: Chosen,
) -> tuple[int, int]:
    """The feature of most merit, the lowest index among equals; and the next best."""
    # Taken out of their records here: that is not free inside a loop.
    values, rows, start, floor = (
        columns.values, columns.rows, columns.start, columns.floor
    )  # fmt: skip
    centre, inverse, force = columns.centre, columns.inverse, chosen.force
    relevance, similarity, known = state.relevance, state.similarity, state.known
    p = relevance.size
    share = 1.0 if size == 0 else alpha
    form = DIFFERENCE if size == 0 and kind == QUOTIENT else kind
    skip = size == 0 or (kind == PRIORITIZED and share == 1.0)  # relevance decides
    best, runner, top, second = -1, -1, -np.inf, -np.inf
    bar = (0.0, 0.0, 0.0)
    # The next best of the last step goes first: the higher the bar, the fewer reach it.
    for lo in range(-TILE if hint >= 0 else 0, p, TILE):
        at, end = (hint, hint + 1) if lo < 0 else (lo, min(lo + TILE, p))
        if best >= 0 and not _any_reaches(
            form, relevance[at:end], similarity[at:end], known[at:end], size, floor, bar
        ):
            continue
        for i in range(at, end):
            F, so_far = relevance[i], similarity[i]
            if so_far == np.inf or i == best:
                continue
            least = so_far + floor * (size - known[i])
            if best >= 0 and not _is_reached(form, F, least, bar):
                continue
            if not skip and known[i] < size:
                so_far = _look(
                    i, size, values, rows, start, centre[i], inverse[i], floor, force,
                    known[i], so_far,
                )  # fmt: skip
                similarity[i], known[i] = so_far, size
                if best >= 0 and not _is_reached(form, F, so_far, bar):
                    continue
            found = _merit(kind, size, share, done, F, so_far)
            merit = found[0]
            tie = TIE * abs(top) if kind == QUOTIENT else TIE
            if merit == -np.inf:
                continue
            if best < 0 or merit > top + tie or (merit >= top - tie and i < best):
                runner, second = best, top
                best, top = i, merit
                bar = _raise_bar(form, size, share, done, found)
            elif merit > second:
                runner, second = i, merit
    if best < 0:  # nobody is worth anything: the first that is left
        for i in range(p):
            if similarity[i] < np.inf:
                return i, -1
    return best, runner


@njit(cache=True, nogil=True)
def advance(
    n_steps: int,
    size: int,
    kind: int,
    alpha: float,
    hint: int,
    done: FloatArray,
    columns: Columns,
    state: State,
    chosen: Chosen,
) -> int:
    """Choose `n_steps` more features after the first `size`; return the next hint.

    `done` holds `gathered` and `apart`, and is updated like `state` and `chosen`.
    """
    for _ in range(n_steps):
        j, hint = _choose(kind, size, alpha, done, hint, columns, state, chosen)
        similarity = _look(
            j, size, columns.values, columns.rows, columns.start, columns.centre[j],
            columns.inverse[j], columns.floor, chosen.force, state.known[j],
            state.similarity[j],
        )  # fmt: skip
        done[0] += state.relevance[j]
        done[1] += size - similarity
        chosen.order[size] = j
        chosen.mean_relevance[size] = done[0] / (size + 1)
        chosen.antiredundancy[size] = 2.0 * done[1] / (size + 1) ** 2
        state.similarity[j] = np.inf
        _write_force(columns, j, chosen.force[size])
        size += 1
    return hint


@njit(cache=True, nogil=True)
def correlate(
    columns: Columns, force: FloatArray, lo: int, hi: int, out: FloatArray
) -> None:
    """Write ``|R|`` of the features ``lo:hi`` with some chosen ones to `out`.

    The same numbers, to the last bit, that `advance` finds one by one.
    """
    values, rows, start = columns.values, columns.rows, columns.start
    centre, inverse, floor = columns.centre, columns.inverse, columns.floor
    n, dense = force.shape[1], start.size == 0
    for k in range(force.shape[0]):
        one, target = force[k], out[k]
        for i in range(lo, hi):
            if dense:
                r = _product(values[i * n : (i + 1) * n], centre[i], one)
            else:
                here = slice(start[i], start[i + 1])
                r = _sparse_product(values[here], rows[here], one)
            r = abs(r) * inverse[i]
            target[i] = 1.0 if r > SAME else max(r, floor)


@njit(cache=True, nogil=True)
def absorb(similarity: FloatArray, known: Any, correlations: FloatArray) -> None:
    """Count in the correlations of all features with the last one chosen."""
    for i in range(similarity.size):
        similarity[i] += correlations[i]
        known[i] += 1


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def standardize(columns: FloatArray, out: FloatArray, norm: FloatArray) -> None:
    """Write columns of mean 0 and length 1 to `out`, and what they were divided by."""
    n = columns.shape[1]
    for j in range(columns.shape[0]):
        z = out[j]
        mean = columns[j].sum() / n
        for r in range(n):
            z[r] = columns[j, r] - mean
        mean = z.sum() / n  # what rounding left of it
        for r in range(n):
            z[r] -= mean
        length = np.sqrt((z * z).sum())
        norm[j] = length if length > 0.0 else 1.0
        for r in range(n):
            z[r] /= norm[j]
