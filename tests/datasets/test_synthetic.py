"""The generators draw what their definitions say."""

import pickle

import numpy as np
import pytest
from scipy import stats

from veridical._core.errors import InputError
from veridical.datasets import (
    SOURCES,
    make_beta_bernoulli,
    make_linear,
    make_monks,
    make_nonlinear,
    make_random_labels,
)
from veridical.datasets.synthetic import MEDIAN_OF_TEN, draw_median

CONTINUOUS = [make_linear, make_nonlinear]
GENERATORS = [*CONTINUOUS, make_random_labels, make_beta_bernoulli]


def weights(n_relevant=10):
    return np.array([(j / n_relevant) ** 1.5 for j in range(1, n_relevant + 1)])


@pytest.mark.parametrize("make", GENERATORS)
@pytest.mark.parametrize("seed", [3, np.int64(3)])
def test_same_seed_same_data(make, seed):
    first, second = (make(20, 30, random_state=seed) for _ in range(2))
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[1], second[1])
    assert not np.array_equal(first[0], make(20, 30, random_state=4)[0])


@pytest.mark.parametrize(
    "make", [*GENERATORS, lambda n, p, **kw: make_monks(1, n, **kw)]
)
@pytest.mark.parametrize("kind", [np.random.default_rng, np.random.RandomState])
def test_generators_and_random_states_move_on(make, kind):
    state = kind(0)
    first, second = (np.asarray(make(40, 30, random_state=state)[0]) for _ in range(2))
    again = np.asarray(make(40, 30, random_state=kind(0))[0])
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize("seed", ["x", -1, 1.5, [1]])
def test_bad_seed(seed):
    with pytest.raises(InputError, match="random_state"):
        make_linear(random_state=seed)


@pytest.mark.parametrize("make", CONTINUOUS)
def test_features_are_uniform_and_relevant_ones_come_first(make):
    X, y, relevant = make(5000, 12, 4, random_state=0, return_relevant=True)
    assert X.shape == (5000, 12)
    assert y.dtype == np.int64
    np.testing.assert_array_equal(relevant, np.arange(4))
    assert stats.kstest(X.ravel(), "uniform").pvalue > 0.001


def test_linear_classes_are_balanced():
    y = make_linear(200_000, random_state=0)[1]
    assert y.mean() == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(200_000))


def test_linear_without_noise_is_the_rule():
    X, y = make_linear(2000, noise=0, random_state=0)
    np.testing.assert_array_equal(y, (X[:, :10] - 0.5) @ weights() > 0)


def test_linear_noise_has_the_stated_size():
    # g and g + ε have correlation ρ = 1/√(1 + 0.1²) and are nearly Gaussian, so their
    # signs differ with probability arccos(ρ)/π.
    X, y = make_linear(400_000, random_state=1)
    flipped = (((X[:, :10] - 0.5) @ weights() > 0) != y).mean()
    expected = np.arccos(1 / np.sqrt(1.01)) / np.pi
    assert flipped == pytest.approx(expected, rel=0.04)


def test_linear_effects_follow_the_weights():
    # cov(x_j, y) is proportional to w_j up to the non-normality of a uniform variable.
    X, y = make_linear(400_000, random_state=2)
    effect = (X * (y - y.mean())[:, None]).mean(axis=0)
    w = weights()
    shape = effect[:10] @ w / (w @ w)
    np.testing.assert_allclose(effect[:10], shape * w, atol=0.05 * shape)
    assert np.abs(effect[10:]).max() < 5 * 0.5 / np.sqrt(12 * 400_000)


def test_nonlinear_median_is_that_of_a_million_draws():
    assert pytest.approx(draw_median(10), abs=1e-12) == MEDIAN_OF_TEN
    fresh = np.random.default_rng(99)
    g = sum(w * (2 * fresh.random(1_000_000) - 1) ** 2 for w in weights())
    density = np.mean(np.abs(g - MEDIAN_OF_TEN) < 0.02) / 0.04
    error = 1 / (2 * density * np.sqrt(1e6))  # standard error of a median
    assert abs(np.median(g) - MEDIAN_OF_TEN) < 4 * np.sqrt(2) * error


@pytest.mark.parametrize("n_relevant", [1, 3, 10])
def test_nonlinear_classes_are_balanced(n_relevant):
    y = make_nonlinear(50_000, 10, n_relevant, random_state=0)[1]
    assert y.mean() == pytest.approx(0.5, abs=0.01)


def test_nonlinear_without_noise_is_the_rule():
    X, y = make_nonlinear(2000, noise=0, random_state=0)
    g = (2 * X[:, :10] - 1) ** 2 @ weights()
    np.testing.assert_array_equal(y, g > MEDIAN_OF_TEN)


def test_nonlinear_noise_has_the_stated_size():
    X, y = make_nonlinear(200_000, random_state=1)
    g = (2 * X[:, :10] - 1) ** 2 @ weights()
    flipped = ((g > MEDIAN_OF_TEN) != y).mean()
    expected = np.arccos(1 / np.sqrt(1.01)) / np.pi
    assert flipped == pytest.approx(expected, rel=0.1)


