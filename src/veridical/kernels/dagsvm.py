"""Support vector machines for all pairs of classes, evaluated along a graph.

| symbol | meaning                                                        | shape     |
|--------|----------------------------------------------------------------|-----------|
| G      | inner products of the training samples, sorted by class        | (n, n)    |
| T      | inner products of the test samples with the training samples   | (m, n)    |
| start  | samples of class k are ``start[k]:start[k + 1]``               | (K + 1,)  |
| signed | multipliers times sign of every pair, 0 for other samples      | (n_pairs, |
|        |                                                                | n)        |
| bias   | constant of every pair's decision                              | (n_pairs,)|
| C      | largest multiplier                                             |           |

Predictions with many numbers of features are compiled as a whole, for speed: there SMO
steps alone solve a pair, to the tolerance of all solvers. Samples whose class depends
on a pair that they do not solve are marked, and `veridical.kernels.svm.solve_svm`
solves it.

Pair (a, b), a < b, has number ``a (2K − a − 1) / 2 + b − a − 1``; its decision is
positive for class a.

References
----------
.. [1] J. C. Platt, N. Cristianini & J. Shawe-Taylor, "Large margin DAGs for multiclass
   classification", NIPS 12 (1999).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.compiling import njit
from veridical.kernels.duality import TOLERANCE, bias_of
from veridical.kernels.products import Gram, take_samples
from veridical.kernels.svm import descend, solve_svm
from veridical.kernels.svm_exact import exact_gram

#: Decision value; one nearer to zero is a tie up to rounding.
DECISION_TIE = 1e-8
#: Decision value; one nearer to zero could be on the other side of `DECISION_TIE` after
#: another search for the same solution, and the sample is marked.
UNCERTAIN = 1e-6
#: SMO steps before the gradient is summed again, which removes its rounding.
_STEPS_PER_SUM = 20_000
#: Times that the gradient is summed; then the tolerance counts as missed.
_MOST_SUMS = 100


@njit(cache=True, nogil=True)
def pair_number(a: int, b: int, n_classes: int) -> int:
    """Return the number of the pair of classes a < b."""
    return a * (2 * n_classes - a - 1) // 2 + b - a - 1


@njit(cache=True, nogil=True)
def _solve_pair(
    G: FloatArray,
    start: IntArray,
    a: int,
    b: int,
    C: float,
    signed: FloatArray,
) -> tuple[float, bool]:
    """Train classes a and b; return the constant, and whether the tolerance was met."""
    n_a, n_b = start[a + 1] - start[a], start[b + 1] - start[b]
    n = n_a + n_b
    rows = np.empty(n, dtype=np.intp)
    rows[:n_a] = np.arange(start[a], start[a + 1])
    rows[n_a:] = np.arange(start[b], start[b + 1])
    sign = np.ones(n)
    sign[n_a:] = -1.0
    Q = np.empty((n, n))
    multiplier, grad = np.empty(n), np.empty(n)
    for s in range(n):
        multiplier[s] = min(max(sign[s] * signed[rows[s]], 0.0), C)
        for t in range(n):
            Q[s, t] = G[rows[s], rows[t]]
    bound = np.full(n, C)
    converged = False
    for _ in range(_MOST_SUMS):
        for s in range(n):
            total = 0.0
            for t in range(n):
                total += Q[s, t] * sign[t] * multiplier[t]
            grad[s] = sign[s] * total - 1.0
        if (
            descend(Q, sign, bound, multiplier, grad, TOLERANCE, _STEPS_PER_SUM)
            <= TOLERANCE
        ):
            converged = True
            break
    for s in range(n):
        signed[rows[s]] = sign[s] * multiplier[s]
    return bias_of(-sign * grad, sign, multiplier, bound), converged


def solve_pair(
    G: FloatArray, start: IntArray, a: int, b: int, C: float, signed: FloatArray
) -> float:
    """Train a classifier of classes a and b; return its bias.

    `signed` holds a first guess and is replaced by the solution.
    """
    return float(_solve_pair(G, start, a, b, C, signed)[0])


def solve_pair_exactly(
    G: Gram,
    start: IntArray,
    a: int,
    b: int,
    C: float,
    signed: FloatArray,
    X: FloatArray | None = None,
) -> float:
    """Train classes a and b as `solve_pair` does, also where its steps do not end.

    `G` must be positive semidefinite; `X` are the samples, if it is that of a linear
    kernel.
    """
    rows = np.r_[start[a] : start[a + 1], start[b] : start[b + 1]]
    sign = np.where(rows < start[a + 1], 1.0, -1.0)
    Q, bound = take_samples(G, rows), np.full(rows.size, C)
    guess = np.clip(sign * signed[rows], 0.0, C)
    exact = None if X is None else lambda: exact_gram(X[rows])
    found = solve_svm(Q, sign, bound, guess, exact=exact)
    signed[rows] = sign * found.a
    return float(bias_of(found.bias_at_margin, sign, found.a, bound))


@njit(cache=True, nogil=True)
def _decide(
    products: FloatArray,
    start: IntArray,
    a: int,
    b: int,
    signed: FloatArray,
    bias: float,
) -> float:
    """Compute the decision between a and b, given products with training samples."""
    total = bias
    for k in (a, b):
        for t in range(start[k], start[k + 1]):
            total += signed[t] * products[t]
    return total


@njit(cache=True, nogil=True)
def walk(
    G: FloatArray,
    T: FloatArray,
    start: IntArray,
    C: float,
    signed: FloatArray,
    bias: FloatArray,
    solved: NDArray[np.bool_],
    out: IntArray,
    doubtful: NDArray[np.bool_],
) -> None:
    """Predict each sample: first against last of the list, the loser leaves.

    A pair that is not yet `solved` is trained when its decision is first needed.
    `doubtful` marks samples whose class depends on a decision near zero, or on a pair
    whose solution did not meet the tolerance.
    """
    K = start.size - 1
    rough = np.zeros(solved.size, dtype=np.bool_)
    for sample in range(T.shape[0]):
        first, last = 0, K - 1
        doubtful[sample] = False
        while first < last:
            pair = pair_number(first, last, K)
            if not solved[pair]:
                bias[pair], converged = _solve_pair(
                    G, start, first, last, C, signed[pair]
                )
                solved[pair], rough[pair] = True, not converged
            value = _decide(T[sample], start, first, last, signed[pair], bias[pair])
            doubtful[sample] |= rough[pair] or not abs(value) > UNCERTAIN
            if value >= -DECISION_TIE:
                last -= 1
            else:
                first += 1
        out[sample] = first


def sort_by_class(codes: IntArray, n_classes: int) -> tuple[IntArray, IntArray]:
    """Order samples by class; also where each class then begins, and the end."""
    counts = np.bincount(codes, minlength=n_classes)
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
    return np.argsort(codes, kind="stable"), start


def predict_nested(
    X: FloatArray,
    codes: IntArray,
    n_classes: int,
    samples: FloatArray,
    C: float,
    sizes: IntArray,
) -> tuple[IntArray, NDArray[np.bool_]]:
    """Predict samples from the first columns, for many sizes.

    Returns
    -------
    found : int array of shape (n_sizes, n_samples)
        The classes.
    doubtful : bool array of shape (n_sizes, n_samples)
        Where another search for the same solution could lead to another class.
    """
    order, start = sort_by_class(codes, n_classes)
    last = int(sizes[-1])
    found = np.empty((sizes.size, len(samples)), dtype=np.intp)
    doubtful = np.zeros(found.shape, dtype=np.bool_)
    walk_nested(
        np.ascontiguousarray(X[order, :last].T),
        np.ascontiguousarray(samples[:, :last].T),
        start,
        C,
        sizes,
        found,
        doubtful,
    )
    return found, doubtful


@njit(cache=True, nogil=True)
def walk_nested(
    train: FloatArray,
    test: FloatArray,
    start: IntArray,
    C: float,
    wanted: IntArray,
    out: IntArray,
    doubtful: NDArray[np.bool_],
) -> None:
    """Predict with the first 1, 2, 3, … features, at the sizes that are `wanted`.

    One feature more adds the product of its values to every inner product, and the
    last solution is where the next search begins.

    Parameters
    ----------
    train, test : arrays of shape (n_features, n) and (n_features, m)
        Features in the order they join; training samples sorted by class.
    start, C
        As above.
    wanted : int array
        Sizes, growing.
    out : int array of shape (len(wanted), m)
        Filled with classes.
    doubtful : bool array of the same shape
        Filled as `walk` does.
    """
    n, m, K = train.shape[1], test.shape[1], start.size - 1
    n_pairs = K * (K - 1) // 2
    G, T = np.zeros((n, n)), np.zeros((m, n))
    signed, bias = np.zeros((n_pairs, n)), np.zeros(n_pairs)
    solved = np.empty(n_pairs, dtype=np.bool_)
    place = 0
    for f in range(train.shape[0]):
        x, z = train[f], test[f]
        for s in range(n):
            for t in range(n):
                G[s, t] += x[s] * x[t]
        for s in range(m):
            for t in range(n):
                T[s, t] += z[s] * x[t]
        if place < wanted.size and wanted[place] == f + 1:
            solved[:] = False
            walk(G, T, start, C, signed, bias, solved, out[place], doubtful[place])
            place += 1
