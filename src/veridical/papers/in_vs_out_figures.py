"""What the comparison paper's findings are made of: verdicts and biases, cell by cell.

The accuracies of one source and one N form a block; everything is computed for all
subset sizes, classifiers and data sets of a block at once. Single cells agree with
`paired_t`, `welch_bias` and `binomial_truthfulness`.

| symbol   | meaning                                              | shape           |
|----------|------------------------------------------------------|-----------------|
| S, F, C  | selectors, numbers of features, classifiers          |                 |
| B, k     | data sets, folds                                     |                 |
| truth    | TRUTH accuracies                                     | (S, F, C, B)    |
| folds[m] | fold accuracies under IN or OUT                      | (S, F, C, B, k) |
| verdict  | 1: the first of a pair wins, −1: it loses, 0: a draw |                 |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtr

from veridical._core.arrays import FloatArray, IntArray
from veridical.comparison.significance import ROUNDING
from veridical.comparison.truthfulness import binomial_truthfulness
from veridical.papers.accuracy_figures import Mean

METHODS = ("in", "out")
ALPHA = 0.05

#: Selectors of the paper in the order of its pairs, with the names it gives them.
TITLES = {"relieff": "ReliefF", "fcbf": "FCBF", "information-gain": "information gain"}
CLASSIFIER_TITLES = {"svm": "SVM", "nb": "naive Bayes", "1nn": "1-NN", "tree": "C4.5"}
CONTINUOUS = ("linear", "nonlinear")
DISCRETE = ("monks-1", "monks-2", "monks-3")
#: Groups of data sets that the jackknife leaves out in turn.
_GROUPS = 20


def give_verdicts(d: FloatArray) -> IntArray:
    """Decide by the paired t-test on differences along the last axis."""
    n = d.shape[-1]
    mean = d.mean(axis=-1)
    mean = np.where(np.abs(mean) > ROUNDING, mean, 0.0)
    varied = np.ptp(d, axis=-1) > ROUNDING
    error = np.where(varied, d.std(axis=-1, ddof=1) / np.sqrt(n), 0.0)
    p = _two_sided(mean, error, np.full(mean.shape, n - 1.0))
    return np.where(p < ALPHA, np.sign(mean), 0).astype(np.intp)


def find_biases(folds: FloatArray, truth: FloatArray) -> FloatArray:
    """Difference of fold and TRUTH accuracies where Welch's test sees one, else 0.

    Parameters
    ----------
    folds : array of shape (..., B, k)
        Accuracies of the folds of each data set.
    truth : array of shape (..., B)
        TRUTH accuracies of all data sets.

    Returns
    -------
    array of shape (..., B)
    """
    difference = folds.mean(axis=-1) - truth.mean(axis=-1)[..., None]
    difference = np.where(np.abs(difference) > ROUNDING, difference, 0.0)
    own = _variance(folds) / folds.shape[-1]
    true = (_variance(truth) / truth.shape[-1])[..., None]
    total = own + true
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = own**2 / (folds.shape[-1] - 1) + true**2 / (truth.shape[-1] - 1)
        df = np.where(total > 0, total**2 / spread, 1.0)
    p = _two_sided(difference, np.sqrt(total), df)
    return np.where(p < ALPHA, difference, 0.0)


def normalise(folds: FloatArray, truth: FloatArray) -> float:
    """Mean over all cells of the normalised bias, in per cent."""
    cells = find_biases(folds, truth).mean(axis=-1) / truth.mean(axis=-1)
    return 100 * float(cells.mean())


def jackknife(values: Sequence[FloatArray], statistic: Callable[..., float]) -> Mean:
    """A statistic of all data sets, with its error by leaving groups of them out.

    Fold accuracies are compared with the mean true accuracy, which comes from the same
    data sets: an error over single data sets would take it as known.

    Parameters
    ----------
    values : sequence of arrays
        Their fourth axis counts data sets.
    statistic : callable
        Called with the arrays, or with parts of them.
    """
    n_sets = values[0].shape[3]
    n_groups = min(_GROUPS, n_sets)
    if n_sets < 3:
        return Mean(statistic(*values), np.inf, 1, n_sets)
    group = np.arange(n_sets) % n_groups
    left = np.array(
        [
            statistic(*(part[:, :, :, group != g] for part in values))
            for g in range(n_groups)
        ]
    )
    error = np.sqrt((n_groups - 1) / n_groups * np.sum((left - left.mean()) ** 2))
    return Mean(statistic(*values), float(error), n_groups - 1, n_sets)


def _variance(values: FloatArray) -> FloatArray:
    spread = np.ptp(values, axis=-1) > ROUNDING
    return np.where(spread, values.var(axis=-1, ddof=1), 0.0)


def _two_sided(mean: FloatArray, error: FloatArray, df: FloatArray) -> FloatArray:
    """P-values of Student's t; without any error, all or nothing."""
    some = error > 0
    t = np.divide(mean, error, out=np.zeros_like(mean), where=some)
    p = 2 * stdtr(df, -np.abs(t))
    return np.where(some, p, np.where(mean == 0, 1.0, 0.0))


