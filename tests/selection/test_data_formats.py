"""Data as people keep them: frames, sparse and single-precision matrices, files."""

import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from tests.selection.problems import AROUND_ZERO, Problem, examples, labels
from tests.selection.rows import ROWS, each_selector

from veridical.selection import AnovaF, DifferentialPrioritization, InformationGain

RNG = np.random.default_rng(20)
Y = labels(RNG, 40, 3)
X = (RNG.normal(size=(40, 6)) + np.outer(Y, [0, 1, 0, 2, 0.5, 0])).round(2)
NAMES = ["a", "b", "c", "d", "e", "f"]
NUMBERS = Problem(X, np.zeros(6, dtype=bool), Y)


def make(row, **more):
    """The selector of a row, which finds categorical features by itself."""
    return row.selector(**{"n_features_to_select": 2, **row.parameters, **more})


def assert_same(fitted, reference):
    assert fitted.order_.tolist() == reference.order_.tolist()
    if hasattr(reference, "scores_"):
        np.testing.assert_array_equal(fitted.scores_, reference.scores_)


# -- frames --------------------------------------------------------------------------

frames = pytest.mark.parametrize(
    "frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"]
)


@each_selector()
@pytest.mark.parametrize(
    "frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"]
)
def test_frames_of_numbers(row, frame):
    table = frame(dict(zip(NAMES, X.T, strict=True)))
    fitted = make(row).fit(table, Y)
    reference = make(row).fit(X, Y)
    assert_same(fitted, reference)
    assert fitted.feature_names_in_.tolist() == NAMES
    chosen = [NAMES[j] for j in sorted(reference.order_[:2])]
    assert fitted.get_feature_names_out().tolist() == chosen
    assert not hasattr(reference, "feature_names_in_")
    assert fitted.rank_many(table, Y, [np.arange(20), Y > 0])[0].tolist() == (
        make(row).fit(X[:20], Y[:20]).order_.tolist()
    )


@each_selector()
@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_frames_come_out_where_asked_for(row, backend):
    frame = {"pandas": pd.DataFrame, "polars": pl.DataFrame}[backend]
    table = frame(dict(zip(NAMES, X.T, strict=True)))
    selector = make(row).set_output(transform=backend)
    out = selector.fit_transform(table, Y)
    assert isinstance(out, frame)
    assert list(out.columns) == selector.get_feature_names_out().tolist()
    np.testing.assert_array_equal(out.to_numpy(), X[:, selector.get_support()])


@each_selector("categorical")
@frames
def test_features_keep_their_data_types(row, frame):
    words = np.where(Y > 0, "high", "low")
    table = frame({"a": X[:, 0], "word": words, "count": np.arange(40)})
    backend = "pandas" if frame is pd.DataFrame else "polars"
    selector = make(row, n_features_to_select=3).set_output(transform=backend)
    out = selector.fit_transform(table, Y)
    assert dict(zip(out.columns, out.dtypes, strict=True)) == dict(
        zip(table.columns, table.dtypes, strict=True)
    )
    assert out.equals(table)


@each_selector("categorical")
@pytest.mark.parametrize(
    "frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"]
)
def test_categorical_features_by_data_type_are_those_named(row, frame):
    words = np.array(["low", "middle", "high"], dtype=object)[(Y + (X[:, 0] > 0)) % 3]
    words[[3, 8]] = None
    table = frame({"a": X[:, 0], "word": words, "b": X[:, 1], "flag": X[:, 2] > 0.5})
    fitted = make(row).fit(table, Y)
    codes = np.array([{"low": 5.0, "middle": 2.0, "high": 9.0}.get(w) for w in words])
    plain = np.column_stack([X[:, 0], codes.astype(float), X[:, 1], X[:, 2] > 0.5])
    reference = make(row, categorical_features=[1, 3]).fit(plain, Y)
    assert fitted.order_.tolist() == reference.order_.tolist()
    np.testing.assert_allclose(fitted.scores_, reference.scores_, rtol=0, atol=1e-14)
    if frame is pd.DataFrame:
        categories = table.assign(
            word=pd.Categorical(words, categories=["high", "unseen", "low", "middle"])
        )
        assert_close(make(row).fit(categories, Y), reference)
        by_name = make(row, categorical_features=["word", "flag"]).fit(table, Y)
        assert_close(by_name, reference)
    folds = [np.arange(40) % 4 != f for f in range(4)]
    many = make(row).rank_many(table, Y, folds)
    for fold, order in zip(folds, many, strict=True):
        part = make(row, categorical_features=[1, 3]).fit(plain[fold], Y[fold])
        assert order.tolist() == part.order_.tolist()


