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

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, model_validator

from veridical._records import IntArray
from veridical.comparison.classifiers import CLASSIFIERS, make_classifier
from veridical.comparison.data import Data
from veridical.comparison.draws import Lottery, find_source
from veridical.comparison.engine import Judge, make_judges
from veridical.comparison.rankers import Ranker, one_line, seeded
from veridical.comparison.splits import Splits, make_splits
from veridical.datasets import SOURCES
from veridical.datasets.wording import did_you_mean
from veridical.experiments import (
    Cell,
    Plan,
    Recipe,
    Spec,
    Store,
    Unit,
    derive_seed,
)
from veridical.experiments.study import Scale, Values
from veridical.selection import SELECTORS

#: Raise it when a source of `veridical.datasets` draws other cases than before.
SOURCE_VERSION = 1

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
        Names of `veridical.comparison.CLASSIFIERS`.
    n_sets : int
        Training sets per source and N.
    n_folds : int
        Folds of IN and OUT.
    """

    sources: tuple[SourceGrid, ...]
    selectors: tuple[SelectorChoice, ...]
    classifiers: tuple[str, ...] = tuple(CLASSIFIERS)
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
CONTINUOUS = ("linear", "nonlinear")
DISCRETE = ("monks-1", "monks-2", "monks-3")

#: Per scale: N and F of the continuous and of the discrete sources, training sets.
_SCALES: dict[Scale, tuple[Any, Any, Any, Any, int]] = {
    "smoke": ((125,), (5, 20), (60,), (2, 4), 2),
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
        """Draw the training set, rank once per selector, judge cell by cell."""
        trial = Trial.draw(unit.settings)
        for _, group in groupby(unit.cells, lambda cell: cell.coordinates["selector"]):
            cells = list(group)
            most = max(cell.coordinates["n_features"] for cell in cells)
            orders = trial.rank(json.loads(cells[0].recipe.text), most)
            for cell in cells:
                at = cell.coordinates
                yield trial.judge(orders[:, : at["n_features"]], at["classifier"])


class Trial:
    """One training set with its test set and folds, the same for every selector.

    Parameters
    ----------
    data : Data
        Training rows first, then test rows.
    n_train : int
        How many are training rows.
    splits : Splits
        Folds of the training rows.
    columns : int array
        The order in which selectors see the columns, so that an index, which decides
        ties, carries no information.
    seed : int
        For selectors and classifiers that use chance.
    """

    def __init__(
        self, data: Data, n_train: int, splits: Splits, columns: IntArray, seed: int
    ) -> None:
        self.data = data
        self.n_train = n_train
        self.splits = splits
        self.columns = columns
        self.seed = seed
        self._judges: dict[str, Judge] = {}
        self._known: dict[tuple[str, int, bytes], float] = {}

    @classmethod
    def draw(cls, settings: Any) -> Trial:
        """Draw what a unit describes.

        Seeds depend on the source, N and the number of the set; that of the folds
        also on the resampling. None depends on a selector.
        """
        root, n, number = settings["seed"], settings["n"], settings["set"]
        data_set = {"source": settings["source"], "n": n}
        source = find_source(settings["source"])[1]
        lottery = Lottery(source, n, n, None, derive_seed(root, **data_set))
        data, n_train = lottery.draw(number)

        def seed(purpose: str, **more: Any) -> int:
            return derive_seed(root, purpose=purpose, **data_set, set=number, **more)

        folds = seed("folds", resampling="k-fold", k=settings["n_folds"], repeat=0)
        splits = make_splits(settings["n_folds"], data, folds, n_rows=n_train)
        columns = np.random.default_rng(seed("columns")).permutation(data.n_features)
        return cls(data, n_train, splits, columns, seed("methods"))

    def rank(self, recipe: Any, n_features: int) -> IntArray:
        """Rank on all training rows, then on each training fold.

        Returns
        -------
        array of shape (1 + n_folds, n_features)
        """
        kind = recipe["selector"]["kind"]
        selector = SELECTORS[kind](**recipe["selector"]["parameters"])
        ranker = Ranker(seeded(selector, self.seed), kind).on_one_thread()
        train_sets = [np.arange(self.n_train), *self.splits.train]
        return ranker.choose(
            self.data, self.n_train, self.columns, train_sets, n_features
        )

    def judge(self, chosen: IntArray, classifier: str) -> Values:
        """Accuracies of a classifier on what was chosen: TRUTH, IN and OUT."""
        everything = np.arange(self.n_train)
        unseen = np.arange(self.n_train, self.data.n_samples)
        folds = list(zip(self.splits.train, self.splits.test, strict=True))
        return {
            "truth": self._accuracy(classifier, 0, everything, unseen, chosen[0]),
            "in": [
                self._accuracy(classifier, f, *fold, chosen[f])
                for f, fold in enumerate(folds, start=1)
            ],
            "out": [
                self._accuracy(classifier, f, *fold, chosen[0])
                for f, fold in enumerate(folds, start=1)
            ],
        }

    def _accuracy(
        self, name: str, split: int, train: IntArray, test: IntArray, chosen: IntArray
    ) -> float:
        # Selectors often agree on the set; its order does not matter.
        columns = np.sort(chosen)
        key = (name, split, columns.tobytes())
        if key not in self._known:
            if name not in self._judges:
                (self._judges[name],) = make_judges(name, self.seed)
            judge = self._judges[name]
            self._known[key] = judge.accuracy(self.data, train, test, columns)
        return self._known[key]


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