@dataclass(frozen=True, eq=False)
class Block:
    """The accuracies of one source and one N; see the notation above."""

    source: str
    n: int
    selectors: tuple[str, ...]
    sizes: tuple[int, ...]
    classifiers: tuple[str, ...]
    truth: FloatArray
    folds: dict[str, FloatArray]

    @property
    def n_sets(self) -> int:
        """How many data sets there are."""
        return int(self.truth.shape[-1])

    @cached_property
    def biases(self) -> dict[str, FloatArray]:
        """Significant bias of every data set, (S, F, C, B) for IN and OUT."""
        return {m: find_biases(self.folds[m], self.truth) for m in METHODS}

    @cached_property
    def normalised(self) -> dict[str, FloatArray]:
        """Biases as shares of the mean TRUTH accuracy of their cell."""
        mean = self.truth.mean(axis=-1, keepdims=True)
        return {m: biases / mean for m, biases in self.biases.items()}

    @cached_property
    def mean_biases(self) -> dict[str, Mean]:
        """Normalised bias in per cent, over all cells, with its error."""
        return {m: jackknife((self.folds[m], self.truth), normalise) for m in METHODS}

    def pairs(self) -> Iterator[Pair]:
        """Judge every two selectors."""
        for i, j in combinations(range(len(self.selectors)), 2):
            yield Pair(self, i, j)


@dataclass(frozen=True, eq=False)
class Pair:
    """Two selectors on one block: its cells are sizes times classifiers."""

    block: Block
    first: int
    second: int

    @property
    def names(self) -> tuple[str, str]:
        """The two selectors."""
        selectors = self.block.selectors
        return selectors[self.first], selectors[self.second]

    def _difference(self, values: FloatArray) -> FloatArray:
        return values[self.first] - values[self.second]

    @cached_property
    def true(self) -> IntArray:
        """TRUTH's verdict per cell, (F, C)."""
        return give_verdicts(self._difference(self.block.truth))

    @cached_property
    def said(self) -> dict[str, IntArray]:
        """Verdicts of IN and OUT per cell and data set, (F, C, B)."""
        return {
            m: give_verdicts(self._difference(self.block.folds[m])) for m in METHODS
        }

    @cached_property
    def better(self) -> NDArray[Any]:
        """Which protocol told the truth more often: "I", "O" or "S" per cell."""
        right = {m: self.said[m] == self.true[..., None] for m in METHODS}
        only_in = (right["in"] & ~right["out"]).sum(axis=-1)
        only_out = (right["out"] & ~right["in"]).sum(axis=-1)
        letters = {"in": "I", "out": "O", "same": "S"}
        result = np.empty(self.true.shape, dtype="<U1")
        for cell in np.ndindex(*self.true.shape):
            test = binomial_truthfulness(
                int(only_in[cell]), int(only_out[cell]), alpha=ALPHA
            )
            result[cell] = letters[test.better]
        return result

    def imbalance(self, method: str) -> FloatArray:
        """How unequally a protocol treats the two: ``|bias(a) − bias(b)|`` per cell."""
        return np.abs(self._difference(self.block.biases[method].mean(axis=-1)))


