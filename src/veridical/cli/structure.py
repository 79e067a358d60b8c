"""Which samples of a file belong together, and what each of them counts.

``--groups`` and ``--weights`` name columns. Without ``--groups``, a column of subjects
whose values repeat, or identifiers with a repeating stem (``S01_1``, ``S01_2``), are
taken for groups, and a note says so; ``--groups none`` says that they are not.
"""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from veridical._core.errors import InputError
from veridical._core.groups import read_groups
from veridical._core.lazy import is_lazy
from veridical._core.text import did_you_mean, listed, quote, write_rows
from veridical._core.weights import read_weights
from veridical.datasets.identifiers import find_groups_in_ids, find_identifiers

#: The value of ``--groups`` that says that samples are independent.
NONE = "none"


def take_structure(
    X: Any,
    groups: Sequence[str],
    weights: str | None,
    name: str,
    y: Any = None,
    whole: Any = None,
    outcome: Sequence[str | None] = (),
) -> tuple[Any, dict[str, Any], tuple[str, ...]]:
    """Take groups and weights out of the columns of a table.

    Parameters
    ----------
    X : data frame, array or sparse matrix
        The table without the target.
    groups, weights : sequence of str, and str or None
        Columns, as given.
    name : str
        Name of the table in messages.
    y : array of shape (n_samples,), optional
        The target; with it, groups are recognised where none are given.
    whole : data frame, optional
        The columns in which they are recognised, where not all are in memory.
    outcome : sequence of str or None
        Columns of the target, which are not in X.

    Returns
    -------
    X, structure, columns
        The other columns; the arguments ``groups`` and ``sample_weight`` of a verb;
        the columns that were taken out.

    Warns
    -----
    UserWarning
        If groups were recognised, or `groups` names identifiers with a stem.
    """
    named = [one for one in groups if one != NONE]
    if len(named) < len(groups) and named:
        raise InputError(
            f"--groups {','.join(groups)} names columns and {NONE!r}; give either."
        )
    structure: dict[str, Any] = {}
    wanted = [("--groups", one) for one in named]
    wanted += [] if weights is None else [("--weights", weights)]
    for option, column in wanted:
        if column in outcome:
            raise InputError(
                f"{option} {column}: this column of {name} is the target; name "
                "another column."
            )
        _check_column(X, option, column, name)
    used: tuple[str, ...] = tuple(column for _, column in wanted)
    if named:
        columns = [_read_groups(_series(X, column), column, name) for column in named]
        together = columns[0] if len(columns) == 1 else _side_by_side(columns)
        read_groups(together, len(together), f"--groups {','.join(named)}")  # raises
        structure["groups"] = together
    elif not groups and y is not None:
        found = find_subjects(X if whole is None else whole, y, name)
        if found is not None:
            column, labels, said = found
            _refuse_missing(labels, column, said)
            structure["groups"] = labels
            used = (*used, column)
            warnings.warn(
                f"{said}. Samples of one subject are not independent, so they are kept "
                f"together, as groups, and column {column!r} is not a feature. If they "
                "are independent, add --groups none.",
                stacklevel=4,
            )
    if weights is not None:
        structure["sample_weight"] = _read_weights(_series(X, weights), weights, name)
    if is_lazy(X):
        return X.drop(used), structure, used
    return (X.drop(columns=list(used)) if used else X), structure, used


def _series(X: Any, column: str) -> Any:
    """Return a column, also of data that are read by blocks."""
    return pd.Series(X.column(column)) if is_lazy(X) else X[column]


def _check_column(X: Any, option: str, column: str, name: str) -> None:
    known = [str(one) for one in (*getattr(X, "columns", ()), *_side_columns(X))]
    if not known:
        raise InputError(
            f"{option} {column} names a column, but the columns of {name} have no "
            "names."
        )
    if column not in known:
        raise InputError(
            f"{option} {column}: there is no such column in {name}"
            f"{did_you_mean(column, known)} The columns are {listed(known)}."
        )


def _side_columns(X: Any) -> tuple[str, ...]:
    """Return columns that are no features, such as those of obs in AnnData."""
    return tuple(X.side_columns) if is_lazy(X) else ()


