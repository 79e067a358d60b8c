"""
Learning from unselected features
=================================

A clinic will measure only twenty features; a hundred more were measured for the study.
LUFe trains with all of them and predicts with twenty. The unselected features model, in
training only, the slack of each case: by how much it may violate the margin.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.svm import SVC

from veridical.learning import LUFe

# %%
# The method was made for this situation: some training samples are atypical, and the
# unselected features show which.


def draw(n, rotation, rng):
    """Draw two classes: 20 informative features, the difficulty, 99 of noise."""
    y = rng.choice([-1, 1], size=n)
    hard = rng.exponential(0.8, size=n)
    panel = rng.normal(size=(n, 20))
    panel[:, 0] = y * (1 - hard)
    return np.c_[panel @ rotation, hard, 0.1 * rng.normal(size=(n, 99))], y


class Panel(SelectorMixin, BaseEstimator):
    """Select the features that the clinic can measure; any selector could be used."""

    def fit(self, X, y=None):
        """Store the number of features."""
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
# Every line is a data set of 60 samples: on the left the accuracy of an SVM on the
# twenty features, on the right that of LUFe with the same features. Whether LUFe helps
# depends on the data: :doc:`the study </papers/lufe>` found a gain on texts, but most
# of this gain also with noise in place of the unselected words.

better = accuracy[:, 1] > accuracy[:, 0]
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for row, up in zip(accuracy, better, strict=True):
    ax.plot([0, 1], row, "o-", color="C0" if up else "C1", alpha=0.5)
ax.plot([0, 1], accuracy.mean(axis=0), "k_", ms=40, mew=2)
ax.set_xticks([0, 1], ["SVM, 20 features", "LUFe, 20 features"])
ax.set(xlim=(-0.4, 1.4), ylabel="accuracy on new samples, %")
ax.set_title(f"LUFe is better on {better.sum()} of {len(better)} data sets")
plt.show()

# %%
# ``deploy`` returns an ordinary scikit-learn model on the twenty features, with the
# same predictions:

small = lufe.deploy()
print(small, "on", small.n_features_in_, "features")
same = small.predict(fresh[:, lufe.support_]) == lufe.predict(fresh)
print(f"{same.mean():.0%} of {same.size} predictions are the same")
