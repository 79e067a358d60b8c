"""How accurate? Resampling schemes and estimates with intervals."""

from veridical._core.publishing import publish_classes
from veridical._core.records import Conclusion, DataSummary, Interval
from veridical._core.scoring import Score, ScoreInfo, make_score
from veridical._core.splits import (
    CompleteCV,
    CrossValidation,
    Holdout,
    LeaveOut,
    Method,
    PurgedKFold,
    RandomSubsampling,
    Resubstitution,
)
from veridical.evaluation.bootstrap import Bootstrap632
from veridical.evaluation.choices import Candidate, Choice, Signature, StandIn
from veridical.evaluation.choosing import choose
from veridical.evaluation.correcting import correction
from veridical.evaluation.engine import Evaluation, Procedure, Ranked, evaluate
from veridical.evaluation.estimating import estimate
from veridical.evaluation.intervals import corrected_t, wilson
from veridical.evaluation.naming import METHODS
from veridical.evaluation.nested import NestedCV, nested_cv
from veridical.evaluation.probabilities import calibration_table, calibration_tables
from veridical.evaluation.records import (
    Bin,
    CalibrationTable,
    ClassResult,
    Correction,
    Coverage,
    Dependence,
    Estimate,
    Estimates,
    ScoreDifference,
    SelectedFeature,
    Selection,
)
from veridical.evaluation.search_cv import SelectionSearchCV
from veridical.evaluation.selecting import select
from veridical.evaluation.trust import default_interval

__all__ = [
    "METHODS",
    "Bin",
    "Bootstrap632",
    "CalibrationTable",
    "Candidate",
    "Choice",
    "ClassResult",
    "CompleteCV",
    "Conclusion",
    "Correction",
    "Coverage",
    "CrossValidation",
    "DataSummary",
    "Dependence",
    "Estimate",
    "Estimates",
    "Evaluation",
    "Holdout",
    "Interval",
    "LeaveOut",
    "Method",
    "NestedCV",
    "Procedure",
    "PurgedKFold",
    "RandomSubsampling",
    "Ranked",
    "Resubstitution",
    "Score",
    "ScoreDifference",
    "ScoreInfo",
    "SelectedFeature",
    "Selection",
    "SelectionSearchCV",
    "Signature",
    "StandIn",
    "calibration_table",
    "calibration_tables",
    "choose",
    "corrected_t",
    "correction",
    "default_interval",
    "estimate",
    "evaluate",
    "make_score",
    "nested_cv",
    "select",
    "wilson",
]

publish_classes(__name__, __all__)
