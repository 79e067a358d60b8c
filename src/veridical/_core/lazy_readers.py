"""Readers of blocks of columns: arrays, data frames and sparse matrices of others.

Objects are recognized by the package of their type, and only their methods are called;
no package is imported here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from veridical._core.arrays import IntArray
from veridical._core.devices import device_matrix, is_on_device
from veridical._core.encoding import code_series, feature_kinds, refuse_repeated_names
from veridical._core.errors import InputError
from veridical._core.lazy import DEFAULT_LIMIT, LazyMatrix, read_bytes
from veridical._core.text import did_you_mean, listed, number_repeated, quote

#: Bytes of integers as doubles; up to it they are converted as a whole.
_CONVERTED_AS_A_WHOLE = 1 << 28
#: Stored values of compressed rows that are read at a time.
_STORED = 1 << 24


def by_blocks(X: Any, memory_limit: Any = DEFAULT_LIMIT) -> LazyMatrix:
    """Read features by blocks of columns, with limited memory.

    Selectors that score features one by one or in pairs, `select` and `discover` take
    the result in place of a table, and give what they give for the table in memory.

    Parameters
    ----------
    X : memory map, Dask array or data frame, h5py.Dataset, zarr.Array, pyarrow.dataset.Dataset or polars.LazyFrame
        Features of shape (n_samples, n_features). Rows must always come in the same
        order.
    memory_limit : int or str, default="1GiB"
        Memory for the data: bytes, or a text such as "2GB". Data that take less than
        half of it are read once as a whole; of others, blocks are read whenever they
        are needed. Searches (`MRMR`, `DifferentialPrioritization`) keep a copy in the
        temporary folder then.

    Returns
    -------
    LazyMatrix
        It has ``shape``, ``dtype`` and the names of the columns.

    Raises
    ------
    InputError
        If the type is not known, or columns are neither numbers nor categories.

    See Also
    --------
    read : Reads files; with ``memory_limit`` by blocks.

    Examples
    --------
    >>> import numpy as np
    >>> from veridical.datasets import by_blocks
    >>> from veridical.selection import AnovaF
    >>> X = np.arange(12.0).reshape(6, 2) % 5
    >>> AnovaF(1).fit(by_blocks(X, memory_limit="1kB"), [0, 0, 0, 1, 1, 1]).order_
    array([1, 0])
    """  # noqa: E501
    limit = read_bytes(memory_limit)
    found = as_lazy(X, limit)
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiub":
        found = LazyMatrix(ArrayReader(X), memory_limit=limit)
    elif isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame):
        found = _lazy_frame(X, limit)
    if not isinstance(found, LazyMatrix):
        raise InputError(
            f"X is a {type(X).__name__}, which is not read by blocks; pass a memory "
            "map, a Dask array or data frame, a dataset of h5py, zarr or pyarrow, or a "
            "lazy frame of polars. A table that is in memory needs no blocks."
        )
    return found


def as_lazy(X: Any, memory_limit: int | None = None) -> Any:
    """Return a matrix that is read by blocks, if X is not in memory; else X.

    Parameters
    ----------
    X : object
        What the user gave: arrays and data frames of Dask, datasets of h5py, zarr and
        pyarrow and arrays on a GPU are read by blocks, and AnnData is taken apart.
    memory_limit : int, optional
        In bytes.
    """
    if isinstance(X, LazyMatrix):
        return X
    if is_annotated(X):
        return annotated_matrix(X)
    if is_on_device(X):
        return device_matrix(X)
    kind = type(X).__module__.split(".")[0]
    if kind not in ("dask", "h5py", "zarr", "pyarrow"):
        return X
    limit = DEFAULT_LIMIT if memory_limit is None else memory_limit
    if kind == "pyarrow":
        return _arrow_dataset(X, limit) if hasattr(X, "to_table") else X
    if hasattr(X, "columns"):
        return _lazy_frame(X, limit)
    if not hasattr(X, "shape") or len(X.shape) != 2:
        raise InputError(
            f"X is a {type(X).__name__} of {kind} without rows and columns; pass an "
            "array of two dimensions."
        )
    if any(np.isnan(size) for size in X.shape):
        raise InputError(
            "X is a Dask array whose number of rows is not known; call "
            "X.compute_chunk_sizes() first."
        )
    if X.dtype.kind not in "fiub":
        raise InputError(
            f"X is a {type(X).__name__} of type {X.dtype}; pass an array of numbers."
        )
    return LazyMatrix(ArrayReader(X), memory_limit=limit)


def lazy_integers(X: Any) -> Any:
    """Return a large array of integers as a matrix that is converted by blocks."""
    if (
        type(X) in (np.ndarray, np.memmap)
        and X.ndim == 2
        and X.dtype.kind in "iub"
        and X.size * 8 > max(_CONVERTED_AS_A_WHOLE, X.nbytes)
    ):
        return LazyMatrix(ArrayReader(X), memory_limit=None)
    return X


# -- arrays --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ArrayReader:
    """Reads columns of an array of any library that can be indexed."""

    array: Any

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        n, p = self.array.shape
        return int(n), int(p)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the numbers that are read."""
        return np.dtype("f4" if self.array.dtype == np.float32 else "f8")

    def read(self, columns: IntArray) -> Any:
        """Read some columns."""
        if (
            isinstance(self.array, np.ndarray)
            and self.array.dtype == self.dtype
            and np.array_equal(columns, np.arange(self.shape[1]))
        ):
            return self.array
        runs = _cut_into_ranges(np.unique(columns))
        # Rows of the result are columns of the matrix: kernels work on features.
        out = np.empty((columns.size, self.shape[0]), dtype=self.dtype)
        done = 0
        for lo, hi in runs:
            part = self.array[:, lo:hi]
            part = part.compute() if hasattr(part, "compute") else part
            if sparse.issparse(part):
                part = part.toarray()
            out[done : done + hi - lo] = np.asarray(part).T
            done += hi - lo
        if done == columns.size and (np.diff(columns) > 0).all():
            return out.T
        return out[np.searchsorted(np.unique(columns), columns)].T


