"""The classifier against its definition, its limits and its invariances."""

from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.base import clone
from tests.oracles import bias_corrected as oracle

from veridical._core.errors import InputError
from veridical.datasets import make_beta_bernoulli
from veridical.kernels.binary_counts import count_ones
from veridical.kernels.count_lattice import low_region
from veridical.kernels.dirichlet_counts import value_table
from veridical.learning import BiasCorrectedNB, prob_low_correlation
from veridical.learning.bias_corrected_evidence import Discarded, log_any, tied_patterns
from veridical.learning.bias_corrected_prior import Prior, find_grid


def small(seed=0, n=14, p=25, n_test=4, strength=0.35):
    rng = np.random.default_rng(seed)
    y = np.arange(n + n_test) % 2
    rates = np.where(np.arange(p) < 5, 0.5 + strength * (2 * y[:, None] - 1), 0.5)
    X = (rng.random((n + n_test, p)) < rates).astype(np.int8)
    return X[:n], y[:n], X[n:], y[n:]


ALPHAS = np.array([2.0, 11.0, 60.0, 500.0])


# -- against the definition ----------------------------------------------------------


@pytest.mark.parametrize("correct", [True, False])
@pytest.mark.parametrize(("k", "seed"), [(1, 0), (4, 1), (9, 2)])
def test_predictions_are_those_of_direct_quadrature(k, seed, correct):
    """D6. With 14 samples ties at the threshold are the rule."""
    X, y, X_test, _ = small(seed)
    model = BiasCorrectedNB(k, correct, alpha_grid=ALPHAS).fit(X, y)
    prior = Prior(0.5, 5.0)
    steps = np.gradient(np.log(ALPHAS))
    steps[[0, -1]] /= 2
    log_weights = prior.log_density(ALPHAS) + np.log(steps)
    expected, order = oracle.predict(
        X, y, X_test, k, ALPHAS, log_weights, correct=correct
    )
    assert model.order_.tolist() == order
    assert np.allclose(model.predict_proba(X_test)[:, 1], expected, atol=1e-8)


def test_the_posterior_of_alpha_and_the_adjustment():
    X, y, _, _ = small(3)
    k = 6
    model = BiasCorrectedNB(k, alpha_grid=ALPHAS).fit(X, y)
    sizes = [int((y == c).sum()) for c in (0, 1)]
    ones = [[int(X[y == c, j].sum()) for c in (0, 1)] for j in range(X.shape[1])]
    squares = [oracle.squared_correlation(row, sizes) for row in ones]
    gamma = sorted(squares, reverse=True)[k - 1]
    assert model.threshold_ == pytest.approx(float(gamma) ** 0.5)
    logs = []
    for alpha in ALPHAS:
        exact = Fraction(alpha)
        below = oracle.low_probability(sizes, exact, gamma)
        upto = oracle.low_probability(sizes, exact, gamma, inclusive=True)
        total = 0.0
        for j in np.flatnonzero(~model.support_):
            total += np.log(float(below if squares[j] < gamma else upto - below))
        logs.append(total)
    assert any(squares[j] == gamma for j in np.flatnonzero(~model.support_))
    assert model.log_adjustment_ == pytest.approx(logs, rel=1e-9)
    evidence = [
        sum(
            np.log(float(oracle.evidence(Fraction(a), sizes, ones[j])[0]))
            for j in np.flatnonzero(model.support_)
        )
        for a in ALPHAS
    ]
    steps = np.gradient(np.log(ALPHAS))
    steps[[0, -1]] /= 2
    weights = np.log(steps) + Prior(0.5, 5.0).log_density(ALPHAS)
    post = np.exp(weights + evidence + logs - np.max(weights + evidence + logs))
    assert model.alpha_posterior_ == pytest.approx(post / post.sum(), rel=1e-8)


