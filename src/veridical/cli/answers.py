"""The types of what ``--json`` prints.

`ANSWERS` maps every verb to the type of its answer. All keys are always present; a
value that does not exist is None.
"""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict

from veridical.report.views.audit import AuditSummary
from veridical.report.views.choice import ChoiceSummary
from veridical.report.views.comparison import ManySummary, Summary
from veridical.report.views.correction import CorrectionSummary
from veridical.report.views.discoveries import DiscoveriesSummary
from veridical.report.views.estimates import EstimatesSummary
from veridical.report.views.selection import SelectionSummary
from veridical.report.views.study import StudySummary


class FailedCell(TypedDict):
    """A cell that failed: its coordinates, its status and the reason."""

    cell: dict[str, Any]
    status: str
    detail: str | None


class StudyRun(TypedDict):
    """How a run ended.

    ``seconds`` is the duration, ``working`` the sum of the computing times of the
    cells. ``stopped`` is "signal" or "time" where the run ended early.
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
    """What a study varies, its progress and its findings.

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
    """Whether a store is unchanged; numbers of the rows that are not."""

    schema: Literal["veridical/study-verify/1"]
    store: str
    ok: bool
    n_rows: int
    altered: list[int]
    missing: list[int]
    extra: list[int]
    damage: list[str]


class StoreExport(TypedDict):
    """The file that was written."""

    schema: Literal["veridical/study-export/1"]
    store: str
    path: str
    canonical: bool
    n_cells: int


class StoreWatch(TypedDict):
    """The address of the page; printed when the server starts."""

    schema: Literal["veridical/study-watch/1"]
    store: str
    url: str


class FeatureDescription(TypedDict):
    """A feature: ``values`` where it is categorical, else ``least`` and ``most``."""

    name: str
    kind: Literal["categorical", "numeric"]
    missing: int
    values: list[str] | None
    least: float | None
    most: float | None


class DataDescription(TypedDict):
    """The content of a data set; ``n_stored`` counts the values of a sparse one.

    ``columns`` is empty where columns have no names.
    """

    schema: Literal["veridical/data/1"]
    name: str
    n_samples: int
    n_features: int
    n_categorical: int
    n_missing: int
    n_stored: int | None
    target: Literal["classes", "numbers", "survival"]
    outcome: str
    classes: dict[str, int]
    columns: list[FeatureDescription]


class Fetched(TypedDict):
    """The file of a data set, its checksum, and the column with the class."""

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
    "choose": ((ChoiceSummary,), True),
    "discover": ((DiscoveriesSummary,), True),
    "audit": ((AuditSummary,), True),
    "probabilities": ((CorrectionSummary,), True),
    "study list": ((dict[str, str],), False),
    "study run": ((StudyRun, list[StudyRun]), False),
    "study show": ((StudyState,), False),
    "study verify": ((StoreCheck,), False),
    "study export": ((StoreExport,), False),
    "study watch": ((StoreWatch,), False),
    "data list": ((dict[str, Literal["source", "embedded", "file"]],), False),
    "data show": ((DataDescription,), False),
    "data fetch": ((Fetched,), False),
}
