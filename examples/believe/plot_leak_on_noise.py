"""
How accurate is pure noise?
===========================

The data are fifty samples with random labels, and features that are independent of the
labels. Select the 20 best features on all samples and cross-validate a classifier on
them: the more features there were to select from, the higher is the estimated accuracy.
If the features are selected inside every training fold, the estimate stays near 50 %.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from veridical.datasets import make_random_labels
from veridical.evaluation import estimate
from veridical.selection import AnovaF

# %%
# There are ten data sets of noise for each number of features. With ``OUT`` the
# classifier is cross-validated on features that were selected before; with ``IN`` the
# selector is a step of the pipeline that is cross-validated.

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
# With 20 features there is nothing to select, and the two accuracies are equal. With
# 6000 features the leak alone gives an accuracy above 90 %.

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for (name, values), marker in zip(accuracy.items(), "os", strict=True):
    ax.plot(widths, 100 * np.mean(values, axis=1), marker + "-", label=name)
    ax.fill_between(
        widths, *(100 * np.quantile(values, q, axis=1) for q in (0.1, 0.9)), alpha=0.15
    )
ax.axhline(50, color="0.4", ls="--", lw=1)
ax.annotate("the truth", (widths[3], 45), color="0.4")
ax.set(xscale="log", xlabel="noise features from which 20 are selected", ylim=(25, 102))
ax.set_ylabel("cross-validated accuracy, %")
ax.legend(loc="upper left")
plt.show()
