"""The quick decision that a feature is not cut, against the search for its cuts."""

import numpy as np
import pytest
from scipy import sparse

from veridical._core.table import Table
from veridical.criteria.information import gains
from veridical.kernels.entropies import xlogx_table
from veridical.kernels.mdl import cannot_be_cut, column_cuts
from veridical.kernels.trainsets import TrainSets


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("count_cuts", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_a_feature_with_a_cut_is_left_open(n_classes, count_cuts, weighted):
    rng = np.random.default_rng(n_classes)
    decided = found = 0
    for _ in range(300):
        n = int(rng.integers(20, 3000))
        y = rng.integers(0, n_classes, n)
        strength = rng.uniform(0, 0.5) * (rng.random() < 0.5)
        x = rng.normal(size=n) + strength * (y == 0)
        x = np.round(x, int(rng.choice([0, 1, 2, 8])))
        weight = np.ones(n, dtype=np.int32)
        if weighted:
            weight = rng.integers(1, 4, n).astype(np.int32)
        xlogx = xlogx_table(int(weight.sum()))
        order = np.argsort(x)
        cuts = column_cuts(x, order, y, n_classes, weight, xlogx, count_cuts)
        total = np.bincount(y, weight, n_classes).astype(np.int32)
        candidates = np.unique(x).size if count_cuts else int(weight.sum())
        # The most frequent value stands for the zeros of a sparse feature.
        values, counts = np.unique(x, return_counts=True)
        common = values[counts.argmax()]
        begin, end = np.searchsorted(x[order], [common, np.nextafter(common, np.inf)])
        for together in ((0, 0), (begin, end)):
            below = np.empty(n_classes, dtype=np.int32)
            certain = cannot_be_cut(
                y[order].astype(np.int32),
                weight[order],
                total,
                candidates - 1,
                *together,
                xlogx,
                below,
            )
            assert not (certain and cuts.size)
            decided += certain
            found += cuts.size > 0
    assert decided > 10
    assert found > 10


@pytest.mark.parametrize("form", [np.asarray, sparse.csc_array])
def test_one_training_set_scores_as_many(form):
    """Many training sets take another way."""
    rng = np.random.default_rng(0)
    n, p = 600, 200
    y = np.arange(n) % 3
    X = np.where(rng.random((n, p)) < 0.3, rng.normal(size=(n, p)), 0.0)
    X += np.linspace(0, 0.5, p) * (y == 0)[:, None] * (X != 0)
    data = Table.from_arrays(form(X.astype(np.float32)), np.zeros(p, dtype=bool), y)
    rows = np.arange(n)
    many, _ = gains(data, TrainSets.from_indices([rows, rows[: n // 2]], n), 1)
    alone, _ = gains(data, TrainSets.all_rows(n), 1)
    np.testing.assert_array_equal(alone[0], many[0])
    assert np.count_nonzero(alone) not in (0, p)
