"""Formulas against their definitions."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from tests.oracles import estimation as oracle

from veridical._core.errors import InputError
from veridical.datasets import make_linear
from veridical.evaluation import Bootstrap632, corrected_t, estimate, wilson
from veridical.evaluation.bootstrap import no_information_rate, plus_error
from veridical.evaluation.intervals import paired_shares
from veridical.kernels.statistics import wilson_bounds


@pytest.mark.parametrize(
    ("accuracy", "low", "high"),
    [(0.7, 0.56249, 0.80897), (1.0, 0.92865, 1.0), (0.0, 0.0, 0.07135)],
)
def test_wilson_interval_of_the_paper(accuracy, low, high):
    found = wilson_bounds(accuracy, 50, 1.96)
    assert found == pytest.approx((low, high), abs=5e-6)


@pytest.mark.parametrize("n", [1, 7, 50, 1000, 10**6])
@pytest.mark.parametrize("accuracy", [0.0, 1e-6, 0.1, 0.5, 0.7, 0.999, 1.0])
@pytest.mark.parametrize("z", [0.5, 1.96, 4.0])
def test_wilson_ends_are_z_standard_errors_away(accuracy, n, z):
    low, high = wilson_bounds(accuracy, n, z)
    assert 0 <= low <= accuracy <= high <= 1
    for end in (low, high):
        assert abs(accuracy - end) == pytest.approx(
            z * np.sqrt(end * (1 - end) / n), abs=1e-9
        )
    assert (low, high) == pytest.approx(oracle.wilson(accuracy, n, z), abs=1e-9)


def test_wilson_agrees_with_scipy():
    expected = stats.binomtest(35, 50).proportion_ci(0.9, method="wilson")
    assert wilson(0.7, 50, 0.9) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize("confidence", [0, 1, 95, "high", None])
def test_confidence_is_a_share(confidence):
    with pytest.raises(InputError, match="must be a number between 0 and 1"):
        wilson(0.7, 50, confidence)


def test_corrected_t_by_hand():
    scores = np.array([0.8, 0.9, 0.7, 0.8])
    error = np.sqrt((1 / 4 + 1 / 9) * (0.02 / 3))
    reach = 3.182446305284263 * error
    assert corrected_t(scores, 1 / 9) == pytest.approx((0.8 - reach, 0.8 + reach))


@pytest.mark.parametrize("scores", [[0.9] * 10, [1.0] * 3, [0.1 + 0.2, 0.3], [0.5], []])
def test_corrected_t_needs_scores_that_vary(scores):
    with pytest.raises(InputError, match="needs scores that vary"):
        corrected_t(np.array(scores), 1 / 9)


@given(*[st.floats(0, 1)] * 3)
def test_plus_lies_between_632_and_outside(apparent, outside, gamma):
    """C14, Err1 being cut to the error of guessing throughout.

    Only where the resubstitution error is below that of guessing: else R is 0, and
    .632+ is .632.
    """
    plus = plus_error(apparent, outside, gamma)
    capped = min(outside, gamma) if gamma > apparent else outside
    half = 0.368 * apparent + 0.632 * capped
    assert 0 <= plus.overfitting_rate <= 1
    low, high = sorted([half, capped])
    assert low - 1e-12 <= plus.error <= high + 1e-12
    if plus.overfitting_rate == 0:
        plain = 0.368 * apparent + 0.632 * outside
        assert plus.error == pytest.approx(plain, abs=1e-12)
    if plus.overfitting_rate == 1:
        assert plus.error == pytest.approx(capped, abs=1e-12)


@given(*[st.floats(0, 1)] * 3)
def test_plus_cut_in_part_lies_between_the_uncut(apparent, outside, gamma):
    plus = plus_error(apparent, outside, gamma)
    half = 0.368 * apparent + 0.632 * outside
    low, high = sorted([half, outside])
    assert low - 1e-12 <= plus.cut_in_part <= high + 1e-12
    assert plus.cut_in_part >= plus.error - 1e-12
    if outside <= gamma:
        assert plus.cut_in_part == pytest.approx(plus.error, abs=1e-12)


def test_plus_at_its_ends():
    assert plus_error(0.2, 0.2, 0.5).error == pytest.approx(0.2, abs=1e-12)
    assert plus_error(0.0, 0.5, 0.5).error == pytest.approx(0.5, abs=1e-12)
    worse = plus_error(0.0, 0.7, 0.5)
    assert worse.error == pytest.approx(0.5, abs=1e-12)
    assert worse.cut_in_part == pytest.approx(0.632 * 0.7 + 0.368 * 0.5, abs=1e-12)
    assert plus_error(0.1, 0.3, 0.05).overfitting_rate == 0


def test_no_information_rate_is_that_of_all_pairs():
    codes, predicted = np.array([0, 0, 1, 2, 2]), np.array([0, 1, 1, 2, -1])
    pairs = [a != b for a, b in itertools.product(codes, predicted)]
    assert no_information_rate(codes, predicted, 3) == pytest.approx(np.mean(pairs))


@pytest.mark.parametrize("plus", [False, True])
@pytest.mark.parametrize(
    "model", [GaussianNB(), DecisionTreeClassifier(random_state=0)], ids=str
)
@pytest.mark.parametrize("n", [6, 40])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_bootstrap_follows_its_definition(model, plus, n):
    X, y = make_linear(n, random_state=1)
    method = Bootstrap632(30, plus=plus)
    splits = [s for s in method.split(y, 5) if len(set(y[s.train])) > 1]
    found = estimate(model, X, y, cv=method, random_state=5)
    if len(splits) < 30:
        pytest.skip("a sample holds one class")
    expected = oracle.bootstrap(model, X, y, splits)
    assert found.value == pytest.approx(expected["632+" if plus else "632"], abs=1e-12)
    assert found.details["outside_by_sample"] == pytest.approx(1 - expected["by_case"])
    assert found.details["no_information_rate"] == pytest.approx(expected["gamma"])
    assert found.details["overfitting_rate"] == pytest.approx(expected["rate"])
    assert found.value == pytest.approx(found.scores.mean(), abs=1e-12)
    if not plus:
        few = estimate(model, X, y, cv=Bootstrap632(7), random_state=5)
        assert few.value == pytest.approx(found.scores[:7].mean(), abs=1e-12)


def test_632_plus_is_632_where_there_is_no_overfitting():
    """Both average over samples, of different sizes outside them."""
    X, y = make_linear(60, random_state=3)
    model = Contrarian()
    plain, plus = (
        estimate(model, X, y, cv=Bootstrap632(25, plus=plus), random_state=2)
        for plus in (False, True)
    )
    assert plus.details["overfitting_rate"] == 0
    assert plain.details["outside"] != plain.details["outside_by_sample"]
    assert plus.value == pytest.approx(plain.value, abs=1e-12)
    np.testing.assert_allclose(plus.scores, plain.scores, atol=1e-12)


class Contrarian(ClassifierMixin, BaseEstimator):
    """Predict the class that is less probable: worse than guessing everywhere."""

    def fit(self, X, y):
        self.model_ = GaussianNB().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.classes_[self.model_.predict_proba(X).argmin(axis=1)]


@pytest.mark.parametrize("plus", [False, True])
def test_given_samples_are_those_that_are_learned_from(plus):
    X, y = make_linear(40, random_state=1)
    drawn = Bootstrap632(12, plus=plus)
    rows = [split.train for split in drawn.split(y, 4)]
    given = Bootstrap632(samples=rows, plus=plus)
    assert given.n_samples == 12
    assert given == Bootstrap632(samples=[r.tolist() for r in rows], plus=plus)
    for one, other in zip(given.split(y), drawn.split(y, 4), strict=True):
        assert one.train.tolist() == other.train.tolist()
        assert one.test.tolist() == other.test.tolist()
    found = estimate(GaussianNB(), X, y, cv=given, random_state=9)
    expected = estimate(GaussianNB(), X, y, cv=drawn, random_state=4)
    assert found.value == expected.value
    assert found.scores.tolist() == expected.scores.tolist()
    assert "12 given bootstrap samples" in found.method


@pytest.mark.parametrize(
    ("samples", "word"),
    [
        ([], "n_samples=0"),
        ([[]], r"samples\[0\] is not a list of row indices"),
        ([[0, 1], [0.5]], r"samples\[1\] is not a list of row indices"),
        ([[0, 1], [0, 4]], r"samples\[1\] names row 4, but X has 4 rows"),
        ([[0, 1, 2, 3, 3]], r"samples\[0\] holds every sample"),
    ],
)
def test_bad_samples_are_named(samples, word):
    with pytest.raises(InputError, match=word):
        Bootstrap632(samples=samples).split([0, 1, 0, 1])


@pytest.mark.parametrize("n", [10, 20, 40])
@pytest.mark.parametrize(
    "shares", [(0.0, 0.02), (0.05, 0.05), (0.1, 0.02), (0.25, 0.1), (0.3, 0.3)]
)
def test_intervals_of_paired_shares_cover_in_exact_sums(n, shares):
    """Over all numbers of samples that are right on one side only."""
    covered = 0.0
    for won, lost in itertools.product(range(n + 1), repeat=2):
        if won + lost > n:
            continue
        low, high = paired_shares(won, lost, n)
        if low <= shares[0] - shares[1] <= high:
            parts = [won, lost, n - won - lost]
            covered += stats.multinomial.pmf(parts, n, [*shares, 1 - sum(shares)])
    assert covered > 0.945


def test_interval_of_paired_shares_covers():
    """Bonett and Price's interval by hand, and on drawn pairs of runs."""
    low, high = paired_shares(3, 1, 20)
    first, second = 4 / 22, 2 / 22
    half = 1.959964 * ((first + second - (first - second) ** 2) / 22) ** 0.5
    assert (low, high) == pytest.approx((2 / 22 - half, 2 / 22 + half), abs=1e-6)
    assert paired_shares(0, 0, 30)[0] < 0 < paired_shares(0, 0, 30)[1]
    assert paired_shares(1, 0, 1, 0.99999)[1] == 1.0
    rng = np.random.default_rng(0)
    for shares in ([0.1, 0.02, 0.88], [0.01, 0.0, 0.99], [0.3, 0.2, 0.5]):
        drawn = rng.multinomial(80, shares, size=2000)
        bounds = np.array([paired_shares(a, b, 80) for a, b, _ in drawn.tolist()])
        truth = shares[0] - shares[1]
        covered = np.mean((bounds[:, 0] <= truth) & (truth <= bounds[:, 1]))
        assert covered > 0.935
