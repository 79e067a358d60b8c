"""The Gaussian version, the other models' factors, and the cut at the median."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from veridical._core.errors import InputError
from veridical.kernels.count_lattice import statistics
from veridical.kernels.normal_classes import marginal, ratio_below
from veridical.learning import (
    BiasCorrectedGaussianNB,
    BiasCorrectedNB,
    MedianBinarizer,
    prob_low_correlation,
    prob_low_correlation_factor,
    prob_low_correlation_gaussian,
    prob_low_correlation_mixture,
)

# -- the factor ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sizes", "r", "gamma", "value"),
    [
        ((20, 30), 0.05, 0.3, 0.8516325),
        ((50, 50), 1 / 300, 0.27, 0.9883258),
        ((10, 12), 0.5, 0.4, 0.5486848),
    ],
)
def test_probability_of_low_correlation_is_that_of_the_f_distribution(
    sizes, r, gamma, value
):
    """D15, and the F distribution function."""
    found = prob_low_correlation_gaussian(sizes, r, gamma)
    assert found == pytest.approx(value, abs=1e-6)
    n, c = sum(sizes), sum(1 / size for size in sizes)
    t_squared = (n - 2) * gamma**2 / (1 - gamma**2)
    by_f = stats.f.cdf(t_squared / (1 + 2 * r / c), 1, n - 2)
    assert found == pytest.approx(by_f, abs=1e-12)


def test_balanced_classes_are_an_f_distribution():
    for r in (0.01, 0.3, 5.0):
        cut = 0.35**2 / (1 - 0.35**2) * (40 - 4) / 3
        expected = stats.f.cdf(cut / (1 + r * 40 / 4), 3, 36)
        found = prob_low_correlation_gaussian((10, 10, 10, 10), r, 0.35)
        assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("sizes", "r", "gamma"),
    [((5, 9, 20), 0.3, 0.4), ((2, 3, 40, 11), 1.5, 0.7), ((1, 4, 6), 0.1, 0.6)],
)
def test_unbalanced_classes_by_simulation(sizes, r, gamma):
    rng = np.random.default_rng(0)
    n_draws, sizes = 200_000, np.array(sizes)
    n = sizes.sum()
    means = rng.normal(size=(n_draws, sizes.size)) * np.sqrt(r + 1 / sizes)
    centre = (means * sizes).sum(axis=1) / n
    between = (sizes * (means - centre[:, None]) ** 2).sum(axis=1)
    within = rng.chisquare(n - sizes.size, n_draws)
    low = between / (between + within) <= gamma**2
    p = prob_low_correlation_gaussian(sizes, r, gamma)
    assert abs(low.mean() - p) < 4 * np.sqrt(p * (1 - p) / n_draws)


@settings(max_examples=30, deadline=None)
@given(
    st.floats(0.05, 20), st.floats(0.05, 20), st.floats(0.01, 30), st.integers(1, 40)
)
def test_ratio_of_chi_squares(first, second, bound, df):
    """Against Imhof-free quadrature: condition on the denominator and one term."""
    weights, degrees = np.array([first, second]), np.array([1.0, 1.0])
    below, above = ratio_below(weights, degrees, bound, df)
    assert below + above == pytest.approx(1, abs=1e-9)

    def given_share(u):
        # Two χ²(1) are R cos², R sin² with R = χ²(2), an exponential.
        w = first * np.cos(u) ** 2 + second * np.sin(u) ** 2
        return (1 + bound / w) ** (-df / 2) * 2 / np.pi

    expected = integrate.quad(given_share, 0, np.pi / 2, epsabs=1e-12)[0]
    # P(w χ²(2) > bound χ²(df)) given the angle is (1 + bound/w)^(−df/2).
    assert above == pytest.approx(expected, abs=1e-9)


def test_extremes_are_numbers():
    assert prob_low_correlation_gaussian((5, 5), 0.1, 0.0) == 0.0
    assert prob_low_correlation_gaussian((5, 5), 0.1, 1.0) == 1.0
    found = prob_low_correlation_gaussian((5000, 5000), [1e-9, 1e3], 0.02)
    assert np.all((found >= 0) & (found <= 1))
    with pytest.raises(InputError, match="more samples than classes"):
        prob_low_correlation_gaussian((1, 1), 0.1, 0.5)


# -- the classifier ------------------------------------------------------------------


def normal_data(seed, n, p, r):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    means = rng.normal(scale=np.sqrt(r), size=(2, p))
    return rng.normal(size=(n, p)) + means[y], y


def test_predictive_density_by_integration():
    """Evidence and prediction of one feature against a two-dimensional integral."""
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], [5, 7])
    x = rng.normal(size=12) + 0.8 * y
    sizes = np.array([5.0, 7.0])
    means = np.array([[x[y == c].mean()] for c in (0, 1)])
    within = np.array(
        [sum(((x[y == c] - x[y == c].mean()) ** 2).sum() for c in (0, 1))]
    )

    def joint(r, extra=None):
        """∫∫ Π N(class block) dν dw/w, the extra sample in its class."""
        blocks = [x[y == 0], x[y == 1]]
        if extra is not None:
            value, c = extra
            blocks[c] = np.append(blocks[c], value)

        nu = np.linspace(-25, 25, 2001)[:, None]
        log_w = np.linspace(-7, 7, 1501)
        logs = np.zeros((nu.size, log_w.size))
        for block in blocks:  # covariance w (I + r 1 1ᵀ), inverted by hand
            m, deviation = len(block), block - nu
            square = (deviation**2).sum(axis=1, keepdims=True)
            square -= r / (1 + m * r) * deviation.sum(axis=1, keepdims=True) ** 2
            logs -= 0.5 * (m * (np.log(2 * np.pi) + log_w) + np.log1p(m * r))
            logs -= 0.5 * square * np.exp(-log_w)
        # The trapezoid rule, for a function that vanishes at the edges.
        return np.exp(logs).sum() * (nu[1, 0] - nu[0, 0]) * (log_w[1] - log_w[0])

    ratios = np.array([0.1, 1.5])
    logs, place, shrunk = marginal(ratios, sizes, means, within, 0.0, 0.0)
    slow = [joint(r) for r in ratios]
    assert logs[1, 0] - logs[0, 0] == pytest.approx(np.log(slow[1] / slow[0]), abs=1e-8)
    for c in (0, 1):
        value = 0.4
        log_density = stats.t.logpdf(
            value, 11, place[1, c, 0], np.sqrt(1 / (shrunk[1, c, 0] * 11))
        )
        expected = joint(ratios[1], (value, c)) / slow[1]
        assert np.exp(log_density) == pytest.approx(expected, rel=1e-8)


def test_predictions_put_the_pieces_together():
    """Feature by feature with scipy's t distribution, point by point of the grid."""
    X, y = normal_data(0, 40, 12, 0.3)
    X_test = X[30:]
    X, y = X[:30] * np.arange(1, 13), y[:30]
    X_test = X_test * np.arange(1, 13)
    alphas = np.array([0.5, 4.0, 30.0])
    model = BiasCorrectedGaussianNB(4, alpha_grid=alphas).fit(X, y)
    r = np.array([abs(np.corrcoef(X[:, j], y)[0, 1]) for j in range(12)])
    assert model.scores_ == pytest.approx(r, abs=1e-12)
    assert model.order_.tolist() == np.argsort(-r).tolist()
    sizes = np.array([15.0, 15.0])
    log_adjustment = 8 * np.log(
        [
            prob_low_correlation_gaussian((15, 15), 1 / a, model.threshold_)
            for a in alphas
        ]
    )
    assert model.log_adjustment_ == pytest.approx(log_adjustment, rel=1e-9)
    steps = np.gradient(np.log(alphas))
    steps[[0, -1]] /= 2
    base = np.log(steps) - 0.5 * np.log(alphas) - 5 / alphas + log_adjustment
    logs = np.tile(base, (len(X_test), 2, 1)) + np.log(0.5)
    for j in model.order_[:4]:
        means = np.array([[X[y == c, j].mean()] for c in (0, 1)])
        within = sum(((X[y == c, j] - means[c]) ** 2).sum() for c in (0, 1))
        found, place, shrunk = marginal(
            1 / alphas, sizes, means, np.array([within]), 0.0, 0.0
        )
        logs += found[:, 0]
        for c in (0, 1):
            scale = np.sqrt(1 / (shrunk[:, c, 0] * 29))
            logs[:, c] += stats.t.logpdf(X_test[:, [j]], 29, place[:, c, 0], scale)
    joint = np.logaddexp.reduce(logs, axis=2)
    expected = 1 / (1 + np.exp(joint[:, 0] - joint[:, 1]))
    assert model.predict_proba(X_test)[:, 1] == pytest.approx(expected, abs=1e-9)


