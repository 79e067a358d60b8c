"""
Would another sample have chosen the same features?
===================================================

With two selectors the accuracy can be the same, while the list of selected features is
more reliable with one of them. Draw a hundred training sets, each a random half of the
samples, and look at which features are selected.
"""

import matplotlib.pyplot as plt
import numpy as np

from veridical.comparison import stability
from veridical.selection import MRMR, AnovaF, ReliefF

rng = np.random.default_rng(1)
y = np.repeat([0, 1], 50)
signal = rng.normal(size=(100, 4)) + 0.9 * y[:, None]
twins = np.repeat(signal, 5, axis=1) + 0.3 * rng.normal(size=(100, 20))
X = np.hstack([twins, rng.normal(size=(100, 180))])  # 4 groups of 5 twins, then noise

halves = [rng.choice(100, size=50, replace=False) for _ in range(100)]
chosen, stabilities = {}, {}
for selector in (AnovaF(4), ReliefF(4), MRMR(4)):
    name = type(selector).__name__
    tops = [order[:4] for order in selector.rank_many(X, y, halves)]
    chosen[name] = np.bincount(np.concatenate(tops), minlength=200)[:30]
    stabilities[name] = stability(tops, n_features=200)

# %%
# The first 20 features are four groups of five that are nearly the same. mRMR selects
# one feature of each group, and chance decides which one; the univariate scores prefer
# the strongest group. The number beside each name is Nogueira's measure of stability
# with its 95 % interval: 1 if the same features are always selected, 0 if the
# selections agree no more than by chance.

fig, axes = plt.subplots(3, 1, figsize=(7, 4.2), layout="constrained", sharex=True)
for ax, (name, counts) in zip(axes, chosen.items(), strict=True):
    colours = [f"C{j // 5}" if j < 20 else "0.7" for j in range(30)]
    ax.bar(range(30), counts, color=colours)
    s = stabilities[name]
    ax.set_ylim(0, 105)
    ax.text(
        29.4, 92, f"{name}: stability {s.value:.2f} ({s.low:.2f} to {s.high:.2f})",
        ha="right", va="top",
    )  # fmt: skip
axes[1].set_ylabel("times selected, of 100")
axes[2].set_xlabel("feature (0 to 19: four groups of informative features)")
plt.show()