def _cut_into_ranges(columns: IntArray) -> list[tuple[int, int]]:
    """Cut ascending columns into ranges without gaps."""
    if not columns.size:
        return []
    gaps = np.flatnonzero(np.diff(columns) > 1) + 1
    return [(int(run[0]), int(run[-1]) + 1) for run in np.split(columns, gaps)]


# -- data frames ---------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FrameReader:
    """Reads columns of a data frame that is not in memory.

    Parameters
    ----------
    fetch : callable
        Returns some columns, by name, as a data frame of any library.
    columns : tuple of str
        All columns.
    n_rows : int
        Number of rows.
    dtype : dtype
        float32 if every column is, else float64.
    codes : mapping of int to int array
        Categorical columns, which are held in memory as codes; −1 is missing.
    """

    fetch: Callable[[list[str]], Any]
    columns: tuple[str, ...]
    n_rows: int
    dtype: np.dtype[Any]
    codes: dict[int, NDArray[Any]]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.n_rows, len(self.columns)

    def read(self, columns: IntArray) -> Any:
        """Read some columns."""
        out = np.empty((columns.size, self.n_rows), dtype=self.dtype)
        stored = [j for j in columns.tolist() if j not in self.codes]
        wanted = [self.columns[j] for j in dict.fromkeys(stored)]
        frame = nw.from_native(self.fetch(wanted), eager_only=True) if wanted else None
        for place, j in enumerate(columns.tolist()):
            if j in self.codes:
                codes = self.codes[j]
                out[place] = np.where(codes < 0, np.nan, codes)
            else:
                assert frame is not None
                numbers = frame[self.columns[j]].to_numpy()
                out[place] = numbers.astype(self.dtype, copy=False)
        return out.T


def _lazy_frame(X: Any, limit: int) -> LazyMatrix:
    """Read a lazy frame of polars or Dask, whose rows keep their order."""
    frame: Any = nw.from_native(X, pass_through=True)
    kind = type(X).__module__.split(".")[0]
    if not isinstance(frame, nw.LazyFrame) or kind not in ("polars", "dask"):
        raise InputError(
            f"X is a {type(X).__name__} of {kind}, which does not say in which order "
            "rows come; turn it into a table of polars, pandas or pyarrow first."
        )
    schema = frame.collect_schema()
    n_rows = int(frame.select(nw.len()).collect().item())

    def fetch(names: list[str]) -> Any:
        return frame.select(names).collect().to_native()

    return frame_matrix(fetch, list(schema), fetch_empty(frame), n_rows, limit)


def fetch_empty(frame: Any) -> Any:
    """Return a lazy frame without its rows, but with the types of its columns."""
    return frame.head(0).collect()


def _arrow_dataset(X: Any, limit: int) -> LazyMatrix:
    """Read a dataset of pyarrow: one file or many."""

    def fetch(names: list[str]) -> Any:
        return X.to_table(columns=names)

    empty = X.schema.empty_table()
    refuse_repeated_names(empty)
    frame = nw.from_native(empty, eager_only=True)
    return frame_matrix(fetch, X.schema.names, frame, X.count_rows(), limit)


