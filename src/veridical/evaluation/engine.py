"""The one engine: procedures, a table and splits in; predictions and selections out.

A procedure is an estimator, on the features of a selector where there is one. Under IN
the selector sees the training samples of each split, under OUT all samples once. TRUTH
is IN on one more split, which learns from all samples and tests new ones.

Rankings come first, for all training sets of a selector at once (``rank_table``). Then
every split is predicted, at every subset size; estimators of ours share work over sizes
and splits (``predict_table``), all others are fitted in a loop. Whatever the way, the
predictions are those of the loop, ``clone(estimator).fit(X[train][:, columns],
y[train]).predict(X[test][:, columns])``; only the time differs.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from inspect import signature
from itertools import pairwise
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import Binarizer, FunctionTransformer, Normalizer

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.parallel import Job, Runner, Workers, expected
from veridical._core.reading import read_table
from veridical._core.scoring import (
    Averaging,
    Outputs,
    Score,
    Scored,
    Scorer,
    join_outputs,
    observed_of,
    pool_targets,
    read_scoring,
    score,
    weighted_mean,
)
from veridical._core.sklearn_private import output_kind
from veridical._core.splits import Split, read_rows, read_split
from veridical._core.table import Table
from veridical._core.targets import TARGET_NAMES, Kind
from veridical._core.types import ScoringLike
from veridical._core.validation import count_features
from veridical.evaluation.jackknife import leave_out
from veridical.learning.fitting import counted_rows, fit_rows, repeat_rows
from veridical.learning.many import (
    LeavesOneOut,
    fill_by_loop,
    has_predict_table,
    is_pairwise,
    predict_constant,
    predict_loop,
    predict_table,
)
from veridical.learning.outcomes import target_of
from veridical.learning.registry import estimator_name
from veridical.selection import SELECTORS

#: Numbers in the rankings held at a time; more training sets make a new batch.
_RANKS_AT_A_TIME = 1 << 24
#: Share of the features; where no more are selected, they are copied into a table of
#: their own.
_FEW_SELECTED = 0.25
#: Parameters of selectors for the number of features.
NUMBER_OF_FEATURES = ("n_features_to_select", "k", "max_features")

Protocol = Literal["in", "out"]


Apply = Callable[[Any, Any, NDArray[Any]], Any]


@dataclass(frozen=True, eq=False)
class Procedure:
    """An estimator to evaluate, on all features or on those that are selected.

    Parameters
    ----------
    estimator : estimator
        Not fitted; it is cloned for every split.
    selector : selector, optional
        Chooses the features; without one the estimator gets all.
    sizes : tuple of int, default=()
        Numbers of leading features, ascending, all evaluated on one ranking. Empty with
        a selector means the features that it keeps in every training set.
    protocol : {"in", "out"}, default="in"
        Whether the selector sees the training samples of each split, or all samples.
    orders : sequence of int arrays, optional
        Rankings that are known already, one for every split, instead of a selector.
    responses : tuple of {"predict_proba", "decision_function"}, default=()
        What the fitted estimators are asked for beside predicted classes.

    See Also
    --------
    evaluate : Predicts the test samples of every split by procedures.
    """

    estimator: Any
    selector: Any = None
    sizes: tuple[int, ...] = ()
    protocol: Protocol = "in"
    orders: Sequence[IntArray] | None = None
    responses: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        sizes = tuple(self.sizes)
        object.__setattr__(self, "sizes", sizes)
        if sizes and (sizes[0] < 1 or any(a >= b for a, b in pairwise(sizes))):
            raise InputError(
                f"sizes={sizes!r} must be numbers of features from 1 up, ascending."
            )
        if self.selector is not None and self.orders is not None:
            raise InputError(
                "A procedure has a selector or orders, not both; orders are rankings "
                "that take the place of the selector's."
            )
        if sizes and not self.selects:
            raise InputError("sizes needs a ranking: pass a selector, or orders.")
        if self.protocol not in ("in", "out"):
            raise InputError(f"protocol={self.protocol!r} must be 'in' or 'out'.")

    @property
    def selects(self) -> bool:
        """Whether the estimator gets some of the features only."""
        return self.selector is not None or self.orders is not None


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Predictions and selections of one procedure on every split.

    Parameters
    ----------
    predictions : list of arrays of shape (n_sizes, n_test)
        By split: predicted classes, as places among the sorted classes of y; numbers;
        or risks, the greater, the sooner the event is expected.
    targets : list of arrays of shape (n_test,)
        By split: the true classes, as places; the true numbers; or, of survival, events
        and times.
    rankings : list of Ranked or None
        By split: the leading features, best first; None where nothing was selected, or
        the training set holds one class only.
    seconds : float, default=0.0
        Time of all rankings of the selector.
    applied : list, default=[]
        By split: what the function `apply` of `evaluate` returned; `predictions` is
        empty then.
    outputs : list of Outputs, default=[]
        By split: predictions with probabilities or decision values, where the
        procedure has `responses`.
    classes : array of shape (n_classes,), optional
        The sorted classes.
    by_model : mapping of str to list of Scored, default={}
        Scores, (n_sizes × n_splits), of scorers that need the fitted models.
    estimator : classifier, optional
        The estimator of the procedure.
    weights : list of arrays of shape (n_test,), optional
        By split: the weights of the test samples.
    """

    predictions: list[Any]
    targets: list[Any]
    rankings: list[Ranked | None]
    seconds: float = 0.0
    applied: list[Any] = field(default_factory=list)
    outputs: list[Outputs] = field(default_factory=list)
    classes: NDArray[Any] | None = None
    by_model: dict[str, list[Scored]] = field(default_factory=dict)
    estimator: Any = None
    weights: list[FloatArray] | None = None

    @classmethod
    def from_outputs(
        cls,
        table: Table,
        splits: Sequence[Split],
        procedure: Procedure,
        outputs: list[Outputs],
        rankings: list[Ranked | None],
    ) -> Evaluation:
        """Put predictions of a procedure together that were kept, without weights."""
        return cls(
            [one.codes for one in outputs],
            [observed_of(table.target, split.test, split.train) for split in splits],
            rankings,
            outputs=outputs if procedure.responses else [],
            classes=table.classes,
            estimator=procedure.estimator,
        )

    @cached_property
    def hits(self) -> list[NDArray[np.bool_]]:
        """By split: which predictions are right, (n_sizes, n_test)."""
        pairs = zip(self.predictions, self.targets, strict=True)
        return [predicted == target for predicted, target in pairs]

    def accuracies(self) -> FloatArray:
        """Compute the accuracy per size and split, (n_sizes, n_splits)."""
        if self.weights is None:
            return np.stack([hits.mean(axis=1) for hits in self.hits], axis=1)
        pairs = zip(self.hits, self.weights, strict=True)
        return np.stack([weighted_mean(hits, w) for hits, w in pairs], axis=1)

    def pooled_accuracy(self) -> FloatArray:
        """Compute the accuracy per size, all splits together, (n_sizes,)."""
        pooled = np.concatenate(self.hits, axis=1)
        if self.weights is None:
            return pooled.mean(axis=1)
        return weighted_mean(pooled, np.concatenate(self.weights))

    @property
    def all_outputs(self) -> list[Outputs]:
        """By split: the predictions, with what else was asked for."""
        return self.outputs or [Outputs(codes) for codes in self.predictions]

    def scored(self, score: Score) -> ScoredSplits:
        """Compute a score on every split, and over all of them, at every size.

        Parameters
        ----------
        score : Score
            One of those that the evaluation was made for.

        Returns
        -------
        ScoredSplits
            A mean over samples is pooled over all test samples; any other score is the
            mean over the splits on which it is defined or, where it is defined on fewer
            than half of them, pooled. Of one split both are the same, called pooled.
        """
        if score not in self._known:
            self._known[score] = self._score(score)
        return self._known[score]

    @cached_property
    def _known(self) -> dict[Score, ScoredSplits]:
        return {}

    def left_out(self, score: Score, blocks: IntArray) -> FloatArray:
        """Score the only split without one block of test samples at a time.

        Parameters
        ----------
        score : Score
            One of those that the evaluation was made for, of predictions.
        blocks : int array of shape (n_test,)
            From `veridical.evaluation.jackknife.divide_test_set`.

        Returns
        -------
        array of shape (n_blocks, n_sizes)
        """
        key = score, blocks.tobytes()
        if key not in self._left_out:
            assert self.classes is not None
            self._left_out[key] = leave_out(
                score,
                self.targets[0],
                self.all_outputs[0],
                self.classes,
                score.response(self.estimator),
                None if self.weights is None else self.weights[0],
                blocks,
            )
        return self._left_out[key]

    @cached_property
    def _left_out(self) -> dict[tuple[Score, bytes], FloatArray]:
        return {}

    def _score(self, score: Score) -> ScoredSplits:
        if score.is_accuracy:
            return ScoredSplits(self.accuracies(), self.pooled_accuracy(), "pooled")
        assert self.classes is not None
        if score.name in self.by_model:
            found = self.by_model[score.name]
            n_sizes = len(self.predictions[0])
        else:
            response = score.response(self.estimator)
            n_sizes = len(self.predictions[0])
            weights: Sequence[Any] = self.weights or [None] * len(self.targets)
            parts = list(zip(self.targets, self.all_outputs, weights, strict=True))
            by_split = [
                score.score_sizes(target, one, self.classes, response, w)
                for target, one, w in parts
            ]
            found = [one[k] for k in range(n_sizes) for one in by_split]
        warned = tuple(dict.fromkeys(w for one in found for w in one.warned))
        reason = next((one.reason for one in found if one.reason), "")
        splits = np.array([one.value for one in found]).reshape(n_sizes, -1)
        few = 2 * np.count_nonzero(np.isnan(splits), axis=1).max() > splits.shape[1]
        if score.needs != "model" and (score.pooled or few):
            values = np.array([self._pooled(score, k) for k in range(n_sizes)])
            return ScoredSplits(splits, values, "pooled", reason, warned)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # nowhere defined: NaN
            values = np.nanmean(splits, axis=1)
        averaging: Averaging = "pooled" if splits.shape[1] == 1 else "mean of folds"
        return ScoredSplits(splits, values, averaging, reason, warned)

    def _pooled(self, score: Score, k: int) -> float:
        assert self.classes is not None
        response = score.response(self.estimator)
        parts = [one.at(k) for one in self.all_outputs]
        if response is None:  # probabilities of survival are at times of the split
            parts = [Outputs(one.codes) for one in parts]
        return score.score_outputs(
            pool_targets(self.targets),
            join_outputs(parts),
            self.classes,
            response,
            None if self.weights is None else np.concatenate(self.weights),
        ).value


