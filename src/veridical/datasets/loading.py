"""Data sets by name: those made here, then those in the user's folders."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import pandas as pd
from numpy.typing import NDArray

from veridical._core.errors import InputError
from veridical._core.reading import check_outcome
from veridical._core.text import did_you_mean
from veridical.datasets.embedded import EMBEDDED, load_embedded
from veridical.datasets.fetching import PREFIX, TARGET, cache_folder, check_sum, fetch
from veridical.datasets.formats import SUFFIXES, names_its_class, read
from veridical.datasets.npz import read_npz
from veridical.datasets.sources import SOURCES

#: Seed of the samples that are drawn from a source.
_SEED = 0


def load(name: str) -> tuple[Any, NDArray[Any]]:
    """Load a data set by its name.

    The name is looked for among the sources of veridical (a data set of usual size,
    always the same), then among the files of the folder that the
    environment variable ``VERIDICAL_DATA`` names, then in ``veridical`` in the user's
    cache folder (``XDG_CACHE_HOME``, or ``~/.cache``), then among the real data sets
    that come with scikit-learn. Only a name that begins with ``openml:`` is downloaded,
    once, and kept there with a checksum.

    Parameters
    ----------
    name : str
        A source (``"linear"``), a real data set (``"iris"``, ``"wine"``,
        ``"breast-cancer"``, ``"diabetes"``), a file without its suffix (``"vehicle"``,
        ``"techtc/ng20_00"``), or a data set of OpenML by name or number
        (``"openml:credit-g"``, ``"openml:31"``). The class is the column ``class``, in
        an npz file the array ``y``.

    Returns
    -------
    X : DataFrame, array or csr_array of shape (n_samples, n_features)
        A data frame where some features are categorical, an array where all are
        numeric, a ``csr_array`` where the file holds a sparse matrix.
    y : array of shape (n_samples,)
        The labels.

    Raises
    ------
    InputError
        If there is no such data set, or its file cannot be read.

    See Also
    --------
    available : The names there are.
    read : Read any file, and keep the names of its features.

    Examples
    --------
    >>> from veridical.datasets import load
    >>> X, y = load("linear")
    >>> X.shape
    (125, 60)
    >>> X, y = load("breast-cancer")
    >>> X.shape
    (569, 30)
    """
    if not isinstance(name, str):
        raise InputError(f"{name!r} is not the name of a data set; pass a text.")
    if name in SOURCES:
        source = SOURCES[name]
        X, y = source(source.n_samples, random_state=_SEED)
        return X, y
    if _is_embedded(name):
        X, y = load_embedded(name)
        return X.to_numpy(), y
    path, target = _located(name)
    if path.suffix == ".npz":
        X, y = read_npz(path, None, str(path), with_names=False)
        check_outcome(y, X.shape[0], str(path))
        return X, y
    X, y = read(path, target)
    if isinstance(X, pd.DataFrame) and not (X.dtypes == "category").any():
        X = X.to_numpy()
    return X, y


def locate(name: str) -> tuple[Path, str | None] | None:
    """Return the file of a data set, from which the names of features can be read.

    Parameters
    ----------
    name : str
        As for `load`.

    Returns
    -------
    (path, target) or None
        The file, checked against its checksum if it was fetched, and the column with
        the class, as `read` takes them; None for sources and for data sets that come
        with scikit-learn.

    Raises
    ------
    InputError
        If there is no such data set, or its file is not what was fetched.
    """
    return None if name in SOURCES or _is_embedded(name) else _located(name)


def available() -> list[str]:
    """List the names that :func:`load` knows.

    Returns
    -------
    list of str
        The sources first, then the real data sets that come with scikit-learn, then
        the files in the user's folders and one level below them, in alphabetical order.

    Examples
    --------
    >>> from veridical.datasets import available
    >>> available()[:3]
    ['linear', 'nonlinear', 'monks-1']
    """
    files = {name for folder in _folders() for name in _stems(folder)}
    known = [*SOURCES, *EMBEDDED]
    return [*known, *sorted(files - set(known))]


def _located(name: str) -> tuple[Path, str | None]:
    path = fetch(name) if name.startswith(PREFIX) else _find_file(name)
    check_sum(path)
    named = path.suffix != ".npz" and names_its_class(path)
    return path, TARGET if named else None


def _is_embedded(name: str) -> bool:
    """Return whether a data set comes with scikit-learn, and no file has its name."""
    return name in EMBEDDED and _file_named(PurePosixPath(name).parts) is None


def _file_named(parts: tuple[str, ...]) -> Path | None:
    for folder in _folders():
        for suffix in SUFFIXES:
            path = folder.joinpath(*parts[:-1], parts[-1] + suffix)
            if path.is_file():
                return path
    return None


def _find_file(name: str) -> Path:
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts or {"\\", ":"} & set(name):
        raise InputError(
            f"{name!r} is not the name of a data set: pass a name inside the data "
            "folder, such as 'vehicle', or use read for a path."
        )
    found = _file_named(parts)
    if found is not None:
        return found
    hint = "" if "VERIDICAL_DATA" in os.environ else _NO_FOLDER
    raise InputError(
        f"There is no data set {name!r}{did_you_mean(name, available())} "
        f"veridical.datasets.available() lists the names.{hint}"
    )


_NO_FOLDER = " To load your own files by name, set VERIDICAL_DATA to their folder."


def _folders() -> Iterator[Path]:
    chosen = os.environ.get("VERIDICAL_DATA")
    if chosen:
        yield Path(chosen).expanduser()
    yield cache_folder()


def _stems(folder: Path) -> Iterator[str]:
    for path in (*folder.glob("*"), *folder.glob("*/*")):
        for suffix in SUFFIXES:
            if path.name.endswith(suffix) and path.is_file():
                yield path.relative_to(folder).as_posix().removesuffix(suffix)
                break
