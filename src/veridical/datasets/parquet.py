"""Tables in parquet files, where pyarrow is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
from numpy.typing import NDArray

from veridical._core.errors import InputError
from veridical.datasets.block_files import is_index, need
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
    need("pyarrow", name, "a parquet file", "parquet")
    from pyarrow import parquet

    try:
        # The pandas metadata of a file may be damaged or malicious.
        frame = parquet.read_table(path).to_pandas(ignore_metadata=True)
        frame = frame.loc[:, [not is_index(column) for column in frame.columns]]
    except Exception as error:  # whatever pyarrow raises, the file is at fault
        raise InputError(
            f"{name} is damaged or not a parquet file ({error}); copy or save it again."
        ) from error
    if frame.empty:
        raise InputError(f"{name} has no rows or no columns; nothing can be learned.")
    return split_target(frame, target, name, lambda row: f"row {row + 1}")
