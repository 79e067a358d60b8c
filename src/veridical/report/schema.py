"""What a summary holds: the keys behind every page and every ``--json`` answer.

Accuracies, shares and differences are fractions (0.834, not 83.4); a number that does
not exist (the interval of a single value, the statistic of a degenerate test) is None.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from typing_extensions import TypedDict

from veridical.comparison.records import Side, Winner

if TYPE_CHECKING:
    from veridical.report.correction_schema import CorrectionSummary
    from veridical.report.many_schema import ManySummary
    from veridical.report.sensitivity_schema import SensitivitySummary

SCHEMA = "veridical/comparison/1"
ESTIMATES_SCHEMA = "veridical/estimates/1"
AUDIT_SCHEMA = "veridical/audit/1"

Method = Literal["in", "out", "truth"]


class IntervalSummary(TypedDict):
    """A value with its confidence interval."""

    value: float
    low: float | None
    high: float | None


class MeanSummary(TypedDict):
    """The mean accuracy of one selector under one method."""

    value: float
    low: float | None
    high: float | None
    std: float | None
    n: int


class SizeSummary(TypedDict):
    """How often a test rejects where there is nothing to find, measured.

    ``design`` says in words what was simulated. Where ``calibrated``, p-value and
    interval already make up for it.
    """

    nominal: float
    rate: float
    low: float
    high: float
    n_simulations: int
    design: str
    calibrated: bool


class DifferenceSummary(TypedDict):
    """Selector ``a`` minus selector ``b``, with the test that judged it.

    ``size`` is None where it has not been measured. ``probabilities`` of "a", "rope"
    (no difference larger than ``rope``) and "b" are those of a Bayesian test.
    """

    winner: Winner
    value: float
    low: float | None
    high: float | None
    pvalue: float | None
    test: str
    statistic: float | None
    df: float | None
    n: int
    alpha: float
    assumptions: str
    size: SizeSummary | None
    rope: float | None
    probabilities: dict[str, float] | None


class PairSummary(TypedDict):
    """Both selectors on the same fold or data set."""

    label: str
    a: float
    b: float


class MethodSummary(TypedDict):
    """One method: its means, its verdict and the values behind them.

    ``unit`` says what one value is, "fold" or "data set"; ``interval`` says in words
    what the interval of a mean assumes. Where there are too many values to draw,
    ``pairs`` holds one mean per repeat.
    """

    method: str
    label: str
    unit: str
    n_repeats: int
    n_folds: int
    a: MeanSummary
    b: MeanSummary
    interval: str
    difference: DifferenceSummary | None
    pairs: list[PairSummary]
    pair_unit: str


class EstimatorMethod(TypedDict):
    """One estimator under one method."""

    method: str
    label: str
    a: float
    b: float
    difference: DifferenceSummary | None


class EstimatorSummary(TypedDict):
    """One estimator alone."""

    name: str
    methods: list[EstimatorMethod]


class ClassSummary(TypedDict):
    """One class of the data."""

    name: str
    count: int
    share: float


class DataInfo(TypedDict):
    """The data set or source; ``chance`` is the share of the largest class."""

    name: str
    n_samples: int
    n_features: int
    classes: list[ClassSummary]
    chance: float


class FeatureSummary(TypedDict):
    """How often each selector chose one feature, per method."""

    index: int
    name: str
    a: dict[str, int]
    b: dict[str, int]


class VerdictCounts(TypedDict):
    """The verdicts of one method over many data sets, and how many were right."""

    method: str
    label: str
    a: int
    b: int
    draw: int
    right: int | None


class TruthfulnessSummary(TypedDict):
    """On how many data sets IN and OUT reached the true verdict."""

    n_sets: int
    only_in: int
    only_out: int
    both_right: int
    both_wrong: int
    pvalue: float | None
    better: str


class TruthSummary(TypedDict):
    """What a known source adds."""

    n_sets: int
    winner: Winner
    verdicts: list[VerdictCounts]
    truthfulness: TruthfulnessSummary | None


class Words(TypedDict):
    """The summary in sentences.

    ``belief`` is "yes", "care", "open", "no" or, on a source, "known".
    ``artefacts`` has a sentence for each selector whose OUT accuracy is one, ``sizes``
    one for each method's test: how often it errs.
    """

    headline: str
    belief: str
    evidence: str
    artefacts: list[str]
    protocols: list[str]
    stability: list[str]
    sizes: list[str]
    truth: list[str]
    recommendation: str


class Summary(TypedDict):
    """Everything a comparison's page shows, as plain numbers and strings."""

    schema: str
    kind: Literal["comparison"]
    names: dict[Side, str]
    estimators: list[str]
    n_features_to_select: int
    alpha: float
    data: DataInfo
    methods: list[MethodSummary]
    by_estimator: list[EstimatorSummary]
    optimism: dict[Side, IntervalSummary]
    bias_imbalance: dict[str, float]
    bias_reference: str
    n_selections: dict[str, int]
    features: list[FeatureSummary]
    stability: dict[str, dict[Side, IntervalSummary]]
    seconds: dict[Side, float]
    truth: TruthSummary | None
    settings: dict[str, str]
    words: Words


