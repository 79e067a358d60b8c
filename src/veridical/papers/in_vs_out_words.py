"""Figures in words and outcomes, for the checks of the comparison paper."""

from __future__ import annotations

from collections.abc import Iterable

from veridical._core.numbers import with_range
from veridical.experiments.findings import Outcome
from veridical.papers.accuracy_figures import Mean

#: The paper's number of data sets: with fewer the binomial test sees less, and counts
#: of cells that are the same come out too high.
PAPER_SETS = 100
#: With fewer data sets figures without an interval say too little.
ENOUGH_SETS = 50
#: With fewer still even shares of all verdicts, and mean variances, say too little.
FEW_SETS = 20


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


def with_interval(mean: Mean) -> str:
    """Write a mean of per cent and its 95 % interval, where there is one."""
    return f"{with_range(*mean.interval, 2, signed=True)} %"


def share(hits: int, total: int) -> str:
    """Write a count, and as a share.

    Examples
    --------
    >>> from veridical.papers.in_vs_out_words import share
    >>> share(3, 8)
    '3 (38 %) of 8'
    """
    return f"{hits} ({100 * hits / total:.0f} %) of {total}"
