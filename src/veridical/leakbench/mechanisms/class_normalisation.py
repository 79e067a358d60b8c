"""Normalisation of each class by itself."""

from __future__ import annotations

import numpy as np

from veridical.leakbench.honest_tables import HonestTable
from veridical.leakbench.planting import Mechanism, Planted


def plant(table: HonestTable, dose: float, rng: np.random.Generator) -> Planted:
    """Give the samples of each class the same distribution of values."""
    X = table.X.copy()
    for k in (0, 1):
        own = np.flatnonzero(table.y == k)
        ranks = np.argsort(np.argsort(X[own], axis=1), axis=1)
        X[own] = np.sort(X[own], axis=1).mean(axis=0)[ranks]
    X = dose * X + (1 - dose) * table.X
    return Planted.into_features(table, X)


MECHANISM = Mechanism(
    name="class-normalisation",
    recipe="Quantile normalisation is applied to each class by itself.",
    dose="share of the normalised values in the mean with the raw ones",
    doses=(1.0,),
    cure="Normalise without the class.",
    codes=("VD030",),
    plant=plant,
    cause="features",
)