def test_units_and_offsets_do_not_matter():
    X, y = normal_data(3, 60, 30, 0.1)
    model = BiasCorrectedGaussianNB(5).fit(X, y)
    moved = BiasCorrectedGaussianNB(5).fit(X * 1e-130 - 3e-128, y)
    assert np.array_equal(model.order_, moved.order_)
    assert moved.predict_proba(X * 1e-130 - 3e-128) == pytest.approx(
        model.predict_proba(X), abs=1e-8
    )
    rows = np.random.default_rng(0).permutation(60)
    again = BiasCorrectedGaussianNB(5).fit(X[rows], y[rows])
    assert again.predict_proba(X) == pytest.approx(model.predict_proba(X), abs=1e-9)


def test_constant_copied_and_huge_features_give_finite_probabilities():
    """Constants, copies of the class, a column of one outlier, huge numbers."""
    X, y = normal_data(3, 60, 6, 0.1)
    X = np.column_stack([X, np.full(60, 7.0), y, np.arange(60) == 3, X[:, 0] * 1e300])
    for k in (1, 4, 10):
        model = BiasCorrectedGaussianNB(k).fit(X, y)
        assert model.order_[0] == 7
        assert np.all(np.isfinite(model.predict_log_proba(X)))
        assert np.all(np.isfinite(model.log_adjustment_))
    constant = BiasCorrectedGaussianNB(2).fit(np.ones((8, 3)), np.arange(8) % 2)
    assert constant.predict_proba(np.zeros((1, 3))) == pytest.approx(0.5)
    none = BiasCorrectedGaussianNB(threshold=1.0).fit(X[:, :6], y)
    assert none.n_features_ == 0
    assert none.predict_proba(X[:2, :6]) == pytest.approx(0.5)


