"""Least and largest values in many training sets, against looking at each."""

import numpy as np
import pytest

from veridical.kernels.ranges import MAX_VALUES, block_ranges


def found(columns, present):
    low, high = np.empty((2, len(columns), present.shape[1]))
    block_ranges(columns, present, low, high)
    return low, high


@pytest.mark.filterwarnings("ignore:All-NaN")
@pytest.mark.parametrize("n", [1, 7, 64, 65, 200])
def test_ranges_are_those_of_the_rows_present(n):
    rng = np.random.default_rng(n)
    columns = np.stack(
        [
            rng.normal(size=n),
            rng.integers(0, 3, n).astype(float),
            np.arange(n, dtype=float),
            np.where(rng.random(n) < 0.5, np.nan, rng.normal(size=n)),
            np.full(n, np.nan),
            np.full(n, -2.5),
        ]
    )
    shares = rng.random((n, 20)) < np.linspace(0, 1, 20)
    # Sets without any of the values that are tried first.
    tails = np.arange(n)[:, None] >= np.minimum(
        [MAX_VALUES - 1, MAX_VALUES, n - 1], n - 1
    )
    present = np.hstack([shares, tails, ~tails])
    low, high = found(columns, present)
    for s in range(present.shape[1]):
        kept = columns[:, present[:, s]]
        if kept.shape[1] == 0:
            assert np.isnan(low[:, s]).all()
            assert np.isnan(high[:, s]).all()
        else:
            np.testing.assert_array_equal(low[:, s], np.nanmin(kept, axis=1))
            np.testing.assert_array_equal(high[:, s], np.nanmax(kept, axis=1))
