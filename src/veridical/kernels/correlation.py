"""Products of a weighted sum of rows with every column, in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.arrays import FloatArray
from veridical._core.compiling import njit

TILE = 1024


@njit(cache=True, nogil=True, fastmath={"contract"})
def cross(X: Any, weight: FloatArray, out: FloatArray) -> None:
    """Write ``Xᵀ weight`` to `out`, summing in double precision whatever X holds."""
    out[:] = 0.0
    for f in range(0, out.size, TILE):
        target = out[f : f + TILE]
        for r in range(X.shape[0]):
            row, w = X[r, f : f + TILE], weight[r]
            if w != 0.0:
                for c in range(target.size):
                    target[c] += w * np.float64(row[c])
