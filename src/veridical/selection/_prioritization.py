"""Differential prioritization: relevance against antiredundancy, with an exponent."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from sklearn.base import clone

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.devices import Device
from veridical._core.errors import InputError
from veridical._core.records import Ranking
from veridical._core.seeds import as_random_state
from veridical._core.table import Table
from veridical.criteria.anova import Variances, cap_infinite
from veridical.criteria.correlation import correlation_redundancy
from veridical.criteria.survival import cox_relevance
from veridical.kernels.ordering import order_by_score
from veridical.kernels.trainsets import TrainSets
from veridical.search.feature_groups import FeatureGroups
from veridical.search.incremental import (
    ForwardSearch,
    Redundancy,
    append_rest,
    prioritized,
    search_together,
    take_turns,
)
from veridical.selection._alpha import (
    EXPONENTS,
    MOST_SEARCHED,
    draw_splits,
    score_alphas,
)
from veridical.selection._base import Cost
from veridical.selection._incremental import IncrementalSelector
from veridical.selection._inputs import Abilities
from veridical.selection._predictor_sets import best_alpha, size_averaged_accuracy

RelevanceKind = Literal["all-classes", "one-vs-all"]


@dataclass(frozen=True)
class _RankedPath:
    """A ranking, and the paths of V and U where it comes from a single search."""

    ranking: Ranking
    path: tuple[FloatArray, FloatArray] | None


class DifferentialPrioritization(IncrementalSelector):
    """Trade relevance against antiredundancy with an exponent.

    Starts with the most relevant feature and adds the one that makes
    ``V^alpha U^(1 - alpha)`` of the chosen set largest [1]_: V is the mean relevance
    (ratio of the sums of squares between and within classes; of the fitted values and
    the residuals of a straight line for a target of numbers; χ² of the score test of a
    Cox model for survival times), U the mean of
    ``1 - |correlation|`` over all pairs. ``alpha=1`` ranks by relevance alone; a small
    alpha prefers features that differ from each other, which helps with many classes.
    Cost: at most one pass over X for each feature searched, mostly much less.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=10
        Number of features to select: a number, a share of all, or None for all.
    alpha : float in (0, 1] or "auto", default=0.5
        Weight of relevance. "auto" tries `alphas` on random splits of the training
        data and takes the one whose predictor sets of 2, 3, … features are the most
        accurate on average; the mean of those that tie.
    relevance : {"all-classes", "one-vs-all"}, default="all-classes"
        One relevance for all classes at once, or one search for each class against the
        rest; then features are taken from the classes in turn.
    n_searched : int or None, default=100
        Number of features that the search orders (at least `n_features_to_select`); the
        others follow by relevance. None searches all.
    alphas : sequence of float or None, default=None
        Exponents that "auto" tries; None is 0.1, 0.2, …, 1.
    n_splits : int, default=10
        Number of splits of "auto": stratified, two thirds for training.
    estimator : classifier or None, default=None
        Classifier with which "auto" evaluates predictor sets. None is a linear DAGSVM
        with C = 1 on standardized features, which is fast at all sizes; any other is
        fitted at every size, unless it has ``predict_many`` (see
        :class:`veridical.learning.DAGSVM`).
    random_state : int, RandomState or None, default=None
        Seed of the splits of "auto".
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
    alpha_ : float
        The exponent that was used.
    scores_ : ndarray of shape (n_features,)
        Relevance of each feature by itself, all classes at once.
    relevance_path_, antiredundancy_path_ : ndarray of shape (n_searched,)
        V and U of the first 1, 2, 3, … features; not with ``relevance="one-vs-all"``.
    alphas_, alpha_accuracy_ : ndarray of shape (n_alphas,)
        The exponents tried, and the size-averaged accuracy of each; only with
        ``alpha="auto"``.
    order_, ranking_, support_, classes_, n_features_in_
        As in :class:`AnovaF`.

    See Also
    --------
    MRMR : Relevance divided by redundancy.

    Notes
    -----
    A feature that is constant within every class has infinite relevance; it is set to
    a thousand times the largest finite one, with a warning. A constant feature has no
    relevance, but it is uncorrelated with all others, so that by the formula alone a
    small alpha would choose it early; it can tell nothing about the class, so features
    that are constant in the training set come after all that vary, whatever alpha is.
    With ``relevance="one-vs-all"`` the
    class whose first feature is the most relevant begins, so that the names of the
    classes do not matter.

    The accuracy in `alpha_accuracy_` belongs to the choice of alpha: it is not an
    estimate of how good the selected features are. For that, put the selector into a
    pipeline and give it to :func:`veridical.evaluation.estimate`.

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
        alpha: float | Literal["auto"] = 0.5,
        relevance: RelevanceKind = "all-classes",
        n_searched: int | None = 100,
        alphas: Sequence[float] | None = None,
        n_splits: int = 10,
        estimator: Any = None,
        random_state: Any = None,
        keep: Any = None,
        feature_groups: Any = None,
        n_jobs: int | None = None,
        device: Device = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.relevance = relevance
        self.n_searched = n_searched
        self.alphas = alphas
        self.n_splits = n_splits
        self.estimator = estimator
        self.random_state = random_state
        self.keep = keep
        self.feature_groups = feature_groups
        self.n_jobs = n_jobs
        self.device = device

    def path(
        self, X: Any, y: Any, alphas: Any = None, sample_weight: Any = None
    ) -> list[Self]:
        """Fit for many alphas at once.

        The searches share the pass over the data, and those that need many
        correlations share them: ten alphas cost as much as two or three fits.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The training data.
        y : array-like of shape (n_samples,)
            The class labels.
        alphas : sequence of float, optional
            Exponents; 0.1, 0.2, …, 1 by default.
        sample_weight : array-like of shape (n_samples,), optional
            As in `fit`.

        Returns
        -------
        list of DifferentialPrioritization
            A fitted selector for each alpha, with ``order_``, ``relevance_path_`` and
            ``antiredundancy_path_`` as a fit of its own would give.
        """
        wanted = _check_alphas(EXPONENTS if alphas is None else alphas, "alphas")
        reader = clone(self).set_params(alpha=wanted[0])
        data = reader._read(X, y, sample_weight)
        reader._check_target(data)
        sets = TrainSets.all_rows(data.n_samples, data.weights)
        groups = reader._groups(data)
        by_alpha = reader._search(data, sets, wanted, groups)
        fitted = []
        for alpha, (found,) in zip(wanted, by_alpha, strict=True):
            one = clone(self).set_params(alpha=alpha)
            for name in ("n_features_in_", "feature_names_in_", "classes_"):
                if hasattr(reader, name):
                    setattr(one, name, getattr(reader, name))
            fitted.append(one._store(found, alpha, groups))
        return fitted

    # -- interface of selectors --------------------------------------------------------

    def _n_steps(self, data: Table) -> int | None:
        known = self.relevance == "all-classes" and not self._is_auto
        return super()._n_steps(data) if known else None

    @property
    def _is_auto(self) -> bool:
        return isinstance(self.alpha, str) and self.alpha == "auto"

    def _rankings(self, data: Table, sets: TrainSets) -> list[Ranking]:
        self._check_relevance()
        self._check_target(data)
        groups = self._groups(data)
        if not self._is_auto:
            (alpha,) = _check_alphas([self.alpha], "alpha")
            (found,) = self._search(data, sets, [alpha], groups)
            self._last: tuple[_RankedPath, float, FloatArray | None] = (
                found[0],
                alpha,
                None,
            )
            return [one.ranking for one in found]
        rankings = []
        for s, rows in enumerate(self._rows_of(sets)):
            alpha, accuracy = self._choose_alpha(_take_as_table(data, rows), groups)
            one = TrainSets.from_indices([rows], len(data.y))
            ((found_one,),) = self._search(data, one, [alpha], groups)
            rankings.append(found_one.ranking)
            if s == 0:
                self._last = found_one, alpha, accuracy
        return rankings

    def _keep(self, data: Table, sets: TrainSets) -> Self:
        super()._keep(data, sets)
        found, alpha, accuracy = self.__dict__.pop("_last")
        self._store_path(found, alpha)
        if accuracy is not None:
            self.alphas_ = np.array(self._candidates())
            self.alpha_accuracy_ = accuracy
        return self

    def _store(
        self, found: _RankedPath, alpha: float, groups: FeatureGroups | None
    ) -> Self:
        """Store the result of a search as fitted attributes."""
        ranking = found.ranking if groups is None else groups.arrange(found.ranking)
        self._store_ranking(ranking, groups)
        self._store_path(found, alpha)
        return self

    def _store_path(self, found: _RankedPath, alpha: float) -> None:
        self.alpha_ = alpha
        if found.path is not None:
            self.relevance_path_, self.antiredundancy_path_ = found.path

    def _check_relevance(self) -> None:
        kinds = get_args(RelevanceKind)
        if self.relevance not in kinds:
            raise InputError(
                f"relevance={self.relevance!r} is not known; use "
                f"{' or '.join(map(repr, kinds))}."
            )

    def _check_target(self, data: Table) -> None:
        """Raise if a parameter needs classes and the target has none."""
        if data.kind == "classes":
            return
        if self.relevance == "one-vs-all":
            raise InputError(
                "relevance='one-vs-all' needs a target of classes; use 'all-classes', "
                "which is also the relevance for numbers and survival times."
            )
        if self._is_auto:
            raise InputError(
                "alpha='auto' evaluates classifiers, and the target has no classes; "
                "give a number for alpha."
            )

    # -- choosing alpha --------------------------------------------------------------

    @staticmethod
    def _rows_of(sets: TrainSets) -> Sequence[IntArray]:
        if sets.weights is not None:
            raise InputError(
                "alpha='auto' splits the training data, which sample_weight does not "
                "allow; give a number for alpha, or no weights."
            )
        return sets.indices

    def _candidates(self) -> list[float]:
        return _check_alphas(
            EXPONENTS if self.alphas is None else self.alphas, "alphas"
        )

    def _choose_alpha(
        self, data: Table, groups: FeatureGroups | None
    ) -> tuple[float, FloatArray]:
        """Try all alphas on splits of the data; return the best, and all accuracies."""
        wanted = self._candidates()
        if groups is not None:
            raise InputError(
                "alpha='auto' evaluates sets of 2, 3, … features, which keep and "
                "feature_groups do not allow; give a number for alpha."
            )
        whole = isinstance(self.n_splits, Integral)
        if not whole or isinstance(self.n_splits, bool) or self.n_splits < 1:
            raise InputError(f"n_splits={self.n_splits!r} must be 1 or more.")
        seed = int(as_random_state(self.random_state).randint(2**31))
        splits = draw_splits(data.y, int(self.n_splits), seed)
        sets = TrainSets.from_indices([split.train for split in splits], len(data.y))
        largest = max(MOST_SEARCHED, self._count(None, data.n_features, otherwise=0))
        largest = min(largest, self._depth(None, data.n_features))
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", UserWarning
            )  # they concern parts of the data
            by_alpha = self._search(data, sets, wanted, None, depth=largest)
        orders = [
            [of_set[f].ranking.order for of_set in by_alpha] for f in range(len(splits))
        ]
        sizes = np.arange(min(2, largest), largest + 1, dtype=np.intp)
        found = score_alphas(
            data, splits, orders, sizes, self.estimator, self._n_threads
        )
        accuracy = np.asarray(size_averaged_accuracy(found))
        return best_alpha(wanted, accuracy), accuracy

    # -- searching -------------------------------------------------------------------

    def _search(
        self,
        data: Table,
        sets: TrainSets,
        alphas: Sequence[float],
        groups: FeatureGroups | None,
        depth: int | None = None,
    ) -> list[list[_RankedPath]]:
        """Search with every alpha in every training set."""
        self._check_relevance()
        one_vs_all = self.relevance == "one-vs-all"
        redundancy = correlation_redundancy(
            data, sets, self._n_threads, against=one_vs_all
        )
        if depth is None:
            depth = self._depth(groups, data.n_features)
        if one_vs_all:
            parts = redundancy.variances
            return self._one_vs_all(redundancy, parts, alphas, groups, depth)
        if data.kind == "survival":
            scores = cox_relevance(data, sets, self._n_threads)
        else:
            scores = redundancy.variances.ratio()
        if np.isinf(scores).any():
            _warn_infinite(data.kind)
        relevance = [cap_infinite(row) for row in scores]
        searches = [
            [
                ForwardSearch(row, prioritized(alpha), s, groups)
                for s, row in enumerate(relevance)
            ]
            for alpha in alphas
        ]
        all_searches = [search for of_alpha in searches for search in of_alpha]
        search_together(all_searches, redundancy, depth, self._ticker, self._n_threads)
        rest = [order_by_score(row) for row in relevance]
        return [
            [
                _RankedPath(
                    Ranking(append_rest(search.order, rest[s]), row, row.size),
                    (search.relevance_path, search.antiredundancy_path),
                )
                for s, (search, row) in enumerate(zip(of_alpha, scores, strict=True))
            ]
            for of_alpha in searches
        ]

    def _one_vs_all(
        self,
        redundancy: Redundancy,
        parts: Variances,
        alphas: Sequence[float],
        groups: FeatureGroups | None,
        depth: int,
    ) -> list[list[_RankedPath]]:
        against, scores = parts.ratio_against(), parts.ratio()
        if np.isinf(against).any():
            _warn_infinite("classes")
        relevance = [
            [cap_infinite(row) for k, row in enumerate(rows) if parts.weight[s, k] > 0]
            for s, rows in enumerate(against)
        ]
        places = [(a, s) for a in range(len(alphas)) for s in range(len(relevance))]
        searches = {
            (a, s): [
                ForwardSearch(row, prioritized(alphas[a]), s, groups)
                for row in relevance[s]
            ]
            for a, s in places
        }
        all_searches = [one for of_place in searches.values() for one in of_place]
        merged: dict[tuple[int, int], list[int]] = {place: [] for place in places}
        while min(map(len, merged.values())) < depth:
            # Classes that share features need more than their share of steps.
            short = depth - min(map(len, merged.values()))
            n_steps = -(-short // parts.weight.shape[1])
            search_together(
                all_searches, redundancy, n_steps, self._ticker, self._n_threads
            )
            merged = {
                place: take_turns([c.steps for c in _strongest_first(found)], depth)
                for place, found in searches.items()
            }
        rest = [order_by_score(cap_infinite(row)) for row in scores]
        if groups is not None:  # `merged` are numbers of groups
            merged = {k: groups.join(np.array(v)).tolist() for k, v in merged.items()}
        return [
            [
                _RankedPath(
                    Ranking(append_rest(merged[a, s], rest[s]), row, row.size), None
                )
                for s, row in enumerate(scores)
            ]
            for a in range(len(alphas))
        ]


def _take_as_table(data: Table, rows: IntArray) -> Table:
    """Take some rows as a table; classes are numbered in order of first occurrence.

    So the names of the classes have no effect.
    """
    _, first, codes = np.unique(data.y[rows], return_index=True, return_inverse=True)
    place = np.argsort(np.argsort(first))
    values = data.features.rows(rows).load().values
    return Table.from_arrays(values, data.categorical, place[codes])


def _check_alphas(given: Any, name: str) -> list[float]:
    if isinstance(given, str) or not hasattr(given, "__iter__"):
        given = [given]
    given = list(given)
    if not given:
        raise InputError(f"{name} is empty; give one exponent or more.")
    for alpha in given:
        number = isinstance(alpha, Real) and not isinstance(alpha, bool)
        if not number or not 0 < float(alpha) <= 1:
            auto = ", and 'auto' chooses" if name == "alpha" else ""
            raise InputError(
                f"{name}={alpha!r} lies outside (0, 1]; 1 is relevance alone{auto}."
            )
    return [float(alpha) for alpha in given]


def _strongest_first(searches: list[ForwardSearch]) -> list[ForwardSearch]:
    """Order classes by the relevance of their first feature, ties by their features.

    So names and numbers of the classes have no effect.
    """
    searches = sorted(searches, key=lambda search: search.steps)
    strength = np.array([search.first_relevance for search in searches])
    return [searches[k] for k in order_by_score(strength, rtol=1e-10)]


def _warn_infinite(kind: str) -> None:
    what = "constant within every class" if kind == "classes" else "the target itself"
    warnings.warn(
        f"Some features are {what}, so their relevance is "
        "infinite; it was set to a thousand times the largest finite one.",
        UserWarning,
        stacklevel=7,
    )
