"""The named classifiers against scikit-learn pipelines, on every kind of table."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_regressor
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.oracles.hinge import repaired_objective
from tests.oracles.svm_plus import generic_plain

from veridical._core.errors import InputError
from veridical.comparison import compare
from veridical.learning import C45, ESTIMATORS, estimators_for, make_estimator
from veridical.learning.inputs import number_by_frequency
from veridical.learning.linear_svm import LinearSVM
from veridical.learning.neighbours import NearestNeighbour
from veridical.learning.tabular import TabularClassifier

NAMES = ["1nn", "nb", "svm", "tree"]
PIPELINES = {
    "svm": lambda: make_pipeline(MinMaxScaler(), SVC(kernel="linear", C=1.0)),
    "1nn": lambda: make_pipeline(MinMaxScaler(), KNeighborsClassifier(1)),
    "tree": lambda: C45(),
}


def make(name):
    """Make an estimator by its name; "tree" gives ties to the frequent class."""
    if name == "tree":
        return TabularClassifier(C45(), scale=False, categorical_weight=None)
    return make_estimator(name)


@parametrize_with_checks(
    [
        NearestNeighbour(),
        LinearSVM(),
        TabularClassifier(GaussianNB()),
        TabularClassifier(C45(), scale=False, categorical_weight=None),
    ]
)
def test_scikit_learn_conventions_hold(estimator, check):
    check(estimator)


@pytest.fixture
def mixed():
    rng = np.random.default_rng(2)
    n = 80
    y = rng.integers(2, size=n)
    X = pd.DataFrame(
        {
            "length": rng.normal(size=n) + y,
            "colour": pd.Categorical(
                np.where(rng.random(n) < 0.8, np.array(["red", "blue"])[y], "green")
            ),
            "width": rng.normal(scale=50, size=n),
            "shape": pd.Categorical(rng.choice(["round", "flat"], n)),
        }
    )
    return X, np.array(["no", "yes"])[y]


@pytest.mark.parametrize("name", sorted(PIPELINES))
def test_numbers_as_in_scikit_learn(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5)) * [1, 10, 0.1, 3, 1]
    # Class a is the most frequent and c the rarest: ties then go the same way here
    # and in scikit-learn, which decides them by the sorted order of the names.
    y = np.select([X[:, 3] > 2.5, X[:, 0] > 0.1], ["c", "b"], "a")
    assert np.all(np.diff(np.unique(y[:80], return_counts=True)[1]) < 0)
    ours = make(name).fit(X[:80], y[:80]).predict(X[80:])
    theirs = PIPELINES[name]().fit(X[:80], y[:80]).predict(X[80:])
    assert np.array_equal(ours, theirs)
    assert len(set(ours)) >= 2


def test_mixed_features_as_in_scikit_learn(mixed):
    X, y = mixed
    encoder = make_column_transformer(
        (MinMaxScaler(), ["length", "width"]),
        (OneHotEncoder(handle_unknown="ignore"), ["colour", "shape"]),
    )
    theirs = make_pipeline(encoder, SVC(kernel="linear", C=1.0))
    ours = make_estimator("svm")
    train, test = X.iloc[:50], X.iloc[50:]
    expected = theirs.fit(train, y[:50]).predict(test)
    assert np.array_equal(ours.fit(train, y[:50]).predict(test), expected)


def test_neighbours_of_categorical_samples_by_hand():
    X = pd.DataFrame({"n": [0.0, 10.0, 4.0], "c": pd.Categorical(["x", "x", "y"])})
    y = ["p", "q", "r"]
    model = make_estimator("1nn").fit(X, y)
    # (7, x): squared distances 0.49, 0.09 and 0.09 + 1.
    # (4, x): 0.16, 0.36 and 1: a different category costs exactly one.
    ask = pd.DataFrame({"n": [7.0, 4.0], "c": pd.Categorical(["x", "x"])})
    assert model.predict(ask).tolist() == ["q", "p"]
    matrix = model._matrix(np.array([[4.0, 0.0], [4.0, 1.0]]))
    assert np.sum((matrix[0] - matrix[1]) ** 2) == pytest.approx(1)


def test_equal_neighbours_vote_whatever_their_order():
    X = [[0.0], [0.0], [0.0], [1.0]]
    y = np.array(["b", "a", "a", "b"])
    for order in ([0, 1, 2, 3], [2, 1, 0, 3], [1, 0, 3, 2]):
        model = NearestNeighbour().fit(np.array(X)[order], y[order])
        assert model.predict([[0.1], [0.9]]).tolist() == ["a", "b"]
    # One vote each: the class that is more frequent in training wins.
    model = NearestNeighbour().fit([[0.0], [0.0], [9.0]], ["a", "b", "b"])
    assert model.predict([[0.0]]).tolist() == ["b"]


@pytest.mark.parametrize("name", NAMES)
def test_every_kind_of_table(name, mixed):
    X, y = mixed
    X = X.copy()
    X.loc[3:9, "length"] = np.nan
    X.loc[5:12, "colour"] = np.nan
    for columns in (["length"], ["colour"], ["shape", "length"], list(X)):
        part = X[columns]
        predicted = make(name).fit(part.iloc[:60], y[:60]).predict(part)
        assert set(predicted) <= {"no", "yes"}
        assert predicted.shape == y.shape
    hits = make(name).fit(X.iloc[:60], y[:60]).predict(X.iloc[60:]) == y[60:]
    assert hits.mean() > 0.6
    numbers = np.array(X[["length", "width"]])
    predicted = make(name).fit(numbers[:60], y[:60]).predict(numbers)
    assert np.mean(predicted == y) > 0.6


@pytest.mark.parametrize("name", NAMES)
def test_a_category_absent_from_training(name, mixed):
    X, y = mixed
    known = (X["colour"] != "green").to_numpy()
    model = make(name).fit(X[known], y[known])
    assert set(model.predict(X[~known])) <= {"no", "yes"}


@pytest.mark.parametrize("n_columns", [5, 300])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_models_for_many_classes_and_features(n_classes, n_columns):
    """As scikit-learn's, with more columns than samples too."""
    rng = np.random.default_rng(8)
    y = rng.integers(n_classes, size=120)
    X = rng.random((120, n_columns)) + np.eye(4)[y] @ rng.random((4, n_columns))
    theirs = SVC(kernel="linear", tol=1e-6).fit(X[:80], y[:80])
    ours = LinearSVM().fit(X[:80], y[:80])
    assert ours.coef_ == pytest.approx(theirs.coef_, abs=1e-3)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-3)
    assert np.array_equal(ours.predict(X), theirs.predict(X))


