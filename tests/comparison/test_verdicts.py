"""What stands beside a p-value: a looked-up size, or a null measured on the spot."""

import numpy as np
import pytest

from benchmarks import sizes
from veridical._core.errors import InputError
from veridical.comparison import compare, truth
from veridical.comparison.null_designs import NullDesign, simulate
from veridical.comparison.sizes import ALPHAS, measured_size, size_table
from veridical.comparison.testing import TESTS
from veridical.comparison.verdicts import count_draws

COMMON = {"n_features_to_select": 5, "estimator": "nb", "random_state": 0}


def test_the_shipped_table_covers_every_test():
    rows = [row for row in size_table() if row.kind == "plain"]
    for test in TESTS:
        designs = {r[3:9] for r in rows if r.test == test}
        assert len(designs) >= 6, test
    assert {row.n_simulations for row in size_table()} == {2000}
    assert all(
        0 <= count <= 2000 and list(row.rejected) == sorted(row.rejected)
        for row in size_table()
        for count in row.rejected
    )


def test_calibrated_tests_hold_their_size_in_the_shipped_table():
    rows = [row for row in size_table() if row.kind == "calibrated"]
    for test, entry in TESTS.items():
        own = [row for row in rows if row.test == test]
        if not entry.calibrated:
            assert own == []
            continue
        assert len({row[3:9] for row in own}) >= 6, test
        for row in own:
            assert 0.034 <= row.size(0.05).rate <= 0.066, row


def test_the_nearest_design_is_looked_up():
    common = {"n_samples": 110, "estimator": "nb", "accuracy": 0.9, "alpha": 0.05}
    size = measured_size("corrected-t", "in", (1, 10), **common)
    row = next(
        r
        for r in size_table()
        if r.kind == "plain"
        and r[1:9] == ("corrected-t", 2, "in", 1, 10, 100, "nb", 1.0)
    )
    assert size.rate == row.rejected[ALPHAS.index(0.05)] / 2000
    assert size.low < size.rate < size.high
    assert "10 folds of 100 samples under IN, naive Bayes" in size.design
    near = measured_size("corrected-t", "in", (1, 10), **{**common, "n_samples": 1000})
    assert "200 samples" in near.design
    low = measured_size("corrected-t", "in", (1, 10), **{**common, "accuracy": 0.5})
    assert low.design != size.design
    other = measured_size("corrected-t", "out", (1, 10), **common)
    assert "under OUT" in other.design
    assert measured_size("corrected-t", "in", (3, 7), **common) is None
    assert measured_size("corrected-t", "truth", (1, 10), **common) is None
    assert (
        measured_size("corrected-t", "in", (1, 10), **{**common, "alpha": 0.02}) is None
    )


def test_every_verdict_carries_its_measured_size(anova, worst, problem):
    X, y = problem
    record = compare([anova, worst], X, y, cv=10, **COMMON)
    for method in ("in", "out"):
        size = record.verdicts[method].test.size
        assert size.nominal == 0.05
        assert size.n_simulations == 2000
        assert f"under {method.upper()}" in size.design
    unmeasured = compare([anova, worst], X, y, cv=7, **COMMON)
    assert unmeasured.verdicts["in"].test.size is None


def test_stability_and_time_are_recorded(anova, first, problem):
    X, y = problem
    record = compare([anova, first], X, y, cv=5, **COMMON)
    assert set(record.stability) == {"in"}
    steady = record.stability["in"][1]
    assert steady.value == 1  # always the same columns, and so no variance
    assert np.isnan(steady[1:]).all()
    assert 0 < record.stability["in"][0].value <= 1
    assert all(seconds > 0 for seconds in record.seconds)
    only_out = compare([anova, first], X, y, cv=5, methods=("out",), **COMMON)
    assert only_out.stability == {}
    known = truth([anova, first], "linear", n_train=60, n_sets=3, cv=3, **COMMON)
    assert set(known.stability) == {"truth"}


def test_a_calibrated_comparison(anova, worst, problem):
    X, y = problem
    arguments = {**COMMON, "cv": 5, "estimator": ["nb", "1nn"], "calibrated": 20}
    record = compare([anova, worst], X, y, **arguments)
    plain = compare([anova, worst], X, y, **{**arguments, "calibrated": False})
    test, before = record.verdicts["in"].test, plain.verdicts["in"].test
    assert test.statistic == before.statistic
    assert test.name == "corrected resampled t, calibrated"
    assert "40 data sets" in test.assumptions
    assert test.pvalue * 41 == pytest.approx(round(test.pvalue * 41))
    assert test.size.n_simulations == 40
    assert test.size.design.startswith("each selector against itself under IN")
    assert record.by_estimator["nb"]["out"][0].verdict.test.name.endswith("calibrated")
    assert record.settings["calibrated"] == "on 20 pairs of data sets like the data"
    again = compare([anova, worst], X, y, **arguments, n_jobs=2)
    assert again.verdicts == record.verdicts


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"calibrated": 5}, "from 20 up"),
        ({"calibrated": 40, "alpha": 0.01}, "from 50 up"),
        ({"calibrated": "yes"}, "calibrated must be"),
        ({"calibrated": True, "test": "bayesian-correlated-t"}, "cannot be calibrated"),
    ],
)
def test_refusals(anova, worst, problem, arguments, message):
    X, y = problem
    with pytest.raises(InputError, match=message):
        compare([anova, worst], X, y, **COMMON, **arguments)


@pytest.mark.parametrize("alpha", [0.05, 0.01])
@pytest.mark.parametrize("n_pairs", [1, 3, 10, 45])
def test_the_shortest_null_can_still_be_significant(alpha, n_pairs):
    least = next(
        n
        for n in range(20, 10_000)
        if n_pairs / (2 * n + 1) < alpha  # the smallest p-value, corrected
    )
    assert count_draws(least, alpha, n_pairs) == least
    assert count_draws(True, alpha, n_pairs) == max(100, 2 * least)
    with pytest.raises(InputError, match=f"from {least} up"):
        count_draws(least - 1, alpha, n_pairs)


@pytest.mark.parametrize(
    ("geometry", "test", "method"),
    [((1, 5), "corrected-t", "in"), ((5, 2), "five-by-two-f", "out")],
)
def test_the_shipped_table_is_what_its_script_makes(geometry, test, method):
    design = NullDesign(*geometry, method, 50, "centroid", 0.5)
    found = simulate(design, sizes.N_SIMULATIONS, sizes.seed(design))
    (row,) = (
        r
        for r in size_table()
        if r.kind == "plain"
        and r[1:9] == (test, 2, method, *geometry, 50, "centroid", 0.5)
    )
    assert list(row.rejected) == sizes.count(test, design, found)
    assert row.accuracy == pytest.approx(found.mean(), abs=5e-5)
