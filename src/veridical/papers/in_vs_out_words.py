"""Figures in words and outcomes, for the checks of the comparison paper."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from veridical.experiments.findings import Outcome
from veridical.papers.accuracy_figures import Mean

#: The paper's number of data sets: with fewer the binomial test sees less, and counts
#: of cells that are the same come out too high.
PAPER_SETS = 100
#: With fewer data sets figures without an interval say too little.
ENOUGH_SETS = 50
#: With fewer still even shares of all verdicts, and mean variances, say too little.
FEW_SETS = 20

_MINUS = "\N{MINUS SIGN}"


def together(outcomes: Iterable[Outcome]) -> Outcome:
    """All parts of a statement must hold; one that does not is enough to refute it."""
    given = list(outcomes)
    if "not reproduced" in given:
        return "not reproduced"
    return "open" if "open" in given or not given else "reproduced"


def if_enough(holds: bool, n: int, least: int) -> Outcome:
    """Say nothing on the strength of a few."""
    if n < least:
        return "open"
    return "reproduced" if holds else "not reproduced"


def number(value: float, digits: int = 1, *, signed: bool = True) -> str:
    """Write a number with a true minus sign, and zero without any sign.

    Examples
    --------
    >>> from veridical.papers.in_vs_out_words import number
    >>> number(-0.126, 2), number(0.5), number(-0.001, 2)
    ('−0.13', '+0.5', '0.00')
    """
    text = f"{value:{'+' if signed else ''}.{digits}f}"
    if float(text) == 0:
        return text.lstrip("+-")
    return text.replace("-", _MINUS)


def percent(value: float, digits: int = 2) -> str:
    """Write a signed number of per cent."""
    return f"{number(value, digits)} %"


def with_interval(mean: Mean) -> str:
    """Write a mean of per cent and its 95 % interval, where there is one."""
    if not np.isfinite(mean.error):
        return percent(mean.value)
    _, low, high = mean.interval
    return f"{number(mean.value, 2)} ({number(low, 2)} to {number(high, 2)}) %"


def share(hits: int, total: int) -> str:
    """Write a count, and as a share.

    Examples
    --------
    >>> from veridical.papers.in_vs_out_words import share
    >>> share(3, 8)
    '3 (38 %) of 8'
    """
    return f"{hits} ({100 * hits / total:.0f} %) of {total}"
