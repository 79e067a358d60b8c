"""Numbers as people read them, with their unit."""

from __future__ import annotations

import math

MINUS = "\N{MINUS SIGN}"
MISSING = "\N{EN DASH}"


def number(value: float, digits: int = 1, *, signed: bool = False) -> str:
    """Write a number with a true minus sign; zero has no sign.

    Examples
    --------
    >>> number(-0.126, 2), number(0.5, signed=True), number(-0.001, 2)
    ('−0.13', '+0.5', '0.00')
    """
    text = f"{abs(value):.{digits}f}"
    if float(text) == 0:
        return text
    return (MINUS if value < 0 else "+" if signed else "") + text


def with_range(
    value: float, low: float, high: float, digits: int = 1, *, signed: bool = False
) -> str:
    """Write a number and its interval, which is left out where it is not finite.

    Examples
    --------
    >>> with_range(0.5, -0.25, 1.25, 2, signed=True)
    '+0.50 (−0.25 to +1.25)'
    """
    text = number(value, digits, signed=signed)
    if not (math.isfinite(low) and math.isfinite(high)):
        return text
    bounds = (number(bound, digits, signed=signed) for bound in (low, high))
    return f"{text} ({' to '.join(bounds)})"


def percent(value: float | None, digits: int = 1) -> str:
    """Write a share as per cent.

    Examples
    --------
    >>> percent(0.8274)
    '82.7 %'
    """
    if value is None:
        return MISSING
    return f"{number(100 * value, digits)} %"


def percent_range(low: float | None, high: float | None) -> str:
    """Write an interval of shares as per cent; more digits where it is narrow.

    Examples
    --------
    >>> percent_range(0.79, 0.864), percent_range(0.99953, 1.0)
    ('79.0 to 86.4 %', '99.95 to 100.00 %')
    """
    if low is None or high is None:
        return MISSING
    digits = 1
    while digits < 4 and low < high and percent(low, digits) == percent(high, digits):
        digits += 1
    return f"{number(100 * low, digits)} to {percent(high, digits)}"


def points(value: float | None, *, signed: bool = True, unit: bool = True) -> str:
    """Write a difference of shares in percentage points.

    Examples
    --------
    >>> points(0.0246), points(0.01, signed=False), points(-0.0001, unit=False)
    ('+2.5 points', '1.0 points', '0.0')
    """
    if value is None:
        return MISSING
    text = number(100 * value, signed=signed)
    return f"{text} points" if unit else text


def points_range(low: float | None, high: float | None, *, unit: bool = True) -> str:
    """Write an interval of differences in percentage points.

    Examples
    --------
    >>> points_range(-0.01, 0.059)
    '−1.0 to +5.9 points'
    """
    if low is None or high is None:
        return MISSING
    text = " to ".join(number(100 * bound, signed=True) for bound in (low, high))
    return f"{text} points" if unit else text


def pvalue(value: float | None) -> str:
    """Write a p-value: three decimals below 0.1, two above.

    Examples
    --------
    >>> pvalue(0.00001), pvalue(0.0213), pvalue(0.134)
    ('p < 0.001', 'p = 0.021', 'p = 0.13')
    """
    if value is None:
        return "p unknown"
    if value < 0.001:
        return "p < 0.001"
    return f"p = {value:.3f}" if value < 0.0995 else f"p = {value:.2f}"


def seconds(value: float | None) -> str:
    """Write a time in seconds, with two or three significant figures.

    Examples
    --------
    >>> seconds(0.00123), seconds(0.5), seconds(83.2)
    ('0.0012', '0.50', '83')
    """
    if value is None:
        return MISSING
    digits = 0 if value >= 10 else 2 if value >= 0.1 else 4
    return f"{value:.{digits}f}"


def duration(seconds: float) -> str:
    """Write a length of time with two digits.

    Examples
    --------
    >>> duration(42.4), duration(150), duration(6000), duration(200_000)
    ('42 s', '2.5 min', '1.7 h', '2.3 days')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.2g} min" if seconds < 600 else f"{seconds / 60:.0f} min"
    if seconds < 36 * 3600:
        return f"{seconds / 3600:.2g} h"
    return f"{seconds / 86400:.2g} days"


def count(number: int, noun: str) -> str:
    """Write a number with its noun.

    Examples
    --------
    >>> count(1, "fold"), count(100, "data set"), count(2, "class")
    ('1 fold', '100 data sets', '2 classes')
    """
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun}{'es' if noun.endswith('s') else 's'}"
