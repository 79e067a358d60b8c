"""The most frequent class of many training sets, by counting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier

from veridical._core.splits import Split, class_counts
from veridical._core.table import Table
from veridical.learning.many import Orders, Predicted, Sizes, register_predict_table


def make_majority() -> DummyClassifier:
    """Make a classifier that predicts the most frequent class."""
    return DummyClassifier(strategy="most_frequent")


@register_predict_table(DummyClassifier)
def predict_majority(
    estimator: Any, table: Table, splits: Sequence[Split], orders: Orders, sizes: Sizes
) -> Predicted | None:
    """Predict the most frequent class; the first of them where they tie."""
    if estimator.strategy not in ("most_frequent", "prior"):
        return None
    frequent = class_counts(splits, table.y, table.n_classes).argmax(axis=1)
    n_sizes = 1 if sizes is None else len(sizes)
    return [
        np.full((n_sizes, len(split.test)), code, dtype=np.intp)
        for split, code in zip(splits, frequent, strict=True)
    ]
