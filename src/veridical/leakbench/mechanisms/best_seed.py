"""The score of the best of many random seeds."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from veridical.leakbench.honest_tables import HonestTable
from veridical.leakbench.planting import N_FOLDS, Mechanism, Planted, Scenario


def plant(table: HonestTable, dose: float, rng: np.random.Generator) -> Planted:
    """Repeat cross-validation with many seeds, and report the best."""
    X, y = table.X, table.y

    def folds(seed: int) -> list[tuple[Any, Any]]:
        splitter = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
        return list(splitter.split(X, y))

    tried = [Scenario(table.estimator, X, y, cv=folds(s)) for s in range(int(dose))]
    best = int(np.argmax([one.score() for one in tried]))
    return Planted(
        Scenario(table.estimator, X, y, cv=folds(best), known={"n_tried": len(tried)}),
        Scenario(table.estimator, X, y, cv=folds(int(dose))),
    )


MECHANISM = Mechanism(
    name="best-seed",
    recipe="Cross-validation is repeated with many seeds, and the best is reported.",
    dose="number of seeds",
    doses=(20.0,),
    cure="Report the mean over seeds.",
    codes=("VD028",),
    plant=plant,
    cause="choice",
)
