"""Features that stand in for one another.

In wide tables several sets of features (signatures) often predict equally well, because
features are correlated. A list of selected features is then one of several, and the
absence of a feature from it means little.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.table import Table
from veridical.evaluation.choices import StandIn

#: Least absolute correlation of a stand-in.
LEAST_CORRELATION = 0.9
#: Most stand-ins that are listed for one feature.
_MOST_LISTED = 3
#: Numbers in a table; of a larger one no correlations are computed.
_LARGEST_TABLE = 1 << 26


def find_stand_ins(table: Table, selected: IntArray) -> tuple[StandIn, ...]:
    """Find features outside a selection that are correlated with selected ones.

    Parameters
    ----------
    table : Table
        The samples.
    selected : int array
        The selected features.

    Returns
    -------
    tuple of StandIn
        At most three for every selected feature, the most correlated first; only
        numeric features without missing values.
    """
    rows = np.arange(table.n_samples)
    found = correlations(table, rows, selected)
    if found is None:
        return ()
    names = table.feature_names
    result = []
    for j, row in zip(selected.tolist(), found, strict=True):
        others = np.argsort(-np.abs(row), kind="stable")[:_MOST_LISTED]
        result += [
            StandIn(names[j], names[k], int(j), int(k), float(row[k]))
            for k in others.tolist()
            if abs(row[k]) >= LEAST_CORRELATION
        ]
    return tuple(result)


def replace_by_stand_ins(
    table: Table, train_sets: Sequence[IntArray], orders: Sequence[IntArray]
) -> tuple[list[IntArray], int]:
    """Replace the selected features of every training set by stand-ins found there.

    Parameters
    ----------
    table : Table
        The samples.
    train_sets, orders : sequence of int arrays
        Training rows, and the features selected on them.

    Returns
    -------
    orders : list of int arrays
        The same with stand-ins; a stand-in is used once, and a feature without one
        stays.
    n_replaced : int
        Number of features replaced, the median over the training sets.
    """
    result, counts = [], []
    for rows, order in zip(train_sets, orders, strict=True):
        new = order.copy()
        found = correlations(table.corrected(rows), rows, order)
        if found is not None:
            used: set[int] = set()
            for place, row in enumerate(np.abs(found)):
                row[list(used)] = 0.0
                other = int(row.argmax())
                if row[other] >= LEAST_CORRELATION:
                    new[place] = other
                    used.add(other)
        counts.append(int(np.count_nonzero(new != order)))
        result.append(new)
    return result, int(np.median(counts))


def correlations(table: Table, rows: IntArray, selected: IntArray) -> FloatArray | None:
    """Compute correlations of selected features with all others.

    Returns
    -------
    array of shape (n_selected, n_features) or None
        0 for selected, constant, categorical and incomplete features; None where the
        table is sparse or too large.
    """
    if table.is_sparse or table.n_samples * table.n_features > _LARGEST_TABLE:
        return None
    if len(selected) == 0 or len(rows) < 3:
        return None
    values = np.asarray(table.values[rows], dtype=np.float64)
    values = values - values.mean(axis=0)
    lengths = np.sqrt((values**2).sum(axis=0))
    able = np.isfinite(lengths) & (lengths > 0) & ~table.categorical
    values[:, ~able] = 0.0
    lengths[~able] = 1.0
    values /= lengths
    found = values[:, selected].T @ values
    found[:, selected] = 0.0
    return np.asarray(found)