def test_the_log_adjustment_is_a_power_of_one_factor():
    X, y = make_beta_bernoulli(60, 400, alpha=50, random_state=0)
    model = BiasCorrectedNB(threshold=0.3).fit(X, y)
    n_low = 400 - model.n_features_
    expected = n_low * np.log(prob_low_correlation(30, 30, model.alpha_grid_, 0.3))
    assert model.log_adjustment_ == pytest.approx(expected, rel=1e-10)
    assert model.support_.sum() == (model.scores_ >= 0.3 - 1e-13).sum()
    assert np.all(np.diff(model.log_adjustment_) > 0)


@pytest.mark.parametrize(
    ("sizes", "square"),
    [((100, 100), Fraction(1, 60)), ((5, 9), Fraction(1, 9)), ((300, 20), Fraction(1))],
)
@pytest.mark.parametrize("low", [0.01, 1.0, 300.0, 1e6])
def test_a_polynomial_through_few_points_loses_nothing(sizes, square, low):
    event = Discarded(np.array(sizes), square, 5000, 0)
    near = np.geomspace(low, 7.3 * low, 61)
    found = event.log_probability(near)
    one_by_one = np.concatenate([event.log_probability(near[[i]]) for i in range(61)])
    assert found == pytest.approx(one_by_one, rel=1e-11, abs=1e-9)


@pytest.mark.parametrize("ties", ["lt", "le"])
def test_posterior_with_other_rules_for_ties(ties):
    X, y, _, _ = small(3)
    model = BiasCorrectedNB(6, ties=ties, alpha_grid=ALPHAS).fit(X, y)
    sizes, n_discarded = (7, 7), X.shape[1] - 6
    gamma = Fraction(model.threshold_**2).limit_denominator(10**6)
    expected = [
        n_discarded
        * np.log(float(oracle.low_probability(sizes, Fraction(a), gamma, ties == "le")))
        for a in ALPHAS
    ]
    assert model.log_adjustment_ == pytest.approx(expected, rel=1e-9)


def tied(sizes, gamma):
    regions = (low_region(sizes, gamma, tied=tied) for tied in (False, True))
    return tied_patterns(*regions, sizes)


def test_patterns_that_tie_with_the_threshold():
    sizes = np.array([4, 6])
    for gamma in (Fraction(1), 1.0):
        assert tied(sizes, gamma).tolist() == [[0, 6], [4, 0]]
    constant = tied(sizes, Fraction(0))
    assert constant.tolist() == [[0, 0], [2, 3], [4, 6]]
    expected = oracle.low_probability((4, 6), Fraction(3), Fraction(0), inclusive=True)
    equal = log_any(np.array([3.0]), sizes, constant)
    assert np.exp(equal) == pytest.approx(float(expected))


@pytest.mark.parametrize("n_classes", [3, 4])
def test_more_classes_against_the_definition(n_classes):
    """Evidence and predictive probabilities in fractions, three or four classes."""
    rng = np.random.default_rng(n_classes)
    y = np.arange(12) % n_classes
    X = rng.integers(2, size=(12, 6))
    model = BiasCorrectedNB(None, alpha_grid=[7.0]).fit(X, y)
    sizes = np.bincount(y).tolist()
    log_joint = np.log(np.array(sizes) + 1.0)
    x = rng.integers(2, size=6)
    for j in range(6):
        ones = [int(X[y == c, j].sum()) for c in range(n_classes)]
        whole, moment = oracle.evidence(Fraction(7), sizes, ones)
        mean = float(moment / whole)
        for c in range(n_classes):
            rate = (7 * mean + ones[c]) / (7 + sizes[c])
            log_joint[c] += np.log(rate if x[j] else 1 - rate)
    expected = np.exp(log_joint - np.logaddexp.reduce(log_joint))
    assert model.predict_proba(x[None])[0] == pytest.approx(expected, abs=1e-12)


def test_many_classes_are_simulated():
    """Twelve classes: the sum over all counts is out of reach; ties are not special."""
    rng = np.random.default_rng(0)
    y = np.arange(72) % 12
    X = rng.integers(2, size=(72, 40))
    X[:, 3] = y < 6
    model = BiasCorrectedNB(4).fit(X, y)
    assert model.order_[0] == 3
    assert np.all(np.isfinite(model.log_adjustment_))
    assert np.all(model.log_adjustment_ < 0)
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(1)


