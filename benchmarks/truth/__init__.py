"""Scripts that measure what the library prints beside its numbers.

Sizes of tests, coverages of intervals and rates of findings, on data whose truth is
known by construction. Each script can be stopped and started again: what was measured
stays, and the same seeds give the same figures.
"""
