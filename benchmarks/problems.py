"""Data for the cases: seeded, with a few informative features."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from benchmarks.definitions import Problem

SEED = 20070722


def normal(
    n: int, p: int, *, n_classes: int = 2, n_selected: int = 10, n_folds: int = 0
) -> Problem:
    """Make normal features; for one in fifty the class means differ.

    The informative columns come in groups of five around a common factor, so that they
    repeat each other in part, as genes do; they are spread over the matrix.
    """
    rng = np.random.default_rng(SEED)
    X = rng.normal(size=(n, p))
    y = _classes(rng, n, n_classes)
    informative = rng.permutation(p)[: max(n_selected, p // 50)]
    for start in range(0, informative.size, 5):
        group = informative[start : start + 5]
        means = rng.normal(scale=0.8, size=n_classes)
        common = means[y] + 0.7 * rng.normal(size=n)
        X[:, group] += common[:, None] * rng.uniform(0.4, 1.2, group.size)
    return Problem(X, y, n_selected, folds(y, n_folds))


def uniform(n: int, p: int, *, n_folds: int = 0) -> Problem:
    """Make features that fill [0, 1] exactly; one in fifty is informative.

    A method that divides differences by the range and one that does not then solve
    the same problem.
    """
    rng = np.random.default_rng(SEED)
    X = rng.random((n, p))
    y = _classes(rng, n, 2)
    informative = rng.permutation(p)[: max(10, p // 50)]
    X[:, informative] += y[:, None] * rng.uniform(0.1, 0.8, informative.size)
    X -= X.min(axis=0)
    X /= X.max(axis=0)
    return Problem(X, y, 50, folds(y, n_folds))


def binned(n: int, p: int, *, n_bins: int = 5) -> Problem:
    """Make normal features cut into bins of equal counts: integer codes."""
    source = normal(n, p)
    return Problem(codes(source.X, n_bins), source.y, source.n_selected)


def codes(X: Any, n_bins: int = 5) -> Any:
    """Cut every column into bins of equal counts."""
    places = np.argsort(np.argsort(X, axis=0), axis=0)
    return places * n_bins // len(X)


def numbers(n: int, p: int, *, n_folds: int = 0) -> Problem:
    """Make the features of `normal`, and a number that is larger in one class."""
    source = normal(n, p, n_folds=n_folds)
    rng = np.random.default_rng(SEED + 1)
    return Problem(source.X, source.y + rng.normal(size=n), 10, source.folds)


def survival(n: int, p: int, *, n_folds: int = 0) -> Problem:
    """Make the features of `normal`, and tied times, a third of them censored."""
    source = normal(n, p, n_folds=n_folds)
    rng = np.random.default_rng(SEED + 1)
    y = np.empty(n, dtype=[("event", bool), ("time", float)])
    y["time"] = np.ceil(30 * rng.exponential(np.exp(-source.y)))
    y["event"] = rng.random(n) < 2 / 3
    return Problem(source.X, y, 10, source.folds)


def for_selector(cls: Any, n: int, p: int, *, n_folds: int = 0) -> Problem:
    """Make a problem with a target that the selector reads, classes if possible."""
    make = normal if "classes" in cls._abilities.targets else survival
    return make(n, p, n_folds=n_folds)


def folds(y: Any, n_folds: int) -> tuple[Any, ...]:
    """Return the training rows of stratified folds; none for 0 folds."""
    if n_folds == 0:
        return ()
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=0)
    return tuple(train for train, _ in splitter.split(np.zeros(len(y)), y))


def _classes(rng: np.random.Generator, n: int, n_classes: int) -> Any:
    return rng.permutation(np.arange(n) % n_classes)
