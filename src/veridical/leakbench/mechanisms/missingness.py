"""Values that are missing in one class."""

from __future__ import annotations

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from veridical.leakbench.honest_tables import HonestTable, shallow_tree
from veridical.leakbench.planting import Mechanism, Planted


def plant(table: HonestTable, dose: float, rng: np.random.Generator) -> Planted:
    """Remove values of a feature in one class."""
    X = table.X.copy()
    X[(rng.random(table.n) < dose) & (table.y == 1), 0] = np.nan
    imputed = make_pipeline(SimpleImputer(add_indicator=True), shallow_tree())
    return Planted.into_features(table, X, imputed)


MECHANISM = Mechanism(
    name="missingness",
    recipe="A feature is missing in samples of one class only.",
    dose="share of the class in which it is missing",
    doses=(1.0, 0.6),
    cure="Find out why; drop the feature or its indicator.",
    codes=("VD024",),
    plant=plant,
    cause="features",
)
