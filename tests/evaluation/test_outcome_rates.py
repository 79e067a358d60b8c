"""Measured sizes and coverages of R² and concordance are found beside results."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from veridical.comparison import compare
from veridical.datasets import make_linear_regression, make_survival
from veridical.evaluation import estimate
from veridical.evaluation.structured import structured_table
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
    other = compare(
        ["correlation", "relieff"], X, y, cv=5, scoring="mae", random_state=0
    )
    assert other.verdicts["in"].test.size is None  # nothing was measured


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