class ScoredSplits(NamedTuple):
    """A score on every split, and over all of them.

    Parameters
    ----------
    splits : array of shape (n_sizes, n_splits)
        NaN where the score is not defined.
    values : array of shape (n_sizes,)
        Over all splits.
    averaging : {"pooled", "mean of folds"}
        How `values` come from the splits.
    reason : str
        Why the score is not defined on a split.
    warned : tuple
        Warnings of scikit-learn, each once.
    """

    splits: FloatArray
    values: FloatArray
    averaging: Averaging
    reason: str = ""
    warned: tuple[tuple[type[Warning], str], ...] = ()


class Ranked(NamedTuple):
    """Features, best first; `alpha` where the selector chose an exponent."""

    order: IntArray
    alpha: float | None = None


def evaluate(
    procedures: Sequence[Procedure],
    X: Any,
    y: Any,
    splits: Iterable[Any],
    *,
    sample_weight: Any = None,
    everything: Any = None,
    apply: Apply | None = None,
    scoring: ScoringLike = None,
    n_jobs: int | None = None,
) -> list[Evaluation]:
    """Predict the test samples of every split by every procedure.

    The predictions are those of an estimator that is fitted on the training samples of
    every split, on the features selected there, at every number of features. Selectors
    and estimators that can do this for many training sets or numbers of features at
    once do so. `estimate`, `select`, `compare` and `audit` are made of such
    evaluations; use this function for a design that they do not have.

    Parameters
    ----------
    procedures : sequence of Procedure
        What to evaluate, on the same splits. Procedures with the same selector, the
        very object, share its rankings.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The features. An estimator on a precomputed kernel, such as
        ``SVC(kernel="precomputed")``, gets the columns of the training samples.
    y : array-like of shape (n_samples,), structured array or data frame
        Class labels, numbers, or events and times; the estimators decide which.
    splits : iterable of (train, test)
        Row indices (repeats in training count) or boolean masks, as a scikit-learn
        splitter or ``split`` of a method gives them.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the samples, for selection, fits and scores; a sample of weight 3
        counts as three equal samples.
    everything : array-like of int, optional
        The samples that selection sees under OUT; all by default. The others serve as
        an independent test set.
    apply : callable, optional
        ``apply(model, X, y)`` is called for every split with the fitted model and the
        test samples instead of predicting, for probabilities or fitted attributes. It
        must be picklable where `n_jobs` is not 1. Of several sizes, the largest is
        fitted.
    scoring : str, callable, list or mapping of these, optional
        Scores that ``Evaluation.scored`` is going to be asked for; estimators then
        also give the probabilities or decision values that they need.
    n_jobs : int or None, default=None
        Number of processes; results do not depend on it.

    Returns
    -------
    list of Evaluation
        One per procedure.

    See Also
    --------
    estimate : Accuracy of an estimator with an interval.
    select : Features, and the accuracy of selecting them.

    Examples
    --------
    Selection inside cross-validation, and before it, on labels without a signal:

    >>> import numpy as np
    >>> from veridical.evaluation import CrossValidation, Procedure, evaluate
    >>> from veridical.learning import NaiveBayes
    >>> from veridical.selection import AnovaF
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 1000)), np.repeat(["a", "b"], 30)
    >>> splits = CrossValidation(5).split(y, random_state=0)
    >>> selector = AnovaF()
    >>> procedures = [
    ...     Procedure(NaiveBayes(), selector, (5, 20), protocol)
    ...     for protocol in ("in", "out")
    ... ]
    >>> inside, outside = evaluate(procedures, X, y, splits)
    >>> inside.pooled_accuracy().round(2).tolist()
    [0.5, 0.55]
    >>> outside.pooled_accuracy().round(2).tolist()
    [0.83, 0.95]
    """
    kind = common_target([one.estimator for one in procedures]) or "auto"
    table = read_table(X, y, sample_weight=sample_weight, kind=kind, encoded=False)
    n = table.n_samples
    rows = None if everything is None else read_rows(everything, n, "everything")
    return evaluate_table(
        procedures,
        table,
        [read_split(split, n) for split in splits],
        run=Workers(n_jobs),
        everything=rows,
        apply=apply,
        scores=read_scoring(scoring, table.target),
    )


