"""Run the audited procedure honestly (IN) and with leakage (OUT).

IN does everything that uses labels inside each training fold. OUT does it once on
all samples and cross-validates only the steps after it. Both are run on the true labels
and on permuted labels, where nothing can be learned. Every run is one call of the
evaluation engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)

from veridical._core.arrays import BoolArray, FloatArray, IntArray
from veridical._core.parallel import serial
from veridical._core.scoring import Score
from veridical._core.splits import Split
from veridical._core.table import Table
from veridical.evaluation.engine import (
    Evaluation,
    Procedure,
    as_procedure,
    evaluate_table,
    is_rowwise,
    rank,
    replace_source,
)
from veridical.evaluation.situations import Situation, count_selected
from veridical.kernels.statistics import between_classes
from veridical.selection import AnovaF, Correlation

#: Transformers that map each feature by an affine function.
AFFINE_SCALERS = (StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler)


class Run(NamedTuple):
    """Predictions and accuracy of one run over all splits.

    Parameters
    ----------
    predicted : list of int arrays
        Predicted class numbers of the test samples of each split.
    hits : float array of shape (n_splits,)
        Share of right predictions per split.
    accuracy : float
        Share of right predictions, all test samples together; without classes, as
        `hits`, the leading score.
    chosen : list of (int array or None)
        Features chosen in each split, sorted, where that is known.
    scores : float array of shape (n_splits,)
        The score of each split; the share of right predictions unless another was
        asked for.
    score : float
        The score over all splits.
    found : Evaluation or None
        What the run was made of.
    """

    predicted: list[IntArray]
    hits: FloatArray
    accuracy: float
    chosen: list[IntArray | None]
    scores: FloatArray
    score: float
    found: Evaluation | None = None

    @classmethod
    def from_evaluation(cls, found: Evaluation, score: Score | None = None) -> Run:
        """Take the run from an evaluation at one subset size."""
        if found.classes is None or len(found.classes):
            hits, accuracy = found.accuracies()[0], float(found.pooled_accuracy()[0])
            scores, value = hits, accuracy
        if score is not None:
            scored = found.scored(score)
            scores, value = scored.splits[0], float(scored.values[0])
        if found.classes is not None and not len(found.classes):
            hits, accuracy = scores, value
        return cls(
            predicted=[codes[0] for codes in found.predictions],
            hits=hits,
            accuracy=accuracy,
            chosen=[None if r is None else np.sort(r.order) for r in found.rankings],
            scores=scores,
            score=value,
            found=found,
        )


@dataclass(frozen=True, eq=False)
class Audited:
    """The procedure that is audited, with its data.

    Parameters
    ----------
    table : Table
        The samples as they were given.
    whole : classifier
        The estimator as it was given.
    procedure : Procedure
        The same as selector and estimator, where its steps are known.
    seen : Table
        The samples as the procedure sees them.
    features : int array or None
        Features that were chosen beforehand.
    order : int array or None
        Order in which the selector sees the features.
    checked : bool
        Whether it has run before; then its parameters and data are not checked again.
    scores : tuple of Score
        What is measured; empty for the accuracy alone. The first leads.
    """

    table: Table
    whole: Any
    procedure: Procedure
    seen: Table
    features: IntArray | None = None
    order: IntArray | None = None
    checked: bool = False
    scores: tuple[Score, ...] = ()

    @property
    def selector(self) -> Any:
        """The selector fitted on the training samples; None if there is none."""
        return self.procedure.selector

    @property
    def n_selected(self) -> int:
        """Number of features that the selector chooses."""
        return self.procedure.sizes[-1]

    def situation(self, accuracy: float) -> Situation:
        """Describe the table and the estimator, as measured rates depend on them."""
        data = self.table.summary(None)
        n_selected = (
            self.n_selected
            if self.procedure.sizes
            else count_selected(self.whole, data.n_features)
        )
        return Situation.from_summary(data, n_selected, self.whole, accuracy)

    @property
    def has_outside(self) -> bool:
        """Whether a step before the estimator learns from data."""
        corrected = self.table.blocks is not None
        return corrected or self.selector is not None or self._steps_before is not None

    @cached_property
    def _steps_before(self) -> Any:
        """All but the last step of a pipeline, if they learn from data."""
        if type(self.whole) is not Pipeline:
            return None
        before = [step for _, step in self.whole.steps[:-1]]
        if all(is_rowwise(step) for step in before):
            return None
        return self.whole[:-1]

    @property
    def _selects_last(self) -> bool:
        """Whether feature selection is the only step before the estimator."""
        if self.selector is None or type(self.whole) is not Pipeline:
            return False
        return self.procedure.estimator is self.whole.steps[-1][1]

    def prepare_permutations(self) -> Audited:
        """Return an equivalent procedure that is faster for many label permutations."""
        if self.table.weights is not None:
            return replace(self, checked=True)
        if self.selector is None:
            return _select_before_scaling(self) or self
        fast = fast_version(self.selector, self.seen, self.n_selected, self.order)
        if fast is None:
            return replace(self, checked=True)
        procedure = replace(self.procedure, selector=fast)
        return replace(self, procedure=procedure, order=None, checked=True)

    @property
    def unpermuted(self) -> IntArray:
        """The order in which every sample keeps its own outcome."""
        return np.arange(self.table.n_samples)

    def inside(self, order: IntArray, splits: Sequence[Split]) -> Run:
        """Run with every step that uses labels fitted on training samples only.

        Parameters
        ----------
        order : int array of shape (n_samples,)
            Sample i has the outcome of sample ``order[i]``.
        splits : sequence of Split
            Training and test rows.
        """
        return self._run(self.procedure, self.seen.permuted(order), splits)

    def outside(self, order: IntArray, splits: Sequence[Split]) -> Run:
        """Run with all steps but the last fitted once, on all samples."""
        if self.features is not None or self._selects_last:
            out = replace(self.procedure, protocol="out")
            return self._run(out, self.seen.permuted(order), splits)
        table = self.table.permuted(order)
        table = table.corrected(self.unpermuted)
        if self._steps_before is None:
            return self._run(Procedure(self.whole), table, splits)
        Z = clone(self._steps_before).fit_transform(table.source, table.labels)
        last = Procedure(self.whole.steps[-1][1])
        return self._run(last, replace_source(table, Z), splits)

    def on_features(
        self, features: IntArray, order: IntArray, splits: Sequence[Split]
    ) -> Run:
        """Run the estimator on given features."""
        part = self.table.take_columns(np.sort(features)).permuted(order)
        return self._run(Procedure(self.procedure.estimator), part, splits)

    def _run(self, procedure: Procedure, table: Table, splits: Sequence[Split]) -> Run:
        with config_context(
            assume_finite=self.checked and self.is_finite,
            skip_parameter_validation=self.checked,
        ):
            (found,) = evaluate_table(
                [procedure],
                table,
                splits,
                run=serial,
                columns=self.order,
                scores=[one for one in self.scores if not one.is_accuracy],
            )
        return Run.from_evaluation(found, self.scores[0] if self.scores else None)

    @cached_property
    def is_finite(self) -> bool:
        """Whether no value is missing; infinite values were refused before."""
        return not self.table.has_missing


# -- from an estimator to a procedure ------------------------------------------------


def make_audited(
    estimator: Any, table: Table, scores: tuple[Score, ...] = ()
) -> Audited:
    """Make the audited procedure of an estimator or pipeline."""
    procedure, seen = as_procedure(estimator, table)
    return Audited(table, estimator, procedure, seen, scores=scores)


def _select_before_scaling(p: Audited) -> Audited | None:
    """Move a selector by the F ratio in front of the scalers before it.

    The F ratio of a feature does not depend on its scale, so scaling the selected
    features afterwards gives the same result. None where there is no such selector.
    """
    whole = p.whole
    if type(whole) is not Pipeline or whole.memory is not None:
        return None
    if p.table.blocks is not None:  # features differ from split to split
        return None
    if p.table.categorical.any() or p.table.is_sparse or not p.is_finite:
        return None
    if p.table.kind != "classes":
        return None
    steps = whole.steps[:-1]
    place = next(
        (i for i, (_, s) in enumerate(steps) if type(s) not in AFFINE_SCALERS), None
    )
    n_features = None if place is None else _count_kept(steps[place][1], p.table)
    if place is None or n_features is None:
        return None
    rest = whole.steps[:place] + whole.steps[place + 1 :]
    learner = Pipeline(rest) if len(rest) > 1 else rest[0][1]
    fast = FastF.from_values(p.table.values, n_features)
    procedure = Procedure(learner, fast, (n_features,))
    return replace(p, procedure=procedure, checked=True)


def _count_kept(selector: Any, table: Table) -> int | None:
    """Return how many features a selector by the F ratio keeps; None for others."""
    wanted: Any = None
    if type(selector) is SelectKBest and selector.score_func is f_classif:
        wanted = selector.k
    elif type(selector) is AnovaF:
        wanted = selector.n_features_to_select
    if isinstance(wanted, Integral) and 0 < int(wanted) <= table.n_features:
        return int(wanted)
    return None


def supports(
    estimator: Any, table: Table, splits: Sequence[Split]
) -> list[IntArray] | None:
    """Return the features that the selector of a pipeline keeps in each split.

    None where no step selects, or where a step before it makes new features.
    """
    if type(estimator) is not Pipeline:
        return None
    steps = [step for _, step in estimator.steps[:-1]]
    places = [i for i, step in enumerate(steps) if hasattr(step, "get_support")]
    if not places:
        return None
    leading = Procedure(estimator[: places[-1] + 1])
    (found,) = evaluate_table(
        [leading], table, splits, run=serial, apply=_kept_features
    )
    return None if any(kept is None for kept in found.applied) else found.applied


def _kept_features(model: Any, X: Any, y: NDArray[Any]) -> IntArray | None:
    """Return the features of X that fitted steps keep; None if they make new ones."""
    if not isinstance(model, Pipeline):
        return None  # a training set with one class: nothing was selected
    kept = np.arange(X.shape[1])
    for _, step in model.steps:
        if step is None or isinstance(step, str):
            continue
        X = step.transform(X)
        if hasattr(step, "get_support"):
            kept = kept[np.asarray(step.get_support(indices=True))]
        if X.shape[1] != kept.size:
            return None
    return kept


# -- the F ratio for many permutations of the labels ---------------------------------

# Relative difference of two F ratios; below it the original selector decides.
_TIED_WITHIN = 1e-9


def fast_version(
    selector: Any, table: Table, n_features: int, order: IntArray | None = None
) -> FastF | None:
    """Return a selector that is faster for many permutations of the labels.

    It chooses the same features. None where there is none. `order` is the order in
    which the selector sees the features, which decides ties.
    """
    by_f = type(selector) is AnovaF or (
        type(selector) is Correlation and table.n_classes == 2
    )
    if not by_f or table.is_sparse or table.categorical.any():
        return None
    if table.kind != "classes" or table.blocks is not None:
        # With blocks, features differ from split to split.
        return None
    return replace(
        FastF.from_values(table.values, n_features), selector=selector, order=order
    )


@dataclass(frozen=True, eq=False)
class FastF:
    """Select by the F ratio, for many training sets and permutations of the labels.

    Sums over training sets are one matrix product, which is rounded. Where the last
    selected and the next feature are closer than rounding, the original selector
    decides, so that the selected features are the same; only their order may differ.

    Parameters
    ----------
    values : array of shape (n, p)
        The features, centred.
    squares : array of shape (n, p)
        Their squares.
    n_features : int
        Number of features to select.
    selector : selector, optional
        The original selector, which decides ties; without one, rounding does.
    order : int array, optional
        Order in which the selector sees the features.
    """

    values: FloatArray
    squares: FloatArray
    n_features: int
    selector: Any = None
    order: IntArray | None = None

    @classmethod
    def from_values(cls, values: FloatArray, n_features: int) -> FastF:
        """Centre and square the values of a table."""
        centred = values - values.mean(axis=0)
        return cls(centred, centred**2, n_features)

    def __sklearn_clone__(self) -> FastF:
        return self  # it has no fitted state, and its arrays are large

    def rank_table(self, table: Table, train_sets: Sequence[IntArray]) -> IntArray:
        """Select features, best first, on each training set."""
        codes, n_features = table.y, self.n_features
        # The engine leaves out last rows that no training set has.
        values, squares = self.values[: len(codes)], self.squares[: len(codes)]
        counts = np.zeros((len(train_sets), len(codes)))
        for s, rows in enumerate(train_sets):
            np.add.at(counts[s], rows, 1.0)
        square = counts @ squares
        members = (counts * (codes == k) for k in range(table.n_classes))
        between, mean, weight = between_classes(values, members)
        spread = square - weight * mean**2
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(spread > 1e-12 * square, between / spread, -1.0)
        best = np.argpartition(-share, n_features - 1, axis=1)[:, :n_features]
        inside = np.argsort(-np.take_along_axis(share, best, axis=1), axis=1)
        chosen = np.take_along_axis(best, inside, axis=1)
        if self.selector is not None and n_features < share.shape[1]:
            for s in np.flatnonzero(_is_tied(share, n_features)).tolist():
                (ranking,) = rank(
                    self.selector, table, [train_sets[s]], n_features, self.order
                )
                chosen[s] = ranking.order
        return chosen


def _is_tied(share: FloatArray, n_features: int) -> BoolArray:
    """Return for each row whether the last selected and the next feature are tied."""
    ranked = -np.partition(-share, (n_features - 1, n_features), axis=1)
    last, following = ranked[:, n_features - 1], ranked[:, n_features]
    return np.asarray(last - following <= _TIED_WITHIN * np.abs(last))
