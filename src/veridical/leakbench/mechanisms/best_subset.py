"""The best of many subsets of the features."""

from __future__ import annotations

import numpy as np
from sklearn.naive_bayes import GaussianNB

from veridical.leakbench.honest_tables import HonestTable
from veridical.leakbench.planting import Mechanism, Planted, Scenario


def plant(table: HonestTable, dose: float, rng: np.random.Generator) -> Planted:
    """Try random subsets of the features, and report the best."""
    X, y = table.X, table.y
    subsets = [np.sort(rng.permutation(X.shape[1])[:5]) for _ in range(int(dose))]
    tried = [
        Scenario(GaussianNB(), X, y, known={"selected": subset}) for subset in subsets
    ]
    best = int(np.argmax([one.score() for one in tried]))
    known = {"selected": subsets[best], "n_tried": len(subsets)}
    return Planted(Scenario(GaussianNB(), X, y, known=known), tried[0])


MECHANISM = Mechanism(
    name="best-subset",
    recipe="Many subsets of the features are tried by hand, and the best is reported.",
    dose="number of subsets",
    doses=(40.0,),
    cure="Choose among the subsets inside the folds.",
    codes=("VD028", "VD001"),
    plant=plant,
    cause="choice",
)
