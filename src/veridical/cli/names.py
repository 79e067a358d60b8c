"""Names that options take, for help and for a shell that completes them.

``--help`` and the Tab key answer at once, without importing the packages that hold what
is named. The names of selectors are read from the source of their table; the other
names stand here once more, and a test compares both.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from pathlib import Path


def _keys(package: str, table: str) -> tuple[str, ...]:
    """Return the keys of a table in a package, without importing the package.

    The table is a dictionary written out in ``__init__.py``, with a type.
    """
    source = Path(__file__).parents[1] / package / "__init__.py"
    for node in ast.parse(source.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == table:
            assert isinstance(node.value, ast.Dict)
            return tuple(ast.literal_eval(key) for key in node.value.keys if key)
    raise AssertionError(f"no table {table} in {source}")


SELECTORS = _keys("selection", "SELECTORS")
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
