"""IN versus OUT: the grid of Refaeilzadeh, Tang & Liu (2007).

A unit is one training set with its independent test set. Every selector ranks the
features on all of it and on each training fold, in one call; the rankings serve all
subset sizes and classifiers. A cell records, for one selector, number of features and
classifier, the accuracy on the test set (TRUTH) and the accuracies on the folds under
IN and OUT. Verdicts on pairs of selectors and biases are computed from these later.

| symbol    | meaning                                                    |
|-----------|------------------------------------------------------------|
| N         | samples in a training set, and in its test set             |
| F         | number of features that each selector returns              |
| set       | number of the training set, the paper's b                  |

References
----------
.. [1] P. Refaeilzadeh, L. Tang & H. Liu, "On comparison of feature selection
   algorithms", AAAI Workshop on Evaluation Methods for Machine Learning II (2007).
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from itertools import groupby, product
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, PositiveInt, model_validator
from sklearn.model_selection import KFold

from veridical.datasets import SOURCES
from veridical.evaluation import Procedure, evaluate
from veridical.experiments import (
    Cell,
    PaperStudy,
    Recipe,
    Scale,
    Spec,
    Unit,
    Values,
    derive_seed,
    refuse_repeated,
    refuse_unknown,
)
from veridical.learning import C45, make_estimator
from veridical.papers.in_vs_out.figures import CONTINUOUS, DISCRETE
from veridical.papers.in_vs_out.findings import report
from veridical.selection import SELECTORS

#: Increase it when a source of `veridical.datasets` draws other samples than before.
SOURCE_VERSION = 1

#: The paper's classifiers, by the names that `make_classifier` knows.
CLASSIFIERS = ("svm", "nb", "1nn", "tree")


class _Grid(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SourceGrid(_Grid):
    """A source with its sizes N and numbers of features F."""

    source: str
    n: tuple[PositiveInt, ...]
    n_features: tuple[PositiveInt, ...]

    @model_validator(mode="after")
    def _check(self) -> SourceGrid:
        refuse_unknown("source", [self.source], SOURCES)
        most = SOURCES[self.source].n_features
        if max(self.n_features, default=0) > most:
            raise ValueError(f"{self.source} has {most} features, fewer than asked for")
        refuse_repeated(self.n)
        refuse_repeated(self.n_features)
        return self


class SelectorChoice(_Grid):
    """A selector with its parameters; the paper uses defaults for most of them."""

    name: str
    selector: str
    parameters: dict[str, str | int | float] = {}

    @model_validator(mode="after")
    def _check(self) -> SelectorChoice:
        refuse_unknown("selector", [self.selector], SELECTORS)
        known = inspect.signature(SELECTORS[self.selector]).parameters
        refuse_unknown(f"parameter of {self.selector}", self.parameters, known)
        return self


class InVsOutSpec(Spec):
    """What the study varies.

    Parameters
    ----------
    sources : tuple of SourceGrid
        Sources with training set sizes N and numbers of features F.
    selectors : tuple of SelectorChoice
        The selectors that are compared.
    classifiers : tuple of str
        Names from `CLASSIFIERS`.
    n_sets : int
        Training sets per source and N.
    n_folds : int
        Folds of IN and OUT.
    """

    sources: tuple[SourceGrid, ...]
    selectors: tuple[SelectorChoice, ...]
    classifiers: tuple[str, ...] = CLASSIFIERS
    n_sets: PositiveInt = 100
    n_folds: Annotated[int, Field(ge=2)] = 10

    @model_validator(mode="after")
    def _check(self) -> InVsOutSpec:
        refuse_unknown("classifier", self.classifiers, CLASSIFIERS)
        refuse_repeated([choice.name for choice in self.selectors])
        refuse_repeated([grid.source for grid in self.sources])
        return self


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


class InVsOut(PaperStudy):
    """The study; see the module."""

    name = "in-vs-out"
    question = "Which protocol finds the better of two selectors, IN or OUT?"
    paper = (
        "P. Refaeilzadeh, L. Tang & H. Liu, On comparison of feature selection "
        "algorithms, AAAI Workshop on Evaluation Methods for Machine Learning II, 2007"
    )
    spec = InVsOutSpec
    findings = report

    def at_scale(self, scale: Scale) -> dict[str, Any]:
        """Take a small part of the grid, a larger part, or all of it."""
        n, n_features, n_discrete, n_features_discrete, n_sets = _SCALES[scale]
        grids = [(name, n, n_features) for name in CONTINUOUS]
        grids += [(name, n_discrete, n_features_discrete) for name in DISCRETE]
        return {
            "sources": tuple(
                SourceGrid(source=source, n=sizes, n_features=counts)
                for source, sizes, counts in grids
            ),
            "selectors": PAPER_SELECTORS,
            "n_sets": n_sets,
        }

    def units(self, spec: InVsOutSpec) -> Iterator[Unit]:
        """Yield the first training set of every source and N, then the second.

        So a run that is stopped early has all sources equally often, and the remaining
        time can be estimated.
        """
        recipes = self._recipes(spec)
        selectors = {one.name: [one.selector, one.parameters] for one in spec.selectors}
        common = {"seed": spec.seed, "n_folds": spec.n_folds, "selectors": selectors}
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
                    yield Unit({**at, **common}, cells)

    def _recipes(self, spec: InVsOutSpec) -> dict[tuple[str, str, str], Recipe]:
        learners = {
            name: " ".join(repr(make_classifier(name)).split())
            for name in spec.classifiers
        }
        return {
            (grid.source, choice.name, classifier): Recipe.from_details(
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
        """Draw the training set, rank once per selector, evaluate all sizes at once."""
        drawn = DrawnSets.draw(unit.settings)
        by_selector = groupby(unit.cells, lambda cell: cell.coordinates["selector"])
        for name, group in by_selector:
            cells = [cell.coordinates for cell in group]
            selector = drawn.make_selector(*unit.settings["selectors"][name])
            found = drawn.evaluate(
                selector,
                list(dict.fromkeys(cell["classifier"] for cell in cells)),
                sorted({cell["n_features"] for cell in cells}),
            )
            for cell in cells:
                yield found[cell["classifier"], cell["n_features"]]


# -- the work of a unit --------------------------------------------------------------

#: Streams of random numbers that draw training and test sets, as `truth` draws them.
_TRAINING, _TEST = 4, 5
PROTOCOLS: tuple[Literal["in", "out"], ...] = ("in", "out")


class DrawnSets:
    """One training set with its test set and folds, the same for every selector.

    Parameters
    ----------
    X, y : arrays
        Training rows first, then test rows. The features are in random order, because
        ties are decided by index.
    n_train : int
        Number of training rows.
    folds : list of (train, test)
        Folds of the training rows.
    seed : int
        Seed of selectors that are random.
    """

    def __init__(
        self, X: Any, y: NDArray[Any], n_train: int, folds: list[Any], seed: int
    ) -> None:
        self.X, self.y = X, y
        self.n_train = n_train
        self.folds = folds
        self.seed = seed

    @classmethod
    def draw(cls, settings: Any) -> DrawnSets:
        """Draw the data and folds of a unit.

        Seeds depend on the source, N and the number of the set; the seed of the folds
        also on the resampling. No seed depends on a selector.
        """
        root, n, number = settings["seed"], settings["n"], settings["set"]
        data_set = {"source": settings["source"], "n": n}
        X, y = draw_source(settings["source"], n, derive_seed(root, **data_set), number)

        def seed(purpose: str, **more: Any) -> int:
            return derive_seed(root, purpose=purpose, **data_set, set=number, **more)

        k = settings["n_folds"]
        seed_of_folds = seed("folds", resampling="k-fold", k=k, repeat=0)
        # The paper's folds are not stratified.
        folds = KFold(k, shuffle=True, random_state=seed_of_folds).split(y[:n])
        columns = np.random.default_rng(seed("columns")).permutation(X.shape[1])
        X = X.iloc[:, columns] if isinstance(X, pd.DataFrame) else X[:, columns]
        return cls(X, y, n, list(folds), seed("methods"))

    def evaluate(
        self, selector: Any, classifiers: Sequence[str], sizes: Sequence[int]
    ) -> dict[tuple[str, int], Values]:
        """Measure classifiers on the features of a selector.

        Parameters
        ----------
        selector : selector
            Ranks the features.
        classifiers : sequence of str
            Names of the classifiers.
        sizes : sequence of int
            Numbers of features to use, ascending.

        Returns
        -------
        mapping of classifier and size to values
            Accuracies of TRUTH, and of the folds under IN and OUT.
        """
        training = np.arange(self.n_train)
        test = np.arange(self.n_train, len(self.y))
        learners = [make_classifier(name) for name in classifiers]
        found = evaluate(
            [
                Procedure(learner, selector, tuple(sizes), protocol)
                for learner in learners
                for protocol in PROTOCOLS
            ],
            self.X,
            self.y,
            [(training, test), *self.folds],
            everything=training,
        )
        # All training rows are one more training set under IN, so that TRUTH, in the
        # first column, selects on the same samples as OUT.
        values: dict[tuple[str, int], Values] = {}
        for name, inside, outside in zip(
            classifiers, found[::2], found[1::2], strict=True
        ):
            by_in, by_out = inside.accuracies(), outside.accuracies()
            for i, size in enumerate(sizes):
                values[name, size] = {
                    "truth": float(by_in[i, 0]),
                    "in": by_in[i, 1:].tolist(),
                    "out": by_out[i, 1:].tolist(),
                }
        return values

    def make_selector(self, kind: str, parameters: Any) -> Any:
        """Make a selector; one that is random gets the seed of the training set."""
        selector = SELECTORS[kind](**parameters)
        if "random_state" in selector.get_params() and "random_state" not in parameters:
            selector.set_params(random_state=self.seed)
        return selector


def make_classifier(name: str) -> Any:
    """Make a classifier of the paper.

    "tree" is C4.5 which treats categories and ties as the other classifiers do: a tie
    between classes goes to the more frequent one; with "c45", to the first label.
    """
    if name != "tree":
        return make_estimator(name)
    return make_estimator("svm").set_params(
        estimator=C45(), scale=False, categorical_weight=None
    )


def draw_source(name: str, n: int, root: int, number: int) -> tuple[Any, NDArray[Any]]:
    """Draw a training set and a test set of the same size, and stack them."""
    seeds = [
        int(np.random.SeedSequence(root, spawn_key=(part, number)).generate_state(1)[0])
        for part in (_TRAINING, _TEST)
    ]
    source = SOURCES[name]
    X, y = source(n, random_state=seeds[0])[:2]
    X_test, y_test = source.test(n, random_state=seeds[1])[:2]
    if isinstance(X, pd.DataFrame):
        both: Any = pd.concat([X, X_test], ignore_index=True)
    else:
        both = np.concatenate([X, X_test])
    return both, np.concatenate([y, y_test])


STUDY = InVsOut()
