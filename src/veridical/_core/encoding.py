"""Encode tables as arrays: categorical features as codes, missing values as NaN.

Selectors and estimators compute on one float matrix and a mask of the categorical
features. ``encode`` makes both from what users pass: numpy arrays, pandas or polars
data frames, lists of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import issparse

from veridical._core.arrays import BoolArray
from veridical._core.errors import InputError
from veridical._core.lazy import LazyMatrix, is_lazy
from veridical._core.small_integers import count_seen, seen_by_column, seen_by_row
from veridical._core.text import did_you_mean, is_number, listed, quote

#: The categories of each feature; None for a numeric one.
Categories = tuple[NDArray[Any] | None, ...]

#: Elements of the mask in the search for infinities; bounds its memory.
_MAX_ELEMENTS = 1 << 22


@dataclass(frozen=True, eq=False)
class Features:
    """The features of a table as numbers and codes.

    Parameters
    ----------
    stored : array, CSC or CSR matrix or LazyMatrix of shape (n_samples, n_features)
        float32 if every feature was, else float64; categorical features hold codes
        ``0, 1, ...`` into their categories, NaN marks a missing value. It may share
        memory with the input, or be read by blocks.
    categorical : bool array of shape (n_features,)
        Which features are categorical.
    categories : tuple of n_features arrays or None
        The values behind the codes; None for a numeric feature.
    names : tuple of str or None
        Names of the features, where the input has any.
    """

    stored: Any
    categorical: BoolArray
    categories: Categories
    names: tuple[str, ...] | None = None

    @cached_property
    def values(self) -> Any:
        """The values, where they are sparse as CSC matrix without repeated entries."""
        if not self.is_sparse:
            return self.stored
        values = self.stored.tocsc()
        if not values.has_canonical_format:
            values = values.copy() if values is self.stored else values
            values.sum_duplicates()
        return values

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples and of features."""
        n_samples, n_features = self.stored.shape
        return int(n_samples), int(n_features)

    @property
    def is_sparse(self) -> bool:
        """Whether the values are a sparse matrix."""
        return bool(issparse(self.stored))

    @property
    def is_lazy(self) -> bool:
        """Whether the values are read by blocks."""
        return is_lazy(self.stored)

    def load(self) -> Features:
        """Read the values into memory, where they are not; raise if they are too many.

        A matrix that is read by blocks and fits into its limit is read once.
        """
        return replace(self, stored=self.stored.load()) if self.is_lazy else self

    @cached_property
    def has_missing(self) -> bool:
        """Whether any value is missing."""
        if self.is_lazy:
            parts = (part for _, part in self.values.parts())
            return any(replace(self, stored=part).has_missing for part in parts)
        values = self.stored.data if self.is_sparse else self.values
        # The sum is NaN if any value is; so usually no mask of the size of X is made.
        with np.errstate(over="ignore", invalid="ignore"):
            total = np.sum(values)
        return bool(np.isnan(total)) and bool(np.isnan(values).any())

    @property
    def shown_names(self) -> tuple[str, ...]:
        """Names of the features, made up as x0, x1, ... where there are none."""
        if self.names is not None:
            return self.names
        return tuple(f"x{j}" for j in range(self.shape[1]))

    def take(self, rows: Any, columns: Any) -> NDArray[np.float64]:
        """Take some samples of some features as a dense array of numbers and codes."""
        if self.is_lazy:
            part = self.permute(columns).load()
            return part.take(rows, np.arange(part.values.shape[1]))
        if self.is_sparse:
            return np.asarray(self.values[:, columns].toarray()[rows], dtype=np.float64)
        return np.asarray(self.values[np.ix_(rows, columns)], dtype=np.float64)

    def rows(self, rows: Any) -> Features:
        """Take some samples; a slice does not copy the values."""
        values = self.values
        if self.is_lazy:
            return replace(self, stored=values.take_rows(rows))
        values = values.tocsr()[rows].tocsc() if self.is_sparse else values[rows]
        return replace(self, stored=values)

    def permute(self, columns: Any) -> Features:
        """Put the features in another order, or take some of them."""
        names, values = self.names, self.values
        return Features(
            values.take_columns(columns) if self.is_lazy else values[:, columns],
            self.categorical[columns],
            tuple(self.categories[j] for j in columns),
            None if names is None else tuple(names[j] for j in columns),
        )

    def frame(self, rows: Any = None, columns: Any = None) -> Any:
        """Take some samples of some features, for estimators of other packages.

        An array where all features are numeric, else a data frame in which categorical
        features have a category dtype; a sparse matrix stays sparse.
        """
        n_samples, n_features = self.shape
        rows = np.arange(n_samples) if rows is None else rows
        columns = np.arange(n_features) if columns is None else columns
        if self.is_lazy:
            return self.permute(columns).load().frame(rows)
        if self.is_sparse:
            return self.values[:, columns].tocsr()[rows]
        values = self.values[np.ix_(rows, columns)]
        if not self.categorical[columns].any():
            return values
        names, series = self.shown_names, {}
        for position, j in enumerate(columns):
            column: Any = values[:, position]
            if self.categorical[j]:
                codes = np.where(np.isnan(column), -1, column).astype(int)
                column = pd.Categorical.from_codes(codes, self.categories[j])
            series[names[j]] = column
        return pd.DataFrame(series)


