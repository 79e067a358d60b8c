"""Columns beside the features: the batch and the covariates of every sample.

They reach a transformer in one of two ways. Either they are columns of X that the user
names; the transformer takes them out of X and by default leaves them out of its result.
Or they are given to ``fit`` and ``transform`` as arguments of their own, as metadata
routing of scikit-learn does in a pipeline.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.encoding import (
    mark_features,
    object_if_text,
    refuse_lazy,
    refuse_repeated_names,
)
from veridical._core.errors import InputError
from veridical._core.reading import is_frame, refuse_other_than_numbers
from veridical._core.sklearn_private import output_kind, take
from veridical._core.text import listed, quote, write_rows


class SideColumns(NamedTuple):
    """Columns beside the features, with names for messages.

    Parameters
    ----------
    columns : list of arrays of shape (n_samples,)
        The values.
    names : list
        Their names, or their indices in X.
    """

    columns: list[NDArray[Any]]
    names: list[Any]


class Parts(NamedTuple):
    """The features of X as numbers, and the columns beside them.

    Parameters
    ----------
    values : array of shape (n_samples, n_features)
        The features; missing ones are NaN.
    places : int array of shape (n_features,)
        Their columns in X.
    sides : mapping of str to SideColumns
        By the name of the parameter that names them.
    """

    values: FloatArray
    places: IntArray
    sides: dict[str, SideColumns]


class BesideFeatures(TransformerMixin, BaseEstimator):
    """A transformer that takes some columns of X as something else than features.

    A subclass has a parameter `remove`, stores `features_` in ``fit``, and says by
    `_named_columns` which parameters name columns.
    """

    remove: bool
    features_: IntArray
    n_features_in_: int

    def _named_columns(self) -> dict[str, list[Any]]:
        """Return the columns that parameters name, by parameter."""
        raise NotImplementedError

    def _read(self, X: Any, given: Mapping[str, Any], *, reset: bool) -> Parts:
        """Read features, and what is beside them, as columns of X or as arguments."""
        named = self._named_columns()
        for parameter, value in given.items():
            if value is not None and named[parameter]:
                raise InputError(
                    f"{type(self).__name__} was made with {parameter}="
                    f"{named[parameter]!r}, columns of X, and {parameter} was passed "
                    "to the method too; use one of the two ways."
                )
        parts = read_parts(self, X, named, reset=reset)
        for parameter, value in given.items():
            if value is not None:
                parts.sides[parameter] = read_side(value, len(parts.values), parameter)
        return parts

    def _result(self, X: Any, parts: Parts, values: FloatArray) -> Any:
        """Return corrected features, with the named columns where they are kept."""
        if self.remove or parts.places.size == self.n_features_in_:
            return values
        if is_frame(X):
            whole = replace_columns(X, parts.places, values)
            if output_kind(self) != "default":
                return whole
            return nw.from_native(whole, eager_only=True).to_numpy()
        whole = np.array(X, copy=True)
        if whole.dtype.kind not in "fO":
            whole = whole.astype(np.float64 if whole.dtype.kind in "iub" else object)
        whole[:, parts.places] = values
        return whole

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Name the columns of the result.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the columns of X, if ``fit`` has seen none.
        """
        check_is_fitted(self)
        names = OneToOneFeatureMixin.get_feature_names_out(self, input_features)
        return np.asarray(names)[self.features_] if self.remove else np.asarray(names)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def list_columns(named: Any, parameter: str) -> list[Any]:
    """Return the columns that a parameter names: one, several, or none."""
    if named is None:
        return []
    if isinstance(named, (str, int, np.integer)) and not isinstance(named, bool):
        return [named]
    if isinstance(named, (list, tuple, np.ndarray, pd.Index)):
        return list(named)
    raise InputError(
        f"{parameter}={quote(named)} does not name columns; give the name or the index "
        "of a column of X, or a list of them."
    )


def place_columns(
    named: Sequence[Any], n_columns: int, names: Sequence[Hashable] | None, what: str
) -> list[int]:
    """Return the places of named columns, in the order in which they are named."""
    places = []
    for one in named:
        (place,) = np.flatnonzero(mark_features([one], n_columns, names, what))
        places.append(int(place))
    twice = [named[k] for k, j in enumerate(places) if j in places[:k]]
    if twice:
        raise InputError(f"{what} names {quote(twice[0])} twice; name it once.")
    return places


