"""ReliefF as a scikit-learn selector."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from veridical._core.arrays import FloatArray
from veridical._core.devices import Device
from veridical._core.errors import InputError
from veridical._core.seeds import as_random_state
from veridical._core.table import Table
from veridical.criteria import Relevance
from veridical.criteria.relief import (
    RegressionReliefRelevance,
    ReliefRelevance,
)
from veridical.kernels.relief import N_PARTS
from veridical.kernels.trainsets import TrainSets
from veridical.selection._base import Cost, ReportsProgress, ScoreSelector
from veridical.selection._inputs import Abilities

#: Samples; with as many, all comparisons take minutes, and a warning says so.
MANY_SAMPLES = 50_000
#: Differences of features that are summed in a second of processor time, roughly.
PAIR_FEATURES_PER_SECOND = 2e10


class ReliefF(ReportsProgress, ScoreSelector):
    """Rank features by their differences between near samples of other and same class.

    A feature is relevant if it differs between a sample and its nearest samples of
    other classes, and is similar in its nearest samples of the same class [1]_. Finds
    features that matter only together (as in XOR), which univariate scores cannot.
    Cost: all pairwise distances, O(n² p).

    For a target of numbers this is RReliefF [2]_: a feature is relevant if it differs
    between near samples whose targets differ, and is similar where they are similar.
    Survival times enter by the quantiles that they are expected to have.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=10
        Number of features to select: a number, a share of all, or None for all.
    n_neighbors : int, default=10
        Number of hits, and of misses per class, of each sample; all of a class with
        fewer samples. For a target of numbers or survival times, number of nearest
        samples.
    decay : float or None, default=None
        For a target of numbers or survival times: None gives all neighbours the same
        weight; a number gives the neighbour of rank r a weight proportional to
        ``exp(-(r / decay)**2)``, as the original does [2]_ (with 20, and 200
        neighbours).
    n_samples : int or None, default=None
        Number of samples, drawn at random, that are compared with their neighbours;
        None takes every sample once.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which features are categorical: those with a categorical data type, none, or
        those given by a mask, indices or names.
    random_state : int, RandomState or None, default=None
        Draws the samples if `n_samples` is given.
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
        ReliefF weights, between −1 and 1.
    order_, ranking_, support_, classes_, n_features_in_
        As in :class:`AnovaF`.

    Notes
    -----
    Numeric differences are divided by the feature's range in the training data;
    categorical ones are 0 or 1; missing values follow Weka's ReliefFAttributeEval.
    Misses of class c have the weight ``P(c) / (1 − P(own class))``. Where several
    samples are as far as the k-th neighbour, they share its place, so that the order of
    the rows never matters.

    For a target of numbers, let t be the difference of two targets divided by the range
    of the target, d the difference of a feature, and w the weight of a neighbour, which
    sum to 1 for each of the m samples. With the sums ``N_C = Σ w t``, ``N_A = Σ w d``
    and ``N_CA = Σ w t d`` over all samples and their neighbours the weight of the
    feature is ``N_CA / N_C − (N_A − N_CA) / (m − N_C)``. By default all neighbours have
    the same weight. (skrebate, for numbers, compares with near samples whose targets
    differ by less and by more than one standard deviation, as :class:`MultiSURF` does
    here; it is another method.)

    The quantile of a survival time is that of the Kaplan–Meier curve: the middle of its
    step for an event, and the mean of all quantiles that are still possible for a
    censored time. Without censoring these are the ranks of the times.

    Sample weights must be whole numbers, because neighbours are counted. Copies of a
    sample are neighbours of each other at distance 0.

    References
    ----------
    .. [1] I. Kononenko, "Estimating attributes: analysis and extensions of RELIEF",
       ECML 1994.
    .. [2] M. Robnik-Šikonja & I. Kononenko, "Theoretical and empirical analysis of
       ReliefF and RReliefF", Machine Learning 53 (2003).

    Examples
    --------
    >>> import numpy as np
    >>> from veridical.selection import ReliefF
    >>> X = np.random.default_rng(0).random((200, 5))
    >>> y = (X[:, 1] > 0.5) ^ (X[:, 3] > 0.5)  # neither feature predicts y alone
    >>> ReliefF(2).fit(X, y).get_support(indices=True)
    array([1, 3])
    """

    _abilities: ClassVar = Abilities(
        categorical=True,
        missing=True,
        sparse=True,
        device=True,
        weights="whole",
        targets=("classes", "numbers", "survival"),
    )
    _cost: ClassVar = Cost("n² p", power=2)
    scores_apart: ClassVar = True

    def __init__(
        self,
        n_features_to_select: int | float | None = 10,
        *,
        n_neighbors: int = 10,
        decay: float | None = None,
        n_samples: int | None = None,
        categorical_features: Any = "from_dtype",
        random_state: Any = None,
        keep: Any = None,
        feature_groups: Any = None,
        n_jobs: int | None = None,
        device: Device = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_neighbors = n_neighbors
        self.decay = decay
        self.n_samples = n_samples
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.keep = keep
        self.feature_groups = feature_groups
        self.n_jobs = n_jobs
        self.device = device

    def _n_steps(self, data: Table) -> int:
        return N_PARTS

    def _relevance(self, data: Table, sets: TrainSets) -> Relevance:
        if not isinstance(self.n_neighbors, Integral) or self.n_neighbors < 1:
            raise InputError(
                f"n_neighbors={self.n_neighbors!r}; ReliefF needs at least 1 neighbour."
            )
        queries, decay = self._queries(sets), self._decay(data)
        self._warn_of_cost(data, sets)
        if data.kind == "classes":
            return ReliefRelevance(self.n_neighbors, queries, tick=self._ticker)
        return RegressionReliefRelevance(
            self.n_neighbors, queries, decay=decay, tick=self._ticker
        )

    def _warn_of_cost(self, data: Table, sets: TrainSets) -> None:
        n, p = len(data), data.n_features
        few = self.n_samples is not None or n < MANY_SAMPLES
        if few or data.is_sparse or data.is_lazy:  # on a GPU
            return
        minutes = len(sets) * n * n * p / PAIR_FEATURES_PER_SECOND / 60
        warnings.warn(
            f"ReliefF compares all {n:,} samples with each other, which takes about "
            f"{max(1, round(minutes)):,} minutes of processor time; n_samples=500 "
            "compares 500 of them with all others.",
            UserWarning,
            stacklevel=2,
        )

    def _decay(self, data: Table) -> float | None:
        if self.decay is None:
            return None
        if data.kind == "classes":
            raise InputError(
                f"decay={self.decay!r} is for a target of numbers or survival times; "
                "leave it out for a target of classes."
            )
        if not isinstance(self.decay, Real) or not 0 < float(self.decay) < np.inf:
            raise InputError(
                f"decay={self.decay!r} must be a positive number, or None for equal "
                "weights of all neighbours."
            )
        return float(self.decay)

    def _queries(self, sets: TrainSets) -> FloatArray | None:
        """Return how often each row is compared, drawn for each set as in `fit`."""
        if self.n_samples is None:
            return None
        if not isinstance(self.n_samples, Integral) or self.n_samples < 1:
            raise InputError(
                f"n_samples={self.n_samples!r} must be a whole number of samples, 1 or "
                "more, or None for all."
            )
        queries = np.zeros(sets.counts.shape)
        for s in range(len(sets)):
            rows = sets.copies(s)
            draw = as_random_state(self.random_state).permutation(rows.size)
            np.add.at(queries[s], rows[draw[: self.n_samples]], 1.0)
        return queries
