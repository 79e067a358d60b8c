"""Results of the LUFe study: accuracies per task, gains, tables and pictures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from veridical.comparison import sign_test
from veridical.experiments import (
    Curve,
    Interval,
    Mean,
    Picture,
    StudyTable,
    format_interval,
    format_pvalue,
)

#: Prefix of the files made from 20 Newsgroups, which replace TechTC-300.
STAND_IN = "techtc/ng20_"
#: Prefix of the tasks of gene expression.
GENES = "genes/"

#: Table 1 of the paper: accuracy in per cent; wins of 49 and mean gain over ALL; the
#: same over the selector.
PUBLISHED: dict[tuple[str, int], tuple[float, Any, Any]] = {
    ("all", 0): (72.04, None, None),
    ("rfe", 300): (73.85, (33, 1.81), None),
    ("lufe-rfe", 300): (75.82, (41, 3.78), (44, 1.97)),
    ("rfe", 500): (74.11, (36, 2.07), None),
    ("lufe-rfe", 500): (75.76, (45, 3.72), (43, 1.65)),
    ("anova", 300): (74.77, (37, 2.73), None),
    ("lufe-anova", 300): (77.42, (45, 5.38), (44, 2.65)),
    ("anova", 500): (74.26, (36, 2.22), None),
    ("lufe-anova", 500): (76.81, (44, 4.77), (44, 2.55)),
}

_METHOD_NAMES = {
    "all": "all words",
    "rfe": "RFE-{k}",
    "anova": "ANOVA-{k}",
    "lufe-rfe": "LUFe-RFE-{k}",
    "lufe-anova": "LUFe-ANOVA-{k}",
    "lufe-rfe-random": "LUFe-RFE-{k} with noise",
    "rfe-augmented": "RFE-{k} augmented",
}
_METHODS = ("all", "rfe", "lufe-rfe", "anova", "lufe-anova", "lufe-rfe-random")


def method_name(method: str, k: int) -> str:
    """Return the name of a method in the paper."""
    return _METHOD_NAMES[method].format(k=k)


def share_of(method: str) -> int:
    """Return the percentage of unselected features that a method of table 1 uses."""
    return 100 if method.startswith("lufe") else 0


@dataclass(frozen=True)
class MethodPair:
    """Gains of one method over another, task by task."""

    gains: NDArray[np.float64]

    @property
    def mean(self) -> Mean:
        """Mean gain in points."""
        return Mean.from_values(self.gains)

    @property
    def wins(self) -> int:
        """Number of tasks on which the first is better."""
        return int((self.gains > 1e-9).sum())

    @property
    def losses(self) -> int:
        """Number of tasks on which the first is worse."""
        return int((self.gains < -1e-9).sum())

    @property
    def pvalue(self) -> float:
        """p-value of the two-sided sign test without ties."""
        if len(self.gains) < 2:
            return 1.0
        gains = np.round(self.gains, 9)
        return sign_test(gains, np.zeros_like(gains)).pvalue

    def words(self) -> str:
        """Write the gain with interval, wins, losses and the sign test."""
        ties = len(self.gains) - self.wins - self.losses
        return (
            f"{self.mean.words(True, 'task')}; better on {self.wins}, worse on "
            f"{self.losses}, equal on {ties}; sign test p = {self.pvalue:.2g}"
        )


@dataclass(frozen=True, eq=False)
class TaskAccuracies:
    """Accuracy in per cent per task (rows) and method, K, share (columns)."""

    means: pd.DataFrame
    n_folds: int

    @classmethod
    def from_cells(cls, frame: pd.DataFrame) -> TaskAccuracies:
        """Average over folds; a task with missing folds keeps the others."""
        ok = frame[frame["status"] == "ok"]
        if ok.empty:
            return cls(pd.DataFrame(), 0)
        keys = ["method", "k", "share"]
        table = ok.pivot_table(
            index="data", columns=keys, values="accuracy", aggfunc="mean"
        )
        counts = ok.groupby(["data", *keys]).size()
        return cls(100 * table.sort_index(), int(counts.min()))

    @property
    def tasks(self) -> list[str]:
        """Names of the tasks."""
        return list(self.means.index)

    def _keys(self) -> list[tuple[str, int, int]]:
        keys: list[Any] = self.means.columns.tolist()
        return [(str(m), int(k), int(t)) for m, k, t in keys]

    def get(self, method: str, k: int, share: int) -> NDArray[np.float64] | None:
        """Return the accuracies of a method over tasks; NaN where one is missing."""
        key = (method, k, share)
        return self.means[key].to_numpy() if key in self.means else None

    def pair(
        self, a: tuple[str, int, int], b: tuple[str, int, int]
    ) -> MethodPair | None:
        """Return first minus second, over the tasks that have both."""
        first, second = self.get(*a), self.get(*b)
        if first is None or second is None:
            return None
        gains = (first - second)[~np.isnan(first - second)]
        return MethodPair(gains) if gains.size else None

    def sizes(self) -> list[int]:
        """Return the numbers K of selected features."""
        return sorted({k for _, k, _ in self._keys() if k})

    def shares(self, method: str, k: int) -> list[int]:
        """Return the percentages of the curve."""
        return sorted({t for m, n, t in self._keys() if (m, n) == (method, k)})


# -- tables and pictures -------------------------------------------------------------


def make_table_1(figures: TaskAccuracies) -> StudyTable:
    """Compare our accuracies and gains with the published ones."""
    header = (
        "Setting", "Accuracy, %", "published", "Gain over all words, points",
        "published", "Gain over the selector, points", "published",
    )  # fmt: skip
    rows = []
    for k in [0, *figures.sizes()]:
        for method in ("all", "rfe", "lufe-rfe", "anova", "lufe-anova"):
            found = figures.get(method, k, share_of(method))
            if found is None:
                continue
            value, over_all, over_kind = PUBLISHED.get((method, k), (None, None, None))
            kind = method.removeprefix("lufe-")
            mine = (method, k, share_of(method))
            rows.append(
                (
                    method_name(method, k),
                    f"{np.nanmean(found):.2f}",
                    "–" if value is None else f"{value:.2f}",
                    _gain(figures.pair(mine, ("all", 0, 0)) if k else None),
                    _published(over_all),
                    _gain(figures.pair(mine, (kind, k, 0)) if kind != method else None),
                    _published(over_kind),
                )
            )
    notes = (
        "Gains: mean over tasks with its 95 % interval, and the tasks with a gain of "
        "all; published ones are on 49 tasks of TechTC-300.",
    )
    return StudyTable("Table 1: accuracy", header, tuple(rows), notes)


def _gain(pair: MethodPair | None, *, test: bool = False) -> str:
    """Write a gain with its interval and wins, and the p-value if asked for."""
    if pair is None:
        return "–"
    text = format_interval(*pair.mean.interval, 2, signed=True)
    pvalue = f", {format_pvalue(pair.pvalue)}" if test else ""
    return f"{text}, {pair.wins} of {len(pair.gains)}{pvalue}"


def _published(known: tuple[int, float] | None) -> str:
    return "–" if known is None else f"{known[1]:+.2f}, {known[0]} of 49"


def tabulate_choices(frame: pd.DataFrame, title: str) -> StudyTable | None:
    """Tabulate which C and γ were chosen most often, over tasks and folds.

    Parameters
    ----------
    frame : DataFrame
        The cells: method, k, share, status, C, gamma, gap.
    title : str
        What the cells are about.
    """
    rows = []
    if "C" in frame:
        ok = frame[(frame["status"] == "ok") & frame["method"].isin(_METHODS)]
        ok = ok[ok["share"] == ok["method"].map(share_of)]
        for k, method in product(sorted(ok["k"].unique()), _METHODS):
            cells = ok[(ok["k"] == k) & (ok["method"] == method)]
            if cells.empty:
                continue
            gap = cells["gap"].max() if "gap" in cells else np.nan
            chosen = (_most_often(cells, name) for name in ("C", "gamma"))
            written = "–" if np.isnan(gap) else f"{gap:.0e}"
            rows.append((method_name(method, k), str(len(cells)), *chosen, written))
    if not rows:
        return None
    heads = ("Setting", "Folds", "C most often", "γ most often", "Largest duality gap")
    notes = ("In brackets, in how many of the folds; the gap is relative.",)
    return StudyTable(f"Chosen parameters, {title}", heads, tuple(rows), notes)


def _most_often(cells: pd.DataFrame, name: str) -> str:
    values = cells[name].dropna() if name in cells else pd.Series(dtype=float)
    if values.empty:
        return "–"
    counts = values.value_counts()
    return f"{counts.index[0]:g} ({100 * counts.iloc[0] / len(values):.0f} %)"


def draw_gains(figures: TaskAccuracies, k: int) -> Iterator[Picture]:
    """Draw figures 1 and 2: gains task by task, the largest first."""
    plus = ("lufe-rfe", k, 100)
    for title, other in (
        (f"LUFe-RFE-{k} against RFE-{k}", ("rfe", k, 0)),
        (
            f"LUFe-RFE-{k} against noise as unselected features",
            ("lufe-rfe-random", k, 100),
        ),
    ):
        first, second = figures.get(*plus), figures.get(*other)
        if first is None or second is None:
            continue
        gains = pd.Series(first - second, index=figures.tasks).dropna()
        gains = gains.sort_values(ascending=False, kind="stable")
        names = tuple(str(task).rsplit("/", 1)[-1] for task in gains.index)
        values = tuple(Interval(v, v, v) for v in map(float, gains))
        yield Picture(
            f"K = {k}",
            title,
            "gain, points",
            (("tasks, by gain", names),),
            (Curve("gain in accuracy", tuple(range(len(names))), values),),
            Interval(0.0, 0.0, 0.0),
        )


def draw_shares(figures: TaskAccuracies) -> Iterator[Picture]:
    """Draw figure 3: accuracy by the percentage of unselected features."""
    for k in figures.sizes():
        shares = figures.shares("lufe-rfe", k)
        if len(shares) < 2:
            continue
        curves = []
        for method in ("lufe-rfe", "rfe-augmented"):
            places, values = [], []
            for place, share in enumerate(shares):
                pair = figures.pair((method, k, share), ("rfe", k, 0))
                if pair is not None:
                    places.append(place)
                    values.append(pair.mean.interval)
            if places:
                curves.append(
                    Curve(method_name(method, k), tuple(places), tuple(values))
                )
        yield Picture(
            f"K = {k}",
            f"Gain over RFE-{k} by the share of unselected features",
            "gain, points",
            (("unselected features, %", tuple(map(str, shares))),),
            tuple(curves),
            Interval(0.0, 0.0, 0.0),
        )


# -- gene expression, which the paper does not have ----------------------------------


def tabulate_genes(figures: TaskAccuracies) -> tuple[StudyTable, ...]:
    """Tabulate accuracies and gains over the gene tasks, and task by task."""
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
                (
                    _gene_name(method, k),
                    f"{np.nanmean(found):.2f}",
                    _gain(over, test=True),
                    _gain(gain, test=True),
                )
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


def _one_by_one(figures: TaskAccuracies) -> StudyTable:
    columns = [
        (method, k, share_of(method))
        for k in [0, *figures.sizes()]
        for method in _METHODS
        if figures.get(method, k, share_of(method)) is not None
    ]
    values = [figures.get(*column) for column in columns]
    rows = tuple(
        (
            task.removeprefix(GENES),
            *("–" if v is None or np.isnan(v[i]) else f"{v[i]:.1f}" for v in values),
        )
        for i, task in enumerate(figures.tasks)
    )
    header = ("Data set", *(_gene_name(method, k) for method, k, _ in columns))
    return StudyTable("Gene expression, accuracy in % by data set", header, rows, ())


def _gene_name(method: str, k: int) -> str:
    return "all genes" if method == "all" else method_name(method, k)
