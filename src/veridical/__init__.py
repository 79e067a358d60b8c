"""veridical: feature selection you can believe.

The verbs are here: `select`, `estimate`, `compare`, `choose`, `discover`, `audit`,
`truth`, `sensitivity`. Everything else is in the subpackages:
``veridical.selection``, ``veridical.comparison`` and so on. Both are imported when
first used, so that ``import veridical`` is fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from veridical._core.version import __version__

if TYPE_CHECKING:
    from veridical import (
        auditing,
        comparison,
        datasets,
        discovery,
        evaluation,
        experiments,
        leakbench,
        learning,
        preparation,
        report,
        selection,
    )
    from veridical._core.errors import InputError
    from veridical._core.versions import show_versions
    from veridical.auditing import audit
    from veridical.comparison import compare, sensitivity, truth
    from veridical.discovery import discover
    from veridical.evaluation import choose, estimate, select


__all__ = [
    "InputError",
    "__version__",
    "audit",
    "auditing",
    "choose",
    "compare",
    "comparison",
    "datasets",
    "discover",
    "discovery",
    "estimate",
    "evaluation",
    "experiments",
    "leakbench",
    "learning",
    "preparation",
    "report",
    "select",
    "selection",
    "sensitivity",
    "show_versions",
    "truth",
]

#: Modules of the verbs; all other names are subpackages.
_MODULES = {
    "InputError": "_core.errors",
    "audit": "auditing",
    "choose": "evaluation",
    "compare": "comparison",
    "discover": "discovery",
    "estimate": "evaluation",
    "select": "evaluation",
    "sensitivity": "comparison",
    "show_versions": "_core.versions",
    "truth": "comparison",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
