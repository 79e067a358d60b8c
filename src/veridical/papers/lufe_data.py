"""The tasks of the LUFe study: word counts of two topics, and gene expression.

References
----------
.. [1] J. Taylor, V. Sharmanska, K. Kersting, D. Weir & N. Quadrianto, "Learning using
   unselected features (LUFe)", IJCAI 2016.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from veridical._core.arrays import FloatArray
from veridical._core.errors import InputError
from veridical._core.text import show
from veridical.datasets import available, load
from veridical.datasets.loading import _find
from veridical.papers.lufe_genes import PREFIX as GENES
from veridical.papers.lufe_genes import read_genes

FOLDER = "techtc/"
#: Files made from 20 Newsgroups, which stand in for TechTC-300.
STAND_IN = FOLDER + "ng20_"
#: The paper drops words of fewer letters.
LETTERS = 5


def present() -> tuple[str, ...]:
    """Name the tasks that can be had here: TechTC's own, or else those in its place."""
    tasks = [name for name in available() if name.startswith(FOLDER)]
    own = [name for name in tasks if not name.startswith(STAND_IN)]
    return tuple(own or tasks)


@dataclass(frozen=True, eq=False)
class Task:
    """Counts of words and which of two topics a text is about, or genes and classes.

    Parameters
    ----------
    X : array of shape (n_texts, n_words)
        Counts, as numbers.
    sign : array of shape (n_texts,)
        −1 for the first topic, +1 for the second.
    digest : str
        SHA-256 of both.
    """

    X: FloatArray
    sign: FloatArray
    digest: str


@lru_cache(maxsize=4)
def get_task(name: str) -> Task:
    """Read a task; words of fewer than five letters are dropped.

    Raises
    ------
    InputError
        If it is missing, or does not have two classes.
    """
    if name.startswith(GENES):
        X, sign, _ = read_genes(name)
        return _seal(X, sign)
    if name not in available():
        raise InputError(say_missing())
    table, y = load(name)
    X = np.asarray(table.todense() if hasattr(table, "todense") else table, dtype=float)
    path = _find(name)
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as arrays:
            if "feature_names" in arrays:
                words = arrays["feature_names"]
                X = X[:, np.char.str_len(words) >= LETTERS]
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    if len(classes) != 2:
        raise InputError(
            f"{name} has {len(classes)} classes ({', '.join(map(show, classes[:5]))}); "
            "a task of this study has two."
        )
    return _seal(X, np.where(codes == 1, 1.0, -1.0))


def _seal(X: FloatArray, sign: FloatArray) -> Task:
    X = np.ascontiguousarray(X)
    content = hashlib.sha256(repr(X.shape).encode() + X.tobytes() + sign.tobytes())
    return Task(X, sign, content.hexdigest())


def say_missing() -> str:
    """Say where the tasks should be."""
    return (
        "The text tasks are not here. Put the files of TechTC-300, or others with two "
        "classes of texts, as npz (CSR arrays data, indices, indptr, shape; y; "
        "feature_names) into a folder techtc inside the folder that VERIDICAL_DATA "
        "names."
    )
