"""Fit any estimator on rows of a table, with sample weights and groups.

A sample of weight 3 counts as three equal samples. An estimator whose ``fit`` takes
``sample_weight`` gets the weights, in a pipeline every step gets them. Where a step
does not take them, and the weights are whole numbers, the samples are repeated instead,
which is the same by definition; otherwise there is an error that names the step.

Groups are passed to estimators that divide their training samples themselves, such as
``GridSearchCV(cv=GroupKFold())``. Where scikit-learn's metadata routing is enabled, the
requests of a pipeline, a search, or an estimator that has any, decide.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn import config_context, get_config
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import MetadataRequest
from sklearn.utils.validation import has_fit_parameter

from veridical._core.arrays import IntArray
from veridical._core.errors import InputError
from veridical._core.sklearn_private import take
from veridical._core.splits import takes_groups
from veridical._core.table import Table

#: Rows after repeating; with more an error is raised.
_MOST_ROWS = 10_000_000


class Fit(NamedTuple):
    """Rows to fit on, repeats counted, and further arguments of ``fit``."""

    rows: IntArray
    arguments: dict[str, Any]


def counted_rows(table: Table, rows: IntArray) -> IntArray:
    """Return the rows that count: all but those of weight 0."""
    return rows if table.weights is None else rows[table.weights[rows] > 0]


def plan_fit(estimator: Any, table: Table, rows: IntArray) -> Fit:
    """Decide how weights and groups are passed to an estimator.

    Parameters
    ----------
    estimator : estimator
        Not fitted.
    table : Table
        The samples.
    rows : int array
        Training rows.

    Raises
    ------
    InputError
        If the estimator takes no weights, and they are no whole numbers.
    """
    rows = counted_rows(table, rows)
    if table.weights is None and table.groups is None:
        return Fit(rows, {})
    if get_config()["enable_metadata_routing"] and _decides(estimator):
        return _by_routing(estimator, table, rows)
    arguments: dict[str, Any] = {}
    if table.weights is not None:
        names, without = _weight_parameters(estimator)
        if without:
            rows = repeat_rows(table, rows, without)
        else:
            arguments = dict.fromkeys(names, table.weights[rows])
    if table.groups is not None:
        for name in _group_parameters(estimator):
            arguments[name] = table.groups[rows]
    return Fit(rows, arguments)


def fit_rows(
    estimator: Any, table: Table, rows: IntArray, columns: IntArray | None = None
) -> Any:
    """Fit a clone of an estimator on rows of a table."""
    rows, arguments = plan_fit(estimator, table, rows)
    return clone(estimator).fit(
        table.frame(rows, columns), table.labels[rows], **arguments
    )


def fit_own(pipeline: Any, table: Table) -> Any:
    """Fit a clone of a pipeline that ends with an estimator of the user.

    The steps before it get weights and groups as they would alone, whatever routing
    says; the estimator gets what it requests.
    """
    rows = np.arange(table.n_samples)
    name, learner = pipeline.steps[-1]
    requests = get_config()["enable_metadata_routing"] and _decides(learner)
    with config_context(enable_metadata_routing=False):
        if not requests:
            return fit_rows(pipeline, table, rows)
        X, before = table.frame(rows), []
        if len(pipeline) > 1:
            first = fit_rows(pipeline[:-1], table, rows)
            X, before = first.transform(X), first.steps
    rows, arguments = plan_fit(learner, table, rows)
    fitted = clone(learner).fit(take(X, rows), table.labels[rows], **arguments)
    return Pipeline([*before, (name, fitted)])


def _decides(estimator: Any) -> bool:
    """Return whether an estimator passes metadata on, or says what it requests.

    One that does neither gets the weights, as in a call of its ``fit``.
    """
    routing = getattr(estimator, "get_metadata_routing", None)
    if routing is None:
        return False
    found = routing()
    return not isinstance(found, MetadataRequest) or any(
        asked is not None for asked in found.fit.requests.values()
    )


def _by_routing(estimator: Any, table: Table, rows: IntArray) -> Fit:
    """Pass what the estimator requests, and no more."""
    there = {"sample_weight": table.weights, "groups": table.groups}
    given = {name: of[rows] for name, of in there.items() if of is not None}
    routing = estimator.get_metadata_routing()
    consumed: Any = routing.consumes("fit", list(given))
    if "sample_weight" in given and "sample_weight" not in consumed:
        raise InputError(
            f"{_name(estimator)} does not request sample_weight; call "
            "set_fit_request(sample_weight=True) of the steps that take it."
        )
    return Fit(rows, {name: of for name, of in given.items() if name in consumed})


def repeat_rows(table: Table, rows: IntArray, without: str) -> IntArray:
    """Repeat rows by their weights, for what takes none; `without` is its name."""
    assert table.weights is not None
    weights = table.weights[rows]
    whole = np.array_equal(weights, np.rint(weights))
    if whole and weights.sum() <= _MOST_ROWS:
        return np.repeat(rows, weights.astype(np.intp))
    why = "is not a whole number" if not whole else "makes too many samples if repeated"
    shown = weights[weights != np.rint(weights)][0] if not whole else weights.max()
    raise InputError(
        f"{without} takes no sample_weight in fit, and the weight {shown:g} {why}; use "
        "an estimator and steps that take weights, whole numbers as weights, or no "
        "weights."
    )


def _steps(estimator: Any) -> list[tuple[str, Any]]:
    """Return the steps that learn, with the prefix of their parameters."""
    if not isinstance(estimator, Pipeline):
        return [("", estimator)]
    return [
        (f"{name}__", step)
        for name, step in estimator.steps
        if step is not None and not isinstance(step, str)
    ]


def _weight_parameters(estimator: Any) -> tuple[list[str], str]:
    """Return the parameters of ``fit`` for weights, and a step that has none."""
    names = []
    for prefix, step in _steps(estimator):
        if not _takes_weights(step):
            return [], _name(step)
        names.append(f"{prefix}sample_weight")
    return names, ""


def _name(estimator: Any) -> str:
    # Imported here, because the registered estimators are fitted by this module.
    from veridical.learning.registry import estimator_name

    return estimator_name(estimator)


def _takes_weights(step: Any) -> bool:
    inner = getattr(step, "estimator", None)
    if hasattr(step, "cv") and inner is not None:  # a search passes them on
        return not isinstance(inner, Pipeline) and has_fit_parameter(
            inner, "sample_weight"
        )
    return bool(has_fit_parameter(step, "sample_weight"))


def _group_parameters(estimator: Any) -> list[str]:
    """Return the parameters of ``fit`` for groups, of searches with such a splitter."""
    return [
        f"{prefix}groups"
        for prefix, step in _steps(estimator)
        if hasattr(getattr(step, "cv", None), "split") and takes_groups(step.cv)
    ]
