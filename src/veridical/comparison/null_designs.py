"""Data sets on which neither of two selectors is better, by construction.

The features form blocks with the same distribution, and each side may select from one
block only, by the largest F statistic. So neither side is better, whatever the
resampling and the estimator. Nearest centroid, naive Bayes and nearest neighbour are
compiled, so that thousands of data sets take little time; a support vector machine and
a tree are those of `veridical.learning`.

| symbol   | meaning                                                            |
|----------|--------------------------------------------------------------------|
| n        | samples, in `n_classes` classes                                    |
| minority | share of the smallest class; the others share the rest equally     |
| p        | features in a block, normal, or of Student's t with `tail_df` [1]_ |
| r        | of them, those whose class means differ                            |
| effect   | distance of neighbouring class means, in standard deviations of a  |
|          | normal feature; "falling" effects are effect, effect/2, effect/3 … |
| F        | features that each side selects                                    |

References
----------
.. [1] With 2 degrees of freedom the variance is infinite: a few outliers dominate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from veridical._core import seeds
from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.reading import read_table
from veridical._core.splits import CrossValidation, Split
from veridical._core.text import listed
from veridical.comparison.significance import Geometry
from veridical.evaluation import engine
from veridical.evaluation.situations import SIMULATED
from veridical.kernels import exchangeable
from veridical.learning import make_estimator

#: Number in the kernel of those that are compiled.
_COMPILED = {
    "centroid": exchangeable.CENTROID,
    "nb": exchangeable.BAYES,
    "1nn": exchangeable.NEIGHBOUR,
}
#: Fewest samples of a class: then every training set has two or more of it.
_FEWEST_OF_CLASS = 4


@dataclass(frozen=True)
class NullDesign:
    """The design of a simulation; see the table of the module."""

    n_repeats: int
    n_folds: int
    method: Literal["in", "out"] = "in"
    n_samples: int = 100
    estimator: str = "centroid"
    effect: float = 1.0
    n_columns: int = 20
    n_relevant: int = 5
    n_features_to_select: int = 5
    effects: Literal["equal", "falling"] = "equal"
    tail_df: float = np.inf
    n_classes: int = 2
    minority: float = 0.5

    def __post_init__(self) -> None:
        _check_design(self)

    @property
    def class_sizes(self) -> tuple[int, ...]:
        """Number of samples of each class, the smallest class last."""
        least = round(self.minority * self.n_samples)
        others, rest = divmod(self.n_samples - least, self.n_classes - 1)
        larger = [others + (c < rest) for c in range(self.n_classes - 1)]
        return (*larger, least)

    @property
    def geometry(self) -> Geometry:
        """The geometry of the folds; a test uses only the means of their sizes."""
        n_test = self.n_samples // self.n_folds
        sizes = [
            n_test + (f < self.n_samples % self.n_folds) for f in range(self.n_folds)
        ] * self.n_repeats
        return Geometry(
            tuple(self.n_samples - size for size in sizes),
            tuple(sizes),
            self.n_repeats,
            self.n_folds,
        )

    def describe(self, accuracy: float) -> str:
        """Write the design as pages show it."""
        return describe(
            self.n_repeats,
            self.n_folds,
            self.n_samples,
            self.estimator,
            accuracy,
            self.method,
        )


def describe(
    n_repeats: int,
    n_folds: int,
    n_samples: int,
    estimator: str,
    accuracy: float,
    method: str,
) -> str:
    """Write a design as pages show it.

    Examples
    --------
    >>> describe(10, 10, 100, "nb", 0.834, "in")
    '10 x 10 folds of 100 samples under IN, naive Bayes with accuracy 83 %'
    """
    folds = f"{n_repeats} x {n_folds}" if n_repeats > 1 else str(n_folds)
    return (
        f"{folds} folds of {n_samples} samples under {method.upper()}, "
        f"{SIMULATED[estimator]} with accuracy {100 * accuracy:.0f} %"
    )


def simulate(
    design: NullDesign,
    n_simulations: int,
    seed: int,
    *,
    stream: int = 0,
    sides: int = 2,
) -> FloatArray:
    """Simulate accuracies on data sets where no side is better.

    Parameters
    ----------
    design : NullDesign
        The design. Its method does not change the data sets drawn.
    n_simulations : int
        Number of data sets.
    seed, stream : int
        Two streams of one seed are independent.
    sides : int, default=2
        Number of selectors, each with its own block.

    Returns
    -------
    array of shape (n_simulations, sides, n_splits)
    """
    y = np.repeat(np.arange(design.n_classes), design.class_sizes)
    shift = np.tile(class_means(design, y), sides)
    rng = seeds.as_generator(seeds.stream(seed, stream))
    method = CrossValidation(design.n_folds, n_repeats=design.n_repeats)
    result = np.empty((n_simulations, sides, design.n_repeats * design.n_folds))
    for b in range(n_simulations):
        if np.isinf(design.tail_df):
            X = rng.standard_normal(shift.shape) + shift
        else:
            X = rng.standard_t(design.tail_df, shift.shape) + shift
        splits = method.split(y, int(rng.integers(2**31)))
        result[b] = measure_accuracies(design, X, y, splits, sides)
    return result


def class_means(design: NullDesign, y: IntArray) -> FloatArray:
    """Return the class mean of every sample and feature of a block.

    A relevant feature orders the classes in its own way.
    """
    effect = np.full(design.n_relevant, design.effect)
    if design.effects == "falling":
        effect = effect / np.arange(1, design.n_relevant + 1)
    place = np.arange(design.n_classes) - (design.n_classes - 1) / 2
    shift = np.zeros((len(y), design.n_columns))
    for j in range(design.n_relevant):
        shift[:, j] = effect[j] * np.roll(place, j)[y]
    return shift


def measure_accuracies(
    design: NullDesign, X: FloatArray, y: IntArray, splits: list[Split], sides: int
) -> FloatArray:
    """Compute the accuracy of every side on every split."""
    train, test = np.zeros((2, len(splits), len(y)), dtype=bool)
    for s, split in enumerate(splits):
        train[s, split.train], test[s, split.test] = True, True
    chosen = exchangeable.select_blocks(
        X,
        y,
        design.n_classes,
        train,
        design.n_features_to_select,
        design.method == "in",
        sides,
    )
    if design.estimator in _COMPILED:
        return exchangeable.block_accuracies(
            X, y, design.n_classes, train, test, chosen, _COMPILED[design.estimator]
        )
    predicted = engine.predict(
        make_estimator(design.estimator),
        read_table(X, y, kind="classes"),
        splits * sides,
        list(np.sort(chosen.reshape(sides * len(splits), -1))),
        (design.n_features_to_select,),
    )
    hits = [
        float(np.mean(codes[0] == y[split.test]))
        for codes, split in zip(predicted, splits * sides, strict=True)
    ]
    return np.reshape(hits, (sides, len(splits)))


def _check_design(design: NullDesign) -> None:
    """Raise if a design cannot be simulated."""
    if design.estimator not in SIMULATED:
        raise InputError(
            f"There is no estimator {design.estimator!r} in simulations; use one of "
            f"{listed(SIMULATED)}."
        )
    if design.method not in ("in", "out"):
        raise InputError(f"method must be 'in' or 'out', got {design.method!r}.")
    few = design.n_samples < 12
    if design.n_repeats < 1 or few or not 2 <= design.n_folds <= design.n_samples // 2:
        raise InputError(
            f"{design.n_repeats} repeat(s) of {design.n_folds} folds cannot be drawn "
            f"from {design.n_samples} samples; use at least 2 folds, 2 samples in a "
            "fold and 12 samples."
        )
    if design.n_classes < 2 or not 0 < design.minority <= 1 / design.n_classes:
        raise InputError(
            f"minority={design.minority!r} must be a share of the smallest of "
            f"{design.n_classes} classes, and there must be two or more."
        )
    if min(design.class_sizes) < _FEWEST_OF_CLASS:
        raise InputError(
            f"{min(design.class_sizes)} samples of the smallest class are too few; use "
            f"at least {_FEWEST_OF_CLASS}, by more samples or a larger minority."
        )
    if not design.tail_df > 0:
        raise InputError(f"tail_df={design.tail_df!r} must be positive.")
    if not 1 <= design.n_features_to_select <= design.n_columns:
        raise InputError(
            f"n_features_to_select={design.n_features_to_select} of "
            f"n_columns={design.n_columns} cannot be selected; use 1 to n_columns."
        )
    if not 0 <= design.n_relevant <= design.n_columns:
        raise InputError(
            f"n_relevant={design.n_relevant} must lie between 0 and n_columns="
            f"{design.n_columns}."
        )
