"""Choosing among many candidates, and what the same takes without this library's way.

Times are CPU seconds of this process, because all contenders run on one core.
"""

from __future__ import annotations

from functools import partial
from time import process_time
from typing import Any

import numpy as np

from benchmarks import problems
from benchmarks.aims import Faster
from benchmarks.definitions import (
    VERIDICAL,
    Agreement,
    Case,
    Contender,
    Problem,
    Result,
)

SELECTORS = (
    *("information-gain", "anova", "correlation", "relieff", "fcbf", "mrmr"),
    *("ddp", "hsic", "svm-rfe"),
)
SIZES = (1, 2, 5, 10, 20, 50, 100, 200)
ESTIMATORS = ("svm", "nb", "1nn", "c45")
PLAIN, NESTED = "plain cross-validation", "nested"
GRID = "GridSearchCV"


def _sizes(problem: Problem) -> list[int]:
    return [size for size in SIZES if size < problem.X.shape[1]]


def _folds(problem: Problem) -> list[Any]:
    everyone = np.arange(len(problem.y))
    return [(train, np.setdiff1d(everyone, train)) for train in problem.folds]


def choose(problem: Problem, correction: str) -> Result:
    """Choose, with the score corrected for the choice; the score is the best one."""
    from veridical import choose as run

    start = process_time()
    found = run(
        problem.X,
        problem.y,
        selectors=SELECTORS,
        sizes=_sizes(problem),
        estimators=ESTIMATORS,
        cv=_folds(problem),
        correction=correction,  # type: ignore[arg-type]
        baselines=False,
        random_state=0,
        progress=False,
    )
    taken = process_time() - start
    return Result(scores=np.array([found.naive_score]), seconds=taken)


def evaluate_all(problem: Problem) -> Result:
    """Cross-validate the same candidates, and choose nothing."""
    from veridical.evaluation import Procedure, evaluate
    from veridical.evaluation.arguments import make_selector
    from veridical.learning import make_estimator

    start = process_time()
    learners = [make_estimator(name) for name in ESTIMATORS]
    procedures = [
        Procedure(learner, selector, tuple(_sizes(problem)))
        for selector in map(make_selector, SELECTORS)
        for learner in learners
    ]
    found = evaluate(procedures, problem.X, problem.y, _folds(problem))
    best = max(one.pooled_accuracy().max() for one in found)
    return Result(scores=np.array([best]), seconds=process_time() - start)


def search_grid(problem: Problem) -> Result:
    """Search the same pipelines by GridSearchCV; the first fold stands for all."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import Pipeline

    from veridical.evaluation.arguments import make_selector
    from veridical.learning import make_estimator

    learners = [make_estimator(name) for name in ESTIMATORS]
    sizes, folds = _sizes(problem), _folds(problem)
    start = process_time()
    for name in SELECTORS:
        pipeline = Pipeline(
            [("selector", make_selector(name)), ("estimator", learners[0])]
        )
        grid = {"selector__n_features_to_select": sizes, "estimator": learners}
        search = GridSearchCV(pipeline, grid, cv=folds[:1], refit=False)
        search.fit(problem.X, problem.y)
    taken = (process_time() - start) * len(folds)
    n_fits = len(SELECTORS) * len(ESTIMATORS) * len(sizes)
    note = f"extrapolated: {n_fits} of {n_fits * len(folds)} fits, those of one fold"
    return Result(scores=np.array([np.nan]), seconds=taken, note=note)


def same_best(ours: Result, theirs: Result) -> Agreement:
    """Compare the scores of the best candidates."""
    a, b = float(np.ravel(ours.scores)[0]), float(np.ravel(theirs.scores)[0])
    words = f"best accuracy {100 * b:.1f} %, ours {100 * a:.1f} %"
    return Agreement(bool(np.isnan(b) or abs(a - b) < 1e-12), words)


CHOOSE = Case(
    name="choose",
    title="The best of 9 selectors × 8 sizes × 4 estimators, ten folds (CPU time)",
    make=partial(problems.normal, n_folds=10),
    size={"n": 200, "p": 10000},
    small={"n": 60, "p": 60},
    contenders=(
        Contender(VERIDICAL, partial(choose, correction="bbc")),
        Contender(PLAIN, evaluate_all, check=same_best),
        Contender(NESTED, partial(choose, correction="nested"), check=same_best),
        Contender(
            GRID,
            search_grid,
            check=same_best,
            differs="fits every pipeline anew",
        ),
    ),
    aims=(
        Faster(VERIDICAL, PLAIN, 0.5),
        Faster(VERIDICAL, GRID, 50),
        Faster(NESTED, PLAIN, 1 / 6),
    ),
)
