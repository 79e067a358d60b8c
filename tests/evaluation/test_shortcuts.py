"""Shortcuts predict what plain fits predict, on easy data and on nasty data."""

import time

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris, make_classification
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from tests.oracles import estimation as oracle

from veridical.datasets import make_monks
from veridical.evaluation import (
    Bootstrap632,
    CompleteCV,
    CrossValidation,
    LeaveOut,
    LeavesOneOut,
    RandomSubsampling,
    Resubstitution,
    estimate,
    fitting,
    register_shortcut,
    shortcuts,
)
from veridical.learning import NaiveBayes

METHODS = [
    LeaveOut(1),
    LeaveOut(4),
    CrossValidation(5, n_repeats=2),
    RandomSubsampling(6, 0.7),
    Bootstrap632(8),
]
NEIGHBOURS = [KNeighborsClassifier(k) for k in (1, 2, 5)]
LEARNERS = [
    GaussianNB(),
    NaiveBayes(),
    DummyClassifier(strategy="prior"),
    *NEIGHBOURS,
]


def numbers(kind):
    rng = np.random.default_rng(8)
    n = 36
    y = rng.integers(3, size=n)
    X = rng.normal(size=(n, 4)) + 0.8 * y[:, None]
    if kind == "far":  # large means, small spreads
        X = X * [1e-6, 1.0, 1e3, 1.0] + [5.0, 1e6, -1e9, 0.0]
    elif kind == "whole":  # ties everywhere
        X = np.round(X)
    elif kind == "twins":  # every case three times
        X, y = np.repeat(X[:12], 3, axis=0), np.repeat(y[:12], 3)
    elif kind == "rare":  # a class of two, a column with one odd value, a constant
        y = np.r_[[2, 2], rng.integers(2, size=n - 2)]
        X[:, 1], X[5, 1], X[:, 2] = 1.0, 7.0, 3.25
    elif kind == "mirror":  # two classes alike: all predictions hang on a tie
        X = np.r_[X[:18], X[:18]]
        y = np.repeat([0, 1], 18)
    elif kind == "flat":  # one class does not vary in a column
        X[y == 1, 0] = 2.0
    return X, np.array(["u", "v", "w"])[y]


NUMBERS = ["easy", "far", "whole", "twins", "rare", "mirror", "flat"]


def nominal(kind):
    rng = np.random.default_rng(3)
    if kind == "monks":
        return make_monks(1, 60, random_state=0)
    n = 50
    y = np.array(["no", "yes", "why"])[rng.integers(3, size=n)]
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n) + (y == "yes"),
            "colour": rng.choice(["red", "green", "blue"], size=n, p=[0.5, 0.4, 0.1]),
            "rare": np.where(np.arange(n) == 7, "once", "often"),
            "kind": pd.Categorical(rng.choice(list("ab"), size=n), list("abc")),
            "flat": 4.0,
        }
    )
    if kind == "missing":
        for j in (0, 1, 3):
            frame.iloc[rng.choice(n, 15, replace=False), j] = None
        frame.loc[y == "yes", "size"] = np.nan
        frame["empty"] = np.nan
        frame.loc[3, "empty"] = 1.0
    return frame, y


def assert_same(model, X, y, method):
    splits = [s for s in method.split(y, 4) if len(set(y[s.train])) > 1]
    problem = fitting.Problem.read(X, y)
    found = fitting.predict_splits(model, problem, splits, None)
    expected = oracle.predictions(model, X, y, splits)
    for codes, labels in zip(found, expected, strict=True):
        np.testing.assert_array_equal(problem.classes[codes], labels)


@pytest.mark.parametrize("method", METHODS, ids=str)
@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("model", LEARNERS, ids=str)
def test_numbers(model, kind, method):
    assert_same(model, *numbers(kind), method)


@pytest.mark.parametrize("method", METHODS, ids=str)
@pytest.mark.parametrize("kind", ["monks", "mixed", "missing"])
@pytest.mark.parametrize("zero_counts", ["0.5/n", "laplace"])
def test_names_and_missing_values(zero_counts, kind, method):
    assert_same(NaiveBayes(zero_counts=zero_counts), *nominal(kind), method)


def test_codes_in_an_array():
    X, y = numbers("whole")
    X[::7, 1] = np.nan
    for method in METHODS:
        assert_same(NaiveBayes([1, 2], zero_counts="laplace"), X, y, method)


