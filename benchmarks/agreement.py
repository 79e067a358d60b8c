"""Ways to compare two results; each returns a check for a contender.

Every check takes the reference's result first and says in words what it found, with the
threshold it holds the figure against.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import spearmanr

from benchmarks.definitions import Agreement, Check, Result, rows_of


def same_order(k: int | None = None) -> Check:
    """Check that the first `k` features (by default all) are in the same order."""

    def check(ours: Result, theirs: Result) -> Agreement:
        a, b = (rows_of(result.order)[:, :k] for result in (ours, theirs))
        what = "order" if k is None else f"first {k} in order"
        if len(a) > 1:
            what += f", {len(a)} training sets"
        if a.shape != b.shape:
            return Agreement(False, f"{what}: shapes {a.shape} and {b.shape}")
        if np.array_equal(a, b):
            return Agreement(True, f"{what}: equal")
        row, place = np.argwhere(a != b)[0]
        where = f"place {place + 1}" + (f" of set {row + 1}" if len(a) > 1 else "")
        return Agreement(False, f"{what}: differs first at {where}")

    return check


def close_scores(rtol: float = 1e-9, atol: float = 1e-12) -> Check:
    """Check that the scores of all features are equal up to rounding."""

    def check(ours: Result, theirs: Result) -> Agreement:
        a, b = np.asarray(ours.scores), np.asarray(theirs.scores)
        gap = float(np.max(np.abs(a - b)))
        holds = bool(np.allclose(b, a, rtol=rtol, atol=atol))
        return Agreement(holds, f"scores: largest difference {gap:.1g}")

    return check


def overlap(k: int, at_least: float | None = None) -> Check:
    """Check the mean share of the first `k` features that both have.

    Without a threshold the share is only reported.
    """

    def check(ours: Result, theirs: Result) -> Agreement:
        a, b = rows_of(ours.order)[:, :k], rows_of(theirs.order)[:, :k]
        shares = [np.intersect1d(x, z).size / k for x, z in zip(a, b, strict=True)]
        share = float(np.mean(shares))
        words = f"first {k}: {share:.0%} shared" + _threshold(at_least, "{:.0%}")
        return Agreement(None if at_least is None else share >= at_least, words)

    return check


def rank_correlation(at_least: float) -> Check:
    """Check Spearman's correlation of the scores of all features."""

    def check(ours: Result, theirs: Result) -> Agreement:
        rho = float(spearmanr(ours.scores, theirs.scores).statistic)
        words = f"rank correlation {rho:.5f}" + _threshold(at_least, "{:g}")
        return Agreement(rho >= at_least, words)

    return check


def same_set(k: int | None = None) -> Check:
    """Check that the same features are selected, in any order.

    Without `k` each result's own number of features is compared: methods that stop by
    themselves.
    """

    def check(ours: Result, theirs: Result) -> Agreement:
        a, b = (np.ravel(result.order)[:k] for result in (ours, theirs))
        both = np.intersect1d(a, b).size
        if k is None:
            return Agreement(None, f"kept {b.size}, we {a.size}, both {both}")
        return Agreement(both == k, f"selected {k}: {both} shared")

    return check


def same_elimination(at_least: float | None = None) -> Check:
    """Check which features a backward search dropped, round by round.

    The contender's order may have gaps (-1) where it was not run; places are compared
    where it was. Without a threshold the share of equal places is only reported.
    """

    def check(ours: Result, theirs: Result) -> Agreement:
        a, b = np.asarray(ours.order), np.asarray(theirs.order)
        known = b >= 0
        equal, n_known = np.count_nonzero(a[known] == b[known]), np.count_nonzero(known)
        words = f"dropped in the same round: {equal} of {n_known}"
        words += _threshold(at_least, "{:.0%}")
        return Agreement(
            None if at_least is None else bool(equal >= at_least * n_known), words
        )

    return check


def all_of(*checks: Check) -> Check:
    """Combine several checks; all that decide must hold."""

    def check(ours: Result, theirs: Result) -> Agreement:
        found = [one(ours, theirs) for one in checks]
        decided = [one.holds for one in found if one.holds is not None]
        return Agreement(
            all(decided) if decided else None, "; ".join(one.words for one in found)
        )

    return check


def _threshold(at_least: float | None, form: str) -> str:
    return "" if at_least is None else f" (at least {form.format(at_least)})"
