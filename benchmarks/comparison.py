"""A comparison of two selectors, and what scikit-learn's own pieces take for it."""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks import problems
from benchmarks.aims import Faster
from benchmarks.definitions import (
    VERIDICAL,
    Agreement,
    Case,
    Check,
    Contender,
    Problem,
    Result,
)

N_NEIGHBORS = 10


def compare_selectors(problem: Problem) -> Result:
    """ReliefF against FCBF, inside the folds and outside; the scores are ReliefF's."""
    from veridical.comparison import compare

    record = compare(
        ["relieff", "fcbf"],
        problem.X,
        problem.y,
        estimator="svm",
        n_features_to_select=problem.n_selected,
        cv=splits(problem),
        random_state=0,
    )
    return Result(scores=record.accuracy["in"][0, 0].ravel())


def pipelines_of_ours(problem: Problem) -> Result:
    """Run the same four cross-validations, one pipeline after the other."""
    from sklearn.model_selection import cross_val_score

    from veridical.selection import FCBF, ReliefF

    folds, scores = splits(problem), []
    for kind in (ReliefF, FCBF):
        selector = kind(problem.n_selected, n_jobs=-1)
        scores.append(
            cross_val_score(_pipeline(selector), problem.X, problem.y, cv=folds)
        )
        outside = selector.fit(problem.X, problem.y).transform(problem.X)
        cross_val_score(_pipeline(None), outside, problem.y, cv=folds)
    return Result(scores=scores[0])


def skrebate_inside(problem: Problem) -> Result:
    """Skrebate's ReliefF in a pipeline: IN of one selector, a quarter of the work.

    Fold by fold; where all folds would take longer than the limit, the rest is
    estimated from those that were run, and said so.
    """
    from sklearn.model_selection import cross_val_score
    from skrebate import ReliefF

    selector = ReliefF(
        n_features_to_select=problem.n_selected, n_neighbors=N_NEIGHBORS, n_jobs=-1
    )
    folds = splits(problem)
    started, scores = perf_counter(), []
    for fold in folds:
        scores += list(
            cross_val_score(_pipeline(selector), problem.X, problem.y, cv=[fold])
        )
        seconds = perf_counter() - started
        if seconds * (len(scores) + 1) / len(scores) > 0.8 * problem.limit:
            break
    note = ""
    if len(scores) < len(folds):
        note = f"extrapolated: {len(scores)} of {len(folds)} folds timed"
    # Folds that were not run have no score.
    known = np.full(len(folds), np.nan)
    known[: len(scores)] = scores
    return Result(scores=known, seconds=seconds * len(folds) / len(scores), note=note)


def _pipeline(selector: Any) -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler
    from sklearn.svm import SVC

    steps = [] if selector is None else [selector]
    return make_pipeline(*steps, MinMaxScaler(), SVC(kernel="linear", C=1.0))


def splits(problem: Problem) -> list[tuple[Any, Any]]:
    """Return training and test rows of each fold."""
    everyone = np.arange(len(problem.y))
    return [(train, np.setdiff1d(everyone, train)) for train in problem.folds]


def same_accuracy(within: float) -> Check:
    """Check the mean accuracy over the folds that both have."""

    def check(ours: Result, theirs: Result) -> Agreement:
        known = ~np.isnan(np.asarray(theirs.scores))
        a, b = (np.asarray(r.scores)[known].mean() for r in (ours, theirs))
        words = (
            f"accuracy with ReliefF, {known.sum()} folds: {100 * b:.1f} %, ours "
            f"{100 * a:.1f} % (within {100 * within:g} points)"
        )
        return Agreement(bool(abs(a - b) <= within), words)

    return check


COMPARE = Case(
    name="compare",
    title="ReliefF against FCBF by ten folds, inside and outside, linear SVM",
    make=partial(problems.normal, n_folds=10),
    size={"n": 200, "p": 10000},
    small={"n": 60, "p": 60},
    contenders=(
        Contender(VERIDICAL, compare_selectors),
        Contender(
            "Pipelines of veridical's selectors",
            pipelines_of_ours,
            check=same_accuracy(0.01),
        ),
        Contender(
            "Pipeline with skrebate",
            skrebate_inside,
            check=same_accuracy(0.05),
            differs="does a quarter of the work: ReliefF alone, inside the folds",
            own_processes=True,
        ),
    ),
    aims=(Faster(VERIDICAL, "Pipeline with skrebate", 20),),
    notes="`compare`, against `cross_val_score` of a Pipeline of selector, "
    "`MinMaxScaler` and `SVC(kernel='linear')` on the same folds.",
)
