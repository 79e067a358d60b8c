"""Results of the comparison study: verdicts and biases of all cells.

The accuracies of one source and one N form a block; everything is computed for all
subset sizes, classifiers and data sets of a block at once, by `paired_t`, `welch_bias`
and `binomial_truthfulness`.

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

from veridical.comparison import binomial_truthfulness, paired_t, welch_bias
from veridical.experiments import (
    Curve,
    Interval,
    Mean,
    Picture,
    StudyTable,
    format_number,
)

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

IN_AND_OUT = ("in", "out")
#: Significance level of all tests.
ALPHA = 0.05

#: Selectors of the paper in the order of its pairs, with the names it gives them.
SELECTOR_TITLES = {
    "relieff": "ReliefF",
    "fcbf": "FCBF",
    "information-gain": "information gain",
}
CLASSIFIER_TITLES = {"svm": "SVM", "nb": "naive Bayes", "1nn": "1-NN", "tree": "C4.5"}
CONTINUOUS = ("linear", "nonlinear")
DISCRETE = ("monks-1", "monks-2", "monks-3")
#: Number of groups of data sets; the jackknife leaves out one at a time.
_GROUPS = 20


def give_verdicts(a: FloatArray, b: FloatArray) -> IntArray:
    """Return verdicts of the paired t-test along the last axis: 1, −1, or 0 (draw)."""
    test = paired_t(a[..., None, :], b[..., None, :], alpha=ALPHA)
    numbers = {"a": 1, "b": -1, "draw": 0}
    return np.vectorize(numbers.__getitem__, otypes=[np.intp])(test.winner)


def find_biases(folds: FloatArray, truth: FloatArray) -> FloatArray:
    """Return fold minus TRUTH accuracy where Welch's test is significant, else 0.

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
    test = welch_bias(folds[..., None, :], truth[..., None, None, :], ALPHA)
    return np.asarray(test.value)


def normalise(folds: FloatArray, truth: FloatArray) -> float:
    """Return the mean over all cells of the normalised bias, in per cent."""
    cells = find_biases(folds, truth).mean(axis=-1) / truth.mean(axis=-1)
    return 100 * float(cells.mean())


def jackknife(values: Sequence[FloatArray], statistic: Callable[..., float]) -> Mean:
    """Return a statistic of all data sets, with its jackknife standard error.

    Fold accuracies are compared with the mean true accuracy of the same data sets; a
    standard error over single data sets would treat that mean as known.

    Parameters
    ----------
    values : sequence of arrays
        Arrays whose fourth axis is over data sets.
    statistic : callable
        Function of the arrays, or of parts of them.
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


@dataclass(frozen=True, eq=False)
class SourceResults:
    """The accuracies of one source and one N; see the notation of the module."""

    source: str
    n: int
    selectors: tuple[str, ...]
    sizes: tuple[int, ...]
    classifiers: tuple[str, ...]
    truth: FloatArray
    folds: dict[str, FloatArray]

    @property
    def n_sets(self) -> int:
        """Number of data sets."""
        return int(self.truth.shape[-1])

    @cached_property
    def biases(self) -> dict[str, FloatArray]:
        """Significant bias of every data set, (S, F, C, B) for IN and OUT."""
        return {m: find_biases(self.folds[m], self.truth) for m in IN_AND_OUT}

    @cached_property
    def normalised(self) -> dict[str, FloatArray]:
        """Biases as shares of the mean TRUTH accuracy of their cell."""
        mean = self.truth.mean(axis=-1, keepdims=True)
        return {m: biases / mean for m, biases in self.biases.items()}

    @cached_property
    def mean_biases(self) -> dict[str, Mean]:
        """Normalised bias in per cent, over all cells, with its error."""
        return {
            m: jackknife((self.folds[m], self.truth), normalise) for m in IN_AND_OUT
        }

    def pairs(self) -> Iterator[SelectorPair]:
        """Yield every pair of selectors."""
        for i, j in combinations(range(len(self.selectors)), 2):
            yield SelectorPair(self, i, j)


@dataclass(frozen=True, eq=False)
class SelectorPair:
    """Two selectors on one block: its cells are sizes times classifiers."""

    block: SourceResults
    first: int
    second: int

    @property
    def names(self) -> tuple[str, str]:
        """The two selectors."""
        selectors = self.block.selectors
        return selectors[self.first], selectors[self.second]

    def _verdicts(self, values: FloatArray) -> IntArray:
        return give_verdicts(values[self.first], values[self.second])

    @cached_property
    def true(self) -> IntArray:
        """TRUTH's verdict per cell, (F, C)."""
        return self._verdicts(self.block.truth)

    @cached_property
    def said(self) -> dict[str, IntArray]:
        """Verdicts of IN and OUT per cell and data set, (F, C, B)."""
        return {m: self._verdicts(self.block.folds[m]) for m in IN_AND_OUT}

    @cached_property
    def better(self) -> NDArray[Any]:
        """Which protocol agrees with TRUTH more often: "I", "O" or "S" per cell."""
        right = (self.said[m] == self.true[..., None] for m in IN_AND_OUT)
        better = np.asarray(binomial_truthfulness(*right, alpha=ALPHA).better)
        letters = {"in": "I", "out": "O", "same": "S"}
        return np.vectorize(letters.__getitem__, otypes=["<U1"])(better)

    def imbalance(self, method: str) -> FloatArray:
        """Return the absolute difference of the two biases per cell."""
        biases = self.block.biases[method].mean(axis=-1)
        return np.abs(biases[self.first] - biases[self.second])


