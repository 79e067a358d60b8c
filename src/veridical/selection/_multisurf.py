"""MultiSURF as a scikit-learn selector."""

from __future__ import annotations

from typing import Any, ClassVar

from veridical._core.table import Table
from veridical.criteria import Relevance
from veridical.criteria.relief import (
    MultiSurfRelevance,
    RegressionMultiSurfRelevance,
)
from veridical.kernels.relief import N_PARTS
from veridical.kernels.trainsets import TrainSets
from veridical.selection._base import Cost, ReportsProgress, ScoreSelector
from veridical.selection._inputs import Abilities


class MultiSURF(ReportsProgress, ScoreSelector):
    """Rank features by their differences between near samples, without a number k.

    As :class:`ReliefF`, but the neighbours of a sample are all samples within a radius
    that follows from its distances [1]_: there is nothing to tune. Finds features that
    matter only together. Cost: all pairwise distances, O(n² p).

    Parameters
    ----------
    n_features_to_select : int, float or None, default=10
        Number of features to select: a number, a share of all, or None for all.
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
        MultiSURF weights, between −1 and the number of classes less 1.
    order_, ranking_, support_, classes_, n_features_in_
        As in :class:`AnovaF`.

    Notes
    -----
    The radius of sample i is the mean of its distances to all other samples less half
    their standard deviation (of these distances, without a correction for degrees of
    freedom). Samples nearer than the radius are its near hits (same class) and near
    misses (other classes). A sample as far as the radius is not near; it is as far if
    the two agree to 1e-11 of the mean distance, so that rounding decides nothing. The
    weight of a feature is the mean over all samples of

    ``Σ_c (K − 1) (m_c / m)² D_c − D_hits``,

    where ``D_hits`` and ``D_c`` are the mean differences of the feature to the near
    hits and to the near misses of class c, m_c is the number of these, m the number of
    all near misses, and K the number of classes. With two classes this is the mean
    difference to near misses less the mean difference to near hits. Where a sample has
    no near hits or no near misses, that part is 0. For a target of numbers, near
    samples whose targets differ by less than one standard deviation are hits, the
    others misses of one class.

    Radius, neighbours and weights are those of ``skrebate.MultiSURF`` (version 0.8),
    also for more than two classes, where the factors of the classes are not those of
    ReliefF and do not sum to 1. Three things are as in :class:`ReliefF` and differ:

    - In tables with numeric and categorical features, each feature counts alike in a
      distance, and numeric differences are divided by the range. skrebate multiplies
      categorical differences by the number of all features over that of categorical
      ones in distances, and replaces numeric differences beyond one standard deviation
      of the feature by 1 in weights.
    - Missing values follow Weka's ReliefFAttributeEval: a missing number is as far as
      it can be from the known one, a missing category differs with the probability of a
      random one. skrebate leaves missing values out of distances and weights.
    - A numeric feature that is constant has weight 0; skrebate divides by its range.

    Sample weights must be whole numbers, because samples are counted. Copies of a
    sample have distance 0 to each other.

    References
    ----------
    .. [1] R. J. Urbanowicz, R. S. Olson, P. Schmitt, M. Meeker and J. H. Moore,
       "Benchmarking relief-based feature selection methods for bioinformatics data
       mining", Journal of Biomedical Informatics 85, 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from veridical.selection import MultiSURF
    >>> X = np.random.default_rng(0).random((200, 5))
    >>> y = (X[:, 1] > 0.5) ^ (X[:, 3] > 0.5)  # neither feature predicts y alone
    >>> MultiSURF(2).fit(X, y).get_support(indices=True)
    array([1, 3])
    """

    _abilities: ClassVar = Abilities(
        categorical=True,
        missing=True,
        sparse=True,
        weights="whole",
        targets=("classes", "numbers"),
    )
    _cost: ClassVar = Cost("n² p", power=2)
    scores_apart: ClassVar = True

    def __init__(
        self,
        n_features_to_select: int | float | None = 10,
        *,
        categorical_features: Any = "from_dtype",
        keep: Any = None,
        feature_groups: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.categorical_features = categorical_features
        self.keep = keep
        self.feature_groups = feature_groups
        self.n_jobs = n_jobs

    def _n_steps(self, data: Table) -> int:
        return N_PARTS

    def _relevance(self, data: Table, sets: TrainSets) -> Relevance:
        if data.kind == "numbers":
            return RegressionMultiSurfRelevance(tick=self._ticker)
        return MultiSurfRelevance(tick=self._ticker)