def assert_close(fitted, reference):
    assert fitted.order_.tolist() == reference.order_.tolist()
    np.testing.assert_allclose(fitted.scores_, reference.scores_, rtol=0, atol=1e-14)


@each_selector()
@pytest.mark.parametrize(
    "container",
    [list, tuple, pd.Series, lambda y: pl.Series(y.tolist()), pd.Categorical],
    ids=["list", "tuple", "pandas", "polars", "categorical"],
)
@pytest.mark.parametrize("frame", [np.asarray, pd.DataFrame], ids=["array", "frame"])
def test_labels_in_any_container(row, container, frame):
    names = np.array(["no", "maybe", "yes"])[Y]
    fitted = make(row).fit(frame(X), container(names))
    assert fitted.order_.tolist() == make(row).fit(X, Y).order_.tolist()
    assert fitted.classes_.tolist() == ["maybe", "no", "yes"]


@each_selector()
def test_a_feature_vector_of_labels_is_taken_with_a_warning(row):
    with pytest.warns(UserWarning, match="column-vector"):
        fitted = make(row).fit(X, Y[:, None])
    assert_same(fitted, make(row).fit(X, Y))


# -- layout and precision ------------------------------------------------------------


@each_selector()
@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint16, bool])
def test_whole_numbers(row, dtype):
    whole = np.clip(np.round(2 * X), 0, 1 if dtype is bool else 9).astype(dtype)
    assert_same(make(row).fit(whole, Y), make(row).fit(whole.astype(float), Y))


@each_selector()
def test_memory_layout(row):
    reference = make(row).fit(X, Y)
    wide = np.full((80, 12), np.pi)
    wide[::2, ::2] = X
    for same in (np.asfortranarray(X), wide[::2, ::2], X[::-1][::-1], X.tolist()):
        assert_same(make(row).fit(same, Y), reference)


@each_selector()
def test_single_precision(row):
    """Numbers that single precision holds exactly give exactly the same."""
    single = X.astype(np.float32)
    assert_same(make(row).fit(single, Y), make(row).fit(single.astype(float), Y))
    folds = [np.flatnonzero(np.arange(40) % 5 != f) for f in range(5)]
    for a, b in zip(
        make(row).rank_many(single, Y, folds),
        make(row).rank_many(single.astype(float), Y, folds),
        strict=True,
    ):
        assert a.tolist() == b.tolist()
    assert make(row).fit(single, Y).transform(single).dtype == np.float32


@each_selector()
def test_input_is_neither_changed_nor_needs_to_be_writable(row, tmp_path):
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert not mapped.flags.writeable
    locked = Y.copy()
    locked.setflags(write=False)
    assert_same(make(row).fit(mapped, locked), make(row).fit(X, Y))
    assert make(row).rank_many(mapped, locked, [np.arange(30)])[0].size == 6
    for order in "CF":
        mine = np.array(X + 1000, order=order)  # far from zero: kernels may shift it
        make(row).fit(mine, Y)
        np.testing.assert_array_equal(mine, X + 1000)


@each_selector()
def test_one_feature(row):
    fitted = make(row, n_features_to_select=1).fit(X[:, [3]], Y)
    assert fitted.order_.tolist() == [0]
    assert fitted.rank_many(X[:, [3]], Y, [np.arange(30)])[0].tolist() == [0]


@each_selector()
def test_fitting_again_forgets(row):
    selector = make(row).fit(X, Y)
    selector.fit(X[:, :3], np.where(Y > 0, "p", "q"))
    assert selector.order_.size == selector.n_features_in_ == 3
    assert selector.classes_.tolist() == ["p", "q"]


