"""Scores are those of other packages, where another package has the method."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.selection.problems import Problem, examples, labels
from tests.selection.rows import ROWS, each


@each("peer")
@given(data=st.data())
@examples(25)
def test_scores_are_those_of_another_package(row, data):
    problem = data.draw(row.problems(missing=False, wild=(), max_rows=30))
    table = problem.X, problem.y, problem.categorical
    assume(row.peer.is_clear(*table))
    wanted = row.peer.scores(*table)
    fitted = row.make(problem).fit(problem.X, problem.y)
    np.testing.assert_allclose(fitted.scores_, wanted, rtol=1e-9, atol=1e-10)


KINDS = [
    pytest.param(row, kind, id=f"{row.name}-{kind}")
    for row in ROWS
    for kind in (("numbers", "categories", "both") if row.categorical else ("numbers",))
    if row.peer and row.target == "classes"
]


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize(("row", "kind"), KINDS)
def test_scores_of_larger_tables_of_every_kind(row, n_classes, kind):
    rng = np.random.default_rng(17)
    y = labels(rng, 70, n_classes)
    X = rng.normal(size=(70, 15)) + np.outer(y, rng.random(15) < 0.4)
    categorical = {
        "numbers": np.zeros(15, dtype=bool),
        "categories": np.ones(15, dtype=bool),
        "both": np.arange(15) % 3 == 0,
    }[kind]
    X[:, categorical] = X[:, categorical].round()
    assert row.peer.is_clear(X, y, categorical)
    problem = Problem(X, categorical, y)
    fitted = row.make(problem).fit(X, y)
    wanted = row.peer.scores(X, y, categorical)
    assert np.ptp(wanted) > 0.01
    np.testing.assert_allclose(fitted.scores_, wanted, rtol=1e-10, atol=1e-10)
