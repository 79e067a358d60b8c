"""Settings tuned on samples that are tested later."""

from __future__ import annotations

import numpy as np
from sklearn.naive_bayes import GaussianNB

from veridical.leakbench.honest_tables import HonestTable
from veridical.leakbench.planting import Mechanism, Planted, Scenario


def plant(table: HonestTable, dose: float, rng: np.random.Generator) -> Planted:
    """Choose a setting on all samples, and test it on other folds."""
    X, y = table.X, table.y
    subsets = [np.sort(rng.permutation(X.shape[1])[:5]) for _ in range(int(dose))]
    tuning = [Scenario(GaussianNB(), X[:, one], y).score(1) for one in subsets]
    chosen = subsets[int(np.argmax(tuning))]
    known = {"fitted_on": np.arange(table.n)}
    return Planted(
        Scenario(GaussianNB(), X[:, chosen], y, known=known),
        Scenario(GaussianNB(), X[:, subsets[0]], y),
    )


MECHANISM = Mechanism(
    name="tuned-on-all",
    recipe="A setting is tuned by cross-validation on all samples, then tested.",
    dose="number of settings",
    doses=(40.0,),
    cure="Tune inside the training folds.",
    codes=("VD029",),
    plant=plant,
    cause="fitted",
)
