"""Rows and oracles of correlation."""

from tests.oracles import outcomes
from tests.oracles import selection as oracle
from tests.selection.rows.declare import Row, by_score

from veridical.selection import Correlation

ROWS = [
    Row(
        "Correlation",
        Correlation,
        by_score(lambda x, y, _: oracle.class_correlation(x, y), rtol=1e-12),
        sparse=True,
        weights="any",
        rtol=1e-12,
        affine="any",
    ),
    Row(
        "Correlation-numbers",
        Correlation,
        by_score(lambda x, y, _: outcomes.correlation(x, y), rtol=1e-12),
        sparse=True,
        weights="any",
        rtol=1e-12,
        affine="any",
        target="numbers",
    ),
]
