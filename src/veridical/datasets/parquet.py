"""Tables in parquet files, where pyarrow is installed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd
from numpy.typing import NDArray

from veridical._core.errors import InputError
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
        Name of the file in messages.

    Returns
    -------
    X : DataFrame
        Numbers and categories.
    y : array
        The labels.
    """
    if find_spec("pyarrow") is None:
        raise InputError(
            f"{name} is a parquet file, which needs pyarrow; install it (pip "
            "install pyarrow) or save the table as CSV."
        )
    from pyarrow import parquet

    try:
        # The pandas metadata of a file may be damaged or malicious.
        frame = parquet.read_table(path).to_pandas(ignore_metadata=True)
        frame = frame.loc[:, [not _is_index(column) for column in frame.columns]]
    except Exception as error:  # whatever pyarrow raises, the file is at fault
        raise InputError(
            f"{name} is damaged or not a parquet file ({error}); copy or save it again."
        ) from error
    if frame.empty:
        raise InputError(f"{name} has no rows or no columns; nothing can be learned.")
    return split_target(frame, target, name, lambda row: f"row {row + 1}")


def _is_index(column: str) -> bool:
    """Return whether a column holds row labels, by the name that pandas gives them."""
    return column.startswith("__index_level_") and column.endswith("__")
