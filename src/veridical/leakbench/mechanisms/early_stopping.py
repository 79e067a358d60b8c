"""The number of iterations chosen on the test samples."""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import AdaBoostClassifier
from sklearn.model_selection import StratifiedKFold

from veridical.leakbench.honest_tables import HonestTable
from veridical.leakbench.planting import N_FOLDS, Mechanism, Planted, Scenario


def plant(table: HonestTable, dose: float, rng: np.random.Generator) -> Planted:
    """Choose the number of trees that is best on the test samples."""
    X, y, most = table.X, table.y, int(dose)
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=table.seed)
    splits = list(folds.split(X, y))
    right = np.zeros(most)
    for train, test in splits:
        model = AdaBoostClassifier(n_estimators=most, random_state=0)
        staged = list(model.fit(X[train], y[train]).staged_predict(X[test]))
        staged += [staged[-1]] * (most - len(staged))
        right += [np.count_nonzero(one == y[test]) for one in staged]
    best = AdaBoostClassifier(n_estimators=int(right.argmax()) + 1, random_state=0)
    last = AdaBoostClassifier(n_estimators=most, random_state=0)
    return Planted(
        Scenario(best, X, y, cv=splits, known={"n_tried": most}),
        Scenario(last, X, y, cv=splits),
    )


MECHANISM = Mechanism(
    name="early-stopping",
    recipe="Training stops where the score on the test samples is best.",
    dose="largest number of iterations",
    doses=(10.0,),
    cure="Stop by samples of the training fold.",
    codes=("VD028", "VD031"),
    plant=plant,
    cause="choice",
)
