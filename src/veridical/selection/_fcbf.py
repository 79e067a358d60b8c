"""FCBF as a scikit-learn selector."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from veridical._core.errors import InputError
from veridical._core.records import Ranking
from veridical._core.table import Table
from veridical.criteria.information import (
    MdlCost,
    UncertaintyRedundancy,
    UncertaintyRelevance,
)
from veridical.kernels.trainsets import TrainSets
from veridical.search import predominance
from veridical.selection._base import Cost, Selector
from veridical.selection._inputs import Abilities


class FCBF(Selector):
    """Keep relevant features that no more relevant one makes redundant.

    The fast correlation-based filter [1]_: features in order of their symmetrical
    uncertainty with the class; each accepted one removes the later ones it predicts at
    least as well as they predict the class. Cost: one sort per feature, and pairs only
    among the relevant features.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=10
        Number of features to select: a number, a share of all, or None for those the
        method accepts. Beyond those, removed features follow, then irrelevant ones,
        each in order of relevance.
    threshold : float, default=0.0
        Only features with a larger symmetrical uncertainty can be accepted.
    mdl_cost : {"cuts", "samples"}, default="cuts"
        As in :class:`InformationGain`.
    target_bins : int, default=4
        Intervals of equal frequency into which a target of numbers is cut, as in
        :class:`InformationGain`.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which features are categorical: those with a categorical data type, none, or
        those given by a mask, indices or names.
    keep : array-like or None, default=None
        Features that are always selected, beside `n_features_to_select` others: names,
        indices or a mask.
    feature_groups : array-like, mapping or None, default=None
        Features that are selected together or not at all: a label for each feature, or
        a mapping from names of groups to features. `n_features_to_select` counts
        groups then.
    n_jobs : int or None, default=None
        Number of threads; None is 1, -1 all cores.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Symmetrical uncertainty with the class, between 0 and 1.
    order_, ranking_, support_, classes_, n_features_in_
        As in :class:`AnovaF`.

    See Also
    --------
    InformationGain : Relevance alone, without redundancy.

    Notes
    -----
    Sample weights must be whole numbers, because the rule for cuts counts samples.

    References
    ----------
    .. [1] L. Yu & H. Liu, "Feature selection for high-dimensional data: a fast
       correlation-based filter solution", ICML 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from veridical.selection import FCBF
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> FCBF(None).fit(X, y).n_features_
    7
    """

    _abilities: ClassVar = Abilities(
        categorical=True,
        missing=True,
        sparse=True,
        blocks=True,
        weights="whole",
        targets=("classes", "numbers"),
    )
    _cost: ClassVar = Cost(
        "n log n p, then pairs of relevant features: n × pairs", power=1
    )

    def __init__(
        self,
        n_features_to_select: int | float | None = 10,
        *,
        threshold: float = 0.0,
        mdl_cost: MdlCost = "cuts",
        target_bins: int = 4,
        categorical_features: Any = "from_dtype",
        keep: Any = None,
        feature_groups: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.threshold = threshold
        self.mdl_cost = mdl_cost
        self.target_bins = target_bins
        self.categorical_features = categorical_features
        self.keep = keep
        self.feature_groups = feature_groups
        self.n_jobs = n_jobs

    def _rankings(self, data: Table, sets: TrainSets) -> list[Ranking]:
        threshold = self.threshold
        if not isinstance(threshold, Real) or not float(threshold) < 1:
            raise InputError(
                f"threshold={threshold!r} must be a number below 1, which no "
                "symmetrical uncertainty exceeds."
            )
        relevance = UncertaintyRelevance(self.mdl_cost, self.target_bins)
        orders: dict[int, NDArray[np.int32]] = {}
        groups = self._groups(data)
        return [
            predominance(
                scores,
                UncertaintyRedundancy(
                    data, sets, s, self.mdl_cost, orders, self.target_bins
                ).between,
                threshold=self.threshold,
                atol=relevance.atol,
                keep=None if groups is None else groups.kept_features,
            )
            for s, scores in enumerate(relevance.scores(data, sets, self._n_threads))
        ]
