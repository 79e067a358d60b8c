"""What a cell of the comparison paper's experiment adds up to.

A cell is one call of `truth`: a source, a size, a number of features, a classifier and
a pair of selectors.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd

from veridical._core.errors import InputError
from veridical.comparison.records import SIDES, Comparison, Side
from veridical.comparison.truthfulness import welch_bias


class CellBias(NamedTuple):
    """Bias of one method for one selector, over the data sets of a cell.

    Parameters
    ----------
    plain : float
        Mean accuracy of the method minus mean TRUTH accuracy.
    significant : float
        Mean over data sets of the bias where Welch's test finds one, else of 0.
    normalised : float
        ``significant`` over the mean TRUTH accuracy.
    """

    plain: float
    significant: float
    normalised: float


def cell_bias(
    cell: Comparison, method: str, *, alpha: float = 0.05
) -> dict[Side, CellBias]:
    """Bias of IN or OUT on a source, for both selectors.

    Parameters
    ----------
    cell : Comparison
        From `truth`, with TRUTH and `method` among its methods.
    method : {"in", "out"}
        Whose bias.
    alpha : float, default=0.05
        Level of Welch's test.

    References
    ----------
    .. [1] P. Refaeilzadeh, L. Tang & H. Liu, "On comparison of feature selection
       algorithms", AAAI Workshop on Evaluation Methods for Machine Learning II (2007).
    """
    for needed in ("truth", method):
        if needed not in cell.accuracy:
            raise InputError(f"The comparison was made without the method {needed!r}.")
    result: dict[Side, CellBias] = {}
    for i, side in enumerate(SIDES):
        true = cell.accuracy["truth"][i].mean(axis=0).ravel()
        folds = cell.accuracy[method][i].mean(axis=0)  # one row per data set
        found = [welch_bias(row, true, alpha) for row in folds]
        significant = float(np.mean([bias.value for bias in found]))
        result[side] = CellBias(
            plain=float(folds.mean() - true.mean()),
            significant=significant,
            normalised=significant / float(true.mean()),
        )
    return result


def count_cells(cells: Iterable[Comparison]) -> pd.DataFrame:
    """Count cells by who was more truthful and by what is true (the paper's Table 2).

    Parameters
    ----------
    cells : iterable of Comparison
        From `truth`, with all three methods.

    Returns
    -------
    DataFrame
        Rows I, O, S: IN, OUT or neither was more truthful; columns W, L, D: selector
        ``a`` truly wins, loses, draws.
    """
    truthful, true = {"in": 0, "out": 1, "same": 2}, {"a": 0, "b": 1, "draw": 2}
    counts = np.zeros((3, 3), dtype=int)
    for cell in cells:
        if cell.truthfulness is None:
            raise InputError("A cell lacks one of the methods in, out and truth.")
        row = truthful[cell.truthfulness.better]
        counts[row, true[cell.verdicts["truth"].winner]] += 1
    return pd.DataFrame(counts, index=list("IOS"), columns=list("WLD"))
