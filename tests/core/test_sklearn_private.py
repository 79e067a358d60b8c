"""What we rely on in scikit-learn beyond its public names, one test each."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import fbeta_score, get_scorer, log_loss, make_scorer
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

import veridical
from veridical._core.sklearn_private import (
    importances_of,
    is_first_batch,
    is_search,
    is_watched,
    output_kind,
    parts_of,
    take,
)
from veridical.selection import SVMRFE

X = np.arange(12.0).reshape(4, 3)


def test_no_other_module_uses_a_private_name():
    root = Path(veridical.__file__).parent
    private = re.compile(
        r"sklearn[\w.]*\._|from sklearn[\w.]* import [^\n]*\b_[a-z]"
        r"|_safe_indexing|_check_sample_weight|_score_func|_sklearn_output_config"
        r"|from sklearn[\w.]* import \([^)]*\b_[a-z]"
    )
    found = {
        path.name for path in root.rglob("*.py") if private.search(path.read_text())
    }

    assert found == {"sklearn_private.py"}


@pytest.mark.parametrize(
    "table",
    [X, pd.DataFrame(X), pl.DataFrame(X), sparse.csr_array(X), X.tolist()],
    ids=["numpy", "pandas", "polars", "sparse", "list"],
)
def test_rows_of_any_table(table):
    rows = np.array([2, 0, 2])

    part = take(table, rows)

    assert isinstance(part, type(table))
    dense = part.toarray() if sparse.issparse(part) else np.asarray(part)
    assert np.array_equal(dense, X[rows])


@pytest.mark.parametrize("table", [X, pd.DataFrame(X), pl.DataFrame(X)])
def test_columns_of_any_table(table):
    assert np.array_equal(np.asarray(take(table, [2, 0], axis=1)), X[:, [2, 0]])


def test_the_first_batch_gives_the_classes():
    model = GaussianNB()

    with pytest.raises(ValueError, match="classes must be passed"):
        is_first_batch(model, None)
    assert is_first_batch(model, ["b", "a"])
    assert model.classes_.tolist() == ["a", "b"]
    assert not is_first_batch(model, None)
    with pytest.raises(ValueError, match="is not the same"):
        is_first_batch(model, ["a", "c"])


def test_searches_over_parameters_are_recognised():
    model = LogisticRegression()

    assert is_search(GridSearchCV(model, {"C": [1]}))
    assert is_search(RandomizedSearchCV(model, {"C": [1]}))
    assert not is_search(model)


def test_importances_of_several_classes_are_norms():
    rng = np.random.default_rng(0)
    data, y = rng.standard_normal((30, 3)), np.arange(30) % 3
    selector = SelectFromModel(LogisticRegression(), norm_order=2).fit(data, y)

    expected = np.linalg.norm(selector.estimator_.coef_, ord=2, axis=0)

    assert np.allclose(importances_of(selector), expected, rtol=1e-12)
    chosen = importances_of(selector) >= selector.threshold_
    assert np.array_equal(selector.get_support(), chosen)


def test_what_a_transformer_returns():
    scaler = StandardScaler()
    assert output_kind(scaler) == "default"

    scaler.set_output(transform="polars")

    assert output_kind(scaler) == "polars"


def test_a_fit_is_watched_while_it_runs_with_callbacks():
    seen = []

    class Watcher:
        def setup(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context, **kwargs):
            seen.append(is_watched(estimator))

        def on_fit_task_end(self, estimator, context, **kwargs):
            pass

        def teardown(self, estimator, context):
            pass

    data, y = np.random.default_rng(0).standard_normal((12, 3)), np.arange(12) % 2
    selector = SVMRFE(1).set_callbacks(Watcher())
    assert not is_watched(selector)

    selector.fit(data, y)

    assert seen
    assert all(seen)
    assert not is_watched(SVMRFE(1).fit(data, y))


def test_the_parts_of_a_scorer():
    scorer = make_scorer(fbeta_score, beta=2)
    assert parts_of(scorer) == (fbeta_score, {"beta": 2}, "predict", True)

    function, options, response, greater_is_better = parts_of(
        get_scorer("neg_log_loss")
    )
    assert function is log_loss
    assert options == {}
    assert response == "predict_proba"
    assert not greater_is_better


def test_a_plain_callable_has_no_parts():
    assert parts_of(lambda model, X, y: 0.0) == (None, {}, "predict", True)
