"""The dual of a support vector machine through the inside of its box.

    max  Σa − ½ aᵀQa   with   0 ≤ a ≤ c, yᵀa = 0

Ten to forty Newton steps whatever the data, where pairwise steps take millions if the
columns differ in scale or the price of an error is high [1]_.

| symbol | meaning                                                | shape    |
|--------|--------------------------------------------------------|----------|
| gram   | inner products of the cases                            | (n, n)   |
| Z      | a factor of it, ``gram = Z Zᵀ``                        | (n, rank)|
| y      | class of each case, +1 or −1                           | (n,)     |
| c      | largest multiplier of each case                        | (n,)     |
| a      | multipliers                                            | (n,)     |
| u, ξ   | how far a case lies behind its margin, or lacks to it  | (n,)     |

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

from veridical._core.arrays import FloatArray
from veridical.kernels.interior import cholesky, factor, mehrotra

_MAX_STEPS = 200
#: Share of the largest entry that the diagonal is lifted by where rounding ate it.
_TINY = 1e-14
#: Multipliers and slacks stay above it, so that none is divided by zero.
_LEAST = 1e-60
#: Where paths end whose multipliers are then settled. Too early, and it is not yet seen
#: who is at a bound; too late, and rounding has the last steps.
_ENDS = (1e-7, 1e-5)
#: Multipliers put at a bound or set free, one after the other.
_MOST_MOVES = 60
#: A violation below this is rounding.
PRECISE = 1e-13
#: Pivots smaller than this beside the largest are rounding.
_RANK = 1e-13
#: Rounding of double precision.
_EPS = float(np.finfo(float).eps)
#: Share of what is wanted that must be out of reach for a direction to be level.
_LEVEL = 1e-3


def _shifted_inverse(
    matrix: FloatArray, diagonal: FloatArray, thin: bool
) -> Callable[[FloatArray], FloatArray]:
    """Give what solves with ``matrix + diagonal``, or with ``M Mᵀ + diagonal``."""
    if not thin:
        whole = matrix.copy()
        whole[np.diag_indices(len(whole))] += diagonal
        factored = cholesky(whole, _TINY)
        return lambda r: cho_solve(factored, r, check_finite=False)
    weight = 1.0 / diagonal
    inner = dsyrk(1.0, np.sqrt(weight)[:, None] * matrix, trans=1, lower=1)
    inner[np.diag_indices(len(inner))] += 1.0
    factored = cholesky(inner, _TINY)

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
    start = np.minimum(c / 2, 1.0 / max(float(np.diag(gram).max()), 1e-300))
    s = np.concatenate([start, c - start])
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
        s = np.maximum(s + length * ds, _LEAST)
        z, b = np.maximum(z + length * dz, _LEAST), b + length * db
    return s[:n], z[:n], z[n:]


def solve_inside(
    gram: FloatArray, y: FloatArray, c: FloatArray
) -> tuple[FloatArray, float]:
    """Find multipliers by way of the inside, and say what violation they leave.

    The violation is that of `violation`, on cases centred and of length about 1. It is
    infinite where there is no way.
    """
    means = gram.mean(axis=0)
    # The multipliers balance, so a constant added to a row or a column has no effect.
    centred = gram - means - means[:, None] + means.mean()
    size = float(np.diag(centred).mean())
    if not 0.0 < size < np.inf:
        return np.zeros(len(y)), np.inf
    centred /= size
    bound, c = c, c * size
    Z, _ = factor(centred)
    best, least = np.zeros(len(y)), np.inf
    for end in _ENDS:
        try:
            a, u, xi = solve_box(centred, Z, y, c, end)
        except np.linalg.LinAlgError:
            continue
        if not np.isfinite(a).all():
            continue
        natural = np.minimum(c, 1.0)
        a = np.where(a <= natural * u, 0.0, np.where(c - a < natural * xi, c, a))
        a = settle(centred, y, c, a)
        left = violation(centred, y, c, a)
        if left < least:
            best, least = a, left
        if least <= PRECISE:
            break
    return np.where(best >= c, bound, best / size), least


def violation(gram: FloatArray, y: FloatArray, c: FloatArray, a: FloatArray) -> float:
    """How far the multipliers are from optimal, beside the terms of ``gram a``.

    That is by how much the biases disagree that the cases want, or by how much the
    multipliers are off balance. What is smaller than the last digits of the terms is
    hidden by rounding.
    """
    gap, largest = _disagree(gram, y, c, a)
    balance = abs(float(y @ a)) / max(float(a.sum()), 1e-300)
    return max(gap / max(1.0, largest), balance, 0.0)


def disagreement(
    gram: FloatArray, y: FloatArray, c: FloatArray, a: FloatArray
) -> float:
    """By how much the biases that cases want may differ, rounding included.

    Margins are of size 1, so this is the share of a margin that is not known.
    """
    gap, largest = _disagree(gram, y, c, a)
    return max(gap, 0.0) + _EPS * largest


def _disagree(
    gram: FloatArray, y: FloatArray, c: FloatArray, a: FloatArray
) -> tuple[float, float]:
    """By how much biases differ, and the largest sum of the terms of ``gram a``."""
    high, low = _wishes(gram, y, c, a)
    gap = float(high.max(initial=-np.inf) - low.min(initial=np.inf))
    return gap, float((np.abs(gram) @ a).max(initial=0.0))


def _wishes(
    gram: FloatArray, y: FloatArray, c: FloatArray, a: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Biases that cases want at least (otherwise −∞) and at most (otherwise ∞)."""
    wish = y - gram @ (y * a)
    up = np.where(y > 0, a < c, a > 0)
    down = np.where(y > 0, a > 0, a < c)
    return np.where(up, wish, -np.inf), np.where(down, wish, np.inf)


