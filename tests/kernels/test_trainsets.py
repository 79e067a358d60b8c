"""Training sets as changes against all rows."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from veridical.kernels.trainsets import TrainSets


@st.composite
def index_lists(draw):
    n = draw(st.integers(1, 12))
    rows = st.lists(st.integers(0, n - 1), min_size=1, max_size=2 * n)
    return n, draw(st.lists(rows, min_size=1, max_size=5))


def rebuilt(sets):
    """Multiplicities from the changes alone."""
    n = sets.counts.shape[1]
    counts = np.tile(sets.whole[:, None].astype(float), (1, n))
    for i in range(n):
        for c in range(sets.start[i], sets.start[i + 1]):
            counts[sets.where[c], i] += sets.change[c]
    return counts


@given(case=index_lists())
@settings(max_examples=80, deadline=None)
def test_changes_give_back_the_multiplicities(case):
    n, lists = case
    sets = TrainSets.from_indices([np.array(rows) for rows in lists], n)
    wanted = np.array([[rows.count(i) for i in range(n)] for rows in lists])
    np.testing.assert_array_equal(sets.counts, wanted)
    np.testing.assert_array_equal(rebuilt(sets), wanted)
    assert len(sets) == len(lists)
    assert [rows.tolist() for rows in sets.indices] == lists


@given(case=index_lists())
@settings(max_examples=100, deadline=None)
def test_no_more_changes_than_needed(case):
    """From all rows or from none, whichever is nearer."""
    n, lists = case
    sets = TrainSets.from_indices([np.array(rows) for rows in lists], n)
    for s, count in enumerate(sets.counts):
        changes = np.count_nonzero(sets.where == s)
        assert changes == min(np.count_nonzero(count != 1), np.count_nonzero(count))


@given(
    weight=st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.25]), min_size=1, max_size=9),
    seed=st.integers(0, 99),
)
@settings(max_examples=100, deadline=None)
def test_weights_and_class_weights(weight, seed):
    weight = np.array(weight)
    y = np.random.default_rng(seed).integers(0, 3, weight.size)
    sets = TrainSets.from_counts(weight)
    np.testing.assert_array_equal(rebuilt(sets)[0], weight)
    wanted = [weight[y == k].sum() for k in range(3)]
    np.testing.assert_array_equal(sets.class_counts(y, 3)[0], wanted)


def test_folds_and_leave_one_out_cost_one_more_pass():
    every = np.arange(100)
    folds = TrainSets.from_indices([every[every % 10 != f] for f in range(10)], 100)
    single = TrainSets.from_indices([np.delete(every, i) for i in range(100)], 100)
    assert folds.change.size == single.change.size == 100
    assert TrainSets.all_rows(100).change.size == 0
