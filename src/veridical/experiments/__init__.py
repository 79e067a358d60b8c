"""A study as data: resumable, local or on a cluster.

The names load when first used: a worker process needs few of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from veridical._core.errors import InputError
    from veridical._core.numbers import count as format_count
    from veridical._core.numbers import number as format_number
    from veridical._core.numbers import pvalue as format_pvalue
    from veridical._core.numbers import with_range as format_interval
    from veridical._core.records import Interval
    from veridical._core.seeds import derive_seed
    from veridical.experiments.cluster import Cluster
    from veridical.experiments.database import StoreError
    from veridical.experiments.executors import Processes, Serial
    from veridical.experiments.exports import export
    from veridical.experiments.findings import (
        Check,
        Curve,
        Mean,
        Outcome,
        Picture,
        StudyReport,
        StudyTable,
        average,
        decide,
        if_enough,
        together,
    )
    from veridical.experiments.keys import content_hash
    from veridical.experiments.paper import PaperStudy
    from veridical.experiments.plan import Counts, Plan, parse_where
    from veridical.experiments.runner import Progress, RunReport, run_study
    from veridical.experiments.store import Store, Writer
    from veridical.experiments.study import (
        SCALES,
        Cell,
        Recipe,
        Scale,
        Spec,
        Study,
        Unit,
        Values,
        refuse_repeated,
        refuse_unknown,
    )
    from veridical.experiments.supervisor import Limits, WorkerError
    from veridical.experiments.verification import Verification, verify

_HOMES = {
    "._core.errors": ("InputError",),
    "._core.records": ("Interval",),
    "._core.seeds": ("derive_seed",),
    "cluster": ("Cluster",),
    "database": ("StoreError",),
    "executors": ("Processes", "Serial"),
    "exports": ("export",),
    "findings": (
        "Check",
        "Curve",
        "Mean",
        "Outcome",
        "Picture",
        "StudyReport",
        "StudyTable",
        "average",
        "if_enough",
        "decide",
        "together",
    ),
    "keys": ("content_hash",),
    "paper": ("PaperStudy",),
    "plan": ("Counts", "Plan", "parse_where"),
    "runner": ("Progress", "RunReport", "run_study"),
    "store": ("Store", "Writer"),
    "study": (
        "SCALES",
        "Cell",
        "Recipe",
        "Scale",
        "Spec",
        "Study",
        "Unit",
        "Values",
        "refuse_repeated",
        "refuse_unknown",
    ),
    "supervisor": ("Limits", "WorkerError"),
    "verification": ("Verification", "verify"),
}
#: Where a public name is, and what it is called there.
_PLACES = {name: (home, name) for home, names in _HOMES.items() for name in names} | {
    "format_count": ("._core.numbers", "count"),
    "format_interval": ("._core.numbers", "with_range"),
    "format_number": ("._core.numbers", "number"),
    "format_pvalue": ("._core.numbers", "pvalue"),
}

__all__ = [
    "SCALES",
    "Cell",
    "Check",
    "Cluster",
    "Counts",
    "Curve",
    "InputError",
    "Interval",
    "Limits",
    "Mean",
    "Outcome",
    "PaperStudy",
    "Picture",
    "Plan",
    "Processes",
    "Progress",
    "Recipe",
    "RunReport",
    "Scale",
    "Serial",
    "Spec",
    "Store",
    "StoreError",
    "Study",
    "StudyReport",
    "StudyTable",
    "Unit",
    "Values",
    "Verification",
    "WorkerError",
    "Writer",
    "average",
    "content_hash",
    "decide",
    "derive_seed",
    "export",
    "format_count",
    "format_interval",
    "format_number",
    "format_pvalue",
    "if_enough",
    "parse_where",
    "refuse_repeated",
    "refuse_unknown",
    "run_study",
    "together",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        home, own = _PLACES[name]
        return getattr(import_module(f".{home}", __name__), own)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
