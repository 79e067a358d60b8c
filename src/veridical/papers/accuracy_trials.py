"""One sample of a data set, and every estimate that is made from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from veridical._core.arrays import IntArray
from veridical._core.seeds import as_generator
from veridical._core.splits import Split
from veridical._core.table import Table
from veridical.evaluation import Bootstrap632, CrossValidation, LeaveOut, engine
from veridical.evaluation.bootstrap import OUTSIDE, terms
from veridical.experiments import derive_seed
from veridical.experiments.study import Values
from veridical.learning import C45, NaiveBayes

Kind = Literal["plain", "stratified"]

#: Learners by the names that the study uses.
LEARNERS = {"c45": C45, "nb": NaiveBayes}


def predict(
    learner: str, table: Table, rows: IntArray, splits: Sequence[Split]
) -> list[IntArray]:
    """Fit a learner on every training set, and predict its test samples.

    Splits count in `rows`, the samples of the table that matter.
    """
    found = engine.predict(LEARNERS[learner](), table.rows(rows), splits)
    return [codes[0] for codes in found]


# -- the true accuracy ---------------------------------------------------------------


def _draw_rows(table: Table, settings: Any, purpose: str, run: int) -> IntArray:
    """Shuffle the cases; the first ones are the sample."""
    seed = derive_seed(
        settings["seed"],
        purpose=purpose,
        data=settings["data"],
        n=settings["n"],
        run=run,
    )
    return as_generator(seed).permutation(table.n_samples)


def measure_outside(
    table: Table, settings: Any, learner: str, cells: Sequence[Any]
) -> Iterator[Values]:
    """Learn from each sample, test on all other cases of the table."""
    n = settings["n"]
    splits = []
    for cell in cells:
        rows = _draw_rows(table, settings, "truth", cell["run"])
        splits.append(Split(np.sort(rows[n:]), table.n_samples, np.sort(rows[:n])))
    everything = np.arange(table.n_samples)
    predicted = predict(learner, table, everything, splits)
    for split, found in zip(splits, predicted, strict=True):
        yield {"accuracy": float(np.mean(found == table.y[split.test]))}


# -- estimates of it -----------------------------------------------------------------


def make_folds(codes: IntArray, kind: Kind, k: int, seed: int) -> list[Split]:
    """Split a sample into folds.

    Parameters
    ----------
    codes : int array
        The classes of its cases.
    kind : {"plain", "stratified"}
        Whether folds keep the class shares.
    k : int
        Number of folds; −k for folds of k cases.
    seed : int
        Decides the folds; not used to leave single cases out.
    """
    if k == -1:
        return LeaveOut(1).split(codes)
    if k < 0 and kind == "plain":
        return LeaveOut(-k).split(codes, seed)
    n_folds = k if k > 0 else -(len(codes) // k)  # rounded up: k is negative
    return CrossValidation(n_folds, stratified=kind == "stratified").split(codes, seed)


@dataclass(frozen=True, eq=False)
class Trial:
    """One sample, the same for both learners, and so are its folds.

    Parameters
    ----------
    table : Table
        The data set.
    rows : int array
        The sample.
    settings : mapping
        Of the unit.
    number : int
        Which run it is.
    """

    table: Table
    rows: IntArray
    settings: Any
    number: int

    @classmethod
    def draw(cls, table: Table, settings: Any, number: int) -> Trial:
        """Draw the sample."""
        rows = _draw_rows(table, settings, "sample", number)[: settings["n"]]
        return cls(table, np.sort(rows), settings, number)

    def seed(self, **what: Any) -> int:
        """Derive a seed that knows the data set and the run, but no learner."""
        return derive_seed(
            self.settings["seed"], data=self.settings["data"], run=self.number, **what
        )

    def splits(self, method: str, setting: int) -> list[Split]:
        """Give training and test rows; for the bootstrap, resubstitution comes last."""
        codes = self.table.y[self.rows]
        if method != "bootstrap":
            kind: Kind = "plain" if method == "plain" else "stratified"
            seed = self.seed(purpose="folds", kind=kind, k=setting)
            return make_folds(codes, kind, setting, seed)
        drawn = Bootstrap632(setting).split(codes, self.seed(purpose="bootstrap"))
        everything = np.arange(len(codes))
        return [*drawn, Split(everything, len(codes), everything)]

    def estimate(self, learner: str, cells: Sequence[Any]) -> Iterator[Values]:
        """Estimate the accuracy of a learner in all ways that are asked for.

        All training sets go to the learner at once, each only once: single cases are
        left out alike by both kinds of folds, and smaller bootstraps are in larger.
        """
        largest = max(
            (cell["setting"] for cell in cells if cell["method"] == "bootstrap"),
            default=0,
        )
        wanted: dict[tuple[str, int], list[Split]] = {}
        for cell in cells:
            key = _source_of(cell, largest)
            if key not in wanted:
                wanted[key] = self.splits(*key)
        splits = [split for group in wanted.values() for split in group]
        found = iter(predict(learner, self.table, self.rows, splits))
        codes = self.table.y[self.rows]
        hits = {
            key: [next(found) == codes[split.test] for split in group]
            for key, group in wanted.items()
        }
        for cell in cells:
            mine = hits[_source_of(cell, largest)]
            if cell["method"] == "bootstrap":
                yield _bootstrap(mine, cell["setting"])
            else:
                yield _pooled(mine)


def _source_of(cell: Any, largest: int) -> tuple[str, int]:
    """Name the splits that a cell is computed from."""
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
        "accuracy": float(terms(outside, resubstitution, OUTSIDE).mean()),
        "outside": float(outside.mean()),
        "resubstitution": resubstitution,
    }
