"""What a p-value is worth, in words: how often its test errs, measured."""

from __future__ import annotations

from veridical._core.numbers import percent, percent_range
from veridical.comparison.records import TestResult
from veridical.report.schema import DifferenceSummary, SizeSummary

#: A test that rejects this many times too often, surely, is not believed alone.
TOO_OFTEN = 1.5


def size_of(test: TestResult) -> SizeSummary | None:
    """Turn a measured size into plain numbers."""
    if test.size is None:
        return None
    return {
        "nominal": float(test.size.nominal),
        "rate": float(test.size.rate),
        "low": float(test.size.low),
        "high": float(test.size.high),
        "n_simulations": int(test.size.n_simulations),
        "design": test.size.design,
        "calibrated": is_calibrated(test.name),
    }


def is_calibrated(name: str) -> bool:
    """Tell whether a test took its p-value from a measured null."""
    return name.endswith(", calibrated")


def short(size: SizeSummary | None) -> str:
    """Write a size as a table shows it.

    Examples
    --------
    >>> size = dict(nominal=0.05, rate=0.083, low=0.07, high=0.1, n_simulations=2000,
    ...             design="", calibrated=False)
    >>> short(size)
    'nominal 5 %, measured 8.3 %'
    """
    if size is None:
        return "not measured"
    text = f"nominal {100 * size['nominal']:g} %, measured {percent(size['rate'])}"
    return f"{text} before calibration" if size["calibrated"] else text


def sentence(label: str, gap: DifferenceSummary) -> str:
    """Say how often the test rejects where there is nothing to find."""
    size = gap["size"]
    if size is None:
        return (
            f"{label}: how often this test errs has not been measured for this "
            "resampling; veridical.comparison.calibrate measures it."
        )
    seen = (
        f"95 % interval {percent_range(size['low'], size['high'])}, "
        f"n = {size['n_simulations']} data sets on which neither is better"
    )
    if size["calibrated"]:
        return (
            f"{label}: p-value and interval come from a measured null. The test's own "
            f"p-value has {short(size).removesuffix(' before calibration')} "
            f"in this design ({size['design']}; {seen})."
        )
    return (
        f"{label}: {short(size)} in this design (the nearest simulated: "
        f"{size['design']}; {seen})."
    )


def inflated(gap: DifferenceSummary) -> bool:
    """Tell whether the test surely rejects too often in such a design."""
    size = gap["size"]
    if size is None or size["calibrated"]:
        return False
    return size["low"] > TOO_OFTEN * size["nominal"]