def test_many_features_and_many_samples():
    """The dual is solved instead, to more digits than scikit-learn's."""
    rng = np.random.default_rng(1)
    X = rng.random((220, 210))
    y = X[:, 0] + 0.2 * rng.random(220) > 0.6
    theirs = SVC(kernel="linear", tol=1e-9).fit(X, ~y)  # the same way round
    ours = LinearSVM().fit(X, y)
    assert ours.coef_ == pytest.approx(-theirs.coef_, abs=1e-5)
    assert ours.intercept_ == pytest.approx(-theirs.intercept_, abs=1e-5)


def test_features_of_a_large_scale():
    """Where the compiled interior-point method fails, the dual is solved."""
    rng = np.random.default_rng(0)
    X = 1e3 * np.round(2 * rng.random((30, 6)))
    y = X[:, 0] + 300 * rng.normal(size=30) > 1000
    ours = LinearSVM().fit(X, y)
    (w,), (b,), sign = ours.coef_, ours.intercept_, np.where(y, 1.0, -1.0)
    assert repaired_objective(X, sign, 1.0, w, b) == pytest.approx(
        generic_plain(X, sign, 1.0), rel=1e-9
    )


@pytest.mark.parametrize("C", [0, -1.0, np.inf, "1"])
def test_a_cost_that_is_none(C):
    with pytest.raises(InputError, match="must be a positive number"):
        LinearSVM(C=C).fit([[0.0], [1.0]], ["a", "b"])


def test_a_margin_needs_two_classes():
    with pytest.raises(InputError, match="one class only"):
        LinearSVM().fit([[0.0], [1.0]], ["a", "a"])