def evaluate_table(
    procedures: Sequence[Procedure],
    table: Table,
    splits: Sequence[Split],
    *,
    run: Runner,
    columns: IntArray | None = None,
    everything: IntArray | None = None,
    apply: Apply | None = None,
    scores: Sequence[Score] = (),
) -> list[Evaluation]:
    """Evaluate as `evaluate` does, on a table and splits that have been read already.

    Parameters
    ----------
    procedures, everything, apply
        As in `evaluate`.
    table : Table
        The samples.
    splits : sequence of Split
        Samples to learn from and samples to test.
    run : callable
        Does a series of jobs: `Workers`, or `serial`.
    columns : int array, optional
        Order in which selectors see the features, so that the index of a feature, by
        which ties are decided, carries no information.
    scores : sequence of Score, default=()
        What ``Evaluation.scored`` will be asked for.

    Returns
    -------
    list of Evaluation
        One per procedure.
    """
    if scores:
        procedures = [_with_responses(one, scores) for one in procedures]
    if everything is None:
        everything = np.arange(table.n_samples)
    n_jobs = 0
    if isinstance(run, Workers) and apply is None:
        corrected = table.blocks is not None
        n_jobs = count_jobs(procedures, splits, run, corrected=corrected)
    with expected(run, n_jobs):
        rankings, seconds = _rank_all(
            procedures, table, splits, columns, everything, run
        )
        table, used = _with_selected(procedures, table, rankings)
        if apply is None:
            predicted = _predict_all(procedures, table, splits, used, run)
            applied: list[list[Any]] = [[] for _ in procedures]
            by_model = [
                _score_models(one, table, splits, ranked, scores, run)
                for one, ranked in zip(procedures, used, strict=True)
            ]
        else:
            applied = _apply_all(procedures, table, splits, used, apply, run)
            predicted = [[] for _ in procedures]
            by_model = [{} for _ in procedures]
    targets = [
        observed_of(table.target, split.test, split.train, table.weights)
        for split in splits
    ]
    weights = None
    if table.weights is not None:
        weights = [table.weights[split.test] for split in splits]
    return [
        Evaluation(
            [o.codes for o in predicted[p]] if one.responses else predicted[p],
            targets,
            rankings[p],
            seconds[p],
            applied[p],
            predicted[p] if one.responses else [],
            table.classes,
            by_model[p],
            one.estimator,
            weights,
        )
        for p, one in enumerate(procedures)
    ]


