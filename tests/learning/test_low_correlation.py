"""Adjustment factors against enumeration in fractions, quadrature and simulation."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import roots_legendre
from tests.oracles import bias_corrected as oracle

from veridical._core.errors import InputError
from veridical.kernels.beta_counts import (
    fill_masses,
    log_gamma_ratio,
    n_nodes,
    pattern_table,
    region_table,
    unit_rule,
)
from veridical.kernels.count_lattice import (
    low_region,
    rank_patterns,
    squared,
    statistics,
)
from veridical.learning import prob_low_association, prob_low_correlation

#: The specification's values, D3: (n0, n1, α, γ) and P(|COR| < γ).
KNOWN = [
    ((8, 14, 5, 0.5), 0.8740249279),
    ((8, 14, 50, 0.38), 0.9146108402),
    ((50, 50, 300, 0.27), 0.9899397995),
    ((50, 50, 30, 0.36), 0.9806381824),
    ((30, 70, 300, 0.21), 0.9543171841),
]


def lattice(*sizes):
    grid = np.meshgrid(*(np.arange(n + 1) for n in sizes), indexing="ij")
    return np.stack([g.ravel() for g in grid], axis=1)


# -- correlations --------------------------------------------------------------------


def test_correlations_of_counts_are_those_of_the_samples():
    """The slides' table for 8 and 14 samples, all 135 entries (D1)."""
    sizes, y = np.array([8, 14]), np.repeat([0, 1], [8, 14])
    counts = lattice(8, 14)
    found = statistics(sizes, counts)
    assert found.shape == (135,)
    for (i0, i1), value in zip(counts, found, strict=True):
        x = np.repeat([1, 0, 1, 0], [i0, 8 - i0, i1, 14 - i1])
        expected = abs(np.corrcoef(x, y)[0, 1]) if 0 < i0 + i1 < 22 else 0.0
        assert value == pytest.approx(expected, abs=1e-12)
    assert found[7 * 15 + 7] == pytest.approx(0.375, abs=5e-4)  # printed −0.37
    assert found[0] == found[-1] == 0


@pytest.mark.parametrize("sizes", [(3, 4), (9, 9), (13, 6)])
def test_order_of_patterns_is_that_of_fractions(sizes):
    counts = lattice(*sizes)
    place = rank_patterns(np.array(sizes), counts)
    exact = [squared(np.array(sizes), row) for row in counts]
    levels = sorted(set(exact), reverse=True)
    assert place.tolist() == [levels.index(value) for value in exact]


def test_neighbours_that_doubles_cannot_tell_apart_are_told_apart():
    rng = np.random.default_rng(0)
    sizes = np.array([4001, 5003])
    counts = np.column_stack(
        [rng.integers(1990, 2010, 3000), rng.integers(2490, 2510, 3000)]
    )
    counts = np.vstack([counts, sizes - counts])  # mirror images tie exactly
    place = rank_patterns(sizes, counts)
    exact = [squared(sizes, row) for row in counts]
    assert np.array_equal(place[:3000], place[3000:])
    for a, b in zip(np.argsort(place), np.argsort(place)[1:], strict=False):
        assert exact[a] >= exact[b]
        assert (exact[a] == exact[b]) == (place[a] == place[b])


def test_correlation_ratio_of_three_classes():
    rng = np.random.default_rng(1)
    sizes = np.array([5, 7, 4])
    y = np.repeat(np.arange(3), sizes)
    for _ in range(20):
        x = rng.integers(2, size=16)
        counts = np.array([[x[y == c].sum() for c in range(3)]])
        means = np.array([x[y == c].mean() for c in range(3)])
        between = (sizes * (means - x.mean()) ** 2).sum()
        total = ((x - x.mean()) ** 2).sum()
        expected = np.sqrt(between / total) if total else 0.0
        assert statistics(sizes, counts)[0] == pytest.approx(expected, abs=1e-12)


# -- the factor ----------------------------------------------------------------------