class CoverageSummary(TypedDict):
    """How often 95 % intervals of a kind covered the truth, as shares, and with what.

    ``low`` and ``high`` are the least and the most over the estimators tried.
    """

    low: float
    high: float
    conditions: str


class BoundsSummary(TypedDict):
    """One interval of an estimate; ``kind`` is "wilson", "corrected-t" or "nested".

    ``coverage`` is None where it was not measured.
    """

    kind: str
    low: float
    high: float
    assumes: str
    coverage: CoverageSummary | None


class EstimateSummary(TypedDict):
    """The accuracy by one method.

    ``intervals`` has the one to believe first and is empty where none is valid. ``std``
    is that of the splits, not the error of ``value``. ``off`` is ``value`` minus the
    truth, where that is known. ``notes`` are the reasons to doubt the estimate.
    """

    method: str
    value: float
    intervals: list[BoundsSummary]
    std: float | None
    n_splits: int
    n_test: int
    details: dict[str, float]
    off: float | None
    notes: list[str]


class NoteSummary(TypedDict):
    """Something said, and the methods that it is about."""

    text: str
    methods: list[str]


class EstimatesWords(TypedDict):
    """The estimates in sentences.

    ``belief`` is "yes" (all intervals lie above chance), "open" (the first one does
    not), "care" (intervals disagree, there is none, or the estimate is doubtful), "no"
    (tested on the training cases only) or "known" (the truth is). ``intervals`` says
    what each kind of interval assumes, ``notes`` what is doubtful, ``methods`` what the
    methods do.
    """

    headline: str
    belief: str
    evidence: str
    intervals: list[NoteSummary]
    notes: list[NoteSummary]
    methods: list[str]


class EstimatesSummary(TypedDict):
    """Everything the page of one estimator's estimates shows, as plain numbers."""

    schema: str
    kind: Literal["estimates"]
    estimator: str
    metric: str
    confidence: float
    data: DataInfo | None
    estimates: list[EstimateSummary]
    truth: EstimateSummary | None
    settings: dict[str, str]
    words: EstimatesWords


class LaneSummary(TypedDict):
    """One protocol of an audit: what it reached, and what it reaches on random labels.

    ``protocol`` is "in" or "out"; ``null`` has one accuracy per random order of the
    labels and is empty where none was run.
    """

    protocol: str
    label: str
    accuracy: IntervalSummary
    null: list[float]
    null_mean: float | None
    null_low: float | None
    null_high: float | None
    pvalue: float | None


class FindingSummary(TypedDict):
    """One finding; ``severity`` is "error", "warning" or "note"."""

    code: str
    title: str
    severity: str
    evidence: str
    cure: str
    details: dict[str, float]


class PreselectionSummary(TypedDict):
    """Columns that were chosen beforehand, by name, and who may have chosen them."""

    columns: list[str]
    selector: str
    given: bool
    overlap: dict[str, int]
    pvalue: float


class AuditWords(TypedDict):
    """The audit in sentences.

    ``belief`` is "yes" (measured honestly and above chance), "open" (honestly, but not
    above chance), "care" (there are warnings) or "no" (there are errors).
    """

    headline: str
    belief: str
    evidence: str
    verdict: str
    methods: list[str]


class AuditSummary(TypedDict):
    """Everything an audit's page shows, as plain numbers and strings."""

    schema: str
    kind: Literal["audit"]
    estimator: str
    data: DataInfo
    alpha: float
    reported: str
    lanes: list[LaneSummary]
    optimism: IntervalSummary | None
    balanced_accuracy: float
    stability: IntervalSummary | None
    n_selected: float | None
    findings: list[FindingSummary]
    muted: list[FindingSummary]
    preselection: PreselectionSummary | None
    settings: dict[str, str]
    words: AuditWords


#: Text, because the modules of some of them import this one.
AnySummary: TypeAlias = (
    "Summary | EstimatesSummary | AuditSummary | ManySummary | SensitivitySummary"
    " | CorrectionSummary"
)
