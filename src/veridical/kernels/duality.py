"""How far multipliers and weights are from the optimum, and which distance is enough.

The duality gap is a proof, not an estimate. Any weights that meet all constraints cost
at least the optimum, any multipliers that do give a dual objective of at most the
optimum; the optimum lies between the two. Rounding makes a solver miss both kinds of
constraints a little. So both sides are repaired first, and what the repair costs is
part of the gap:

- slacks below zero are raised to zero by a larger b*, or without b* by weights that
  raise all slacks;
- a margin that is missed by v is met by multiplying all weights by 1/(1 − v), or by
  raising b* by v, whichever costs less;
- multipliers of the two classes are brought into balance by shrinking one class;
- multipliers βᵢ ≥ −t cᵢ that should not be negative: for the optimal slacks
  Σ βᵢξᵢ ≥ −t Σ cᵢξᵢ, which is at most t times the optimum, so that the dual objective
  divided by 1 + t is a lower bound.

An ordinary support vector machine is optimal where one bias suits all samples: the
violation of its optimality conditions is the largest difference of the biases that two
samples allow.

| symbol  | meaning                                                      | shape  |
|---------|--------------------------------------------------------------|--------|
| gram    | inner products of the samples                                | (n, n) |
| y, sign | class of each sample, +1 or −1                               | (n,)   |
| c       | largest multiplier of each sample (C times its weight)       | (n,)   |
| a       | multipliers                                                  | (n,)   |
| bias_at_margin | bias at which a sample meets its margin exactly       | (n,)   |
| margin  | yᵢ f(xᵢ)                                                     | (n,)   |
| slack   | ξᵢ                                                           | (n,)   |
| half    | ½|w|² + γ/2 |w*|²                                            |        |
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from veridical._core.arrays import FloatArray

# -- tolerances shared by all solvers ------------------------------------------------

#: Relative duality gap; above it an active-set solution is corrected once more.
FINE_GAP = 1e-10
#: Relative duality gap; above it a solution is rejected where there is another solver.
GOOD_GAP = 1e-9
#: Relative duality gap of an interior point; above it the active set is not yet known.
ROUGH_GAP = 1e-7
#: Relative duality gap; above it the problem may be infeasible, and users are warned.
POOR_GAP = 1e-6
#: Violation of the optimality conditions in units of a margin; above it the dual solver
#: goes on.
TOLERANCE = 1e-9
#: The same; below it is rounding.
ROUNDED = 1e-13
#: Share of the largest slack; slacks no further below zero are rounding, where they
#: cannot be raised.
SLACK_ROUNDING = 1e-9
#: Relative difference of sums; a smaller one is rounding.
_SUM_ROUNDING = 1e-13
#: Machine precision of doubles.
_EPS = float(np.finfo(float).eps)


class InfeasibleError(ValueError):
    """No weights at all meet the constraints; only possible without b*."""


# -- the duality gap -----------------------------------------------------------------


def shrink_to_balance(alpha: FloatArray, sign: FloatArray) -> FloatArray:
    """Make ``Σ yᵢ αᵢ = 0`` by shrinking the multipliers of one class."""
    total, imbalance = float(alpha.sum()), float(sign @ alpha)
    if abs(imbalance) <= _SUM_ROUNDING * total:
        return alpha
    larger = sign > 0 if imbalance > 0 else sign < 0
    return np.where(
        larger, alpha * ((total - abs(imbalance)) / (total + abs(imbalance))), alpha
    )


def primal_bound(
    half: float,
    margin: FloatArray,
    slack: FloatArray,
    c: FloatArray,
    *,
    bias: bool,
    bias_curvature: float = 0.0,
    b_star: float = 0.0,
) -> float:
    """Compute the cost of weights with these margins and slacks, once repaired.

    No slack may be negative. `bias_curvature` is the factor of ½ b*², where b* is
    penalised and part of `half`.
    """
    missed = max(0.0, 1.0 - float((margin + slack).min()))
    slack_cost = float(c @ slack)
    stretched = np.inf
    if missed < 1.0:
        stretched = half / (1.0 - missed) ** 2 + slack_cost / (1.0 - missed)
    if not bias or missed <= _SUM_ROUNDING:
        return stretched
    raised = half + bias_curvature * missed * (b_star + 0.5 * missed)
    return min(stretched, raised + slack_cost + missed * float(c.sum()))


def stretched_cost(cost: float, margin: FloatArray, slack: FloatArray) -> float:
    """Compute a cost of squares alone, once the weights are scaled to the margins."""
    missed = max(0.0, 1.0 - float((margin + slack).min()))
    return cost / (1.0 - missed) ** 2 if missed < 1.0 else np.inf


def dual_bound(value: float, beta: FloatArray, c: FloatArray) -> float:
    """Compute a lower bound of the optimum from the dual objective and β."""
    if float(beta.min()) < 0.0:
        value /= 1.0 + float((-beta / c).max())
    return max(0.0, value)


def relative_gap(cost: float, bound: float) -> float:
    """Return the gap as a share of the cost: 0 is optimal, 1 says nothing."""
    if not np.isfinite(cost):
        return np.inf
    return max(0.0, cost - bound) / max(cost, 1e-300)


# -- optimality conditions of the ordinary support vector machine --------------------


def bias_of(
    bias_at_margin: FloatArray, sign: FloatArray, a: FloatArray, c: FloatArray
) -> float:
    """Find the bias of a support vector machine.

    Free multipliers determine it; without any, it is the middle of the biases that the
    others allow.
    """
    free = (a > 0) & (a < c)
    if free.any():
        return float(np.median(bias_at_margin[free]))
    least = np.where(sign > 0, a < c, a > 0)  # these bound the bias from below
    low, high = bias_at_margin[least], bias_at_margin[~least]
    if not low.size or not high.size:
        return float(low.max() if low.size else high.min())
    return float(low.max() + high.min()) / 2


def bias_bounds(
    gram: FloatArray, y: FloatArray, c: FloatArray, a: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the least (or −∞) and the largest (or ∞) bias that each sample allows."""
    bias_at_margin = y - gram @ (y * a)
    up = np.where(y > 0, a < c, a > 0)
    down = np.where(y > 0, a > 0, a < c)
    return np.where(up, bias_at_margin, -np.inf), np.where(down, bias_at_margin, np.inf)


