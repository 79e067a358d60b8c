"""The search of FCBF, on scores and redundancies given outright."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veridical.search import predominance

scores_and_pairs = st.integers(1, 7).flatmap(
    lambda p: st.tuples(
        st.lists(st.integers(0, 5).map(lambda k: k / 5), min_size=p, max_size=p),
        st.lists(
            st.integers(0, 5).map(lambda k: k / 5), min_size=p * p, max_size=p * p
        ),
    )
)


def search(scores, table, threshold=0.0):
    scores = np.array(scores, dtype=float)
    return predominance(
        scores,
        lambda i, others: np.array([table[i][j] for j in others]),
        threshold=threshold,
        atol=1e-12,
    )


@given(case=scores_and_pairs, threshold=st.sampled_from([0.0, 0.3, 1.0]))
@settings(max_examples=80, deadline=None)
def test_predominant_features_are_kept_and_redundant_ones_removed(case, threshold):
    """Not the algorithm again, but what must hold of its result."""
    scores, flat = case
    p = len(scores)
    table = [flat[i * p : (i + 1) * p] for i in range(p)]
    ranking = search(scores, table, threshold)
    order, n_kept = ranking.order.tolist(), ranking.n_kept
    accepted, others = order[:n_kept], order[n_kept:]
    relevant = [j for j in range(p) if scores[j] > threshold]
    place = {j: (-scores[j], j) for j in range(p)}
    assert sorted(order) == list(range(p))
    assert set(accepted) <= set(relevant)
    for j in relevant:
        by = [i for i in accepted if place[i] < place[j] and table[i][j] >= scores[j]]
        assert (j in accepted) == (not by), f"{j} is predominated by {by}"
    removed = [j for j in others if j in relevant]
    rest = [j for j in others if j not in relevant]
    assert others == removed + rest
    for group in (accepted, removed, rest):
        assert group == sorted(group, key=place.get)


@pytest.mark.parametrize(("redundancy", "kept"), [(0.5 - 2e-8, 2), (0.5 - 5e-9, 1)])
def test_redundancy_may_fall_short_by_rounding(redundancy, kept):
    table = [[1, redundancy], [redundancy, 1]]
    assert search([0.9, 0.5], table).n_kept == kept


def test_pairs_are_asked_for_only_where_needed():
    asked = []

    def redundancy(i, others):
        asked.extend((i, int(j)) for j in others)
        return np.full(len(others), 1.0 if i == 0 else 0.0)

    scores = np.array([0.9, 0.5, 0.4, 0.0, 0.0])
    ranking = predominance(scores, redundancy, threshold=0.0, atol=1e-12)
    assert ranking.n_kept == 1
    assert asked == [(0, 1), (0, 2)], "not among the removed nor the irrelevant"
