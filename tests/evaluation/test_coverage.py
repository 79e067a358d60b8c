"""Intervals cover the truth as often as the documentation says."""

import re
from pathlib import Path

import pytest
from tests.evaluation import coverage

from veridical.evaluation import CrossValidation, Holdout
from veridical.evaluation.trust import MEASURED, coverage_of

PAGE = Path(__file__).parents[2] / "docs" / "estimating.md"


def documented(*names: str) -> list[str]:
    """The figures in the row of a table that begins with these cells."""
    begin = "".join(rf"\| {re.escape(name)} " for name in names)
    (row,) = re.findall(rf"^{begin}\| (.+) \|$", PAGE.read_text(), re.M)
    return [cell.strip() for cell in row.split("|")]


def figures_of(column) -> list[float]:
    """What the documentation says of a method and a kind, estimator by estimator."""
    method, kind = column
    if column in coverage.FOLDS:
        place = coverage.FOLDS.index(column)
        cells = [documented(name)[place] for name in coverage.ROWS]
    else:
        cells = documented(method.describe(), f"`{kind}`")
    return [float(cell) for cell in cells if cell != "–"]


def test_every_row_is_documented():
    for name in coverage.ROWS:
        figures = [cell for cell in documented(name) if cell != "–"]
        assert len(figures) == len(coverage.folds_of(name))


def test_what_is_shown_beside_an_interval_is_what_is_documented():
    for column in (*coverage.FOLDS, *coverage.OTHERS):
        shown = MEASURED[column[0]][column[1]]
        figures = figures_of(column)
        assert shown.low == pytest.approx(min(figures) / 100)
        assert shown.high == pytest.approx(max(figures) / 100)
        estimators = (
            "naive Bayes" if len(figures) == 1 else f"{len(figures)} estimators"
        )
        assert estimators in shown.conditions
        assert f"{coverage.N_RUNS} data sets" in shown.conditions
    shown = MEASURED[Holdout()]["wilson"]
    assert f"{100 * shown.low:.1f} % of 2000 data sets" in PAGE.read_text()
    methods = {method for method, _ in (*coverage.FOLDS, *coverage.OTHERS)}
    assert set(MEASURED) == {Holdout(), *methods}


def test_other_numbers_of_folds_borrow_the_figures_of_ten():
    ten = MEASURED[CrossValidation(10)]
    assert coverage_of(CrossValidation(5, stratified=False), 5) == ten
    assert coverage_of(CrossValidation(5, n_repeats=2), 10) != ten
    assert all(c.conditions.startswith("10 folds") for c in ten.values())


@pytest.mark.slow
def test_holdout_interval_covers_as_promised():
    share = coverage.of_holdout(2000)
    assert 0.93 <= share <= 0.97
    assert f"{100 * share:.1f} %" in PAGE.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in coverage.ROWS if "Bayes" in n])
def test_cross_validation_intervals_cover_as_documented(name):
    """A fifth of the runs, and the tolerance that this asks for."""
    shares = coverage.of_splits(name, coverage.folds_of(name), coverage.N_RUNS // 5)
    for share, cell in zip(shares.values(), documented(name), strict=True):
        assert share == pytest.approx(float(cell) / 100, abs=tolerance(cell))


@pytest.mark.slow
def test_other_methods_cover_as_documented():
    found = coverage.of_splits(coverage.FIRST, coverage.OTHERS, coverage.N_RUNS // 5)
    for (method, kind), share in found.items():
        (cell,) = documented(method.describe(), f"`{kind}`")
        assert share == pytest.approx(float(cell) / 100, abs=tolerance(cell))


def tolerance(cell: str) -> float:
    """Four standard errors of a share over a fifth of the runs."""
    p = float(cell) / 100
    return 4 * (max(p * (1 - p), 0.01) / (coverage.N_RUNS // 5)) ** 0.5
