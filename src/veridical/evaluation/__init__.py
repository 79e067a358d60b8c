"""How accurate? Resampling schemes and estimates with intervals."""

from veridical._core.advice import for_the_command_line
from veridical._core.publishing import publish_classes
from veridical._core.splits import (
    CompleteCV,
    CrossValidation,
    Holdout,
    LeaveOut,
    Method,
    RandomSubsampling,
    Resubstitution,
)
from veridical.evaluation.bootstrap import Bootstrap632
from veridical.evaluation.correction import correction
from veridical.evaluation.estimating import estimate
from veridical.evaluation.intervals import corrected_t, interval_of, wilson
from veridical.evaluation.naming import METHODS, make_method
from veridical.evaluation.nested import NestedCV, nested_cv
from veridical.evaluation.notes import is_doubt
from veridical.evaluation.probabilities import calibration_table
from veridical.evaluation.records import Estimate, Selection
from veridical.evaluation.selecting import select
from veridical.evaluation.trust import default_interval

__all__ = [
    "METHODS",
    "Bootstrap632",
    "CompleteCV",
    "CrossValidation",
    "Estimate",
    "Holdout",
    "LeaveOut",
    "Method",
    "NestedCV",
    "RandomSubsampling",
    "Resubstitution",
    "Selection",
    "calibration_table",
    "corrected_t",
    "correction",
    "default_interval",
    "estimate",
    "for_the_command_line",
    "interval_of",
    "is_doubt",
    "make_method",
    "nested_cv",
    "select",
    "wilson",
]

publish_classes(__name__, __all__)
