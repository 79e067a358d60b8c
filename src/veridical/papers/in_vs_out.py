"""IN versus OUT: the grid of Refaeilzadeh, Tang & Liu (2007).

A unit is one training set with its independent test set. Every selector ranks the
features on all of it and on each training fold, in one call; the rankings serve all
subset sizes and classifiers. A cell records, for one selector, number of features and
classifier, the accuracy on the test set (TRUTH) and the accuracies on the folds under
IN and OUT. Pairs of selectors, verdicts and biases are made of these afterwards.

| symbol    | meaning                                                    |
|-----------|------------------------------------------------------------|
| N         | cases in a training set, and in its test set               |
| F         | features each selector returns                             |
| set       | number of the training set, the paper's b                  |
| orders[0] | ranking on the whole training set: OUT and TRUTH           |
| orders[f] | ranking on the training rows of fold f, from 1: IN         |

References
----------
.. [1] P. Refaeilzadeh, L. Tang & H. Liu, "On comparison of feature selection
   algorithms", AAAI Workshop on Evaluation Methods for Machine Learning II (2007).
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, product
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, model_validator

from veridical._core.text import did_you_mean, one_line
from veridical.datasets import SOURCES
from veridical.experiments import Cell, Plan, Recipe, Spec, Store, Unit
from veridical.experiments.findings import StudyReport
from veridical.experiments.study import Scale, Values
from veridical.papers.in_vs_out_figures import CONTINUOUS, DISCRETE
from veridical.papers.in_vs_out_findings import report
from veridical.papers.in_vs_out_trials import Trial, make_classifier
from veridical.selection import SELECTORS

#: Raise it when a source of `veridical.datasets` draws other cases than before.
SOURCE_VERSION = 1

#: The paper's classifiers, by the names that `make_classifier` knows.
CLASSIFIERS = ("svm", "nb", "1nn", "tree")

Size = Annotated[int, Field(ge=1)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SourceGrid(_Part):
    """A source with the sizes it is tried at."""

    source: str
    n: tuple[Size, ...]
    n_features: tuple[Size, ...]

    @model_validator(mode="after")
    def _check(self) -> SourceGrid:
        _refuse_unknown("source", self.source, SOURCES)
        most = SOURCES[self.source].n_features
        if max(self.n_features, default=0) > most:
            raise ValueError(f"{self.source} has {most} features, fewer than asked for")
        for sizes in (self.n, self.n_features):
            if len(set(sizes)) < len(sizes):
                raise ValueError(f"a size of {self.source} is named twice")
        return self


class SelectorChoice(_Part):
    """A selector with its parameters; the paper leaves most of them to defaults."""

    name: str
    selector: str
    parameters: dict[str, str | int | float] = {}

    @model_validator(mode="after")
    def _check(self) -> SelectorChoice:
        _refuse_unknown("selector", self.selector, SELECTORS)
        known = inspect.signature(SELECTORS[self.selector]).parameters
        for name in self.parameters:
            _refuse_unknown(f"parameter of {self.selector}", name, known)
        return self


class InVsOutSpec(Spec):
    """What the study varies.

    Parameters
    ----------
    sources : tuple of SourceGrid
        Sources with training set sizes N and numbers of features F.
    selectors : tuple of SelectorChoice
        Whose choices are judged.
    classifiers : tuple of str
        Names out of `CLASSIFIERS`.
    n_sets : int
        Training sets per source and N.
    n_folds : int
        Folds of IN and OUT.
    """

    sources: tuple[SourceGrid, ...]
    selectors: tuple[SelectorChoice, ...]
    classifiers: tuple[str, ...] = CLASSIFIERS
    n_sets: Size = 100
    n_folds: Annotated[int, Field(ge=2)] = 10

    @model_validator(mode="after")
    def _check(self) -> InVsOutSpec:
        for name in self.classifiers:
            _refuse_unknown("classifier", name, CLASSIFIERS)
        names = [choice.name for choice in self.selectors]
        for kind, given in (
            ("selector", names),
            ("classifier", list(self.classifiers)),
            ("source", [grid.source for grid in self.sources]),
        ):
            if len(set(given)) < len(given):
                raise ValueError(f"a {kind} is named twice")
        return self


def _refuse_unknown(what: str, name: str, known: Iterable[str]) -> None:
    if name not in known:
        raise ValueError(f"there is no {what} {name!r}{did_you_mean(name, known)}")


PAPER_SELECTORS = (
    SelectorChoice(name="relieff", selector="relieff", parameters={"n_neighbors": 10}),
    SelectorChoice(
        name="fcbf",
        selector="fcbf",
        parameters={"threshold": 0.0, "mdl_cost": "cuts"},
    ),
    SelectorChoice(
        name="information-gain",
        selector="information-gain",
        parameters={"mdl_cost": "cuts"},
    ),
)
#: Per scale: N and F of the continuous and of the discrete sources, training sets.
_SCALES: dict[Scale, tuple[Any, Any, Any, Any, int]] = {
    "smoke": ((125,), (5, 20), (60,), (2, 4), 16),
    "laptop": ((125, 250, 500), (3, 5, 10, 20, 40), (40, 80, 120), (1, 2, 3, 4, 5), 20),
    "paper": (
        tuple(range(125, 1001, 125)),
        (3, 5, 10, 20, 40),
        tuple(range(40, 181, 20)),
        (1, 2, 3, 4, 5),
        100,
    ),
}


@dataclass(frozen=True)
class InVsOut:
    """The study; see the module."""

    name: str = "in-vs-out"
    spec: type[InVsOutSpec] = InVsOutSpec

    def plan(self, scale: Scale, seed: int = 0) -> InVsOutSpec:
        """Say what is varied: a taste of everything, a good part of it, or all of it.

        Parameters
        ----------
        scale : {"smoke", "laptop", "paper"}
            Smaller scales are parts of the larger ones: their cells are not computed
            twice.
        seed : int, default=0
            Decides all that is left to chance.
        """
        n, n_features, n_discrete, n_features_discrete, n_sets = _SCALES[scale]
        grids = [(name, n, n_features) for name in CONTINUOUS]
        grids += [(name, n_discrete, n_features_discrete) for name in DISCRETE]
        return InVsOutSpec(
            seed=seed,
            sources=tuple(
                SourceGrid(source=source, n=sizes, n_features=counts)
                for source, sizes, counts in grids
            ),
            selectors=PAPER_SELECTORS,
            n_sets=n_sets,
        )

    def units(self, spec: InVsOutSpec) -> Iterator[Unit]:
        """One unit per training set, the first of every source and N, then the second.

        So a run that is stopped early has seen everything equally often, and the time
        that is left can be told from what has passed.
        """
        recipes = self._recipes(spec)
        for number in range(spec.n_sets):
            for grid in spec.sources:
                for n in grid.n:
                    at = {"source": grid.source, "n": n, "set": number}
                    cells = [
                        Cell(
                            {
                                **at,
                                "selector": choice.name,
                                "n_features": n_features,
                                "classifier": classifier,
                            },
                            recipes[grid.source, choice.name, classifier],
                        )
                        for choice, n_features, classifier in product(
                            spec.selectors, grid.n_features, spec.classifiers
                        )
                    ]
                    settings = {**at, "seed": spec.seed, "n_folds": spec.n_folds}
                    yield Unit(settings, cells)

    def _recipes(self, spec: InVsOutSpec) -> dict[tuple[str, str, str], Recipe]:
        learners = {name: one_line(make_classifier(name)) for name in spec.classifiers}
        return {
            (grid.source, choice.name, classifier): Recipe.of(
                self.name,
                spec.seed,
                source={"name": grid.source, "version": SOURCE_VERSION},
                selector={"kind": choice.selector, "parameters": choice.parameters},
                classifier=learner,
                resampling={"kind": "k-fold, shuffled", "n_folds": spec.n_folds},
                test_set="as large as the training set",
            )
            for grid, choice, (classifier, learner) in product(
                spec.sources, spec.selectors, learners.items()
            )
        }

    def run(self, unit: Unit) -> Iterator[Values]:
        """Draw the training set, rank once per selector, judge all sizes at once."""
        trial = Trial.draw(unit.settings)
        for _, group in groupby(unit.cells, lambda cell: cell.coordinates["selector"]):
            cells = list(group)
            sizes = sorted({cell.coordinates["n_features"] for cell in cells})
            orders = trial.rank(json.loads(cells[0].recipe.text), sizes[-1])
            judged: dict[str, dict[int, Values]] = {}
            for cell in cells:
                name = cell.coordinates["classifier"]
                if name not in judged:
                    judged[name] = trial.judge(orders, name, sizes)
                yield judged[name][cell.coordinates["n_features"]]

    def findings(self, frame: pd.DataFrame) -> StudyReport:
        """Say what was found, beside what the paper says.

        Parameters
        ----------
        frame : DataFrame
            Cells of one specification, from `frame`.
        """
        return report(self.name, frame)


STUDY = InVsOut()


def frame(store: str | Path, spec: InVsOutSpec) -> pd.DataFrame:
    """The accuracies of the cells of a specification, one row per cell.

    Cells of another version, seed or parameter are left out.

    Parameters
    ----------
    store : str or Path
        Where `run_study` has put them.
    spec : InVsOutSpec
        Which cells.

    Returns
    -------
    DataFrame
        source, n, set, selector, n_features, classifier, status, truth, in_0 to in_9,
        out_0 to out_9.
    """
    with Store(store) as opened:
        return opened.frame(only=Plan(STUDY, spec).keys)
