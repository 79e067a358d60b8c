"""The gene expression data sets of the prioritization paper, and their files here.

The study of differential prioritization and the gene tasks of LUFe use them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from veridical.datasets import load, table_hash
from veridical.experiments import InputError
from veridical.papers.paper_data import PaperData
from veridical.selection import ExpressionFilter


@dataclass(frozen=True)
class ExpressionData:
    """A row of the paper's table, and the file used for it here.

    Parameters
    ----------
    title, file : str
        Name in the paper, and the file it is read from.
    n_genes, n_classes : int
        Published numbers.
    n_train, n_test : int
        Published sizes of training and test sets.
    kind : {"intensities", "filtered", "ratios", "log-ratios"}
        How it is preprocessed: intensities are filtered, filtered data are not filtered
        again, and ratios are only log-transformed and standardized.
    difference : str
        How the file differs from the paper's data; empty where it does not.
    """

    title: str
    file: str
    n_genes: int
    n_classes: int
    n_train: int
    n_test: int
    kind: str
    difference: str = ""

    @property
    def test_share(self) -> float:
        """Share of the samples in the test set."""
        return self.n_test / (self.n_train + self.n_test)


_UPSTREAM = "genes were filtered before, by another rule, on all samples"

#: By name, the most classes first.
DATA: dict[str, ExpressionData] = {
    "gcm": ExpressionData(
        "GCM", "gcm_filtered", 10820, 14, 144, 54, "filtered",
        f"190 of 198 samples, 1363 genes: {_UPSTREAM}",
    ),
    "nci60": ExpressionData(
        "NCI60", "nci60_8c", 7386, 8, 40, 20, "log-ratios",
        "61 samples, 6830 genes; repeats of two cell lines count as samples",
    ),
    "pdl": ExpressionData(
        "PDL", "pdl_filtered", 12011, 6, 166, 82, "filtered", f"2526 genes: {_UPSTREAM}"
    ),
    "lung": ExpressionData(
        "Lung", "lung_filtered", 1741, 5, 135, 68, "filtered",
        f"1543 genes: {_UPSTREAM}",
    ),
    "srbc": ExpressionData("SRBC", "srbct", 2308, 4, 55, 28, "ratios"),
    "mll": ExpressionData("MLL", "mll", 8681, 3, 48, 24, "intensities"),
    "amlall": ExpressionData(
        "AML/ALL", "golub_amlall3", 3571, 3, 48, 24, "intensities"
    ),
}  # fmt: skip

#: Which of them are found here.
FILES = PaperData(DATA, ".npz", "arrays X and y")

_FILTERS = {
    "intensities": ExpressionFilter(),
    "filtered": ExpressionFilter(min_fold=None, min_difference=None),
    "ratios": ExpressionFilter(
        low=None, high=None, min_fold=None, min_difference=None, log=2
    ),
    "log-ratios": ExpressionFilter(
        low=None, high=None, min_fold=None, min_difference=None, log=None
    ),
}


@dataclass(frozen=True, eq=False)
class ExpressionArrays:
    """A data set, preprocessed as published: on all samples, without their labels.

    Parameters
    ----------
    X : array of shape (n_samples, n_genes)
        Standardized logarithms.
    codes : int array of shape (n_samples,)
        Classes, numbered in sorted order.
    classes : tuple of str
        Their names.
    digest : str
        SHA-256 of the table.
    """

    X: NDArray[np.float64]
    codes: NDArray[np.intp]
    classes: tuple[str, ...]
    digest: str


@lru_cache(maxsize=8)
def get_arrays(name: str) -> ExpressionArrays:
    """Read a data set and preprocess it.

    Raises
    ------
    InputError
        If its file is missing, or has other classes than the paper's.
    """
    FILES.refuse_missing(name)
    row = DATA[name]
    X, y = load(row.file)
    values = _FILTERS[row.kind].fit_transform(np.asarray(X, dtype=np.float64))
    classes, codes = np.unique(np.asarray(y).astype(str), return_inverse=True)
    if classes.size != row.n_classes:
        raise InputError(
            f"{row.file} has {classes.size} classes, but {row.title} of the paper has "
            f"{row.n_classes}; use a copy with as many classes."
        )
    digest = table_hash(values, classes[codes])
    return ExpressionArrays(
        values, codes.astype(np.intp), tuple(classes.tolist()), digest
    )
