"""Predictions for many training sets and many numbers of features at once.

`predict_loop` defines the result: fit a clone on the training rows of every split, on
every subset of features, and predict the test rows. `predict_table` gives the same
predictions for less work, for estimators that know how.

An estimator of this library implements ``_predict_table(table, splits, orders, sizes)``
and inherits :class:`PredictMany`; `register_predict_table` does the same for a class of
estimators that is not ours. Such a routine can rely on this:

- every training set holds at least two classes, or a target that varies;
- ``split.n_rows`` is the number of samples of the table;
- `sizes` are whole numbers in ascending order, or None where `orders` is None;
- every order has exactly ``sizes[-1]`` features.

It returns, for every split, class codes (for other targets, numbers or risks) of shape
(n_sizes, n_test) (one size where `orders` is None), or None for a split where rounding
could decide and the loop has to; or None in place of the list where it has no fast way.

Scores may need probabilities or decision values too. A routine that gives them has one
more parameter, ``responses=()``; where it is not empty, it returns `Outputs` in place
of class codes. Without this parameter, the loop fits and asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial, wraps
from inspect import signature
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.reading import read_table
from veridical._core.scoring import Outputs, join_outputs
from veridical._core.sklearn_private import take
from veridical._core.splits import Split, class_counts, read_split
from veridical._core.table import Table
from veridical.learning.fitting import counted_rows, plan_fit
from veridical.learning.outcomes import (
    constant_outputs,
    constant_values,
    predict_values,
    survival_at,
    target_of,
    times_of,
)

Orders = Sequence[IntArray] | None
Sizes = Sequence[int] | None
#: Class codes of every split, shape (n_sizes, n_test), or `Outputs`; None where the
#: loop must decide.
Predicted = list[Any]
#: ``routine(estimator, table, splits, orders, sizes)``, and maybe ``responses``.
PredictTable = Callable[..., Predicted | None]

#: A class of estimators, or the classes of the steps of a pipeline.
EstimatorTypes = type | tuple[type, ...]

_REGISTERED: dict[EstimatorTypes, PredictTable] = {}


@runtime_checkable
class LeavesOneOut(Protocol):
    """An estimator with a fast way to predict each sample from all the others.

    ``leave_one_out_predictions(X, y)`` must return what fitting without a sample and
    predicting it would, for every sample.
    """

    def leave_one_out_predictions(self, X: Any, y: Any) -> Any:
        """Predict the label of every sample from the others."""
        ...


def register_predict_table(*steps: type) -> Callable[[PredictTable], PredictTable]:
    """Register a fast way to predict for a class of estimators, not its subclasses.

    Parameters
    ----------
    *steps : type
        The class; for a pipeline of two or more steps, the class of each of them.

    Returns
    -------
    callable
        A decorator for ``routine(estimator, table, splits, orders, sizes)``, with
        ``responses=()`` if it also gives probabilities or decision values; see
        `veridical.learning.many` for what it is given and what it must return.
    """

    def register(routine: PredictTable) -> PredictTable:
        _REGISTERED[steps if len(steps) > 1 else steps[0]] = routine
        return routine

    return register


def on_equal_subsets(routine: Callable[..., Predicted | None]) -> PredictTable:
    """Extend a routine for all features to subsets that are the same in every split.

    Parameters
    ----------
    routine : callable
        ``routine(estimator, table, splits)``, and maybe ``responses``.

    Returns
    -------
    callable
        The same with ``orders`` and ``sizes``; it has no fast way where the leading
        features of the splits differ.
    """

    @wraps(routine)
    def on_subsets(
        estimator: Any,
        table: Table,
        splits: Sequence[Split],
        orders: Orders,
        sizes: Sizes,
        **responses: Sequence[str],
    ) -> Predicted | None:
        if orders is None or sizes is None:
            return routine(estimator, table, splits, **responses)
        found = []
        for size in sizes:
            columns = np.sort(orders[0][:size])
            if any(not np.array_equal(columns, np.sort(o[:size])) for o in orders):
                return None
            part = routine(
                estimator, _with_columns(table, columns), splits, **responses
            )
            if part is None:
                return None
            found.append(part)
        join = join_outputs if responses else np.concatenate
        return [
            None if any(part is None for part in one) else join(one)
            for one in zip(*found, strict=True)
        ]

    return on_subsets


def _with_columns(table: Table, columns: IntArray) -> Table:
    source = table.source
    if source is None:
        return table.permute(columns)
    return table.replace(features=None, source=take(source, columns, axis=1))


def has_predict_table(estimator: Any, responses: Sequence[str] = ()) -> bool:
    """Return whether an estimator has a fast way; a subclass has none of its own."""
    return _routine(estimator, responses) is not None


def is_pairwise(estimator: Any) -> bool:
    """Return whether X of an estimator is a kernel or a distance between samples."""
    return hasattr(estimator, "__sklearn_tags__") and bool(
        get_tags(estimator).input_tags.pairwise
    )


def _routine(estimator: Any, responses: Sequence[str]) -> PredictTable | None:
    """Return the routine of an estimator, if it gives what is wanted beside classes."""
    routine = _own_or_registered(estimator)
    if routine is None or not responses:
        return routine
    if "responses" not in signature(routine).parameters:
        return None
    return partial(routine, responses=responses)


def _own_or_registered(estimator: Any) -> PredictTable | None:
    """Return the routine that the class itself defines, else the registered one.

    A routine that is inherited may not fit a subclass that predicts otherwise.
    """
    kind = type(estimator)
    if kind is Pipeline:
        plain = estimator.memory is None and not estimator.transform_input
        steps = tuple(type(step) for _, step in estimator.steps)
        return _REGISTERED.get(steps) if plain else None
    own: PredictTable | None = vars(kind).get("_predict_table")
    return own or _REGISTERED.get(kind)


# -- the two ways --------------------------------------------------------------------


def predict_table(
    estimator: Any,
    table: Table,
    splits: Sequence[Split],
    orders: Orders = None,
    sizes: Sizes = None,
    responses: Sequence[str] = (),
) -> list[Any] | None:
    """Predict the test samples of many splits, for many numbers of features, fast.

    Parameters
    ----------
    estimator : classifier
        Not fitted, and left as it is.
    table : Table
        All samples.
    splits : sequence of Split
        Training and test rows.
    orders : sequence of int arrays, optional
        For every split a ranking of features, best first. All features by default.
    sizes : sequence of int, optional
        How many of the leading features to use; the whole ranking by default.
    responses : sequence of {"predict_proba", "decision_function"}, default=()
        What is wanted beside the classes.

    Returns
    -------
    list of (int array of shape (n_sizes, n_test) or None), or None
        Class codes, places in ``table.classes``: exactly those of
        `predict_loop`; `Outputs` in their place where there are `responses`. None for a
        split where rounding could decide: use
        `predict_loop`. None in place of the list: this estimator, these parameters or
        this kind of table have no fast way, nor has a table with sample weights.
    """
    sizes = _check_sizes(orders, sizes)
    if table.weights is not None:
        return None
    n = len(table)
    splits = [s if s.n_rows == n else _of_all_rows(s, n) for s in splits]
    if orders is None and not responses:
        alone = _leave_one_out(estimator, table, splits)
        if alone is not None:
            return alone
    routine = _routine(estimator, responses)
    if routine is None or not len(splits):
        return None if routine is None else []
    found: list[Any] = [None] * len(splits)
    single = _without_contrast(table, splits)
    n_sizes = 1 if sizes is None else len(sizes)
    for s in np.flatnonzero(single).tolist():
        train, shape = splits[s].train, (n_sizes, len(splits[s].test))
        found[s] = predict_constant(table, train, shape, responses)
    able = np.flatnonzero(~single).tolist()
    if not able:
        return found
    if orders is None or sizes is None:
        part = routine(estimator, table, [splits[s] for s in able], None, None)
        return None if part is None else _scatter(found, able, part)
    rising = tuple(sorted(set(sizes)))
    places = np.searchsorted(rising, sizes)
    last = rising[-1]
    if any(len(orders[s]) < last for s in able):
        return None
    heads = {s: np.asarray(orders[s][:last], dtype=np.intp) for s in able}
    first: dict[Any, int] = {}
    owner = [first.setdefault((_key(splits[s]), heads[s].tobytes()), s) for s in able]
    kept = list(first.values())
    part = routine(
        estimator,
        table,
        [splits[s] for s in kept],
        [heads[s] for s in kept],
        rising,
    )
    if part is None:
        return None
    by_split = dict(zip(kept, part, strict=True))
    shared = [by_split[s] for s in owner]
    if responses:
        return _scatter(found, able, [p and p.take(places) for p in shared])
    return _scatter(found, able, [p if p is None else p[places] for p in shared])


def predict_constant(
    table: Table, train: IntArray, shape: tuple[int, ...], responses: Sequence[str]
) -> Any:
    """Predict where the target of a training set is constant, such as one class."""
    codes = constant_values(table, train, shape)
    return constant_outputs(codes, table, train, responses) if responses else codes


def _without_contrast(table: Table, splits: Sequence[Split]) -> NDArray[np.bool_]:
    """Return which training sets have a constant target, such as one class."""
    if table.kind == "classes":
        counts = class_counts(splits, table.y, table.n_classes)
        return np.asarray(np.count_nonzero(counts, axis=1) == 1)
    return np.array([table.target.is_constant(split.train) for split in splits])


def predict_loop(
    estimator: Any,
    table: Table,
    splits: Sequence[Split],
    orders: Orders = None,
    sizes: Sizes = None,
    responses: Sequence[str] = (),
) -> list[Any]:
    """Predict the test samples of many splits by a fit for each.

    For every split and size, a clone of the estimator is fitted on
    ``table.frame(train, np.sort(order[:size]))`` and predicts
    ``table.frame(test, np.sort(order[:size]))``. A training set with one class
    predicts that class. An estimator of this library that does not read sparse
    matrices is given dense ones. Equal subsets of a split are fitted once. An estimator
    on a precomputed kernel gets the columns of the training rows.

    Parameters
    ----------
    estimator, table, splits, orders, sizes, responses
        As in `predict_table`.

    Returns
    -------
    list of arrays of shape (n_sizes, n_test)
        Class codes, −1 for a predicted label that is not a class of the table; numbers
        or risks for other targets. `Outputs` in their place where there are
        `responses`.
    """
    sizes = _check_sizes(orders, sizes)
    known: dict[Any, Any] = {}
    result: list[Any] = []
    paired = orders is None and is_pairwise(estimator)
    for s, split in enumerate(splits):
        rows = []
        for columns in _subsets(None if orders is None else orders[s], sizes):
            columns = split.train if paired else columns
            key = (s, None if columns is None else columns.tobytes())
            if key not in known:
                known[key] = _fit_predict(estimator, table, split, columns, responses)
            rows.append(known[key])
        known.clear()
        stacked = join_outputs(rows, np.stack) if responses else np.array(rows)
        result.append(stacked)
    return result


def fill_by_loop(
    found: list[Any] | None,
    estimator: Any,
    table: Table,
    splits: Sequence[Split],
    orders: Orders = None,
    sizes: Sizes = None,
    responses: Sequence[str] = (),
) -> list[Any]:
    """Complete what `predict_table` returned by `predict_loop`."""
    if found is None:
        return predict_loop(estimator, table, splits, orders, sizes, responses)
    done = [codes for codes in found if codes is not None]
    if len(done) == len(found):
        return done
    left = [s for s, codes in enumerate(found) if codes is None]
    rest = predict_loop(
        estimator,
        table,
        [splits[s] for s in left],
        None if orders is None else [orders[s] for s in left],
        sizes,
        responses,
    )
    return [codes for codes in _scatter(found, left, rest) if codes is not None]


# -- parts ---------------------------------------------------------------------------


def _check_sizes(orders: Orders, sizes: Sizes) -> tuple[int, ...] | None:
    if orders is None:
        if sizes is not None:
            raise InputError(
                "sizes needs orders: a ranking of features for each split."
            )
        return None
    if sizes is None:
        return (max((len(order) for order in orders), default=1),)
    whole = all(isinstance(size, (int, np.integer)) and size > 0 for size in sizes)
    if not whole or not len(sizes):
        raise InputError(
            f"sizes={sizes!r} must be whole numbers of features, 1 or more."
        )
    return tuple(int(size) for size in sizes)


def _scatter(found: list[Any], places: Sequence[int], part: Iterable[Any]) -> list[Any]:
    for s, codes in zip(places, part, strict=True):
        found[s] = codes
    return found


def _of_all_rows(split: Split, n_rows: int) -> Split:
    """List the training rows of a split that has fewer rows than the table.

    A split that leaves out its test rows learns from the other rows of the split, not
    from the other rows of the table.
    """
    return Split(split.test, n_rows, split.train)


def _key(split: Split) -> tuple[bytes, bytes | None]:
    rows = None if split.leaves_out else np.asarray(split.train).tobytes()
    return np.asarray(split.test).tobytes(), rows


def _subsets(order: IntArray | None, sizes: Sizes) -> list[IntArray | None]:
    if order is None or sizes is None:
        return [None]
    return [np.sort(np.asarray(order[:size], dtype=np.intp)) for size in sizes]


def _fit_predict(
    estimator: Any,
    table: Table,
    split: Split,
    columns: IntArray | None,
    responses: Sequence[str] = (),
) -> Any:
    train, test = counted_rows(table, split.train), split.test
    if table.target.is_constant(train):
        return predict_constant(table, train, (len(test),), responses)
    rows, arguments = plan_fit(estimator, table, train)
    X = _frame(estimator, table, rows, columns)
    model = clone(estimator).fit(X, table.labels[rows], **arguments)
    asked = _frame(estimator, table, test, columns)
    if not responses:
        return predict_values(model, asked, table)
    return predict_responses(model, asked, table, train, responses)


def predict_responses(
    model: Any, X: Any, table: Table, train: IntArray, responses: Sequence[str]
) -> Outputs:
    """Predict by a model that was fitted on rows of a table, and ask for more."""
    found = predict_values(model, X, table)
    if "predict_survival_function" in responses:
        return Outputs(found, survival_at(model, X, times_of(table, train)))
    return respond(model, X, found, table, responses) if responses else Outputs(found)


def respond(
    model: Any, X: Any, codes: IntArray, table: Table, responses: Sequence[str]
) -> Outputs:
    """Ask a fitted model for probabilities or decision values of all classes."""
    places = table.as_classes.encode(model.classes_)
    proba = decision = None
    if "predict_proba" in responses:
        values = np.asarray(model.predict_proba(X), dtype=np.float64)
        proba = _for_all_classes(values, places, table.n_classes, 0.0)
    if "decision_function" in responses:
        values = np.asarray(model.decision_function(X), dtype=np.float64)
        if values.ndim == 1 and table.n_classes == 2:
            decision = values if places[1] == 1 else -values
        else:
            if values.ndim == 1:  # of two classes: for the second, against the first
                values = np.column_stack([-values, values])
            lowest = float(values.min()) - 1.0
            decision = _for_all_classes(values, places, table.n_classes, lowest)
    return Outputs(codes, proba, decision)


def _for_all_classes(
    values: FloatArray, places: IntArray, n_classes: int, fill: float
) -> FloatArray:
    """Put the columns of a model at the places of its classes."""
    if np.array_equal(places, np.arange(n_classes)):
        return values
    result = np.full((len(values), n_classes), fill)
    result[:, places] = values
    return result


def as_dense(X: Any) -> Any:
    """Return a sparse matrix as an array, and anything else as it is."""
    return X.toarray() if hasattr(X, "toarray") else X


def _frame(
    estimator: Any, table: Table, rows: IntArray, columns: IntArray | None
) -> Any:
    part = table.frame(rows, columns)
    return as_dense(part) if isinstance(estimator, PredictMany) else part


def _leave_one_out(
    estimator: Any, table: Table, splits: Sequence[Split]
) -> Predicted | None:
    """Call the estimator's own leave-one-out, if all splits leave one out."""
    n = len(table)
    if not isinstance(estimator, LeavesOneOut):
        return None
    for split in splits:
        if len(split.test) != 1 or split.n_train != n - 1:
            return None
        if not split.leaves_out and not np.array_equal(
            np.sort(split.train), np.delete(np.arange(n), split.test)
        ):
            return None
    labels = clone(estimator).leave_one_out_predictions(table.frame(), table.labels)
    values = np.asarray(labels)
    if table.kind == "classes":
        values = table.as_classes.encode(labels)
    return [values[split.test][np.newaxis] for split in splits]


