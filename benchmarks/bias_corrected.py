"""Naive Bayes corrected for feature selection: fit and predict, and who else can.

The first 200 cases are for training, the others are tested.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.agreement import close_scores
from benchmarks.aims import Faster
from benchmarks.definitions import Agreement, Case, Check, Contender, Problem, Result
from benchmarks.problems import SEED

N_TRAIN = 200


def weak_features(n: int, p: int, *, n_selected: int = 1000) -> Problem:
    """Make the paper's simulation: binary features, all of them weak."""
    from veridical.datasets import make_beta_bernoulli

    X, y = make_beta_bernoulli(n, p, random_state=SEED)
    return Problem(X, y, min(n_selected, p // 10))


def all_features(n: int, p: int) -> Problem:
    """Make the same problem with all features retained."""
    problem = weak_features(n, p)
    return Problem(problem.X, problem.y, p)


def probabilities(correct: bool, **options: Any) -> Callable[[Problem], Result]:
    """Select, fit and predict with veridical."""

    def run(problem: Problem) -> Result:
        from veridical.learning import BiasCorrectedNB

        n = min(N_TRAIN, len(problem.y) // 2)
        model = BiasCorrectedNB(problem.n_selected, correct, **options)
        model.fit(problem.X[:n], problem.y[:n])
        found = model.predict_proba(problem.X[n:])[:, 1]
        return Result(model.order_[: problem.n_selected], found)

    return run


def select_only(problem: Problem) -> Result:
    """Select the features and predict the class shares: reading, counting, sorting."""
    return probabilities(False, alpha_grid=[300.0])(problem)


def bernoulli(problem: Problem) -> Result:
    """Select with scikit-learn, then its Bernoulli naive Bayes."""
    from sklearn.feature_selection import SelectKBest, f_classif
    from sklearn.naive_bayes import BernoulliNB
    from sklearn.pipeline import make_pipeline

    n = min(N_TRAIN, len(problem.y) // 2)
    chosen = SelectKBest(f_classif, k=problem.n_selected)
    model = make_pipeline(chosen, BernoulliNB())
    with np.errstate(divide="ignore", invalid="ignore"):
        model.fit(problem.X[:n], problem.y[:n])
    found = model.predict_proba(problem.X[n:])[:, 1]
    return Result(None, found)


def fit_only(problem: Problem) -> Result:
    """Select and fit, for problems of very many columns."""
    from veridical.learning import BiasCorrectedNB

    model = BiasCorrectedNB(problem.n_selected).fit(problem.X, problem.y)
    return Result(model.order_[: problem.n_selected], model.scores_)


def read_once(problem: Problem) -> Result:
    """Read the matrix: the sum of all its numbers."""
    problem.X.sum(dtype=np.int64)
    return Result()


def very_wide(n: int, p: int) -> Problem:
    """Make random binary features, of which a thousand are to be selected."""
    rng = np.random.default_rng(SEED)
    X = rng.integers(0, 2, size=(n, p), dtype=np.int8)
    return Problem(X, np.arange(n) % 2, min(1000, p // 10))


def near(within: float) -> Check:
    """Check that probabilities differ by at most this on average."""

    def check(ours: Result, theirs: Result) -> Agreement:
        gap = float(np.mean(np.abs(np.asarray(ours.scores) - theirs.scores)))
        words = f"probabilities: mean difference {gap:.2g} (at most {within:g})"
        return Agreement(gap <= within, words)

    return check


_OTHER = (
    "gives other probabilities: it does not know what was discarded, and has no "
    "hyperparameter to learn"
)

CASES = (
    Case(
        name="bias-corrected-nb",
        title="Corrected naive Bayes, 1000 of 10000 features, 2000 test samples",
        make=weak_features,
        size={"n": 2200, "p": 10000},
        small={"n": 120, "p": 300},
        contenders=(
            Contender("corrected", probabilities(True)),
            Contender(
                "not corrected",
                probabilities(False),
                differs="the same model without the correction",
            ),
            Contender(
                "corrected, Simpson",
                probabilities(True, theta_rule="simpson", ties="lt"),
                check=near(0.2),
                differs="integrates as the R package does, which is not exact",
            ),
            Contender(
                "one α, not corrected", select_only, differs="no integral over α"
            ),
            Contender("scikit-learn", bernoulli, differs=_OTHER),
        ),
        aims=(Faster("corrected", "not corrected", 1 / 1.1),),
        notes="Selection, fit and prediction together, on one thread. Published: 2076 "
        "(presumably seconds); the R package predbayescor takes 13 s on such a "
        "machine. scikit-learn: `SelectKBest(f_classif)` and `BernoulliNB`.",
    ),
    Case(
        name="bias-corrected-all",
        title="Naive Bayes with an integral over α, all 10000 features",
        make=all_features,
        size={"n": 2200, "p": 10000},
        small={"n": 120, "p": 300},
        contenders=(
            Contender("corrected", probabilities(True)),
            Contender(
                "not corrected",
                probabilities(False),
                check=close_scores(rtol=0, atol=0),
            ),
        ),
        notes="Nothing is discarded, so that both are the same model. Published: "
        "20628 (presumably seconds).",
    ),
    Case(
        name="bias-corrected-wide",
        title="Corrected naive Bayes: a million features, fit alone",
        make=very_wide,
        size={"n": 200, "p": 1_000_000},
        small={"n": 60, "p": 3000},
        contenders=(
            Contender("reading X once", read_once, differs="sums all numbers"),
            Contender("corrected", fit_only, differs="selects and fits"),
        ),
        aims=(Faster("corrected", "reading X once", 1 / 8),),
        notes="int8, 200 MB.",
    ),
)
