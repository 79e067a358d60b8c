"""A source that resembles one data set and can be sampled without limit.

It keeps what can be estimated from the data and leaves out the rest:

- **Classes** have the shares of the data.
- **Marginals**: values are drawn from those observed, missing ones with their share.
- **Strength**: a feature whose values differ between classes (see below) is drawn, with
  probability `keep`, from the values of its own class, else from all. ``keep`` shrinks
  what was observed, because the strongest of many features look stronger than they are.
- **Correlation**: numeric features are correlated within classes as observed, shrunk
  towards independence (Schäfer and Strimmer), by a normal copula.
- **Groups**: numeric features of samples of one group are correlated as observed within
  classes; data sets have the outcomes and groups of the data, and whether a feature
  differs between classes is decided on means of groups.
- **Left out**: interactions between features, and correlation of categorical features.

A feature differs between classes if the F statistic of its normal scores, or that of
their squares (a difference in spread), is significant at a false discovery rate of 10 %
(Benjamini and Hochberg); for a categorical feature the statistic is χ². With F the
larger of the two, ``keep = strength · sqrt(1 − 1/F)``; for χ², F is χ² over its degrees
of freedom. All other features carry no information.

**Numbers and survival times** have no classes. Each sample has an outcome score z: the
normal score of its number, or of the expected quantile of its time, which accounts for
censoring. A numeric feature that is correlated with z (of normal scores; F of a
straight line, the same false discovery rate) is drawn as ``keep · z + sqrt(1 − keep²) ·
noise`` on the scale of normal scores, where ``keep = strength · r · sqrt(1 − 1/F)``; so
relations are monotone. The noise is correlated as the residuals are. A categorical
feature whose mean z differ is drawn, with probability `keep`, from the tenth of the
samples nearest in z. Data sets have the outcomes of the data.

**Weights**: the source is that of samples repeated as often as their weights say, but
what differs significantly is decided on the samples themselves. Data sets that are
drawn have no weights.

| symbol | meaning                                                  | shape  |
|--------|----------------------------------------------------------|--------|
| Z      | normal scores within the classes, standardized           | (n, p) |
| λ      | shrinkage of the correlations, in [0, 1]                 |        |
| u      | quantile of a drawn value in its distribution, in (0, 1) | (n, p) |
| z      | outcome score of numbers and survival times              | (n,)   |
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import chdtrc, fdtrc, ndtr, ndtri
from scipy.stats import rankdata

from veridical._core.arrays import BoolArray, FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.seeds import as_generator
from veridical._core.table import Table
from veridical._core.targets import Survival, Target
from veridical.criteria.survival import expected_quantiles
from veridical.kernels.statistics import (
    benjamini_hochberg,
    between_classes,
    chi_squares,
    f_ratio,
)

#: Allowed false discovery rate of the features that differ between classes.
FALSE_DISCOVERIES = 0.1
#: Numbers in a dense copy of the data; with more an error is raised.
LARGEST_COPY = 100_000_000
#: Largest correlation of a drawn feature with the outcome score.
_LARGEST_SLOPE = 0.995


@dataclass(frozen=True, eq=False)
class SimulatedSource:
    """Draws data sets like an observed one; see the top of the module.

    Parameters
    ----------
    data : Table
        The observed data set.
    pooled : array of shape (n, p)
        Every feature sorted, missing values last.
    by_class : tuple of arrays of shape (n_c, p)
        The same within each class.
    mixing : array of shape (n, p)
        Z, from which correlated normal scores are mixed.
    shrinkage : float
        λ.
    shared : array of shape (p,)
        Correlation of two samples of one group, of each feature; 0 without groups.
    keep : array of shape (p,)
        Probability of drawing from the values of the own class; 0 for a feature without
        information. Without classes, the correlation with z, which may be negative.
    copies : int array
        Samples of the data, each as often as its weight says.
    scores : array of shape (n,), optional
        z; None for classes.
    """

    data: Table
    pooled: FloatArray
    by_class: tuple[FloatArray, ...]
    mixing: FloatArray
    shrinkage: float
    keep: FloatArray
    shared: FloatArray
    copies: IntArray
    scores: FloatArray | None = None

    @classmethod
    def from_table(cls, data: Table, strength: float = 1.0) -> SimulatedSource:
        """Estimate the source of a data set.

        Parameters
        ----------
        data : Table
            The data set.
        strength : float, default=1.0
            Factor of `keep`, which is at most 1.
        """
        if not strength >= 0:
            raise InputError(f"strength must be 0 or more, got {strength!r}.")
        n, p = data.values.shape
        if n * p > LARGEST_COPY:
            raise InputError(
                f"A source like data of {n} x {p} values would need too much memory; "
                "leave out features, those that hardly vary first."
            )
        dense = data.values.toarray() if sparse.issparse(data.values) else data.values
        values = np.asarray(dense, dtype=np.float64)
        copies, units, groups = np.arange(n), data.groups, data.groups
        if data.weights is not None:
            copies = _repeat_rows(data.weights)
            units = copies if groups is None else groups[copies]
            groups = None if groups is None else groups[copies]
            values = values[copies]
        categorical, by_class = data.categorical, []
        if data.kind == "classes":
            z, codes = None, data.as_classes.by_appearance[copies]
            mixing = scores_within(values, codes, categorical)
            keep = _keep(values, codes, categorical, units)
            keep = np.minimum(1.0, strength * keep)
            for c in range(data.n_classes):
                by_class.append(np.sort(values[codes == c], axis=0))
        else:
            z = outcome_scores(data.target, data.weights)
            mixing = _residual_scores(values, z[copies], categorical)
            keep = strength * _slopes(values, z[copies], categorical, units)
            keep = np.clip(keep, -_LARGEST_SLOPE, _LARGEST_SLOPE)
        return cls(
            data=data,
            pooled=np.sort(values, axis=0),
            by_class=tuple(by_class),
            mixing=mixing,
            shrinkage=schaefer_strimmer_shrinkage(mixing),
            keep=keep,
            shared=_correlation_in_groups(mixing, groups),
            copies=copies,
            scores=z,
        )

    @property
    def groups(self) -> IntArray | None:
        """Groups of a data set of as many samples as the data."""
        return self.data.groups

    @property
    def name(self) -> str:
        """Display name of this source."""
        return "like the data"

    @property
    def n_relevant(self) -> int:
        """Number of features that depend on the outcome."""
        return int((self.keep != 0).sum())

    def __call__(self, n_samples: int, random_state: Any = None) -> tuple[Any, Any]:
        """Draw a data set.

        Parameters
        ----------
        n_samples : int
            Number of samples; the classes have the shares of the data, and other
            outcomes occur as often as in the data.
        random_state : int or None
            Decides what is drawn.
        """
        rng = as_generator(random_state)
        groups = self.groups if n_samples == self.data.n_samples else None
        if groups is not None:
            rows = np.arange(n_samples)
        elif self.scores is None:
            rows = rng.permutation(self._rows_of_classes(n_samples))
        else:
            n_whole, n_more = divmod(n_samples, len(self.copies))
            more = rng.permutation(self.copies)[:n_more]
            rows = rng.permutation(np.append(np.tile(self.copies, n_whole), more))
        drawn = self.draw(rows, rng, groups)
        like = replace(self.data.features, stored=drawn)
        return like.frame(), self.data.labels[rows]

    def draw(
        self, rows: IntArray, rng: np.random.Generator, groups: IntArray | None = None
    ) -> FloatArray:
        """Draw the features of samples whose outcomes are given.

        Parameters
        ----------
        rows : int array of shape (n_samples,)
            Samples of the data that have these outcomes.
        rng : numpy Generator
            Random number generator.
        groups : int array of shape (n_samples,), optional
            Their groups, from 0 on.
        """
        n, p = rows.size, self.keep.size
        if self.scores is None:
            codes = self.data.as_classes.by_appearance[rows]
            result = self._draw_by_class(codes, rng, groups)
        else:
            result = self._draw_by_score(self.scores[rows], rng, groups)
        absent = np.isnan(self.pooled).mean(axis=0)
        if absent.any():
            result[rng.random((n, p)) < absent] = np.nan
        return result

    def _draw_by_class(
        self, codes: IntArray, rng: np.random.Generator, groups: IntArray | None
    ) -> FloatArray:
        u = np.asarray(ndtr(self._noise(codes.size, rng, groups)))
        result = _quantiles(self.pooled, u)
        relevant = np.flatnonzero(self.keep)
        for c, values in enumerate(self.by_class):
            rows = np.flatnonzero(codes == c)
            if not len(values):  # a class without weight
                continue
            if groups is None:
                chance = rng.random((rows.size, relevant.size))
            else:  # the same for all samples of a group
                n_groups = int(groups.max()) + 1
                chance = rng.random((n_groups, relevant.size))[groups[rows]]
            own = chance < self.keep[relevant]
            inside = _quantiles(values[:, relevant], u[np.ix_(rows, relevant)])
            own &= ~np.isnan(inside)
            where = np.ix_(rows, relevant)
            result[where] = np.where(own, inside, result[where])
        return result

    def _draw_by_score(
        self, z: FloatArray, rng: np.random.Generator, groups: IntArray | None
    ) -> FloatArray:
        assert self.scores is not None
        categorical = self.data.categorical
        slope = np.where(categorical, 0.0, self.keep)
        noise = self._noise(z.size, rng, groups)
        normal = slope * z[:, None] + np.sqrt(1 - slope**2) * noise
        result = _quantiles(self.pooled, np.asarray(ndtr(normal)))
        values = self.data.values
        for j in np.flatnonzero(categorical & (self.keep != 0)):
            near = self.copies[_near_rows(self.scores[self.copies], z, rng)]
            own = np.asarray(values[near, j], dtype=np.float64).reshape(-1)
            use = (rng.random(z.size) < self.keep[j]) & ~np.isnan(own)
            result[use, j] = own[use]
        return result

    def _noise(
        self, n: int, rng: np.random.Generator, groups: IntArray | None
    ) -> FloatArray:
        """Draw normal scores, correlated as the features and the groups are."""
        normal = self._normal(n, rng)
        if groups is not None:
            common = self._normal(int(groups.max()) + 1, rng)[groups]
            normal = np.sqrt(self.shared) * common + np.sqrt(1 - self.shared) * normal
        return normal

    def _normal(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Draw normal scores, correlated as the numeric features are."""
        mixed = rng.standard_normal((n, len(self.mixing))) @ self.mixing
        noise = rng.standard_normal(mixed.shape)
        varies = (self.mixing != 0).any(axis=0)
        shared = np.where(varies, 1 - self.shrinkage, 0.0)
        return np.asarray(np.sqrt(shared) * mixed + np.sqrt(1 - shared) * noise)

    def _rows_of_classes(self, n_samples: int) -> IntArray:
        """Divide samples among the classes, by the largest remainders; give rows.

        A class stands for its first sample. Every class gets at least one sample, if
        there are that many.
        """
        codes = self.data.as_classes.by_appearance
        counts = np.bincount(codes[self.copies], minlength=self.data.n_classes)
        exact = counts / counts.sum() * n_samples
        given = np.floor(exact).astype(np.intp)
        rest = np.argsort(-(exact - given), kind="stable")[: n_samples - given.sum()]
        given[rest] += 1
        for c in np.flatnonzero((given == 0) & (counts > 0)):
            if given.max() > 1:
                given[given.argmax()] -= 1
                given[c] = 1
        first = np.unique(codes, return_index=True)[1]
        return np.repeat(first, given)


