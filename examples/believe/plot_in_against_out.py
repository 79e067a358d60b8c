"""
Two selectors, inside and outside the folds
===========================================

The data resemble gene expression data: 62 samples, 2000 features in correlated groups,
a few of which differ between the classes. Which of two selectors is better here, and
does the answer depend on whether features are selected inside or outside the folds?
"""

import matplotlib.pyplot as plt
import numpy as np

from veridical import compare

rng = np.random.default_rng(0)
y = np.repeat(["normal", "tumour"], [22, 40])
groups = rng.normal(size=(62, 200))  # 200 groups of ten correlated features
groups[:, :4] += 1.1 * (y == "tumour")[:, None]
X = np.repeat(groups, 10, axis=1) + rng.normal(size=(62, 2000))

# %%
# One call runs both protocols on the same folds, ten repeats of ten folds.

result = compare(
    ["anova", "mrmr"],
    X,
    y,
    estimator="svm",
    n_features_to_select=10,
    cv="10x10",
    random_state=0,
)
print(result.recommendation)

# %%
# Every dot is one repeat of ten folds. The accuracies under OUT are much higher,
# because the test samples took part in the selection, and the excess differs between
# the selectors: mRMR is better under OUT, the F ratio under IN. Neither difference is
# significant. The accuracy to report is that under IN.

fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
for row in range(len(result.names)):
    for method, marker, filled in (("in", "o", True), ("out", "s", False)):
        scores = 100 * result.scores[method][row].reshape(10, 10).mean(axis=1)
        colour = f"C{row}"
        face = colour if filled else "none"
        height = row + rng.uniform(-0.12, 0.12, size=10)
        ax.scatter(scores, height, marker=marker, ec=colour, fc=face, alpha=0.7)
        mean = scores.mean()
        ax.plot([mean, mean], [row - 0.25, row + 0.25], color=colour, lw=2)
        ax.text(mean, row - 0.3, f"{method.upper()} {mean:.0f} %", ha="center")
ax.set(yticks=[0, 1], yticklabels=result.names, ylim=(1.5, -0.6))
ax.set_xlabel("accuracy of ten folds, %")
ax.axvline(100 * 40 / 62, color="0.4", ls="--", lw=1)
ax.annotate(
    "the larger class",
    (100 * 40 / 62, 1.45),
    xytext=(4, 0),
    textcoords="offset points",
    color="0.4",
)
plt.show()

# %%
# How much of the accuracy is due to the leak? ``optimism`` holds OUT minus IN with its
# interval.

for name, gap in zip(result.names, result.optimism, strict=True):
    print(
        f"{name}: OUT exceeds IN by {100 * gap.value:.1f} points "
        f"(95 % interval {100 * gap.low:.1f} to {100 * gap.high:.1f})"
    )