def test_three_values_against_the_definition():
    table = np.array([[2, 1, 0], [1, 0, 3]])
    logs, mean = value_table(np.array([0.5, 9.0]), np.array([3, 4]), table[None])
    for a, alpha in enumerate((Fraction(1, 2), Fraction(9))):
        evidence, theta = oracle.simplex_evidence(alpha, table.tolist())
        assert logs[a, 0] == pytest.approx(np.log(float(evidence)), abs=1e-12)
        assert mean[a, 0] == pytest.approx([float(t) for t in theta], abs=1e-12)


def test_two_values_are_the_special_sample_of_several():
    """The sum over powers and the rule over nodes are different roads to one number."""
    X, y = make_beta_bernoulli(40, 6, alpha=10, random_state=2)
    ones = count_ones(X, y, 2)[0]
    sizes = np.array([20, 20])
    tables = np.stack([sizes - ones, ones], axis=2)
    from veridical.kernels.beta_counts import pattern_table

    alphas = np.array([0.2, 5.0, 4e4])
    by_nodes, by_powers = (
        pattern_table(alphas, sizes, ones),
        value_table(alphas, sizes, tables),
    )
    assert np.allclose(by_nodes[0], by_powers[0], atol=1e-10)
    assert np.allclose(by_nodes[1], by_powers[1][:, :, 1], atol=1e-10)


# -- limits --------------------------------------------------------------------------


def test_all_features_leave_nothing_to_correct():
    """D7, exactly."""
    X, y, X_test, _ = small()
    a, b = (BiasCorrectedNB(None, correct).fit(X, y) for correct in (True, False))
    assert np.array_equal(a.predict_proba(X_test), b.predict_proba(X_test))
    assert not a.log_adjustment_.any()
    assert np.array_equal(a.alpha_grid_, b.alpha_grid_)


def test_no_feature_at_all_leaves_the_class_shares():
    X, y, X_test, _ = small()
    X = X.copy()
    X[:, :] = np.arange(X.shape[1]) % 2  # constants
    model = BiasCorrectedNB(threshold=0.5).fit(X, y[:14])
    assert model.n_features_ == 0
    assert model.predict_proba(X_test) == pytest.approx(0.5)
    assert model.expected_error_rate_ == pytest.approx(0.5)


@pytest.mark.parametrize("threshold", [0.0, 1.0, 1e-9])
@pytest.mark.parametrize("ties", ["exact", "lt", "le"])
def test_extreme_thresholds_give_finite_probabilities(threshold, ties):
    X, y, X_test, _ = small()
    model = BiasCorrectedNB(threshold=threshold, ties=ties).fit(X, y)
    assert np.all(np.isfinite(model.predict_log_proba(X_test)))
    assert model.alpha_posterior_.sum() == pytest.approx(1)
    assert model.n_features_ == {0.0: 25, 1.0: 0}.get(threshold, model.n_features_)


@pytest.mark.parametrize("ties", ["exact", "lt", "le"])
@pytest.mark.parametrize("k", [1, 3])
def test_constant_features_and_a_threshold_of_zero(k, ties):
    """The best correlation is 0: all discarded features tie with it."""
    X = np.tile([0, 1, 1, 0, 1], (10, 1))
    y = np.arange(10) % 2
    model = BiasCorrectedNB(k, ties=ties).fit(X, y)
    assert model.threshold_ == 0
    assert np.all(np.isfinite(model.log_adjustment_))
    assert model.predict_proba(1 - X[:2]) == pytest.approx(0.5)
    assert model.order_.tolist() == [0, 1, 2, 3, 4]


