"""What only the user knows about samples: time, batch, covariates, earlier choices."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd

from veridical._core.arrays import BoolArray, FloatArray, IntArray
from veridical._core.errors import InputError


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What the user knows, checked; None where it was not said.

    Parameters
    ----------
    time : float array of shape (n_samples,) or None
        When each sample was taken.
    batch : int array of shape (n_samples,) or None
        Number of the batch of each sample.
    covariates : float array of shape (n_samples, n_covariates) or None
        Other variables that may explain the class.
    n_tried : int or None
        Number of variants that were tried before this one was reported.
    fitted_on : bool array of shape (n_samples,) or None
        Samples on which something was fitted or tuned before.
    n_removed : int or None
        Number of samples that were removed after their predictions were seen.
    grouped : bool
        Whether groups were given; samples are independent where each is a group.
    """

    time: FloatArray | None = None
    batch: IntArray | None = None
    covariates: FloatArray | None = None
    n_tried: int | None = None
    fitted_on: BoolArray | None = None
    n_removed: int | None = None
    grouped: bool = False


def read_knowledge(
    n_samples: int,
    time: Any = None,
    batch: Any = None,
    covariates: Any = None,
    n_tried: Any = None,
    fitted_on: Any = None,
    n_removed: Any = None,
) -> Knowledge:
    """Check what the user knows."""
    return Knowledge(
        time=None if time is None else _read_time(time, n_samples),
        batch=None if batch is None else _read_batch(batch, n_samples),
        covariates=(
            None if covariates is None else _read_covariates(covariates, n_samples)
        ),
        n_tried=None if n_tried is None else _read_count("n_tried", n_tried),
        fitted_on=None if fitted_on is None else _read_rows(fitted_on, n_samples),
        n_removed=None if n_removed is None else _read_count("n_removed", n_removed),
    )


def _read_time(given: Any, n: int) -> FloatArray:
    values = pd.Series(np.asarray(given).ravel())
    _check_length("time", values, n)
    if values.dtype.kind == "M":
        values = values.astype("int64")
    elif values.dtype.kind not in "iuf":
        values = pd.Series(pd.factorize(values, sort=True)[0])
    numbers = values.to_numpy(dtype=np.float64)
    if np.isnan(numbers).any():
        raise InputError(
            "time contains missing values; give a time, date or number for every "
            "sample."
        )
    return numbers


def _read_batch(given: Any, n: int) -> IntArray:
    values = pd.Series(np.asarray(given).ravel())
    _check_length("batch", values, n)
    if values.isna().any():
        raise InputError(
            "batch contains missing values; give a batch for every sample."
        )
    codes = pd.factorize(values)[0].astype(np.intp)
    if codes.max() == 0:
        raise InputError(
            "batch has one value for all samples, so nothing can be compared; leave "
            "it out."
        )
    if codes.max() + 1 > n / 2:
        raise InputError(
            f"batch has {codes.max() + 1} values for {n} samples; a batch must have "
            "at least two samples on average. Give a number that varies as covariates=."
        )
    return codes


def _read_covariates(given: Any, n: int) -> FloatArray:
    frame = pd.DataFrame(given)
    _check_length("covariates", frame, n)
    coded = pd.get_dummies(frame, dtype=float)
    try:
        values = coded.to_numpy(dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"covariates must be numbers or categories: {error}") from None
    if not np.isfinite(values).all():
        raise InputError(
            "covariates contain missing or infinite values; impute them or leave "
            "their samples out."
        )
    return values


#: Counts that are asked for: the smallest, and what is counted.
_COUNTED = {
    "n_tried": (1, "how many variants were tried, the reported one included"),
    "n_removed": (0, "how many samples were removed after their predictions were seen"),
}


def _read_count(name: str, given: Any) -> int:
    least, what = _COUNTED[name]
    if not isinstance(given, Integral) or isinstance(given, bool) or given < least:
        raise InputError(
            f"{name}={given!r} must be a whole number from {least} up: {what}."
        )
    return int(given)


def _read_rows(given: Any, n: int) -> BoolArray:
    if isinstance(given, str):
        if given != "all":
            raise InputError(
                f'fitted_on={given!r} must be "all", row numbers or a mask of samples.'
            )
        return np.ones(n, dtype=bool)
    rows = np.asarray(given).ravel()
    if rows.dtype.kind == "b":
        _check_length("fitted_on", rows, n)
        return rows
    if not rows.size:
        return np.zeros(n, dtype=bool)
    if rows.dtype.kind not in "iu" or not 0 <= rows.min() <= rows.max() < n:
        raise InputError(
            f"fitted_on must have row numbers from 0 to {n - 1}, a mask of samples, or "
            'be "all".'
        )
    mask = np.zeros(n, dtype=bool)
    mask[rows] = True
    return mask


def _check_length(name: str, values: Any, n: int) -> None:
    if len(values) != n:
        raise InputError(
            f"{name} has {len(values)} values, but X has {n} samples; give one for "
            "every sample."
        )
