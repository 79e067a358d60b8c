"""The one engine: procedures, a table and splits in; predictions and selections out.

A procedure is an estimator, and before it a selector where there is one. Under IN the
selector sees the training samples of each split, under OUT all samples once. TRUTH is
IN on one more split, which learns from all samples and tests fresh ones.

Rankings come first, for all training sets of a selector at once (``rank_table``). Then
every split is predicted, at every subset size; estimators of ours share work over sizes
and splits (``predict_table``), all others are fitted in a loop. Whatever the way, the
predictions are those of the loop, ``clone(estimator).fit(X[train][:, columns],
y[train]).predict(X[test][:, columns])``; only the time differs.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import Binarizer, FunctionTransformer, Normalizer

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.parallel import Job, Runner, Workers, expected
from veridical._core.scoring import Scored, Scorer, score
from veridical._core.sklearn_private import output_kind
from veridical._core.splits import Split
from veridical._core.table import Table
from veridical._core.validation import count_features
from veridical.learning.many import (
    LeavesOneOut,
    fill_by_loop,
    has_predict_table,
    predict_table,
)
from veridical.selection import SELECTORS

#: Rankings held at a time, in numbers: bounds the memory that ``rank_table`` takes.
_RANKS_AT_A_TIME = 1 << 24
#: Parameters by which selectors are told the number of features.
NUMBER_OF_FEATURES = ("n_features_to_select", "k", "max_features")

Protocol = Literal["in", "out"]


@dataclass(frozen=True, eq=False)
class Procedure:
    """What is evaluated: an estimator, on features that a selector may choose.

    Parameters
    ----------
    estimator : estimator
        Not fitted; it is cloned for every split.
    selector : selector or None
        Chooses the features; without one the estimator gets all.
    sizes : tuple of int
        Numbers of leading features, all evaluated on one ranking. Empty with a selector
        means all features that it keeps, in every training set anew.
    protocol : {"in", "out"}
        Whether the selector sees the training samples of each split, or all samples.
    """

    estimator: Any
    selector: Any = None
    sizes: tuple[int, ...] = ()
    protocol: Protocol = "in"


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Predictions and selections of one procedure on every split.

    Parameters
    ----------
    predictions : list of int arrays of shape (n_sizes, n_test)
        By split: predicted classes, as places among those of the table.
    targets : list of int arrays of shape (n_test,)
        By split: the true classes.
    rankings : list of Ranked or None
        By split: the features, best first, as far as they were asked for; None where
        nothing was selected, or one class alone leaves nothing to rank by.
    seconds : float
        How long all rankings of the selector took.
    """

    predictions: list[IntArray]
    targets: list[IntArray]
    rankings: list[Ranked | None]
    seconds: float = 0.0

    @cached_property
    def hits(self) -> list[Any]:
        """By split: which predictions are right, (n_sizes, n_test)."""
        pairs = zip(self.predictions, self.targets, strict=True)
        return [predicted == target for predicted, target in pairs]

    def accuracies(self) -> FloatArray:
        """Share of right predictions per size and split, (n_sizes, n_splits)."""
        return np.stack([hits.mean(axis=1) for hits in self.hits], axis=1)

    def pooled_accuracy(self) -> FloatArray:
        """Share of right predictions per size, all splits together, (n_sizes,)."""
        return np.concatenate(self.hits, axis=1).mean(axis=1)


class Ranked(NamedTuple):
    """Features, best first; `alpha` where the selector chose an exponent."""

    order: IntArray
    alpha: float | None = None


def evaluate(
    procedures: Sequence[Procedure],
    table: Table,
    splits: Sequence[Split],
    *,
    run: Runner,
    columns: IntArray | None = None,
    everything: IntArray | None = None,
) -> list[Evaluation]:
    """Predict the test samples of every split by every procedure.

    Parameters
    ----------
    procedures : sequence of Procedure
        What to evaluate; all on the same splits, and procedures with the same selector
        on the same rankings.
    table : Table
        The samples.
    splits : sequence of Split
        Samples to learn from and samples to test; repeats in training count.
    run : callable
        Does a series of jobs: `Workers`, or `serial`.
    columns : int array, optional
        Order in which selectors see the features, so that the place of a feature
        carries no information where ties go by index.
    everything : int array, optional
        The samples that selection sees under OUT; all by default.

    Returns
    -------
    list of Evaluation
        One per procedure.
    """
    if everything is None:
        everything = np.arange(table.n_samples)
    n_jobs = count_jobs(procedures, splits, run) if isinstance(run, Workers) else 0
    with expected(run, n_jobs):
        return _evaluate(procedures, table, splits, run, columns, everything)