@pytest.mark.parametrize(("arguments", "value"), KNOWN)
def test_probabilities_of_low_correlation_by_hand(arguments, value):
    assert prob_low_correlation(*arguments) == pytest.approx(value, abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 6),
    st.integers(1, 6),
    st.fractions(Fraction(1, 50), Fraction(500), max_denominator=50),
    st.integers(0, 10_000),
)
def test_enumeration_in_fractions(n0, n1, alpha, pick):
    """Also where γ is a correlation that occurs: the comparison is exact."""
    sizes = (n0, n1)
    counts = lattice(*sizes)
    row = counts[pick % len(counts)]
    square = oracle.squared_correlation([int(i) for i in row], sizes)
    expected = float(oracle.low_probability(sizes, alpha, square))
    found = prob_low_correlation(n0, n1, float(alpha), float(square) ** 0.5)
    assert found == pytest.approx(expected, abs=1e-10)
    between = float(square) ** 0.5 * 0.9 + 0.05
    expected = float(oracle.low_probability(sizes, alpha, Fraction(between) ** 2))
    found = prob_low_correlation(n0, n1, float(alpha), between)
    assert found == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("alpha", [0.01, 1, 37, 1e5])
@pytest.mark.parametrize("sizes", [(6, 9), (1, 12), (8, 8)])
def test_counts_sum_to_one_and_mirror_themselves(sizes, alpha):
    """Statement D2 of the specification of bias-corrected naive Bayes."""
    logs, mean = pattern_table(np.array([alpha]), np.array(sizes), lattice(*sizes))
    from veridical.learning.bias_corrected_evidence import log_ways

    p = np.exp(logs[0] + log_ways(np.array(sizes), lattice(*sizes)))
    table = p.reshape(sizes[0] + 1, sizes[1] + 1)
    assert table.sum() == pytest.approx(1, abs=1e-10)
    assert np.allclose(table, table[::-1, ::-1], rtol=1e-10, atol=1e-12)
    m = mean[0].reshape(table.shape)
    assert np.allclose(m, 1 - m[::-1, ::-1], atol=1e-10)
    correlation = statistics(np.array(sizes), lattice(*sizes)).reshape(table.shape)
    shares = [np.arange(size + 1) / size for size in sizes]
    sign = shares[1] - shares[0][:, None]
    high = table[(correlation >= 0.4) & (sign > 0)].sum()
    assert high == pytest.approx(table[(correlation >= 0.4) & (sign < 0)].sum())


@pytest.mark.parametrize(("arguments", "_"), KNOWN[:3])
def test_probabilities_agree_with_simulation(arguments, _):
    """D4, with fewer draws; the full number is in the slow test."""
    assert abs(z_score(*arguments, n_draws=200_000)) < 4


@pytest.mark.slow
@pytest.mark.parametrize(("arguments", "_"), KNOWN)
def test_simulation_with_all_draws(arguments, _):
    assert abs(z_score(*arguments, n_draws=2_000_000)) < 4


def z_score(n0, n1, alpha, gamma, n_draws):
    rng = np.random.default_rng(4)
    theta = rng.random(n_draws)
    counts = np.column_stack(
        [
            rng.binomial(n, rng.beta(alpha * theta, alpha * (1 - theta)))
            for n in (n0, n1)
        ]
    )
    low = statistics(np.array([n0, n1]), counts) < gamma * (1 - 1e-12)
    p = prob_low_correlation(n0, n1, alpha, gamma)
    return (low.mean() - p) / np.sqrt(p * (1 - p) / n_draws)


@pytest.mark.parametrize("sizes", [(50, 50), (30, 70), (8, 14), (1, 1)])
def test_twice_as_many_nodes_change_nothing(sizes):
    """D5: the rule is exact."""
    n = sum(sizes)
    region = low_region(np.array(sizes), 0.3)
    for alpha in (0.5, 30, 3000):
        inside, outside = region_table(np.array([alpha]), np.array(sizes), region)
        more = sum_with(n, alpha, sizes, region)
        assert inside[0] == pytest.approx(more, rel=1e-10)
        assert inside[0] + outside[0] == pytest.approx(1, abs=1e-12)


