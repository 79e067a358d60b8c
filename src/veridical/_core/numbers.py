"""Numbers as people read them, with their unit."""

from __future__ import annotations

MINUS = "\N{MINUS SIGN}"
MISSING = "\N{EN DASH}"


def _fixed(value: float, digits: int) -> str:
    """Write a number with a true minus sign, and never as minus zero."""
    text = f"{abs(value):.{digits}f}"
    negative = value < 0 and float(text) != 0
    return (MINUS if negative else "") + text


def percent(value: float | None, digits: int = 1) -> str:
    """Write a share as per cent.

    Examples
    --------
    >>> percent(0.8274)
    '82.7 %'
    """
    if value is None:
        return MISSING
    return f"{_fixed(100 * value, digits)} %"


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
    return f"{_fixed(100 * low, digits)} to {percent(high, digits)}"


def points(value: float | None, *, signed: bool = True, unit: bool = True) -> str:
    """Write a difference of shares in percentage points.

    Examples
    --------
    >>> points(0.0246), points(0.01, signed=False), points(-0.0001, unit=False)
    ('+2.5 points', '1.0 points', '0.0')
    """
    if value is None:
        return MISSING
    text = _signed(value) if signed else _fixed(100 * value, 1)
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
    text = f"{_signed(low)} to {_signed(high)}"
    return f"{text} points" if unit else text


def _signed(value: float) -> str:
    text = _fixed(100 * value, 1)
    return f"+{text}" if value > 0 and float(text) != 0 else text


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
    """Write a time in seconds, with two or three figures that mean something.

    Examples
    --------
    >>> seconds(0.00123), seconds(0.5), seconds(83.2)
    ('0.0012', '0.50', '83')
    """
    if value is None:
        return MISSING
    digits = 0 if value >= 10 else 2 if value >= 0.1 else 4
    return f"{value:.{digits}f}"


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


def names(items: list[str]) -> str:
    """Write a list as a person would.

    Examples
    --------
    >>> names(["IN", "OUT", "TRUTH"])
    'IN, OUT and TRUTH'
    """
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"
