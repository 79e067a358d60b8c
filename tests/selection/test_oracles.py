"""Scores and orders are those of the slow, obvious routines."""

import numpy as np
import pytest
from hypothesis import assume, given, reject
from hypothesis import strategies as st
from tests.oracles.incremental import UnclearError
from tests.selection.problems import examples
from tests.selection.rows import each

pytestmark = pytest.mark.filterwarnings("ignore:Some features are constant within")


@each("oracle")
@given(data=st.data())
@examples(25)
def test_scores_and_order_are_the_oracles(row, data):
    problem = data.draw(row.problems())
    try:
        scores, order, n_kept = row.oracle(problem)
    except UnclearError:
        reject()
    assume(row.is_clear(scores, problem.y))
    fitted = row.make(problem, n_features_to_select=None).fit(problem.X, problem.y)
    wanted = np.array([float(score) for score in scores])
    np.testing.assert_allclose(fitted.scores_, wanted, **row.tolerance(problem.y))
    assert fitted.order_.tolist() == order
    assert fitted.n_features_ == n_kept
    assert set(np.flatnonzero(fitted.support_)) == set(order[:n_kept])
    assert fitted.ranking_[order].tolist() == list(range(1, len(order) + 1))
