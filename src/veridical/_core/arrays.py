"""Names for the types of arrays, and the precision of their numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

#: Machine precision of doubles: distance from 1 to the next larger one.
EPS = float(np.finfo(np.float64).eps)
