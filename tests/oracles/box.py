"""The box of multipliers as a quadratic program of whole matrices."""

import numpy as np
from tests.oracles.interior import follow


def follow_box(gram, y, c, cost, tolerance):
    """Return multipliers, their surplus and slack.

    The bias is the last variable: the multiplier of ``yᵀa = 0``.
    """
    n = len(y)
    P = np.zeros((n + 1, n + 1))
    P[:n, :n] = gram * np.outer(y, y)
    P[n, :n] = P[:n, n] = y
    A = np.vstack([np.eye(n, n + 1), -np.eye(n, n + 1)])
    start = np.minimum(c / 2, 1.0 / np.diag(gram).max())
    _, s, z = follow(
        P,
        np.append(cost, 0.0),
        A,
        np.append(np.zeros(n), -c),
        np.append(start, 0.0),
        np.append(start, c - start),
        np.ones(2 * n),
        tolerance,
    )
    return s[:n], z[:n], z[n:]