def encode(
    X: Any,
    categorical_features: Any = "from_dtype",
    *,
    categories: Categories | None = None,
    name: str = "X",
) -> Features:
    """Turn a table into a matrix of numbers and codes.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features)
        numpy, pandas, polars, pyarrow, scipy or a list of rows. Float arrays without
        categorical features are not copied.
    categorical_features : "from_dtype", None, bool mask, integer indices or names
        Which features are categorical. ``"from_dtype"`` takes the category, string and
        boolean columns of a data frame, and none of an array.
    categories : tuple, optional
        The ``categories`` of an earlier call. They define the categorical features and
        their codes; ``categorical_features`` is ignored, and a value that is not among
        them becomes NaN.
    name : str, default="X"
        Name of the table in messages.

    Returns
    -------
    Features
        The matrix, the categorical features, their categories and the names.

    Raises
    ------
    InputError
        For text in a feature that is not categorical, infinite or complex numbers,
        dates, sparse input, duplicate column names, or a ``categorical_features`` that
        does not match the columns.

    Notes
    -----
    The categories of a category (or polars Enum) column are those it declares, in the
    order it declares them; another categorical feature has its observed values, sorted.

    Examples
    --------
    >>> import pandas as pd
    >>> from veridical._core.encoding import encode
    >>> X = pd.DataFrame({"size": [1.5, None, 3.0], "colour": ["red", "blue", None]})
    >>> table = encode(X)
    >>> table.values
    array([[1.5, 1. ],
           [nan, 0. ],
           [3. , nan]])
    >>> table.categorical
    array([False,  True])
    >>> table.categories[1].tolist()
    ['blue', 'red']
    """
    if issparse(X):
        _refuse_categories_of_sparse(categorical_features)
        return _encode_sparse(X)
    if isinstance(X, LazyMatrix):
        return _encode_lazy(X, categorical_features)
    if isinstance(X, np.ndarray):  # faster than to ask narwhals
        return _encode_array(_as_matrix(X), categorical_features, categories, name)
    refuse_lazy(X, name)
    refuse_repeated_names(X, name)
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return _encode_frame(frame, categorical_features, categories, name)
    return _encode_array(_as_matrix(X), categorical_features, categories, name)


def _refuse_categories_of_sparse(chosen: Any) -> None:
    """Raise if features of a sparse matrix are named as categorical."""
    if chosen is None or isinstance(chosen, str):
        return
    named = np.asarray(chosen)
    if named.size and (named.dtype != bool or named.any()):
        raise InputError(
            "categorical_features names features, but X is sparse, and its features "
            "are numbers; pass X.toarray(), or leave categorical_features out."
        )


