"""The table of measured rates is sound, and the documentation shows it."""

from pathlib import Path

import numpy as np
import pytest
from benchmarks.truth.discoveries import (
    METHODS,
    Design,
    applies,
    designs,
    draw,
    judge,
    tabulate,
    truth,
)

ROOT = Path(__file__).parents[2]


def test_designs_cover_what_is_promised():
    all_of_them = list(designs())
    assert len(set(all_of_them)) == len(all_of_them) >= 60
    ratios = [one.p / one.n for one in all_of_them]
    assert min(ratios) == 0.5
    assert max(ratios) == 500
    kinds = {one.features for one in all_of_them}
    assert {"independent", "blocks", "heavy", "binary", "categorical"} <= kinds
    assert {one.outcome for one in all_of_them} == {"null", "linear", "xor"}
    assert min(one.minority for one in all_of_them) < 0.2
    for name in METHODS:
        assert any(applies(name, one) for one in all_of_them)


@pytest.mark.parametrize("outcome", ["null", "linear", "xor"])
def test_truth_of_a_design(outcome):
    design = Design("blocks", outcome, 60, 40, 4 if outcome != "null" else 0)
    X, y, associated, relevant = draw(design, 0)
    again = draw(design, 0)
    np.testing.assert_array_equal(X, again[0])
    assert relevant.sum() == design.k
    assert associated.sum() == (40 if outcome == "linear" else 0)
    assert np.bincount(y).min() >= 29
    assert (truth("dcrt fdr", associated, relevant) == relevant).all()


def test_judgement_by_hand():
    true = np.array([True, True, False, False])
    found = judge(np.array([0, 2]), true, "fdr")
    assert (found["error"], found["power"], found["any_false"]) == (0.5, 0.5, 1.0)
    assert judge(np.array([2, 3]), true, "pfer")["error"] == 2
    assert judge(np.array([], dtype=int), true, "fwer")["error"] == 0


def test_the_documentation_shows_the_measured_rates():
    page = ROOT / "docs" / "questions" / "which-features-may-i-claim.md"
    assert tabulate() in page.read_text()
