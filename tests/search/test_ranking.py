"""The simplest search, one ranking per training set."""

import numpy as np

from veridical.search import rank_by_score


def test_one_ranking_per_row():
    scores = np.array([[1.0, 3.0, 2.0], [5.0, np.nan, 5.0]])
    first, second = rank_by_score(scores)
    assert first.order.tolist() == [1, 2, 0]
    assert second.order.tolist() == [0, 2, 1]
    assert first.n_kept == second.n_kept == 3
    np.testing.assert_array_equal(second.scores, scores[1])


def test_tolerances_decide_what_is_tied():
    scores = np.array([[1.0, 1.0 + 1e-9]])
    assert rank_by_score(scores)[0].order.tolist() == [1, 0]
    assert rank_by_score(scores, rtol=1e-8)[0].order.tolist() == [0, 1]
    assert rank_by_score(scores, rtol=0, atol=1e-8)[0].order.tolist() == [0, 1]
