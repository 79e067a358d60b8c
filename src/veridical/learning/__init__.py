"""Classifiers the field lacks."""

from veridical.learning.bias_corrected import BiasCorrectedNB
from veridical.learning.bias_corrected_factors import (
    prob_low_association,
    prob_low_correlation,
)
from veridical.learning.c45 import C45
from veridical.learning.dagsvm import DAGSVM
from veridical.learning.naive_bayes import NaiveBayes

__all__ = [
    "C45",
    "DAGSVM",
    "BiasCorrectedNB",
    "NaiveBayes",
    "prob_low_association",
    "prob_low_correlation",
]
