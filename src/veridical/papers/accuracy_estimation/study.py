"""How good are estimates of accuracy? The experiment of Kohavi (1995).

From a sample of each data set the accuracy of two learners is estimated by k-fold
cross-validation, plain and stratified, and by the .632 bootstrap, in 50 runs. The true
accuracy is known from 500 holdouts: fit on a sample of that size, test on all other
samples.

A unit is one sample with everything that is estimated from it, or a few holdouts. A
cell records the accuracy by one method with one setting, for one learner.

=========  ==================  ==========================================
method     setting             accuracy
=========  ==================  ==========================================
truth      size of the sample  on all samples outside it
plain      folds, or −k        share of correct predictions over all folds
stratified folds, or −k        the same, with class shares kept in folds
bootstrap  bootstrap samples   mean of 0.632 ε0 + 0.368 resubstitution
data       0                   none: counts of the data
=========  ==================  ==========================================

A setting of −k is leave-k-out: ⌈n/k⌉ folds of k samples. Bootstrap samples are nested:
those of a smaller setting are the first of a larger one.

References
----------
.. [1] R. Kohavi, "A study of cross-validation and bootstrap for accuracy estimation and
   model selection", IJCAI 1995.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, islice, product
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import PositiveInt, model_validator

from veridical.datasets import load, table_hash
from veridical.evaluation import (
    Bootstrap632,
    CrossValidation,
    Evaluation,
    LeaveOut,
    Procedure,
    evaluate,
)
from veridical.experiments import (
    Cell,
    InputError,
    PaperStudy,
    Recipe,
    Scale,
    Spec,
    Unit,
    Values,
    derive_seed,
    refuse_unknown,
)
from veridical.learning import C45, NaiveBayes
from veridical.papers.accuracy_estimation.figures import TABLE_1
from veridical.papers.accuracy_estimation.findings import report
from veridical.papers.paper_data import PaperData, refuse_other_data

#: Learners by the names that the study uses.
LEARNERS = {"c45": C45, "nb": NaiveBayes}

#: Numbers of folds; −k leaves k samples out.
FOLDS = (2, 5, 10, 20, -5, -2, -1)
#: Numbers of bootstrap samples.
BOOTSTRAPS = (1, 2, 5, 10, 20, 50, 100)

#: Holdouts in a unit: more share the reading of the data, fewer can be stopped sooner.
_HOLDOUTS_PER_UNIT = 25


class AccuracySpec(Spec):
    """What the study varies.

    Parameters
    ----------
    data : tuple of str
        Names of `TABLE_1`; each has its own sample size.
    learners : tuple of str
        Of ``c45`` and ``nb``.
    folds : tuple of int
        Numbers of folds, at least 2; −k leaves k samples out at a time.
    bootstraps : tuple of int
        Numbers of bootstrap samples.
    n_runs : int
        Number of samples to estimate from, per data set.
    n_holdouts : int
        Number of samples for the true accuracy, per data set.
    """

    data: tuple[str, ...]
    learners: tuple[str, ...] = tuple(LEARNERS)
    folds: tuple[int, ...] = FOLDS
    bootstraps: tuple[PositiveInt, ...] = BOOTSTRAPS
    n_runs: PositiveInt = 50
    n_holdouts: PositiveInt = 500

    @model_validator(mode="after")
    def _check(self) -> AccuracySpec:
        refuse_unknown("data set", self.data, TABLE_1)
        refuse_unknown("learner", self.learners, LEARNERS)
        most = min((TABLE_1[name].n_sample for name in self.data), default=2)
        for k in self.folds:
            if k in (0, 1) or k > most or k <= -most:
                raise ValueError(
                    f"{k} folds cannot be made of {most} samples; use 2 to {most}, or "
                    f"-1 to -{most - 1} to leave this many samples out"
                )
        return self


#: Per scale: data, folds, bootstraps, runs, holdouts.
_SCALES: dict[Scale, tuple[tuple[str, ...], Any, Any, int, int]] = {
    "smoke": (("breast", "vehicle", "rand"), FOLDS[:4], BOOTSTRAPS[:4], 3, 25),
    "laptop": (tuple(TABLE_1), FOLDS, BOOTSTRAPS, 20, 200),
    "paper": (tuple(TABLE_1), FOLDS, BOOTSTRAPS, 50, 500),
}


class AccuracyEstimation(PaperStudy):
    """The study; see the module."""

    name = "accuracy-estimation"
    question = "Which estimate of accuracy can be trusted?"
    paper = (
        "R. Kohavi, A study of cross-validation and bootstrap for accuracy estimation "
        "and model selection, IJCAI 1995"
    )
    spec = AccuracySpec
    findings = report

    def at_scale(self, scale: Scale) -> dict[str, Any]:
        """Leave out data sets that are not found."""
        names, folds, bootstraps, n_runs, n_holdouts = _SCALES[scale]
        return {
            "data": FILES.present(names),
            "folds": folds,
            "bootstraps": bootstraps,
            "n_runs": n_runs,
            "n_holdouts": n_holdouts,
        }

    def notices(self, spec: AccuracySpec) -> tuple[str, ...]:
        """Name the data sets of the paper that are not found."""
        return FILES.notices()

    def absences(self, store: str | Path) -> tuple[str, ...]:
        """Name the stored data sets that cannot be shown without their files."""
        stored = self.count_stored(store)
        found = FILES.present()
        hidden = [name for name in TABLE_1 if stored.get(name) and name not in found]
        if not hidden:
            return ()
        said = ", ".join(f"{TABLE_1[n].title} ({stored[n]} cells)" for n in hidden)
        return (
            f"Stored but not shown, because their files were not found: {said}. Name "
            "the folder of the files in VERIDICAL_DATA to show them.",
        )

    def units(self, spec: AccuracySpec) -> Iterator[Unit]:
        """Yield the holdouts of all data sets, then one run of each, then the second.

        So a run that is stopped early has all data sets equally often.
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
        """Return the recipes by data set, method and learner."""
        methods = ("truth", "plain", "stratified", "bootstrap")
        return {
            (name, method, learner): Recipe.from_details(
                self.name,
                spec.seed,
                data=get_table(name, spec.seed).digest,
                n_sample=TABLE_1[name].n_sample,
                method=method,
                learner=learner,
            )
            for name in spec.data
            for method, learner in [*product(methods, spec.learners), ("data", "none")]
        }

    def run(self, unit: Unit) -> Iterator[Values]:
        """Draw the samples, fit on all training sets, and measure accuracies."""
        settings = unit.settings
        table = get_table(settings["data"], settings["seed"])
        refuse_other_data(settings["data"], table.digest, settings["digest"])
        by_learner = groupby(unit.cells, lambda cell: cell.coordinates["learner"])
        for learner, group in by_learner:
            cells = [cell.coordinates for cell in group]
            if cells[0]["method"] == "data":
                yield from (facts(table) for _ in cells)
            elif cells[0]["method"] == "truth":
                yield from measure_outside(table, settings, learner, cells)
            else:
                trial = DrawnSample.draw(table, settings, cells[0]["run"])
                yield from trial.estimate(learner, cells)


