"""Naive Bayes on many training sets and many numbers of features at once.

Over splits, sums are taken of all samples and corrected; over nested subsets, the
log-densities of the leading features add up. Either way a result may be off by
rounding. The error is bounded, and a split in which rounding could decide between two
classes is left to the loop.

======  ===========================================================  ===============
symbol  meaning                                                      shape
======  ===========================================================  ===============
S, K    number of training sets, of classes
m, e    number of test samples of all sets together, of sizes
joint   log-probability of class and features                        (m, e, K)
error   bound of the rounding error of joint                         (m, e, K)
rel     bound of the relative error of a variance, plus that of a    (S, K, p)
        mean over the standard deviation
======  ===========================================================  ===============
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.naive_bayes import GaussianNB

from veridical._core.arrays import EPS, BoolArray, FloatArray, IntArray
from veridical._core.encoding import Features
from veridical._core.scoring import Outputs
from veridical._core.splits import Split, flatten
from veridical._core.table import Table
from veridical.learning.class_distributions import (
    ClassSums,
    NormalDensities,
    gaussians,
    in_chunks,
    log_frequencies,
    normalize_logs,
    pool,
    positions,
    sum_at,
    tie_width,
)
from veridical.learning.inputs import finite_matrix, number_by_frequency
from veridical.learning.many import (
    Predicted,
    on_equal_subsets,
    register_predict_table,
)
from veridical.learning.row_sums import Moments, RowSums, class_moments

#: Numbers kept of the training sets at a time; more training sets make a new block.
_BLOCK = 1 << 23

#: Relative error; beyond it a first-order bound is not valid, and the loop decides.
_LARGEST_REL = 1e-2

#: Squared distance; a larger one may have been clipped (`NormalDensities.log_density`),
#: and the loop decides.
_LARGEST_DISTANCE = 1e290


class BayesSettings(NamedTuple):
    """Parameters of :class:`NaiveBayes`."""

    min_std: float
    zero_counts: str


# -- predictions ---------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class BoundedDensities:
    """Normal densities of many training sets, and bounds of their relative errors."""

    normals: NormalDensities
    rel: FloatArray

    @classmethod
    def from_moments(
        cls,
        mean: FloatArray,
        variance: FloatArray,
        used: BoolArray,
        mean_error: FloatArray,
        var_error: FloatArray,
    ) -> BoundedDensities:
        """Make densities of means and variances, shape (S, K, p); `used` is (S, p)."""
        counted = used[:, np.newaxis]
        with np.errstate(divide="ignore", invalid="ignore"):
            rel = var_error / variance + mean_error / np.sqrt(variance)
        rel = np.where(counted, rel, 0.0)
        return cls(NormalDensities.from_moments(mean, variance, counted), rel)


@dataclass(eq=False)
class JointLogProbabilities:
    """Joint log-probabilities of test samples, and bounds of their errors.

    Parameters
    ----------
    joint, error : arrays of shape (m, e, K)
        See the notation on top of the module.
    sets : int array of shape (m,)
        The training set of each test sample.
    """

    joint: FloatArray
    error: FloatArray
    sets: IntArray

    @classmethod
    def from_priors(
        cls, size: FloatArray, sets: IntArray, n_sizes: int
    ) -> JointLogProbabilities:
        """Start from the class shares; a class without samples has probability 0."""
        with np.errstate(divide="ignore"):
            prior = np.log(size / size.sum(axis=1, keepdims=True))[sets]
        joint = np.repeat(prior[:, np.newaxis], n_sizes, axis=1)
        return cls(joint, np.zeros_like(joint), sets)

    def _which(self, part: slice, n_sets: int) -> Any:
        """Return the training sets of some samples; a single set is broadcast."""
        return 0 if n_sets == 1 else self.sets[part]

    def add_numeric(
        self,
        densities: BoundedDensities,
        values: FloatArray,
        rows: IntArray,
        ends: IntArray,
    ) -> None:
        """Add the log-densities of numeric features, the first `ends` of them."""
        p = values.shape[1]
        if not p:
            return
        normals, n_sets = densities.normals, len(densities.rel)
        rel = np.maximum.accumulate(densities.rel, axis=2)
        rel = np.where(ends > 0, rel[:, :, np.maximum(ends, 1) - 1], 0.0)
        largest = sum_at(2 * np.abs(normals.constant), ends)
        missing = np.isnan(values)
        there = None
        if missing.any():
            there = (~missing).astype(np.float64)
            values = np.where(missing, 0.0, values)
        # Where a relative error is too large for the bound, the bound is infinite.
        rel[rel > _LARGEST_REL] = np.inf
        rounding = 4 * (ends + 4) * EPS
        for part in in_chunks(len(rows), p * self.joint.shape[2]):
            x = values[rows[part]]
            known = None if there is None else there[rows[part]]
            which = self._which(part, n_sets)
            with np.errstate(invalid="ignore", over="ignore"):
                distance, volume = normals.log_density(x, known, which, ends)
                self.joint[part] -= np.swapaxes(0.5 * distance + volume, 1, 2)
                bound = (distance + ends) * rel[which]
                bound += rounding * (distance + largest[which])
                bound[distance > _LARGEST_DISTANCE] = np.inf
            self.error[part] += np.swapaxes(bound, 1, 2)

    def add_categorical(
        self, logs: FloatArray, places: IntArray, ends: IntArray
    ) -> None:
        """Add the log-frequencies of categorical features.

        Parameters
        ----------
        logs : array of shape (S, K, n_places)
            Log-frequency of every category, feature after feature.
        places : int array of shape (m, n_categorical)
            The place of each sample's category among them.
        ends : int array of shape (e,)
            Numbers of leading features to predict from.
        """
        q = places.shape[1]
        if not q:
            return
        for part in in_chunks(len(places), q):
            for k in range(self.joint.shape[2]):
                first = 0 if len(logs) == 1 else self.sets[part, np.newaxis]
                line = logs[first, k, places[part]]
                self.joint[part, :, k] += sum_at(line, ends)
                size = sum_at(np.abs(line), ends)
                self.error[part, :, k] += 4 * (ends + 4) * EPS * size

    def decide(
        self, tests: Sequence[IntArray], unfit: Any, train_codes: Any = None
    ) -> Predicted:
        """Return the most probable class; None where rounding could decide.

        Parameters
        ----------
        tests : sequence of int arrays
            Test rows of every split.
        unfit : bool array of shape (S,)
            Splits that are left to the loop in any case.
        train_codes : callable, optional
            ``train_codes(s)`` gives the classes of a training set. With it, classes
            that agree to `tie_width` are equal, and the most frequent one wins.
            Without it, the largest wins, however close.
        """
        m, n_sizes, n_classes = self.joint.shape
        joint = self.joint.reshape(-1, n_classes)
        error = self.error.reshape(-1, n_classes) + 1e-13 * (1 + np.abs(joint))
        error[joint == -np.inf] = 0.0  # an absent class
        winner = joint.argmax(axis=1)
        first = (np.arange(len(joint)), winner)
        top = joint[first][:, np.newaxis]
        error += error[first][:, np.newaxis]
        width = 0.0 if train_codes is None else tie_width(top)
        with np.errstate(invalid="ignore"):
            gap = top - joint
            clear = np.abs(gap - width) > error
            clear[first] = True
            clear &= np.isfinite(error + top)
        certain = clear.all(axis=1)
        best = winner.reshape(m, n_sizes)
        if train_codes is not None:
            self._break_ties(best, (gap < width).reshape(self.joint.shape), train_codes)
        ends = np.cumsum([len(test) for test in tests]).tolist()
        starts = [0, *ends[:-1]]
        good = np.logical_and.reduceat(certain, np.multiply(starts, n_sizes)) & ~unfit
        return [
            best[a:b].T if ok else None
            for a, b, ok in zip(starts, ends, good, strict=True)
        ]

    def respond(self, tests: Sequence[IntArray], found: Predicted) -> Predicted:
        """Add probabilities of the classes to what `decide` returned."""
        proba = np.exp(normalize_logs(self.joint))
        ends = np.cumsum([len(test) for test in tests]).tolist()
        starts = [0, *ends[:-1]]
        return [
            None if codes is None else Outputs(codes, np.swapaxes(proba[a:b], 0, 1))
            for codes, a, b in zip(found, starts, ends, strict=True)
        ]

    def _break_ties(self, best: IntArray, equal: BoolArray, train_codes: Any) -> None:
        if np.count_nonzero(equal) == best.size:  # every sample has one winner
            return
        tied = np.argwhere(np.count_nonzero(equal, axis=2) > 1)
        rank: dict[int, IntArray] = {}
        for i, e in tied.tolist():
            s = int(self.sets[i])
            if s not in rank:
                rank[s] = number_by_frequency(train_codes(s))[1]
            best[i, e] = rank[s][equal[i, e, rank[s]].argmax()]


# -- categorical features ------------------------------------------------------------


def _all_log_frequencies(
    counts: Sequence[FloatArray],
    n: FloatArray,
    zero_counts: str,
    declared: BoolArray,
) -> FloatArray:
    """Concatenate the log-frequencies of all features, shape (S, K, places).

    The last place, for a missing or unknown value, is 0.
    """
    tables = []
    for c, all_exist in zip(counts, declared, strict=True):
        exists = True if all_exist else c.sum(axis=-2, keepdims=True) > 0
        tables.append(log_frequencies(c, n, zero_counts, exists))
    shape = (*np.shape(n)[:1], counts[0].shape[-2] if counts else 1, 1)
    return np.concatenate([*tables, np.zeros(shape)], axis=-1)


# -- over splits ---------------------------------------------------------------------


def _in_blocks(splits: Sequence[Split], numbers_per_set: int) -> Iterator[Any]:
    step = max(1, _BLOCK // max(numbers_per_set, 1))
    for start in range(0, len(splits), step):
        yield splits[start : start + step]


def predict_splits(
    settings: BayesSettings,
    features: Features,
    declared: BoolArray,
    codes: IntArray,
    n_classes: int,
    splits: Sequence[Split],
    *,
    responses: Sequence[str] = (),
) -> list[Any]:
    """Predict as NaiveBayes would, fitted on all features of every training set.

    Parameters
    ----------
    settings : BayesSettings
        Parameters of the estimator.
    features : Features
        All samples.
    declared : bool array of shape (n_features,)
        Which features declare their categories.
    codes : int array of shape (n_samples,)
        The classes.
    n_classes : int
        Number of classes.
    splits : sequence of Split
        Training and test rows.
    responses : sequence of str, default=()
        With any, `Outputs` with probabilities instead of class codes.
    """
    every = np.arange(len(codes))
    chosen = np.flatnonzero(features.categorical)
    values = features.take(every, np.flatnonzero(~features.categorical))
    lengths = [len(np.asarray(features.categories[j])) for j in chosen]
    places = positions(features.take(every, chosen), lengths)
    starts = np.cumsum([0, *lengths])
    present = np.zeros((len(codes), starts[-1] + 1))
    present[every[:, np.newaxis], places] = 1.0
    present = present[:, :-1]
    n_numeric, n_chosen = (
        np.array([count]) for count in (values.shape[1], chosen.size)
    )
    width = 6 * values.shape[1] + 3 * present.shape[1]
    result: list[Any] = []
    for some in _in_blocks(splits, n_classes * width):
        sums = RowSums.over(some, len(codes))
        moments = class_moments(values, codes, n_classes, sums)
        densities, unfit = _densities_of_sets(moments, settings.min_std, values, some)
        tests = [split.test for split in some]
        sets, rows = flatten(tests)
        joint = JointLogProbabilities.from_priors(moments.size, sets, 1)
        joint.add_numeric(densities, values, rows, n_numeric)
        if chosen.size:
            counts = sums.by_class(present, codes, n_classes)
            parts = np.split(counts, starts[1:-1], axis=2)
            n = moments.size.sum(axis=1)[:, np.newaxis, np.newaxis]
            logs = _all_log_frequencies(
                parts, n, settings.zero_counts, declared[chosen]
            )
            joint.add_categorical(logs, places[rows], n_chosen)
        found = joint.decide(tests, unfit, lambda s, some=some: codes[some[s].train])
        result += joint.respond(tests, found) if responses else found
    return result


def _densities_of_sets(
    m: Moments, min_std: float, values: FloatArray, splits: Sequence[Split]
) -> tuple[BoundedDensities, BoolArray]:
    """Compute the densities of NaiveBayes, and mark splits that the loop must do.

    A feature that is constant in the training set is left out. Rounded sums do not
    always show whether it is constant; then its values are compared.
    """
    mean, variance, overall = gaussians(m.weight, m.mean, m.var * m.weight, min_std)
    # fmin and fmax skip missing values; a feature without any value stays NaN.
    low, high = np.fmin.reduce(values), np.fmax.reduce(values)
    varies = low < high
    with np.errstate(over="ignore", invalid="ignore"):
        widest = np.where(varies, high - low, 0.0) ** 2 / 4  # no variance is larger
        used = (m.weight.sum(axis=1) > 0) & varies
        in_doubt = used & ~(overall > 1e-9 * widest)
    for s, j in np.argwhere(in_doubt).tolist():
        column = values[splits[s].train, j]
        column = column[~np.isnan(column)]
        if (column == column[0]).all():
            used[s, j] = in_doubt[s, j] = False
    unfit = in_doubt.any(axis=1) | ~np.isfinite(overall).all(axis=1)
    densities = BoundedDensities.from_moments(
        mean, variance, used, m.mean_error, m.var_error
    )
    return densities, unfit


# -- over nested subsets -------------------------------------------------------------


def predict_sizes(
    settings: BayesSettings,
    features: Features,
    declared: BoolArray,
    codes: IntArray,
    splits: Sequence[Split],
    orders: Sequence[IntArray],
    sizes: Sequence[int],
    *,
    n_classes: int = 0,
    responses: Sequence[str] = (),
) -> list[Any]:
    """Predict as NaiveBayes would, fitted on the leading features of every split.

    Parameters
    ----------
    settings, features, declared, codes, splits
        As in `predict_splits`.
    orders : sequence of int arrays
        Features of every split, best first.
    sizes : sequence of int
        Numbers of leading features, growing.
    n_classes : int, default=0
        Number of classes, for probabilities.
    responses : sequence of str, default=()
        With any, `Outputs` with probabilities instead of class codes.
    """
    result: list[Any] = []
    for split, order in zip(splits, orders, strict=True):
        joint, found, present = _one_split(
            settings, features, declared, codes, split, order, sizes
        )
        if found is not None and responses:
            (answer,) = joint.respond([split.test], [found])
            assert answer is not None
            assert answer.proba is not None
            proba = np.zeros((*found.shape, n_classes))
            proba[..., present] = answer.proba
            result.append(Outputs(present[found], proba))
        else:
            result.append(None if found is None else present[found])
    return result


def _one_split(
    settings: BayesSettings,
    features: Features,
    declared: BoolArray,
    codes: IntArray,
    split: Split,
    order: IntArray,
    sizes: Sequence[int],
) -> tuple[JointLogProbabilities, IntArray | None, IntArray]:
    """Return joint log-probabilities, predictions, and the classes that they number."""
    train, test = split
    is_categorical = features.categorical[order]
    chosen = order[is_categorical]
    categories = tuple([features.categories[j] for j in order.tolist()])
    known = Features(features.take(train, order), is_categorical, categories)
    asked = features.take(test, order)
    y = codes[train]
    there = np.bincount(y) > 0
    present, y = np.flatnonzero(there), (np.cumsum(there) - 1)[y]
    sums = ClassSums.from_features(known, y, np.ones(len(train)), present.size)
    joint = JointLogProbabilities.from_priors(
        sums.class_weight[np.newaxis], np.zeros(len(test), dtype=np.intp), len(sizes)
    )
    leading = np.array(sizes)
    n_categorical = np.cumsum(is_categorical)[leading - 1]
    densities, unfit = _densities_of_one_set(sums, settings.min_std, known)
    rows = np.arange(len(test))
    joint.add_numeric(
        densities, asked[:, ~is_categorical], rows, leading - n_categorical
    )
    if chosen.size:
        n = np.full((1, 1, 1), sums.class_weight.sum())
        counts = [c[np.newaxis] for c in sums.counts]
        logs = _all_log_frequencies(counts, n, settings.zero_counts, declared[chosen])
        places = positions(asked[:, is_categorical], [c.shape[2] for c in counts])
        joint.add_categorical(logs, places, n_categorical)
    (found,) = joint.decide([test], np.array([unfit]), lambda _: y)
    return joint, found, present


def _densities_of_one_set(
    sums: ClassSums, min_std: float, known: Features
) -> tuple[BoundedDensities, bool]:
    """Compute the densities of one training set, and bounds of their errors."""
    mean, variance, overall = gaussians(sums.weight, sums.mean, sums.spread, min_std)
    used: BoolArray = np.all(variance > 0, axis=0)  # a constant feature is left out
    values = known.values[:, ~known.categorical]
    # fmin and fmax skip missing values; a feature without any value stays NaN.
    low, high = np.fmin.reduce(values), np.fmax.reduce(values)
    with np.errstate(over="ignore", invalid="ignore"):
        rounding = 4 * len(values) * EPS
        largest = np.maximum(np.abs(low), np.abs(high))
        mean_error = rounding * (high - low) + EPS * largest
        var_error = rounding * variance + mean_error**2
    densities = BoundedDensities.from_moments(
        mean[np.newaxis],
        variance[np.newaxis],
        used[np.newaxis],
        mean_error[np.newaxis, np.newaxis],
        var_error[np.newaxis],
    )
    return densities, not bool(np.isfinite(overall).all())


# -- scikit-learn's GaussianNB -------------------------------------------------------


@register_predict_table(GaussianNB)
@on_equal_subsets
def predict_gaussian_nb(
    estimator: Any,
    table: Table,
    splits: Sequence[Split],
    responses: Sequence[str] = (),
) -> Predicted | None:
    """Predict as scikit-learn's GaussianNB would, fitted on every training set."""
    values = finite_matrix(table.frame())
    if values is None or estimator.priors is not None or len(splits) < 2:
        return None
    estimator._validate_params()
    ends = np.array([values.shape[1]])
    result: list[Any] = []
    for some in _in_blocks(splits, 6 * table.n_classes * values.shape[1]):
        sums = RowSums.over(some, len(values))
        m = class_moments(values, table.y, table.n_classes, sums)
        overall = pool(m.weight, m.mean, m.var * m.weight)[1]
        extra = estimator.var_smoothing * overall.max(axis=1)
        used = np.ones(overall.shape, dtype=bool)
        densities = BoundedDensities.from_moments(
            m.mean,
            m.var + extra[:, np.newaxis, np.newaxis],
            used,
            m.mean_error,
            m.var_error,
        )
        tests = [split.test for split in some]
        sets, rows = flatten(tests)
        joint = JointLogProbabilities.from_priors(m.size, sets, 1)
        joint.add_numeric(densities, values, rows, ends)
        found = joint.decide(tests, ~(extra > 0))
        result += joint.respond(tests, found) if responses else found
    return result