def test_nonlinear_means_do_not_differ_but_spreads_do():
    X, y = make_nonlinear(100_000, random_state=0)
    assert np.abs(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)).max() < 0.01
    assert X[y == 1, 9].std() > X[y == 0, 9].std() + 0.03


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_samples": 0}, "n_samples=0"),
        ({"n_features": 2.5}, "n_features=2.5"),
        ({"n_relevant": 0}, "n_relevant=0"),
        ({"n_features": 5, "n_relevant": 6}, "more than n_features=5"),
        ({"noise": -1}, "noise=-1"),
        ({"noise": np.nan}, "noise=nan"),
    ],
)
@pytest.mark.parametrize("make", CONTINUOUS)
def test_bad_sizes(make, arguments, message):
    with pytest.raises(InputError, match=message):
        make(**arguments)


def test_random_labels_are_balanced_and_independent_of_x():
    X, y, relevant = make_random_labels(
        61, 3000, n_classes=3, random_state=0, return_relevant=True
    )
    assert relevant.size == 0
    assert sorted(np.bincount(y)) == [20, 20, 21]
    assert not np.array_equal(y, np.arange(61) % 3)
    assert stats.kstest(X.ravel(), "norm").pvalue > 0.001
    pvalues = stats.f_oneway(*(X[y == c] for c in range(3))).pvalue
    assert stats.kstest(pvalues, "uniform").pvalue > 0.001


@pytest.mark.parametrize("n_classes", [1, 51])
def test_random_labels_refuse_impossible_classes(n_classes):
    with pytest.raises(InputError, match=f"n_classes={n_classes}"):
        make_random_labels(n_classes=n_classes)


def test_beta_bernoulli_rates_have_the_stated_moments():
    # Var φ = θ(1−θ)/(α+1): over θ ~ U(0,1) the classes' rates differ by
    # 2·(1/6)/(α+1) in mean square, to which sampling adds 2·E[φ(1−φ)]/n.
    alpha, n = 20.0, 400
    X, y, relevant = make_beta_bernoulli(
        2 * n, 20_000, alpha=alpha, random_state=0, return_relevant=True
    )
    assert X.dtype == np.int8
    assert set(np.unique(X)) == {0, 1}
    assert relevant.size == 20_000
    rate = [X[y == c].mean(axis=0) for c in (0, 1)]
    spread = alpha / (alpha + 1) / 6  # E[φ(1−φ)]
    expected = 2 / 6 / (alpha + 1) + 2 * spread / n
    assert np.mean((rate[1] - rate[0]) ** 2) == pytest.approx(expected, rel=0.03)
    assert np.mean(rate[0]) == pytest.approx(0.5, abs=0.01)


def test_beta_bernoulli_leading_rows_are_balanced():
    y = make_beta_bernoulli(220, 3, random_state=0)[1]
    assert y[:200].sum() == 100
    assert y[200:].sum() == 10
    drawn = make_beta_bernoulli(2000, 3, classes="drawn", random_state=0)[1]
    assert 850 < drawn.sum() < 1150
    assert drawn.sum() != 1000 or not np.array_equal(drawn, np.arange(2000) % 2)


@pytest.mark.parametrize(
    "arguments", [{"alpha": 0}, {"alpha": np.inf}, {"classes": "odd"}]
)
def test_beta_bernoulli_bad_arguments(arguments):
    with pytest.raises(InputError, match=next(iter(arguments))):
        make_beta_bernoulli(10, 10, **arguments)


def test_sources_have_the_documented_properties():
    assert list(SOURCES) == [
        "linear",
        "nonlinear",
        "monks-1",
        "monks-2",
        "monks-3",
        "random-labels",
        "beta-bernoulli",
        "linear-regression",
        "friedman",
        "random-numbers",
        "survival",
        "random-survival",
    ]
    for name, source in SOURCES.items():
        X, y, relevant = source(30, random_state=0, return_relevant=True)
        assert source.name == name
        assert source.description.endswith(".")
        assert X.shape == (30, source.n_features)
        assert len(relevant) == source.n_relevant
        X_again, y_again = source(30, random_state=0)
        np.testing.assert_array_equal(np.asarray(X), np.asarray(X_again))
        np.testing.assert_array_equal(y, y_again)
        X_test, y_test = source.test(25, random_state=0)
        assert X_test.shape == (25, source.n_features)
        assert y_test.shape == (25,)


def test_samples_of_the_beta_bernoulli_source_share_their_rates():
    source = SOURCES["beta-bernoulli"]
    X, y = source(4000, random_state=1)
    X_test, y_test = source.test(4000, random_state=2)
    rates = [X[y == label].mean(axis=0) for label in (0, 1)]
    again = [X_test[y_test == label].mean(axis=0) for label in (0, 1)]
    # Means of 2000 samples: they differ by the errors of both, which are known.
    for one, other in zip(rates, again, strict=True):
        rate = (one + other) / 2
        expected = np.mean(2 * rate * (1 - rate) / 2000)
        assert np.mean((one - other) ** 2) == pytest.approx(expected, rel=0.15)
    shift, shift_again = rates[1] - rates[0], again[1] - again[0]
    assert np.corrcoef(shift, shift_again)[0, 1] > 0.5  # what is learned carries over


def test_sources_travel_to_other_processes():
    for source in SOURCES.values():
        copy = pickle.loads(pickle.dumps(source))
        np.testing.assert_array_equal(
            copy(20, random_state=0)[1], source(20, random_state=0)[1]
        )
