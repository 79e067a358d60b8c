"""How accurate? Resampling schemes and estimates with intervals."""

from veridical._publishing import publish_classes
from veridical._records import Estimate
from veridical.estimation.advice import for_the_command_line
from veridical.estimation.bootstrap import Bootstrap632
from veridical.estimation.correction import correction
from veridical.estimation.estimating import estimate
from veridical.estimation.intervals import corrected_t, interval_of, wilson
from veridical.estimation.methods import (
    CompleteCV,
    CrossValidation,
    Holdout,
    LeaveOut,
    Method,
    RandomSubsampling,
    Resubstitution,
)
from veridical.estimation.naming import METHODS, make_method
from veridical.estimation.nested import NestedCV, nested_cv
from veridical.estimation.notes import is_doubt
from veridical.estimation.probabilities import calibration_table
from veridical.estimation.shortcuts import LeavesOneOut, register_shortcut
from veridical.estimation.trust import default_interval

__all__ = [
    "METHODS",
    "Bootstrap632",
    "CompleteCV",
    "CrossValidation",
    "Estimate",
    "Holdout",
    "LeaveOut",
    "LeavesOneOut",
    "Method",
    "NestedCV",
    "RandomSubsampling",
    "Resubstitution",
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
    "register_shortcut",
    "wilson",
]

publish_classes(__name__, __all__)
