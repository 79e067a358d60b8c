"""A study as data: resumable, local or on a cluster.

The names load when first used: a worker process needs few of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from veridical._core.seeds import derive_seed
    from veridical.experiments.access import StoreError
    from veridical.experiments.cluster import Cluster
    from veridical.experiments.executors import Processes, Serial
    from veridical.experiments.exports import export
    from veridical.experiments.keeper import Limits, WorkerError
    from veridical.experiments.keys import content_hash
    from veridical.experiments.plan import Counts, Plan, parse_where
    from veridical.experiments.progress import Progress
    from veridical.experiments.runner import RunReport, run_study
    from veridical.experiments.store import Store, Writer
    from veridical.experiments.study import SCALES, Cell, Recipe, Spec, Study, Unit
    from veridical.experiments.verification import Verification, verify

_HOMES = {
    "._core.seeds": ("derive_seed",),
    "access": ("StoreError",),
    "cluster": ("Cluster",),
    "executors": ("Processes", "Serial"),
    "exports": ("export",),
    "keeper": ("Limits", "WorkerError"),
    "keys": ("content_hash",),
    "plan": ("Counts", "Plan", "parse_where"),
    "progress": ("Progress",),
    "runner": ("RunReport", "run_study"),
    "store": ("Store", "Writer"),
    "study": ("SCALES", "Cell", "Recipe", "Spec", "Study", "Unit"),
    "verification": ("Verification", "verify"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "SCALES",
    "Cell",
    "Cluster",
    "Counts",
    "Limits",
    "Plan",
    "Processes",
    "Progress",
    "Recipe",
    "RunReport",
    "Serial",
    "Spec",
    "Store",
    "StoreError",
    "Study",
    "Unit",
    "Verification",
    "WorkerError",
    "Writer",
    "content_hash",
    "derive_seed",
    "export",
    "parse_where",
    "run_study",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        module = import_module(f".{_HOME_OF[name]}", __name__)
        return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
