"""LUFeLogistic: an oracle, its limits, and its probabilities."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from tests.learning.test_lufe import data

from veridical.kernels.margins import solve_logistic
from veridical.learning import LUFeLogistic


@pytest.mark.parametrize(("C", "gamma"), [(1.0, 1.0), (10.0, 0.1), (0.1, 10.0)])
def test_a_general_solver_finds_the_same(C, gamma):
    rng = np.random.default_rng(0)
    n, p, q = 14, 2, 16
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    X, Z = rng.normal(size=(n, p)) + 0.5 * y[:, None], rng.normal(size=(n, q))
    c = np.full(n, C)
    ours = solve_logistic(X, Z, y, c, gamma)

    def objective(x):
        w, v = x[:p], x[p + 1 : -1]
        return 0.5 * w @ w + gamma / 2 * v @ v + c @ (Z @ v + x[-1])

    def room(x):
        loss = np.logaddexp(0, -y * (X @ x[:p] + x[p]))
        return Z @ x[p + 1 : -1] + x[-1] - loss

    start = np.zeros(p + q + 2)
    start[-1] = 2.0
    theirs = minimize(
        objective, start, constraints=[{"type": "ineq", "fun": room}], method="SLSQP",
        options={"maxiter": 2000, "ftol": 1e-13},
    )  # fmt: skip
    mine = np.concatenate([ours.w, [ours.b], ours.w_star, [ours.b_star]])
    assert room(mine).min() > 0
    assert objective(mine) == pytest.approx(theirs.fun, rel=1e-6)
    np.testing.assert_allclose(ours.w, theirs.x[:p], atol=1e-4)


def test_it_is_a_weighted_logistic_regression():
    """Stationarity: the weights it gives make an ordinary fit arrive where it is."""
    X, y = data(signal=0.5)
    model = LUFeLogistic(SelectKBest(k=8), C=0.5, gamma=30.0).fit(X, y)
    assert model.dual_gap_ < 1e-7
    assert model.sample_weights_.sum() == pytest.approx(60, rel=1e-5)
    assert model.sample_weights_.std() > 0.1
    theirs = LogisticRegression(C=0.5, tol=1e-10, max_iter=10_000).fit(
        X[:, model.support_], y, sample_weight=model.sample_weights_[0]
    )
    np.testing.assert_allclose(model.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(model.intercept_, theirs.intercept_, atol=1e-4)
    slack = X[:, model.unselected_] @ model.privileged_coef_[0]
    force = (model.sample_weights_[0] - 1) * 0.5 / 30.0
    expected = X[:, model.unselected_] @ (force @ X[:, model.unselected_])
    np.testing.assert_allclose(np.ptp(slack - expected), 0, atol=1e-4)


def test_a_small_gamma_is_ordinary_logistic_regression():
    X, y = data(1, signal=0.5)
    model = LUFeLogistic(SelectKBest(k=8), gamma=1e-5).fit(X, y)
    theirs = LogisticRegression(tol=1e-10, max_iter=10_000).fit(X[:, model.support_], y)
    np.testing.assert_allclose(model.coef_, theirs.coef_, atol=1e-3)
    np.testing.assert_allclose(
        model.predict_proba(X), theirs.predict_proba(X[:, model.support_]), atol=1e-3
    )


@pytest.mark.parametrize("classes", [2, 3])
def test_what_is_deployed_has_the_same_probabilities(classes):
    X, _ = data()
    y = np.array(["ash", "elm", "oak"])[np.arange(60) % classes]
    X[:, :3] += np.eye(3)[np.arange(60) % classes]
    names = [f"word{j}" for j in range(X.shape[1])]
    model = LUFeLogistic(SelectKBest(k=8)).fit(pd.DataFrame(X, columns=names), y)
    plain = model.deploy()
    assert b"veridical" not in pickle.dumps(plain)
    part = pd.DataFrame(X, columns=names)[np.array(names)[model.support_]]
    np.testing.assert_allclose(plain.predict_proba(part), model.predict_proba(part))
    np.testing.assert_array_equal(plain.predict(part), model.predict(part))
    np.testing.assert_allclose(model.predict_proba(part).sum(axis=1), 1)
    np.testing.assert_allclose(
        model.predict_log_proba(part), np.log(model.predict_proba(part))
    )


def test_nothing_unselected_is_ordinary_logistic_regression():
    X, y = data(p=6)
    with pytest.warns(UserWarning, match="none is left"):
        model = LUFeLogistic(SelectKBest(k="all")).fit(X, y)
    theirs = LogisticRegression(tol=1e-8, max_iter=1000).fit(X, y)
    np.testing.assert_allclose(model.coef_, theirs.coef_, atol=1e-5)
