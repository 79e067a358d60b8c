"""What can go wrong with an estimate, detected and said in words.

The failures are those of Kohavi (1995): a memoriser under .632, a majority learner
under leave-one-out, classes that a training set lacks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from veridical._records import IntArray
from veridical.datasets.wording import show
from veridical.estimation.bootstrap import Bootstrap632, Plus
from veridical.estimation.fitting import Problem
from veridical.estimation.methods import (
    CrossValidation,
    LeaveOut,
    Method,
    Resubstitution,
)
from veridical.estimation.splits import Split, class_counts


def percent(share: float) -> str:
    """Write a share as people read it.

    >>> percent(0.684), percent(1.0)
    ('68.4 %', '100.0 %')
    """
    return f"{100 * share:.1f} %"


def on_splits(method: Method, problem: Problem, splits: Sequence[Split]) -> list[str]:
    """Look for classes that are too small for the splits."""
    n_classes = len(problem.classes)
    present = class_counts(splits, problem.codes, n_classes) > 0
    lacking = np.count_nonzero(~present, axis=0)
    one_class = np.count_nonzero(present.sum(axis=1) == 1)
    notes = []
    if lacking.any():
        worst = int(lacking.argmax())
        others = np.count_nonzero(lacking) - 1
        more = f" (and {others} more)" if others else ""
        notes.append(
            f"Class {show(problem.classes[worst])}{more} is missing from the training "
            f"set of {lacking[worst]} of {len(splits)} splits, so its cases count as "
            "errors there; use fewer or stratified folds, or merge small classes."
        )
    if one_class:
        notes.append(
            f"{one_class} of {len(splits)} training sets hold one class only; there "
            "the classifier names that class, whatever the learner."
        )
    sizes = np.bincount(problem.codes)
    if isinstance(method, CrossValidation) and method.stratified:
        smallest = int(sizes.argmin())
        if sizes[smallest] < method.n_folds:
            notes.append(
                f"Class {show(problem.classes[smallest])} has {sizes[smallest]} "
                f"case(s), fewer than the {method.n_folds} folds, so some folds lack "
                "it."
            )
    return notes


def on_predictions(
    method: Method,
    problem: Problem,
    splits: Sequence[Split],
    predicted: Sequence[IntArray],
) -> list[str]:
    """Look for learners that ignore the features or memorise the cases."""
    if isinstance(method, Resubstitution):
        right = bool((predicted[0] == problem.codes[splits[0].test]).all())
        memory = " Here it knows them by heart, so 100 % says nothing." * right
        return [
            "Resubstitution tests on the cases that were learned from; it is "
            f"optimistic.{memory}"
        ]
    note = _majority(method, problem, splits, predicted)
    return [note] if note else []


def _majority(
    method: Method, problem: Problem, splits: Sequence[Split], predicted: Any
) -> str:
    """A learner that names the most frequent class of whatever it is given."""
    counts = class_counts(splits, problem.codes, len(problem.classes))
    most = counts.max(axis=1)
    named = set()
    for s, codes in enumerate(predicted):
        if codes[0] < 0 or counts[s, codes[0]] < most[s] or codes.min() != codes.max():
            return ""
        named.add(int(codes[0]))
    sizes = np.sort(np.bincount(problem.codes))[::-1]
    if isinstance(method, LeaveOut) and sizes[0] - sizes[1] <= method.k:
        return (
            "The learner names the most frequent class of its training cases, and "
            "leaving cases of a class out makes another class more frequent. So "
            f"{method.describe()} is wrong about nearly all of them; the learner is "
            f"right about {percent(sizes[0] / sizes.sum())} of new cases. Use "
            "CrossValidation(10), which is stratified."
        )
    if len(named) > 1:
        return (
            "The learner names the most frequent class of its training cases, and "
            "which that is depends on the split: test sets have fewer cases of the "
            "class that training sets have more of, so the estimate is too low. Use "
            "CrossValidation(10), which is stratified."
        )
    name = show(problem.classes[named.pop()])
    return f"Every prediction is {name}, the most frequent class: nothing was learned."


def on_bootstrap(
    method: Bootstrap632,
    *,
    resubstitution: float,
    outside: float,
    n_redrawn: int,
    plus: Plus | None,
) -> list[str]:
    """Look for memorisers, and for errors beyond those of guessing."""
    notes = []
    if plus is None and resubstitution == 1 and outside < 1:
        notes.append(
            "The learner knows its training cases by heart (resubstitution 100 %), so "
            "36.8 % of the .632 estimate is 1 whatever the data: with two classes at "
            f"random it would read 68.4 %. Outside its samples it reached "
            f"{percent(outside)}. Use Bootstrap632(plus=True) or CrossValidation(10)."
        )
    if plus is not None and plus.capped:
        notes.append(
            "Outside its samples the learner does worse than guessing by class shares "
            "would; the error was cut to that of guessing."
        )
    if n_redrawn:
        notes.append(
            f"{n_redrawn} bootstrap sample(s) held every case, which leaves nothing to "
            "test on; they were drawn anew. So few cases bear no estimate."
        )
    return notes
