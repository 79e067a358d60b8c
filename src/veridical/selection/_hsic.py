"""HSIC as a scikit-learn selector."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from veridical._core.devices import Device
from veridical._core.errors import InputError
from veridical._core.records import Ranking
from veridical._core.table import Table
from veridical.criteria.hsic import (
    GaussianWithout,
    HSICRelevance,
    LabelledRows,
)
from veridical.kernels.trainsets import TrainSets
from veridical.search import rank_by_score
from veridical.search.backward import backward
from veridical.selection._base import Cost, Selector
from veridical.selection._inputs import Abilities


class HSIC(Selector):
    """Rank features by kernel dependence on the target.

    The Hilbert–Schmidt independence criterion is zero only if feature and target are
    independent, for a Gaussian kernel whatever the kind of dependence. With a backward
    search (BAHSIC [1]_) it evaluates features together. Cost: one pass over X for the
    linear kernel, O(n² p) for the Gaussian one, and about ten times that backward.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=10
        Number of features to select: a number, a share of all, or None for all.
    kernel : {"linear", "rbf"}, default="linear"
        Kernel on the standardised features. The Gaussian kernel's gamma is 1/2 for one
        feature and 1/(2 d) for d of them.
    search : {"ranking", "backward"}, default="ranking"
        Score features one by one, or start with all and drop in each round those whose
        loss leaves most dependence. With a linear kernel both give the same order.
    step : float in (0, 1), default=0.1
        Share of the features still there that a backward round drops.
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
        The unbiased criterion of each feature by itself; not for a backward search.
    order_, ranking_, support_, classes_, n_features_in_
        As in :class:`AnovaF`.

    Notes
    -----
    Labels enter as vectors of 1/m_k for the own class and 1/(m_k − m) for the others,
    so that small classes count as much as large ones. A target of numbers is
    standardised and has the kernel of the features: with the linear kernel the
    criterion is the squared correlation, less what chance adds to it, and only the
    Gaussian kernel finds other relations than linear ones.

    Sample weights must be whole numbers, because the unbiased criterion counts pairs of
    samples, copies of one sample included.

    References
    ----------
    .. [1] L. Song, A. Smola, A. Gretton, J. Bedo & K. Borgwardt, "Feature selection
       via dependence maximization", JMLR 13 (2012).

    Examples
    --------
    >>> import numpy as np
    >>> from veridical.selection import HSIC
    >>> X = np.random.default_rng(0).normal(size=(100, 4))
    >>> y = np.abs(X[:, 2]) > 0.7  # no shift of the mean, only of the spread
    >>> HSIC(1, kernel="rbf").fit(X, y).get_support(indices=True)
    array([2])
    """

    _abilities: ClassVar = Abilities(
        sparse=True,
        blocks=True,
        device=True,
        weights="whole",
        targets=("classes", "numbers"),
    )
    _cost: ClassVar = Cost("n p", power=1)

    def __init__(
        self,
        n_features_to_select: int | float | None = 10,
        *,
        kernel: Literal["linear", "rbf"] = "linear",
        search: Literal["ranking", "backward"] = "ranking",
        step: float = 0.1,
        keep: Any = None,
        feature_groups: Any = None,
        n_jobs: int | None = None,
        device: Device = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.kernel = kernel
        self.search = search
        self.step = step
        self.keep = keep
        self.feature_groups = feature_groups
        self.n_jobs = n_jobs
        self.device = device

    def _rankings(self, data: Table, sets: TrainSets) -> list[Ranking]:
        self._check()
        smallest = int(sets.counts.sum(axis=1).min())
        if smallest < 4:
            raise InputError(
                f"The unbiased criterion needs at least 4 samples, and there are only "
                f"{smallest} in a training set (n_samples={smallest})."
            )
        if self.search == "backward" and self.kernel == "rbf":
            return [self._backward(data, sets, s) for s in range(len(sets))]
        scores = HSICRelevance(self.kernel).scores(data, sets, self._n_threads)
        rankings = [
            rank_by_score(
                row[None],
                rtol=0.0,
                atol=1e-11 * LabelledRows(data, counts, self.kernel).scale(),
            )[0]
            for row, counts in zip(scores, sets.counts, strict=True)
        ]
        if self.search == "backward":
            # A linear kernel is a sum over features: dropping one does not change
            # the scores of others, so the scores give the backward order.
            return [Ranking(r.order, None, r.n_kept) for r in rankings]
        return rankings

    def _backward(self, data: Table, sets: TrainSets, s: int) -> Ranking:
        if data.is_lazy and not data.values.is_on_device:  # it holds all features
            data = data.replace(features=data.features.load())
        labels = LabelledRows(data, sets.counts[s], self.kernel)
        without = GaussianWithout(data, labels, self._n_threads)
        order = backward(
            data.values.shape[1],
            lambda kept: -without.scores(kept),
            lambda left: int(self.step * left),
            rtol=1e-9,
            atol=lambda: 1e-11 * labels.scale(),
            groups=self._groups(data),
        )
        return Ranking(order, None, order.size)

    def _check(self) -> None:
        for name, value, known in (
            ("kernel", self.kernel, ("linear", "rbf")),
            ("search", self.search, ("ranking", "backward")),
        ):
            if value not in known:
                raise InputError(
                    f"{name}={value!r} is not known; use {known[0]!r} or {known[1]!r}."
                )
        if not 0 < self.step < 1:
            raise InputError(f"step={self.step!r} must be a share between 0 and 1.")
