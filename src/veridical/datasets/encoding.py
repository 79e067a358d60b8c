"""Tables become arrays: nominal columns as codes, missing values as NaN.

Selectors and learners compute on one float matrix and a mask that says which of its
columns are nominal. ``encode`` makes both from whatever people hold in their hands:
numpy arrays, data frames of pandas, polars or pyarrow, lists of rows. It also says
what a table must be: a frame whose rows are not computed yet is refused here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import issparse

from veridical._records import InputError
from veridical.datasets.coding import (
    code_column,
    code_series,
    code_small_integers,
    object_if_text,
    read_numbers,
)
from veridical.datasets.columns import (
    BoolArray,
    Categories,
    choose_nominal,
    mask_of_known,
)
from veridical.datasets.wording import listed, show

#: Elements looked at in one go when searching for infinities: bounds the mask's size.
_CHUNK = 1 << 22


@dataclass(frozen=True, eq=False)
class Encoded:
    """A table as numbers.

    Parameters
    ----------
    values : array of shape (n_samples, n_features)
        float32 if every column was, else float64; nominal columns hold codes
        ``0, 1, ...`` into their categories, NaN marks a missing value. It may share
        memory with the input.
    nominal : bool array of shape (n_features,)
        Which columns are nominal.
    categories : tuple of n_features arrays or None
        The values behind the codes; None for a numeric column.
    feature_names : object array of shape (n_features,) or None
        Column names, where the input has names that are strings.
    """

    values: NDArray[Any]
    nominal: BoolArray
    categories: Categories
    feature_names: NDArray[Any] | None


def encode(
    X: Any,
    categorical_features: Any = "from_dtype",
    *,
    categories: Categories | None = None,
    name: str = "X",
) -> Encoded:
    """Turn a table into a matrix of numbers and codes.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features)
        numpy, pandas, polars, pyarrow or a list of rows. Float arrays without nominal
        columns are not copied.
    categorical_features : "from_dtype", None, bool mask, integer indices or names
        Which columns are nominal. ``"from_dtype"`` takes the category, string and
        boolean columns of a data frame, and none of an array.
    categories : tuple, optional
        The ``categories`` of an earlier call. They then say which columns are nominal
        and what the codes mean; ``categorical_features`` is not looked at, and a value
        that is not among them becomes NaN.
    name : str, default="X"
        What error messages call the table.

    Returns
    -------
    Encoded
        The matrix, the nominal columns, their categories and the column names.

    Raises
    ------
    InputError
        For text in a column that is not nominal, infinite or complex numbers, dates,
        sparse input, lazy frames, duplicate column names, or a
        ``categorical_features`` that does not fit the columns.

    Notes
    -----
    The categories of a category (or polars Enum) column are those it declares, in the
    order it declares them; any other nominal column has its observed values, sorted.

    Examples
    --------
    >>> import pandas as pd
    >>> from veridical.datasets import encode
    >>> X = pd.DataFrame({"size": [1.5, None, 3.0], "colour": ["red", "blue", None]})
    >>> table = encode(X)
    >>> table.values
    array([[1.5, 1. ],
           [nan, 0. ],
           [3. , nan]])
    >>> table.nominal
    array([False,  True])
    >>> table.categories[1].tolist()
    ['blue', 'red']
    """
    if issparse(X):
        raise InputError(
            "X is a sparse matrix, but a dense table is needed here; use X.toarray()."
        )
    if isinstance(X, np.ndarray):  # narwhals would look long before it lets it pass
        return _encode_array(_as_matrix(X), categorical_features, categories, name)
    refuse_lazy(X, name)
    refuse_repeated(X, name)
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return _encode_frame(frame, categorical_features, categories, name)
    return _encode_array(_as_matrix(X), categorical_features, categories, name)


def _encode_array(
    X: NDArray[Any], categorical_features: Any, known: Categories | None, name: str
) -> Encoded:
    n_features = X.shape[1]

    def label(j: Any) -> str:
        return f"Column {j} of {name}"

    if known is None:
        nominal = choose_nominal(
            categorical_features, n_features, None, np.zeros(n_features, dtype=bool)
        )
    else:
        nominal = mask_of_known(known, n_features)
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
            for j in np.flatnonzero(~nominal):
                values[:, j] = read_numbers(X[:, j], label(j))
    categories: list[NDArray[Any] | None] = [None] * n_features
    rest = nominal
    if known is None and nominal.any() and X.dtype.kind in "fiub":
        values, rest = code_small_integers(X, values, nominal, categories)
    for j in np.flatnonzero(rest):
        column = object_if_text(X[:, j])
        codes, categories[j] = code_column(
            column, known[j] if known else None, label(j)
        )
        # A column that already holds its own codes need not be written (nor X copied).
        if values is X and not np.array_equal(codes, column, equal_nan=True):
            values = X.copy(order="K")
        if values is not X:
            values[:, j] = codes
    if not nominal.all():  # codes are finite
        _refuse_infinite(values, label)
    return Encoded(values, nominal, tuple(categories), None)


def _encode_frame(
    frame: nw.DataFrame[Any],
    categorical_features: Any,
    known: Categories | None,
    name: str,
) -> Encoded:
    names = frame.columns
    n_samples, n_features = frame.shape
    _refuse_empty(n_samples, n_features)

    def label(j: Any) -> str:
        return f"Column {show(names[j])} of {name}"

    by_dtype, is_number, is_single = _kinds(frame)
    if known is None:
        nominal = choose_nominal(categorical_features, n_features, names, by_dtype)
    else:
        nominal = mask_of_known(known, n_features)
    # Numbers are taken in one block, so that a wide table costs no loop over columns.
    block = np.flatnonzero(is_number & ~nominal)
    if block.size == n_features:
        dtype = np.float32 if is_single else np.float64
        values = np.asarray(frame.to_numpy(), dtype=dtype)
    else:
        values = np.empty((n_samples, n_features), order="F")
        if block.size:
            values[:, block] = frame[:, block.tolist()].to_numpy()
    categories: list[NDArray[Any] | None] = [None] * n_features
    for j, series in _columns(frame, np.flatnonzero(nominal)):
        values[:, j], categories[j] = code_series(
            series, known[j] if known else None, label(j)
        )
    for j in np.flatnonzero(~is_number & ~nominal).tolist():
        column = frame[:, j].to_numpy()
        values[:, j] = read_numbers(object_if_text(column), label(j))
    if not nominal.all():  # codes are finite
        _refuse_infinite(values, label)
    feature_names = None
    if all(isinstance(name, str) for name in names):
        feature_names = np.array(names, dtype=object)
    return Encoded(values, nominal, tuple(categories), feature_names)


# -- columns -------------------------------------------------------------------------


def _is_nominal(dtype: nw.dtypes.DType) -> bool:
    return isinstance(dtype, (nw.Categorical, nw.Enum, nw.String, nw.Boolean))


def _kinds(frame: nw.DataFrame[Any]) -> tuple[BoolArray, BoolArray, bool]:
    """Which columns are nominal by their type, which are numbers, and all float32?"""
    native: Any = frame.to_native()
    n_features = frame.shape[1]
    nominal, numeric = np.zeros((2, n_features), dtype=bool)
    rest, is_single = np.arange(n_features), True
    if isinstance(native, pd.DataFrame):
        # A pandas category is seen at once; to ask narwhals takes longer than to code.
        kinds = [isinstance(d, pd.CategoricalDtype) for d in native.dtypes.array]
        nominal[:] = kinds
        rest = np.flatnonzero(~nominal)
        is_single = rest.size == n_features
        if 0 < rest.size < n_features:
            frame = nw.from_native(native.iloc[:, rest], eager_only=True)
    if rest.size:
        dtypes = list(frame.schema.values())
        nominal[rest] = [_is_nominal(dtype) for dtype in dtypes]
        numeric[rest] = [dtype.is_numeric() for dtype in dtypes]
        is_single = is_single and set(dtypes) == {nw.Float32}
    return nominal, numeric, is_single


def _columns(frame: nw.DataFrame[Any], wanted: NDArray[Any]) -> Iterator[Any]:
    """Give some columns with their places; those of pandas as they are.

    To wrap or index hundreds of columns one by one takes longer than to code them.
    """
    native: Any = frame.to_native()
    if not isinstance(native, pd.DataFrame):
        yield from ((j, frame[:, j]) for j in wanted.tolist())
    elif 2 * wanted.size < frame.shape[1]:
        yield from ((j, native.iloc[:, j]) for j in wanted.tolist())
    else:
        asked = set(wanted.tolist())
        for j, (_, series) in enumerate(native.items()):
            if j in asked:
                yield j, series


# -- what is refused -----------------------------------------------------------------


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
    _refuse_empty(*array.shape)
    return array


def _refuse_empty(n_samples: int, n_features: int) -> None:
    for count, what in ((n_samples, "sample"), (n_features, "feature")):
        if count == 0:
            raise InputError(
                f"Found array with 0 {what}(s) (shape=({n_samples}, {n_features})) "
                f"while a minimum of 1 is required; X holds no {what}s."
            )


def _refuse_infinite(values: NDArray[Any], label: Callable[[Any], str]) -> None:
    with np.errstate(all="ignore"):
        if np.isfinite(values.sum(dtype=np.float64)):
            return  # the common case: one pass, no temporary
    width = max(1, _CHUNK // len(values))
    for start in range(0, values.shape[1], width):
        where = np.isinf(values[:, start : start + width])
        if where.any():
            j = start + int(np.flatnonzero(where.any(axis=0))[0])
            row = int(np.flatnonzero(np.isinf(values[:, j]))[0])
            raise InputError(
                f"{label(j)} holds an infinite value (row {row}); replace it by "
                "a finite number or by NaN for missing."
            )


def column_names(X: Any) -> list[Any] | None:
    """Return the column names of a data frame of any library, None for an array.

    Examples
    --------
    >>> column_names(pd.DataFrame({"size": [1.5], "colour": ["red"]}))
    ['size', 'colour']
    """
    if isinstance(X, pd.DataFrame):
        return list(X.columns)
    if isinstance(X, np.ndarray) or issparse(X):
        return None
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return list(frame.columns) if isinstance(frame, nw.DataFrame) else None


def refuse_lazy(X: Any, name: str = "X") -> None:
    """Refuse a frame that is a query whose rows have not been computed.

    Parameters
    ----------
    X : object
        The table as the user gave it.
    name : str, default="X"
        What the message calls the table.

    Raises
    ------
    InputError
        For a lazy frame of any library; it says how to get its rows.
    """
    if isinstance(X, (np.ndarray, pd.DataFrame)) or issparse(X):
        return
    if nw.dependencies.is_pyarrow_table(X):  # narwhals minds names that repeat
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


def refuse_repeated(X: Any, name: str = "X") -> None:
    """Refuse a data frame in which two columns have one name."""
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
