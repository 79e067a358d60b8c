"""Naive Bayes on many training sets: sums over rows, taken once and corrected.

The sums of a training set are those of all rows, less the rows it lacks (or of its own
rows, if those are fewer). Each column is measured from its class mean, so that little
is lost in the subtraction; what is lost is bounded, and a split in which the two best
classes come closer than the bound is left to a plain fit.

=======  ==========================================================  ===============
symbol   meaning                                                     shape
=======  ==========================================================  ===============
S, K     number of training sets, of classes
change   what to add to the multiplicities of the rows               (S, n) sparse
whole    whether a set starts from all rows or from none             (S,)
size     cases of each class in each set                             (S, K)
weight   those whose value is known                                  (S, K, p)
mean     their mean                                                  (S, K, p)
var      variance that the learner would use                         (S, K, p)
loose    relative error that var, and mean over √var, may have       (S, K)
=======  ==========================================================  ===============
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import _safe_indexing

from veridical._records import FloatArray, IntArray
from veridical.datasets import Encoded, encode
from veridical.estimation.splits import Split, flatten

BoolArray = NDArray[np.bool_]

_EPS = np.finfo(np.float64).eps
_BLOCK = 1 << 23  # numbers kept of the training sets at a time
_CHUNK = 1 << 15  # numbers in a temporary array: it should stay in the cache

#: A relative error beyond this is past what a first-order bound can speak about.
_LOOSEST = 1e-2


# -- sums over training sets ---------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RowSums:
    """Sums over the rows of many training sets."""

    change: Any
    whole: FloatArray

    @classmethod
    def over(cls, splits: Sequence[Split], n_rows: int) -> RowSums:
        """Find how each training set differs from all rows, or from none."""
        whole = np.zeros(len(splits))
        rows, changes, starts = [], [], [0]
        for s, split in enumerate(splits):
            if split.leaves_out and 2 * len(split.test) < n_rows:
                whole[s], differs = 1.0, split.test
                changes.append(np.full(len(differs), -1.0))
            else:
                counts = np.bincount(split.train, minlength=n_rows)
                differs = np.flatnonzero(counts)
                changes.append(counts[differs].astype(np.float64))
            rows.append(differs)
            starts.append(starts[-1] + differs.size)
        change = sparse.csr_array(
            (np.concatenate(changes), np.concatenate(rows), np.array(starts)),
            shape=(len(splits), n_rows),
        )
        return cls(change, whole)

    def of(self, values: FloatArray) -> FloatArray:
        """Sum the rows of a matrix over every training set."""
        return np.outer(self.whole, values.sum(axis=0)) + self.change @ values


@dataclass(frozen=True, eq=False)
class Moments:
    """Class sizes, means and raw variances of numeric columns in every training set."""

    size: FloatArray
    weight: FloatArray
    mean: FloatArray
    var: FloatArray
    overall_mean: FloatArray
    overall_var: FloatArray
    mean_error: FloatArray
    var_error: FloatArray


def _moments(
    values: FloatArray, codes: IntArray, n_classes: int, sums: RowSums
) -> Moments:
    n, p = values.shape
    n_sets = len(sums.whole)
    known = ~np.isnan(values)
    size = sums.of((codes[:, None] == np.arange(n_classes)).astype(float))
    weight, mean, var, mean_error, var_error = (
        np.zeros((n_sets, n_classes, p)) for _ in range(5)
    )
    rounding = 4 * n * _EPS
    largest = np.where(known, np.abs(values), 0.0).max(axis=0, initial=0.0)
    for k in range(n_classes):
        mine = known & (codes == k)[:, None]
        n_known = mine.sum(axis=0)
        centre = np.where(mine, values, 0.0).sum(axis=0) / np.maximum(n_known, 1)
        shifted = np.where(mine, values - centre, 0.0)
        weight[:, k] = sums.of(mine.astype(float))
        first, second = sums.of(shifted), sums.of(shifted**2)
        w = np.maximum(weight[:, k], 1.0)
        offset = first / w
        mean[:, k] = centre + offset
        var[:, k] = np.maximum(second / w - offset**2, 0.0)
        # How much the sums, and a plain fit's own, may be off by rounding.
        scale = (shifted**2).sum(axis=0) + np.abs(second)
        ratio = np.sqrt(np.maximum(n_known / w, 1.0))
        mean_error[:, k] = rounding * (ratio * np.sqrt(scale / w) + largest)
        var_error[:, k] = rounding * scale / w * (1 + 2 * ratio)
    total = np.maximum(weight.sum(axis=1), 1.0)
    # Taken from one of the class means, so that a large common part does no harm.
    origin = mean[:, :1]
    overall = origin[:, 0] + (weight * (mean - origin)).sum(axis=1) / total
    spread = weight * (var + (mean - overall[:, None]) ** 2)
    return Moments(
        size, weight, mean, var, overall, spread.sum(axis=1) / total, mean_error,
        var_error,
    )  # fmt: skip


# -- the numeric part of a fitted model ----------------------------------------------


@dataclass(frozen=True, eq=False)
class Gaussians:
    """Means and variances as the learner would use them, and how loose they are."""

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
                bound = (distance + p) * loose + 4 * (p + 4) * _EPS * size
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
                self.slack[part, k] += 4 * (q + 4) * _EPS * np.abs(line).sum(axis=1)

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


# -- learners ------------------------------------------------------------------------


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
        moments = _moments(values, codes, n_classes, sums)
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
    def of(cls, table: Encoded, X: Any, chosen: Any, laplace: bool) -> Names:
        """Lay out the nominal columns.

        A column that declares its values does so in one row as in all of them; others
        have the values that occur in the training set.
        """
        columns = np.flatnonzero(table.nominal)
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
    values = table.values[:, ~table.nominal].astype(np.float64)
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
        moments = _moments(values, codes, n_classes, sums)
        model = _as_naive_bayes(moments, estimator.min_std, constant, spread)
        tests = [split.test for split in some]
        sets, rows = flatten(tests)
        judgement = Judgement.from_priors(moments.size, sets)
        judgement.add_numbers(model, values, rows, sets)
        logs = names.logs(codes, n_classes, sums, moments.size)
        judgement.add_names(logs, names.places[rows], sets)
        parts.append(judgement.decide(tests, model.unfit))
    return _gather(parts)