def settle(gram: FloatArray, y: FloatArray, c: FloatArray, a: FloatArray) -> FloatArray:
    """Give free multipliers their exact values, correcting who is free on the way.

    Copies of a case share their multiplier in many ways; the smallest change keeps
    them inside the box. One that is pushed through a bound is put there, and when all
    agree, the two at their bounds that disagree most are set free. Changes `a`.
    """
    free = (a > 0) & (a < c)
    for _ in range(_MOST_MOVES):
        far = _agree(gram, y, c, a, free)
        if far < 1.0:
            continue
        if violation(gram, y, c, a) <= PRECISE:
            break
        high, low = _wishes(gram, y, c, a)
        free[[np.argmax(high), np.argmin(low)]] = True
    return a


def _agree(
    gram: FloatArray, y: FloatArray, c: FloatArray, a: FloatArray, free: Any
) -> float:
    """Move free multipliers to where all want one bias, or as far as the box allows.

    Changes `a` and, where a bound is met, `free`; returns the share of the way.
    """
    who = np.flatnonzero(free)
    m = who.size
    system = np.zeros((m + 1, m + 1))
    system[:m, :m] = gram[np.ix_(who, who)]
    system[:m, m] = system[m, :m] = 1.0
    wanted = np.append((y - gram @ (y * a))[who], -(y @ a))
    solution = np.linalg.lstsq(system, wanted, rcond=_RANK)[0]
    left = wanted - system @ solution
    # What no change can meet is a direction without curvature: up to the next bound.
    level = float(np.linalg.norm(left)) > _LEVEL * float(np.linalg.norm(wanted))
    change = y[who] * (left if level else solution)[:m]
    room = np.where(change < 0, a[who], (c - a)[who])
    length = room / np.maximum(np.abs(change), 1e-300)
    far = float(length.min(initial=np.inf if level else 1.0))
    if not np.isfinite(far):
        return 1.0
    a[who] = np.clip(a[who] + far * change, 0.0, c[who])
    hit = length <= far
    if far < 1.0 or level:
        a[who[hit]] = np.where(change[hit] < 0, 0.0, c[who[hit]])
        free[who[hit]] = False
    return 0.0 if level else far
