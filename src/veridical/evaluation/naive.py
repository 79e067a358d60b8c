"""Naive Bayes on many training sets at once, from sums over their rows.

The sums are corrected, not taken anew, so they may be off by rounding. By how much is
known, and a split in which the two best classes come closer than that is left to a
plain fit.

======  ===========================================================  ===============
symbol  meaning                                                      shape
======  ===========================================================  ===============
S, K    number of training sets, of classes
mean    mean that the estimator would use                              (S, K, p)
var     variance that it would use                                   (S, K, p)
loose   relative error that var, and mean over √var, may have        (S, K)
======  ===========================================================  ===============
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.encoding import Features, encode
from veridical._core.splits import Split, flatten
from veridical.evaluation.naive_sums import EPS, Moments, RowSums, moments_of

BoolArray = NDArray[np.bool_]

_BLOCK = 1 << 23  # numbers kept of the training sets at a time
_CHUNK = 1 << 15  # numbers in a temporary array: it should stay in the cache

#: A relative error beyond this is past what a first-order bound can speak about.
_LOOSEST = 1e-2


# -- the numeric part of a fitted model ----------------------------------------------


@dataclass(frozen=True, eq=False)
class Gaussians:
    """Means and variances as the estimator would use them, and how loose they are."""

    mean: FloatArray
    var: FloatArray
    loose: FloatArray
    used: BoolArray
    unfit: BoolArray

    @classmethod
    def with_looseness(
        cls, m: Moments, mean: FloatArray, var: FloatArray, used: BoolArray, unfit: Any
    ) -> Gaussians:
        """Bound the relative errors of a class by that of its worst column."""
        with np.errstate(divide="ignore", invalid="ignore"):
            loose = m.var_error / var + m.mean_error / np.sqrt(var)
        loose = np.where(used[:, None], loose, 0.0).max(axis=2, initial=0.0)
        return cls(mean, var, loose, used, unfit)


def _as_gaussian_nb(m: Moments, smoothing: float) -> Gaussians:
    """What scikit-learn's GaussianNB makes of the moments."""
    extra = smoothing * m.overall_var.max(axis=1)
    var = m.var + extra[:, None, None]
    used = np.ones(m.overall_var.shape, dtype=bool)
    unfit = ~(extra > 0)
    return Gaussians.with_looseness(m, m.mean, var, used, unfit)


def _as_naive_bayes(
    m: Moments, min_std: float, constant: BoolArray, spread: FloatArray
) -> Gaussians:
    """What our NaiveBayes makes of the moments.

    A class without a known value takes the column over all classes; a column that is
    constant in the training set is left out. Whether it *is* constant cannot be read
    off rounded sums, so a training set in doubt is left to a plain fit.
    """
    seen = m.weight > 0
    used = (m.weight.sum(axis=1) > 0) & ~constant
    in_doubt = used & (m.overall_var <= 1e-9 * spread)
    mean = np.where(seen, m.mean, m.overall_mean[:, None])
    var = np.where(seen, m.var, m.overall_var[:, None])
    var = np.maximum(var, min_std**2 * m.overall_var[:, None])
    return Gaussians.with_looseness(m, mean, var, used, in_doubt.any(axis=1))


# -- predictions ---------------------------------------------------------------------


