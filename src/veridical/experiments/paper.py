"""The base class of studies that reproduce a paper."""

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
from veridical._core.numbers import count
from veridical._core.records import Setting
from veridical.experiments.findings import Check, Picture, StudyReport, StudyTable
from veridical.experiments.plan import Plan
from veridical.experiments.store import Store
from veridical.experiments.study import Scale, Spec, Unit, Values

if TYPE_CHECKING:
    import pandas as pd


class PaperStudy(ABC):
    """Base class of a study of a paper: what it varies, its cells, its findings.

    A study is found by its name if its package declares an entry point of the group
    ``veridical.studies``: the name of the study, and the place of an instance.

    Attributes
    ----------
    name, question, paper : str
        Name, research question, and the paper that asked it.
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

    # -- specification and units -----------------------------------------------------

    def plan(self, scale: Scale, seed: int = 0) -> Any:
        """Return what is varied at a scale.

        Parameters
        ----------
        scale : {"smoke", "laptop", "paper"}
            How much of the paper's grid. The cells of a smaller scale should be part of
            the larger ones, so that they are not computed twice.
        seed : int, default=0
            Seed of everything random.

        Returns
        -------
        Spec
            An instance of `spec`; data that are not found are left out.
        """
        return self.spec(seed=seed, **self.at_scale(scale))

    @abstractmethod
    def at_scale(self, scale: Scale) -> dict[str, Any]:
        """Return the fields of `spec` at a scale, except the seed."""

    @abstractmethod
    def units(self, spec: Any) -> Iterator[Unit]:
        """Expand a specification into units, see `Study`."""

    @abstractmethod
    def run(self, unit: Unit) -> Iterator[Values]:
        """Run a unit, see `Study`."""

    def notices(self, spec: Any) -> tuple[str, ...]:
        """Return sentences that the user should read before a run, on missing data."""
        return ()

    def absences(self, store: str | Path) -> tuple[str, ...]:
        """Return sentences on cells of a store that need data that are not found.

        The key of a cell depends on the data, so without them its cells cannot be
        identified.

        Parameters
        ----------
        store : str or Path
            The store that `run_study` wrote; `count_stored` counts its cells.
        """
        return ()

    # -- findings --------------------------------------------------------------------

    @abstractmethod
    def findings(self, frame: pd.DataFrame) -> StudyReport:
        """Compare the results with what the paper says.

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
        """Make the report; a note says how many cells failed.

        Parameters
        ----------
        frame : DataFrame
            The cells.
        checks, tables, pictures, notes : iterables
            As in `StudyReport`.
        """
        sentences = [*notes]
        failed = int((frame["status"] != "ok").sum())
        if failed:
            verb = "is" if failed == 1 else "are"
            sentences.append(f"{count(failed, 'cell')} failed and {verb} left out.")
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
        """Return the findings from the cells of a store.

        Parameters
        ----------
        store : str or Path
            The store that `run_study` wrote.
        spec : Spec, optional
            Which cells to use; cells of another version, seed or parameter are left
            out. By default the specification of the last run of this study.

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
        given = spec.model_dump(mode="json")
        settings = {
            "cells": plan.counts.as_dict(),
            **{key: _setting(value) for key, value in given.items()},
            **found.settings,
            # The key of a cell is a hash of everything it depends on, the data
            # included.
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


def _setting(value: Any) -> Setting:
    """Keep numbers, texts and lists of them; write anything else as text."""
    if isinstance(value, list) and all(isinstance(one, _VALUES) for one in value):
        return tuple(value)
    return value if isinstance(value, _VALUES) else str(value)


_VALUES = (str, int, float)
