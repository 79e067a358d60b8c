"""Classifiers the field lacks."""

from veridical._core.publishing import publish_classes
from veridical.learning.bias_corrected import BiasCorrectedNB
from veridical.learning.bias_corrected_binarizer import MedianBinarizer
from veridical.learning.bias_corrected_factors import (
    prob_low_association,
    prob_low_correlation,
)
from veridical.learning.bias_corrected_gaussian import BiasCorrectedGaussianNB
from veridical.learning.bias_corrected_normal import (
    prob_low_correlation_factor,
    prob_low_correlation_gaussian,
    prob_low_correlation_mixture,
)
from veridical.learning.c45 import C45
from veridical.learning.dagsvm import DAGSVM
from veridical.learning.lufe import LUFe
from veridical.learning.lufe_cv import LUFeCV
from veridical.learning.lufe_logistic import LUFeLogistic
from veridical.learning.naive_bayes import NaiveBayes
from veridical.learning.svm_plus import SVMPlus

__all__ = [
    "C45",
    "DAGSVM",
    "BiasCorrectedGaussianNB",
    "BiasCorrectedNB",
    "LUFe",
    "LUFeCV",
    "LUFeLogistic",
    "MedianBinarizer",
    "NaiveBayes",
    "SVMPlus",
    "prob_low_association",
    "prob_low_correlation",
    "prob_low_correlation_factor",
    "prob_low_correlation_gaussian",
    "prob_low_correlation_mixture",
]

publish_classes(__name__, __all__)