def _evaluate(
    procedures: Sequence[Procedure],
    table: Table,
    splits: Sequence[Split],
    run: Runner,
    columns: IntArray | None,
    everything: IntArray,
) -> list[Evaluation]:
    rankings, seconds = _rank_all(procedures, table, splits, columns, everything, run)
    predicted: list[list[Any]] = [[None] * len(splits) for _ in procedures]
    together = [p for p, one in enumerate(procedures) if _at_once(one, splits)]
    jobs: list[Job] = [
        (predict_table, (procedures[p].estimator, table, splits)) for p in together
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
    y = table.y
    targets = [y[split.test] for split in splits]
    return [
        Evaluation(predicted[p], targets, rankings[p], seconds[p])
        for p in range(len(procedures))
    ]


def _parts(n_splits: int, run: Runner) -> list[IntArray]:
    """Cut the splits into jobs: enough for all workers, and for progress."""
    n_jobs = effective_n_jobs(run.n_jobs) if isinstance(run, Workers) else 1
    n_parts = min(n_splits, max(4 * n_jobs, 20))
    return np.array_split(np.arange(n_splits), n_parts) if n_splits else []


def count_jobs(
    procedures: Sequence[Procedure], splits: Sequence[Any], run: Workers
) -> int:
    """How many jobs an evaluation takes, for progress."""
    selectors = {id(p.selector): p.selector for p in procedures}
    selectors.pop(id(None), None)
    n_sets = len(splits) + any(p.protocol == "out" for p in procedures)
    ranking = sum(1 if shares_work(one) else n_sets for one in selectors.values())
    together = sum(_at_once(one, splits) for one in procedures)
    return ranking + together + len(_parts(len(splits), run))


def _at_once(procedure: Procedure, splits: Sequence[Any]) -> bool:
    """Whether an estimator on all features may know how to predict all splits."""
    if procedure.selector is not None or len(splits) < 2:
        return False
    estimator = procedure.estimator
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
        # All samples first, so that what a selector which draws by chance chooses on
        # them does not depend on the protocols beside it.
        keys = sorted(own, key=lambda key: key != first)
        able = {key: own[key] for key in keys if np.ptp(table.y[own[key]])}
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
        else [None] * len(splits)
        for one, keys in zip(procedures, sets, strict=True)
    ]
    return rankings, [seconds.get(id(one.selector), 0.0) for one in procedures]


def _most(procedures: Sequence[Procedure]) -> int | None:
    """Return the largest number of features to rank; None is all that are kept."""
    sizes = [one.sizes[-1] for one in procedures if one.sizes]
    return max(sizes) if len(sizes) == len(procedures) else None