def _encode_sparse(X: Any) -> Features:
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    values = X if X.format == "csr" else X.tocsc()
    if np.isinf(values.data).any():
        values = X.tocsc()
        infinite = np.flatnonzero(np.isinf(values.data))
        column = int(np.searchsorted(values.indptr, infinite[0], side="right")) - 1
        raise InputError(
            f"Column {column} of X holds an infinite value (row "
            f"{int(values.indices[infinite[0]])}); replace it by a finite number."
        )
    n_features = values.shape[1]
    none = np.zeros(n_features, dtype=bool)
    return Features(values, none, (None,) * n_features)


def _encode_lazy(X: LazyMatrix, categorical_features: Any) -> Features:
    """Return features that are read by blocks; in memory, if they fit into the limit.

    Which of them are categorical was decided by their types when they were opened.
    """
    _refuse_zero_size(*X.shape)
    categorical = choose_categorical(
        categorical_features, X.shape[1], X.names, X.categorical
    )
    if not np.array_equal(categorical, X.categorical):
        if X.is_on_device:
            raise InputError(
                "categorical_features names features of an array on a GPU, which holds "
                "numbers; pass the array in memory (X.get() of CuPy) and device='cuda'."
            )
        raise InputError(
            f"categorical_features={categorical_features!r} does not agree with the "
            "types of columns that are read by blocks; store categorical columns as "
            "text or categories, and others as numbers."
        )
    found = Features(X, X.categorical, X.categories, X.names)
    return found.load() if X.memory_limit is not None and X.fits else found


def _encode_array(
    X: NDArray[Any], categorical_features: Any, known: Categories | None, name: str
) -> Features:
    n_features = X.shape[1]

    def label(j: Any) -> str:
        return f"Column {j} of {name}"

    if known is None:
        categorical = choose_categorical(
            categorical_features, n_features, None, np.zeros(n_features, dtype=bool)
        )
    else:
        categorical = mask_from_categories(known, n_features)
    values = X
    if X.dtype.kind == "c":
        raise InputError(
            "Complex data not supported: X holds complex numbers; pass their real and "
            "imaginary parts as two columns."
        )
    if X.dtype not in (np.float32, np.float64):
        if X.dtype.kind in "fiub":
            values = X.astype(np.float64)
        else:
            values = np.empty(X.shape, order="F")
            for j in np.flatnonzero(~categorical):
                values[:, j] = read_numbers(X[:, j], label(j))
    categories: list[NDArray[Any] | None] = [None] * n_features
    remaining = categorical
    if known is None and categorical.any() and X.dtype.kind in "fiub":
        values, remaining = code_small_integers(X, values, categorical, categories)
    for j in np.flatnonzero(remaining):
        column = object_if_text(X[:, j])
        codes, categories[j] = code_column(
            column, known[j] if known else None, label(j)
        )
        # A feature that already holds its own codes is not written (nor X copied).
        if values is X and not np.array_equal(codes, column, equal_nan=True):
            values = X.copy(order="K")
        if values is not X:
            values[:, j] = codes
    if not categorical.all():  # codes are finite
        _refuse_infinite(values, label)
    return Features(values, categorical, tuple(categories), None)


