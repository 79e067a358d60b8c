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

| symbol | meaning                                                  | shape  |
|--------|----------------------------------------------------------|--------|
| Z      | normal scores within the classes, standardized           | (n, p) |
| λ      | shrinkage of the correlations, in [0, 1]                 |        |
| u      | quantile of a drawn value in its distribution, in (0, 1) | (n, p) |
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import chdtrc, fdtrc, ndtr, ndtri
from scipy.stats import rankdata

from veridical._core.arrays import BoolArray, FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.seeds import as_generator
from veridical._core.table import Table
from veridical.kernels.statistics import between_classes, chi_squares, f_ratio

#: Allowed false discovery rate of the features that differ between classes.
FALSE_DISCOVERIES = 0.1
#: Numbers in a dense copy of the data; with more an error is raised.
LARGEST = 100_000_000


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
        information.
    """

    data: Table
    pooled: FloatArray
    by_class: tuple[FloatArray, ...]
    mixing: FloatArray
    shrinkage: float
    keep: FloatArray
    shared: FloatArray

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
        if n * p > LARGEST:
            raise InputError(
                f"A source like data of {n} x {p} values would need too much memory; "
                "leave out features, those that hardly vary first."
            )
        dense = data.values.toarray() if sparse.issparse(data.values) else data.values
        values = np.asarray(dense, dtype=np.float64)
        codes = data.as_classes.by_appearance
        mixing = _scores_within(values, codes, data.categorical)
        with np.errstate(invalid="ignore"):
            by_class = tuple(
                np.sort(values[codes == c], axis=0) for c in np.unique(codes)
            )
        return cls(
            data=data,
            pooled=np.sort(values, axis=0),
            by_class=by_class,
            mixing=mixing,
            shrinkage=_shrinkage(mixing),
            keep=np.minimum(1.0, strength * _keep(values, data)),
            shared=_correlation_in_groups(mixing, data.groups),
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
        """Number of features that differ between classes."""
        return int((self.keep > 0).sum())

    def __call__(self, n_samples: int, random_state: Any = None) -> tuple[Any, Any]:
        """Draw a data set.

        Parameters
        ----------
        n_samples : int
            Number of samples; the classes have the shares of the data.
        random_state : int or None
            Decides what is drawn.
        """
        rng = as_generator(random_state)
        groups = self.groups if n_samples == self.data.n_samples else None
        if groups is None:
            codes = rng.permutation(self._classes(n_samples))
        else:
            codes = self.data.as_classes.by_appearance
        drawn = self.draw(codes, rng, groups)
        like = replace(self.data.features, values=drawn)
        return like.frame(), self._labels()[codes]

    def draw(
        self, codes: IntArray, rng: np.random.Generator, groups: IntArray | None = None
    ) -> FloatArray:
        """Draw the features of samples whose classes are given.

        Parameters
        ----------
        codes : int array of shape (n_samples,)
            Their classes.
        rng : numpy Generator
            Random number generator.
        groups : int array of shape (n_samples,), optional
            Their groups, from 0 on.
        """
        n, p = codes.size, self.keep.size
        u = self._places(n, rng, groups)
        result = _quantiles(self.pooled, u)
        relevant = np.flatnonzero(self.keep)
        for c, values in enumerate(self.by_class):
            rows = np.flatnonzero(codes == c)
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
        absent = np.isnan(self.pooled).mean(axis=0)
        if absent.any():
            result[rng.random((n, p)) < absent] = np.nan
        return result

    def _places(
        self, n: int, rng: np.random.Generator, groups: IntArray | None
    ) -> FloatArray:
        """Draw u: uniform, and correlated as the features and the groups are."""
        normal = self._normal(n, rng)
        if groups is not None:
            common = self._normal(int(groups.max()) + 1, rng)[groups]
            normal = np.sqrt(self.shared) * common + np.sqrt(1 - self.shared) * normal
        return np.asarray(ndtr(normal))

    def _normal(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Draw normal scores, correlated as the numeric features are."""
        mixed = rng.standard_normal((n, len(self.mixing))) @ self.mixing
        noise = rng.standard_normal(mixed.shape)
        varies = (self.mixing != 0).any(axis=0)
        shared = np.where(varies, 1 - self.shrinkage, 0.0)
        return np.asarray(np.sqrt(shared) * mixed + np.sqrt(1 - shared) * noise)

    def _classes(self, n_samples: int) -> IntArray:
        """Divide samples among the classes, by the largest remainders.

        Every class gets at least one sample, if there are that many.
        """
        counts = np.bincount(self.data.as_classes.by_appearance)
        exact = counts / counts.sum() * n_samples
        given = np.floor(exact).astype(np.intp)
        rest = np.argsort(-(exact - given), kind="stable")[: n_samples - given.sum()]
        given[rest] += 1
        for c in np.flatnonzero(given == 0):
            if given.max() > 1:
                given[given.argmax()] -= 1
                given[c] = 1
        return np.repeat(np.arange(counts.size), given)

    def _labels(self) -> NDArray[Any]:
        first = np.unique(self.data.as_classes.by_appearance, return_index=True)[1]
        return self.data.labels[first]