def _quantiles(ordered: FloatArray, u: FloatArray) -> FloatArray:
    """Return the quantiles u of sorted features; NaN where a feature has no value."""
    known = (~np.isnan(ordered)).sum(axis=0)
    place = np.minimum((u * known).astype(np.intp), np.maximum(known - 1, 0))
    return np.asarray(ordered[place, np.arange(ordered.shape[1])])


def _near_rows(scores: FloatArray, z: FloatArray, rng: np.random.Generator) -> IntArray:
    """Draw for each z a sample among the tenth of all whose scores are nearest."""
    order = np.argsort(scores, kind="stable")
    reach = max(1, len(scores) // 20)
    place = np.searchsorted(scores[order], z) + rng.integers(-reach, reach + 1, z.size)
    return order[np.clip(place, 0, len(scores) - 1)]


# -- estimates -----------------------------------------------------------------------


def _repeat_rows(weights: FloatArray) -> IntArray:
    """Return rows as often as their weights say.

    Other weights than whole numbers are represented by four times as many rows as there
    are samples, at equal steps of the cumulative weight.
    """
    if (weights == np.rint(weights)).all():
        return np.repeat(np.arange(len(weights)), weights.astype(np.intp))
    n_rows = 4 * len(weights)
    steps = (np.arange(n_rows) + 0.5) / n_rows * weights.sum()
    return np.searchsorted(np.cumsum(weights), steps, side="right")


def outcome_scores(target: Target, weights: FloatArray | None = None) -> FloatArray:
    """Return z: normal scores of numbers, or of expected quantiles of times.

    The score of a survival time is larger, the later the event is expected.

    Parameters
    ----------
    target : Numbers or Survival
        The outcomes.
    weights : array of shape (n,), optional
        How often each sample counts.
    """
    counts = np.ones(len(target)) if weights is None else weights
    if isinstance(target, Survival):
        quantile = expected_quantiles(target, counts)
    else:
        values, place = np.unique(target.labels, return_inverse=True)
        at = np.bincount(place, counts, minlength=values.size)
        quantile = ((np.cumsum(at) - at / 2) / at.sum())[place]
    # A sample of weight 0 may lie beyond all others.
    least = 0.5 / max(len(target), counts.sum())
    z = ndtri(np.clip(quantile, least, 1 - least))
    z = z - z @ counts / counts.sum()
    spread = np.sqrt(z**2 @ counts / counts.sum())
    return np.asarray(z / spread if spread > 0 else z)


def _residual_scores(
    values: FloatArray, z: FloatArray, categorical: BoolArray
) -> FloatArray:
    """Compute Z without what z explains, scaled to a sum of squares of 1."""
    Z = _normal_scores_by_mean_rank(values)
    Z = Z - Z.mean(axis=0)
    Z = Z - np.outer(z, z @ Z) / max(float(z @ z), 1e-300)
    Z[:, categorical] = 0.0
    norm = np.sqrt((Z**2).sum(axis=0))
    return np.asarray(Z / np.where(norm > 1e-12, norm, 1.0))


def _slopes(
    values: FloatArray, z: FloatArray, categorical: BoolArray, units: IntArray | None
) -> FloatArray:
    """Compute `keep` at strength 1: 0 for features that do not depend on the outcome.

    It is the correlation of normal scores with z, shrunk; of a categorical feature a
    probability. With units, both are decided on their means.
    """
    p = values.shape[1]
    ratio, pvalue, size = np.zeros(p), np.ones(p), np.zeros(p)
    numeric = np.flatnonzero(~categorical)
    if numeric.size:
        Z, outcome = _normal_scores_by_mean_rank(values[:, numeric]), z
        whole = _correlations(Z, z)
        if units is not None:
            both = _means_of_units(np.column_stack([Z, z]), units)
            Z, outcome = both[:, :-1], both[:, -1]
        r2, df = np.minimum(_correlations(Z, outcome) ** 2, 1 - 1e-15), len(Z) - 2
        ratio[numeric] = r2 / (1 - r2) * max(df, 1)
        pvalue[numeric] = fdtrc(1, max(df, 1), ratio[numeric])
        size[numeric] = whole
    one_of_each = np.arange(len(z))
    if units is not None:
        one_of_each = np.unique(units, return_index=True)[1]
    for j in np.flatnonzero(categorical):
        feature = values[one_of_each, j]
        known = ~np.isnan(feature)
        codes = np.unique(feature[known], return_inverse=True)[1]
        n_codes = int(codes.max(initial=0)) + 1
        if n_codes < 2 or len(codes) <= n_codes:
            continue
        scores = z[one_of_each][known][:, None]
        ratio[j] = _f_statistics(scores, codes, n_codes)[0]
        pvalue[j] = fdtrc(n_codes - 1, len(codes) - n_codes, ratio[j])
        size[j] = 1.0
    depends = (benjamini_hochberg(pvalue) <= FALSE_DISCOVERIES) & (ratio > 1)
    shrunk = np.sqrt(np.maximum(0.0, 1 - 1 / np.where(depends, ratio, 1.0)))
    return np.where(depends, size * shrunk, 0.0)


def _correlations(Z: FloatArray, z: FloatArray) -> FloatArray:
    """Compute the correlation of every column with z; 0 where one is constant."""
    Z, z = Z - Z.mean(axis=0), z - z.mean()
    norm = np.sqrt((Z**2).sum(axis=0) * (z @ z))
    return np.asarray(np.where(norm > 1e-12, z @ Z / np.where(norm > 0, norm, 1), 0.0))


def _means_of_units(scores: FloatArray, units: IntArray) -> FloatArray:
    """Average scores over the samples of each unit."""
    return _means_of_groups(scores, np.zeros(len(units), dtype=np.intp), units)[0]


def _correlation_in_groups(Z: FloatArray, groups: IntArray | None) -> FloatArray:
    """Compute the correlation of two samples of one group, of every feature.

    It is the intraclass correlation by the analysis of variance, within [0, 1].

    Parameters
    ----------
    Z : array of shape (n, p)
        Normal scores within classes.
    groups : int array of shape (n,), or None
        Groups from 0 on.
    """
    if groups is None:
        return np.zeros(Z.shape[1])
    counts = np.bincount(groups)
    m, n = len(counts), len(groups)
    means = np.zeros((m, Z.shape[1]))
    np.add.at(means, groups, Z)
    means /= counts[:, None]
    within = ((Z - means[groups]) ** 2).sum(axis=0) / max(n - m, 1)
    between = (counts[:, None] * means**2).sum(axis=0) / max(m - 1, 1)
    size = (n - (counts**2).sum() / n) / max(m - 1, 1)
    whole = between + (size - 1) * within
    share = np.divide(
        between - within, whole, out=np.zeros_like(whole), where=whole > 0
    )
    return np.asarray(np.clip(share, 0.0, 1.0))


def _means_of_groups(
    scores: FloatArray, codes: IntArray, groups: IntArray
) -> tuple[FloatArray, IntArray]:
    """Average scores over the samples of each group and class; return their classes."""
    pairs = np.column_stack([groups, codes])
    cells, place = np.unique(pairs, axis=0, return_inverse=True)
    place = place.reshape(-1)
    sums = np.zeros((len(cells), scores.shape[1]))
    np.add.at(sums, place, scores)
    return sums / np.bincount(place)[:, None], cells[:, 1]


def _normal_scores_by_mean_rank(values: FloatArray) -> FloatArray:
    """Compute normal scores of every feature; ties share one, missing values get 0."""
    known = ~np.isnan(values)
    ranks = rankdata(np.where(known, values, np.inf), axis=0)
    with np.errstate(divide="ignore"):
        scores = ndtri((ranks - 0.5) / np.maximum(known.sum(axis=0), 1))
    return np.where(known, scores, 0.0)


def scores_within(
    values: FloatArray, codes: IntArray, categorical: BoolArray
) -> FloatArray:
    """Compute Z, scaled to a sum of squares of 1, or 0 for a constant feature."""
    Z = np.zeros_like(values)
    for c in np.unique(codes):
        rows = codes == c
        if rows.sum() > 1:
            scores = _normal_scores_by_mean_rank(values[rows])
            Z[rows] = scores - scores.mean(axis=0)
    Z[:, categorical] = 0.0
    norm = np.sqrt((Z**2).sum(axis=0))
    return np.asarray(Z / np.where(norm > 0, norm, 1.0))


def schaefer_strimmer_shrinkage(Z: FloatArray) -> float:
    """Compute Schäfer and Strimmer's λ of a correlation matrix from n x n products.

    References
    ----------
    .. [1] J. Schäfer & K. Strimmer, "A shrinkage approach to large-scale covariance
       matrix estimation and implications for functional genomics", Statistical
       Applications in Genetics and Molecular Biology 4 (2005).
    """
    n, p = Z.shape
    if n < 3 or p < 2:
        return 1.0
    gram = Z @ Z.T
    # Sums over i ≠ j of r², and of the variance of r, without forming p x p matrices.
    diagonal = float(((Z**2).sum(axis=0) ** 2).sum())
    squares = float((gram**2).sum()) - diagonal
    products = float((np.diag(gram) ** 2).sum()) - float((Z**4).sum())
    variances = (n * products - squares) / (n - 1)
    if squares <= 0:
        return 1.0
    return float(np.clip(variances / squares, 0.0, 1.0))


def _keep(
    values: FloatArray, codes: IntArray, categorical: BoolArray, units: IntArray | None
) -> FloatArray:
    """Compute `keep` at strength 1: 0 for features that do not differ significantly."""
    n_classes, n_units = int(codes.max()) + 1, len(codes)
    ratio, pvalue = np.ones(values.shape[1]), np.ones(values.shape[1])
    numeric = np.flatnonzero(~categorical)
    if numeric.size:
        scores, of_units = _normal_scores_by_mean_rank(values[:, numeric]), codes
        parts = [scores, scores**2]
        if units is not None:
            averaged = [_means_of_groups(part, codes, units) for part in parts]
            parts, of_units = [part for part, _ in averaged], averaged[0][1]
            n_units = len(of_units)
        both = np.stack([_f_statistics(part, of_units, n_classes) for part in parts])
        ratio[numeric] = both.max(axis=0)
        df = n_classes - 1, max(n_units - n_classes, 1)
        pvalue[numeric] = np.minimum(1.0, 2 * fdtrc(*df, ratio[numeric]))
    rows: Any = slice(None)
    if units is not None:  # one sample of each group and class
        pairs = np.column_stack([units, codes])
        rows = np.unique(pairs, axis=0, return_index=True)[1]
    for j in np.flatnonzero(categorical):
        ratio[j], pvalue[j] = association_with_classes(values[rows, j], codes[rows])
    differs = benjamini_hochberg(pvalue) <= FALSE_DISCOVERIES
    with np.errstate(divide="ignore"):
        return np.where(differs, np.sqrt(np.maximum(0.0, 1 - 1 / ratio)), 0.0)


def _f_statistics(scores: FloatArray, codes: IntArray, n_classes: int) -> FloatArray:
    """Compute the F statistic of every feature; 0 for a constant one."""
    members = (codes == np.arange(n_classes)[:, None, None]).astype(np.float64)
    centred = scores - scores.mean(axis=0)
    (between,), _, _ = between_classes(centred, members)
    within = (centred**2).sum(axis=0) - between
    df = max(codes.size - n_classes, 1)
    within = np.where(within > 1e-12 * df, within, 0.0)
    ratio = f_ratio(between, within, n_classes, n_classes + df)
    return np.where(between > 1e-12 * (n_classes - 1), ratio, 0.0)


def association_with_classes(
    feature: FloatArray, codes: IntArray
) -> tuple[float, float]:
    """Compute χ² over its degrees of freedom, and its p-value."""
    known = ~np.isnan(feature)
    feature, codes = feature[known], codes[known]
    cells = (feature[:, None] == np.unique(feature)).astype(np.float64)
    members = [(codes == k)[None, :].astype(np.float64) for k in np.unique(codes)]
    if len(members) < 2 or cells.shape[1] < 2:
        return 1.0, 1.0
    owner = np.zeros(cells.shape[1], dtype=np.intp)
    (chi2,), (df,) = (part.ravel() for part in chi_squares(cells, owner, members, 1))
    return float(chi2 / df), float(chdtrc(df, chi2))
