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

import numpy as np
import pandas as pd

from veridical._core.arrays import IntArray
from veridical._core.errors import InputError
from veridical._core.reading import read_table
from veridical._core.seeds import mixed_generator
from veridical._core.table import Table
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


@lru_cache(maxsize=8)
def digest(table: Table) -> str:
    """Hash all that the study depends on: values, categories and classes."""
    words = [None if c is None else [str(v) for v in c] for c in table.categories]
    classes = [str(c) for c in table.target.classes]
    content = hashlib.sha256(repr((words, classes)).encode())
    columns = np.require(table.values.T, np.float64, ["C", "W"])
    for part in (columns, table.y.astype(np.int64)):
        content.update(repr(part.shape).encode() + part.tobytes())
    return content.hexdigest()


def facts(table: Table) -> dict[str, int]:
    """Count what table 1 counts; a duplicate agrees in all features and the class.

    Two missing values agree.
    """
    rows = pd.DataFrame(table.values).assign(label=table.y)
    return {
        "n_attributes": table.n_features,
        "n_cases": table.n_samples,
        "n_classes": table.n_classes,
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
        return read_table(*_draw_rand(row, derive_seed(seed, purpose="rand")))
    if name not in present():
        raise InputError(say_missing((name,)))
    table = read_table(*load(row.file))
    if table.n_samples <= row.n_sample or table.n_classes < 2:
        raise InputError(
            f"{row.file} has {table.n_samples} cases and {table.n_classes} classes; "
            f"the study needs more than {row.n_sample} cases and at least 2 classes. "
            f"Use the UCI copy with {row.n_cases} cases."
        )
    return table


def _draw_rand(row: Published, seed: int) -> tuple[pd.DataFrame, IntArray]:
    """Draw Boolean features, and a Boolean label that has nothing to do with them."""
    rng = mixed_generator(seed, _RAND_VERSION)
    values = rng.integers(2, size=(row.n_cases, row.n_attributes)).astype(bool)
    names = [f"b{j + 1}" for j in range(row.n_attributes)]
    frame = pd.DataFrame(values, columns=names).astype("category")
    return frame, rng.integers(2, size=row.n_cases)
