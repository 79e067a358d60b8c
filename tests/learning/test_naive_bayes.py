"""Naive Bayes on mixed tables: against peers, by hand, and under renaming."""

from math import log, pi, sqrt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from veridical._core.errors import InputError
from veridical.datasets import make_monks
from veridical.learning import C45, NaiveBayes


def expected_failures(estimator):
    if estimator.categorical_features == "from_dtype":
        return {}
    reason = "a dict in a nominal column is bad input, hence a ValueError as all such"
    return {"check_dtype_object": reason}


@parametrize_with_checks(
    [NaiveBayes(), NaiveBayes(zero_counts="laplace"), NaiveBayes([0])],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_conventions_hold(estimator, check):
    check(estimator)


def numbers(n=60, p=4, seed=0, n_classes=3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n, p)) * 10.0 ** np.arange(p) + y[:, None]
    return X, y, rng


def mixed(n=80, seed=0):
    """A table with both kinds of columns, holes in both, and three classes."""
    X, y, rng = numbers(n, 2, seed)
    frame = pd.DataFrame(X, columns=["a", "b"])
    frame["colour"] = rng.choice(["red", "green", "blue"], n)
    frame["grade"] = pd.Categorical(rng.choice([1, 2, 3], n), categories=[3, 1, 2, 9])
    frame["flag"] = rng.random(n) < 0.3 + 0.2 * y
    holes = rng.random((n, 4)) < 0.15
    frame = frame.mask(np.column_stack([holes, np.zeros(n, bool)]))
    return frame, np.array(["u", "v", "w"])[y], rng


# -- against peers ---------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_numbers_as_gaussian_nb(weighted):
    X, y, rng = numbers()
    weights = rng.random(60) if weighted else None
    ours = NaiveBayes().fit(X, y, sample_weight=weights)
    theirs = GaussianNB(var_smoothing=0).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(ours.theta_, theirs.theta_, rtol=1e-12)
    np.testing.assert_allclose(ours.var_, theirs.var_, rtol=1e-12)
    new = X + rng.normal(size=X.shape)
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(new), theirs.predict_joint_log_proba(new)
    )
    np.testing.assert_allclose(ours.predict_proba(new), theirs.predict_proba(new))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("as_text", [False, True])
def test_names_as_categorical_nb(weighted, as_text):
    rng = np.random.default_rng(0)
    X, new = rng.integers(4, size=(90, 5)), rng.integers(4, size=(40, 5))
    y = rng.integers(3, size=90)
    weights = rng.random(90) if weighted else None
    theirs = CategoricalNB(alpha=1).fit(X, y, sample_weight=weights)
    ours = NaiveBayes(range(5), zero_counts="laplace")
    text = np.array(["p", "q", "r", "s"], dtype=object)
    table, new_table = (text[X], text[new]) if as_text else (X, new)
    ours.fit(table, y, sample_weight=weights)
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(new_table), theirs.predict_joint_log_proba(new)
    )


def test_features_of_different_scales_all_count():
    # GaussianNB adds a share of the largest variance to each: here it goes blind.
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    small = y + 0.1 * rng.normal(size=200)
    X = np.column_stack([small, 1e9 * rng.normal(size=200)])
    assert NaiveBayes().fit(X, y).score(X, y) == 1
    assert GaussianNB().fit(X, y).score(X, y) < 0.8


# -- by hand ---------------------------------------------------------------------------


def gaussian(x, values, floor=0.0):
    mean = sum(values) / len(values)
    variance = sum((v - mean) ** 2 for v in values) / len(values)
    variance = max(variance, floor)
    return -0.5 * (x - mean) ** 2 / variance - log(sqrt(2 * pi * variance))


HAND_X = pd.DataFrame(
    {
        "size": [1.0, 3.0, None, 10.0, 14.0],
        "colour": ["red", "red", "blue", "blue", None],
    }
)
HAND_Y = np.array(["a", "a", "a", "b", "b"])


@pytest.mark.parametrize(
    ("size", "colour", "expected"),
    [
        (
            2.5,
            "red",  # never red in b: 0.5 / 5
            (
                log(3 / 5) + gaussian(2.5, [1, 3]) + log(2 / 3),
                log(2 / 5) + gaussian(2.5, [10, 14]) + log(0.5 / 5),
            ),
        ),
        (
            None,
            "blue",
            (log(3 / 5) + log(1 / 3), log(2 / 5) + log(1 / 1)),
        ),
        (
            11.0,
            "never seen",
            (
                log(3 / 5) + gaussian(11, [1, 3]),
                log(2 / 5) + gaussian(11, [10, 14]),
            ),
        ),
        (None, None, (log(3 / 5), log(2 / 5))),
    ],
)
def test_log_probabilities_by_hand(size, colour, expected):
    model = NaiveBayes().fit(HAND_X, HAND_Y)
    case = pd.DataFrame({"size": [size], "colour": [colour]}).astype({"size": float})
    np.testing.assert_allclose(model.predict_joint_log_proba(case), [expected])
    probability = np.exp(expected) / np.exp(expected).sum()
    np.testing.assert_allclose(model.predict_proba(case), [probability])
    assert model.predict(case) == ["ab"[int(np.argmax(expected))]]


