"""How to prioritize relevance against antiredundancy? Ooi, Chetty & Teng (2006).

On seven expression data sets with 3 to 14 classes, predictor sets of 2 to 100 genes are
selected by differential prioritization with ten exponents alpha, on ten splits, with
relevance taken for all classes at once and for each class against the rest. A DAGSVM
learns from every set.

A unit is one split with one kind of relevance. A cell records one alpha:

================  =========================================================
value             meaning
================  =========================================================
accuracy          share of test cases named rightly, averaged over sizes
curve             the same at every size
class_accuracy    by class, averaged over sizes; 0 where nothing was tested
class_tested      test cases of each class
class_features    of the largest set, how many are among as many genes that
                  tell each class best from the rest
mean_relevance    mean BSS/WSS of the largest set
mean_correlation  mean ``|R|`` over its pairs
================  =========================================================

What the paper leaves open: machines are linear with C = 1 on genes standardized over
the training samples; splits are stratified; the size-averaged accuracy is the mean over
sizes; with relevance of each class against the rest, classes take turns in giving
genes, and one DAGSVM learns from all of them.

References
----------
.. [1] C. H. Ooi, M. Chetty & S. W. Teng, "Differential prioritization between
   relevance and redundancy in correlation-based feature selection techniques for
   multiclass gene expression data", BMC Bioinformatics 7:320 (2006).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pandas as pd
from pydantic import Field, model_validator

from veridical._core.errors import InputError
from veridical._core.text import did_you_mean
from veridical.experiments import Cell, Recipe, Spec, Unit
from veridical.experiments.findings import StudyReport
from veridical.experiments.study import Scale, Values
from veridical.papers.differential_data import DATA, get_arrays, present, say_missing
from veridical.papers.differential_findings import report
from veridical.papers.differential_trials import Trial

ALPHAS = tuple(round(0.1 * k, 1) for k in range(1, 11))

Count = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(gt=0, le=1)]
Relevance = Literal["all-classes", "one-vs-all"]


class DifferentialSpec(Spec):
    """What the study varies.

    Parameters
    ----------
    data : tuple of str
        Names of `differential_data.DATA`.
    relevance : tuple of str
        Of ``all-classes`` and ``one-vs-all``.
    alphas : tuple of float
        Exponents in (0, 1].
    n_splits : int
        Training and test splits of each data set.
    max_size : int
        Largest predictor set, 2 or more.
    """

    data: tuple[str, ...]
    relevance: tuple[Relevance, ...] = ("all-classes", "one-vs-all")
    alphas: tuple[Share, ...] = ALPHAS
    n_splits: Count = 10
    max_size: Annotated[int, Field(ge=2)] = 100

    @model_validator(mode="after")
    def _check(self) -> DifferentialSpec:
        for given in (self.data, self.relevance, self.alphas):
            for value in given:
                if given.count(value) > 1:
                    raise ValueError(f"{value!r} is named twice")
        for name in self.data:
            if name not in DATA:
                raise ValueError(
                    f"there is no data set {name!r}{did_you_mean(name, DATA)} Use one "
                    f"of {', '.join(DATA)}"
                )
        return self


#: Per scale: data, splits, largest set.
_SCALES: dict[Scale, tuple[tuple[str, ...], int, int]] = {
    "smoke": (("nci60", "srbc", "amlall"), 2, 20),
    "laptop": (tuple(DATA), 5, 100),
    "paper": (tuple(DATA), 10, 100),
}


@dataclass(frozen=True)
class DifferentialPrioritizationStudy:
    """The study; see the module."""

    name: str = "differential-prioritization"
    spec: type[DifferentialSpec] = DifferentialSpec

    def plan(self, scale: Scale, seed: int = 0) -> DifferentialSpec:
        """Say what is varied; data sets that are not here are left out.

        Parameters
        ----------
        scale : {"smoke", "laptop", "paper"}
            The laptop's cells are part of the paper's: they are not computed twice.
        seed : int, default=0
            Decides all that is left to chance.
        """
        names, n_splits, max_size = _SCALES[scale]
        here = present()
        return DifferentialSpec(
            seed=seed,
            data=tuple(name for name in names if name in here),
            n_splits=n_splits,
            max_size=max_size,
        )

    def notices(self, spec: DifferentialSpec) -> tuple[str, ...]:
        """Say in words which data sets of the paper cannot be had here."""
        here = present()
        missing = tuple(name for name in DATA if name not in here)
        return (say_missing(missing),) if missing else ()

    def units(self, spec: DifferentialSpec) -> Iterator[Unit]:
        """The first split of all data sets, then the second, and so on.

        So a run that is stopped early has seen all data sets equally often.
        """
        for split in range(spec.n_splits):
            for name in spec.data:
                for relevance in spec.relevance:
                    yield self._unit(spec, name, relevance, split)

    def _unit(
        self, spec: DifferentialSpec, name: str, relevance: str, split: int
    ) -> Unit:
        digest = get_arrays(name).digest
        recipe = Recipe.of(
            self.name,
            spec.seed,
            data=digest,
            max_size=spec.max_size,
            classifier="DAGSVM, linear, C=1, standardized",
        )
        settings = {
            "data": name,
            "digest": digest,
            "seed": spec.seed,
            "relevance": relevance,
            "split": split,
            "max_size": spec.max_size,
        }
        cells = [
            Cell(
                {"data": name, "relevance": relevance, "alpha": alpha, "split": split},
                recipe,
            )
            for alpha in spec.alphas
        ]
        return Unit(settings, cells)

    def run(self, unit: Unit) -> Iterator[Values]:
        """Draw the split, select with all alphas at once, learn at all sizes."""
        settings: Any = unit.settings
        if get_arrays(settings["data"]).digest != settings["digest"]:
            raise InputError(
                f"{settings['data']} is not the file that the study was planned with; "
                "use the same data everywhere."
            )
        trial = Trial.draw(settings["data"], settings["seed"], settings["split"])
        alphas = [cell.coordinates["alpha"] for cell in unit.cells]
        yield from trial.measure(settings["relevance"], alphas, settings["max_size"])

    def findings(self, frame: pd.DataFrame) -> StudyReport:
        """Say what was found, beside what the paper says.

        Parameters
        ----------
        frame : DataFrame
            Cells of one specification, from `veridical.experiments.Store.frame`.
        """
        return report(self.name, frame)


STUDY = DifferentialPrioritizationStudy()