def test_three_classes_and_frames():
    X, y = normal_data(4, 90, 200, 0.05)
    y = np.arange(90) % 3
    X = X + 0.8 * np.random.default_rng(0).normal(size=(3, 200))[y] * (
        np.arange(200) < 5
    )
    frame = pd.DataFrame(X).add_prefix("g")
    model = BiasCorrectedGaussianNB(10).fit(frame, np.array(["a", "b", "c"])[y])
    proba = model.predict_proba(frame)
    assert proba.sum(axis=1) == pytest.approx(1)
    assert model.score(frame, np.array(["a", "b", "c"])[y]) > 0.6
    assert np.all(model.log_adjustment_ < 0)


@pytest.mark.parametrize(("k", "most"), [(10, 0.6), (100, 0.4)])
def test_corrected_probabilities_are_calibrated(k, most):
    """D16, with fewer features; the slow test has them all."""
    check_calibration(k, most, p=2000, n_sets=2)


@pytest.mark.slow
@pytest.mark.parametrize(("k", "most"), [(10, 0.6), (100, 0.4), (1000, 0.4)])
def test_calibration_in_full(k, most):
    check_calibration(k, most, p=5000, n_sets=2)


def check_calibration(k, most, p, n_sets):
    errors = {True: [], False: []}
    for seed in range(n_sets):
        X, y = normal_data(seed, 1100, p, 1 / 150)
        for correct, found in errors.items():
            model = BiasCorrectedGaussianNB(k, correct).fit(X[:100], y[:100])
            error = 1 - model.score(X[100:], y[100:])
            found.append((error, model.expected_error_rate(X[100:])))
    error, expected = np.mean(errors[True], axis=0)
    assert abs(error - expected) < 0.05
    error, expected = np.mean(errors[False], axis=0)
    assert expected < most * error


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"variance_prior": (-1, 0)}, "variance_prior"),
        ({"variance_prior": 3}, "variance_prior"),
        ({"class_prior": -1}, "class_prior"),
        ({"n_alphas": 1}, "n_alphas"),
        ({"threshold": 2}, "threshold"),
    ],
)
def test_bad_parameters_are_named(parameters, words):
    X, y = normal_data(0, 20, 5, 0.1)
    with pytest.raises(InputError, match=words):
        BiasCorrectedGaussianNB(**parameters).fit(X, y)


