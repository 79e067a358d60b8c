"""Sources and null data sets that have groups."""

import numpy as np
import pytest

from veridical._core.reading import read_table
from veridical.comparison import compare, sensitivity
from veridical.comparison.simulation import SimulatedSource


def _patients(n_groups=20, size=5, icc=0.8, seed=0, p=6):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), size)
    y = (np.arange(n_groups) % 2)[groups]
    X = np.sqrt(icc) * rng.normal(size=(n_groups, p))[groups]
    return X + np.sqrt(1 - icc) * rng.normal(size=(len(y), p)), y, groups


def test_samples_of_a_group_are_correlated_as_observed():
    X, y, groups = _patients(60, 5, 0.7)
    table = read_table(X, y, groups=groups)
    source = SimulatedSource.from_table(table, 0.0)
    assert source.shared == pytest.approx(np.full(6, 0.7), abs=0.15)
    Z, labels = source(len(y), random_state=1)
    assert labels.tolist() == y.tolist()  # outcomes and groups are those of the data
    again = SimulatedSource.from_table(read_table(Z, labels, groups=groups), 0.0)
    assert again.shared == pytest.approx(source.shared, abs=0.2)
    alone = SimulatedSource.from_table(read_table(X, y), 0.0)
    assert not alone.shared.any()
    assert len(source(30, random_state=1)[1]) == 30


def test_features_of_groups_are_not_taken_for_informative():
    """Without groups, features that differ between patients seem to differ by class."""
    lucky = [
        SimulatedSource.from_table(read_table(*_patients(12, 10, 0.9, seed)[:2]))
        for seed in range(10)
    ]
    careful = []
    for seed in range(10):
        X, y, groups = _patients(12, 10, 0.9, seed)
        careful.append(SimulatedSource.from_table(read_table(X, y, groups=groups)))
    assert sum(one.n_relevant for one in lucky) > 20
    assert sum(one.n_relevant for one in careful) < 6


def test_sensitivity_and_calibration_draw_groups():
    X, y, groups = _patients()
    options = {"estimator": "nb", "n_features_to_select": 2, "random_state": 0}
    found = sensitivity(
        ["anova", "relieff"], X, y, groups=groups, cv=4, strengths=(1.0,), n_sets=3,
        n_test=40, **options,
    )  # fmt: skip
    assert "20 groups kept whole" in found.settings["cross-validation"]
    assert found.sources[0].accuracy["in"].shape[2:] == (3, 4)
    calibrated = compare(
        ["anova", "relieff"], X, y, groups=groups, cv=4, calibrated=20, **options
    )
    verdict = calibrated.verdicts["in"].test
    assert "calibrated" in verdict.name
    assert 0 < verdict.pvalue <= 1
