"""SVM+ on given Gram matrices: ours against generic quadratic programming.

Generic solvers get their matrices ready-made; only the solution is timed. The plain
dual, in (α, β), is what the literature prints and what they solve faster; the
well-scaled dual, in (α, η), keeps its digits when C/γ is large. Everyone reports the
optimal value of the dual.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks import problems
from benchmarks.aims import Faster
from benchmarks.definitions import Agreement, Case, Check, Contender, Problem, Result

GRID = tuple(10.0**k for k in range(-3, 4))

Parameters = Sequence[tuple[float, float]]
WHOLE_GRID: Parameters = tuple(product(GRID, GRID))


@dataclass(frozen=True, eq=False)
class Grams:
    """One training set: Gram matrices of both parts, and the classes as ±1."""

    selected: Any
    unselected: Any
    sign: Any


def problem(n: int, p: int, *, n_folds: int = 0) -> Problem:
    """Make standardised normal features, those that separate the classes best first.

    300 of 9300 count as selected, or that share of fewer.
    """
    made = problems.normal(n, p, n_folds=n_folds)
    X = (made.X - made.X.mean(axis=0)) / made.X.std(axis=0)
    gap = np.abs(X[made.y == 1].mean(axis=0) - X[made.y == 0].mean(axis=0))
    order = np.argsort(-gap, kind="stable")
    return Problem(X[:, order], made.y, max(2, p * 300 // 9300), made.folds)


def grams(made: Problem) -> list[Grams]:
    """Compute the matrices, for all samples or for each training set."""
    k, sign = made.n_selected, np.where(made.y == 1, 1.0, -1.0)
    S, U = made.X[:, :k] @ made.X[:, :k].T, made.X[:, k:] @ made.X[:, k:].T
    if not made.folds:
        return [Grams(S, U, sign)]
    return [Grams(S[np.ix_(r, r)], U[np.ix_(r, r)], sign[r]) for r in made.folds]


# -- ours ----------------------------------------------------------------------------


def fit(C: float, gamma: float) -> Callable[[list[Grams]], Result]:
    """Fit the estimator with both kernels precomputed."""

    def run(sets: list[Grams]) -> Result:
        from veridical.learning import SVMPlus

        (one,) = sets
        model = SVMPlus(C, gamma, "precomputed", "precomputed")
        model.fit(one.selected, one.sign, X_privileged=one.unselected)
        return Result(scores=model.objective_)

    return run


def solve_grids(sets: list[Grams]) -> Result:
    """Solve every C and γ for every training set, as `LUFeCV` does."""
    from veridical.kernels.svm_plus import PrivilegedGram, SignedGram, solve_grid

    values = []
    for one in sets:
        problem = SignedGram(one.selected, one.sign)
        privileged = PrivilegedGram(one.unselected)
        found = solve_grid(problem, privileged, GRID, GRID, np.ones(len(one.sign)))
        by_C = zip(*found, strict=True)
        values += [getattr(point, "objective", np.nan) for row in by_C for point in row]
    return Result(scores=np.array(values))


# -- generic solvers -----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Program:
    """A quadratic program, and how to read the dual's value from its solution."""

    program: Any
    value: Callable[[Any], float]


def _plain(one: Grams, C: float, gamma: float) -> Program:
    import qpsolvers

    n = len(one.sign)
    Q = one.selected * np.outer(one.sign, one.sign)
    H = one.unselected / gamma
    linear = -C * H.sum(axis=1)
    A = np.vstack([np.append(one.sign, np.zeros(n)), np.ones(2 * n)])

    def value(x: Any) -> float:
        a, delta = x[:n], x[:n] + x[n:] - C
        return float(a.sum() - 0.5 * a @ Q @ a - 0.5 * delta @ H @ delta)

    program = qpsolvers.Problem(
        np.block([[Q + H, H], [H, H]]), np.append(linear - 1, linear),
        A=A, b=np.array([0.0, n * C]), lb=np.zeros(2 * n),
    )  # fmt: skip
    return Program(program, value)


def _scaled(one: Grams, C: float, gamma: float) -> Program:
    import qpsolvers

    n = len(one.sign)
    Q = one.selected * np.outer(one.sign, one.sign)
    nothing = np.zeros((n, n))
    A = np.zeros((2, 2 * n))
    A[0, :n], A[1, n:] = one.sign, 1.0

    def value(x: Any) -> float:
        a, h = x[:n], x[n:]
        quadratic = 0.5 * a @ Q @ a + gamma / 2 * h @ one.unselected @ h
        return float(a.sum() - quadratic)

    program = qpsolvers.Problem(
        np.block([[Q, nothing], [nothing, gamma * one.unselected]]),
        np.append(-np.ones(n), np.zeros(n)),
        G=np.hstack([np.eye(n), -gamma * np.eye(n)]), h=np.full(n, C), A=A,
        b=np.zeros(2), lb=np.append(np.zeros(n), np.full(n, -np.inf)),
    )  # fmt: skip
    return Program(program, value)


def programs(
    parameters: Parameters, scaled: bool = False
) -> Callable[[Problem], list[list[Any]]]:
    """Prepare matrices per training set; programs are written when they are solved.

    A program of a grid is 4 n² numbers: all at once would not fit.
    """
    write = _scaled if scaled else _plain

    def prepare(made: Problem) -> list[list[Any]]:
        sets = grams(made)
        if len(parameters) == 1:
            return [[write(one, *parameters[0])] for one in sets]
        return [[(write, one, C, gamma) for C, gamma in parameters] for one in sets]

    return prepare


