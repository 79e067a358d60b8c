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

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.table import Table

if TYPE_CHECKING:
    from veridical.auditing.evidence import AuditEvidence

# Largest deviation from the exact value; single precision has about seven digits.
_TOLERANCE = 1e-5
# Smallest share of the features with a trace for it to be reported.
_LEAST_SHARE = 0.9
# Expected number of features, of all in the table, in which a repeated value is the
# mean of the others by chance; a feature for which it is larger is not counted.
_MOST_BY_CHANCE = 1e-3
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
    found = [_principal(values), _find_standardisation(values), _find_scaling(values)]
    traces = [trace for trace in found if trace is not None][:1]
    imputed = _imputed(values)
    return traces + ([imputed] if imputed is not None else [])


def _find_standardisation(values: FloatArray) -> Trace | None:
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


def _find_scaling(values: FloatArray) -> Trace | None:
    low, high = values.min(axis=0), values.max(axis=0)
    ends = (low == 0) | (low == -1)
    # A binary feature has this range without scaling.
    between = ((values > low) & (values < high)).any(axis=0)
    scaled = ends & (np.abs(high - 1) < _TOLERANCE) & between
    count = int(np.count_nonzero(scaled))
    if count < _LEAST_SHARE * values.shape[1]:
        return None
    least = "0" if (low[scaled] == 0).all() else "−1"
    return Trace(
        "scaled",
        count,
        f"{count} of {values.shape[1]} numeric features range exactly from "
        f"{least} to 1 over these {len(values)} samples: "
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
    count = find_mean_imputed(values).size
    if not count:
        return None
    noun = "feature has" if count == 1 else "features have"
    return Trace(
        "imputed",
        count,
        f"{count} numeric {noun} one repeated value that is the mean of all other "
        "values: missing values were replaced by the mean of all samples.",
    )


def find_mean_imputed(values: FloatArray) -> IntArray:
    """Return the features with a repeated value that is the mean of all others.

    Such a value is the mean of all values too, which excludes most features at once.
    """
    if len(values) < _FEWEST_SAMPLES or not values.shape[1]:
        return np.empty(0, dtype=np.intp)
    scale = np.abs(values).max(axis=0)
    near = np.abs(values - values.mean(axis=0)) <= 1e-5 * scale
    varies = np.ptp(values, axis=0) > 0
    places = np.flatnonzero((np.count_nonzero(near, axis=0) > 1) & varies)
    limit = _MOST_BY_CHANCE / values.shape[1]
    kept = [_is_mean_imputed(values[:, j], limit) for j in places.tolist()]
    return places[np.array(kept, dtype=bool)]


def _is_mean_imputed(feature: FloatArray, most_by_chance: float) -> bool:
    """Return whether a repeated value is the mean of the others, not by chance.

    A mean has more digits than the measured values. Where it has not, measured values
    are repeated too, and one of them is the mean with a probability of about the step
    between possible values times the density of the feature at its mean.
    """
    distinct, counts = np.unique(feature, return_counts=True)
    repeated = np.flatnonzero(counts > 1)
    for i in repeated.tolist():
        others = feature[feature != distinct[i]]
        if others.size < 3:
            continue
        digits = _count_digits(others)
        error = 10.0**-digits * float(np.abs(others).max())
        if abs(distinct[i] - others.mean()) > 10 * error:
            continue
        step = _step(others, digits, 1.0)
        steps = distinct[i] / step
        if abs(steps - round(steps)) > max(0.01, 20 * error / step):
            return True  # it is between the values that a measurement can have
        spread = float(others.std())
        density = 1 / (np.sqrt(2 * np.pi) * spread) if spread > 0 else np.inf
        # Some values may have been changed since they were rounded.
        width = max(_step(others, digits, 0.5), 20 * error)
        if repeated.size * width * density <= most_by_chance:
            return True
    return False


def _count_digits(values: FloatArray) -> int:
    """Return the number of significant digits of the values: single or double."""
    return 7 if np.array_equal(values, values.astype(np.float32)) else 14


def _step(values: FloatArray, digits: int, share: float) -> float:
    """Return the largest power of ten of which a share of the values are multiples."""
    size = float(np.abs(values).max())
    if size == 0:
        return 1.0
    most = int(np.floor(np.log10(size)))
    for exponent in range(most, most - digits, -1):
        steps = values / 10.0**exponent
        error = 2 * 10.0**-digits * np.abs(steps)
        if np.mean(np.abs(steps - np.round(steps)) <= error) >= share:
            return float(10.0**exponent)
    return float(10.0 ** (most - digits))


def score_inside_folds(e: AuditEvidence, traces: Sequence[Trace]) -> float | None:
    """Return the score with the step inside the folds; None if it is unknown."""
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
    return again_inside.inside(p.unpermuted, e.splits).score
