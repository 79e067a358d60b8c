"""SVMPlus: its interface, its invariances and its messages."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.kernels.test_svm_plus import problem
from tests.oracles.svm_plus import generic_primal

from veridical._core.errors import InputError
from veridical.kernels.duality import GOOD_GAP
from veridical.kernels.svm_plus import (
    HingeSolver,
    PrivilegedGram,
    SignedGram,
    solve_hinge,
)
from veridical.kernels.svm_plus_linear import Descent, search_line
from veridical.learning import SVMPlus


def test_weights_and_scores_are_the_kernels():
    X, Z, y = problem(0)
    model = SVMPlus(C=0.3, gamma=2.0).fit(X, y, X_privileged=Z)
    one = solve_hinge(
        SignedGram(X @ X.T, y), PrivilegedGram(Z @ Z.T), np.full(len(y), 0.3), 2.0
    )
    np.testing.assert_allclose(model.coef_[0], (one.alpha * y) @ X)
    np.testing.assert_allclose(model.privileged_coef_[0], one.eta @ Z)
    scores = model.decision_function(X)
    np.testing.assert_allclose(scores, X @ model.coef_[0] + model.intercept_)
    np.testing.assert_array_equal(model.predict(X), np.where(scores >= 0, 1.0, -1.0))
    assert model.dual_gap_ < 1e-8
    assert model.n_iter_ >= 1


def test_the_papers_weights_have_the_same_minimiser():
    """B5: |w|² + λ₁|w*|² + λ₂ Σξ at our solution is twice ours, and no less nearby."""
    X, Z, y = problem(1)
    lambda1, lambda2 = 0.7, 1.6
    model = SVMPlus.from_lambda(lambda1, lambda2).fit(X, y, X_privileged=Z)
    assert (model.C, model.gamma) == (0.8, 0.7)

    def paper(w, v, b_star):
        return w @ w + lambda1 * v @ v + lambda2 * (Z @ v + b_star).sum()

    w, v, b_star = model.coef_[0], model.privileged_coef_[0], 0.0
    b_star = model.privileged_intercept_[0]
    ours = paper(w, v, b_star)
    alpha = np.abs(model.dual_coef_[0])
    dual = alpha.sum() - 0.5 * w @ w - model.gamma / 2 * v @ v
    assert ours == pytest.approx(2 * dual, rel=1e-6)
    for other in (SVMPlus(C=0.8, gamma=0.8), SVMPlus(C=0.9, gamma=0.7)):
        other.fit(X, y, X_privileged=Z)
        feasible = (
            other.coef_[0], other.privileged_coef_[0], other.privileged_intercept_[0]
        )  # fmt: skip
        assert paper(*feasible) >= ours * (1 - 1e-9)


@pytest.mark.parametrize("kernel", ["rbf", "poly", "callable", "precomputed"])
def test_kernels_say_what_their_gram_matrices_say(kernel):
    X, Z, y = problem(2, p=3)
    new = np.random.default_rng(1).normal(size=(7, 3))
    make = {
        "rbf": lambda a, b: rbf_kernel(a, b, gamma=0.2),
        "poly": lambda a, b: (0.2 * a @ b.T + 1) ** 3,
        "callable": lambda a, b: rbf_kernel(a, b, gamma=0.2),
        "precomputed": lambda a, b: rbf_kernel(a, b, gamma=0.2),
    }[kernel]
    reference = SVMPlus(kernel="precomputed", gamma=0.1).fit(
        make(X, X), y, X_privileged=Z
    )
    given = make if kernel == "callable" else kernel
    model = SVMPlus(
        kernel=given,
        gamma=0.1,
        kernel_params={"gamma": 0.2} if kernel in ("rbf", "poly") else None,
    )
    if kernel == "precomputed":
        model.set_params(
            privileged_kernel="precomputed",
        ).fit(make(X, X), y, X_privileged=Z @ Z.T)
        scores = model.decision_function(make(new, X))
    else:
        scores = model.fit(X, y, X_privileged=Z).decision_function(new)
    expected = reference.decision_function(make(new, X))
    np.testing.assert_allclose(scores, expected, atol=1e-7)


def test_several_classes_are_one_against_the_rest():
    rng = np.random.default_rng(0)
    y = np.array(["ash", "elm", "oak"])[np.arange(60) % 3]
    X = rng.normal(size=(60, 4)) + 2 * np.eye(4)[np.arange(60) % 3]
    Z = rng.normal(size=(60, 80))
    model = SVMPlus().fit(X, y, X_privileged=Z)
    assert model.coef_.shape == (3, 4)
    elm = SVMPlus().fit(X, y == "elm", X_privileged=Z)
    np.testing.assert_allclose(
        model.decision_function(X)[:, 1], elm.decision_function(X)
    )
    assert np.mean(model.predict(X) == y) > 0.8


def test_sparse_frames_and_arrays_agree():
    X, Z, y = problem(3)
    X[np.abs(X) < 0.5] = 0
    dense = SVMPlus().fit(X, y, X_privileged=Z)
    thin = SVMPlus().fit(sparse.csr_matrix(X), y, X_privileged=sparse.csr_matrix(Z))
    frame = SVMPlus().fit(
        pd.DataFrame(X).rename(columns=str), y, X_privileged=pd.DataFrame(Z)
    )
    for other in (thin, frame):
        np.testing.assert_allclose(other.coef_, dense.coef_, atol=1e-9)
    np.testing.assert_allclose(
        thin.decision_function(sparse.csr_matrix(X)), dense.decision_function(X)
    )


def test_weights_repeat_samples():
    X, Z, y = problem(4)
    times = np.arange(len(y)) % 3
    rows = np.repeat(np.arange(len(y)), times)
    weighted = SVMPlus(C=0.1).fit(X, y, X_privileged=Z, sample_weight=times)
    repeated = SVMPlus(C=0.1).fit(X[rows], y[rows], X_privileged=Z[rows])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)


def test_squared_slacks_are_optimal():
    """B7 at the estimator: stationarity of the primal in both sets of weights."""
    X, Z, y = problem(5)
    model = SVMPlus(C=2.0, gamma=0.5, loss="squared_hinge").fit(X, y, X_privileged=Z)
    slack = Z @ model.privileged_coef_[0] + model.privileged_intercept_[0]
    alpha = model.dual_coef_[0] * y
    margin = y * model.decision_function(X)
    assert (margin - 1 + slack).min() > -1e-7
    np.testing.assert_allclose(alpha * (margin - 1 + slack), 0, atol=1e-7)
    assert model.intercept_[0] == pytest.approx(y @ alpha)
    force = (alpha - 2.0 * slack) / 0.5
    np.testing.assert_allclose(model.privileged_coef_[0], force @ Z, atol=1e-7)
    assert model.privileged_intercept_[0] == pytest.approx(force.sum(), abs=1e-7)


def penalised_optimum(X, Z, y, C, gamma):
    """Biases are weights of a constant: a generic QP with the features plus one."""
    import qpsolvers

    n = len(y)
    wide, wide_star = np.c_[X, np.ones(n)], np.c_[Z, np.ones(n)]
    P = np.diag(np.r_[np.ones(wide.shape[1]), np.full(wide_star.shape[1], gamma)])
    price = np.r_[np.zeros(wide.shape[1]), C * wide_star.sum(axis=0)]
    rows = np.hstack([y[:, None] * wide, wide_star])
    G = -np.vstack([rows, np.hstack([np.zeros_like(wide), wide_star])])
    h = np.r_[-np.ones(n), np.zeros(n)]
    P, G = sparse.csc_matrix(P), sparse.csc_matrix(G)
    x = qpsolvers.solve_problem(qpsolvers.Problem(P, price, G, h), "clarabel").x
    return 0.5 * x @ P @ x + price @ x


@pytest.mark.parametrize(
    ("C", "gamma", "q"), [(1.0, 10.0, 30), (1.0, 30.0, 30), (10.0, 0.01, 60)]
)
def test_descent_reaches_the_optimum_of_its_problem(C, gamma, q):
    """B8, and beyond it: where C/γ is large, Newton steps end what sweeps began."""
    X, Z, y = problem(6, q=q)
    model = SVMPlus(
        C, gamma, solver="descent", tol=1e-8, max_iter=20_000, random_state=0
    ).fit(X, y, X_privileged=Z)
    w = np.append(model.coef_[0], model.intercept_[0])
    v = np.append(model.privileged_coef_[0], model.privileged_intercept_[0])
    slack = Z @ v[:-1] + v[-1]
    assert slack.min() > -1e-7
    assert (slack - 1 + y * (X @ w[:-1] + w[-1])).min() > -1e-6
    ours = 0.5 * w @ w + gamma / 2 * v @ v + C * slack.sum()
    best = penalised_optimum(X, Z, y, C, gamma)
    assert ours == pytest.approx(best, rel=1e-6)
    assert model.dual_gap_ <= 1e-8


def rough_counts(n, p, k):
    """Sparse counts, the first k features; labels that no features tell exactly."""
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 4, size=(n, p)) * (rng.random((n, p)) < 0.05)
    score = counts @ rng.normal(size=p) + 2 * rng.normal(size=n)
    y = np.where(score > np.median(score), 1.0, -1.0)
    return counts[:, :k].astype(float), counts[:, k:].astype(float), y


def test_descent_arrives_where_slacks_cost_a_million_times_their_weights():
    """The weights that multipliers imply are useless here; those of φ are not."""
    X, Z, y = rough_counts(200, 300, 25)
    C, gamma = 1e3, 1e-3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SVMPlus(C, gamma, solver="descent", random_state=0).fit(
            sparse.csr_matrix(X), y, X_privileged=sparse.csr_matrix(Z)
        )
    assert model.dual_gap_ <= 1e-4
    w = np.append(model.coef_[0], model.intercept_[0])
    v = np.append(model.privileged_coef_[0], model.privileged_intercept_[0])
    slack = Z @ v[:-1] + v[-1]
    short = max(0.0, -slack.min(), (1 - y * (X @ w[:-1] + w[-1]) - slack).max())
    cost = 0.5 * w @ w + gamma / 2 * v @ v + C * (slack + short).sum()
    assert cost == pytest.approx(penalised_optimum(X, Z, y, C, gamma), rel=2e-4)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**31), sigma=st.floats(1e-3, 1e9))
def test_a_step_ends_where_the_gradient_changes_sign(seed, sigma):
    rng = np.random.default_rng(seed)
    before, ahead = rng.normal(size=(2, 30))
    bend = float(rng.exponential())

    def slope(t):
        pushed = np.maximum(before - sigma * t * ahead, 0.0)
        return -1.0 + t * bend - ahead @ pushed

    t = search_line(-1.0, bend, before, ahead, sigma)
    if slope(0.0) >= 0.0:
        assert t == 0.0
    else:
        assert abs(slope(t)) <= 1e-3 * -slope(0.0)


@pytest.mark.parametrize("gamma", [10.0, 30.0])
def test_coordinate_descent_reaches_the_optimum_for_large_c(gamma):
    """Statement B8 of the specification of LUFe."""
    X, Z, y = problem(6, q=30)
    tables = sparse.csr_matrix(X), sparse.csr_matrix(Z)
    machine = Descent(*tables, y, np.ones(40), gamma, True)
    found, _ = machine.sweep(1e-5, 20_000, 0)
    assert found.gap <= 1e-5
    best = penalised_optimum(X, Z, y, 1.0, gamma)
    assert found.objective == pytest.approx(best, rel=1e-4)


@pytest.mark.parametrize(("C", "gamma"), [(1.0, 1.0), (0.01, 100.0)])
def test_many_samples_of_few_features_are_solved_on_the_features(C, gamma):
    """Neither Gram matrices nor sweeps: all digits, and multipliers to show for it."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(5001) % 2, 1.0, -1.0)
    noise = rng.exponential(0.5, size=5001)
    X = rng.normal(size=(5001, 4))
    X[:, 0] = y * (1 - noise) + 0.1 * X[:, 0]
    Z = np.c_[noise, rng.normal(size=(5001, 3))]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SVMPlus(C, gamma).fit(X, y, X_privileged=Z)
    assert model.dual_gap_ < 1e-9
    assert model.dual_coef_.shape == (1, 5001)
    *_, best = generic_primal(X, Z, y, np.full(5001, C), gamma)
    assert model.objective_[0] == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(model.dual_coef_ @ X, model.coef_, atol=1e-6)


