"""Which small whole numbers occur in each column of a matrix?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def seen_values(
    X: Any, columns: NDArray[np.intp], seen: NDArray[np.bool_], good: NDArray[np.bool_]
) -> None:
    """Mark in `seen` the values of each column, and in `good` the columns they fit.

    A column is good if it holds nothing but whole numbers from 0 to the width of
    `seen`; what is marked for another column means nothing.
    """
    limit = seen.shape[1]
    for i in range(X.shape[0]):
        for k in range(columns.size):
            v = X[i, columns[k]]
            if v >= 0 and v < limit:
                whole = int(v)
                if whole == v:
                    seen[k, whole] = True
                else:
                    good[k] = False
            else:
                good[k] = False
