"""The mechanisms, one file each; a file is found by being here."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from veridical.leakbench.planting import Mechanism

__all__ = ["MECHANISMS"]


def _find_mechanisms() -> dict[str, Mechanism]:
    """Import every file of this folder and collect its mechanism by name."""
    found = {}
    for module in sorted(iter_modules(__path__), key=lambda one: one.name):
        mechanism = import_module(f"{__name__}.{module.name}").MECHANISM
        found[mechanism.name] = mechanism
    return found


#: Every mechanism by its name.
MECHANISMS: dict[str, Mechanism] = _find_mechanisms()