def _settings(spec: AccuracySpec, name: str) -> dict[str, Any]:
    content = get_table(name, spec.seed).digest
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


# -- the data ------------------------------------------------------------------------

#: Which of them are found here; `rand` is drawn.
FILES = PaperData(TABLE_1, ".csv.gz", "with the class in the column 'class'")

#: Increase it when `rand` is drawn in another way.
_RAND_VERSION = 1


@dataclass(frozen=True, eq=False)
class HashedData:
    """A data set as it was read, with its hash."""

    X: Any
    y: NDArray[Any]
    digest: str

    @classmethod
    def from_arrays(cls, X: Any, y: NDArray[Any]) -> HashedData:
        """Add the hash of the data."""
        return cls(X, np.asarray(y), table_hash(X, y))

    def rows(self, rows: NDArray[np.intp]) -> tuple[Any, NDArray[Any]]:
        """Return the features and the classes of some samples."""
        is_frame = isinstance(self.X, pd.DataFrame)
        return self.X.iloc[rows] if is_frame else self.X[rows], self.y[rows]


def facts(table: HashedData) -> dict[str, int]:
    """Return the counts of table 1; a duplicate agrees in all features and the class.

    Two missing values agree.
    """
    rows = pd.DataFrame(table.X).assign(label=table.y)
    return {
        "n_attributes": table.X.shape[1],
        "n_cases": len(table.y),
        "n_classes": len(np.unique(table.y)),
        "duplicates": int(rows.duplicated().sum()),
    }


