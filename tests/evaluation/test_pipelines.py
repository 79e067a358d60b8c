"""A selector in a pipeline is refitted on every training set, without test samples."""

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    Normalizer,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier
from tests.oracles import estimation as oracle

from veridical._core.parallel import serial
from veridical._core.reading import read_table
from veridical.datasets import make_linear, make_monks, make_random_labels
from veridical.evaluation import (
    Bootstrap632,
    CrossValidation,
    LeaveOut,
    estimate,
)
from veridical.evaluation.engine import as_procedure, evaluate_table
from veridical.selection import FCBF, AnovaF, InformationGain, ReliefF

METHODS = [CrossValidation(4), LeaveOut(9), Bootstrap632(5)]
TREE = DecisionTreeClassifier(random_state=0)


def assert_same(model, X, y, method, monkeypatch, quick):
    """The same as a plain loop, and done the quick way exactly where it should be."""
    calls = []
    for selector in (AnovaF, ReliefF, InformationGain, FCBF):
        plain = selector.rank_table
        monkeypatch.setattr(
            selector,
            "rank_table",
            lambda self, *args, plain=plain: calls.append(1) or plain(self, *args),
        )
    splits = method.split(y, 2)
    table = read_table(X, y, encoded=False)
    procedure, seen = as_procedure(model, table)
    (found,) = evaluate_table([procedure], seen, splits, run=serial)
    assert bool(calls) == quick
    expected = oracle.predictions(model, X, y, splits)
    for codes, labels in zip(found.predictions, expected, strict=True):
        np.testing.assert_array_equal(table.target.classes[codes[0]], labels)


@pytest.mark.parametrize("method", METHODS, ids=str)
@pytest.mark.parametrize(
    "steps",
    [
        [AnovaF(3), GaussianNB()],
        [AnovaF(0.2), StandardScaler(), TREE],
        [Normalizer(), ReliefF(4), TREE],
        [FunctionTransformer(np.tanh), "passthrough", AnovaF(500), TREE],
        [InformationGain(3), AnovaF(1), TREE],
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:n_features_to_select")
def test_ranked_for_all_training_sets_at_once(steps, method, monkeypatch):
    X, y = make_linear(60, random_state=0)
    assert_same(make_pipeline(*steps), X, y, method, monkeypatch, quick=True)


@pytest.mark.parametrize(
    "steps",
    [
        [StandardScaler(), AnovaF(3), TREE],  # the scale depends on the training set
        [FunctionTransformer(lambda X: X - X.mean(axis=0)), AnovaF(3), TREE],
        [FCBF(None), TREE],  # only a fit tells how many
        [SelectKBest(k=3), TREE],
    ],
    ids=["scaler", "function", "open number", "other selector"],
)
def test_fitted_plainly_where_ranking_together_would_differ(steps, monkeypatch):
    X, y = make_linear(60, random_state=0)
    method = CrossValidation(4)
    assert_same(make_pipeline(*steps), X, y, method, monkeypatch, quick=False)


def test_frames_keep_their_names(monkeypatch):
    X, y = make_linear(60, random_state=0)
    X = pd.DataFrame(X).add_prefix("x")

    class NamesMatter(GaussianNB):
        def fit(self, X, y):
            assert list(X.columns) == sorted(X.columns, key=lambda c: int(c[1:]))
            return super().fit(X, y)

    model = make_pipeline(AnovaF(3), NamesMatter()).set_output(transform="pandas")
    assert_same(model, X, y, CrossValidation(4), monkeypatch, quick=True)


def test_categorical_features(monkeypatch):
    X, y = make_monks(1, 80, random_state=0)
    model = make_pipeline(InformationGain(2), Binarizer(), TREE)
    X = X.astype(int)
    assert_same(model, X, y, CrossValidation(4), monkeypatch, quick=True)


def test_scorers_see_the_whole_pipeline():
    X, y = make_linear(60, random_state=0)
    model = make_pipeline(AnovaF(3), LogisticRegression())
    splits = CrossValidation(4).split(y, 1)
    widths = []

    def score(fitted, X, y):
        assert isinstance(fitted, Pipeline)
        widths.append((X.shape[1], fitted[:-1].transform(X).shape[1]))
        return fitted.score(X, y)

    found = estimate(model, X, y, cv=CrossValidation(4), scoring=score, random_state=1)
    assert widths == [(X.shape[1], 3)] * 4
    assert found.value == pytest.approx(
        oracle.pooled_accuracy(model, X, y, splits), abs=1e-12
    )


def test_selection_inside_the_folds_is_not_optimistic():
    """On labels at random, selecting on all samples first would look good."""
    X, y = make_random_labels(80, n_features=1000, random_state=0)
    inside = estimate(make_pipeline(AnovaF(10), GaussianNB()), X, y, random_state=0)
    chosen = AnovaF(10).fit_transform(X, y)
    outside = estimate(GaussianNB(), chosen, y, random_state=0)
    assert inside.value < 0.65
    assert outside.value > 0.75
