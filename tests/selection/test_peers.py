"""Scores are those of other packages, where another package has the method."""

import numpy as np
from hypothesis import given, reject
from hypothesis import strategies as st
from tests.oracles.incremental import UnclearError
from tests.selection.problems import examples
from tests.selection.rows import each


@each("peer")
@given(data=st.data())
@examples(25)
def test_scores_are_those_of_another_package(row, data):
    problem = data.draw(row.problems(missing=False, wild=(), max_rows=30))
    try:
        wanted = row.peer.scores(problem.X, problem.y, problem.nominal)
    except UnclearError:
        reject()
    fitted = row.make(problem).fit(problem.X, problem.y)
    np.testing.assert_allclose(fitted.scores_, wanted, rtol=1e-9, atol=1e-10)
