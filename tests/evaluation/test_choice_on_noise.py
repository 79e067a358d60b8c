"""Real measurements with permuted outcomes: what is chosen must not look like more."""

from __future__ import annotations

import os

import numpy as np
import pytest
from scipy import stats

from veridical import choose
from veridical.datasets import load

CANDIDATES = {
    "selectors": ["anova", "mrmr"],
    "sizes": [1, 2],
    "estimators": ["nb", "1nn"],
}
WIDE = {**CANDIDATES, "sizes": [2, 10, 50]}
#: Probability that a test fails although intervals exceed chance in 2.5 % of data sets.
BY_CHANCE = 0.001


def permuted_choices(X, y, n_runs, units=None, **options):
    """Choose with permuted outcomes; those of a group move together."""
    found = []
    for seed in range(n_runs):
        rng = np.random.default_rng([22, seed])
        if units is None:
            target, more = rng.permutation(y), {}
        else:
            first = np.unique(units, return_index=True)[1]
            target, more = rng.permutation(y[first])[units], {"groups": units}
        found.append(
            choose(
                X,
                target,
                **options,
                **more,
                cv=5,
                correction="nested",
                n_bootstrap=200,
                random_state=seed,
                progress=False,
            )
        )
    return found


def check(found, y):
    """Neither interval may lie above chance more often than it says."""
    chance = np.unique(y, return_counts=True)[1].max() / len(y)
    allowed = stats.binom.ppf(1 - BY_CHANCE, len(found), 0.025)
    nested = sum(one.interval()[0] > chance for one in found)
    bbc = sum(one.by_bbc.low > chance for one in found)
    assert nested <= allowed, nested
    assert bbc <= allowed, bbc
    assert sum(one.conclusion.belief == "yes" for one in found) <= allowed
    naive = np.array([one.naive_score for one in found])
    assert (naive >= chance).all()  # the baseline is a candidate
    assert naive.mean() > np.mean([one.score for one in found])


def test_iris():
    X, y = load("iris")
    check(permuted_choices(X, y, 12, **CANDIDATES), y)


def test_iris_in_groups():
    """Flowers of a group are alike, and have the class of the group."""
    X, y = load("iris")
    groups = np.arange(150) // 5
    check(permuted_choices(X, y, 12, groups, **CANDIDATES), y)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["colon", "golub_amlall3"])
def test_gene_expression(name):
    if not os.environ.get("VERIDICAL_DATA"):
        pytest.skip("VERIDICAL_DATA is not set")
    X, y = load(name)
    y = np.array([label[:3] for label in y])  # ALL or AML
    check(permuted_choices(X, y, 20, **WIDE), y)


@pytest.mark.slow
def test_gene_expression_in_groups():
    if not os.environ.get("VERIDICAL_DATA"):
        pytest.skip("VERIDICAL_DATA is not set")
    X, y = load("colon")
    order = np.argsort(y, kind="stable")[: len(y) // 2 * 2]
    check(permuted_choices(X[order], y[order], 20, np.arange(62) // 2, **WIDE), y)
