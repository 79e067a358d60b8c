"""SVM+ for many cases with linear features: dual coordinate descent.

Both biases are weights of a constant feature, penalised like the others, so that no
equation ties the multipliers together and each can be moved alone. A sweep costs as
much as reading the data once; the number of sweeps grows with C/γ.

| symbol     | meaning                                      | shape |
|------------|----------------------------------------------|-------|
| data, …    | rows of X and X* in CSR form                 |       |
| w, v       | weights, privileged weights; the bias last   |       |
| a, d       | multipliers α and β                          | (n,)  |
| norm       | squared lengths of the rows, bias included   | (n,)  |

References
----------
.. [1] W. Li, D. Dai, M. Tan, D. Xu & L. Van Gool, "Fast algorithms for linear and
   kernel SVM+", CVPR 2016.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from veridical._records import FloatArray


@njit(cache=True, nogil=True)
def _dot(data: Any, indices: Any, start: int, stop: int, w: FloatArray) -> float:
    total = 0.0
    for t in range(start, stop):
        total += data[t] * w[indices[t]]
    return total


@njit(cache=True, nogil=True)
def _add(
    data: Any, indices: Any, start: int, stop: int, by: float, w: FloatArray
) -> None:
    for t in range(start, stop):
        w[indices[t]] += by * data[t]


@njit(cache=True, nogil=True)
def _sweep(
    order: Any,
    y: FloatArray,
    gamma: float,
    data: Any,
    indices: Any,
    starts: Any,
    star_data: Any,
    star_indices: Any,
    star_starts: Any,
    constant: float,
    norm: FloatArray,
    star_norm: FloatArray,
    w: FloatArray,
    v: FloatArray,
    a: FloatArray,
    d: FloatArray,
) -> None:
    """Move every pair of multipliers once, each to the best it can do alone."""
    last, star_last = w.size - 1, v.size - 1
    for i in order:
        p, q = starts[i], starts[i + 1]
        r, s = star_starts[i], star_starts[i + 1]
        slack = _dot(star_data, star_indices, r, s, v) + constant * v[star_last]
        margin = y[i] * (_dot(data, indices, p, q, w) + w[last])
        move = max(-a[i], (1.0 - margin - slack) / (norm[i] + star_norm[i] / gamma))
        if move != 0.0:
            a[i] += move
            _add(data, indices, p, q, move * y[i], w)
            w[last] += move * y[i]
            _add(star_data, star_indices, r, s, move / gamma, v)
            v[star_last] += constant * move / gamma
            slack += star_norm[i] * move / gamma
        if star_norm[i] > 0.0:
            move = max(-d[i], -gamma * slack / star_norm[i])
            if move != 0.0:
                d[i] += move
                _add(star_data, star_indices, r, s, move / gamma, v)
                v[star_last] += constant * move / gamma


def solve_descent(
    X: Any,
    X_star: Any,
    y: FloatArray,
    c: FloatArray,
    gamma: float,
    *,
    bias: bool,
    tolerance: float,
    max_sweeps: int,
    seed: int,
) -> tuple[FloatArray, FloatArray, float, int]:
    """Weights and privileged weights with the biases last, relative gap, sweeps.

    `X` and `X_star` are CSR matrices. A constraint that is missed counts at its price
    in the gap, as for the exact solver.
    """
    n = len(y)
    constant = 1.0 if bias else 0.0
    norm = np.asarray(X.multiply(X).sum(axis=1)).ravel() + 1.0
    star_norm = np.asarray(X_star.multiply(X_star).sum(axis=1)).ravel() + constant
    w, v = np.zeros(X.shape[1] + 1), np.zeros(X_star.shape[1] + 1)
    v[:-1] = -(X_star.T @ c) / gamma
    v[-1] = -constant * c.sum() / gamma
    a, d = np.zeros(n), np.zeros(n)
    rng = np.random.default_rng(seed)
    gap, sweeps = np.inf, 0
    for sweeps in range(1, max_sweeps + 1):
        _sweep(
            rng.permutation(n), y, gamma, X.data, X.indices, X.indptr, X_star.data,
            X_star.indices, X_star.indptr, constant, norm, star_norm, w, v, a, d,
        )  # fmt: skip
        if sweeps % 10 == 0 or sweeps == max_sweeps:
            slack = X_star @ v[:-1] + constant * v[-1]
            margin = y * (X @ w[:-1] + w[-1])
            half = 0.5 * float(w @ w) + 0.5 * gamma * float(v @ v)
            dual = float(a.sum()) - half
            needed = np.maximum(np.maximum(slack, 1.0 - margin), 0.0)
            primal = half + float(c @ needed)
            gap = abs(primal - dual) / (1.0 + max(abs(primal), abs(dual)))
            if gap <= tolerance:
                break
    return w, v, gap, sweeps
