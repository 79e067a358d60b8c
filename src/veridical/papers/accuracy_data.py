"""The data sets of the accuracy paper, and what its table 1 says of them.

References
----------
.. [1] R. Kohavi, "A study of cross-validation and bootstrap for accuracy estimation and
   model selection", IJCAI 1995.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.encoding import Categories, encode
from veridical._core.errors import InputError
from veridical._core.seeds import mixed_generator
from veridical.datasets import available, load
from veridical.experiments import derive_seed

#: Raise it when `rand` is drawn otherwise than before.
_RAND_VERSION = 1


@dataclass(frozen=True)
class Published:
    """A row of table 1; accuracies in per cent, as mean and its standard deviation.

    Parameters
    ----------
    title : str
        The name in the table.
    file : str or None
        What `veridical.datasets.load` knows it by; None for what is drawn here.
    n_attributes, n_sample, n_cases, n_classes, duplicates : int
        The columns of the table.
    c45, nb : tuple of float
        Accuracy of each learner after `n_sample` cases.
    """

    title: str
    file: str | None
    n_attributes: int
    n_sample: int
    n_cases: int
    n_classes: int
    duplicates: int
    c45: tuple[float, float]
    nb: tuple[float, float]

    def accuracy(self, learner: str) -> tuple[float, float]:
        """Published accuracy of a learner, and the standard deviation of the mean."""
        return {"c45": self.c45, "nb": self.nb}[learner]


#: Data sets by the names that the study uses, in the order of the table.
TABLE_1 = {
    "breast": Published(
        "Breast cancer", "breast_cancer_wisconsin", 10, 50, 699, 2, 8,
        (91.37, 0.10), (94.22, 0.10),
    ),
    "chess": Published(
        "Chess", "kr_vs_kp", 36, 900, 3196, 2, 0, (98.19, 0.03), (86.80, 0.07)
    ),
    "hypothyroid": Published(
        "Hypothyroid", "hypothyroid", 25, 400, 3163, 2, 77,
        (98.52, 0.03), (97.63, 0.02),
    ),
    "mushroom": Published(
        "Mushroom", "mushroom", 22, 800, 8124, 2, 0, (99.36, 0.02), (94.54, 0.03)
    ),
    "soybean": Published(
        "Soybean large", "soybean_large", 35, 100, 683, 19, 52,
        (70.49, 0.22), (79.76, 0.14),
    ),
    "vehicle": Published(
        "Vehicle", "vehicle", 18, 100, 846, 4, 0, (60.11, 0.16), (46.80, 0.16)
    ),
    "rand": Published(
        "Rand", None, 20, 100, 3000, 2, 9, (49.96, 0.04), (49.90, 0.04)
    ),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Table:
    """A data set in both forms that learners take.

    Parameters
    ----------
    X : DataFrame or array
        As it was read.
    columns : array of shape (n_features, n_cases)
        The same as numbers: nominal columns hold codes, NaN is missing.
    categories : tuple of n_features arrays or None
        The values behind the codes; None for a numeric column.
    codes : int array of shape (n_cases,)
        The classes, numbered in sorted order.
    n_classes : int
        How many there are.
    digest : str
        SHA-256 of all this.
    """

    X: Any
    columns: FloatArray
    categories: Categories
    codes: IntArray
    n_classes: int
    digest: str

    @classmethod
    def of(cls, X: Any, y: Any) -> Table:
        """Encode what was read."""
        encoded = encode(X)
        classes, codes = np.unique(np.asarray(y), return_inverse=True)
        columns = np.require(encoded.values.T, np.float64, ["C", "W"])
        words = [None if c is None else [str(v) for v in c] for c in encoded.categories]
        content = hashlib.sha256(repr((words, [str(c) for c in classes])).encode())
        for part in (columns, codes.astype(np.int64)):
            content.update(repr(part.shape).encode() + part.tobytes())
        return cls(
            X,
            columns,
            encoded.categories,
            codes.astype(np.intp),
            len(classes),
            content.hexdigest(),
        )

    @property
    def n_cases(self) -> int:
        """Number of cases."""
        return len(self.codes)

    def facts(self) -> dict[str, int]:
        """Count what table 1 counts; a duplicate agrees in all columns and the class.

        Two missing values agree.
        """
        rows = pd.DataFrame(self.columns.T).assign(label=self.codes)
        return {
            "n_attributes": len(self.columns),
            "n_cases": self.n_cases,
            "n_classes": self.n_classes,
            "duplicates": int(rows.duplicated().sum()),
        }


def present() -> tuple[str, ...]:
    """Name the data sets that can be had here; `rand` always can."""
    files = set(available())
    return tuple(
        name for name, row in TABLE_1.items() if row.file is None or row.file in files
    )


def say_missing(names: tuple[str, ...]) -> str:
    """Say which data sets are missing, and what to do about it."""
    titles = ", ".join(TABLE_1[name].title for name in names)
    files = ", ".join(f"{TABLE_1[name].file}.csv.gz" for name in names)
    return (
        f"The data are not here: {titles}. Put {files} (with the class in the column "
        "'class') into a folder and name it in VERIDICAL_DATA."
    )


@lru_cache(maxsize=8)
def get_table(name: str, seed: int) -> Table:
    """Read a data set, or draw `rand` from the seed of the study.

    Raises
    ------
    InputError
        If its file is missing or has too few cases.
    """
    row = TABLE_1[name]
    if row.file is None:
        return Table.of(*_draw_rand(row, derive_seed(seed, purpose="rand")))
    if name not in present():
        raise InputError(say_missing((name,)))
    table = Table.of(*load(row.file))
    if table.n_cases <= row.n_sample or table.n_classes < 2:
        raise InputError(
            f"{row.file} has {table.n_cases} cases and {table.n_classes} classes; the "
            f"study needs more than {row.n_sample} cases and at least 2 classes. Use "
            f"the UCI copy with {row.n_cases} cases."
        )
    return table


def _draw_rand(row: Published, seed: int) -> tuple[pd.DataFrame, IntArray]:
    """Draw Boolean features, and a Boolean label that has nothing to do with them."""
    rng = mixed_generator(seed, _RAND_VERSION)
    values = rng.integers(2, size=(row.n_cases, row.n_attributes)).astype(bool)
    names = [f"b{j + 1}" for j in range(row.n_attributes)]
    frame = pd.DataFrame(values, columns=names).astype("category")
    return frame, rng.integers(2, size=row.n_cases)
