"""C4.5 against the rules as they read, and under renaming, shuffling, repeating."""

import inspect
import pickle
import sys
import warnings
from statistics import NormalDist

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.oracles import c45 as oracle

from veridical._core.errors import InputError
from veridical._core.reading import number_classes
from veridical.datasets import make_monks
from veridical.kernels.c45_prune import added_errors
from veridical.learning import C45


def expected_failures(estimator):
    if estimator.categorical_features == "from_dtype":
        return {}
    reason = "a dict in a nominal column is bad input, hence a ValueError as all such"
    return {"check_dtype_object": reason}


@parametrize_with_checks(
    [C45(), C45(prune=False, collapse=False), C45(categorical_features=[0])],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_conventions_hold(estimator, check):
    check(estimator)


# -- against the oracle ----------------------------------------------------------------


@st.composite
def tables(draw, max_cases=24, weights=True, holes=True):
    """A small table in which much ties: few values, few classes."""
    n = draw(st.integers(2, max_cases))
    n_classes = draw(st.integers(2, 3))
    n_values = draw(st.lists(st.sampled_from([0, 0, 2, 3]), min_size=1, max_size=4))
    columns = []
    for v in n_values:
        value = st.integers(0, v - 1 if v else 6)
        if holes:
            value = st.one_of(value, value, value, value, st.none())
        columns.append(draw(st.lists(value, min_size=n, max_size=n)))
    y = draw(st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n))
    w = [1.0] * n
    if weights and draw(st.booleans()):
        w = draw(st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=n, max_size=n))
    return list(zip(*columns, strict=True)), y, w, n_values


def as_frame(rows, n_values):
    frame = pd.DataFrame(rows, columns=[f"f{j}" for j in range(len(n_values))])
    for j, v in enumerate(n_values):
        name = f"f{j}"
        if v:
            frame[name] = pd.Categorical(frame[name], categories=range(v))
        else:
            frame[name] = frame[name].astype(float)
    return frame


def described(model, node=0):
    """Tests and class weights of the leaves, as nested tuples and lists."""
    tree = model.tree_
    if tree.n_children[node] == 0:
        return tree.value[node].tolist()
    threshold = tree.threshold[node]
    test = int(tree.feature[node]), None if np.isnan(threshold) else float(threshold)
    children = range(tree.n_nodes)[tree.children(node)]
    return test, [described(model, child) for child in children]


def described_oracle(node, labels):
    if "children" not in node:
        weights = oracle.class_weights(node["samples"])
        return [float(weights[k]) for k in labels]
    return node["test"], [described_oracle(child, labels) for child in node["children"]]


def assert_same(ours, theirs):
    assert type(ours) is type(theirs)
    if isinstance(ours, list):
        assert ours == pytest.approx(theirs, abs=1e-9)
        return
    assert ours[0] == theirs[0]
    assert len(ours[1]) == len(theirs[1])
    for our, their in zip(ours[1], theirs[1], strict=True):
        assert_same(our, their)


OPTIONS = st.fixed_dictionaries(
    {
        "confidence": st.sampled_from([0.05, 0.25, 0.5]),
        "collapse": st.booleans(),
        "prune": st.booleans(),
    }
)


@given(tables(), OPTIONS, st.sampled_from([1, 2, 3]), st.booleans())
@settings(max_examples=100, deadline=None)
def test_same_tree_as_the_oracle(table, options, least, raising):
    rows, y, w, n_values = table
    model = C45(min_samples_leaf=least, subtree_raising=raising, **options)
    model.fit(as_frame(rows, n_values), y, sample_weight=w)
    samples = list(zip(rows, y, w, strict=True))
    labels = model.classes_.tolist()
    expected = oracle.fit(
        samples, n_values, len(labels), min_weight=least, raising=raising, **options
    )
    assert_same(described(model), described_oracle(expected, labels))
    probability = model.predict_proba(as_frame(rows, n_values))
    for row, ours in zip(rows, probability, strict=True):
        theirs = oracle.probabilities(expected, row, 3)
        np.testing.assert_allclose(ours, [theirs[k] for k in labels], atol=1e-9)


