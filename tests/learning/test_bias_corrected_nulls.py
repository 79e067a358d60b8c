"""Null features and base rates: against definitions, limits and simulated data."""

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats
from scipy.special import betaln, logsumexp
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator
from tests.oracles import bias_corrected as oracle

from veridical._core.errors import InputError
from veridical.datasets import make_beta_bernoulli
from veridical.kernels.beta_counts import (
    NO_EFFECT,
    BaseRates,
    log_no_effect,
    pattern_table,
    region_table,
)
from veridical.kernels.count_lattice import low_region
from veridical.learning import BiasCorrectedGaussianNB, BiasCorrectedNB
from veridical.learning.bias_corrected_evidence import log_low_association
from veridical.learning.bias_corrected_nominal import estimate_base_rates
from veridical.learning.bias_corrected_prior import NullShare, Prior

ALPHAS = np.array([2.0, 11.0, 60.0])
BOTH = {"null_share": "estimate", "base_rates": "estimate"}


def small(seed=0, n=14, p=25, n_test=4):
    rng = np.random.default_rng(seed)
    y = np.arange(n + n_test) % 2
    rates = np.where(np.arange(p) < 4, 0.5 + 0.35 * (2 * y[:, None] - 1), 0.3)
    X = (rng.random((n + n_test, p)) < rates).astype(np.int8)
    return X[:n], y[:n], X[n:]


# -- slow and obvious ------------------------------------------------------------------


def expect(function, rates):
    """Integrate a function of θ ~ Beta(a, b) by adaptive quadrature."""
    a, b = rates

    def integrand(theta):
        return function(theta) * stats.beta.pdf(theta, a, b)

    return integrate.quad(integrand, 0, 1, epsabs=0, epsrel=1e-10, limit=200)[0]


def sequence(alpha, theta, ones, size):
    """Compute the probability of one sequence in a class; α of None is no effect."""
    if alpha is None:
        return theta**ones * (1 - theta) ** (size - ones)
    u, v = alpha * theta, alpha * (1 - theta)
    return np.exp(betaln(u + ones, v + size - ones) - betaln(u, v))


def rate(alpha, theta, ones, size):
    return theta if alpha is None else (alpha * theta + ones) / (alpha + size)


def mixed(function, alpha, share):
    """Average a function of α over no effect and an effect."""
    return share * function(None) + (1 - share) * function(alpha)


def likelihood(sizes, counts, rates, alpha, share, value=None, label=None):
    """Compute P(counts of a feature, and of a new value), by quadrature."""

    def given(one):
        def integrand(theta):
            found = np.prod(
                [sequence(one, theta, i, n) for i, n in zip(counts, sizes, strict=True)]
            )
            if value is not None:
                p = rate(one, theta, counts[label], sizes[label])
                found *= p if value else 1 - p
            return found

        return expect(integrand, rates)

    return mixed(given, alpha, share)


def event(sizes, rates, alpha, share, accept):
    """Compute P(the statistic is accepted), by enumeration of all counts."""
    total = 0.0
    for counts in product(*(range(n + 1) for n in sizes)):
        if accept(oracle.squared_correlation(counts, sizes)):
            ways = np.prod([comb(n, i) for n, i in zip(sizes, counts, strict=True)])
            total += ways * likelihood(sizes, counts, rates, alpha, share)
    return total


