"""Bias from feature selection: Li, Zhang & Neal (2008)."""
