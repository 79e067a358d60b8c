"""A study that reproduces a paper: its plan, its cells, its findings."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from veridical._core.errors import InputError
from veridical.experiments.findings import Check, Picture, StudyReport, StudyTable
from veridical.experiments.plan import Plan
from veridical.experiments.store import Store
from veridical.experiments.study import Scale, Spec, Unit, Values

if TYPE_CHECKING:
    import pandas as pd


class PaperStudy(ABC):
    """The base of a study of a paper; `Study` says what the engine needs of it.

    A study is found by its name if its package declares an entry point of the group
    ``veridical.studies``: the name of the study, and where an instance of it lies.

    Attributes
    ----------
    name, question, paper : str
        What it is called, what it asks, and where that was asked first.
    spec : type
        The `Spec` of what it varies.

    Examples
    --------
    >>> from veridical.papers import find_study
    >>> study = find_study("in-vs-out")
    >>> study.plan("smoke").n_sets
    16
    """

    name: str
    question: str = ""
    paper: str = ""
    spec: type[Spec]

    # -- what is varied, and what is done --------------------------------------------

    def plan(self, scale: Scale, seed: int = 0) -> Any:
        """Say what is varied at a scale.

        Parameters
        ----------
        scale : {"smoke", "laptop", "paper"}
            How much of the paper's grid. The cells of a smaller scale should be part of
            the larger ones, so that they are not computed twice.
        seed : int, default=0
            Decides all that is left to chance.

        Returns
        -------
        Spec
            Of the study's own kind; data that cannot be found here are left out.
        """
        return self.spec(seed=seed, **self.at_scale(scale))

    @abstractmethod
    def at_scale(self, scale: Scale) -> dict[str, Any]:
        """Return the fields of `spec` at a scale, but for the seed."""

    @abstractmethod
    def units(self, spec: Any) -> Iterator[Unit]:
        """Expand a specification into units, see `Study`."""

    @abstractmethod
    def run(self, unit: Unit) -> Iterator[Values]:
        """Do a unit, see `Study`."""

    def notices(self, spec: Any) -> tuple[str, ...]:
        """Say in sentences what the user should know before a run: missing data."""
        return ()

    def absences(self, store: str | Path) -> tuple[str, ...]:
        """Say in sentences which cells of a store cannot be shown: without their data.

        What a cell depends on includes the data themselves, so without them it cannot
        be told from a cell of another file.

        Parameters
        ----------
        store : str or Path
            Where `run_study` has put the cells; `count_stored` counts them.
        """
        return ()

    # -- what was found --------------------------------------------------------------

    @abstractmethod
    def findings(self, frame: pd.DataFrame) -> StudyReport:
        """Say what was found, beside what the paper says.

        Parameters
        ----------
        frame : DataFrame
            Cells of one specification, from `Store.frame`.
        """

    def make_report(
        self,
        frame: pd.DataFrame,
        checks: Iterable[Check],
        tables: Iterable[StudyTable] = (),
        pictures: Iterable[Picture] = (),
        notes: Iterable[str] = (),
    ) -> StudyReport:
        """Put findings and figures together; how many cells failed is noted.

        Parameters
        ----------
        frame : DataFrame
            The cells.
        checks, tables, pictures, notes : iterables
            As in `StudyReport`.
        """
        sentences = [*notes]
        failed = int((frame["status"] != "ok").sum())
        if failed == 1:
            sentences.append("1 cell failed and is left out.")
        elif failed:
            sentences.append(f"{failed} cells failed and are left out.")
        return StudyReport(
            self.name,
            self.question,
            self.paper,
            tuple(checks),
            tuple(tables),
            tuple(pictures),
            tuple(sentences),
        )

    def report(self, store: str | Path, spec: Spec | None = None) -> StudyReport | None:
        """Say what a store has to say about the paper.

        Parameters
        ----------
        store : str or Path
            Where `run_study` has put the cells.
        spec : Spec, optional
            Which cells: those of another version, seed or parameter are left out. By
            default what the last run of this study in the store varied.

        Returns
        -------
        StudyReport or None
            The findings; None where no cell of the specification is finished.
        """
        with Store(store) as opened:
            if spec is None:
                spec = self._last_spec(opened)
            plan = Plan(self, spec, opened.keys())
            if not plan.counts.ok:
                return None
            keys = plan.keys
            found = self.findings(opened.frame(only=keys))
        settings = {
            "cells": str(plan.counts),
            **{key: str(value) for key, value in spec.model_dump(mode="json").items()},
            **found.settings,
            # A cell's key is a hash of all that it depends on, the data included.
            "cells sha256": hashlib.sha256(keys.known.tobytes()).hexdigest(),
        }
        return replace(found, settings=settings)

    def _last_spec(self, store: Store) -> Spec:
        runs = [json.loads(text) for text in store.runs()]
        mine = [run["spec"] for run in runs if run.get("study") == self.name]
        if not mine:
            raise InputError(f"{store.path} has no run of {self.name}.")
        return self.spec.checked(mine[-1], str(store.path))

    def count_stored(self, store: str | Path) -> Counter[str]:
        """Count the cells of this study in a store by their coordinate ``data``."""
        stored: Counter[str] = Counter()
        with Store(store) as opened:
            for row in opened.rows():
                if json.loads(row.recipe).get("study") == self.name:
                    stored[json.loads(row.cell).get("data")] += 1
        return stored