def mixed(n, seed, hole=0.1):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    numbers = (rng.normal(size=(n, 3)) + y[:, None] * [1, 0.5, 0]).round(1)
    names = np.column_stack(
        [(y + rng.integers(2, size=n)) % 3, rng.integers(4, size=n)]
    )
    holes = rng.random((n, 5)) < hole
    table = np.where(holes, np.nan, np.column_stack([numbers, names]))
    return table, y, rng


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("options", [{}, {"confidence": 0.01}, {"prune": False}])
def test_same_tree_as_the_oracle_on_more_samples(seed, options):
    X, y, _ = mixed(150, seed)
    model = C45(categorical_features=[3, 4], **options).fit(X, y)
    rows = [
        tuple(
            None if np.isnan(v) else (int(v) if j > 2 else v) for j, v in enumerate(r)
        )
        for r in X
    ]
    n_values = [0, 0, 0, 3, 4]
    samples = list(zip(rows, y.tolist(), [1.0] * len(y), strict=True))
    expected = oracle.fit(samples, n_values, 3, **options)
    assert_same(described(model), described_oracle(expected, [0, 1, 2]))
    assert model.n_leaves_ > 1
    theirs = [oracle.probabilities(expected, row, 3) for row in rows]
    np.testing.assert_allclose(model.predict_proba(X), theirs, atol=1e-9)


@pytest.mark.parametrize("hole", [0.0, 0.02])
@pytest.mark.parametrize("options", [{}, {"prune": False}])
def test_categorical_features_counted_in_pairs(hole, options):
    """Where samples abound, two columns with few names are counted together."""
    rng = np.random.default_rng(7)
    n, n_values = 900, [3, 4, 2, 2, 3]
    X = np.column_stack([rng.integers(v, size=n) for v in n_values]).astype(float)
    y = (X[:, 0] + X[:, 1] * X[:, 3] + rng.integers(2, size=n) > 2).astype(int)
    X[rng.random(X.shape) < hole] = np.nan
    rows = [tuple(None if np.isnan(v) else int(v) for v in row) for row in X]
    expected = oracle.fit(
        list(zip(rows, y.tolist(), [1.0] * n, strict=True)), n_values, 2, **options
    )
    model = C45(categorical_features=range(5), **options).fit(X, y)
    assert_same(described(model), described_oracle(expected, [0, 1]))
    assert model.n_leaves_ > 5


@given(st.floats(0.1, 500), st.floats(0, 1), st.sampled_from([0.01, 0.1, 0.25, 0.5]))
def test_added_errors_are_those_of_the_oracle(n, share, confidence):
    z = NormalDist().inv_cdf(1 - confidence)
    rules = oracle.Rules([], [], 2, confidence, 2, True)
    ours = added_errors(n, share * n, confidence, z)
    assert ours == pytest.approx(rules.added(n, share * n), abs=1e-9)
    assert -1e-9 <= ours <= n


def test_added_errors_in_quinlans_book():
    # Section 4.2: U25%(0, 6) = 0.206, U25%(0, 9) = 0.143, U25%(0, 1) = 0.750
    z = 0.6744897501960817
    for n, rate in ((6, 0.206), (9, 0.143), (1, 0.750)):
        assert added_errors(n, 0, 0.25, z) / n == pytest.approx(rate, abs=5e-4)


# -- invariances -----------------------------------------------------------------------


@given(tables(), st.randoms(use_true_random=False))
@settings(max_examples=80, deadline=None)
def test_order_of_rows_does_not_matter(table, random):
    rows, y, w, n_values = table
    places = list(range(len(y)))
    random.shuffle(places)
    X = as_frame(rows, n_values)
    model = C45().fit(X, y, sample_weight=w)
    shuffled = C45().fit(
        X.iloc[places], [y[i] for i in places], sample_weight=[w[i] for i in places]
    )
    assert_same(described(shuffled), described(model))


