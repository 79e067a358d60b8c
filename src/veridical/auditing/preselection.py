"""Features selected before the audit, and the selector that may have chosen them.

Where only the selected features are known, their selector is not. Several selectors
are run on all samples, and the fast one that agrees best with the features repeats the
selection inside the folds.
"""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.seeds import Purpose, as_generator, seed_for, seeded
from veridical._core.sklearn_private import is_search, take
from veridical._core.table import Table
from veridical._core.text import did_you_mean, listed, quote
from veridical._core.validation import check_count
from veridical.auditing.agreement import (
    Agreement,
    find_agreement,
    measure_agreement,
)
from veridical.auditing.association import chosen_by_labels
from veridical.auditing.procedures import Audited, make_audited
from veridical.auditing.records import LEVEL
from veridical.comparison.comparing import feature_order
from veridical.evaluation.arguments import label_of, read_selector
from veridical.evaluation.engine import Procedure, is_rowwise

#: Number of permutations of the labels: the default, the default for a search, which
#: tunes on each, and the smallest that can give p ≤ 0.05.
PERMUTATIONS, SEARCH_PERMUTATIONS, FEWEST_PERMUTATIONS = 100, 20, 19
# Number of refits, on random halves with permuted labels, for which the first step of a
# pipeline must keep the same features to count as fixed.
_REFITS = 6


def read_procedure(
    learner: Any, X: Any, data: Table, selected: Any, selector: Any, root: int
) -> tuple[Audited, Agreement | None]:
    """Return the audited procedure, and how selectors agree with selected features."""
    if selected is None:
        if selector is not None:
            raise InputError(
                "selector= names what selected the features in selected=, but "
                "selected= is missing; pass it, or put the selector into a pipeline "
                "with the classifier."
            )
        fixed = find_fixed_features(learner, X, data, root)
        if fixed is None:
            return make_audited(learner, data), None
        features, learner, agreement = fixed
    else:
        features = read_features(selected, data)
        agreement = _find_agreement(data, features, selector, root)
    order = feature_order(root, data.n_features)
    procedure = Procedure(learner, agreement.selector, (int(features.size),))
    return Audited(data, learner, procedure, data, features, order), agreement


def _find_agreement(
    data: Table, features: IntArray, selector: Any, root: int
) -> Agreement:
    seed = seed_for(root, Purpose.ASSOCIATION, 1)
    if selector is None:
        return find_agreement(data, features, seed)
    named = seeded(read_selector(selector), root)
    return measure_agreement(named, label_of(selector), data, features, seed)


def _transform_if_fixed(step: Any, X: Any, data: Table, seed: int) -> FloatArray | None:
    """Transform the table; None where the result depends on the training data.

    The step is refitted on random halves of the samples with permuted labels; a fixed
    choice of features stays the same.
    """
    rng = as_generator(seed)
    half = max(2, data.n_samples // 2)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            first = clone(step).fit(X, data.labels).transform(X)
            first = np.asarray(first, dtype=np.float64)
            for _ in range(_REFITS):
                rows = rng.permutation(data.n_samples)[:half]
                labels = rng.permutation(data.labels)[:half]
                fitted = clone(step).fit(take(X, rows), labels)
                again = np.asarray(fitted.transform(X), dtype=np.float64)
                if not np.array_equal(first, again, equal_nan=True):
                    return None
    except (AttributeError, TypeError, ValueError):
        return None
    return first if first.ndim == 2 else None


def find_fixed_features(
    estimator: Any, X: Any, data: Table, root: int
) -> tuple[IntArray, Any, Agreement] | None:
    """Find features that the first step of a pipeline keeps whatever it is fitted on.

    A selector that was fitted beforehand and frozen, or a transformer that takes
    features by their indices, is a selection made before the folds.

    Returns
    -------
    tuple or None
        The features, the rest of the pipeline, and how selectors agree with the
        features; None where the first step learns from data, changes values, keeps
        everything, or keeps features that do not look selected by the labels.
    """
    if type(estimator) is not Pipeline or len(estimator.steps) < 2:
        return None
    first = estimator.steps[0][1]
    if is_rowwise(first) or sparse.issparse(X) or data.categorical.any():
        return None
    if hasattr(first, "fit_table"):  # a selector of ours always learns
        return None
    seed = seed_for(root, Purpose.ASSOCIATION)
    one = _transform_if_fixed(first, X, data, seed)
    if one is None or not one.size:
        return None
    where = {feature.tobytes(): j for j, feature in enumerate(data.values.T.copy())}
    found = [where.get(feature.tobytes(), -1) for feature in one.T.copy()]
    features = np.unique(np.array(found, dtype=np.intp))
    if features[0] < 0 or not features.size == len(found) < data.n_features:
        return None
    agreement = _find_agreement(data, features, None, root)
    if min(agreement.pvalue, chosen_by_labels(data, features, seed)) > LEVEL:
        return None
    rest = estimator.steps[1:]
    return features, Pipeline(rest) if len(rest) > 1 else rest[0][1], agreement


def read_features(selected: Any, data: Table) -> IntArray:
    """Convert names, indices or a mask to feature indices.

    Parameters
    ----------
    selected : list of str or int, or bool mask
        As the user gave them.
    data : Table
        The table with these features.
    """
    if isinstance(selected, (str, bytes)) or not hasattr(selected, "__iter__"):
        raise InputError(
            f"selected={selected!r} must be a list of feature names or indices."
        )
    items = list(selected)
    if len(items) == data.n_features and all(
        isinstance(item, (bool, np.bool_)) for item in items
    ):
        features = np.flatnonzero(items)
    else:
        features = np.array(
            [_read_feature(item, data) for item in items], dtype=np.intp
        )
    if not features.size:
        raise InputError("selected contains no feature; name at least one.")
    if np.unique(features).size < features.size:
        twice = int(features[np.bincount(features)[features] > 1][0])
        raise InputError(
            f"selected names feature {quote(data.feature_names[twice])} more than once"
            "; name each once."
        )
    if features.size == data.n_features:
        raise InputError(
            f"selected contains all {data.n_features} features, so nothing was "
            "selected; leave it out, or pass X with all features that the selection "
            "could choose from."
        )
    return np.sort(features)


def _read_feature(item: Any, data: Table) -> int:
    if isinstance(item, str):
        names = data.feature_names
        places = [j for j, name in enumerate(names) if name == item]
        if len(places) == 1:
            return places[0]
        if places:
            raise InputError(
                f"selected names {quote(item)}, but {len(places)} features have that "
                "name; give feature indices instead, counted from 0."
            )
        raise InputError(
            f"selected names {quote(item)}, which is not a feature of X"
            f"{did_you_mean(item, names)} The features are {listed(names)}."
        )
    if isinstance(item, Integral) and not isinstance(item, (bool, np.bool_)):
        if 0 <= int(item) < data.n_features:
            return int(item)
        raise InputError(
            f"selected contains index {int(item)}, but X has {data.n_features} "
            f"features, 0 to {data.n_features - 1}."
        )
    raise InputError(
        f"selected contains {quote(item)}, which is neither the name nor the index of "
        "a feature."
    )


def count_permutations(n_permutations: Any, learner: Any) -> int:
    """Return the number of permutations of the labels."""
    if n_permutations is None:
        return SEARCH_PERMUTATIONS if is_search(learner) else PERMUTATIONS
    check_count("n_permutations", n_permutations, FEWEST_PERMUTATIONS)
    return int(n_permutations)