@dataclass(frozen=True, eq=False)
class GridResults:
    """All blocks of a study."""

    blocks: tuple[SourceResults, ...]
    n_left_out: int = 0

    @classmethod
    def from_cells(cls, frame: pd.DataFrame) -> GridResults:
        """Sort the cells of a store into blocks.

        A data set with a missing or failed cell is left out as a whole, because
        verdicts compare selectors on the same data.
        """
        good = frame[frame["status"] == "ok"]
        blocks, left_out = [], len(frame) - len(good)
        for key, rows in good.groupby(["source", "n"], sort=True):
            source, n = (str(part) for part in key)
            block, kept = _read_source_results(source, int(n), rows)
            left_out += len(rows) - kept
            if block is not None:
                blocks.append(block)
        order = {name: i for i, name in enumerate((*CONTINUOUS, *DISCRETE))}
        blocks.sort(key=lambda b: (order.get(b.source, len(order)), b.source, b.n))
        return cls(tuple(blocks), left_out)

    @property
    def n_sets(self) -> int:
        """Smallest number of data sets of a block."""
        return min((block.n_sets for block in self.blocks), default=0)

    def sources(self) -> list[str]:
        """Return the sources, continuous ones first."""
        return list(dict.fromkeys(block.source for block in self.blocks))

    def blocks_from(self, source: str) -> list[SourceResults]:
        """Return the blocks of one source, by ascending N."""
        return [block for block in self.blocks if block.source == source]

    @cached_property
    def pairs(self) -> list[SelectorPair]:
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


def _read_source_results(
    source: str, n: int, rows: pd.DataFrame
) -> tuple[SourceResults | None, int]:
    """Return the block of one source and N, and how many cells it contains."""
    known = list(SELECTOR_TITLES)
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
    for method in IN_AND_OUT:
        names = [c for c in rows.columns if c.startswith(f"{method}_")]
        names.sort(key=lambda name: int(name.rpartition("_")[2]))
        values = rows[names].to_numpy(dtype=np.float64)
        folds[method] = values.reshape(*shape, -1, len(names))
    block = SourceResults(
        source,
        n,
        tuple(axes["selector"]),
        tuple(int(size) for size in axes["n_features"]),
        tuple(axes["classifier"]),
        rows["truth"].to_numpy(dtype=np.float64).reshape(*shape, -1),
        folds,
    )
    return block, len(rows)


# -- the worked example, Table 3 ------------------------------------------------------

SOURCE, N, SIZE, CLASSIFIER = "linear", 125, 20, "svm"
WHERE = f"SVM, {SOURCE} source, N = {N}, F = {SIZE}"
SELECTOR_PAIR = ("fcbf", "relieff")

