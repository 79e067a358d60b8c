"""
pandas and polars in, names out
===============================

Tables have names, categories and missing values. Selectors read them as they are,
whether from pandas or polars, and give names back; what a method cannot use it refuses
in words.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from veridical.learning import NaiveBayes
from veridical.selection import InformationGain

rng = np.random.default_rng(0)
n = 300
sick = rng.random(n) < 0.4
table = pd.DataFrame(
    {
        "age": rng.normal(50, 12, n).round() + 6 * sick,
        "smoker": pd.Categorical(
            np.where(rng.random(n) < 0.2 + 0.3 * sick, "yes", "no")
        ),
        "blood group": pd.Categorical(rng.choice(["0", "A", "B", "AB"], n)),
        "marker": rng.lognormal(1 + 0.8 * sick, 0.6),
        "height": rng.normal(172, 9, n),
        "shoe size": rng.normal(41, 2, n),
    }
)
table.loc[rng.random(n) < 0.15, "marker"] = np.nan  # not measured
y = np.where(sick, "sick", "well")

# %%
# A pipeline of a selector and a classifier that both take categories, numbers and
# missing values:

pipeline = make_pipeline(InformationGain(3), NaiveBayes())
pipeline.set_output(transform="pandas")  # so that NaiveBayes sees categories
print("accuracy", cross_val_score(pipeline, table, y, cv=10).mean().round(2))
print("selected", pipeline.fit(table, y)[0].get_feature_names_out().tolist())

# %%
# The same from polars; ``set_output`` decides what comes back.

frame = pl.from_pandas(table)
selector = InformationGain(3).set_output(transform="polars").fit(frame, y)
print(selector.transform(frame).head(3))

# %%
# Columns with missing values and categories are scored like the others. Information
# gain is zero where no cut is worth its cost.

fig, ax = plt.subplots(figsize=(6, 2.8), layout="constrained")
colours = ["C0" if kept else "0.75" for kept in selector.get_support()]
ax.barh(selector.feature_names_in_, selector.scores_, color=colours)
ax.invert_yaxis()
ax.set_xlabel("information gain, bits")
plt.show()