def test_hand_computed_laplace():
    model = NaiveBayes(zero_counts="laplace").fit(HAND_X, HAND_Y)
    assert model.categories_[1].tolist() == ["blue", "red"]
    expected = np.log([[2 / 5, 3 / 5], [2 / 3, 1 / 3]])
    np.testing.assert_allclose(model.feature_log_prob_[1], expected)
    assert model.feature_log_prob_[0] is None
    assert np.isnan(model.theta_[:, 1]).all()


def test_constant_within_a_class_is_floored():
    X = np.array([[1.0], [1.0], [1.0], [2.0], [4.0], [6.0]])
    y = [0, 0, 0, 1, 1, 1]
    model = NaiveBayes(min_std=0.01).fit(X, y)
    assert model.var_[0, 0] == pytest.approx(1e-4 * X.var())
    assert model.var_[1, 0] == pytest.approx(8 / 3)
    assert model.predict([[1.0], [1.5]]).tolist() == [0, 1]


@pytest.mark.parametrize("value", [0.0, 0.1, 1e15 + 0.3])
def test_constant_feature_says_nothing(value):
    X, y, rng = numbers(p=2)
    wide = np.insert(X, 1, value, axis=1)
    without = NaiveBayes().fit(X, y)
    model = NaiveBayes().fit(wide, y)
    np.testing.assert_array_equal(model.predict_proba(wide), without.predict_proba(X))
    wide[:, 1] = rng.normal(size=60)
    np.testing.assert_array_equal(model.predict_proba(wide), without.predict_proba(X))
    pieces = NaiveBayes()
    wide[:, 1] = value
    for rows in np.array_split(rng.permutation(60), 3):
        pieces.partial_fit(wide[rows], y[rows], classes=[0, 1, 2])
    np.testing.assert_array_equal(pieces.var_[:, 1], 0)


def test_feature_unknown_in_one_class_takes_the_distribution_of_all():
    X = pd.DataFrame(
        {"n": [1.0, 2.0, 6.0, None, None], "t": ["p", "p", "q", None, None]}
    )
    model = NaiveBayes().fit(X, ["a", "a", "a", "b", "b"])
    np.testing.assert_allclose(model.theta_[:, 0], [3, 3])
    np.testing.assert_allclose(model.var_[0], model.var_[1])
    np.testing.assert_allclose(model.feature_log_prob_[1], np.log([[2 / 3, 1 / 3]] * 2))
    np.testing.assert_allclose(model.predict_proba(X), [[0.6, 0.4]] * 5)


def test_wholly_missing_features_say_nothing():
    X, y, _ = mixed()
    empty = X.assign(x=np.nan, t=pd.Categorical([None] * len(X), categories=["k"]))
    nothing = empty.assign(t=pd.Series([None] * len(X), dtype="str"))
    expected = NaiveBayes().fit(X, y).predict_proba(X)
    for table in (empty, nothing):
        for zero_counts in ("0.5/n", "laplace"):
            model = NaiveBayes(zero_counts=zero_counts).fit(table, y)
            if zero_counts == "0.5/n":
                np.testing.assert_allclose(model.predict_proba(table), expected)
            assert np.isfinite(model.predict_proba(table)).all()


# -- weights and batches ---------------------------------------------------------------


@pytest.mark.parametrize("zero_counts", ["0.5/n", "laplace"])
def test_weights_count_samples(zero_counts):
    X, y, rng = mixed()
    weights = rng.integers(4, size=len(y))
    rows = np.repeat(np.arange(len(y)), weights)
    weighted = NaiveBayes(zero_counts=zero_counts).fit(X, y, sample_weight=weights)
    repeated = NaiveBayes(zero_counts=zero_counts).fit(X.iloc[rows], y[rows])
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X))


