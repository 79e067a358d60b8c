"""Traces of batches that were corrected on all samples, before the audit.

A correction of batches on all samples makes the means of batches agree better than the
means of samples drawn at random do. If the class took part, as what the correction was
to protect, it is the means within classes that agree; if not, it is the plain means.
Where batch and class go together, the two differ. For numbers and survival times a
straight line takes the place of the classes: in the number; in the event and the
martingale residual.

| symbol | meaning                                                                 |
|--------|-------------------------------------------------------------------------|
| s      | share of the variance of a feature that batches explain, its mean over  |
|        | features                                                                |
| s'     | the same after the class has explained what it can                      |
| s_b    | s or s' for the b-th permutation of the batches: of s among all samples,|
|        | of s' among the samples of each class                                   |

The p-value of s is the share of permutations with s_b ≤ s. Differences between batches
that were never corrected make s larger, never smaller.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy import sparse

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.seeds import as_generator
from veridical._core.table import Table
from veridical.auditing.association import (
    coarse_outcome,
    fine_outcome,
    outcome_values,
)
from veridical.kernels.dirichlet_counts import cramers_v

#: Number of permutations, and the p-value up to which batches count as corrected.
DRAWS, TRACE_LEVEL = 199, 0.005
#: Of s and s', each divided by its mean over permutations, one must be below this share
#: of the other to say whether the class took part.
CLEARLY = 0.8
# Features looked at; more do not change the shares much.
_MOST_FEATURES = 2000

Corrected = Literal["with the class", "without the class", "one of the two"]


@dataclass(frozen=True)
class BatchTrace:
    """How well the means of batches agree.

    Parameters
    ----------
    how : str
        Whether batches were corrected with the class, without it, or one of the two.
    plain, within : float
        s and s', divided by their means over permutations.
    plain_pvalue, within_pvalue : float
        Their p-values.
    n_features : int
        Number of features that were looked at.
    association : float
        Cramér's V of batch and class: 0 if they have nothing to do with each other, 1
        if one determines the other.
    """

    how: Corrected
    plain: float
    within: float
    plain_pvalue: float
    within_pvalue: float
    n_features: int
    association: float


def find_batch_trace(table: Table, batch: Any, seed: int) -> BatchTrace | None:
    """Look for a trace of batches that were corrected on all samples.

    Parameters
    ----------
    table : Table
        The samples as they were given.
    batch : array-like of shape (n_samples,)
        Their batches.
    seed : int
        Seed of the permutations.

    Returns
    -------
    BatchTrace or None
        None without a trace, and for tables in which none can be found: fewer than two
        batches, or no numeric feature without missing values.
    """
    if sparse.issparse(table.values):
        return None
    codes = pd.factorize(np.asarray(batch))[0].astype(np.intp)
    rng = as_generator(seed)
    values = _usable(table, rng)
    n, n_batches = len(codes), int(codes.max()) + 1
    outcome = _outcome_basis(table)
    if n_batches < 2 or not values.shape[1] or n < n_batches + outcome.shape[1] + 1:
        return None
    parts = fine_outcome(table)
    plain = np.empty(1 + DRAWS)
    within = np.empty(1 + DRAWS)
    mean = np.full((n, 1), n**-0.5)
    centred = _residuals(values, mean)
    by_class = _residuals(centred, outcome)
    total = _squares(centred), _squares(by_class)
    keep = total[1] > 1e-12 * np.maximum(total[0], 1e-300)
    centred, by_class = centred[:, keep], by_class[:, keep]
    totals = total[0][keep], total[1][keep]
    if not keep.any():
        return None
    for b in range(1 + DRAWS):
        free = codes if b == 0 else codes[rng.permutation(n)]
        inner = codes if b == 0 else _permute_within(codes, parts, rng)
        plain[b] = _explained_share(centred, free, n_batches, mean, totals[0])
        within[b] = _explained_share(by_class, inner, n_batches, outcome, totals[1])
    found = [
        (float(s[0] / s[1:].mean()), (1 + int((s[1:] <= s[0]).sum())) / (1 + DRAWS))
        for s in (plain, within)
    ]
    (ratio, pvalue), (ratio_within, pvalue_within) = found
    if min(pvalue, pvalue_within) > TRACE_LEVEL:
        return None
    how: Corrected = "one of the two"
    if pvalue_within <= TRACE_LEVEL and ratio_within < CLEARLY * ratio:
        how = "with the class"
    elif pvalue <= TRACE_LEVEL and ratio < CLEARLY * ratio_within:
        how = "without the class"
    return BatchTrace(
        how,
        ratio,
        ratio_within,
        pvalue,
        pvalue_within,
        int(keep.sum()),
        measure_association(codes, coarse_outcome(table)),
    )


def measure_association(codes: IntArray, classes: IntArray) -> float:
    """Compute Cramér's V of batch and class; 0 where there is one of either."""
    counts = np.zeros((codes.max() + 1, classes.max() + 1), dtype=np.intp)
    np.add.at(counts, (codes, classes), 1)
    counts = counts[:, counts.any(axis=0)]
    return cramers_v(counts) if min(counts.shape) > 1 else 0.0


