"""Bad input is refused in words that name the cure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from veridical._core.errors import InputError
from veridical._core.reading import read_table
from veridical.auditing import audit
from veridical.auditing.preselection import read_features

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 6))
y = np.arange(30) % 2
named = pd.DataFrame(X, columns=["alpha", "beta", "gamma", "delta", "eps", "zeta"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"selected": []}, "selected contains no feature"),
        ({"selected": "alpha"}, "must be a list of feature names"),
        ({"selected": ["alhpa"]}, "did you mean 'alpha'"),
        ({"selected": [6]}, "X has 6 features, 0 to 5"),
        ({"selected": [-1]}, "contains index -1"),
        ({"selected": [0, 0]}, "'alpha' more than once"),
        ({"selected": [0.5]}, "neither the name nor the index"),
        ({"selected": range(6)}, "nothing was selected"),
        ({"selector": "anova"}, "but selected= is missing"),
        ({"selected": [0], "selector": "anvoa"}, "did you mean 'anova'"),
        ({"selected": [0], "selector": StandardScaler()}, "does not select"),
        ({"cv": "ten"}, "There is no method 'ten'"),
        ({"cv": 2.5}, "not a way to split"),
        ({"cv": 1}, "2"),
        ({"cv": 31}, "folds"),
        ({"test": "t"}, "There is no test"),
        ({"n_permutations": 5}, "19"),
        ({"n_permutations": "many"}, "whole number"),
        ({"alpha": 2}, "alpha"),
        ({"n_jobs": 0}, "n_jobs=0 does no work"),
        ({"ignore": ("VD1",)}, "There is no finding 'VD1'"),
        ({"random_state": "x"}, "random_state"),
    ],
)
def test_bad_options_are_refused_in_words(options, words):
    with pytest.raises(InputError, match=words):
        audit(GaussianNB(), named, y, **{"n_permutations": 19, **options})


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (GaussianNB, "pass an instance"),
        (StandardScaler(), "is not a classifier"),
        ("svmm", "did you mean 'svm'"),
    ],
)
def test_what_is_no_estimator_is_refused_in_words(estimator, words):
    with pytest.raises(InputError, match=words):
        audit(estimator, X, y)


def test_bad_parameters_of_a_classifier_are_refused_by_itself():
    with pytest.raises(ValueError, match="'C' parameter"):
        audit(SVC(C=-1.0), X, y, selected=[0, 1], n_permutations=19)


def test_data_without_two_classes_are_refused():
    with pytest.raises(InputError, match="class"):
        audit(GaussianNB(), X, np.zeros(30))
    with pytest.raises(InputError):
        audit(GaussianNB(), X, y[:-1])


def test_names_that_two_features_share():
    data = read_table(X, y)
    assert read_features(["x1", "x4"], data).tolist() == [1, 4]
    assert read_features([4, 1], data).tolist() == [1, 4]
    names = ("a", "a", "b", "c", "d", "e")
    twice = data.replace(features=replace(data.features, names=names))
    with pytest.raises(InputError, match="2 features have that name"):
        read_features(["a"], twice)


def test_one_code_may_be_given_alone():
    found = audit(GaussianNB(), X, y, ignore="VD004", n_permutations=19)
    assert "VD004" not in found.codes
