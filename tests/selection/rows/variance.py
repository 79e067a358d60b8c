"""Rows and oracles of the variance."""

from tests.oracles import outcomes
from tests.selection.problems import AROUND_ZERO
from tests.selection.rows.declare import Row, by_score

from veridical.selection import Variance

ROWS = [
    Row(
        f"Variance-{target}" if target != "classes" else "Variance",
        Variance,
        by_score(lambda x, y, _: outcomes.variance(x, y), rtol=1e-12),
        sparse=True,
        weights="any",
        rtol=1e-12,
        wild=AROUND_ZERO,
        affine=None,
        target=target,
    )
    for target in ("classes", "numbers", "survival")
]