def test_weightless_samples_bring_no_categories():
    X = pd.DataFrame({"t": ["p", "q", "p", "new"]})
    model = NaiveBayes(zero_counts="laplace")
    model.fit(X, [0, 1, 1, 0], sample_weight=[1, 1, 1, 0])
    assert model.categories_[0].tolist() == ["p", "q"]
    with pytest.raises(ValueError, match="at least one non-zero"):
        model.fit(X, [0, 1, 1, 0], sample_weight=np.zeros(4))
    with pytest.raises(ValueError, match="Negative values"):
        model.fit(X, [0, 1, 1, 0], sample_weight=[1, 1, -1, 1])


@pytest.mark.parametrize("zero_counts", ["0.5/n", "laplace"])
@pytest.mark.parametrize("n_pieces", [1, 2, 7, 80])
@pytest.mark.parametrize("make", [pd.DataFrame, pl.from_pandas])
def test_pieces_make_the_whole(zero_counts, n_pieces, make):
    X, y, rng = mixed()
    X = X.drop(columns="grade")  # polars knows no categories but text
    whole = NaiveBayes(zero_counts=zero_counts).fit(X, y)
    pieces = NaiveBayes(zero_counts=zero_counts)
    for rows in np.array_split(rng.permutation(len(y)), n_pieces):
        piece = make(X.iloc[rows].reset_index(drop=True))
        pieces.partial_fit(piece, y[rows], classes=["u", "v", "w"])
    np.testing.assert_allclose(pieces.predict_proba(X), whole.predict_proba(X))
    np.testing.assert_allclose(pieces.class_count_, whole.class_count_)


def test_partial_fit_goes_on_after_fit_and_fit_starts_anew():
    X, y, _ = mixed()
    model = NaiveBayes().fit(X[:50], y[:50]).partial_fit(X[50:], y[50:])
    whole = NaiveBayes().fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X))
    model.fit(X[:50], y[:50])
    np.testing.assert_allclose(
        model.predict_proba(X), clone(model).fit(X[:50], y[:50]).predict_proba(X)
    )


def test_partial_fit_mistakes():
    X, y, _ = mixed()
    with pytest.raises(ValueError, match="classes must be passed"):
        NaiveBayes().partial_fit(X, y)
    with pytest.raises(InputError, match=r"label 'w'.*not among the classes"):
        NaiveBayes().partial_fit(X, y, classes=["u", "v"])
    model = NaiveBayes().partial_fit(X, y, classes=["u", "v", "w"])
    with pytest.raises(InputError, match="Column 'a' of X holds 'text'"):
        model.partial_fit(X.assign(a="text"), y)


def test_a_failed_first_batch_does_no_harm():
    X, y, _ = mixed()
    model = NaiveBayes()
    with pytest.raises(InputError, match="infinite"):
        model.partial_fit(X.assign(a=np.inf), y, classes=["u", "v", "w"])
    model.partial_fit(X, y, classes=["u", "v", "w"])
    np.testing.assert_allclose(
        model.predict_proba(X), NaiveBayes().fit(X, y).predict_proba(X)
    )


def test_class_that_never_came_has_no_chance():
    X, y, _ = numbers(n_classes=2)
    model = NaiveBayes().partial_fit(X, y, classes=[0, 1, 2])
    probabilities = model.predict_proba(X)
    np.testing.assert_array_equal(probabilities[:, 2], 0)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)


# -- input -----------------------------------------------------------------------------


def test_kinds_of_input_agree():
    X, y, _ = mixed()
    expected = NaiveBayes().fit(X, y).predict_proba(X)
    polars = pl.from_pandas(X.astype({"grade": "str"}))
    np.testing.assert_allclose(
        NaiveBayes().fit(polars, y).predict_proba(polars), expected
    )
    rows = X.astype(object).to_numpy()
    for chosen in ([2, 3, 4], [False, False, True, True, True]):
        model = NaiveBayes(chosen).fit(rows, y)
        np.testing.assert_allclose(model.predict_proba(rows), expected)
    model = NaiveBayes(["colour", "grade", "flag"]).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), expected)
    assert model.feature_names_in_.tolist() == list(X.columns)


def test_input_is_left_alone():
    X, y, _ = numbers()
    X[3, 1] = np.nan
    X.setflags(write=False)
    before = X.copy()
    NaiveBayes([0]).fit(X, y).predict(X)
    np.testing.assert_array_equal(X, before)


def test_single_precision_is_close_to_double():
    X, y, _ = numbers()
    np.testing.assert_allclose(
        NaiveBayes().fit(X.astype(np.float32), y).predict_proba(X.astype(np.float32)),
        NaiveBayes().fit(X, y).predict_proba(X),
        rtol=1e-3,
        atol=1e-6,
    )


def test_large_offsets_lose_no_digits():
    X, y, _ = numbers(p=2)
    shift = 2.0**20
    shifted = (X + shift) - shift
    np.testing.assert_allclose(
        NaiveBayes().fit(shifted + shift, y).predict_proba(shifted + shift),
        NaiveBayes().fit(shifted, y).predict_proba(shifted),
        rtol=1e-6,
    )


