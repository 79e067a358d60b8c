"""Differential prioritization: Ooi, Chetty & Teng (2006)."""