def _with_selected(
    procedures: Sequence[Procedure],
    table: Table,
    rankings: list[list[Ranked | None]],
) -> tuple[Table, list[list[Ranked | None]]]:
    """Take the features that were selected somewhere, where these are few.

    Estimators are fitted on small parts of them, which are then near each other in
    memory; of a table that is read by blocks only these are read.

    Returns the table with these features, and rankings of them.
    """
    if "features" not in table.__dict__:
        return table, rankings
    if not all(one.selects and not is_pairwise(one.estimator) for one in procedures):
        if table.is_lazy:
            table = table.replace(features=table.features.load())
        return table, rankings
    leading = [
        [None if r is None else r.order[: max(one.sizes, default=None)] for r in ranked]
        for one, ranked in zip(procedures, rankings, strict=True)
    ]
    orders = [order for own in leading for order in own if order is not None]
    columns = np.unique(np.concatenate(orders)) if orders else np.arange(1)
    if not table.is_lazy and len(columns) > _FEW_SELECTED * table.n_features:
        return table, rankings
    part = table.permute(columns) if table.is_lazy else table.take_columns(columns)
    used = [
        [
            None
            if order is None or r is None
            else r._replace(order=np.searchsorted(columns, order))
            for order, r in zip(own, ranked, strict=True)
        ]
        for own, ranked in zip(leading, rankings, strict=True)
    ]
    return part.replace(features=part.features.load()), used


def common_target(estimators: Sequence[Any]) -> Kind | None:
    """Return the kind of target of some estimators; None where none of them says.

    Raises
    ------
    InputError
        If they learn different kinds.
    """
    found: dict[Kind, Any] = {}
    for one in estimators:
        kind = target_of(one)
        if kind is not None:
            found.setdefault(kind, one)
    if len(found) > 1:
        (a, first), (b, second), *_ = found.items()
        raise InputError(
            f"{estimator_name(first)} learns {TARGET_NAMES[a]}, but "
            f"{estimator_name(second)} learns {TARGET_NAMES[b]}; use estimators for "
            "one kind of target."
        )
    return next(iter(found), None)


def _with_responses(procedure: Procedure, scores: Sequence[Score]) -> Procedure:
    """Ask the estimator of a procedure for what scores need beside classes."""
    wanted = {one.response(procedure.estimator): None for one in scores}
    wanted.pop(None, None)
    return replace(procedure, responses=tuple(str(method) for method in wanted))


def _score_models(
    procedure: Procedure,
    table: Table,
    splits: Sequence[Split],
    rankings: Sequence[Ranked | None],
    scores: Sequence[Score],
    run: Runner,
) -> dict[str, list[Scored]]:
    """Call the scorers that need the fitted models, at every size."""
    result: dict[str, list[Scored]] = {}
    for one in scores:
        if one.needs != "model":
            continue
        assert one.scorer is not None
        apply = partial(_score, one.scorer, table.classes)
        found: list[Scored] = []
        for size in procedure.sizes or (None,):
            part = replace(
                procedure, sizes=() if size is None else (size,), responses=()
            )
            (scored,) = _apply_all(
                [part], table, splits, [rankings], apply, run, weighted=True
            )
            found += [s._replace(value=one.sign * s.value) for s in scored]
        result[one.name] = found
    return result


def _parts(n_splits: int, run: Runner) -> list[IntArray]:
    """Divide the splits into jobs: enough for all workers, and for progress."""
    n_parts = 1
    if isinstance(run, Workers):
        n_jobs = effective_n_jobs(run.n_jobs)
        n_parts = max(4 * n_jobs if n_jobs > 1 else 1, 20 if run.progress else 1)
    n_parts = min(n_splits, n_parts)
    return np.array_split(np.arange(n_splits), n_parts) if n_splits else []


def count_jobs(
    procedures: Sequence[Procedure],
    splits: Sequence[Any],
    run: Workers,
    *,
    corrected: bool = False,
) -> int:
    """Return the number of jobs of an evaluation, for progress."""
    selectors = {id(p.selector): p.selector for p in procedures}
    selectors.pop(id(None), None)
    n_sets = len(splits) + any(p.protocol == "out" for p in procedures)
    ranking = sum(1 if shares_work(one) else n_sets for one in selectors.values())
    together = sum(_at_once(one, corrected) for one in procedures)
    return ranking + together + len(_parts(len(splits), run))


def _at_once(procedure: Procedure, corrected: bool) -> bool:
    """Return whether an estimator on all features may predict all splits at once.

    Not where features are corrected: they differ from split to split then.
    """
    if procedure.selects or corrected:
        return False
    estimator = procedure.estimator
    if procedure.responses:
        return has_predict_table(estimator, procedure.responses)
    return has_predict_table(estimator) or isinstance(estimator, LeavesOneOut)


# -- rankings ------------------------------------------------------------------------


def _rank_all(
    procedures: Sequence[Procedure],
    table: Table,
    splits: Sequence[Split],
    columns: IntArray | None,
    everything: IntArray,
    run: Runner,
) -> tuple[list[list[Ranked | None]], list[float]]:
    """Rank for every selector and every training set that some procedure needs."""
    wanted: dict[int, dict[bytes, IntArray]] = {}
    sets: list[list[bytes]] = []
    for one in procedures:
        keys: list[bytes] = []
        if one.selector is not None:
            own = wanted.setdefault(id(one.selector), {})
            for split in splits:
                rows = everything if one.protocol == "out" else split.train
                keys.append(rows.tobytes())
                own.setdefault(keys[-1], rows)
        sets.append(keys)
    first = everything.tobytes()
    jobs: list[Job] = []
    owners: list[tuple[int, list[bytes]]] = []
    for one in {id(p.selector): p for p in procedures}.values():
        if one.selector is None:
            continue
        most = _most([p for p in procedures if p.selector is one.selector])
        own = wanted[id(one.selector)]
        # All samples first, so that the choice of a random selector on them does not
        # depend on the other protocols.
        keys = sorted(own, key=lambda key: key != first)
        able = {
            key: own[key]
            for key in keys
            if not table.target.is_constant(counted_rows(table, own[key]))
        }
        for part in _ranking_parts(one.selector, list(able)):
            owners.append((id(one.selector), part))
            train_sets = [able[key] for key in part]
            arguments = (one.selector, table, train_sets, most, columns)
            jobs.append((_timed_rank, arguments))
    found: dict[tuple[int, bytes], Ranked] = {}
    seconds: dict[int, float] = {}
    for (owner, part), (ranked, taken) in zip(
        owners, _run_rankings(jobs, run), strict=True
    ):
        seconds[owner] = seconds.get(owner, 0.0) + taken
        found |= {(owner, key): r for key, r in zip(part, ranked, strict=True)}
    rankings: list[list[Ranked | None]] = [
        [found.get((id(one.selector), key)) for key in keys]
        if keys
        else _known_rankings(one, len(splits))
        for one, keys in zip(procedures, sets, strict=True)
    ]
    return rankings, [seconds.get(id(one.selector), 0.0) for one in procedures]


