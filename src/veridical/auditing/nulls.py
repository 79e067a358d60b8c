"""What does a procedure report where there is nothing to find? Labels in random order.

| symbol | meaning                                                              |
|--------|----------------------------------------------------------------------|
| B      | number of random orders of the labels                                |
| a_b    | accuracy that the procedure reports on the b-th order                |
| n      | number of different cases tested                                     |
| φ      | variance of a_b over that of n independent cases, at least 1         |

The training sets of a cross-validation overlap, and a selector that fell for chance in
one of them falls for it in all. So the accuracy of n cases varies more than n
independent trials would, and Wilson's interval is too narrow. Random labels show by how
much: the interval here is Wilson's for n/φ cases, with Student's quantile for the B − 1
degrees of freedom of φ. On noise its coverage is right by construction, whatever the
procedure; where there is a signal, training sets agree more and it is cautious.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.parallel import Workers
from veridical._core.progress import ProgressLike
from veridical._core.records import Interval
from veridical._core.seeds import as_generator, stream
from veridical._core.splits import Split
from veridical.auditing.procedures import Audited
from veridical.auditing.records import Null
from veridical.kernels.statistics import wilson_bounds

_CHUNKS = 50


@dataclass(frozen=True, eq=False)
class Orders:
    """Random orders of the labels, each with splits of its own.

    Parameters
    ----------
    method : Method
        Splits the cases; stratified folds look at the labels, so they are drawn anew.
    seed : int
        Decides everything.
    n : int
        How many orders.
    """

    method: Any
    seed: int
    n: int

    def draw(
        self, b: int, codes: IntArray, classes: Any
    ) -> tuple[IntArray, list[Split]]:
        """Draw the b-th order of the labels and its splits."""
        shuffle, split = stream(self.seed, b).generate_state(2)
        mixed = codes[as_generator(shuffle).permutation(len(codes))]
        return mixed, self.method.split(classes[mixed], int(split))


def null_accuracies(
    procedure: Audited,
    orders: Orders,
    protocols: Sequence[str],
    n_jobs: int | None,
    progress: ProgressLike = None,
) -> dict[str, FloatArray]:
    """Run a procedure on labels in random order.

    Parameters
    ----------
    procedure : Audited
        What is audited.
    orders : Orders
        The orders of the labels; every protocol sees the same.
    protocols : sequence of {"in", "out"}
        How to run it.
    n_jobs : int or None
        Number of processes; the result does not depend on it.
    progress : callable, optional
        Called as ``progress(done, total)`` with numbers of orders.

    Returns
    -------
    mapping of protocol to array of shape (n_orders,)
    """
    parts = np.array_split(np.arange(orders.n), min(orders.n, _CHUNKS))
    hurried = procedure.hurried()
    run = Workers(n_jobs, progress)
    done = run([(_work, (hurried, orders, protocols, part)) for part in parts])
    values = np.concatenate(done, axis=1)
    return dict(zip(protocols, values, strict=True))


def _work(
    procedure: Audited, orders: Orders, protocols: Sequence[str], part: IntArray
) -> FloatArray:
    codes, classes = procedure.table.y, procedure.table.target.classes
    values = np.empty((len(protocols), len(part)))
    for i, b in enumerate(part):
        mixed, splits = orders.draw(int(b), codes, classes)
        for p, protocol in enumerate(protocols):
            run = procedure.inside if protocol == "in" else procedure.outside
            values[p, i] = run(mixed, splits).accuracy
    return values


def summarise(accuracies: FloatArray, observed: float) -> Null:
    """Set an accuracy against those on random labels."""
    as_good = np.count_nonzero(accuracies >= observed - 1e-12)
    low, high = np.quantile(accuracies, (0.025, 0.975), method="linear")
    return Null(
        accuracies=accuracies,
        mean=float(accuracies.mean()),
        low=float(low),
        high=float(high),
        pvalue=float((1 + as_good) / (1 + len(accuracies))),
    )


def overdispersion(accuracies: FloatArray, n_test: int) -> float:
    """φ: how much more an accuracy varies than independent cases would."""
    mean = float(accuracies.mean())
    alone = mean * (1 - mean) / n_test
    return max(1.0, float(accuracies.var(ddof=1)) / alone) if alone > 0 else 1.0


def interval(
    accuracy: float, accuracies: FloatArray, n_test: int, alpha: float
) -> Interval:
    """Interval of an accuracy whose variation is known from random labels."""
    z = float(stdtrit(len(accuracies) - 1, 1 - alpha / 2))
    n = n_test / overdispersion(accuracies, n_test)
    return Interval(accuracy, *wilson_bounds(accuracy, n, z))
