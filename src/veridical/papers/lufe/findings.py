"""The findings of the LUFe paper as checks, its table 1 and its figures.

Accuracies are means over folds, then over tasks. Tasks share no texts, so a difference
of two methods is assessed by its 95 % t interval over tasks, and by a sign test.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from veridical.experiments import (
    Check,
    Mean,
    Outcome,
    PaperStudy,
    Picture,
    StudyReport,
    StudyTable,
    decide,
    decide_if_enough,
    format_count,
)
from veridical.papers.lufe.figures import (
    GENES,
    PUBLISHED,
    STAND_IN,
    MethodPair,
    TaskAccuracies,
    draw_gains,
    draw_shares,
    make_table_1,
    method_name,
    share_of,
    tabulate_choices,
    tabulate_genes,
)

#: Number of tasks; with fewer, findings are open.
_ENOUGH_TASKS = 10
#: Number of tasks; with fewer, a test that is not significant leaves a finding open.
_MANY_TASKS = 40
#: Largest share of tasks without a win at which the paper's claim still holds: 35/49.
_MOST_LOST = 14 / 49
#: Significance level of all tests.
_ALPHA = 0.05


def report(study: PaperStudy, frame: pd.DataFrame) -> StudyReport:
    """Make the report of the study from its cells.

    Parameters
    ----------
    study : PaperStudy
        The study.
    frame : DataFrame
        data, repeat, fold, method, k, share, status, accuracy; see
        `veridical.papers.lufe.study`.
    """
    genes = frame["data"].astype(str).str.startswith(GENES)
    figures, of_genes = (
        TaskAccuracies.from_cells(frame[~genes]),
        TaskAccuracies.from_cells(frame[genes]),
    )
    checks: list[Check] = []
    pictures: list[Picture] = []
    tables: tuple[StudyTable, ...] = ()
    if figures.tasks:
        for k in figures.sizes():
            checks += _check_gains(figures, k)
            checks.append(_check_against_noise(figures, k))
            pictures += draw_gains(figures, k)
        checks += _check_curves(figures)
        checks += _check_accuracies(figures)
        pictures += draw_shares(figures)
        tables = (make_table_1(figures),)
    if of_genes.tasks:
        tables += tabulate_genes(of_genes)
    for cells, title in ((frame[~genes], "texts"), (frame[genes], "gene expression")):
        choices = tabulate_choices(cells, title)
        tables += (choices,) if choices else ()
    notes = _notes(figures, of_genes)
    return study.make_report(frame, checks, tables, pictures, notes)


# -- checks --------------------------------------------------------------------------


def _better(
    figures: TaskAccuracies, better: str, worse: str, k: int, published: str
) -> Check | None:
    """Decide about a mean gain by its interval over tasks."""
    k_worse = 0 if worse == "all" else k
    pair = figures.pair(
        (better, k, share_of(better)), (worse, k_worse, share_of(worse))
    )
    if pair is None:
        return None
    outcome: Outcome = decide(pair.mean.interval, low=0.0)
    if len(pair.gains) < _ENOUGH_TASKS:
        outcome = "open"
    return Check(
        f"{method_name(better, k)} is more accurate than {method_name(worse, k_worse)}",
        outcome,
        published,
        pair.words(),
        "the mean gain over tasks is above 0, with its whole interval",
    )


def _check_gains(figures: TaskAccuracies, k: int) -> Iterator[Check]:
    """Check that selection beats all features and LUFe beats selection, by task."""
    for kind in ("rfe", "anova"):
        plus = f"lufe-{kind}"
        for better, worse, place in (
            (kind, "all", 1),
            (plus, kind, 2),
            (plus, "all", 1),
        ):
            known: Any = PUBLISHED.get((better, k))
            words = "not published for this K"
            if known is not None and known[place] is not None:
                wins, gain = known[place]
                words = f"+{gain:g} points; better on {wins} of 49"
            found = _better(figures, better, worse, k, words)
            if found is not None:
                yield found
        pair = figures.pair((plus, k, 100), (kind, k, 0))
        if pair is not None:
            yield _most_tasks(pair, plus, kind, k)


def _most_tasks(pair: MethodPair, plus: str, kind: str, k: int) -> Check:
    n = len(pair.gains)
    outcome = decide_if_enough(n - pair.wins <= _MOST_LOST * n, n, _ENOUGH_TASKS)
    known = PUBLISHED.get((plus, k))
    published = "–" if known is None or known[2] is None else f"{known[2][0]} of 49"
    return Check(
        f"{method_name(plus, k)} is better than {method_name(kind, k)} on most tasks",
        outcome,
        published,
        f"{pair.wins} of {n}, worse on {pair.losses}",
        "better on at least 35 of 49 tasks, or that share of them",
    )


def _check_against_noise(figures: TaskAccuracies, k: int) -> Check:
    """Check that unselected features help more than noise."""
    statement = f"Real unselected features beat noise: LUFe-RFE-{k}"
    published = "better on 37 of 49 tasks" if k == 300 else "–"
    rule = "better on more tasks than worse, sign test p < 0.05"
    pair = figures.pair(("lufe-rfe", k, 100), ("lufe-rfe-random", k, 100))
    if pair is None:
        return Check.without_data(statement, published, rule)
    outcome: Outcome = "open"
    if len(pair.gains) >= _ENOUGH_TASKS:
        sure = pair.pvalue < _ALPHA
        if sure and pair.wins > pair.losses:
            outcome = "reproduced"
        elif sure or len(pair.gains) >= _MANY_TASKS:
            outcome = "not reproduced"
    return Check(statement, outcome, published, pair.words(), rule)


def _check_curves(figures: TaskAccuracies) -> Iterator[Check]:
    """Check that gains grow with the share of unselected features."""
    for k in figures.sizes():
        shares = figures.shares("lufe-rfe", k)
        if len(shares) < 2:
            continue
        least, most = shares[0], shares[-1]
        pair = figures.pair(("lufe-rfe", k, most), ("lufe-rfe", k, least))
        if pair is None:
            continue
        outcome: Outcome = decide(pair.mean.interval, low=0.0)
        if len(pair.gains) < _ENOUGH_TASKS:
            outcome = "open"
        yield Check(
            f"More unselected features help more: LUFe-RFE-{k} with {most} % against "
            f"{least} %",
            outcome,
            "gains grow with the share and level off from 70 %",
            pair.words(),
            "the mean gain over tasks is above 0, with its whole interval",
        )


def _check_accuracies(figures: TaskAccuracies) -> Iterator[Check]:
    """Compare accuracies with table 1; on other texts the checks are open."""
    same = not all(task.startswith(STAND_IN) for task in figures.tasks)
    for (method, k), (value, *_) in PUBLISHED.items():
        found = figures.get(method, k, share_of(method))
        if found is None:
            continue
        mean = Mean.from_values(found[~np.isnan(found)])
        outcome = decide(mean.interval, value - 2, value + 2) if same else "open"
        yield Check(
            f"Accuracy of {method_name(method, k)}",
            outcome,
            f"{value:.2f} %",
            mean.words(False, "task") + ("" if same else "; other texts"),
            "within ±2 points, on the paper's own texts",
        )


# -- notes ---------------------------------------------------------------------------


def _notes(figures: TaskAccuracies, of_genes: TaskAccuracies) -> Iterator[str]:
    if not figures.tasks and not of_genes.tasks:
        yield "There are no results yet."
        return
    if of_genes.tasks:
        yield (
            f"{format_count(len(of_genes.tasks), 'data set')} of gene expression, at "
            f"least {of_genes.n_folds} test folds of each, in separate tables: the "
            "paper has none, so they decide no finding. The largest class is separated "
            "from the rest; arrays are log-transformed and standardised, and genes "
            "that hardly vary are dropped, on all samples without their labels."
        )
    if not figures.tasks:
        yield "There are no text tasks, so no finding of the paper can be checked."
        return
    if all(task.startswith(STAND_IN) for task in figures.tasks):
        yield (
            "These are not the paper's texts: TechTC-300 was not found, and tasks of "
            "150 messages each from 20 Newsgroups are used instead. Directions can be "
            "compared, accuracies cannot."
        )
    yield (
        f"{format_count(len(figures.tasks), 'text task')}, at least "
        f"{figures.n_folds} test folds of each. Words of fewer than five letters are "
        "dropped, features standardised by the training fold. Intervals are 95 % t "
        "intervals over tasks."
    )
    yield (
        "C, and for LUFe γ too, are chosen from 0.001 to 1000 by stratified 5-fold "
        "cross-validation inside the training fold; for RFE the same C is used for the "
        "elimination. Inner folds of LUFe and ANOVA use the features selected on the "
        "whole training fold, as in the paper."
    )
    yield (
        "The RFE-augmented SVM is fitted on, and predicts with, the selected and the "
        "added features, as the paper describes it."
    )
