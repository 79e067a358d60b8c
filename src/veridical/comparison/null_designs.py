"""Data sets on which neither of two selectors is better, by construction.

The features form blocks with the same distribution, and each side may select from one
block only. So neither side is better, whatever the resampling. Selector (largest F
statistic), classifiers and data are the simplest that behave like the real ones, so
that thousands of data sets take little time.

| symbol | meaning                                                           |
|--------|-------------------------------------------------------------------|
| n      | samples, half of them in each of two classes                      |
| p      | features in a block, normal with standard deviation 1             |
| r      | of them, those whose means differ between the classes, by `effect`|
| F      | features that each side selects                                   |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from veridical._core import seeds
from veridical._core.arrays import BoolArray, FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.text import listed
from veridical.comparison.significance import Geometry
from veridical.kernels import exchangeable

#: Estimators of a simulation: number in the kernel and display name.
ESTIMATORS = {
    "centroid": (exchangeable.CENTROID, "nearest centroid"),
    "nb": (exchangeable.BAYES, "naive Bayes"),
    "1nn": (exchangeable.NEIGHBOUR, "nearest neighbour"),
}


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

    def __post_init__(self) -> None:
        _check_design(self)

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
        f"{ESTIMATORS[estimator][1]} with accuracy {100 * accuracy:.0f} %"
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
    y = np.arange(design.n_samples, dtype=np.intp) % 2
    shift = np.zeros((design.n_samples, design.n_columns))
    shift[:, : design.n_relevant] = design.effect * (y - 0.5)[:, np.newaxis]
    shift = np.tile(shift, sides)
    rng = seeds.as_generator(seeds.stream(seed, stream))
    learner = ESTIMATORS[design.estimator][0]
    result = np.empty((n_simulations, sides, design.n_repeats * design.n_folds))
    for b in range(n_simulations):
        X = rng.standard_normal(shift.shape) + shift
        test = _folds(design, y, rng)
        result[b] = exchangeable.block_accuracies(
            X,
            y,
            2,
            ~test,
            test,
            design.n_features_to_select,
            learner,
            design.method == "in",
            sides,
        )
    return result


def _folds(design: NullDesign, y: IntArray, rng: np.random.Generator) -> BoolArray:
    """Draw plain shuffled folds; return which samples each split tests.

    They are drawn again where a training set would have fewer than two samples of a
    class, for which a comparison raises an error.
    """
    number = np.arange(design.n_samples) % design.n_folds
    first = y == 0
    while True:
        test = np.concatenate(
            [
                rng.permutation(number) == np.arange(design.n_folds)[:, np.newaxis]
                for _ in range(design.n_repeats)
            ]
        )
        if (
            min((~test[:, first]).sum(axis=1).min(), (~test[:, ~first]).sum(1).min())
            > 1
        ):
            return test


def _check_design(design: NullDesign) -> None:
    """Raise if a design cannot be simulated."""
    if design.estimator not in ESTIMATORS:
        raise InputError(
            f"There is no estimator {design.estimator!r} in simulations; use one of "
            f"{listed(ESTIMATORS)}."
        )
    if design.method not in ("in", "out"):
        raise InputError(f"method must be 'in' or 'out', got {design.method!r}.")
    few = design.n_samples < 12
    if design.n_repeats < 1 or few or not 2 <= design.n_folds <= design.n_samples // 4:
        raise InputError(
            f"{design.n_repeats} repeat(s) of {design.n_folds} folds cannot be drawn "
            f"from {design.n_samples} samples; use at least 2 folds, 4 samples in a "
            "fold and 12 samples."
        )
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
