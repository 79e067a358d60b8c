"""Classifiers the field lacks."""

from veridical.learning.naive_bayes import NaiveBayes

__all__ = ["NaiveBayes"]