def test_missing_numbers_take_the_training_mean():
    X = np.array([[0.0], [1.0], [np.nan], [5.0]])
    model = TabularClassifier(NearestNeighbour(), scale=False).fit(X, list("aabb"))
    assert model._matrix(np.array([[np.nan]])) == pytest.approx(2.0)
    gone = TabularClassifier(NearestNeighbour()).fit(
        np.array([[np.nan, 0.0], [np.nan, 1.0]]), ["a", "b"]
    )
    assert gone.predict([[3.0, 0.9]]).tolist() == ["b"]


@pytest.mark.parametrize("name", NAMES)
def test_registered_classifiers_learn_iris(name):
    X, y = load_iris(return_X_y=True)
    hits = make(name).fit(X[::2], y[::2]).predict(X[1::2]) == y[1::2]
    assert hits.mean() > 0.9


@pytest.mark.parametrize("name", NAMES)
def test_names_of_classes_do_not_matter(name):
    rng = np.random.default_rng(4)
    X, y = rng.integers(3, size=(60, 4)).astype(float), rng.integers(3, size=60)
    predicted = make(name).fit(X, y).predict(X)
    for names in (np.array(["z", "y", "x"]), np.array([5, -1, 2])):
        renamed = make(name).fit(X, names[y])
        assert np.array_equal(renamed.predict(X), names[predicted])
        assert np.array_equal(renamed.classes_, np.sort(names))


def test_each_call_makes_a_new_one():
    assert make_estimator("svm") is not make_estimator("svm")
    known = {"svm", "nb", "1nn", "c45", "dagsvm", "logistic", "majority"}
    assert set(estimators_for("classes")) == known
    assert set(estimators_for("numbers")) == {"ridge", "svr", "tree", "knn", "mean"}
    assert estimators_for("survival") == ["cox"]


@pytest.mark.parametrize("name", ["logistik", "forest", "", None, 3])
def test_unknown_name(name):
    every = ", ".join(map(repr, ESTIMATORS))
    with pytest.raises(InputError, match=f"Use one of {every}, or pass") as e:
        make_estimator(name)
    assert repr(name) in str(e.value)
    if name == "logistik":
        assert "did you mean 'logistic'?" in str(e.value)


def test_the_majority_looks_at_no_feature():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=40), "kind": list("ab") * 20})
    y = np.array(["no"] * 22 + ["yes"] * 18)
    folds = [(np.arange(10, 40), np.arange(10)), (np.arange(30), np.arange(30, 40))]

    result = compare(
        ["relieff", "fcbf"],
        frame,
        y,
        n_features_to_select=1,
        estimator="majority",
        cv=folds,
        random_state=0,
    )

    assert result.scores["in"][0].tolist() == [0.0, 0.0]
    assert result.verdicts["in"].winner == "draw"


def test_classes_are_numbered_by_frequency():
    sorted_labels, labels, y = number_by_frequency(np.array(list("bacbbacc")))

    assert sorted_labels.tolist() == ["a", "b", "c"]
    assert labels.tolist() == ["b", "c", "a"]
    assert y.tolist() == [0, 2, 1, 0, 0, 2, 1, 1]


# -- targets of numbers --------------------------------------------------------------


@pytest.mark.parametrize("name", estimators_for("numbers"))
def test_named_regressors_predict_numbers_of_mixed_tables(name, mixed):
    X, _ = mixed
    rng = np.random.default_rng(3)
    X = X.assign(dose=rng.normal(size=len(X)))
    y = 100.0 + 20.0 * X["dose"].to_numpy() + rng.normal(size=len(X))
    model = make_estimator(name)
    assert is_regressor(model)
    error = y - model.fit(X, y).predict(X)
    if name == "mean":
        np.testing.assert_allclose(error, y - y.mean())
    else:
        assert error.std() < 0.8 * y.std()
        other_unit = make_estimator(name).fit(X, 1e3 * y - 7.0).predict(X)
        np.testing.assert_allclose(other_unit, 1e3 * (y - error) - 7.0, rtol=1e-4)


@parametrize_with_checks(
    [make_estimator(name) for name in ("ridge", "svr", "tree", "knn", "cox")]
)
def test_named_regressors_keep_the_conventions(estimator, check):
    check(estimator)
