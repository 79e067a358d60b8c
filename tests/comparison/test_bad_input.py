"""What cannot give an honest answer is refused: what, where and the cure."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ShuffleSplit, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from veridical._core.errors import InputError
from veridical.comparison import compare, truth
from veridical.selection import AnovaF


def without_address(thing):
    """Name a test case alike in every process that runs a part of the tests."""
    return re.sub(r" at 0x\w+", "", str(thing))


@pytest.fixture
def call(problem, anova, worst):
    """Call compare with one thing changed."""

    def _call(first=anova, second=worst, **change):
        X, y = problem
        arguments = {"selectors": [first, second], "X": X, "y": y}
        common = {"n_features_to_select": 4, "estimator": "1nn", "cv": 5}
        return compare(**{**arguments, **common, **change})

    return _call


def with_hole(X):
    X = X.copy()
    X[:, [2, 5]] = np.nan
    return X


def rare(y):
    y = np.array(["dog", "cat", "owl"])[y]
    y[np.flatnonzero(y == "owl")[3:]] = "cat"
    return y


@pytest.mark.parametrize(
    ("change", "messages"),
    [
        ({"n_features_to_select": 31}, ["n_features_to_select=31", "30 feature"]),
        ({"n_features_to_select": 0}, ["n_features_to_select=0", "1 to 30"]),
        ({"n_features_to_select": 2.5}, ["whole number", "2.5"]),
        ({"n_features_to_select": 0.0}, ["0.0", "share in (0, 1]"]),
        ({"n_features_to_select": True}, ["whole number"]),
        ({"methods": ["in", "truth"]}, ["'truth'", "'in', 'out'"]),
        ({"methods": []}, ["methods is empty"]),
        ({"test": "corrected"}, ["'corrected'", "did you mean 'corrected-t'"]),
        ({"alpha": 0}, ["alpha", "between 0 and 1"]),
        ({"alpha": "small"}, ["alpha", "'small'"]),
        ({"random_state": "seed"}, ["random_state", "'seed'"]),
        ({"random_state": -1}, ["random_state", "-1"]),
        ({"n_jobs": 0}, ["n_jobs=0"]),
        ({"cv": 1}, ["cv=1", "90 samples", "2 to 90", "LeaveOut(1)"]),
        ({"cv": 91}, ["cv=91", "90 samples", "2 to 90", "LeaveOut(1)"]),
        ({"cv": "holdout"}, ["1 split", "at least 2"]),
        ({"cv": "ten"}, ["number of folds", "'ten'"]),
        ({"cv": None}, ["number of folds"]),
        ({"cv": object()}, ["splitter"]),
        ({"cv": ShuffleSplit(1)}, ["1 split", "at least 2"]),
        ({"cv": StratifiedKFold(60)}, ["cannot split these data", "60"]),
        ({"cv": [([0, 1, 2], []), ([], [1, 2])]}, ["empty training or test set"]),
        (
            {"first": "reliefg"},
            ["'reliefg'", "did you mean 'relieff'", "information-gain"],
        ),
        ({"first": SelectKBest}, ["Selector 1", "SelectKBest(...)"]),
        ({"second": LogisticRegression()}, ["Selector 2", "does not select"]),
        (
            {"second": make_pipeline(SelectKBest(), LogisticRegression())},
            ["Selector 2"],
        ),
        (
            {"first": VarianceThreshold()},
            ["VarianceThreshold", "30 feature(s)", "4 are"],
        ),
        ({"selectors": ["anova"]}, ["1 selector", "two or more"]),
        ({"selectors": {"x": "anova"}}, ["1 selector", "two or more"]),
        ({"selectors": "anova"}, ["list of selectors", "mapping"]),
        ({"selectors": {1: "anova", "1": "fcbf"}}, ["'1'", "different names"]),
        ({"correction": "holmes"}, ["'holmes'", "did you mean 'holm'"]),
        ({"estimator": "svn"}, ["'svn'", "did you mean", "'svm'"]),
        ({"estimator": []}, ["empty list"]),
        ({"estimator": MinMaxScaler()}, ["MinMaxScaler", "not a classifier"]),
        (
            {"estimator": LogisticRegression},
            ["the class LogisticRegression", "an instance, LogisticRegression(...)"],
        ),
        ({"estimator": 7}, ["estimator=7", "not a scikit-learn estimator"]),
    ],
    ids=without_address,
)
def test_bad_parameters_are_refused_in_words(call, change, messages):
    with pytest.raises(InputError) as error:
        call(**change)
    for message in messages:
        assert message in str(error.value)


@pytest.mark.parametrize(
    ("spoil", "messages"),
    [
        (lambda X, y: (X, y[:-1]), ["90 rows", "89"]),
        (lambda X, y: (X, np.zeros(90)), ["one class", "at least two"]),
        (lambda X, y: (X, np.where(y == 2, np.nan, y)), ["missing"]),
        (lambda X, y: (X, y + 0.5), [".5", "must be classes"]),
        (lambda X, y: (X, np.column_stack([y, y])), ["2 dimensions"]),
        (lambda X, y: (with_hole(X), y), ["no value at all", "2, 5"]),
        (
            lambda X, y: (pd.DataFrame(with_hole(X)).add_prefix("gene"), y),
            ["'gene2', 'gene5'"],
        ),
        (lambda X, y: (pd.DataFrame(X, columns=["x"] * 30), y), ["named 'x'"]),
        (lambda X, y: (np.where(X > 3, np.inf, X), y), ["infinite"]),
        (lambda X, y: (X[:, 0], y), ["2D"]),
        (lambda X, y: (X[:0], y[:0]), ["0"]),
        (lambda X, y: (X[:, :0], y), ["0 feature"]),
        (lambda X, y: (X.astype(complex), y), ["omplex"]),
        (lambda X, y: (X.astype(str).astype(object) + "m", y), ["not a number"]),
        (lambda X, y: (sparse.csr_array(with_hole(X)), y), ["NaN", "column 2, row 0"]),
    ],
)
def test_bad_data_are_refused_in_words(call, problem, spoil, messages):
    X, y = spoil(*problem)
    with pytest.raises(InputError) as error:
        call(X=X, y=y)
    for message in messages:
        assert message in str(error.value)


def test_a_class_with_fewer_samples_than_folds(call, problem):
    with pytest.warns(UserWarning, match="so some folds lack it") as warned:
        found = call(y=rare(problem[1]))
    (message,) = {str(one.message) for one in warned}
    for words in ("'owl'", "3 sample", "5 folds", "at most 3 folds", "drop it"):
        assert words in message
    assert {one.filename for one in warned} == {__file__}
    assert found.accuracy["in"].shape[-1] == 5


def test_a_class_that_a_training_fold_lacks(call, problem):
    y = rare(problem[1])
    owls = np.flatnonzero(y == "owl")
    others = np.setdiff1d(np.arange(len(y)), owls)
    splits = [(others, owls), (np.arange(45), np.arange(45, 90))]
    with pytest.warns(
        UserWarning, match=r"'owl' is missing from the training set of 1 of 2.*errors"
    ):
        found = call(y=y, cv=splits)
    assert not found.accuracy["in"][:, :, 0, 0].any()  # owls alone are tested there
    assert call(y=y, cv=StratifiedKFold(3, shuffle=True)).data.classes["owl"] == 3


def test_an_incomplete_ranking(call):
    class Short:
        def rank_many(self, X, y, train_sets):
            return [np.arange(3) for _ in train_sets]

    with pytest.raises(InputError, match=r"Short ranked 3 .* 4 are needed"):
        call(first=Short())


def test_selectors_that_cannot_read_the_data_say_so(call, problem):
    X = pd.DataFrame(problem[0]).add_prefix("x")
    X["x3"] = pd.cut(X["x3"], 3).astype(str).astype("category")
    with pytest.raises(InputError, match="AnovaF cannot use categorical features"):
        call(X=X, first="anova", second="relieff")


@pytest.mark.parametrize(
    ("change", "messages"),
    [
        ({"source": "linea"}, ["'linea'", "did you mean 'linear'"]),
        ({"selectors": ["anova", "fcbf", "mrmr"]}, ["3 selectors", "only two"]),
        ({"selectors": ["anova"]}, ["1 selector", "two or more"]),
        ({"source": 3}, ["source must be a name or a function"]),
        ({"n_features_to_select": 61}, ["n_features_to_select=61", "60"]),
        ({"n_sets": 1}, ["n_sets=1", "2 or more"]),
        ({"n_train": 0}, ["n_train"]),
        ({"n_test": 0}, ["n_test"]),
        ({"methods": ["inside"]}, ["'inside'"]),
        ({"test": "t"}, ["'t'"]),
        ({"cv": 50}, ["cv=50"]),
        ({"source": lambda n, random_state: (np.eye(n), np.zeros(n))}, ["one class"]),
        (
            {"source": lambda n, random_state: (np.eye(n), np.arange(n) == n - 1)},
            ["True", "missing from the training set"],
        ),
    ],
    ids=without_address,
)
def test_bad_arguments_of_truth_are_refused_in_words(anova, worst, change, messages):
    arguments = {
        "selectors": [anova, worst],
        "source": "linear",
        "n_features_to_select": 4,
        "n_train": 40,
        "n_sets": 3,
    }
    with pytest.raises(InputError) as error:
        truth(**{**arguments, "estimator": "1nn", **change})
    for message in messages:
        assert message in str(error.value)


def test_a_feature_without_a_name_is_named_by_its_place_in_the_data(problem):
    X, y = problem
    X = X.copy()
    X[3, 17] = np.nan

    with pytest.raises(InputError, match=r"missing values .*such as column 17;"):
        compare(["anova", "mrmr"], X, y, n_features_to_select=4, random_state=0)


# -- how many features ---------------------------------------------------------------


def test_selectors_made_with_one_number_are_compared_with_it():
    X, y = load_iris(return_X_y=True)
    found = compare([AnovaF(2), SelectKBest(k=2)], X, y, estimator="nb", random_state=0)
    assert found.n_features_to_select == 2
    assert "own features of selectors" not in found.settings


def test_selectors_made_with_different_numbers_need_an_explicit_one():
    X, y = load_iris(return_X_y=True)
    pair = {"few": AnovaF(1), "more": AnovaF(3)}
    with pytest.raises(
        InputError, match=r"few with 1 and more with 3.*pass n_features"
    ):
        compare(pair, X, y, estimator="nb", random_state=0)
    found = compare(pair, X, y, estimator="nb", n_features_to_select=2, random_state=0)
    assert found.n_features_to_select == 2
    assert found.settings["own features of selectors"] == (1, 3)


def test_selectors_by_name_take_the_number_of_the_others():
    X, y = load_iris(return_X_y=True)
    found = compare(["anova", AnovaF(3)], X, y, estimator="nb", random_state=0)
    assert found.n_features_to_select == 3
    found = compare(["anova", "relieff"], X, y, estimator="nb", random_state=0)
    assert found.n_features_to_select == 2  # half of the features, not ten
    with pytest.raises(InputError, match="n_features_to_select=10 is not possible"):
        compare([AnovaF(10), "relieff"], X, y, estimator="nb", random_state=0)
    with pytest.raises(InputError, match="'all' is neither a number nor a share"):
        compare(["anova", "relieff"], X, y, n_features_to_select="all")
