"""What can go wrong with an estimate: checks, and the notes that they write.

The failures are those of Kohavi (1995): an estimator that memorises under .632, one
that predicts the majority class under leave-one-out, classes that a training set lacks.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from veridical._core.advice import advise
from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.numbers import count, percent
from veridical._core.scoring import SCORES, Score, ScoreInfo
from veridical._core.splits import (
    CrossValidation,
    LeaveOut,
    Method,
    Resubstitution,
    Split,
    class_counts,
)
from veridical._core.table import Table
from veridical._core.targets import Numbers
from veridical._core.text import listing, quote
from veridical.evaluation.bootstrap import Bootstrap632, Plus
from veridical.evaluation.intervals import say_equal, vary

#: Resubstitution error over outside error; up to this an estimator has memorised.
_MEMORISED = 0.1
#: Difference of two error rates that rounding alone can cause.
_SAME_RATE = 1e-12
#: What a test set lacks where a score is not defined.
LACKING: dict[Any, str] = {
    "classes": "lack a class that it needs",
    "numbers": "hold one sample, or one number only",
    "survival": "hold no two samples that are known to differ in their time",
}
#: Samples of a test set; the mean of R² over smaller ones is lower than it should be.
_SMALL_TEST_SET = 20


def on_splits(
    method: Method, table: Table, splits: Sequence[Split], is_accuracy: bool
) -> list[str]:
    """Note test samples in training sets, and classes too small for the splits."""
    notes = []
    shared = sum(split.overlaps for split in splits)
    if shared and not isinstance(method, Resubstitution):
        what = "accuracy" if is_accuracy else "score"
        notes.append(
            f"Some test samples are also training samples in {shared} of "
            f"{len(splits)} splits, so the {what} is optimistic; use splits whose "
            "training and test sets have no sample in common."
        )
    if table.kind != "classes":
        return notes + _on_outcomes(method, table, splits)
    present = class_counts(splits, table.y, table.n_classes) > 0
    lacking = np.count_nonzero(~present, axis=0)
    one_class = np.count_nonzero(present.sum(axis=1) == 1)
    if lacking.any():
        worst = int(lacking.argmax())
        others = np.count_nonzero(lacking) - 1
        more = f" (and {others} more)" if others else ""
        so = "its samples count as errors there"
        if not is_accuracy:
            so = "it is never predicted there, and has probability 0"
        notes.append(
            f"Class {quote(table.classes[worst])}{more} is missing from the "
            f"training set of {lacking[worst]} of {len(splits)} splits, so {so}; use "
            "fewer or stratified folds, or merge small classes."
        )
    if one_class:
        notes.append(
            f"{one_class} of {len(splits)} training sets hold one class only; there "
            "every estimator predicts that class."
        )
    sizes = count_units_of_classes(table)
    noun = "sample" if table.groups is None else "group"
    if isinstance(method, CrossValidation) and method.stratified:
        smallest = int(sizes.argmin())
        if sizes[smallest] < method.n_folds:
            few = sizes[smallest]
            cure = f"use at most {few} folds, " if few > 1 else ""
            notes.append(
                f"Class {quote(table.classes[smallest])} has {count(few, noun)}, "
                f"fewer than the {method.n_folds} folds, so some folds lack "
                f"it; {cure}merge the class with another, or drop it."
            )
    return notes


def count_units_of_classes(table: Table) -> IntArray:
    """Count the samples of each class or, where there are groups, its groups."""
    if table.groups is None:
        return np.bincount(table.y)
    pairs = np.unique(np.column_stack([table.y, table.groups]), axis=0)
    return np.bincount(pairs[:, 0])


def _on_outcomes(method: Method, table: Table, splits: Sequence[Split]) -> list[str]:
    """Note numbers that do not vary in a training set, and events that are too few."""
    notes = []
    constant = sum(table.target.is_constant(split.train) for split in splits)
    if constant:
        what = "one number" if table.kind == "numbers" else "no event to learn from"
        notes.append(
            f"{constant} of {len(splits)} training sets hold {what}; there the same is "
            "predicted for all samples. Use fewer folds."
        )
    if table.kind == "survival" and isinstance(method, CrossValidation):
        n_events = int(table.as_survival.event.sum())
        if n_events < method.n_folds:
            cure = f"use at most {n_events} folds, or " if n_events > 1 else ""
            notes.append(
                f"There are {n_events} event(s), fewer than the {method.n_folds} "
                f"folds, so some folds hold censored samples alone; {cure}observe more "
                "events."
            )
    return notes


def on_two_numbers(table: Table) -> list[str]:
    """Say that a target which may be classes is predicted as numbers."""
    if not isinstance(table.target, Numbers):
        return []
    values = np.unique(table.target.values)
    if len(values) > 2:
        return []
    shown = " and ".join(f"{value:g}" for value in values)
    return [
        f"The target has only the values {shown}, and is predicted as numbers, because "
        "the estimators are regressors. If these are classes, use classifiers, such as "
        "'svm', 'nb' or 'logistic'."
    ]


def warn_of_splits(
    method: Method,
    table: Table,
    splits: Sequence[Split],
    *,
    is_accuracy: bool = True,
    where: str = "",
    stacklevel: int = 2,
) -> list[str]:
    """Warn of splits that make an accuracy doubtful; every verb does.

    Parameters
    ----------
    method : Method
        What made the splits.
    table : Table
        The samples.
    splits : sequence of Split
        All splits.
    is_accuracy : bool, default=True
        Whether the score is the accuracy.
    where : str, default=""
        What to put before each warning.
    stacklevel : int, default=2
        Stack level of the warnings, counted from the caller.

    Returns
    -------
    list of str
        The texts of the warnings.
    """
    remarks = on_splits(method, table, splits, is_accuracy)
    for remark in remarks:
        warnings.warn(where + remark, UserWarning, stacklevel=stacklevel + 1)
    return remarks


def refuse_training_of_one_class(table: Table, splits: Sequence[Split]) -> None:
    """Raise if a training set holds one class only: nothing can be selected there.

    For other targets, raise if the numbers of a training set are all the same, or no
    event is known to have come before the end of another observation.
    """
    if table.kind != "classes":
        for s, split in enumerate(splits, 1):
            if table.target.is_constant(split.train):
                what, cure = "one number only", ""
                if table.kind == "survival":
                    what = "no event before the end of another observation"
                    cure = ", or observe more events"
                raise InputError(
                    f"The training set of split {s} of {len(splits)} holds {what}: "
                    f"nothing can be selected there; use fewer folds{cure}."
                )
        return
    present = class_counts(splits, table.y, table.n_classes) > 0
    alone = present.sum(axis=1) < 2
    if not alone.any():
        return
    there = np.bincount(table.y, minlength=table.n_classes) > 0
    (missing,) = np.nonzero(there & ~present[int(alone.argmax())])
    shown = [quote(table.classes[k]) for k in missing[:3]]
    more = [f"{len(missing) - 3} more"] if len(missing) > 3 else []
    subject = f"Class {shown[0]} is"
    if len(missing) > 1:
        subject = f"Classes {listing([*shown, *more])} are"
    raise InputError(
        f"{subject} missing from the training set of split "
        f"{int(alone.argmax()) + 1} of {len(splits)}, which is left with one class: "
        "nothing can be selected there; use fewer or stratified folds, merge small "
        "classes, or drop them."
    )


def on_method(method: Method) -> list[str]:
    """Note that a verb uses only the splits of a method."""
    if not isinstance(method, Bootstrap632):
        return []
    return [
        "The accuracy is that on the samples outside the bootstrap samples; estimate() "
        "weighs it with resubstitution, as .632 and .632+ do."
    ]


def on_undefined(
    scores: FloatArray, scoring: ScoreInfo, *, pooled: bool = False
) -> list[str]:
    """Note on how many splits the score is not defined, and what was done about it.

    Parameters
    ----------
    scores : array of shape (n_splits,)
        NaN where the score is not defined.
    scoring : ScoreInfo
        The score.
    pooled : bool, default=False
        Whether it is a mean over samples, which is pooled in any case.
    """
    n = int(np.count_nonzero(np.isnan(scores)))
    if not n or pooled:
        return []
    known = SCORES.get(scoring.name)
    lacking = LACKING[known.kind if known else "classes"]
    start = f"The score is not defined on {n} of {len(scores)} test sets, which "
    if scoring.averaging == "pooled":
        return [
            f"{start}{lacking}; it was computed from the test samples of all "
            "splits together, whose predictions come from different models. Where a "
            "score compares samples with each other, as the area under the ROC curve "
            "does, this can be far from its value for a single model, usually below. "
            "Use fewer, stratified folds."
        ]
    return [
        f"{start}{lacking}; they are left out of the estimate. Use fewer or stratified "
        f"folds{', or merge small classes' * (lacking == LACKING['classes'])}."
    ]


def on_equal_scores(
    method: Method, scores: FloatArray, scoring: ScoreInfo
) -> list[str]:
    """Note why there is no interval where all splits have the same score."""
    known = scores[~np.isnan(scores)]
    if len(known) < 2 or vary(known) or isinstance(method, Resubstitution):
        return []
    if scoring.positive is not None and scoring.percent:
        return []  # a share of samples, which has an exact interval
    score = SCORES.get(scoring.name)
    is_for_classes = score is None or score.kind in (None, "classes")
    cure = "use more samples, or fewer folds"
    if is_for_classes:
        cure = "use accuracy, whose interval needs no spread"
    return [
        f"{say_equal(known).capitalize()}: scores that do not vary say nothing about "
        "their own error, so there is no interval. That does not mean that the "
        f"estimate is exact; {cure}."
    ]


def on_medians_and_extremes(splits: Sequence[Split], score: Score) -> list[str]:
    """Note why such a score has no interval on one test set."""
    if len(splits) > 1 or splits[0].overlaps or score.smooth:
        return []
    return [
        f"The {score.label} has no interval on one test set: a median or an extreme "
        "depends on one or two of the samples, and leaving one out at a time says "
        "nothing about its error. The mean absolute error has one."
    ]


def on_small_test_sets(splits: Sequence[Split], scoring: ScoreInfo) -> list[str]:
    """Note that R² over small test sets is lower than over one large test set.

    With 10 folds of 8 samples it was 0.10 where the model of all samples reached 0.35,
    with 10 folds of 16 samples 0.32 and 0.42, of 40 samples 0.41 and 0.44
    (``benchmarks/truth/outcomes.csv``).
    """
    mean_size = float(np.mean([len(split.test) for split in splits]))
    if scoring.name != "r2" or mean_size >= _SMALL_TEST_SET or len(splits) < 2:
        return []
    if scoring.averaging == "pooled":
        return []
    return [
        f"The R² is the mean over test sets of {mean_size:.0f} samples on average. In "
        "test sets this small it is lower than in a large one, because the spread of "
        "few numbers is small by chance in some of them; use fewer folds, or the mean "
        "absolute error beside it."
    ]


class PredictionNotes(NamedTuple):
    """Notes on predictions.

    ``doubts`` are about the estimate, ``others`` about the quality of the estimator.
    """

    doubts: list[str]
    others: list[str]


def on_predictions(
    method: Method,
    table: Table,
    splits: Sequence[Split],
    predicted: Sequence[IntArray],
) -> PredictionNotes:
    """Note estimators that ignore the features or memorise the training samples."""
    if isinstance(method, Resubstitution):
        right = bool((predicted[0] == table.y[splits[0].test]).all())
        memory = " Here it has memorised them, so 100 % says nothing." * right
        said = "Resubstitution tests on the training samples; it is optimistic."
        return PredictionNotes([f"{said}{memory}"], [])
    return _on_majority(method, table, splits, predicted)


def _on_majority(
    method: Method, table: Table, splits: Sequence[Split], predicted: Any
) -> PredictionNotes:
    """Note an estimator that always predicts the majority class of its training set."""
    counts = class_counts(splits, table.y, table.n_classes)
    most = counts.max(axis=1)
    named = set()
    for s, codes in enumerate(predicted):
        if codes[0] < 0 or counts[s, codes[0]] < most[s] or codes.min() != codes.max():
            return PredictionNotes([], [])
        named.add(int(codes[0]))
    sizes = np.sort(np.bincount(table.y))[::-1]
    ten = f"{advise('CrossValidation(10)', '10')}, which is stratified"
    if isinstance(method, LeaveOut) and sizes[0] - sizes[1] <= method.k:
        doubt = (
            "The estimator predicts the most frequent class of its training samples, "
            "and leaving samples of a class out makes another class more frequent. So "
            f"{method.describe()} is wrong about nearly all of them; the estimator is "
            f"right about {percent(sizes[0] / sizes.sum())} of new samples. Use {ten}."
        )
        return PredictionNotes([doubt], [])
    if len(named) > 1:
        doubt = (
            "The estimator predicts the most frequent class of its training samples, "
            "and which that is depends on the split: test sets have fewer samples of "
            "the class that training sets have more of, so the estimate is too low. "
            f"Use {ten}."
        )
        return PredictionNotes([doubt], [])
    tested = table.y[np.concatenate([split.test for split in splits])]
    if tested.min() == tested.max():  # one class alone says nothing about the estimator
        return PredictionNotes([], [])
    name = quote(table.classes[named.pop()])
    said = f"Every prediction is {name}, the most frequent class: nothing was learned."
    return PredictionNotes([], [said])


def on_bootstrap(
    *,
    resubstitution: float,
    outside: float,
    n_redrawn: int,
    plus: Plus | None,
    is_plus: bool,
) -> list[str]:
    """Note estimators that memorise, and errors larger than those of guessing.

    Parameters
    ----------
    resubstitution, outside : float
        Accuracies on the training samples and outside the bootstrap samples.
    n_redrawn : int
        Number of bootstrap samples that held every sample.
    plus : Plus or None
        The parts of .632+, None for other scores than accuracy.
    is_plus : bool
        Whether the estimate is .632+ rather than .632.
    """
    notes = []
    if plus is not None and not is_plus and memorised(resubstitution, outside):
        nearly = "nearly " if resubstitution < 1 else ""
        instead = advise(
            "Bootstrap632(plus=True) or CrossValidation(10)", "boot632+", "10"
        )
        notes.append(
            f"The estimator has {nearly}memorised its training samples (resubstitution "
            f"{percent(resubstitution)}), so that 36.8 % of the .632 estimate hardly "
            "depends on the data: with two random classes, memorising gives 68.4 %. "
            f"Outside its bootstrap samples it reached {percent(outside)}, and .632+ "
            f"of the same samples is {percent(1 - plus.error)}. Use {instead}."
        )
    if plus is not None and is_plus and plus.capped:
        notes.append(
            "Outside its bootstrap samples it does worse than guessing by class "
            "shares; the error was replaced by that of guessing. If it were replaced "
            "only in the difference between .632+ and .632, the estimate would be "
            f"{percent(1 - plus.cut_in_part)}."
        )
    if n_redrawn:
        notes.append(
            f"{count(n_redrawn, 'bootstrap sample')} held every sample, which leaves "
            "nothing to test on, and had to be drawn again. There are too few samples "
            "for an estimate."
        )
    return notes


def memorised(resubstitution: float, outside: float) -> bool:
    """Return whether an estimator makes few errors on its training samples.

    That is, at most a tenth as often as on other samples, on which it makes some.

    Examples
    --------
    >>> memorised(1.0, 0.5), memorised(0.97, 0.7), memorised(0.96, 0.7)
    (True, True, False)
    """
    return outside < 1 and 1 - resubstitution <= _MEMORISED * (1 - outside) + _SAME_RATE
