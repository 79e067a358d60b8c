"""Predictions in a store, so that a long search can be stopped and resumed.

The store is that of studies (`veridical.experiments`): one file, one writer, JSON only.
A cell is one selector with one estimator; its key holds the table, the splits, the
sizes, the parameters and the seed, so that a change of any of them is another cell.
What cannot be pickled, such as a lambda, cannot be told from another of its kind:
selectors and estimators that hold one are not stored.
"""

from __future__ import annotations

import hashlib
import json
import pickle
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import joblib
import numpy as np

from veridical._core.canonical import canonical
from veridical._core.scoring import Outputs
from veridical._core.splits import Split
from veridical._core.table import Table
from veridical._core.text import one_line
from veridical.evaluation.engine import Evaluation, Procedure, Ranked
from veridical.experiments.attempts import Attempt
from veridical.experiments.keys import cell_key, recipe_digest
from veridical.experiments.store import Writer
from veridical.experiments.study import Cell, Recipe


class PredictionStore:
    """Keeps the evaluations of procedures in a file.

    Parameters
    ----------
    path : str or Path
        The file; created if it is missing.
    table : Table
        The samples.
    splits : sequence of Split
        All splits.
    root : int
        The seed of the search.
    """

    def __init__(
        self, path: str | Path, table: Table, splits: Sequence[Split], root: int
    ) -> None:
        self._table = table
        self._splits = splits
        rows = b"".join(
            part.astype(np.int64).tobytes() + b"|" for split in splits for part in split
        )
        self._common = {
            "table": table.sha256(),
            "splits": hashlib.sha256(rows).hexdigest(),
            **_hash_structure(table),
        }
        self._root = root
        self._writer = Writer(path)
        self._known = {
            row.key: row.values for row in self._writer.rows() if row.status == "ok"
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._writer.close()

    def load(self, procedure: Procedure) -> Evaluation | None:
        """Read the evaluation of a procedure; None if it is not stored."""
        cell = self._cell(procedure)
        text = None if cell is None else self._known.get(self._key(cell))
        return None if text is None else self._read(procedure, json.loads(text))

    def save(self, procedure: Procedure, found: Evaluation) -> None:
        """Write the evaluation of a procedure; when this returns, it is on disk."""
        cell = self._cell(procedure)
        if cell is None:
            return
        values = {
            "outputs": [
                [None if part is None else part.tolist() for part in one]
                for one in found.all_outputs
            ],
            "orders": [
                None if one is None else [one.order.tolist(), one.alpha]
                for one in found.rankings
            ],
        }
        key = self._key(cell)
        attempt = Attempt(cell, key, 1, "ok", canonical(values), None, found.seconds)
        self._writer.add([attempt])

    def _cell(self, procedure: Procedure) -> Cell | None:
        """Describe a procedure; None if it holds something that cannot be pickled."""
        try:
            digest = joblib.hash([procedure.selector, procedure.estimator])
        except (pickle.PicklingError, AttributeError, TypeError):
            return None
        details: dict[str, Any] = {
            **self._common,
            "procedure": digest,
            "sizes": list(procedure.sizes),
            "responses": list(procedure.responses),
        }
        at = {
            "selector": one_line(procedure.selector),
            "estimator": one_line(procedure.estimator),
        }
        return Cell(at, Recipe.from_details("choose", self._root, **details))

    def _key(self, cell: Cell) -> bytes:
        return cell_key(cell.coordinates, recipe_digest(cell.recipe.text))

    def _read(self, procedure: Procedure, values: Any) -> Evaluation:
        outputs = [
            Outputs(
                np.array(codes),
                None if proba is None else np.array(proba, dtype=np.float64),
                None if decision is None else np.array(decision, dtype=np.float64),
            )
            for codes, proba, decision in values["outputs"]
        ]
        rankings = [
            None if one is None else Ranked(np.array(one[0], dtype=np.intp), one[1])
            for one in values["orders"]
        ]
        return Evaluation.from_outputs(
            self._table, self._splits, procedure, outputs, rankings
        )


def _hash_structure(table: Table) -> dict[str, str]:
    """Hash weights, groups, batch and covariates, where there are any."""
    parts = {"weights": table.weights, "groups": table.groups}
    found = {
        name: hashlib.sha256(np.ascontiguousarray(part).tobytes()).hexdigest()
        for name, part in parts.items()
        if part is not None
    }
    return found if table.blocks is None else {**found, "blocks": table.blocks.sha256()}
