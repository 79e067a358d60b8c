"""Checks of features that reveal the class: VD020, VD024–VD026, VD030."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import numpy as np
from scipy import sparse, stats

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.numbers import percent
from veridical._core.seeds import as_generator
from veridical._core.table import Table
from veridical._core.text import quote
from veridical.auditing.class_traces import (
    find_class_imputed,
    find_target_encoded,
    is_normalised_by_class,
)
from veridical.auditing.codes import finding
from veridical.auditing.evidence import AuditEvidence
from veridical.auditing.records import Finding, Severity

#: p-value, times the number of comparisons, up to which missing values or identifiers
#: are said to be associated with the class.
STRICT_LEVEL = 0.005
# Largest number of features that are named in a sentence.
_MOST_NAMED = 5


def report_features(
    e: AuditEvidence,
    code: str,
    least: Severity,
    said: str,
    features: IntArray,
    details: Mapping[str, float],
) -> Finding:
    """Report features that should not be used, with the accuracy without them.

    The finding is an error if that accuracy falls below the interval of the accuracy
    with them; otherwise its severity is `least`.
    """
    without = e.accuracy_without(features)
    severity, more = least, {}
    effect = f"The effect on the {e.measure.label} cannot be measured here."
    if without is not None and not math.isnan(without):
        effect = (
            f"Without {'it' if features.size == 1 else 'them'} the {e.measure.label} "
            f"is {e.compare_with(without)}."
        )
        more = {f"{e.measure.name}_without": without}
        if e.is_worse(without):
            severity = "error"
    found = {**details, **more}
    return finding(code, severity, f"{said} {effect}", found, features=features)


def name_features(data: Table, features: IntArray) -> str:
    """Name some features, the first ones of many."""
    named = [quote(data.feature_names[j]) for j in features[:_MOST_NAMED]]
    more = features.size - len(named)
    noun = "Feature" if features.size == 1 else "Features"
    return f"{noun} {', '.join(named)}{f' and {more} more' if more > 0 else ''}"


# -- VD020 ---------------------------------------------------------------------------


# Of what means are taken where there are no classes.
_ENCODED = {"numbers": "the outcome", "survival": "the events, 0 or 1,"}


def encoded_by_the_class(e: AuditEvidence) -> Finding | None:
    """VD020: values of a feature are shares of a class, or means, of all samples."""
    data = e.procedure.table
    found = find_target_encoded(data)
    if not found:
        return None
    features = np.array([one.feature for one in found], dtype=np.intp)
    first = found[0]
    of = e.name_part(first.code) if e.has_classes else _ENCODED[data.kind]
    values = (
        f"the {first.n_values} different values of "
        f"{quote(data.feature_names[first.feature])}"
    )
    verb = f"each of {values} is" if first.is_exact else f"together {values} are"
    said = (
        f"{name_features(data, features)}: {verb} {first.formula} of "
        f"{of} among the samples with that value, test samples included."
    )
    details = {"n_features": features.size, "first": first.feature}
    least: Severity = "error" if any(one.is_exact for one in found) else "warning"
    return report_features(e, "VD020", least, said, features, details)


# -- VD024 ---------------------------------------------------------------------------

# Numbers of nines that stand for missing values, and the smallest number of different
# values beside such a number.
_NINES, _FEWEST_MEASURED = (9, 99, 999, 9999, 99999), 5


def missing_values_tell_the_class(e: AuditEvidence) -> Finding | None:
    """VD024: values are missing more often in one class, or third of the samples."""
    data = e.procedure.table
    if sparse.issparse(data.values):
        return None
    missing = np.isnan(data.values)
    coded = _coded_missing(data)
    missing |= data.values == coded
    if not missing.any():
        return None
    n_parts = int(e.codes.max()) + 1
    pvalues, code = _missing_pvalues(missing, e.codes, n_parts)
    per_sample = _count_pvalue(missing.sum(axis=1), e.codes)
    tested = max(1, int(np.count_nonzero(pvalues < 1)) * n_parts)
    j = int(np.argmin(pvalues))
    if min(pvalues[j] * tested, per_sample) > STRICT_LEVEL:
        return None
    by_feature = pvalues[j] * tested <= STRICT_LEVEL
    features = np.flatnonzero(pvalues * tested <= STRICT_LEVEL)
    if by_feature:
        own = e.codes == code[j]
        as_code = "" if np.isnan(coded[j]) else f" (coded as {coded[j]:g})"
        said = (
            f"{name_features(data, features)}: {quote(data.feature_names[j])} is "
            f"missing{as_code} in {percent(missing[own, j].mean())} of "
            f"{e.name_part(int(code[j]))} and in "
            f"{percent(missing[~own, j].mean())} of the other samples (p = "
            f"{pvalues[j]:.2g} before correction for {tested} comparisons)."
        )
    else:
        means = [missing[e.codes == k].mean() for k in np.unique(e.codes)]
        features = np.flatnonzero(missing.any(axis=0))
        said = (
            f"{percent(min(means))} to {percent(max(means))} of the values are "
            f"missing, by {e.outcome} (p = {per_sample:.2g})."
        )
    details = {"pvalue": float(min(pvalues[j], per_sample))}
    return report_features(e, "VD024", "warning", said, features, details)


def _coded_missing(data: Table) -> FloatArray:
    """Return the number that stands for a missing value in each feature, or NaN.

    It is a repeated whole number: the only negative value of a feature; or one of nines
    alone, at least as far from the other values as these are from each other.
    """
    found = np.full(data.n_features, np.nan)
    numeric = np.flatnonzero(~data.categorical)
    values = data.values[:, numeric]
    for extreme, other, sign in ((np.fmin, np.fmax, -1), (np.fmax, np.fmin, 1)):
        end = extreme.reduce(values, axis=0)
        rest = np.where(values == end, np.nan, values)
        near, far = extreme.reduce(rest, axis=0), other.reduce(rest, axis=0)
        is_far = np.abs(end - near) >= np.abs(far - near)
        is_nines = np.isin(sign * end, _NINES) & is_far
        is_negative = (end < 0) & (near >= 0)
        usual = (end == np.round(end)) & (np.count_nonzero(values == end, axis=0) > 1)
        for j in np.flatnonzero(usual & (is_nines | is_negative)).tolist():
            different = np.unique(rest[~np.isnan(rest[:, j]), j])
            if different.size >= _FEWEST_MEASURED:
                found[numeric[j]] = end[j]
    return found


def _missing_pvalues(
    missing: np.ndarray[tuple[int, int], np.dtype[np.bool_]],
    codes: IntArray,
    n_classes: int,
) -> tuple[FloatArray, IntArray]:
    """Return the least two-sided hypergeometric p-value of each feature, its class."""
    n, total = len(codes), missing.sum(axis=0)
    best, which = np.ones(missing.shape[1]), np.zeros(missing.shape[1], dtype=np.intp)
    for k in range(n_classes):
        own = codes == k
        seen = missing[own].sum(axis=0)
        chance = stats.hypergeom(n, total, np.count_nonzero(own))
        p = 2 * np.minimum(chance.sf(seen - 1), chance.cdf(seen))
        p = np.where((total > 0) & (total < n), np.minimum(p, 1.0), 1.0)
        which = np.where(p < best, k, which)
        best = np.minimum(p, best)
    return best, which


def _count_pvalue(n_missing: IntArray, codes: IntArray) -> float:
    """Test whether the number of missing values of a sample differs by class."""
    groups = [n_missing[codes == k] for k in np.unique(codes)]
    if np.ptp(n_missing) == 0 or min(map(len, groups)) < 3:
        return 1.0
    return float(stats.kruskal(*groups).pvalue)


# -- VD025 ---------------------------------------------------------------------------

# Names of columns that number or date samples.
_ORDER_IN_NAME = re.compile(
    r"(^|[^a-z])(id|ids|date|day|time|timestamp|row|index|number|nr|barcode|accession)"
    r"([^a-z]|$)",
    re.IGNORECASE,
)
# Smallest share of gaps between sorted values that are equal, in a numbering.
_EQUAL_GAPS = 0.5
# Smallest rank correlation with the order of the rows.
_IN_ORDER = 0.98
# Smallest number of different values, as a share of the samples.
_DIFFERENT = 0.25
# Largest share of the features that may be identifiers; more are ranks.
_MOST_IDENTIFIERS = 0.1
# Distances, in ranks, of the samples that are compared as neighbours.
_LAGS = 3


def identifier_tells_the_class(e: AuditEvidence) -> Finding | None:
    """VD025: a number, date or position of the sample reveals the class."""
    data = e.procedure.table
    if sparse.issparse(data.values) or data.n_samples < 10:
        return None
    candidates = find_identifier_features(data)
    if not candidates.size:
        return None
    p = np.array([_order_pvalue(data.values[:, j], e.codes) for j in candidates])
    found = candidates[p * candidates.size <= STRICT_LEVEL]
    if not found.size:
        return None
    said = (
        f"{name_features(data, found)}: the values number the samples or follow their "
        "order, and samples with neighbouring values "
        f"{'are of the same class' if e.has_classes else 'have a similar outcome'} "
        f"more often than by chance (p = {p.min():.1g})."
    )
    details = {"n_features": found.size, "first": int(found[0])}
    return report_features(e, "VD025", "warning", said, found, details)


def find_identifier_features(data: Table) -> IntArray:
    """Return numeric features that number the samples or follow their order."""
    values = data.values
    whole = np.zeros(data.n_features, dtype=bool)
    known = ~np.isnan(values).any(axis=0) & ~data.categorical
    whole[known] = (values[:, known] == np.round(values[:, known])).all(axis=0)
    found = []
    for j in np.flatnonzero(whole).tolist():
        ordered = np.sort(values[:, j])
        gaps = np.diff(ordered)
        n_values = 1 + np.count_nonzero(gaps)
        if n_values < _DIFFERENT * data.n_samples:
            continue
        different = n_values == data.n_samples
        numbered = different and np.mean(gaps == gaps.min()) >= _EQUAL_GAPS
        named = (
            data.names is not None
            and _ORDER_IN_NAME.search(str(data.names[j])) is not None
        )
        if numbered or named or _follows_rows(values[:, j]):
            found.append(j)
    if len(found) > max(2, _MOST_IDENTIFIERS * data.n_features):
        return np.empty(0, dtype=np.intp)
    return np.array(found, dtype=np.intp)


def _follows_rows(feature: FloatArray) -> bool:
    place = stats.rankdata(feature)
    correlation = np.corrcoef(place, np.arange(feature.size))[0, 1]
    return bool(abs(correlation) >= _IN_ORDER)


def _order_pvalue(feature: FloatArray, codes: IntArray) -> float:
    """Test whether classes differ in the values, or neighbours have the same class.

    The first by Kruskal's test. The second by the number of pairs of neighbours of the
    same class, whose mean and variance are those of random orders, by a normal
    approximation. The smaller p-value counts twice.
    """
    rng = as_generator(feature.size)
    order = np.argsort(feature, kind="stable")
    drawn = np.stack([codes[order], *(rng.permutation(codes) for _ in range(199))])
    same = sum(
        np.count_nonzero(drawn[:, lag:] == drawn[:, :-lag], axis=1)
        for lag in range(1, _LAGS + 1)
    )
    counts = np.asarray(same, dtype=np.float64)
    spread = counts[1:].std(ddof=1)
    if spread == 0:
        return 1.0
    by_neighbours = stats.norm.sf((counts[0] - counts[1:].mean()) / spread)
    groups = [feature[codes == k] for k in np.unique(codes)]
    return float(2 * min(by_neighbours, stats.kruskal(*groups).pvalue))


# -- VD026 ---------------------------------------------------------------------------


def imputed_by_the_class(e: AuditEvidence) -> Finding | None:
    """VD026: missing values were replaced by the mean or median of their class."""
    data = e.procedure.table
    found = np.array(find_class_imputed(data), dtype=np.intp)
    if not found.size:
        return None
    verb = "has" if found.size == 1 else "have"
    said = (
        f"{name_features(data, found)} {verb} a repeated value that is the mean "
        "or median of all other values of its class: missing values were replaced by "
        "that of their class, which reveals the class of test samples."
    )
    return finding("VD026", "error", said, {"n_features": found.size}, features=found)


# -- VD030 ---------------------------------------------------------------------------


def normalised_with_the_class(e: AuditEvidence) -> Finding | None:
    """VD030: each class was normalised by itself."""
    data = e.procedure.table
    if not is_normalised_by_class(data):
        return None
    return finding(
        "VD030",
        "error",
        f"All samples of a class have the same {data.n_features} values in another "
        "order, and the values differ between the classes: each class was "
        "normalised by itself, so the values of a test sample tell its class.",
        {"n_features": data.n_features},
    )