def generic(solver: str) -> Callable[[list[list[Any]]], Result]:
    """Solve one program after the other; the writing of a grid's is not timed."""

    def run(sets: list[list[Any]]) -> Result:
        import qpsolvers

        values, seconds, grid = [], 0.0, False
        for programs_of_set in sets:
            for wanted in programs_of_set:
                item = wanted
                if isinstance(wanted, tuple):
                    grid = True
                    write, *arguments = wanted
                    item = write(*arguments)
                started = perf_counter()
                x = qpsolvers.solve_problem(item.program, solver=solver).x
                seconds += perf_counter() - started
                values.append(np.nan if x is None else item.value(x))
        note = "sum of the solver's calls" if grid else ""
        return Result(
            scores=np.array(values), seconds=seconds if grid else None, note=note
        )

    return run


# -- agreement -----------------------------------------------------------------------


def same_optimum(rtol: float = 1e-6, *, decides: bool = True) -> Check:
    """Check the optimal values, relative to 1 + value."""

    def check(ours: Result, theirs: Result) -> Agreement:
        a, b = np.asarray(ours.scores), np.asarray(theirs.scores)
        gaps = np.abs(a - b) / (1 + np.abs(a))
        good = int((gaps <= rtol).sum())
        worst = np.nanmax(gaps) if not np.isnan(gaps).all() else np.nan
        words = f"{good} of {a.size} optima equal to {rtol:g}, worst {worst:.1g}"
        return Agreement(good == a.size if decides else None, words)

    return check


# -- cases ---------------------------------------------------------------------------

_VERIDICAL = "veridical"
_LOSES = "loses its digits when C/γ is large"
_MISSES = "may stop short of the optimum"


def _generic(
    solver: str, parameters: Parameters, *, scaled: bool = False, decides: bool = True
) -> Contender:
    form = "well-scaled dual" if scaled else "plain dual"
    return Contender(
        f"{solver}, {form}",
        generic(solver),
        prepare=programs(parameters, scaled),
        check=same_optimum(decides=decides),
        differs="" if decides else _MISSES if scaled else _LOSES,
    )


CASES = (
    Case(
        name="lufe-fit",
        title="SVM+, one fit on given Gram matrices, C = γ = 1",
        make=problem,
        size={"n": 150, "p": 9300},
        small={"n": 60, "p": 310},
        contenders=(
            Contender(_VERIDICAL, fit(1.0, 1.0), prepare=grams),
            _generic("piqp", [(1.0, 1.0)]),
            _generic("cvxopt", [(1.0, 1.0)]),
            _generic("clarabel", [(1.0, 1.0)]),
            _generic("piqp", [(1.0, 1.0)], scaled=True),
        ),
        aims=(
            Faster(_VERIDICAL, "piqp, plain dual", 5),
            Faster(_VERIDICAL, "cvxopt, plain dual", 5),
        ),
        notes="300 selected and 9000 unselected features. veridical's time is that of "
        "`SVMPlus.fit`, checks of its input included.",
    ),
    Case(
        name="lufe-fit-extreme",
        title="SVM+, one fit on given Gram matrices, C = 1000, γ = 0.001",
        make=problem,
        size={"n": 150, "p": 9300},
        small={"n": 60, "p": 310},
        contenders=(
            Contender(_VERIDICAL, fit(1000.0, 0.001), prepare=grams),
            _generic("piqp", [(1000.0, 0.001)], scaled=True),
            _generic("cvxopt", [(1000.0, 0.001)], scaled=True, decides=False),
            _generic("piqp", [(1000.0, 0.001)], decides=False),
            _generic("cvxopt", [(1000.0, 0.001)], decides=False),
        ),
        aims=(Faster(_VERIDICAL, "piqp, well-scaled dual", 5),),
        notes="Here the plain dual carries a constant of 10⁹ times its optimum.",
    ),
    Case(
        name="lufe-grid",
        title="SVM+, 7 × 7 values of C and γ on five training folds",
        make=partial(problem, n_folds=5),
        size={"n": 150, "p": 9300},
        small={"n": 60, "p": 310},
        contenders=(
            Contender(_VERIDICAL, solve_grids, prepare=grams),
            _generic("piqp", WHOLE_GRID, decides=False),
            _generic("piqp", WHOLE_GRID, scaled=True, decides=False),
        ),
        aims=(
            Faster(_VERIDICAL, "piqp, plain dual", 5),
            Faster(_VERIDICAL, "piqp, plain dual", 10),
        ),
        notes="245 problems of 120 samples; how many optima agree is reported, because "
        "generic solvers miss some. One thread.",
    ),
    Case(
        name="lufe-large",
        title="SVM+, one fit of 2000 samples on given Gram matrices, C = γ = 1",
        make=problem,
        size={"n": 2000, "p": 9300},
        small={"n": 60, "p": 310},
        contenders=(
            Contender(_VERIDICAL, fit(1.0, 1.0), prepare=grams),
            _generic("piqp", [(1.0, 1.0)]),
        ),
        aims=(Faster(_VERIDICAL, "piqp, plain dual", 20),),
        notes="300 selected and 9000 unselected features.",
    ),
    Case(
        name="lufe-large-extreme",
        title="SVM+, one fit of 2000 samples, C = 1000, γ = 0.001",
        make=problem,
        size={"n": 2000, "p": 9300},
        small={"n": 60, "p": 310},
        contenders=(
            Contender(_VERIDICAL, fit(1000.0, 0.001), prepare=grams),
            _generic("piqp", [(1000.0, 0.001)], scaled=True),
        ),
        aims=(Faster(_VERIDICAL, "piqp, well-scaled dual", 20),),
        notes="300 selected and 9000 unselected features.",
    ),
)
