"""Variances within and between classes against exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from tests.oracles import selection as oracle
from tests.selection.problems import examples, problems, train_sets

from veridical._core.table import Table
from veridical.criteria.anova import variances
from veridical.kernels.trainsets import TrainSets


def parts(X, y, sets, **options):
    data = Table.from_arrays(X, np.zeros(X.shape[1], dtype=bool), y)
    return variances(data, sets, 1, **options)


def assert_close(got, wanted, size):
    """Right to a few last places, or to nothing beside the column's size."""
    slack = abs(wanted) * Fraction(1, 2**50) + size * Fraction(1, 2**90)
    assert abs(Fraction(float(got)) - wanted) <= slack


@given(problem=problems(), data=st.data())
@examples(80)
def test_sums_of_squares_of_every_training_set(problem, data):
    rows = data.draw(train_sets(problem.y))
    index = [np.flatnonzero(r) if r.dtype == bool else r for r in rows]
    if not index:
        return
    got = parts(problem.X, problem.y, TrainSets.from_indices(index, len(problem.y)))
    for s, chosen in enumerate(index):
        y = problem.y[chosen].tolist()
        for j, x in enumerate(problem.X[chosen].T.tolist()):
            within, between = oracle.sums_of_squares(x, y)
            size = sum(Fraction(v) ** 2 for v in x)
            assert_close(got.within[s, j], within, size)
            assert_close(got.between[s, j], between, size)


@given(problem=problems())
@examples(40)
def test_sums_of_squares_of_each_class_against_the_rest(problem):
    sets = TrainSets.all_rows(len(problem.y))
    got = parts(problem.X, problem.y, sets, against=True)
    for k in range(int(problem.y.max()) + 1):
        y = (problem.y == k).tolist()
        for j, x in enumerate(problem.X.T.tolist()):
            _, between = oracle.sums_of_squares(x, y)
            size = sum(Fraction(v) ** 2 for v in x)
            assert_close(got.against[0, k, j], between, size)


def test_constant_features_have_no_variance_at_all():
    y = np.arange(90) % 3
    X = np.full((90, 4), [0.1, 1e300 / 7, -1 / 3, 0.0])
    X[:, 1] = 1e100 / 7
    folds = [np.flatnonzero(np.arange(90) % 10 != f) for f in range(10)]
    got = parts(X, y, TrainSets.from_indices(folds, 90))
    assert not got.within.any()
    assert not got.between.any()


def test_features_constant_within_classes_vary_only_between():
    y = np.arange(90) % 3
    X = np.array([[0.1, 1 / 3], [0.3, 1 / 3], [1e-3, 1 / 7]])[y]
    folds = [np.flatnonzero(np.arange(90) % 10 != f) for f in range(10)]
    got = parts(X, y, TrainSets.from_indices(folds, 90))
    assert not got.within.any()
    assert (got.between > 0).all()


def test_weights_need_not_be_whole():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 2
    weight = rng.random(30)
    got = parts(X, y, TrainSets.from_counts(weight))
    mean = np.average(X, axis=0, weights=weight)
    total = weight @ (X - mean) ** 2
    within = np.zeros(3)
    for k in (0, 1):
        w = weight[y == k]
        centre = np.average(X[y == k], axis=0, weights=w)
        within += w @ (X[y == k] - centre) ** 2
    np.testing.assert_allclose(got.within[0], within, rtol=1e-13)
    np.testing.assert_allclose(got.between[0], total - within, rtol=1e-11)


@pytest.mark.parametrize("rows", [1, 3, 257])
def test_blocks_of_any_width_give_the_same(rows, monkeypatch):
    from veridical.kernels import columns

    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(rows + 3, 50)), np.arange(rows + 3) % 2
    sets = TrainSets.all_rows(rows + 3)
    whole = parts(X, y, sets)
    monkeypatch.setattr(columns, "BLOCK_BYTES", 8 * (rows + 3) * 7)
    pieces = parts(X, y, sets)
    np.testing.assert_array_equal(whole.within, pieces.within)
    np.testing.assert_array_equal(whole.between, pieces.between)


@pytest.mark.parametrize("layout", ["C", "F", "csc", "unsorted"])
def test_every_layout_and_scale_gives_the_same_bits(layout):
    """Tiles of dense features, single features and stored values agree bit by bit."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 120)
    X = rng.normal(size=(120, 40)) * (rng.random((120, 40)) < 0.3)
    X[:, 1] = rng.normal(1e6, 1.0, 120)  # far from zero: all values are stored
    X[:, 2] *= 1e200  # squares overflow
    X[:, 3] *= 1e-200  # squares vanish
    X[7, 4] = 1e9  # an outlier, left out in one fold
    X[:, 5] = 0.0
    folds = [np.flatnonzero(np.arange(120) % 10 != f) for f in range(10)]
    sets = TrainSets.from_indices(
        [*folds, np.arange(60), rng.integers(0, 120, 120)], 120
    )
    given = {"C": np.ascontiguousarray, "F": np.asfortranarray}
    values = given.get(layout, sparse.csc_matrix)(X)
    if layout == "unsorted":
        for j in range(40):
            part = slice(values.indptr[j], values.indptr[j + 1])
            values.indices[part] = values.indices[part][::-1].copy()
            values.data[part] = values.data[part][::-1].copy()
        values.has_sorted_indices = False
    got = parts(values, y, sets, against=True)
    for j in range(40):  # one feature at a time, of the dense matrix
        alone = parts(X[:, [j]], y, sets, against=True)
        np.testing.assert_array_equal(got.within[:, j], alone.within[:, 0])
        np.testing.assert_array_equal(got.between[:, j], alone.between[:, 0])
        np.testing.assert_array_equal(got.against[..., j], alone.against[..., 0])


@pytest.mark.parametrize("n_threads", [1, 3])
def test_rows_that_are_stored_sum_as_columns_do(n_threads):
    """One set of all rows is summed row by row, many sets feature by feature."""
    rng = np.random.default_rng(9)
    n, p = 200, 70
    X = rng.normal(size=(n, p)) * (rng.random((n, p)) < 0.2)
    X[:, 3] = 1e8 + rng.normal(size=n)  # all stored, far from zero
    X[:, 5] *= 1e200
    X[:, 6] *= 1e-200
    X[:, 7] = 0.0
    y = np.arange(n) % 3
    nothing = np.zeros(p, dtype=bool)
    by_row = Table.from_arrays(sparse.csr_array(X), nothing, y)
    by_column = Table.from_arrays(sparse.csc_array(X), nothing, y)
    sets = TrainSets.all_rows(n)
    got = variances(by_row, sets, n_threads, against=True)
    wanted = variances(by_column, sets, 1, against=True)
    for name in ("within", "between", "against"):
        np.testing.assert_array_equal(getattr(got, name), getattr(wanted, name))
    half = TrainSets.from_indices([np.arange(0, n, 2)], n)
    np.testing.assert_array_equal(
        variances(by_row, half, n_threads).within, variances(by_column, half, 1).within
    )
