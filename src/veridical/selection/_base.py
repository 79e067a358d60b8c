"""Base classes of the selectors.

A selector declares the data it accepts (its *abilities*) and its cost, and ranks
features; the base classes implement scikit-learn's interface.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar, Self

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import (
    check_is_fitted,
    validate_data,
)

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.devices import (
    Device,
    check_device,
    device_matrix,
    memory_errors,
)
from veridical._core.encoding import encode, refuse_lazy
from veridical._core.errors import InputError
from veridical._core.lazy import is_lazy
from veridical._core.lazy_readers import as_lazy
from veridical._core.records import Ranking
from veridical._core.sklearn_private import is_watched, output_kind
from veridical._core.table import Table
from veridical._core.validation import count_features
from veridical.criteria import (
    LeadingRelevance,
    PermutedRelevance,
    Relevance,
)
from veridical.kernels.ordering import NO_SCORE, first_by_score
from veridical.kernels.threads import thread_count
from veridical.kernels.trainsets import TrainSets
from veridical.search import lead_by_score, rank_by_score
from veridical.search.feature_groups import FeatureGroups
from veridical.selection._inputs import (
    Abilities,
    read_arguments,
    read_feature_groups,
    read_train_sets,
)


@dataclass(frozen=True)
class Cost:
    """Cost of a fit with the default parameters.

    Parameters
    ----------
    time : str
        Order of the time for n samples, p features and k features searched for, as the
        documentation shows it.
    power : int or None
        Where several selectors are tried, this one is left out if ``n**power * p`` is
        too large: 0 for a method that is fast on every table, 2 for one that compares
        all pairs of samples. None if the selector is never tried.
    """

    time: str
    power: int | None = None


class Selector(SelectorMixin, BaseEstimator):
    """Base class of the selectors.

    A subclass gives ``_rankings``, and declares its abilities and its cost.
    """

    _abilities: ClassVar[Abilities] = Abilities()
    _cost: ClassVar[Cost]
    #: Whether the ranking depends on the target.
    _uses_target: ClassVar[bool] = True
    #: Whether scores of some features cost less than scores of all.
    scores_apart: ClassVar[bool] = False

    n_features_to_select: int | float | None
    keep: Any = None
    feature_groups: Any = None
    n_jobs: int | None = None
    device: Device = None

    @abstractmethod
    def _rankings(self, data: Table, sets: TrainSets) -> list[Ranking]:
        """Rank the features for every training set."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Rank the features and keep the best.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The training data.
        y : array-like of shape (n_samples,)
            The target: class labels; for selectors that read them numbers, or events
            and times as a structured array or a frame. Whole numbers are classes,
            unless they are floats with more than 20 values of which many are rare.
        sample_weight : array-like of shape (n_samples,), optional
            How often each sample counts: the result for whole numbers is that of
            repeating the samples, and a sample of weight 0 is left out. Selectors that
            count samples accept whole numbers only.

        Returns
        -------
        self : object
            The fitted selector.
        """
        data = self._read(X, y, sample_weight)
        return self._keep(data, TrainSets.all_rows(data.n_samples, data.weights))

    def rank_many(
        self, X: Any, y: Any, train_sets: Iterable[Any], sample_weight: Any = None
    ) -> list[IntArray]:
        """Rank the features for many training sets at once.

        The result is exactly what ``fit(X[rows], y[rows]).order_`` would give for each
        of the training sets, for much less work; with weights, what
        ``fit(X[rows], y[rows], sample_weight[rows])`` would give. The selector itself
        is not fitted.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            All the data.
        y : array-like of shape (n_samples,)
            The target, as in `fit`.
        train_sets : iterable of arrays
            Row indices (repeats count) or boolean masks, one per training set.
        sample_weight : array-like of shape (n_samples,), optional
            As in `fit`, for the samples of X.

        Returns
        -------
        list of arrays
            Feature indices, best first, one array per training set.
        """
        copy = clone(self)  # reading sets attributes, which only fit may do
        return copy._rank_sets(copy._read(X, y, sample_weight), train_sets)

    def rank_table(self, table: Table, train_sets: Iterable[Any]) -> list[IntArray]:
        """Rank as `rank_many` does, on a table that has been read already.

        Parameters
        ----------
        table : Table
            The samples; nothing is encoded again. Its weights are used.
        train_sets : iterable of arrays
            As in `rank_many`.

        Returns
        -------
        list of arrays
            Feature indices, best first, one array per training set.
        """
        return self._rank_sets(table, train_sets, self._accept)

    def lead_table(
        self, table: Table, train_sets: Iterable[Any], n_features: int
    ) -> list[IntArray]:
        """Find the first features of `rank_table` that have any relevance.

        Parameters
        ----------
        table : Table
            The samples; its weights are used.
        train_sets : iterable of arrays
            As in `rank_many`.
        n_features : int
            How many features at most.

        Returns
        -------
        list of arrays
            Feature indices, best first, one array per training set. Features that the
            method would drop, and those whose score is not above 0, are left out.
        """
        self._refuse_groups()
        indices = read_train_sets(train_sets, table.target, table.weights)
        if not indices:
            return []
        table = self._accept(table)
        sets = TrainSets.from_indices(indices, table.n_samples, table.weights)
        return clone(self)._lead(table, sets, n_features)

    def score_table(
        self,
        table: Table,
        orders: IntArray | None = None,
        columns: IntArray | None = None,
    ) -> FloatArray:
        """Score the features for many outcomes at once.

        Parameters
        ----------
        table : Table
            The samples; its weights are used.
        orders : int array of shape (n_outcomes, n_samples), optional
            In outcome b, sample i has the outcome of sample ``orders[b, i]``; None is
            the true outcome alone. (ReliefF and MultiSURF exchange the values of the
            features instead: see their notes.)
        columns : int array, optional
            The features to score; all others still take part where the score of a
            feature depends on them. None is all.

        Returns
        -------
        array of shape (n_outcomes, n_columns)
            Larger is more relevant. A method without scores counts features from the
            end of its ranking; features that it drops have 0. NaN where undefined.
        """
        self._refuse_groups()
        table = self._accept(table)
        if orders is None:
            orders = np.arange(table.n_samples)[None]
        if columns is None:
            columns = np.arange(table.n_features)
        return clone(self)._score(table, orders, columns)

    def _score(self, data: Table, orders: IntArray, columns: IntArray) -> FloatArray:
        """Score all samples for outcomes in other orders, in a loop."""
        sets = TrainSets.all_rows(data.n_samples, data.weights)
        result = np.empty((len(orders), data.n_features))
        for row, order in zip(result, orders, strict=True):
            (ranking,) = self._rankings(data.permuted(order), sets)
            row[:] = 0.0 if ranking.scores is None else ranking.scores
            if ranking.scores is None:
                row[ranking.order] = np.arange(ranking.n_kept, 0, -1).tolist() + [0] * (
                    data.n_features - ranking.n_kept
                )
        return result[:, columns]

    def _lead(self, data: Table, sets: TrainSets, n_features: int) -> list[IntArray]:
        """Find the first features of each training set, by ranking all."""
        found = []
        for ranking in self._rankings(data, sets):
            order = ranking.order[: min(n_features, ranking.n_kept)]
            if ranking.scores is not None:
                with np.errstate(invalid="ignore"):
                    order = order[ranking.scores[order] > NO_SCORE]
            found.append(order)
        return found

    def _rank_sets(
        self,
        table: Table,
        train_sets: Iterable[Any],
        accept: Callable[[Table], Table] = lambda table: table,
    ) -> list[IntArray]:
        """Rank the features on each training set of a table that `accept` adapts."""
        indices = read_train_sets(train_sets, table.target, table.weights)
        if not indices:
            return []
        table = accept(table)
        sets = TrainSets.from_indices(indices, table.n_samples, table.weights)
        rankings = clone(self)._rank(table, sets)
        return [ranking.order for ranking in rankings]

    def count_selected(self, table: Table, order: IntArray) -> int:
        """Count the leading features of an order that would be selected.

        Without ``keep`` and ``feature_groups`` this is `n_features_to_select`; with
        them it depends on the groups that lead the order.

        Parameters
        ----------
        table : Table
            The samples that the order was computed from.
        order : int array of shape (n_features,)
            From `rank_table`.
        """
        groups = self._groups(table)
        n_wanted = self._count(groups, table.n_features)
        return n_wanted if groups is None else groups.count_leading(order, n_wanted)

    def fit_table(self, table: Table) -> Self:
        """Fit on a table that has been read already; its weights are used."""
        table = self._accept(table)
        self.n_features_in_ = table.n_features
        self._store_classes(table)
        return self._keep(table, TrainSets.all_rows(table.n_samples, table.weights))

    def _refuse_groups(self) -> None:
        """Raise if there are groups or features to keep: scores are of single ones."""
        if self.has_groups:
            raise InputError(
                f"{type(self).__name__} has keep or feature_groups, but here every "
                "feature is scored by itself; leave them out."
            )

    @property
    def has_groups(self) -> bool:
        """Whether some features are always selected, or selected together."""
        return self.keep is not None or self.feature_groups is not None

    def _accept(self, table: Table) -> Table:
        """Adapt a table to the abilities; raise if that is not possible."""
        chosen = getattr(self, "categorical_features", "from_dtype")
        if not (isinstance(chosen, str) and chosen == "from_dtype"):
            source = table.values if table.is_lazy else table.frame()
            features = encode(source, chosen)
            table = table.replace(features=features)
        features = self._abilities.adapt(table.features, type(self).__name__)
        table = table.replace(features=features)
        self._abilities.check(table, type(self).__name__)
        return self._place(table)

    def _place(self, table: Table) -> Table:
        """Move dense features to where the parameter ``device`` says."""
        device = check_device(self.device)
        here = table.is_lazy and table.values.is_on_device
        if device == "cpu" and here:
            return table.replace(features=table.features.load())
        if device == "cuda" and not here and not table.is_sparse:
            features = table.features.load()
            with memory_errors():
                values = device_matrix(features.values)
            return table.replace(features=replace(features, stored=values))
        return table

    def transform(self, X: Any) -> Any:
        """Reduce X to the selected features.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The data.

        Returns
        -------
        array or data frame of shape (n_samples, n_selected)
            The selected columns. With ``set_output``, a frame whose columns keep their
            data types if X is a frame of the same library.
        """
        X = as_lazy(X)
        refuse_lazy(X)
        if is_lazy(X):
            check_is_fitted(self)
            validate_data(self, X, skip_check_array=True, reset=False)
            return X[:, np.flatnonzero(self._get_support_mask())]
        # scikit-learn does this for pandas; other frames it would turn into objects.
        if output_kind(self) == "polars" and nw.dependencies.is_polars_dataframe(X):
            check_is_fitted(self)
            validate_data(self, X, skip_check_array=True, reset=False)
            mask = self._get_support_mask()
            return X[:, np.flatnonzero(mask).tolist()]
        return super().transform(X)

    def _keep(self, data: Table, sets: TrainSets) -> Self:
        """Rank on one training set and store the fitted attributes."""
        groups = self._groups(data)
        # Raises before a long ranking, not after it.
        self._count(groups, data.n_features)
        (ranking,) = self._rank(data, sets)
        return self._store_ranking(ranking, groups)

    def _rank(self, data: Table, sets: TrainSets) -> list[Ranking]:
        """Rank the features for every training set, with groups as one."""
        groups = self._groups(data)
        with memory_errors():
            rankings = self._rankings(data, sets)
        return rankings if groups is None else [groups.arrange(r) for r in rankings]

    def _groups(self, data: Table) -> FeatureGroups | None:
        """Read ``keep`` and ``feature_groups``; None if neither is given."""
        return read_feature_groups(
            self.keep, self.feature_groups, data.n_features, data.names
        )

    def _count(
        self,
        groups: FeatureGroups | None,
        n_features: int,
        *,
        otherwise: int | None = None,
        **options: Any,
    ) -> int:
        """Read how many features, or groups beside those kept, are wanted."""
        wanted = self.n_features_to_select
        if groups is None:
            return count_features(wanted, n_features, otherwise=otherwise, **options)
        n_free = groups.n_free
        if (
            self.feature_groups is not None
            and isinstance(wanted, Integral)
            and int(wanted) > n_free
        ):
            beside = " beside those in keep" if groups.kept.any() else ""
            raise InputError(
                f"n_features_to_select={wanted} counts groups of features, but there "
                f"are {n_free}{beside}; use 1 to {n_free}, or None for all."
            )
        what = "features of X beside those in keep"
        return count_features(wanted, n_free, otherwise=otherwise, what=what, **options)

    def _store_ranking(self, ranking: Ranking, groups: FeatureGroups | None) -> Self:
        order, n_features = ranking.order, ranking.order.size
        n_kept = ranking.n_kept
        if groups is not None:
            n_kept = groups.in_order(order[:n_kept]).size
        n_selected = self._count(
            groups, n_features, otherwise=n_kept, warn=True, stacklevel=5
        )
        self.order_ = order
        if groups is None:
            self.ranking_ = np.empty(n_features, dtype=np.intp)
            self.ranking_[order] = np.arange(1, n_features + 1)
        else:
            self.ranking_ = groups.ranks(order)
            n_selected = groups.count_leading(order, n_selected)
        if ranking.scores is not None:
            self.scores_ = ranking.scores
        self.support_ = np.zeros(n_features, dtype=bool)
        self.support_[order[:n_selected]] = True
        self.n_features_ = n_selected
        return self

    def _read(self, X: Any, y: Any, sample_weight: Any = None) -> Table:
        """Check the input and convert it to a table."""
        chosen = getattr(self, "categorical_features", "from_dtype")
        data = read_arguments(self, X, y, self._abilities, chosen, sample_weight)
        self._store_classes(data)
        return self._place(data)

    def _store_classes(self, data: Table) -> None:
        """Store the classes, where the target has any."""
        if data.kind == "classes":
            self.classes_ = data.classes
        elif hasattr(self, "classes_"):
            del self.classes_

    @property
    def _n_threads(self) -> int:
        return thread_count(self.n_jobs)

    def _get_support_mask(self) -> Any:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.positive_only = self._abilities.targets == ("survival",)
        tags.input_tags.allow_nan = self._abilities.missing
        tags.input_tags.sparse = self._abilities.sparse
        tags.input_tags.categorical = self._abilities.categorical
        return tags


class ReportsProgress(CallbackSupportMixin, Selector):
    """A selector whose fit is a loop that scikit-learn's callbacks can observe.

    ``set_callbacks(sklearn.callback.ProgressBar())`` shows its progress. A subclass
    gives the number of steps and calls ``_tick`` after each.
    """

    @abstractmethod
    def _n_steps(self, data: Table) -> int | None:
        """Return the number of steps of a fit; None if it is not known beforehand."""

    @with_callbacks
    def _keep(self, data: Table, sets: TrainSets) -> Self:
        root = self._init_callback_context(max_subtasks=self._n_steps(data))
        root.call_on_fit_task_begin(estimator=self)
        super()._keep(data, sets)
        root.call_on_fit_task_end(estimator=self)
        return self

    @property
    def _ticker(self) -> Callable[[], None] | None:
        """The function to call after every step; None without callbacks."""
        return self._tick if is_watched(self) else None

    def _tick(self) -> None:
        """Report to the callbacks that a step is done."""
        if is_watched(self):
            step = self._callback_fit_ctx.subcontext(task_name="step")
            step.call_on_fit_task_begin(estimator=self)
            step.call_on_fit_task_end(estimator=self)


class ScoreSelector(Selector):
    """A selector that sorts features by a relevance."""

    @abstractmethod
    def _relevance(self, data: Table, sets: TrainSets) -> Relevance:
        """Return the relevance of features in these training sets."""

    def _rankings(self, data: Table, sets: TrainSets) -> list[Ranking]:
        relevance = self._relevance(data, sets)
        return self._rank_by(relevance, relevance.scores(data, sets, self._n_threads))

    def _rank_by(self, relevance: Relevance, scores: FloatArray) -> list[Ranking]:
        """Sort the features by scores of every training set."""
        return rank_by_score(
            scores,
            rtol=relevance.rtol,
            atol=relevance.atol,
            n_threads=self._n_threads,
        )

    def _score(self, data: Table, orders: IntArray, columns: IntArray) -> FloatArray:
        sets = TrainSets.all_rows(data.n_samples, data.weights)
        relevance = self._relevance(data, sets)
        if isinstance(relevance, PermutedRelevance):
            return relevance.permuted_scores(data, orders, columns, self._n_threads)
        if self.scores_apart:
            data = data.permute(columns)
            columns = np.arange(columns.size)
        tables = (data.permuted(order) for order in orders)
        each = [relevance.scores(one, sets, self._n_threads) for one in tables]
        return np.concatenate(each)[:, columns]

    def _lead(self, data: Table, sets: TrainSets, n_features: int) -> list[IntArray]:
        relevance = self._relevance(data, sets)
        tolerance = {"rtol": relevance.rtol, "atol": relevance.atol}
        if isinstance(relevance, LeadingRelevance) and len(sets) > 1:
            found = relevance.leading_scores(data, sets, n_features, self._n_threads)
            if found is not None:
                return [
                    near[first_by_score(scores, n_features, **tolerance)]
                    for near, scores in found
                ]
        scores = relevance.scores(data, sets, self._n_threads)
        return lead_by_score(scores, n_features, **tolerance)
