"""Names that options accept, for help and for completion in the shell.

``--help`` and completion must be fast, so the names are read from the source files of
the tables, without importing them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from pathlib import Path


def _read_names(module: str, table: str) -> tuple[str, ...]:
    """Return the names in a table of a module, without importing it.

    The table is written out in the source: a dictionary, whose keys are the names, or a
    tuple or ``Literal`` of them.
    """
    source = Path(__file__).parents[1] / f"{module}.py"
    for node in ast.parse(source.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if ast.unparse(target) != table:
                continue
            if isinstance(node.value, ast.Dict):
                return tuple(ast.literal_eval(key) for key in node.value.keys if key)
            if isinstance(node.value, ast.Tuple):
                return tuple(ast.literal_eval(node.value))
            if isinstance(node.value, ast.Subscript):
                return tuple(ast.literal_eval(node.value.slice))
    raise AssertionError(f"no table {table} in {source}")


SELECTORS = _read_names("selection/__init__", "SELECTORS")
ESTIMATORS = _read_names("learning/registry", "ESTIMATORS")
IMPUTERS = _read_names("preparation/imputing", "IMPUTERS")
SCALERS = _read_names("cli/preparing", "SCALERS")
ENCODERS = _read_names("cli/preparing", "ENCODERS")
TESTS = _read_names("comparison/testing", "TESTS")
FURTHER_TESTS = _read_names("comparison/testing", "FURTHER_TESTS")
METHODS = _read_names("evaluation/naming", "METHODS")
SCALES = _read_names("experiments/study", "Scale")
STUDIES = _read_names("papers/__init__", "_STUDIES")
CODES = _read_names("auditing/codes", "CODES")
RELEVANCES = _read_names("selection/_prioritization", "RelevanceKind")

#: Verbs that answer in JSON, as ``veridical schema`` names them.
ANSWERING = _read_names("cli/answers", "ANSWERS")


def join_or(names: Iterable[str]) -> str:
    """List names for a sentence.

    >>> join_or(["a", "b", "c"])
    'a, b or c'
    """
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def completer(names: Iterable[str]) -> Callable[[str], list[str]]:
    """Return a function that completes the last of several names.

    >>> completer(SELECTORS)("re"), completer(SELECTORS)("anova,mr")
    (['relieff'], ['anova,mrmr'])
    """
    known = tuple(names)

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [before + comma + name for name in known if name.startswith(last)]

    return complete
