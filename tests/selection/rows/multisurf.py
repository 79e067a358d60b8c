"""Rows, oracle and peer of MultiSURF."""

from fractions import Fraction

import numpy as np
import skrebate
from scipy.spatial.distance import pdist, squareform
from tests.oracles import outcomes
from tests.oracles import selection as oracle
from tests.selection.rows.declare import INFORMATION, Peer, Row

from veridical.selection import MultiSURF

TIE = Fraction(1, 10**11)  # of the mean distance: as far as the radius


def weigh(columns, y, categorical):
    """MultiSURF weights, exactly."""
    n, classes = len(y), sorted(set(y))
    diff = [
        oracle.differences(x, is_n)
        for x, is_n in zip(columns, categorical, strict=True)
    ]
    weights = [Fraction(0)] * len(columns)
    for i in range(n):
        others = [j for j in range(n) if j != i]
        distance = {j: sum(d[i][j] for d in diff) for j in others}
        near = near_cases(distance)
        hits = [j for j in near if y[j] == y[i]]
        misses = [j for j in near if y[j] != y[i]]
        for f, d in enumerate(diff):
            if hits:
                weights[f] -= sum(d[i][j] for j in hits) / (n * Fraction(len(hits)))
            for label in classes:
                of_class = [j for j in misses if y[j] == label]
                if of_class:
                    share = Fraction(len(of_class), len(misses))
                    mean = sum(d[i][j] for j in of_class) / len(of_class)
                    weights[f] += (len(classes) - 1) * share**2 * mean / n
    return weights


def near_cases(distance):
    """Samples nearer than the mean less half the standard deviation, without a root."""
    mean = Fraction(sum(distance.values())) / len(distance)
    variance = sum((d - mean) ** 2 for d in distance.values()) / len(distance)
    less = {j: mean * (1 - TIE) - d for j, d in distance.items()}
    return [j for j, gap in less.items() if gap > 0 and 4 * gap**2 > variance]


def rank(problem):
    scores = weigh(problem.columns(), problem.y.tolist(), problem.categorical)
    return scores, oracle.order_with_ties(scores, atol=1e-12), len(scores)


# -- skrebate ------------------------------------------------------------------------


class Plain(skrebate.MultiSURF):
    """skrebate's MultiSURF, in which tables with both kinds of columns are not special.

    It overrides what the class docstring of ours names as different: the distance that
    multiplies categorical differences, and differences that are 1 beyond one standard
    deviation.
    """

    def _distarray_no_missing(self, xc, xd):
        if self.data_type != "mixed":
            return super()._distarray_no_missing(xc, xd)
        different = squareform(pdist(xd, metric="hamming")) * xd.shape[1]
        scaled = (xc - xc.min(axis=0)) / np.ptp(xc, axis=0)
        return different + squareform(pdist(scaled, metric="cityblock"))

    def _run_algorithm(self):
        if self.data_type == "mixed":
            self.data_type = "continuous"  # read only by the ramp from here on
        return super()._run_algorithm()


def skrebate_scores(X, y, categorical):
    told = categorical | (np.ptp(X, axis=0) > 0)  # skrebate divides by the range
    scores = np.zeros(X.shape[1])
    if told.any():
        model = Plain(
            categorical_features=np.flatnonzero(categorical[told]).tolist(),
            label_type="binary" if np.unique(y).size == 2 else "multiclass",
            n_jobs=1 if X.size < 1e5 else -1,
        )
        scores[told] = model.fit(X[:, told], y).feature_importances_
    return scores


def has_no_case_on_a_radius(X, y, categorical):
    """skrebate leaves it to rounding whether such a sample is near."""
    span = np.ptp(X, axis=0)
    gaps = np.abs(X[:, None] - X[None]) / np.where(span > 0, span, 1.0)
    D = np.where(categorical, gaps > 0, gaps).sum(axis=2)
    others = D[~np.eye(len(D), dtype=bool)].reshape(len(D), -1)
    mean = others.mean(axis=1, keepdims=True)
    radius = mean - others.std(axis=1, keepdims=True) / 2
    return bool((np.abs(others - radius) > 1e-9 * mean).all())


def rank_numbers(problem):
    scores = outcomes.multisurf(
        problem.columns(), problem.y.tolist(), problem.categorical, near_cases
    )
    return scores, oracle.order_with_ties(scores, atol=1e-12), len(scores)


def skrebate_of_numbers(X, y, categorical):
    model = Plain(categorical_features=[], label_type="continuous")
    return model.fit(X, y).feature_importances_


ROWS = [
    Row(
        "MultiSURF",
        MultiSURF,
        rank,
        affine="any",
        sparse=True,
        max_rows=16,
        max_features=6,
        peer=Peer(
            "skrebate",
            skrebate_scores,
            has_no_case_on_a_radius,
            timed_at={"n": 200, "p": 1000},
        ),
        **INFORMATION,
    ),
    Row(
        "MultiSURF-numbers",
        MultiSURF,
        rank_numbers,
        affine="any",
        sparse=True,
        max_rows=14,
        max_features=5,
        target="numbers",
        peer=Peer("skrebate", skrebate_of_numbers, has_no_case_on_a_radius),
        **INFORMATION,
    ),
]
