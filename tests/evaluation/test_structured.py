"""Measured rates for scores and groups, and the statement about groups itself."""

import numpy as np
import pytest
from benchmarks.truth import structured

import veridical
from veridical._core.reading import read_table
from veridical.evaluation.situations import Situation
from veridical.evaluation.structured import (
    MEASURED_SCORES,
    Structure,
    find_rows,
    rate_of,
    structured_table,
)


def _patients(rng, n_groups=24, size=6, signal=0.0):
    """Draw samples with a strong group effect; the class is constant within groups."""
    groups = np.repeat(np.arange(n_groups), size)
    y = (np.arange(n_groups) % 2)[groups]
    X = 0.95 * rng.normal(size=(n_groups, 10))[groups]
    X += 0.32 * rng.normal(size=X.shape)
    X[:, 0] += signal * y
    return X, y, groups


def test_at_least_forty_designs_were_measured():
    rows = structured_table()
    assert len(rows) >= 40
    assert {row.situation.score for row in rows} == set(MEASURED_SCORES)
    grouped = [row for row in rows if row.situation.group_size > 1]
    assert len(grouped) >= 20
    assert {row.situation.minority for row in rows} >= {0.1, 0.5}
    assert all(row.n_simulations >= 200 for row in rows)


def test_only_designs_of_the_same_kind_are_near():
    grouped = Structure("roc_auc", 30, 5.0, 20, 4, 0.4, "nb", 0.7)
    near = find_rows(5, grouped)
    assert len(near) >= 5
    assert all(row.situation.score == "roc_auc" for row in near)
    assert all(row.situation.group_size > 1 for row in near)
    assert find_rows(50, grouped) == []
    assert find_rows(None, grouped) == []
    for far in (
        {"score": "f1"},
        {"n_units": 500},
        {"group_size": 100.0},
        {"n_features": 1000},
        {"n_selected": 200, "n_features": 200},
        {"value": 0.1},
        {"minority": 1e-3, "n_units": 300},
    ):
        assert find_rows(5, grouped._replace(**far)) == []
    assert rate_of([], 0.05) is None
    found = rate_of(near, 0.05)
    assert found.low <= found.rate <= found.high
    assert "groups of" in found.design


def test_a_table_is_described_by_its_groups():
    X, y, groups = _patients(np.random.default_rng(0))
    here = Situation(144, 10, 3, 2, 0.5, "nb", 0.8)
    grouped = Structure.from_table("roc_auc", read_table(X, y, groups=groups), here)
    assert grouped == ("roc_auc", 24, 6.0, 10, 3, 0.5, "nb", 0.8, 1.0)
    plain = Structure.from_table("roc_auc", read_table(X, y), here)
    assert plain == ("roc_auc", 144, 1.0, 10, 3, 0.5, "nb", 0.8, 1.0)


@pytest.mark.parametrize(
    ("score", "value"),
    [("mean_absolute_error", 2.0), ("root_mean_squared_error", 2.0), ("r2", 0.5)],
)
def test_losses_of_numbers_are_compared_in_units_of_guessing(score, value):
    """A blood pressure in other units is the same design."""
    y = np.random.default_rng(0).normal(size=60)
    X, found = np.ones((60, 2)) * y[:, None], []
    for unit in (1.0, 7.0):
        reached = value if score == "r2" else unit * value
        here = Situation(60, 10, 3, 2, 0.5, "ridge", reached)
        found.append(Structure.from_table(score, read_table(X, unit * y + 3), here))
    shares = [one.value / one.unit for one in found]
    assert shares[0] == pytest.approx(shares[1], rel=1e-12)
    assert found[0].steps(found[1]) == pytest.approx([0.0] * 6, abs=1e-12)
    guess = {
        "mean_absolute_error": np.abs(y - np.median(y)).mean(),
        "root_mean_squared_error": y.std(),
    }.get(score, 1.0)
    assert shares[0] == pytest.approx(value / guess, rel=1e-12)


def test_the_printed_range_holds_the_rates_of_other_designs():
    """Each design is left out in turn: 95 of 100 ranges hold what was measured."""
    held, asked = structured.check()
    assert asked >= 100
    assert held >= 0.95 * asked


def test_verbs_print_what_was_measured_near():
    X, y, groups = _patients(np.random.default_rng(0), 40, 5, 1.0)
    found = veridical.estimate(
        "nb", X, y, groups=groups, cv=5, scoring="roc_auc", random_state=0
    )
    assert "groups of" in found.coverage["corrected-t"].conditions
    selected = veridical.select(
        "anova", X, y, estimator="nb", groups=groups, cv=5, scoring="roc_auc",
        random_state=0,
    )  # fmt: skip
    assert selected.score_coverage is not None
    options = {"estimator": "nb", "cv": 5, "random_state": 0}
    compared = veridical.compare(
        ["anova", "relieff"], X, y, groups=groups, scoring="roc_auc", **options
    )
    assert "groups of" in compared.verdicts["in"].test.size.design
    assert compared.verdicts["out"].test.size is None
    unknown = veridical.compare(
        ["anova", "relieff"], X, y, groups=groups, scoring="f1", **options
    )
    assert unknown.verdicts["in"].test.size is None
    weighted = veridical.compare(
        ["anova", "relieff"], X, y, sample_weight=np.ones(200), **options
    )
    assert weighted.verdicts["in"].test.size is None


@pytest.mark.slow
def test_groups_hold_their_level_where_samples_do_not():
    """24 groups of 6 samples without a signal: rejections and coverage."""
    n, rejected, covered, naive, n_naive = 300, 0, 0, 0, 60
    for seed in range(n):
        X, y, groups = _patients(np.random.default_rng(seed))
        one = veridical.audit(
            "nb", X, y, groups=groups, n_permutations=60, random_state=seed,
            progress=False,
        )  # fmt: skip
        rejected += one.null["in"].pvalue <= 0.05
        low, high = one.accuracy["in"][1:]
        covered += low <= 0.5 <= high
        if seed < n_naive:
            other = veridical.audit(
                "nb", X, y, n_permutations=60, random_state=seed, progress=False
            )
            naive += other.null["in"].pvalue <= 0.05
    # Three standard errors of 300 draws on either side of 5 % and 95 %.
    assert 0.012 <= rejected / n <= 0.09
    assert 0.91 <= covered / n <= 0.99
    assert naive / n_naive > 0.8  # samples of one patient on both sides