#: Mean accuracies as published, per cent; biases and imbalances follow from them.
PUBLISHED = {
    "out": {"fcbf": 81.56, "relieff": 86.19},
    "truth": {"fcbf": 80.58, "relieff": 84.36},
    "in": {"fcbf": 80.28, "relieff": 82.74},
}


@dataclass(frozen=True, eq=False)
class Table3Example:
    """Accuracies of the paper's example at one N, in per cent."""

    pair: SelectorPair
    size: int
    classifier: int

    @classmethod
    def find_in(cls, block: SourceResults) -> Table3Example | None:
        """Return the example in a block; None where the block does not contain it."""
        if SIZE not in block.sizes or CLASSIFIER not in block.classifiers:
            return None
        for pair in block.pairs():
            if pair.names == ("relieff", "fcbf"):
                size = block.sizes.index(SIZE)
                return cls(pair, size, block.classifiers.index(CLASSIFIER))
        return None

    @property
    def n_sets(self) -> int:
        """Number of data sets."""
        return self.pair.block.n_sets

    def values(self, method: str, selector: str) -> FloatArray:
        """Return the accuracy of every data set, averaged over folds."""
        block = self.pair.block
        place = (block.selectors.index(selector), self.size, self.classifier)
        if method == "truth":
            return 100 * block.truth[place]
        return 100 * block.folds[method][place].mean(axis=-1)

    def bias(self, method: str, selector: str) -> Mean:
        """Return the plain bias: accuracy of the folds minus TRUTH, by data set."""
        return Mean.from_values(
            self.values(method, selector) - self.values("truth", selector)
        )

    def gap(self, method: str) -> Mean:
        """Return the accuracy with ReliefF minus that with FCBF, by data set."""
        return Mean.from_values(
            self.values(method, "relieff") - self.values(method, "fcbf")
        )

    def imbalance(self, method: str) -> float:
        """Return the absolute difference of the two plain biases."""
        first, second = (self.bias(method, side).value for side in SELECTOR_PAIR)
        return abs(first - second)


def find_examples(figures: GridResults) -> dict[int, Table3Example]:
    """Return the example at every N."""
    found = {
        block.n: Table3Example.find_in(block) for block in figures.blocks_from(SOURCE)
    }
    return {n: example for n, example in found.items() if example is not None}


def published_bias(method: str, selector: str) -> float:
    """Return the bias in Table 3, in points."""
    return PUBLISHED[method][selector] - PUBLISHED["truth"][selector]


def make_table_3(figures: GridResults) -> StudyTable | None:
    """Tabulate our results beside Table 3."""
    example = find_examples(figures).get(N)
    if example is None:
        return None
    rows = [
        (
            f"{method.upper()}: mean accuracy, %",
            *_ours_and_published(
                [
                    Mean.from_values(example.values(method, side)).value
                    for side in SELECTOR_PAIR
                ],
                [PUBLISHED[method][side] for side in SELECTOR_PAIR],
                signed=False,
            ),
            "",
            "",
        )
        for method in ("out", "truth", "in")
    ]
    for method in ("out", "in"):
        theirs = [published_bias(method, side) for side in SELECTOR_PAIR]
        ours = [example.bias(method, side).value for side in SELECTOR_PAIR]
        rows.append(
            (
                f"{method.upper()}: bias, points",
                *_ours_and_published(ours, theirs, signed=True),
                f"{example.imbalance(method):.2f}",
                f"{abs(theirs[0] - theirs[1]):.2f}",
            )
        )
    titles = [SELECTOR_TITLES[side] for side in SELECTOR_PAIR]
    header = ("", *(w for t in titles for w in (t, "published")))
    return StudyTable(
        f"Table 3: an example ({WHERE})",
        (*header, "Imbalance", "published"),
        tuple(rows),
        (
            f"Means over {example.n_sets} data sets. Bias: accuracy by the folds minus "
            "TRUTH. Imbalance: difference of the two biases.",
        ),
    )


def _ours_and_published(
    ours: list[float], theirs: list[float], *, signed: bool
) -> list[str]:
    pairs = zip(ours, theirs, strict=True)
    return [format_number(value, 2, signed=signed) for pair in pairs for value in pair]


