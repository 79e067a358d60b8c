"""Studies as data: resumable, run locally or on a cluster.

Names are imported when first used, because a worker process needs few of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from veridical._core.errors import InputError
    from veridical._core.numbers import count as format_count
    from veridical._core.numbers import number as format_number
    from veridical._core.numbers import pvalue as format_pvalue
    from veridical._core.numbers import with_range as format_interval
    from veridical._core.records import Curve, Interval
    from veridical._core.seeds import derive_seed
    from veridical._core.splits import stratified_split
    from veridical.experiments.cluster import Cluster
    from veridical.experiments.database import StoreError
    from veridical.experiments.executors import Processes, Serial
    from veridical.experiments.exports import export
    from veridical.experiments.findings import (
        Check,
        Mean,
        Outcome,
        Picture,
        StudyReport,
        StudyReports,
        StudyTable,
        average_means,
        decide,
        decide_all,
        decide_if_enough,
        fisher_pvalue,
        fit_slope,
        rank_correlation,
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

_MODULES = {
    "._core.errors": ("InputError",),
    "._core.records": ("Curve", "Interval"),
    "._core.seeds": ("derive_seed",),
    "._core.splits": ("stratified_split",),
    "cluster": ("Cluster",),
    "database": ("StoreError",),
    "executors": ("Processes", "Serial"),
    "exports": ("export",),
    "findings": (
        "Check",
        "Mean",
        "Outcome",
        "Picture",
        "StudyReport",
        "StudyReports",
        "StudyTable",
        "average_means",
        "decide_if_enough",
        "decide",
        "decide_all",
        "fisher_pvalue",
        "fit_slope",
        "rank_correlation",
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
#: Module of a public name, and its name in that module.
_LOCATIONS = {
    name: (module, name) for module, names in _MODULES.items() for name in names
} | {
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
    "StudyReports",
    "StudyTable",
    "Unit",
    "Values",
    "Verification",
    "WorkerError",
    "Writer",
    "average_means",
    "content_hash",
    "decide",
    "decide_all",
    "decide_if_enough",
    "derive_seed",
    "export",
    "fisher_pvalue",
    "fit_slope",
    "format_count",
    "format_interval",
    "format_number",
    "format_pvalue",
    "parse_where",
    "rank_correlation",
    "refuse_repeated",
    "refuse_unknown",
    "run_study",
    "stratified_split",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name in _LOCATIONS:
        module, own = _LOCATIONS[name]
        return getattr(import_module(f".{module}", __name__), own)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
