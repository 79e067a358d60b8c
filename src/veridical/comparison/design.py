"""What is compared on a data set, and its evaluation by the engine.

IN selects on the training samples of each fold, OUT once on all samples, TRUTH also
once on all samples, and is tested on new samples. All use one call of
`veridical.evaluation.engine.evaluate_table`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.defaults import default_n_features
from veridical._core.errors import InputError
from veridical._core.parallel import Runner
from veridical._core.scoring import Score
from veridical._core.seeds import seeded
from veridical._core.splits import Split
from veridical._core.table import Table
from veridical._core.text import listing, one_line
from veridical._core.validation import count_features
from veridical.comparison.splits import Splits
from veridical.evaluation.arguments import (
    label_of,
    read_estimator,
    read_problem,
    read_selector,
)
from veridical.evaluation.engine import (
    NUMBER_OF_FEATURES,
    Evaluation,
    Procedure,
    Protocol,
    evaluate_table,
    own_size,
)
from veridical.evaluation.notes import LACKING
from veridical.learning import DEFAULT_ESTIMATORS


class ComparedMethod(NamedTuple):
    """A selector or an estimator, its display name, and its parameters as text.

    `size` is the number or share of features that the user made a selector with; None
    where there is none, or the selector was given by name.
    """

    what: Any
    name: str
    description: str
    size: Any = None


@dataclass(frozen=True)
class Design:
    """What is compared: selectors, estimators, number of features and methods."""

    selectors: tuple[ComparedMethod, ...]
    estimators: tuple[ComparedMethod, ...]
    n_features: int
    methods: tuple[str, ...]
    scores: tuple[Score, ...] = ()

    @property
    def protocols(self) -> tuple[Protocol, ...]:
        """The protocols to evaluate; TRUTH is either of them on new samples."""
        both: tuple[Protocol, ...] = ("in", "out")
        return tuple(p for p in both if p in self.methods) or ("out",)

    def procedures(self) -> list[Procedure]:
        """List all combinations: protocol, then selector, then estimator."""
        return [
            Procedure(estimator.what, selector.what, (self.n_features,), protocol)
            for protocol in self.protocols
            for selector in self.selectors
            for estimator in self.estimators
        ]


@dataclass(frozen=True, eq=False)
class SetOutcome:
    """Selected features and accuracies on one data set.

    Parameters
    ----------
    chosen : mapping of method to array (n_selectors, n_splits, n_features)
        One split for OUT and TRUTH, which select once.
    accuracy : mapping of method to array (n_selectors, n_estimators, n_splits)
        One split for TRUTH, its independent test set. For numbers and survival times
        the leading score.
    seconds : array of shape (n_selectors,)
        Time that each selector took, all its training sets together.
    values : mapping of score name to (mapping of method to array)
        The scores of the design, of the shape of `accuracy`.
    evaluations : mapping of method to array of Evaluation
        Of shape (n_selectors, n_estimators); empty unless they are kept.
    """

    chosen: dict[str, IntArray]
    accuracy: dict[str, FloatArray]
    seconds: FloatArray
    values: dict[str, dict[str, FloatArray]] = field(default_factory=dict)
    evaluations: dict[str, NDArray[Any]] = field(default_factory=dict)

    @property
    def leading(self) -> dict[str, FloatArray]:
        """Values of the first score; the accuracy where there is no other."""
        return next(iter(self.values.values()), self.accuracy)


def run_data_set(
    design: Design,
    table: Table,
    splits: Splits | None,
    columns: IntArray,
    run: Runner,
    *,
    n_rows: int | None = None,
    keep: bool = False,
) -> SetOutcome:
    """Select and predict on one data set, by every method of the design.

    Parameters
    ----------
    design : Design
        Selectors, estimators and methods.
    table : Table
        The samples; for TRUTH the rows from `n_rows` on are the independent test set.
    splits : Splits or None
        Folds over the leading rows; None for TRUTH alone.
    columns : int array
        Order in which selectors see the features.
    run : callable
        Runs a series of jobs, see `serial` and `Workers`.
    n_rows : int, optional
        Number of leading rows to learn from; all by default.
    keep : bool, default=False
        Whether to keep the predictions.
    """
    everything = np.arange(table.n_samples if n_rows is None else n_rows)
    folds = [] if splits is None else list(splits.splits)
    if "truth" in design.methods:
        # With explicit training rows: the new samples must not be learned from.
        n = table.n_samples
        folds = [Split(split.test, n, split.train) for split in folds]
        folds.append(Split(np.arange(len(everything), n), n, everything))
    found = evaluate_table(
        design.procedures(),
        table,
        folds,
        run=run,
        columns=columns,
        everything=everything,
        scores=[one for one in design.scores if not one.is_accuracy],
    )
    shape = (len(design.protocols), len(design.selectors), len(design.estimators))
    found_by: Any = np.empty(shape, dtype=object)
    for place, one in zip(np.ndindex(shape), found, strict=True):
        found_by[place] = one
    values = {
        one.name: {m: _score_table(design, found_by, m, one) for m in design.methods}
        for one in design.scores
    }
    if table.kind == "classes":
        accuracy = {m: _accuracy(design, found_by, m) for m in design.methods}
    else:
        accuracy = values[design.scores[0].name]
    return SetOutcome(
        chosen={m: _selected_features(design, found_by, m) for m in design.methods},
        accuracy=accuracy,
        seconds=np.array([one.seconds for one in found_by[0, :, 0]]),
        values=values,
        evaluations={m: found_by[_place(design, m)] for m in design.methods if keep},
    )


def _place(design: Design, method: str) -> int:
    """Return the index of the protocol that a method is taken from."""
    protocols: tuple[str, ...] = design.protocols
    return -1 if method == "truth" else protocols.index(method)


def _selected_features(design: Design, found_by: Any, method: str) -> IntArray:
    place = _place(design, method)
    with_truth = "truth" in design.methods
    orders = [_orders(one, method, with_truth) for one in found_by[place, :, 0]]
    lengths = {len(order) for some in orders for order in some}
    if len(lengths) > 1:
        raise InputError(
            f"The selectors return {min(lengths)} to {max(lengths)} features, because "
            "of keep or feature_groups, but are compared with the same number; give "
            "all selectors the same features to keep, and groups of one size."
        )
    return np.array(orders, dtype=np.intp)


def _orders(found: Evaluation, method: str, with_truth: bool) -> list[IntArray]:
    orders = [ranked.order for ranked in found.rankings if ranked is not None]
    if method == "truth":
        return orders[-1:]
    if method == "out":
        return orders[:1]
    return orders[:-1] if with_truth else orders


def _accuracy(design: Design, found_by: Any, method: str) -> FloatArray:
    place = _place(design, method)
    values = np.array(
        [[one.accuracies()[0] for one in row] for row in found_by[place]], dtype=float
    )
    return _without_truth(values, design, method)


def _score_table(
    design: Design, found_by: Any, method: str, score: Score
) -> FloatArray:
    """Return a score per selector, estimator and split; raise where it is undefined."""
    place = _place(design, method)
    values = np.array(
        [[one.scored(score).splits[0] for one in row] for row in found_by[place]],
        dtype=float,
    )
    n_lost = int(np.isnan(values).any(axis=(0, 1)).sum())
    if n_lost:
        raise InputError(
            f"The {score.label} is not defined on {n_lost} of {values.shape[2]} test "
            f"sets, which {LACKING[score.kind or 'classes']}, so the splits cannot be "
            "compared; use fewer, stratified folds, or another scoring."
        )
    return _without_truth(values, design, method)


def _without_truth(values: FloatArray, design: Design, method: str) -> FloatArray:
    if method == "truth":
        return values[:, :, -1:]
    return values[:, :, :-1] if "truth" in design.methods else values


# -- from what the user passed -------------------------------------------------------


def read_selectors(
    selectors: Sequence[Any] | Mapping[str, Any], root: int
) -> tuple[ComparedMethod, ...]:
    """Read two selectors or more, with different names.

    Parameters
    ----------
    selectors : sequence, or mapping of display name to selector
        Selectors, or their names in ``veridical.selection.SELECTORS``.
    root : int
        Seed of selectors that have none of their own. All get the same, so that a
        selector compared with itself always ends in a draw.
    """
    if isinstance(selectors, str) or not isinstance(selectors, (Sequence, Mapping)):
        raise InputError(
            f"selectors must be a list of selectors or a mapping of names to them, got "
            f"{selectors!r}."
        )
    if len(selectors) < 2:
        raise InputError(
            f"There are {len(selectors)} selector(s), but a comparison needs two or "
            "more."
        )
    passed = selectors.values() if isinstance(selectors, Mapping) else selectors
    if isinstance(selectors, Mapping):
        shown = [str(name) for name in selectors]
        given = [
            read_selector(one, f"selector {name!r}") for name, one in selectors.items()
        ]
    else:
        given = [
            read_selector(one, f"selector {i}") for i, one in enumerate(selectors, 1)
        ]
        shown = _display_names(given)
    twice = [name for name in shown if shown.count(name) > 1]
    if twice:
        raise InputError(
            f"Two selectors are called {twice[0]!r}; give them different names."
        )
    sizes = [None if isinstance(one, str) else own_size(one) for one in passed]
    return tuple(
        ComparedMethod(seeded(selector, root), name, one_line(selector), size)
        for selector, name, size in zip(given, shown, sizes, strict=True)
    )


def read_n_features(
    wanted: Any, selectors: Sequence[ComparedMethod], n_features: int
) -> int:
    """Return the number of features that every selector must select.

    Parameters
    ----------
    wanted : int, float or "auto"
        As the user gave it; a number or share replaces the selectors' own. "auto" is
        the number that the selectors were made with; where none has one it is 10, but
        at most half of the features.
    selectors : sequence of ComparedMethod
        From `read_selectors`.
    n_features : int
        Number of features of the data.

    Raises
    ------
    InputError
        If it is not possible, or "auto" and the selectors have different numbers.
    """
    if wanted is None:
        raise InputError(
            "n_features_to_select=None lets every selector keep its own number of "
            "features, but all are compared with the same number; pass a number, or "
            "1.0 for all features."
        )
    if not isinstance(wanted, str):
        return count_features(wanted, n_features, strict=True)
    if wanted != "auto":
        raise InputError(
            f"n_features_to_select={wanted!r} is neither a number nor a share; pass "
            "one, or 'auto' for that of the selectors."
        )
    own = {
        one.name: count_features(one.size, n_features, strict=True)
        for one in selectors
        if one.size is not None
    }
    if len(set(own.values())) > 1:
        made = listing(f"{name} with {number}" for name, number in own.items())
        raise InputError(
            f"The selectors were made with different numbers of features ({made}), but "
            "all are compared with the same number; pass n_features_to_select, which "
            "then replaces theirs."
        )
    return next(iter(own.values()), default_n_features(n_features))


def read_estimators(given: Any, root: int) -> tuple[ComparedMethod, ...]:
    """Read ``estimator=`` as estimators with different names.

    Parameters
    ----------
    given : str, estimator or list of them
        Names as in ``veridical.learning.ESTIMATORS``.
    root : int
        Seed of estimators that have none of their own.
    """
    several = list(given) if isinstance(given, (list, tuple)) else [given]
    if not several:
        raise InputError(
            "estimator is an empty list; pass at least one, such as 'svm'."
        )
    shown = [label_of(item) for item in several]
    read = []
    for i, item in enumerate(several):
        estimator = seeded(read_estimator(item), root)
        name = shown[i]
        if shown.count(name) > 1:
            name = f"{name} ({shown[: i + 1].count(name)})"
        read.append(ComparedMethod(estimator, name, one_line(estimator)))
    return tuple(read)


def read_learners(
    given: Any, X: Any, y: Any, root: int, **options: Any
) -> tuple[tuple[ComparedMethod, ...], Table]:
    """Read ``estimator=`` and the data, whose kind of target the estimators decide.

    Parameters
    ----------
    given : str, estimator, list of them or None
        None is the default of the target.
    X, y, **options
        The data, as in ``read_problem``.
    root : int
        Seed of estimators that have none of their own.
    """
    if given is None:
        data = read_problem([], X, y, **options)
        return read_estimators(DEFAULT_ESTIMATORS[data.kind], root), data
    estimators = read_estimators(given, root)
    return estimators, read_problem([one.what for one in estimators], X, y, **options)


def _display_names(selectors: Sequence[Any]) -> list[str]:
    """Return the class names of selectors.

    Where a class occurs more than once, the parameters in which its selectors differ
    are added, or else numbers.
    """
    kinds = [type(selector).__name__ for selector in selectors]
    shown = []
    for i, (selector, kind) in enumerate(zip(selectors, kinds, strict=True)):
        alike = [
            one for one, other in zip(selectors, kinds, strict=True) if other == kind
        ]
        if len(alike) == 1:
            shown.append(kind)
            continue
        told = [_different_parameters(one, alike) for one in alike]
        if len(set(told)) == len(told):
            shown.append(f"{kind}({_different_parameters(selector, alike)})")
        else:
            shown.append(f"{kind} ({kinds[: i + 1].count(kind)})")
    return shown


def _different_parameters(selector: Any, alike: Sequence[Any]) -> str:
    """Write the parameters of a selector in which others of its class differ."""
    if not all(hasattr(one, "get_params") for one in alike):
        return ""
    values = [one.get_params(deep=False) for one in alike]
    own = selector.get_params(deep=False)
    return ", ".join(
        f"{key}={one_line(value)}"
        for key, value in own.items()
        if key not in NUMBER_OF_FEATURES
        and len({repr(each.get(key)) for each in values}) > 1
    )