def sum_with(n_points, alpha, sizes, region):
    """The probability of a region with another number of nodes."""
    x, w = roots_legendre(n_points)
    mass = np.empty((n_points, sum(sizes) + 2))
    nodes, others = 0.5 * (1 + x), 0.5 * (1 - x)
    fill_masses(float(alpha), nodes, others, np.array(sizes), mass)
    table = (mass[:, : sizes[0] + 1].T * (0.5 * w)) @ mass[:, sizes[0] + 1 :]
    return sum(
        table[i0, first : last + 1].sum()
        for i0, (first, last) in enumerate(zip(*region, strict=True))
    )


def test_many_samples_need_fewer_nodes_than_exactness():
    """Beyond 400 samples the rule is no longer exact, but as good."""
    sizes = np.array([700, 900])
    assert n_nodes(1600) < 1600 // 2 + 1
    region = low_region(sizes, 0.06)
    for alpha in (1.0, 300.0, 1e5):
        found = region_table(np.array([alpha]), sizes, region)[0][0]
        exact = sum_with(801, alpha, (700, 900), region)
        assert found == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize("z", [1e-6, 0.3, 31.9, 32.0, 1e3, 1e9, 1e17, 1e100])
@pytest.mark.parametrize("steps", [17, 400, 5000])
def test_long_ratios_of_gamma_functions_are_exact(z, steps):
    """Factor by factor, in logarithms that add up exactly."""
    exact = math.fsum(math.log(z + i) for i in range(steps))
    assert log_gamma_ratio(z, steps) == pytest.approx(exact, rel=1e-13, abs=1e-12)


def test_features_say_nothing_of_alphas_far_too_large():
    """The evidence settles: no digits are lost where α is beyond all counts."""
    sizes, counts = np.array([400, 300]), np.array([[250, 130], [3, 299]])
    far = np.array([1e9, 1e12, 1e15, 1e17, 1e18, 1e30, 1e200])
    logs, mean = pattern_table(far, sizes, counts)
    assert np.allclose(logs, logs[-1], atol=1e-3)
    assert np.allclose(logs[2:], logs[-1], atol=1e-8)
    assert np.allclose(mean, mean[-1], atol=1e-6)


def test_nodes_are_symmetric():
    nodes, log_w = unit_rule(31)
    assert np.allclose(nodes, 1 - nodes[::-1], rtol=0, atol=2e-16)
    assert np.exp(log_w).sum() == pytest.approx(1, abs=1e-14)


def test_extreme_thresholds_and_empty_classes():
    assert prob_low_correlation(5, 7, 3.0, 0.0) == 0.0
    assert prob_low_correlation(5, 7, 3.0, 1.0) < 1.0
    perfect = oracle.low_probability((5, 7), Fraction(3), Fraction(1))
    assert prob_low_correlation(5, 7, 3.0, 1.0) == pytest.approx(float(perfect))
    assert prob_low_correlation(0, 9, 3.0, 0.2) == pytest.approx(1.0)
    assert prob_low_correlation(9, 0, 3.0, 0.0) == 0.0
    for alpha in (1e-3, 1e9):
        assert 0 <= prob_low_correlation(40, 60, alpha, 0.1) <= 1


def test_ten_thousand_samples():
    found = prob_low_correlation(5000, 5000, [1.0, 300.0, 1e5], 0.02)
    assert np.all(np.isfinite(found))
    assert np.all(np.diff(found) > 0)  # the more alike the classes, the more are low
    edge = prob_low_correlation(5000, 5000, 300.0, [0.0, 1.0])
    assert edge[0] == 0
    assert edge[1] == pytest.approx(1, abs=1e-12)


