"""Accuracies on permuted labels: what a procedure reports on data without signal.

| symbol | meaning                                                              |
|--------|----------------------------------------------------------------------|
| B      | number of permutations of the labels                                 |
| a_b    | accuracy that the procedure reports on the b-th permutation          |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.parallel import Workers
from veridical._core.permutations import OutcomePermuter
from veridical._core.progress import ProgressLike
from veridical._core.records import Setting
from veridical._core.seeds import as_generator, stream
from veridical._core.splits import Split, split_table
from veridical._core.table import Table
from veridical.auditing.procedures import Audited
from veridical.auditing.records import Null

# Largest number of tasks that the permutations are divided into.
_CHUNKS = 50


@dataclass(frozen=True, eq=False)
class LabelPermutations:
    """Random permutations of the labels, each with its own splits.

    Parameters
    ----------
    method : Method
        Splits the samples; stratified folds depend on the labels, so they are redrawn.
    seed : int
        Seed of the permutations and their splits.
    n : int
        Number of permutations.
    """

    method: Any
    seed: int
    n: int

    def draw(self, b: int, table: Table) -> tuple[IntArray, list[Split]]:
        """Draw the b-th permutation of the outcome and its splits.

        Returns
        -------
        order : int array of shape (n_samples,)
            Sample i gets the outcome of sample ``order[i]``, a time with its event.
        splits : list of Split
            Splits of the permuted samples.
        """
        shuffle, split = stream(self.seed, b).generate_state(2)
        order = self._permuter(table).draw(as_generator(shuffle))
        labels = table.target.take(order).strata
        return order, split_table(self.method, table, int(split), labels)

    def describe(self, table: Table) -> dict[str, Setting]:
        """Say how labels of groups are permuted, in the settings of a record."""
        said = self._permuter(table).describe()
        return {"labels are permuted": said} if said else {}

    @staticmethod
    def _permuter(table: Table) -> OutcomePermuter:
        outcome = np.unique(table.labels, return_inverse=True)[1].reshape(-1)
        return OutcomePermuter(outcome, table.groups, table.subgroups)


def null_accuracies(
    procedure: Audited,
    permutations: LabelPermutations,
    protocols: Sequence[str],
    n_jobs: int | None,
    progress: ProgressLike = None,
) -> dict[str, FloatArray]:
    """Run a procedure on permuted labels.

    Parameters
    ----------
    procedure : Audited
        What is audited.
    permutations : LabelPermutations
        The permutations of the labels; every protocol gets the same.
    protocols : sequence of {"in", "out"}
        How to run the procedure.
    n_jobs : int or None
        Number of processes; the result does not depend on it.
    progress : callable, optional
        Called as ``progress(done, total)`` with numbers of tasks.

    Returns
    -------
    mapping of protocol to array of shape (n_permutations,)
    """
    parts = np.array_split(np.arange(permutations.n), min(permutations.n, _CHUNKS))
    # Of several scores, only the leading one is needed.
    fast = replace(procedure, scores=procedure.scores[:1]).prepare_permutations()
    run = Workers(n_jobs, progress)
    done = run(
        [(_score_permutations, (fast, permutations, protocols, part)) for part in parts]
    )
    values = np.concatenate(done, axis=1)
    return dict(zip(protocols, values, strict=True))


def _score_permutations(
    procedure: Audited,
    permutations: LabelPermutations,
    protocols: Sequence[str],
    part: IntArray,
) -> FloatArray:
    """Return accuracies of shape (n_protocols, n_part) for some permutations."""
    table = procedure.table
    values = np.empty((len(protocols), len(part)))
    for i, b in enumerate(part):
        order, splits = permutations.draw(int(b), table)
        for p, protocol in enumerate(protocols):
            run = procedure.inside if protocol == "in" else procedure.outside
            values[p, i] = run(order, splits).score
    return values


def summarise(accuracies: FloatArray, observed: float, sign: float = 1.0) -> Null:
    """Summarise scores on permuted labels, with the p-value of a score.

    Parameters
    ----------
    accuracies : array of shape (n_permutations,)
        One score per permutation; those that are not defined are left out.
    observed : float
        That of the true labels.
    sign : float, default=1.0
        −1 for a loss, of which less is better.
    """
    accuracies = accuracies[~np.isnan(accuracies)]
    if not accuracies.size:
        raise InputError(
            "The score is not defined on permuted labels, whose test sets lack a "
            "class; use fewer, stratified folds, or another scoring."
        )
    as_good = np.count_nonzero(sign * accuracies >= sign * observed - 1e-12)
    low, high = np.quantile(accuracies, (0.025, 0.975), method="linear")
    return Null(
        accuracies=accuracies,
        mean=float(accuracies.mean()),
        low=float(low),
        high=float(high),
        pvalue=float((1 + as_good) / (1 + len(accuracies))),
    )
