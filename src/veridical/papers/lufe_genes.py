"""Gene expression beside the texts: two-class tasks that the LUFe paper does not have.

In every data set the largest class is told from the rest, so that nobody chose the
task; a set with fewer than 20 cases on either side is left out. Values are logarithms,
every array brought to mean 0 and variance 1, genes that hardly vary dropped where the
file holds raw intensities: on all samples, but without their labels.
"""

from __future__ import annotations

import numpy as np

from veridical._core.arrays import FloatArray
from veridical._core.numbers import pvalue, with_range
from veridical.datasets import available, load
from veridical.experiments.findings import StudyTable
from veridical.papers.differential_data import DATA, get_arrays
from veridical.papers.lufe_figures import Figures, Pair, name_of, share_of
from veridical.selection import ExpressionFilter

PREFIX = "genes/"
#: As in the study of differential prioritization, and one more; the smallest first.
_NAMES = ("colon", "amlall", "mll", "srbc", "lung", "gcm", "pdl")
_METHODS = ("all", "rfe", "lufe-rfe", "anova", "lufe-anova", "lufe-rfe-random")


def _file(name: str) -> str:
    return name if name == "colon" else DATA[name].file


def present_genes() -> tuple[str, ...]:
    """Name the gene tasks that can be had here."""
    files = set(available())
    return tuple(PREFIX + name for name in _NAMES if _file(name) in files)


def read_genes(task: str) -> tuple[FloatArray, FloatArray, str]:
    """Read values, signs (+1 for the largest class) and the name of that class."""
    name = task.removeprefix(PREFIX)
    if name == "colon":
        raw, y = load("colon")
        whole = ExpressionFilter(
            low=None, high=None, min_fold=None, min_difference=None
        )
        X = whole.fit_transform(np.asarray(raw, dtype=np.float64))
        classes, codes = np.unique(np.asarray(y).astype(str), return_inverse=True)
    else:
        arrays = get_arrays(name)
        X, codes, classes = arrays.X, arrays.codes, np.array(arrays.classes)
    largest = int(np.bincount(codes).argmax())
    return X, np.where(codes == largest, 1.0, -1.0), str(classes[largest])


def tabulate_genes(figures: Figures) -> tuple[StudyTable, ...]:
    """Give accuracies and gains over the gene tasks, and task by task."""
    rows = []
    for k in [0, *figures.sizes()]:
        for method in _METHODS:
            found = figures.get(method, k, share_of(method))
            if found is None:
                continue
            kind = method.removeprefix("lufe-").removesuffix("-random")
            mine = (method, k, share_of(method))
            over = figures.pair(mine, ("all", 0, 0)) if k else None
            gain = figures.pair(mine, (kind, k, 0)) if kind != method else None
            rows.append(
                (_name(method, k), f"{np.nanmean(found):.2f}", _say(over), _say(gain))
            )
    header = (
        "Setting", "Accuracy, %", "Gain over all genes, points",
        "Gain over the selector, points",
    )  # fmt: skip
    notes = (
        "Gains: mean over data sets with its 95 % interval, data sets with a gain of "
        "all, and the sign test. The paper has no gene data.",
    )
    title = "Gene expression, the largest class against the rest"
    return StudyTable(title, header, tuple(rows), notes), _one_by_one(figures)


def _one_by_one(figures: Figures) -> StudyTable:
    columns = [
        (method, k, share_of(method))
        for k in [0, *figures.sizes()]
        for method in _METHODS
        if figures.get(method, k, share_of(method)) is not None
    ]
    values = [figures.get(*column) for column in columns]
    rows = tuple(
        (
            task.removeprefix(PREFIX),
            *("–" if v is None or np.isnan(v[i]) else f"{v[i]:.1f}" for v in values),
        )
        for i, task in enumerate(figures.tasks)
    )
    header = ("Data set", *(_name(method, k) for method, k, _ in columns))
    return StudyTable("Gene expression, accuracy in % by data set", header, rows, ())


def _name(method: str, k: int) -> str:
    return "all genes" if method == "all" else name_of(method, k)


def _say(pair: Pair | None) -> str:
    if pair is None:
        return "–"
    text = with_range(*pair.mean.interval, 2, signed=True)
    return f"{text}, {pair.wins} of {len(pair.gains)}, {pvalue(pair.pvalue)}"