def _usable(table: Table, rng: np.random.Generator) -> FloatArray:
    """Return numeric features that vary, scaled; a sample of them where many."""
    values = np.asarray(table.values[:, ~table.categorical], dtype=np.float64)
    values = values[:, ~np.isnan(values).any(axis=0)]
    spread = values.std(axis=0)
    kept = np.flatnonzero(
        spread > 1e-9 * np.maximum(np.abs(values).max(axis=0), 1e-300)
    )
    if kept.size > _MOST_FEATURES:
        kept = np.sort(rng.choice(kept, _MOST_FEATURES, replace=False))
    return np.asarray(values[:, kept] / spread[kept])


def _permute_within(
    codes: IntArray, classes: IntArray, rng: np.random.Generator
) -> IntArray:
    permuted = codes.copy()
    for k in np.unique(classes):
        rows = np.flatnonzero(classes == k)
        permuted[rows] = codes[rng.permutation(rows)]
    return permuted


def _outcome_basis(table: Table) -> FloatArray:
    """Return orthonormal directions of what the outcome explains, with the mean."""
    if table.kind == "classes":
        members = (table.y[:, None] == np.arange(table.n_classes)).astype(np.float64)
        members = members[:, members.any(axis=0)]
        return np.asarray(members / np.sqrt(members.sum(axis=0)))
    columns = [np.ones(table.n_samples), outcome_values(table)]
    if table.kind == "survival":
        columns.append(table.as_survival.event.astype(np.float64))
    basis, singular, _ = np.linalg.svd(
        np.column_stack([one / np.linalg.norm(one) for one in columns]),
        full_matrices=False,
    )
    return np.asarray(basis[:, singular > 1e-9])


def _residuals(values: FloatArray, basis: FloatArray) -> FloatArray:
    """Return what orthonormal directions leave of values."""
    return np.asarray(values - basis @ (basis.T @ values))


def _squares(values: FloatArray) -> FloatArray:
    return np.asarray((values**2).sum(axis=0))


def _explained_share(
    values: FloatArray,
    codes: IntArray,
    n_batches: int,
    removed: FloatArray,
    total: FloatArray,
) -> float:
    """Return the mean share of variance that batches explain.

    `values` are residuals of the directions `removed`.
    """
    design = (codes[:, None] == np.arange(1, n_batches)).astype(np.float64)
    design = _residuals(design, removed)
    basis, singular, _ = np.linalg.svd(design, full_matrices=False)
    basis = basis[:, singular > 1e-9 * max(singular[0], 1e-300)]
    return float((((basis.T @ values) ** 2).sum(axis=0) / total).mean())
