"""What stands beside a p-value: a looked-up size, or a null measured on the spot."""

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.truth import sizes

from veridical._core.errors import InputError
from veridical.comparison import compare, truth
from veridical.comparison.conclusions import false_positives
from veridical.comparison.null_designs import simulate
from veridical.comparison.sizes import measured_size, size_table
from veridical.comparison.testing import TESTS
from veridical.comparison.verdicts import count_draws
from veridical.evaluation.situations import (
    HEAVY_TAILS,
    N_NEAR,
    SIMULATED,
    Situation,
)

COMMON = {"n_features_to_select": 5, "estimator": "nb", "random_state": 0}


def test_the_shipped_table_covers_every_test():
    rows = [row for row in size_table() if row.kind == "plain"]
    for test in TESTS:
        designs = {row.design for row in rows if row.test == test}
        assert len(designs) >= 90, test
        assert {design.estimator for design in designs} == set(SIMULATED)
        for name, least in (("n_samples", 8), ("n_columns", 8), ("n_classes", 1.5)):
            values = [getattr(design, name) for design in designs]
            assert max(values) >= least * min(values)
        assert {design.tail_df for design in designs} == {2.0, 4.0, np.inf}
        assert min(design.minority for design in designs) < 0.2
    assert all(
        0 <= count <= row.n_simulations and list(row.rejected) == sorted(row.rejected)
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
        assert len({row.design for row in own}) >= 6, test
        for row in own:
            assert 0.034 <= row.size(0.05).rate <= 0.066, row


SITUATION = Situation(110, 200, 10, 2, 0.5, "nb", 0.8)


def test_the_range_is_that_of_the_nearest_designs():
    size = measured_size("corrected-t", "in", (1, 10), SITUATION, alpha=0.05)
    rows = [
        row
        for row in size_table()
        if (row.kind, row.test) == ("plain", "corrected-t")
        and row.design.method == "in"
        and (row.design.n_repeats, row.design.n_folds) == (1, 10)
    ]
    rows.sort(key=lambda row: SITUATION.distance(row.situation))
    near = [row for row in rows if SITUATION.distance(row.situation) <= 3.5][:N_NEAR]
    sizes = [row.size(0.05) for row in near]
    assert 5 <= size.n_designs == len(near)
    assert size.rate == np.median([one.rate for one in sizes])
    assert size.low == min(one.low for one in sizes)
    assert size.high == max(one.high for one in sizes)
    assert "10 folds under IN, " in size.design
    other = measured_size("corrected-t", "out", (1, 10), SITUATION, alpha=0.05)
    assert "under OUT" in other.design


@pytest.mark.parametrize(
    ("test", "method", "shape"),
    [
        ("corrected-t", "truth", (1, 10)),
        ("corrected-t", "in", None),
        ("another", "in", (1, 10)),
    ],
)
def test_what_was_not_measured_has_no_size(test, method, shape):
    assert measured_size(test, method, shape, SITUATION, alpha=0.05) is None


@pytest.mark.parametrize(
    ("shape", "alpha", "like", "level"),
    [
        ((1, 4), 0.05, "5 folds", 0.05),
        ((1, 12), 0.05, "10 folds", 0.05),
        ((10, 5), 0.05, "10 x 10 folds", 0.05),
        ((1, 10), 0.02, "10 folds", 0.01),
        ((1, 10), 0.2, "10 folds", 0.1),
    ],
)
def test_other_splits_and_levels_have_the_range_of_the_nearest(
    shape, alpha, like, level
):
    size = measured_size("corrected-t", "in", shape, SITUATION, alpha=alpha)
    assert not size.near
    assert size.design.startswith(f"{like} under IN")
    assert size.nominal == level
    assert measured_size("corrected-t", "in", (1, 10), SITUATION, alpha=1 - 0.95).near


def test_folds_between_measured_ones_have_the_range_of_both():
    """Seven folds lie between five and ten; the nearest designs may be of either."""
    between = measured_size("corrected-t", "in", (1, 7), SITUATION, alpha=0.05)
    sides = [
        measured_size("corrected-t", "in", (1, folds), SITUATION, alpha=0.05)
        for folds in (5, 10)
    ]

    assert between.near
    assert between.design.startswith("5 or 10 folds under IN")
    assert between.n_designs == sides[0].n_designs
    assert min(one.low for one in sides) <= between.low
    assert between.high <= max(one.high for one in sides)


@pytest.mark.parametrize(
    "changed",
    [
        {"n_samples": 100_000},
        {"n_features": 10_000_000},
        {"n_classes": 40, "minority": 0.01},
    ],
)
def test_far_from_all_designs_the_range_is_that_of_all(changed):
    far = SITUATION._replace(**changed)
    size = measured_size("corrected-t", "in", (1, 10), far, alpha=0.05)
    near = measured_size("corrected-t", "in", (1, 10), SITUATION, alpha=0.05)
    assert not size.near
    assert near.near
    assert size.low <= near.low < near.high <= size.high
    assert size.n_designs > 50
    assert "only in other designs" in false_positives(size)


def test_no_design_is_near_where_tails_are_heavy():
    usual = measured_size(
        "corrected-t", "in", (1, 10), SITUATION, alpha=0.05, tails=HEAVY_TAILS
    )
    heavy = measured_size("corrected-t", "in", (1, 10), SITUATION, alpha=0.05, tails=1)
    rates = [
        row.size(0.05).rate
        for row in size_table()
        if (row.kind, row.test) == ("plain", "corrected-t")
        and row.design.method == "in"
        and (row.design.n_repeats, row.design.n_folds) == (1, 10)
        and row.design.tail_df < 3
    ]
    assert usual.near
    assert not heavy.near
    assert heavy.n_designs == len(rates) >= 10
    assert heavy.low <= min(rates) < 0.02
    assert heavy.high >= max(rates) > 0.2


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc"])
def test_heavy_tails_lead_to_no_claim(anova, worst, scoring):
    """The same features lead to a claim, unless some values are far from the others."""
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    X = rng.normal(size=(100, 20)) + 1.2 * y[:, None] * (np.arange(20) < 5)
    far = np.sign(X) * np.expm1(np.abs(X)) ** 2
    options = {**COMMON, "cv": 10, "scoring": scoring}
    usual, heavy = (compare([anova, worst], Z, y, **options) for Z in (X, far))
    for made in (usual, heavy):
        assert made.verdicts["in"].winner == "a"
    assert "You may claim" in usual.recommendation
    assert "Do not claim" in heavy.recommendation
    assert "not measured in designs like this one" in heavy.recommendation


def test_an_unknown_estimator_is_compared_with_all():
    size = measured_size(
        "corrected-t",
        "in",
        (1, 10),
        SITUATION._replace(estimator="SuperLearner"),
        alpha=0.05,
    )
    assert size.design.count(" or ") >= 1


def test_the_printed_range_holds_the_size_of_other_designs():
    """Each design is left out in turn: 95 of 100 ranges hold what was measured."""
    held, asked = np.sum(list(sizes.check().values()), axis=0)
    assert asked >= 200
    assert held >= 0.95 * asked


def test_every_verdict_carries_its_measured_size(anova, worst, problem):
    X, y = problem
    record = compare([anova, worst], X, y, cv=10, **COMMON)
    for method in ("in", "out"):
        size = record.verdicts[method].test.size
        assert size.nominal == 0.05
        assert size.near
        assert f"under {method.upper()}" in size.design
    unmeasured = compare([anova, worst], X, y, cv=4, **COMMON)
    assert not unmeasured.verdicts["in"].test.size.near


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
    assert test.name == "calibrated corrected resampled t"
    assert "40 data sets" in test.assumptions
    assert test.pvalue * 41 == pytest.approx(round(test.pvalue * 41))
    assert test.size.n_simulations == 40
    assert test.size.design.startswith("each selector against itself under IN")
    assert record.by_estimator["nb"]["out"][0].verdict.test.calibrated
    assert record.settings["calibration pairs"] == 20
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
def test_bad_arguments_are_refused_in_words(anova, worst, problem, arguments, message):
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
    ("shape", "estimator", "test", "method"),
    [
        ((1, 5), "centroid", "corrected-t", "in"),
        ((5, 2), "nb", "five-by-two-f", "out"),
    ],
)
def test_the_shipped_table_is_what_its_script_makes(shape, estimator, test, method):
    designs = sizes.designs_of(shape, estimator, sizes.SHAPES[shape][0])
    design = replace(min(designs, key=_cost), method=method)
    found = simulate(design, sizes.SHAPES[shape][1], sizes.seed(design))
    (row,) = (
        r for r in size_table() if (r.kind, r.test, r.design) == ("plain", test, design)
    )
    assert list(row.rejected) == sizes.count(test, design, found)
    assert row.accuracy == pytest.approx(found.mean(), abs=5e-5)


def _cost(design):
    return design.n_samples * design.n_columns