def test_features_that_one_class_never_has():
    """All ones, or all zeros, in one class or in both: no NaN."""
    y = np.repeat([0, 1], [5, 9])
    X = np.column_stack([y, 1 - y, np.zeros(14), np.ones(14), np.arange(14) % 2])
    for k in range(1, 6):
        model = BiasCorrectedNB(k).fit(X, y)
        logs = model.predict_log_proba(np.vstack([X, 1 - X]))
        assert np.all(np.isfinite(logs))
        assert np.exp(logs).sum(axis=1) == pytest.approx(1)


def test_a_class_of_one_sample():
    X, y, X_test, _ = small()
    y = (np.arange(14) == 5).astype(int)
    logs = BiasCorrectedNB(3).fit(X, y).predict_log_proba(X_test)
    assert np.all(np.isfinite(logs))


@pytest.mark.parametrize("n", [2000, 10_000])
def test_evidence_of_many_samples_does_not_underflow(n):
    X, y = make_beta_bernoulli(n + 50, 60, alpha=20, random_state=0)
    X[:, 0] = y  # a perfect feature: its evidence underflows where α is large
    model = BiasCorrectedNB(10, n_alphas=9).fit(X[:n], y[:n])
    logs = model.predict_log_proba(X[n:])
    assert np.all(np.isfinite(logs))
    assert np.all(np.isfinite(model.log_adjustment_))
    assert model.order_[0] == 0
    assert model.score(X[n:], y[n:]) > 0.9


def test_a_perfect_feature_among_weak_ones_does_not_underflow():
    """A perfect feature among hundreds of weak ones: α stays where most want it."""
    n = 400
    X, y = make_beta_bernoulli(n, 600, alpha=2000, random_state=0)
    X[:, 0] = y
    model = BiasCorrectedNB(None).fit(X, y)
    assert np.isfinite(model.alpha_)
    assert model.alpha_posterior_.max() < 0.5


# -- the grid ------------------------------------------------------------------------


def test_a_finer_grid_changes_nothing():
    X, y = make_beta_bernoulli(260, 2000, random_state=5)
    coarse, fine = (
        BiasCorrectedNB(200, n_alphas=n).fit(X[:200], y[:200]) for n in (61, 401)
    )
    assert coarse.alpha_ == pytest.approx(fine.alpha_, rel=1e-3)
    assert np.allclose(
        coarse.predict_proba(X[200:]), fine.predict_proba(X[200:]), atol=1e-5
    )


def test_the_grid_is_laid_where_the_posterior_is():
    prior = Prior(0.5, 5.0)
    narrow = find_grid(prior, lambda a: -0.5 * (np.log(a / 77) / 0.003) ** 2, 61)
    assert narrow.alphas[0] < 77 < narrow.alphas[-1]
    assert narrow.alphas[-1] / narrow.alphas[0] < 1.2
    wide = find_grid(prior, lambda a: np.zeros(a.size), 61)
    assert wide.alphas[[0, -1]] == pytest.approx([1, 1e5])


def test_quantiles_of_the_prior():
    """As the R package: midpoints in prior probability, of equal weight."""
    prior = Prior(0.5, 5.0)
    q = np.array([1e-6, 0.1, 0.5, 0.9, 0.999])
    expected = stats.invgamma(0.5, scale=5.0).ppf(q)
    assert prior.quantiles(q) == pytest.approx(expected, rel=1e-8)
    X, y, _, _ = small()
    model = BiasCorrectedNB(2, alpha_grid="quantile", n_alphas=5).fit(X, y)
    assert model.alpha_grid_ == pytest.approx(
        stats.invgamma(0.5, scale=5.0).ppf([0.1, 0.3, 0.5, 0.7, 0.9])
    )


def test_the_density_of_log_alpha():
    prior = Prior(1.5, 2.0)
    alphas = np.array([0.1, 1.0, 8.0])
    exact = stats.invgamma(1.5, scale=2.0).logpdf(alphas) + np.log(alphas)
    found = prior.log_density(alphas)
    assert np.diff(found) == pytest.approx(np.diff(exact))


