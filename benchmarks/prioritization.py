"""Cases about nested predictor sets: many exponents, and machines at every size."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks import problems, veridical_selectors
from benchmarks.agreement import close_scores
from benchmarks.aims import Faster
from benchmarks.definitions import Case, Contender, Problem, Result

ALPHAS = tuple(round(0.1 * k, 1) for k in range(1, 11))
LARGEST = 30


def ten_alphas(problem: Problem) -> Result:
    """Fit for ten exponents in one call; the order is that of 0.5."""
    from veridical.selection import DifferentialPrioritization

    selector = DifferentialPrioritization(problem.n_selected, n_jobs=-1)
    fitted = selector.path(problem.X, problem.y, ALPHAS)
    return Result(fitted[4].order_, fitted[4].scores_)


def nested(problem: Problem) -> Result:
    """Name the odd cases with the first 2, 3, ... columns, learned from the even."""
    from veridical.learning import DAGSVM

    X, y = problem.X[:, :LARGEST], problem.y
    sizes = range(2, LARGEST + 1)
    rows = np.arange(len(y))
    split, order = (rows[::2], rows[1::2]), np.arange(LARGEST)
    (named,) = DAGSVM().predict_many(X, y, [split], [order], sizes)
    return Result(scores=(named == y[1::2]).mean(axis=1))


def fitted_anew(problem: Problem) -> Result:
    """Do the same with scikit-learn's pairwise SVMs, fitted at every size."""
    from sklearn.svm import SVC

    X, y = problem.X[:, :LARGEST], problem.y
    n_classes = int(y.max()) + 1
    right = []
    for size in range(2, LARGEST + 1):
        machine = SVC(kernel="linear", decision_function_shape="ovo", tol=1e-6)
        decisions = machine.fit(X[::2, :size], y[::2]).decision_function(X[1::2, :size])
        first = np.zeros(len(decisions), dtype=int)
        last = np.full(len(decisions), n_classes - 1)
        for _ in range(n_classes - 1):
            pair = first * (2 * n_classes - first - 1) // 2 + last - first - 1
            keeps = decisions[np.arange(len(decisions)), pair] >= 0
            first, last = (
                np.where(keeps, first, first + 1),
                np.where(keeps, last - 1, last),
            )
        right.append((first == y[1::2]).mean())
    return Result(scores=np.array(right))


DDP_PATH = Case(
    name="ddp-path",
    title="Differential prioritization with ten exponents, 100 features of 12000",
    make=partial(problems.normal, n_selected=100, n_classes=6),
    size={"n": 166, "p": 12000},
    small={"n": 60, "p": 150},
    contenders=(
        Contender(
            "one alpha", veridical_selectors.fit("ddp", n_features_to_select=100)
        ),
        Contender("ten alphas", ten_alphas, check=close_scores(rtol=1e-12)),
    ),
    aims=(Faster("ten alphas", "one alpha", 1 / 3),),
    notes="One alpha is 0.5. Its search leaves out most comparisons, which smaller "
    "alphas cannot: they share theirs, in single precision, and decide in double.",
)

NESTED = Case(
    name="dagsvm-nested",
    title=f"DAGSVM with the first 2 to {LARGEST} columns, eight classes",
    make=partial(problems.normal, n_classes=8),
    size={"n": 160, "p": 200},
    small={"n": 64, "p": 40},
    contenders=(
        Contender("veridical", nested),
        Contender(
            "scikit-learn, each size", fitted_anew, check=close_scores(atol=0.02)
        ),
    ),
    aims=(Faster("veridical", "scikit-learn, each size", 1),),
    notes="scikit-learn: `SVC(kernel='linear')` fitted at each size, its pairwise "
    "decisions followed along the graph. Scores are accuracies.",
)
