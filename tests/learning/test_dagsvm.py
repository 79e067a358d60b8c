"""Pairwise support vector machines along a graph."""

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from tests.oracles import dagsvm as oracle

from veridical._core.errors import InputError
from veridical.kernels import dagsvm as kernels
from veridical.kernels.dagsvm import sort_by_class, walk
from veridical.learning import DAGSVM

# libsvm keeps inner products in single precision; those of eighths are exact there.
EIGHTHS = 8
NEAR = 1e-6


def blobs(seed, n_classes, n_features, n=60, apart=1.0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    centres = apart * rng.normal(size=(n_classes, n_features))
    return centres[y] + rng.normal(size=(n, n_features)), y


@given(
    seed=st.integers(0, 2**32 - 1),
    n_classes=st.integers(2, 6),
    n_features=st.integers(1, 9),
    C=st.sampled_from([0.01, 1.0, 10.0]),
)
@example(
    seed=19501, n_classes=6, n_features=6, C=0.01
)  # 1.7e-16 C left of a multiplier
@settings(max_examples=30, deadline=None)
def test_agrees_with_pairwise_svc_fed_through_a_naive_graph(
    seed, n_classes, n_features, C
):
    X, y = blobs(seed, n_classes, n_features)
    X = np.round(X * EIGHTHS) / EIGHTHS
    samples = np.random.default_rng(seed).normal(size=(40, n_features)) * 2
    model = DAGSVM(C=C).fit(X, y)
    try:
        _, decisions = oracle.pairwise_decisions(X, y, samples, C=C, strict=True)
    except oracle.RoundingError:
        assume(False)
    ours = model.pairwise_decisions(samples)
    for column, pair in zip(ours.T, model.pairs_, strict=True):
        np.testing.assert_allclose(column, decisions[pair], atol=NEAR)
    expected, asked = oracle.predict(X, y, samples, C=C)
    assert set(asked) == {n_classes - 1}
    clear = np.all(np.abs(list(decisions.values())) > NEAR, axis=0)
    assume(clear.any())
    np.testing.assert_array_equal(model.predict(samples)[clear], expected[clear])


@given(seed=st.integers(0, 2**32 - 1), C=st.sampled_from([0.01, 1.0, 100.0]))
@settings(max_examples=20, deadline=None)
def test_the_solution_is_optimal(seed, C):
    """Karush, Kuhn and Tucker's conditions, which no other solution fulfils."""
    X, y = blobs(seed, 3, 4)
    model = DAGSVM(C=C).fit(X, y)
    margins = model.pairwise_decisions(X)
    for k, (a, b) in enumerate(model.pairs_):
        pair = np.isin(y, [a, b])
        sign = np.where(y[pair] == a, 1, -1)
        multiplier = sign * model.dual_coef_[k, pair]
        margin = sign * margins[pair, k]
        assert abs(model.dual_coef_[k].sum()) < 1e-9 * C
        assert ((multiplier >= 0) & (multiplier <= C)).all()
        assert (margin[multiplier < C] >= 1 - 1e-8).all()
        assert (margin[multiplier > 0] <= 1 + 1e-8).all()


@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_real_data_and_other_kernels(load, kernel):
    X, y = load(return_X_y=True)
    X, y = StandardScaler().fit_transform(X)[:400], y[:400]
    model = DAGSVM(kernel=kernel).fit(X[::2], y[::2])
    gamma = 1 / (X.shape[1] * X[::2].var())  # not that of each pair alone
    expected, _ = oracle.predict(X[::2], y[::2], X[1::2], kernel=kernel, gamma=gamma)
    np.testing.assert_array_equal(model.predict(X[1::2]), expected)


def test_two_classes_are_one_svm():
    X, y = blobs(1, 2, 5)
    samples = np.random.default_rng(2).normal(size=(200, 5))
    machine = SVC(kernel="linear", C=1.0).fit(X, y)
    model = DAGSVM(C=1.0).fit(X, y)
    assert len(model.pairs_) == 1
    np.testing.assert_array_equal(model.predict(samples), machine.predict(samples))


@pytest.mark.parametrize("labels", [[0, 1], ["b", "a"]])
def test_two_classes_have_the_signs_of_svc(labels):
    X, codes = blobs(1, 2, 5)
    y = np.array(labels)[codes]
    samples = np.random.default_rng(2).normal(size=(50, 5))
    machine = SVC(kernel="linear", tol=1e-9).fit(X, y)
    model = DAGSVM().fit(X, y)
    np.testing.assert_allclose(model.coef_, machine.coef_, atol=1e-5)
    np.testing.assert_allclose(model.intercept_, machine.intercept_, atol=1e-5)
    np.testing.assert_allclose(
        model.dual_coef_[:, machine.support_], machine.dual_coef_, atol=1e-4
    )
    scores = model.decision_function(samples)
    np.testing.assert_allclose(scores, machine.decision_function(samples), atol=1e-5)
    np.testing.assert_allclose(scores, samples @ model.coef_[0] + model.intercept_)
    np.testing.assert_allclose(scores, -model.pairwise_decisions(samples)[:, 0])
    np.testing.assert_array_equal(
        model.predict(samples), model.classes_[(scores > 0).astype(int)]
    )


def test_more_classes_have_the_signs_of_svc():
    X, y = blobs(2, 4, 5)
    machine = SVC(kernel="linear", tol=1e-9, decision_function_shape="ovo").fit(X, y)
    model = DAGSVM().fit(X, y)
    np.testing.assert_allclose(model.coef_, machine.coef_, atol=1e-5)
    np.testing.assert_allclose(model.intercept_, machine.intercept_, atol=1e-5)
    np.testing.assert_allclose(
        model.pairwise_decisions(X), machine.decision_function(X), atol=1e-5
    )
    assert not hasattr(model, "decision_function")
    with pytest.raises(AttributeError, match="decision_function"):
        model.decision_function(X)


def test_raw_intensities_converge():
    """Values as an array gives them: thousands, not standardized."""
    rng = np.random.default_rng(3)
    X, y = blobs(4, 3, 50, apart=0.6)
    X = 100 + 4000 * np.exp(X / 3) * rng.uniform(0.1, 3, 50)
    model = DAGSVM().fit(X[:40], y[:40])
    _, decisions = oracle.pairwise_decisions(X[:40], y[:40], X[40:])
    for column, pair in zip(
        model.pairwise_decisions(X[40:]).T, model.pairs_, strict=True
    ):
        np.testing.assert_allclose(column, decisions[pair], atol=1e-4)


def test_linear_weights_give_the_decisions():
    X, y = blobs(5, 4, 6)
    model = DAGSVM(standardize=True).fit(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(
        Z @ model.coef_.T + model.intercept_, model.pairwise_decisions(X), atol=1e-9
    )
    assert model.dual_coef_.shape == (6, 60)
    for (a, b), row in zip(model.pairs_, model.dual_coef_, strict=True):
        assert not row[~np.isin(y, [a, b])].any()
        assert (row[y == a] >= 0).all()
        assert (row[y == b] <= 0).all()
        assert abs(row).max() <= 1.0
        assert row.sum() == pytest.approx(0, abs=1e-9)


def test_the_constant_lies_half_way_where_no_multiplier_is_free():
    """Two samples with a large margin and a tiny C: the constant is an interval."""
    X, y = np.array([[0.0], [1.0]]), [0, 1]
    model = DAGSVM(C=1e-3).fit(X, y)
    machine = SVC(kernel="linear", C=1e-3, tol=1e-10).fit(X, y)
    assert model.intercept_[0] == pytest.approx(machine.intercept_[0], abs=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3, 7, 14])
def test_a_prediction_evaluates_one_svm_less_than_classes(n_classes):
    """Machines are trained when somebody asks for them: so they can be counted."""
    X, y = blobs(3, n_classes, 6, n=5 * n_classes)
    order, start = sort_by_class(y, n_classes)
    X = X[order]
    n_pairs = n_classes * (n_classes - 1) // 2
    model = DAGSVM().fit(X, y[order])
    for sample in np.random.default_rng(4).normal(size=(10, 6)):
        asked, found = np.zeros(n_pairs, dtype=bool), np.empty(1, dtype=np.intp)
        signed, bias = np.zeros((n_pairs, len(X))), np.zeros(n_pairs)
        near, products = np.zeros(1, dtype=bool), (X @ sample)[None]
        walk(X @ X.T, products, start, 1.0, signed, bias, asked, found, near)
        assert asked.sum() == n_classes - 1
        assert found == model.predict(sample[None])


def test_a_decision_of_zero_deletes_the_last():
    X = np.array([[-1.0], [1.0]])
    model = DAGSVM().fit(X, ["a", "b"])
    assert model.pairwise_decisions([[0.0]])[0, 0] == pytest.approx(0, abs=1e-12)
    assert model.predict([[0.0]]) == ["a"]


@given(
    seed=st.integers(0, 2**32 - 1),
    n_classes=st.integers(2, 5),
    standardize=st.booleans(),
)
@settings(max_examples=20, deadline=None)
def test_nested_sizes_are_separate_fits(seed, n_classes, standardize):
    X, y = blobs(seed, n_classes, 12, n=50)
    X *= np.random.default_rng(seed).uniform(0.5, 2, 12)
    labels = np.array(list("abcde"))[y]
    sizes = [1, 2, 5, 11, 12]
    model = DAGSVM(standardize=standardize)
    split, order = (np.arange(30), np.arange(30, 50)), np.arange(12)
    (nested,) = model.predict_many(X, labels, [split], [order], sizes)
    assert not hasattr(model, "classes_")
    for size, found in zip(sizes, nested, strict=True):
        alone = DAGSVM(standardize=standardize).fit(X[:30, :size], labels[:30])
        np.testing.assert_array_equal(found, alone.predict(X[30:, :size]))
    (everything,) = model.predict_many(X, labels, [split], [order], range(1, 13))
    assert everything.shape == (12, 20)
    np.testing.assert_array_equal(everything[np.array(sizes) - 1], nested)


def test_pairs_are_numbered_as_itertools_does():
    model = DAGSVM().fit(*blobs(6, 6, 3))
    numbers = [kernels.pair_number(a, b, 6) for a, b in model.pairs_]
    assert numbers == list(range(15))


def test_the_order_of_samples_and_features_does_not_matter():
    X, y = blobs(7, 4, 6)
    samples = np.random.default_rng(8).normal(size=(50, 6))
    rng = np.random.default_rng(9)
    rows, columns = rng.permutation(60), rng.permutation(6)
    plain = DAGSVM().fit(X, y).pairwise_decisions(samples)
    moved = DAGSVM().fit(X[rows][:, columns], y[rows])
    np.testing.assert_allclose(
        moved.pairwise_decisions(samples[:, columns]), plain, atol=1e-7
    )


@pytest.mark.parametrize(
    ("parameters", "word"),
    [
        ({"C": 0}, "C=0"),
        ({"C": "1"}, "positive number"),
        ({"kernel": "cosine"}, "linear, rbf"),
        ({"gamma": "large"}, "'scale'"),
        ({"gamma": -1.0}, "positive"),
        ({"degree": -1}, "degree=-1"),
        ({"coef0": "x"}, "coef0='x'"),
    ],
)
def test_bad_parameters_are_named(parameters, word):
    with pytest.raises(InputError, match=word):
        DAGSVM(**parameters).fit([[0.0], [1.0]], [0, 1])


def test_bad_sizes_are_named():
    X, y = blobs(10, 2, 3)
    rows = np.arange(len(y))
    for sizes in ([0, 1], [1, 4], [], [1.5]):
        with pytest.raises(InputError, match="sizes"):
            DAGSVM().predict_many(X, y, [(rows, rows)], [np.arange(3)], sizes)
    with pytest.raises(InputError, match="one class"):
        DAGSVM().fit(X, np.zeros(60))


def test_features_on_different_scales_are_no_obstacle():
    """The duality gap proves the optimum; libsvm's steps do not come to an end here."""
    rng = np.random.default_rng(12)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 5)) + 0.7 * np.eye(3, 5)[y]
    X = X * [1.0, 5.0, 1000.0, 30.0, 200.0]
    model = DAGSVM().fit(X, y)
    for k, (first, second) in enumerate(model.pairs_):
        mine = (y == first) | (y == second)
        s = np.where(y[mine] == first, 1.0, -1.0)
        w, b = model.coef_[k], model.intercept_[k]
        half = 0.5 * w @ w
        primal = half + np.maximum(1 - s * (X[mine] @ w + b), 0).sum()
        dual = np.abs(model.dual_coef_[k]).sum() - half
        assert primal == pytest.approx(dual, rel=1e-7)
