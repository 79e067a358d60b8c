"""What is compared on a data set, and how the evaluation engine is asked for it.

IN chooses anew on the training samples of each fold, OUT once on all samples before the
folds are looked at, TRUTH also once on all samples, to be tested on samples drawn
apart. All go through one call of `veridical.evaluation.engine.evaluate`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.parallel import Runner
from veridical._core.seeds import seeded
from veridical._core.splits import Split
from veridical._core.table import Table
from veridical._core.text import one_line
from veridical.comparison.splits import Splits
from veridical.evaluation.engine import (
    NUMBER_OF_FEATURES,
    Evaluation,
    Procedure,
    Protocol,
    evaluate,
)
from veridical.evaluation.reading import name_of, read_estimator, read_selector


class Named(NamedTuple):
    """A selector or an estimator, the name it goes by, and how it is made."""

    what: Any
    name: str
    description: str


@dataclass(frozen=True)
class Design:
    """What is done to a data set, whatever the data."""

    selectors: tuple[Named, ...]
    estimators: tuple[Named, ...]
    n_features: int
    methods: tuple[str, ...]

    @property
    def protocols(self) -> tuple[Protocol, ...]:
        """The protocols to evaluate; TRUTH is either of them on fresh samples."""
        both: tuple[Protocol, ...] = ("in", "out")
        return tuple(p for p in both if p in self.methods) or ("out",)

    def procedures(self) -> list[Procedure]:
        """All combinations: protocol, then selector, then estimator."""
        return [
            Procedure(estimator.what, selector.what, (self.n_features,), protocol)
            for protocol in self.protocols
            for selector in self.selectors
            for estimator in self.estimators
        ]


@dataclass(frozen=True, eq=False)
class Outcome:
    """Features chosen and accuracies reached on one data set.

    Parameters
    ----------
    chosen : mapping of method to array (n_selectors, n_splits, n_features)
        One split for OUT and TRUTH, which choose once.
    accuracy : mapping of method to array (n_selectors, n_estimators, n_splits)
        One split for TRUTH, its independent test set.
    seconds : array of shape (n_selectors,)
        How long each selector took to choose, all its training sets together.
    """

    chosen: dict[str, IntArray]
    accuracy: dict[str, FloatArray]
    seconds: FloatArray


def run_data_set(
    design: Design,
    table: Table,
    splits: Splits | None,
    columns: IntArray,
    run: Runner,
    *,
    n_rows: int | None = None,
) -> Outcome:
    """Choose and predict on one data set, by every method of the design.

    Parameters
    ----------
    design : Design
        Selectors, estimators and methods.
    table : Table
        The samples; for TRUTH the rows from `n_rows` on are the independent test set.
    splits : Splits or None
        Folds over the leading rows; None if TRUTH alone is asked for.
    columns : int array
        Order in which selectors see the features.
    run : callable
        Does a series of jobs, see `serial` and `Workers`.
    n_rows : int, optional
        How many leading rows may be learned from; all by default.
    """
    everything = np.arange(table.n_samples if n_rows is None else n_rows)
    folds = [] if splits is None else list(splits.splits)
    if "truth" in design.methods:
        # Said in full: to leave the test samples out would be to learn from the fresh.
        n = table.n_samples
        folds = [Split(split.test, n, split.train) for split in folds]
        folds.append(Split(np.arange(len(everything), n), n, everything))
    found = evaluate(
        design.procedures(),
        table,
        folds,
        run=run,
        columns=columns,
        everything=everything,
    )
    shape = (len(design.protocols), len(design.selectors), len(design.estimators))
    cells: Any = np.empty(shape, dtype=object)
    for place, one in zip(np.ndindex(shape), found, strict=True):
        cells[place] = one
    return Outcome(
        chosen={m: _chosen(design, cells, m) for m in design.methods},
        accuracy={m: _accuracy(design, cells, m) for m in design.methods},
        seconds=np.array([one.seconds for one in cells[0, :, 0]]),
    )


def _place(design: Design, method: str) -> int:
    """Return the place of the protocol that a method is read off."""
    protocols: tuple[str, ...] = design.protocols
    return -1 if method == "truth" else protocols.index(method)


def _chosen(design: Design, cells: Any, method: str) -> IntArray:
    place = _place(design, method)
    with_truth = "truth" in design.methods
    return np.array(
        [_orders(one, method, with_truth) for one in cells[place, :, 0]], dtype=np.intp
    )


def _orders(found: Evaluation, method: str, with_truth: bool) -> list[IntArray]:
    orders = [ranked.order for ranked in found.rankings if ranked is not None]
    if method == "truth":
        return orders[-1:]
    if method == "out":
        return orders[:1]
    return orders[:-1] if with_truth else orders


def _accuracy(design: Design, cells: Any, method: str) -> FloatArray:
    place = _place(design, method)
    values = np.array(
        [[one.accuracies()[0] for one in row] for row in cells[place]], dtype=float
    )
    if method == "truth":
        return values[:, :, -1:]
    return values[:, :, :-1] if "truth" in design.methods else values


# -- from what the user passed -------------------------------------------------------


def read_selectors(
    selectors: Sequence[Any] | Mapping[str, Any], root: int
) -> tuple[Named, ...]:
    """Read two selectors or more, with different names.

    Parameters
    ----------
    selectors : sequence, or mapping of display name to selector
        Selectors, or their names in ``veridical.selection.SELECTORS``.
    root : int
        For selectors that use chance and have no seed of their own. All get the same,
        so that a selector compared with itself always draws.
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
    return tuple(
        Named(seeded(selector, root), name, one_line(selector))
        for selector, name in zip(given, shown, strict=True)
    )


def read_estimators(given: Any, root: int) -> tuple[Named, ...]:
    """Turn ``estimator=`` into estimators with different names.

    Parameters
    ----------
    given : str, classifier or list of them
        Names as in ``veridical.learning.ESTIMATORS``.
    root : int
        For classifiers that use chance and have no seed of their own.
    """
    several = list(given) if isinstance(given, (list, tuple)) else [given]
    if not several:
        raise InputError("estimator is an empty list; name at least one, 'svm' say.")
    names = [name_of(item) for item in several]
    read = []
    for i, item in enumerate(several):
        estimator = seeded(read_estimator(item), root)
        name = names[i]
        if names.count(name) > 1:
            name = f"{name} ({names[: i + 1].count(name)})"
        described = item if isinstance(item, str) else one_line(estimator)
        read.append(Named(estimator, name, described))
    return tuple(read)


def _display_names(selectors: Sequence[Any]) -> list[str]:
    """Call selectors by their class.

    Where a class comes more than once, the parameters in which its selectors differ are
    added, or else numbers.
    """
    kinds = [type(selector).__name__ for selector in selectors]
    names = []
    for i, (selector, kind) in enumerate(zip(selectors, kinds, strict=True)):
        alike = [
            one for one, other in zip(selectors, kinds, strict=True) if other == kind
        ]
        if len(alike) == 1:
            names.append(kind)
            continue
        told = [_different_parameters(one, alike) for one in alike]
        if len(set(told)) == len(told):
            names.append(f"{kind}({_different_parameters(selector, alike)})")
        else:
            names.append(f"{kind} ({kinds[: i + 1].count(kind)})")
    return names


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