@given(tables(weights=False), st.data())
@settings(max_examples=80, deadline=None)
def test_weights_count_samples(table, data):
    rows, y, _, n_values = table
    counts = st.lists(st.integers(0, 3), min_size=len(y), max_size=len(y))
    w = np.array(data.draw(counts.filter(any)))
    X, y = as_frame(rows, n_values), np.array(y)
    repeated = np.repeat(np.arange(len(y)), w)
    weighted = C45().fit(X, y, sample_weight=w)
    assert_same(
        described(weighted), described(C45().fit(X.iloc[repeated], y[repeated]))
    )


@given(tables())
@settings(max_examples=50, deadline=None)
def test_names_of_labels_do_not_matter(table):
    rows, y, w, n_values = table
    X = as_frame(rows, n_values)
    numbers = C45().fit(X, y, sample_weight=w)
    words = np.array(["ant", "bee", "cat"])[y]
    named = C45().fit(X, words, sample_weight=w)
    assert_same(described(named), described(numbers))
    expected = np.array(["ant", "bee", "cat"])[numbers.predict(X)]
    assert named.predict(X).tolist() == expected.tolist()


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1e6, 1e200])
def test_scale_of_a_feature_does_not_matter(scale):
    X, y, _ = mixed(150, 1, hole=0)
    X = X[:, :3]
    model, scaled = (C45(prune=False).fit(table, y) for table in (X, X * scale))
    assert model.n_leaves_ > 3
    np.testing.assert_array_equal(scaled.tree_.feature, model.tree_.feature)
    np.testing.assert_array_equal(scaled.tree_.value, model.tree_.value)


def test_features_in_another_order_where_nothing_ties():
    X, y, rng = mixed(300, 2)
    X[:, :3] += rng.normal(size=(300, 3)) * 1e-3
    order = [4, 2, 0, 3, 1]
    model = C45(categorical_features=[3, 4]).fit(X, y)
    moved = C45(categorical_features=[0, 3]).fit(X[:, order], y)
    np.testing.assert_allclose(moved.predict_proba(X[:, order]), model.predict_proba(X))
    inner = model.tree_.feature >= 0
    moved_features = np.array(order)[moved.tree_.feature[inner]]
    np.testing.assert_array_equal(moved_features, model.tree_.feature[inner])


def test_ties_go_to_the_first_feature():
    x = np.arange(10.0)
    model = C45().fit(np.column_stack([x, x]), x > 4)
    assert model.tree_.feature.tolist() == [0, -1, -1]


# -- what the tree says ----------------------------------------------------------------


def test_threshold_is_a_value_of_the_training_data():
    # At the right child the middle between 3 and 8 is 5.5; 5 is in the other branch.
    X = [[0, 3], [0, 3], [0, 3], [0, 8], [0, 8], [0, 8]] + [[9, 5]] * 6
    y = ["a"] * 3 + ["b"] * 3 + ["c"] * 6
    model = C45().fit(X, y)
    assert model.tree_.threshold[0] == 0
    assert model.tree_.threshold[1] == 5
    assert model.predict([[0, 5], [0, 5.5]]).tolist() == ["a", "b"]


def test_missing_values_go_down_all_branches():
    X = pd.DataFrame({"t": ["p"] * 6 + ["q"] * 3 + [None]})
    y = ["a"] * 6 + ["b"] * 3 + ["b"]
    model = C45(prune=False).fit(X, y)
    np.testing.assert_allclose(model.tree_.value, [[6, 4], [6, 2 / 3], [0, 10 / 3]])
    np.testing.assert_allclose(model.tree_.share, [1, 2 / 3, 1 / 3])
    new = pd.DataFrame({"t": ["p", "q", None, "never seen"]})
    unknown = 2 / 3 * 0.9
    np.testing.assert_allclose(
        model.predict_proba(new)[:, 0], [0.9, 0, unknown, unknown]
    )


def test_branch_without_samples_takes_its_parents_shares():
    colour = pd.Categorical(["r"] * 4 + ["g"] * 2, categories=["b", "g", "r"])
    model = C45().fit(pd.DataFrame({"c": colour}), [0] * 4 + [1] * 2)
    assert (model.n_leaves_, model.n_nodes_) == (3, 4)
    new = pd.DataFrame({"c": pd.Categorical(["b"], categories=["b", "g", "r"])})
    np.testing.assert_allclose(model.predict_proba(new), [[2 / 3, 1 / 3]])
    assert model.export_text() == "c = b: 0 (0)\nc = g: 1 (2)\nc = r: 0 (4)"


