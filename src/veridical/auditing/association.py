"""Were these columns chosen by looking at the labels?

Two null hypotheses, in the words of gene-set analysis [1]_. *Self-contained*: the
columns have nothing to do with the labels, so that labels in random order are tied to
them as closely. *Competitive*: they are tied to the labels no more closely than other
columns of the same table. Columns that were chosen without a look at the labels keep
the second whatever the data, and on noise both; so only columns that break both
are called chosen.

| symbol | meaning                                                      | shape     |
|--------|--------------------------------------------------------------|-----------|
| values | numeric columns about their means, missing values at 0       | (n, p)    |
| cells  | indicators of thirds of a column, or of its categories       | (n, m)    |
| labels | classes in random orders, the true one first                 | (B, n)    |

References
----------
.. [1] J. J. Goeman & P. Bühlmann, "Analyzing gene expression data in terms of gene
   sets: methodological issues", Bioinformatics 23 (2007).
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
from scipy import sparse, stats

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.seeds import as_generator
from veridical._core.table import Table
from veridical.kernels.statistics import between_classes, chi_squares, f_ratio

#: Random orders of the labels, and random sets of columns.
DRAWS = 999
#: Below this, columns count as chosen by the labels; it is the rate of false alarms.
LEVEL = 0.01
_BLOCK = 512
#: How far apart neighbours along a column may be, in places.
_LAGS = (1, 2, 3)
#: Labels sorted along columns that are held at once.
_MOST_NUMBERS = 1 << 24
#: Columns whose p-values are this small without exception may have been selected.
_SCAR_LEVEL = 0.05
_SCAR_COLUMNS = 5
_SCAR_FIT = 0.001


def chosen_by_labels(data: Table, columns: IntArray, seed: int) -> float:
    """Test whether columns were chosen by the labels.

    Parameters
    ----------
    data : Table
        All cases, all columns.
    columns : int array
        The columns in question.
    seed : int
        Decides the random orders and sets.

    Returns
    -------
    float
        The larger of the p-values of the two hypotheses. Each is three times the
        smallest of three: of shifts of class means (log of 1 + F), of class shares in
        the thirds or categories of a column (log of 1 + χ² per degree of freedom), and
        of neighbours along a column that are of the same class (their share).
    """
    rng = as_generator(seed)
    labels = np.stack([data.y, *(rng.permutation(data.y) for _ in range(DRAWS))])
    alone = strengths(data, columns, labels).mean(axis=2)
    p_alone = _pvalues(alone)
    if comb(data.n_features, columns.size) < 1 / LEVEL:
        return p_alone  # there are too few other sets to compete with
    everything = strengths(data, np.arange(data.n_features), labels[:1])[:, 0]
    sets = np.stack(
        [rng.choice(data.n_features, columns.size, replace=False) for _ in range(DRAWS)]
    )
    rivals = everything[:, sets].mean(axis=2)
    own = everything[:, columns].mean(axis=1, keepdims=True)
    return max(p_alone, _pvalues(np.hstack([own, rivals])))


def _pvalues(strength: FloatArray) -> float:
    """Bonferroni over the measures; the first in each row is the one observed."""
    as_strong = strength[:, 1:] >= strength[:, :1] * (1 - 1e-12)
    p = (1 + np.count_nonzero(as_strong, axis=1)) / strength.shape[1]
    return min(1.0, len(p) * float(p.min()))


def strengths(data: Table, columns: IntArray, labels: IntArray) -> FloatArray:
    """How closely each column is tied to each order of the labels, by three measures.

    Returns
    -------
    array of shape (3, B, n_columns)
        Shifts of means and likeness of neighbours, both 0 for nominal columns; between
        them, shares in thirds or categories.
    """
    result = np.zeros((3, len(labels), columns.size))
    members = [(labels == k).astype(np.float64) for k in range(labels.max() + 1)]
    for start in range(0, columns.size, _BLOCK):
        block = columns[start : start + _BLOCK]
        raw = data.take(np.arange(data.n_samples), block)
        numeric = np.flatnonzero(~data.categorical[block])
        if numeric.size:
            result[0][:, start + numeric] = np.log1p(
                _f_ratios(_centred(raw[:, numeric]), members)
            )
            result[2][:, start + numeric] = _alike(raw[:, numeric], labels)
        cells, owner = _cells(raw, data.categorical[block])
        chi2, df = chi_squares(cells, owner, members, block.size)
        per_df = chi2 / np.maximum(df, 1)
        result[1][:, start : start + block.size] = np.log1p(per_df)
    return result


def _centred(values: FloatArray) -> FloatArray:
    known = ~np.isnan(values)
    mean = np.where(known, values, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return np.where(known, values - mean, 0.0)


def _f_ratios(values: FloatArray, members: list[FloatArray]) -> FloatArray:
    """F ratio of every column under every order of the labels, shape (B, p)."""
    total = (values**2).sum(axis=0)
    between, _, _ = between_classes(values, members)
    within = np.maximum(total - between, 1e-12 * total)
    ratio = f_ratio(between, within, len(members), len(values))
    return np.where(total > 0, ratio, 0.0)


def _alike(values: FloatArray, labels: IntArray) -> FloatArray:
    """Share of neighbours along each column that are of the same class, (B, p)."""
    order = np.argsort(values, axis=0, kind="stable")
    n_pairs = sum(max(len(values) - lag, 0) for lag in _LAGS)
    alike = np.empty((len(labels), values.shape[1]))
    step = max(1, _MOST_NUMBERS // order.size)
    small = labels.astype(np.int16)
    for start in range(0, len(labels), step):
        along = small[start : start + step][:, order]
        alike[start : start + step] = sum(
            np.count_nonzero(along[:, lag:] == along[:, :-lag], axis=1) for lag in _LAGS
        )
    return alike / max(n_pairs, 1)


def _cells(values: FloatArray, nominal: Any) -> tuple[FloatArray, IntArray]:
    """Cut columns in thirds, or take their categories; whose each cell is."""
    simple = ~nominal & ~np.isnan(values).any(axis=0)
    numbers = values[:, simple]
    cuts = np.quantile(numbers, (1 / 3, 2 / 3), axis=0)
    place = (numbers > cuts[0]).astype(np.intp) + (numbers > cuts[1])
    parts = [place == third for third in range(3)]
    owner = [np.flatnonzero(simple)] * 3
    for j in np.flatnonzero(~simple):
        codes = _places(values[:, j], bool(nominal[j]))
        parts.append(codes[:, None] == np.arange(codes.max() + 1))
        owner.append(np.full(codes.max() + 1, j))
    cells, owners = np.hstack(parts), np.concatenate(owner)
    held = cells.any(axis=0)  # ties may leave a third empty
    return cells[:, held].astype(np.float64), owners[held]


def _places(column: FloatArray, is_nominal: bool) -> IntArray:
    """Number the thirds or categories of one column; missing is one of its own."""
    known = ~np.isnan(column)
    place = column
    if not is_nominal and known.any():
        cuts = np.quantile(column[known], (1 / 3, 2 / 3))
        place = np.searchsorted(cuts, column, side="left").astype(np.float64)
    _, codes = np.unique(np.where(known, place, -1.0), return_inverse=True)
    return codes.astype(np.intp)


# -- a table that holds nothing but selected columns ---------------------------------


def selection_scar(data: Table) -> tuple[int, float, float] | None:
    """Look for the mark that selection leaves on a table.

    The best of many noise columns have p-values that are spread evenly below a sharp
    edge. A table of useful columns looks otherwise: most p-values are far smaller than
    the largest. And a table that nobody has selected from has large ones too.

    Returns
    -------
    tuple or None
        Number of columns, their largest p-value, and how well an even spread fits (the
        p-value of a Kolmogorov-Smirnov test); None without such a mark.
    """
    if data.categorical.any() or data.n_features < _SCAR_COLUMNS:
        return None
    if sparse.issparse(data.values) or np.isnan(data.values).any():
        return None
    members = [(data.y == k)[None, :].astype(np.float64) for k in np.unique(data.y)]
    pvalues = np.empty(data.n_features)
    df = len(members) - 1, data.n_samples - len(members)
    for start in range(0, data.n_features, _BLOCK):
        ratio = _f_ratios(_centred(data.values[:, start : start + _BLOCK]), members)[0]
        pvalues[start : start + _BLOCK] = stats.f.sf(ratio, *df)
        if pvalues[start : start + _BLOCK].max() > _SCAR_LEVEL:
            return None
    edge = float(pvalues.max())
    others = np.delete(pvalues, pvalues.argmax()) / edge
    fit = float(stats.kstest(others, "uniform").pvalue)
    return (data.n_features, edge, fit) if fit > _SCAR_FIT else None
