"""Intervals cover the truth as often as the documentation says."""

import re
from pathlib import Path

import pytest
from tests.estimation import coverage

PAGE = Path(__file__).parents[2] / "docs" / "estimating.md"


def documented(name: str) -> list[str]:
    """The figures in the row of the table that begins with a name."""
    (row,) = re.findall(rf"^\| {re.escape(name)} \| (.+) \|$", PAGE.read_text(), re.M)
    return [cell.strip() for cell in row.split("|")]


def test_every_row_is_documented():
    for name, (_, _, kinds) in coverage.ROWS.items():
        figures = [cell for cell in documented(name) if cell != "–"]
        assert len(figures) == len(kinds)


@pytest.mark.slow
def test_holdout_interval_covers_as_promised():
    share = coverage.of_holdout(2000)
    assert 0.93 <= share <= 0.97
    assert f"{100 * share:.1f} %" in PAGE.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in coverage.ROWS if "Bayes" in n])
def test_cross_validation_intervals_cover_as_documented(name):
    """A fifth of the runs, and the tolerance that this asks for."""
    shares = coverage.of_cross_validation(name, coverage.N_RUNS // 5)
    order = [kind for kind in ("wilson", "nested", "corrected-t") if kind in shares]
    for kind, cell in zip(order, documented(name), strict=True):
        p = float(cell) / 100
        tolerance = 4 * (max(p * (1 - p), 0.01) / 100) ** 0.5
        assert shares[kind] == pytest.approx(p, abs=tolerance)
