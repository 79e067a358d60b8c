"""The active set of SVM+: every sample is in one of four states.

Its multiplier α is zero or its margin is met exactly (u = 0), and its slack ξ is zero
or its second multiplier β is. Given the states, the optimum is the solution of a linear
system. A round solves it, and moves every sample whose sign comes out wrong to its
other state, all at once: a primal-dual active-set method, or semismooth Newton [1]_.
Near the solution it ends in one to six rounds, and then with all digits; it may also
cycle, which is reported.

`veridical.kernels.active_set` changes one or two samples at a time, by steps that stop
at bounds. Here that would take a round for every slack that becomes positive, each with
a system that includes the privileged side.

Slacks are the unknowns on the privileged side. With ``ξ = K* η + b*`` and 1ᵀη = 0, the
centred Gram matrix plus κ is inverted once for all (C, γ), and only its part for
positive slacks enters a system: few samples, unless C is tiny.

| symbol | meaning                                                 | shape  |
|--------|---------------------------------------------------------|--------|
| Q      | yᵢ yⱼ Kᵢⱼ                                               | (n, n) |
| T      | privileged Gram matrix, centred, plus κ; without b*: K* | (n, n) |
| M      | inverse of T, as far as its rows are known              | (n, n) |
| c      | C times the weight of a sample                          | (n,)   |
| a, u   | multiplier and slack of ``yᵢ f(xᵢ) ≥ 1 − ξᵢ``           | (n,)   |
| x, d   | ξ and its multiplier, β = c − α + γη                    | (n,)   |
| h      | coefficients of w*: ``w* = Σ ηᵢ xᵢ*``                   | (n,)   |
| J, V   | samples with u = 0; samples with d = 0                  | (n,)   |

References
----------
.. [1] M. Hintermüller, K. Ito & K. Kunisch, "The primal-dual active set strategy as a
   semismooth Newton method", SIAM J. Optim. 13 (2002).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.arrays import FloatArray
from veridical._core.compiling import njit
from veridical.kernels.duality import SIGN_TOLERANCE
from veridical.kernels.interior import divide

#: How `pivot` ended.
SOLVED, CYCLED, NEEDS_INVERSE = 0, 1, 2


@njit(cache=True, nogil=True)
def _where(mask: Any, value: bool) -> Any:
    """Return the indices where a mask has a value."""
    count = 0
    for i in range(mask.size):
        count += mask[i] == value
    places = np.empty(count, dtype=np.int64)
    count = 0
    for i in range(mask.size):
        if mask[i] == value:
            places[count] = i
            count += 1
    return places


@njit(cache=True, nogil=True)
def _pick(A: FloatArray, rows: Any, columns: Any) -> FloatArray:
    out = np.empty((rows.size, columns.size))
    for i in range(rows.size):
        for j in range(columns.size):
            out[i, j] = A[rows[i], columns[j]]
    return out


@njit(cache=True, nogil=True)
def _factor(A: FloatArray) -> Any:
    """Compute the upper Cholesky factor; a function, so that it is compiled once."""
    return np.ascontiguousarray(np.linalg.cholesky(A).T)


@njit(cache=True, nogil=True)
def _divide_rows(U: FloatArray, B: Any) -> None:
    """Solve ``UᵀU X = B`` in place; B holds one right-hand side per row."""
    for k in range(B.shape[0]):
        divide(U, B[k])


@njit(cache=True, nogil=True)
def _products(A: FloatArray, B: FloatArray) -> Any:
    """Multiply the rows of A with those of B; compiled once, too."""
    return np.dot(A, B.T)


@njit(cache=True, nogil=True)
def _compliance(T: FloatArray, M: FloatArray, V: Any, F: Any) -> tuple[Any, Any]:
    """Compute the inverse of ``M[V, V]``, and ``[T[V, F]; 1] T[F, F]⁻¹`` if needed.

    Whichever of V and F is smaller decides which matrix is factored.
    """
    q, f = V.size, F.size
    if q <= f:
        W = np.zeros((q, q))
        for i in range(q):
            W[i, i] = 1.0
        _divide_rows(_factor(_pick(M, V, V)), W)
        return W, np.zeros((0, 0))
    W, solved = _pick(T, V, V), np.ones((q + 1, f))
    if f > 0:
        across = _pick(T, V, F)
        for i in range(q):
            for j in range(f):
                solved[i, j] = across[i, j]
        _divide_rows(_factor(_pick(T, F, F)), solved)
        taken = _products(across, solved)
        for i in range(q):
            for j in range(q):
                W[i, j] -= taken[i, j]
    return W, solved


@njit(cache=True, nogil=True)
def _solve_biases(
    B: FloatArray, X: FloatArray, theta: float, first: float, second: float, two: bool
) -> tuple[float, float]:
    """Solve for the biases, which the residual of ``B a`` determines."""
    s, p = np.dot(B[0], X[0]) - first, np.dot(B[0], X[1])
    if not two:
        return s / p, 0.0
    q, r = np.dot(B[0], X[2]), np.dot(B[1], X[2]) + theta
    t = np.dot(B[1], X[0]) - second
    det = p * r - q * q
    return (s * r - t * q) / det, (p * t - q * s) / det


@njit(cache=True, nogil=True)
def _solve_bordered(
    S: FloatArray,
    B: FloatArray,
    right: FloatArray,
    theta: float,
    target: float,
    two: bool,
    ridge: float,
) -> tuple[Any, float, float]:
    """Solve ``S a + Bᵀ(b, b*) = right``, ``B a − (0, θ b*) = (0, target)``.

    A ridge allows an S that is singular to rounding; two refinements remove its effect.
    """
    p = right.size
    ridged = S.copy()
    for i in range(p):
        ridged[i, i] += ridge
    U = _factor(ridged)
    X: Any = np.empty((3, p))
    for i in range(p):
        X[1, i], X[2, i] = B[0, i], B[1, i]
    _divide_rows(U, X[1 : 3 if two else 2])
    a, b, b_star = np.zeros(p), 0.0, 0.0
    for _ in range(3):
        first, second = 0.0, target + theta * b_star
        for i in range(p):
            X[0, i] = right[i] - np.dot(S[i], a) - b * B[0, i] - b_star * B[1, i]
            first -= B[0, i] * a[i]
            second -= B[1, i] * a[i]
        _divide_rows(U, X[:1])
        more, more_star = _solve_biases(B, X, theta, first, second, two)
        for i in range(p):
            a[i] += X[0, i] - more * X[1, i]
            if two:
                a[i] -= more_star * X[2, i]
        b += more
        b_star += more_star
    return a, b, b_star


@njit(cache=True, nogil=True)
def _fill_slacks(
    W: FloatArray,
    solved: FloatArray,
    M: FloatArray,
    V: Any,
    F: Any,
    a: FloatArray,
    c: FloatArray,
    gamma: float,
    k: float,
    b_star: float,
    x: FloatArray,
    h: FloatArray,
) -> None:
    """Compute ξ where it is not zero, and η everywhere, from the multipliers."""
    q = V.size
    if q == 0:
        return
    for i in range(q):
        h[V[i]] = (a[V[i]] - c[V[i]]) / gamma
        for j in range(q):
            x[V[i]] += W[i, j] * (a[V[j]] - c[V[j]] + k * b_star)
    for i in range(F.size):
        h[F[i]] = -b_star * (solved[q, i] if solved.shape[0] > 0 else k / gamma)
    for j in range(q):
        for i in range(F.size):
            if solved.shape[0] > 0:
                h[F[i]] -= solved[j, i] * h[V[j]]
            else:
                h[F[i]] += M[V[j], F[i]] * x[V[j]]


@njit(cache=True, nogil=True)
def solve_states(
    Q: FloatArray,
    y: FloatArray,
    c: FloatArray,
    gamma: float,
    T: FloatArray,
    M: FloatArray,
    kappa: float,
    in_J: Any,
    in_V: Any,
    ridge: float,
) -> tuple[Any, Any, Any, Any, Any, float, float]:
    """Solve the linear system of given states: a, u, x, d, h, b, b*.

    Without b* (``kappa == 0``) the last is 0; centring is left to the caller.
    """
    n = y.size
    J, V, F = _where(in_J, True), _where(in_V, True), _where(in_V, False)
    p, q = J.size, V.size
    k = gamma / (kappa * n) if kappa > 0 else 0.0
    S = _pick(Q, J, J)
    place = np.zeros(n, dtype=np.int64)  # 0: nowhere
    B, right = np.zeros((2, p)), np.ones(p)
    for i in range(p):
        place[J[i]] = i + 1
        B[0, i] = y[J[i]]
    theta, target = 0.0, 0.0
    W, solved = np.zeros((0, 0)), np.zeros((0, 0))
    if q > 0:
        W, solved = _compliance(T, M, V, F)
        total = 0.0
        for i in range(q):
            row, target_part = 0.0, 0.0
            for j in range(q):
                W[i, j] /= gamma
                row += W[i, j]
                target_part += W[i, j] * c[V[j]]
            total += row
            target += k * target_part
            at = place[V[i]] - 1
            if at >= 0:
                B[1, at] = k * row
                right[at] += target_part
                for j in range(q):
                    if place[V[j]] > 0:
                        S[at, place[V[j]] - 1] += W[i, j]
        theta = k * (n - k * total) if q < n else 0.0
    two = kappa > 0 and q > 0
    part, b, b_star = _solve_bordered(S, B, right, theta, target, two, ridge)
    a, x, h, u = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    for i in range(p):
        a[J[i]] = part[i]
    _fill_slacks(W, solved, M, V, F, a, c, gamma, k, b_star, x, h)
    for j in range(p):
        for i in range(n):
            u[i] += part[j] * Q[J[j], i]
    d = np.zeros(n)
    for i in range(n):
        u[i] = 0.0 if in_J[i] else u[i] + y[i] * b + x[i] - 1.0
        d[i] = 0.0 if in_V[i] else c[i] - a[i] + gamma * h[i]
    return a, u, x, d, h, b, b_star


@njit(cache=True, nogil=True)
def _identify(in_J: Any, in_V: Any, codes: Any) -> int:
    code: Any = np.int64(0)
    for i in range(in_J.size):
        if in_J[i]:
            code ^= codes[2 * i]
        if in_V[i]:
            code ^= codes[2 * i + 1]
    return code


@njit(cache=True, nogil=True)
def pivot(
    Q: FloatArray,
    y: FloatArray,
    c: FloatArray,
    gamma: float,
    T: FloatArray,
    M: FloatArray,
    known: Any,
    kappa: float,
    in_J: Any,
    in_V: Any,
    ridge: float,
    codes: Any,
    max_rounds: int,
) -> tuple[int, int, Any, Any, float, float]:
    """Change the states of samples until all signs are right.

    Parameters
    ----------
    known : bool array of shape (n,)
        Which rows of M are known; `NEEDS_INVERSE` where these are not enough.
    in_J, in_V : bool arrays of shape (n,)
        The first guess; changed in place.
    ridge : float
        Added to the diagonal of Q.
    codes : int array of shape (2 n,)
        Random numbers; their sum identifies a set of states.

    Returns
    -------
    tuple
        How it ended, the number of rounds, a, h, b and b*.
    """
    n = y.size
    seen = np.zeros(max_rounds + 1, dtype=np.int64)
    a, h = np.zeros(n), np.zeros(n)
    b, b_star = 0.0, 0.0
    for round_ in range(max_rounds):
        both, n_slack, unknown = 0, 0, False
        for i in range(n):
            if in_J[i]:
                both |= 1 if y[i] > 0 else 2
            if in_V[i]:
                n_slack += 1
                unknown |= not known[i]
        if both != 3:
            for i in range(n):
                in_J[i] = True
        if unknown and 2 * n_slack <= n:
            return NEEDS_INVERSE, round_, a, h, b, b_star
        code = _identify(in_J, in_V, codes)
        for i in range(round_):
            if seen[i] == code:
                return CYCLED, round_, a, h, b, b_star
        seen[round_] = code
        a, u, x, d, h, b, b_star = solve_states(
            Q, y, c, gamma, T, M, kappa, in_J, in_V, ridge
        )
        top_x, top_a = 1.0, 1e-300
        for i in range(n):
            top_x, top_a = max(top_x, abs(x[i])), max(top_a, abs(a[i]))
        wrong = False
        for i in range(n):
            if not np.isfinite(a[i] + u[i] + x[i] + d[i]):
                return CYCLED, round_ + 1, a, h, b, b_star
            wrong |= a[i] < -SIGN_TOLERANCE * top_a or d[i] < -SIGN_TOLERANCE * c[i]
            wrong |= min(u[i], x[i]) < -SIGN_TOLERANCE * top_x
        if not wrong:
            return SOLVED, round_ + 1, a, h, b, b_star
        for i in range(n):
            in_J[i] = a[i] * (Q[i, i] + ridge) - u[i] > 0.0
            in_V[i] = x[i] * gamma - d[i] * T[i, i] > 0.0
    return CYCLED, max_rounds, a, h, b, b_star
