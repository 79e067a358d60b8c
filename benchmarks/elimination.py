"""scikit-learn's recursive elimination: thousands of fits, timed whole or in samples.

Eliminating one feature a round from thousands means a fit for each. Where that would
take longer than the limit, rounds are timed at several widths along the way, and the
sum over all rounds is estimated by the trapezoid rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.declare import Problem, Result

ROUNDS = 20  # timed at each width
WIDTHS = 8


@dataclass(frozen=True, eq=False)
class Path:
    """The problem, and the order in which veridical drops its features.

    The narrow widths must be timed on the columns that are left by then; any other
    columns would be a problem of another difficulty.
    """

    problem: Problem
    order: Any

    def left(self, width: int) -> Any:
        """The columns still there when `width` are left."""
        return np.sort(self.order[:width])


def with_path(problem: Problem) -> Path:
    """Run veridical's own elimination to know which columns are left when."""
    from veridical.selection import SVMRFE

    order = SVMRFE(problem.n_selected).fit(problem.X, problem.y).order_
    return Path(problem, order)


def sklearn_rfe(path: Path) -> Result:
    """Sample rounds; run the whole elimination if it fits into the limit."""
    X, y, k = path.problem.X, path.problem.y, path.problem.n_selected
    started = perf_counter()
    n_features = X.shape[1]
    widths = sample_widths(k, n_features)
    order = np.full(n_features, -1, dtype=np.intp)
    per_round = []
    for width in widths:
        columns = path.left(width)
        stop = max(k, width - ROUNDS)
        seconds, ranking = _timed_rfe(X[:, columns], y, stop)
        # RFE fits once more when it has arrived.
        per_round.append(seconds / (width - stop + 1))
        # Rank 2 went last, the largest rank first.
        order[stop:width] = columns[np.argsort(ranking, kind="stable")][stop:]
    estimate = float(np.trapezoid(per_round, widths))
    if estimate < 0.8 * (path.problem.limit - (perf_counter() - started)):
        seconds, ranking = _timed_rfe(X, y, k)
        return Result(np.argsort(ranking, kind="stable"), seconds=seconds)
    note = (
        f"extrapolated: {len(widths)} stretches of up to {ROUNDS} rounds timed between "
        f"{widths[0]} and {widths[-1]} columns, all {n_features - k} rounds by the "
        "trapezoid rule"
    )
    return Result(order, seconds=estimate, note=note)


def sample_widths(n_selected: int, n_features: int) -> list[int]:
    """Widths at which rounds are timed, rising, the last with all features."""
    first = min(n_selected + ROUNDS, n_features)
    widths = np.geomspace(first, n_features, WIDTHS).round().astype(int)
    # Stretches must not overlap, or a feature would be dropped twice.
    kept = [n_features]
    for width in widths[::-1].tolist():
        if kept[-1] - width >= ROUNDS:
            kept.append(width)
    return kept[::-1]


def _timed_rfe(X: Any, y: Any, n_features_to_select: int) -> tuple[float, Any]:
    from sklearn.feature_selection import RFE
    from sklearn.svm import SVC

    started = perf_counter()
    model = RFE(
        SVC(kernel="linear"), n_features_to_select=n_features_to_select, step=1
    ).fit(X, y)
    return perf_counter() - started, model.ranking_