@pytest.mark.parametrize("rates", [(1.0, 1.0), (1.6, 3.5)])
@pytest.mark.parametrize("correct", [True, False])
def test_predictions_are_those_of_the_definition(rates, correct):
    X, y, X_test = small(n=8, p=7, n_test=2)
    k, share = 3, 0.6
    model = BiasCorrectedNB(
        k, correct, alpha_grid=ALPHAS, null_share=share, base_rates=rates
    ).fit(X, y)
    sizes = [4, 4]
    ones = [[int(X[y == c, j].sum()) for c in (0, 1)] for j in range(7)]
    squares = [oracle.squared_correlation(row, sizes) for row in ones]
    kept = model.order_[:k]
    gamma = squares[kept[-1]]
    steps = np.gradient(np.log(ALPHAS))
    steps[[0, -1]] /= 2
    weights = np.log(steps) + Prior(0.5, 5.0).log_density(ALPHAS)
    joint = np.empty((len(X_test), 2, len(ALPHAS)))
    for a, alpha in enumerate(ALPHAS):
        adjustment = 0.0
        for j in model.order_[k:] if correct else ():
            tied = squares[j] == gamma
            adjustment += np.log(
                event(
                    sizes,
                    rates,
                    alpha,
                    share,
                    gamma.__eq__ if tied else lambda square: square < gamma,
                )
            )
        assert model.log_adjustment_[a] == pytest.approx(adjustment, rel=1e-8, abs=1e-9)
        for b, x in enumerate(X_test):
            for c in (0, 1):
                joint[b, c, a] = (
                    weights[a]
                    + adjustment
                    + sum(
                        np.log(
                            likelihood(
                                sizes, ones[j], rates, alpha, share, int(x[j]), c
                            )
                        )
                        for j in kept
                    )
                )
    logs = logsumexp(joint, axis=2)
    expected = 1 / (1 + np.exp(logs[:, 0] - logs[:, 1]))
    assert model.predict_proba(X_test)[:, 1] == pytest.approx(expected, abs=1e-8)


def test_an_estimated_share_is_the_average_over_shares():
    """Against Gauss–Legendre over π of models with a known share."""
    X, y, X_test = small(2, n=20, p=40)
    given = {"alpha_grid": [9.0], "base_rates": (1.5, 2.0)}
    model = BiasCorrectedNB(6, null_share="estimate", **given).fit(X, y)
    nodes, w = np.polynomial.legendre.leggauss(40)
    logs, shares, log_p = [], (nodes + 1) / 2, []
    for share in shares:
        one = BiasCorrectedNB(6, null_share=share, **given).fit(X, y)
        nulls = log_no_effect(
            np.array([10, 10]), one._kept.blocks[0].counts, BaseRates(1.5, 2.0)
        )
        table = pattern_table(
            np.array([9.0]),
            np.array([10, 10]),
            one._kept.blocks[0].counts,
            rates=BaseRates(1.5, 2.0),
        )[0][0]
        evidence = np.logaddexp(np.log(share) + nulls, np.log1p(-share) + table)
        logs.append(evidence @ one._kept.blocks[0].times + one.log_adjustment_[0])
        log_p.append(one._log_likelihood(X_test)[:, :, 0].T + one._log_shares)
    logs = np.log(w / 2) + np.array(logs)
    post = np.exp(logs - logsumexp(logs))
    assert model.null_share_ == pytest.approx(post @ shares, abs=1e-4)
    joint = logsumexp(np.log(post)[:, None, None] + np.array(log_p), axis=0)
    expected = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    assert model.predict_proba(X_test) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("sizes", [(5, 9), (100, 100), (300, 20)])
@pytest.mark.parametrize("rates", [(0.3, 3.0), (2.0, 2.0), (40.0, 0.5)])
def test_base_rates_and_no_effect_have_probabilities_that_sum_to_one(sizes, rates):
    sizes = np.array(sizes)
    region = low_region(sizes, Fraction(1, 9))
    for alpha in (0.5, 30.0, NO_EFFECT):
        inside, outside = region_table(
            np.array([alpha]), sizes, region, rates=BaseRates(*rates)
        )
        assert inside[0] + outside[0] == pytest.approx(1, abs=1e-10)
    counts = np.array([[3, 4], [0, 0], [5, 9]])
    limit, mean = pattern_table(
        np.array([1e10]), sizes, counts, rates=BaseRates(*rates)
    )
    exact = log_no_effect(sizes, counts, BaseRates(*rates))
    assert limit[0] == pytest.approx(exact, rel=1e-5)
    a, b = rates
    expected = (a + counts.sum(axis=1)) / (a + b + sizes.sum())
    assert mean[0] == pytest.approx(expected, rel=1e-5)