def frame_matrix(
    fetch: Callable[[list[str]], Any],
    names: Sequence[str],
    empty: Any,
    n_rows: int,
    memory_limit: int,
    title: str = "X",
) -> LazyMatrix:
    """Make a matrix of a data frame that is read by columns.

    Parameters
    ----------
    fetch : callable
        Returns some columns, by name, as a data frame of any library.
    names : sequence of str
        The columns.
    empty : narwhals.DataFrame
        The frame without rows, with the types of its columns.
    n_rows : int
        Number of rows.
    memory_limit : int
        In bytes; categorical columns are held in memory.
    title : str
        Name of the table in messages.
    """
    if not n_rows or not len(names):
        raise InputError(f"{title} has no rows or no columns; nothing can be learned.")
    by_dtype, is_number, is_single = feature_kinds(empty)
    other = np.flatnonzero(~by_dtype & ~is_number)
    if other.size:
        column = names[int(other[0])]
        raise InputError(
            f"Column {quote(column)} of {title} is of type "
            f"{empty.schema[column]}, neither numbers nor categories; convert it, or "
            "leave the column out."
        )
    codes: dict[int, NDArray[Any]] = {}
    categories: list[NDArray[Any] | None] = [None] * len(names)
    for j in np.flatnonzero(by_dtype).tolist():
        label = f"Column {quote(names[j])} of {title}"
        series = nw.from_native(fetch([names[j]]), eager_only=True)[names[j]]
        found, categories[j] = code_series(_native_pandas(series), None, label)
        whole = np.where(np.isnan(found), -1, found)
        small = np.min_scalar_type(-int(whole.max(initial=0)) - 1)
        codes[j] = whole.astype(small)
        if sum(one.nbytes for one in codes.values()) > memory_limit:
            raise InputError(
                f"The categories of {title} take more than memory_limit; raise it, or "
                "leave categorical columns out."
            )
    dtype = np.dtype("f4" if is_single else "f8")
    return LazyMatrix(
        FrameReader(fetch, tuple(names), n_rows, dtype, codes),
        names=tuple(map(str, names)),
        categorical=by_dtype,
        categories=tuple(categories),
        memory_limit=memory_limit,
        title=title,
    )


def _native_pandas(series: Any) -> Any:
    """Return a series of pandas itself, as the encoding of tables in memory gets it."""
    native = series.to_native()
    return native if type(native).__module__.startswith("pandas") else series


