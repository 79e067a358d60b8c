"""Bounds of stable selection: published formulas, and the R package stabs."""

import numpy as np
import pytest
from scipy.optimize import linprog

from veridical._core.errors import InputError
from veridical.discovery import false_selections, least_threshold, most_selected
from veridical.discovery.bounds import bound_tails


def test_without_assumptions_it_is_the_formula_of_meinshausen_and_buehlmann():
    for q, p, tau in ((2, 9, 0.75), (50, 1000, 0.9), (10, 200, 0.6)):
        bound = false_selections(tau, q, p, assumption="none")
        assert bound == pytest.approx(q**2 / ((2 * tau - 1) * p), rel=1e-12)


@pytest.mark.parametrize(
    ("tau", "factor"),
    [
        (0.6, 1 / (2 * (0.2 - 0.01))),
        (0.75, 1 / (2 * (0.5 - 0.01))),
        (0.76, 4 * (0.24 + 0.01) / 1.02),
        (0.9, 4 * (0.1 + 0.01) / 1.02),
        (1.0, 4 * 0.01 / 1.02),
    ],
)
def test_unimodal_bound_is_that_of_theorem_2(tau, factor):
    # Shah & Samworth 2013, equation (8), with B = 50 and theta = 0.02.
    bound = false_selections(tau, 20, 1000, 50, "unimodal")
    assert bound == pytest.approx(factor * 0.02**2 * 1000, rel=1e-9)


def test_bounds_of_the_r_package_stabs():
    # stabsel(bodyfat, cutoff = 0.75, q = 2): 9 features, B = 50.
    assert round(false_selections(0.75, 2, 9, assumption="none"), 3) == 0.889
    assert round(false_selections(0.75, 2, 9, assumption="unimodal"), 3) == 0.454
    assert round(false_selections(0.75, 2, 9, assumption="unimodal") / 9, 4) == 0.0504


@pytest.mark.parametrize(
    ("q", "unimodal", "concave"),
    [
        (1, 0.02631579, 0.006971364),
        (2, 0.1052632, 0.03342845),
        (3, 0.2368421, 0.08691176),
        (4, 0.4210526, 0.1637231),
        (5, 0.6578947, 0.2605329),
        (6, 0.9473684, 0.3820466),
        (7, 1.289474, 0.5295188),
        (8, 1.684211, 0.7042719),
        (9, 2.131579, 0.9077127),
        (10, 2.631579, 1.141338),
    ],
)
def test_bounds_that_stabs_has_published(q, unimodal, concave):
    # tests/regtest-inference.Rout.save of stabs: cutoff 0.6, 100 features, B = 50.
    assert false_selections(0.6, q, 100) == pytest.approx(unimodal, rel=1e-6)
    # The search of stabs ends up to 3e-5 below the largest value.
    found = false_selections(0.6, q, 100, assumption="r-concave")
    assert found == pytest.approx(concave, abs=3e-5)


def test_choices_that_stabs_has_published():
    # The same file: 200 features, at most 0.2 false selections.
    for assumption, q, tau in (("r-concave", 6, 0.62), ("unimodal", 3, 0.81)):
        assert most_selected(0.2, 0.6, 200, assumption=assumption) == q
        assert least_threshold(0.2, 7, 200, assumption=assumption) == tau
    bounds = [
        round(false_selections(tau, q, 200, assumption="r-concave"), 3)
        for tau, q in ((0.6, 6), (0.6, 7), (0.62, 7), (0.61, 7))
    ]
    assert bounds == [0.174, 0.248, 0.196, 0.219]


@pytest.mark.parametrize(("mean", "n"), [(0.05, 6), (0.1, 8)])
def test_concave_tails_are_reached_and_not_exceeded(mean, n):
    """No r-concave distribution found by brute force exceeds the bound."""
    r = -1 / 2
    bound = bound_tails(mean, n, r)
    rng = np.random.default_rng(0)
    best = np.zeros(n)
    places = np.arange(n + 1) / n
    for _ in range(20000):
        # Weights (a + b i)^(1/r) on 0..k are r-concave, b of either sign.
        k = rng.integers(1, n + 1)
        a, b = rng.exponential(), rng.normal()
        base = a + b * np.arange(k + 1)
        if (base <= 0).any():
            continue
        weight = np.zeros(n + 1)
        weight[: k + 1] = base ** (1 / r)
        weight /= weight.sum()
        if weight @ places <= mean:
            tail = weight[::-1].cumsum()[::-1][1:]
            best = np.maximum(best, tail)
    assert (best <= bound + 1e-9).all()
    high = bound < 1
    assert (best[high] >= 0.5 * bound[high]).all()


def test_assumptions_are_ordered_and_bounds_fall():
    last = np.inf
    for tau in np.arange(60, 101, 2) / 100:
        none, unimodal, concave = (
            false_selections(tau, 20, 1000, 50, one)
            for one in ("none", "unimodal", "r-concave")
        )
        assert concave <= unimodal * (1 + 1e-9)
        assert unimodal <= none * (1 + 1e-9)
        assert unimodal <= last
        last = unimodal


def test_threshold_and_number_of_features_undo_the_bound():
    tau = least_threshold(1, 20, 1000)
    assert false_selections(tau, 20, 1000) <= 1
    assert false_selections(tau - 0.01, 20, 1000) > 1
    q = most_selected(1, 0.75, 1000)
    assert false_selections(0.75, q, 1000) <= 1 < false_selections(0.75, q + 1, 1000)
    assert least_threshold(1e-9, 20, 1000) == np.inf


def test_bad_thresholds_are_refused():
    with pytest.raises(InputError, match=r"above 0\.5"):
        false_selections(0.5, 2, 9)
    with pytest.raises(InputError, match="assumption"):
        false_selections(0.7, 2, 9, assumption="normal")


def test_a_unimodal_distribution_cannot_exceed_its_bound():
    """The linear programme over unimodal distributions of the share of pairs."""
    theta, n_pairs, tau = 0.2, 10, 0.8
    # Share of pairs of which both halves select: mean at most theta², and a feature of
    # share tau has at least a share 2 tau − 1 of them.
    n = n_pairs
    least = round((2 * tau - 1) * n)
    worst = 0.0
    for mode in range(n + 1):
        c = -(np.arange(n + 1) >= least).astype(float)
        rows = []
        for i in range(n):
            row = np.zeros(n + 1)
            row[i], row[i + 1] = (1, -1) if i < mode else (-1, 1)
            rows.append(row)
        rows.append(np.arange(n + 1) / n)
        found = linprog(
            c,
            A_ub=rows,
            b_ub=[0] * n + [theta**2],
            A_eq=[np.ones(n + 1)],
            b_eq=[1],
        )
        if found.success:
            worst = max(worst, -found.fun)
    assert worst <= false_selections(tau, 20, 100, n_pairs) / 100 + 1e-9
