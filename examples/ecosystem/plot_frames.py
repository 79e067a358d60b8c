"""
pandas and polars in, names out
===============================

Data frames have feature names, categorical features and missing values. Selectors read
data frames of pandas or polars without conversion, and return feature names. If a
method cannot use a feature, it raises an error that says why.
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
# A pipeline of a selector and a classifier that both take categorical features, numeric
# features and missing values:

pipeline = make_pipeline(InformationGain(3), NaiveBayes())
pipeline.set_output(transform="pandas")  # so that NaiveBayes gets categorical features
print("accuracy", cross_val_score(pipeline, table, y, cv=10).mean().round(2))
print("selected", pipeline.fit(table, y)[0].get_feature_names_out().tolist())

# %%
# The same with polars; ``set_output`` sets the type of the output.

frame = pl.from_pandas(table)
selector = InformationGain(3).set_output(transform="polars").fit(frame, y)
print(selector.transform(frame).head(3))

# %%
# Categorical features and features with missing values are scored like the others. The
# information gain is zero if no cut point is kept.

fig, ax = plt.subplots(figsize=(6, 2.8), layout="constrained")
colours = ["C0" if kept else "0.75" for kept in selector.get_support()]
ax.barh(selector.feature_names_in_, selector.scores_, color=colours)
ax.invert_yaxis()
ax.set_xlabel("information gain, bits")
plt.show()
