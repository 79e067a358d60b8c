"""
Learning from what was left out
===============================

Twenty columns are all that the clinic will measure; a hundred more were measured for
the study. LUFe trains with all of them and predicts with twenty: the unselected columns
bound, in training only, how badly the classifier may do on each case.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.svm import SVC

from veridical.learning import LUFe

# %%
# The situation for which the method was made: some training cases are atypical, and the
# unselected columns tell which.


def draw(n, rotation, rng):
    """Two classes: 20 telling columns, one that tells how hard a case is, 99 more."""
    y = rng.choice([-1, 1], size=n)
    hard = rng.exponential(0.8, size=n)
    panel = rng.normal(size=(n, 20))
    panel[:, 0] = y * (1 - hard)
    return np.c_[panel @ rotation, hard, 0.1 * rng.normal(size=(n, 99))], y


class Panel(SelectorMixin, BaseEstimator):
    """Take the columns that the clinic can measure; any other selector would do."""

    def fit(self, X, y=None):
        """Remember how many columns there are."""
        self.n_features_in_ = X.shape[1]
        return self

    def _get_support_mask(self):
        return np.arange(self.n_features_in_) < 20


accuracy = []
for seed in range(30):
    rng = np.random.default_rng(seed)
    rotation = np.linalg.qr(rng.normal(size=(20, 20)))[0]
    X, y = draw(60, rotation, rng)
    fresh, labels = draw(1000, rotation, rng)
    plain = SVC(kernel="linear").fit(X[:, :20], y)
    lufe = LUFe(Panel(), C=1.0, gamma=1.0).fit(X, y)
    accuracy.append([plain.score(fresh[:, :20], labels), lufe.score(fresh, labels)])
accuracy = 100 * np.array(accuracy)

# %%
# Every line is a data set of 60 cases, from an SVM on the panel to LUFe on the same
# panel. Whether it helps on other data is a question for the data:
# :doc:`the study </papers/lufe>` found a gain on texts, and most of it with noise in
# the place of the unselected words too.

better = accuracy[:, 1] > accuracy[:, 0]
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for row, up in zip(accuracy, better, strict=True):
    ax.plot([0, 1], row, "o-", color="C0" if up else "C1", alpha=0.5)
ax.plot([0, 1], accuracy.mean(axis=0), "k_", ms=40, mew=2)
ax.set_xticks([0, 1], ["SVM, 20 columns", "LUFe, 20 columns"])
ax.set(xlim=(-0.4, 1.4), ylabel="accuracy on fresh cases, %")
ax.set_title(f"LUFe is better on {better.sum()} of {len(better)} data sets")
plt.show()

# %%
# What is shipped is a plain scikit-learn model of twenty columns, with the same
# answers:

small = lufe.deploy()
print(small, "on", small.n_features_in_, "columns")
same = small.predict(fresh[:, lufe.support_]) == lufe.predict(fresh)
print(f"{same.mean():.0%} of {same.size} predictions are the same")