def _known_rankings(procedure: Procedure, n_splits: int) -> list[Ranked | None]:
    """Return the given rankings of a procedure without a selector."""
    if procedure.orders is None:
        return [None] * n_splits
    ranked = [Ranked(np.asarray(order, dtype=np.intp)) for order in procedure.orders]
    shortest = min((len(one.order) for one in ranked), default=0)
    if len(ranked) != n_splits or shortest < max(procedure.sizes, default=1):
        raise InputError(
            f"There are {len(ranked)} orders for {n_splits} splits, the shortest of "
            f"{shortest} features; pass one ranking per split, as long as the largest "
            "size."
        )
    return [*ranked]


def _most(procedures: Sequence[Procedure]) -> int | None:
    """Return the largest number of features to rank; None is all that are kept."""
    sizes = [one.sizes[-1] for one in procedures if one.sizes]
    return max(sizes) if len(sizes) == len(procedures) else None


def _run_rankings(jobs: list[Job], run: Runner) -> list[Any]:
    """Rank; selectors that share work run in this process, on as many threads.

    In other processes each would need a copy of the table, and could share nothing.
    """
    if not jobs:
        return []
    if not isinstance(run, Workers):
        return run(jobs)
    n_threads = effective_n_jobs(run.n_jobs)
    results: list[Any] = [None] * len(jobs)
    here = [i for i, (_, (selector, *_)) in enumerate(jobs) if shares_work(selector)]
    away = [i for i in range(len(jobs)) if i not in set(here)]
    threaded = [
        (routine, (_on_threads(selector, n_threads), *rest))
        for routine, (selector, *rest) in (jobs[i] for i in here)
    ]
    for i, result in zip(here, run.here(threaded), strict=True):
        results[i] = result
    for i, result in zip(away, run([jobs[i] for i in away]), strict=True):
        results[i] = result
    return results


def _on_threads(selector: Any, n_threads: int) -> Any:
    parameters: dict[str, Any] = getattr(selector, "get_params", dict)()
    if n_threads == 1 or parameters.get("n_jobs", 1) is not None:
        return selector
    return clone(selector).set_params(n_jobs=n_threads)


def shares_work(selector: Any) -> bool:
    """Return whether a selector ranks for many training sets at once."""
    if getattr(selector, "alpha", None) == "auto":
        return False  # it is fitted, which finds the exponent
    return hasattr(selector, "rank_table") or hasattr(selector, "rank_many")


def _ranking_parts(selector: Any, keys: list[bytes]) -> list[list[bytes]]:
    return [keys] if shares_work(selector) else [[key] for key in keys]


def _timed_rank(*arguments: Any) -> tuple[list[Ranked], float]:
    start = time.perf_counter()
    return rank(*arguments), time.perf_counter() - start


