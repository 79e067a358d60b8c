"""One training set of the LUFe study, and every classifier learned from it.

All work is on Gram matrices: those of the selected features are computed, those of the
unselected are what is left of the whole. Nothing here sees the test fold but the last
line, which counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.seeds import mixed_generator
from veridical.experiments import derive_seed
from veridical.experiments.study import Values
from veridical.kernels.duality import bias_of
from veridical.kernels.svm import solve_dual
from veridical.kernels.svm_plus import (
    PrivilegedGram,
    SignedGram,
    score_grid,
    solve_hinge,
)
from veridical.papers.lufe_data import get_task
from veridical.selection import SVMRFE, AnovaF

#: Values of C and γ, as in the paper.
GRID = tuple(10.0**k for k in range(-3, 4))
INNER_FOLDS = 5
#: Share of all features that a round of RFE drops.
STEP = 0.1


@dataclass(frozen=True)
class Machine:
    """Multipliers times signs, bias, and the parameters that were chosen."""

    coefficients: FloatArray
    bias: float
    chosen: Mapping[str, float]


def fit_svm(
    gram: FloatArray, sign: FloatArray, Cs: Sequence[float]
) -> list[tuple[FloatArray, float]]:
    """Fit a support vector machine for every C, ascending; each starts the next."""
    a = np.zeros(len(sign))
    found = []
    for C in Cs:
        bound = np.full(len(sign), C)
        a = solve_dual(gram, sign, bound, a)
        sure = np.where(a < 1e-9 * C, 0.0, np.where(a > (1 - 1e-9) * C, C, a))
        b = bias_of(sign - gram @ (sign * a), sign, sure, bound)
        found.append((a * sign, b))
    return found


def _right(scores: FloatArray, sign: FloatArray) -> Any:
    return np.mean(np.where(scores >= 0, 1.0, -1.0) == sign, axis=-1)


@dataclass(eq=False)
class Trial:
    """A training and a test fold, standardised by the training fold.

    Parameters
    ----------
    X, sign : arrays
        The training cases.
    X_test, sign_test : arrays
        The test cases.
    seed : int
        Of this fold.
    """

    X: FloatArray
    sign: FloatArray
    X_test: FloatArray
    sign_test: FloatArray
    seed: int
    _kept: dict[Any, Any] = field(default_factory=dict)

    @classmethod
    def draw(cls, settings: Mapping[str, Any]) -> Trial:
        """Read a task and split it; folds do not know who will learn from them."""
        task = get_task(settings["data"])
        which = {"data": settings["data"], "repeat": settings["repeat"]}
        seed = derive_seed(settings["seed"], purpose="folds", **which)
        folds = StratifiedKFold(settings["n_folds"], shuffle=True, random_state=seed)
        train, test = list(folds.split(task.X, task.sign))[settings["fold"]]
        mean, spread = task.X[train].mean(axis=0), task.X[train].std(axis=0)
        told = spread > 0
        places = np.flatnonzero(told)
        # Ties go by index, so an index should carry no information.
        order = derive_seed(settings["seed"], purpose="columns", data=settings["data"])
        places = places[np.random.default_rng(order).permutation(places.size)]
        X = (task.X[:, places] - mean[places]) / spread[places]
        return cls(
            X[train],
            task.sign[train],
            X[test],
            task.sign[test],
            derive_seed(
                settings["seed"], purpose="inside", fold=settings["fold"], **which
            ),
        )

    def measure(self, method: str, k: int, share: int) -> Values:
        """Learn in one way; accuracy on the test fold and what was chosen."""
        if method == "all":
            every = np.arange(self.X.shape[1])
            return self._judge(self._plain(self.gram), every)
        kind = "anova" if "anova" in method else "rfe"
        selected, rest, C = self.select(kind, k)
        if method == "rfe":
            one = fit_svm(self.part(kind, k), self.sign, [C])[0]
            return self._judge(Machine(*one, {"C": C}), selected)
        if method == "anova":
            return self._judge(self._plain(self.part(kind, k)), selected)
        some = rest[: share * rest.size // 100]
        if method == "rfe-augmented":
            both = np.concatenate([selected, some])
            gram = self.part(kind, k) + self.left(kind, k, share)
            return self._judge(self._plain(gram), both)
        if method == "lufe-rfe-random":
            star = self._random_gram(rest.size)
        else:
            star = self.left(kind, k, share)
        return self._judge(self._plus(self.part(kind, k), star), selected)

    def _judge(self, machine: Machine, columns: IntArray) -> Values:
        weights = machine.coefficients @ self.X[:, columns]
        scores = self.X_test[:, columns] @ weights + machine.bias
        return {"accuracy": float(_right(scores, self.sign_test)), **machine.chosen}

    # -- what is shared --------------------------------------------------------------

    def _once(self, key: Any, make: Any) -> Any:
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    @property
    def gram(self) -> FloatArray:
        """Gram matrix of all features."""
        return self._once("gram", lambda: self.X @ self.X.T)

    @property
    def inner(self) -> list[tuple[IntArray, IntArray]]:
        """Folds inside the training set, the same for all."""
        folds = StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=self.seed)
        return self._once("inner", lambda: list(folds.split(self.X, self.sign)))

    def part(self, kind: str, k: int) -> FloatArray:
        """Gram matrix of the selected features."""

        def make() -> FloatArray:
            columns = self.X[:, self.select(kind, k)[0]]
            return columns @ columns.T

        return self._once(("part", kind, k), make)

    def left(self, kind: str, k: int, share: int) -> FloatArray:
        """Gram matrix of the best `share` per cent of the unselected features."""
        if share == 100:
            return self.gram - self.part(kind, k)

        def make() -> FloatArray:
            rest = self.select(kind, k)[1]
            columns = self.X[:, rest[: share * rest.size // 100]]
            return columns @ columns.T

        return self._once(("left", kind, k, share), make)

    # -- selecting -------------------------------------------------------------------

    def select(self, kind: str, k: int) -> tuple[IntArray, IntArray, float]:
        """Selected columns, the others best first, and the C of the elimination."""
        make = self._anova if kind == "anova" else self._rfe
        return self._once((kind, k), lambda: make(k))

    def _anova(self, k: int) -> tuple[IntArray, IntArray, float]:
        order = AnovaF(k, n_jobs=1).fit(self.X, self.sign).order_
        return order[:k], order[k:], 0.0

    def _rfe(self, k: int) -> tuple[IntArray, IntArray, float]:
        """C is chosen for the elimination and the machine after it together."""
        sets = [train for train, _ in self.inner]
        means = []
        for C in GRID:
            chooser = SVMRFE(k, step=STEP, C=C, n_jobs=1)
            orders = chooser.rank_many(self.X, self.sign, sets)
            rights = []
            for (train, test), order in zip(self.inner, orders, strict=True):
                columns = self.X[:, order[:k]]
                gram = columns @ columns[train].T
                ((alpha, b),) = fit_svm(gram[train], self.sign[train], [C])
                rights.append(_right(gram[test] @ alpha + b, self.sign[test]))
            means.append(np.mean(rights))
        C = GRID[int(np.argmax(means))]
        order = SVMRFE(k, step=STEP, C=C, n_jobs=1).fit(self.X, self.sign).order_
        return order[:k], order[k:], C

    # -- learning --------------------------------------------------------------------

    def _plain(self, gram: FloatArray) -> Machine:
        rights = np.zeros(len(GRID))
        for train, test in self.inner:
            inside = gram[np.ix_(train, train)]
            across = gram[np.ix_(test, train)]
            found = fit_svm(inside, self.sign[train], GRID)
            rights += [_right(across @ a + b, self.sign[test]) for a, b in found]
        C = GRID[int(np.argmax(rights))]
        return Machine(*fit_svm(gram, self.sign, [C])[0], {"C": C})

    def _plus(self, gram: FloatArray, star: FloatArray) -> Machine:
        n = len(self.sign)
        rights = np.zeros((len(GRID), len(GRID)))
        for train, test in self.inner:
            scores = score_grid(
                gram, star, self.sign, np.ones(n), train, test, GRID, GRID, True
            )
            rights += _right(scores, self.sign[test])
        row, column = np.unravel_index(np.argmax(rights), rights.shape)
        C, gamma = GRID[column], GRID[row]
        one = solve_hinge(
            SignedGram(gram, self.sign), PrivilegedGram(star), np.full(n, C), gamma
        )
        chosen = {"C": C, "gamma": gamma, "gap": one.gap}
        return Machine(one.alpha * self.sign, one.bias, chosen)

    def _random_gram(self, n_features: int) -> FloatArray:
        """Gaussian features in place of the unselected ones, standardised too."""
        rng = mixed_generator(self.seed, n_features)
        drawn = rng.standard_normal((len(self.sign), n_features))
        drawn = (drawn - drawn.mean(axis=0)) / drawn.std(axis=0)
        return drawn @ drawn.T
