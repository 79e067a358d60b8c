"""What ``--json`` prints: which summary, and the keys of what no page shows.

`ANSWERS` maps every verb to the type of its answer. A key that may be absent does not
exist: what is not there is None.
"""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict

from veridical.report.views.audit import AuditSummary
from veridical.report.views.comparison import ManySummary, Summary
from veridical.report.views.correction import CorrectionSummary
from veridical.report.views.estimates import EstimatesSummary
from veridical.report.views.selection import SelectionSummary
from veridical.report.views.study import StudySummary


class FailedCell(TypedDict):
    """A cell that failed: its coordinates, how it ended, and why."""

    cell: dict[str, Any]
    status: str
    detail: str | None


class StudyRun(TypedDict):
    """How a run ended.

    ``seconds`` is how long it took, ``working`` what the cells took, added up over all
    processes. ``stopped`` is "signal" or "time" where it ended before all was done.
    """

    schema: Literal["veridical/study-run/1"]
    study: str
    store: str
    planned: int
    ok: int
    failed: int
    pending: int
    computed: int
    seconds: float
    working: float
    stopped: Literal["signal", "time"] | None
    findings: StudySummary | None
    page: str | None


class StudyState(TypedDict):
    """What a study varies, how far it is, and what it has found.

    ``absent`` has a sentence for each data set that cannot be read here.
    """

    schema: Literal["veridical/study-show/1"]
    study: str
    store: str
    spec: dict[str, Any]
    planned: int
    ok: int
    failed: int
    pending: int
    failures: list[FailedCell]
    absent: list[str]
    findings: StudySummary | None
    page: str | None


class StoreCheck(TypedDict):
    """Whether a store is as it was written; numbers of the rows that are not."""

    schema: Literal["veridical/study-verify/1"]
    store: str
    ok: bool
    n_rows: int
    altered: list[int]
    missing: list[int]
    extra: list[int]
    damage: list[str]


class StoreExport(TypedDict):
    """What was written where."""

    schema: Literal["veridical/study-export/1"]
    store: str
    path: str
    canonical: bool
    n_cells: int


class StoreWatch(TypedDict):
    """Where the page is shown; printed at once, before the page is closed."""

    schema: Literal["veridical/study-watch/1"]
    store: str
    url: str


class Column(TypedDict):
    """A column: ``values`` where it is nominal, else ``least`` and ``most``."""

    name: str
    kind: Literal["nominal", "numeric"]
    missing: int
    values: list[str] | None
    least: float | None
    most: float | None


class DataDescription(TypedDict):
    """What is in a data set; ``n_stored`` counts the values of a sparse one.

    ``columns`` is empty where columns have no names.
    """

    schema: Literal["veridical/data/1"]
    name: str
    n_samples: int
    n_features: int
    n_nominal: int
    n_missing: int
    n_stored: int | None
    classes: dict[str, int]
    columns: list[Column]


class Fetched(TypedDict):
    """Where a data set is kept, its checksum, and the column with the class."""

    schema: Literal["veridical/fetched/1"]
    name: str
    path: str
    sha256: str
    target: str


#: Of every verb: the types that its answer may have, and whether ``page`` is added.
ANSWERS: dict[str, tuple[tuple[Any, ...], bool]] = {
    "select": ((SelectionSummary,), True),
    "estimate": ((EstimatesSummary,), True),
    "compare": ((Summary, ManySummary), True),
    "audit": ((AuditSummary,), True),
    "probabilities": ((CorrectionSummary,), True),
    "study list": ((dict[str, str],), False),
    "study run": ((StudyRun, list[StudyRun]), False),
    "study show": ((StudyState,), False),
    "study verify": ((StoreCheck,), False),
    "study export": ((StoreExport,), False),
    "study watch": ((StoreWatch,), False),
    "data list": ((dict[str, Literal["source", "file"]],), False),
    "data show": ((DataDescription,), False),
    "data fetch": ((Fetched,), False),
}
