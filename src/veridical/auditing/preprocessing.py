"""Traces of preprocessing that was fitted on all samples.

A feature whose mean is 0 and whose standard deviation is 1 over exactly these samples
was standardised over exactly these samples; and so on. An affine map of each feature
can be repeated inside the folds, with the same result as on the raw feature.
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
    from veridical.auditing.evidence import AuditEvidence

# Largest deviation from the exact value; single precision has about seven digits.
_TOLERANCE = 1e-5
# Smallest share of the features with a trace for it to be reported.
_LEAST_SHARE = 0.9
# With fewer samples a trace may be chance.
_FEWEST_SAMPLES = 5


@dataclass(frozen=True)
class Trace:
    """A kind of preprocessing, on how many features, and a sentence that says so."""

    kind: str
    n_features: int
    sentence: str


def find_traces(data: Table) -> list[Trace]:
    """Find traces of steps that were fitted on all samples."""
    if sparse.issparse(data.values) or data.n_samples < _FEWEST_SAMPLES:
        return []
    values = data.values[:, ~data.categorical]
    values = values[:, ~np.isnan(values).any(axis=0)]
    spread = np.ptp(values, axis=0) if values.size else np.empty(0)
    values = values[:, spread > 0]
    if not values.size:
        return []
    found = [_principal(values), _standardised(values), _scaled(values)]
    traces = [trace for trace in found if trace is not None][:1]
    imputed = _imputed(values)
    return traces + ([imputed] if imputed is not None else [])


def _standardised(values: FloatArray) -> Trace | None:
    n = len(values)
    centred = np.abs(values.mean(axis=0)) < _TOLERANCE
    variance = values.var(axis=0)
    unit = (np.abs(variance - 1) < _TOLERANCE) | (
        np.abs(variance * n / (n - 1) - 1) < _TOLERANCE
    )
    count = int(np.count_nonzero(centred & unit))
    if count < _LEAST_SHARE * values.shape[1]:
        return None
    return Trace(
        "standardised",
        count,
        f"{count} of {values.shape[1]} numeric features have mean 0 and standard "
        f"deviation 1 over exactly these {n} samples: they were standardised on all of "
        "them, test samples included.",
    )


def _scaled(values: FloatArray) -> Trace | None:
    low, high = values.min(axis=0), values.max(axis=0)
    ends = (low == 0) | (low == -1)
    # A binary feature has this range without scaling.
    between = ((values > low) & (values < high)).any(axis=0)
    count = int(np.count_nonzero(ends & (np.abs(high - 1) < _TOLERANCE) & between))
    if count < _LEAST_SHARE * values.shape[1]:
        return None
    return Trace(
        "scaled",
        count,
        f"{count} of {values.shape[1]} numeric features range exactly from "
        f"{'0' if (low == 0).all() else '−1'} to 1 over these {len(values)} samples: "
        "they were scaled by the minimum and maximum of all of them.",
    )


def _principal(values: FloatArray) -> Trace | None:
    """Find principal component scores: centred, and uncorrelated up to rounding."""
    n, p = values.shape
    if not 2 <= p < n:
        return None
    scale = values.std(axis=0)
    if (np.abs(values.mean(axis=0)) > _TOLERANCE * scale).any():
        return None
    gram = (values / scale).T @ (values / scale) / n
    if np.abs(gram - np.eye(p)).max() > _TOLERANCE:
        return None
    return Trace(
        "principal components",
        p,
        f"The {p} numeric features are uncorrelated up to rounding over exactly "
        f"these {n} samples: they are principal components, or similar, of all of "
        "them.",
    )


def _imputed(values: FloatArray) -> Trace | None:
    """Find features with a repeated value that is the mean of all other values."""
    count = 0
    repeats = (np.diff(np.sort(values, axis=0), axis=0) == 0).any(axis=0)
    for feature in values[:, repeats].T:
        distinct, counts = np.unique(feature, return_counts=True)
        most = counts.argmax()
        repeated, times = distinct[most], counts[most]
        # Where several values repeat, one of them may be the mean by chance.
        if times < 2 or np.delete(counts, most).max(initial=1) > 1:
            continue
        others = np.delete(distinct, most)
        if others.size >= 3 and np.isclose(
            repeated, others.mean(), rtol=1e-6, atol=1e-9 * np.abs(others).max()
        ):
            count += 1
    if not count:
        return None
    noun = "feature has" if count == 1 else "features have"
    return Trace(
        "imputed",
        count,
        f"{count} numeric {noun} one repeated value that is the mean of all other "
        "values: missing values were replaced by the mean of all samples.",
    )


def accuracy_inside_folds(e: AuditEvidence, traces: Sequence[Trace]) -> float | None:
    """Return the accuracy with the step inside the folds; None if it is unknown."""
    again: dict[str, Any] = {"standardised": StandardScaler, "scaled": MinMaxScaler}
    p = e.procedure
    if [trace.kind for trace in traces] not in [[kind] for kind in again]:
        return None
    if p.table.categorical.any() or np.isnan(p.table.values).any():
        return None
    step = again[traces[0].kind]()
    learner = make_pipeline(step, clone(p.procedure.estimator))
    # Univariate selectors do not depend on an affine map of each feature.
    again_inside = replace(p, procedure=replace(p.procedure, estimator=learner))
    return again_inside.inside(p.table.y, e.splits).accuracy