def _run_rankings(jobs: list[Job], run: Runner) -> list[Any]:
    """Rank; selectors that share work are ranked here, on as many threads as allowed.

    For a process each they would have to be sent the table, and share nothing.
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
    """Whether a selector ranks for many training sets at once."""
    if getattr(selector, "alpha", None) == "auto":
        return False  # it is fitted, to learn which exponent it chooses
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
    """Ask a selector for its best features on each training set.

    Parameters
    ----------
    selector : selector
        One of ours, which answers for all sets at once, or any other that has
        ``rank_many``, or ``fit`` and ``get_support``.
    table : Table
        The samples.
    train_sets : sequence of int arrays
        Rows to choose on.
    n_features : int or None
        How many features to choose; None leaves the number to the selector.
    columns : int array, optional
        Order in which the selector sees the features.

    Returns
    -------
    list of Ranked
        Features of the table, best first.
    """
    if columns is not None and hasattr(selector, "_accept"):
        selector._accept(table)  # messages name columns by their places in X
    if _names_places(selector):
        columns = None
    shuffled = table if columns is None else table.permute(columns)
    # How far a search goes may depend on how many features are wanted.
    asked = ask_for(clone(selector, safe=False), n_features)
    if n_features is None or not shares_work(selector):
        ranked = [
            fit_selector(selector, shuffled, rows, n_features)[1] for rows in train_sets
        ]
    elif hasattr(selector, "rank_table"):
        batch = max(1, _RANKS_AT_A_TIME // table.n_features)
        ranked = [
            Ranked(np.array(order[:n_features]))
            for start in range(0, len(train_sets), batch)
            for order in asked.rank_table(shuffled, train_sets[start : start + batch])
        ]
    else:
        orders = asked.rank_many(shuffled.frame(), shuffled.y, list(train_sets))
        ranked = [Ranked(np.asarray(order)[:n_features]) for order in orders]
    if n_features is not None:
        for one in ranked:
            _check_order(one.order, n_features, selector)
    if columns is None:
        return ranked
    return [one._replace(order=columns[one.order]) for one in ranked]


def _names_places(selector: Any) -> bool:
    """Whether parameters of a selector name features by their places."""
    chosen = getattr(selector, "categorical_features", None)
    return chosen is not None and not isinstance(chosen, str)


def _check_order(order: IntArray, n_features: int, selector: Any) -> None:
    found = np.unique(order).size
    if found != n_features:
        raise InputError(
            f"{type(selector).__name__} ranked {found} feature(s), but {n_features} "
            "are asked for; its rank_many must return an order of all features."
        )


def fit_selector(
    selector: Any, table: Table, rows: IntArray, n_features: int | None
) -> tuple[Any, Ranked]:
    """Fit a selector on some samples; return it with the features it chooses."""
    asked = ask_for(clone(selector, safe=False), n_features)
    if hasattr(asked, "fit_table"):
        fitted = asked.fit_table(table.rows(rows))
        alpha = getattr(fitted, "alpha_", None)
        n_kept = fitted.n_features_ if n_features is None else n_features
        return fitted, Ranked(np.array(fitted.order_[:n_kept]), alpha)
    if not hasattr(selecting_step(asked), "get_support"):  # it has rank_many alone
        return asked, rank(selector, table, [rows], n_features)[0]
    fitted = asked.fit(table.frame(rows), table.labels[rows])
    places = _columns_handed_on(fitted, table)
    step = selecting_step(fitted)
    kept = np.asarray(step.get_support(indices=True), dtype=np.intp)
    merit = _merit(step, places.size)
    if merit is not None:
        kept = kept[np.argsort(-merit[kept], kind="stable")]
    wanted = max(kept.size, 1) if n_features is None else n_features
    if kept.size < wanted or (kept.size > wanted and merit is None):
        raise InputError(
            f"{type(step).__name__} returned {kept.size} feature(s), but "
            f"{wanted} {'is' if wanted == 1 else 'are'} asked for; give it a parameter "
            "that leaves at least so many, or use a selector with n_features_to_select "
            "or k."
        )
    return fitted, Ranked(places[kept[:wanted]])


def selecting_step(selector: Any) -> Any:
    """Return what selects: the last step of a pipeline, or the selector itself."""
    return selector.steps[-1][1] if isinstance(selector, Pipeline) else selector


def scores_of(fitted: Any, table: Table) -> FloatArray | None:
    """Return what a fitted selector gives every feature; None if it gives nothing.

    A feature that a step before the selector dropped has NaN.
    """
    scores = getattr(selecting_step(fitted), "scores_", None)
    if scores is None:
        return None
    found = np.full(table.n_features, np.nan)
    found[_columns_handed_on(fitted, table)] = scores
    return found


def _columns_handed_on(fitted: Any, table: Table) -> IntArray:
    """Return which feature of the table each column is that reaches the last step.

    Raises
    ------
    InputError
        If a step before the last makes columns that are no features of the table.
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
            raise _changes_columns(step) from error
        if not set(names) <= set(given):
            raise _changes_columns(step)
    place = {name: j for j, name in enumerate(given)}
    return np.array([place[name] for name in names], dtype=np.intp)


def _changes_columns(step: Any) -> InputError:
    return InputError(
        f"{type(step).__name__} stands before the selector of a pipeline, and what it "
        "hands on are not known to be features of X, so that the selection cannot be "
        "named; use steps that keep features and their names (a scaler, an imputer), "
        "or put the step into the estimator."
    )


def ask_for(selector: Any, n_features: int | None) -> Any:
    """Set whatever parameter a selector has for the number of features."""
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


