"""Test whether features are associated with the labels as selected features are.

Two null hypotheses, in the terms of gene-set analysis [1]_. *Self-contained*: the
features are not associated with the labels, so that permuted labels are associated
with them as strongly. *Competitive*: the features are associated with the labels no
more strongly than other features of the same table. For features that were selected
without the labels the second hypothesis is true on any data, and on noise both are; so
only features that reject both may have been selected by the labels. Features that are
known to be useful reject both, too. On labels that have nothing to do with the table no
feature is useful; `best_features_pvalue` tests whether they have.

| symbol | meaning                                                      | shape     |
|--------|--------------------------------------------------------------|-----------|
| values | numeric features, centred, missing values set to 0           | (n, p)    |
| cells  | indicators of thirds of a feature, or of its categories      | (n, m)    |
| labels | permuted classes, the true ones first                        | (B, n)    |

References
----------
.. [1] J. J. Goeman & P. Bühlmann, "Analyzing gene expression data in terms of gene
   sets: methodological issues", Bioinformatics 23 (2007).
"""

from __future__ import annotations

from math import comb
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse, stats

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.seeds import as_generator
from veridical._core.table import Table
from veridical.auditing.records import LEVEL
from veridical.kernels.statistics import between_classes, chi_squares, f_ratio

#: Number of permutations of the labels, and of random sets of features.
DRAWS = 999
# Smallest number of samples in one of many parts of a target without classes.
_FEWEST_OF_PART = 8
# Number of features in one block of a matrix product.
_BLOCK = 512
# Distances, in ranks along a feature, of the samples that are compared as neighbours.
_LAGS = (1, 2, 3)
# Largest number of sorted labels in memory; beyond it permutations go in parts.
_MOST_NUMBERS = 1 << 24
#: p-value up to which a table looks as if it contained only selected features. At most
#: this share of tables of useful features is reported.
TRACE_LEVEL = 0.01
# Number of permutations of the residuals of such a table.
_TRACE_DRAWS = 1999
# Smallest number of features, and largest p-value of each, of a table that is tested.
_TRACE_FEATURES = 5
_TRACE_PVALUE = 0.1


def _permute_labels(data: Table, rng: np.random.Generator) -> IntArray:
    """Return the labels, and below them permutations of them."""
    codes = coarse_outcome(data)
    return np.stack([codes, *(rng.permutation(codes) for _ in range(DRAWS))])


def chosen_by_labels(data: Table, features: IntArray, seed: int) -> float:
    """Test whether features may have been selected by the labels.

    Parameters
    ----------
    data : Table
        All samples, all features.
    features : int array
        The features in question.
    seed : int
        Seed of the permutations and random sets.

    Returns
    -------
    float
        The larger of the p-values of the two hypotheses. Each is three times the
        smallest of three: of shifts of class means (log of 1 + F), of class shares in
        the thirds or categories of a feature (log of 1 + χ² per degree of freedom), and
        of neighbours along a feature that have the same class (their share). For
        numbers and survival times `coarse_outcome` gives the classes.
    """
    rng = as_generator(seed)
    labels = _permute_labels(data, rng)
    alone = strengths(data, features, labels).mean(axis=2)
    p_alone = _pvalues(alone)
    if comb(data.n_features, features.size) < 1 / LEVEL:
        return p_alone  # there are too few other sets to compare with
    everything = strengths(data, np.arange(data.n_features), labels[:1])[:, 0]
    sets = np.stack(
        [
            rng.choice(data.n_features, features.size, replace=False)
            for _ in range(DRAWS)
        ]
    )
    rivals = everything[:, sets].mean(axis=2)
    own = everything[:, features].mean(axis=1, keepdims=True)
    return max(p_alone, _pvalues(np.hstack([own, rivals])))


