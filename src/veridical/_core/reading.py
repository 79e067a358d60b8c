"""Convert what users pass to arrays and tables: all checks of data, and messages.

`read_table` makes the `Table` that the verbs work on. Estimators read what is given to
``fit`` and ``predict`` by `read_samples` (numbers and categories) or `read_numeric`
(numbers alone), and labels by `read_labels`. For input that
an estimator cannot use, messages name the place and what to do.

scikit-learn converts a data frame to an array first and raises afterwards, when the
name of the column is no longer known; dates may even be read as numbers. So columns are
checked before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from veridical._core.advice import for_users
from veridical._core.arrays import BoolArray, FloatArray, IntArray
from veridical._core.devices import to_host
from veridical._core.encoding import (
    Features,
    encode,
    object_if_text,
    read_numbers,
    refuse_lazy,
    refuse_repeated_names,
)
from veridical._core.errors import InputError
from veridical._core.groups import read_groups, take_named
from veridical._core.lazy import is_lazy
from veridical._core.lazy_readers import annotated_matrix, as_lazy, is_annotated
from veridical._core.sklearn_private import take
from veridical._core.table import Table
from veridical._core.targets import Classes, Kind, Numbers, Survival, Target
from veridical._core.text import is_number, listed, plural, quote, write_rows
from veridical._core.weights import read_target_weights, read_weights

#: Sparse formats whose rows and columns can be indexed.
_INDEXABLE = ("csr", "csc")
#: More different whole numbers than this are not classes if many of them are rare: this
#: share of them or more in fewer samples than that.
MAX_CLASSES, _RARE_SHARE, _RARE_BELOW = 20, 0.1, 3
#: Labels that are whole numbers below it are counted, others are sorted.
_MAX_COUNTED = 1 << 12

_NUMBERS_ADVICE = "encode it as numbers (OneHotEncoder, say), or leave the column out."

# -- tables --------------------------------------------------------------------------


def read_table(
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    sample_weight: Any = None,
    kind: Kind | Literal["auto"] = "auto",
    categorical_features: Any = "from_dtype",
    name: str | None = None,
    encoded: bool = True,
    blocks: bool = False,
    layer: str | None = None,
) -> Table:
    """Read features and target; raise if nothing can be learned from them.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        numpy, pandas, polars, pyarrow, scipy, or a list of rows. A `Table` that has
        been read already is returned as it is; y is its labels then.
    y : array-like of shape (n_samples,), structured array or data frame
        Class labels (numbers or text), numbers, or events and times; see `read_target`.
    groups : array-like, str or list of str, optional
        The group of every sample, or columns of X with it; see `read_groups`.
    sample_weight : array-like of shape (n_samples,), str or number, optional
        Weights of the samples, or the column of X with them.
    kind : {"auto", "classes", "numbers", "survival"}, default="auto"
        Kind of the target; "auto" decides by the values of y.
    categorical_features : optional
        Which features are categorical, as in :func:`encode`.
    name : str, optional
        Name of the table in messages and records.
    encoded : bool, default=True
        Whether to encode and check the features now. Otherwise that is done when they
        are first used; estimators of other packages may accept more.
    blocks : bool, default=False
        Whether features that are not in memory, and do not fit into their limit, may
        stay so; otherwise they are refused.
    layer : str, optional
        Of AnnData, the layer to use instead of X; y, groups and weights may be names
        of columns of its obs.

    Returns
    -------
    Table
        The table.

    Raises
    ------
    InputError
        If X is None or a path, X and y differ in length, a label is missing, there is
        nothing to learn in the target (see `read_target`), a feature has no value at
        all, or a value is infinite.

    Examples
    --------
    >>> read_table([[1.0], [2.0]], ["a", "a"], name="toy.csv")
    Traceback (most recent call last):
        ...
    veridical.InputError: toy.csv has only one class, 'a', ...
    """
    if isinstance(X, Table):
        read = X if name is None else X.replace(name=name)
        return _with_structure(read, groups, sample_weight)
    shown = "X" if name is None else name
    _refuse_no_table(X)
    if layer is not None:
        if not is_annotated(X):
            raise InputError(f"layer={layer!r} is for AnnData; leave it out.")
        X = annotated_matrix(X, layer)
    X = as_lazy(X)
    y, groups, sample_weight = map(to_host, (y, groups, sample_weight))
    refuse_lazy(X, shown)
    if is_lazy(X) and X.side_columns and isinstance(y, str):
        y, _ = take_named(X, y, "y")
    X = _as_array(X)
    groups, X = take_named(X, groups, "groups")
    sample_weight, X = take_named(X, sample_weight, "sample_weight")
    target = read_target(y, _n_samples(X), shown, kind=kind)
    features = None
    if is_lazy(X):
        features = encode(X, categorical_features, name=shown)
        features = features if blocks else features.load()
        if not features.is_lazy:
            _check_features(features, shown)
        table = Table(features, target, name=shown)
        return _with_structure(table, groups, sample_weight)
    if encoded:
        features = encode(X, categorical_features, name=shown)
        _check_features(features, shown)
    elif not len(target):
        raise InputError(f"{shown} holds no samples; is it the right table?")
    # Not every sparse format can be indexed by rows; scikit-learn does the same.
    source = X.tocsr() if sparse.issparse(X) and X.format not in _INDEXABLE else X
    table = Table(features, target, source=source, name=shown)
    return _with_structure(table, groups, sample_weight)


def _with_structure(table: Table, groups: Any, sample_weight: Any) -> Table:
    """Add groups and weights to a table, where they are given."""
    changes: dict[str, Any] = {}
    if groups is not None:
        found = read_groups(groups, table.n_samples)
        changes = {"groups": None, "subgroups": None, "group_names": None}
        if found is not None:
            changes = {
                "groups": found.codes,
                "subgroups": found.inner,
                "group_names": found.names,
            }
    if sample_weight is not None:
        changes["weights"] = read_target_weights(sample_weight, table.target)
    return table.replace(**changes) if changes else table


def check_features(
    X: Any, name: str = "X", *, categorical_features: Any = "from_dtype"
) -> None:
    """Raise if nothing can be learned from some features; see `read_table`."""
    _check_features(encode(X, categorical_features, name=name), name)


def _refuse_no_table(X: Any) -> None:
    if X is None:
        raise InputError(
            "X is None; pass the features, an array or a data frame with one row per "
            "sample."
        )
    if isinstance(X, (str, Path)):
        raise InputError(
            f"X is {str(X)!r}, which is text or a path, not a table; read the file "
            "first: X, y = veridical.datasets.read(path, target)."
        )


def _n_samples(X: Any) -> int:
    return int(X.shape[0] if hasattr(X, "shape") else len(X))


def _as_array(X: Any) -> Any:
    """Convert a list of rows to an array, whose columns can be taken."""
    if hasattr(X, "shape"):
        return X
    try:
        array = np.asarray(X)
    except ValueError:  # rows that differ in length: `encode` raises
        return X
    return array if array.ndim == 2 else X


def check_labels(labels: NDArray[Any], n_samples: int, name: str) -> None:
    """Raise if labels are not classes: missing, continuous, or all the same."""
    _check_shape(labels, n_samples, name)
    refuse_missing_labels(labels, name)
    _refuse_continuous(labels, f"The labels of {name}")
    classes = pd.unique(labels)
    if len(classes) == 1:
        raise InputError(
            f"{name} has only one class, {quote(classes[0])}, in all {len(labels)} "
            "rows; at least two classes are needed. Is it the right target?"
        )


def _check_features(features: Features, name: str) -> None:
    values = features.values
    if sparse.issparse(values):
        refuse_missing_or_infinite(values, features.names, "A sparse matrix", name)
        return
    # Only a feature that is missing in the first row can be missing in all.
    empty = np.flatnonzero(np.isnan(values[0]))
    empty = empty[np.isnan(values[:, empty]).all(axis=0)]
    names = features.names
    refuse_empty([j if names is None else names[j] for j in empty.tolist()], name)


def refuse_empty(columns: Sequence[Any], name: str) -> None:
    """Raise if there are columns without any value."""
    if columns:
        raise InputError(
            f"{name} has no value at all in {plural('column', columns)} "
            f"{listed(columns)}; remove {'it' if len(columns) == 1 else 'them'}."
        )


# -- targets -------------------------------------------------------------------------


def read_target(
    y: Any, n_samples: int, name: str = "X", *, kind: Kind | Literal["auto"] = "auto"
) -> Target:
    """Read a target of classes, numbers or survival times.

    Parameters
    ----------
    y : array-like of shape (n_samples,), structured array or data frame
        Class labels or numbers; for survival a structured array with a field of
        booleans (whether the event was seen) and one of numbers (the time), as
        scikit-survival takes it, or an array or data frame with two such columns.
    n_samples : int
        Number of rows of X.
    name : str, default="X"
        Name of the table in messages.
    kind : {"auto", "classes", "numbers", "survival"}, default="auto"
        Kind of the target. "auto" is survival if y has two columns; numbers if y holds
        a number that is not whole, or whole numbers stored as floats that measure
        something: more than 20 different ones, a tenth of them or more in one or two
        samples; else classes. Whole numbers stored as integers that seem to measure
        something are refused, because either could be meant.

    Returns
    -------
    Classes, Numbers or Survival
        The target.

    Raises
    ------
    InputError
        If y is not as long as X, a value is missing or infinite, a time is not
        positive, or there is nothing to learn: one class, one number, no event.

    Examples
    --------
    >>> read_target([1.5, 2.0], 2).kind, read_target(["a", "b"], 2).kind
    ('numbers', 'classes')
    >>> y = np.array([(True, 3.0), (False, 5.0)], dtype="?,f8")
    >>> read_target(y, 2).time
    array([3., 5.])
    >>> read_target(["low", "high"], 2, "pressure.csv", kind="numbers")
    Traceback (most recent call last):
        ...
    veridical.InputError: The target of pressure.csv must be numbers, ...
    """
    if kind == "survival" or (kind == "auto" and is_survival(y)):
        return _read_survival(y, n_samples, name)
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if kind == "auto" and are_numbers(labels):
        kind = "numbers"
    if kind == "numbers":
        return _read_numbers(labels, n_samples, name)
    check_labels(labels, n_samples, name)
    refuse_measurements(labels, f"The labels of {name}")
    return Classes.from_labels(labels)


def are_numbers(labels: NDArray[Any]) -> bool:
    """Return whether floats measure something rather than number classes."""
    if labels.dtype.kind != "f" or labels.ndim != 1 or np.isnan(labels).any():
        return False
    if (labels != np.round(labels)).any():
        return True  # one that is infinite is refused later, as a number
    return bool(np.isfinite(labels).all()) and bool(_count_rare(labels))


def _read_numbers(values: NDArray[Any], n_samples: int, name: str) -> Numbers:
    """Check a target of numbers."""
    _check_shape(values, n_samples, name)
    if values.dtype.kind not in "biuf":
        values = _as_numbers(values, name)
    refuse_missing_labels(values, name)
    numbers = values.astype(np.float64)
    infinite = np.flatnonzero(~np.isfinite(numbers))
    if infinite.size:
        raise InputError(
            f"The target of {name} is infinite in {write_rows(infinite)}, counted "
            "from 0; replace it by a finite number or remove the row."
        )
    if numbers.size and not np.ptp(numbers):
        raise InputError(
            f"The target of {name} is {quote(numbers[0])} in all {numbers.size} rows; "
            "there is nothing to learn from a constant target. Is it the right target?"
        )
    return Numbers(numbers)


def _as_numbers(values: NDArray[Any], name: str) -> NDArray[Any]:
    """Convert numbers that are stored as objects or text; raise for words."""
    found = pd.to_numeric(pd.Series(values), errors="coerce")
    words = np.flatnonzero(found.isna().to_numpy() & ~pd.isna(values))
    if words.size:
        word = values[int(words[0])]
        raise InputError(
            f"The target of {name} must be numbers, but row {int(words[0])}, counted "
            f"from 0, is {quote(word)}; choose a target of numbers for a regressor, or "
            "a classifier for a target of words."
        )
    return found.to_numpy(dtype=np.float64)


def check_outcome(y: Any, n_samples: int, name: str) -> None:
    """Raise if a column can be no target: missing or constant, and the like.

    Whether it holds classes or numbers is decided later.
    """
    labels = np.asarray(y)
    if labels.dtype.names:
        _read_survival(labels, n_samples, name)
    elif are_numbers(labels):
        _read_numbers(labels, n_samples, name)
    elif labels.dtype.kind in "iuf" and labels.ndim == 1 and not np.ptp(labels):
        _read_numbers(labels, n_samples, name)  # raises: it is constant, or missing
    else:
        check_labels(labels, n_samples, name)


def _check_shape(labels: NDArray[Any], n_samples: int, name: str) -> None:
    if labels.ndim != 1:
        raise InputError(
            f"The labels of {name} have {labels.ndim} dimensions; give a plain list, "
            "one label per row."
        )
    if n_samples != len(labels):
        raise InputError(
            f"{name} has {n_samples} rows but {len(labels)} labels; give one per row."
        )


#: Names of columns that hold whether the event was seen.
_EVENT_NAMES = ("event", "status", "death", "died", "dead", "cens", "censored")
#: Words for whether an event was seen.
_TRUTHS = {"true": "1", "yes": "1", "false": "0", "no": "0"}
_EVENT_CURE = (
    "recode it: 1 for the event that you study, 0 for every other end of an observation"
)


def _survival_cure() -> str:
    return for_users(
        "give a structured array or a frame with a field of True and False (whether "
        "the event was seen) and a field of numbers (the time), as scikit-survival's "
        "Surv.from_arrays(event, time) makes it.",
        "name its columns with --time and --event.",
    )


def is_survival(y: Any) -> bool:
    """Return whether y has two columns, an event and a time."""
    if getattr(getattr(y, "dtype", None), "names", None):
        return True
    if is_frame(y):
        return len(nw.from_native(y, eager_only=True).columns) == 2
    values = np.asarray(y) if not hasattr(y, "shape") else y
    return isinstance(values, np.ndarray) and values.ndim == 2 and values.shape[1] == 2


def _read_survival(y: Any, n_samples: int, name: str) -> Survival:
    """Check events and times; their order and their names do not matter."""
    columns = _survival_columns(y, name)
    (first, a), (second, b) = columns.items()
    is_event = [one.dtype.kind == "b" for one in (a, b)]
    if is_event[0] == is_event[1]:
        is_event = [_is_event(a), _is_event(b)]
    if is_event[0] == is_event[1]:  # the names have to decide
        is_event = [str(one).lower() in _EVENT_NAMES for one in (first, second)]
    if is_event[0] == is_event[1]:
        raise InputError(
            f"The target of {name} has two columns, {quote(first)} and {quote(second)}"
            f", of which one must be an event (True or False, or 1 and 0) and the "
            f"other a time; {_survival_cure()}"
        )
    event, time = (a, b) if is_event[0] else (b, a)
    if len(time) != n_samples:
        raise InputError(
            f"{name} has {n_samples} rows but {len(time)} times; give one per row."
        )
    return check_survival(time, event, name)


def read_events(
    values: Any, name: str, column: str = "", cure: str = _EVENT_CURE
) -> BoolArray:
    """Read whether events were seen.

    Parameters
    ----------
    values : array or Series of shape (n_samples,)
        True, 1 or "yes" where the event was seen, False, 0 or "no" where the time is
        censored.
    name : str
        Name of the table in messages.
    column : str, default=""
        The column in messages.
    cure : str, optional
        What to do about other values.

    Raises
    ------
    InputError
        If one is missing, or neither of these.

    Examples
    --------
    >>> read_events(np.array(["yes", "No"]), "toy.csv").tolist()
    [True, False]
    >>> read_events([1, 0, 2], "toy.csv")
    Traceback (most recent call last):
        ...
    veridical.InputError: The event of toy.csv must be 1 (the event was seen) ...
    """
    refuse_missing_labels(values, name, what="event")
    seen = _as_truths(values)
    odd = np.flatnonzero(np.isnan(seen))
    if odd.size:
        value = quote(np.asarray(values)[odd[0]])
        others = f" ({odd.size} such rows)" if odd.size > 1 else ""
        within = f" (column {quote(column)})" if column else ""
        raise InputError(
            f"The event of {name}{within} must be 1 (the event was seen) or 0 "
            "(censored), or true or false, or yes or no, but it is "
            f"{value} in row {odd[0]}, counted from 0{others}; {cure}."
        )
    found: BoolArray = seen.astype(np.bool_)
    return found


def _as_truths(values: Any) -> FloatArray:
    """Return 1 and 0 for what is true and false; NaN for all else."""
    column = pd.Series(np.asarray(values))
    if column.dtype.kind not in "biuf":
        column = column.astype(str).str.lower().replace(_TRUTHS)
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64)
    return np.where(np.isin(numbers, (0, 1)), numbers, np.nan)


def read_times(estimator: Any, y: Any, n_samples: int) -> Survival:
    """Read the survival times that an estimator is given.

    Parameters
    ----------
    estimator : estimator
        Named in messages.
    y : structured array of shape (n_samples,), data frame, or array-like
        Events and times, or times alone: then every event was seen.
    n_samples : int
        Number of rows of X.

    Examples
    --------
    >>> read_times(None, [3.0, 5.0], 2).event
    array([ True,  True])
    """
    if y is None:
        raise InputError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is "
            "None; pass events and times."
        )
    if not is_survival(y):
        times = np.asarray(y)
        if times.ndim == 2 and times.shape[1] == 1:
            times = column_or_1d(times, warn=True)
        _check_shape(times, n_samples, "X")
        return check_survival(times, np.ones(len(times), dtype=bool), "X")
    return _read_survival(y, n_samples, "X")


def check_survival(time: NDArray[Any], event: NDArray[Any], name: str) -> Survival:
    """Check times and events that are known to be these, and join them.

    Parameters
    ----------
    time : array of shape (n_samples,)
        Positive numbers.
    event : array of shape (n_samples,)
        Whether the event was seen, see `read_events`.
    name : str
        Name of the table in messages.

    Raises
    ------
    InputError
        If a time is missing, infinite or not positive, an event is missing or neither 0
        nor 1, or no event was seen.
    """
    seen = read_events(event, name)
    try:
        times = np.asarray(time, dtype=np.float64)
    except (TypeError, ValueError) as error:
        numbers = pd.to_numeric(pd.Series(np.ravel(time)), errors="coerce")
        row = int(np.argmax(numbers.isna()))
        raise InputError(
            f"The time of {name} must be numbers, but it is "
            f"{quote(np.ravel(time)[row])} in row {row}, counted from 0; correct it, "
            "or choose another column for the time."
        ) from error
    bad = np.flatnonzero(~(np.isfinite(times) & (times > 0)))
    if bad.size:
        value = "missing" if np.isnan(times[bad[0]]) else quote(times[bad[0]])
        others = "" if bad.size == 1 else f" (rows {listed(bad)})"
        raise InputError(
            f"The time of {name} must be positive, but it is {value} in row "
            f"{int(bad[0])}, counted from 0{others}; correct these times or remove the "
            "rows; where times are counted in whole units, add half a unit to 0."
        )
    if times.size and not seen.any():
        raise InputError(
            f"{name} has no event: all {times.size} times are censored, so nothing is "
            "known about how long it takes. Is the event coded 1 where it was seen?"
        )
    if times.size and Survival(times, seen).is_constant(slice(None)):
        raise InputError(
            f"All times of {name} are {quote(times[0])}, so no sample is known to have "
            "survived longer than another. Is it the right target?"
        )
    return Survival(times, seen)


def _is_event(values: NDArray[Any]) -> bool:
    return not np.isnan(_as_truths(values)).any()


def _survival_columns(y: Any, name: str) -> dict[Any, NDArray[Any]]:
    """Return the two columns of a target of survival."""
    if is_frame(y):
        frame = nw.from_native(y, eager_only=True)
        found: dict[Any, NDArray[Any]] = {
            one: frame[one].to_numpy() for one in frame.columns
        }
    else:
        values = np.asarray(y)
        if values.dtype.names:
            found = {one: values[one] for one in values.dtype.names}
        elif values.ndim == 2:
            found = dict(enumerate(values.T))
        else:
            found = {}
    if len(found) != 2:
        has = f"{len(found)} columns" if found else "one column"
        raise InputError(
            f"A survival target needs an event and a time, but the target of {name} "
            f"has {has}; {_survival_cure()}"
        )
    return found


# -- labels --------------------------------------------------------------------------


def read_labels(estimator: Any, y: Any, n_samples: int) -> NDArray[Any]:
    """Check the class labels given to ``fit``.

    Parameters
    ----------
    estimator : estimator
        The estimator; messages name it.
    y : array-like of shape (n_samples,)
        The labels as the user gave them.
    n_samples : int
        Number of rows of X.

    Returns
    -------
    array of shape (n_samples,)
        The labels, none missing.

    Raises
    ------
    InputError
        If there are no labels or not one per row, one is missing, or they are
        continuous.
    """
    if y is None:
        raise InputError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is "
            "None; pass the class labels."
        )
    plain = isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "biuUS"
    labels: NDArray[Any] = y if plain else column_or_1d(y, warn=True)
    if len(labels) != n_samples:
        raise InputError(
            f"X has {n_samples} rows but y has {len(labels)}; give one label per row."
        )
    if not plain:  # whole numbers and text are classes; others are checked
        refuse_missing_labels(labels)
        _refuse_continuous(labels, "Unknown label type: continuous. The labels in y")
        if not (labels.dtype.kind == "f" and np.isfinite(labels).all()):
            check_classification_targets(labels)  # finite whole numbers are classes
    return labels


def refuse_missing_labels(
    labels: Any,
    name: str | None = None,
    where: Callable[[int], str] | None = None,
    what: str = "target",
) -> None:
    """Raise if labels are missing; the message gives the rows.

    Parameters
    ----------
    labels : array or Series
        The labels.
    name : str, optional
        Name of the table in messages; without it the labels are called y.
    where : callable, optional
        Returns the place of row i in a file.
    what : str, default="target"
        What the labels are, in messages.
    """
    missing = np.flatnonzero(pd.isna(labels))
    if not missing.size:
        return
    if where is not None:
        places = ", ".join(where(int(i)) for i in missing[:5])
        more = f" and {missing.size - 5} more" if missing.size > 5 else ""
        raise InputError(
            f"The {what} is missing in {places}{more} ({name}); fill it in or remove "
            "the row."
        )
    rows = write_rows(missing)
    if name is None:
        raise InputError(
            f"y has no label in {rows} (NaN or None); drop or label the rows without a "
            "class."
        )
    raise InputError(
        f"The {what} is missing in {rows} of {name}, counted from 0; fill it in or "
        "remove these rows."
    )


def _refuse_continuous(labels: NDArray[Any], subject: str) -> None:
    """Raise if labels are numbers with a fractional part."""
    if labels.dtype.kind == "f":
        fractions = labels[labels != np.round(labels)]
        if fractions.size:
            raise InputError(
                f"{subject} must be classes, but {quote(fractions[0])} is not a whole "
                "number; use another target, divide the numbers into classes first, or "
                "predict the numbers with a regressor."
            )


def refuse_measurements(labels: NDArray[Any], subject: str) -> None:
    """Raise if labels are whole numbers that measure something, such as days.

    Codes of classes are few, or each of them has several samples. Times, counts and
    ages have many values, of which the largest occur once or twice.

    Parameters
    ----------
    labels : array of shape (n_samples,)
        The labels, none missing.
    subject : str
        What the message calls them, at the beginning of a sentence.

    Examples
    --------
    >>> refuse_measurements(np.arange(42) // 2, "The labels of days.csv")
    Traceback (most recent call last):
        ...
    veridical.InputError: The labels of days.csv are 21 different ...
    >>> refuse_measurements(np.arange(400) // 10, "40 classes of 10 samples")
    """
    if labels.dtype.kind not in "iuf" and pd.api.types.infer_dtype(labels) != "integer":
        return
    n_rare = _count_rare(labels)
    if not n_rare:
        return
    as_numbers = for_users("use a regressor and pass y.astype(float)", "add --numbers")
    cure = for_users("pass them as text, y.astype(str)", "add --classes to the command")
    raise InputError(
        f"{subject} are {len(pd.unique(labels))} different whole numbers, {n_rare} of "
        "them in one or two samples only: these are measurements, not classes. To "
        f"predict the number, {as_numbers}; or divide them into a few classes, such as "
        f"below and above a limit; if every number really is a class, {cure}."
    )


def refuse_words_among_numbers(labels: NDArray[Any], subject: str) -> None:
    """Raise if labels are measurements beside a few words, such as "not done".

    Parameters
    ----------
    labels : array of shape (n_samples,)
        The labels as text, none missing.
    subject : str
        What the message calls them, at the beginning of a sentence.

    Examples
    --------
    >>> measured = np.array([f"{i / 4}" for i in range(40)] + ["lost"])
    >>> refuse_words_among_numbers(measured, "The values of 'dose'")
    Traceback (most recent call last):
        ...
    veridical.InputError: The values of 'dose' are numbers, but that in row 40, ...
    >>> refuse_words_among_numbers(np.repeat(measured, 5), "Classes of 5 samples")
    """
    if labels.dtype.kind not in "OUS" or not _count_rare(labels):
        return
    different = pd.unique(labels)
    words = [value for value in different if not is_number(value)]
    if not 0 < len(words) <= _RARE_SHARE * len(different):
        return
    rows = np.flatnonzero(np.isin(labels, words))
    more = f" (and {rows.size - 1} more such rows)" if rows.size > 1 else ""
    raise InputError(
        f"{subject} are numbers, but that in row {rows[0]}, counted from 0, is "
        f"{quote(labels[rows[0]])}{more}; correct it or remove the row, or add "
        "--classes to the command if every value is a class."
    )


def _count_rare(labels: NDArray[Any]) -> int:
    """Count the values in one or two samples; 0 if they may be classes."""
    counts = pd.Series(labels).value_counts()
    n_rare = int((counts < _RARE_BELOW).sum())
    if len(counts) <= MAX_CLASSES or n_rare < _RARE_SHARE * len(counts):
        return 0
    return n_rare


def refuse_one_class(classes: NDArray[Any], reader: str) -> None:
    """Raise if all labels belong to one class."""
    if len(classes) < 2:
        held = quote(classes[0]) if len(classes) else "none"
        raise InputError(
            f"y holds one class only ({held}); {reader} needs at least two classes to "
            "tell apart."
        )


def number_classes(y: NDArray[Any]) -> tuple[NDArray[Any], IntArray]:
    """Sort the classes, and number every label by its place among them.

    Small whole numbers are counted, which is several times as fast as sorting.

    Examples
    --------
    >>> classes, codes = number_classes(np.array([7, 3, 7]))
    >>> classes.tolist(), codes.tolist()
    ([3, 7], [1, 0, 1])
    """
    if y.dtype.kind == "i" and y.size and y.min() >= 0 and y.max() < _MAX_COUNTED:
        present = np.bincount(y) > 0
        if present.all():
            return np.arange(present.size, dtype=y.dtype), y.astype(np.intp)
        return np.flatnonzero(present).astype(y.dtype), (np.cumsum(present) - 1)[y]
    classes, codes = np.unique(y, return_inverse=True)
    return classes, codes.astype(np.intp)


# -- numbers and categories ----------------------------------------------------------


def is_frame(X: Any) -> bool:
    """Return whether X is a data frame of any library."""
    if isinstance(X, np.ndarray) or sparse.issparse(X) or is_lazy(X):
        return False
    return bool(nw.dependencies.is_into_dataframe(X))


def names_categorical(chosen: Any) -> bool:
    """Return whether ``categorical_features`` names features."""
    return chosen is not None and not isinstance(chosen, str)


def read_samples(
    estimator: Any,
    X: Any,
    *,
    reset: bool,
    categorical: bool,
    accept_sparse: bool = False,
    min_samples: int = 1,
) -> Any:
    """Check names and shape; data frames and categorical features are not converted.

    Parameters
    ----------
    estimator : estimator
        It stores, or must match, the number and the names of the features.
    X : array-like, sparse matrix or data frame
        What was given.
    reset : bool
        Whether the estimator stores these, rather than that X must match the stored.
    categorical : bool
        Whether features of an array were named as categorical; then text is accepted.
    accept_sparse : bool, default=False
        Whether sparse matrices are accepted.
    min_samples : int, default=1
        Least number of samples of an array.

    Returns
    -------
    array, sparse matrix or data frame
        The features, ready for `encode`.
    """
    refuse_lazy(X)
    if is_lazy(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        if reset and X.names is not None:
            estimator.feature_names_in_ = np.array(X.names, dtype=object)
        return X
    if is_frame(X):
        refuse_repeated_names(X)
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return X
    plain = type(X) is np.ndarray and X.dtype.kind in "fiub" and X.ndim == 2
    if plain and X.size and len(X) >= min_samples:  # nothing to convert or to check
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return X
    X = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse=["csc", "csr"] if accept_sparse else False,
        dtype=None,
        ensure_all_finite=False,
        ensure_min_samples=min_samples,
    )
    if isinstance(X, np.ndarray) and X.dtype == object and not categorical:
        # Values that are neither numbers nor text raise a TypeError here; for text,
        # `encode` has a message that names the column.
        with suppress(ValueError):
            X = np.where(pd.isna(X), np.nan, X).astype(np.float64)
    return X


def read_training(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    chosen: Any,
    *,
    reset: bool = True,
) -> tuple[Any, NDArray[Any], FloatArray]:
    """Check samples, labels and weights; samples of weight 0 are left out.

    Parameters
    ----------
    estimator : classifier
        It stores the number and the names of the features.
    X, y, sample_weight : array-like
        What was given to ``fit``.
    chosen : "from_dtype", None, bool mask, integer indices or names
        Which features are categorical.
    reset : bool, default=True
        Whether this is the first batch, rather than one that must match the first.

    Returns
    -------
    X : array or data frame
        The features, ready for `encode`.
    y : array of shape (n_samples,)
        The labels.
    weights : array of shape (n_samples,)
        All positive.
    """
    X = read_samples(estimator, X, reset=reset, categorical=names_categorical(chosen))
    y = read_labels(estimator, y, _n_samples(X))
    if sample_weight is None:
        return X, y, np.ones(len(y))
    weights = read_weights(sample_weight, len(y))
    if not weights.all():  # a sample of weight 0 has no effect
        kept = np.flatnonzero(weights)
        X, y, weights = take(X, kept), y[kept], weights[kept]
    return X, y, weights


# -- numbers alone -------------------------------------------------------------------


def read_numeric(
    estimator: Any,
    X: Any,
    *,
    reset: bool = True,
    accept_sparse: bool = False,
    min_samples: int = 1,
) -> Any:
    """Read a table of numbers, none missing.

    Parameters
    ----------
    estimator : estimator
        It stores, or must match, the number and the names of the features.
    X : array-like, sparse matrix or data frame
        What was given.
    reset : bool, default=True
        Whether the estimator stores these, rather than that X must match the stored.
    accept_sparse : bool, default=False
        Whether sparse matrices are accepted; they stay sparse, in CSR form.
    min_samples : int, default=1
        Least number of samples.

    Returns
    -------
    array or CSR matrix of shape (n_samples, n_features)
        float64.

    Raises
    ------
    InputError
        For text, dates, repeated names, missing or infinite values; it names the
        column.
    """
    refuse_other_than_numbers(X, "X")
    values = validate_data(
        estimator,
        X,
        reset=reset,
        dtype=np.float64,
        accept_sparse="csr" if accept_sparse else False,
        ensure_min_samples=min_samples,
        ensure_all_finite=False,
    )
    names = getattr(estimator, "feature_names_in_", None)
    refuse_missing_or_infinite(values, names, type(estimator).__name__)
    return values


def read_numeric_training(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    accept_sparse: bool = False,
    min_samples: int = 1,
) -> tuple[Any, NDArray[Any]]:
    """Read a table of numbers and the labels of its rows."""
    values = read_numeric(
        estimator, X, accept_sparse=accept_sparse, min_samples=min_samples
    )
    return values, read_labels(estimator, y, values.shape[0])


def read_second_numeric(estimator: Any, X: Any, y: NDArray[Any], name: str) -> Any:
    """Read a second table of the same samples, sparse ones too."""
    values = read_part(estimator, X, None, name)
    if values.shape[0] != len(y):
        raise InputError(
            f"{name} has {values.shape[0]} rows, but X and y have {len(y)}: found "
            "input variables with inconsistent numbers of samples. Give one row per "
            "sample."
        )
    return values


def read_part(estimator: Any, X: Any, names: Any, name: str = "X") -> Any:
    """Read numeric features; `names` are those of an array, for messages."""
    refuse_other_than_numbers(X, name, names)
    if is_frame(X):
        names = nw.from_native(X, eager_only=True).columns
    values = check_array(
        X,
        accept_sparse="csr",
        dtype=np.float64,
        input_name=name,
        ensure_all_finite=False,
    )
    refuse_missing_or_infinite(values, names, type(estimator).__name__, name)
    return values


def refuse_other_than_numbers(X: Any, name: str, names: Any = None) -> None:
    """Raise if a column holds dates, or text that is not a number; name the first."""
    refuse_lazy(X, name)
    if is_frame(X):
        refuse_repeated_names(X, name)
        if _has_numeric_dtypes(X):
            return
        frame = nw.from_native(X, eager_only=True)
        for j, (column, dtype) in enumerate(frame.schema.items()):
            if not (dtype.is_numeric() or isinstance(dtype, nw.Boolean)):
                label = f"Column {quote(column)} of {name}"
                _refuse_text(frame[:, j].to_numpy(), label)
    elif isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "OUSTmM":
        for j in range(X.shape[1]):
            shown = j if names is None else names[j]
            _refuse_text(X[:, j], f"Column {quote(shown)} of {name}")


def _has_numeric_dtypes(X: Any) -> bool:
    """Check the dtypes of pandas at once; narwhals takes longer for each column."""
    if not isinstance(X, pd.DataFrame):
        return False
    return all(getattr(dtype, "kind", "O") in "fiub" for dtype in set(X.dtypes))


def _refuse_text(column: NDArray[Any], label: str) -> None:
    if column.dtype.kind == "O" and not any(isinstance(v, str) for v in column):
        return  # numbers and None, or objects for which scikit-learn raises
    read_numbers(object_if_text(column), label, cure=_NUMBERS_ADVICE)


def refuse_missing_or_infinite(
    values: Any, names: Any, reader: str, name: str = "X"
) -> None:
    """Raise for missing and infinite values; the message gives column and row.

    Parameters
    ----------
    values : array or sparse matrix
        Numbers.
    names : sequence or None
        Names of the columns; by default their numbers.
    reader : str
        Name of the estimator that does not accept them.
    name : str, default="X"
        Name of the table.
    """
    entries = values.data if sparse.issparse(values) else values
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(entries.sum()) or np.isfinite(entries).all():
            return
    if sparse.issparse(values):
        stored = values.tocoo()
        k = int(np.flatnonzero(~np.isfinite(stored.data))[0])
        row, j, value = int(stored.row[k]), int(stored.col[k]), float(stored.data[k])
    else:
        row, j = (int(place[0]) for place in np.nonzero(~np.isfinite(values)))
        value = float(values[row, j])
    column = f"column {quote(j if names is None else names[j])}"
    if np.isnan(value):
        cure = for_users(
            "impute them (SimpleImputer in a pipeline, say)",
            "add --impute median, where the verb has it,",
        )
        raise InputError(
            f"Input {name} contains NaN: {column}, row {row}, is missing. {reader} "
            f"does not accept missing values; {cure} or drop the row."
        )
    raise InputError(
        f"Input {name} contains inf: {column}, row {row}, is infinite; replace it by a "
        "finite number or drop the row."
    )
