"""SVM+ the slow way: what optimality means, alternating SMO, and generic solvers."""

import numpy as np
from tests.oracles.hinge import repaired_objective


def primal_objective(X, Z, y, c, gamma, w, b, v, b_star):
    """½|w|² + γ/2 |w*|² + Σ c ξ, and how far the constraints are missed."""
    slack = Z @ v + b_star
    margin = y * (X @ w + b)
    missed = max(0.0, (1 - slack - margin).max(), (-slack).max())
    return 0.5 * w @ w + gamma / 2 * v @ v + c @ slack, missed


def dual_objective(X, Z, y, c, gamma, alpha, eta):
    w, v = (alpha * y) @ X, eta @ Z
    return alpha.sum() - 0.5 * w @ w - gamma / 2 * v @ v


def alternating_smo(K, K_star, y, C, gamma, tolerance=1e-9, max_steps=200_000):
    """Move along the sparse direction with the steepest slope; keep all sums.

    Directions of the dual in (α, β): a pair of β; a pair of α of one class; an α of
    each class against a β. Start: α = 0, β = C. Good for small C/γ only.
    """
    n = len(y)
    a, d = np.zeros(n), np.full(n, float(C))
    F, phi = np.zeros(n), np.zeros(n)
    plus, minus = np.flatnonzero(y > 0), np.flatnonzero(y < 0)

    def best(values, allowed):
        allowed = np.asarray(allowed)
        return allowed[np.argmax(values[allowed])] if len(allowed) else None

    for _ in range(max_steps):
        ga, gb = 1 - y * F - phi, -phi
        moves = []
        s, t = best(gb, np.arange(n)), best(-gb, np.flatnonzero(d > 0))
        if t is not None:
            moves.append(([], [(s, 1), (t, -1)]))
        for side in (plus, minus):
            s, t = best(ga, side), best(-ga, side[a[side] > 0])
            if t is not None:
                moves.append(([(s, 1), (t, -1)], []))
        r = best(-gb, np.flatnonzero(d > 0))
        if r is not None:
            moves.append(([(best(ga, plus), 1), (best(ga, minus), 1)], [(r, -2)]))
        s, t = best(-ga, plus[a[plus] > 0]), best(-ga, minus[a[minus] > 0])
        if s is not None and t is not None:
            moves.append(([(s, -1), (t, -1)], [(best(gb, np.arange(n)), 2)]))
        slope, on_a, on_d = max(
            (
                (sum(ga[i] * u for i, u in p) + sum(gb[i] * u for i, u in q), p, q)
                for p, q in moves
            ),
            key=lambda move: move[0],
        )
        if slope < tolerance:
            break
        ua, ud = np.zeros(n), np.zeros(n)
        for i, u in on_a:
            ua[i] += u
        for i, u in on_d:
            ud[i] += u
        bend = (ua * y) @ K @ (ua * y) + (ua + ud) @ K_star @ (ua + ud) / gamma
        step = slope / max(bend, 1e-300)
        for value, change in ((a, ua), (d, ud)):
            falling = change < 0
            step = min(step, np.min(-value[falling] / change[falling], initial=np.inf))
        a, d = np.maximum(a + step * ua, 0), np.maximum(d + step * ud, 0)
        F, phi = K @ (a * y), K_star @ (a + d - C) / gamma
    delta = a + d - C
    w_part = 0.5 * (a * y) @ K @ (a * y)
    return a, d, a.sum() - w_part - delta @ K_star @ delta / (2 * gamma)


def generic_primal(X, Z, y, c, gamma, *, bias=True, solver="clarabel"):
    """The primal problem as any quadratic program: w, b, w*, b*, objective."""
    import qpsolvers
    import scipy.sparse as sp

    n, p = X.shape
    q = Z.shape[1]
    P = np.diag(np.concatenate([np.ones(p), [0.0], np.full(q, gamma), [0.0]]))
    price = np.concatenate([np.zeros(p + 1), c @ Z, [c.sum()]])
    slack = np.hstack([np.zeros((n, p + 1)), Z, np.ones((n, 1))])
    margin = np.hstack([y[:, None] * X, y[:, None], np.zeros((n, q + 1))])
    G = -np.vstack([margin + slack, slack])
    h = np.concatenate([-np.ones(n), np.zeros(n)])
    A = right = None
    if not bias:
        A, right = np.zeros((1, p + q + 2)), np.zeros(1)
        A[0, -1] = 1.0
    problem = qpsolvers.Problem(
        sp.csc_matrix(P), price, sp.csc_matrix(G), h,
        None if A is None else sp.csc_matrix(A), right,
    )  # fmt: skip
    x = qpsolvers.solve_problem(problem, solver=solver).x
    objective = 0.5 * x @ P @ x + price @ x
    return x[:p], x[p], x[p + 1 : -1], x[-1], objective


def generic_plain(X, y, C):
    """Optimum of the ordinary support vector machine by clarabel.

    Scaled as in `generic_optimum`, so that features may be of any scale: columns of
    size 1, and the objective divided by a guess of the optimum, then by what was found.
    Without slacks, which C may make too expensive to be exact, it is solved as well.
    """
    (n, p), X = X.shape, X - X.mean(axis=0)
    best = np.inf
    for slacks in (n, 0):
        P = np.diag(np.r_[np.ones(p), np.zeros(slacks + 1)])
        price = np.r_[np.zeros(p + 1), np.full(slacks, C)]
        margin = np.hstack([y[:, None] * X, y[:, None], np.eye(n)[:, :slacks]])
        rows = np.vstack([margin, np.eye(p + 1 + slacks)[p + 1 :]])
        limit = np.r_[np.ones(n), np.zeros(slacks)]
        unit = 1.0 / np.abs(rows).max(axis=0)
        for guess in (C * n, n / (X**2).sum(), None):
            x = _solve_scaled(P, price, rows, limit, unit, guess or min(best, C * n))
            if x is not None:
                best = min(best, repaired_objective(X, y, C, x[:p], x[p]))
    return best


