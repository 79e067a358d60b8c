"""Versions of Python, the system and the packages."""

from __future__ import annotations

import os
import platform
import sys
from functools import cache
from importlib import metadata

_PACKAGES = (
    "veridical",
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "llvmlite",
    "joblib",
    "threadpoolctl",
    "narwhals",
    "pandas",
    "polars",
    "pyarrow",
    "matplotlib",
    "jinja2",
    "typer",
    "pydantic",
    "rich",
    "dask",
    "distributed",
)

#: Packages whose version can change results.
_NUMERICAL = ("numpy", "scikit-learn", "numba")


def show_versions() -> None:
    """Print the versions of Python, the system and the packages that matter.

    Examples
    --------
    >>> import veridical
    >>> veridical.show_versions()
    veridical      ...
    numpy          ...
    """
    for name in _PACKAGES:
        print(f"{name:<14} {_version(name)}")
    print(f"{'Python':<14} {sys.version.split()[0]}")
    print(f"{'system':<14} {platform.platform()}")
    print(f"{'cores':<14} {os.cpu_count()}")


@cache
def version_line() -> str:
    """Return the versions that can change results, in one line."""
    packages = [f"{name} {_version(name)}" for name in _NUMERICAL]
    return ", ".join([f"Python {platform.python_version()}", *packages])


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