def _merit(fitted: Any, n_columns: int) -> Any:
    """Larger is better, per column; None if the selector does not say."""
    for name, sign in (("scores_", 1.0), ("ranking_", -1.0)):
        values = getattr(fitted, name, None)
        if values is not None and np.shape(values) == (n_columns,):
            merit = sign * np.asarray(values, dtype=np.float64)
            return np.where(np.isnan(merit), -np.inf, merit)
    return None


# -- predictions ---------------------------------------------------------------------


def _predict_splits(
    table: Table,
    splits: Sequence[Split],
    procedures: Sequence[Sequence[Procedure]],
    rankings: Sequence[Sequence[Ranked | None]],
) -> list[list[IntArray]]:
    return [
        _predict_split(table, *one)
        for one in zip(splits, procedures, rankings, strict=True)
    ]


def _predict_split(
    table: Table,
    split: Split,
    procedures: Sequence[Procedure],
    rankings: Sequence[Ranked | None],
) -> list[IntArray]:
    """Predict one split by every procedure; equal subsets are fitted once.

    A subset is a set: its features are put in the order of the table, so that two
    selectors which choose the same features get the same model.
    """
    known: dict[tuple[int, bytes, tuple[int, ...] | None], IntArray] = {}
    found = []
    for one, ranked in zip(procedures, rankings, strict=True):
        order, sizes = _order_and_sizes(one, ranked)
        key = (id(one.estimator), b"" if order is None else order.tobytes(), sizes)
        if key not in known:
            known[key] = _predict(one.estimator, table, split, order, sizes)
        found.append(known[key])
    return found


def _order_and_sizes(
    procedure: Procedure, ranked: Ranked | None
) -> tuple[IntArray | None, tuple[int, ...] | None]:
    """Return the features to use, best first, and how many of them."""
    if procedure.selector is None:
        return None, None
    if ranked is None:  # one class: nothing to rank by
        return None, procedure.sizes or (1,)
    sizes = procedure.sizes or (len(ranked.order),)
    order = ranked.order[: sizes[-1]]
    return (np.sort(order) if len(sizes) == 1 else order), sizes


def _predict(
    estimator: Any,
    table: Table,
    split: Split,
    order: IntArray | None,
    sizes: tuple[int, ...] | None,
) -> IntArray:
    if sizes is not None and order is None:  # one class: nothing to rank by
        only = table.y[split.train[0]]
        return np.full((len(sizes), len(split.test)), only)
    orders = None if order is None else [order]
    return predict(estimator, table, [split], orders, sizes)[0]


