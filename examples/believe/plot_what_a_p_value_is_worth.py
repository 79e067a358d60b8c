"""
How reliable is a p-value?
==========================

Two selectors that cannot differ: each may select from one of two blocks of features
with the same distribution. A test at the 5 % level should call one of them better on 5
of 100 data sets. On cross-validation folds, which share training samples, no test is
known to do that; so the false-positive rate is measured by simulation.
"""

import matplotlib.pyplot as plt

from veridical.comparison import calibrate

designs = [
    ("paired-t", 10),
    ("corrected-t", 10),
    ("paired-t", "10x10"),
    ("repeated-cv-t", "10x10"),
    ("corrected-t", "10x10"),
    ("five-by-two-t", "5x2"),
    ("five-by-two-f", "5x2"),
]
measured = [
    calibrate(test, cv=cv, n_simulations=200, random_state=0).size
    for test, cv in designs
]

# %%
# The ordinary paired t-test on ten repeats of ten folds calls one of the selectors
# better on about every second data set, although neither is.

labels = [f"{test}, {cv} folds" for test, cv in designs]
rates = [100 * size.rate for size in measured]
fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.barh(labels, rates, color="C0", alpha=0.8)
ax.errorbar(
    rates,
    labels,
    xerr=[
        [100 * (size.rate - size.low) for size in measured],
        [100 * (size.high - size.rate) for size in measured],
    ],
    fmt="none",
    ecolor="0.2",
)
ax.axvline(5, color="C1", ls="--")
ax.annotate("nominal", (5.5, -0.62), color="C1")
ax.invert_yaxis()
ax.set_xlabel("false-positive rate, % of data sets")
plt.show()

# %%
# A calibrated test takes its p-values from a null distribution simulated in this way,
# instead of the t distribution. Its false-positive rate is then near the nominal one:

honest = calibrate(
    "corrected-t", cv="10x10", n_simulations=300, calibrated=True, random_state=0
).size
print(f"nominal {honest.nominal:.0%}, measured {honest.rate:.1%}")
