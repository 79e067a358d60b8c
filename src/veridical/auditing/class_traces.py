"""Traces of steps that used the class of all samples before the folds.

Each trace is an equality that holds up to rounding where the step was done, and almost
never otherwise:

- *target encoding*: the value of a category is the share of a class among the samples
  with that value, or a mean of it and of the share among all samples; for numbers and
  survival times, the mean of the target or of the events. Where samples were added or
  left out afterwards, shares are still nearer to the values than those of other samples
  would be if the values were their true probabilities;
- *imputation by class*: a repeated value of a class is the mean of its other samples,
  or the only one, and their median;
- *normalisation by class*: all samples of a class have the same sorted values, those of
  the classes differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse, stats

from veridical._core.arrays import BoolArray, FloatArray, IntArray
from veridical._core.seeds import as_generator
from veridical._core.table import Table
from veridical.auditing.preprocessing import find_mean_imputed

# Largest relative deviation from an equality; single precision has seven digits.
_TOLERANCE = 1e-5
# Smallest number of different values of an encoded feature: where the values are
# shares, and where shares are a linear function of them.
_FEWEST_SHARES, _FEWEST_LINEAR = 3, 6
# Smallest share of the encoded values whose weight of the prior must agree.
_LEAST_AGREEING_SHARE = 0.5
# p-value of χ², times the number of comparisons, up to which values are nearer to the
# shares than chance allows; draws, up to which p-value these must confirm it, because
# χ² is rough for few samples; and smallest number of values.
_NEARER, _DRAWS, _CONFIRMED, _FEWEST_NEAR = 0.001, 9_999, 0.0002, 8
# Smallest number of different values of a class, of which a median is looked for.
_FEWEST_AROUND = 5
# Smallest number of features whose sorted values are compared.
_FEWEST_FEATURES = 5


class Encoded(NamedTuple):
    """A feature that encodes a class: its index, the class, its different values."""

    feature: int
    code: int
    n_values: int
    formula: str
    is_exact: bool = True


# -- target encoding -----------------------------------------------------------------


def find_target_encoded(data: Table) -> list[Encoded]:
    """Find numeric features whose values are shares of a class, or means of a target.

    Of survival times, means of the events: shares of the samples in which they were
    seen.
    """
    if sparse.issparse(data.values):
        return []
    targets, word = _encoded_targets(data)
    found = []
    candidates = np.flatnonzero(_has_few_values(data)).tolist()
    level = _NEARER / max(1, len(candidates) * len(targets))
    for j in candidates:
        feature = data.values[:, j]
        known = ~np.isnan(feature)
        values, place = np.unique(feature[known], return_inverse=True)
        if not _FEWEST_SHARES <= values.size <= 0.8 * np.count_nonzero(known):
            continue
        counts = np.bincount(place)
        for k, target in enumerate(targets):
            own = target[known]
            means = np.bincount(place, own) / counts
            variances = np.bincount(place, (own - means[place]) ** 2) / counts
            if variances.max() <= 1e-9 * own.var():
                continue  # the feature itself gives the target
            formula = _encodes(values, means, variances, counts, own)
            if formula:
                found.append(Encoded(j, k, values.size, formula.format(word)))
                break
            if data.kind != "numbers" and _are_nearer(values, means, counts, level):
                nearer = f"nearer than chance allows to the {word}"
                found.append(Encoded(j, k, values.size, nearer, is_exact=False))
                break
    return found


def _encoded_targets(data: Table) -> tuple[list[FloatArray], str]:
    """Return what may be averaged over samples, and what people call the means."""
    if data.kind == "numbers":
        return [np.asarray(data.labels, dtype=np.float64)], "mean"
    if data.kind == "survival":
        return [data.as_survival.event.astype(np.float64)], "mean"
    return [(data.y == k).astype(np.float64) for k in range(data.n_classes)], "share"


def _are_nearer(
    values: FloatArray, shares: FloatArray, counts: IntArray, level: float
) -> bool:
    """Test whether values are nearer to shares than true probabilities would be.

    The statistic is the sum of the squared deviations of the shares, each divided by
    its variance, as if the values were the true probabilities of other samples.
    """
    inside = (values > 0) & (values < 1)
    if np.count_nonzero(inside) < _FEWEST_NEAR or values[0] < 0 or values[-1] > 1:
        return False
    p, n = values[inside], counts[inside]
    weight = n / (p * (1 - p))
    observed = float((weight * (shares[inside] - p) ** 2).sum())
    if stats.chi2.cdf(observed, p.size) > level:
        return False
    drawn = as_generator(p.size).binomial(n, p, size=(_DRAWS, p.size)) / n
    as_near = (weight * (drawn - p) ** 2).sum(axis=1) <= observed
    return bool((1 + np.count_nonzero(as_near)) / (1 + _DRAWS) <= _CONFIRMED)


def _has_few_values(data: Table) -> BoolArray:
    """Return which numeric features have repeated values."""
    ordered = np.sort(data.values, axis=0)
    repeats = (np.diff(ordered, axis=0) == 0).mean(axis=0)
    return np.asarray((repeats >= 0.2) & ~data.categorical)


def _encodes(
    values: FloatArray,
    means: FloatArray,
    variances: FloatArray,
    counts: IntArray,
    target: FloatArray,
) -> str:
    """Return how values follow from the means of a target; "" where they do not."""
    span = float(np.ptp(target))
    if np.unique(np.round(means / span, 9)).size < _FEWEST_SHARES:
        return ""
    if np.abs(values - means).max() <= _TOLERANCE * span:
        return "the {}"
    if np.unique(means).size >= _FEWEST_LINEAR:
        fitted = np.polyval(np.polyfit(means, values, 1), means)
        if np.abs(fitted - values).max() <= _TOLERANCE * np.ptp(values):
            return "a linear function of the {}"
    return _smoothed(values, means, variances / target.var(), counts, target)


def _smoothed(
    values: FloatArray,
    means: FloatArray,
    within: FloatArray,
    counts: IntArray,
    target: FloatArray,
) -> str:
    """Recognise (n mean + a prior) / (n + a), with a constant or as scikit-learn's.

    The prior is the mean of all samples; `within` is the variance of a category as a
    share of that of all. Categories with the same count and mean have the same value; a
    is then a multiple.
    """
    prior, span = float(target.mean()), float(np.ptp(target))
    away = np.abs(values - prior) > _TOLERANCE * span
    away &= np.abs(means - prior) > 1e-9 * span
    if np.count_nonzero(away) < _FEWEST_LINEAR:
        return ""
    weight = counts[away] * (means[away] - values[away]) / (values[away] - prior)
    for scale in (np.ones_like(weight), within[away]):
        usable = scale > 1e-9
        unit = weight[usable] / scale[usable]
        if np.count_nonzero(usable) < _FEWEST_LINEAR or unit.min() <= _TOLERANCE:
            continue
        multiple = unit / np.median(unit)
        equal = np.abs(multiple - 1) <= 10 * _TOLERANCE
        if (
            equal.mean() >= _LEAST_AGREEING_SHARE
            and np.count_nonzero(equal) >= _FEWEST_LINEAR
        ):
            return "a mean of the {} and of that among all samples"
    return ""


# -- imputation by class -------------------------------------------------------------


def find_class_imputed(data: Table) -> list[int]:
    """Return the features with values that are the mean of the others of a class.

    Where the mean of all samples explains them, they are left out. Medians are found in
    features of which all other values differ.
    """
    if sparse.issparse(data.values) or data.n_classes < 2:
        return []
    numeric = np.flatnonzero(~data.categorical)
    numeric = numeric[~np.isnan(data.values[:, numeric]).any(axis=0)]
    found: set[int] = set()
    for k in range(data.n_classes):
        own = data.values[np.ix_(data.y == k, numeric)]
        found |= set(numeric[find_mean_imputed(own)].tolist())
    if found:
        anyway = numeric[find_mean_imputed(data.values[:, numeric])]
        found -= set(anyway.tolist())
    medians = _repeated_medians(data.values[:, numeric], data.y)
    return sorted(found | set(numeric[medians].tolist()))


def _repeated_medians(values: FloatArray, codes: IntArray) -> BoolArray:
    """Return which features repeat one value in each of two classes, their medians.

    All other values of these classes differ, and the two medians too. Whole numbers may
    be equal by chance, and so may two values.
    """
    fractions = (values != np.round(values)).any(axis=0)
    middles = [np.full(values.shape[1], np.nan)]
    for k in np.unique(codes):
        ordered = np.sort(values[codes == k], axis=0)
        n = len(ordered)
        if n < _FEWEST_AROUND:
            continue
        equal = np.diff(ordered, axis=0) == 0
        repeats = equal.sum(axis=0)
        first = equal.argmax(axis=0)  # the repeated values begin here
        after = n - first - repeats - 1
        one_run = np.diff(equal.astype(np.int8), axis=0, prepend=0).clip(0).sum(axis=0)
        is_median = fractions & (one_run == 1) & (repeats > 1)
        is_median &= (first == after) & (2 * first >= _FEWEST_AROUND)
        middle = ordered[first, np.arange(values.shape[1])]
        middles.append(np.where(is_median, middle, np.nan))
    found = np.stack(middles)
    two = np.count_nonzero(~np.isnan(found), axis=0) >= 2
    spread = np.zeros(values.shape[1])
    spread[two] = np.nanmax(found[:, two], axis=0) - np.nanmin(found[:, two], axis=0)
    return spread > 0


def impute_together(
    data: Table, values: FloatArray, features: Sequence[int]
) -> FloatArray:
    """Replace values that were imputed by class by the mean of all other samples.

    Parameters
    ----------
    data : Table
        Features in which `find_class_imputed` found imputed values.
    values : array of shape (n_samples, n_features)
        The features that are to be changed.
    features : sequence of int
        What it found.
    """
    changed = np.array(values, dtype=np.float64)
    for j in features:
        feature, imputed = data.values[:, j], np.zeros(data.n_samples, dtype=bool)
        for k in range(data.n_classes):
            own = data.y == k
            distinct, counts = np.unique(feature[own], return_counts=True)
            repeated = distinct[counts > 1]
            if repeated.size:
                middle = repeated[np.argmin(np.abs(repeated - feature[own].mean()))]
                imputed |= own & (feature == middle)
        if imputed.any() and not imputed.all():
            changed[imputed, j] = changed[~imputed, j].mean()
    return changed


# -- normalisation -------------------------------------------------------------------


def is_normalised_by_class(data: Table) -> bool:
    """Return whether the samples of every class have their own sorted values."""
    if sparse.issparse(data.values) or data.categorical.any() or data.has_missing:
        return False
    if data.n_features < _FEWEST_FEATURES:
        return False
    ordered = np.sort(data.values, axis=1)
    scale = float(np.abs(ordered).max())
    middles = []
    for k in np.unique(data.y):
        own = ordered[data.y == k]
        if len(own) < 2 or np.abs(own - own[0]).max() > _TOLERANCE * scale:
            return False
        middles.append(own[0])
    return bool(np.ptp(np.stack(middles), axis=0).max() > 10 * _TOLERANCE * scale)


def normalise_together(values: FloatArray) -> FloatArray:
    """Give all samples the same distribution of values, whatever their class."""
    ranks = np.argsort(np.argsort(values, axis=1, kind="stable"), axis=1)
    return np.asarray(np.sort(values, axis=1).mean(axis=0)[ranks])