def test_arguments_are_broadcast():
    found = prob_low_correlation(8, 14, [[1.0], [50.0]], [0.2, 0.38, 0.5])
    assert found.shape == (2, 3)
    assert found[1, 1] == prob_low_correlation(8, 14, 50.0, 0.38)
    assert isinstance(prob_low_correlation(8, 14, 5, 0.5), float)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((-1, 5, 1.0, 0.5), "n0=-1"),
        ((2.5, 5, 1.0, 0.5), "n0=2.5"),
        ((0, 0, 1.0, 0.5), "both 0"),
        ((5, 5, 0.0, 0.5), "alpha=0.0 must be positive"),
        ((5, 5, np.nan, 0.5), "alpha=nan"),
        ((5, 5, 1.0, 1.5), "gamma=1.5"),
        ((5, 5, 1.0, np.nan), "gamma=nan"),
    ],
)
def test_bad_arguments_are_named(arguments, words):
    with pytest.raises(InputError, match=words):
        prob_low_correlation(*arguments)


# -- more classes, more values -------------------------------------------------------


@pytest.mark.parametrize("sizes", [(2, 3, 4), (3, 3, 3), (1, 2, 2, 3)])
def test_more_classes_by_enumeration(sizes):
    for alpha in (Fraction(1, 3), Fraction(20)):
        for gamma in (0.3, 0.55, 0.8):
            expected = float(oracle.low_probability(sizes, alpha, Fraction(gamma) ** 2))
            found = prob_low_association(sizes, float(alpha), gamma)
            assert found == pytest.approx(expected, abs=1e-10)


def test_two_classes_are_the_special_sample():
    for gamma in (0.1, 0.38, 0.5):
        assert prob_low_association((8, 14), 5.0, gamma) == pytest.approx(
            prob_low_correlation(8, 14, 5.0, gamma), abs=1e-12
        )


@pytest.mark.parametrize(
    ("sizes", "n_values", "alpha", "gamma"),
    [((20, 30), 3, 25.0, 0.3), ((15, 15), 3, 2.0, 0.45), ((9, 8), 4, 8.0, 0.5)],
)
def test_more_values_by_simulation(sizes, n_values, alpha, gamma):
    """Summed exactly over histograms; simulated independently."""
    rng = np.random.default_rng(3)
    n_draws = 100_000
    tables = oracle.simulated_tables(rng, alpha, sizes, n_values, n_draws)
    scale = min(len(sizes), n_values) - 1
    low = oracle.chi_square_share(tables) / scale < gamma**2 * (1 - 1e-12)
    p = prob_low_association(sizes, alpha, gamma, n_values=n_values)
    assert abs(low.mean() - p) < 4 * np.sqrt(p * (1 - p) / n_draws)


@pytest.mark.parametrize(
    ("sizes", "n_values", "gamma"),
    [((12, 10, 9, 8, 7, 9), 2, 0.4), ((10, 12, 11), 3, 0.3)],
)
def test_simulated_factors_agree_with_other_draws(sizes, n_values, gamma):
    """Where the sum is too long to take: our draws against the oracle's."""
    rng = np.random.default_rng(5)
    n_draws = 40_000
    scale = min(len(sizes), n_values) - 1
    for alpha in (3.0, 60.0):
        tables = oracle.simulated_tables(rng, alpha, sizes, n_values, n_draws)
        low = oracle.chi_square_share(tables) / scale < gamma**2
        p = prob_low_association(sizes, alpha, gamma, n_values=n_values)
        # Both are simulated; ours from more draws, and smoothed.
        assert abs(low.mean() - p) < 5 * np.sqrt(p * (1 - p) / n_draws)


def test_three_values_by_enumeration():
    """Every pair of histograms of 3 and 4 samples, in fractions."""
    sizes, alpha, gamma = (3, 4), Fraction(5, 2), 0.6
    from veridical.learning.bias_corrected_evidence import compositions

    total = Fraction(0)
    for a in compositions(3, 3).tolist():
        for b in compositions(4, 3).tolist():
            share = oracle.chi_square_share(np.array([[a, b]]))[0]
            if share < gamma**2:
                p = oracle.simplex_evidence(alpha, [a, b])[0]
                total += p * multinomial(a) * multinomial(b)
    found = prob_low_association(sizes, float(alpha), gamma, n_values=3)
    assert found == pytest.approx(float(total), abs=1e-9)


def multinomial(counts):
    from math import factorial, prod

    return factorial(sum(counts)) // prod(factorial(c) for c in counts)