# -- sparse matrices in files --------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SparseReader:
    """Reads columns of a matrix in compressed rows or columns.

    Parameters
    ----------
    data, indices, indptr : array-like
        Of h5py or zarr; only slices are read.
    shape : tuple of int
        Number of rows and of columns.
    by_column : bool
        Whether columns are compressed (CSC), rather than rows (CSR).
    matrix : sparse matrix, optional
        The matrix itself, where it is in memory.
    """

    data: Any
    indices: Any
    indptr: NDArray[np.int64]
    shape: tuple[int, int]
    by_column: bool
    matrix: Any = None

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the numbers that are read."""
        return np.dtype("f4" if self.data.dtype == np.float32 else "f8")

    @property
    def nbytes(self) -> int:
        """Memory of the whole matrix, with 4 bytes for an index."""
        return int(self.indptr[-1]) * (self.dtype.itemsize + 4)

    def read(self, columns: IntArray) -> Any:
        """Read some columns into a CSC matrix."""
        if self.matrix is not None:
            part = self.matrix.tocsc()
            if not np.array_equal(columns, np.arange(self.shape[1])):
                part = part[:, columns]
            return part.astype(self.dtype, copy=False)
        if self.by_column:
            return self._from_columns(columns)
        return self._from_rows(columns)

    def _from_columns(self, columns: IntArray) -> Any:
        parts = []
        for lo, hi in _cut_into_ranges(np.unique(columns)):
            start, stop = int(self.indptr[lo]), int(self.indptr[hi])
            data = np.asarray(self.data[start:stop]).astype(self.dtype, copy=False)
            rows = np.asarray(self.indices[start:stop]).astype(np.int32, copy=False)
            ends = self.indptr[lo : hi + 1] - start
            shape = (self.shape[0], hi - lo)
            parts.append(sparse.csc_array((data, rows, ends), shape=shape))
        block = parts[0] if len(parts) == 1 else sparse.hstack(parts, format="csc")
        return _in_order(block, columns)

    def _from_rows(self, columns: IntArray) -> Any:
        """Read all rows, some at a time, and keep what is in the columns."""
        wanted = np.unique(columns)
        place = np.full(self.shape[1], -1, dtype=np.int32)
        place[wanted] = np.arange(wanted.size, dtype=np.int32)
        parts, first = [], 0
        while first < self.shape[0]:
            start = int(self.indptr[first])
            last = int(np.searchsorted(self.indptr, start + _STORED, side="right")) - 1
            last = min(max(last, first + 1), self.shape[0])
            stop = int(self.indptr[last])
            where = place[np.asarray(self.indices[start:stop])]
            kept = where >= 0
            ends = np.concatenate([[0], np.cumsum(kept)])[
                self.indptr[first : last + 1] - start
            ]
            data = np.asarray(self.data[start:stop])[kept]
            some = (data.astype(self.dtype, copy=False), where[kept], ends)
            shape = (last - first, wanted.size)
            parts.append(sparse.csr_array(some, shape=shape))
            first = last
        return _in_order(sparse.vstack(parts, format="csr").tocsc(), columns)


def _in_order(block: Any, columns: IntArray) -> Any:
    """Put the columns of a block, which are ascending, in the order asked for."""
    if block.shape[1] == columns.size and (np.diff(columns) > 0).all():
        return block
    return block[:, np.searchsorted(np.unique(columns), columns)]


# -- matrices with names, and AnnData -------------------------------------------------


def stored_matrix(
    stored: Any,
    names: list[str] | None,
    memory_limit: int,
    title: str,
    side_columns: Mapping[str, Callable[[], Any]],
) -> LazyMatrix:
    """Make a matrix of an array, or of a group with a sparse matrix.

    Parameters
    ----------
    stored : array or sparse matrix, or array or group of h5py or zarr
        Where the numbers are.
    names : list of str or None
        Names of the features; repeated ones are numbered.
    memory_limit : int
        In bytes.
    title : str
        Name of the file in messages.
    side_columns : mapping of str to callable
        Columns that are no features, such as those of ``obs``.
    """
    reader: Any
    n_bytes = None
    if sparse.issparse(stored):
        stored = stored if stored.format in ("csr", "csc") else stored.tocsr()
        reader = SparseReader(
            stored.data,
            stored.indices,
            np.asarray(stored.indptr),
            stored.shape,
            stored.format == "csc",
            stored,
        )
        n_bytes = reader.nbytes
    elif hasattr(stored, "keys"):
        kind = stored.attrs.get("encoding-type", "")
        if kind not in ("csr_matrix", "csc_matrix"):
            raise InputError(
                f"The features of {title} are stored as {kind or 'a group'!r}, which "
                "is neither an array nor a sparse matrix; save them again as one."
            )
        n_rows, n_columns = (int(size) for size in stored.attrs["shape"])
        indptr = np.asarray(stored["indptr"][:]).astype(np.int64)
        reader = SparseReader(
            stored["data"],
            stored["indices"],
            indptr,
            (n_rows, n_columns),
            kind == "csc_matrix",
        )
        n_bytes = reader.nbytes
    else:
        if len(stored.shape) != 2 or stored.dtype.kind not in "fiub":
            raise InputError(
                f"The features of {title} have the shape {tuple(stored.shape)} and the "
                f"type {stored.dtype}; they must be a matrix of numbers."
            )
        reader = ArrayReader(stored)
    if names is not None and len(names) != reader.shape[1]:
        raise InputError(
            f"{title} has {reader.shape[1]} features, but {len(names)} names; save it "
            "again."
        )
    unique = None
    if names is not None:
        unique = tuple(number_repeated(names))
    return LazyMatrix(
        reader,
        names=unique,
        memory_limit=memory_limit,
        n_bytes=n_bytes,
        title=title,
        side_columns=side_columns,
    )


def annotated_matrix(adata: Any, layer: str | None = None) -> LazyMatrix:
    """Make a matrix of an AnnData object, in memory or backed by a file.

    Parameters
    ----------
    adata : AnnData
        Cells with their features in `X` or a layer, columns in `obs`, and the names of
        features in `var`.
    layer : str, optional
        The layer to use instead of `X`.
    """
    stored = adata.X
    if layer is not None:
        if layer not in adata.layers:
            known = list(adata.layers)
            raise InputError(
                f"layer={layer!r} is not a layer of X{did_you_mean(layer, known)} "
                f"There are {listed(known)}."
            )
        stored = adata.layers[layer]
    if stored is None:
        raise InputError("X is an AnnData object without X; name one of its layers.")
    side_columns = {
        str(one): (lambda one=one: adata.obs[one].to_numpy()) for one in adata.obs
    }
    stored = getattr(stored, "group", stored)  # a sparse matrix in a file
    in_memory = isinstance(stored, np.ndarray) or sparse.issparse(stored)
    limit = sys.maxsize if in_memory else DEFAULT_LIMIT
    return stored_matrix(stored, [*map(str, adata.var_names)], limit, "X", side_columns)


def is_annotated(X: Any) -> bool:
    """Return whether X is an AnnData object."""
    kind = type(X)
    return kind.__name__ == "AnnData" and kind.__module__.split(".")[0] == "anndata"