def test_many_valued_names_stay_out_of_the_average():
    # 12 of 20 samples have a name of their own; its gain would lift the average so far
    # that the useful column could not be chosen.
    rng = np.random.default_rng(3)
    y = np.arange(20) % 2
    useful = np.where(rng.random(20) < 0.8, y, 1 - y).astype(float)
    ident = np.arange(20) % 12
    X = pd.DataFrame({"id": ident.astype(str), "useful": useful})
    rows = [(int(np.unique(X["id"]).tolist().index(i)), u) for i, u in X.to_numpy()]
    expected = oracle.fit(
        list(zip(rows, y.tolist(), [1.0] * 20, strict=True)), [12, 0], 2
    )
    model = C45().fit(X, y)
    assert_same(described(model), described_oracle(expected, [0, 1]))


def test_raising_puts_the_largest_branch_in_place():
    raised, kept = [], []
    for seed in range(10):
        X, y, _ = mixed(200, seed)
        with_, without = (
            C45(subtree_raising=on, categorical_features=[3, 4]).fit(X, y)
            for on in (True, False)
        )
        raised.append(with_.n_nodes_)
        kept.append(without.n_nodes_)
    assert raised != kept


def test_monks_1_is_learned_where_data_abound():
    X, y = make_monks(1, 2000, random_state=0)
    assert C45(categorical_features=range(6)).fit(X, y).score(X, y) == 1


def test_text_of_a_tree():
    X = pd.DataFrame({"mass": [1.0, 2.0, 3.0, 8.0, 9.0, 9.5], "t": list("pqpqpq")})
    y = ["light"] * 3 + ["heavy"] * 3
    model = C45().fit(X, y)
    assert model.export_text() == "mass <= 3: light (3)\nmass > 3: heavy (3)"
    assert model.export_text(max_depth=0) == "... heavy (6/3)"
    leaf = C45().fit(X[["t"]], ["a", "a", "b", "b", "b", "b"])
    assert leaf.export_text() == "b (6/2)"
    assert C45().fit(X[["mass"]].to_numpy(), y).export_text().startswith("x0 <= 3: ")


# -- shape and size --------------------------------------------------------------------


def test_deep_trees_need_no_recursion():
    """Each test cuts off two samples of the first class, so the tree is p / 2 deep."""
    p = 400
    block = np.repeat(np.arange(p), 2)
    X = block[:, None] == np.arange(p)
    model = C45(categorical_features=range(p))
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 150)
    try:
        model.fit(X, block % 2)
        unpruned = clone(model).set_params(prune=False).fit(X, block % 2)
        lines = unpruned.export_text().count("\n") + 1
    finally:
        sys.setrecursionlimit(limit)
    assert unpruned.n_nodes_ == p + 1
    assert lines == p
    assert max(depth for _, depth, _ in unpruned.tree_.walk()) == p / 2
    assert unpruned.score(X, block % 2) == 1


@pytest.mark.parametrize("n_classes", [2, 30])
def test_many_features_few_samples(n_classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3000))
    y = np.arange(60) % n_classes
    model = C45(min_samples_leaf=1, prune=False).fit(X, y)
    assert model.score(X, y) > 0.5


def test_one_sample_one_class_constant_features():
    assert C45().fit([[1.0]], ["only"]).predict([[5.0]]).tolist() == ["only"]
    model = C45().fit(np.ones((10, 2)), np.arange(10) % 2)
    assert model.n_nodes_ == 1
    np.testing.assert_allclose(model.predict_proba([[1, 2]]), [[0.5, 0.5]])
    empty = C45().fit(np.full((10, 2), np.nan), np.arange(10) % 2)
    assert empty.n_nodes_ == 1
    nothing = pd.DataFrame({"t": pd.Series([None] * 10, dtype="str")})
    assert C45().fit(nothing, np.arange(10) % 2).n_nodes_ == 1


