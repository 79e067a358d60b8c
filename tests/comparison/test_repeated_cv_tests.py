"""5×2 cv, repeated cv, sorted runs and the Bayesian test: figures, limits, refusals."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from sklearn.model_selection import RepeatedKFold, ShuffleSplit
from tests.oracles import significance as oracle

from veridical import comparison
from veridical._core.errors import InputError
from veridical._core.reading import read_table
from veridical.comparison import (
    bayesian_correlated_t,
    compare,
    corrected_resampled_t,
    five_by_two_f,
    five_by_two_t,
    paired_t,
    repeated_cv_t,
    sorted_runs_t,
)
from veridical.comparison.significance import Geometry
from veridical.comparison.splits import make_splits
from veridical.comparison.testing import TESTS, apply_test, find_test

FIRST = (
    [[0.80, 0.74], [0.78, 0.82], [0.76, 0.80], [0.84, 0.78], [0.80, 0.80]],
    [[0.70, 0.72], [0.74, 0.74], [0.72, 0.74], [0.74, 0.76], [0.72, 0.76]],
)
SECOND = (
    [[0.82, 0.70], [0.66, 0.90], [0.64, 0.70], [0.80, 0.84], [0.80, 0.86]],
    [[0.60, 0.72], [0.78, 0.74], [0.72, 0.70], [0.60, 0.62], [0.76, 0.74]],
)
TENTHS = st.integers(0, 20).map(lambda k: k / 20)
HALVES = st.lists(TENTHS, min_size=20, max_size=20).map(
    lambda v: np.reshape(v, (2, 5, 2))
)
RUNS = st.lists(TENTHS, min_size=24, max_size=24).map(
    lambda v: np.reshape(v, (2, 3, 4))
)


@pytest.mark.parametrize(
    ("scores", "t", "f"),
    [  # mlxtend 0.25.0: paired_ttest_5x2cv and combined_ftest_5x2cv on these scores
        (FIRST, (2.469323991623, 0.056577140491), (2.560975609756, 0.155490113310)),
        (SECOND, (1.801101837325, 0.131570817992), (1.337801608579, 0.393921405288)),
    ],
)
def test_five_by_two_is_mlxtends(scores, t, f):
    one, other = five_by_two_t(*scores), five_by_two_f(*scores)
    assert (one.statistic, one.pvalue) == pytest.approx(t, abs=1e-11)
    assert (other.statistic, other.pvalue) == pytest.approx(f, abs=1e-11)
    assert one.df == other.df == 5
    assert one.estimate == pytest.approx(scores[0][0][0] - scores[1][0][0])
    assert one.mean_difference == other.mean_difference
    assert one.mean_difference == pytest.approx(np.subtract(*scores).mean())


def test_five_by_two_by_hand():
    # The differences of FIRST are 10 2, 4 8, 4 6, 10 2, 8 4 hundredths, so the squared
    # deviations sum to 32 + 8 + 2 + 32 + 8 = 82 and the squares to 420 (10⁻⁴).
    assert five_by_two_t(*FIRST).statistic == pytest.approx(10 / math.sqrt(82 / 5))
    assert five_by_two_f(*FIRST).statistic == pytest.approx(420 / (2 * 82))


@given(HALVES)
def test_five_by_two_agrees_with_the_loops(scores):
    d = scores[0] - scores[1]
    assume(np.abs(d[:, 0] - d[:, 1]).max() > 1e-9)
    one, other = five_by_two_t(*scores), five_by_two_f(*scores)
    expected = oracle.five_by_two_t(d), oracle.five_by_two_f(d)
    assert (one.statistic, one.pvalue) == pytest.approx(expected[0], abs=1e-9)
    assert (other.statistic, other.pvalue) == pytest.approx(expected[1], abs=1e-9)
    # In one row, repeat after repeat, they are the same scores.
    assert five_by_two_f(*scores.reshape(2, 10)) == other
    for result in (one, other):
        low, high = result.interval
        if math.isnan(low):  # F rejects every difference
            assert "rejects every difference" in result.note
            assert result.pvalue < 0.05 + 1e-9
        elif result.winner != "draw":
            assert low > 0 or high < 0
        elif result.pvalue > 0.05 + 1e-9:
            assert low <= 0 <= high


def test_the_interval_of_f_holds_what_f_does_not_reject():
    a, b = np.array(SECOND[0]), np.array(SECOND[1])
    low, high = five_by_two_f(a, b).interval
    for edge in (low, high):
        assert five_by_two_f(a - edge, b).pvalue == pytest.approx(0.05, abs=1e-9)
    # Where halves agree closely and repeats do not, every value is rejected.
    d = np.array([[0.1, 0.1], [0.2, 0.2], [0.3, 0.3], [0.4, 0.4], [0.5, 0.501]])
    sure = five_by_two_f(d, np.zeros((5, 2)))
    assert np.isnan(sure.interval).all()
    assert "rejects every difference" in sure.note
    assert sure.winner == "a"


@pytest.mark.parametrize("gap", [0.0, 0.1, -0.1])
def test_five_by_two_without_variance(gap):
    b = np.array(FIRST[1])
    for test in (five_by_two_t, five_by_two_f):
        result = test(b + gap, b)
        expected = 1 if gap == 0 else math.nan
        assert result.pvalue == pytest.approx(expected, nan_ok=True)
        assert np.isnan(result.interval).all()
        assert result.winner == "draw"
        assert "In each halving the two differences are equal" in result.note


@pytest.mark.parametrize("first", [0.1, 0.0])
def test_five_by_two_without_variance_in_any_halving(first):
    """The mean of all is 0, and yet not all differences are."""
    d = np.repeat([[first], [0.1 - 2 * first], [first - 0.1], [0.0], [0.0]], 2, axis=1)
    assert d.mean() == pytest.approx(0)
    for test in (five_by_two_t, five_by_two_f):
        result = test(d, np.zeros((5, 2)))
        assert np.isnan(result.interval).all()
        known = not math.isnan(result.pvalue)
        assert known == (test is five_by_two_t and first == 0)
        assert ("neither an interval nor a p-value" in result.note) != known
        assert "(0)" not in result.note
        assert "though not from halving to halving" in result.note


def test_the_first_difference_decides_the_t_test():
    # All others favour b; the test looks at the first alone, and says so.
    d = np.full((5, 2), -0.1)
    d[0] = [0.5, 0.49]
    result = five_by_two_t(d, np.zeros((5, 2)))
    assert result.mean_difference > 0
    d[1:] = -0.3
    result = five_by_two_t(d, np.zeros((5, 2)))
    assert result.mean_difference < 0 < result.estimate
    assert result.winner == "a"
    assert "+0.500" in result.assumptions


def test_repeated_cv_is_a_paired_t_with_ten_degrees_of_freedom():
    rng = np.random.default_rng(4)
    a, b = rng.normal(0.8, 0.05, (2, 10, 10))
    ours, plain = repeated_cv_t(a, b), stats.ttest_rel(a.ravel(), b.ravel())
    assert ours.statistic == pytest.approx(plain.statistic, rel=1e-12)
    assert ours.pvalue == pytest.approx(2 * stats.t.sf(abs(ours.statistic), 10))
    assert (ours.df, ours.n) == (10, 100)
    half = stats.t.ppf(0.975, 10) * (a - b).std(ddof=1) / 10
    assert ours.interval[1] - ours.mean_difference == pytest.approx(half)
    assert repeated_cv_t(a, b, df=99).pvalue == pytest.approx(plain.pvalue)


@given(RUNS)
def test_sorted_runs_agree_with_the_loops(scores):
    d = scores[0] - scores[1]
    averages = np.sort(d, axis=1).mean(axis=0)
    assume(np.ptp(averages) > 1e-9)
    ours = sorted_runs_t(*scores)
    expected = oracle.sorted_runs_t(d.tolist())
    assert (ours.statistic, ours.pvalue) == pytest.approx(expected, rel=1e-7)
    assert ours.mean_difference == pytest.approx(d.mean(), abs=1e-12)
    assert (ours.n, ours.df) == (4, 3)
    flat = sorted_runs_t(*scores.reshape(2, -1), n_repeats=3)
    assert flat == ours


def test_one_run_sorted_is_the_paired_t():
    rng = np.random.default_rng(1)
    a, b = rng.random((2, 1, 10))
    assert sorted_runs_t(a, b).pvalue == pytest.approx(paired_t(a[0], b[0]).pvalue)


@pytest.mark.parametrize("rope", [0.0, 0.01, 0.05])
@pytest.mark.parametrize("shift", [-0.03, 0.0, 0.02])
def test_posterior_probabilities_are_the_integrals(rope, shift):
    rng = np.random.default_rng(9)
    a, b = rng.normal(0.8 + shift, 0.04, 30), rng.normal(0.8, 0.04, 30)
    ours = bayesian_correlated_t(a, b, n_train=90, n_test=10, rope=rope)
    expected = oracle.posterior(a - b, 0.1, rope)
    found = [ours.probabilities[who] for who in ("a", "rope", "b")]
    assert found == pytest.approx(expected, abs=1e-6)
    assert sum(found) == pytest.approx(1, abs=1e-12)
    corrected = corrected_resampled_t(a, b, n_train=90, n_test=10)
    assert ours.pvalue == corrected.pvalue
    assert ours.interval == corrected.interval


def test_a_posterior_names_a_winner_above_95_percent():
    wiggle = np.resize([0.004, -0.004], 10)
    clear = bayesian_correlated_t(0.8 + wiggle, np.full(10, 0.7), n_train=9, n_test=1)
    equal = bayesian_correlated_t(0.7 + wiggle, np.full(10, 0.7), n_train=9, n_test=1)
    assert clear.winner == "a"
    assert equal.winner == "draw"
    assert equal.probabilities["rope"] > 0.95
    # Significant by the corrected test, but not by more than what matters.
    small = (0.7075 + wiggle, np.full(10, 0.7))
    assert corrected_resampled_t(*small, n_train=9, n_test=1).winner == "a"
    assert bayesian_correlated_t(*small, n_train=9, n_test=1).winner == "draw"
    for other in (0.6, 0.7):  # without variance there is no posterior
        none = bayesian_correlated_t([0.7] * 5, [other] * 5, n_train=4, n_test=1)
        assert np.isnan([none.probabilities[who] for who in ("a", "rope", "b")]).all()
        assert none.winner == "draw"


@pytest.mark.parametrize("name", sorted(TESTS))
def test_swapping_the_sides_mirrors_the_result(name):
    rng = np.random.default_rng(2)
    entry = TESTS[name]
    shape = entry.repeats or 3, entry.folds or 4
    geometry = Geometry((75,) * math.prod(shape), (25,) * math.prod(shape), *shape)
    for _ in range(20):
        a, b = rng.integers(10, 20, (2, math.prod(shape))) / 20
        one, other = (apply_test(name, *s, geometry) for s in ((a, b), (b, a)))
        assert one.pvalue == pytest.approx(other.pvalue, abs=1e-12)
        assert one.mean_difference == pytest.approx(-other.mean_difference, abs=1e-12)
        mirrored = [-x for x in other.interval[::-1]]
        assert one.interval == pytest.approx(mirrored, nan_ok=True)
        assert {one.winner, other.winner} in ({"draw"}, {"a", "b"})
        same = apply_test(name, a, a, geometry)
        assert (same.pvalue, same.winner) == (1, "draw")
        assert one.assumptions


# -- the entry: splits tell tests what they are --------------------------------------


def splits(cv, n=100):
    rng = np.random.default_rng(0)
    data = read_table(rng.normal(size=(n, 2)), np.resize(["x", "y"], n))
    return make_splits(cv, data, 0)


def test_the_resampling_brings_its_own_correction():
    rng = np.random.default_rng(5)
    a, b = rng.normal(0.8, 0.05, (2, 20))
    for cv, ratio in (
        (RepeatedKFold(n_splits=5, n_repeats=4), 1 / 4),
        ("4x5", 1 / 4),
        (ShuffleSplit(20, test_size=0.3), 3 / 7),
    ):
        found = apply_test("corrected-t", a, b, splits(cv).geometry)
        expected = corrected_resampled_t(a, b, n_train=1, n_test=ratio)
        assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-12)
    by_run = apply_test("sorted-runs-t", a, b, splits("4x5").geometry)
    assert by_run == sorted_runs_t(a.reshape(4, 5), b.reshape(4, 5))


@pytest.mark.parametrize(
    ("test", "cv", "message"),
    [
        ("five-by-two-t", 10, "'five-by-two-t' is not made for 1 .* use cv='5x2'"),
        ("five-by-two-f", "2x5", "use cv='5x2'"),
        ("repeated-cv-t", "5x10", "use cv='10x10'"),
        ("sorted-runs-t", 10, "use cv='10x10'"),
        ("sorted-runs-t", ShuffleSplit(20), "not made for 1 repeat"),
    ],
)
def test_a_test_refuses_splits_it_is_not_made_for(test, cv, message):
    geometry = splits(cv).geometry
    a = np.linspace(0, 1, len(geometry.n_test))
    with pytest.raises(InputError, match=message):
        apply_test(test, a, a[::-1], geometry)


def test_compare_takes_every_test(anova, worst, problem):
    X, y = problem
    for name, entry in TESTS.items():
        cv = f"{entry.repeats or 2}x{entry.folds or 3}"
        record = compare(
            [anova, worst],
            X,
            y,
            n_features_to_select=5,
            estimator="nb",
            cv=cv,
            random_state=0,
            test=name.replace("-", "_"),
        )
        d = record.scores["in"][0] - record.scores["in"][1]
        assert record.verdicts["in"].mean_difference == pytest.approx(d.mean())
        assert record.settings["test"] == name
    with pytest.raises(InputError, match="use cv='5x2'"):
        compare([anova, worst], X, y, n_features_to_select=5, test="five-by-two-t")
    with pytest.raises(InputError, match=r"no test 'five-by-two'.*five-by-two-"):
        compare([anova, worst], X, y, n_features_to_select=5, test="five-by-two")


def test_tests_go_by_the_names_of_their_functions():
    assert find_test("corrected_resampled_t") == "corrected-t"
    assert {find_test(name.replace("-", "_")) for name in TESTS} == set(TESTS)
    functions = {"corrected-t": "corrected_resampled_t"}
    for name in TESTS:
        own = getattr(comparison, functions.get(name, name.replace("-", "_")))
        assert find_test(own) == name
    with pytest.raises(InputError, match="There is no test 'welch-bias'"):
        find_test(comparison.welch_bias)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: five_by_two_t(np.zeros(9), np.zeros(9)), "take 10 scores"),
        (lambda: five_by_two_f(np.zeros((2, 5)), np.zeros((2, 5))), r"shape \(2, 5\)"),
        (lambda: sorted_runs_t(np.zeros(10), np.zeros(10)), "must know the runs"),
        (
            lambda: sorted_runs_t(np.zeros(10), np.zeros(10), n_repeats=3),
            "10 scores are not 3 runs",
        ),
        (lambda: repeated_cv_t([0.1, 0.2], [0.1, 0.2], df=0), "df must be positive"),
        (
            lambda: bayesian_correlated_t(
                [0.1, 0.2], [0.1, 0.2], n_train=1, n_test=1, rope=-1
            ),
            "rope must be",
        ),
    ],
)
def test_bad_scores_are_refused_in_words(call, message):
    with pytest.raises(InputError, match=message):
        call()
