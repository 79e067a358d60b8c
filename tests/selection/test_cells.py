"""Every selector, every target it reads, every container, with weights and groups.

The table is made from ``SELECTORS`` and from what the classes say that they read, so
that no cell can be forgotten. In each cell, features that are kept and grouped, sample
weights and the container come together; single questions have files of their own.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from tests.selection.problems import labels, survival

from veridical.selection import SELECTORS

pl = pytest.importorskip("polars")

N, P = 36, 7
GROUPS = ["a", "b", "b", "c", "d", "d", "e"]
KEEP = [3]


def _polars(X):
    return pl.DataFrame(X, schema=[f"x{j}" for j in range(P)])


CONTAINERS = {
    "numpy": np.asfortranarray,
    "float32": np.float32,
    "pandas": pd.DataFrame,
    "polars": _polars,
    "csr": sparse.csr_matrix,
    "csc": sparse.csc_array,
}

#: Selector, kind of target and container, for all that the classes say they read.
CELLS = [
    (name, target, container)
    for name, selector in SELECTORS.items()
    for target in selector._abilities.targets
    for container in CONTAINERS
    if selector._abilities.sparse or container not in ("csr", "csc")
]


def _data(target):
    """Features with some zeros that single precision holds exactly, and a target."""
    rng = np.random.default_rng(7)
    X = np.round(rng.normal(size=(N, P)) * 8) / 8
    X[rng.random((N, P)) < 0.4] = 0.0
    if target == "classes":
        return X, labels(rng, N, 2)
    if target == "numbers":
        return X, np.round(X[:, 2] + rng.normal(size=N), 2)
    return X, survival(rng, X[:, 2], grid=True)


def _sets(y):
    rng = np.random.default_rng(8)
    return [np.flatnonzero(np.arange(N) % 3 != f) for f in range(3)] + [
        rng.integers(0, N, N)
    ]


@pytest.mark.parametrize(("name", "target", "container"), CELLS)
def test_cell(name, target, container):
    X, y = _data(target)
    weights = np.random.default_rng(9).integers(0, 4, N)
    selector = SELECTORS[name](2, keep=KEEP, feature_groups=GROUPS)
    table = CONTAINERS[container](X)

    # Whole weights are repeated samples.
    copies = np.repeat(np.arange(N), weights)
    fitted = clone(selector).fit(table, y, sample_weight=weights)
    repeated = clone(selector).fit(X[copies], y[copies])
    assert fitted.order_.tolist() == repeated.order_.tolist()
    assert fitted.support_.tolist() == repeated.support_.tolist()
    if hasattr(repeated, "scores_"):
        np.testing.assert_allclose(fitted.scores_, repeated.scores_, atol=1e-9)

    # What is kept comes first, groups stay together, and two groups are selected.
    chosen = set(np.flatnonzero(fitted.support_).tolist())
    assert set(KEEP) <= chosen
    counted = {GROUPS[j] for j in chosen} - {GROUPS[j] for j in KEEP}
    assert len(counted) <= 2
    for group in counted:
        members = {j for j in range(P) if GROUPS[j] == group}
        assert members <= chosen

    # Many training sets at once are the loop, in the container as in an array.
    sets = _sets(y)
    many = selector.rank_many(table, y, sets, sample_weight=weights)
    for rows, order in zip(sets, many, strict=True):
        alone = clone(selector).fit(X[rows], y[rows], sample_weight=weights[rows])
        assert order.tolist() == alone.order_.tolist()


def test_the_table_has_all_selectors_and_targets():
    assert {name for name, _, _ in CELLS} == set(SELECTORS)
    assert {target for _, target, _ in CELLS} == {"classes", "numbers", "survival"}
    for name, selector in SELECTORS.items():
        found = {target for one, target, _ in CELLS if one == name}
        assert found == set(selector._abilities.targets)