def _read_groups(values: Any, column: str, name: str) -> Any:
    """Return the labels of a column, or the stems of identifiers."""
    if values.nunique() < len(values) or values.isna().any():
        return values.astype(object).to_numpy()
    stems = find_groups_in_ids(values)
    if stems is None:
        raise InputError(
            f"--groups {column}: this column of {name} differs in every sample, so no "
            "samples belong together; name another column, or leave --groups out."
        )
    labels, description = stems
    warnings.warn(
        f"Column {column!r} of {name} differs in every sample; groups are the "
        f"beginnings of its values, {description}.",
        stacklevel=4,
    )
    return labels


def _refuse_missing(labels: Any, column: Any, said: str) -> None:
    """Raise if the subject of a sample is not known."""
    missing = np.flatnonzero(pd.isna(labels))
    if missing.size:
        raise InputError(
            f"{said}, but has no value in {write_rows(missing)}, counted "
            f"from 0; fill it in, or add --drop {shlex.quote(str(column))} "
            "--groups none if samples are independent."
        )


def _read_weights(values: Any, column: str, name: str) -> Any:
    """Return the weights of a column; messages name the option and the file."""
    numbers = pd.to_numeric(values, errors="coerce")
    text = np.flatnonzero(numbers.isna() & values.notna())
    if text.size:
        raise InputError(
            f"--weights {column}: this column of {name} must hold numbers, but it is "
            f"{quote(values.iloc[text[0]])} in row {text[0]}, counted from 0; correct "
            "it, or name another column."
        )
    return read_weights(numbers, len(numbers), f"--weights {column}")


def _side_by_side(columns: Sequence[Any]) -> Any:
    table = np.empty((len(columns[0]), len(columns)), dtype=object)
    for j, column in enumerate(columns):
        table[:, j] = column
    return table


def refuse_shared_groups(first: Any, second: Any, name: str, other: str) -> None:
    """Raise if a group is in both files: it would be learned, and then tested."""
    shared = [one for one in dict.fromkeys(second) if one in set(first)]
    if shared:
        n = len(shared)
        raise InputError(
            f"{'Group' if n == 1 else 'Groups'} {listed(shared)} "
            f"{'is' if n == 1 else 'are'} in {name} and in {other}, but samples of one "
            "subject must not be learned and then tested. Remove them from one of the "
            "files; if they are other subjects with the same labels, write them in "
            "another way, with the name of the hospital say."
        )


# -- recognising -----------------------------------------------------------------------


def identifiers_of(X: Any, y: Any) -> dict[Any, Any]:
    """Find columns that identify samples, or more subjects than there are classes."""
    if not hasattr(X, "columns"):
        return {}
    return {
        column: kind
        for column, kind in find_identifiers(X).items()
        if kind == "identifier" or _are_many(X[column], y)
    }


def _are_many(subjects: Any, y: Any) -> bool:
    """Return whether there are too many subjects for kinds of samples.

    Subjects that are few beside the classes may be the classes, or kinds of them; no
    subjects are the values of a number, or survival times.
    """
    values = np.asarray(y)
    if values.dtype.names or (values.dtype.kind == "f" and not _are_whole(values)):
        return True
    return bool(pd.Series(subjects).nunique() > 2 * pd.Series(y).nunique())


def _are_whole(values: Any) -> bool:
    return bool((values == np.round(values)).all())


def find_subjects(X: Any, y: Any, name: str) -> tuple[Any, Any, str] | None:
    """Find several samples of one subject, by its column or by identifiers.

    Returns
    -------
    (column, labels, sentence) or None
        The column, the subject of every sample, and what was seen, in words.
    """
    found = identifiers_of(X, y)
    for column, kind in sorted(found.items(), key=lambda one: one[1] != "subjects"):
        if kind == "subjects":
            said = (
                f"Column {column!r} of {name} names {X[column].nunique()} subjects, "
                f"most of them with several samples in these {len(X)}"
            )
            return column, X[column].astype(object).to_numpy(), said
        stems = find_groups_in_ids(X[column])
        if stems is not None and _are_many(stems[0], y):
            said = (
                f"The values of column {column!r} of {name} look like several samples "
                f"of each of {stems[1]}"
            )
            return column, stems[0], said
    return None
