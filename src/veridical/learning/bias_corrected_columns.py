"""Read columns of zeros and ones, and make them where they are not."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length

from veridical._records import FloatArray, InputError

#: The cut of a column that holds zeros and ones already.
PLAIN_CUT = 0.5


def read_labels(estimator: Any, X: Any, y: Any) -> NDArray[Any]:
    """Check the class labels of the cases of a table."""
    if y is None:
        raise InputError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is "
            "None; pass the class labels."
        )
    labels = column_or_1d(y, warn=True)
    check_consistent_length(X, labels)
    missing = np.asarray(pd.isna(labels))
    if missing.any():
        raise InputError(
            f"y has no label in row {int(np.flatnonzero(missing)[0])} (NaN or None); "
            "drop or label the rows without a class."
        )
    check_classification_targets(labels)
    return labels


def median_cuts(values: NDArray[Any]) -> FloatArray:
    """Cut each column at its median; one of two values only, between them.

    A value is a one where it is above the cut, so that a value equal to the median is
    a zero. A column that is a copy of the class, of two values, keeps both.
    """
    cuts = np.median(values, axis=0).astype(np.float64)
    low, high = values.min(axis=0), values.max(axis=0)
    two = (((values == low) | (values == high)).all(axis=0)) & (low < high)
    # Halved before they are added: the sum of two large numbers may be infinite.
    cuts[two] = low[two] / 2.0 + high[two] / 2.0
    return cuts


def find_cuts(
    values: NDArray[Any], plain: NDArray[np.bool_], binarize: Any, names: Any
) -> FloatArray:
    """Find the cut of every column; those of zeros and ones are plain.

    Parameters
    ----------
    values : array of shape (n, p)
        All columns.
    plain : bool array of shape (p,)
        Columns that hold nothing but 0 and 1.
    binarize : "median", number or None
        How to cut the others; None refuses them.
    names : array of str or None
        What the columns are called.
    """
    cuts = np.full(values.shape[1], PLAIN_CUT)
    rest = np.flatnonzero(~plain)
    if rest.size == 0:
        return cuts
    refuse_unknown(values[:, rest], rest, names)
    if binarize is None:
        j = int(rest[0])
        raise InputError(
            f"{name_column(j, names)} holds other values than 0 and 1; use "
            "binarize='median' or cut it yourself."
        )
    if isinstance(binarize, str) and binarize == "median":
        cuts[rest] = median_cuts(values[:, rest].astype(np.float64, copy=False))
    elif isinstance(binarize, Real) and not isinstance(binarize, bool):
        cuts[rest] = float(binarize)
    else:
        raise InputError(
            f"binarize={binarize!r} is not known; use 'median', a number, or None."
        )
    return cuts


def refuse_unknown(values: NDArray[Any], columns: Any, names: Any) -> None:
    """Refuse missing and infinite values in these columns, by name and row."""
    if values.dtype.kind != "f":
        return
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum(dtype=np.float64)):
            return
    bad = ~np.isfinite(values)
    if not bad.any():
        return
    k = int(np.flatnonzero(bad.any(axis=0))[0])
    row = int(np.flatnonzero(bad[:, k])[0])
    what = "NaN" if np.isnan(values[row, k]) else "inf"
    raise InputError(
        f"Input X contains {what}: {name_column(int(columns[k]), names)}, row {row}, "
        "is missing or infinite. Impute the value or drop the row: the correction "
        "needs every feature counted over the same cases."
    )


def name_column(j: int, names: Any) -> str:
    """Call a column by its name, or by its number."""
    return f"column {j}" if names is None else f"column {names[j]!r}"


def check_threshold(threshold: Any) -> float:
    """Read ``threshold``: an absolute correlation."""
    real = isinstance(threshold, Real) and not isinstance(threshold, bool)
    if not real or not 0 <= threshold <= 1:
        raise InputError(
            f"threshold={threshold!r} is no absolute correlation; give a number from 0 "
            "to 1, or None."
        )
    return float(threshold)