def _encode_frame(
    frame: nw.DataFrame[Any],
    categorical_features: Any,
    known: Categories | None,
    name: str,
) -> Features:
    names = frame.columns
    n_samples, n_features = frame.shape
    _refuse_zero_size(n_samples, n_features)

    def label(j: Any) -> str:
        return f"Column {quote(names[j])} of {name}"

    by_dtype, is_number, is_single = feature_kinds(frame)
    if known is None:
        categorical = choose_categorical(
            categorical_features, n_features, names, by_dtype
        )
    else:
        categorical = mask_from_categories(known, n_features)
    # Numbers are converted in one block: a loop over columns of a wide table is slow.
    block = np.flatnonzero(is_number & ~categorical)
    if block.size == n_features:
        dtype = np.float32 if is_single else np.float64
        values = np.asarray(frame.to_numpy(), dtype=dtype)
    else:
        values = np.empty((n_samples, n_features), order="F")
        if block.size:
            values[:, block] = frame[:, block.tolist()].to_numpy()
    categories: list[NDArray[Any] | None] = [None] * n_features
    for j, series in _iterate_columns(frame, np.flatnonzero(categorical)):
        values[:, j], categories[j] = code_series(
            series, known[j] if known else None, label(j)
        )
    for j in np.flatnonzero(~is_number & ~categorical).tolist():
        column = frame[:, j].to_numpy()
        values[:, j] = read_numbers(object_if_text(column), label(j))
    if not categorical.all():  # codes are finite
        _refuse_infinite(values, label)
    shown = tuple(str(name) for name in names)
    return Features(values, categorical, tuple(categories), shown)


# -- columns -------------------------------------------------------------------------


def _is_categorical(dtype: nw.dtypes.DType) -> bool:
    return isinstance(dtype, (nw.Categorical, nw.Enum, nw.String, nw.Boolean))


def feature_kinds(frame: nw.DataFrame[Any]) -> tuple[BoolArray, BoolArray, bool]:
    """Return which columns are categorical, which numeric, and whether all float32.

    Parameters
    ----------
    frame : narwhals.DataFrame
        The table; it may have no rows.
    """
    native: Any = frame.to_native()
    n_features = frame.shape[1]
    categorical, numeric = np.zeros((2, n_features), dtype=bool)
    remaining, is_single = np.arange(n_features), True
    if isinstance(native, pd.DataFrame):
        # To ask narwhals takes longer than to encode.
        kinds = [isinstance(d, pd.CategoricalDtype) for d in native.dtypes.array]
        categorical[:] = kinds
        remaining = np.flatnonzero(~categorical)
        is_single = remaining.size == n_features
        if 0 < remaining.size < n_features:
            frame = nw.from_native(native.iloc[:, remaining], eager_only=True)
    if remaining.size:
        dtypes = list(frame.schema.values())
        categorical[remaining] = [_is_categorical(dtype) for dtype in dtypes]
        numeric[remaining] = [dtype.is_numeric() for dtype in dtypes]
        is_single = is_single and set(dtypes) == {nw.Float32}
    return categorical, numeric, is_single


def _iterate_columns(frame: nw.DataFrame[Any], wanted: NDArray[Any]) -> Iterator[Any]:
    """Iterate over some columns and their indices; those of pandas are not wrapped.

    To wrap or index hundreds of columns one by one takes longer than to encode them.
    """
    native: Any = frame.to_native()
    if not isinstance(native, pd.DataFrame):
        yield from ((j, frame[:, j]) for j in wanted.tolist())
    elif 2 * wanted.size < frame.shape[1]:
        yield from ((j, native.iloc[:, j]) for j in wanted.tolist())
    else:
        wanted_set = set(wanted.tolist())
        for j, (_, series) in enumerate(native.items()):
            if j in wanted_set:
                yield j, series


# -- checks -----------------------------------------------------------------


def _as_matrix(X: Any) -> NDArray[Any]:
    if np.ma.isMaskedArray(X):
        array = np.ma.asarray(X, dtype=np.float64).filled(np.nan)
    else:
        try:
            array = np.asarray(X)
        except ValueError as error:
            raise InputError(
                "X is not a table: its rows differ in length; give every row the same "
                "number of values."
            ) from error
    if array.ndim != 2:
        raise InputError(
            f"Expected 2D array, got {array.ndim}D array instead: X must have rows and "
            "columns. Reshape your data using array.reshape(-1, 1) for a single column "
            "or array.reshape(1, -1) for a single row."
        )
    _refuse_zero_size(*array.shape)
    return array


