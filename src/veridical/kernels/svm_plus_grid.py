"""SVM+ for a whole grid of C and γ on the same Gram matrices.

What is shared: the inverse of the privileged matrix; the states of the neighbour in γ,
from which a round or two lead to the next solution; and whole solutions, because once
no case needs a slack neither γ nor a larger C changes anything.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical.kernels.svm_plus import same_for_all_gamma, solve_hinge
from veridical.kernels.svm_plus_cases import (
    Cases,
    InfeasibleError,
    PrivilegedGram,
    Solution,
)


def solve_grid(
    cases: Cases,
    privileged: PrivilegedGram,
    Cs: Sequence[float],
    gammas: Sequence[float],
    weights: FloatArray,
) -> list[list[Solution | None]]:
    """Solve for every γ (outer list) and every C (inner lists), in the orders given.

    None stands for a problem that no weights solve.
    """
    found: list[list[Solution | None]] = [[None] * len(Cs) for _ in gammas]
    settled: Solution | None = None
    for column in np.argsort(Cs):
        start = None
        for row in np.argsort(gammas):
            if settled is None:
                c = float(Cs[column]) * weights
                try:
                    one = solve_hinge(cases, privileged, c, float(gammas[row]), start)
                except InfeasibleError:
                    return found  # feasible for none of them: C and γ are prices only
                start = one.states
                if same_for_all_gamma(one):
                    settled = one
                found[row][column] = one
            else:
                found[row][column] = settled
    return found


def score_grid(
    gram: FloatArray,
    gram_star: FloatArray,
    sign: FloatArray,
    weights: FloatArray,
    train: IntArray,
    test: IntArray,
    Cs: Sequence[float],
    gammas: Sequence[float],
    bias: bool,
) -> FloatArray:
    """Scores of the test cases, shape (n_gammas, n_Cs, n_test); NaN where infeasible.

    All matrices are those of the whole training set; `train` and `test` are rows.
    """
    inside = np.ix_(train, train)
    cases = Cases(gram[inside], sign[train])
    privileged = PrivilegedGram(gram_star[inside], bias)
    grid = solve_grid(cases, privileged, Cs, gammas, weights[train])
    across = gram[np.ix_(test, train)] * sign[train]
    scores = np.full((len(gammas), len(Cs), len(test)), np.nan)
    for row, line in enumerate(grid):
        for column, one in enumerate(line):
            if one is not None:
                scores[row, column] = across @ one.alpha + one.bias
    return scores
