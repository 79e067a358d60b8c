"""Codes and cut points of the information criteria in single training sets."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles import selection as oracle
from tests.selection.problems import examples, problems, train_sets

from veridical._core.table import Table
from veridical.criteria.information import (
    UncertaintyRedundancy,
    cut_points,
    interval_codes,
)
from veridical.kernels.trainsets import TrainSets


def test_intervals_are_open_on_the_left():
    x = np.array([-1.0, 0.0, 0.5, 1.0, 1.5, np.nan])
    assert interval_codes(x, np.array([0.0, 1.0])).tolist() == [0, 0, 1, 1, 2, -1]
    assert interval_codes(x, np.empty(0)).tolist() == [0, 0, 0, 0, 0, -1]


@given(problem=problems(categorical=True, missing=True, max_rows=24), data=st.data())
@examples(60)
def test_cuts_and_redundancy_of_training_sets(problem, data):
    sets = data.draw(train_sets(problem.y))
    index = [np.flatnonzero(r) if r.dtype == bool else r for r in sets]
    if not index:
        return
    X = problem.X.copy()
    for j in np.flatnonzero(problem.categorical):  # criteria want codes 0, 1, 2, ...
        known = ~np.isnan(X[:, j])
        X[known, j] = np.unique(X[known, j], return_inverse=True)[1]
    labelled = Table.from_arrays(X, problem.categorical, problem.y)
    many = TrainSets.from_indices(index, len(problem.y))
    s = len(index) - 1
    part = problem.take(index[s])
    columns, y = part.columns(), part.y.tolist()
    redundancy = UncertaintyRedundancy(labelled, many, s, "cuts")
    codes = []
    for j, x in enumerate(columns):
        codes.append(oracle.coded(x, y, problem.categorical[j], "cuts"))
        if not problem.categorical[j]:
            wanted = oracle.mdl_cuts(x, y)
            got = cut_points(labelled, many, s, j, "cuts")
            assert len(got) == len(wanted)
            assert all(lo <= c < hi for c, (lo, hi) in zip(got, wanted, strict=True))
    for i in range(len(columns)):
        others = np.delete(np.arange(len(columns)), i)
        wanted = [oracle.symmetrical_uncertainty(codes[i], codes[j]) for j in others]
        got = redundancy.between(i, others)
        np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-12)