@dataclass(frozen=True, eq=False)
class Figures:
    """All blocks of a study."""

    blocks: tuple[Block, ...]
    n_left_out: int = 0

    @classmethod
    def of(cls, frame: pd.DataFrame) -> Figures:
        """Sort the cells of a store into blocks.

        A data set of which a cell is missing or failed is left out as a whole: verdicts
        are about pairs of the same data.
        """
        good = frame[frame["status"] == "ok"]
        blocks, left_out = [], len(frame) - len(good)
        for key, rows in good.groupby(["source", "n"], sort=True):
            source, n = (str(part) for part in key)
            block, kept = _block(source, int(n), rows)
            left_out += len(rows) - kept
            if block is not None:
                blocks.append(block)
        order = {name: i for i, name in enumerate((*CONTINUOUS, *DISCRETE))}
        blocks.sort(key=lambda b: (order.get(b.source, len(order)), b.source, b.n))
        return cls(tuple(blocks), left_out)

    @property
    def n_sets(self) -> int:
        """Data sets of the block that has fewest."""
        return min((block.n_sets for block in self.blocks), default=0)

    def sources(self) -> list[str]:
        """Name the sources, continuous ones first."""
        return list(dict.fromkeys(block.source for block in self.blocks))

    def of_source(self, source: str) -> list[Block]:
        """Blocks of one source by rising N."""
        return [block for block in self.blocks if block.source == source]

    @cached_property
    def pairs(self) -> list[Pair]:
        """Every pair on every block."""
        return [pair for block in self.blocks for pair in block.pairs()]

    @cached_property
    def cells(self) -> pd.DataFrame:
        """One row per cell: source, n, pair, size, classifier, true, better."""
        rows = [
            (
                pair.block.source,
                pair.block.n,
                *pair.names,
                pair.block.sizes[f],
                pair.block.classifiers[c],
                int(pair.true[f, c]),
                str(pair.better[f, c]),
            )
            for pair in self.pairs
            for f, c in np.ndindex(*pair.true.shape)
        ]
        names = ("source", "n", "first", "second", "size", "classifier", "true")
        return pd.DataFrame(rows, columns=[*names, "better"])


def _block(source: str, n: int, rows: pd.DataFrame) -> tuple[Block | None, int]:
    """Arrange the cells of one source and N; also how many found a place."""
    known = list(TITLES)
    axes = {
        "selector": sorted(
            rows["selector"].unique(),
            key=lambda s: (known.index(s) if s in known else len(known), s),
        ),
        "n_features": sorted(rows["n_features"].unique()),
        "classifier": [c for c in CLASSIFIER_TITLES if (rows["classifier"] == c).any()],
    }
    shape = tuple(len(values) for values in axes.values())
    rows = rows[rows["classifier"].isin(axes["classifier"])]
    whole = rows.groupby("set")["status"].transform("size") == np.prod(shape)
    rows = rows[whole]
    if rows["set"].nunique() < 2:
        return None, 0
    place = [
        rows[name].map({value: i for i, value in enumerate(values)})
        for name, values in axes.items()
    ]
    rows = rows.iloc[np.lexsort((rows["set"], *reversed(place)))]
    folds = {}
    for method in METHODS:
        names = [c for c in rows.columns if c.startswith(f"{method}_")]
        names.sort(key=lambda name: int(name.rpartition("_")[2]))
        values = rows[names].to_numpy(dtype=np.float64)
        folds[method] = values.reshape(*shape, -1, len(names))
    block = Block(
        source,
        n,
        tuple(axes["selector"]),
        tuple(int(size) for size in axes["n_features"]),
        tuple(axes["classifier"]),
        rows["truth"].to_numpy(dtype=np.float64).reshape(*shape, -1),
        folds,
    )
    return block, len(rows)