# -- invariances ---------------------------------------------------------------------


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_what_should_not_matter_does_not(seed):
    rng = np.random.default_rng(seed)
    X, y, X_test, _ = small(seed)
    model = BiasCorrectedNB(5, n_alphas=15).fit(X, y)
    expected = model.predict_proba(X_test)
    rows = rng.permutation(len(y))
    again = clone(model).fit(X[rows], y[rows])
    assert np.allclose(again.predict_proba(X_test), expected, atol=1e-12)
    flip = rng.integers(2, size=X.shape[1])
    again = clone(model).fit(X ^ flip, y)  # zero and one are names
    assert np.array_equal(again.order_, model.order_)
    assert np.allclose(again.predict_proba(X_test ^ flip), expected, atol=1e-9)
    again = clone(model).fit(X, np.where(y == 1, "a", "b"))  # so are the classes
    assert np.allclose(again.predict_proba(X_test)[:, ::-1], expected, atol=1e-9)


def test_the_order_of_features_matters_only_in_ties():
    X, y = make_beta_bernoulli(83, 40, alpha=30, random_state=1)
    columns = np.random.default_rng(0).permutation(40)
    model = BiasCorrectedNB(40).fit(X, y)
    again = BiasCorrectedNB(40).fit(X[:, columns], y)
    assert np.allclose(model.scores_[columns], again.scores_)
    assert np.allclose(
        model.predict_proba(X), again.predict_proba(X[:, columns]), atol=1e-12
    )


@pytest.mark.parametrize(
    "form",
    [
        np.asfortranarray,
        lambda X: X.astype(bool),
        lambda X: X.astype(np.float32),
        lambda X: X.astype(np.float64),
        lambda X: X.astype(np.int64),
        lambda X: X.astype(np.uint8),
        lambda X: X.astype(np.int16),
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        lambda X: X * 3.0 - 1.0,
        lambda X: pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])]),
        lambda X: pd.DataFrame(X.astype(bool)).add_prefix("f"),
        lambda X: pd.DataFrame(np.where(X, "yes", "no")).add_prefix("f"),
        lambda X: pl.DataFrame({f"f{j}": X[:, j] for j in range(X.shape[1])}),
    ],
)
def test_every_form_of_the_data_gives_the_same(form):
    X, y, X_test, _ = small()
    plain = BiasCorrectedNB(6).fit(X, y)
    model = BiasCorrectedNB(6).fit(form(X), y)
    assert np.array_equal(model.order_, plain.order_)
    assert np.allclose(
        model.predict_proba(form(X_test)), plain.predict_proba(X_test), atol=1e-12
    )


def test_threads_change_nothing():
    X, y, X_test, _ = small(p=200)
    a, b = (BiasCorrectedNB(20, n_jobs=jobs).fit(X, y) for jobs in (1, 3))
    assert np.array_equal(a.predict_proba(X_test), b.predict_proba(X_test))


def test_counts_of_other_numbers():
    X = np.array([[0, 1, 2, -1], [1, 0, 1, 1], [1, 1, 0, 0]], dtype=np.int8)
    for form in (X, np.asfortranarray(X), X.astype(np.float32), X.astype(np.int64)):
        ones, plain = count_ones(form, np.array([0, 1, 1]), 2)
        assert plain.tolist() == [True, True, False, False]
        assert ones[:2].tolist() == [[0, 2], [1, 1]]


# -- real numbers and names ----------------------------------------------------------


def test_numbers_are_cut_at_the_training_median():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(41, 8))
    y = (X[:, 0] > 0).astype(int)
    model = BiasCorrectedNB(3).fit(X, y)
    assert model.cuts_ == pytest.approx(np.median(X, axis=0))
    cut = (np.median(X, axis=0) < X).astype(int)
    plain = BiasCorrectedNB(3).fit(cut, y)
    assert np.array_equal(model.predict_proba(X), plain.predict_proba(cut))
    assert cut.sum(axis=0).tolist() == [20] * 8  # the median itself is a zero