def coarse_outcome(data: Table, n_parts: int = 3) -> IntArray:
    """Return the classes; of numbers and survival times, thirds of the samples.

    Parameters
    ----------
    data : Table
        The samples.
    n_parts : int, default=3
        Number of parts of equal size, by `outcome_values`, where there are no classes.
    """
    if data.kind == "classes":
        return data.y
    values = outcome_values(data)
    rank = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    return (n_parts * rank // len(rank)).astype(np.intp)


def fine_outcome(data: Table) -> IntArray:
    """Return the classes; of numbers and survival times, at most ten parts.

    Within parts of a few samples the outcome hardly varies.
    """
    return coarse_outcome(data, int(np.clip(data.n_samples // _FEWEST_OF_PART, 3, 10)))


def outcome_values(data: Table) -> FloatArray:
    """Return a target of numbers; of survival times the martingale residuals.

    Those without features: the event, 1 or 0, minus the cumulative hazard until the
    time, so that early events come last.
    """
    if data.kind != "survival":
        return np.asarray(data.labels, dtype=np.float64)
    time, event = data.as_survival.time, data.as_survival.event
    order = np.argsort(time, kind="stable")
    ranked = time[order]
    at_risk = len(time) - np.searchsorted(ranked, ranked, side="left")
    hazard = np.cumsum(event[order] / at_risk)
    return np.asarray(event - hazard[np.searchsorted(ranked, time, side="right") - 1])


def best_features_pvalue(data: Table, n_features: int, seed: int) -> float:
    """Test whether the best features are better than the best for permuted labels.

    Where they are, the labels have something to do with the features, and features that
    are known to be useful agree with a selector. On permuted labels p-values are
    uniform, however features are correlated.

    Parameters
    ----------
    data : Table
        All samples, all features.
    n_features : int
        Number of features whose mean association is compared.
    seed : int
        Seed of the permutations.

    Returns
    -------
    float
        p-value of the mean association of the `n_features` best features: log of 1 + F,
        of categorical features log of 1 + χ² per degree of freedom.
    """
    labels = _permute_labels(data, as_generator(seed))
    best = np.full((len(labels), n_features), -np.inf)
    for start in range(0, data.n_features, _BLOCK):
        block = np.arange(start, min(start + _BLOCK, data.n_features))
        every = np.hstack([best, _one_strength(data, block, labels)])
        best = np.partition(every, -n_features, axis=1)[:, -n_features:]
    return _pvalues(best.mean(axis=1)[np.newaxis])


def _one_strength(data: Table, features: IntArray, labels: IntArray) -> FloatArray:
    """Measure the association of features by means, or by categories, (B, p)."""
    members = [(labels == k).astype(np.float64) for k in range(labels.max() + 1)]
    raw = data.take(np.arange(data.n_samples), features)
    categorical = data.categorical[features]
    found = np.empty((len(labels), features.size))
    if not categorical.all():
        numbers = _centred(raw[:, ~categorical])
        found[:, ~categorical] = _f_ratios(numbers, members)
    if categorical.any():
        kept = raw[:, categorical]
        cells, owner = _indicators(kept, np.ones(kept.shape[1], dtype=bool))
        chi2, df = chi_squares(cells, owner, members, kept.shape[1])
        found[:, categorical] = chi2 / np.maximum(df, 1)
    return np.log1p(found)


def _pvalues(strength: FloatArray) -> float:
    """Return the Bonferroni p-value over the measures; the first value is observed."""
    as_strong = strength[:, 1:] >= strength[:, :1] * (1 - 1e-12)
    p = (1 + np.count_nonzero(as_strong, axis=1)) / strength.shape[1]
    return min(1.0, len(p) * float(p.min()))


def strengths(data: Table, features: IntArray, labels: IntArray) -> FloatArray:
    """Measure the association of features with permuted labels in three ways.

    Returns
    -------
    array of shape (3, B, n_features)
        Differences of means, shares in thirds or categories, and shares of neighbours
        of the same class; the first and the last are 0 for categorical features.
    """
    result = np.zeros((3, len(labels), features.size))
    members = [(labels == k).astype(np.float64) for k in range(labels.max() + 1)]
    for start in range(0, features.size, _BLOCK):
        block = features[start : start + _BLOCK]
        raw = data.take(np.arange(data.n_samples), block)
        numeric = np.flatnonzero(~data.categorical[block])
        if numeric.size:
            result[0][:, start + numeric] = np.log1p(
                _f_ratios(_centred(raw[:, numeric]), members)
            )
            result[2][:, start + numeric] = _same_class_shares(raw[:, numeric], labels)
        cells, owner = _indicators(raw, data.categorical[block])
        chi2, df = chi_squares(cells, owner, members, block.size)
        per_df = chi2 / np.maximum(df, 1)
        result[1][:, start : start + block.size] = np.log1p(per_df)
    return result


def _centred(values: FloatArray) -> FloatArray:
    known = ~np.isnan(values)
    mean = np.where(known, values, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return np.where(known, values - mean, 0.0)


def _f_ratios(values: FloatArray, members: list[FloatArray]) -> FloatArray:
    """Return the F ratio of every feature and permutation, of shape (B, p)."""
    total = (values**2).sum(axis=0)
    between, _, _ = between_classes(values, members)
    within = np.maximum(total - between, 1e-12 * total)
    ratio = f_ratio(between, within, len(members), len(values))
    return np.where(total > 0, ratio, 0.0)


def _same_class_shares(values: FloatArray, labels: IntArray) -> FloatArray:
    """Return the share of neighbours along each feature with the same class, (B, p)."""
    order = np.argsort(values, axis=0, kind="stable")
    n_pairs = sum(max(len(values) - lag, 0) for lag in _LAGS)
    same_class = np.empty((len(labels), values.shape[1]))
    step = max(1, _MOST_NUMBERS // order.size)
    small = labels.astype(np.int16)
    for start in range(0, len(labels), step):
        along = small[start : start + step][:, order]
        same_class[start : start + step] = sum(
            np.count_nonzero(along[:, lag:] == along[:, :-lag], axis=1) for lag in _LAGS
        )
    return same_class / max(n_pairs, 1)


def _indicators(values: FloatArray, categorical: Any) -> tuple[FloatArray, IntArray]:
    """Return indicators of thirds or categories, and the feature of each indicator."""
    simple = ~categorical & ~np.isnan(values).any(axis=0)
    numbers = values[:, simple]
    cuts = np.quantile(numbers, (1 / 3, 2 / 3), axis=0)
    place = (numbers > cuts[0]).astype(np.intp) + (numbers > cuts[1])
    parts = [place == third for third in range(3)]
    owner = [np.flatnonzero(simple)] * 3
    for j in np.flatnonzero(~simple):
        codes = _thirds_or_categories(values[:, j], bool(categorical[j]))
        parts.append(codes[:, None] == np.arange(codes.max() + 1))
        owner.append(np.full(codes.max() + 1, j))
    cells, owners = np.hstack(parts), np.concatenate(owner)
    held = cells.any(axis=0)  # ties may leave a third empty
    return cells[:, held].astype(np.float64), owners[held]


def _thirds_or_categories(feature: FloatArray, is_categorical: bool) -> IntArray:
    """Return the third or category of each sample; missing values form their own."""
    known = ~np.isnan(feature)
    place = feature
    if not is_categorical and known.any():
        cuts = np.quantile(feature[known], (1 / 3, 2 / 3))
        place = np.searchsorted(cuts, feature, side="left").astype(np.float64)
    _, codes = np.unique(np.where(known, place, -1.0), return_inverse=True)
    return codes.astype(np.intp)


# -- tables that contain only selected features --------------------------------------


class SelectionTrace(NamedTuple):
    """How alike the effects of features are that are all associated with the labels.

    Parameters
    ----------
    n_features : int
        Number of features.
    largest : float
        Their largest p-value (F test).
    pvalue : float
        p-value of the mean excess of their effects.
    """

    n_features: int
    largest: float
    pvalue: float

    @property
    def is_shown(self) -> bool:
        """Whether effects are more alike than those of unselected features."""
        return self.pvalue <= TRACE_LEVEL


def find_selection_trace(data: Table, seed: int) -> SelectionTrace | None:
    """Look for a trace of earlier feature selection in a table.

    The best of many noise features are all just beyond the threshold of their
    selection, so that their effects exceed the smallest of them by less than the noise
    of the effects alone makes them exceed it. Where features were not selected, effects
    are true effects plus noise, and are at least as far apart as the noise, whatever
    the true effects [1]_.

    Parameters
    ----------
    data : Table
        The table, which may contain only selected features.
    seed : int
        Seed of the permutations.

    Returns
    -------
    SelectionTrace or None
        None where a feature is not associated with the labels, where there are too few
        features, missing values or categorical features.

    Notes
    -----
    The effect of a feature is the norm of the differences of its class means, in
    standard errors. Its noise is found by permuting the residuals of all features
    together, which keeps their correlation, along the observed direction of each
    effect. The statistic is the mean excess over the smallest effect, of the 80 % of
    the features with the smallest effects, so that few useful features among noise do
    not hide the others. Without an effect the norm varies less than the noise; so
    every feature must have a p-value of 0.1 or less, which five features without effect
    seldom have.

    References
    ----------
    .. [1] T. Lewis & J. W. Thompson, "Dispersive distributions, and the connection
       between dispersivity and strong unimodality", Journal of Applied Probability 18
       (1981).
    """
    if data.categorical.any() or data.n_features < _TRACE_FEATURES:
        return None
    if sparse.issparse(data.values) or np.isnan(data.values).any():
        return None
    codes = coarse_outcome(data)
    n_classes = int(codes.max()) + 1
    members = (codes == np.arange(n_classes)[:, None]).astype(np.float64)
    df = n_classes - 1, data.n_samples - n_classes
    if df[1] < 1 or (members.sum(axis=1) == 0).any():
        return None
    weights = members / np.sqrt(members.sum(axis=1, keepdims=True))
    centred = _centred(data.values)
    effects = weights @ centred
    residuals = centred - weights.T @ effects
    deviation = np.sqrt((residuals**2).sum(axis=0) / df[1])
    if (deviation <= 1e-9 * np.sqrt((centred**2).mean(axis=0))).any():
        return None  # a feature that is constant, or constant within classes
    effects /= deviation
    norm = np.sqrt((effects**2).sum(axis=0))
    largest = float(stats.f.sf(norm**2 / df[0], *df).max())
    if largest > _TRACE_PVALUE:
        return None
    # Permuted residuals have the degrees of freedom of samples without classes.
    residuals *= np.sqrt((data.n_samples - 1) / df[1]) / deviation
    rng = as_generator(seed)
    noise = np.empty(_TRACE_DRAWS)
    for b in range(_TRACE_DRAWS):
        permuted = weights[:, rng.permutation(data.n_samples)] @ residuals
        noise[b] = _mean_excess(((effects / norm) * permuted).sum(axis=0))
    as_alike = np.count_nonzero(noise <= _mean_excess(norm) * (1 + 1e-9))
    pvalue = (1 + as_alike) / (1 + _TRACE_DRAWS)
    return SelectionTrace(data.n_features, largest, pvalue)


def _mean_excess(effects: FloatArray) -> float:
    """Return by how much the least 80 % of the effects exceed the least, on average."""
    kept = -(-len(effects) * 4 // 5)
    lowest = np.partition(effects, kept - 1)[:kept]
    return float(lowest.mean() - lowest.min())
