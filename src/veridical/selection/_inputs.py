"""Input of selectors: what they accept, and training sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import column_or_1d

from veridical._core.advice import for_users
from veridical._core.arrays import FloatArray, IntArray
from veridical._core.devices import to_host
from veridical._core.encoding import Features, encode, mark_features
from veridical._core.errors import InputError
from veridical._core.lazy_readers import as_lazy, lazy_integers
from veridical._core.reading import (
    are_numbers,
    is_survival,
    names_categorical,
    number_classes,
    read_labels,
    read_samples,
    read_target,
    read_times,
    refuse_one_class,
)
from veridical._core.splits import read_rows
from veridical._core.table import Table
from veridical._core.targets import Classes, Kind, Target
from veridical._core.weights import read_target_weights
from veridical.search.feature_groups import FeatureGroups

#: Sample weights that a selector accepts: any, whole numbers only, or none.
WeightKind = Literal["any", "whole", "none"]


@dataclass(frozen=True)
class Abilities:
    """Kinds of data that a selector accepts; errors name the missing one.

    `blocks` says that features are read by blocks, where they are not in memory; for
    other selectors they are read as a whole. `device` says that they are used where
    they are, on a GPU.
    """

    categorical: bool = False
    missing: bool = False
    sparse: bool = False
    blocks: bool = False
    device: bool = False
    weights: WeightKind = "none"
    targets: tuple[Kind, ...] = ("classes",)

    def adapt(self, features: Features, name: str) -> Features:
        """Convert booleans to 1 and 0 where categorical features are not accepted.

        ``pandas.get_dummies`` returns booleans. Features that are read by blocks stay
        so, or are read; missing values are found when a block is read.
        """
        if features.is_lazy:
            on_device = self.device and features.values.is_on_device
            if not self.blocks and not on_device:
                return self.adapt(features.load(), name)
            if not self.missing:
                complete = features.values.without_missing(name)
                features = replace(features, stored=complete)
        if self.categorical or not features.categorical.any():
            return features
        booleans = [
            j
            for j in np.flatnonzero(features.categorical)
            if all(isinstance(v, bool) for v in _categories_of(features, j))
        ]
        if not booleans:
            return features
        if features.is_lazy:  # their codes are 0 and 1 already
            coded = features.categorical.copy()
            coded[booleans] = False
            kept = tuple(
                one if is_coded else None
                for one, is_coded in zip(features.categories, coded, strict=True)
            )
            return replace(features, categorical=coded, categories=kept)
        values = features.values.copy()
        categorical, categories = features.categorical.copy(), list(features.categories)
        for j in booleans:
            numbers = np.append(np.asarray(categories[j], dtype=np.float64), np.nan)
            missing = np.isnan(values[:, j])
            values[:, j] = numbers[np.where(missing, -1, values[:, j]).astype(np.intp)]
            categorical[j], categories[j] = False, None
        return replace(
            features,
            stored=values,
            categorical=categorical,
            categories=tuple(categories),
        )

    def check(self, data: Table, name: str) -> None:
        """Raise if the data need an ability that the selector lacks."""
        needs = {
            "categorical": data.categorical.any(),
            "missing": not (self.missing or data.is_lazy) and data.has_missing,
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
        for ability, needed in needs.items():
            if needed and not getattr(self, ability):
                words = advice[ability]
                j = _first_feature(data, ability)
                if j is not None:
                    place = j if data.names is None else repr(data.names[j])
                    words = words.replace(";", f", such as column {place};", 1)
                able = _selectors_with(ability, True, data.kind)
                raise InputError(f"{name} cannot use {words} ({able}).")
        if data.kind not in self.targets:
            refuse_target(data.kind, self.targets, name)
        self._check_weights(data.weights, data.kind, name)

    def _check_weights(self, weights: FloatArray | None, kind: Kind, name: str) -> None:
        """Raise if the statistic is not defined for the sample weights."""
        if weights is None or self.weights == "any":
            return
        able = _selectors_with("weights", "any", kind)
        if self.weights == "none":
            raise InputError(
                f"{name} cannot use sample_weight; leave it out, or use a selector "
                f"that reads weights ({able})."
            )
        fractions = weights != np.rint(weights)
        if fractions.any():
            i = int(np.argmax(fractions))
            raise InputError(
                f"{name} counts samples, so sample_weight must be whole numbers, but "
                f"row {i} has {weights[i]:g}; round the weights, or use a selector "
                f"that reads any weights ({able})."
            )
        if weights.sum() > MAX_COPIES:
            raise InputError(
                f"{name} counts samples, and the whole numbers in sample_weight sum to "
                f"{weights.sum():.3g}, more than the {MAX_COPIES:.0e} it can count; "
                f"use a selector that reads any weights ({able})."
            )


#: Sum of whole weights; more would need too much memory for tables of counts.
MAX_COPIES = 100_000_000


def selectors_for(kind: Kind) -> list[str]:
    """List the names of the selectors that read a kind of target.

    Examples
    --------
    >>> selectors_for("survival")
    ['relieff', 'mrmr', 'ddp', 'cox-score', 'concordance', 'variance']
    """
    from veridical.selection import SELECTORS  # it imports this module

    return [n for n, cls in SELECTORS.items() if kind in cls._abilities.targets]


def _selectors_with(ability: str | None, value: Any, kind: Kind) -> str:
    """List the registered selectors that read a target and have an ability, by name."""
    from veridical.selection import SELECTORS

    able = [
        for_users(SELECTORS[name].__name__, name)
        for name in selectors_for(kind)
        if ability is None or getattr(SELECTORS[name]._abilities, ability) == value
    ]
    return ", ".join(sorted(able))


def refuse_target(kind: Kind, targets: tuple[Kind, ...], name: str) -> NoReturn:
    """Raise because a selector cannot use the target; name those that can."""
    words = {"classes": "classes", "numbers": "numbers", "survival": "survival times"}
    able = " or ".join(words[one] for one in targets)
    raise InputError(
        f"{name} reads a target of {able}, but y holds {words[kind]}; use another "
        f"target, or a selector that reads {words[kind]} "
        f"({_selectors_with(None, None, kind)})."
    )


def read_arguments(
    estimator: Any,
    X: Any,
    y: Any,
    abilities: Abilities,
    chosen: Any = "from_dtype",
    sample_weight: Any = None,
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
    sample_weight : array-like or None
        As the user gave it.
    """
    y, sample_weight = to_host(y), to_host(sample_weight)
    named = names_categorical(chosen)
    X = as_lazy(X if named else lazy_integers(X))
    X = read_samples(
        estimator, X, reset=True, categorical=named, accept_sparse=True, min_samples=2
    )
    features = abilities.adapt(encode(X, chosen), type(estimator).__name__)
    target = _read_target(estimator, y, features.shape[0], abilities.targets)
    weights = None
    if sample_weight is not None:
        weights = read_target_weights(sample_weight, target)
    table = Table(features, target, weights=weights)
    abilities.check(table, type(estimator).__name__)
    return table