def sparse_problem(n=5001, p=3000):
    """Two tables of words, three in each row; more columns than rows."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    tables = []
    for _ in range(2):
        columns = (rng.integers(p // 2, size=(n, 3)) * 2 + y[:, None]) % p
        columns[:, 2] = rng.integers(p, size=n)
        rows = np.repeat(np.arange(n), 3)
        data = (np.ones(3 * n), (rows, columns.ravel()))
        tables.append(sparse.csr_matrix(data, shape=(n, p)))
    return *tables, y


def test_many_samples_of_many_features_go_to_descent():
    X, Z, y = sparse_problem()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SVMPlus(C=1.0, gamma=1.0, random_state=0).fit(X, y, X_privileged=Z)
    assert model.dual_gap_ <= 1e-4
    assert not hasattr(model, "dual_coef_")
    slack = Z @ model.privileged_coef_[0] + model.privileged_intercept_[0]
    assert slack.min() > -1e-9
    assert np.mean(model.predict(X) == y) > 0.8
    with pytest.warns(ConvergenceWarning, match="1 sweeps"):
        SVMPlus(max_iter=1, random_state=0).fit(X, y, X_privileged=Z)


@pytest.mark.parametrize(
    "how",
    [
        {"solver": "descent", "max_iter": 50},
        {"solver": "exact"},
        {"loss": "squared_hinge"},
        {"kernel": "poly", "kernel_params": {"degree": 1}},
    ],
)
@pytest.mark.parametrize(("C", "gamma"), [(1.0, 1.0), (1000.0, 0.001), (0.001, 1e3)])
def test_a_problem_without_solution_is_refused_by_every_solver(how, C, gamma):
    """B6: nothing but an error, whatever the prices."""
    X, Z, y = problem(9, n=60, p=2, q=3, shift=0.0)
    Z = Z - Z.mean(axis=0)
    model = SVMPlus(C, gamma, privileged_bias=False, random_state=0, **how)
    with pytest.raises(InputError, match="No weights meet the constraints"):
        model.fit(X, y, X_privileged=Z)


def test_descent_without_constant_is_fine_where_slacks_can_be_positive():
    X, Z, y = problem(9, n=60, p=2, q=30, shift=0.0, positive=True)
    model = SVMPlus(
        0.1, 10.0, solver="descent", privileged_bias=False, max_iter=5000,
        random_state=0,
    ).fit(X, y, X_privileged=Z)  # fmt: skip
    assert model.dual_gap_ <= 1e-4
    assert model.privileged_intercept_[0] == 0.0
    assert (Z @ model.privileged_coef_[0]).min() > -1e-9


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**31), noise=st.floats(1e-6, 1.0), bias=st.booleans())
def test_a_perturbed_solution_is_not_reported_optimal(seed, noise, bias):
    """What the gap says is true of any weights and multipliers, not of good ones."""
    X, Z, y = problem(seed, n=30, p=4, positive=not bias)
    c, gamma = np.full(30, 0.5), 2.0
    samples, privileged = SignedGram(X @ X.T, y), PrivilegedGram(Z @ Z.T, bias)
    best = solve_hinge(samples, privileged, c, gamma)
    rng = np.random.default_rng(seed)
    spoil = 1 + noise * rng.normal(size=(2, 30))
    eta = best.eta * spoil[1]
    worse = HingeSolver(samples, privileged, c, gamma).finish(
        np.maximum(best.alpha * spoil[0], 0.0),
        eta - eta.mean() if bias else eta,
        best.bias + noise * rng.normal(),
        best.privileged_bias + (Z @ (best.eta @ Z)).mean() if bias else 0.0,
        best.states,
    )
    optimum = best.objective
    assert worse.objective <= optimum * (1 + 1e-9)
    if worse.gap < 1:
        assert worse.objective / (1 - worse.gap) >= optimum * (1 - 1e-9)


def test_privileged_features_are_routed():
    X, Z, y = problem(7, n=60)
    with sklearn.config_context(enable_metadata_routing=True):
        machine = SVMPlus().set_fit_request(X_privileged=True)
        pipe = make_pipeline(StandardScaler(), machine)
        scores = cross_val_score(pipe, X, y, cv=3, params={"X_privileged": Z})
    assert scores.shape == (3,)
    assert scores.mean() > 0.5


def test_bad_input_is_named():
    X, Z, y = problem(8)
    with pytest.warns(UserWarning, match="no privileged features"):
        SVMPlus().fit(X, y)
    with pytest.raises(ValueError, match="inconsistent"):
        SVMPlus().fit(X, y, X_privileged=Z[:5])
    with pytest.raises(InputError, match="one class only"):
        SVMPlus().fit(X, np.ones(len(y)), X_privileged=Z)
    with pytest.raises(InputError, match="C=-1"):
        SVMPlus(C=-1).fit(X, y, X_privileged=Z)
    with pytest.raises(InputError, match="did you mean 'linear'"):
        SVMPlus(kernel="liner").fit(X, y, X_privileged=Z)
    with pytest.raises(InputError, match="square"):
        SVMPlus(kernel="precomputed").fit(X, y, X_privileged=Z)
    with pytest.raises(InputError, match="solver='exact'"):
        SVMPlus(kernel="rbf", solver="descent").fit(X, y, X_privileged=Z)
    overlap, _, _ = problem(9, p=2, shift=0.0)
    with pytest.raises(InputError, match="privileged_bias=True"):
        SVMPlus(privileged_bias=False).fit(overlap, y, X_privileged=Z - Z.mean(axis=0))


# -- kernels and samples as they are given --------------------------------------------


@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
def test_a_sample_without_weight_is_as_good_as_absent(kernel):
    """Also for the default width, and the multipliers keep their places."""
    X, Z, y = problem(3, n=30)
    weight = np.where(np.arange(30) % 5 == 2, 0.0, 1.0)
    kept = np.flatnonzero(weight)
    machine = SVMPlus(kernel=kernel, privileged_kernel=kernel)
    if kernel == "precomputed":
        tables = X @ X.T, Z @ Z.T
        inside = np.ix_(kept, kept)
        fewer = tables[0][inside], tables[1][inside]
        seen = tables[0], tables[0][:, kept]
    else:
        tables, fewer, seen = (X, Z), (X[kept], Z[kept]), (X, X)
    whole = clone(machine).fit(tables[0], y, tables[1], sample_weight=weight)
    part = clone(machine).fit(fewer[0], y[kept], fewer[1])
    np.testing.assert_allclose(
        whole.decision_function(seen[0]), part.decision_function(seen[1]), atol=1e-9
    )
    assert whole.dual_coef_.shape == (1, 30)
    np.testing.assert_allclose(whole.dual_coef_[:, kept], part.dual_coef_, atol=1e-9)
    assert not whole.dual_coef_[0, weight == 0].any()


def test_a_sparse_gram_matrix_is_a_gram_matrix():
    X, Z, y = problem(4, n=30)
    both = {"kernel": "precomputed", "privileged_kernel": "precomputed"}
    K, K_star = X @ X.T, Z @ Z.T
    dense = SVMPlus(**both).fit(K, y, K_star)
    thin = SVMPlus(**both).fit(sparse.csr_matrix(K), y, sparse.csr_matrix(K_star))
    np.testing.assert_allclose(
        thin.decision_function(sparse.csr_matrix(K)), dense.decision_function(K)
    )


def test_a_matrix_that_no_features_have_is_refused():
    X, Z, y = problem(5, n=30)
    both = {"kernel": "precomputed", "privileged_kernel": "precomputed"}
    K, K_star = X @ X.T, Z @ Z.T
    uneven = K.copy()
    uneven[3, 7] += 1.0
    with pytest.raises(InputError, match=r"kernel='precomputed'.*not symmetric.*3 and"):
        SVMPlus(**both).fit(uneven, y, K_star)
    with pytest.raises(InputError, match=r"privileged_kernel=.*semi-definite"):
        SVMPlus(**both).fit(K, y, -K_star)
    with pytest.raises(InputError, match=r"kernel=.*semi-definite"):
        SVMPlus(**both).fit(K - 5 * np.eye(30), y, K_star)
    # single precision is neither exactly symmetric nor exactly semi-definite
    rough = [t.astype(np.float32) @ t.astype(np.float32).T for t in (X, Z)]
    assert SVMPlus(**both).fit(rough[0], y, rough[1]).dual_gap_ < 1e-6


def in_single_precision(X):
    return X.astype(np.float32) @ X.astype(np.float32).T


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("privileged_bias", [True, False])
def test_gram_matrices_of_single_precision_are_solved_to_the_end(loss, privileged_bias):
    """They have negative eigenvalues, of which no solver can prove a gap."""
    gaps = []
    for seed in range(25):
        X, Z, y = problem(seed, n=30)
        machine = SVMPlus(
            kernel="precomputed",
            privileged_kernel="precomputed",
            loss=loss,
            privileged_bias=privileged_bias,
        )
        machine.fit(in_single_precision(X), y, in_single_precision(Z))
        gaps.append(machine.dual_gap_)
    assert max(gaps) < 1e-10


def test_more_samples_than_small_in_single_precision():
    X, Z, y = problem(0, n=450)

    def rough(A, B):
        return (A.astype(np.float32) @ B.astype(np.float32).T) ** 2

    machine = SVMPlus(kernel=rough, privileged_kernel=rough).fit(X, y, Z)
    assert machine.dual_gap_ < 1e-8


def test_gram_matrices_of_many_samples_are_examined_where_the_gap_stays_open(
    monkeypatch,
):
    where = "veridical.learning.svm_plus_problem._EXAMINED"
    both = {"kernel": "precomputed", "privileged_kernel": "precomputed"}
    for seed in range(10):
        X, Z, y = problem(seed, n=80)
        gaps = []
        for many in (80, 20):
            monkeypatch.setattr(where, many)
            machine = SVMPlus(**both)
            machine.fit(in_single_precision(X), y, in_single_precision(Z))
            gaps.append(machine.dual_gap_)
        assert gaps[1] <= max(gaps[0], GOOD_GAP)
        with pytest.raises(InputError, match=r"privileged_kernel=.*semi-definite"):
            SVMPlus(**both).fit(X @ X.T, y, -Z @ Z.T)
        with pytest.raises(InputError, match=r"kernel=.*semi-definite"):
            SVMPlus(**both).fit(X @ X.T - 5 * np.eye(80), y, Z @ Z.T)


def test_rounding_of_a_gram_matrix_changes_little():
    X, Z, y = problem(3, n=40)
    both = {"kernel": "precomputed", "privileged_kernel": "precomputed"}
    exact = SVMPlus(**both).fit(X @ X.T, y, Z @ Z.T)
    rough = SVMPlus(**both).fit(in_single_precision(X), y, in_single_precision(Z))
    assert rough.objective_ == pytest.approx(exact.objective_, rel=1e-5)
    np.testing.assert_allclose(
        rough.decision_function(X @ X.T), exact.decision_function(X @ X.T), atol=1e-3
    )


def test_centred_privileged_features_without_bias():
    """With the hinge loss no slack is left; squared slacks may be negative."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(60) % 2)
    X, Z = rng.normal(size=(60, 3)), rng.normal(size=(60, 80))
    Z -= Z.mean(axis=0)
    with pytest.raises(InputError, match="No weights meet the constraints"):
        SVMPlus(privileged_bias=False).fit(X, y, Z)
    machine = SVMPlus(privileged_bias=False, loss="squared_hinge").fit(X, y, Z)
    assert machine.dual_gap_ < 1e-8
    slack = Z @ machine.privileged_coef_[0]
    assert slack.min() < 0 < slack.max()
    margin = np.where(y == 1, 1.0, -1.0) * machine.decision_function(X)
    assert (margin + slack).min() > 1 - 1e-6


def test_a_second_fit_forgets_what_only_the_first_had():
    X, Z, y = problem(6, n=30)
    machine = SVMPlus().fit(X, y, Z)
    machine.set_params(kernel="rbf", privileged_kernel="rbf").fit(X, y, Z)
    assert not hasattr(machine, "coef_")
    assert not hasattr(machine, "privileged_coef_")
    machine.set_params(kernel="linear", privileged_kernel="linear", solver="descent")
    machine.fit(X, y, Z)
    assert not hasattr(machine, "dual_coef_")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"tol": -1.0}, "tol=-1.0 must be"),
        ({"tol": "small"}, "tol='small' must be"),
        ({"max_iter": 0}, "max_iter=0 must be"),
        ({"max_iter": 1.5}, "max_iter=1.5 must be"),
    ],
)
def test_stopping_rules_that_mean_nothing_are_refused(wrong, message):
    X, Z, y = problem(6, n=30)
    with pytest.raises(InputError, match=message):
        SVMPlus(**wrong).fit(X, y, Z)
