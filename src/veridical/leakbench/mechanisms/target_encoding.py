"""Categories replaced by the share of a class, on all samples."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline

from veridical.leakbench.honest_tables import HonestTable, nearest, target_encoder
from veridical.leakbench.planting import Mechanism, Planted, Scenario


def plant(table: HonestTable, dose: float, rng: np.random.Generator) -> Planted:
    """Add categorical features without meaning, encoded on all samples."""
    kinds = rng.integers(round(table.n / dose), size=(table.n, 3))
    coded = np.empty(kinds.shape)
    for j in range(3):
        for kind in np.unique(kinds[:, j]):
            same = kinds[:, j] == kind
            coded[same, j] = table.y[same].mean()
    X = np.hstack([table.X[:, :10], coded])
    raw = pd.DataFrame(np.hstack([table.X[:, :10], kinds])).rename(columns=str)
    encode = make_column_transformer(
        (target_encoder(), raw.columns[-3:]),
        remainder="passthrough",
    )
    return Planted(
        Scenario(nearest(3), X, table.y),
        Scenario(make_pipeline(encode, nearest(3)), raw, table.y),
    )


MECHANISM = Mechanism(
    name="target-encoding",
    recipe="Each category is replaced by the share of a class among its samples.",
    dose="samples per category",
    doses=(3.0, 8.0),
    cure="Make a target encoder a step of the pipeline.",
    codes=("VD020",),
    plant=plant,
    cause="features",
)
