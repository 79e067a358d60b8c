"""Tables in numpy's npz archives: dense, or sparse in compressed rows.

Dense: ``X``, ``y`` and optionally ``feature_names``. Sparse: ``data``, ``indices``,
``indptr`` and ``shape`` in place of ``X``. Nothing in an archive is unpickled, and the
sizes that it declares are checked before memory is allocated.
"""

from __future__ import annotations

import warnings
import zipfile
from math import prod
from pathlib import Path
from typing import Any

import pandas as pd
from numpy.lib import format as npy
from numpy.typing import NDArray
from scipy.sparse import csr_array

from veridical._core.errors import InputError
from veridical._core.reading import check_features
from veridical._core.text import did_you_mean, listed, number_repeated, plural
from veridical.datasets.limits import memory, too_much
from veridical.datasets.unsupported import refuse_unsupported_archive

_CSR = ("data", "indices", "indptr", "shape")


def read_npz(
    path: Path, target: str | None, name: str, *, with_names: bool = True
) -> tuple[Any, NDArray[Any]]:
    """Read a table from an npz archive.

    Parameters
    ----------
    path : Path
        The archive.
    target : str or None
        The array with the class; None means ``y``.
    name : str
        Name of the file in messages.
    with_names : bool, default=True
        Whether a dense table with ``feature_names`` becomes a data frame.

    Returns
    -------
    X : DataFrame, array or csr_array
        A data frame where the features of a dense table have names; repeated names get
        numbers from the second time on.
    y : array
        The labels.
    """
    refuse_unsupported_archive(path, name)
    try:
        with zipfile.ZipFile(path) as archive:
            arrays = _Arrays(archive, name)
            y = arrays.take("y" if target is None else target)
            X = _dense(arrays, with_names) if "X" in arrays else _sparse(arrays)
    except InputError:
        raise
    except Exception as error:  # whatever zipfile raises, the file is at fault
        raise InputError(
            f"{name} is damaged or not an npz archive ({error}); copy or save it again."
        ) from error
    if y.ndim != 1 or len(y) != X.shape[0]:
        raise InputError(
            f"{name} has {X.shape[0]} rows, but its labels have the shape {y.shape}; "
            "there must be one per row."
        )
    check_features(X, name)
    return X, y


class _Arrays:
    """The arrays of an archive, each checked before it is expanded."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self.archive = archive
        self.name = name
        self.members = {
            member.filename.removesuffix(".npy"): member
            for member in archive.infolist()
            if member.filename.endswith(".npy")
        }
        self.room = memory()

    def __contains__(self, key: str) -> bool:
        return key in self.members

    def take(self, key: str) -> NDArray[Any]:
        if key not in self:
            raise InputError(
                f"{self.name} has no array {key!r}{did_you_mean(key, self.members)} "
                f"The arrays are {listed(self.members)}."
            )
        member = self.members[key]
        what = f"The array {key!r} of {self.name}"
        try:
            with self.archive.open(member) as stream:
                declared = _declared_bytes(stream, what)
                rest = member.file_size - stream.tell()
            if declared != rest:
                raise InputError(
                    f"{what} declares {declared} bytes but {rest} are stored; the file "
                    "is damaged. Copy or save it again."
                )
            if declared > self.room:
                raise InputError(
                    f"{what} would take {declared / 2**30:.1f} GiB, more than the "
                    "memory of this computer; use a smaller file or a larger computer."
                )
            if too_much(declared, member.compress_size):
                raise InputError(
                    f"{what} expands to {declared / 2**20:.0f} MiB from "
                    f"{member.compress_size / 2**20:.1f}; it may be a "
                    "decompression bomb. If you trust it, save it with numpy.savez, "
                    "which does not compress."
                )
            self.room -= declared
            with self.archive.open(member) as stream:
                return npy.read_array(stream, allow_pickle=False)
        except InputError:
            raise
        except (ValueError, RuntimeError, NotImplementedError) as error:
            raise InputError(
                f"{what} cannot be read ({error}); save it again with numpy.savez."
            ) from error


def _declared_bytes(stream: Any, what: str) -> int:
    version = npy.read_magic(stream)
    if version == (1, 0):
        shape, _, dtype = npy.read_array_header_1_0(stream)
    elif version == (2, 0):
        shape, _, dtype = npy.read_array_header_2_0(stream)
    else:
        raise ValueError(f"npy version {version} is not supported")
    if dtype.hasobject:
        raise InputError(
            f"{what} holds Python objects, which are never loaded because they could "
            "run code; save numbers or text of fixed width."
        )
    return prod(shape) * dtype.itemsize


def _dense(arrays: _Arrays, with_names: bool) -> Any:
    X = arrays.take("X")
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise InputError(
            f"The array 'X' of {arrays.name} has the shape {X.shape} and the type "
            f"{X.dtype}; it must be a matrix of numbers."
        )
    if not (with_names and "feature_names" in arrays):
        return X
    names = _feature_names(arrays, X.shape[1])
    repeated = names[names.duplicated()].unique()
    if len(repeated):  # as where several probes measure one gene
        names = pd.Index(number_repeated(names), dtype=object)
        warnings.warn(
            f"{arrays.name} has more than one column named {listed(repeated)}; from "
            f"the second on they are numbered, as {listed([f'{repeated[0]} #2'])}.",
            stacklevel=2,
        )
    return pd.DataFrame(X, columns=names, copy=False)


def _sparse(arrays: _Arrays) -> Any:
    missing = [key for key in _CSR if key not in arrays]
    if missing:
        raise InputError(
            f"{arrays.name} holds no table: there is neither an array 'X' nor, for a "
            f"sparse one, the {plural('array', missing)} {listed(missing)}."
        )
    shape = arrays.take("shape")
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or min(shape) < 1:
        raise InputError(
            f"The array 'shape' of {arrays.name} must be two positive whole numbers."
        )
    n_rows, n_columns = (int(size) for size in shape)
    if n_columns * 8 > arrays.room:
        raise InputError(
            f"{arrays.name} declares {n_columns} columns, more than fit into the "
            "memory of this computer; the file may be damaged."
        )
    if "feature_names" in arrays:
        _feature_names(arrays, n_columns)
    data, indices, indptr = (arrays.take(key) for key in _CSR[:3])
    if data.dtype.kind not in "fiub" or {indices.dtype.kind, indptr.dtype.kind} - {
        *"iu"
    }:
        raise InputError(f"The sparse table of {arrays.name} must hold numbers.")
    try:
        X = csr_array((data, indices, indptr), shape=(n_rows, n_columns))
        X.check_format(full_check=True)
    except ValueError as error:
        raise InputError(
            f"The sparse table of {arrays.name} is inconsistent ({error}); save "
            "it again with scipy.sparse.save_npz or numpy.savez."
        ) from error
    return X


def _feature_names(arrays: _Arrays, n_columns: int) -> pd.Index:
    names = arrays.take("feature_names")
    if names.dtype.kind not in "UT" or names.shape != (n_columns,):
        raise InputError(
            f"The array 'feature_names' of {arrays.name} must hold {n_columns} texts, "
            "one per column."
        )
    return pd.Index(names.tolist(), dtype=object)
