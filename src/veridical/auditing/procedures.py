"""What is audited, run honestly (IN) and as it should not be (OUT).

IN does everything that looks at labels inside each training fold. OUT does it once on
all samples and tests only what comes after. Both are run on the true labels and on
permuted labels, which is what makes an accuracy comparable to nothing at all. Every
run is one call of the evaluation engine.
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

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.parallel import serial
from veridical._core.splits import Split
from veridical._core.table import Table
from veridical.auditing.choosing import QuickF, quick_version
from veridical.evaluation.engine import (
    Evaluation,
    Procedure,
    apply_models,
    as_procedure,
    evaluate,
    is_rowwise,
    replace_source,
)
from veridical.selection import AnovaF

#: Steps that move and stretch each feature, and do nothing else.
SCALERS = (StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler)


class Run(NamedTuple):
    """What one run over all splits gave.

    Parameters
    ----------
    predicted : list of int arrays
        Predicted class numbers of the test samples of each split.
    hits : float array of shape (n_splits,)
        Share of right predictions per split.
    accuracy : float
        Share of right predictions, all test samples together.
    chosen : list of (int array or None)
        Features chosen in each split, sorted, where that is known.
    """

    predicted: list[IntArray]
    hits: FloatArray
    accuracy: float
    chosen: list[IntArray | None]

    @classmethod
    def of(cls, found: Evaluation) -> Run:
        """Read a run off an evaluation at one subset size."""
        return cls(
            predicted=[codes[0] for codes in found.predictions],
            hits=found.accuracies()[0],
            accuracy=float(found.pooled_accuracy()[0]),
            chosen=[None if r is None else np.sort(r.order) for r in found.rankings],
        )


@dataclass(frozen=True, eq=False)
class Audited:
    """What is audited.

    Parameters
    ----------
    table : Table
        The samples as they were given.
    whole : classifier
        The estimator as it was given.
    procedure : Procedure
        The same, taken apart where its steps are known.
    seen : Table
        The samples as the procedure sees them.
    columns : int array or None
        Features that were chosen beforehand.
    order : int array or None
        Order in which the selector sees the features.
    checked : bool
        Whether it has run before, so that its parameters and data need no more checks.
    """

    table: Table
    whole: Any
    procedure: Procedure
    seen: Table
    columns: IntArray | None = None
    order: IntArray | None = None
    checked: bool = False

    @property
    def selector(self) -> Any:
        """What chooses features on the training samples; None if nothing does."""
        return self.procedure.selector

    @property
    def n_selected(self) -> int:
        """How many features the selector chooses."""
        return self.procedure.sizes[-1]

    @property
    def has_outside(self) -> bool:
        """Whether there is anything to do before the folds."""
        return self.selector is not None or self._steps_before is not None

    @cached_property
    def _steps_before(self) -> Any:
        """All but the last step of a pipeline, if they learn anything."""
        if type(self.whole) is not Pipeline:
            return None
        before = [step for _, step in self.whole.steps[:-1]]
        if all(is_rowwise(step) for step in before):
            return None
        return self.whole[:-1]

    @property
    def _selects_last(self) -> bool:
        """Whether choosing features is all that is learned before the last step."""
        if self.selector is None or type(self.whole) is not Pipeline:
            return False
        return self.procedure.estimator is self.whole.steps[-1][1]

    def hurried(self) -> Audited:
        """Prepare for many permutations of the labels: the same, for less."""
        if self.selector is None:
            return _take_apart(self) or self
        quick = quick_version(self.selector, self.seen, self.n_selected, self.order)
        if quick is None:
            return replace(self, checked=True)
        procedure = replace(self.procedure, selector=quick)
        return replace(self, procedure=procedure, order=None, checked=True)

    def inside(self, codes: IntArray, splits: Sequence[Split]) -> Run:
        """Run it honestly: all that looks at labels sees training samples alone."""
        return self._run(self.procedure, self.seen.with_codes(codes), splits)

    def outside(self, codes: IntArray, splits: Sequence[Split]) -> Run:
        """Run it as it should not be: what comes before the last step sees all."""
        if self.columns is not None or self._selects_last:
            out = replace(self.procedure, protocol="out")
            return self._run(out, self.seen.with_codes(codes), splits)
        labels = self.table.target.classes[codes]
        Z = clone(self._steps_before).fit_transform(self.table.source, labels)
        last = Procedure(self.whole.steps[-1][1])
        table = replace_source(self.table.with_codes(codes), Z)
        return self._run(last, table, splits)

    def on_columns(
        self, columns: IntArray, codes: IntArray, splits: Sequence[Split]
    ) -> Run:
        """Run what learns on features that are given."""
        part = self.table.take_columns(np.sort(columns)).with_codes(codes)
        return self._run(Procedure(self.procedure.estimator), part, splits)

    def _run(self, procedure: Procedure, table: Table, splits: Sequence[Split]) -> Run:
        with config_context(
            assume_finite=self.checked and self.is_finite,
            skip_parameter_validation=self.checked,
        ):
            (found,) = evaluate(
                [procedure], table, splits, run=serial, columns=self.order
            )
        return Run.of(found)

    @cached_property
    def is_finite(self) -> bool:
        """Whether no value is missing; an infinite one was refused."""
        return not self.table.has_missing


# -- from what the user passed to a procedure ----------------------------------------


def make_audited(estimator: Any, table: Table) -> Audited:
    """Read a procedure off an estimator; one of our selectors in it is seen."""
    procedure, seen = as_procedure(estimator, table)
    return Audited(table, estimator, procedure, seen)


def _take_apart(p: Audited) -> Audited | None:
    """Find a selector by the F ratio behind scalers, and let it choose first.

    The F ratio of a feature does not change with its scale, so scaling the chosen
    features afterwards comes to the same.
    """
    whole = p.whole
    if type(whole) is not Pipeline or whole.memory is not None:
        return None
    if p.table.categorical.any() or p.table.is_sparse or not p.is_finite:
        return None
    steps = whole.steps[:-1]
    place = next((i for i, (_, s) in enumerate(steps) if type(s) not in SCALERS), None)
    n_features = None if place is None else _keeps(steps[place][1], p.table)
    if place is None or n_features is None:
        return None
    rest = whole.steps[:place] + whole.steps[place + 1 :]
    learner = Pipeline(rest) if len(rest) > 1 else rest[0][1]
    quick = QuickF.of(p.table.values, n_features)
    procedure = Procedure(learner, quick, (n_features,))
    return replace(p, procedure=procedure, checked=True)


def _keeps(selector: Any, table: Table) -> int | None:
    """How many features a selector by the F ratio keeps; None if it is another."""
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
    """Columns that the selector of a pipeline keeps in each split.

    None where no step selects, or where one before it changes what columns mean.
    """
    if type(estimator) is not Pipeline:
        return None
    steps = [step for _, step in estimator.steps[:-1]]
    places = [i for i, step in enumerate(steps) if hasattr(step, "get_support")]
    if not places:
        return None
    leading = Procedure(estimator[: places[-1] + 1])
    found = apply_models(leading, table, splits, _kept_columns, run=serial)
    return None if any(kept is None for kept in found) else found


def _kept_columns(model: Any, X: Any, y: NDArray[Any]) -> IntArray | None:
    """Read the columns of X that fitted steps keep; None if they make others."""
    if not isinstance(model, Pipeline):
        return None  # one class in training: nothing was selected
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
