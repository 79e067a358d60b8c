"""The score of the best of many settings."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from veridical.leakbench.honest_tables import HonestTable
from veridical.leakbench.planting import N_FOLDS, Mechanism, Planted, Scenario


def plant(table: HonestTable, dose: float, rng: np.random.Generator) -> Planted:
    """Search among settings, and report the score of the best."""
    subsets = [rng.permutation(table.X.shape[1])[:5] for _ in range(int(dose))]
    learner = make_pipeline(FunctionTransformer(np.take), GaussianNB())
    tried = [{"indices": np.sort(subset), "axis": 1} for subset in subsets]
    grid = {"functiontransformer__kw_args": tried}
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=table.seed)
    splits = list(folds.split(table.X, table.y))
    found = GridSearchCV(learner, grid, cv=splits).fit(table.X, table.y)
    usual = clone(learner).set_params(functiontransformer__kw_args=tried[0])
    known = {"n_tried": len(tried)}
    return Planted(
        Scenario(clone(found.best_estimator_), table.X, table.y, splits, known),
        Scenario(usual, table.X, table.y, splits),
    )


MECHANISM = Mechanism(
    name="best-setting",
    recipe="The best of many settings is cross-validated on the folds that chose it.",
    dose="number of settings",
    doses=(20.0,),
    cure="Report nested cross-validation.",
    codes=("VD028", "VD007"),
    plant=plant,
    cause="choice",
)