# -- tables and pictures --------------------------------------------------------------

#: The more truthful protocol and the true verdict, in the letters of Table 2.
BETTER = {"I": "IN better", "O": "OUT better", "S": "same"}
TRUE = {1: "W", -1: "L", 0: "D"}


def _title(selector: str) -> str:
    return SELECTOR_TITLES.get(selector, selector)


def make_tables(figures: GridResults) -> Iterator[StudyTable]:
    """Make tables 1 to 3 of the paper, and verdicts by true verdict."""
    if not figures.blocks:
        return
    yield _table_1(figures)
    for pair, cells in figures.cells.groupby(["first", "second"], sort=False):
        yield _table_2(str(pair[0]), str(pair[1]), cells)
    yield _confusion(figures)
    table_3 = make_table_3(figures)
    if table_3 is not None:
        yield table_3


def _table_1(figures: GridResults) -> StudyTable:
    rows = []
    for source in figures.sources():
        blocks = figures.blocks_from(source)
        rows.append(
            (
                source,
                _listed(block.n for block in blocks),
                _listed(sorted({size for block in blocks for size in block.sizes})),
                str(min(block.n_sets for block in blocks)),
                "125, 250, …, 1000" if source in CONTINUOUS else "40, 60, …, 180",
                "3, 5, 10, 20, 40" if source in CONTINUOUS else "1, 2, 3, 4, 5",
                "100",
            )
        )
    header = ("Source", "N", "F", "Sets", "N published", "F published", "Sets")
    used = {name for block in figures.blocks for name in block.classifiers}
    classifiers = ", ".join(t for name, t in CLASSIFIER_TITLES.items() if name in used)
    return StudyTable(
        "Table 1: what was varied",
        header,
        tuple(rows),
        (f"Classifiers: {classifiers}.",),
    )


def _listed(values: Iterator[int] | Sequence[int]) -> str:
    return ", ".join(str(value) for value in values)


def _table_2(first: str, second: str, cells: pd.DataFrame) -> StudyTable:
    columns = [(who, true) for who in BETTER for true in TRUE]
    rows = []
    groups = [(str(name), part) for name, part in cells.groupby("source", sort=False)]
    for name, part in [*groups, ("all", cells)]:
        counts = [
            int(((part["better"] == who) & (part["true"] == true)).sum())
            for who, true in columns
        ]
        rows.append((name, *(str(count) for count in counts), str(len(part))))
    header = [f"{BETTER[who]}: {TRUE[true]}" for who, true in columns]
    return StudyTable(
        f"Table 2: which protocol was more truthful, {_title(first)} against "
        f"{_title(second)}",
        ("Source", *header, "Cells"),
        tuple(rows),
        (
            f"Counts of cells. W: {_title(first)} is truly better, L: truly worse, D: "
            "no significant difference. The published counts are lost.",
        ),
    )


def _confusion(figures: GridResults) -> StudyTable:
    """Tabulate the verdicts of IN and OUT on data sets, by true verdict."""
    counts: dict[str, dict[str, np.ndarray]] = {}
    for pair in figures.pairs:
        table = counts.setdefault(
            pair.block.source, {m: np.zeros((3, 3), dtype=np.intp) for m in IN_AND_OUT}
        )
        for row, true in enumerate(TRUE):
            for method in IN_AND_OUT:
                said = pair.said[method][pair.true == true]
                for column, verdict in enumerate(TRUE):
                    table[method][row, column] += int((said == verdict).sum())
    rows = []
    for source, table in counts.items():
        for row, letter in enumerate(TRUE.values()):
            total = int(table["in"][row].sum())
            shares = [
                f"{100 * count / total:.1f}" if total else "–"
                for method in IN_AND_OUT
                for count in table[method][row]
            ]
            rows.append((f"{source}: {letter}", *shares, str(total)))
    said = [f"{m.upper()} says {t}, %" for m in IN_AND_OUT for t in TRUE.values()]
    return StudyTable(
        "Verdicts of IN and OUT on a data set, by true verdict",
        ("Source: truth", *said, "Verdicts"),
        tuple(rows),
        (
            "All pairs together; W: the first of the pair (ReliefF before FCBF before "
            "information gain) is better, L: it is worse, D: no significant "
            "difference.",
        ),
    )


