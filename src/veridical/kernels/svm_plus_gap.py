"""How far from the optimum an answer can be: a proof, not an estimate.

Any weights that meet all constraints cost at least the optimum, any multipliers that
do promise at most the optimum; between the two lies what is not known. Rounding makes
a solver miss both kinds of constraints a little. So both sides are mended first, and
what the mending costs is part of the gap:

- a slack below zero is lifted, by raising b*, or without b* along weights that lift all
  slacks;
- a margin that is missed by v is met by stretching all weights by 1/(1 − v), or by
  raising b* by v, whichever is cheaper;
- multipliers of the two classes are brought into balance by shrinking one class;
- multipliers βᵢ ≥ −t cᵢ that should not be negative: for the optimal slacks
  Σ βᵢξᵢ ≥ −t Σ cᵢξᵢ, which is at most t times the optimum, so that the dual objective
  divided by 1 + t is a lower bound.

| symbol  | meaning                                       | shape |
|---------|-----------------------------------------------|-------|
| margin  | yᵢ f(xᵢ)                                      | (n,)  |
| slack   | ξᵢ                                            | (n,)  |
| half    | ½|w|² + γ/2 |w*|²                             |       |
"""

from __future__ import annotations

import numpy as np

from veridical._core.arrays import FloatArray

#: Where slacks below zero cannot be lifted, so little of the largest is rounding.
ROUNDING = 1e-9
#: Sums that differ by less are the same.
_EXACT = 1e-13


def shrink_to_balance(alpha: FloatArray, sign: FloatArray) -> FloatArray:
    """Make ``Σ yᵢ αᵢ = 0`` by shrinking the multipliers of one class."""
    total, more = float(alpha.sum()), float(sign @ alpha)
    if abs(more) <= _EXACT * total:
        return alpha
    heavy = sign > 0 if more > 0 else sign < 0
    return np.where(heavy, alpha * ((total - abs(more)) / (total + abs(more))), alpha)


def cost_of_margins(
    half: float,
    margin: FloatArray,
    slack: FloatArray,
    c: FloatArray,
    *,
    bias: bool,
    bend: float = 0.0,
    b_star: float = 0.0,
) -> float:
    """Cost of weights with these margins and slacks (none negative), once mended.

    `bend` is the price of ½ b*², where b* is penalised and part of `half`.
    """
    missed = max(0.0, 1.0 - float((margin + slack).min()))
    price = float(c @ slack)
    stretched = np.inf
    if missed < 1.0:
        stretched = half / (1.0 - missed) ** 2 + price / (1.0 - missed)
    if not bias or missed <= _EXACT:
        return stretched
    raised = half + bend * missed * (b_star + 0.5 * missed)
    return min(stretched, raised + price + missed * float(c.sum()))


def stretch(cost: float, margin: FloatArray, slack: FloatArray) -> float:
    """Cost of squares alone, once all weights are stretched to meet the margins."""
    missed = max(0.0, 1.0 - float((margin + slack).min()))
    return cost / (1.0 - missed) ** 2 if missed < 1.0 else np.inf


def promise_of_multipliers(value: float, beta: FloatArray, c: FloatArray) -> float:
    """Lower bound of the optimum from the dual objective and its multipliers β."""
    if float(beta.min()) < 0.0:
        value /= 1.0 + float((-beta / c).max())
    return max(0.0, value)


def relative_gap(cost: float, promise: float) -> float:
    """Gap as a share of the cost: 0 is optimal, 1 or more says nothing."""
    if not np.isfinite(cost):
        return np.inf
    return max(0.0, cost - promise) / max(cost, 1e-300)
