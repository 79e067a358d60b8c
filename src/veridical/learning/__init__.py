"""Classifiers the field lacks."""

from veridical.learning.c45 import C45
from veridical.learning.dagsvm import DAGSVM
from veridical.learning.naive_bayes import NaiveBayes

__all__ = ["C45", "DAGSVM", "NaiveBayes"]
