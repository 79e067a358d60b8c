"""Inner products from the features are those of the whole matrix."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC

from veridical.kernels import products
from veridical.kernels.duality import largest_sum, measure_svm, violation
from veridical.kernels.products import Products, inner_products, take_samples
from veridical.kernels.svm import solve_svm
from veridical.learning import DAGSVM
from veridical.selection import SVMRFE


def two_classes(n, p, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, np.where(X[:, 0] - X[:, 1] + rng.normal(size=n) > 0, 1.0, -1.0)


@pytest.fixture
def whole(monkeypatch):
    """Compute the whole matrix whatever its size."""
    return lambda: monkeypatch.setattr(products, "_MANY_SAMPLES", 10**9)


def test_parts_are_those_of_the_matrix():
    X, v = two_classes(600, 4)
    G, some = inner_products(X), np.array([3, 99, 500])
    assert isinstance(G, Products)
    assert G @ v == pytest.approx((X @ X.T) @ v)
    assert G[some] @ v == pytest.approx((X @ X.T)[some] @ v)
    assert G[np.ix_(some, some)] == pytest.approx((X @ X.T)[np.ix_(some, some)])
    assert take_samples(G, some) @ v[:3] == pytest.approx(
        take_samples(X @ X.T, some) @ v[:3]
    )
    assert G.trace() == pytest.approx(np.trace(X @ X.T))
    assert largest_sum(G, np.abs(v)) >= largest_sum(X @ X.T, np.abs(v))


def test_sparse_and_narrow_numbers_become_doubles():
    X = sparse.random_array((600, 5), density=0.3, rng=0, dtype=np.float32)
    G = inner_products(X)
    assert isinstance(G, Products)
    assert G.left.dtype == np.float64


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_solution_is_that_of_the_matrix(C):
    X, s = two_classes(700, 6)
    c = np.full(700, C)
    a = solve_svm(Products(X), s, c).a
    assert violation(X @ X.T, s, s, c, a) < 1e-12
    w = (s * a) @ X
    _, _, gap = measure_svm(0.5 * w @ w, s - X @ w, s, s, a, c)
    assert gap < 1e-10
    assert w == pytest.approx((s * solve_svm(X @ X.T, s, c).a) @ X, abs=1e-8)


def test_a_start_changes_the_path_alone():
    X, s = two_classes(700, 6)
    c = np.ones(700)
    before = solve_svm(Products(X), s, c).a
    a = solve_svm(Products(X[:, :5]), s, c, before).a
    assert violation(X[:, :5] @ X[:, :5].T, s, s, c, a) < 1e-12


@pytest.mark.parametrize("step", [1, 0.2])
@pytest.mark.parametrize("target", ["classes", "numbers"])
def test_elimination_drops_the_same_features(target, step, whole):
    X, s = two_classes(620, 12)
    y = np.digitize(X[:, 2] + s, [-1.0, 1.0]) if target == "classes" else X @ X[0] + s
    found = SVMRFE(3, step=step).fit(X, y).order_
    whole()
    assert (found == SVMRFE(3, step=step).fit(X, y).order_).all()


def test_dagsvm_on_many_samples_is_libsvm(whole):
    X, s = two_classes(1300, 8)
    y = np.digitize(X[:, 2] + s, [-1.0, 1.0])
    model = DAGSVM().fit(X, y)
    for k, (a, b) in enumerate(model.pairs_):
        here = (y == a) | (y == b)
        peer = SVC(kernel="linear", tol=1e-8).fit(X[here], y[here])
        # With two classes SVC counts from the second, of pairs DAGSVM from the first.
        assert model.coef_[k] == pytest.approx(-peer.coef_[0], abs=1e-5)
    predicted = model.predict(X)
    whole()
    assert (predicted == DAGSVM().fit(X, y).predict(X)).all()
