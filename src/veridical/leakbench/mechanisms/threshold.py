"""A decision threshold tuned on the test samples."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from veridical.leakbench.honest_tables import HonestTable
from veridical.leakbench.planting import N_FOLDS, Mechanism, Planted, Scenario


def plant(table: HonestTable, dose: float, rng: np.random.Generator) -> Planted:
    """Choose the threshold that is best on the test samples."""
    X, y = table.X, table.y
    learner = make_pipeline(StandardScaler(), LogisticRegression(C=0.01))
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=table.seed)
    splits = list(folds.split(X, y))
    scores = cross_val_predict(learner, X, y, cv=splits, method="predict_proba")
    places = np.sort(scores[:, 1])
    between = np.unique((places[1:] + places[:-1]) / 2)[:: round(1 / dose)]
    named = scores[:, 1] >= between[:, None]
    best = between[np.argmax((named == y).mean(axis=1))]
    return Planted(
        Scenario(
            FixedThresholdClassifier(learner, threshold=float(best)),
            X,
            y,
            cv=splits,
        ),
        Scenario(learner, X, y, cv=splits),
    )


MECHANISM = Mechanism(
    name="threshold",
    recipe="The decision threshold is the one that is best on the test samples.",
    dose="share of the possible thresholds that are tried",
    doses=(1.0,),
    cure="Tune the threshold inside the folds (TunedThresholdClassifierCV).",
    codes=("VD031",),
    plant=plant,
    cause="choice",
)
