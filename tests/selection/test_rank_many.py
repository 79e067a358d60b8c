"""``rank_many`` gives exactly what fitting on each training set would give."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.selection.problems import Problem, examples, labels, train_sets
from tests.selection.rows import each

pytestmark = pytest.mark.filterwarnings("ignore:Some features are constant within")


def by_fitting(row, problem, sets):
    return [
        row.make(problem).fit(problem.X[rows], problem.y[rows]).order_ for rows in sets
    ]


def assert_same_orders(row, problem, sets):
    orders = row.make(problem).rank_many(problem.X, problem.y, sets)
    for rows, got, wanted in zip(
        sets, orders, by_fitting(row, problem, sets), strict=True
    ):
        assert got.tolist() == wanted.tolist(), f"rows {np.asarray(rows).tolist()}"


@each()
@given(data=st.data())
@examples(25)
def test_many_training_sets_give_what_fitting_each_gives(row, data):
    problem = data.draw(row.problems(max_rows=30))
    assert_same_orders(row, problem, data.draw(train_sets(problem.y, row.min_rows)))


@each()
def test_wide_data_by_ten_folds_and_leave_one_out(row):
    rng = np.random.default_rng(3)
    y = labels(rng, 40, 3)
    p = 300 if row.oracle else 30  # what eliminates step by step takes its time
    X = rng.normal(size=(40, p)) + np.outer(y, rng.random(p) < 0.2)
    X[:, ::3] = X[:, ::3].round(1)  # ties among values, and among scores
    X[:, 1::10] = X[:, ::30].repeat(3, axis=1) * 3
    problem = Problem(X, np.zeros(p, dtype=bool), y)
    every = np.arange(40)
    folds = [np.flatnonzero(every % 10 != f) for f in range(10)]
    single = [np.delete(every, i) for i in range(0, 40, 1 if row.oracle else 4)]
    assert_same_orders(row, problem, folds + single)


@each()
@pytest.mark.parametrize("size", [1e6, 1e12, 1e18, 1e30])
def test_a_left_out_outlier_leaves_no_trace(row, size):
    """Sums over all rows drown in the outlier; the fold without it must not."""
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1], 10)
    x = rng.normal(size=20) + 2 * y
    X = np.column_stack([x / 7, rng.normal(size=20) + 3 * y, 3 * x, x, rng.random(20)])
    X[3, [0, 2, 3]] = size
    problem = Problem(X, np.zeros(5, dtype=bool), y)
    assert_same_orders(row, problem, [np.delete(np.arange(20), 3)])


@each()
def test_one_left_out_at_a_time_and_one_of_them_an_outlier(row):
    """What most sets share holds the outlier; the set without it must not notice."""
    left = [1, 2, 1, 0, 3, 0, 1, 2, 2, 0, 4, 3, 4, 0, 3, 1, 2, 4, 1, 3, 0]
    right = [2, 4, 0, 1, 0, 5, 1, 1e20, 0, 1, 0, 1, 3, 0, 1, 0, 0, 1, 2, 0, 2]
    y = np.array([0, 3, 2, 0, 1, 3, 3, 3, 0, 3, 1, 1, 2, 2, 3, 0, 1, 1, 0, 3, 1])
    X = np.column_stack([np.array(left) / 4, right])
    problem = Problem(X, np.zeros(2, dtype=bool), y)
    assert_same_orders(row, problem, [np.delete(np.arange(21), i) for i in range(21)])


@each()
def test_a_class_may_be_absent_and_rows_may_be_counted_from_the_end(row):
    rng = np.random.default_rng(6)
    y = np.arange(24) % 4
    problem = Problem(rng.normal(size=(24, 6)) + y[:, None] % 3, np.zeros(6, bool), y)
    assert_same_orders(
        row,
        problem,
        [np.flatnonzero(y != 2), np.flatnonzero(y < 2), -1 - np.arange(15)],
    )


@each("missing")
def test_what_is_missing_only_outside_the_training_set_does_not_matter(row):
    rng = np.random.default_rng(7)
    y = np.arange(30) % 2
    X = rng.integers(0, 4, (30, 5)) + y[:, None] * rng.integers(0, 2, 5) * 1.0
    X[:3] = np.nan
    problem = Problem(X, np.array([False, True, False, True, False]), y)
    assert_same_orders(row, problem, [np.arange(3, 30), np.arange(2, 30)])


@each()
def test_any_iterable_of_lists_will_do_and_none_gives_none(row):
    rng = np.random.default_rng(8)
    y = np.arange(20) % 2
    problem = Problem(rng.normal(size=(20, 3)) + y[:, None], np.zeros(3, bool), y)
    selector = row.make(problem)
    sets = (list(range(lo, lo + 10)) for lo in (0, 5))
    got = selector.rank_many(problem.X.tolist(), y.tolist(), sets)
    wanted = by_fitting(row, problem, [np.arange(10), np.arange(5, 15)])
    assert [order.tolist() for order in got] == [order.tolist() for order in wanted]
    assert selector.rank_many(problem.X, y, []) == []
    assert not hasattr(selector, "order_"), "ranking many sets fits nothing"
