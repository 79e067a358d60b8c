"""The tests against scipy, hand calculations and the values of the specification."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from veridical._core.errors import InputError
from veridical.comparison import (
    TestResult,
    bayesian_correlated_t,
    binomial_truthfulness,
    corrected_resampled_t,
    five_by_two_f,
    five_by_two_t,
    paired_t,
    repeated_cv_t,
    sign_test,
    sorted_runs_t,
    welch_bias,
)

SCORES = st.lists(st.integers(0, 25).map(lambda k: k / 25), min_size=2, max_size=30)


@pytest.fixture
def pair():
    rng = np.random.default_rng(3)
    return rng.normal(0.82, 0.05, 10), rng.normal(0.78, 0.05, 10)


def test_paired_t_is_scipys(pair):
    ours, theirs = paired_t(*pair), stats.ttest_rel(*pair)
    assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-12)
    assert ours.pvalue == pytest.approx(theirs.pvalue, rel=1e-12)
    assert ours.df == theirs.df == 9
    interval = theirs.confidence_interval(0.95)
    assert ours.interval == pytest.approx((interval.low, interval.high), rel=1e-10)


def test_corrected_t_by_hand(pair):
    a, b = pair
    d = a - b
    t = d.mean() / math.sqrt((1 / 10 + 1 / 9) * d.var(ddof=1))
    ours = corrected_resampled_t(a, b, n_train=90, n_test=10)
    assert ours.statistic == pytest.approx(t, rel=1e-12)
    assert ours.pvalue == pytest.approx(2 * stats.t.sf(abs(t), 9), rel=1e-12)
    # Weka's PairedStatsCorrected has the same form: a plain t shrunk by a factor.
    plain = paired_t(a, b).statistic
    assert ours.statistic == pytest.approx(plain / math.sqrt(1 + 10 / 9), rel=1e-12)


def test_unequal_folds_still_give_one_over_k_minus_one(pair):
    n_test = [13] * 5 + [12] * 5
    n_train = [125 - n for n in n_test]
    uneven = corrected_resampled_t(*pair, n_train=n_train, n_test=n_test)
    even = corrected_resampled_t(*pair, n_train=9, n_test=1)
    assert uneven.pvalue == pytest.approx(even.pvalue, rel=1e-12)


@pytest.mark.parametrize(
    "test", [paired_t, lambda a, b: corrected_resampled_t(a, b, n_train=9, n_test=1)]
)
@pytest.mark.parametrize("gap", [0.0, 0.1, -0.1])
def test_equal_differences_have_no_interval(test, gap):
    b = np.array([0.1, 0.2, 0.3, 0.6, 0.7])
    a = b + gap  # the differences agree only up to rounding
    result = test(a, b)
    assert result.winner == "draw"
    assert np.isnan(result.interval).all()
    assert result.mean_difference == pytest.approx(gap, abs=1e-12)
    assert "All 5 differences are equal" in result.note
    if gap == 0:
        assert (result.statistic, result.pvalue) == (0, 1)
    else:
        assert np.isnan([result.statistic, result.pvalue]).all()


@given(scores=SCORES, data=st.data())
def test_interval_excludes_zero_exactly_when_significant(scores, data):
    n = len(scores)
    other = data.draw(st.lists(st.integers(0, 25), min_size=n, max_size=n))
    b = np.array(other) / 25
    for result in (
        paired_t(scores, b),
        corrected_resampled_t(scores, b, n_train=4, n_test=1),
    ):
        low, high = result.interval
        if result.note:  # all differences are equal
            assert np.isnan([low, high]).all()
            assert result.winner == "draw"
            continue
        assert low < result.mean_difference < high
        assert (low > 0 or high < 0) == (result.winner != "draw")
    one, swapped = paired_t(scores, b), paired_t(b, scores)
    assert swapped.pvalue == pytest.approx(one.pvalue, rel=0, abs=0, nan_ok=True)
    expected = pytest.approx(one.statistic, rel=0, abs=0, nan_ok=True)
    assert -swapped.statistic == expected


@given(scores=SCORES)
def test_against_itself_nothing_is_found(scores):
    assert paired_t(scores, scores).winner == "draw"
    assert paired_t(scores, scores).pvalue == 1


def test_assumptions_are_said(pair):
    assert "independent" in paired_t(*pair).assumptions
    corrected = corrected_resampled_t(*pair, n_train=9, n_test=1)
    assert "Nadeau" in corrected.assumptions


@pytest.mark.parametrize(
    ("only_in", "only_out", "pvalue", "better"),
    [  # A10: the values listed in the specification, as exact fractions
        (6, 0, 1 / 64, "in"),
        (5, 0, 1 / 32, "same"),
        (8, 1, 10 / 512, "in"),
        (7, 1, 9 / 256, "same"),
        (10, 2, 79 / 4096, "in"),
        (11, 3, 470 / 16384, "same"),
    ],
)
def test_binomial_p_values_by_hand(only_in, only_out, pvalue, better):
    result = binomial_truthfulness(only_in, only_out)
    assert result.pvalue == pytest.approx(pvalue, abs=1e-12)
    assert result.better == better
    mirrored = binomial_truthfulness(only_out, only_in)
    assert mirrored.pvalue == result.pvalue
    assert mirrored.better == {"in": "out", "same": "same"}[better]


def test_binomial_without_evidence():
    result = binomial_truthfulness(0, 0, both_right=90, both_wrong=10)
    assert (result.pvalue, result.better) == (1.0, "same")
    assert (result.both_right, result.both_wrong) == (90, 10)


@given(st.integers(0, 60), st.integers(0, 60))
def test_binomial_is_scipys(only_in, only_out):
    expected = stats.binom.cdf(min(only_in, only_out), only_in + only_out, 0.5)
    result = binomial_truthfulness(only_in, only_out)
    assert result.pvalue == pytest.approx(expected, abs=1e-12)
    if n := only_in + only_out:
        exact = stats.binomtest(only_in, n).proportion_ci(method="exact")
        bounds = (2 * exact.low - 1, 2 * exact.high - 1)
        assert result.interval == pytest.approx(bounds, abs=1e-9)
    # The interval and the verdict are the same test.
    low, high = result.interval
    side = "a" if low > 0 else "b" if high < 0 else "draw"
    assert (
        result.winner == side == {"in": "a", "out": "b", "same": "draw"}[result.better]
    )


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_binomial_counts_for_itself(pairs):
    right_in, right_out = np.array(pairs).T
    counted = binomial_truthfulness(right_in, list(map(int, right_out)))
    by_hand = binomial_truthfulness(
        sum(a and not b for a, b in pairs),
        sum(b and not a for a, b in pairs),
        both_right=sum(a and b for a, b in pairs),
        both_wrong=sum(not a and not b for a, b in pairs),
    )
    fields = {name: getattr(counted, name) for name in counted.__dataclass_fields__}
    for name, value in fields.items():
        assert value == pytest.approx(getattr(by_hand, name), nan_ok=True), name
    assert counted.mean_difference == pytest.approx(right_in.mean() - right_out.mean())


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (([True, False], [True]), "shapes"),
        (([True, False], 3), "shapes"),
        (([0.8, 0.7], [0.9, 0.7]), "True or False"),
        ((["a", "draw"], ["a", "b"]), "True or False"),
        ((None, 1), "only_in must be a count"),
        ((math.inf, 1), "only_in must be a count"),
    ],
)
def test_bad_rows_of_verdicts(rows, message):
    with pytest.raises(InputError, match=message):
        binomial_truthfulness(*rows)


def test_every_test_returns_a_test_result():
    rng = np.random.default_rng(3)
    a, b = rng.normal(0.8, 0.05, (2, 5, 2))
    sizes = {"n_train": 50, "n_test": 50}
    results = [
        paired_t(a, b),
        corrected_resampled_t(a, b, **sizes),
        five_by_two_t(a, b),
        five_by_two_f(a, b),
        repeated_cv_t(a, b),
        sorted_runs_t(a, b),
        bayesian_correlated_t(a, b, **sizes),
        binomial_truthfulness(a[0] > 0.8, b[0] > 0.8),
        welch_bias(a, b),
    ]
    for result in results:
        assert isinstance(result, TestResult), result
        assert result.assumptions.endswith(".")
        assert result.winner in ("a", "b", "draw")
        low, high = result.interval
        estimate = (
            result.mean_difference if result.estimate is None else result.estimate
        )
        assert low <= estimate <= high


@pytest.mark.parametrize("test", [paired_t, repeated_cv_t, corrected_resampled_t])
def test_repeats_and_folds_are_one_row(test):
    a, b = np.random.default_rng(4).normal(0.8, 0.05, (2, 3, 4))
    if test is not corrected_resampled_t:
        assert test(a, b) == test(a.ravel(), b.ravel())
        return
    n_test = np.full((3, 4), 25)
    table = test(a, b, n_train=100 - n_test, n_test=n_test)
    assert table == test(a.ravel(), b.ravel(), n_train=75, n_test=25)


def test_welch_is_scipys():
    rng = np.random.default_rng(5)
    folds, truth = rng.normal(0.85, 0.09, 10), rng.normal(0.80, 0.02, 100)
    theirs = stats.ttest_ind(folds, truth, equal_var=False)
    ours = welch_bias(folds, truth)
    assert ours.pvalue == pytest.approx(theirs.pvalue, rel=1e-10)
    assert ours.df == pytest.approx(theirs.df, rel=1e-12)
    assert ours.difference == pytest.approx(folds.mean() - truth.mean())
    assert ours.interval == pytest.approx(theirs.confidence_interval(), rel=1e-10)


def test_bias_counts_only_where_significant():
    truth = np.array([0.80, 0.82, 0.78, 0.80])
    large = welch_bias([0.9, 0.91, 0.92, 0.9], truth)
    small = welch_bias([0.7, 0.9, 0.8, 0.83], truth)
    assert large.value == large.difference == pytest.approx(0.1075)
    assert small.value == 0
    assert small.difference == pytest.approx(0.0075)
    assert welch_bias([0.5, 0.5], [0.5, 0.5]).pvalue == 1
    constant = welch_bias([0.6, 0.6], [0.5, 0.5])
    assert constant.value == 0
    assert np.isnan([constant.pvalue, *constant.interval]).all()


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([0.5, np.nan], [0.5, 0.5], "scores_a holds nan at position 1"),
        ([0.5, 0.6], [0.5, np.inf], "scores_b holds inf at position 1"),
        ([0.5, 0.6, 0.7], [0.5, 0.6], "3 values and scores_b has 2"),
        ([0.5], [0.6], "at least 2"),
        ([], [], "at least 2"),
        (0.5, 0.6, "in a table of repeats and folds"),
        ([[[0.5, 0.6]]], [[[0.5], [0.6]]], "the same repeats and folds"),
        ([[0.5], [0.6]], [[0.5, 0.6]], "the same repeats and folds"),
        (["x", "y"], [0.5, 0.6], "must be numbers"),
    ],
)
def test_bad_scores_are_refused(a, b, message):
    with pytest.raises(InputError, match=message):
        paired_t(a, b)
    with pytest.raises(InputError, match=message):
        corrected_resampled_t(a, b, n_train=9, n_test=1)


@pytest.mark.parametrize("alpha", [0, 1, -0.1, 5, math.nan])
def test_a_bad_level_is_refused(pair, alpha):
    with pytest.raises(InputError, match="alpha must lie between 0 and 1"):
        paired_t(*pair, alpha=alpha)
    with pytest.raises(InputError, match="alpha"):
        binomial_truthfulness(3, 4, alpha=alpha)
    with pytest.raises(InputError, match="alpha"):
        welch_bias(*pair, alpha=alpha)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"n_train": 0, "n_test": 1}, "n_train must be positive"),
        ({"n_train": 9, "n_test": -1}, "n_test must be positive"),
        ({"n_train": [9, 9], "n_test": 1}, "one per split"),
    ],
)
def test_bad_sizes_are_refused(pair, sizes, message):
    with pytest.raises(InputError, match=message):
        corrected_resampled_t(*pair, **sizes)


@pytest.mark.parametrize("count", [-1, 1.5, True])
def test_bad_counts_are_refused(count):
    with pytest.raises(InputError, match="only_in must be a count"):
        binomial_truthfulness(count, 2)


# -- signs ---------------------------------------------------------------------------


def test_the_sign_test_is_the_binomial_test_of_scipy():
    rng = np.random.default_rng(3)
    a, b = rng.integers(4, size=(2, 5, 6, 11)) / 4
    found = sign_test(a[..., None], b[..., None])
    assert found.pvalue.shape == found.winner.shape == (5, 6)
    for place in np.ndindex(5, 6):
        d = a[place] - b[place]
        wins, n = int((d > 0).sum()), int((d != 0).sum())
        expected = stats.binomtest(wins, n).pvalue
        assert found.pvalue[place] == pytest.approx(expected, rel=1e-12)
        one = sign_test(a[place], b[place])
        assert (one.statistic, one.n) == (wins, n)
        assert one.pvalue == found.pvalue[place]
        assert one.estimate == found.estimate[place]
        swapped = sign_test(b[place], a[place])
        assert swapped.pvalue == one.pvalue
        assert swapped.estimate == -one.estimate
    clear = sign_test(np.arange(8.0) + 1, np.arange(8.0))
    assert (clear.winner, clear.pvalue) == ("a", 2 / 2**8)
    low, high = clear.interval
    assert 0 < low < high == 1
    none = sign_test([1.0, 2.0], [1.0, 2.0])
    assert (none.winner, none.pvalue, none.n) == ("draw", 1, 0)


# -- many tests at once --------------------------------------------------------------

SIZES = {"n_train": 9, "n_test": 1}
MANY = {
    "paired_t": (paired_t, {}),
    "corrected_resampled_t": (corrected_resampled_t, SIZES),
    "repeated_cv_t": (repeated_cv_t, {}),
    "sorted_runs_t": (sorted_runs_t, {}),
    "five_by_two_t": (five_by_two_t, {}),
    "five_by_two_f": (five_by_two_f, {}),
    "bayesian_correlated_t": (bayesian_correlated_t, SIZES),
    "welch_bias": (welch_bias, {}),
    "sign_test": (sign_test, {}),
}


@pytest.mark.parametrize("name", MANY)
def test_leading_axes_count_tests(name):
    """Many tests at once are the tests one by one, degenerate ones included."""
    test, settings = MANY[name]
    rng = np.random.default_rng(0)
    a, b = rng.integers(25, size=(2, 3, 4, 5, 2)) / 25
    a[0] = b[0] + 0.25  # always the same difference
    a[1, 1] = b[1, 1]  # none
    a[2] += 3  # clear to every test

    found = test(a, b, **settings)

    assert found.pvalue.shape == found.winner.shape == (3, 4)
    assert set(found.winner.ravel()) >= {"a", "draw"}
    for place in np.ndindex(3, 4):
        one = test(a[place], b[place], **settings)
        for what in ("statistic", "pvalue", "mean_difference", "df"):
            many = np.broadcast_to(getattr(found, what), (3, 4))
            expected = pytest.approx(getattr(one, what), rel=1e-12, nan_ok=True)
            assert many[place] == expected
        bounds = tuple(bound[place] for bound in found.interval)
        assert bounds == pytest.approx(one.interval, rel=1e-12, nan_ok=True)
        assert found.winner[place] == one.winner
        assert isinstance(one.pvalue, float)
    assert len(found.to_frame()) == 12
    assert "12 tests" in repr(found)


def test_biases_against_the_truth_of_each_cell():
    """Data sets of a cell share one row of TRUTH accuracies."""
    rng = np.random.default_rng(1)
    folds, truth = rng.random((5, 30, 10)), rng.uniform(0.4, 0.6, (5, 30))
    folds[2] = folds[2][:, :1]

    found = welch_bias(folds[:, :, None, :], truth[:, None, None, :])

    for i, j in np.ndindex(5, 30):
        one = welch_bias(folds[i, j], truth[i])
        assert found.value[i, j] == pytest.approx(one.value, abs=1e-12)
    assert 0 < np.count_nonzero(found.value) < found.value.size


def test_rows_of_truthfulness():
    rng = np.random.default_rng(2)
    rows = rng.random((2, 4, 3, 20)) < np.array([0.9, 0.4])[:, None, None, None]

    found = binomial_truthfulness(*rows)

    for place in np.ndindex(4, 3):
        one = binomial_truthfulness(*rows[(slice(None), *place)])
        assert found.pvalue[place] == one.pvalue
        assert (found.better[place], found.winner[place]) == (one.better, one.winner)
        assert found.only_in[place] == one.only_in
    assert "in" in found.better