def predict(
    estimator: Any,
    table: Table,
    splits: Sequence[Split],
    orders: Sequence[IntArray] | None = None,
    sizes: Sequence[int] | None = None,
) -> list[IntArray]:
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

    Returns
    -------
    list of int arrays of shape (n_sizes, n_test)
        Predicted classes, as places among those of the table.
    """
    request = (estimator, table, splits, orders, sizes)
    return fill_by_loop(predict_table(*request), *request)


# -- what needs the model ------------------------------------------------------------


def apply_models(
    procedure: Procedure,
    table: Table,
    splits: Sequence[Split],
    apply: Callable[[Any, Any, NDArray[Any]], Any],
    *,
    run: Runner,
) -> list[Any]:
    """Fit a model on the training samples of every split, and apply a function to it.

    Parameters
    ----------
    procedure : Procedure
        What to fit, at one subset size.
    table, splits, run
        As in `evaluate`.
    apply : callable
        ``apply(model, X, y)``, given the test samples; it must be picklable.

    Returns
    -------
    list
        What the function returned, split by split.
    """
    rankings, _ = _rank_all(
        [procedure], table, splits, None, np.arange(table.n_samples), run
    )
    jobs: list[Job] = [
        (
            _apply_models,
            (
                procedure,
                table,
                [splits[s] for s in part],
                [rankings[0][s] for s in part],
                apply,
            ),
        )
        for part in _parts(len(splits), run)
    ]
    return [one for part in run(jobs) for one in part]


def _apply_models(
    procedure: Procedure,
    table: Table,
    splits: Sequence[Split],
    rankings: Sequence[Ranked | None],
    apply: Callable[[Any, Any, NDArray[Any]], Any],
) -> list[Any]:
    results = []
    for split, ranked in zip(splits, rankings, strict=True):
        columns = None
        if ranked is not None:
            columns, _ = _order_and_sizes(procedure, ranked)
            columns = columns if columns is None else np.sort(columns)
        model = _fit(procedure.estimator, table, split.train, columns)
        X, y = table.frame(split.test, columns), table.labels[split.test]
        results.append(apply(model, X, y))
    return results


def score_splits(
    procedure: Procedure,
    table: Table,
    splits: Sequence[Split],
    scorer: Scorer,
    *,
    run: Runner,
) -> tuple[FloatArray, str]:
    """Score a model fitted on the training samples of every split on its test samples.

    Returns
    -------
    scores : array of shape (n_splits,)
        NaN where the score is not defined.
    reason : str
        Why it is not, as far as scikit-learn said.
    """
    apply = partial(_score, scorer, table.target.classes)
    found: list[Scored] = apply_models(procedure, table, splits, apply, run=run)
    for category, text in dict.fromkeys(w for one in found for w in one.warned):
        warnings.warn(text, category, stacklevel=4)
    reasons = [one.reason for one in found if one.reason]
    return np.array([one.value for one in found]), next(iter(reasons), "")


def _score(
    scorer: Scorer, classes: NDArray[Any], model: Any, X: Any, y: NDArray[Any]
) -> Scored:
    return score(scorer, model, X, y, classes)


def _fit(
    estimator: Any, table: Table, train: IntArray, columns: IntArray | None
) -> Any:
    X, y = table.frame(train, columns), table.labels[train]
    if not np.ptp(table.y[train]):
        # Many estimators refuse one class; predicting it is all that could be learned.
        return DummyClassifier(strategy="most_frequent").fit(np.zeros((len(y), 1)), y)
    return clone(estimator).fit(X, y)


# -- from a user's pipeline to a procedure -------------------------------------------


def is_rowwise(step: Any) -> bool:
    """Tell a step that treats every row alone and learns nothing."""
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return True
    if type(step) is FunctionTransformer:
        return step.func is None or isinstance(step.func, np.ufunc)
    return type(step) in (Binarizer, Normalizer)


def as_procedure(estimator: Any, table: Table) -> tuple[Procedure, Table]:
    """Take a pipeline apart where its steps are known; else take it as a whole.

    Known are pipelines of steps that treat every row alone, one of our selectors, and
    anything after it: transforming all rows once is then the same as transforming them
    split by split, and selection goes through ``rank_table``.

    Returns
    -------
    Procedure
        The estimator behind the selector with the selector, or the estimator as given.
    Table
        The table that the procedure sees.
    """
    whole = Procedure(estimator), table
    if type(estimator) is not Pipeline or estimator.memory is not None:
        return whole
    if getattr(estimator, "transform_input", None) is not None:
        return whole
    place = _place_of_selector(estimator)
    if place is None or _handed_on(estimator.steps[place][1], table.source) is None:
        return whole
    before = [
        step
        for _, step in clone(estimator).steps[:place]
        if step is not None and not isinstance(step, str)
    ]
    X = table.source
    for step in before:
        X = step.fit_transform(X, table.labels)
    selector = estimator.steps[place][1]
    matrix = _handed_on(selector, X)
    if matrix is None:
        return whole
    n_features = count_features(selector.n_features_to_select, matrix.shape[1])
    rest = Pipeline(estimator.steps[place + 1 :])
    last = rest if len(rest.steps) > 1 else rest.steps[0][1]
    read = replace_source(table, X) if before else table
    seen = table.replace(features=read.features, source=matrix)
    return Procedure(last, selector, (n_features,)), seen


def replace_source(table: Table, X: Any) -> Table:
    """Give a table other features; they are encoded when first asked for."""
    return table.replace(features=None, source=X)


def _place_of_selector(estimator: Pipeline) -> int | None:
    for place, (_, step) in enumerate(estimator.steps[:-1]):
        if type(step) in SELECTORS.values():
            # None: only a fit can tell how many.
            return None if step.n_features_to_select is None else place
        if not is_rowwise(step):
            return None
    return None


def _handed_on(selector: Any, X: Any) -> Any:
    """Return what a selector's ``transform`` takes columns of; None if that is mixed.

    It is an array, unless the selector was told to give data frames.
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
