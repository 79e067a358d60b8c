"""Matrices that are read a block of columns at a time.

A `LazyMatrix` takes the place of an array where the data are not, or should not be, in
memory as a whole: a file, an array of another library, integers that would take eight
times their memory as doubles. Criteria read it by `parts`; whatever needs all of it
gets it by `load`, if it fits into the limit.

The values of a block are those that reading everything would give, so that results are
the same, bit for bit.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from veridical._core.advice import for_users
from veridical._core.arrays import BoolArray, IntArray
from veridical._core.errors import InputError
from veridical._core.text import quote

if TYPE_CHECKING:
    import pandas as pd

#: Limit where none is given, in bytes.
DEFAULT_LIMIT = 1 << 30
#: Share of the limit that data may take to be read as a whole: searches hold a copy.
_WHOLE = 1 / 2
#: Share of the limit for a block, beside which its conversion and sums need memory.
_BLOCK = 1 / 8

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_UNITS |= {f"{unit}I": 2 ** (10 * k) for k, unit in enumerate("KMGT", 1)}


class Reader(Protocol):
    """Reads columns of a matrix of numbers."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        ...

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the numbers that are read, float32 or float64."""
        ...

    def read(self, columns: IntArray) -> Any:
        """Read some columns into an array, or into a CSC matrix."""
        ...


def read_bytes(limit: Any) -> int:
    """Read an amount of memory.

    Parameters
    ----------
    limit : int or str
        A number of bytes, or a number with a unit: "500MB", "2GB", "1.5 GiB".

    Examples
    --------
    >>> read_bytes("2GB"), read_bytes("1 KiB"), read_bytes(100)
    (2000000000, 1024, 100)
    """
    found = re.fullmatch(r"\s*([0-9.]+)\s*([KMGT]?I?)B?\s*", str(limit).upper())
    try:
        n_bytes = int(float(found[1]) * _UNITS[found[2]]) if found else 0
    except (ValueError, KeyError):
        n_bytes = 0
    if n_bytes < 1 or isinstance(limit, bool):
        raise InputError(
            f"memory_limit={limit!r} is not an amount of memory; give a number of "
            "bytes, or a number with a unit such as '500MB' or '2GB'."
        )
    return n_bytes


def is_lazy(X: Any) -> bool:
    """Return whether a matrix is read by blocks."""
    return isinstance(X, LazyMatrix)


@dataclass(frozen=True, eq=False)
class LazyMatrix:
    """Features that are read a block at a time.

    Parameters
    ----------
    reader : Reader
        Reads columns.
    names : tuple of str or None
        Names of the columns, where there are any.
    categorical : bool array of shape (n_columns,)
        Which columns hold codes of categories.
    categories : tuple
        Their categories; None for a column of numbers.
    memory_limit : int or None
        Bytes that may be used; None where the data are in memory already, in another
        form, so that nothing is refused.
    n_bytes : int or None
        Memory of the whole matrix; by default that of a dense one.
    title : str
        What messages call it.
    complete_for : str
        A reader of this name does not accept missing values; "" accepts them.
    side_columns : mapping of str to callable
        Columns that are no features and can be asked for by name, such as the group of
        every sample; the callable reads one.
    """

    reader: Reader
    names: tuple[str, ...] | None = None
    categorical: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    categories: tuple[NDArray[Any] | None, ...] = ()
    memory_limit: int | None = DEFAULT_LIMIT
    n_bytes: int | None = None
    title: str = "X"
    complete_for: str = ""
    side_columns: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    _rows: IntArray | None = None
    _columns: IntArray | None = None

    def __post_init__(self) -> None:
        if not self.categories:
            n = self.reader.shape[1]
            object.__setattr__(self, "categorical", np.zeros(n, dtype=np.bool_))
            object.__setattr__(self, "categories", (None,) * n)

    # -- what arrays have ------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        n, p = self.reader.shape
        n = n if self._rows is None else self._rows.size
        return n, p if self._columns is None else self._columns.size

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the numbers, float32 or float64."""
        return self.reader.dtype

    @property
    def ndim(self) -> int:
        """Number of dimensions, 2."""
        return 2

    @property
    def nbytes(self) -> int:
        """Memory that the matrix takes as a whole."""
        n, p = self.shape
        if self.n_bytes is None:
            return n * p * self.dtype.itemsize
        whole = max(1, self.reader.shape[0] * self.reader.shape[1])
        return int(self.n_bytes * (n * p / whole))

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        loaded = self.load()
        dense = loaded.toarray() if sparse.issparse(loaded) else loaded
        return np.asarray(dense, dtype=dtype)

    @property
    def is_on_device(self) -> bool:
        """Whether the values are in the memory of a GPU."""
        return hasattr(self.reader, "device_array")

    @property
    def device_array(self) -> Any:
        """The values, where they are in the memory of a GPU; parts are copied."""
        found: Any = vars(self.reader)["device_array"]
        if self._rows is not None:
            found = found[self._rows]
        return found if self._columns is None else found[:, self._columns]

    # -- parts -----------------------------------------------------------------------

    def take_columns(self, columns: Any) -> LazyMatrix:
        """Take some columns, or put them in another order; nothing is read."""
        places = np.arange(self.shape[1])[columns]
        names = self.names
        return replace(
            self,
            names=None if names is None else tuple(names[j] for j in places),
            categorical=self.categorical[places],
            categories=tuple(self.categories[j] for j in places),
            _columns=places if self._columns is None else self._columns[places],
        )

    def take_rows(self, rows: Any) -> LazyMatrix:
        """Take some rows; nothing is read."""
        places = np.arange(self.shape[0])[rows]
        if np.array_equal(places, np.arange(self.shape[0])):
            return self
        return replace(self, _rows=places if self._rows is None else self._rows[places])

    def without_missing(self, reader: str) -> LazyMatrix:
        """Raise for missing values when they are read; `reader` is named then."""
        return replace(self, complete_for=reader)

    @property
    def fits(self) -> bool:
        """Whether the whole may be read into memory."""
        return self.memory_limit is None or self.nbytes <= _WHOLE * self.memory_limit

    @property
    def n_loadable(self) -> int:
        """Number of columns that may be read into memory at a time, 1 or more."""
        p = self.shape[1]
        if self.memory_limit is None:
            return p
        return max(1, int(_WHOLE * self.memory_limit * p / max(self.nbytes, 1)))

    def load(self) -> Any:
        """Read everything into memory: an array, or a CSC matrix.

        Raises
        ------
        InputError
            If that takes more memory than allowed.
        """
        if not self.fits:
            assert self.memory_limit is not None
            raise InputError(
                f"{self.title} would take {_write_size(self.nbytes)} in memory, but "
                f"at most half of memory_limit ({_write_size(self.memory_limit)}) may "
                "hold it; "
                + for_users(
                    "raise memory_limit, or use select, discover or rank_many with a "
                    "selector that reads features by blocks (AnovaF, Correlation, "
                    "Variance, InformationGain, FCBF, MRMR, DifferentialPrioritization)"
                    ".",
                    "raise --memory-limit, or use select or discover with a selector "
                    "that reads features by blocks (anova, correlation, variance, "
                    "information-gain, fcbf, mrmr, ddp).",
                )
            )
        return self.read(np.arange(self.shape[1]))

    def read(self, columns: IntArray) -> Any:
        """Read some columns: an array, or a CSC matrix, in memory."""
        asked = columns if self._columns is None else self._columns[columns]
        block = self.reader.read(asked)
        if self._rows is not None:
            if sparse.issparse(block):
                block = block.tocsr()[self._rows].tocsc()
            else:
                block = block[self._rows]
        self._check(block, columns)
        return block

    def parts(self, multiple: int = 1) -> Iterator[tuple[int, Any]]:
        """Iterate over blocks of columns, each with the number of its first column.

        Parameters
        ----------
        multiple : int, default=1
            Blocks begin at multiples of this.
        """
        for columns in self.ranges(multiple):
            yield int(columns[0]), self.read(columns)

    def ranges(self, multiple: int = 1) -> Iterator[IntArray]:
        """Iterate over the columns of blocks, which are not read; see `parts`."""
        p = self.shape[1]
        limit = DEFAULT_LIMIT if self.memory_limit is None else self.memory_limit
        per_column = max(1, self.nbytes // max(p, 1))
        width = max(1, int(_BLOCK * limit) // per_column)
        width = max(multiple, width // multiple * multiple)
        for first in range(0, p, width):
            yield np.arange(first, min(first + width, p))

    def __getitem__(self, key: Any) -> Any:
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        if isinstance(rows, np.ndarray) and rows.ndim == 2:  # of numpy.ix_
            rows, columns = rows[:, 0], columns[0]
        single = isinstance(columns, (int, np.integer))
        places = np.atleast_1d(np.arange(self.shape[1])[columns])
        values = self.take_columns(places).load()
        if sparse.issparse(values):
            values = values.tocsr()
        if not (isinstance(rows, slice) and rows == slice(None)):
            values = values[rows]
        return values[..., 0] if single else values

    # -- columns by name -------------------------------------------------------------

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, made up as x0, x1, ... where there are none."""
        return self.names or tuple(f"x{j}" for j in range(self.shape[1]))

    def column(self, name: str) -> NDArray[Any]:
        """Read one column as it was stored: numbers, or categories."""
        if name in self.side_columns:
            side_columns = np.asarray(self.side_columns[name]())
            return side_columns if self._rows is None else side_columns[self._rows]
        j = self.columns.index(name)
        values = self.read(np.array([j]))
        dense = (values.toarray() if sparse.issparse(values) else values)[:, 0]
        categories = self.categories[j]
        if categories is None:
            return np.asarray(dense)
        known = np.append(categories.astype(object), [None])
        return np.asarray(known[np.where(np.isnan(dense), -1, dense).astype(np.intp)])

    def categorical_frame(self) -> pd.DataFrame:
        """Return the categorical columns, which are in memory, as a data frame."""
        import pandas as pd

        wanted = np.flatnonzero(self.categorical).tolist()
        names = [self.columns[j] for j in wanted]
        found = {name: pd.Categorical(self.column(name)) for name in names}
        return pd.DataFrame(found, index=range(self.shape[0]))

    def drop(self, names: Any) -> LazyMatrix:
        """Leave out columns by their names."""
        left_out = set(names)
        kept = [j for j, name in enumerate(self.columns) if name not in left_out]
        return self.take_columns(np.array(kept, dtype=np.intp))

    # -- checks ----------------------------------------------------------------------

    def _check(self, block: Any, columns: IntArray) -> None:
        """Raise for infinite values, and for missing ones where these are refused."""
        values = block.data if sparse.issparse(block) else block
        with np.errstate(all="ignore"):
            if np.isfinite(values.sum(dtype=np.float64)):
                return
        dense = block.tocoo() if sparse.issparse(block) else None
        for is_bad, words in (
            (
                np.isinf,
                "holds an infinite value (row {row}); replace it by a finite number or "
                "by NaN for missing.",
            ),
            (
                np.isnan,
                f"is missing in row {{row}}, and {self.complete_for} cannot use "
                "missing values (X contains NaN); impute them, or use a selector that "
                "reads them.",
            ),
        ):
            if is_bad is np.isnan and not self.complete_for:
                return
            where = np.flatnonzero(is_bad(values)) if dense is not None else None
            if where is not None and where.size:
                assert dense is not None
                raise self._error(
                    columns[dense.col[where[0]]], dense.row[where[0]], words
                )
            if where is None:
                found = np.argwhere(is_bad(values).any(axis=0))
                if found.size:
                    j = int(found[0, 0])
                    row = int(np.flatnonzero(is_bad(values[:, j]))[0])
                    raise self._error(columns[j], row, words)

    def _error(self, j: Any, row: Any, words: str) -> InputError:
        which = int(j) if self.names is None else quote(self.names[int(j)])
        said = words.format(row=int(row))
        return InputError(f"Column {which} of {self.title} {said}")


def _write_size(n_bytes: int) -> str:
    for unit, power in (("GB", 9), ("MB", 6), ("kB", 3)):
        if n_bytes >= 10**power:
            return f"{n_bytes / 10**power:.3g} {unit}"
    return f"{n_bytes} bytes"


# -- arrays in files -----------------------------------------------------------------


def is_on_disk(X: Any) -> bool:
    """Return whether an array is a part of a memory map."""
    while isinstance(X, np.ndarray):
        if isinstance(X, np.memmap):
            return True
        X = X.base
    return False


def make_store(shape: tuple[int, int], dtype: Any, on_disk: bool) -> NDArray[Any]:
    """Make an array to be filled; on disk it is in a file that is deleted at the end.

    Parameters
    ----------
    shape : tuple of int
        Shape.
    dtype : dtype
        Type.
    on_disk : bool
        Whether the array lies in a file of the temporary folder (`TMPDIR`), of which
        the operating system holds in memory what there is room for.

    Raises
    ------
    InputError
        If the folder has too little room.
    """
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    if not on_disk or not size:
        return np.empty(shape, dtype=dtype)
    file = tempfile.TemporaryFile()  # noqa: SIM115 (the map outlives it)
    try:
        # A mapped page that the disk has no room for would end the process.
        allocate: Callable[..., None] | None = getattr(os, "posix_fallocate", None)
        if allocate is not None:
            allocate(file.fileno(), 0, size)
        mapped = np.memmap(file, dtype=dtype, mode="w+", shape=shape)
    except OSError as error:
        file.close()
        raise InputError(
            f"The search needs {_write_size(size)} in the temporary folder "
            f"{tempfile.gettempdir()} ({error.strerror}); make room, or set TMPDIR to "
            "a folder that has it."
        ) from error
    return np.asarray(mapped)