@each_selector()
def test_in_a_pipeline(row):
    pipeline = make_pipeline(make(row), GaussianNB())
    assert cross_val_score(pipeline, X, Y, cv=4).mean() > 0.5


# -- memory --------------------------------------------------------------------------


def peak(work):
    """Bytes allocated by numpy and Python above what was there before."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["AnovaF", "Correlation", "InformationGain"])
def test_single_precision_is_not_copied_to_double(name):
    row = next(row for row in ROWS if row.name == name)
    big = np.random.default_rng(21).normal(size=(500, 20_000)).astype(np.float32)
    y = np.arange(500) % 2
    make(row).fit(X, Y)  # compiled
    used = peak(lambda: make(row, n_jobs=1).fit(big, y))
    assert used < big.nbytes / 2, (
        f"{used / 1e6:.0f} MB on top of {big.nbytes / 1e6:.0f}"
    )


# -- sparse --------------------------------------------------------------------------


@each_selector("sparse")
@pytest.mark.parametrize(
    "container",
    [sparse.csr_array, sparse.csc_array, sparse.csr_matrix, sparse.csc_matrix],
)
@given(data=st.data())
@examples(10)
def test_sparse_is_dense(row, container, data):
    # Sparse columns lie around zero; others had better be dense. A machine on columns
    # of very different scales (which SVMRFE advises against) feels every rounding.
    wild = AROUND_ZERO if row.wild else ()
    problem = data.draw(
        row.problems(categorical=False, missing=False, wild=wild, max_rows=20)
    )
    assume(len(problem.y) >= row.min_rows)
    selector = row.make(problem)
    dense = np.where(np.abs(problem.X) < 0.5, 0.0, problem.X)
    matrix = container(dense)
    reference = selector.fit(dense, problem.y)
    order, scores = reference.order_.tolist(), getattr(reference, "scores_", None)
    fitted = selector.fit(matrix, problem.y)
    assert fitted.order_.tolist() == order
    if scores is not None:
        np.testing.assert_array_equal(fitted.scores_, scores)
    half = np.flatnonzero(np.arange(problem.y.size) % 3 != 0)
    if np.unique(problem.y[half]).size > 1 and half.size >= row.min_rows:
        sets = [half, np.arange(problem.y.size)]
        for a, b in zip(
            selector.rank_many(matrix, problem.y, sets),
            selector.rank_many(dense, problem.y, sets),
            strict=True,
        ):
            assert a.tolist() == b.tolist()
    out = selector.transform(matrix)
    assert sparse.issparse(out)
    np.testing.assert_array_equal(out.toarray(), dense[:, selector.get_support()])


@pytest.mark.parametrize("name", ["AnovaF", "Correlation", "InformationGain", "MRMR"])
def test_sparse_features_far_from_zero(name):
    """Spreads of a millionth of the values: means must not swallow the digits."""
    row = next(row for row in ROWS if row.name == name)
    rng = np.random.default_rng(14)
    y = np.arange(50) % 3
    X = rng.normal(size=(50, 30)) + np.outer(y, rng.random(30))
    X[:, ::3] = 1e8 + X[:, ::3]
    selector = make(row)
    order = selector.fit(X, y).order_
    np.testing.assert_array_equal(selector.fit(sparse.csc_array(X), y).order_, order)


@each_selector("sparse")
def test_sparse_whole_numbers_and_repeated_entries(row):
    counts = sparse.coo_array(
        ([1, 2, 3, 1, 4], ([0, 0, 5, 7, 39], [1, 1, 2, 3, 3])), shape=(40, 6)
    )
    fitted = make(row).fit(counts.tocsr(), Y)
    assert_same(fitted, make(row).fit(counts.toarray(), Y))


@pytest.mark.parametrize("name", ["AnovaF", "Correlation", "InformationGain", "MRMR"])
@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csc_array])
def test_repeated_entries_are_added_up(name, container):
    """SciPy lets an entry stand more than once, in any order."""
    row = next(row for row in ROWS if row.name == name)
    rng = np.random.default_rng(3)
    n, p, m = 60, 8, 400
    places = rng.integers(0, n, m), rng.integers(0, p, m)
    entries = sparse.coo_array((rng.normal(size=m), places), shape=(n, p))
    once = container(entries)
    major, minor = places if container is sparse.csr_array else places[::-1]
    order = np.argsort(major, kind="stable")
    ends = np.searchsorted(major[order], np.arange(len(once.indptr)))
    twice = container((entries.data[order], minor[order], ends), shape=(n, p))
    assert not twice.has_canonical_format
    y = np.arange(n) % 3
    fitted = make(row).fit(twice, y)
    np.testing.assert_allclose(
        fitted.scores_, make(row).fit(twice.toarray(), y).scores_, rtol=1e-12
    )


@each_selector("sparse")
def test_a_sparse_matrix_of_the_user_stays_as_it_is(row):
    entries = sparse.coo_array(
        ([1.0, 2, 3, 1, 4], ([5, 0, 0, 7, 39], [1, 1, 2, 3, 3])), shape=(40, 6)
    ).tocsc()
    twice = sparse.csc_array(
        (np.repeat(entries.data, 2), np.repeat(entries.indices, 2), 2 * entries.indptr),
        shape=entries.shape,
    )
    before = twice.copy()
    make(row).fit(twice, Y)
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(twice, part), getattr(before, part))


def test_features_of_a_sparse_matrix_are_no_categories():
    X_sparse = sparse.csr_array(np.eye(len(Y)))
    for chosen in ([0], np.arange(len(Y)) == 2):
        with pytest.raises(ValueError, match=r"its features are numbers"):
            InformationGain(categorical_features=chosen).fit(X_sparse, Y)
    InformationGain(categorical_features=np.zeros(len(Y), dtype=bool)).fit(X_sparse, Y)


@pytest.mark.parametrize("name", ["AnovaF", "InformationGain", "MRMR", "ReliefF"])
def test_a_sparse_matrix_is_never_made_dense(name):
    """5,000 × 20,000 cells would be 800 MB; the entries are 1.6 MB."""
    row = next(row for row in ROWS if row.name == name)
    n = 5_000 if name == "AnovaF" else 1_000  # still 160 MB
    rng = np.random.default_rng(22)
    y, entries = np.arange(n) % 2, 100_000
    rows, columns = rng.integers(0, n, entries), rng.integers(10, 20_000, entries)
    matrix = sparse.csr_array((np.ones(entries), (rows, columns)), shape=(n, 20_000))
    likes_class = sparse.csr_array(
        (np.ones(n // 2), (np.flatnonzero(y), np.full(n // 2, 7))), shape=matrix.shape
    )
    make(row).fit(X, Y)  # compiled
    selector = make(row, n_features_to_select=1, n_jobs=1)
    used = peak(lambda: selector.fit(matrix + likes_class, y))
    assert selector.order_[0] == 7
    assert used < 50e6, f"{used / 1e6:.0f} MB"


def test_true_and_false_are_numbers_where_categories_are_not_understood():
    X = pd.get_dummies(pd.DataFrame({"a": list("xyzx"), "b": [0.1, 0.2, 0.4, 0.3]}))
    y = [0, 1, 1, 0]
    expected = AnovaF().fit(X.astype(float), y).scores_
    np.testing.assert_array_equal(AnovaF().fit(X, y).scores_, expected)


def test_ranking_many_leaves_the_selector_as_it_was():
    X = np.random.default_rng(0).normal(size=(20, 6))
    y = np.arange(20) % 2
    for fitted in (False, True):
        selector = DifferentialPrioritization(2)
        if fitted:
            selector.fit(X, y)
        before = dict(vars(selector))
        selector.rank_many(X[:, :4], y, [np.arange(10)])
        assert vars(selector) == before


def test_seven_hundred_classes():
    y = np.repeat(np.arange(700), 3)
    X = y[:, None] + np.random.default_rng(0).uniform(0, 0.1, size=(2100, 1))
    assert InformationGain().fit(X, y).scores_[0] > 9
