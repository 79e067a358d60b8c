"""Who is right more often, IN or OUT? The comparison paper's findings that count."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from scipy import stats

from veridical._core.numbers import number
from veridical.experiments.findings import Check
from veridical.papers.accuracy_figures import Mean, average, judge
from veridical.papers.in_vs_out_figures import ALPHA, Figures
from veridical.papers.in_vs_out_words import (
    FEW_SETS,
    PAPER_SETS,
    if_enough,
    share,
    together,
)


def check_truthfulness(figures: Figures) -> Iterator[Check]:
    """Counts of cells by who was more truthful, and of verdicts that contradict."""
    cells = figures.cells
    yield _counted(
        "A4. IN and OUT are mostly as truthful as each other",
        "the majority of cells",
        "more than 60 % of the cells are the same",
        cells["better"] == "S",
        figures,
        lambda share: share > 0.6,
    )
    yield _opposite(figures)
    drawn = cells[(cells["true"] == 0) & (cells["better"] != "S")]
    yield _counted(
        "A6. Where there is truly no difference, IN is right more often",
        "IN",
        "IN is better in more than 60 % of the cells that are truly draws and not the "
        "same",
        drawn["better"] == "I",
        figures,
        lambda share: share > 0.6,
    )
    alike = cells[(cells["first"] == "fcbf") & (cells["second"] == "information-gain")]
    yield _counted(
        "A7. FCBF against information gain: IN and OUT are the same",
        "nearly always",
        "at least 95 % of the cells are the same",
        alike["better"] == "S",
        figures,
        lambda share: share >= 0.95,
    )
    yield _favours_relieff(cells, figures.n_sets)
    yield _no_trend(cells, figures.n_sets)


def _counted(
    statement: str,
    published: str,
    rule: str,
    hits: pd.Series,
    figures: Figures,
    holds: Callable[[float], bool],
) -> Check:
    """Judge the share of cells for which something is so."""
    if hits.empty:
        return Check(statement, "open", published, "no such cell", rule)
    ours = f"{share(int(hits.sum()), len(hits))} cells; {figures.n_sets} sets"
    outcome = if_enough(holds(float(hits.mean())), figures.n_sets, PAPER_SETS)
    return Check(statement, outcome, published, ours, rule)


def _opposite(figures: Figures) -> Check:
    statement = "A5. IN and OUT hardly ever contradict each other"
    published = "hardly ever"
    rule = "one says better and the other worse in less than 1 % of the data sets"
    shares, n_all, n_opposite = [], 0, 0
    for pair in figures.pairs:
        opposite = pair.said["in"] * pair.said["out"] == -1
        shares.append(Mean.of(100 * opposite.mean(axis=(0, 1))))
        n_all += opposite.size
        n_opposite += int(opposite.sum())
    if not shares:
        return Check(statement, "open", published, "no data", rule)
    rare = judge(average(shares).interval, high=1)
    outcome = together((rare, if_enough(True, figures.n_sets, FEW_SETS)))
    ours = (
        f"{n_opposite} of {n_all} pairs of verdicts "
        f"({100 * n_opposite / n_all:.3f} %); {figures.n_sets} sets"
    )
    return Check(statement, outcome, published, ours, rule)


def _favours_relieff(cells: pd.DataFrame, n_sets: int) -> Check:
    statement = (
        "A7. OUT is the better protocol rather where ReliefF is truly better than "
        "where it is truly worse"
    )
    published = "yes, but for MONK-3"
    rule = (
        "among cells that are not the same, without MONK-3, the share of OUT is larger "
        f"(Fisher's exact test, one-sided, p < {ALPHA})"
    )
    chosen = cells[(cells["first"] == "relieff") & (cells["better"] != "S")]
    chosen = chosen[chosen["source"] != "monks-3"]
    counts = [
        [
            int(((chosen["true"] == true) & (chosen["better"] == who)).sum())
            for who in "OI"
        ]
        for true in (1, -1)
    ]
    if not all(sum(row) for row in counts):
        ours = f"ReliefF better: {sum(counts[0])} such cells, worse: {sum(counts[1])}"
        return Check(statement, "open", published, f"{ours}; {n_sets} sets", rule)
    p = float(stats.fisher_exact(counts, alternative="greater").pvalue)
    ours = (
        f"OUT in {share(counts[0][0], sum(counts[0]))} cells where ReliefF is better, "
        f"in {share(counts[1][0], sum(counts[1]))} where it is worse; p = {p:.2g}; "
        f"{n_sets} sets"
    )
    outcome = if_enough(p < ALPHA, n_sets, PAPER_SETS)
    return Check(statement, outcome, published, ours, rule)


def _no_trend(cells: pd.DataFrame, n_sets: int) -> Check:
    statement = "A9. Where there is no difference, more cases do not favour IN"
    published = "no link with N, but for draws, where IN's lead shrinks"
    rule = (
        "among cells that are truly draws, the share of IN falls with N (one-sided "
        "p < 0.1), or changes by at most 0.02 per 100 cases; each source has a level "
        "of its own"
    )
    drawn = cells[cells["true"] == 0]
    n, hit = drawn["n"] / 100, (drawn["better"] == "I").astype(float)
    n = n - n.groupby(drawn["source"]).transform("mean")
    hit = hit - hit.groupby(drawn["source"]).transform("mean")
    df = len(drawn) - drawn["source"].nunique() - 1
    if df < 1 or float((n**2).sum()) == 0:
        return Check(statement, "open", published, "no such cells", rule)
    slope = float((n * hit).sum() / (n**2).sum())
    rest = float(((hit - slope * n) ** 2).sum()) / df
    error = np.sqrt(rest / float((n**2).sum()))
    p = float(stats.t.cdf(slope / error, df)) if error > 0 else 1.0
    holds = (slope < 0 and p < 0.1) or abs(slope) <= 0.02
    ours = (
        f"{number(slope, 3, signed=True)} per 100 cases, p = {p:.2g}, {len(drawn)} "
        f"cells; {n_sets} sets"
    )
    outcome = if_enough(holds, n_sets, PAPER_SETS)
    return Check(statement, outcome, published, ours, rule)
