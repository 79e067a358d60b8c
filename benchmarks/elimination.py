"""scikit-learn's recursive elimination: thousands of fits, timed whole or in samples.

Eliminating one feature a round from thousands means a fit for each, minutes in all.
Where it would take long, rounds are timed at several widths along the way, and the sum
over all rounds is estimated by the trapezoid rule.

Which features go is compared on these stretches, each begun with the columns that
veridical has left by then: after thousands of rounds two eliminations that differed
once, early on, have little in common, and say nothing about the rounds themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks import problems, veridical_selectors
from benchmarks.agreement import same_elimination
from benchmarks.aims import Faster
from benchmarks.definitions import VERIDICAL, Case, Contender, Problem, Result

ROUNDS = 20  # timed at each width
WIDTHS = 8
WHOLE_SECONDS = 20.0  # seconds that an elimination may take to be run to its end
TIGHT_TOLERANCE = 1e-8  # a tolerance at which the solver's weights have settled


@dataclass(frozen=True, eq=False)
class Elimination:
    """The problem, and the order in which veridical drops its features.

    The narrow widths must be timed on the columns that are left by then; any other
    columns would be a problem of another difficulty.
    """

    problem: Problem
    order: Any

    def left(self, width: int) -> Any:
        """Return the features that remain when `width` are left."""
        return np.sort(self.order[:width])


def with_elimination(problem: Problem) -> Elimination:
    """Run veridical's own elimination to know which columns are left when."""
    from veridical.selection import SVMRFE

    order = SVMRFE(problem.n_selected, n_jobs=-1).fit(problem.X, problem.y).order_
    return Elimination(problem, order)


def sklearn_rfe(tol: float = 1e-3) -> Callable[[Elimination], Result]:
    """Eliminate with scikit-learn, whose solver stops at a tolerance of `tol`.

    Rounds are sampled; all are run where that takes at most `WHOLE_SECONDS`.
    """

    def run(path: Elimination) -> Result:
        X, y, k = path.problem.X, path.problem.y, path.problem.n_selected
        n_features = X.shape[1]
        widths = sample_widths(k, n_features)
        order = np.full(n_features, -1, dtype=np.intp)
        per_round = []
        for width in widths:
            columns = path.left(width)
            stop = max(k, width - ROUNDS)
            seconds, ranking = _timed_rfe(X[:, columns], y, stop, tol)
            # RFE fits once more when it has arrived.
            per_round.append(seconds / (width - stop + 1))
            # Rank 2 went last, the largest rank first.
            order[stop:width] = columns[np.argsort(ranking, kind="stable")][stop:]
        estimate = float(np.trapezoid(per_round, widths))
        if estimate < min(WHOLE_SECONDS, path.problem.limit):
            seconds, ranking = _timed_rfe(X, y, k, tol)
            order = np.argsort(ranking, kind="stable")
            order[:k] = -1  # RFE does not order those it selects
            return Result(order, seconds=seconds)
        note = (
            f"extrapolated: {len(widths)} stretches of up to {ROUNDS} rounds timed "
            f"between {widths[0]} and {widths[-1]} columns, all {n_features - k} "
            "rounds by the trapezoid rule"
        )
        return Result(order, seconds=estimate, note=note)

    return run


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


def _timed_rfe(X: Any, y: Any, n_selected: int, tol: float) -> tuple[float, Any]:
    from sklearn.feature_selection import RFE
    from sklearn.svm import SVC

    started = perf_counter()
    svm = SVC(kernel="linear", tol=tol)
    model = RFE(svm, n_features_to_select=n_selected, step=1).fit(X, y)
    return perf_counter() - started, model.ranking_


SVM_RFE = Case(
    name="svm-rfe",
    title="SVM-RFE, one feature a round, ten of 9000 left",
    make=problems.normal,
    size={"n": 150, "p": 9000},
    small={"n": 60, "p": 120},
    contenders=(
        Contender(
            VERIDICAL,
            veridical_selectors.fit("svm-rfe", n_features_to_select=10, step=1),
        ),
        Contender(
            "scikit-learn",
            sklearn_rfe(),
            prepare=with_elimination,
            check=same_elimination(),
            differs="its solver stops at a tolerance of 0.001, so that features of "
            "nearly equal weight change places",
        ),
        Contender(
            "scikit-learn, solved",
            sklearn_rfe(TIGHT_TOLERANCE),
            prepare=with_elimination,
            check=same_elimination(0.9),
        ),
    ),
    aims=(
        Faster(VERIDICAL, "scikit-learn", 20),
        Faster(VERIDICAL, "scikit-learn, solved", 20),
    ),
    notes="scikit-learn: `RFE(SVC(kernel='linear'), step=1)`, at the tolerance it has "
    f"by default and with {TIGHT_TOLERANCE:g}; in both it keeps inner products in "
    "single precision, which decides between weights that are nearly equal.",
)
