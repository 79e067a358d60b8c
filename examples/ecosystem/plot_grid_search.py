"""
Choosing the selector inside the folds
======================================

Trying several selectors and numbers of features and reporting the best accuracy is a
selection too, and the accuracy is too high. In a grid search over the pipeline, with an
outer cross-validation around it, the choice is part of the procedure whose accuracy is
estimated. The data here are noise, so that the true accuracy is known: 50 %.
"""

import matplotlib.pyplot as plt
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline

from veridical.datasets import make_random_labels
from veridical.selection import MRMR, AnovaF, ReliefF

X, y = make_random_labels(60, 300, random_state=5)
pipeline = Pipeline([("select", AnovaF()), ("classify", GaussianNB())])
sizes = [2, 5, 10, 20, 40]
search = GridSearchCV(
    pipeline,
    {
        "select": [AnovaF(), ReliefF(), MRMR()],
        "select__n_features_to_select": sizes,
    },
    cv=5,
).fit(X, y)
honest = cross_val_score(search, X, y, cv=5).mean()

# %%
# All features are selected inside the folds, and yet the best of 15 settings seems
# better than chance, because it was chosen as the best. The dashed line is the accuracy
# of the whole search.

fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
scores = search.cv_results_["mean_test_score"].reshape(3, len(sizes))
for name, row in zip(("AnovaF", "ReliefF", "MRMR"), scores, strict=True):
    ax.plot(sizes, 100 * row, "o-", label=name)
ax.axhline(50, color="0.7", lw=1)
ax.axhline(100 * honest, color="0.3", ls="--", label="the search itself, nested folds")
ax.set(xlabel="number of features", ylabel="accuracy, %")
ax.legend()
plt.show()

print(f"best of the grid {search.best_score_:.1%}, honest {honest:.1%}")

# %%
# In a notebook the estimators are shown as diagrams, like those of scikit-learn.

search.best_estimator_  # noqa: B018
