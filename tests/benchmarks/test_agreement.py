"""Results are compared before times are believed: each check must be able to fail."""

import numpy as np
import pytest
from benchmarks.definitions import Agreement, Result

from benchmarks import agreement

ORDER = np.array([3, 1, 2, 0, 4])


def judged(check, ours, theirs):
    holds = check(ours, theirs).holds
    assert isinstance(holds, bool)  # numpy's own truth cannot be stored as JSON
    return holds


def test_same_order_sees_a_swap_and_says_where():
    swapped = ORDER[[0, 2, 1, 3, 4]]
    check = agreement.same_order()
    assert judged(check, Result(ORDER), Result(ORDER))
    found = check(Result(ORDER), Result(swapped))
    assert found.holds is False
    assert "place 2" in found.words


def test_same_order_looks_at_the_first_k_only():
    swapped = ORDER[[0, 1, 2, 4, 3]]
    assert judged(agreement.same_order(3), Result(ORDER), Result(swapped))
    assert not judged(agreement.same_order(4), Result(ORDER), Result(swapped))


def test_same_order_compares_every_training_set():
    ours, theirs = np.tile(ORDER, (3, 1)), np.tile(ORDER, (3, 1))
    theirs[2, :2] = theirs[2, 1::-1]
    found = agreement.same_order()(Result(ours), Result(theirs))
    assert found.holds is False
    assert "set 3" in found.words
    assert not judged(agreement.same_order(), Result(ours), Result(theirs[:2]))


def test_close_scores_forgives_rounding_only():
    scores = np.array([0.0, 0.5, 0.25])
    check = agreement.close_scores()
    assert judged(check, Result(scores=scores), Result(scores=scores * (1 + 1e-12)))
    assert not judged(check, Result(scores=scores), Result(scores=scores + 1e-6))
    gone = np.array([0.0, 0.5, np.nan])
    assert not judged(check, Result(scores=scores), Result(scores=gone))


@pytest.mark.parametrize(
    ("at_least", "holds"), [(0.5, True), (0.7, False), (None, None)]
)
def test_overlap_is_held_against_its_threshold(at_least, holds):
    found = agreement.overlap(3, at_least)(
        Result(ORDER), Result(ORDER[[0, 1, 4, 3, 2]])
    )
    assert found.holds is holds
    assert "67% shared" in found.words


def test_rank_correlation_ignores_scale_but_not_order():
    scores = np.array([0.1, 0.9, 0.5, 0.3])
    check = agreement.rank_correlation(0.99)
    assert judged(check, Result(scores=scores), Result(scores=10 * scores))
    assert not judged(check, Result(scores=scores), Result(scores=-scores))


def test_same_set_ignores_order():
    check = agreement.same_set(3)
    assert judged(check, Result(ORDER), Result(np.array([2, 3, 1])))
    assert not judged(check, Result(ORDER), Result(np.array([2, 3, 4])))
    told = agreement.same_set()(Result(ORDER), Result(np.array([3, 4])))
    assert told == Agreement(None, "kept 2, we 5, both 2")


def test_eliminations_are_compared_round_by_round_where_both_were_run():
    check = agreement.same_elimination(0.6)
    assert judged(check, Result(ORDER), Result(np.array([-1, -1, -1, 0, 4])))
    swapped = Result(np.array([-1, -1, -1, 4, 0]))
    assert not judged(check, Result(ORDER), swapped)
    half = Result(np.array([-1, -1, 2, 0, 9]))  # two of three
    assert judged(check, Result(ORDER), half)
    told = agreement.same_elimination()(Result(ORDER), swapped)
    assert told == Agreement(None, "dropped in the same round: 0 of 2")


def test_all_of_needs_all_decided_checks():
    told, strict = agreement.overlap(2), agreement.overlap(2, 1.0)
    other = Result(np.array([3, 4, 0, 1, 2]))
    assert agreement.all_of(told)(Result(ORDER), other).holds is None
    assert agreement.all_of(told, strict)(Result(ORDER), Result(ORDER)).holds is True
    assert agreement.all_of(told, strict)(Result(ORDER), other).holds is False
