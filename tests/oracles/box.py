"""The box of multipliers as a quadratic program of the general engine."""

import numpy as np

from veridical.kernels.interior import follow


class BoxProgram:
    """Multipliers with bounds, ``0 ≤ a ≤ c``, and the bias as last variable.

    The bias is the multiplier of ``yᵀa = 0``; every step solves with a whole matrix.
    """

    def __init__(self, gram, y, c, cost):
        n = len(y)
        self.P = np.zeros((n + 1, n + 1))
        self.P[:n, :n] = gram * np.outer(y, y)
        self.P[n, :n] = self.P[:n, n] = y
        self.A = np.vstack([np.eye(n, n + 1), -np.eye(n, n + 1)])
        self.linear_cost = np.append(cost, 0.0)
        self.limit = np.append(np.zeros(n), -c)

    def curvature(self, x):
        return self.P @ x

    def multiply(self, x):
        return self.A @ x

    def multiply_transposed(self, z):
        return self.A.T @ z

    def factored(self, D):
        whole = self.P + self.A.T @ (D[:, None] * self.A)
        return lambda r: np.linalg.solve(whole, r)

    def certificate(self, z):
        return 1.0  # a = 0 is feasible

    def balance(self, x, z):
        return z


def follow_box(gram, y, c, cost, tolerance):
    """Return multipliers, their surplus and slack, by the general engine."""
    n = len(y)
    start = np.minimum(c / 2, 1.0 / np.diag(gram).max())
    s = np.append(start, c - start)
    program = BoxProgram(gram, y, c, cost)
    point = follow(program, np.append(start, 0.0), s, np.ones(2 * n), tolerance)
    return point.s[:n], point.z[:n], point.z[n:]
