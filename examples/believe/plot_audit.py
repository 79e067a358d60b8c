"""
What is the accuracy on random labels?
======================================

Somebody selected 20 of 3000 features, cross-validated a support vector machine on them
and got a high accuracy. The audit repeats the *whole* procedure, selection included, on
permuted labels: the accuracy means something only if it is higher than these.
"""

import matplotlib.pyplot as plt

from veridical import audit
from veridical.datasets import make_random_labels
from veridical.selection import AnovaF

X, y = make_random_labels(50, 3000, random_state=4)
columns = AnovaF(20).fit(X, y).get_support(indices=True)
result = audit("svm", X, y, selected=columns, n_permutations=40, random_state=0)
for finding in result.findings:
    print(finding)

# %%
# The audit was not told which selector was used. Several selectors selected 20 features
# on all samples, and the one that agrees best with the given features is used instead:

print(result.preselection.selector, dict(result.preselection.overlap))

# %%
# The reported accuracy lies in the middle of the accuracies of the same procedure on
# random labels. The accuracy with selection in every fold lies in the middle of its own
# distribution on random labels too, and the two distributions are far apart.

fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
words = {"out": "features selected first (as reported)", "in": "selected in every fold"}
bins = [i / 50 for i in range(10, 51)]
for i, (method, label) in enumerate(words.items()):
    null = result.null[method]
    ax.hist(null.accuracies, bins=bins, color=f"C{1 - i}", alpha=0.35)
    ax.axvline(
        result.accuracy[method].value,
        color=f"C{1 - i}",
        lw=2,
        label=f"{label}: {result.accuracy[method].value:.0%}, p = {null.pvalue:.2f}",
    )
ax.set(xlabel="accuracy on true (line) and random labels (bars)", ylabel="runs")
ax.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
ax.legend(loc="upper left")
plt.show()
