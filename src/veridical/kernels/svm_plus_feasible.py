"""Whether any weights meet the constraints of SVM+ without b*: a linear program.

Prices do not decide whether weights exist, so none enter. With t for the largest margin
that is missed,

    min  t   with   yᵢ(⟨w, xᵢ⟩ + b) + ⟨w*, xᵢ*⟩ ≥ 1 − t,  ⟨w*, xᵢ*⟩ ≥ 0,  0 ≤ t ≤ 1

is 0 or 1: weights with t < 1 can be stretched until t is 0. (With squared slacks the
second constraint is absent.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from veridical._core.arrays import FloatArray


def exists(X: Any, X_star: Any, y: FloatArray, *, squared: bool = False) -> bool:
    """Ask a generic solver; `X` and `X_star` are features, or factors of Gram matrices.

    True where it does not know: a doubt is not a proof.
    """
    n = len(y)
    X, X_star = _even(X), _even(X_star)
    signed = sparse.diags_array(y) @ X
    ones = np.ones((n, 1))
    margins = sparse.hstack([signed, y[:, None], X_star, ones])
    rows, limit = margins, np.ones(n)
    if not squared:
        nothing = sparse.csr_array((n, X.shape[1] + 1))
        slacks = sparse.hstack([nothing, X_star, np.zeros((n, 1))])
        rows, limit = sparse.vstack([margins, slacks]), np.append(limit, np.zeros(n))
    price = np.zeros(rows.shape[1])
    price[-1] = 1.0
    bounds = [(None, None)] * (rows.shape[1] - 1) + [(0.0, 1.0)]
    found = linprog(price, -sparse.csr_array(rows), -limit, bounds=bounds)
    return found.x is None or float(found.fun) < 0.5


def _even(X: Any) -> Any:
    """Bring columns to one size, which does not decide whether there are weights."""
    X = sparse.csr_array(X)
    top = np.asarray(abs(X).max(axis=0).todense()).ravel() if X.nnz else np.zeros(0)
    if not top.size:
        return sparse.csr_array(X.shape)
    return X @ sparse.diags_array(1.0 / np.where(top > 0, top, 1.0))
