"""Selectors of every kind, asked one question: your best F features on these rows?

Our own selectors answer for many training sets at once through ``rank_many``. Any
other scikit-learn selector is fitted on each training set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from veridical._core.arrays import IntArray
from veridical._core.errors import InputError
from veridical._core.seeds import seeded
from veridical._core.table import Table
from veridical._core.text import did_you_mean, one_line
from veridical.selection import SELECTORS

# What a comparison decides itself, so that it says nothing about a selector.
_NUMBER_OF_FEATURES = ("n_features_to_select", "k", "max_features")


@dataclass(frozen=True)
class Ranker:
    """A selector and the name it goes by."""

    selector: Any
    name: str

    @property
    def ranks_many(self) -> bool:
        """Whether it ranks for many training sets at once."""
        return hasattr(self.selector, "rank_many")

    def on_one_thread(self) -> Ranker:
        """Keep the selector from starting threads, where data sets run side by side.

        For a small data set starting threads costs more than they save.
        """
        parameters: dict[str, Any] = getattr(self.selector, "get_params", dict)()
        if parameters.get("n_jobs", 1) is not None:
            return self
        return Ranker(clone(self.selector).set_params(n_jobs=1), self.name)

    def choose(
        self,
        data: Table,
        n_rows: int,
        columns: IntArray,
        train_sets: Sequence[IntArray],
        n_features: int,
    ) -> IntArray:
        """Choose features on each training set.

        Parameters
        ----------
        data : Table
            The cases.
        n_rows : int
            Only the leading rows may be seen; the others are a test set.
        columns : int array
            A permutation of the columns. The selector sees them in this order, so that
            the place of a column carries no information where ties go by index.
        train_sets : sequence of int arrays
            Rows to choose on.
        n_features : int
            How many features to choose.

        Returns
        -------
        int array of shape (n_train_sets, n_features)
            Column indices of `data`, best first.
        """
        shuffled = data.rows(slice(0, n_rows)).permute(columns)
        if self.ranks_many:
            # How far a search goes may depend on how many features are wanted.
            selector = _ask_for(clone(self.selector, safe=False), n_features)
            if hasattr(selector, "rank_table"):
                orders = selector.rank_table(shuffled, train_sets)
            else:
                orders = selector.rank_many(
                    shuffled.frame(), shuffled.y, list(train_sets)
                )
            chosen = [np.asarray(order)[:n_features] for order in orders]
        else:
            chosen = [
                self._choose_one(shuffled.frame(rows), data.labels[rows], n_features)
                for rows in train_sets
            ]
        for order in chosen:
            if np.unique(order).size != n_features:
                raise InputError(
                    f"{self.name} ranked {np.unique(order).size} feature(s), but "
                    f"{n_features} are asked for; its rank_many must return an order "
                    "of all features."
                )
        return columns[np.array(chosen, dtype=np.intp)]

    def _choose_one(self, X: Any, y: Any, n_features: int) -> IntArray:
        fitted = _ask_for(clone(self.selector), n_features).fit(X, y)
        chosen = np.asarray(fitted.get_support(indices=True), dtype=np.intp)
        merit = _merit(fitted, X.shape[1])
        if merit is not None:
            chosen = chosen[np.argsort(-merit[chosen], kind="stable")]
        if chosen.size < n_features or (chosen.size > n_features and merit is None):
            raise InputError(
                f"{self.name} returned {chosen.size} feature(s), but {n_features} are "
                "asked for; give it a parameter that leaves at least so many, or use a "
                "selector with n_features_to_select or k."
            )
        return chosen[:n_features]


def _ask_for(selector: Any, n_features: int) -> Any:
    """Set whatever parameter a selector has for the number of features."""
    if not hasattr(selector, "get_params"):
        return selector
    parameters = selector.get_params(deep=False)
    for name in _NUMBER_OF_FEATURES[:2]:
        if name in parameters:
            return selector.set_params(**{name: n_features})
    if {"max_features", "threshold"} <= set(parameters):  # SelectFromModel
        return selector.set_params(max_features=n_features, threshold=-np.inf)
    return selector


def _merit(fitted: Any, n_columns: int) -> Any:
    """Larger is better, per column; None if the selector does not say."""
    for name, sign in (("scores_", 1.0), ("ranking_", -1.0)):
        values = getattr(fitted, name, None)
        if values is not None and np.shape(values) == (n_columns,):
            merit = sign * np.asarray(values, dtype=np.float64)
            return np.where(np.isnan(merit), -np.inf, merit)
    return None


# -- from what the user passed to rankers --------------------------------------------


def make_rankers(
    selectors: Sequence[Any] | Mapping[str, Any], seed: int
) -> tuple[Ranker, ...]:
    """Turn two selectors or more into rankers with different names.

    Parameters
    ----------
    selectors : sequence, or mapping of display name to selector
        Selectors, or their names in ``veridical.selection.SELECTORS``.
    seed : int
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
        given = [_selector(one, repr(name)) for name, one in selectors.items()]
    else:
        given = [_selector(one, str(i + 1)) for i, one in enumerate(selectors)]
        shown = _display_names(given)
    twice = [name for name in shown if shown.count(name) > 1]
    if twice:
        raise InputError(
            f"Two selectors are called {twice[0]!r}; give them different names."
        )
    return tuple(
        Ranker(seeded(selector, seed), name)
        for selector, name in zip(given, shown, strict=True)
    )


def make_selector(name: str, **parameters: Any) -> Any:
    """Make a selector by its name.

    Parameters
    ----------
    name : str
        A key of ``veridical.selection.SELECTORS``.
    **parameters : object
        What the selector is made with.

    Examples
    --------
    >>> from veridical.comparison import make_selector
    >>> make_selector("anova", n_features_to_select=3)
    AnovaF(n_features_to_select=3)
    """
    if name not in SELECTORS:
        raise InputError(
            f"There is no selector {name!r}{did_you_mean(name, SELECTORS)} Use one of "
            f"{', '.join(sorted(SELECTORS))}, or pass a scikit-learn selector."
        )
    return SELECTORS[name](**parameters)


def _selector(given: Any, which: str) -> Any:
    if isinstance(given, str):
        return make_selector(given)
    if isinstance(given, type):
        raise InputError(
            f"Selector {which} is the class {given.__name__}; pass an instance, "
            f"{given.__name__}(...)."
        )
    if not hasattr(given, "rank_many") and not (
        hasattr(given, "fit") and hasattr(given, "get_support")
    ):
        raise InputError(
            f"Selector {which} is {given!r}, which does not select features: it needs "
            "rank_many, or fit and get_support as scikit-learn's selectors have."
        )
    return given


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
        if key not in _NUMBER_OF_FEATURES
        and len({repr(each.get(key)) for each in values}) > 1
    )