def _quantiles(ordered: FloatArray, u: FloatArray) -> FloatArray:
    """Return the quantiles u of sorted features; NaN where a feature has no value."""
    known = (~np.isnan(ordered)).sum(axis=0)
    place = np.minimum((u * known).astype(np.intp), np.maximum(known - 1, 0))
    return np.asarray(ordered[place, np.arange(ordered.shape[1])])


# -- estimates -----------------------------------------------------------------------


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


def _normal_scores(values: FloatArray) -> FloatArray:
    """Compute normal scores of every feature; ties share one, missing values get 0."""
    known = ~np.isnan(values)
    ranks = rankdata(np.where(known, values, np.inf), axis=0)
    with np.errstate(divide="ignore"):
        scores = ndtri((ranks - 0.5) / np.maximum(known.sum(axis=0), 1))
    return np.where(known, scores, 0.0)


def _scores_within(
    values: FloatArray, codes: IntArray, categorical: BoolArray
) -> FloatArray:
    """Compute Z, scaled to a sum of squares of 1, or 0 for a constant feature."""
    Z = np.zeros_like(values)
    for c in np.unique(codes):
        rows = codes == c
        if rows.sum() > 1:
            scores = _normal_scores(values[rows])
            Z[rows] = scores - scores.mean(axis=0)
    Z[:, categorical] = 0.0
    norm = np.sqrt((Z**2).sum(axis=0))
    return np.asarray(Z / np.where(norm > 0, norm, 1.0))


def _shrinkage(Z: FloatArray) -> float:
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


def _keep(values: FloatArray, data: Table) -> FloatArray:
    """Compute `keep` at strength 1: 0 for features that do not differ significantly."""
    codes = data.as_classes.by_appearance
    n_classes, n_units = int(codes.max()) + 1, data.n_samples
    ratio, pvalue = np.ones(data.n_features), np.ones(data.n_features)
    numeric = np.flatnonzero(~data.categorical)
    if numeric.size:
        scores, of_units = _normal_scores(values[:, numeric]), codes
        parts = [scores, scores**2]
        if data.groups is not None:
            averaged = [_means_of_groups(part, codes, data.groups) for part in parts]
            parts, of_units = [part for part, _ in averaged], averaged[0][1]
            n_units = len(of_units)
        both = np.stack([_f_statistics(part, of_units, n_classes) for part in parts])
        ratio[numeric] = both.max(axis=0)
        df = n_classes - 1, max(n_units - n_classes, 1)
        pvalue[numeric] = np.minimum(1.0, 2 * fdtrc(*df, ratio[numeric]))
    rows: Any = slice(None)
    if data.groups is not None:  # one sample of each group and class
        pairs = np.column_stack([data.groups, codes])
        rows = np.unique(pairs, axis=0, return_index=True)[1]
    for j in np.flatnonzero(data.categorical):
        ratio[j], pvalue[j] = _chi_squared(values[rows, j], codes[rows])
    differs = _benjamini_hochberg(pvalue)
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


def _chi_squared(feature: FloatArray, codes: IntArray) -> tuple[float, float]:
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


def _benjamini_hochberg(pvalues: FloatArray) -> BoolArray:
    """Return which hypotheses are rejected at the allowed false discovery rate."""
    n = pvalues.size
    order = np.argsort(pvalues)
    passed = pvalues[order] <= FALSE_DISCOVERIES * np.arange(1, n + 1) / n
    rejected = np.zeros(n, dtype=bool)
    if passed.any():
        rejected[order[: int(np.flatnonzero(passed)[-1]) + 1]] = True
    return rejected
