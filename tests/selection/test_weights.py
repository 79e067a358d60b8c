"""Weights are numbers of copies, whatever the selector, alone or for many sets."""

import numpy as np
import pytest
import sklearn
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_selection import RFE
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from tests.selection.problems import Problem, examples, labels, train_sets
from tests.selection.rows import ROWS, each, each_selector

from veridical._core.errors import InputError
from veridical._core.table import Table
from veridical.selection import (
    HSIC,
    MRMR,
    SELECTORS,
    SVMRFE,
    AnovaF,
    Correlation,
    DifferentialPrioritization,
    MDLDiscretizer,
    ReliefF,
    selectors_for,
)
from veridical.selection._base import Selector
from veridical.selection._inputs import Abilities

pytestmark = pytest.mark.filterwarnings("ignore:Some features are constant within")

seeds = st.integers(0, 2**32 - 1)


def draw_weights(row, n, seed):
    """Weights of every sort that the selector reads, some of them 0."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 4, n).astype(float)
    if row.weights == "any" and rng.random() < 0.5:
        weights *= rng.random(n) * 10 + 0.5
    return weights


def plain_problem(n=30, p=6, n_classes=3, seed=12):
    rng = np.random.default_rng(seed)
    y = labels(rng, n, n_classes)
    return Problem(rng.normal(size=(n, p)) + 0.3 * y[:, None], np.zeros(p, bool), y)


# -- equal to repeating, and to leaving out --------------------------------------------
# (test_invariance.py has the test of whole weights against copies.)


@each("weights")
@given(data=st.data(), seed=seeds)
@examples(8)
def test_many_training_sets_with_weights_give_what_fitting_each_gives(row, data, seed):
    problem = data.draw(row.problems(max_rows=20))
    weights = draw_weights(row, problem.y.size, seed)
    y = problem.y
    sets = [
        np.arange(y.size)[rows]
        for rows in data.draw(train_sets(y, row.min_rows))
        if np.unique(y[rows][weights[rows] > 0]).size > 1
        and weights[rows].sum() >= max(row.min_rows, y.max() + 1)
    ]
    assume(sets)
    orders = row.make(problem).rank_many(problem.X, y, sets, sample_weight=weights)
    for rows, order in zip(sets, orders, strict=True):
        one = row.make(problem)
        one.fit(problem.X[rows], y[rows], sample_weight=weights[rows])
        assert order.tolist() == one.order_.tolist()


@each("weights")
@given(data=st.data(), seed=seeds)
@examples(8)
def test_a_sample_of_weight_0_is_left_out(row, data, seed):
    problem = data.draw(row.problems(max_rows=20))
    weights = draw_weights(row, problem.y.size, seed)
    kept = np.flatnonzero(weights)
    n_classes = np.unique(problem.y[kept]).size
    assume(n_classes > 1 and weights.sum() >= max(row.min_rows, n_classes))
    with_zeros = row.make(problem).fit(problem.X, problem.y, sample_weight=weights)
    without = row.make(problem)
    without.fit(problem.X[kept], problem.y[kept], sample_weight=weights[kept])
    assert with_zeros.order_.tolist() == without.order_.tolist()
    if hasattr(without, "scores_"):
        y = np.repeat(problem.y, np.ceil(weights).astype(int))
        np.testing.assert_allclose(
            with_zeros.scores_, without.scores_, **row.tolerance(y)
        )


@each("weights")
def test_a_table_with_weights_is_read_as_such(row):
    problem = plain_problem()
    weights = np.arange(30) % 3.0
    table = Table.from_arrays(problem.X, problem.categorical, problem.y)
    selector = row.make(problem)
    weighted = clone(selector).fit(problem.X, problem.y, sample_weight=weights)
    found = clone(selector).fit_table(table.replace(weights=weights))
    assert found.order_.tolist() == weighted.order_.tolist()
    (order,) = selector.rank_table(table.replace(weights=weights), [np.arange(30)])
    assert order.tolist() == weighted.order_.tolist()


def test_drawn_samples_of_relieff_are_drawn_from_the_copies():
    problem = plain_problem()
    weights = np.arange(30) % 4
    rows = np.repeat(np.arange(30), weights)
    selector = ReliefF(2, n_samples=9, random_state=4)
    weighted = clone(selector).fit(problem.X, problem.y, sample_weight=weights)
    copied = clone(selector).fit(problem.X[rows], problem.y[rows])
    np.testing.assert_allclose(weighted.scores_, copied.scores_, atol=1e-12)
    (order,) = selector.rank_many(
        problem.X, problem.y, [np.arange(30)], sample_weight=weights
    )
    assert order.tolist() == weighted.order_.tolist()


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_heavy_weights_of_hsic_cost_no_copies(kernel):
    """Ten million copies would not fit into memory."""
    problem = plain_problem(n=20)
    heavy = HSIC(1, kernel=kernel).fit(problem.X, problem.y, np.full(20, 500_000))
    plain = HSIC(1, kernel=kernel).fit(problem.X, problem.y)
    assert heavy.order_[0] == plain.order_[0]


def test_cuts_with_weights_are_those_of_copies():
    rng = np.random.default_rng(5)
    y = np.arange(60) % 2
    X = np.column_stack([rng.normal(size=60) + y, rng.integers(0, 5, 60) + 2 * y])
    X[::7, 0] = np.nan
    weights = rng.integers(0, 4, 60)
    rows = np.repeat(np.arange(60), weights)
    weighted = MDLDiscretizer().fit(X, y, sample_weight=weights)
    copied = MDLDiscretizer().fit(X[rows], y[rows])
    for got, wanted in zip(weighted.cut_points_, copied.cut_points_, strict=True):
        np.testing.assert_array_equal(got, wanted)
    assert sum(cuts.size for cuts in copied.cut_points_) > 0


def test_a_sample_of_weight_0_brings_no_category():
    X = np.array([["a"], ["b"], ["a"], ["b"], ["new"]], dtype=object)
    cut = MDLDiscretizer(categorical_features=[0])
    cut.fit(X, [0, 1, 0, 1, 1], sample_weight=[1, 2, 1, 1, 0])
    assert cut.categories_[0].tolist() == ["a", "b"]
    with pytest.raises(InputError, match="whole numbers"):
        cut.fit(X, [0, 1, 0, 1, 1], sample_weight=[1, 2, 1, 0.5, 1])


def test_the_svm_multiplies_C_by_the_weight():
    rng = np.random.default_rng(8)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 6)) + 0.5 * y[:, None] * rng.random(6)
    weights = rng.random(40) * 3

    class Weighted(SVC):
        def fit(self, X, y):
            return super().fit(X, y, sample_weight=weights)

    wanted = RFE(Weighted(kernel="linear", tol=1e-9), n_features_to_select=1).fit(X, y)
    found = SVMRFE(1).fit(X, y, sample_weight=weights)
    assert found.ranking_.tolist() == wanted.ranking_.tolist()


# -- scale ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "row",
    [r for r in ROWS if r.weights == "any" and r.target == "classes"],
    ids=lambda row: row.name,
)
def test_the_scale_of_weights(row):
    """Where any numbers are read, their scale changes no order but by the SVM's C."""
    problem = plain_problem()
    weights = np.random.default_rng(3).random(30) + 0.5
    fitted = [
        row.make(problem).fit(problem.X, problem.y, sample_weight=weights * factor)
        for factor in (1.0, 8.0)
    ]
    if row.selector is SVMRFE:
        larger = row.make(problem, C=8.0)
        larger.fit(problem.X, problem.y, sample_weight=weights)
        assert fitted[1].order_.tolist() == larger.order_.tolist()
        return
    assert fitted[0].order_.tolist() == fitted[1].order_.tolist()
    first, second = (one.scores_ for one in fitted)
    frequency = row.name in ("AnovaF", "MRMR", "MRMR-2-searched")
    factor = (8 * weights.sum() - 3) / (weights.sum() - 3) if frequency else 1.0
    np.testing.assert_allclose(second, factor * first, rtol=1e-12)