def _read_target(
    estimator: Any, y: Any, n_samples: int, targets: tuple[Kind, ...]
) -> Target:
    """Read y as a kind of target that the selector accepts; raise if there is none."""
    if targets == ("survival",):
        return read_times(estimator, y, n_samples)
    if y is not None and is_survival(y):
        if "survival" not in targets:
            refuse_target("survival", targets, type(estimator).__name__)
        return read_times(estimator, y, n_samples)
    if "numbers" in targets and are_numbers(_only_column(np.asarray(y))):
        return read_target(column_or_1d(y, warn=True), n_samples, kind="numbers")
    labels = read_labels(estimator, y, n_samples)
    classes, codes = number_classes(labels)
    refuse_one_class(classes, type(estimator).__name__)
    return Classes(labels, classes, codes)


def _only_column(y: NDArray[Any]) -> NDArray[Any]:
    """Return the only column of a table as an array."""
    return y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y


def _categories_of(features: Features, j: Any) -> list[Any]:
    categories = features.categories[j]
    return [] if categories is None else categories.tolist()


def _first_feature(data: Table, ability: str) -> int | None:
    """Return the first feature that needs an ability, where there is one."""
    if ability == "categorical":
        return int(np.argmax(data.categorical))
    if ability == "missing" and not sparse.issparse(data.values):
        return int(np.argmax(np.isnan(data.values).any(axis=0)))
    return None


# -- features that stay or go together -----------------------------------------------


