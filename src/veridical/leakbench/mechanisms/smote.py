"""Synthetic samples of the rare class made before the split."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import NearestNeighbors

from veridical.leakbench.honest_tables import HonestTable, nearest
from veridical.leakbench.planting import Mechanism, Planted, Scenario


def plant(table: HonestTable, dose: float, rng: np.random.Generator) -> Planted:
    """Make one class rare, then interpolate between its neighbours."""
    rare = np.flatnonzero(table.y == 1)
    rare = rare[: max(8, round(dose * rare.size))]
    rows = rng.permutation(np.r_[np.flatnonzero(table.y == 0), rare])
    n_new = max(0, rows.size - 2 * rare.size)
    near = NearestNeighbors(n_neighbors=6).fit(table.X[rare])
    neighbours = near.kneighbors(return_distance=False)[:, :5]
    start = rng.integers(rare.size, size=n_new)
    end = neighbours[start, rng.integers(5, size=n_new)]
    share = rng.random((n_new, 1))
    new = (1 - share) * table.X[rare[start]] + share * table.X[rare[end]]
    X = np.vstack([table.X[rows], new])
    y = np.r_[table.y[rows], np.ones(n_new, dtype=np.intp)]
    order = rng.permutation(y.size)
    return Planted(
        Scenario(nearest(1), X[order], y[order]),
        Scenario(nearest(1), table.X[rows], table.y[rows]),
    )


MECHANISM = Mechanism(
    name="smote",
    recipe="SMOTE makes samples of the rare class before the samples are split.",
    dose="share of the rare class that is kept",
    doses=(0.4,),
    cure="Run SMOTE inside the training folds only.",
    codes=("VD027", "VD003"),
    plant=plant,
    cause="duplicates",
)
