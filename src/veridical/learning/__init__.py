"""Classifiers the field lacks, and the table of those that have a name."""

from collections.abc import Callable
from typing import Any

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
from veridical.learning.many import LeavesOneOut, register_predict_table
from veridical.learning.naive_bayes import NaiveBayes
from veridical.learning.svm_plus import SVMPlus
from veridical.learning.tabular import (
    make_dagsvm,
    make_logistic,
    make_majority,
    make_nearest,
    make_svm,
    make_tree,
)

#: Estimators by name, each with what makes a new one; the command line, its help and
#: its completion read the names here.
ESTIMATORS: dict[str, Callable[[], Any]] = {
    "svm": make_svm,
    "nb": NaiveBayes,
    "1nn": make_nearest,
    "tree": make_tree,
    "c45": C45,
    "logistic": make_logistic,
    "majority": make_majority,
    "dagsvm": make_dagsvm,
}

__all__ = [
    "C45",
    "DAGSVM",
    "ESTIMATORS",
    "BiasCorrectedGaussianNB",
    "BiasCorrectedNB",
    "LUFe",
    "LUFeCV",
    "LUFeLogistic",
    "LeavesOneOut",
    "MedianBinarizer",
    "NaiveBayes",
    "SVMPlus",
    "prob_low_association",
    "prob_low_correlation",
    "prob_low_correlation_factor",
    "prob_low_correlation_gaussian",
    "prob_low_correlation_mixture",
    "register_predict_table",
]

publish_classes(__name__, __all__)
