"""
A study of your own, from a file
================================

This is the study of the paper by Refaeilzadeh, Tang and Liu (2007) with another grid:
the selectors, sources, sizes and classifiers are given in a TOML file. The engine
stores the results of every cell of the grid, so that a second run computes nothing
again.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt

from veridical.experiments import Serial, Store, run_study
from veridical.papers import find_study

SPEC = """
seed = 1
classifiers = ["nb"]
n_sets = 12

[[sources]]
source = "linear"
n = [60, 125]
n_features = [3, 10, 30]

[[selectors]]
name = "mRMR"
selector = "mrmr"

[[selectors]]
name = "ReliefF, 5 neighbours"
selector = "relieff"
parameters = { n_neighbors = 5 }
"""

# %%
# ``veridical study run in-vs-out --spec study.toml`` does the same with worker
# processes, a progress bar and a page; here the study runs in one process, from Python.

study = find_study("in-vs-out")
with TemporaryDirectory() as folder:
    file = Path(folder) / "study.toml"
    file.write_text(SPEC)
    spec = study.spec.from_toml(file)
    store = Path(folder) / "study.sqlite"
    first = run_study(study, spec, store, executor=Serial())
    again = run_study(study, spec, store, executor=Serial())
    with Store(store) as opened:
        frame = opened.frame()
print("first run: ", first.counts)
print("second run:", again.counts, "of which computed now:", again.computed)

# %%
# The data frame has one row per cell: one data set, one selector, one number of
# features. ``truth`` is the accuracy on new samples; ``in_0``, ``in_1``, … and
# ``out_0``, ``out_1``, … are the accuracies of the folds under IN and OUT.

frame["IN"] = frame.filter(regex=r"^in_\d").mean(axis=1)
frame["OUT"] = frame.filter(regex=r"^out_\d").mean(axis=1)
bias = frame.assign(IN=frame["IN"] - frame["truth"], OUT=frame["OUT"] - frame["truth"])
table = 100 * bias.groupby(["selector", "n"])[["IN", "OUT"]].mean()
print(table.round(1))

fig, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
table.plot.barh(ax=ax, color=["C0", "C1"])
ax.axvline(0, color="0.4", lw=1)
ax.set(xlabel="bias, points of accuracy", ylabel="")
ax.set_yticklabels([f"{name}, n = {n}" for name, n in table.index])
plt.show()
