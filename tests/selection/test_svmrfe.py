"""Recursive elimination selects what scikit-learn's RFE selects, fitted exactly."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.feature_selection import RFE
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from veridical.selection import SVMRFE


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
@pytest.mark.parametrize(("k", "step"), [(1, 1), (5, 1), (4, 3), (5, 0.1)])
@pytest.mark.parametrize("C", [0.1, 1.0])
def test_the_same_features_as_scikit_learn(load, k, step, C):
    X, y = load(return_X_y=True)
    X, y = scale(X)[::2], y[::2]
    reference = RFE(
        SVC(kernel="linear", C=C, tol=1e-9), n_features_to_select=k, step=step
    ).fit(X, y)
    fitted = SVMRFE(k, step=step, C=C).fit(X, y)
    np.testing.assert_array_equal(fitted.support_, reference.support_)
    for rank in range(2, reference.ranking_.max()):
        worse = fitted.ranking_[reference.ranking_ > rank]
        assert worse.min() > fitted.ranking_[reference.ranking_ <= rank].max()


def test_features_dropped_in_one_round_go_by_index():
    X, y = load_wine(return_X_y=True)
    order = SVMRFE(3, step=5).fit(scale(X), y).order_  # 13, 8, then the 3 asked for
    assert order[3:8].tolist() == sorted(order[3:8])
    assert order[8:].tolist() == sorted(order[8:])


def test_outliers_do_not_blunt_the_solution():
    """Products of 10¹² with multipliers of 10⁻¹²: margins still count to the end."""
    rng = np.random.default_rng(2)
    n, p, n_classes = 61, 40, 4
    often = np.tile(np.arange(n_classes), 2)
    y = np.r_[often, rng.integers(0, n_classes, n - often.size)]
    rng.shuffle(y)
    X = rng.normal(size=(n, p)) + np.outer(y, rng.random(p) < 0.2) * rng.random(p)
    X[rng.integers(0, n, p), np.arange(p)] *= 1e6
    selector = SVMRFE(5, step=0.2)
    rows = np.random.default_rng(9).permutation(n)
    moved = selector.fit(X[rows], y[rows]).order_
    np.testing.assert_array_equal(selector.fit(X, y).order_, moved)