def read_parts(
    estimator: Any, X: Any, named: Mapping[str, list[Any]], *, reset: bool
) -> Parts:
    """Divide X into features, which must be numbers, and named columns.

    Parameters
    ----------
    estimator : estimator
        It stores, or must match, the number and the names of the columns.
    X : array-like or data frame
        What was given.
    named : mapping of str to list
        Names or indices of columns that are no features, by parameter.
    reset : bool
        Whether the estimator stores names, rather than that X must match them.

    Raises
    ------
    InputError
        For an unknown column, text or infinite values in a feature, and if no feature
        is left.
    """
    refuse_lazy(X)
    names: list[Any] | None = None
    least = 2 if reset else 1
    any_named = any(named.values())
    if is_frame(X):
        refuse_repeated_names(X)
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        names = list(nw.from_native(X, eager_only=True).columns)
        n_columns = len(names)
    else:
        if not any_named:
            refuse_other_than_numbers(X, "X")
        X = validate_data(
            estimator,
            X,
            reset=reset,
            dtype=None if any_named else np.float64,
            ensure_all_finite=False,
            ensure_min_samples=least,
        )
        n_columns = X.shape[1]
    sides: dict[str, SideColumns] = {}
    taken: set[int] = set()
    for parameter, wanted in named.items():
        places = place_columns(wanted, n_columns, names, parameter)
        if places:
            shown = [j if names is None else names[j] for j in places]
            sides[parameter] = SideColumns([column_of(X, j) for j in places], shown)
        if taken & set(places):
            both = min(taken & set(places))
            raise InputError(
                f"Column {quote(both if names is None else names[both])} is named as "
                "batch and as covariate; leave it out of the covariates."
            )
        taken |= set(places)
    features = np.array([j for j in range(n_columns) if j not in taken], dtype=np.intp)
    if not features.size:
        raise InputError(
            f"X has {n_columns} feature(s), and all of them are named as batch or "
            "covariates, so that nothing is left to correct; pass X with its features."
        )
    part = X if features.size == n_columns else take(X, features, axis=1)
    if any_named or is_frame(X):
        shown_names = [j if names is None else names[j] for j in features.tolist()]
        refuse_other_than_numbers(part, "X", shown_names)
        part = check_array(
            part,
            dtype=np.float64,
            ensure_all_finite=False,
            ensure_min_samples=least,
        )
    values = np.asarray(part, dtype=np.float64)
    _refuse_infinite(values, features, names)
    return Parts(values, features, sides)


def column_of(X: Any, j: int) -> NDArray[Any]:
    """Return a column of an array or data frame as an array."""
    if is_frame(X):
        return nw.from_native(X, eager_only=True)[:, j].to_numpy()
    return np.asarray(X[:, j])


def _refuse_infinite(
    values: FloatArray, features: IntArray, names: list[Any] | None
) -> None:
    if np.isfinite(values).all():
        return
    rows, columns = np.nonzero(np.isinf(values))
    if rows.size:
        j = int(features[columns[0]])
        raise InputError(
            f"Input X contains inf: column {quote(j if names is None else names[j])}, "
            f"row {int(rows[0])}, is infinite; replace it by a finite number or drop "
            "the row."
        )


def read_side(value: Any, n_samples: int | None, parameter: str) -> SideColumns:
    """Read the batch or covariates that were passed as an argument.

    Parameters
    ----------
    value : array-like or data frame
        One value or one row per sample.
    n_samples : int or None
        Number of samples, if it is known.
    parameter : str
        Name of the argument.
    """
    if is_frame(value):
        frame = nw.from_native(value, eager_only=True)
        names = list(frame.columns)
        columns = [frame[:, j].to_numpy() for j in range(len(names))]
    else:
        array = np.asarray(value)
        array = array[:, None] if array.ndim == 1 else array
        if array.ndim != 2:
            raise InputError(
                f"{parameter} has {array.ndim} dimensions; give one value, or one row "
                "of values, per sample."
            )
        named = getattr(value, "name", None)  # of a Series
        names = [parameter if named is None else named]
        if array.shape[1] > 1:
            names = [f"{parameter} {j}" for j in range(array.shape[1])]
        columns = [array[:, j] for j in range(array.shape[1])]
    for one in columns:
        if n_samples is not None and len(one) != n_samples:
            raise InputError(
                f"{parameter} has {len(one)} rows, but X has {n_samples}: found input "
                "variables with inconsistent numbers of samples. Give one per sample."
            )
    return SideColumns(columns, names)


def replace_columns(X: Any, places: IntArray, values: FloatArray) -> Any:
    """Copy a data frame with some columns replaced; the others keep their types."""
    if isinstance(X, pd.DataFrame):
        if places.size == X.shape[1]:
            return pd.DataFrame(values, columns=X.columns, index=X.index)
        changed = dict(zip(places.tolist(), values.T, strict=True))
        series = [
            pd.Series(changed[j], index=X.index) if j in changed else X.iloc[:, j]
            for j in range(X.shape[1])
        ]
        whole = pd.concat(series, axis=1)
        whole.columns = X.columns
        return whole
    frame = nw.from_native(X, eager_only=True)
    backend = frame.implementation
    return frame.with_columns(
        nw.new_series(frame.columns[j], values[:, k].copy(), backend=backend)
        for k, j in enumerate(places.tolist())
    ).to_native()