# -- for estimators of this library --------------------------------------------------


class PredictMany:
    """Mixin for estimators with ``predict_many``."""

    def predict_many(
        self,
        X: Any,
        y: Any,
        splits: Iterable[Any],
        orders: Iterable[Any] | None = None,
        sizes: Iterable[int] | None = None,
    ) -> list[NDArray[Any]]:
        """Fit on many training sets and predict their test sets.

        The predictions are exactly those of a clone fitted on every training set and
        every subset of features, for less work. The estimator itself is not fitted.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            All samples.
        y : array-like of shape (n_samples,)
            The class labels.
        splits : iterable of (train, test)
            Row indices (repeats count) or boolean masks, as a scikit-learn splitter
            gives them.
        orders : iterable of int arrays, optional
            For every split a ranking of the features, best first, as ``rank_many`` of
            a selector gives it. All features are used by default.
        sizes : iterable of int, optional
            How many of the leading features to use; the whole ranking by default.

        Returns
        -------
        list of arrays
            Labels (numbers, or risks) of the test rows of every split: shape (n_test,)
            without `orders`, (n_sizes, n_test) with them.
        """
        kind = target_of(self) or "auto"
        table = read_table(X, y, kind=kind, name="X", encoded=False)
        parts = [read_split(split, len(table)) for split in splits]
        ranked = None if orders is None else [np.asarray(order) for order in orders]
        if ranked is not None and len(ranked) != len(parts):
            raise InputError(
                f"There are {len(ranked)} orders for {len(parts)} splits; pass one "
                "ranking per split."
            )
        wanted = None if sizes is None else tuple(sizes)
        _check_orders(ranked, wanted)
        found = predict_table(self, table, parts, ranked, wanted)
        codes = fill_by_loop(found, self, table, parts, ranked, wanted)
        has_classes = table.kind == "classes"
        labels = [table.classes[one] if has_classes else one for one in codes]
        return labels if ranked is not None else [one[0] for one in labels]


def _check_orders(orders: Orders, sizes: Sizes) -> None:
    chosen = _check_sizes(orders, sizes)
    shortest = min(map(len, orders or []), default=0)
    if sizes is not None and chosen is not None and max(chosen) > shortest:
        raise InputError(
            f"The largest size is {max(chosen)}, but an order has only {shortest} "
            "features; pass longer rankings, or smaller sizes."
        )
