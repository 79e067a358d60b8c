"""Cases about selectors for numbers and survival times."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks import problems, veridical_selectors
from benchmarks.agreement import close_scores
from benchmarks.aims import Faster
from benchmarks.definitions import VERIDICAL, Case, Contender, Missing, Problem, Result


def _loop_rrelieff(problem: Problem) -> Result:
    """RReliefF with ten equal neighbours, sample by sample in numpy."""
    X, y = problem.X, problem.y
    Z = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    t = (y - y.min()) / np.ptp(y)
    N_C, N_A, N_CA = 0.0, np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for i in range(len(Z)):
        differences = np.abs(Z - Z[i])
        distance = differences.sum(axis=1)
        distance[i] = np.inf
        near = np.argpartition(distance, 10)[:10]
        change = np.abs(t[near] - t[i])
        N_C += change.mean()
        N_A += differences[near].mean(axis=0)
        N_CA += (change[:, None] * differences[near]).mean(axis=0)
    return Result(scores=N_CA / N_C - (N_A - N_CA) / (len(Z) - N_C))


def _skrebate(name: str, **parameters: Any) -> Any:
    def run(problem: Problem) -> Result:
        try:
            import skrebate
        except ImportError as error:
            raise Missing("skrebate is not installed") from error
        model = getattr(skrebate, name)(n_jobs=-1, **parameters)
        model.fit(problem.X, problem.y)
        return Result(scores=model.feature_importances_)

    return run


def _statsmodels_scores(problem: Problem) -> Result:
    """χ² of every feature, one Cox model after the other."""
    try:
        from statsmodels.duration.hazard_regression import PHReg
    except ImportError as error:
        raise Missing("statsmodels is not installed") from error
    y, zero, found = problem.y, np.zeros(1), []
    for x in problem.X.T:
        model = PHReg(y["time"], x[:, None], status=y["event"] * 1, ties="efron")
        found.append((model.score(zero) ** 2 / -model.hessian(zero)[0])[0])
    return Result(scores=np.array(found))


def _survival_concordances(problem: Problem) -> Result:
    """Concordance of every feature, one after the other."""
    try:
        from sksurv.metrics import concordance_index_censored
    except ImportError as error:
        raise Missing("scikit-survival is not installed") from error
    y = problem.y
    found = [
        concordance_index_censored(y["event"], y["time"], x)[0] for x in problem.X.T
    ]
    return Result(scores=0.5 + np.abs(np.array(found) - 0.5))


CASES = (
    Case(
        name="relieff-numbers",
        title="RReliefF, ten neighbours, a target of numbers",
        make=problems.numbers,
        size={"n": 500, "p": 1000},
        small={"n": 60, "p": 30},
        contenders=(
            Contender(VERIDICAL, veridical_selectors.fit("relieff")),
            Contender("a loop in numpy", _loop_rrelieff, check=close_scores()),
            Contender(
                "skrebate",
                _skrebate("ReliefF", n_neighbors=10),
                differs="compares with samples whose targets differ by less and by "
                "more than one standard deviation",
                own_processes=True,
            ),
        ),
        aims=(Faster(VERIDICAL, "skrebate", 200),),
    ),
    Case(
        name="multisurf-numbers",
        title="MultiSURF, a target of numbers",
        make=problems.numbers,
        size={"n": 200, "p": 1000},
        small={"n": 60, "p": 30},
        contenders=(
            Contender(VERIDICAL, veridical_selectors.fit("multisurf")),
            Contender(
                "skrebate",
                _skrebate("MultiSURF"),
                check=close_scores(),
                own_processes=True,
            ),
        ),
    ),
    Case(
        name="cox-score",
        title="Score tests of Cox models, tied times",
        make=problems.survival,
        size={"n": 200, "p": 20000},
        small={"n": 60, "p": 30},
        contenders=(
            Contender(VERIDICAL, veridical_selectors.fit("cox-score")),
            Contender(
                "statsmodels, one by one",
                _statsmodels_scores,
                check=close_scores(rtol=1e-8, atol=1e-8),
            ),
        ),
        aims=(Faster(VERIDICAL, "statsmodels, one by one", 50),),
        notes="statsmodels computes score and information at 0 only; a package that "
        "fits each model takes longer.",
    ),
    Case(
        name="concordance",
        title="Concordance of every feature",
        make=problems.survival,
        size={"n": 200, "p": 5000},
        small={"n": 60, "p": 30},
        contenders=(
            Contender(VERIDICAL, veridical_selectors.fit("concordance")),
            Contender(
                "scikit-survival, one by one",
                _survival_concordances,
                check=close_scores(),
            ),
        ),
    ),
)