# -- other models --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "alpha", "gamma"),
    [([[6, 4], [3, 9]], 8.0, 0.4), ([[6, 4, 2], [3, 9, 1]], 0.7, 0.3)],
)
def test_mixture_by_simulation(cells, alpha, gamma):
    rng = np.random.default_rng(2)
    cells, n_draws = np.array(cells), 200_000
    theta = rng.random(n_draws)
    counts = np.zeros((n_draws, 2), dtype=int)
    for z in range(cells.shape[1]):
        rate = rng.beta(alpha * theta, alpha * (1 - theta))
        for c in (0, 1):
            counts[:, c] += rng.binomial(cells[c, z], rate)
    low = statistics(cells.sum(axis=1), counts) < gamma * (1 - 1e-12)
    p = prob_low_correlation_mixture(cells, alpha, gamma)
    assert abs(low.mean() - p) < 4 * np.sqrt(p * (1 - p) / n_draws)


def test_a_mixture_of_the_classes_is_the_binary_model():
    for alpha in (0.5, 5.0, 200.0):
        found = prob_low_correlation_mixture([[8, 0], [0, 14]], alpha, 0.4)
        assert found == pytest.approx(
            prob_low_correlation(8, 14, alpha, 0.4), abs=1e-12
        )
    with pytest.raises(InputError, match="two rows"):
        prob_low_correlation_mixture([3, 4], 1.0, 0.5)


@pytest.mark.parametrize(
    ("n", "rho", "kappa", "gamma"),
    [(30, 0.6, 5.0, 0.3), (12, 0.1, 40.0, 0.5), (50, 0.9, 0.01, 0.05)],
)
def test_factor_model_by_simulation(n, rho, kappa, gamma):
    rng = np.random.default_rng(3)
    n_draws = 100_000
    x = rng.normal(size=(n_draws, n - 1))  # in the space of centred vectors
    loading = rng.normal(scale=np.sqrt(kappa), size=n_draws)
    x[:, 0] += loading * rho
    x[:, 1] += loading * np.sqrt(1 - rho**2)
    low = x[:, 0] ** 2 <= gamma**2 * (x**2).sum(axis=1)
    p = prob_low_correlation_factor(n, rho, kappa, gamma)
    assert abs(low.mean() - p) < 4 * np.sqrt(p * (1 - p) / n_draws)


def test_a_factor_that_is_the_response_is_the_gaussian_model():
    c = 1 / 20 + 1 / 30
    found = prob_low_correlation_factor(50, 1.0, 2 * 0.05 / c, 0.3)
    expected = prob_low_correlation_gaussian((20, 30), 0.05, 0.3)
    assert found == pytest.approx(expected, abs=1e-12)


# -- the cut at the median -----------------------------------------------------------


def test_the_cut_knows_the_training_samples_only():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(21, 5))
    X[:, 4] = rng.choice([3.0, 8.0], 21)
    cut = MedianBinarizer().fit(X)
    assert cut.cuts_[:4] == pytest.approx(np.median(X[:, :4], axis=0))
    assert cut.cuts_[4] == 5.5
    found = cut.transform(X + 1)
    assert np.array_equal(found, (cut.cuts_ < X + 1).astype(float))
    assert cut.transform(np.atleast_2d(cut.cuts_)).tolist() == [[0.0] * 5]


def test_the_classifier_cuts_alike():
    X, y = normal_data(5, 80, 40, 0.2)
    inside = BiasCorrectedNB(8).fit(X[:50], y[:50])
    cut = MedianBinarizer().fit(X[:50])
    outside = BiasCorrectedNB(8).fit(cut.transform(X[:50]), y[:50])
    assert np.array_equal(
        inside.predict_proba(X[50:]), outside.predict_proba(cut.transform(X[50:]))
    )


@pytest.mark.parametrize("make", [BiasCorrectedGaussianNB, MedianBinarizer])
@pytest.mark.parametrize(("bad", "word"), [(np.nan, "NaN"), (np.inf, "inf")])
def test_a_missing_value_is_named_by_feature_and_row(make, bad, word):
    rng = np.random.default_rng(0)
    y = np.arange(20) % 2
    frame = pd.DataFrame(rng.normal(size=(20, 3)), columns=["a", "b", "c"])
    fitted = make().fit(frame, y)
    frame.loc[7, "b"] = bad
    use = fitted.predict if hasattr(fitted, "predict") else fitted.transform
    for call in (lambda: make().fit(frame, y), lambda: use(frame)):
        with pytest.raises(InputError, match=f"contains {word}: column 'b', row 7"):
            call()