@pytest.mark.parametrize("selector", [AnovaF(), MRMR()])
def test_weights_that_sum_to_less_than_a_sample_per_class(selector):
    problem = plain_problem()
    weights = np.full(30, 1 / 30)
    with pytest.raises(InputError, match=r"sums to 1, .* 3 classes.*multiply"):
        selector.fit(problem.X, problem.y, sample_weight=weights)
    found = Correlation(2).fit(problem.X, problem.y, sample_weight=weights)
    plain = Correlation(2).fit(problem.X, problem.y)
    assert found.order_.tolist() == plain.order_.tolist()
    np.testing.assert_allclose(found.scores_, plain.scores_, rtol=1e-12)


@given(seed=seeds)
@examples(20)
def test_a_feature_constant_within_classes_stays_so_with_fractions(seed):
    rng = np.random.default_rng(seed)
    y = labels(rng, 20, 3)
    X = np.column_stack([np.array([0.1, 5.0, 7.3])[y], rng.normal(size=20)])
    fitted = AnovaF(1).fit(X, y, sample_weight=rng.random(20) * 3 + 0.3)
    assert np.isinf(fitted.scores_[0])
    assert fitted.order_[0] == 0


# -- messages ------------------------------------------------------------------------


@each_selector("weights")
def test_weights_of_each_kind_that_cannot_be_used(row):
    problem = plain_problem()
    for weights, words in [
        (np.ones(29), "give one weight for each sample"),
        (-np.ones(30), "Negative values in sample_weight"),
        (np.full(30, np.nan), "NaN in sample_weight"),
        (np.full(30, np.inf), "Infinite values in sample_weight"),
        (np.zeros(30), "at least one non-zero weight"),
        (problem.y == 1, r"every sample of class 0, 2, which leaves one class"),
    ]:
        with pytest.raises(InputError, match=words):
            row.make(problem).fit(problem.X, problem.y, sample_weight=weights)
        with pytest.raises(InputError, match=words):
            row.make(problem).rank_many(
                problem.X, problem.y, [np.arange(30)], sample_weight=weights
            )