def test_kinds_of_input_agree():
    X, y, _ = mixed(120, 0)
    model = C45(categorical_features=[3, 4]).fit(X, y)
    names = ["a", "b", "c", "d", "e"]
    frame = pd.DataFrame(X, columns=names)
    for name in ("d", "e"):
        text = frame[name].map(lambda v: None if np.isnan(v) else f"v{int(v)}")
        frame[name] = text.astype("str")
    expected = model.predict_proba(X)
    for table in (frame, frame.astype({"d": "category"}), pl.from_pandas(frame)):
        other = C45().fit(table, y)
        np.testing.assert_allclose(other.predict_proba(table), expected)
    chosen = C45(categorical_features=["d", "e"]).fit(frame, y)
    np.testing.assert_allclose(chosen.predict_proba(frame), expected)
    assert chosen.feature_names_in_.tolist() == names
    single = C45(categorical_features=[3, 4]).fit(X.astype(np.float32), y)
    assert single.n_nodes_ == model.n_nodes_


def test_input_is_left_alone_and_the_model_travels():
    X, y, _ = mixed(80, 0)
    X.setflags(write=False)
    model = C45(categorical_features=[3, 4]).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert_same(described(clone(model).fit(X, y)), described(model))
    assert cross_val_score(model, X, y).mean() > 0.5


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"confidence": 0.6}, r"confidence=0.6 must be positive and at most 0.5"),
        ({"confidence": 0}, r"confidence=0 must be"),
        ({"confidence": "low"}, r"confidence='low' must be"),
        ({"min_samples_leaf": 0}, r"min_samples_leaf=0 must be a positive number"),
        ({"min_samples_leaf": np.nan}, r"min_samples_leaf=nan must be"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(InputError, match=message):
        C45(**parameters).fit([[1], [2]], [0, 1])


def test_bad_tables_are_refused():
    with pytest.raises(InputError, match=r"holds 'text'.*category dtype"):
        C45().fit(np.array([["text", 1], ["b", 2]], dtype=object), [0, 1])
    with pytest.raises(InputError, match="infinite"):
        C45().fit([[1.0], [np.inf]], [0, 1])
    with pytest.raises(InputError, match="no label in row 1"):
        C45().fit([[1.0], [2.0]], ["a", None])
    with pytest.raises(ValueError, match="Negative values"):
        C45().fit([[1.0], [2.0]], [0, 1], sample_weight=[1, -1])
    with pytest.raises(ValueError, match="Unknown label type"):
        C45().fit([[1.0], [2.0]], [0.5, 1.7])


@pytest.mark.parametrize("dtype", ["i1", "i4", "i8", "u1", "u8", "f8", "U3", "O", "?"])
@pytest.mark.parametrize("labels", [[0, 1, 1, 0], [5, 0, 9, 5], [1, 1], [4095, 4096]])
def test_classes_are_numbered_as_numpy_would(labels, dtype):
    with np.errstate(all="ignore"):
        y = np.array(labels).astype(dtype)
    classes, codes = number_classes(y)
    expected = np.unique(y, return_inverse=True)
    np.testing.assert_array_equal(classes, expected[0])
    np.testing.assert_array_equal(codes, expected[1])
    assert classes.dtype == expected[0].dtype


def test_negative_labels_are_numbered_too():
    classes, codes = number_classes(np.array([3, -1, 3]))
    assert (classes.tolist(), codes.tolist()) == ([-1, 3], [1, 0, 1])


def test_weights_that_sum_to_one_allow_no_split():
    X, y = np.arange(20.0)[:, None], [0] * 10 + [1] * 10
    with pytest.warns(UserWarning, match="of 20 samples sum to 1, but a split needs 4"):
        light = C45().fit(X, y, sample_weight=np.full(20, 0.05))
    assert light.n_leaves_ == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert C45().fit(X, y, sample_weight=np.ones(20)).n_leaves_ == 2
        C45().fit(X[9:12], y[9:12])  # few samples are no fault of the weights
