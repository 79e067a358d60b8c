"""How good are estimates of accuracy? The experiment of Kohavi (1995).

From a sample of each data set the accuracy of two learners is estimated by k-fold
cross-validation, plain and stratified, and by the .632 bootstrap, in 50 runs. What
they should have said is known from 500 holdouts: learn from a sample of that size,
test on all other cases.

A unit is one sample with everything that is estimated from it, or a few holdouts. A
cell records the accuracy by one method with one setting, for one learner.

=========  ==================  ==========================================
method     setting             accuracy
=========  ==================  ==========================================
truth      cases in a sample   on the cases outside the sample
plain      folds, or −k        share of right predictions over all folds
stratified folds, or −k        the same, with class shares kept in folds
bootstrap  bootstrap samples   mean of 0.632 ε0 + 0.368 resubstitution
data       0                   none: what there is to count in the data
=========  ==================  ==========================================

Minus k folds are leave-k-out: ⌈n/k⌉ folds of k cases. Bootstrap samples are nested:
those of a smaller setting are the first of a larger one.

References
----------
.. [1] R. Kohavi, "A study of cross-validation and bootstrap for accuracy estimation and
   model selection", IJCAI 1995.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby, product
from typing import Annotated, Any

import pandas as pd
from pydantic import Field, field_validator, model_validator

from veridical._core.errors import InputError
from veridical._core.text import did_you_mean
from veridical.experiments import Cell, Recipe, Spec, Unit
from veridical.experiments.findings import StudyReport
from veridical.experiments.study import Scale, Values
from veridical.papers.accuracy_data import (
    TABLE_1,
    digest,
    facts,
    get_table,
    present,
    say_missing,
)
from veridical.papers.accuracy_findings import report
from veridical.papers.accuracy_trials import LEARNERS, Trial, measure_outside

FOLDS = (2, 5, 10, 20, -5, -2, -1)
BOOTSTRAPS = (1, 2, 5, 10, 20, 50, 100)

#: Holdouts in a unit: enough to share the reading of the data, few enough to stop.
_HOLDOUTS_PER_UNIT = 25

Count = Annotated[int, Field(ge=1)]


class AccuracySpec(Spec):
    """What the study varies.

    Parameters
    ----------
    data : tuple of str
        Names of `accuracy_data.TABLE_1`; each has its own sample size.
    learners : tuple of str
        Of ``c45`` and ``nb``.
    folds : tuple of int
        Numbers of folds from 2 up; −k leaves k cases out at a time.
    bootstraps : tuple of int
        Numbers of bootstrap samples.
    n_runs : int
        Samples to estimate from, per data set.
    n_holdouts : int
        Samples to know the true accuracy by, per data set.
    """

    data: tuple[str, ...]
    learners: tuple[str, ...] = tuple(LEARNERS)
    folds: tuple[int, ...] = FOLDS
    bootstraps: tuple[Count, ...] = BOOTSTRAPS
    n_runs: Count = 50
    n_holdouts: Count = 500

    @field_validator("data", "learners", "folds", "bootstraps")
    @classmethod
    def _check_once(cls, given: tuple[Any, ...]) -> tuple[Any, ...]:
        for value in given:
            if given.count(value) > 1:
                raise ValueError(f"{value!r} is named twice")
        return given

    @model_validator(mode="after")
    def _check(self) -> AccuracySpec:
        _refuse_unknown("data set", self.data, TABLE_1)
        _refuse_unknown("learner", self.learners, LEARNERS)
        most = min((TABLE_1[name].n_sample for name in self.data), default=2)
        for k in self.folds:
            if k in (0, 1) or k > most or k <= -most:
                raise ValueError(
                    f"{k} folds cannot be made of {most} cases; use 2 to {most}, or "
                    f"-1 to -{most - 1} to leave so many cases out"
                )
        return self


def _refuse_unknown(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    for name in names:
        if name not in known:
            raise ValueError(
                f"there is no {what} {name!r}{did_you_mean(name, known)} Use one of "
                f"{', '.join(known)}"
            )


#: Per scale: data, folds, bootstraps, runs, holdouts.
_SCALES: dict[Scale, tuple[tuple[str, ...], Any, Any, int, int]] = {
    "smoke": (("breast", "vehicle", "rand"), FOLDS[:4], BOOTSTRAPS[:4], 3, 25),
    "laptop": (tuple(TABLE_1), FOLDS, BOOTSTRAPS, 20, 200),
    "paper": (tuple(TABLE_1), FOLDS, BOOTSTRAPS, 50, 500),
}


@dataclass(frozen=True)
class AccuracyEstimation:
    """The study; see the module."""

    name: str = "accuracy-estimation"
    spec: type[AccuracySpec] = AccuracySpec

    def plan(self, scale: Scale, seed: int = 0) -> AccuracySpec:
        """Say what is varied; data sets that are not here are left out.

        Parameters
        ----------
        scale : {"smoke", "laptop", "paper"}
            Smaller scales are parts of the larger ones: their cells are not computed
            twice.
        seed : int, default=0
            Decides all that is left to chance.
        """
        names, folds, bootstraps, n_runs, n_holdouts = _SCALES[scale]
        here = present()
        return AccuracySpec(
            seed=seed,
            data=tuple(name for name in names if name in here),
            folds=folds,
            bootstraps=bootstraps,
            n_runs=n_runs,
            n_holdouts=n_holdouts,
        )

    def notices(self, spec: AccuracySpec) -> tuple[str, ...]:
        """Say in words which data sets of the paper cannot be had here."""
        here = present()
        missing = tuple(name for name in TABLE_1 if name not in here)
        return (say_missing(missing),) if missing else ()

    def absences(self, stored: Mapping[str, int]) -> tuple[str, ...]:
        """Say in words which stored data sets cannot be shown without their files.

        Parameters
        ----------
        stored : mapping of str to int
            Number of cells in the store by data set.
        """
        here = present()
        hidden = [name for name in TABLE_1 if stored.get(name) and name not in here]
        if not hidden:
            return ()
        said = ", ".join(f"{TABLE_1[n].title} ({stored[n]} cells)" for n in hidden)
        return (
            f"Stored but not shown, because their files are not here: {said}. Name the "
            "folder of the files in VERIDICAL_DATA to see them.",
        )

    def units(self, spec: AccuracySpec) -> Iterator[Unit]:
        """The holdouts of all data sets, then one run of each, then the second.

        So a run that is stopped early has seen all data sets equally often.
        """
        recipes = self._recipes(spec)
        for name in spec.data:
            recipe = recipes[name, "data", "none"]
            yield Unit(_settings(spec, name), [_cell(recipe, name, "none", "data")])
        for start in range(0, spec.n_holdouts, _HOLDOUTS_PER_UNIT):
            stop = min(start + _HOLDOUTS_PER_UNIT, spec.n_holdouts)
            for name in spec.data:
                yield self._holdouts(spec, name, range(start, stop), recipes)
        for run in range(spec.n_runs):
            for name in spec.data:
                yield self._run(spec, name, run, recipes)

    def _holdouts(
        self, spec: AccuracySpec, name: str, runs: range, recipes: Any
    ) -> Unit:
        n = TABLE_1[name].n_sample
        cells = [
            _cell(recipes[name, "truth", learner], name, learner, "truth", n, run)
            for learner, run in product(spec.learners, runs)
        ]
        return Unit(_settings(spec, name), cells)

    def _run(self, spec: AccuracySpec, name: str, run: int, recipes: Any) -> Unit:
        settings = [(kind, k) for kind in ("plain", "stratified") for k in spec.folds]
        settings += [("bootstrap", b) for b in spec.bootstraps]
        cells = [
            _cell(recipes[name, method, learner], name, learner, method, setting, run)
            for learner, (method, setting) in product(spec.learners, settings)
        ]
        return Unit(_settings(spec, name), cells)

    def _recipes(self, spec: AccuracySpec) -> dict[tuple[str, str, str], Recipe]:
        """Everything else a result depends on, by data set, method and learner."""
        methods = ("truth", "plain", "stratified", "bootstrap")
        return {
            (name, method, learner): Recipe.of(
                self.name,
                spec.seed,
                data=digest(get_table(name, spec.seed)),
                n_sample=TABLE_1[name].n_sample,
                method=method,
                learner=learner,
            )
            for name in spec.data
            for method, learner in [*product(methods, spec.learners), ("data", "none")]
        }

    def run(self, unit: Unit) -> Iterator[Values]:
        """Draw the samples, learn on all their parts, count what was right."""
        settings = unit.settings
        table = get_table(settings["data"], settings["seed"])
        if digest(table) != settings["digest"]:
            raise InputError(
                f"{settings['data']} is not the file that the study was planned with; "
                "use the same data everywhere."
            )
        by_learner = groupby(unit.cells, lambda cell: cell.coordinates["learner"])
        for learner, group in by_learner:
            cells = [cell.coordinates for cell in group]
            if cells[0]["method"] == "data":
                yield from (facts(table) for _ in cells)
            elif cells[0]["method"] == "truth":
                yield from measure_outside(table, settings, learner, cells)
            else:
                trial = Trial.draw(table, settings, cells[0]["run"])
                yield from trial.estimate(learner, cells)

    def findings(self, frame: pd.DataFrame) -> StudyReport:
        """Say what was found, beside what the paper says.

        Parameters
        ----------
        frame : DataFrame
            Cells of one specification, from `veridical.experiments.Store.frame`.
        """
        return report(self.name, frame)


def _settings(spec: AccuracySpec, name: str) -> dict[str, Any]:
    content = digest(get_table(name, spec.seed))
    n = TABLE_1[name].n_sample
    return {"data": name, "n": n, "seed": spec.seed, "digest": content}


def _cell(
    recipe: Recipe,
    name: str,
    learner: str,
    method: str,
    setting: int = 0,
    run: int = 0,
) -> Cell:
    coordinates = {
        "data": name,
        "learner": learner,
        "method": method,
        "setting": setting,
        "run": run,
    }
    return Cell(coordinates, recipe)


STUDY = AccuracyEstimation()