def _refuse_zero_size(n_samples: int, n_features: int) -> None:
    for count, what in ((n_samples, "sample"), (n_features, "feature")):
        if count == 0:
            raise InputError(
                f"Found array with 0 {what}(s) (shape=({n_samples}, {n_features})) "
                f"while a minimum of 1 is required; X holds no {what}s."
            )


def _refuse_infinite(values: NDArray[Any], label: Callable[[Any], str]) -> None:
    with np.errstate(all="ignore"):
        if np.isfinite(values.sum(dtype=np.float64)):
            return  # usually; one pass without a mask
    width = max(1, _MAX_ELEMENTS // len(values))
    for start in range(0, values.shape[1], width):
        where = np.isinf(values[:, start : start + width])
        if where.any():
            j = start + int(np.flatnonzero(where.any(axis=0))[0])
            row = int(np.flatnonzero(np.isinf(values[:, j]))[0])
            raise InputError(
                f"{label(j)} holds an infinite value (row {row}); replace it by "
                "a finite number or by NaN for missing."
            )


def refuse_lazy(X: Any, name: str = "X") -> None:
    """Raise if a data frame is lazy: a query whose rows have not been computed.

    Parameters
    ----------
    X : object
        The table as the user gave it.
    name : str, default="X"
        Name of the table in the message.

    Raises
    ------
    InputError
        For a lazy frame of any library; the message says how to compute it.
    """
    if isinstance(X, (np.ndarray, pd.DataFrame)) or issparse(X) or is_lazy(X):
        return
    if nw.dependencies.is_pyarrow_table(X):  # narwhals raises for repeated names
        return
    if not isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame):
        return
    if hasattr(X, "collect"):
        cure = f"call {name}.collect() first"
    elif hasattr(X, "compute"):
        cure = f"call {name}.compute() first"
    else:
        cure = "turn it into a data frame of polars, pandas or pyarrow first"
    raise InputError(
        f"{name} is a lazy frame ({type(X).__module__.split('.')[0]} "
        f"{type(X).__name__}), whose rows are not computed yet; {cure}."
    )


def refuse_repeated_names(X: Any, name: str = "X") -> None:
    """Raise if two columns of a data frame have the same name."""
    if isinstance(X, pd.DataFrame):
        names = X.columns
    elif nw.dependencies.is_pyarrow_table(X):  # no other library allows it
        names = pd.Index(X.column_names)
    else:
        return
    if not names.is_unique:
        repeated = names[names.duplicated()].unique()
        raise InputError(
            f"{name} has more than one column named {listed(repeated)}; rename all "
            "but one."
        )


# -- which features are categorical ---------------------------------------------------


def mask_from_categories(known: Categories, n_features: int) -> BoolArray:
    """Mark the features that have categories."""
    if len(known) != n_features:
        raise InputError(
            f"X has {n_features} columns, but categories are given for {len(known)}; "
            "pass the columns of the earlier call."
        )
    return np.array([values is not None for values in known], dtype=bool)


def choose_categorical(
    wanted: Any,
    n_features: int,
    names: Sequence[Hashable] | None,
    by_dtype: BoolArray,
) -> BoolArray:
    """Mark the categorical features.

    Parameters
    ----------
    wanted : "from_dtype", None, bool mask, integer indices or names
        The parameter ``categorical_features``.
    n_features : int
        Number of features.
    names : sequence or None
        Their names, where they have any.
    by_dtype : bool array
        The features whose dtype is categorical.

    Returns
    -------
    bool array of shape (n_features,)
        True where the feature is categorical.
    """
    if isinstance(wanted, str):
        if wanted == "from_dtype":
            return by_dtype
        raise InputError(
            f"categorical_features={wanted!r} is not known; use 'from_dtype', None, "
            "a boolean mask, or a list of column indices or names."
        )
    if wanted is None:
        return np.zeros(n_features, dtype=bool)
    return mark_features(wanted, n_features, names, "categorical_features")


