"""Names that options take, for help and for a shell that completes them.

``--help`` and the Tab key answer at once, without importing the packages that hold what
is named: the names are read from the source of the tables.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from pathlib import Path


def _names(module: str, table: str) -> tuple[str, ...]:
    """Return the names in a table of a module, without importing it.

    The table is written out in the source: a dictionary, whose keys are the names, or a
    ``Literal`` of them.
    """
    source = Path(__file__).parents[1] / f"{module}.py"
    for node in ast.parse(source.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if ast.unparse(target) != table:
                continue
            if isinstance(node.value, ast.Dict):
                return tuple(ast.literal_eval(key) for key in node.value.keys if key)
            if isinstance(node.value, ast.Subscript):
                return tuple(ast.literal_eval(node.value.slice))
    raise AssertionError(f"no table {table} in {source}")


SELECTORS = _names("selection/__init__", "SELECTORS")
ESTIMATORS = _names("learning/registry", "ESTIMATORS")
TESTS = _names("comparison/testing", "TESTS")
METHODS = _names("evaluation/naming", "METHODS")
SCALES = _names("experiments/study", "Scale")
STUDIES = _names("papers/__init__", "_STUDIES")
CODES = _names("auditing/codes", "CODES")
RELEVANCES = _names("selection/_prioritization", "RelevanceKind")

#: Verbs that answer in JSON, as ``veridical schema`` names them.
ANSWERING = _names("cli/answers", "ANSWERS")


def one_of(names: Iterable[str]) -> str:
    """List names for a sentence.

    >>> one_of(["a", "b", "c"])
    'a, b or c'
    """
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def completing(names: Iterable[str]) -> Callable[[str], list[str]]:
    """Offer the names that begin with what was typed so far.

    Of names with commas between them, the last one is completed.

    >>> completing(SELECTORS)("re"), completing(SELECTORS)("anova,mr")
    (['relieff'], ['anova,mrmr'])
    """
    known = tuple(names)

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [before + comma + name for name in known if name.startswith(last)]

    return complete
