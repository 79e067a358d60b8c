"""Estimators the field lacks, and those that have a name.

Estimators of this library have ``predict_many``: predictions for many training sets and
many numbers of features at once.
"""

from veridical._core.publishing import publish_classes
from veridical.learning.bias_corrected import BiasCorrectedNB, MedianBinarizer
from veridical.learning.bias_corrected_evidence import (
    prob_low_association,
    prob_low_correlation,
    prob_low_correlation_factor,
    prob_low_correlation_gaussian,
    prob_low_correlation_mixture,
)
from veridical.learning.bias_corrected_gaussian import BiasCorrectedGaussianNB
from veridical.learning.c45 import C45
from veridical.learning.cox import CoxRidge
from veridical.learning.dagsvm import DAGSVM
from veridical.learning.lufe import LUFe, LUFeCV, LUFeLogistic
from veridical.learning.many import LeavesOneOut, register_predict_table
from veridical.learning.naive_bayes import NaiveBayes
from veridical.learning.registry import (
    DEFAULT_ESTIMATORS,
    ESTIMATORS,
    estimators_for,
    make_estimator,
)
from veridical.learning.svm_plus import SVMPlus

__all__ = [
    "C45",
    "DAGSVM",
    "DEFAULT_ESTIMATORS",
    "ESTIMATORS",
    "BiasCorrectedGaussianNB",
    "BiasCorrectedNB",
    "CoxRidge",
    "LUFe",
    "LUFeCV",
    "LUFeLogistic",
    "LeavesOneOut",
    "MedianBinarizer",
    "NaiveBayes",
    "SVMPlus",
    "estimators_for",
    "make_estimator",
    "prob_low_association",
    "prob_low_correlation",
    "prob_low_correlation_factor",
    "prob_low_correlation_gaussian",
    "prob_low_correlation_mixture",
    "register_predict_table",
]

publish_classes(__name__, __all__)