@pytest.mark.parametrize("model", LEARNERS, ids=str)
def test_every_choice_of_a_small_set(model):
    X, y = load_iris(return_X_y=True)
    rows = np.r_[0:4, 50:54, 100:104]
    if model in NEIGHBOURS:
        model = KNeighborsClassifier(3)
    assert_same(model, X[rows], y[rows], CompleteCV(2))


@pytest.mark.parametrize("model", [GaussianNB(), NaiveBayes()], ids=str)
def test_few_splits_need_a_plain_fit_on_ordinary_data(model):
    X, y = make_classification(300, 10, random_state=1)
    splits = LeaveOut(1).split(y)
    found = shortcuts.find_shortcut(model)(model, X, y, 2, splits)
    assert found[1].sum() == 0


def test_ties_are_left_to_a_plain_fit():
    X, y = numbers("mirror")
    codes = np.unique(y, return_inverse=True)[1]
    splits = 2 * Resubstitution().split(y)
    for model in (GaussianNB(), NaiveBayes(), KNeighborsClassifier(1)):
        doubtful = shortcuts.find_shortcut(model)(model, X, codes, 2, splits)[1]
        assert doubtful.all()


def test_what_a_shortcut_cannot_do_is_done_plainly():
    X, y = numbers("easy")
    for model in (
        GaussianNB(priors=[0.2, 0.3, 0.5]),
        KNeighborsClassifier(3, weights="distance"),
        KNeighborsClassifier(3, metric="manhattan"),
        DummyClassifier(strategy="constant", constant="u"),
    ):
        assert_same(model, X, y, CrossValidation(4))
    assert_same(GaussianNB(), X.astype(np.float32), y, CrossValidation(4))


def test_bad_parameters_and_data_are_refused_as_ever():
    X, y = numbers("easy")
    method = CrossValidation(3)
    with pytest.raises(ValueError, match="var_smoothing"):
        estimate(GaussianNB(var_smoothing=-1), X, y, cv=method)
    with pytest.raises(ValueError, match="min_std"):
        estimate(NaiveBayes(min_std=0), X, y, cv=method)
    with pytest.raises(ValueError, match="n_neighbors"):
        estimate(KNeighborsClassifier(0), X, y, cv=method)
    with pytest.raises(ValueError, match="NaN"):
        estimate(GaussianNB(), np.where(X > 1, np.nan, X), y, cv=method)


# -- learners that offer it themselves -----------------------------------------------


class Oracle(ClassifierMixin, BaseEstimator):
    """Knows how to leave one out; an ordinary fit would fail."""

    def fit(self, X, y):
        raise AssertionError("not asked for")

    def leave_one_out_predictions(self, X, y):
        return np.where(X[:, 0] > 0, y, "u")


def test_a_learner_may_leave_one_out_by_itself():
    X, y = numbers("easy")
    assert isinstance(Oracle(), LeavesOneOut)
    expected = np.mean(np.where(X[:, 0] > 0, y, "u") == y)
    assert estimate(Oracle(), X, y, cv=LeaveOut(1)).value == expected
    assert estimate(Oracle(), X, y, cv=LeaveOneOut()).value == expected
    with pytest.raises(AssertionError, match="not asked for"):
        estimate(Oracle(), X, y, cv=LeaveOut(2))


def test_a_shortcut_can_be_registered(monkeypatch):
    monkeypatch.setattr(shortcuts, "_SHORTCUTS", {})

    class Constant(Oracle):
        leave_one_out_predictions = None

    @register_shortcut(Constant)
    def constant(estimator, X, codes, n_classes, splits):
        return [np.zeros(len(s.test), dtype=int) for s in splits], np.zeros(
            len(splits), dtype=bool
        )

    X, y = numbers("easy")
    assert shortcuts.find_shortcut(Constant()) is constant
    assert estimate(Constant(), X, y, cv=CrossValidation(3)).value == np.mean(y == "u")


# -- time ----------------------------------------------------------------------------


def seconds(work):
    times = []
    for _ in range(3):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def test_leave_one_out_of_naive_bayes_costs_little():
    X, y = make_classification(500, 20, random_state=0)
    ours = seconds(lambda: estimate(GaussianNB(), X, y, cv=LeaveOut(1)))
    loop = seconds(
        lambda: cross_val_predict(GaussianNB(), X[:50], y[:50], cv=LeaveOneOut())
    )
    assert 10 * loop > 20 * ours  # benchmarks say 100 and more on a quiet machine
