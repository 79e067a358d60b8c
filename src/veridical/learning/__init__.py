"""Classifiers the field lacks."""