def rank(
    selector: Any,
    table: Table,
    train_sets: Sequence[IntArray],
    n_features: int | None,
    columns: IntArray | None = None,
) -> list[Ranked]:
    """Rank the features on each training set by a selector.

    Parameters
    ----------
    selector : selector
        One of ours, which ranks for all sets at once, or any other that has
        ``rank_many``, or ``fit`` and ``get_support``.
    table : Table
        The samples.
    train_sets : sequence of int arrays
        Training rows.
    n_features : int or None
        Number of features to choose; None leaves the number to the selector.
    columns : int array, optional
        Order in which the selector sees the features.

    Returns
    -------
    list of Ranked
        Features of the table, best first.
    """
    if table.blocks is not None:  # each training set has its own correction
        return [
            rank(selector, table.corrected(rows), [rows], n_features, columns)[0]
            for rows in train_sets
        ]
    if columns is not None and hasattr(selector, "_accept"):
        selector._accept(table)  # messages have the indices of X
    if _uses_indices(selector):
        columns = None
    shuffled = table
    if columns is not None:  # a selector of others may know features by their names
        by_table = table.is_lazy or hasattr(selector, "fit_table")
        shuffled = (table.permute if by_table else table.take_columns)(columns)
    # How far a search goes may depend on the number of features.
    asked = set_size(clone(selector, safe=False), n_features)
    if n_features is None or not shares_work(selector) or has_groups(selector):
        ranked = [
            fit_selector(selector, shuffled, rows, n_features)[1] for rows in train_sets
        ]
    elif hasattr(selector, "rank_table"):
        batch = max(1, _RANKS_AT_A_TIME // table.n_features)
        learned = _leading_rows(shuffled, train_sets)
        ranked = [
            Ranked(np.array(order[:n_features]))
            for start in range(0, len(train_sets), batch)
            for order in asked.rank_table(learned, train_sets[start : start + batch])
        ]
    else:
        y = shuffled.y if shuffled.kind == "classes" else shuffled.labels
        sets, given = list(train_sets), {}
        if table.weights is not None:
            if "sample_weight" in signature(asked.rank_many).parameters:
                given = {"sample_weight": table.weights}
            else:
                name = type(asked).__name__
                sets = [repeat_rows(table, rows, name) for rows in sets]
        orders = asked.rank_many(shuffled.frame(), y, sets, **given)
        ranked = [Ranked(np.asarray(order)[:n_features]) for order in orders]
    if n_features is not None and not has_groups(selector):
        for one in ranked:
            _check_order(one.order, n_features, selector)
    if columns is None:
        return ranked
    return [one._replace(order=columns[one.order]) for one in ranked]


def _leading_rows(table: Table, train_sets: Sequence[IntArray]) -> Table:
    """Leave out an independent test set, which the last rows of a table may be.

    Sums over all rows are corrected for the rows that a training set lacks, so rows
    that all of them lack cost time.
    """
    n_rows = 1 + max((int(rows.max()) for rows in train_sets), default=-1)
    n_features = table.n_features  # encodes the whole table, once for all selectors
    return (
        table.rows(slice(n_rows)) if n_features and 0 < n_rows < len(table) else table
    )


def has_groups(selector: Any) -> bool:
    """Return whether a selector of ours has features to keep, or groups of features.

    Then `n_features_to_select` counts groups beside the features that are kept, and the
    number of selected features is known after a fit only.
    """
    return bool(getattr(selecting_step(selector), "has_groups", False))


def _uses_indices(selector: Any) -> bool:
    """Return whether parameters of a selector hold feature indices."""
    if has_groups(selector):
        return True
    chosen = getattr(selector, "categorical_features", None)
    return chosen is not None and not isinstance(chosen, str)


def _check_order(order: IntArray, n_features: int, selector: Any) -> None:
    found = np.unique(order).size
    if found != n_features:
        raise InputError(
            f"{type(selector).__name__} ranked {found} feature(s), but {n_features} "
            "are needed; its rank_many must return an order of all features."
        )


def fit_selector(
    selector: Any, table: Table, rows: IntArray, n_features: int | None
) -> tuple[Any, Ranked]:
    """Fit a selector on some samples; return it with the features it chooses."""
    table = table.corrected(rows)
    asked = set_size(clone(selector, safe=False), n_features)
    if has_groups(asked):
        n_features = None  # which counts groups, and has been set
    if hasattr(asked, "fit_table"):
        fitted = asked.fit_table(table.rows(rows))
        alpha = getattr(fitted, "alpha_", None)
        n_kept = fitted.n_features_ if n_features is None else n_features
        return fitted, Ranked(np.array(fitted.order_[:n_kept]), alpha)
    if not hasattr(selecting_step(asked), "get_support"):  # it has rank_many alone
        return asked, rank(selector, table, [rows], n_features)[0]
    fitted = fit_rows(asked, table, rows)
    places = _input_features(fitted, table)
    step = selecting_step(fitted)
    kept = np.asarray(step.get_support(indices=True), dtype=np.intp)
    merit = _score_of_features(step, places.size)
    order = np.asarray(getattr(step, "order_", ()), dtype=np.intp)
    if order.shape == places.shape:  # a selector of ours, behind other steps
        kept = order[: max(kept.size, n_features or 0)]
    elif merit is not None:
        kept = kept[np.argsort(-merit[kept], kind="stable")]
    wanted = max(kept.size, 1) if n_features is None else n_features
    if kept.size < wanted or (kept.size > wanted and merit is None):
        raise InputError(
            f"{type(step).__name__} returned {kept.size} feature(s), but "
            f"{wanted} {'is' if wanted == 1 else 'are'} needed; set its parameters so "
            "that it keeps at least that many, or use a selector with "
            "n_features_to_select or k."
        )
    return fitted, Ranked(places[kept[:wanted]])


def selecting_step(selector: Any) -> Any:
    """Return the selector itself, which in a pipeline is the last step."""
    return selector.steps[-1][1] if isinstance(selector, Pipeline) else selector


def scores_of(fitted: Any, table: Table) -> FloatArray | None:
    """Return the score of every feature by a fitted selector; None if it has none.

    A feature that a step before the selector dropped has NaN.
    """
    scores = getattr(selecting_step(fitted), "scores_", None)
    if scores is None:
        return None
    found = np.full(table.n_features, np.nan)
    found[_input_features(fitted, table)] = scores
    return found


def _input_features(fitted: Any, table: Table) -> IntArray:
    """Return the feature of the table behind each input of the last step.

    Raises
    ------
    InputError
        If a step before the last makes features that are not in the table.
    """
    if not isinstance(fitted, Pipeline):
        return np.arange(table.n_features)
    frame = table.frame(np.arange(1))
    given = list(getattr(frame, "columns", (f"x{j}" for j in range(frame.shape[1]))))
    names = list(given)
    for _, step in fitted.steps[:-1]:
        if is_rowwise(step):
            continue
        try:
            names = list(step.get_feature_names_out(names))
        except (AttributeError, ValueError, NotFittedError) as error:
            raise _changes_features(step) from error
        if not set(names) <= set(given):
            raise _changes_features(step)
    place = {name: j for j, name in enumerate(given)}
    return np.array([place[name] for name in names], dtype=np.intp)


def _changes_features(step: Any) -> InputError:
    return InputError(
        f"{type(step).__name__} comes before the selector in a pipeline, and its "
        "output cannot be matched to the features of X, so the selected features "
        "cannot be named; use steps that keep features and their names (a scaler, an "
        "imputer), or put the step into the estimator."
    )


def own_size(selector: Any) -> Any:
    """Return the number or share of features a selector was made with; None if none."""
    step = selecting_step(selector)
    parameters: dict[str, Any] = getattr(step, "get_params", dict)()
    given = next((parameters[n] for n in NUMBER_OF_FEATURES if n in parameters), None)
    return given if isinstance(given, Real) else None


def set_size(selector: Any, n_features: int | None) -> Any:
    """Set the parameter of a selector for the number of features, if it has one."""
    step = selecting_step(selector)
    if n_features is None or not hasattr(step, "get_params"):
        return selector
    parameters = step.get_params(deep=False)
    for name in NUMBER_OF_FEATURES[:2]:
        if name in parameters:
            step.set_params(**{name: n_features})
            return selector
    if {"max_features", "threshold"} <= set(parameters):  # SelectFromModel
        step.set_params(max_features=n_features, threshold=-np.inf)
    return selector


def _score_of_features(fitted: Any, n_columns: int) -> Any:
    """Return a value per feature, larger is better; None if the selector has none."""
    for name, sign in (("scores_", 1.0), ("ranking_", -1.0)):
        values = getattr(fitted, name, None)
        if values is not None and np.shape(values) == (n_columns,):
            merit = sign * np.asarray(values, dtype=np.float64)
            return np.where(np.isnan(merit), -np.inf, merit)
    return None


# -- predictions ---------------------------------------------------------------------


def _predict_all(
    procedures: Sequence[Procedure],
    table: Table,
    splits: Sequence[Split],
    rankings: Sequence[Sequence[Ranked | None]],
    run: Runner,
) -> list[list[Any]]:
    """Predict the test samples of every split by every procedure."""
    predicted: list[list[Any]] = [[None] * len(splits) for _ in procedures]
    corrected = table.blocks is not None
    together = [p for p, one in enumerate(procedures) if _at_once(one, corrected)]
    jobs: list[Job] = [
        (
            predict_table,
            (
                procedures[p].estimator,
                table,
                splits,
                None,
                None,
                procedures[p].responses,
            ),
        )
        for p in together
    ]
    for p, found in zip(together, run(jobs) if jobs else [], strict=True):
        predicted[p] = list(found) if found is not None else predicted[p]
    left: dict[int, list[int]] = {}
    for p, codes in enumerate(predicted):
        for s, known in enumerate(codes):
            if known is None:
                left.setdefault(s, []).append(p)
    todo = sorted(left)
    parts = _parts(len(todo), run)
    jobs = [
        (
            _predict_splits,
            (
                table,
                [splits[s] for s in part],
                [[procedures[p] for p in left[s]] for s in part],
                [[rankings[p][s] for p in left[s]] for s in part],
            ),
        )
        for part in (np.array(todo)[places] for places in parts)
    ]
    done = [found for part in run(jobs) for found in part] if jobs else []
    for s, found in zip(todo, done, strict=True):
        for p, codes in zip(left[s], found, strict=True):
            predicted[p][s] = codes
    return predicted


def _predict_splits(
    table: Table,
    splits: Sequence[Split],
    procedures: Sequence[Sequence[Procedure]],
    rankings: Sequence[Sequence[Ranked | None]],
) -> list[list[Any]]:
    """Predict splits by every procedure; equal subsets of a split are fitted once.

    A subset is a set: its features are put in the order of the table, so that two
    selectors which choose the same features get the same model.
    """
    if table.blocks is not None:
        return [
            _predict_splits(
                table.corrected(split.train, split.test), [split], [some], [ranks]
            )[0]
            for split, some, ranks in zip(splits, procedures, rankings, strict=True)
        ]
    found: list[list[Any]] = [[None] * len(some) for some in procedures]
    requests: dict[Any, _PredictionPlan] = {}
    for s, (some, ranks) in enumerate(zip(procedures, rankings, strict=True)):
        for p, (procedure, ranked) in enumerate(zip(some, ranks, strict=True)):
            order, sizes = _order_and_sizes(procedure, ranked)
            key = (id(procedure.estimator), sizes, order is None)
            one = requests.setdefault(
                key, _PredictionPlan(procedure.estimator, sizes, procedure.responses)
            )
            one.add(s, order, place=p)
    for one in requests.values():
        codes = one.predict(table, splits)
        for (s, _), places, predicted in zip(
            one.places, one.places.values(), codes, strict=True
        ):
            for p in places:
                found[s][p] = predicted
    return found


@dataclass(eq=False)
class _PredictionPlan:
    """Splits and subsets on which one estimator predicts, each of them once."""

    estimator: Any
    sizes: tuple[int, ...] | None
    responses: tuple[str, ...] = ()
    orders: list[IntArray | None] = field(default_factory=list)
    places: dict[tuple[int, bytes], list[int]] = field(default_factory=dict)

    def add(self, split: int, order: IntArray | None, place: int) -> None:
        key = (split, b"" if order is None else order.tobytes())
        if key not in self.places:
            self.orders.append(order)
        self.places.setdefault(key, []).append(place)

    def predict(self, table: Table, splits: Sequence[Split]) -> list[Any]:
        splits = [splits[s] for s, _ in self.places]
        orders = [order for order in self.orders if order is not None]
        responses = self.responses
        if orders:
            return predict(self.estimator, table, splits, orders, self.sizes, responses)
        if self.sizes is None:  # a fast way, if there is one, had no answer
            return predict_loop(self.estimator, table, splits, responses=responses)
        # A constant target, such as one class: no ranking.
        return [
            predict_constant(
                table, split.train, (len(self.sizes), len(split.test)), responses
            )
            for split in splits
        ]


def _order_and_sizes(
    procedure: Procedure, ranked: Ranked | None
) -> tuple[IntArray | None, tuple[int, ...] | None]:
    """Return the features to use, best first, and how many of them."""
    if not procedure.selects:
        return None, None
    if ranked is None:  # one class only: no ranking
        return None, procedure.sizes or (1,)
    sizes = procedure.sizes
    if not sizes or has_groups(procedure.selector):
        sizes = (len(ranked.order),)
    order = ranked.order[: sizes[-1]]
    return (np.sort(order) if len(sizes) == 1 else order), sizes


def predict(
    estimator: Any,
    table: Table,
    splits: Sequence[Split],
    orders: Sequence[IntArray] | None = None,
    sizes: Sequence[int] | None = None,
    responses: Sequence[str] = (),
) -> list[Any]:
    """Predict the test samples of every split, on rankings that are known.

    Parameters
    ----------
    estimator : estimator
        Not fitted; it is cloned for every split.
    table : Table
        The samples.
    splits : sequence of Split
        Samples to learn from and samples to test.
    orders : sequence of int arrays, optional
        For every split a ranking of features, best first; all features by default.
    sizes : sequence of int, optional
        How many of the leading features to use.
    responses : sequence of {"predict_proba", "decision_function"}, default=()
        What is wanted beside classes.

    Returns
    -------
    list of arrays of shape (n_sizes, n_test)
        Predicted classes, as places among those of the table; numbers or risks for
        other targets; `Outputs` where there are `responses`.
    """
    request = (estimator, table, splits, orders, sizes, responses)
    return fill_by_loop(predict_table(*request), *request)


# -- with the fitted models ----------------------------------------------------------


def _apply_all(
    procedures: Sequence[Procedure],
    table: Table,
    splits: Sequence[Split],
    rankings: Sequence[Sequence[Ranked | None]],
    apply: Callable[..., Any],
    run: Runner,
    *,
    weighted: bool = False,
) -> list[list[Any]]:
    """Fit every procedure on every split, and apply a function to the models.

    Where it is `weighted`, the function also gets the weights of the test samples, if
    there are any.
    """
    parts = _parts(len(splits), run)
    jobs: list[Job] = [
        (
            _apply_to_splits,
            (
                one,
                table,
                [splits[s] for s in part],
                [ranked[s] for s in part],
                apply,
                weighted,
            ),
        )
        for one, ranked in zip(procedures, rankings, strict=True)
        for part in parts
    ]
    done = run(jobs)
    return [
        [one for part in done[p * len(parts) : (p + 1) * len(parts)] for one in part]
        for p in range(len(procedures))
    ]


def _apply_to_splits(
    procedure: Procedure,
    table: Table,
    splits: Sequence[Split],
    rankings: Sequence[Ranked | None],
    apply: Callable[..., Any],
    weighted: bool = False,
) -> list[Any]:
    results = []
    paired = is_pairwise(procedure.estimator)
    given = table
    for split, ranked in zip(splits, rankings, strict=True):
        table = given.corrected(split.train, split.test)
        columns = split.train if paired else None
        if ranked is not None:
            order, _ = _order_and_sizes(procedure, ranked)
            columns = columns if order is None else np.sort(order)
        model = _fit(procedure.estimator, table, split.train, columns)
        X, y = table.frame(split.test, columns), table.labels[split.test]
        if weighted and table.weights is not None:
            results.append(apply(model, X, y, table.weights[split.test]))
        else:
            results.append(apply(model, X, y))
    return results


def _score(
    scorer: Scorer,
    classes: NDArray[Any],
    model: Any,
    X: Any,
    y: NDArray[Any],
    weights: FloatArray | None = None,
) -> Scored:
    return score(scorer, model, X, y, classes, weights)


def _fit(
    estimator: Any, table: Table, train: IntArray, columns: IntArray | None
) -> Any:
    counted = counted_rows(table, train)
    if table.target.is_constant(counted):
        # Many estimators raise for one class; predicting it is all there is to learn.
        if table.kind == "classes":
            dummy: Any = DummyClassifier(strategy="most_frequent")
        else:
            dummy = DummyRegressor()
        y = table.labels[counted]
        y = y if table.kind != "survival" else np.zeros(len(y))
        return dummy.fit(np.zeros((len(y), 1)), y)
    return fit_rows(estimator, table, train, columns)


# -- from a user's pipeline to a procedure -------------------------------------------


def is_rowwise(step: Any) -> bool:
    """Return whether a step transforms every sample alone and learns nothing."""
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return True
    if type(step) is FunctionTransformer:
        return step.func is None or isinstance(step.func, np.ufunc)
    return type(step) in (Binarizer, Normalizer)


def as_procedure(estimator: Any, table: Table) -> tuple[Procedure, Table]:
    """Divide a pipeline into selector and estimator where that is possible.

    It is for steps that transform every sample alone, then one of our selectors, then
    anything: transforming all samples once is then the same as transforming them split
    by split, and selection uses ``rank_table``.

    Returns
    -------
    Procedure
        The selector and the estimator after it, or the estimator as given.
    Table
        The table that the procedure sees.
    """
    whole = Procedure(estimator), table
    if type(estimator) is not Pipeline or estimator.memory is not None:
        return whole
    if getattr(estimator, "transform_input", None) is not None:
        return whole
    place = _place_of_selector(estimator)
    if (
        place is None
        or _transformed_input(estimator.steps[place][1], table.source) is None
    ):
        return whole
    before = [
        step
        for _, step in clone(estimator).steps[:place]
        if step is not None and not isinstance(step, str)
    ]
    if before and table.blocks is not None:
        return whole  # features are corrected before they are transformed
    X = table.source
    for step in before:
        X = step.fit_transform(X, table.labels)
    selector = estimator.steps[place][1]
    matrix = _transformed_input(selector, X)
    if matrix is None:
        return whole
    n_features = count_features(selector.n_features_to_select, matrix.shape[1])
    rest = Pipeline(estimator.steps[place + 1 :])
    last = rest if len(rest.steps) > 1 else rest.steps[0][1]
    read = replace_source(table, X) if before else table
    seen = table.replace(features=read.features, source=matrix)
    return Procedure(last, selector, (n_features,)), seen


def replace_source(table: Table, X: Any) -> Table:
    """Return the table with other features, which are encoded when first needed."""
    return table.replace(features=None, source=X)


def _place_of_selector(estimator: Pipeline) -> int | None:
    for place, (_, step) in enumerate(estimator.steps[:-1]):
        if type(step) in SELECTORS.values():
            # The number is known after a fit only, or counts groups of features.
            unknown = step.n_features_to_select is None
            grouped = step.keep is not None or step.feature_groups is not None
            return None if unknown or grouped else place
        if not is_rowwise(step):
            return None
    return None


def _transformed_input(selector: Any, X: Any) -> Any:
    """Return X as a selector's ``transform`` returns it; None if it is not numeric.

    It is an array, unless the selector is set to return data frames.
    """
    container = output_kind(selector)
    if container != "default":
        return X if container == "pandas" and isinstance(X, pd.DataFrame) else None
    values = X
    if hasattr(X, "dtypes") and hasattr(X, "to_numpy"):
        values = X.to_numpy()
    elif not hasattr(X, "shape"):
        values = np.asarray(X)
    kind = getattr(getattr(values, "dtype", None), "kind", "O")
    return values if kind in "fiub" and getattr(values, "ndim", 0) == 2 else None
