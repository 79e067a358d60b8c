"""Names that options take, for help and for a shell that completes them.

They stand here once more so that ``--help`` and the Tab key answer at once, without
loading the rooms that hold what is named; a test compares both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

SELECTORS = (
    *("information-gain", "anova", "correlation", "relieff", "fcbf", "mrmr", "ddp"),
    *("hsic", "svm-rfe"),
)
LEARNERS = ("svm", "nb", "1nn", "tree", "c45", "logistic", "majority")
#: What ``veridical select`` knows besides, made for more than two classes.
DAGSVM = "dagsvm"
TESTS = (
    *("corrected-t", "paired-t", "five-by-two-t", "five-by-two-f", "repeated-cv-t"),
    *("sorted-runs-t", "bayesian-correlated-t"),
)
METHODS = (
    *("cv10", "cv10x5", "plain-cv10", "loo", "leave5", "holdout", "subsampling20"),
    *("boot632", "boot632+", "resubstitution"),
)
RELEVANCES = ("all-classes", "one-vs-all")
SCALES = ("smoke", "laptop", "paper")
STUDIES = (
    *("in-vs-out", "lufe", "accuracy-estimation", "bias-corrected-bayes"),
    "differential-prioritization",
)
CODES = tuple(f"VD{number:03d}" for number in range(1, 13))

#: Verbs that answer in JSON, as ``veridical schema`` names them.
ANSWERING = (
    *("select", "estimate", "compare", "audit"),
    *("study list", "study run", "study show", "study verify", "study export"),
    *("study watch", "data list", "data show", "data fetch"),
)


def one_of(names: Iterable[str]) -> str:
    """List names for a sentence.

    >>> one_of(["a", "b", "c"])
    'a, b or c'
    """
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def completing(names: Iterable[str]) -> Callable[[str], list[str]]:
    """Offer the names that begin with what was typed so far.

    >>> completing(SELECTORS)("re")
    ['relieff']
    """
    known = tuple(names)

    def complete(incomplete: str) -> list[str]:
        return [name for name in known if name.startswith(incomplete)]

    return complete
