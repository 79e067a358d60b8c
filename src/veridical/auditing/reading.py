"""What people pass to an audit, checked, and what it means."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.seeds import Purpose, as_generator, seed_for, seeded
from veridical._core.sklearn_private import is_search, take
from veridical._core.table import Table
from veridical._core.text import did_you_mean, listed, show
from veridical._core.validation import check_count
from veridical.auditing.association import LEVEL, chosen_by_labels
from veridical.auditing.choosing import agreement, find_stand_in
from veridical.auditing.procedures import Audited, make_audited
from veridical.comparison.comparing import feature_order
from veridical.evaluation.engine import Procedure, is_rowwise
from veridical.evaluation.reading import name_of, read_selector

#: Random orders of the labels; a search tunes anew on each, so it gets fewer.
ORDERS, ORDERS_OF_A_SEARCH, FEWEST_ORDERS = 100, 20, 19
#: So often must the first step of a pipeline pick the same columns, to be fixed.
_TRIALS = 6


def read_procedure(
    learner: Any, X: Any, data: Table, selected: Any, selector: Any, root: int
) -> tuple[Audited, dict[str, int]]:
    """Make out what is audited, and who may have chosen the columns."""
    if selected is None:
        if selector is not None:
            raise InputError(
                "selector= says what chose the columns in selected=, but there are "
                "none; pass them, or put the selector into a pipeline with the "
                "classifier."
            )
        picked = picked_columns(learner, X, data, seed_for(root, Purpose.ASSOCIATION))
        if picked is None:
            return make_audited(learner, data), {}
        columns, learner = picked
    else:
        columns = read_columns(selected, data)
    order = feature_order(root, data.n_features)
    if selector is None:
        chosen, overlap = find_stand_in(data, columns, order)
    else:
        chosen = seeded(read_selector(selector), root)
        overlap = {name_of(selector): agreement(chosen, data, columns, order)}
    procedure = Procedure(learner, chosen, (int(columns.size),))
    return Audited(data, learner, procedure, data, columns, order), overlap


def _picked_alike(step: Any, X: Any, data: Table, seed: int) -> FloatArray | None:
    """Transform the table; None where it matters what the step is fitted on.

    Random labels and half of the rows must make no difference to a choice that is
    fixed. A selector that looks at either would have to be lucky every time.
    """
    rng = as_generator(seed)
    half = max(2, data.n_samples // 2)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            first = clone(step).fit(X, data.labels).transform(X)
            first = np.asarray(first, dtype=np.float64)
            for _ in range(_TRIALS):
                rows = rng.permutation(data.n_samples)[:half]
                labels = rng.permutation(data.labels)[:half]
                fitted = clone(step).fit(take(X, rows), labels)
                again = np.asarray(fitted.transform(X), dtype=np.float64)
                if not np.array_equal(first, again, equal_nan=True):
                    return None
    except (AttributeError, TypeError, ValueError):
        return None
    return first if first.ndim == 2 else None


def picked_columns(
    estimator: Any, X: Any, data: Table, seed: int
) -> tuple[IntArray, Any] | None:
    """Find columns that the first step of a pipeline picks whatever it is fitted on.

    A selector that was fitted beforehand and frozen, or a transformer that takes
    columns by their numbers, is a choice made before the folds.

    Returns
    -------
    tuple or None
        The columns and the rest of the pipeline; None where the first step learns
        anything, changes values, keeps everything, or picks columns that do not look
        chosen by the labels.
    """
    if type(estimator) is not Pipeline or len(estimator.steps) < 2:
        return None
    first = estimator.steps[0][1]
    if is_rowwise(first) or sparse.issparse(X) or data.categorical.any():
        return None
    if hasattr(first, "fit_table"):  # a selector of ours learns whatever it is given
        return None
    one = _picked_alike(first, X, data, seed)
    if one is None or not one.size:
        return None
    where = {column.tobytes(): j for j, column in enumerate(data.values.T.copy())}
    found = [where.get(column.tobytes(), -1) for column in one.T.copy()]
    columns = np.unique(np.array(found, dtype=np.intp))
    if columns[0] < 0 or not columns.size == len(found) < data.n_features:
        return None
    if chosen_by_labels(data, columns, seed) > LEVEL:
        return None
    rest = estimator.steps[1:]
    return columns, Pipeline(rest) if len(rest) > 1 else rest[0][1]


def read_columns(selected: Any, data: Table) -> IntArray:
    """Turn names, indices or a mask into column numbers.

    Parameters
    ----------
    selected : list of str or int, or bool mask
        As the user gave them.
    data : Table
        The table that they are columns of.
    """
    if isinstance(selected, (str, bytes)) or not hasattr(selected, "__iter__"):
        raise InputError(
            f"selected={selected!r} must be a list of column names or numbers."
        )
    items = list(selected)
    if len(items) == data.n_features and all(
        isinstance(item, (bool, np.bool_)) for item in items
    ):
        columns = np.flatnonzero(items)
    else:
        columns = np.array([_column(item, data) for item in items], dtype=np.intp)
    if not columns.size:
        raise InputError("selected holds no column; name at least one.")
    if np.unique(columns).size < columns.size:
        twice = int(columns[np.bincount(columns)[columns] > 1][0])
        raise InputError(
            f"selected names column {show(data.feature_names[twice])} more than once; "
            "name each once."
        )
    if columns.size == data.n_features:
        raise InputError(
            f"selected holds all {data.n_features} columns, so nothing was selected; "
            "leave it out, or pass X with all columns there were to choose from."
        )
    return np.sort(columns)


def _column(item: Any, data: Table) -> int:
    if isinstance(item, str):
        names = data.feature_names
        places = [j for j, name in enumerate(names) if name == item]
        if len(places) == 1:
            return places[0]
        if places:
            raise InputError(
                f"selected names {show(item)}, but {len(places)} columns are called "
                "that; give column numbers instead, counted from 0."
            )
        raise InputError(
            f"selected names {show(item)}, which is no column of X"
            f"{did_you_mean(item, names)} The columns are {listed(names)}."
        )
    if isinstance(item, Integral) and not isinstance(item, (bool, np.bool_)):
        if 0 <= int(item) < data.n_features:
            return int(item)
        raise InputError(
            f"selected names column {int(item)}, but X has {data.n_features} columns, "
            f"0 to {data.n_features - 1}."
        )
    raise InputError(
        f"selected holds {show(item)}, which is neither the name nor the number of a "
        "column."
    )


def how_many_orders(n_permutations: Any, learner: Any) -> int:
    """Decide on the number of random orders of the labels."""
    if n_permutations is None:
        return ORDERS_OF_A_SEARCH if is_search(learner) else ORDERS
    check_count("n_permutations", n_permutations, FEWEST_ORDERS)
    return int(n_permutations)
