"""veridical: feature selection you can believe.

The rooms hold the names: ``veridical.selection``, ``veridical.comparison`` and so on.
They load when first used, so that ``import veridical`` stays instant.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_ROOMS = (
    "datasets",
    "selection",
    "learning",
    "evaluation",
    "comparison",
    "audit",
    "experiments",
    "report",
)
_NAMES = {
    "audit": "audit",
    "compare": "comparison",
    "sensitivity": "comparison",
    "truth": "comparison",
    "estimate": "evaluation",
    "select": "evaluation",
    "show_versions": "_core.versions",
}

__all__ = ["__version__", *_ROOMS, *_NAMES]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"{__name__}.{name}")
    if name in _NAMES:
        return getattr(import_module(f"{__name__}.{_NAMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
