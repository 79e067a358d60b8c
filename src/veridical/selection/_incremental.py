"""Selectors that add one feature at a time: mRMR and differential prioritization."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import ClassVar, Literal, Self

import numpy as np

from veridical._records import FloatArray, InputError, Labelled, Ranking
from veridical.criteria.anova import Variances, cap_infinite
from veridical.criteria.correlation import CorrelationRedundancy
from veridical.kernels.ordering import order_by_score
from veridical.kernels.trainsets import TrainSets
from veridical.search.incremental import (
    Climb,
    climb_together,
    complete,
    difference,
    prioritized,
    quotient,
    take_turns,
)
from veridical.selection._base import Abilities, WeightedSelector, _count
from veridical.selection._progress import ReportsProgress

FLOOR = 1e-3  # mRMR: similarities below this are as good as none


class _IncrementalSelector(ReportsProgress, WeightedSelector):
    """A ratio of variances, correlation, and an incremental search."""

    n_searched: int | None

    def _n_steps(self, data: Labelled) -> int | None:
        return self._depth(data.values.shape[1])

    @property
    def _ticker(self) -> Callable[[], None] | None:
        """What to call after every step; None where nobody watches."""
        return self._tick if self._watched else None

    def _depth(self, n_features: int) -> int:
        """How far to search: at least as far as the user wants to select."""
        if self.n_searched is None:
            return n_features
        whole = isinstance(self.n_searched, Integral)
        if not whole or isinstance(self.n_searched, bool) or self.n_searched < 1:
            raise InputError(
                f"n_searched={self.n_searched!r}; give a whole number of features, 1 "
                "or more, or None for all."
            )
        wanted = _count(self.n_features_to_select, n_features, 0, warn=False)
        return min(n_features, max(int(self.n_searched), wanted))


class MRMR(_IncrementalSelector):
    """Features that tell about the class and repeat each other little.

    Starts with the most relevant feature and adds the one with the largest quotient
    of relevance (the F ratio) and mean absolute correlation with those already chosen
    [1]_. Cost: one pass over X for each feature searched.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=10
        How many features to select: a number, a share of all, or None for all.
    scheme : {"quotient", "difference"}, default="quotient"
        Divide relevance by redundancy, or subtract it; to subtract, relevance is the
        correlation ratio (the share of variance between classes, rooted), which lies
        on the same scale as a correlation.
    n_searched : int or None, default=100
        How many features the search orders (at least `n_features_to_select`); the
        others follow by relevance. None searches all.
    n_jobs : int or None, default=None
        Number of threads; None uses all that numba has.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Relevance of each feature by itself.
    order_, ranking_, support_, classes_, n_features_in_
        As in :class:`AnovaF`.

    See Also
    --------
    DifferentialPrioritization : The same trade with an exponent to set.

    Notes
    -----
    With ``scheme="quotient"`` the choices are those of the package mrmr_selection:
    correlations below 0.001 count as 0.001, and features with no relevance come last.

    References
    ----------
    .. [1] C. Ding & H. Peng, "Minimum redundancy feature selection from microarray gene
       expression data", Journal of Bioinformatics and Computational Biology 3 (2005).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from veridical.selection import MRMR
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> MRMR(3).fit(X, y).order_[:3].tolist()
    [27, 22, 7]
    """

    _abilities: ClassVar = Abilities(sparse=True)

    def __init__(
        self,
        n_features_to_select: int | float | None = 10,
        *,
        scheme: Literal["quotient", "difference"] = "quotient",
        n_searched: int | None = 100,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.scheme = scheme
        self.n_searched = n_searched
        self.n_jobs = n_jobs

    def _rankings(self, data: Labelled, sets: TrainSets) -> list[Ranking]:
        tradeoffs = {"quotient": quotient, "difference": difference}
        if self.scheme not in tradeoffs:
            raise InputError(
                f"scheme={self.scheme!r} is not known; use 'quotient' or 'difference'."
            )
        redundancy = CorrelationRedundancy(data, sets, self._n_threads, floor=FLOOR)
        scores = self._scores(redundancy.variances)
        climbs = [
            Climb(cap_infinite(row), tradeoffs[self.scheme], s)
            for s, row in enumerate(scores)
        ]
        depth = self._depth(scores.shape[1])
        climb_together(climbs, redundancy, depth, self._ticker, self._n_threads)
        return [
            Ranking(complete(climb.order, climb.relevance), row, row.size)
            for climb, row in zip(climbs, scores, strict=True)
        ]

    def _scores(self, parts: Variances) -> FloatArray:
        if self.scheme == "difference":
            ratio = parts.ratio()
            with np.errstate(invalid="ignore"):
                return np.sqrt(np.where(np.isinf(ratio), 1.0, ratio / (1.0 + ratio)))
        cases = parts.weight.sum(axis=1)[:, None]
        classes = np.count_nonzero(parts.weight, axis=1)[:, None]
        with np.errstate(invalid="ignore"):  # one case per class leaves no F ratio
            return parts.ratio() * (cases - classes) / (classes - 1)


class DifferentialPrioritization(_IncrementalSelector):
    """Trade relevance against antiredundancy with an exponent.

    Starts with the most relevant feature and adds the one that makes
    ``V^alpha U^(1 - alpha)`` of the chosen set largest [1]_: V is the mean relevance
    (ratio of the sums of squares between and within classes), U the mean of
    ``1 - |correlation|`` over all pairs. ``alpha=1`` ranks by relevance alone; a small
    alpha wants features that differ from each other, which pays with many classes.
    Cost: one pass over X for each feature searched.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=10
        How many features to select: a number, a share of all, or None for all.
    alpha : float in (0, 1], default=0.5
        Weight of relevance.
    relevance : {"all-classes", "one-vs-all"}, default="all-classes"
        One relevance for all classes at once, or one search for each class against the
        rest; then the classes take turns in giving their best feature not yet taken.
    n_searched : int or None, default=100
        How many features the search orders (at least `n_features_to_select`); the
        others follow by relevance. None searches all.
    n_jobs : int or None, default=None
        Number of threads; None uses all that numba has.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Relevance of each feature by itself, all classes at once.
    relevance_path_, antiredundancy_path_ : ndarray of shape (n_searched,)
        V and U of the first 1, 2, 3, … features; not with ``relevance="one-vs-all"``.
    order_, ranking_, support_, classes_, n_features_in_
        As in :class:`AnovaF`.

    See Also
    --------
    MRMR : Relevance divided by redundancy.

    Notes
    -----
    A feature that is constant within every class has infinite relevance; it is set to
    a thousand times the largest finite one, with a warning. With
    ``relevance="one-vs-all"`` the class whose first feature is the most relevant
    begins, so that the names of the classes do not matter.

    References
    ----------
    .. [1] C. H. Ooi, M. Chetty & S. W. Teng, "Differential prioritization between
       relevance and redundancy in correlation-based feature selection techniques for
       multiclass gene expression data", BMC Bioinformatics 7:320 (2006).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from veridical.selection import DifferentialPrioritization
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> list(DifferentialPrioritization(3, alpha=0.5).fit(X, y).get_feature_names_out())
    ['flavanoids', 'color_intensity', 'proline']
    """

    _abilities: ClassVar = Abilities()

    def __init__(
        self,
        n_features_to_select: int | float | None = 10,
        *,
        alpha: float = 0.5,
        relevance: Literal["all-classes", "one-vs-all"] = "all-classes",
        n_searched: int | None = 100,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.relevance = relevance
        self.n_searched = n_searched
        self.n_jobs = n_jobs

    def _n_steps(self, data: Labelled) -> int | None:
        return None if self.relevance == "one-vs-all" else super()._n_steps(data)

    def _rankings(self, data: Labelled, sets: TrainSets) -> list[Ranking]:
        if not isinstance(self.alpha, Real) or not 0 < float(self.alpha) <= 1:
            raise InputError(
                f"alpha={self.alpha!r} lies outside (0, 1]; 1 is relevance alone."
            )
        if self.relevance not in ("all-classes", "one-vs-all"):
            raise InputError(
                f"relevance={self.relevance!r} is not known; use 'all-classes' or "
                "'one-vs-all'."
            )
        each = self.relevance == "one-vs-all"
        redundancy = CorrelationRedundancy(data, sets, self._n_threads, against=each)
        parts = redundancy.variances
        depth = self._depth(parts.within.shape[1])
        if each:
            return self._one_vs_all(parts, redundancy, depth)
        scores = parts.ratio()
        if np.isinf(scores).any():
            _warn_infinite()
        climbs = [
            Climb(cap_infinite(row), prioritized(self.alpha), s)
            for s, row in enumerate(scores)
        ]
        climb_together(climbs, redundancy, depth, self._ticker, self._n_threads)
        self._path = climbs[0].relevance_path, climbs[0].antiredundancy_path
        return [
            Ranking(complete(climb.order, climb.relevance), row, row.size)
            for climb, row in zip(climbs, scores, strict=True)
        ]

    def _one_vs_all(
        self, parts: Variances, redundancy: CorrelationRedundancy, depth: int
    ) -> list[Ranking]:
        against, scores = parts.ratio_against(), parts.ratio()
        if np.isinf(against).any():
            _warn_infinite()
        climbs = [
            [
                Climb(cap_infinite(row), prioritized(self.alpha), s)
                for k, row in enumerate(rows)
                if parts.weight[s, k] > 0
            ]
            for s, rows in enumerate(against)
        ]
        everyone = [climb for climbs_of_set in climbs for climb in climbs_of_set]
        merged: list[list[int]] = [[] for _ in climbs]
        while min(map(len, merged)) < depth:
            # Classes that share features need more than their share of steps.
            short = depth - min(map(len, merged))
            n_steps = -(-short // parts.weight.shape[1])
            climb_together(everyone, redundancy, n_steps, self._ticker, self._n_threads)
            merged = [
                take_turns([c.order for c in _strongest_first(of_set)], depth)
                for of_set in climbs
            ]
        return [
            Ranking(complete(order, cap_infinite(row)), row, row.size)
            for order, row in zip(merged, scores, strict=True)
        ]

    def _keep(self, data: Labelled, sets: TrainSets) -> Self:
        super()._keep(data, sets)
        if self.relevance == "all-classes":
            relevance, antiredundancy = self.__dict__.pop("_path")
            self.relevance_path_ = relevance
            self.antiredundancy_path_ = antiredundancy
        return self


def _strongest_first(climbs: list[Climb]) -> list[Climb]:
    """Order classes by the relevance of their first feature, ties by what they chose.

    Not by their names or numbers: classes that tie and chose alike are alike.
    """
    climbs = sorted(climbs, key=lambda climb: climb.order)
    strength = np.array([climb.relevance[climb.order[0]] for climb in climbs])
    return [climbs[k] for k in order_by_score(strength, rtol=1e-10)]


def _warn_infinite() -> None:
    warnings.warn(
        "Some features are constant within every class, so their relevance is "
        "infinite; it was set to a thousand times the largest finite one.",
        UserWarning,
        stacklevel=6,
    )
