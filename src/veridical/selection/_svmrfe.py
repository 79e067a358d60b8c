"""Recursive feature elimination with a linear SVM."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from veridical._core.advice import for_users
from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.records import Ranking
from veridical._core.table import Table
from veridical.criteria.svm import SVMWeights, SVRWeights
from veridical.kernels.duality import POOR_GAP
from veridical.kernels.threads import run_jobs
from veridical.kernels.trainsets import TrainSets
from veridical.search.backward import Elimination, backward
from veridical.search.feature_groups import FeatureGroups
from veridical.selection._base import Cost, ReportsProgress
from veridical.selection._inputs import Abilities, read_train_sets

#: Relative difference of squared weights; with a smaller one features are tied.
TIED_WITHIN = 1e-9


class SVMRFE(ReportsProgress):
    """Drop the features with the smallest weights of a linear SVM, and fit again.

    Guyon's recursive elimination [1]_: in each round the features with the smallest
    squared weights are dropped (summed over the pairs of classes). For a target of
    numbers the weights are those of a linear support vector regression. Evaluates
    features together.
    Works in the dual, so that a round costs one pass over the features left and one
    n × n system, not a new fit.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=10
        Number of features to select: a number, a share of all, or None for all.
    step : int or float, default=1
        Number of features that a round drops; below 1, the share of all features. The
        round that would pass `n_features_to_select` stops there.
    C : float, default=1.0
        Cost of an error.
    epsilon : float, default=0.1
        For a target of numbers: errors up to this many standard deviations of the
        target cost nothing.
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
    order_ : ndarray of shape (n_features,)
        Feature indices, those that stayed longest first; features dropped in one round
        by index.
    ranking_, support_, classes_, n_features_in_
        As in :class:`AnovaF`.

    See Also
    --------
    sklearn.feature_selection.RFE : The same with any estimator, fitted anew.

    Notes
    -----
    Selects what scikit-learn's ``RFE(SVC(kernel="linear", C=C), step=step)`` selects if
    its SVC is solved to convergence; for a target of numbers what
    ``RFE(SVR(kernel="linear", C=C, epsilon=epsilon))`` selects for the standardized
    target. With 500 or more samples, ten times as many as features, no n × n matrix is
    computed: a round costs n p². Features should be on one scale. The weight of a
    sample multiplies `C`.

    References
    ----------
    .. [1] I. Guyon, J. Weston, S. Barnhill & V. Vapnik, "Gene selection for cancer
       classification using support vector machines", Machine Learning 46 (2002).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from veridical.selection import SVMRFE
    >>> X, y = load_wine(return_X_y=True)
    >>> SVMRFE(3).fit(scale(X), y).order_[:3].tolist()
    [6, 12, 10]
    """

    _abilities: ClassVar = Abilities(
        sparse=True, weights="any", targets=("classes", "numbers")
    )
    _cost: ClassVar = Cost("p rounds: each n p of what is left and n³")

    def __init__(
        self,
        n_features_to_select: int | float | None = 10,
        *,
        step: int | float = 1,
        C: float = 1.0,
        epsilon: float = 0.1,
        keep: Any = None,
        feature_groups: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.step = step
        self.C = C
        self.epsilon = epsilon
        self.keep = keep
        self.feature_groups = feature_groups
        self.n_jobs = n_jobs

    def rank_grid(
        self,
        X: Any,
        y: Any,
        train_sets: Iterable[Any],
        *,
        Cs: Iterable[float],
        sizes: Iterable[int | float | None],
        sample_weight: Any = None,
    ) -> list[list[list[IntArray]]]:
        """Rank for several `C` and `n_features_to_select`, for many training sets.

        The result is what `rank_many` gives with each pair of parameters. Eliminations
        share their rounds as long as these are the same: for two numbers of features
        until a round stops at the larger one, for two values of C as long as no
        multiplier of a sample is at the smaller one.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            All the data.
        y : array-like of shape (n_samples,)
            The target, as in `fit`.
        train_sets : iterable of arrays
            Row indices (repeats count) or boolean masks, one per training set.
        Cs : iterable of float
            Values of `C`.
        sizes : iterable of int, float or None
            Values of `n_features_to_select`.
        sample_weight : array-like of shape (n_samples,), optional
            As in `fit`, for the samples of X.

        Returns
        -------
        list of lists of lists of arrays
            ``orders[i][j][s]`` has the feature indices, best first, for the i-th value
            of C, the j-th number of features and training set s.
        """
        for name, values in (("Cs", Cs), ("sizes", sizes)):
            if not isinstance(values, Iterable) or isinstance(values, str):
                raise InputError(
                    f"{name}={values!r} must be several values, in a list."
                )
        Cs, sizes = list(Cs), list(sizes)
        one = clone(self)  # reading sets attributes, which only fit may do
        table = one._read(X, y, sample_weight)
        groups = one._groups(table)
        pairs = [
            [clone(self).set_params(C=C, n_features_to_select=k) for k in sizes]
            for C in Cs
        ]
        grid = [
            _Wanted((i, j), C, pairs[i][j]._schedule(groups, table.n_features))
            for i, C in enumerate(Cs)
            for j in range(len(sizes))
        ]
        orders: list[list[list[IntArray]]] = [[[] for _ in sizes] for _ in Cs]
        indices = read_train_sets(train_sets, table.target, table.weights)
        if not (grid and indices):
            return orders
        sets = TrainSets.from_indices(indices, table.n_samples, table.weights)
        for found in one._eliminate(table, sets, grid):
            for (i, j), order in found.items():
                ranking = Ranking(order, None, table.n_features)
                ranking = ranking if groups is None else groups.arrange(ranking)
                orders[i][j].append(ranking.order)
        return orders

    def _rankings(self, data: Table, sets: TrainSets) -> list[Ranking]:
        schedule = self._schedule(self._groups(data), data.n_features)
        found = self._eliminate(data, sets, [_Wanted((0, 0), self.C, schedule)])
        return [Ranking(one[0, 0], None, data.n_features) for one in found]

    def _eliminate(
        self, data: Table, sets: TrainSets, grid: list[_Wanted]
    ) -> list[dict[tuple[int, int], IntArray]]:
        """Order the features of every training set, for every place in a grid."""
        groups = self._groups(data)
        apart = groups is not None or self.step == 1
        orders: list[dict[tuple[int, int], IntArray]] = [{} for _ in range(len(sets))]
        gaps, spreads = np.zeros(len(sets)), np.zeros(len(sets))

        def eliminate(s: int) -> None:
            weights = self._weights(data, sets.counts[s])
            if apart:
                orders[s] = self._order_apart(data, weights, grid, groups)
            else:
                orders[s] = _order_together(data.n_features, weights, grid, self._tick)
            gaps[s], spreads[s] = weights.gap, weights.spread

        # The matrices are small: threads of one product would wait for each other,
        # threads of several training sets do not.
        with threadpool_limits(1, user_api="blas"):
            run_jobs(eliminate, [(s,) for s in range(len(sets))], self._n_threads)
        worst = int(np.argmax(gaps))
        if gaps[worst] > POOR_GAP:
            warnings.warn(
                f"Rounding keeps the support vector machine from its optimum (the "
                f"duality gap is {gaps[worst]:.0e} of it), so the order is not to be "
                f"relied on: the longest column of X has {spreads[worst]:.0e} times "
                "the length of the shortest. Put the features on one scale first, "
                f"{for_users('as StandardScaler does', 'with --scale standard')}.",
                stacklevel=4,
            )
        return orders

    def _order_apart(
        self,
        data: Table,
        start: SVMWeights,
        grid: list[_Wanted],
        groups: FeatureGroups | None,
    ) -> dict[tuple[int, int], IntArray]:
        """Order the features for each place by itself.

        Where one feature is dropped in each round, all numbers of features to select
        have the same order.
        """
        orders: dict[tuple[int, int], IntArray] = {}
        known: dict[float, IntArray] = {}
        for wanted in sorted(grid, key=lambda one: -one.C):
            if groups is None and wanted.C in known:
                orders[wanted.place] = known[wanted.C]
                continue
            weights = start.at_cost(wanted.C)
            order = self._order_alone(data.n_features, weights, wanted.n_drop, groups)
            orders[wanted.place] = known[wanted.C] = order
            start.gap = max(start.gap, weights.gap)
        return orders

    def _order_alone(
        self,
        n_features: int,
        weights: SVMWeights,
        n_drop: Callable[[int], int],
        groups: FeatureGroups | None,
    ) -> IntArray:
        one_by_one = groups is None and self.step == 1
        return backward(
            n_features,
            weights.scores,
            n_drop,
            rtol=TIED_WITHIN,
            atol=lambda: weights.noise,
            by_index=True,
            tick=self._tick,
            groups=groups,
            ahead=partial(weights.drop_ahead, rtol=TIED_WITHIN) if one_by_one else None,
        )

    def _weights(self, data: Table, counts: FloatArray) -> SVMWeights:
        """Start an elimination; `at_cost` gives its C."""
        if data.kind == "numbers":
            epsilon: Any = self.epsilon
            if not isinstance(epsilon, Real) or not 0 <= float(epsilon) < np.inf:
                raise InputError(f"epsilon={epsilon!r} must be 0 or a positive number.")
            return SVRWeights(data, counts, float(self.C), float(epsilon))
        return SVMWeights(data, counts, float(self.C))

    def _schedule(
        self, groups: FeatureGroups | None, n_features: int
    ) -> Callable[[int], int]:
        """Return the function from the number of features left to those to drop.

        With groups, numbers of groups beside those that are kept.
        """
        step = self._step(n_features if groups is None else groups.n_free)
        stop = self._count(groups, n_features, otherwise=1)

        def n_drop(left: int) -> int:
            return min(step, left - stop) if left > stop else min(step, left - 1)

        return n_drop

    def _n_steps(self, data: Table) -> int:
        groups = self._groups(data)
        left = data.n_features if groups is None else groups.n_free
        n_drop, rounds = self._schedule(groups, data.n_features), 0
        while left > 1:
            left -= n_drop(left)
            rounds += 1
        return rounds

    def _step(self, n_features: int) -> int:
        step: Any = self.step
        is_number = isinstance(step, Real) and not isinstance(step, bool)
        if (
            not is_number
            or float(step) <= 0
            or (step >= 1 and not isinstance(step, Integral))
        ):
            raise InputError(
                f"step={step!r} must be a whole number of features, or a share between "
                "0 and 1."
            )
        if not (isinstance(self.C, Real) and 0 < float(self.C) < np.inf):
            raise InputError(f"C={self.C!r}; the cost of an error must be positive.")
        return int(step) if step >= 1 else max(1, int(step * n_features))


class _Wanted(NamedTuple):
    """A place in a grid: its C, and how many features a round drops of those left."""

    place: tuple[int, int]
    C: float
    n_drop: Callable[[int], int]


def _order_together(
    n_features: int,
    start: SVMWeights,
    grid: list[_Wanted],
    tick: Callable[[], None],
) -> dict[tuple[int, int], IntArray]:
    """Order the features for all places of a grid, in rounds that they share.

    Places share an elimination until they drop different numbers of features, and until
    a multiplier is at the bound of the smallest C: an optimum below the bounds is that
    of every larger C.
    """
    orders: dict[tuple[int, int], IntArray] = {}
    grid = sorted(grid, key=lambda wanted: wanted.C)
    branches = [(Elimination(np.arange(n_features)), start.at_cost(grid[0].C), grid)]
    while branches:
        one, weights, together = branches.pop()
        while one.kept.size > 1:
            C = together[0].C
            larger = [wanted for wanted in together if wanted.C > C]
            before = weights.at_cost(larger[0].C) if larger else None
            scores = weights.scores(one.kept)
            start.gap = max(start.gap, weights.gap)
            if before is not None and weights.is_bounded:
                branches.append((one.copy(), before, larger))
                together = [wanted for wanted in together if wanted.C == C]
            by_number: dict[int, list[_Wanted]] = {}
            for wanted in together:
                by_number.setdefault(wanted.n_drop(one.kept.size), []).append(wanted)
            (n_dropped, together), *others = by_number.items()
            drop = partial(
                Elimination.drop, rtol=TIED_WITHIN, atol=weights.noise, by_index=True
            )
            for number, some in others:
                other = one.copy()
                drop(other, scores, number)
                branches.append((other, weights.at_cost(some[0].C), some))
            drop(one, scores, n_dropped)
            tick()
        orders |= {wanted.place: one.order for wanted in together}
    return orders
