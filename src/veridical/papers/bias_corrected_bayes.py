"""Does conditioning on what was discarded repair naive Bayes? Li, Zhang & Neal (2008).

In the simulation data are drawn from the model itself: 10000 weak binary features
(α = 300), of which the 1, 10, 100 or 1000 that correlate most with the class are
retained. Predicted probabilities of 2000 test cases are held against what happened,
with and without the correction. On the colon data, genes cut at their median, random
subsets of 200 genes of which 5 are retained are predicted by leaving each case out,
selection repeated every time.

A unit is one simulated data set, or one subset of genes. A cell records one model.

==========  ============  ====================================================
experiment  model         what is recorded
==========  ============  ====================================================
simulation  data          what was drawn; nothing is learned
simulation  corrected     probabilities of the test cases, conditioned on what
                          was discarded
simulation  uncorrected   the same, not conditioned
colon       corrected     leave-one-out probabilities, genes cut at the median
colon       uncorrected   the same, not conditioned
colon       gaussian      leave-one-out probabilities, log-intensities, corrected
colon       gaussian-un   the same, not conditioned
==========  ============  ====================================================

What the slides leave open: "100 training cases" are taken as 100 of each class, which
alone gives the printed cut-offs and error rates; genes are cut at the median of the
training cases, not of all; class sizes are fixed.

References
----------
.. [1] L. Li, J. Zhang and R. M. Neal, "A method for avoiding bias from feature
   selection with application to naive Bayes classification models", Bayesian Analysis
   3(1), 2008, 171-196.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import pandas as pd
from pydantic import Field, model_validator

from veridical._core.errors import InputError
from veridical.experiments import Cell, Recipe, Spec, Unit
from veridical.experiments.findings import StudyReport
from veridical.experiments.study import Scale, Values
from veridical.papers.bias_corrected_findings import report
from veridical.papers.bias_corrected_published import KS
from veridical.papers.bias_corrected_trials import (
    COLON_MODELS,
    SOURCE_VERSION,
    Drawn,
    Subset,
    colon_digest,
)

Count = Annotated[int, Field(ge=1)]

#: Simulated data sets and subsets of genes at each scale; smaller are parts of larger.
_SCALES: dict[Scale, tuple[int, int]] = {
    "smoke": (2, 1),
    "laptop": (20, 10),
    "paper": (100, 10),
}


class BiasCorrectedSpec(Spec):
    """What the study varies.

    Parameters
    ----------
    n_sets : int
        Simulated data sets.
    n_subsets : int
        Random subsets of the genes of the colon data, at most 10; 0 leaves them out.
    n_features : tuple of int
        Features retained.
    n_columns : int
        Features of a simulated data set.
    n_per_class, n_test : int
        Training cases of each class, and test cases.
    alpha : float
        How alike the classes are in the simulation.
    all_features : bool
        Whether to learn from all features as well, which needs no correction.
    """

    n_sets: Annotated[int, Field(ge=0)]
    n_subsets: Annotated[int, Field(ge=0, le=10)]
    n_features: tuple[Count, ...] = KS
    n_columns: Count = 10_000
    n_per_class: Annotated[int, Field(ge=2)] = 100
    n_test: Annotated[int, Field(ge=2)] = 2000
    alpha: Annotated[float, Field(gt=0)] = 300.0
    all_features: bool = True

    @model_validator(mode="after")
    def _check(self) -> BiasCorrectedSpec:
        if len(set(self.n_features)) < len(self.n_features):
            raise ValueError("a number of features is named twice")
        if max(self.n_features, default=0) >= self.n_columns:
            raise ValueError(
                f"{max(self.n_features)} features are not fewer than all "
                f"{self.n_columns}"
            )
        return self


@dataclass(frozen=True)
class BiasCorrectedBayes:
    """The study; see the module."""

    name: str = "bias-corrected-bayes"
    spec: type[BiasCorrectedSpec] = BiasCorrectedSpec

    def plan(self, scale: Scale, seed: int = 0) -> BiasCorrectedSpec:
        """Say what is varied; the colon data are left out where they are not here.

        Parameters
        ----------
        scale : {"smoke", "laptop", "paper"}
            Smaller scales are parts of the larger ones.
        seed : int, default=0
            Decides all that is left to chance.
        """
        n_sets, n_subsets = _SCALES[scale]
        here = colon_digest() is not None
        return BiasCorrectedSpec(
            seed=seed, n_sets=n_sets, n_subsets=n_subsets if here else 0
        )

    def notices(self, spec: BiasCorrectedSpec) -> tuple[str, ...]:
        """Say in words that the colon data cannot be had here."""
        if colon_digest() is not None:
            return ()
        return (
            "The colon data are not here. Put colon.npz (X, 62 cases of 2000 genes, "
            "and y) into a folder and name it in VERIDICAL_DATA.",
        )

    def units(self, spec: BiasCorrectedSpec) -> Iterator[Unit]:
        """The simulated data sets, then the subsets of genes."""
        for number in range(spec.n_sets):
            yield self._simulation(spec, number)
        if spec.n_subsets and colon_digest() is None:
            raise InputError(*self.notices(spec))
        for number in range(spec.n_subsets):
            yield self._colon(spec, number)

    def _simulation(self, spec: BiasCorrectedSpec, number: int) -> Unit:
        settings: dict[str, Any] = {
            "experiment": "simulation",
            "seed": spec.seed,
            "set": number,
            "n_columns": spec.n_columns,
            "n_per_class": spec.n_per_class,
            "n_test": spec.n_test,
            "alpha": spec.alpha,
        }
        sizes = {k: settings[k] for k in ("n_columns", "n_per_class", "n_test")}
        recipe = Recipe.of(
            self.name, spec.seed, source=SOURCE_VERSION, alpha=spec.alpha, **sizes
        )
        wanted: list[tuple[str, int]] = [("data", 0)]
        wanted += [
            (model, k)
            for k in spec.n_features
            for model in ("corrected", "uncorrected")
        ]
        if spec.all_features:
            wanted.append(("uncorrected", spec.n_columns))
        cells = [
            Cell(_place("simulation", model, k, number), recipe) for model, k in wanted
        ]
        return Unit(settings, cells)

    def _colon(self, spec: BiasCorrectedSpec, number: int) -> Unit:
        digest = colon_digest()
        settings = {
            "experiment": "colon",
            "seed": spec.seed,
            "set": number,
            "digest": digest,
        }
        recipe = Recipe.of(self.name, spec.seed, data=digest)
        cells = [
            Cell(_place("colon", model, 5, number), recipe) for model in COLON_MODELS
        ]
        return Unit(settings, cells)

    def run(self, unit: Unit) -> Iterator[Values]:
        """Draw or read the data, learn, and measure the probabilities."""
        trial: Drawn | Subset
        if unit.settings["experiment"] == "simulation":
            trial = Drawn.of(unit.settings)
        else:
            trial = Subset.of(unit.settings)
        for cell in unit.cells:
            place = cell.coordinates
            yield trial.measure(place["model"], place["n_features"])

    def findings(self, frame: pd.DataFrame) -> StudyReport:
        """Say what was found, beside what the paper says.

        Parameters
        ----------
        frame : DataFrame
            Cells of one specification, from `veridical.experiments.Store.frame`.
        """
        return report(self.name, frame)


def _place(experiment: str, model: str, k: int, number: int) -> dict[str, Any]:
    return {
        "experiment": experiment,
        "model": model,
        "n_features": k,
        "set": number,
    }


STUDY = BiasCorrectedBayes()