def violation(gram: FloatArray, y: FloatArray, c: FloatArray, a: FloatArray) -> float:
    """Return how far multipliers are from optimal, relative to the terms of ``gram a``.

    That is the largest difference of the biases of two samples, or the imbalance of the
    multipliers of the classes. Smaller values than the last digits of the terms are
    rounding.
    """
    gap, largest = _bias_difference(gram, y, c, a)
    balance = abs(float(y @ a)) / max(float(a.sum()), 1e-300)
    return max(gap / max(1.0, largest), balance, 0.0)


def bias_uncertainty(
    gram: FloatArray, y: FloatArray, c: FloatArray, a: FloatArray
) -> float:
    """Return the largest difference of the biases of two samples, plus rounding.

    It is in units of a margin.
    """
    gap, largest = _bias_difference(gram, y, c, a)
    return max(gap, 0.0) + _EPS * largest


def _bias_difference(
    gram: FloatArray, y: FloatArray, c: FloatArray, a: FloatArray
) -> tuple[float, float]:
    """Return the difference of biases, and the largest sum of terms of ``gram a``."""
    high, low = bias_bounds(gram, y, c, a)
    gap = float(high.max(initial=-np.inf) - low.min(initial=np.inf))
    return gap, float((np.abs(gram) @ a).max(initial=0.0))


# -- feasibility of SVM+ without b* --------------------------------------------------


def is_feasible(X: Any, X_star: Any, y: FloatArray, *, squared: bool = False) -> bool:
    """Return whether any weights meet the constraints of SVM+ without b*.

    C and γ do not decide it. With t for the largest margin that is missed,

        min  t   with   yᵢ(⟨w, xᵢ⟩ + b) + ⟨w*, xᵢ*⟩ ≥ 1 − t,  ⟨w*, xᵢ*⟩ ≥ 0,  0 ≤ t ≤ 1

    is 0 or 1: weights with t < 1 can be multiplied until t is 0. (With squared slacks
    the second constraint is absent.) A generic linear programming solver decides; True
    where it fails. `X` and `X_star` are features, or factors of Gram matrices.
    """
    n = len(y)
    X, X_star = _normalize_columns(X), _normalize_columns(X_star)
    signed = sparse.diags_array(y) @ X
    ones = np.ones((n, 1))
    margins = sparse.hstack([signed, y[:, None], X_star, ones])
    rows, limit = margins, np.ones(n)
    if not squared:
        nothing = sparse.csr_array((n, X.shape[1] + 1))
        slacks = sparse.hstack([nothing, X_star, np.zeros((n, 1))])
        rows, limit = sparse.vstack([margins, slacks]), np.append(limit, np.zeros(n))
    objective = np.zeros(rows.shape[1])
    objective[-1] = 1.0
    bounds = [(None, None)] * (rows.shape[1] - 1) + [(0.0, 1.0)]
    found = linprog(objective, -sparse.csr_array(rows), -limit, bounds=bounds)
    return found.x is None or float(found.fun) < 0.5


def _normalize_columns(X: Any) -> Any:
    """Divide columns by their largest value, which does not change feasibility."""
    X = sparse.csr_array(X)
    top = np.asarray(abs(X).max(axis=0).todense()).ravel() if X.nnz else np.zeros(0)
    if not top.size:
        return sparse.csr_array(X.shape)
    return X @ sparse.diags_array(1.0 / np.where(top > 0, top, 1.0))
