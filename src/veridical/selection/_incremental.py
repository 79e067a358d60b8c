"""Selectors that add one feature at a time: what they share, and mRMR."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np

from veridical._core.arrays import FloatArray
from veridical._core.devices import Device
from veridical._core.errors import InputError
from veridical._core.records import Ranking
from veridical._core.table import Table
from veridical.criteria.anova import Variances, cap_infinite
from veridical.criteria.correlation import correlation_redundancy
from veridical.criteria.survival import cox_relevance, event_weights
from veridical.kernels.ordering import order_by_score
from veridical.kernels.trainsets import TrainSets
from veridical.search.feature_groups import FeatureGroups
from veridical.search.incremental import (
    ForwardSearch,
    append_rest,
    difference,
    quotient,
    search_together,
)
from veridical.selection._base import Cost, ReportsProgress
from veridical.selection._inputs import Abilities

MIN_SIMILARITY = 1e-3  # mRMR: smaller absolute correlations count as this


class IncrementalSelector(ReportsProgress):
    """A selector with a forward search on F ratios and correlations."""

    n_searched: int | None

    def _n_steps(self, data: Table) -> int | None:
        return self._depth(self._groups(data), data.n_features)

    def _depth(self, groups: FeatureGroups | None, n_features: int) -> int:
        """Return the number of features, or free groups, to search for."""
        n_all = n_features if groups is None else groups.n_free
        if self.n_searched is None:
            return n_all
        whole = isinstance(self.n_searched, Integral)
        if not whole or isinstance(self.n_searched, bool) or self.n_searched < 1:
            raise InputError(
                f"n_searched={self.n_searched!r} must be a whole number of features, 1 "
                "or more, or None for all."
            )
        wanted = self._count(groups, n_features, otherwise=0)
        return min(n_all, max(int(self.n_searched), wanted))


class MRMR(IncrementalSelector):
    """Select relevant features with little redundancy among them.

    Starts with the most relevant feature and adds the one with the largest quotient
    of relevance (the F ratio; for survival times χ² of the score test of a Cox model)
    and mean absolute correlation with those already chosen [1]_. Cost: at most one pass
    over X for each feature searched.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=10
        Number of features to select: a number, a share of all, or None for all.
    scheme : {"quotient", "difference"}, default="quotient"
        Divide relevance by redundancy, or subtract it; to subtract, relevance is the
        correlation ratio (the share of variance between classes, rooted), which lies
        on the same scale as a correlation: for a target of numbers it is the absolute
        correlation, for survival times the root of χ² divided by the number of events.
    n_searched : int or None, default=100
        Number of features that the search orders (at least `n_features_to_select`); the
        others follow by relevance. None searches all.
    keep : array-like or None, default=None
        Features that are always selected, beside `n_features_to_select` others: names,
        indices or a mask.
    feature_groups : array-like, mapping or None, default=None
        Features that are selected together or not at all: a label for each feature, or
        a mapping from names of groups to features. `n_features_to_select` counts
        groups then.
    n_jobs : int or None, default=None
        Number of threads; None is 1, -1 all cores.
    device : {"cuda", "cpu"} or None, default=None
        Where to work: on the GPU, for which ``veridical[cuda]`` must be installed, on
        the processor, or where X is: arrays of CuPy and CUDA tensors of PyTorch are on
        the GPU. The result is the same, up to rounding of sums. Sparse features stay
        on the processor.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Relevance of each feature by itself.
    order_, ranking_, support_, classes_, n_features_in_
        As in :class:`AnovaF`.

    See Also
    --------
    DifferentialPrioritization : The same tradeoff with an exponent.

    Notes
    -----
    With ``scheme="quotient"`` the choices are those of the package mrmr_selection:
    correlations below 0.001 count as 0.001, and features with no relevance come last.
    With ``scheme="difference"`` features that are constant in the training set come
    last: they repeat no other feature, but predict nothing.
    Sample weights are frequency weights, as in :class:`AnovaF`.

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

    _abilities: ClassVar = Abilities(
        sparse=True,
        blocks=True,
        device=True,
        weights="any",
        targets=("classes", "numbers", "survival"),
    )
    _cost: ClassVar = Cost("at most n p k, k = 100", power=1)

    def __init__(
        self,
        n_features_to_select: int | float | None = 10,
        *,
        scheme: Literal["quotient", "difference"] = "quotient",
        n_searched: int | None = 100,
        keep: Any = None,
        feature_groups: Any = None,
        n_jobs: int | None = None,
        device: Device = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.scheme = scheme
        self.n_searched = n_searched
        self.keep = keep
        self.feature_groups = feature_groups
        self.n_jobs = n_jobs
        self.device = device

    def _rankings(self, data: Table, sets: TrainSets) -> list[Ranking]:
        tradeoffs = {"quotient": quotient, "difference": difference}
        if self.scheme not in tradeoffs:
            raise InputError(
                f"scheme={self.scheme!r} is not known; use 'quotient' or 'difference'."
            )
        redundancy = correlation_redundancy(
            data, sets, self._n_threads, floor=MIN_SIMILARITY
        )
        scores = self._scores(data, sets, redundancy.variances)
        groups = self._groups(data)
        searches = [
            ForwardSearch(cap_infinite(row), tradeoffs[self.scheme], s, groups)
            for s, row in enumerate(scores)
        ]
        depth = self._depth(groups, data.n_features)
        search_together(searches, redundancy, depth, self._ticker, self._n_threads)
        rest = [order_by_score(search.relevance) for search in searches]
        return [
            Ranking(append_rest(search.order, others), row, row.size)
            for search, others, row in zip(searches, rest, scores, strict=True)
        ]

    def _scores(self, data: Table, sets: TrainSets, parts: Variances) -> FloatArray:
        if data.kind == "survival":
            chi2 = cox_relevance(data, sets, self._n_threads)
            if self.scheme == "quotient":
                return chi2
            return np.sqrt(np.minimum(chi2 / event_weights(data, sets), 1.0))
        if self.scheme == "difference":
            ratio = parts.ratio()
            with np.errstate(invalid="ignore"):
                return np.sqrt(np.where(np.isinf(ratio), 1.0, ratio / (1.0 + ratio)))
        classes, samples = parts.sizes()
        with np.errstate(invalid="ignore"):  # one sample per class leaves no F ratio
            return parts.ratio() * (samples - classes) / (classes - 1)
