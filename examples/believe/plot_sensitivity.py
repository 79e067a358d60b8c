"""
Would IN or OUT tell the truth on data like mine?
=================================================

The comparison paper's advice: before believing a protocol, try it on synthetic data
like your own, where the truth can be known. ``sensitivity`` makes such sources from
your table, weaker and stronger than it looks, and holds both protocols against them.
"""

import matplotlib.pyplot as plt
import numpy as np

from veridical import sensitivity

rng = np.random.default_rng(0)
y = np.repeat([0, 1], 30)
groups = rng.normal(size=(60, 40))  # 40 groups of five columns that move together
groups[:, :4] += 1.1 * y[:, None]
X = np.repeat(groups, 5, axis=1) + 0.5 * rng.normal(size=(60, 200))

reaction = sensitivity(
    ["anova", "mrmr"],
    X,
    y,
    estimator="svm",
    n_features_to_select=5,
    strengths=(0.5, 1.0, 1.5),
    n_sets=12,
    random_state=0,
)
print(reaction.recommendation)

# %%
# Twelve data sets of each source. OUT lies above the truth everywhere. IN lies below it
# on the weakest source, where selecting and learning with fewer cases costs most. On
# the others it is within three points, which is what twelve data sets can tell (on 60,
# with the same seed, it is within half a point). Under OUT the two selectors look alike
# where one of them is better by four to six points. No test sees that on 60 cases, so
# the honest advice is to claim nothing.

frame = reaction.to_frame()
print(frame[["strength", "true_winner", "n_sets", "in_right", "out_right"]])
fig, axes = plt.subplots(1, 2, figsize=(7.5, 3.4), layout="constrained", sharey=True)
lines = {"truth": "k-", "in": "C0o--", "out": "C1s--"}
for ax, side, name in zip(axes, "ab", ("AnovaF", "MRMR"), strict=True):
    for method, line in lines.items():
        means = 100 * frame[f"{method}_{side}"]
        ax.plot(frame["strength"], means, line, label=method.upper())
    ax.set(title=name, xlabel="strength of the source")
    ax.set_xticks(frame["strength"])
axes[0].set_ylabel("mean accuracy, %")
axes[0].legend()
plt.show()
