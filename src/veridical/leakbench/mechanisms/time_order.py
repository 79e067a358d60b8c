"""Neighbours in time on both sides of a split."""

from __future__ import annotations

import numpy as np

from veridical.leakbench.honest_tables import HonestTable, nearest
from veridical.leakbench.planting import N_FOLDS, Mechanism, Planted, Scenario


def plant(table: HonestTable, dose: float, rng: np.random.Generator) -> Planted:
    """Let features drift slowly, and the class change every ten samples."""
    n, p = table.X.shape
    y = np.repeat(rng.permutation(np.arange(n // 10 + 2) % 2), 10)[:n].astype(np.intp)
    walk = np.cumsum(rng.normal(size=(n, p)), axis=0)
    walk -= walk.mean(axis=0)
    walk /= np.maximum(walk.std(axis=0), 1e-12)
    noise = rng.permutation(table.X)
    noise = (noise - noise.mean(axis=0)) / np.maximum(noise.std(axis=0), 1e-12)
    X = dose * walk + noise
    blocks = [
        (np.setdiff1d(np.arange(n), test), test)
        for test in np.array_split(np.arange(n), N_FOLDS)
    ]
    return Planted(Scenario(nearest(3), X, y), Scenario(nearest(3), X, y, cv=blocks))


MECHANISM = Mechanism(
    name="time-order",
    recipe="Samples in the order of time are split at random.",
    dose="deviation of the drift, relative to that of the noise",
    doses=(2.0, 1.0),
    cure="Train on the past (time=, TimeSeriesSplit).",
    codes=("VD022",),
    plant=plant,
    cause="order",
)
