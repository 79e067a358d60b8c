"""How far multipliers and weights are from the optimum, and which distance is enough.

The duality gap is a proof, not an estimate. Any weights that meet all constraints cost
at least the optimum, any multipliers that do give a dual objective of at most the
optimum; the optimum lies between the two. Rounding makes a solver miss both kinds of
constraints a little. So both sides are repaired first, and what the repair costs is
part of the gap:

- slacks below zero are raised to zero along a `Lift`: a larger b*, or without b*
  weights that raise all slacks;
- a margin that is missed by v is met by multiplying all weights by 1/(1 − v), or by
  raising the slacks by v, whichever costs less;
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
| target  | decision of a sample that meets its margin exactly: y of a   | (n,)   |
|         | classifier, y ± ε of a regression                            |        |
| bias_at_margin | bias at which a sample meets its margin exactly       | (n,)   |
| margin  | yᵢ f(xᵢ)                                                     | (n,)   |
| slack   | ξᵢ                                                           | (n,)   |
| half    | ½|w|² + γ/2 |w*|²                                            |        |
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from veridical._core.arrays import FloatArray
from veridical._core.compiling import njit
from veridical.kernels.products import Gram

# -- tolerances shared by all solvers ------------------------------------------------

#: Relative duality gap; interior points end below it. Rounding ends most of them
#: earlier, and then the best point so far counts.
LEAST_GAP = 1e-13
#: Relative duality gap; interior points that no active-set method follows end below it.
#: A smaller one would not make them more accurate: the curvatures of free and of
#: bounded multipliers differ by the square of its inverse.
LAST_GAP = 1e-11
#: Relative duality gap; above it an active-set solution is corrected once more.
FINE_GAP = 1e-10
#: Relative duality gap; above it a solution is rejected where there is another solver.
GOOD_GAP = 1e-9
#: Relative duality gap of an interior point; above it the active set is not yet known.
ROUGH_GAP = 1e-7
#: Relative duality gap; above it the problem may be infeasible, and users are warned.
POOR_GAP = 1e-6
#: Relative duality gap of an interior point from which the active set is taken where
#: that of `ROUGH_GAP` was wrong: nearer to the optimum rounding decides the last steps.
COARSE_GAP = 1e-5
#: Residual of the margins in units of a margin, or of the balance in units of c; above
#: it an interior point is no solution, however small its gap.
MAX_RESIDUAL = 1e-6
#: Violation of the optimality conditions in units of a margin; above it the dual solver
#: goes on.
TOLERANCE = 1e-9
#: The same; below it SMO steps have found a start for an active-set method.
START_TOLERANCE = 1e-4
#: The same; below it is rounding.
ROUNDED = 1e-13
#: Difference of two biases in units of a margin; below it is rounding in twice the
#: working precision.
SAME_BIAS = 1e-14
#: Distance from a bound, as a share of the largest multiplier or of c; multipliers
#: nearer to 0 or to c are at the bound.
AT_BOUND = 1e-12
#: Distance from zero relative to the scale of a variable, or gradient in units of a
#: margin; beyond it the sign of a variable of an active-set method is wrong.
SIGN_TOLERANCE = 1e-11
#: Pivot or singular value as a share of the largest; a smaller one is rounding.
RANK = 1e-13
#: The same in twice the working precision.
EXACT_RANK = 1e-27
#: Share of the largest slack; slacks no further below zero are rounding, where they
#: cannot be raised.
SLACK_ROUNDING = 1e-9
#: Share of a pivot that is left in an update of an inverse; where less is left, the
#: equations are nearly singular, and multipliers move until one meets its bound.
LEAST_PIVOT = 1e-7
#: Certificate of an interior point; below it multipliers prove that weights would have
#: to be longer than its inverse: the program is infeasible.
INFEASIBLE = 1e-9
#: Share of the largest diagonal entry that is added to a matrix where multipliers are
#: balanced, so that rounding does not make it singular.
RIDGE = 1e-15
#: Step size; a smaller one of an interior point makes no progress.
MIN_STEP_SIZE = 1e-12
#: Least value of slacks and multipliers of an interior point; smaller ones are raised
#: to it, so that no division by zero occurs.
MIN_VALUE = 1e-60
#: Least slack as a share of the largest; below it weights do not count as a lift.
_MIN_LIFT = 1e-6
#: Relative difference of sums; a smaller one is rounding.
_SUM_ROUNDING = 1e-13

# -- limits shared by all solvers ----------------------------------------------------

#: Newton steps of an interior-point method; then the best point so far is returned.
MAX_STEPS = 120
#: Changes of an active set, each with a linear system; then the multipliers so far are
#: returned, or other steps follow.
MAX_CHANGES = 60


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


class Lift(NamedTuple):
    """A change of the privileged weights that raises every slack by at least 1.

    Parameters
    ----------
    slack : array of shape (n,)
        By how much the slacks grow.
    slope, curvature : float
        First and second derivative of `half` along the change.
    """

    slack: FloatArray
    slope: float = 0.0
    curvature: float = 0.0

    @classmethod
    def along(
        cls, u: FloatArray, slack: FloatArray, v: FloatArray, gamma: float
    ) -> Lift | None:
        """Describe a change of the privileged weights v by u; None if u is empty."""
        if not u.size:
            return None
        return cls(slack, gamma * float(u @ v), gamma * float(u @ u))

    def cost(self, step: float) -> float:
        """Compute by how much `half` grows."""
        return step * (self.slope + 0.5 * step * self.curvature)


def find_lift(Z_star: Any) -> tuple[FloatArray, FloatArray]:
    """Find weights that give every sample a slack of at least 1, and the slacks.

    Both are empty where none were found: then slacks below zero cannot be raised.
    `Z_star` are privileged features, or a factor of their Gram matrix.
    """
    n = Z_star.shape[0]
    u = np.asarray(Z_star.T @ np.ones(n)).ravel()  # enough where all are similar
    for attempt in range(2):
        slack = Z_star @ u
        least = float(slack.min(initial=np.inf))
        if least > _MIN_LIFT * float(slack.max(initial=0.0)):
            return u / least, slack / least
        if attempt or sparse.issparse(Z_star) or Z_star.shape[1] > n:
            break
        u = np.linalg.lstsq(Z_star, np.ones(n), rcond=None)[0]
    return np.zeros(0), np.zeros(0)


def primal_bound(
    half: float,
    margin: FloatArray,
    slack: FloatArray,
    c: FloatArray,
    lift: Lift | None,
) -> tuple[float, float]:
    """Compute the cost of weights with these margins and slacks, once repaired.

    Also returns how far along `lift` slacks below zero were raised. Without a lift the
    cost is infinite where they are below zero by more than rounding.
    """
    below = max(0.0, -float(slack.min()))
    if below > 0.0:
        if lift is not None:
            if lift.curvature > 0.0:
                half += lift.cost(below)
                lift = lift._replace(slope=lift.slope + below * lift.curvature)
            slack = slack + below * lift.slack
        elif below > SLACK_ROUNDING * max(1.0, float(slack.max())):
            return np.inf, below
        slack = np.maximum(slack, 0.0)
    missed = max(0.0, 1.0 - float((margin + slack).min()))
    slack_cost = float(c @ slack)
    cost = np.inf
    if missed < 1.0:
        cost = half / (1.0 - missed) ** 2 + slack_cost / (1.0 - missed)
    if lift is not None and missed > _SUM_ROUNDING:
        raised = half + lift.cost(missed) + slack_cost
        cost = min(cost, raised + missed * float(c @ lift.slack))
    return cost, below


def measure_squared(
    half: float,
    margin: FloatArray,
    slack: FloatArray,
    c: FloatArray,
    alpha: FloatArray,
    implied: float,
) -> tuple[float, float]:
    """Compute dual objective and relative duality gap with squared slacks.

    The cost is one of squares alone, so that margins are met by scaling the weights.

    Parameters
    ----------
    half, margin, slack, c : float or arrays
        See the notation above; `half` includes the biases, which are weights here.
    alpha : array of shape (n,)
        The multipliers.
    implied : float
        Squared length of the weights that the multipliers imply, with the part of the
        slacks: ``αᵀ(Q + H)α``.
    """
    missed = max(0.0, 1.0 - float((margin + slack).min()))
    cost = half + 0.5 * float(c @ slack**2)
    cost = cost / (1.0 - missed) ** 2 if missed < 1.0 else np.inf
    dual = max(0.0, float(alpha.sum()) - 0.5 * implied)
    return dual, relative_gap(cost, dual)


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


# -- the ordinary support vector machine ---------------------------------------------


def measure_svm(
    half: float,
    bias_at_margin: FloatArray,
    sign: FloatArray,
    target: FloatArray,
    a: FloatArray,
    c: FloatArray,
) -> tuple[float, float, float]:
    """Compute bias, dual objective and relative duality gap of multipliers.

    A slack at a multiplier below its bound is rounding: it costs c times its size, or,
    where all margins are 1, the weights are scaled to the margins, whichever is less.
    So is an imbalance of the classes, which costs the bias times its size.
    """
    bias = float(bias_of(bias_at_margin, sign, a, c))
    dual = float((sign * target) @ a) - half - abs(bias * float(sign @ a))
    missed = sign * (bias_at_margin - bias)
    slack = np.maximum(missed, 0.0)
    cost = half + float(c @ slack)
    if np.array_equal(sign, target):
        held = np.where(a < c, 0.0, slack)
        cost = min(cost, primal_bound(half, 1.0 - missed, held, c, None)[0])
    return bias, dual, relative_gap(cost, dual)


@njit(cache=True, nogil=True)
def bias_of(
    bias_at_margin: FloatArray, sign: FloatArray, a: FloatArray, c: FloatArray
) -> float:
    """Find the bias of a support vector machine.

    It is the median of those that free multipliers determine; without any, the middle
    of the biases that the others allow.
    """
    free = np.empty(a.size)
    n_free, low, high, top = 0, -np.inf, np.inf, 0.0
    for i in range(a.size):
        top = max(top, a[i])
    for i in range(a.size):
        if AT_BOUND * top < a[i] < (1.0 - AT_BOUND) * c[i]:
            free[n_free] = bias_at_margin[i]
            n_free += 1
        elif (a[i] < c[i] / 2) == (sign[i] > 0):
            low = max(low, bias_at_margin[i])
        else:
            high = min(high, bias_at_margin[i])
    if n_free > 0:
        return float(np.median(free[:n_free]))
    if high == np.inf or low == -np.inf:
        return low if high == np.inf else high
    return (low + high) / 2.0


def put_at_bounds(
    a: FloatArray, surplus: FloatArray, slack: FloatArray, c: FloatArray
) -> FloatArray:
    """Move multipliers of an interior point to the bounds that they converge to.

    At the optimum a multiplier or the surplus over the margin is zero, and the distance
    of the multiplier from c or the slack: the smaller one, in units of each.
    """
    unit = np.minimum(c, 1.0)
    return np.where(a <= unit * surplus, 0.0, np.where(c - a < unit * slack, c, a))


def bias_bounds(
    bias_at_margin: FloatArray, y: FloatArray, c: FloatArray, a: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the least (or −∞) and the largest (or ∞) bias that each sample allows."""
    up = np.where(y > 0, a < c, a > 0)
    down = np.where(y > 0, a > 0, a < c)
    return np.where(up, bias_at_margin, -np.inf), np.where(down, bias_at_margin, np.inf)


def bias_difference(
    bias_at_margin: FloatArray, y: FloatArray, c: FloatArray, a: FloatArray
) -> float:
    """Return the largest difference of the biases of two samples, 0 at the optimum."""
    high, low = bias_bounds(bias_at_margin, y, c, a)
    return max(float(high.max(initial=-np.inf) - low.min(initial=np.inf)), 0.0)


def largest_sum(gram: Gram, a: FloatArray) -> float:
    """Return the largest sum of the terms of ``gram a``, whose rounding remains."""
    sizes: Any = abs(gram)
    return float((sizes @ a).max(initial=0.0))


def violation(
    gram: Gram,
    y: FloatArray,
    target: FloatArray,
    c: FloatArray,
    a: FloatArray,
) -> float:
    """Return how far multipliers are from optimal, relative to the terms of ``gram a``.

    That is the largest difference of the biases of two samples, or the imbalance of the
    multipliers of the classes. Smaller values than the last digits of the terms are
    rounding.
    """
    difference = bias_difference(target - gram @ (y * a), y, c, a)
    balance = abs(float(y @ a)) / max(float(a.sum()), 1e-300)
    return max(difference / max(1.0, largest_sum(gram, a)), balance)


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
