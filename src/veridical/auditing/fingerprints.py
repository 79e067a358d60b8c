"""Marks that preprocessing leaves on columns when it is fitted on all rows.

A column whose mean is 0 and whose standard deviation is 1 over exactly these rows was
standardised over exactly these rows; and so on. What is affine per column can be done
again inside the folds, with the result that the raw column would have given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from veridical._core.arrays import FloatArray
from veridical._core.table import Table

if TYPE_CHECKING:
    from veridical.auditing.evidence import Evidence

#: Columns in single precision keep about seven digits.
_CLOSE = 1e-5
#: A mark counts if so large a share of the columns bears it.
_MOST = 0.9
_FEWEST_CASES = 5


@dataclass(frozen=True)
class Mark:
    """A mark, on how many columns, in words."""

    kind: str
    n_columns: int
    words: str


def find_marks(data: Table) -> list[Mark]:
    """Look for steps that were fitted on all rows."""
    if sparse.issparse(data.values) or data.n_samples < _FEWEST_CASES:
        return []
    values = data.values[:, ~data.categorical]
    values = values[:, ~np.isnan(values).any(axis=0)]
    spread = np.ptp(values, axis=0) if values.size else np.empty(0)
    values = values[:, spread > 0]
    if not values.size:
        return []
    found = [_principal(values), _standardised(values), _scaled(values)]
    marks = [mark for mark in found if mark is not None][:1]
    imputed = _imputed(values)
    return marks + ([imputed] if imputed is not None else [])


def _standardised(values: FloatArray) -> Mark | None:
    n = len(values)
    centred = np.abs(values.mean(axis=0)) < _CLOSE
    variance = values.var(axis=0)
    unit = (np.abs(variance - 1) < _CLOSE) | (
        np.abs(variance * n / (n - 1) - 1) < _CLOSE
    )
    count = int(np.count_nonzero(centred & unit))
    if count < _MOST * values.shape[1]:
        return None
    return Mark(
        "standardised",
        count,
        f"{count} of {values.shape[1]} numeric columns have mean 0 and standard "
        f"deviation 1 over exactly these {n} cases: they were standardised on all of "
        "them, test cases included.",
    )


def _scaled(values: FloatArray) -> Mark | None:
    low, high = values.min(axis=0), values.max(axis=0)
    ends = (low == 0) | (low == -1)
    # A column of zeros and ones has this range by nature.
    between = ((values > low) & (values < high)).any(axis=0)
    count = int(np.count_nonzero(ends & (np.abs(high - 1) < _CLOSE) & between))
    if count < _MOST * values.shape[1]:
        return None
    return Mark(
        "scaled",
        count,
        f"{count} of {values.shape[1]} numeric columns reach exactly from "
        f"{'0' if (low == 0).all() else '−1'} to 1 over these {len(values)} cases: "
        "they were scaled by the smallest and largest value of all of them.",
    )


def _principal(values: FloatArray) -> Mark | None:
    """Scores of principal components: centred, and uncorrelated to the last digit."""
    n, p = values.shape
    if not 2 <= p < n:
        return None
    scale = values.std(axis=0)
    if (np.abs(values.mean(axis=0)) > _CLOSE * scale).any():
        return None
    gram = (values / scale).T @ (values / scale) / n
    if np.abs(gram - np.eye(p)).max() > _CLOSE:
        return None
    return Mark(
        "principal components",
        p,
        f"The {p} numeric columns are uncorrelated to the last digit over exactly "
        f"these {n} cases: they are principal components, or the like, of all of them.",
    )


def _imputed(values: FloatArray) -> Mark | None:
    """A value that occurs again and again and is the mean of all others."""
    count = 0
    repeats = (np.diff(np.sort(values, axis=0), axis=0) == 0).any(axis=0)
    for column in values[:, repeats].T:
        distinct, counts = np.unique(column, return_counts=True)
        most = counts.argmax()
        repeated, times = distinct[most], counts[most]
        # Where values repeat anyway, one of them may be the mean by accident.
        if times < 2 or np.delete(counts, most).max(initial=1) > 1:
            continue
        others = np.delete(distinct, most)
        if others.size >= 3 and np.isclose(
            repeated, others.mean(), rtol=1e-6, atol=1e-9 * np.abs(others).max()
        ):
            count += 1
    if not count:
        return None
    noun = "column holds" if count == 1 else "columns hold"
    return Mark(
        "imputed",
        count,
        f"{count} numeric {noun} one value again and again that is the mean of all "
        "others: missing values were filled in with the mean of all cases.",
    )


def redo(e: Evidence, marks: Sequence[Mark]) -> float | None:
    """Accuracy with the step done again inside the folds; None if it cannot be."""
    again: dict[str, Any] = {"standardised": StandardScaler, "scaled": MinMaxScaler}
    p = e.procedure
    if [mark.kind for mark in marks] not in [[kind] for kind in again]:
        return None
    if p.table.categorical.any() or np.isnan(p.table.values).any():
        return None
    step = again[marks[0].kind]()
    learner = make_pipeline(step, clone(p.procedure.estimator))
    # Selectors of features one by one do not mind an affine map of each.
    again_inside = replace(p, procedure=replace(p.procedure, estimator=learner))
    return again_inside.inside(p.table.y, e.splits).accuracy
