"""How accurate? Resampling schemes and estimates with intervals."""

from veridical._records import Estimate
from veridical.estimation.bootstrap import Bootstrap632
from veridical.estimation.estimating import estimate
from veridical.estimation.intervals import (
    NestedCV,
    corrected_t,
    interval_of,
    nested_cv,
    wilson,
)
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
from veridical.estimation.shortcuts import LeavesOneOut, register_shortcut

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
    "corrected_t",
    "estimate",
    "interval_of",
    "make_method",
    "nested_cv",
    "register_shortcut",
    "wilson",
]
