"""
C4.5 compared with J48 of Weka
==============================

``C45`` is Quinlan's tree with gain ratio, pessimistic pruning and subtree raising. On
ten UCI data sets its number of leaves, size, errors and predictions are those of J48 of
Weka 3.6.14. On the iris data J48 has 5 leaves, a size of 9 and 3 errors.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris

from veridical.learning import C45
from veridical.report.displays import TreeDisplay

bunch = load_iris(as_frame=True)
X, y = bunch.data, bunch.target_names[bunch.target]
X.columns = [name.removesuffix(" (cm)") for name in X.columns]
tree = C45().fit(X, y)
j48 = {"leaves": 5, "size": 9, "errors": 3}
ours = {
    "leaves": tree.n_leaves_,
    "size": tree.n_nodes_,
    "errors": int((tree.predict(X) != y).sum()),
}
print("J48: ", j48)
print("ours:", ours)

# %%
# The tree can be printed or drawn:

print(tree.export_text())
TreeDisplay.from_estimator(tree)
plt.show()
