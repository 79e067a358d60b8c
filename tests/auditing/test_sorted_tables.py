"""A table that is sorted by a feature or a number is no series in time."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from veridical import audit

FEW = {"n_permutations": 20, "random_state": 0, "checks": ["VD022"]}


@pytest.mark.parametrize("feature", [0, 3])
def test_shifted_outcomes_of_a_table_sorted_by_a_feature_say_nothing(feature):
    X, y = load_breast_cancer(return_X_y=True)
    order = X[:, feature].argsort()
    model = make_pipeline(StandardScaler(), KNeighborsClassifier())
    found = audit(model, X[order], y[order], **FEW)
    assert all(one.severity == "note" for one in found.findings)
    assert not any("shifted" in one.evidence for one in found.findings)


@pytest.mark.parametrize("feature", [3, 8])
def test_numbers_sorted_by_a_feature_are_no_series(feature):
    X, y = load_diabetes(return_X_y=True)
    order = X[:, feature].argsort(kind="stable")
    found = audit("ridge", X[order], y[order], **FEW)
    assert not found.findings
    assert "VD022" in {one.code for one in found.untested}


@pytest.mark.parametrize("seed", [0, 2, 3])
def test_numbers_in_their_own_order_are_no_series(seed):
    rng = np.random.default_rng(seed)
    factor = np.sort(rng.normal(size=200))
    X = factor[:, None] * rng.normal(size=30) + 0.3 * rng.normal(size=(200, 30))
    assert not audit("ridge", X, factor, **FEW).findings
