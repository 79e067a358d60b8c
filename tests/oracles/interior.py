"""Mehrotra's method for ``min ½xᵀPx + qᵀx`` with ``A x ≥ h``, on whole matrices."""

import numpy as np


def follow(P, q, A, h, x, s, z, tolerance):
    """Return x, s and z of the last point; a step solves for all unknowns at once."""
    k, m = len(x), len(s)

    def direction(target):
        system = np.zeros((k + 2 * m, k + 2 * m))
        system[:k, :k], system[:k, k + m :] = P, -A.T
        system[k : k + m, :k], system[k : k + m, k : k + m] = A, -np.eye(m)
        system[k + m :, k : k + m], system[k + m :, k + m :] = np.diag(z), np.diag(s)
        right = np.concatenate([A.T @ z - P @ x - q, s + h - A @ x, target])
        solution = np.linalg.solve(system, right)
        return solution[:k], solution[k : k + m], solution[k + m :]

    def longest(ds, dz):
        values, changes = np.append(s, z), np.append(ds, dz)
        return min(1.0, *(-values[changes < 0] / changes[changes < 0]), np.inf)

    for _ in range(100):
        gap = s @ z / max(abs(0.5 * x @ P @ x + q @ x), 1e-300)
        unbalanced = np.abs(P @ x + q - A.T @ z).max() / z.max()
        if max(gap, unbalanced, np.abs(A @ x - h - s).max()) <= tolerance:
            break
        _, ds, dz = direction(-s * z)
        step = longest(ds, dz)
        share = (s + step * ds) @ (z + step * dz) / (s @ z)
        dx, ds, dz = direction(share**3 * (s @ z) / m - s * z - ds * dz)
        step = longest(ds, dz)
        if step < 1.0:
            step *= min(max(1.0 - s @ z / m, 0.99), 1.0 - 1e-6)
        x, s, z = x + step * dx, s + step * ds, z + step * dz
    return x, s, z
