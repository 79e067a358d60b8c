"""Input of selectors: what they accept, and training sets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from scipy import sparse

from veridical._core.advice import for_users
from veridical._core.arrays import IntArray
from veridical._core.encoding import Features, encode
from veridical._core.errors import InputError
from veridical._core.reading import (
    names_categorical,
    number_classes,
    read_labels,
    read_samples,
    refuse_one_class,
)
from veridical._core.splits import read_rows
from veridical._core.table import Classes, Table


@dataclass(frozen=True)
class Abilities:
    """Kinds of data that a selector accepts; errors name the missing one."""

    categorical: bool = False
    missing: bool = False
    sparse: bool = False

    def adapt(self, features: Features) -> Features:
        """Convert booleans to 1 and 0 where categorical features are not accepted.

        ``pandas.get_dummies`` returns booleans.
        """
        if self.categorical or not features.categorical.any():
            return features
        booleans = [
            j
            for j in np.flatnonzero(features.categorical)
            if all(isinstance(v, bool) for v in _values(features, j))
        ]
        if not booleans:
            return features
        values = features.values.copy()
        categorical, categories = features.categorical.copy(), list(features.categories)
        for j in booleans:
            numbers = np.append(np.asarray(categories[j], dtype=np.float64), np.nan)
            missing = np.isnan(values[:, j])
            values[:, j] = numbers[np.where(missing, -1, values[:, j]).astype(np.intp)]
            categorical[j], categories[j] = False, None
        return replace(
            features,
            values=values,
            categorical=categorical,
            categories=tuple(categories),
        )

    def check(self, data: Table, name: str) -> None:
        """Raise if the data need an ability that the selector lacks."""
        needs = {
            "categorical": data.categorical.any(),
            "missing": not self.missing and data.has_missing,
            "sparse": data.is_sparse,
        }
        advice = {
            "categorical": "categorical features; "
            f"{for_users('encode them as numbers', 'add --encode onehot')}, or use a "
            "selector that reads them",
            "missing": "missing values (X contains NaN); "
            f"{for_users('impute them', 'add --impute median')}, or use a "
            "selector that reads them",
            "sparse": "sparse data; use X.toarray(), or a selector that reads it",
        }
        for ability in fields(self):
            if needs[ability.name] and not getattr(self, ability.name):
                words = advice[ability.name]
                j = _first_feature(data, ability.name)
                if j is not None:
                    place = j if data.names is None else repr(data.names[j])
                    words = words.replace(";", f", such as column {place};", 1)
                able = ", ".join(_selectors_with(ability.name))
                raise InputError(f"{name} cannot use {words} ({able}).")


def _selectors_with(ability: str) -> list[str]:
    """Return the classes of the registered selectors that have an ability, by name."""
    from veridical.selection import SELECTORS  # it imports this module

    return sorted(
        for_users(cls.__name__, name)
        for name, cls in SELECTORS.items()
        if getattr(cls._abilities, ability)
    )


def read(
    estimator: Any, X: Any, y: Any, abilities: Abilities, chosen: Any = "from_dtype"
) -> Table:
    """Check the arguments of ``fit`` and convert them to a table.

    Parameters
    ----------
    estimator : estimator
        It stores the names of the features.
    X, y : array-like or data frame
        As the user gave them.
    abilities : Abilities
        What the estimator accepts.
    chosen : object
        The parameter ``categorical_features``.
    """
    named = names_categorical(chosen)
    X = read_samples(
        estimator, X, reset=True, categorical=named, accept_sparse=True, min_samples=2
    )
    features = abilities.adapt(encode(X, chosen))
    labels = read_labels(estimator, y, features.values.shape[0])
    classes, codes = number_classes(labels)
    refuse_one_class(classes, type(estimator).__name__)
    table = Table(features, Classes(labels, classes, codes))
    abilities.check(table, type(estimator).__name__)
    return table


def _values(features: Features, j: Any) -> list[Any]:
    categories = features.categories[j]
    return [] if categories is None else categories.tolist()


def _first_feature(data: Table, ability: str) -> int | None:
    """Return the first feature that needs an ability, where there is one."""
    if ability == "categorical":
        return int(np.argmax(data.categorical))
    if ability == "missing" and not sparse.issparse(data.values):
        return int(np.argmax(np.isnan(data.values).any(axis=0)))
    return None


# -- training sets -------------------------------------------------------------------


#: Hint for users who pass the pairs of a splitter.
_PAIRS_HINT = (
    " Of a splitter's pairs give the first parts: "
    "[train for train, _ in cv.split(X, y)]."
)


def read_train_sets(train_sets: Iterable[Any], y: IntArray) -> list[IntArray]:
    """Convert masks to indices and check that each set has two classes."""
    indices = []
    for s, given in enumerate(train_sets):
        rows = read_rows(given, len(y), f"Training set {s}", hint=_PAIRS_HINT)
        if np.all(y[rows] == y[rows[0]]):
            raise InputError(
                f"Training set {s} holds one class only; selection needs at least two. "
                "Use fewer or stratified folds."
            )
        indices.append(rows)
    return indices
