"""Files that are read by blocks of columns: parquet, HDF5, zarr and AnnData's h5ad.

HDF5 and zarr hold what an npz archive holds: ``X``, ``y`` and optionally
``feature_names``. An AnnData file, in either format, has its target in ``obs``, the
names of its features in ``var``, and matrices in ``X`` and ``layers``.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from veridical._core.errors import InputError
from veridical._core.lazy import LazyMatrix
from veridical._core.lazy_readers import frame_matrix, stored_matrix
from veridical._core.reading import check_outcome
from veridical._core.text import did_you_mean, listed
from veridical.datasets.tables import as_labels

#: First bytes of an HDF5 file.
HDF5 = b"\x89HDF"


def open_parquet(
    path: Path, target: str | None, name: str, memory_limit: int
) -> tuple[LazyMatrix, NDArray[Any]]:
    """Open a parquet file, or a folder of them, and read its target.

    Parameters
    ----------
    path : Path
        The file.
    target : str or None
        The column with the class.
    name : str
        Name of the file in messages.
    memory_limit : int
        In bytes.
    """
    need("pyarrow", name, "a parquet file", "parquet")
    from pyarrow import dataset

    try:
        found = dataset.dataset(path, format="parquet")
        columns = [one for one in found.schema.names if not is_index(one)]
        n_rows = found.count_rows()
        empty = nw.from_native(found.schema.empty_table().select(columns))
    except Exception as error:  # whatever pyarrow raises, the file is at fault
        raise InputError(
            f"{name} is damaged or not a parquet file ({error}); copy or save it again."
        ) from error
    target = _choose(target, columns, f"column of {name}")
    features = [one for one in columns if one != target]

    def fetch(names: list[str]) -> Any:
        return found.to_table(columns=names)

    y = fetch([target]).column(target).to_pandas()
    kept = empty.select(features) if features else empty
    X = frame_matrix(fetch, features, kept, n_rows, memory_limit, name)
    return X, _check_target(y, name)


def is_index(column: str) -> bool:
    """Return whether a column holds row labels, by the name that pandas gives them."""
    return column.startswith("__index_level_") and column.endswith("__")


def open_hdf5(
    path: Path,
    target: str | None,
    name: str,
    memory_limit: int,
    layer: str | None = None,
) -> tuple[LazyMatrix, NDArray[Any]]:
    """Open an HDF5 file, of AnnData or with arrays X and y, and read its target.

    Parameters
    ----------
    path, target, name, memory_limit
        As in `open_parquet`; of AnnData the target is a column of ``obs``.
    layer : str, optional
        Of AnnData, the layer to read instead of X.
    """
    need("h5py", name, "an HDF5 file", "hdf5")
    import h5py

    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise InputError(
            f"{name} is damaged or not an HDF5 file ({error}); copy or save it again."
        ) from error
    return _open_group(file, target, name, memory_limit, layer)


def open_zarr(
    path: Path,
    target: str | None,
    name: str,
    memory_limit: int,
    layer: str | None = None,
) -> tuple[LazyMatrix, NDArray[Any]]:
    """Open a zarr folder, as `open_hdf5` opens a file."""
    need("zarr", name, "a zarr folder", "zarr")
    import zarr

    try:
        group = zarr.open_group(str(path), mode="r")
    except Exception as error:  # whatever zarr raises, the folder is at fault
        raise InputError(
            f"{name} is damaged or not a zarr folder ({error}); copy or save it again."
        ) from error
    return _open_group(group, target, name, memory_limit, layer)


def is_zarr(path: Path) -> bool:
    """Return whether a folder is in zarr's format."""
    return any((path / one).is_file() for one in ("zarr.json", ".zgroup"))


def need(package: str, name: str, kind: str, extra: str) -> None:
    """Raise if an optional package is not installed; the message names the extra."""
    if find_spec(package) is None:
        raise InputError(
            f"{name} is {kind}, which needs {package}; install it (pip install "
            f"{package}, or pip install 'veridical[{extra}]') or save the table as CSV."
        )