def test_the_region_without_effect_is_that_of_binomial_counts():
    sizes, rates = np.array([6, 9]), BaseRates(0.4, 2.0)
    inside, _ = region_table(
        np.array([NO_EFFECT]), sizes, low_region(sizes, Fraction(1, 9)), rates=rates
    )
    expected = event([6, 9], rates, None, 1.0, lambda square: square < Fraction(1, 9))
    assert inside[0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("n_values", [2, 3])
def test_simulated_features_without_effect(n_values):
    """Six classes are simulated: near the share of features drawn here."""
    rng = np.random.default_rng(0)
    sizes = np.full(6, 5)
    tables = oracle.simulated_tables(rng, 1e9, sizes, n_values, 40_000)
    share = np.mean(oracle.chi_square_share(tables) < 0.2)
    found = log_low_association(np.array([NO_EFFECT]), sizes, n_values, 0.2)
    assert np.exp(found[0]) == pytest.approx(share, abs=0.015)


def test_three_values_without_effect_are_summed_exactly():
    sizes = np.array([4, 5])
    limit = log_low_association(np.array([9e4]), sizes, 3, 0.3)
    exact = log_low_association(np.array([NO_EFFECT]), sizes, 3, 0.3)
    assert exact[0] == pytest.approx(limit[0], abs=1e-3)


# -- limits ----------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.0, 1e-14])
def test_without_null_features_it_is_the_published_model(share):
    """F15."""
    X, y = make_beta_bernoulli(200, 1000, random_state=3)
    published = BiasCorrectedNB(50).fit(X[:100], y[:100])
    model = BiasCorrectedNB(50, null_share=share, base_rates=(1, 1))
    model.fit(X[:100], y[:100])
    p, expected = (m.predict_proba(X[100:]) for m in (model, published))
    assert p == pytest.approx(expected, abs=1e-12)
    assert model.alpha_posterior_ == pytest.approx(
        published.alpha_posterior_, abs=1e-10
    )
    assert published.null_share_ == 0
    assert published.base_rates_ == (1, 1)
    numbers = X + 0.1 * np.random.default_rng(0).normal(size=X.shape)
    first, second = (
        BiasCorrectedGaussianNB(20, null_share=given)
        .fit(numbers[:100], y[:100])
        .predict_proba(numbers[100:])
        for given in (None, share)
    )
    assert first == pytest.approx(second, abs=1e-10)


@pytest.mark.parametrize("kind", [BiasCorrectedNB, BiasCorrectedGaussianNB])
def test_where_all_features_are_null_the_class_shares_remain(kind):
    X, y, X_test = small()
    model = kind(5, null_share=1.0).fit(X, y)
    assert model.predict_proba(X_test) == pytest.approx(0.5)
    assert model.null_share_ == 1


def test_a_finer_grid_changes_nothing(monkeypatch):
    X, y = make_beta_bernoulli(260, 2000, alpha=20, random_state=5)
    X[:, 40:] = np.random.default_rng(0).integers(2, size=(260, 1960))
    coarse = BiasCorrectedNB(100, **BOTH).fit(X[:200], y[:200])
    monkeypatch.setattr("veridical.learning.bias_corrected_prior._N_SHARES", 60)
    fine = BiasCorrectedNB(100, n_alphas=150, **BOTH).fit(X[:200], y[:200])
    assert coarse.null_share_ == pytest.approx(fine.null_share_, abs=1e-4)
    p, expected = (m.predict_proba(X[200:]) for m in (coarse, fine))
    assert p == pytest.approx(expected, abs=1e-4)


def test_the_grid_of_shares_finds_a_narrow_posterior():
    null = NullShare(None, 10**6)
    wanted = np.array([-3.3, 0.01, 9.2])

    def likelihood(logits):
        return -0.5 * ((logits - wanted[:, None]) / 0.01) ** 2

    found = null.grid(likelihood, 3)
    weights = np.exp(found.log_weights + found.log_likelihood)
    means = (weights * found.logits).sum(axis=1) / weights.sum(axis=1)
    assert means == pytest.approx(wanted, abs=1e-3)
    density = np.exp(wanted) / (1 + np.exp(wanted)) ** 2
    area = density * 0.01 * np.sqrt(2 * np.pi)
    assert np.exp(found.log_evidence) == pytest.approx(area, rel=1e-3)


def test_base_rates_are_found_without_the_classes():
    rng = np.random.default_rng(0)
    ones = rng.binomial(80, rng.beta(0.3, 3.0, 5000))
    found = estimate_base_rates(ones, 80)
    assert (found.a, found.b) == pytest.approx((0.3, 3.0), rel=0.1)
    even = estimate_base_rates(np.full(300, 40), 80)
    assert even.a == pytest.approx(even.b, rel=1e-3)
    assert even.a > 50
    assert estimate_base_rates(np.zeros(0, int), 80) == (1, 1)
    X, y, _ = small()
    given = [BiasCorrectedNB(5, **BOTH).fit(X, z).base_rates_ for z in (y, 1 - y)]
    assert given[0] == given[1]


def test_mirrored_values_swap_the_base_rates():
    X, y, X_test = small(4, n=30)
    a = BiasCorrectedNB(5, null_share=0.3, base_rates=(0.4, 2.0)).fit(X, y)
    b = BiasCorrectedNB(5, null_share=0.3, base_rates=(2.0, 0.4)).fit(1 - X, y)
    assert a.predict_proba(X_test) == pytest.approx(
        b.predict_proba(1 - X_test), abs=1e-10
    )


def test_categories_and_several_classes():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    frame = pd.DataFrame(rng.integers(2, size=(60, 12))).add_prefix("b")
    frame["a"] = pd.Categorical(np.where(rng.random(60) < 0.7, y, 1).astype(str))
    for j in range(4):
        frame[f"c{j}"] = pd.Categorical(rng.choice(["u", "v", "w"], 60))
    model = BiasCorrectedNB(4, **BOTH).fit(frame, y)
    assert model.order_[0] == 12
    assert 0 < model.null_share_ < 1
    assert np.all(np.isfinite(model.predict_log_proba(frame)))
    assert model.score(frame, y) > 0.5
    assert 0 < model.expected_error_rate_ < 0.6


@pytest.mark.parametrize("kind", [BiasCorrectedNB, BiasCorrectedGaussianNB])
def test_the_expected_error_of_drawn_samples_is_that_of_the_model(kind):
    """Samples drawn from a model with null features have the error that it expects."""
    rng = np.random.default_rng(2)
    y = np.arange(2100) % 2
    X = rng.normal(size=(2100, 300))
    X[:, :8] += 0.9 * y[:, None]
    model = kind(20, null_share="estimate").fit(X[:100], y[:100])
    expected = model.expected_error_rate(X[100:])
    assert model.expected_error_rate_ == pytest.approx(expected, abs=0.05)


def test_the_gaussian_mixture_is_that_of_the_definition():
    """Densities of a retained feature, null and not, by two t distributions."""
    rng = np.random.default_rng(0)
    y = np.arange(20) % 2
    X = rng.normal(size=(20, 30)) + np.where(np.arange(30) < 3, 1.0, 0.0) * y[:, None]
    share, alpha, k = 0.7, 3.0, 4
    model = BiasCorrectedGaussianNB(k, null_share=share, alpha_grid=[alpha]).fit(X, y)
    assert model.log_adjustment_.shape == (1,)
    x = rng.normal(size=30)
    logs = np.zeros(2)
    for j in np.flatnonzero(model.support_):
        v = X[:, j]
        means = [v[y == c].mean() for c in (0, 1)]
        within = sum(((v[y == c] - means[c]) ** 2).sum() for c in (0, 1))
        parts = {}
        for r in (0.0, 1 / alpha):
            u = 1 / (r + 1 / 10)
            Q = within + u * sum((m - np.mean(means)) ** 2 for m in means)
            evidence = (1 + 10 * r) ** -1.0 * (2 * u) ** -0.5 * Q ** (-19 / 2)
            density = []
            for m in means:
                place = (10 * r * m + np.mean(means)) / (1 + 10 * r)
                spread = 1 + r / (1 + 10 * r) + 1 / ((1 + 10 * r) ** 2 * 2 * u)
                scale = np.sqrt(Q / 19 * spread)
                density.append(stats.t.pdf(x[j], 19, place, scale))
            parts[r] = evidence, np.array(density)
        null, effect = share * parts[0.0][0], (1 - share) * parts[1 / alpha][0]
        both = null * parts[0.0][1] + effect * parts[1 / alpha][1]
        logs += np.log(both / (null + effect))
    expected = 1 / (1 + np.exp(logs[0] - logs[1]))
    assert model.predict_proba(x[None])[0, 1] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"null_share": 1.5}, "null_share=1.5"),
        ({"null_share": "many"}, "null_share='many'"),
        ({"null_share": True}, "null_share=True"),
        ({"base_rates": "rare"}, "base_rates='rare'"),
        ({"base_rates": (0.0, 1.0)}, "base_rates="),
        ({"theta_rule": "simpson", "null_share": 0.5}, "simpson"),
        ({"theta_rule": "simpson", "base_rates": (2, 2)}, "simpson"),
    ],
)
def test_bad_parameters_are_named(options, words):
    X, y, _ = small()
    with pytest.raises(InputError, match=words):
        BiasCorrectedNB(2, **options).fit(X, y)


