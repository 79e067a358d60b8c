"""veridical's own contenders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.definitions import Problem, Result

Run = Callable[[Problem], Result]


def fit(name: str, **parameters: Any) -> Run:
    """Fit the selector of that name on all rows."""

    def run(problem: Problem) -> Result:
        selector = _selector(name, parameters).fit(problem.X, problem.y)
        return Result(selector.order_, getattr(selector, "scores_", None))

    return run


def select(name: str, **parameters: Any) -> Run:
    """Fit, and return only the features that the method keeps."""

    def run(problem: Problem) -> Result:
        selector = _selector(name, parameters).fit(problem.X, problem.y)
        return Result(selector.order_[: selector.n_features_], selector.scores_)

    return run


def fit_codes(name: str, **parameters: Any) -> Run:
    """Fit on a matrix all of whose columns are nominal."""

    def run(problem: Problem) -> Result:
        nominal = np.ones(problem.X.shape[1], dtype=bool)
        chosen = {"categorical_features": nominal, **parameters}
        selector = _selector(name, chosen).fit(problem.X, problem.y)
        return Result(selector.order_, selector.scores_)

    return run


def rank_many(name: str, **parameters: Any) -> Run:
    """Rank for all training sets in one call."""

    def run(problem: Problem) -> Result:
        selector = _selector(name, parameters)
        return Result(np.array(selector.rank_many(problem.X, problem.y, problem.folds)))

    return run


def fit_each(name: str, **parameters: Any) -> Run:
    """Fit on one training set after the other."""

    def run(problem: Problem) -> Result:
        orders = [
            _selector(name, parameters).fit(problem.X[rows], problem.y[rows]).order_
            for rows in problem.folds
        ]
        return Result(np.array(orders))

    return run


def _selector(name: str, parameters: dict[str, Any]) -> Any:
    from veridical.selection import SELECTORS

    return SELECTORS[name](**{"n_jobs": -1, **parameters})
