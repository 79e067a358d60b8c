"""Tables in parquet files, where pyarrow is installed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd
from numpy.typing import NDArray

from veridical._records import InputError
from veridical.datasets.tables import split_target


def read_parquet(
    path: Path, target: str | None, name: str
) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Read a table from a parquet file.

    Parameters
    ----------
    path : Path
        The file.
    target : str or None
        The column with the class.
    name : str
        What messages call the file.

    Returns
    -------
    X : DataFrame
        Numbers and categories.
    y : array
        The labels.
    """
    if find_spec("pyarrow") is None:
        raise InputError(
            f"{name} is a parquet file, which takes pyarrow to read; install it (pip "
            "install pyarrow) or save the table as CSV."
        )
    try:
        frame = pd.read_parquet(path, engine="pyarrow")
    except (OSError, ValueError) as error:  # pyarrow's own errors are among these
        raise InputError(
            f"{name} is damaged or not a parquet file ({error}); copy or save it again."
        ) from error
    if frame.empty:
        raise InputError(f"{name} has no rows or no columns; nothing can be learned.")
    frame = frame.reset_index(drop=True)
    return split_target(frame, target, name, lambda row: f"row {row + 1}")
