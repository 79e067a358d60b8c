"""Sums carried to twice the working precision.

A training fold's sums are those of all rows minus the left-out ones. In double
precision that subtraction would leave another rounding than summing the fold itself,
and a tie would be broken by noise. With sums carried as an unevaluated pair
``high + low`` (106 bits) both ways round to the same double.

References
----------
.. [1] T. Ogita, S. M. Rump & S. Oishi, "Accurate sum and dot product", SIAM Journal
   on Scientific Computing 26 (2005).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numba import types
from numba.extending import intrinsic

from veridical._core.compiling import njit

if TYPE_CHECKING:

    def fma(a: float, b: float, c: float) -> float:
        """``a * b + c`` with one rounding."""

else:

    @intrinsic
    def fma(context: Any, a: Any, b: Any, c: Any) -> Any:
        """``a * b + c`` with one rounding."""

        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.fma(*args)

        return types.float64(types.float64, types.float64, types.float64), build


@njit(cache=True, nogil=True)
def add(high: float, low: float, x: float, x_low: float) -> tuple[float, float]:
    """Add the pair ``x + x_low`` to the running pair ``high + low``."""
    total = high + x
    part = total - high
    error = (high - (total - part)) + (x - part)
    return total, low + (error + x_low)


@njit(cache=True, nogil=True)
def normalize(high: float, low: float) -> tuple[float, float]:
    """Move what fits of the low part into the high part."""
    total = high + low
    return total, low - (total - high)


@njit(cache=True, nogil=True)
def scale(high: float, low: float, x: float) -> tuple[float, float]:
    """Multiply the pair by a double."""
    product = high * x
    return product, fma(high, x, -product) + low * x


@njit(cache=True, nogil=True)
def square(high: float, low: float) -> tuple[float, float]:
    """Multiply the pair by itself."""
    product = high * high
    return normalize(product, fma(high, high, -product) + 2.0 * high * low)


@njit(cache=True, nogil=True)
def divide(high: float, low: float, x: float) -> tuple[float, float]:
    """Divide the pair by a double."""
    quotient = high / x
    return normalize(quotient, (fma(-quotient, x, high) + low) / x)


@njit(cache=True, nogil=True)
def multiply(high: float, low: float, x: float, x_low: float) -> tuple[float, float]:
    """Multiply two pairs."""
    product = high * x
    return normalize(product, fma(high, x, -product) + (high * x_low + low * x))


@njit(cache=True, nogil=True)
def divide_pairs(
    high: float, low: float, x: float, x_low: float
) -> tuple[float, float]:
    """Divide a pair by another one."""
    quotient = high / x
    taken, taken_low = multiply(quotient, 0.0, x, x_low)
    left, left_low = add(high, low, -taken, -taken_low)
    return normalize(quotient, (left + left_low) / x)