@dataclass(eq=False)
class Judgement:
    """Joint log-probabilities of test cases, and how far they may be off."""

    joint: FloatArray
    slack: FloatArray

    @classmethod
    def from_priors(cls, size: FloatArray, sets: IntArray) -> Judgement:
        """Begin with the class shares; a class that is absent has no chance."""
        with np.errstate(divide="ignore"):
            prior = np.log(size / size.sum(axis=1, keepdims=True))[sets]
        return cls(prior, np.zeros_like(prior))

    def add_numbers(
        self, model: Gaussians, values: FloatArray, rows: IntArray, sets: IntArray
    ) -> None:
        """Add the Gaussian log-densities of numeric columns."""
        p = values.shape[1]
        with np.errstate(divide="ignore"):
            logs = np.log(2 * np.pi * model.var)
            precision = 1 / model.var
        unused = ~model.used[:, None]
        logs, precision = np.where(unused, 0, logs), np.where(unused, 0, precision)
        known = ~np.isnan(values)
        values = np.where(known, values, 0.0)
        there = known.astype(np.float64)
        largest = np.abs(logs).sum(axis=2)
        step = max(1, _CHUNK // max(p, 1))
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            s, x, mask = sets[part], values[rows[part]], there[rows[part]]
            for k in range(self.joint.shape[1]):
                with np.errstate(invalid="ignore", over="ignore"):
                    apart = (x - model.mean[s, k]) * mask
                    distance = np.einsum("ij,ij,ij->i", apart, apart, precision[s, k])
                    volume = np.einsum("ij,ij->i", mask, logs[s, k])
                    self.joint[part, k] -= 0.5 * (distance + volume)
                loose = model.loose[s, k]
                size = distance + largest[s, k]
                bound = (distance + p) * loose + 4 * (p + 4) * EPS * size
                self.slack[part, k] += np.where(loose > _LOOSEST, np.inf, bound)

    def add_names(self, logs: FloatArray, places: IntArray, sets: IntArray) -> None:
        """Add the log-frequencies of nominal columns."""
        q = places.shape[1]
        step = max(1, _CHUNK // max(q, 1))
        for start in range(0, len(places), step):
            part = slice(start, start + step)
            for k in range(self.joint.shape[1]):
                line = logs[sets[part, None], k, places[part]]
                total = line.sum(axis=1)
                self.joint[part, k] += total
                self.slack[part, k] += 4 * (q + 4) * EPS * np.abs(line).sum(axis=1)

    def decide(self, tests: Sequence[IntArray], unfit: Any) -> Any:
        """Name the most probable class; doubt a split where rounding could decide."""
        best = self.joint.argmax(axis=1)
        rows = np.arange(len(best))
        top = self.joint[rows, best]
        absent = np.isneginf(self.joint)
        slack = np.where(absent, 0.0, self.slack + 1e-13 * (1 + np.abs(self.joint)))
        with np.errstate(invalid="ignore"):
            clear = top[:, None] - self.joint > slack + slack[rows, best][:, None]
        clear[rows, best] = np.isfinite(top) & np.isfinite(slack[rows, best])
        ends = np.cumsum([len(test) for test in tests]).tolist()
        starts = [0, *ends[:-1]]
        predicted = [best[a:b] for a, b in zip(starts, ends, strict=True)]
        doubtful = ~np.logical_and.reduceat(clear.all(axis=1), starts)
        return predicted, doubtful | unfit


def _in_blocks(splits: Sequence[Split], numbers_per_set: int) -> Any:
    step = max(1, _BLOCK // max(numbers_per_set, 1))
    for start in range(0, len(splits), step):
        yield splits[start : start + step]


def _gather(parts: list[Any]) -> Any:
    return [codes for part in parts for codes in part[0]], np.concatenate(
        [part[1] for part in parts]
    )


# -- estimators ------------------------------------------------------------------------


def gaussian_nb(
    values: FloatArray,
    codes: IntArray,
    n_classes: int,
    splits: Sequence[Split],
    smoothing: float,
) -> Any:
    """Predict as scikit-learn's GaussianNB would, fitted on every training set.

    Returns
    -------
    predicted : list of int arrays
        Class numbers of the test cases of each split.
    doubtful : bool array
        Which splits need a plain fit.
    """
    parts = []
    for some in _in_blocks(splits, 6 * n_classes * values.shape[1]):
        sums = RowSums.over(some, len(values))
        moments = moments_of(values, codes, n_classes, sums)
        model = _as_gaussian_nb(moments, smoothing)
        tests = [split.test for split in some]
        sets, rows = flatten(tests)
        judgement = Judgement.from_priors(moments.size, sets)
        judgement.add_numbers(model, values, rows, sets)
        parts.append(judgement.decide(tests, model.unfit))
    return _gather(parts)


@dataclass(frozen=True, eq=False)
class Names:
    """Nominal columns, their values laid end to end; one more place for missing."""

    places: IntArray
    starts: IntArray
    declared: BoolArray
    laplace: bool
    present: FloatArray = field(repr=False)

    @classmethod
    def of(cls, table: Features, X: Any, chosen: Any, laplace: bool) -> Names:
        """Lay out the nominal columns.

        A column that declares its values does so in one row as in all of them; others
        have the values that occur in the training set.
        """
        columns = np.flatnonzero(table.categorical)
        full = [np.asarray(table.categories[j]) for j in columns]
        sizes = [len(values) for values in full]
        starts = np.cumsum([0, *sizes])
        one = encode(_safe_indexing(X, [0]), chosen)
        declared = np.array(
            [
                len(np.asarray(one.categories[j])) == size
                for j, size in zip(columns, sizes, strict=True)
            ],
            dtype=bool,
        )
        given = table.values[:, columns]
        places = np.where(np.isnan(given), starts[-1], given + starts[:-1])
        places = places.astype(np.intp)
        present = np.zeros((len(given), starts[-1] + 1))
        present[np.arange(len(given))[:, None], places] = 1.0
        return cls(places, starts, declared, laplace, present[:, :-1])

    def logs(
        self, codes: IntArray, n_classes: int, sums: RowSums, size: FloatArray
    ) -> FloatArray:
        """Log-frequency of every value in every class and training set.

        The last place, of what is missing or was never seen, counts for nothing.
        """
        width = self.present.shape[1]
        counts = np.zeros((len(sums.whole), n_classes, width))
        for k in range(n_classes):
            counts[:, k] = sums.of(self.present * (codes == k)[:, None])
        result = np.zeros((len(sums.whole), n_classes, width + 1))
        least = 0.5 / size.sum(axis=1)[:, None, None]
        for j, declared in enumerate(self.declared):
            part = slice(self.starts[j], self.starts[j + 1])
            c = counts[:, :, part]
            seen = c.sum(axis=1, keepdims=True) > 0
            with np.errstate(divide="ignore", invalid="ignore"):
                if self.laplace:
                    values = c.shape[2] if declared else seen.sum(axis=2, keepdims=True)
                    share = (c + 1) / (c.sum(axis=2, keepdims=True) + values)
                else:
                    known = c.sum(axis=2, keepdims=True)
                    c = np.where(known > 0, c, c.sum(axis=1, keepdims=True))
                    known = np.maximum(c.sum(axis=2, keepdims=True), 1.0)
                    share = np.where(c > 0, c / known, least)
                skipped = np.zeros_like(seen) if declared else ~seen
                result[:, :, part] = np.where(skipped, 0.0, np.log(share))
        return result


def mixed_nb(
    estimator: Any, X: Any, codes: IntArray, n_classes: int, splits: Sequence[Split]
) -> Any:
    """Predict as our NaiveBayes would, fitted on every training set.

    Returns
    -------
    predicted : list of int arrays
        Class numbers of the test cases of each split.
    doubtful : bool array
        Which splits need a plain fit.
    """
    chosen = estimator.categorical_features
    table = encode(X, chosen)
    values = table.values[:, ~table.categorical].astype(np.float64)
    # fmin and fmax pass over what is missing; a column without any value stays NaN.
    low, high = np.fmin.reduce(values), np.fmax.reduce(values)
    constant = ~(low < high)
    with np.errstate(over="ignore"):
        spread = np.where(constant, 0.0, high - low) ** 2 / 4  # no variance is larger
    names = Names.of(table, X, chosen, estimator.zero_counts == "laplace")
    width = 6 * values.shape[1] + 3 * names.present.shape[1]
    parts = []
    for some in _in_blocks(splits, n_classes * width):
        sums = RowSums.over(some, len(codes))
        moments = moments_of(values, codes, n_classes, sums)
        model = _as_naive_bayes(moments, estimator.min_std, constant, spread)
        tests = [split.test for split in some]
        sets, rows = flatten(tests)
        judgement = Judgement.from_priors(moments.size, sets)
        judgement.add_numbers(model, values, rows, sets)
        logs = names.logs(codes, n_classes, sums, moments.size)
        judgement.add_names(logs, names.places[rows], sets)
        parts.append(judgement.decide(tests, model.unfit))
    return _gather(parts)
