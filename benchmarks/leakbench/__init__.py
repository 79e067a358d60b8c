"""Measure how often checks find planted mistakes: ours and those of other packages."""
