"""Contenders from other Python packages, each called as its documentation shows.

Packages are imported inside the functions: the case table can then be read without
them, and one that is missing or broken is reported by the worker that wanted it. Where
a package can use several cores it is allowed all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.definitions import Problem, Result

N_NEIGHBORS = 10


def fast_select_relieff(problem: Problem) -> Result:
    return _by_score(_fast_select(problem.X, problem.y))


def fast_select_relieff_each(problem: Problem) -> Result:
    weights = [_fast_select(problem.X[r], problem.y[r]) for r in problem.folds]
    return Result(np.array([_by_score(w).order for w in weights]))


def _fast_select(X: Any, y: Any) -> Any:
    from fast_select import ReliefF

    model = ReliefF(n_features_to_select=50, n_neighbors=N_NEIGHBORS, backend="cpu")
    return model.fit(X, y).feature_importances_


def skfeature_relieff(problem: Problem) -> Result:
    from skfeature.function.similarity_based.reliefF import reliefF

    return _by_score(reliefF(problem.X, problem.y, mode="raw", k=N_NEIGHBORS))


def skrebate_relieff(problem: Problem) -> Result:
    from skrebate import ReliefF

    model = ReliefF(n_features_to_select=50, n_neighbors=N_NEIGHBORS, n_jobs=-1)
    return _by_score(model.fit(problem.X, problem.y).feature_importances_)


def sklearn_mutual_information(problem: Problem) -> Result:
    return _mutual_information(problem, discrete=False)


def sklearn_mutual_information_of_codes(problem: Problem) -> Result:
    return _mutual_information(problem, discrete=True)


def _mutual_information(problem: Problem, *, discrete: bool) -> Result:
    from sklearn.feature_selection import mutual_info_classif

    nats = mutual_info_classif(
        problem.X, problem.y, discrete_features=discrete, random_state=0, n_jobs=-1
    )
    return _by_score(nats / np.log(2.0))


def sklearn_anova(problem: Problem) -> Result:
    from sklearn.feature_selection import SelectKBest, f_classif

    model = SelectKBest(f_classif, k=problem.n_selected).fit(problem.X, problem.y)
    return _by_score(model.scores_)


def discretized(problem: Problem) -> Problem:
    """Discretise by veridical's MDL rule, to the integers scikit-feature needs."""
    from veridical.selection import MDLDiscretizer

    X = MDLDiscretizer().fit_transform(problem.X, problem.y).astype(np.intp)
    return Problem(X, problem.y, problem.n_selected, limit=problem.limit)


def skfeature_fcbf(problem: Problem) -> Result:
    from skfeature.function.information_theoretical_based.FCBF import fcbf

    return Result(np.asarray(fcbf(problem.X, problem.y, mode="index")))


def as_frame(problem: Problem) -> tuple[Any, Any, int]:
    """Return a data frame and a series, the only form mrmr_selection takes."""
    import pandas as pd

    return pd.DataFrame(problem.X), pd.Series(problem.y), problem.n_selected


def mrmr_selection_one_job(prepared: tuple[Any, Any, int]) -> Result:
    return _mrmr(prepared, n_jobs=1)


def mrmr_selection_default(prepared: tuple[Any, Any, int]) -> Result:
    return _mrmr(prepared)


def _mrmr(prepared: tuple[Any, Any, int], **options: Any) -> Result:
    from mrmr import mrmr_classif

    X, y, k = prepared
    chosen = mrmr_classif(X=X, y=y, K=k, show_progress=False, **options)
    return Result(np.array(chosen))


def standardized(problem: Problem) -> tuple[Any, int]:
    """Centre features and scale them to norm 1: products are correlations."""
    Z = problem.X - problem.X.mean(axis=0)
    Z /= np.linalg.norm(Z, axis=0)
    return Z, problem.n_selected


def products(prepared: tuple[Any, int]) -> Result:
    """Compute the correlations of all features with one, `k` times."""
    Z, k = prepared
    for j in range(k):
        Z.T @ np.ascontiguousarray(Z[:, j])
    return Result()


def _by_score(scores: Any) -> Result:
    scores = np.asarray(scores, dtype=np.float64)
    return Result(np.argsort(-scores, kind="stable"), scores)