def test_categorical_features_with_several_values():
    rng = np.random.default_rng(0)
    n = 60
    y = np.arange(n) % 2
    colour = np.where(rng.random(n) < 0.8, y, rng.integers(3, size=n))
    X = pd.DataFrame(
        {
            "colour": pd.Categorical(np.array(["red", "green", "blue"])[colour]),
            "noise": pd.Categorical(rng.choice(["a", "b", "c"], n)),
            "dull": pd.Categorical(rng.choice(["u", "v", "w"], n)),
            "flag": rng.random(n) < 0.5,
            "size": rng.normal(size=n),
        }
    )
    model = BiasCorrectedNB(1).fit(X, y)
    assert model.order_[0] == 0
    naive = BiasCorrectedNB(1, correct=False).fit(X, y)
    assert model.score(X, y) > 0.75
    assert np.all(model.log_adjustment_ < 0)
    assert model.alpha_ > naive.alpha_
    strange = X.head(2).assign(colour=["mauve", "mauve"])
    assert model.predict_proba(strange) == pytest.approx(0.5)
    assert 0 < model.expected_error_rate_ < 0.5


# -- what is refused -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"prior": (1, -2)}, "prior=.* positive"),
        ({"prior": 3}, "two numbers"),
        ({"ties": "never"}, "ties='never'"),
        ({"theta_rule": "guess"}, "theta_rule='guess'"),
        ({"n_alphas": 1}, "n_alphas=1"),
        ({"class_prior": 0}, "class_prior=0"),
        ({"threshold": 1.2}, "threshold=1.2"),
        ({"alpha_grid": "fine"}, "alpha_grid='fine'"),
        ({"alpha_grid": [3.0, 1.0]}, "ascending"),
        ({"alpha_grid": []}, "at least one"),
        ({"n_features_to_select": 0}, "selects nothing"),
        ({"n_features_to_select": 1.5}, "share"),
        ({"n_features_to_select": "all"}, "neither a number"),
        ({"binarize": "mean"}, "binarize='mean'"),
        ({"binarize": None}, "Feature 24 holds other values"),
    ],
)
def test_bad_parameters_are_named(parameters, words):
    X, y, _, _ = small()
    X = X.astype(float)
    X[0, 24] = 0.5
    with pytest.raises(InputError, match=words):
        BiasCorrectedNB(**parameters).fit(X, y)


def test_missing_values_are_named():
    X, y, X_test, _ = small()
    frame = pd.DataFrame(X.astype(float)).add_prefix("gene")
    frame.iloc[3, 7] = np.nan
    with pytest.raises(InputError, match="column 'gene7', row 3"):
        BiasCorrectedNB().fit(frame, y)
    model = BiasCorrectedNB(None).fit(X, y)
    bad = X_test.astype(float)
    bad[1, 2] = np.nan
    with pytest.raises(InputError, match="column 2, row 1"):
        model.predict(bad)


def test_one_class_is_refused():
    with pytest.raises(InputError, match="one class only"):
        BiasCorrectedNB().fit(np.eye(4), [1, 1, 1, 1])


# -- what it is for ------------------------------------------------------------------


def test_the_correction_repairs_the_calibration():
    """With it, the expected error rate is the error rate; without it, far from it."""
    gaps = {True: [], False: []}
    for seed in range(4):
        X, y = make_beta_bernoulli(1200, 4000, random_state=seed)
        for correct, found in gaps.items():
            model = BiasCorrectedNB(100, correct).fit(X[:200], y[:200])
            error = 1 - model.score(X[200:], y[200:])
            found.append(error - model.expected_error_rate(X[200:]))
    assert abs(np.mean(gaps[True])) < 0.03
    assert np.mean(gaps[False]) > 0.1


def test_its_own_expectation_is_that_of_the_samples():
    """Drawn from the model itself, samples are what the model expects."""
    X, y = make_beta_bernoulli(2200, 3000, random_state=1)
    model = BiasCorrectedNB(300).fit(X[:200], y[:200])
    assert model.expected_error_rate_ == pytest.approx(
        model.expected_error_rate(X[200:]), abs=0.04
    )
    assert model.expected_error_rate_ == model.expected_error_rate_
