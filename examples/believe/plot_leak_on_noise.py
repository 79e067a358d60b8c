"""
How accurate is pure noise?
===========================

Fifty cases, labels drawn by a coin, columns that know nothing of them. Select the 20
best columns on all cases and cross-validate a classifier on these: the more columns
there were to choose from, the more "accurate" it gets. Select inside every training
fold and it stays what it is.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from veridical.datasets import make_random_labels
from veridical.evaluation import estimate
from veridical.selection import AnovaF

# %%
# Ten tables of noise for each number of columns. ``OUT`` hands the cross-validation
# columns that were chosen before; ``IN`` hands it the selector as a step of a pipeline.

widths = [20, 60, 200, 600, 2000, 6000]
accuracy = {"OUT: selected first": [], "IN: selected in every fold": []}
for p in widths:
    outside, inside = [], []
    for table in range(10):
        X, y = make_random_labels(50, p, random_state=table)
        chosen = AnovaF(20).fit_transform(X, y)
        pipeline = make_pipeline(AnovaF(20), GaussianNB())
        outside.append(estimate(GaussianNB(), chosen, y, random_state=0).value)
        inside.append(estimate(pipeline, X, y, random_state=0).value)
    accuracy["OUT: selected first"].append(outside)
    accuracy["IN: selected in every fold"].append(inside)

# %%
# With 20 columns there is nothing to select, and the two are the same number. With
# 6000 the leak alone makes an accuracy that anybody would publish.

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for (name, values), marker in zip(accuracy.items(), "os", strict=True):
    ax.plot(widths, 100 * np.mean(values, axis=1), marker + "-", label=name)
    ax.fill_between(
        widths, *(100 * np.quantile(values, q, axis=1) for q in (0.1, 0.9)), alpha=0.15
    )
ax.axhline(50, color="0.4", ls="--", lw=1)
ax.annotate("the truth", (widths[3], 45), color="0.4")
ax.set(xscale="log", xlabel="columns of noise to choose 20 from", ylim=(25, 102))
ax.set_ylabel("cross-validated accuracy, %")
ax.legend(loc="upper left")
plt.show()
