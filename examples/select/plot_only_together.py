"""
Features that matter only together
==================================

The first MONK's problem: the class is "a1 = a2 or a5 = 1". Feature a5 is informative by
itself; a1 alone and a2 alone are not. A selector that scores each feature by itself
cannot find a1 and a2; one that compares neighbouring samples can.
"""

import matplotlib.pyplot as plt
import numpy as np

from veridical.datasets import make_monks
from veridical.selection import FCBF, AnovaF, InformationGain, ReliefF

selectors = {
    "AnovaF": AnovaF(3),
    "InformationGain": InformationGain(3),
    "FCBF": FCBF(3),
    "ReliefF": ReliefF(3),
}
columns = [f"a{j}" for j in range(1, 7)]
ranks = np.zeros((len(selectors), 6))
n_draws = 20
for draw in range(n_draws):
    X, y = make_monks(1, 200, random_state=draw)
    X = np.asarray(X)
    shuffle = np.random.default_rng(draw).permutation(6)  # ties are broken by index
    for i, selector in enumerate(selectors.values()):
        ranks[i, shuffle] += selector.fit(X[:, shuffle], y).ranking_ / n_draws

# %%
# Mean rank of each feature over 20 data sets of 200 samples; 1 is best. The three
# features of the rule are a1, a2 and a5.

fig, ax = plt.subplots(figsize=(6.5, 3), layout="constrained")
ax.imshow(ranks, cmap="Blues_r", vmin=1, vmax=6)
ax.set_xticks(range(6), columns)
ax.set_yticks(range(len(selectors)), selectors)
for (i, j), rank in np.ndenumerate(ranks):
    ax.text(j, i, f"{rank:.1f}", ha="center", color="w" if rank < 2.6 else "k")
ax.tick_params(length=0)
plt.show()

for name, row in zip(selectors, ranks, strict=True):
    print(f"{name:16} rank of a1 {row[0]:.1f}, a2 {row[1]:.1f}, a5 {row[4]:.1f}")
