"""A projection that was fitted to the class on all samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.cross_decomposition import PLSRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from veridical.leakbench.honest_tables import HonestTable
from veridical.leakbench.planting import Mechanism, Planted, Scenario


class LatentScores(PLSRegression):
    """Partial least squares whose scores of X are the features of the next step."""

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, and return the scores of X alone."""
        return self.fit(X, y).transform(X)


def plant(table: HonestTable, dose: float, rng: np.random.Generator) -> Planted:
    """Replace the features by partial least squares scores of all samples."""
    wide = table.with_noise_features(200)
    k = int(dose)
    scores = LatentScores(k).fit_transform(wide.X, wide.y)
    return Planted(
        Scenario(GaussianNB(), scores, wide.y),
        Scenario(make_pipeline(LatentScores(k), GaussianNB()), wide.X, wide.y),
    )


MECHANISM = Mechanism(
    name="pls",
    recipe="Partial least squares is fitted to the class on all samples.",
    dose="number of components",
    doses=(2.0,),
    cure="Make the projection a step of the pipeline.",
    codes=("VD002",),
    plant=plant,
)