def mark_features(
    wanted: Any, n_features: int, names: Sequence[Hashable] | None, parameter: str
) -> BoolArray:
    """Mark the features that a parameter names.

    Parameters
    ----------
    wanted : bool mask, integer indices or names
        The value of the parameter.
    n_features : int
        Number of features.
    names : sequence or None
        Their names, where they have any.
    parameter : str
        Name of the parameter, for messages.

    Examples
    --------
    >>> mark_features(["b"], 3, ("a", "b", "c"), "keep")
    array([False,  True, False])
    """
    mask = np.zeros(n_features, dtype=bool)
    if len(wanted) == 0:
        return mask
    wanted = list(wanted)
    if all(isinstance(item, (bool, np.bool_)) for item in wanted):
        if len(wanted) != n_features:
            raise InputError(
                f"{parameter} is a mask of {len(wanted)} values, but X has "
                f"{n_features} columns; give one value per column."
            )
        return np.array(wanted, dtype=bool)
    for item in wanted:
        mask[_position(item, n_features, names, parameter)] = True
    return mask


def _position(
    item: Any, n_features: int, names: Sequence[Hashable] | None, parameter: str
) -> int:
    if isinstance(item, (int, np.integer)) and not isinstance(item, bool):
        if not 0 <= item < n_features:
            raise InputError(
                f"{parameter} names column {item}, but X has {n_features} "
                f"columns; use 0 to {n_features - 1}."
            )
        return int(item)
    if isinstance(item, str):
        if names is None:
            raise InputError(
                f"{parameter} names the column {item!r}, but X is an array "
                "without column names; use indices or pass a data frame."
            )
        if item in names:
            return names.index(item)
        raise InputError(
            f"{parameter} names {item!r}, which is not a column of X"
            f"{did_you_mean(item, names)} The columns are {listed(names)}."
        )
    raise InputError(
        f"{parameter} holds {item!r}; use a boolean mask, or a list of "
        "column indices or names."
    )


# -- one column at a time -------------------------------------------------------------


#: Whole numbers below it are encoded by counting, others by sorting.
_N_SMALL = 256
#: Types that the count is compiled for; others are converted to float64.
_COUNTED_TYPES = frozenset(
    np.dtype(kind).str for kind in ("f8", "f4", "i8", "i4", "u1")
)
#: Advice for text in a numeric feature, where categorical features are accepted.
_CATEGORICAL_HINT = (
    "put it into a data frame as a column of category dtype, or correct the value."
)


