"""A mechanism: a mistake that is planted into an honest table with a known dose."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from veridical._core.arrays import FloatArray
from veridical._core.seeds import mixed_generator
from veridical.evaluation import estimate
from veridical.leakbench.honest_tables import HonestTable, draw_table

#: Number of folds, unless a mechanism brings its own splits.
N_FOLDS = 5


@dataclass(frozen=True, eq=False)
class Scenario:
    """What somebody cross-validates, and what they know about it.

    Parameters
    ----------
    estimator : classifier
        The classifier or pipeline.
    X : array or data frame
        The features.
    y : array of shape (n_samples,)
        The classes.
    cv : int or list of (train, test), default=5
        How the score is measured.
    known : mapping of str to value
        Arguments of `veridical.audit` beyond these: ``selected``, ``batch``, ...
    reported : float, optional
        The reported score, where it is not that of cross-validation.
    """

    estimator: Any
    X: Any
    y: Any
    cv: Any = N_FOLDS
    known: Mapping[str, Any] = field(default_factory=dict)
    reported: float | None = None

    def score(self, seed: int = 0) -> float:
        """Return the balanced accuracy that is reported."""
        if self.reported is not None:
            return self.reported
        X = self.X
        if "selected" in self.known:
            X = X[:, self.known["selected"]]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = estimate(
                self.estimator,
                X,
                self.y,
                cv=self.cv,
                scoring="balanced_accuracy",
                random_state=seed,
            )
        return float(found.value)


@dataclass(frozen=True, eq=False)
class Planted:
    """A planted mistake, and the same work without it.

    Parameters
    ----------
    leaky : Scenario
        The work with the mistake.
    cured : Scenario
        The work without it.
    """

    leaky: Scenario
    cured: Scenario

    @classmethod
    def into_features(
        cls, table: HonestTable, X: FloatArray, estimator: Any = None
    ) -> Planted:
        """Put other features in the place of the honest ones.

        Parameters
        ----------
        table : HonestTable
            The honest table; the cure is to use its features.
        X : array of shape (n_samples, n_features)
            The features with the mistake, of the same samples.
        estimator : classifier, optional
            What learns from both; by default the classifier of the table.
        """
        used = table.estimator if estimator is None else estimator
        return cls(Scenario(used, X, table.y), Scenario(used, table.X, table.y))

    def moved(self, seed: int = 0) -> float:
        """Return by how much the mistake moves the score."""
        return self.leaky.score(seed) - self.cured.score(seed)


@dataclass(frozen=True)
class Mechanism:
    """A way in which a score becomes wrong, with its dose and its cure.

    Parameters
    ----------
    name : str
        Its name on the command line and in tables.
    recipe : str
        What is done wrong, in a sentence.
    dose : str
        What the dose is, with its unit.
    doses : tuple of float
        The doses that are measured; the first is the one of examples.
    cure : str
        What to do instead.
    codes : tuple of str
        Findings of `veridical.audit` that detect it.
    cause : str
        The part of the decomposed score in which it belongs; "" where it has none.
    plant : callable
        ``plant(table, dose, rng)`` returns `Planted`.
    """

    name: str
    recipe: str
    dose: str
    doses: tuple[float, ...]
    cure: str
    codes: tuple[str, ...]
    plant: Callable[[HonestTable, float, np.random.Generator], Planted]
    cause: str = ""

    def draw(self, source: str, number: int, dose: float | None = None) -> Planted:
        """Draw an honest table and plant the mistake.

        Parameters
        ----------
        source : str
            Name of a source of tables.
        number : int
            Number of the draw.
        dose : float, optional
            The dose, by default the first of `doses`.
        """
        table = draw_table(source, number)
        rng = mixed_generator(number, *self.name.encode())
        return self.plant(table, self.doses[0] if dose is None else dose, rng)


@dataclass(frozen=True)
class Control:
    """Honest work, in which no finding is right.

    Parameters
    ----------
    name : str
        Its name in tables.
    recipe : str
        What is done, in a sentence.
    make : callable
        ``make(table, rng)`` returns a `Scenario`.
    """

    name: str
    recipe: str
    make: Callable[[HonestTable, np.random.Generator], Scenario]

    def draw(self, source: str, number: int) -> Scenario:
        """Draw an honest table and do the honest work on it."""
        table = draw_table(source, number)
        rng = mixed_generator(number, *self.name.encode())
        return self.make(table, rng)
