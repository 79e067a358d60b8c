"""SVM+ the slow way: what optimality means, alternating SMO, and a generic QP."""

import numpy as np


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


def generic_nonnegative(G, solver="clarabel"):
    """Maximise Σa − ½ aᵀGa over a ≥ 0 by a generic QP."""
    import qpsolvers
    import scipy.sparse as sp

    n = len(G)
    problem = qpsolvers.Problem(sp.csc_matrix(G), -np.ones(n), lb=np.zeros(n))
    return qpsolvers.solve_problem(problem, solver=solver).x