def read_feature_groups(
    keep: Any, feature_groups: Any, n_features: int, names: Sequence[str] | None
) -> FeatureGroups | None:
    """Check the parameters ``keep`` and ``feature_groups``; None if both are None.

    Parameters
    ----------
    keep : bool mask, integer indices, names or None
        Features that are always selected, with all features of their groups.
    feature_groups : array-like of shape (n_features,), mapping or None
        A label for each feature, or features by the name of their group.
    n_features : int
        Number of features.
    names : sequence of str or None
        Their names, where they have any.
    """
    if keep is None and feature_groups is None:
        return None
    number = _number_feature_groups(feature_groups, n_features, names)
    kept = np.zeros(int(number.max()) + 1, dtype=bool)
    if keep is not None:
        single = isinstance(keep, (str, int, np.integer)) and not isinstance(keep, bool)
        given = [keep] if single else _as_list(keep, "keep")
        kept[number[mark_features(given, n_features, names, "keep")]] = True
    if kept.all():
        raise InputError(
            f"keep holds all {n_features} features of X (with those of their groups), "
            "so that none is left to select; name fewer, or use no selector."
        )
    return FeatureGroups(number, kept)


def _number_feature_groups(
    given: Any, n_features: int, names: Sequence[str] | None
) -> IntArray:
    """Return the group of each feature, numbered by the first features of groups."""
    if given is None:
        return np.arange(n_features)
    if isinstance(given, Mapping):
        labels = _labels_of_mapping(given, n_features, names)
    else:
        labels = _as_list(given, "feature_groups")
        if len(labels) != n_features:
            raise InputError(
                f"feature_groups has {len(labels)} labels, but X has {n_features} "
                "features; give one label for each feature, or a mapping from names "
                "of groups to lists of features."
            )
    places: dict[Any, int] = {}
    number = np.empty(n_features, dtype=np.intp)
    for j, label in enumerate(labels):
        alone = label is None or label != label  # NaN
        try:
            number[j] = places.setdefault(object() if alone else label, len(places))
        except TypeError:
            raise InputError(
                f"feature_groups holds {label!r}, which cannot be a label; use text or "
                "numbers, or a mapping from names of groups to lists of features."
            ) from None
    return number


def _labels_of_mapping(
    given: Mapping[Any, Any], n_features: int, names: Sequence[str] | None
) -> list[Any]:
    labels: list[Any] = [None] * n_features
    for group, members in given.items():
        parameter = f"feature_groups[{group!r}]"
        mask = mark_features(_as_list(members, parameter), n_features, names, parameter)
        if not mask.any():
            raise InputError(
                f"{parameter} holds no features; name some, or leave it out."
            )
        for j in np.flatnonzero(mask).tolist():
            if labels[j] is not None:
                feature = j if names is None else repr(names[j])
                raise InputError(
                    f"feature_groups has feature {feature} in the groups "
                    f"{labels[j][0]!r} and {group!r}; put it into one of them."
                )
            labels[j] = (group,)
    return labels


def _as_list(given: Any, parameter: str) -> list[Any]:
    """Convert a list, array or series of features or labels to a list."""
    if isinstance(given, (str, bytes, Mapping)) or not hasattr(given, "__iter__"):
        raise InputError(
            f"{parameter}={given!r} is not a list; give a list of indices, names or "
            "labels."
        )
    return list(given.tolist() if hasattr(given, "tolist") else given)


# -- training sets -------------------------------------------------------------------


#: Hint for users who pass the pairs of a splitter.
_PAIRS_HINT = (
    " Of a splitter's pairs give the first parts: "
    "[train for train, _ in cv.split(X, y)]."
)


#: What is missing from a training set in which the target does not vary, and the cure.
_NOTHING_TO_LEARN = {
    "classes": (
        "holds one class only",
        "selection needs at least two. Use fewer or stratified folds.",
    ),
    "numbers": (
        "holds one value of the target only",
        "selection needs at least two. Use fewer folds.",
    ),
    "survival": (
        "has no event at a time when another sample was still observed",
        "selection needs one. Use fewer folds, stratified by the event.",
    ),
}


def read_train_sets(
    train_sets: Iterable[Any], target: Target, weights: FloatArray | None = None
) -> list[IntArray]:
    """Convert masks to indices and check that the target varies in each set."""
    indices = []
    for s, given in enumerate(train_sets):
        rows = read_rows(given, len(target), f"Training set {s}", hint=_PAIRS_HINT)
        counted = rows if weights is None else rows[weights[rows] > 0]
        if not counted.size or target.is_constant(counted):
            but = "" if weights is None else " with a positive sample_weight"
            what, cure = _NOTHING_TO_LEARN[target.kind]
            raise InputError(f"Training set {s} {what}{but}; {cure}")
        indices.append(rows)
    return indices
