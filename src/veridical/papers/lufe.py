"""Do unselected features help? The experiments of Taylor et al. (2016).

A selector keeps K words of a two-topic text task. Four ways to classify: an SVM on all
words, an SVM on the selected ones, LUFe (the selected, with the unselected as
privileged information), and controls.

The same on gene expression, which the paper does not have: the largest class of a data
set against the rest, without the curve of shares.

A unit is one training fold with everything learned from it. A cell records the accuracy
of one method on the test fold.

===============  =======  =====================================================
method           share    learns from
===============  =======  =====================================================
all              0        all words (k is 0)
rfe, anova       0        K selected words
lufe-rfe         1–100    these, with the best per cent of the unselected ones
lufe-anova       100      the same with ANOVA F
lufe-rfe-random  100      these, with Gaussian noise instead of the unselected
rfe-augmented    1–100    K selected words and the best per cent of the others,
                          in training and in testing
===============  =======  =====================================================

References
----------
.. [1] J. Taylor, V. Sharmanska, K. Kersting, D. Weir & N. Quadrianto, "Learning using
   unselected features (LUFe)", IJCAI 2016.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Any

import pandas as pd
from pydantic import Field, field_validator
from threadpoolctl import threadpool_limits

from veridical._core.errors import InputError
from veridical.experiments import Cell, Recipe, Spec, Unit
from veridical.experiments.findings import StudyReport
from veridical.experiments.study import Scale, Values
from veridical.papers.lufe_data import STAND_IN, get_task, present, say_missing
from veridical.papers.lufe_findings import report
from veridical.papers.lufe_genes import PREFIX as GENES
from veridical.papers.lufe_genes import present_genes
from veridical.papers.lufe_trials import GRID, INNER_FOLDS, STEP, Trial

SHARES = tuple(range(10, 101, 10))

#: Raise it when a method is computed otherwise than before.
_VERSION = 1

Count = Annotated[int, Field(ge=1)]
Share = Annotated[int, Field(ge=1, le=100)]


class LUFeSpec(Spec):
    """What the study varies.

    Parameters
    ----------
    data : tuple of str
        Names of text tasks, and of gene tasks (``genes/…``).
    n_features : tuple of int
        Numbers K of selected words.
    shares : tuple of int
        Per cent of the unselected words, for the curve at the first K; without any,
        there is no curve.
    n_repeats, n_folds : int
        Repetitions and folds of stratified cross-validation.
    """

    data: tuple[str, ...]
    n_features: tuple[Count, ...] = (300, 500)
    shares: tuple[Share, ...] = SHARES
    n_repeats: Count = 10
    n_folds: Annotated[int, Field(ge=2)] = 10

    @field_validator("data", "n_features", "shares")
    @classmethod
    def _check_once(cls, given: tuple[Any, ...]) -> tuple[Any, ...]:
        for value in given:
            if given.count(value) > 1:
                raise ValueError(f"{value!r} is named twice")
        return given


#: Per scale: text tasks, gene tasks, K, shares, repeats.
_SCALES: dict[Scale, tuple[int | None, int | None, Any, Any, int]] = {
    "smoke": (3, 1, (300,), (), 1),
    "laptop": (10, None, (300,), SHARES, 1),
    "paper": (None, None, (300, 500), SHARES, 10),
}


@dataclass(frozen=True)
class LUFeStudy:
    """The study; see the module."""

    name: str = "lufe"
    spec: type[LUFeSpec] = LUFeSpec

    def plan(self, scale: Scale, seed: int = 0) -> LUFeSpec:
        """Say what is varied: some tasks, or all that are here.

        Parameters
        ----------
        scale : {"smoke", "laptop", "paper"}
            Smaller scales are parts of the larger ones: their cells are not computed
            twice.
        seed : int, default=0
            Decides all that is left to chance.
        """
        n_tasks, n_genes, n_features, shares, n_repeats = _SCALES[scale]
        here = present()
        # Spread over the list: neighbours are tasks of one family.
        step = max(1, len(here) // n_tasks) if n_tasks else 1
        return LUFeSpec(
            seed=seed,
            data=here[::step][:n_tasks] + present_genes()[:n_genes],
            n_features=n_features,
            shares=shares,
            n_repeats=n_repeats,
        )

    def notices(self, spec: LUFeSpec) -> tuple[str, ...]:
        """Say which texts these are."""
        texts = [name for name in spec.data if not name.startswith(GENES)]
        said = []
        if not texts:
            said.append(say_missing())
        elif all(name.startswith(STAND_IN) for name in texts):
            said.append(
                "TechTC-300 is not here; tasks made from 20 Newsgroups stand in for "
                "it, so published accuracies are not comparable."
            )
        if len(texts) < len(spec.data):
            said.append(
                "Reported apart is gene expression, which the paper does not have: "
                f"{len(spec.data) - len(texts)} of {len(spec.data)} tasks."
            )
        return tuple(said)

    def units(self, spec: LUFeSpec) -> Iterator[Unit]:
        """The first fold of every task, then the second, and so on.

        Genes have no curve of shares.
        """
        digests = {name: get_task(name).digest for name in spec.data}
        recipes = {name: self._recipe(spec, digests[name]) for name in spec.data}
        kinds = {
            name: _methods(spec, curve=not name.startswith(GENES)) for name in spec.data
        }
        for repeat, fold in product(range(spec.n_repeats), range(spec.n_folds)):
            for name in spec.data:
                at = {"data": name, "repeat": repeat, "fold": fold}
                cells = [
                    Cell({**at, "method": m, "k": k, "share": t}, recipes[name])
                    for m, k, t in kinds[name]
                ]
                settings = {
                    **at,
                    "seed": spec.seed,
                    "n_folds": spec.n_folds,
                    "digest": digests[name],
                }
                yield Unit(settings, cells)

    def _recipe(self, spec: LUFeSpec, digest: str) -> Recipe:
        return Recipe.of(
            self.name,
            spec.seed,
            data=digest,
            version=_VERSION,
            grid=list(GRID),
            inner_folds=INNER_FOLDS,
            rfe_step=STEP,
            n_folds=spec.n_folds,
        )

    def run(self, unit: Unit) -> Iterator[Values]:
        """Split, standardise, select, learn, count what was right."""
        settings = unit.settings
        if get_task(settings["data"]).digest != settings["digest"]:
            raise InputError(
                f"{settings['data']} is not the file that the study was planned with; "
                "use the same data everywhere."
            )
        with threadpool_limits(1, "blas"):
            trial = Trial.draw(settings)
            for cell in unit.cells:
                at = cell.coordinates
                yield trial.measure(at["method"], at["k"], at["share"])

    def findings(self, frame: pd.DataFrame) -> StudyReport:
        """Say what was found, beside what the paper says.

        Parameters
        ----------
        frame : DataFrame
            Cells of one specification, from `veridical.experiments.Store.frame`.
        """
        return report(self.name, frame)


def _methods(spec: LUFeSpec, *, curve: bool) -> list[tuple[str, int, int]]:
    """Method, K and share of every cell of a unit."""
    kinds = [("all", 0, 0)]
    for k in spec.n_features:
        kinds += [("rfe", k, 0), ("lufe-rfe", k, 100), ("anova", k, 0)]
        kinds += [("lufe-anova", k, 100), ("lufe-rfe-random", k, 100)]
    first = spec.n_features[0] if spec.n_features else 0
    for share in spec.shares if curve else ():
        if share != 100:
            kinds.append(("lufe-rfe", first, share))
        kinds.append(("rfe-augmented", first, share))
    return kinds


STUDY = LUFeStudy()