@lru_cache(maxsize=8)
def get_table(name: str, seed: int) -> HashedData:
    """Read a data set, or draw `rand` from the seed of the study.

    Raises
    ------
    InputError
        If its file is missing or has too few samples.
    """
    row = TABLE_1[name]
    if row.file is None:
        return HashedData.from_arrays(
            *_draw_rand(row, derive_seed(seed, purpose="rand"))
        )
    FILES.refuse_missing(name)
    table = HashedData.from_arrays(*load(row.file))
    n_cases, n_classes = len(table.y), len(np.unique(table.y))
    if n_cases <= row.n_sample or n_classes < 2:
        raise InputError(
            f"{row.file} has {n_cases} samples and {n_classes} classes; the study "
            f"needs more than {row.n_sample} samples and at least 2 classes. Use the "
            f"UCI copy with {row.n_cases} samples."
        )
    return table


def _draw_rand(row: Any, seed: int) -> tuple[pd.DataFrame, NDArray[np.intp]]:
    """Draw Boolean features, and a Boolean label that does not depend on them."""
    rng = np.random.default_rng([seed, _RAND_VERSION])
    values = rng.integers(2, size=(row.n_cases, row.n_attributes)).astype(bool)
    names = [f"b{j + 1}" for j in range(row.n_attributes)]
    frame = pd.DataFrame(values, columns=names).astype("category")
    return frame, rng.integers(2, size=row.n_cases)


# -- the work of a unit --------------------------------------------------------------

FoldKind = Literal["plain", "stratified"]


def evaluate_learner(learner: str, X: Any, y: NDArray[Any], splits: Any) -> Evaluation:
    """Fit a learner on every training set, and predict its test samples."""
    (found,) = evaluate([Procedure(LEARNERS[learner]())], X, y, splits)
    return found


def _draw_rows(
    table: HashedData, settings: Any, purpose: str, run: int
) -> NDArray[np.intp]:
    """Shuffle the rows; the first n are the sample."""
    seed = derive_seed(
        settings["seed"],
        purpose=purpose,
        data=settings["data"],
        n=settings["n"],
        run=run,
    )
    return np.random.default_rng(seed).permutation(len(table.y))


def measure_outside(
    table: HashedData, settings: Any, learner: str, cells: Sequence[Any]
) -> Iterator[Values]:
    """Fit on each sample, test on all other rows of the table."""
    n = settings["n"]
    splits = []
    for cell in cells:
        rows = _draw_rows(table, settings, "truth", cell["run"])
        splits.append((np.sort(rows[:n]), np.sort(rows[n:])))
    found = evaluate_learner(learner, table.X, table.y, splits)
    for accuracy in found.accuracies()[0].tolist():
        yield {"accuracy": accuracy}