# -- covariates as numbers -----------------------------------------------------------

#: Categories of every covariate; None for numbers.
Coding = list[list[Any] | None]


def code_covariates(
    side: SideColumns, coding: Coding | None
) -> tuple[FloatArray, Coding]:
    """Turn covariates into columns of numbers.

    A covariate of numbers is one column, one of categories an indicator of every
    category but the first.

    Parameters
    ----------
    side : SideColumns
        The covariates.
    coding : list or None
        The categories of the training samples; None learns them.

    Raises
    ------
    InputError
        If a value is missing, infinite, or a category that training samples lack.
    """
    columns: list[FloatArray] = []
    learned: Coding = []
    if coding is not None and len(coding) != len(side.columns):
        raise InputError(
            f"There were {len(coding)} covariates in fit, and there are "
            f"{len(side.columns)} now; pass the same ones."
        )
    for k, (values, name) in enumerate(zip(side.columns, side.names, strict=True)):
        missing = np.flatnonzero(pd.isna(values))
        if missing.size:
            raise InputError(
                f"Covariate {quote(name)} is missing in {write_rows(missing)}, counted "
                "from 0; fill it in first (veridical.preparation.Impute before this "
                "step) or leave out these rows."
            )
        numbers = _as_numbers(values)
        known = None if coding is None else coding[k]
        if numbers is not None and (coding is None or known is None):
            if not np.isfinite(numbers).all():
                raise InputError(
                    f"Covariate {quote(name)} is infinite in row "
                    f"{int(np.flatnonzero(~np.isfinite(numbers))[0])}; replace it by a "
                    "finite number."
                )
            columns.append(numbers[:, None])
            learned.append(None)
            continue
        if coding is not None and known is None:
            raise InputError(
                f"Covariate {quote(name)} was a number in fit, but is "
                f"{quote(values[0])} now; write it in the same way."
            )
        text = [v.item() if isinstance(v, np.generic) else v for v in values]
        categories = sorted(set(text), key=_by_kind) if known is None else known
        new = [one for one in dict.fromkeys(text) if one not in categories]
        if new:
            raise InputError(
                f"Covariate {quote(name)} is {quote(new[0])} in row "
                f"{text.index(new[0])}, counted from 0, but the training samples have "
                f"only {listed(categories)}; join rare categories, or leave the "
                "covariate out."
            )
        codes = np.array([categories.index(one) for one in text])
        columns.append((codes[:, None] == np.arange(1, len(categories))).astype(float))
        learned.append(categories)
    n = len(side.columns[0]) if side.columns else 0
    return (np.hstack(columns) if columns else np.empty((n, 0))), learned


def _as_numbers(values: NDArray[Any]) -> FloatArray | None:
    """Return numbers as floats; None for text and other categories."""
    if values.dtype.kind in "fiub":
        return values.astype(np.float64)
    if values.dtype.kind == "O" and not any(isinstance(v, str) for v in values):
        try:
            return values.astype(np.float64)
        except (TypeError, ValueError):
            return None
    return None


def _by_kind(value: Any) -> tuple[str, Any]:
    """Sort values of one kind by themselves, kinds by their names."""
    number = isinstance(value, (int, float))
    return ("", value) if number else (type(value).__name__, str(value))


def read_batches(side: SideColumns) -> NDArray[Any]:
    """Return the batch of every sample; raise if there is none."""
    (values,) = side.columns
    missing = np.flatnonzero(pd.isna(values))
    if missing.size:
        raise InputError(
            f"The batch {quote(side.names[0])} is missing in {write_rows(missing)}, "
            "counted from 0; fill it in, or leave out these rows."
        )
    return object_if_text(np.asarray(values))


def least_squares(design: FloatArray, values: FloatArray) -> FloatArray:
    """Solve least squares for every feature on the samples in which it is known.

    Parameters
    ----------
    design : array of shape (n_samples, k)
        The regressors.
    values : array of shape (n_samples, n_features)
        The features, NaN where missing.

    Returns
    -------
    array of shape (k, n_features)
        Coefficients, the shortest solution where there are several.
    """
    missing = np.isnan(values)
    partly = missing.any(axis=0)
    found = np.zeros((design.shape[1], values.shape[1]))
    if not partly.all():
        found[:, ~partly] = np.linalg.lstsq(design, values[:, ~partly])[0]
    for j in np.flatnonzero(partly):
        known = ~missing[:, j]
        if known.any():
            found[:, j] = np.linalg.lstsq(design[known], values[known, j])[0]
    return found
