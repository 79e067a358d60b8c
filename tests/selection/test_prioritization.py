"""Differential prioritization: many alphas at once, and alpha chosen by itself."""

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from tests.oracles import dagsvm as dag_oracle
from tests.oracles import incremental as oracle

from veridical._core.errors import InputError
from veridical._core.splits import stratified_split
from veridical.evaluation import CrossValidation, estimate
from veridical.learning import DAGSVM
from veridical.selection import (
    DifferentialPrioritization,
    best_alpha,
    class_accuracy,
    class_relevance,
    count_class_features,
    size_averaged_accuracy,
)

ALPHAS = [0.1, 0.3, 0.5, 0.8, 1.0]


def problem(seed=0, n=48, p=40, n_classes=4):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    X = rng.normal(size=(n, p))
    X[:, : p // 2] += rng.normal(size=(n_classes, p // 2))[y]
    X[:, 5:10] = X[:, :5] + 0.3 * X[:, 5:10]  # near copies
    return X, y


# -- many alphas ---------------------------------------------------------------------


@pytest.mark.parametrize("relevance", ["all-classes", "one-vs-all"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_path_is_a_fit_for_each_alpha(relevance, dtype):
    X, y = problem()
    X, labels = X.astype(dtype), np.array(list("abcd"))[y]
    selector = DifferentialPrioritization(7, relevance=relevance, n_searched=15)
    fitted = selector.path(X, labels, ALPHAS)
    assert not hasattr(selector, "order_")
    for alpha, one in zip(ALPHAS, fitted, strict=True):
        alone = DifferentialPrioritization(
            7, alpha=alpha, relevance=relevance, n_searched=15
        ).fit(X, labels)
        assert one.alpha == one.alpha_ == alpha
        np.testing.assert_array_equal(one.order_, alone.order_)
        np.testing.assert_array_equal(one.support_, alone.support_)
        np.testing.assert_array_equal(one.transform(X), alone.transform(X))
        np.testing.assert_array_equal(one.classes_, alone.classes_)
        if relevance == "all-classes":
            np.testing.assert_allclose(
                one.relevance_path_, alone.relevance_path_, rtol=1e-14
            )
            np.testing.assert_allclose(
                one.antiredundancy_path_, alone.antiredundancy_path_, atol=1e-14
            )
        else:
            assert not hasattr(one, "relevance_path_")


@pytest.mark.parametrize("seed", range(4))
def test_the_path_is_brute_force(seed):
    X, y = problem(seed)
    for one in DifferentialPrioritization(10, n_searched=10).path(X, y, ALPHAS):
        expected = oracle.prioritize(
            X.T.tolist(), y.tolist(), alpha=one.alpha_, n_searched=10
        )[1]
        assert one.order_.tolist() == expected


def test_the_one_vs_all_path_is_brute_force():
    X, y = problem(5, n_classes=3)
    selector = DifferentialPrioritization(9, relevance="one-vs-all", n_searched=9)
    for one in selector.path(X, y, [0.2, 0.6, 1.0]):
        expected = oracle.prioritize_one_vs_all(
            X.T.tolist(), y.tolist(), alpha=one.alpha_, n_searched=9
        )[1]
        assert one.order_.tolist() == expected


def test_an_outlier_left_out_is_handled_in_every_search():
    """In a set without its outlier a column is almost constant: centred anew."""
    X, y = problem(6)
    X[0, 3] = 1e9
    kept = np.arange(1, len(y))
    selector = DifferentialPrioritization(8, n_searched=12)
    for one in selector.path(X[kept], y[kept], ALPHAS):
        (order,) = one.rank_many(X, y, [kept])
        np.testing.assert_array_equal(order, one.order_)


def test_scaling_and_shifting_a_feature_changes_nothing():
    X, y = problem(7)
    rng = np.random.default_rng(8)
    moved = X * rng.choice([-3.0, 0.5, 8.0], X.shape[1]) + rng.integers(-9, 9, 40)
    selector = DifferentialPrioritization(10, n_searched=20)
    for plain, other in zip(
        selector.path(X, y, ALPHAS), selector.path(moved, y, ALPHAS), strict=True
    ):
        np.testing.assert_array_equal(plain.order_, other.order_)


def test_dividing_by_pairs_or_by_squares_chooses_alike():
    """U over |S|² or over |S|(|S| − 1): a common factor in every step."""
    X, y = problem(9)
    R = np.abs(np.corrcoef(X.T))
    one = DifferentialPrioritization(12, alpha=0.4, n_searched=12).fit(X, y)
    chosen = [int(one.order_[0])]
    while len(chosen) < 12:
        worth = {}
        for j in set(range(40)) - set(chosen):
            group = [*chosen, j]
            V = one.scores_[group].mean()
            U = (1 - R[np.ix_(group, group)]).sum() / (len(group) * (len(group) - 1))
            worth[j] = V**0.4 * U**0.6
        chosen.append(max(worth, key=worth.get))
    assert one.order_[:12].tolist() == chosen


# -- alpha="auto" --------------------------------------------------------------------


def naive_alpha(X, y, selector, seed):
    """Every split, alpha and size by itself, with scikit-learn's machines."""
    y = pd.factorize(y)[0]  # classes are listed as they appear
    rng = np.random.default_rng(int(np.random.RandomState(seed).randint(2**31)))
    total = np.zeros((len(selector.alphas), selector.n_searched - 1))
    for _ in range(selector.n_splits):
        train, test = stratified_split(y, 1 / 3, rng)
        for a, alpha in enumerate(selector.alphas):
            order = DifferentialPrioritization(
                selector.n_searched, alpha=alpha, n_searched=selector.n_searched
            )
            order = order.fit(X[train], y[train]).order_
            for size in range(2, selector.n_searched + 1):
                Z = X[:, order[:size]]
                Z = (Z - Z[train].mean(axis=0)) / Z[train].std(axis=0)
                named, _ = dag_oracle.predict(Z[train], y[train], Z[test])
                total[a, size - 2] += (named == y[test]).mean() / selector.n_splits
    return total.mean(axis=1)


def test_auto_is_the_naive_choice():
    X, y = problem(10, n=45, n_classes=3)
    X += np.random.default_rng(11).normal(size=X.shape)
    selector = DifferentialPrioritization(
        4, alpha="auto", alphas=(0.2, 0.6, 1.0), n_splits=3, n_searched=6,
        random_state=12,
    )  # fmt: skip
    selector.fit(X, y)
    expected = naive_alpha(X, y, selector, 12)
    np.testing.assert_allclose(selector.alpha_accuracy_, expected, atol=1e-12)
    assert selector.alpha_ == best_alpha(selector.alphas, expected)
    fixed = DifferentialPrioritization(4, alpha=selector.alpha_, n_searched=6)
    np.testing.assert_array_equal(selector.order_, fixed.fit(X, y).order_)


def test_the_default_estimator_is_dagsvm():
    X, y = problem(13)
    fits = [
        DifferentialPrioritization(
            5, alpha="auto", n_splits=2, n_searched=12, estimator=judge, random_state=0
        ).fit(X, y)
        for judge in (None, DAGSVM(standardize=True))
    ]
    np.testing.assert_allclose(fits[0].alpha_accuracy_, fits[1].alpha_accuracy_)


def test_any_classifier_as_estimator():
    X, y = problem(14)
    fitted = DifferentialPrioritization(
        5, alpha="auto", alphas=[0.3, 0.9], n_splits=2, n_searched=5,
        estimator=GaussianNB(), random_state=0,
    ).fit(X, y)  # fmt: skip
    assert fitted.alpha_accuracy_.shape == (2,)
    assert fitted.alpha_ in (0.3, 0.9, 0.6)
    with pytest.raises(InputError, match="not a classifier"):
        fitted.set_params(estimator=3).fit(X, y)


def test_rank_many_chooses_alpha_on_each_training_set_alone():
    X, y = problem(15)
    selector = DifferentialPrioritization(
        5, alpha="auto", n_splits=2, n_searched=8, random_state=3
    )
    rng = np.random.default_rng(16)
    sets = [rng.permutation(48)[:36] for _ in range(3)] + [np.arange(48)]
    orders = selector.rank_many(X, y, sets)
    for order, rows in zip(orders, sets, strict=True):
        np.testing.assert_array_equal(order, selector.fit(X[rows], y[rows]).order_)


def test_the_choice_happens_inside_the_folds():
    """An estimate equals that of fitting the pipeline on every fold by hand."""
    X, y = problem(17)
    X = X + 1.5 * np.random.default_rng(18).normal(size=X.shape)
    selector = DifferentialPrioritization(
        4, alpha="auto", n_splits=2, n_searched=6, random_state=1
    )
    pipeline = make_pipeline(selector, DAGSVM(standardize=True))
    method = CrossValidation(3)
    found = estimate(pipeline, X, y, cv=method, random_state=5)
    right = 0
    for train, test in method.split(y, 5):
        right += (pipeline.fit(X[train], y[train]).predict(X[test]) == y[test]).sum()
    assert found.value == pytest.approx(right / len(y))


def test_names_of_classes_do_not_choose():
    """The judge has a list of classes and the splits go class by class."""
    X, y = problem(20)
    X = X + 1.5 * np.random.default_rng(21).normal(size=X.shape)
    names = np.array(["zeta", "mu", "alpha", "nu"])
    selector = DifferentialPrioritization(
        5, alpha="auto", n_splits=3, n_searched=10, random_state=4
    )
    by_number = selector.fit(X, y).alpha_accuracy_
    np.testing.assert_array_equal(selector.fit(X, names[y]).alpha_accuracy_, by_number)


def test_auto_and_threads_agree():
    X, y = problem(19)
    fits = [
        DifferentialPrioritization(
            5, alpha="auto", n_splits=3, n_searched=10, random_state=4, n_jobs=n
        ).fit(X, y)
        for n in (1, 3)
    ]
    np.testing.assert_array_equal(fits[0].alpha_accuracy_, fits[1].alpha_accuracy_)
    np.testing.assert_array_equal(fits[0].order_, fits[1].order_)


@pytest.mark.parametrize(
    ("parameters", "word"),
    [
        ({"alpha": "best"}, "alpha='best'"),
        ({"alpha": 0.0}, "outside"),
        ({"alpha": "auto", "alphas": []}, "empty"),
        ({"alpha": "auto", "alphas": [0.5, 2]}, "alphas=2"),
        ({"alpha": "auto", "n_splits": 0}, "n_splits=0"),
    ],
)
def test_bad_parameters_are_named(parameters, word):
    X, y = problem()
    with pytest.raises(InputError, match=word):
        DifferentialPrioritization(3, **parameters).fit(X, y)


def test_auto_refuses_what_it_cannot_split():
    X, y = problem()
    selector = DifferentialPrioritization(3, alpha="auto")
    with pytest.raises(InputError, match="sample_weight"):
        selector.fit(X, y, sample_weight=np.ones(len(y)))
    with pytest.raises(InputError, match="single sample"):
        selector.fit(X[:3], [0, 1, 2])


# -- measures ------------------------------------------------------------------------


def test_size_averages():
    assert size_averaged_accuracy([0.5, 0.75, 1.0]) == 0.75
    assert size_averaged_accuracy([0.0, 1.0, 1.0], rule="trapezoid") == 0.75
    found = size_averaged_accuracy(np.arange(6).reshape(2, 3))
    np.testing.assert_array_equal(found, [1.0, 4.0])
    with pytest.raises(InputError, match="no sizes"):
        size_averaged_accuracy([])
    with pytest.raises(InputError, match="rule"):
        size_averaged_accuracy([1.0], rule="simpson")


def test_tied_alphas_are_averaged():
    assert best_alpha([0.1, 0.2, 0.3], [0.5, 0.9, 0.7]) == 0.2
    assert best_alpha([0.2, 0.4, 0.6], [0.9, 0.9 - 1e-10, 0.8]) == 0.3
    assert best_alpha([0.2, 0.4, 0.6], [0.9, 0.9 - 1e-8, 0.8]) == 0.2
    with pytest.raises(InputError, match="one accuracy"):
        best_alpha([0.1], [0.5, 0.6])


def test_class_accuracies_add_up_to_the_accuracy():
    rng = np.random.default_rng(20)
    truth, named = rng.integers(4, size=50), rng.integers(4, size=(7, 50))
    found = class_accuracy(truth, named)
    shares = {k: (truth == k).mean() for k in range(4)}
    total = sum(shares[k] * found[k] for k in range(4))
    assert total == pytest.approx((named == truth).mean(), abs=1e-12)
    assert np.isnan(class_accuracy(["a"], ["b"])["b"])


def test_class_relevance_by_its_definition():
    X, y = problem(21)
    found = class_relevance(X, y)
    for k in range(4):
        one, rest = X[y == k], X[y != k]
        between = len(one) * (one.mean(0) - X.mean(0)) ** 2
        between += len(rest) * (rest.mean(0) - X.mean(0)) ** 2
        within = ((one - one.mean(0)) ** 2).sum(0) + ((rest - rest.mean(0)) ** 2).sum(0)
        np.testing.assert_allclose(found[k], between / within, rtol=1e-10)


def test_with_two_classes_all_relevances_are_the_same():
    X, y = problem(22, n_classes=2)
    found = class_relevance(X, y)
    scores = DifferentialPrioritization(1).fit(X, y).scores_
    np.testing.assert_allclose(found[0], scores, rtol=1e-12)
    np.testing.assert_allclose(found[1], scores, rtol=1e-12)
    top = DifferentialPrioritization(20, alpha=1.0, n_searched=20).fit(X, y)
    assert count_class_features(found, top.order_[:20]).tolist() == [20, 20]


def test_with_two_classes_and_relevance_alone_all_hundred_serve_both():
    X, y = problem(24, p=300, n_classes=2)
    top = DifferentialPrioritization(100, alpha=1.0).fit(X, y).order_[:100]
    assert count_class_features(class_relevance(X, y), top).tolist() == [100, 100]


def test_splits_keep_class_shares_and_a_sample_to_train_on():
    rng = np.random.default_rng(23)
    codes = np.repeat([0, 1, 2, 3], [30, 9, 2, 1])
    train, test = stratified_split(codes, 1 / 3, rng)
    assert np.bincount(codes[test], minlength=4).tolist() == [10, 3, 1, 0]
    assert sorted([*train, *test]) == list(range(42))
