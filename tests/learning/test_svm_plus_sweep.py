"""SVMPlus over C, γ, losses, biases, kernels and shapes, against a generic solver."""

import itertools

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from tests.oracles.svm_plus import generic_optimum, has_solution, objective_and_misses

from veridical._core.errors import InputError
from veridical.learning import SVMPlus

#: Samples, features, privileged features.
SHAPES = {
    "few privileged": (60, 5, 3),
    "one privileged": (40, 4, 1),
    "few features": (50, 4, 70),
    "many features": (30, 50, 70),
    "neither": (40, 25, 20),
    "repeated": (50, 5, 25),
    "weighted": (60, 5, 30),
    "three classes": (45, 5, 30),
    "overlapping": (50, 2, 5),
    "millions": (50, 5, 25),
    "millionths": (50, 5, 25),
    "uneven columns": (50, 5, 25),
}
CORNERS = (
    (1.0, 1.0),
    (1000.0, 0.001),
    (0.001, 1000.0),
    (1000.0, 1000.0),
    (100.0, 0.01),
)
GRID = tuple(itertools.product([10.0**k for k in range(-3, 4)], repeat=2))
SIDES = ((True, False), (False, False), (False, True))
#: Share of the problems whose optimum the generic solver has to confirm.
COMPARED = 0.95


def make(shape, positive):
    """Classes, features, privileged features (none negative, if asked), weights."""
    n, p, q = SHAPES[shape]
    rng = np.random.default_rng(list(SHAPES).index(shape))
    n_classes = 3 if shape == "three classes" else 2
    labels = rng.permutation(n) % n_classes
    X = rng.normal(size=(n, p))
    if shape != "overlapping":
        X[:, :3] += 0.7 * (2 * labels[:, None] - n_classes + 1)
    Z = rng.normal(size=(n, q)) + 0.3 * labels[:, None]
    weights = np.ones(n)
    if shape == "repeated":
        rows = np.arange(n) % (n // 2)
        X, Z, labels = X[rows], Z[rows], labels[rows]
    elif shape == "weighted":
        weights = rng.integers(3, size=n).astype(float)
    elif shape == "millions":
        X, Z = 1e6 * X, 1e6 * Z
    elif shape == "millionths":
        X, Z = 1e-6 * X, 1e-6 * Z
    elif shape == "uneven columns":
        X, Z = X * 10.0 ** (np.arange(p) % 5 - 2), Z * 10.0 ** (np.arange(q) % 5 - 2)
    return X, np.abs(Z) if positive else Z, labels, weights


def spectral(gram):
    """Features whose products are the matrix."""
    values, vectors = np.linalg.eigh(gram)
    kept = values > 1e-12 * values.max()
    return vectors[:, kept] * np.sqrt(values[kept])


def check(shape, loss, side, prices, kernel="linear"):
    """Check for a small gap and the right optimum, or the right refusal.

    Returns how many optima a generic solver confirms to six digits, and how many
    problems there were.
    """
    bias, positive = side
    X, Z, labels, weights = make(shape, positive)
    kept = weights > 0
    rows, rows_star, classes = X[kept], Z[kept], np.unique(labels)
    if kernel == "rbf":
        rows = spectral(rbf_kernel(X, gamma=0.1)[np.ix_(kept, kept)])
        rows_star = spectral(rbf_kernel(Z, gamma=0.1)[np.ix_(kept, kept)])
    wanted = classes[1:] if len(classes) == 2 else classes
    signs = [np.where(labels[kept] == label, 1.0, -1.0) for label in wanted]
    solvable = all(
        has_solution(rows, rows_star, sign, bias=bias, loss=loss) for sign in signs
    )
    compared = 0
    for C, gamma in prices:
        how = {} if kernel == "linear" else {"gamma": 0.1}
        model = SVMPlus(
            C, gamma, kernel, kernel, kernel_params=how, privileged_kernel_params=how,
            loss=loss, privileged_bias=bias,
        )  # fmt: skip
        if not solvable:
            with pytest.raises(InputError, match="No weights meet"):
                model.fit(X, labels, X_privileged=Z, sample_weight=weights)
            continue
        model.fit(X, labels, X_privileged=Z, sample_weight=weights)
        assert model.dual_gap_ < 1e-7, (C, gamma)
        for number, sign in enumerate(signs):
            c = C * weights[kept]
            lower = model.objective_[number]
            best = generic_optimum(
                rows, rows_star, sign, c, gamma, bias=bias, loss=loss,
                enough=lower * (1 + 1e-8),
            )  # fmt: skip
            if kernel == "linear":
                found = tuple(
                    part[number]
                    for part in (
                        model.coef_, model.intercept_, model.privileged_coef_,
                        model.privileged_intercept_,
                    )
                )  # fmt: skip
                value, missed = objective_and_misses(
                    rows, rows_star, sign, c, gamma, found, loss
                )
                slack = np.abs(rows_star @ found[2] + found[3]).max()
                assert missed < 1e-6 * max(1.0, slack), (C, gamma)
                # What is returned costs as much as is promised, and promises are kept.
                assert value == pytest.approx(lower, rel=1e-6), (C, gamma)
            if np.isfinite(best):
                # The generic solver may stop short of the optimum, never below it.
                assert lower <= best * (1 + 1e-6), (C, gamma)
                compared += best <= lower * (1 + 1e-6)
    return compared, len(prices) * len(signs) * solvable


@pytest.mark.in_part(2)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_c_is_solved_to_the_optimum_or_refused(shape, loss):
    compared, solved = np.sum(
        [check(shape, loss, side, CORNERS) for side in SIDES], axis=0
    )
    assert solved >= len(CORNERS)
    assert compared >= COMPARED * solved


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("shape", ["few privileged", "many features", "repeated"])
def test_kernels_are_solved_too(shape, loss):
    compared, solved = np.sum(
        [check(shape, loss, side, CORNERS, "rbf") for side in SIDES], axis=0
    )
    assert compared >= COMPARED * solved > 0


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_papers_whole_grid_is_solved(shape, loss):
    for side in SIDES:
        compared, solved = check(shape, loss, side, GRID)
        assert compared >= COMPARED * solved