@pytest.mark.parametrize(
    "model",
    [BiasCorrectedNB(**BOTH), BiasCorrectedGaussianNB(null_share="estimate")],
    ids=["binary", "gaussian"],
)
def test_the_contract_of_scikit_learn_holds(model):
    results = check_estimator(clone(model), on_fail=None, on_skip=None)
    failed = [one for one in results if one["status"] == "failed"]
    assert len(results) > 30
    assert not failed, [(one["check_name"], one["exception"]) for one in failed]


# -- sparse and rare worlds ------------------------------------------------------------

N_TESTS = 1000


def sparse_world(seed, n=150, p=3020, n_strong=20):
    """Draw strong features among nulls."""
    rng = np.random.default_rng(seed)
    y = np.arange(n + N_TESTS) % 2
    rates = np.tile(rng.random(p), (2, 1))
    rates[:, :n_strong] = [[0.3], [0.7]]
    X = (rng.random((n + N_TESTS, p)) < rates[y]).astype(np.int8)
    return X[:n], y[:n], X[n:], y[n:]


def rare_world(seed, n=150, p=3000, alpha=300):
    """Draw features that are mostly 0, and classes whose sizes differ by chance."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n + N_TESTS)
    theta = np.clip(rng.beta(0.3, 3, p), 1e-9, 1 - 1e-9)
    rates = rng.beta(alpha * theta, alpha * (1 - theta), (2, p))
    X = (rng.random((n + N_TESTS, p)) < rates[y]).astype(np.int8)
    return X[:n], y[:n], X[n:], y[n:]


def measured(make, n_draws):
    """Return error, expected error and log loss of each model, (n_draws, 3)."""
    found = {"sparse": [], "corrected": [], "uncorrected": []}
    options = {"sparse": BOTH, "corrected": {}, "uncorrected": {"correct": False}}
    for seed in range(n_draws):
        X, y, X_test, y_test = make(seed)
        for kind, given in options.items():
            model = BiasCorrectedNB(100, **given).fit(X, y)
            logs = model.predict_log_proba(X_test)
            own, top = logs[np.arange(N_TESTS), y_test], logs.max(axis=1)
            wrong = np.mean(logs.argmax(axis=1) != y_test)
            found[kind].append((wrong, 1 - np.exp(top).mean(), -own.mean()))
    return {kind: np.array(values) for kind, values in found.items()}


@pytest.mark.parametrize("n_draws", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_strong_features_among_nulls(n_draws):
    """F16; the published model expects twice the error that it has."""
    found = measured(sparse_world, n_draws)
    error, expected, loss = found["sparse"].mean(axis=0)
    assert abs(error - expected) <= 0.03
    assert np.all(found["sparse"][:, 2] <= found["uncorrected"][:, 2])
    assert loss < found["corrected"][:, 2].mean() - 0.1
    error, expected, _ = found["corrected"].mean(axis=0)
    assert expected > error + 0.05


@pytest.mark.parametrize("n_draws", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_null_features_repair_probabilities_of_rare_features(n_draws):
    """F17; the published model is wrong more often than the uncorrected one."""
    found = measured(rare_world, n_draws)
    means = {kind: values.mean(axis=0) for kind, values in found.items()}
    assert abs(means["sparse"][0] - means["uncorrected"][0]) <= 0.02
    assert means["sparse"][2] < means["corrected"][2] < means["uncorrected"][2]
    assert abs(means["sparse"][0] - means["sparse"][1]) <= 0.04
    if n_draws == 20:
        assert means["corrected"][0] > means["uncorrected"][0] + 0.03
