"""Several samples of each patient."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import GroupKFold

from veridical.leakbench.honest_tables import HonestTable, nearest
from veridical.leakbench.planting import N_FOLDS, Mechanism, Planted, Scenario


def plant(table: HonestTable, dose: float, rng: np.random.Generator) -> Planted:
    """Measure each patient four times, with noise."""
    patient = np.repeat(np.arange(table.n // 3), 4)
    spread = table.X.std(axis=0)
    X = table.X[patient] + dose * spread * rng.normal(
        size=(patient.size, table.X.shape[1])
    )
    order = rng.permutation(patient.size)
    X, y, patient = X[order], table.y[patient][order], patient[order]
    whole = list(GroupKFold(N_FOLDS, shuffle=True, random_state=0).split(X, y, patient))
    return Planted(Scenario(nearest(1), X, y), Scenario(nearest(1), X, y, cv=whole))


MECHANISM = Mechanism(
    name="patients",
    recipe="Each patient has four samples, which are split at random.",
    dose="noise of a sample, in standard deviations between patients",
    doses=(0.5, 0.8),
    cure="Keep the samples of a patient in one fold (groups=).",
    codes=("VD021", "VD003"),
    plant=plant,
    cause="groups",
)
