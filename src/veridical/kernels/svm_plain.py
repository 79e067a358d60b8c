"""The ordinary support vector machine: every case has a slack of its own.

    max  Σa − ½ aᵀQa   with   0 ≤ a ≤ c, yᵀa = 0

Steps of SMO are enough for most problems; interior points for the others.

References
----------
.. [1] M. C. Ferris & T. S. Munson, "Interior-point methods for massive support vector
   machines", SIAM J. Optim. 13 (2002).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import cho_solve
from scipy.linalg.blas import dsyrk

from veridical._records import FloatArray
from veridical.kernels.interior import cholesky, mehrotra
from veridical.kernels.svm import descend, solve_dual
from veridical.kernels.svm_plus_cases import SMALL, Cases, Solution, States
from veridical.kernels.svm_plus_gap import relative_gap, shrink_to_balance

#: Steps of SMO per case in search of a start.
_PATIENCE = 20
#: A solution with a larger gap is not believed.
_GOOD_GAP = 1e-8
_MAX_STEPS = 200


def descend_svm(cases: Cases, c: FloatArray) -> tuple[States, bool]:
    """States of an ordinary SVM by steps of SMO, and whether they were enough."""
    n = len(c)
    a, gradient = np.zeros(n), -np.ones(n)
    left = descend(cases.gram, cases.sign, c, a, gradient, 1e-4, _PATIENCE * n)
    return States(a > 0, a >= c), left <= 1e-4


def center_svm(cases: Cases, c: FloatArray) -> States:
    """States of an ordinary SVM by interior points."""
    a, margin, slack = solve_box(cases.gram, cases.factor, cases.sign, c)
    return States(a / c > margin, slack > 1 - a / c)


def solve_plain(cases: Cases, c: FloatArray) -> Solution:
    """Solve the ordinary support vector machine.

    Steps of SMO are enough for most problems; interior points for the others.
    """
    n = len(c)
    if n <= SMALL:
        a = solve_dual(cases.gram, cases.sign, c, np.zeros(n), max_steps=_PATIENCE * n)
        found = _finish(cases, c, a)
        if found.gap <= _GOOD_GAP:
            return found
    a, _, _ = solve_box(cases.gram, cases.factor, cases.sign, c, 1e-11)
    return _finish(cases, c, a)


def bias_of(wish: FloatArray, sign: FloatArray, a: FloatArray, c: FloatArray) -> float:
    """Find the bias of a support vector machine.

    `wish` is the bias at which a case meets its margin exactly. Free multipliers agree
    on it; without any, the middle of what the others allow is taken.
    """
    free = (a > 0) & (a < c)
    if free.any():
        return float(np.median(wish[free]))
    least = np.where(sign > 0, a < c, a > 0)  # these cases want at least their wish
    low, high = wish[least], wish[~least]
    if not low.size or not high.size:
        return float(low.max() if low.size else high.min())
    return float(low.max() + high.min()) / 2


def _finish(cases: Cases, c: FloatArray, a: FloatArray) -> Solution:
    """Find the bias that belongs to multipliers, and the gap they leave."""
    sign = cases.sign
    a = np.where(a < 1e-9 * c, 0.0, np.where(a > (1 - 1e-9) * c, c, a))
    b = bias_of(sign - cases.gram @ (sign * a), sign, a, c)
    states = States(a > 0, a >= c)
    a = shrink_to_balance(a, sign)
    bend = cases.gram @ (sign * a)
    half = 0.5 * float((sign * a) @ bend)
    dual = float(a.sum()) - half
    slack = np.maximum(1.0 - sign * (bend + b), 0.0)
    gap = relative_gap(half + float(c @ slack), dual)
    return Solution(a, np.zeros(len(c)), b, 0.0, dual, gap, 1, states)


# -- interior points -----------------------------------------------------------------


def _shifted_inverse(
    matrix: FloatArray, diagonal: FloatArray, thin: bool
) -> Callable[[FloatArray], FloatArray]:
    """Give what solves with ``matrix + diagonal``, or with ``M Mᵀ + diagonal``."""
    if not thin:
        whole = matrix.copy()
        whole[np.diag_indices(len(whole))] += diagonal
        factored = cholesky(whole)
        return lambda r: cho_solve(factored, r, check_finite=False)
    weight = 1.0 / diagonal
    inner = dsyrk(1.0, np.sqrt(weight)[:, None] * matrix, trans=1, lower=1)
    inner[np.diag_indices(len(inner))] += 1.0
    factored = cholesky(inner)

    def apply(r: FloatArray) -> FloatArray:
        r = weight * r
        back = cho_solve(factored, matrix.T @ r, check_finite=False)
        return r - weight * (matrix @ back)

    return apply


def solve_box(
    gram: FloatArray,
    Z: FloatArray,
    y: FloatArray,
    c: FloatArray,
    tolerance: float = 1e-7,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Multipliers of an SVM, ``0 ≤ a ≤ c``, with slacks u of the margins and ξ.

    The cost of a step is O(n rank²), or O(n³) where the rank is large.
    """
    n = len(y)
    thin = 2 * Z.shape[1] < n
    signed = np.asfortranarray(y[:, None] * Z)
    Q = np.empty((0, 0)) if thin else gram * np.multiply.outer(y, y)
    b = 0.0
    s = np.concatenate([c / 2, c / 2])
    z = np.ones(2 * n)
    for _ in range(_MAX_STEPS):
        a, u, xi = s[:n], z[:n], z[n:]
        bend = signed @ (signed.T @ a) if thin else Q @ a
        dual = bend - 1.0 + b * y - u + xi
        balance = y @ a
        if s @ z <= tolerance * (1.0 + a.sum()) and np.abs(dual).max() <= tolerance:
            break
        apply = _shifted_inverse(signed if thin else Q, u / a + xi / s[n:], thin)
        along = apply(y)

        def move(
            target: FloatArray,
            s: Any = s,
            z: Any = z,
            dual: Any = dual,
            balance: Any = balance,
            along: Any = along,
            apply: Any = apply,
        ) -> tuple[Any, ...]:
            pull = target / s
            right = apply(-dual + pull[:n] - pull[n:])
            db = (y @ right + balance) / (y @ along)
            da = right - db * along
            ds = np.concatenate([da, -da])
            return db, ds, pull - z / s * ds

        (db, ds, dz), length = mehrotra(move, s, z)
        s, z, b = s + length * ds, z + length * dz, b + length * db
    return s[:n], z[:n], z[n:]
