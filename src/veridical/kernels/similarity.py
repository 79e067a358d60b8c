"""How much a feature repeats chosen ones: absolute correlations, and bounds of them.

| symbol     | meaning                                                   | shape    |
|------------|-----------------------------------------------------------|----------|
| values     | the columns end to end; with `rows` and `start` as in CSC | (p·n,)   |
| inverse    | 1 / length of each centred column in the set, 0 if const. | (p,)     |
| force      | chosen columns, centred and of length 1 in the set, times | (m, n)   |
|            | the weight of each row: its product with any column is    |          |
|            | their correlation times that column's length              |          |
| draft      | the columns of length 1 in all rows, in single precision, | (p·w,)   |
|            | each filled up to `w` rows with zeros; or empty           |          |
| sharp      | `force` in single precision, filled up likewise           | (m, w)   |
| reach      | length of each centred column in all rows, divided by     | (p,)     |
|            | that in the set                                           |          |
| slack      | what rounding may add to a product with the draft         |          |
| table      | what the similarities with some features are at least     | (t, p)   |
| place      | row of each feature in `table`, −1 where there is none    | (p,)     |
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.compiling import njit

SAME = 1.0 - 1e-12  # correlations nearer to 1 than this are those of copies
LANES = 32  # rows of a draft come in such groups, multiplied side by side
NEAR = 32  # columns of a draft that stay near while all forces pass


class Columns(NamedTuple):
    """The columns as one training set sees them; dense where `start` is empty."""

    values: Any
    rows: NDArray[np.int32]
    start: IntArray
    centre: FloatArray
    inverse: FloatArray
    weight: FloatArray
    floor: float
    draft: NDArray[np.float32]
    reach: FloatArray
    slack: float
    table: NDArray[np.float32]
    place: NDArray[np.int32]


class State(NamedTuple):
    """What is known of each feature."""

    relevance: FloatArray
    similarity: FloatArray
    known: NDArray[np.int32]
    least: FloatArray


class Chosen(NamedTuple):
    """The features chosen so far, in their order, and what came of them."""

    order: IntArray
    force: FloatArray
    sharp: NDArray[np.float32]
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
def write_force(columns: Columns, j: int, out: FloatArray, sharp: Any) -> None:
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
        sharp[r] = np.float32(out[r])


@njit(cache=True, nogil=True)
def look(
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


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _draft_product(column: Any, sharp: Any) -> Any:
    """Multiply a column of the draft with a force, in single precision."""
    total = np.float32(0.0)
    for r in range(sharp.size):
        total += column[r] * sharp[r]
    return total


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _four_products(
    column: Any, other: Any, f: Any, g: Any, out: Any, k: int, i: int, j: int
) -> None:
    """Multiply two columns of the draft with two forces: half as much to read."""
    a, b, c, d = np.float32(0.0), np.float32(0.0), np.float32(0.0), np.float32(0.0)
    for r in range(f.size):
        x, y, u, v = column[r], other[r], f[r], g[r]
        a += x * u
        b += y * u
        c += x * v
        d += y * v
    out[k, i], out[k, j], out[k + 1, i], out[k + 1, j] = a, b, c, d


@njit(cache=True, nogil=True)
def _bound(products: Any, reach: FloatArray, slack: float, floor: float) -> None:
    """Turn products into what similarities are at least."""
    for i in range(reach.size):
        r = (abs(np.float64(products[i])) - slack) * reach[i]
        products[i] = r if r > floor else floor


@njit(cache=True, nogil=True)
def write_table(
    columns: Columns, sharp: Any, lo: int, hi: int, out: NDArray[np.float32]
) -> None:
    """Write what similarities of the features ``lo:hi`` are at least.

    With those whose forces, in single precision, are given: a row of `out` for each.
    """
    draft, reach, w = columns.draft, columns.reach, sharp.shape[1]
    slack, floor, last = columns.slack, columns.floor, sharp.shape[0] - 1
    for start in range(lo, hi, NEAR):
        end = min(start + NEAR, hi)
        for k in range(0, last, 2):
            f, g = sharp[k], sharp[k + 1]
            for i in range(start, end, 2):
                j = min(i + 1, end - 1)
                one, other = draft[i * w : (i + 1) * w], draft[j * w : (j + 1) * w]
                _four_products(one, other, f, g, out, k, i, j)
        if last % 2 == 0:  # one is left over
            f = sharp[last]
            for i in range(start, end):
                out[last, i] = _draft_product(draft[i * w : (i + 1) * w], f)
        for k in range(last + 1):
            _bound(out[k, start:end], reach[start:end], slack, floor)


@njit(cache=True, nogil=True)
def count_in(
    j: int, columns: Columns, sharp: Any, room: Any, least: FloatArray
) -> None:
    """Add to `least` what every feature's similarity with feature j is at least.

    From the table, or else anew: then `sharp` is j alone, and `room` has one row.
    """
    row = columns.place[j]
    if row < 0:
        write_table(columns, sharp, 0, least.size, room)
    found = room[0] if row < 0 else columns.table[row]
    for i in range(least.size):
        least[i] += found[i]


@njit(cache=True, nogil=True)
def catch_up(size: int, columns: Columns, state: State, chosen: Chosen) -> None:
    """Make `least` from the first `size` chosen features."""
    p = state.least.size
    room = np.empty((1, p), dtype=np.float32)
    state.least[:] = 0.0
    for k in range(size):
        count_in(chosen.order[k], columns, chosen.sharp[k : k + 1], room, state.least)
    for i in range(p):  # exact where that is known already
        if state.known[i] == size or state.similarity[i] == np.inf:
            state.least[i] = state.similarity[i]


@njit(cache=True, nogil=True)
def write_draft(
    values: Any,
    centre: FloatArray,
    lo: int,
    hi: int,
    draft: Any,
    length: FloatArray,
) -> None:
    """Write the columns ``lo:hi`` to `draft`, divided by their length over all rows."""
    n, width = values.size // centre.size, draft.size // centre.size
    for i in range(lo, hi):
        column, here = values[i * n : (i + 1) * n], draft[i * width : (i + 1) * width]
        square = 0.0
        for r in range(n):
            square += (np.float64(column[r]) - centre[i]) ** 2
        length[i] = np.sqrt(square)
        scale = 1.0 / length[i] if length[i] > 0.0 else 0.0
        for r in range(n):
            here[r] = np.float32((np.float64(column[r]) - centre[i]) * scale)


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