# -- pictures ------------------------------------------------------------------------


def draw_pictures(figures: GridResults) -> Iterator[Picture]:
    """Draw biases, verdicts and gaps by N, as in the paper's figures 3 to 7."""
    yield from _bias_pictures(figures)
    yield from _imbalance_pictures(figures)
    yield from _share_pictures(figures)
    yield from _gap_picture(figures)


def _axis(blocks: Sequence[SourceResults]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return (("N, samples in a training set", tuple(str(block.n) for block in blocks)),)


def _curve(values: Sequence[Interval], label: str) -> Curve:
    return Curve(label, tuple(range(len(values))), tuple(values))


def _bias_pictures(figures: GridResults) -> Iterator[Picture]:
    for source in figures.sources():
        blocks = figures.blocks_from(source)
        curves = []
        for method in IN_AND_OUT:
            means = [block.mean_biases[method].interval for block in blocks]
            curves.append(_curve(means, method.upper()))
        yield Picture(
            "Bias of IN and OUT by N",
            f"{source}: mean over selectors, numbers of features and classifiers",
            "normalised bias, % of the true accuracy",
            _axis(blocks),
            tuple(curves),
            Interval(0.0, 0.0, 0.0),
        )


def _imbalance_pictures(figures: GridResults) -> Iterator[Picture]:
    for source in figures.sources():
        blocks = figures.blocks_from(source)
        curves = []
        for method in IN_AND_OUT:
            means = [
                _without_interval(
                    100
                    * float(
                        np.mean([p.imbalance(method).mean() for p in block.pairs()])
                    )
                )
                for block in blocks
            ]
            curves.append(_curve(means, method.upper()))
        yield Picture(
            "Bias imbalance by N",
            f"{source}: mean over pairs, numbers of features and classifiers",
            "difference of the biases of two selectors, points",
            _axis(blocks),
            tuple(curves),
        )


def _without_interval(value: float) -> Interval:
    """Return a value without an interval."""
    return Interval(value, -np.inf, np.inf)


def _share_pictures(figures: GridResults) -> Iterator[Picture]:
    """Draw shares of cells by true verdict and by more truthful protocol."""
    groups: dict[str, tuple[str, dict[Any, str]]] = {
        "Who is truly better, by N": (
            "true",
            {1: "{first} better", -1: "{second} better", 0: "no difference"},
        ),
        "Which protocol is more truthful, by N": ("better", BETTER),
    }
    for group, (column, labels) in groups.items():
        for pair, cells in figures.cells.groupby(["first", "second"], sort=False):
            names = {"first": _title(str(pair[0])), "second": _title(str(pair[1]))}
            for kind, wanted in (("continuous", True), ("MONK", False)):
                part = cells[cells["source"].isin(CONTINUOUS) == wanted]
                if part.empty:
                    continue
                sizes = sorted(part["n"].unique())
                curves = []
                for value, label in labels.items():
                    shares = [
                        _without_interval(100 * float((rows[column] == value).mean()))
                        for rows in (part[part["n"] == n] for n in sizes)
                    ]
                    curves.append(_curve(shares, label.format(**names)))
                yield Picture(
                    group,
                    f"{names['first']} against {names['second']}: {kind} sources",
                    "% of the cells",
                    (("N, samples in a training set", tuple(map(str, sizes))),),
                    tuple(curves),
                )


def _gap_picture(figures: GridResults) -> Iterator[Picture]:
    examples = find_examples(figures)
    if not examples:
        return
    curves = tuple(
        _curve([example.gap(m).interval for example in examples.values()], m.upper())
        for m in ("truth", "in", "out")
    )
    yield Picture(
        "The gap between ReliefF and FCBF by N",
        f"SVM, {SOURCE} source, F = {SIZE}",
        "accuracy with ReliefF minus accuracy with FCBF, points",
        (("N, samples in a training set", tuple(str(n) for n in examples)),),
        curves,
        Interval(0.0, 0.0, 0.0),
    )
