"""The dual of a support vector machine, solved by trying every active set."""

from itertools import product

import numpy as np


def dual_objective(G, target, v):
    """Return ``Σ target v − ½ vᵀGv``."""
    return float(target @ v - 0.5 * v @ G @ v)


def try_all_active_sets(G, target, lower, upper, *, balanced=True):
    """Return the largest dual objective, from every choice of free multipliers.

    The others are at their lower or upper bound. Without `balanced` multipliers need
    not sum to zero.
    """
    n, best = len(target), -np.inf
    for states in product((-1, 0, 1), repeat=n):
        state = np.array(states)
        free = np.flatnonzero(state == 0)
        v = np.where(state < 0, lower, np.where(state > 0, upper, 0.0))
        if not np.isfinite(v).all():
            continue
        m = free.size
        system = np.zeros((m + 1, m + 1))
        system[:m, :m] = G[np.ix_(free, free)]
        right = np.append((target - G @ v)[free], 0.0)
        if balanced:
            system[:m, m] = system[m, :m] = 1.0
            right[m] = -v.sum()
        v[free] = np.linalg.lstsq(system, right, rcond=1e-12)[0][:m]
        meets = np.all((lower - 1e-9 <= v) & (v <= upper + 1e-9))
        if meets and (not balanced or abs(v.sum()) <= 1e-9):
            best = max(best, dual_objective(G, target, v))
    return best
