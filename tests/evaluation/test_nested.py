"""Nested cross-validation: its arithmetic term by term, its ends, its promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from tests.oracles import estimation as oracle

from veridical._core.errors import InputError
from veridical.datasets import make_linear
from veridical.evaluation import CrossValidation, estimate, nested_cv, wilson
from veridical.evaluation.intervals import no_narrower
from veridical.evaluation.nested import RowsTested, summarize_repeats

Z_90 = 1.6448536269514722


def folds_of(y, n_folds, n_repeats, seed):
    splits = CrossValidation(n_folds, n_repeats=n_repeats).split(y, seed)
    tests = [split.test for split in splits]
    return [tests[r * n_folds : (r + 1) * n_folds] for r in range(n_repeats)]


def made_up(seed, n_folds, sizes=(4, 9), n_repeats=3, drift=0.45):
    """Errors in which the inner and outer ones differ by about `drift`."""
    rng = np.random.default_rng(seed)
    repeats = []
    for _ in range(n_repeats):
        lengths = rng.integers(*sizes, size=n_folds)
        rates = np.clip(0.4 + drift * rng.uniform(-1, 1, n_folds), 0, 1)
        outer = [
            (rng.random(n) < p).astype(float)
            for n, p in zip(lengths, rates, strict=True)
        ]
        inner = [(rng.random(lengths.sum() - n) < 0.4).astype(float) for n in lengths]
        repeats.append((outer, inner))
    return repeats, int(sum(len(fold) for fold in repeats[0][0]))


# -- the arithmetic ------------------------------------------------------------------


@pytest.mark.parametrize("n_folds", [3, 5, 10])
def test_every_term_is_that_of_the_authors(n_folds):
    """The authors state the error as an inflation of the naive one; we do not.

    Only where the error lies strictly between its two limits does it depend on the
    terms at all, so such errors are looked for, and enough of them must be found.
    """
    strictly_inside = 0
    for seed in range(60):
        repeats, n = made_up(seed, n_folds, drift=0.05 + seed / 120)
        found = summarize_repeats(repeats, n)
        value, error, naive = oracle.inflated(repeats, n)
        assert found.value == pytest.approx(np.clip(value, 0, 1), abs=1e-12)
        assert found.naive_standard_error == pytest.approx(naive, abs=1e-12)
        assert found.standard_error == pytest.approx(error, abs=1e-12)
        strictly_inside += 1.001 * naive < error < 0.999 * np.sqrt(n_folds) * naive
    assert strictly_inside >= 10


def test_three_folds_of_two_samples_by_hand():
    """Three folds of two samples; every number below is worked out on paper."""
    outer = [np.array([0.0, 0.0]), np.array([1.0, 1.0]), np.array([0.0, 1.0])]
    inner = [np.array([1.0, 0.0, 0.0, 1.0])] * 3
    found = summarize_repeats([(outer, inner)], 6)

    # a: (1/2 - 0)², (1/2 - 1)², (1/2 - 1/2)²; b: 0, 0, (1/2)/2
    mse = (1 / 4 + 1 / 4 + 0 - 1 / 4) / 3
    naive = np.sqrt(12 * (1 / 4) / 11 / 6)  # 6 of 12 inner errors, over 11
    assert found.naive_standard_error == pytest.approx(naive, abs=1e-15)
    assert naive < np.sqrt(2 / 3 * mse) < np.sqrt(3) * naive
    assert found.standard_error == pytest.approx(np.sqrt(2 / 3 * mse), abs=1e-15)
    assert found.value == pytest.approx(0.5, abs=1e-15)  # no bias: 1/2 in and out
    assert found.cv_value == 0.5


def test_the_bias_by_hand():
    """Inner errors 3/4, outer 1/2, three folds: 1/4 is corrected by 1 + 1/3 of it."""
    outer = [np.array([0.0, 1.0])] * 3
    inner = [np.array([1.0, 1.0, 1.0, 0.0])] * 3
    found = summarize_repeats([(outer, inner)], 6)
    assert found.value == pytest.approx(1 - (3 / 4 - 4 / 3 * 1 / 4), abs=1e-15)


@pytest.mark.parametrize("n_folds", [3, 5])
@pytest.mark.parametrize(
    "model", [GaussianNB(), DecisionTreeClassifier(random_state=0)]
)
def test_follows_the_printed_algorithm(n_folds, model):
    """Every inner fit done, none shared between two folds."""
    X, y = make_linear(40, random_state=3)
    found = nested_cv(model, X, y, n_folds=n_folds, n_repeats=4, random_state=2)
    repeats = oracle.nested_errors(model, X, y, folds_of(y, n_folds, 4, 2))
    value, error, naive = oracle.inflated(repeats, 40)
    assert found.value == pytest.approx(value, abs=1e-12)
    assert found.standard_error == pytest.approx(error, abs=1e-12)
    assert found.naive_standard_error == pytest.approx(naive, abs=1e-12)
    low, high = found.interval(0.9)
    assert low == pytest.approx(max(0, value - Z_90 * error))
    assert high == pytest.approx(min(1, value + Z_90 * error))


# -- weights and groups --------------------------------------------------------------


def test_weights_of_one_change_nothing():
    X, y = make_linear(40, random_state=3)
    options = {"n_folds": 4, "n_repeats": 3, "random_state": 2}
    plain = nested_cv(GaussianNB(), X, y, **options)
    weighted = nested_cv(GaussianNB(), X, y, sample_weight=np.ones(40), **options)
    assert weighted.n_effective == pytest.approx(40)
    for one in ("value", "standard_error", "naive_standard_error", "cv_value"):
        assert getattr(weighted, one) == pytest.approx(getattr(plain, one), abs=1e-12)
    assert weighted.interval() == pytest.approx(plain.interval(), abs=1e-12)


def test_a_weight_counts_as_often_as_copies_that_stay_together():
    """Copies of a sample, as a group, have the same means and the same spread."""
    repeats, n = made_up(5, 4, n_repeats=1)
    (outer, inner), rng = repeats[0], np.random.default_rng(0)
    ends = np.cumsum([len(fold) for fold in outer])
    folds = np.split(np.arange(n), ends[:-1])
    others = [np.setdiff1d(np.arange(n), fold) for fold in folds]
    w = rng.integers(0, 4, n)
    w[[fold[:2] for fold in folds]] = 2  # two samples count in every fold
    weighted = summarize_repeats(
        repeats, n, RowsTested([(folds, others)], w.astype(float), np.arange(n))
    )
    first = np.cumsum(w) - w
    copies = [np.arange(a, a + k) for a, k in zip(first, w, strict=True)]

    def repeat_rows(parts):
        return [np.concatenate([copies[i] for i in part]) for part in parts]

    repeated = [
        (
            [np.repeat(e, w[rows]) for e, rows in zip(outer, folds, strict=True)],
            [np.repeat(e, w[rows]) for e, rows in zip(inner, others, strict=True)],
        )
    ]
    units = np.repeat(np.arange(n), w)
    copied = summarize_repeats(
        repeated,
        len(units),
        RowsTested(
            [(repeat_rows(folds), repeat_rows(others))], np.ones(len(units)), units
        ),
    )
    assert weighted.value == pytest.approx(copied.value, abs=1e-12)
    assert weighted.cv_value == pytest.approx(copied.cv_value, abs=1e-12)
    assert weighted.n_effective == pytest.approx(copied.n_effective, rel=1e-12)
    # The naive errors differ by the degrees of freedom of n and of Σw errors alone.
    n_all, n_copies = sum(map(len, inner)), sum(map(len, repeated[0][1]))
    factor = np.sqrt(n_all / (n_all - 1) * (n_copies - 1) / n_copies)
    assert weighted.naive_standard_error == pytest.approx(
        factor * copied.naive_standard_error, rel=1e-12
    )


def test_weights_reach_fits_and_means():
    X, y = make_linear(40, random_state=3)
    w = np.random.default_rng(1).integers(1, 4, 40)
    found = nested_cv(
        GaussianNB(), X, y, sample_weight=w, n_folds=4, n_repeats=3, random_state=2
    )
    wrong = np.zeros((3, 40))
    for r, folds in enumerate(folds_of(y, 4, 3, 2)):
        for fold in folds:
            train = np.setdiff1d(np.arange(40), fold)
            model = GaussianNB().fit(X[train], y[train], w[train])
            wrong[r, fold] = model.predict(X[fold]) != y[fold]
    assert found.cv_value == pytest.approx(1 - wrong.mean(axis=0) @ w / w.sum())


def test_groups_widen_the_interval_and_stay_whole():
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(24), 5)
    y = (np.arange(24) % 2)[patient]
    X = rng.normal(size=(24, 4))[patient] + 0.1 * rng.normal(size=(120, 4))
    options = {"n_folds": 6, "n_repeats": 5, "random_state": 0}
    ungrouped = nested_cv("1nn", X, y, **options)
    grouped = nested_cv("1nn", X, y, groups=patient, **options)
    assert ungrouped.value > 0.95  # it recognizes patients; there is no signal
    assert grouped.value < 0.7
    assert grouped.n_effective < 60
    with pytest.raises(InputError, match="2 groups in each, but there are 24 groups"):
        nested_cv("1nn", X, y, groups=patient, n_folds=13)


# -- its ends ------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.sampled_from([3, 4, 10]), st.floats(0, 1))
def test_value_and_interval_stay_within_bounds(seed, n_folds, drift):
    repeats, n = made_up(seed, n_folds, n_repeats=1, drift=drift)
    found = summarize_repeats(repeats, n)
    low, high = found.interval()
    usual = wilson(found.cv_value, n)
    assert 0 <= found.value <= 1
    assert 0 <= low < high <= 1
    assert low <= found.value <= high
    assert high - low >= usual[1] - usual[0] - 1e-12


def test_a_corrected_value_beyond_1_is_cut():
    outer = [np.zeros(4) for _ in range(3)]
    inner = [np.r_[1.0, np.zeros(7)] for _ in range(3)]
    assert summarize_repeats([(outer, inner)], 12).value == 1.0


class Rule(ClassifierMixin, BaseEstimator):
    """Names the sign of the first column, or the other one; learns nothing."""

    def __init__(self, right=True):
        self.right = right

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return ((X[:, 0] > 0) == self.right).astype(int)


@pytest.mark.parametrize("right", [True, False])
def test_no_error_or_nothing_but_errors_is_not_certainty(right):
    """There is no spread anywhere, but 60 samples have a standard error."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = (X[:, 0] > 0).astype(int)
    found = estimate(Rule(right), X, y, cv=CrossValidation(10), random_state=0)
    assert found.value == float(right)
    assert found.interval(kind="nested") == pytest.approx(wilson(float(right), 60))
    assert list(found.assumes) == ["wilson", "nested"]
    with pytest.raises(InputError, match=r"all 10 of them are [01] .* Use 'wilson'"):
        found.interval(kind="corrected-t")


@pytest.mark.parametrize("seed", range(8))
def test_never_narrower_than_wilsons_on_the_same_data(seed):
    X, y = make_linear(40, random_state=seed)
    found = estimate(GaussianNB(), X, y, cv=CrossValidation(5), random_state=seed)
    for confidence in (0.5, 0.95):
        (a, b), (c, d) = (
            found.interval(confidence, kind) for kind in ("wilson", "nested")
        )
        assert d - c >= b - a - 1e-12


def test_widening_by_hand():
    assert no_narrower((0.4, 0.6), 0.1) == (0.4, 0.6)
    assert no_narrower((0.4, 0.6), 0.4) == pytest.approx((0.3, 0.7))
    assert no_narrower((0.99, 1.2), 0.2) == pytest.approx((0.8, 1.0))
    assert no_narrower((-0.1, 0.0), 0.2) == pytest.approx((0.0, 0.2))


def test_needs_folds_with_samples():
    X, y = make_linear(40, random_state=3)
    for n_folds in (2, 30):
        with pytest.raises(InputError, match="change n_folds"):
            nested_cv(GaussianNB(), X, y, n_folds=n_folds)