# -- HDF5 and zarr -------------------------------------------------------------------


def _open_group(
    group: Any, target: str | None, name: str, memory_limit: int, layer: str | None
) -> tuple[LazyMatrix, NDArray[Any]]:
    known = list(group.keys())
    if {"X", "obs", "var"} <= {*known}:
        return _open_annotated(group, target, name, memory_limit, layer)
    if layer is not None:
        raise InputError(
            f"layer={layer!r} is for AnnData, but {name} has no obs and var; leave it "
            "out."
        )
    for one in ("X", "y" if target is None else target):
        if one not in known:
            raise InputError(
                f"{name} has no array {one!r}{did_you_mean(one, known)} The arrays are "
                f"{listed(known)}; features are in X, and the target is in y, or in "
                "the array that the target names."
            )
    names = None
    if "feature_names" in known:
        names = [_text(one) for one in np.asarray(group["feature_names"][:])]
    y = pd.Series(_decoded(np.asarray(group["y" if target is None else target][:])))
    X = stored_matrix(group["X"], names, memory_limit, name, {})
    return X, _check_target(y, name, X.shape[0])


def _open_annotated(
    group: Any, target: str | None, name: str, memory_limit: int, layer: str | None
) -> tuple[LazyMatrix, NDArray[Any]]:
    """Open an AnnData file."""
    obs, var = group["obs"], group["var"]
    index = var.attrs.get("_index", "_index")
    names = [str(one) for one in _obs_column(var[_text(index)])]
    left_out = _text(obs.attrs.get("_index", "_index"))
    columns = [one for one in obs if one not in (left_out, "__categories")]
    target = _choose(target, columns, f"column of obs in {name}")
    side_columns = {
        one: (lambda one=one: _obs_column(obs[one])) for one in columns if one != target
    }
    stored = group["X"]
    if layer is not None:
        layers = list(group["layers"].keys()) if "layers" in group else []
        _choose(layer, layers, f"layer of {name}")
        stored = group["layers"][layer]
    X = stored_matrix(stored, names, memory_limit, name, side_columns)
    return X, _check_target(_obs_column(obs[target]), name, X.shape[0])


def _obs_column(stored: Any) -> pd.Series[Any]:
    """Read a column of ``obs``: numbers, text, categories, or values with a mask."""
    if not hasattr(stored, "keys"):
        return pd.Series(_decoded(np.asarray(stored[:])))
    parts = set(stored.keys())
    if {"codes", "categories"} <= parts:
        codes = np.asarray(stored["codes"][:])
        kinds = _obs_column(stored["categories"]).to_numpy()
        values = np.append(kinds.astype(object), [None])[np.where(codes < 0, -1, codes)]
        return pd.Series(values).infer_objects()
    values = _decoded(np.asarray(stored["values"][:]))
    missing = np.asarray(stored["mask"][:], dtype=bool)
    return pd.Series(values).mask(missing) if missing.any() else pd.Series(values)


def _decoded(values: NDArray[Any]) -> NDArray[Any]:
    """Return text as text, whatever the file holds it as."""
    if values.dtype.kind in "OST":
        return np.array([_text(one) for one in values], dtype=object)
    return values


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


# -- targets -------------------------------------------------------------------------


def _choose(wanted: str | None, known: list[str], what: str) -> str:
    if wanted is None:
        raise InputError(
            f"Which {what} holds the class? Name it as the target (--target); there "
            f"are {listed(known)}."
        )
    if wanted not in known:
        raise InputError(
            f"There is no {what} named {wanted!r}{did_you_mean(wanted, known)} There "
            f"are {listed(known)}."
        )
    return wanted


def _check_target(
    y: pd.Series[Any], name: str, n_samples: int | None = None
) -> NDArray[Any]:
    """Check a target, and return it as labels."""
    labels = as_labels(y, name)
    check_outcome(labels, len(y) if n_samples is None else n_samples, name)
    return labels
