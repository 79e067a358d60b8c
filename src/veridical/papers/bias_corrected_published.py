"""What the paper on bias from feature selection says, in numbers.

From the authors' slides *Avoiding Bias from Feature Selection*; the error rates are
those that the printed calibration table implies.

References
----------
.. [1] L. Li, J. Zhang and R. M. Neal, "A method for avoiding bias from feature
   selection with application to naive Bayes classification models", Bayesian Analysis
   3(1), 2008, 171-196.
"""

from __future__ import annotations

#: Numbers of features retained of 10000.
KS = (1, 10, 100, 1000)

#: Absolute correlation of the last feature retained.
CUT_OFFS = {1: 0.36, 10: 0.27, 100: 0.21, 1000: 0.13}

#: The calibration table for 1000 features: cases, mean probability, share of ones.
TABLE: dict[bool, tuple[tuple[int, float, float], ...]] = {
    True: (
        (774, 0.018, 0.027),
        (97, 0.143, 0.165),
        (63, 0.243, 0.302),
        (48, 0.346, 0.438),
        (45, 0.446, 0.600),
        (44, 0.547, 0.614),
        (53, 0.647, 0.698),
        (81, 0.755, 0.815),
        (124, 0.854, 0.863),
        (671, 0.977, 0.982),
    ),
    False: (
        (954, 0.004, 0.066),
        (28, 0.149, 0.500),
        (13, 0.248, 0.846),
        (17, 0.349, 0.412),
        (14, 0.449, 0.786),
        (16, 0.546, 0.375),
        (16, 0.667, 0.812),
        (22, 0.751, 0.636),
        (25, 0.865, 0.560),
        (895, 0.995, 0.946),
    ),
}

#: Error rate and expected error rate that the table implies.
IMPLIED = {True: (0.0905, 0.0859), False: (0.0932, 0.0247)}

#: Time by number of features; the unit is not printed, presumably seconds.
TIMES: dict[bool, dict[int, float]] = {
    True: {1: 12.72, 10: 29.55, 100: 204.54, 1000: 2076.21},
    False: {1: 12.66, 10: 28.80, 100: 203.60, 1000: 2065.73, 10000: 20627.71},
}