def code_column(
    column: NDArray[Any] | pd.Series[Any], categories: NDArray[Any] | None, label: str
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the codes of values; NaN where missing or not among the categories."""
    try:
        # Only the different values are sorted and looked up, not every value.
        codes, found = pd.factorize(column)  # −1 where missing
        unique_values = object_if_text(np.asarray(found))
        if categories is None:
            categories = _sorted_unique(unique_values)
        places = pd.Index(categories).get_indexer(pd.Index(unique_values))
    except TypeError as error:
        raise InputError(
            f"{label} holds something that is neither text nor a number nor missing "
            f"({error}); turn it into text."
        ) from error
    places = np.where(places < 0, np.nan, places)
    return np.append(places, np.nan)[codes], categories


def _sorted_unique(values: NDArray[Any]) -> NDArray[Any]:
    try:
        return np.unique(values)
    except TypeError:  # text and numbers: sort by type, then by value
        unique = sorted(set(values.tolist()), key=lambda v: (type(v).__name__, v))
        result = np.empty(len(unique), dtype=object)
        result[:] = unique
        return result


def code_series(
    series: Any, known: NDArray[Any] | None, label: str
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Encode a categorical column of a data frame.

    A polars Categorical declares no categories: its list grows as other columns are
    read, so the observed values are used.
    """
    if not isinstance(series, pd.Series):
        if known is None and isinstance(series.dtype, nw.Enum):
            known = np.array(series.dtype.categories, dtype=object)
        if isinstance(series.dtype, nw.String):
            # From a list, because arrays of text lose a zero byte at the end.
            return code_column(np.array([*series.to_list(), None])[:-1], known, label)
        return code_column(object_if_text(series.to_numpy()), known, label)
    if isinstance(series.dtype, pd.CategoricalDtype):
        # It holds codes already; only its categories are looked up.
        array: Any = series.array
        codes = array.codes
        declared = object_if_text(series.dtype.categories.to_numpy())
        if known is None:
            if codes.min(initial=0) >= 0:
                return codes, declared
            return np.where(codes < 0, np.nan, codes), declared
        places, categories = code_column(declared, known, label)
        return np.append(places, np.nan)[codes], categories
    if isinstance(series.dtype, pd.StringDtype):
        return code_column(
            series, known, label
        )  # its own hashing beats that of objects
    column = nw.from_native(series, series_only=True).to_numpy()
    return code_column(object_if_text(column), known, label)


def code_small_integers(
    X: NDArray[Any],
    values: NDArray[Any],
    categorical: BoolArray,
    categories: list[NDArray[Any] | None],
) -> tuple[NDArray[Any], BoolArray]:
    """Encode categorical features of whole numbers 0 to 255, many at a time.

    Binned data have thousands of such features; encoding each by its sorted values
    would take longer than scoring it.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The table, of numbers.
    values : array of shape (n_samples, n_features)
        The same as floats; X itself, if it is float. X is not written to.
    categorical : bool array of shape (n_features,)
        Which features to encode.
    categories : list of n_features arrays or None
        The categories of the encoded features are written here.

    Returns
    -------
    values : array of shape (n_samples, n_features)
        With codes in the encoded features; a copy, if X would have been written to.
    remaining : bool array of shape (n_features,)
        Which features are not encoded yet.
    """
    columns = np.flatnonzero(categorical)
    seen = np.zeros((columns.size, _N_SMALL), dtype=bool)
    fits = np.ones(columns.size, dtype=bool)
    source = X if X.dtype.str in _COUNTED_TYPES else values
    if source.flags.f_contiguous:
        seen_by_column(source.T, columns, seen, fits)
    else:
        seen_by_row(source, columns, seen, fits)
    n_values, largest = count_seen(seen)
    whole = np.arange(_N_SMALL).astype(X.dtype)
    for k in np.flatnonzero(fits).tolist():
        j = columns[k]
        if n_values[k] == largest[k] + 1:  # it holds its own codes already
            categories[j] = whole[: n_values[k]].copy()
            continue
        categories[j] = whole[seen[k]]
        places = np.append(np.cumsum(seen[k]) - 1.0, np.nan)
        number = np.where(np.isnan(source[:, j]), _N_SMALL, source[:, j])
        if values is X:
            values = X.copy(order="K")
        values[:, j] = places[number.astype(np.intp)]
    remaining = categorical.copy()
    remaining[columns[fits]] = False
    return values, remaining


def read_numbers(
    column: NDArray[Any], label: str, *, cure: str = _CATEGORICAL_HINT
) -> NDArray[Any]:
    """Convert a column to floats; the error shows the first value without a number."""
    kind = column.dtype.kind
    if kind in "fiub":
        return column.astype(np.float64)
    if kind in "mM":
        raise InputError(
            f"{label} holds dates or times; turn it into a number (days since "
            "some day, say) or into a category."
        )
    missing = np.asarray(pd.isna(column))
    result = np.full(column.shape, np.nan)
    try:
        result[~missing] = column[~missing].astype(np.float64)
    except (TypeError, ValueError):
        value = next(v for v in column[~missing] if not is_number(v))
        raise InputError(
            f"{label} holds {quote(value)}, which is not a number; {cure}"
        ) from None
    return result


def object_if_text(values: NDArray[Any]) -> NDArray[Any]:
    """Convert text to Python strings, so that fixed-width dtypes cut no category."""
    return values.astype(object) if values.dtype.kind in "UST" else values
