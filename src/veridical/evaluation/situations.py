"""What measured sizes and coverages depend on, and which designs are near to a table.

Tables of measurements hold designs that were drawn at random. None is exactly the
user's, and rates differ between designs; so a range is given, over the designs that are
nearest to the user's, and nothing where even these are far.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from scipy.special import ndtri, stdtrit
from sklearn.pipeline import Pipeline

from veridical._core.records import DataSummary
from veridical._core.table import Table
from veridical._core.text import listing
from veridical._core.validation import count_features
from veridical.evaluation.arguments import name_of
from veridical.evaluation.engine import selecting_step

#: Largest and smallest number of designs in a range; with fewer that are near, nothing
#: was measured near.
N_NEAR = 20
_FEWEST_NEAR = 5
#: Largest distance of a design that is near.
_FARTHEST = 3.5
#: Steps by which a property may lie beyond those of all near designs.
_BEYOND = 0.5
#: Share of the designs in which a claim must not be wrong too often.
MOST_DESIGNS = 0.9
#: Weight of tails beyond which no measured design counts as near: that of Student's t
#: with 3 degrees of freedom. Then a few outliers decide what all folds learn, and tests
#: reject in 0 to 26 % of data sets in designs that are alike otherwise.
HEAVY_TAILS = 0.35
#: Smallest rate of rejections that is told from none.
_LEAST_RATE = 1e-4
#: Distance between estimators of different kinds.
_OTHER_ESTIMATOR = 2.0
#: Quantiles; the range of the outer two over that of the inner two says how heavy tails
#: are.
_QUANTILES = (0.025, 0.25, 0.5, 0.75, 0.975)
#: Ratio of these ranges for a normal feature.
_NORMAL_RATIO = float(ndtri(_QUANTILES[4]) / ndtri(_QUANTILES[3]))
#: A value is far if it is more than this many ranges of the inner half from the median
#: (eight standard deviations of a normal feature), and the largest share of far values
#: that quantiles describe: with Student's t 0.1 % at 4 degrees of freedom, 1 % at 2.
_FAR, _MOST_FAR = 8 / (2 * float(ndtri(0.75))), 0.005
#: Features of one block of a wide table.
_BLOCK = 512

#: Estimators of the measured designs, and their display names.
SIMULATED = {
    "centroid": "nearest centroid",
    "nb": "naive Bayes",
    "1nn": "nearest neighbour",
    "svm": "linear SVM",
    "c45": "C4.5 tree",
}
_LINEAR = ("svm", "centroid")
#: Those that are like an estimator of a name; any other is equally far from all.
_LIKE = {
    name_of("svm"): _LINEAR,
    name_of("dagsvm"): _LINEAR,
    name_of("logistic"): _LINEAR,
    "LinearSVC": _LINEAR,
    "LogisticRegression": _LINEAR,
    "LinearDiscriminantAnalysis": _LINEAR,
    "NearestCentroid": _LINEAR,
    "centroid": _LINEAR,
    name_of("nb"): ("nb",),
    "GaussianNB": ("nb",),
    name_of("1nn"): ("1nn",),
    "KNeighborsClassifier": ("1nn",),
    name_of("c45"): ("c45",),
    "DecisionTreeClassifier": ("c45",),
}


def like_estimators(name: str) -> tuple[str, ...]:
    """Return the measured estimators that are like one; all for the mean of several."""
    return _LIKE.get(name_of(name), ()) if name else tuple(SIMULATED)


class Situation(NamedTuple):
    """A table and an estimator, as far as rates of errors depend on them.

    Parameters
    ----------
    n_samples, n_features, n_selected : int
        Samples, features to choose from, features selected.
    n_classes : int
        Number of classes.
    minority : float
        Share of the smallest class.
    estimator : str
        Name of the estimator, of a pipeline that of its last step; "" for the mean of
        several.
    accuracy : float
        Its accuracy.
    """

    n_samples: int
    n_features: int
    n_selected: int
    n_classes: int
    minority: float
    estimator: str
    accuracy: float

    @classmethod
    def from_summary(
        cls, data: DataSummary, n_selected: int, estimator: Any, accuracy: float
    ) -> Situation:
        """Describe data, an estimator or its name, and the features it is given."""
        counts = list(data.classes.values())
        return cls(
            data.n_samples,
            data.n_features,
            n_selected,
            len(counts),
            min(counts) / sum(counts) if counts else math.nan,
            name_of(selecting_step(estimator)),
            accuracy,
        )

    @classmethod
    def from_table(
        cls, table: Table, estimator: Any, accuracy: float
    ) -> Situation | None:
        """Describe a table and an estimator; None where X is not a table."""
        data = summarize_table(table, None)
        if data is None:
            return None
        n_selected = count_selected(estimator, data.n_features)
        return cls.from_summary(data, n_selected, estimator, accuracy)

    def steps(self, other: Situation) -> tuple[float, ...]:
        """Return how far each number is from a measured design, in steps.

        A step is twice the samples, say; it is negative where the design has more.
        """
        return (
            math.log2(self.n_samples / other.n_samples),
            math.log2(self.n_features / other.n_features) / 2,
            math.log2(self.n_selected / other.n_selected) / 2,
            (self.accuracy - other.accuracy) / 0.1,
            (self.minority - other.minority) / 0.2,
            2 * math.log2(self.n_classes / other.n_classes),
        )

    def distance(self, other: Situation) -> float:
        """Return how far a measured design is."""
        other_kind = 0.0 if other.estimator in self._like else _OTHER_ESTIMATOR
        return math.hypot(*self.steps(other), other_kind)

    @property
    def _like(self) -> tuple[str, ...]:
        return like_estimators(self.estimator)


def tail_weight(table: Table) -> float:
    """Return how heavy the tails of the numeric features are; the median feature.

    A feature has the log of the range of its inner 95 % over that of its inner half,
    beyond that of a normal feature, or 0 if its tails are lighter. A few outliers then
    decide what is learned, so that tests of folds reject more often.

    Parameters
    ----------
    table : Table
        Samples and features.

    Returns
    -------
    float
        0.25 for Student's t with 4 degrees of freedom, 0.6 with 2; infinite where more
        than 0.5 % of the values are far from all others, which quantiles may not show;
        NaN where no numeric feature varies in its inner half.
    """
    found, n_far, n_values = [], 0, 0
    rows, numeric = np.arange(table.n_samples), np.flatnonzero(~table.categorical)
    for start in range(0, numeric.size, _BLOCK):
        values = table.take(rows, numeric[start : start + _BLOCK])
        gaps = np.isnan(values).any(axis=0)
        for part, quantile in (
            (values[:, ~gaps], np.quantile),
            (values[:, gaps], np.nanquantile),
        ):
            if part.size:
                low, first, middle, third, high = quantile(part, _QUANTILES, axis=0)
                varies, inner = third > first, third - first
                found.append((high - low)[varies] / inner[varies])
                far = np.abs(part - middle) > _FAR * inner
                n_far += int(np.count_nonzero(far[:, varies]))
                n_values += int(np.count_nonzero(~np.isnan(part[:, varies])))
    logs = np.log(np.concatenate(found)) if found else np.empty(0)
    if not logs.size:
        return math.nan
    if n_far > _MOST_FAR * n_values:
        return math.inf
    return max(0.0, float(np.median(logs)) - math.log(_NORMAL_RATIO))


def tails_of_student(df: float) -> float:
    """Return `tail_weight` of features of Student's t distribution.

    Examples
    --------
    >>> [round(tails_of_student(df), 2) for df in (math.inf, 4, 2)]
    [0.0, 0.25, 0.6]
    """
    if math.isinf(df):
        return 0.0
    ratio = float(stdtrit(df, _QUANTILES[4]) / stdtrit(df, _QUANTILES[3]))
    return math.log(ratio / _NORMAL_RATIO)


def summarize_table(table: Table, name: str | None) -> DataSummary | None:
    """Describe the data; None where X is not a table but, say, a list of texts."""
    try:
        first = table.one_sample
    except (TypeError, ValueError):
        return None
    if first is None:
        return table.summary(name)
    names, target = first.shown_names, table.target
    return DataSummary(
        name or "the data",
        table.n_samples,
        len(names),
        target.counts(),
        names,
        target.kind,
        target.describe(),
    )


MeasuredPlaceT = TypeVar("MeasuredPlaceT", bound="MeasuredPlace")
PlaceT = TypeVar("PlaceT", covariant=True)


class MeasuredPlace(Protocol):
    """What rates of errors depend on: of a user, or of a measured design."""

    def steps(self: MeasuredPlaceT, other: MeasuredPlaceT) -> tuple[float, ...]:
        """Return how far each number is from a measured design, in steps."""
        ...

    def distance(self: MeasuredPlaceT, other: MeasuredPlaceT) -> float:
        """Return how far a measured design is."""
        ...


class Measured(Protocol[PlaceT]):
    """A row of a table of measurements."""

    @property
    def situation(self) -> PlaceT:
        """Where it was measured."""
        ...


MeasuredRow = TypeVar("MeasuredRow", bound=Measured[Any])


def find_near(
    rows: Iterable[MeasuredRow], situation: Any, farthest: float = _FARTHEST
) -> list[MeasuredRow]:
    """Return the measured designs nearest to a situation.

    The list is empty where fewer than five designs are within the distance `farthest`,
    or where these do not bracket the situation: where each of them has fewer samples,
    say, by more than half a step.
    """
    measured = list(rows)
    distances = [situation.distance(row.situation) for row in measured]
    nearest: list[int] = np.argsort(distances, kind="stable")[:N_NEAR].tolist()
    near = [measured[i] for i in nearest if distances[i] <= farthest]
    if len(near) < _FEWEST_NEAR:
        return []
    steps = np.array([situation.steps(row.situation) for row in near])
    outside = (steps.min(axis=0) > _BEYOND) | (steps.max(axis=0) < -_BEYOND)
    return [] if outside.any() else near


def bracketing(
    measured: Iterable[tuple[int, int]], shape: tuple[int, int]
) -> list[tuple[int, int]]:
    """Return the measured shape that is the user's, or the two on either side of it.

    A shape is a number of repeats and of folds. Shapes on either side have the same
    number of repeats, and fewer and more folds.

    Examples
    --------
    >>> bracketing({(1, 5), (1, 10), (10, 10)}, (1, 7))
    [(1, 5), (1, 10)]
    >>> bracketing({(1, 5), (1, 10), (10, 10)}, (1, 10))
    [(1, 10)]
    >>> bracketing({(1, 5), (1, 10), (10, 10)}, (10, 7))
    []
    """
    alike = sorted(one for one in measured if one[0] == shape[0])
    if shape in alike:
        return [shape]
    fewer = [one for one in alike if one[1] < shape[1]]
    more = [one for one in alike if one[1] > shape[1]]
    return [fewer[-1], more[0]] if fewer and more else []


def claim_level(rates: Any, levels: Sequence[float], alpha: float) -> float:
    """Return the p-value up to which a significant difference may be claimed.

    Parameters
    ----------
    rates : array-like of shape (n_designs, n_levels)
        How often a test rejected, in designs where neither side is better.
    levels : sequence of float
        The levels at which it was counted, in ascending order.
    alpha : float
        How often a claim may be wrong.

    Returns
    -------
    float
        The largest level, at most `alpha`, at which the test rejects in at most `alpha`
        of the data sets, in nine of ten designs. Between levels the rate is a power of
        the level; 0.0 if the level would have to be smaller than the smallest that was
        counted, because rates beyond it do not follow from the others.

    Examples
    --------
    >>> claim_level([[0.01, 0.04, 0.09]] * 8, (0.01, 0.05, 0.1), 0.05)
    0.05
    >>> round(claim_level([[0.02, 0.09, 0.16]] * 8, (0.01, 0.05, 0.1), 0.05), 3)
    0.027
    >>> claim_level([[0.3, 0.5, 0.6]] * 8, (0.01, 0.05, 0.1), 0.05)
    0.0
    """
    if alpha < levels[0]:
        return alpha / levels[0] * claim_level(rates, levels, levels[0])
    rate = np.quantile(np.asarray(rates, dtype=np.float64), MOST_DESIGNS, axis=0)
    x = np.log([*levels, 1.0])
    y = np.log(np.maximum([*rate, 1.0], _LEAST_RATE))
    goal = np.log(alpha)
    if np.interp(goal, x, y) <= goal:
        return alpha
    return float(np.exp(np.interp(goal, y, x))) if y[0] <= goal else 0.0


def count_selected(estimator: Any, n_features: int) -> int:
    """Count the features that the selectors of a pipeline leave to its last step.

    Examples
    --------
    >>> from sklearn.feature_selection import SelectKBest
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.pipeline import make_pipeline
    >>> count_selected(make_pipeline(SelectKBest(k=5), GaussianNB()), 100)
    5
    """
    steps = estimator.steps[:-1] if isinstance(estimator, Pipeline) else []
    for _, step in steps:
        for name in ("n_features_to_select", "k", "max_features"):
            wanted = getattr(step, name, None)
            if isinstance(wanted, Real):
                n_features = count_features(wanted, n_features)
    return n_features


def describe_designs(designs: Sequence[Situation]) -> str:
    """Write what some designs have in common, and the ranges of what they have not.

    Examples
    --------
    >>> describe_designs([Situation(40, 90, 5, 2, 0.5, "nb", 0.7),
    ...                   Situation(60, 20, 5, 2, 0.4, "1nn", 0.82)])
    '40 to 60 samples, naive Bayes or nearest neighbour with accuracy 70 to 82 %'
    """
    n = [one.n_samples for one in designs]
    accuracy = [round(100 * one.accuracy) for one in designs]
    names = listing(dict.fromkeys(SIMULATED[one.estimator] for one in designs), "or")
    return (
        f"{min(n)} to {max(n)} samples, {names} with accuracy {min(accuracy)} to "
        f"{max(accuracy)} %"
    )