def generic_nonnegative(G, solver="clarabel"):
    """Maximise Σa − ½ aᵀGa over a ≥ 0 by a generic QP."""
    import qpsolvers
    import scipy.sparse as sp

    n = len(G)
    problem = qpsolvers.Problem(sp.csc_matrix(G), -np.ones(n), lb=np.zeros(n))
    return qpsolvers.solve_problem(problem, solver=solver).x


def objective_and_misses(X, Z, y, c, gamma, weights, loss):
    """Objective of weights (w, b, w*, b*), and how far the constraints are missed."""
    w, b, v, b_star = weights
    slack, margin = Z @ v + b_star, y * (X @ w + b)
    half = 0.5 * w @ w + gamma / 2 * v @ v
    if loss == "hinge":
        return half + c @ slack, max(0.0, (1 - slack - margin).max(), (-slack).max())
    half += 0.5 * b**2 + gamma / 2 * b_star**2
    return half + 0.5 * c @ slack**2, max(0.0, (1 - slack - margin).max())


def _rows(X, Z, y, bias, loss):
    """All constraints as ``rows @ (w, b, w*, b*) ≥ limit``."""
    n = len(y)
    wide, wide_star = np.c_[X, np.ones(n)], np.c_[Z, np.ones(n)] if bias else Z
    rows, limit = np.hstack([y[:, None] * wide, wide_star]), np.ones(n)
    if loss == "hinge":
        slacks = np.hstack([np.zeros_like(wide), wide_star])
        rows, limit = np.vstack([rows, slacks]), np.append(limit, np.zeros(n))
    return rows, limit, wide_star


def has_solution(X, Z, y, *, bias, loss):
    """Whether any weights meet the constraints, by a linear program."""
    from scipy.optimize import linprog

    rows, limit, _ = _rows(X, Z, y, bias, loss)
    found = linprog(
        np.zeros(rows.shape[1]), -rows, -limit, bounds=(None, None), method="highs"
    )
    return found.status == 0


#: Of clarabel; its own, 1e-8, leave errors of 1e-4 where C or γ is extreme.
TOLERANCES = {"tol_gap_abs": 1e-13, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}
#: Share of the largest slack (or of a margin, 1) that constraints may be missed by.
MISSED = 1e-9


def generic_optimum(X, Z, y, c, gamma, *, bias, loss, enough=0.0):
    """Least objective that clarabel finds, both losses; NaN if it gives up.

    Any weights that meet all constraints cost at least the optimum, so the least of
    several attempts is taken; none is made after one as low as `enough`. An attempt
    guesses the optimum T and works with weights of size 1, in units of √(T/curvature)
    with and without the curvature of the slacks, or with columns of size 1; the
    objective is divided by T. Later guesses are what was found.
    """
    rows, limit, wide_star = _rows(X, Z, y, bias, loss)
    p, q = X.shape[1] + 1, wide_star.shape[1]
    curve, price = np.concatenate([np.ones(p), np.full(q, gamma)]), np.zeros(p + q)
    P = np.diag(curve)
    if loss == "hinge":
        curve[p - 1] = 0.0
        if bias:
            curve[-1] = 0.0
        price[p:] = c @ wide_star
        P = np.diag(curve)
    else:
        P[p:, p:] += (wide_star * c[:, None]).T @ wide_star
    # What slack 1 costs for all samples, and margins of 1 by either kind of features.
    guesses = [c.sum(), y.size / (X**2).sum(), gamma * y.size / (Z**2).sum(), 1.0]
    best = np.nan
    for attempt in range(21):
        total = guesses[attempt // 3] if attempt < 3 * len(guesses) else best
        if not np.isfinite(total):
            break
        unit = 1.0 / np.abs(rows).max(axis=0)
        sizes = (curve, np.diag(P), np.zeros(p + q))[attempt % 3]
        if sizes.any():
            unit = np.ones(p + q)
            unit[sizes > 0] = np.sqrt(total / sizes[sizes > 0])
        x = _solve_scaled(P, price, rows, limit, unit, total)
        if x is None:
            continue
        largest = max(1.0, float(np.abs(wide_star @ x[p:]).max()))
        if (limit - rows @ x).max() <= MISSED * largest:
            best = float(np.fmin(best, 0.5 * x @ P @ x + price @ x))
            if best <= enough:
                break
    return best


def _solve_scaled(P, price, rows, limit, unit, total):
    """Solve for ``x / unit`` with the objective divided by `total`."""
    import warnings

    import qpsolvers
    import scipy.sparse as sp

    problem = qpsolvers.Problem(
        sp.csc_matrix(P * np.multiply.outer(unit, unit) / total),
        price * unit / total,
        sp.csc_matrix(-rows * unit),
        -limit,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = qpsolvers.solve_problem(problem, solver="clarabel", **TOLERANCES).x
    return None if x is None else unit * x
