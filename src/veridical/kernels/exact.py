"""Sums carried to twice the working precision.

A training set's sums are those of all rows minus the rows left out. In double precision
that subtraction has other rounding errors than summing the training set itself, and
ties would be broken by them. With sums as an unevaluated pair ``high + low`` (106 bits)
both ways round to the same double.

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
        """Compute ``a * b + c`` with one rounding."""

else:

    @intrinsic
    def fma(context: Any, a: Any, b: Any, c: Any) -> Any:
        """Compute ``a * b + c`` with one rounding."""

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
    """Add the low part to the high part; the new low part is its rounding error."""
    total = high + low
    return total, low - (total - high)


@njit(cache=True, nogil=True)
def multiply_double(high: float, low: float, x: float) -> tuple[float, float]:
    """Multiply the pair by a double."""
    product = high * x
    return product, fma(high, x, -product) + low * x


@njit(cache=True, nogil=True)
def square(high: float, low: float) -> tuple[float, float]:
    """Multiply the pair by itself."""
    product = high * high
    return normalize(product, fma(high, high, -product) + 2.0 * high * low)


@njit(cache=True, nogil=True)
def divide_double(high: float, low: float, x: float) -> tuple[float, float]:
    """Divide the pair by a double."""
    quotient = high / x
    return normalize(quotient, (fma(-quotient, x, high) + low) / x)


@njit(cache=True, nogil=True)
def multiply_pairs(
    high: float, low: float, x: float, x_low: float
) -> tuple[float, float]:
    """Multiply two pairs."""
    product = high * x
    return normalize(product, fma(high, x, -product) + (high * x_low + low * x))


@njit(cache=True, nogil=True)
def divide_pairs(
    high: float, low: float, x: float, x_low: float
) -> tuple[float, float]:
    """Divide a pair by another one."""
    quotient = high / x
    product, product_low = multiply_pairs(quotient, 0.0, x, x_low)
    remainder, remainder_low = add(high, low, -product, -product_low)
    return normalize(quotient, (remainder + remainder_low) / x)
