"""
How many features?
==================

One ranking serves every number of features, and ``rank_many`` computes the rankings of
all training folds at once. So a whole curve of accuracies with its uncertainty takes
little more time than one of its points.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.naive_bayes import GaussianNB

from veridical.datasets import make_linear
from veridical.evaluation import corrected_t
from veridical.selection import ReliefF

X, y = make_linear(200, random_state=3)  # ten of 60 features matter
folds = list(
    RepeatedStratifiedKFold(n_splits=10, n_repeats=3, random_state=0).split(X, y)
)
orders = ReliefF().rank_many(X, y, [train for train, _ in folds])

sizes = [1, 2, 3, 5, 7, 10, 15, 20, 30, 45, 60]
accuracy = np.array(
    [
        [
            GaussianNB()
            .fit(X[train][:, order[:k]], y[train])
            .score(X[test][:, order[:k]], y[test])
            for (train, test), order in zip(folds, orders, strict=True)
        ]
        for k in sizes
    ]
)

# %%
# The same curve from one ranking on all samples, including the test samples:

order = ReliefF().fit(X, y).order_
flattered = np.array(
    [
        [
            GaussianNB()
            .fit(X[train][:, order[:k]], y[train])
            .score(X[test][:, order[:k]], y[test])
            for train, test in folds
        ]
        for k in sizes
    ]
)

# %%
# The band is the 95 % interval of Nadeau and Bengio, which takes into account that
# training folds overlap. From about ten features on, the mean accuracy of every size
# lies within the band of the best size. So do not report the maximum as the best number
# of features; the result is that the curve is flat from about ten features on.

mean = accuracy.mean(axis=1)
band = np.array([corrected_t(row, test_share=20 / 180) for row in accuracy])
fig, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
ax.plot(sizes, 100 * mean, "o-", label="selected in every fold (IN)")
ax.fill_between(sizes, *(100 * band.T), alpha=0.15, lw=0)
ax.plot(sizes, 100 * flattered.mean(axis=1), "s--", label="selected first (OUT)")
ax.axvline(10, color="0.4", ls=":", lw=1)
ax.annotate("features that matter", (10.3, 52), color="0.4")
ax.set(xscale="log", xlabel="number of features", ylabel="accuracy, %")
ax.set_xticks(sizes, sizes)
ax.legend(loc="lower right")
plt.show()
