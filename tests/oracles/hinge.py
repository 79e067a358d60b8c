"""Is this the linear support vector machine? Its optimality conditions, by hand."""

import numpy as np
from scipy.optimize import lsq_linear


def stationarity(X, s, C, w, b, on_margin=1e-6):
    """How far the weights are from being a minimum of the hinge objective.

    At the minimum ``w = Σ a s x`` and ``Σ a s = 0``, where a is C inside the margin, 0
    behind it and anything between on it. The best such a is found by least squares;
    what it leaves is 0 at the minimum and nowhere else.
    """
    slack = 1 - s * (X @ w + b)
    inside, on = slack > on_margin, np.abs(slack) <= on_margin
    rows = np.column_stack([X, np.ones(len(X))]) * s[:, None]
    rest = np.append(w, 0.0) - C * rows[inside].sum(axis=0)
    if not on.any():
        return float(np.abs(rest).max())
    found = lsq_linear(rows[on].T, rest, bounds=(0, C), tol=1e-14)
    return float(np.abs(rows[on].T @ found.x - rest).max())


def objective(X, s, C, w, b):
    """Half the squared length of the weights plus C times the hinge losses."""
    return 0.5 * w @ w + C * np.maximum(0, 1 - s * (X @ w + b)).sum()


def repaired_objective(X, s, C, w, b):
    """The objective, or that of weights scaled to meet all margins, if it is less.

    A margin missed by rounding costs C times as much.
    """
    least = (s * (X @ w + b)).min()
    hard = 0.5 * w @ w / least**2 if least > 0 else np.inf
    return min(objective(X, s, C, w, b), hard)