def make_folds(y: NDArray[Any], kind: FoldKind, k: int, seed: int) -> list[Any]:
    """Split a sample into folds.

    Parameters
    ----------
    y : array
        The classes of the sample.
    kind : {"plain", "stratified"}
        Whether folds keep the class shares.
    k : int
        Number of folds; −k for folds of k samples.
    seed : int
        Seed of the folds; not used for leave-one-out.
    """
    if k == -1:
        return LeaveOut(1).split(y)
    if k < 0 and kind == "plain":
        return LeaveOut(-k).split(y, seed)
    n_folds = k if k > 0 else -(len(y) // k)  # rounded up: k is negative
    return CrossValidation(n_folds, stratified=kind == "stratified").split(y, seed)


@dataclass(frozen=True, eq=False)
class DrawnSample:
    """One sample with its folds, the same for both learners.

    Parameters
    ----------
    X, y : table and array
        The sample.
    settings : mapping
        Settings of the unit.
    number : int
        Number of the run.
    """

    X: Any
    y: NDArray[Any]
    settings: Any
    number: int

    @classmethod
    def draw(cls, table: HashedData, settings: Any, number: int) -> DrawnSample:
        """Draw the sample."""
        rows = _draw_rows(table, settings, "sample", number)[: settings["n"]]
        return cls(*table.rows(np.sort(rows)), settings, number)

    def seed(self, **what: Any) -> int:
        """Derive a seed from the data set and the run, not from the learner."""
        return derive_seed(
            self.settings["seed"], data=self.settings["data"], run=self.number, **what
        )

    def splits(self, method: str, setting: int) -> list[Any]:
        """Return training and test rows; for the bootstrap, resubstitution is last."""
        if method != "bootstrap":
            kind: FoldKind = "plain" if method == "plain" else "stratified"
            seed = self.seed(purpose="folds", kind=kind, k=setting)
            return make_folds(self.y, kind, setting, seed)
        drawn = Bootstrap632(setting).split(self.y, self.seed(purpose="bootstrap"))
        everything = np.arange(len(self.y))
        return [*drawn, (everything, everything)]

    def estimate(self, learner: str, cells: Sequence[Any]) -> Iterator[Values]:
        """Estimate the accuracy of a learner for all cells.

        All training sets go to the learner in one call, each only once: leave-one-out
        is the same for both kinds of folds, and smaller bootstraps are part of larger.
        """
        largest = max(
            (cell["setting"] for cell in cells if cell["method"] == "bootstrap"),
            default=0,
        )
        wanted: dict[tuple[str, int], list[Any]] = {}
        for cell in cells:
            key = _source_of(cell, largest)
            if key not in wanted:
                wanted[key] = self.splits(*key)
        splits = [split for group in wanted.values() for split in group]
        found = iter(evaluate_learner(learner, self.X, self.y, splits).hits)
        hits = {
            key: [hits[0] for hits in islice(found, len(group))]
            for key, group in wanted.items()
        }
        for cell in cells:
            mine = hits[_source_of(cell, largest)]
            if cell["method"] == "bootstrap":
                yield _bootstrap(mine, cell["setting"])
            else:
                yield _pooled(mine)


def _source_of(cell: Any, largest: int) -> tuple[str, int]:
    """Return method and setting of the splits that a cell is computed from."""
    if cell["method"] == "bootstrap":
        return "bootstrap", largest
    if cell["setting"] == -1:
        return "plain", -1
    return cell["method"], cell["setting"]


def _pooled(hits: Sequence[Any]) -> Values:
    return {
        "accuracy": float(np.mean(np.concatenate(hits))),
        "fold_mean": float(np.mean([fold.mean() for fold in hits])),
    }


def _bootstrap(hits: Sequence[Any], n_samples: int) -> Values:
    resubstitution = float(hits[-1].mean())
    outside = np.array([sample.mean() for sample in hits[:-1][:n_samples]])
    return {
        "accuracy": float(Bootstrap632.terms(outside, resubstitution).mean()),
        "outside": float(outside.mean()),
        "resubstitution": resubstitution,
    }


STUDY = AccuracyEstimation()
