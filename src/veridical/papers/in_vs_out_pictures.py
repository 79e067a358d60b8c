"""The comparison paper's tables and what its figures are about, from our cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from veridical._core.records import Interval
from veridical.experiments.findings import Curve, Picture, StudyTable
from veridical.papers.in_vs_out_example import SIZE, SOURCE, find_examples, make_table_3
from veridical.papers.in_vs_out_figures import (
    CLASSIFIER_TITLES,
    CONTINUOUS,
    METHODS,
    TITLES,
    Block,
    Figures,
)

#: Who was more truthful, in the letters of the paper's Table 2, and what is true.
BETTER = {"I": "IN better", "O": "OUT better", "S": "same"}
TRUE = {1: "W", -1: "L", 0: "D"}


def _title(selector: str) -> str:
    return TITLES.get(selector, selector)


# -- tables --------------------------------------------------------------------------


def make_tables(figures: Figures) -> Iterator[StudyTable]:
    """Tables 1 to 3 of the paper, and what was said by what is true."""
    if not figures.blocks:
        return
    yield _table_1(figures)
    for pair, cells in figures.cells.groupby(["first", "second"], sort=False):
        yield _table_2(str(pair[0]), str(pair[1]), cells)
    yield _confusion(figures)
    table_3 = make_table_3(figures)
    if table_3 is not None:
        yield table_3


def _table_1(figures: Figures) -> StudyTable:
    rows = []
    for source in figures.sources():
        blocks = figures.of_source(source)
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


def _confusion(figures: Figures) -> StudyTable:
    """What IN and OUT said of single data sets, by what is true: 3 × 3 each."""
    counts: dict[str, dict[str, np.ndarray]] = {}
    for pair in figures.pairs:
        table = counts.setdefault(
            pair.block.source, {m: np.zeros((3, 3), dtype=np.intp) for m in METHODS}
        )
        for row, true in enumerate(TRUE):
            for method in METHODS:
                said = pair.said[method][pair.true == true]
                for column, verdict in enumerate(TRUE):
                    table[method][row, column] += int((said == verdict).sum())
    rows = []
    for source, table in counts.items():
        for row, letter in enumerate(TRUE.values()):
            total = int(table["in"][row].sum())
            shares = [
                f"{100 * count / total:.1f}" if total else "–"
                for method in METHODS
                for count in table[method][row]
            ]
            rows.append((f"{source}: {letter}", *shares, str(total)))
    said = [f"{m.upper()} says {t}, %" for m in METHODS for t in TRUE.values()]
    return StudyTable(
        "What IN and OUT say of a data set, by what is true",
        ("Source: truth", *said, "Verdicts"),
        tuple(rows),
        (
            "All pairs together; W: the first of the pair (ReliefF before FCBF before "
            "information gain) is better, L: it is worse, D: no significant "
            "difference.",
        ),
    )


# -- pictures ------------------------------------------------------------------------


def draw_pictures(figures: Figures) -> Iterator[Picture]:
    """Biases, verdicts and gaps as N grows: what the paper's figures 3 to 7 show."""
    yield from _bias_pictures(figures)
    yield from _imbalance_pictures(figures)
    yield from _share_pictures(figures)
    yield from _gap_picture(figures)


def _axis(blocks: Sequence[Block]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return (("N, cases in a training set", tuple(str(block.n) for block in blocks)),)


def _over(values: Sequence[Interval], label: str) -> Curve:
    return Curve(label, tuple(range(len(values))), tuple(values))


def _bias_pictures(figures: Figures) -> Iterator[Picture]:
    for source in figures.sources():
        blocks = figures.of_source(source)
        curves = []
        for method in METHODS:
            means = [block.mean_biases[method].interval for block in blocks]
            curves.append(_over(means, method.upper()))
        yield Picture(
            "Bias of IN and OUT by N",
            f"{source}: mean over selectors, numbers of features and classifiers",
            "normalised bias, % of the true accuracy",
            _axis(blocks),
            tuple(curves),
            Interval(0.0, 0.0, 0.0),
        )


def _imbalance_pictures(figures: Figures) -> Iterator[Picture]:
    for source in figures.sources():
        blocks = figures.of_source(source)
        curves = []
        for method in METHODS:
            means = [
                _plain(
                    100
                    * float(
                        np.mean([p.imbalance(method).mean() for p in block.pairs()])
                    )
                )
                for block in blocks
            ]
            curves.append(_over(means, method.upper()))
        yield Picture(
            "Bias imbalance by N",
            f"{source}: mean over pairs, numbers of features and classifiers",
            "difference of the biases of two selectors, points",
            _axis(blocks),
            tuple(curves),
        )


def _plain(value: float) -> Interval:
    """A figure without an interval."""
    return Interval(value, -np.inf, np.inf)


def _share_pictures(figures: Figures) -> Iterator[Picture]:
    """Share of cells by what is true and by who was more truthful, pair by pair."""
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
                        _plain(100 * float((rows[column] == value).mean()))
                        for rows in (part[part["n"] == n] for n in sizes)
                    ]
                    curves.append(_over(shares, label.format(**names)))
                yield Picture(
                    group,
                    f"{names['first']} against {names['second']}: {kind} sources",
                    "% of the cells",
                    (("N, cases in a training set", tuple(map(str, sizes))),),
                    tuple(curves),
                )


def _gap_picture(figures: Figures) -> Iterator[Picture]:
    examples = find_examples(figures)
    if not examples:
        return
    curves = tuple(
        _over([example.gap(m).interval for example in examples.values()], m.upper())
        for m in ("truth", "in", "out")
    )
    yield Picture(
        "The gap between ReliefF and FCBF by N",
        f"SVM, {SOURCE} source, F = {SIZE}",
        "accuracy with ReliefF minus accuracy with FCBF, points",
        (("N, cases in a training set", tuple(str(n) for n in examples)),),
        curves,
        Interval(0.0, 0.0, 0.0),
    )
