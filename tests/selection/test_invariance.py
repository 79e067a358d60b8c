"""What must not matter does not matter: order, names, scale, threads."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.selection.problems import Problem, examples, labels
from tests.selection.rows import each

from veridical.selection import SELECTORS

pytestmark = pytest.mark.filterwarnings("ignore:Some features are constant within")

seeds = st.integers(0, 2**32 - 1)


def fit(row, problem, **more):
    return row.make(problem, **more).fit(problem.X, problem.y)


def assert_same(row, fitted, reference, y):
    """The same order to the last place, the same scores up to rounding."""
    assert fitted.order_.tolist() == reference.order_.tolist()
    if hasattr(reference, "scores_"):
        np.testing.assert_allclose(
            fitted.scores_, reference.scores_, **row.tolerance(y)
        )


@each()
@given(data=st.data(), seed=seeds)
@examples(12)
def test_the_order_of_the_rows(row, data, seed):
    problem = data.draw(row.problems(max_rows=30))
    rows = np.random.default_rng(seed).permutation(problem.y.size)
    assert_same(row, fit(row, problem.take(rows)), fit(row, problem), problem.y)


@each("oracle")
@given(data=st.data(), seed=seeds)
@examples(12)
def test_the_order_of_the_features(row, data, seed):
    """Scores move with their columns; so does the order, but for ties."""
    problem = data.draw(row.problems())
    columns = np.random.default_rng(seed).permutation(problem.categorical.size)
    moved = Problem(problem.X[:, columns], problem.categorical[columns], problem.y)
    here, there = fit(row, problem), fit(row, moved)
    if hasattr(here, "scores_"):
        np.testing.assert_allclose(
            there.scores_, here.scores_[columns], **row.tolerance(problem.y)
        )
    assume(row.has_no_ties(problem, moved, columns))
    assert columns[there.order_].tolist() == here.order_.tolist()


@each()
@pytest.mark.parametrize(
    "names",
    [
        np.array(["f", "e", "d", "c", "b", "a"]),
        np.array(["ä", "", "z", "1", "None", "nan"], dtype=object),
        np.array([10, -3, 7, 0, 99, 5]),
    ],
    ids=["reversed", "odd strings", "numbers"],
)
@given(data=st.data())
@examples(6)
def test_the_names_of_the_classes(row, names, data):
    problem = data.draw(row.problems(max_rows=30))
    renamed = Problem(problem.X, problem.categorical, names[problem.y])
    fitted = fit(row, renamed)
    assert_same(row, fitted, fit(row, problem), problem.y)
    present = set(names[np.unique(problem.y)].tolist())
    assert set(fitted.classes_.tolist()) == present


@each("affine")
@given(data=st.data(), seed=seeds)
@examples(12)
def test_scaling_numbers_by_powers_of_two_changes_no_bit(row, data, seed):
    problem = data.draw(row.problems(max_rows=30))
    power = np.random.default_rng(seed).integers(-20, 21, problem.categorical.size)
    X = problem.X * np.where(problem.categorical, 1.0, 2.0**power)
    scaled = fit(row, Problem(X, problem.categorical, problem.y))
    reference = fit(row, problem)
    assert scaled.order_.tolist() == reference.order_.tolist()
    if hasattr(reference, "scores_"):
        np.testing.assert_array_equal(scaled.scores_, reference.scores_)


@each("affine")
@given(data=st.data(), seed=seeds)
@examples(12)
def test_shifting_and_stretching_numbers(row, data, seed):
    """On a grid, where ``a x + b`` is exact and equal values stay equal."""
    problem = data.draw(row.problems(wild=(), max_rows=30))
    numbers = ~problem.categorical
    X = problem.X.copy()
    X[:, numbers] = np.round(4 * X[:, numbers]) / 4
    rng = np.random.default_rng(seed)
    signs = [1, -1] if row.affine == "any" else [1]
    stretch = rng.choice(signs, numbers.size) * rng.integers(1, 1000, numbers.size)
    moved = np.where(numbers, X * stretch + rng.integers(-500, 501, numbers.size), X)
    assert_same(
        row,
        fit(row, Problem(moved, problem.categorical, problem.y)),
        fit(row, Problem(X, problem.categorical, problem.y)),
        problem.y,
    )


@each()
@given(data=st.data())
@examples(6)
def test_the_number_of_threads_changes_no_bit(row, data):
    problem = data.draw(row.problems(max_rows=30))
    assert_bitwise(row, problem)


@each()
def test_the_number_of_threads_changes_no_bit_of_wide_data(row):
    rng = np.random.default_rng(11)
    y = labels(rng, 60, 4)
    p = 700 if row.oracle else 70
    X = rng.normal(size=(60, p)) + np.outer(y, rng.random(p) < 0.1)
    X[:, ::2] = X[:, ::2].round(1)
    assert_bitwise(row, Problem(X, np.zeros(p, dtype=bool), y))


def assert_bitwise(row, problem):
    one, two = fit(row, problem, n_jobs=1), fit(row, problem, n_jobs=2)
    assert one.order_.tolist() == two.order_.tolist()
    if hasattr(one, "scores_"):
        np.testing.assert_array_equal(one.scores_, two.scores_)
    sets = [np.delete(np.arange(problem.y.size), i) for i in range(3)]
    y = problem.y
    sets = [r for r in sets if np.unique(y[r]).size > 1 and r.size >= row.min_rows]
    many = [row.make(problem, n_jobs=n) for n in (1, 2)]
    orders = [m.rank_many(problem.X, problem.y, sets) for m in many]
    for a, b in zip(*orders, strict=True):
        assert a.tolist() == b.tolist()


@each("weights")
@given(data=st.data(), seed=seeds)
@examples(12)
def test_a_whole_weight_is_a_number_of_copies(row, data, seed):
    problem = data.draw(row.problems(max_rows=20))
    weight = np.random.default_rng(seed).integers(0, 4, problem.y.size)
    rows = np.repeat(np.arange(problem.y.size), weight)
    assume(np.unique(problem.y[rows]).size > 1 and rows.size >= row.min_rows)
    weighted = row.make(problem).fit(problem.X, problem.y, sample_weight=weight)
    copied = row.make(problem).fit(problem.X[rows], problem.y[rows])
    assert_same(row, weighted, copied, problem.y[rows])
    if hasattr(copied, "pvalues_"):
        np.testing.assert_allclose(weighted.pvalues_, copied.pvalues_, rtol=1e-9)


@each("weights")
def test_equal_weights_are_no_weights(row):
    rng = np.random.default_rng(12)
    y = labels(rng, 30, 3)
    problem = Problem(rng.normal(size=(30, 6)) + y[:, None], np.zeros(6, bool), y)
    weighted = row.make(problem).fit(problem.X, y, sample_weight=np.ones(30))
    plain = fit(row, problem)
    assert weighted.order_.tolist() == plain.order_.tolist()
    if hasattr(plain, "scores_"):
        np.testing.assert_array_equal(weighted.scores_, plain.scores_)


@pytest.mark.parametrize("name", ["anova", "correlation"])
@pytest.mark.parametrize("power", [-1000, -520, 520, 1000])
def test_numbers_whose_squares_no_double_can_hold(name, power):
    rng = np.random.default_rng(3)
    y = np.arange(40) % 3
    X = rng.normal(size=(40, 5)) + np.outer(y, [1, 0.5, 0.2, 0, 0])
    selector = SELECTORS[name](2)
    reference = selector.fit(X, y).scores_.copy()
    scaled = X.copy()
    scaled[:, [0, 3]] = np.ldexp(X[:, [0, 3]], power)
    np.testing.assert_array_equal(selector.fit(scaled, y).scores_, reference)
    scaled[7, 1] = 1e300  # left out below
    rows = np.delete(np.arange(40), 7)
    (order,) = selector.rank_many(scaled, y, [rows])
    np.testing.assert_array_equal(order, selector.fit(X[rows], y[rows]).order_)