def test_far_away_values_give_probabilities():
    X, y, _ = numbers()
    far = np.full((2, 4), 1e300)
    far[1] = -1e300
    assert np.isfinite(NaiveBayes().fit(X, y).predict_proba(far)).all()
    with pytest.raises(InputError, match="too large to be squared"):
        NaiveBayes().fit(X * 1e200, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"zero_counts": "none"}, "zero_counts='none'"),
        ({"min_std": 0}, "min_std=0"),
        ({"min_std": np.nan}, "min_std=nan"),
        ({"categorical_features": ["nosuch"]}, "'nosuch'"),
        ({"categorical_features": None}, "Column 'colour' of X holds"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    X, y, _ = mixed()
    with pytest.raises(InputError, match=message):
        NaiveBayes(**parameters).fit(X, y)


def test_infinite_value_is_named():
    X, y, _ = mixed()
    X.loc[3, "b"] = np.inf
    with pytest.raises(InputError, match="Column 'b' of X holds an infinite value"):
        NaiveBayes().fit(X, y)


# -- invariances -----------------------------------------------------------------------


@st.composite
def tables(draw):
    n = draw(st.integers(3, 20))
    cell = st.none() | st.integers(-5, 5).map(float)
    word = st.none() | st.sampled_from(["p", "q", "r"])
    column = st.one_of(
        st.lists(cell, min_size=n, max_size=n).map(lambda v: pd.Series(v, dtype=float)),
        st.lists(word, min_size=n, max_size=n).map(lambda v: pd.Series(v, dtype="str")),
    )
    columns = draw(st.lists(column, min_size=1, max_size=5))
    y = draw(st.lists(st.sampled_from(["u", "v", "w"]), min_size=n, max_size=n))
    X = pd.DataFrame({f"x{j}": values for j, values in enumerate(columns)})
    return X, np.array(y)


@settings(max_examples=60, deadline=None)
@given(
    tables(), st.randoms(use_true_random=False), st.sampled_from(["0.5/n", "laplace"])
)
def test_order_and_names_do_not_matter(table, random, zero_counts):
    X, y = table
    model = NaiveBayes(zero_counts=zero_counts)
    expected = model.fit(X, y).predict_joint_log_proba(X)
    assert np.isfinite(expected).all()

    rows = random.sample(range(len(y)), len(y))
    permuted = clone(model).fit(X.iloc[rows], y[rows])
    np.testing.assert_allclose(permuted.predict_joint_log_proba(X), expected)

    columns = random.sample(list(X.columns), X.shape[1])
    permuted = clone(model).fit(X[columns], y)
    np.testing.assert_allclose(permuted.predict_joint_log_proba(X[columns]), expected)

    renamed = clone(model).fit(X, np.char.add("z", y))
    np.testing.assert_array_equal(renamed.predict_joint_log_proba(X), expected)
    codes = {"u": 7, "v": 3, "w": 5}
    numbered = clone(model).fit(X, [codes[label] for label in y])
    order = [list(numbered.classes_).index(codes[c]) for c in model.fit(X, y).classes_]
    np.testing.assert_allclose(numbered.predict_joint_log_proba(X)[:, order], expected)


@settings(max_examples=30, deadline=None)
@given(tables())
def test_renaming_values_does_not_matter(table):
    X, y = table
    renamed = X.apply(
        lambda c: c if c.dtype == float else c.map({"p": "z", "q": "y", "r": "x"})
    ).astype(X.dtypes)
    np.testing.assert_allclose(
        NaiveBayes().fit(renamed, y).predict_joint_log_proba(renamed),
        NaiveBayes().fit(X, y).predict_joint_log_proba(X),
    )


# -- on known data, and what is refused ------------------------------------------------


def test_learns_what_it_can_of_the_monks():
    # MONK-3 is nearly additive in its attributes, so naive Bayes must do well on it.
    X, y = make_monks(3, 400, random_state=0)
    X_test, y_test = make_monks(3, 2000, noise=0, random_state=1)
    assert NaiveBayes().fit(X, y).score(X_test, y_test) > 0.9


@pytest.mark.parametrize("learner", [NaiveBayes, C45])
@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a", None, "b"], "no label in row 1"),
        ([0.0, 1.0, np.nan], "no label in row 2"),
        (None, "target y is None"),
    ],
)
def test_missing_labels_are_refused_alike(learner, y, message):
    with pytest.raises(InputError, match=message):
        learner().fit([[1.0], [2.0], [3.0]], y)
