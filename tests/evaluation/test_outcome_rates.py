"""Measured sizes and coverages of R² and concordance are found beside results."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from veridical.comparison import compare
from veridical.datasets import make_linear_regression, make_survival
from veridical.evaluation import estimate
from veridical.evaluation.structured import MEASURED_SCORES, structured_table
from veridical.learning import CoxRidge
from veridical.selection import Correlation, CoxScore


def test_coverage_stands_beside_r2_and_concordance():
    X, y = make_linear_regression(100, 50, 3, random_state=0)
    found = estimate(make_pipeline(Correlation(5), Ridge()), X, y, random_state=0)
    assert "R²" in found.coverage["corrected-t"].conditions
    assert 0.8 < found.coverage["corrected-t"].low < found.coverage["corrected-t"].high
    X, y = make_survival(150, 50, 3, random_state=0)
    found = estimate(make_pipeline(CoxScore(5), CoxRidge()), X, y, random_state=0)
    assert "concordance" in found.coverage["corrected-t"].conditions


def test_the_size_of_the_test_is_known_for_r2():
    X, y = make_linear_regression(100, 50, 3, random_state=0)
    found = compare(["correlation", "relieff"], X, y, cv=5, random_state=0)
    size = found.verdicts["in"].test.size
    assert size is not None
    assert size.nominal == 0.05
    for scoring, known in (("mae", True), ("spearman", True), ("pearson", False)):
        other = compare(
            ["correlation", "relieff"],
            X,
            1000 * y,
            cv=5,
            scoring=scoring,
            random_state=0,
        )
        assert (other.verdicts["in"].test.size is not None) == known


def test_the_coverage_of_losses_does_not_depend_on_units():
    X, y = make_linear_regression(120, 10, 3, random_state=0)
    scoring = ["r2", "mae", "rmse", "spearman", "pearson"]
    found = [
        estimate("ridge", X, unit * y, cv=5, scoring=scoring, random_state=0).by_score
        for unit in (1.0, 1000.0)
    ]
    for name in ("r2", "mean_absolute_error", "root_mean_squared_error", "spearman"):
        one, other = (by_score[name].coverage for by_score in found)
        assert one
        assert one == other
    assert not found[0]["pearson"].coverage


def test_the_table_of_the_docs_is_that_of_the_measurements():
    page = Path(__file__).parents[2].joinpath("docs", "which-test.md")
    found = re.findall(
        r"^\| (.+?) \| (yes|no) \| (\d+) \| (\S+) \((\S+) to (\S+)\) \| "
        r"(\S+) \((\S+) to (\S+)\) \|$",
        page.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    rows, counted = structured_table(), 0
    for score, label in MEASURED_SCORES.items():
        for said, (name, groups, n, *shares) in ((one[:3], one) for one in found):
            if not name.startswith(label) or (
                label == "concordance" and "Harrell" not in name
            ):
                continue
            own = [
                row
                for row in rows
                if row.situation.score == score
                and (row.situation.group_size > 1) == (groups == "yes")
            ]
            assert len(own) == int(n), said
            wanted = []
            for parts in (
                [100 * row.rejected[1] / row.n_simulations for row in own],
                [100 * row.covered / row.n_simulations for row in own],
            ):
                wanted += [np.median(parts), min(parts), max(parts)]
            np.testing.assert_allclose([float(s) for s in shares], wanted, atol=0.051)
            counted += len(own)
    assert counted == len(rows)


def test_measured_designs_are_as_the_tables_say():
    rows = [
        row
        for row in structured_table()
        if row.situation.score in ("r2", "concordance")
    ]
    assert len(rows) >= 30
    sizes = np.array([row.rejected[1] / row.n_simulations for row in rows])
    covers = np.array([row.covered / row.n_simulations for row in rows])
    # Single cross-validation: the corrected t-test is conservative or near nominal.
    assert sizes.max() < 0.12
    assert np.median(covers) > 0.93