@each_selector("weights")
def test_a_training_set_that_weights_leave_with_one_class(row):
    problem = plain_problem()
    weights = np.ones(30)
    weights[:10] = problem.y[:10] == 1
    with pytest.raises(InputError, match=r"Training set 1 .* positive sample_weight"):
        row.make(problem).rank_many(
            problem.X, problem.y, [np.arange(30), np.arange(10)], sample_weight=weights
        )


@each_selector("weights")
def test_fractions_where_samples_are_counted(row):
    problem = plain_problem()
    weights = np.ones(30)
    weights[4] = 2.5
    if row.weights == "any":
        fitted = row.make(problem).fit(problem.X, problem.y, sample_weight=weights)
        assert fitted.n_features_ == 1
        return
    words = rf"{row.selector.__name__} counts .* row 4 has 2.5; .*\(AnovaF, Correlation"
    with pytest.raises(InputError, match=words):
        row.make(problem).fit(problem.X, problem.y, sample_weight=weights)
    weights[4] = 3e8
    with pytest.raises(InputError, match=r"sum to 3e\+08, more than"):
        row.make(problem).fit(problem.X, problem.y, sample_weight=weights)


class Unweighted(AnovaF):
    """A selector whose statistic knows no weights."""

    _abilities = Abilities()


def test_a_selector_without_weights_says_so_and_names_others():
    problem = plain_problem()
    with pytest.raises(InputError, match=r"Unweighted cannot use .*\(AnovaF, Corr"):
        Unweighted().fit(problem.X, problem.y, sample_weight=np.ones(30))
    assert Unweighted(2).fit(problem.X, problem.y).n_features_ == 2
    assert Selector._abilities.weights == "none"


def test_a_path_with_weights():
    problem = plain_problem()
    weights = np.random.default_rng(1).random(30) + 0.5
    selector = DifferentialPrioritization(2)
    for one in selector.path(problem.X, problem.y, [0.3, 1.0], weights):
        alone = clone(one).fit(problem.X, problem.y, sample_weight=weights)
        assert one.order_.tolist() == alone.order_.tolist()


# -- scikit-learn's metadata routing -------------------------------------------------


@pytest.mark.parametrize("name", selectors_for("classes"))
def test_weights_reach_a_selector_in_a_pipeline(name):
    problem = plain_problem(n=60)
    weights = np.random.default_rng(4).integers(0, 3, 60)
    alone = SELECTORS[name](2).fit(problem.X, problem.y, sample_weight=weights)
    with sklearn.config_context(enable_metadata_routing=True):
        selector = SELECTORS[name](2).set_fit_request(sample_weight=True)
        classifier = LogisticRegression().set_fit_request(sample_weight=False)
        classifier.set_score_request(sample_weight=False)
        pipeline = make_pipeline(selector, classifier)
        pipeline.fit(problem.X, problem.y, sample_weight=weights)
        assert pipeline[0].order_.tolist() == alone.order_.tolist()
        result = cross_validate(
            pipeline,
            problem.X,
            problem.y,
            cv=3,
            params={"sample_weight": weights},
            return_estimator=True,
            return_indices=True,
        )
        for fitted, rows in zip(
            result["estimator"], result["indices"]["train"], strict=True
        ):
            again = SELECTORS[name](2)
            again.fit(problem.X[rows], problem.y[rows], sample_weight=weights[rows])
            assert fitted[0].order_.tolist() == again.order_.tolist()
