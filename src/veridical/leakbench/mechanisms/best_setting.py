"""The score of the best of many settings."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from veridical.leakbench.planting import Mechanism, Planted, Scenario
from veridical.leakbench.tables import HonestTable


def plant(table: HonestTable, dose: float, rng: np.random.Generator) -> Planted:
    """Search among settings, and report the score of the best."""
    subsets = [rng.permutation(table.X.shape[1])[:5] for _ in range(int(dose))]
    learner = make_pipeline(FunctionTransformer(np.take), GaussianNB())
    tried = [{"indices": np.sort(subset), "axis": 1} for subset in subsets]
    grid = {"functiontransformer__kw_args": tried}
    folds = StratifiedKFold(3, shuffle=True, random_state=table.seed)
    search = GridSearchCV(learner, grid, cv=folds)
    best = float(clone(search).fit(table.X, table.y).best_score_)
    return Planted(
        Scenario(search, table.X, table.y, reported=best),
        Scenario(search, table.X, table.y),
    )


MECHANISM = Mechanism(
    name="best-setting",
    recipe="The cross-validated score of the best of many settings is reported.",
    dose="number of settings",
    doses=(8.0,),
    cure="Report nested cross-validation.",
    codes=("VD007",),
    plant=plant,
    cause="choice",
)
