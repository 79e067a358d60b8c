"""Samples small enough for pencil and paper."""

from math import log2

import numpy as np
import pytest
from tests.oracles import selection as oracle

from veridical.selection import FCBF, AnovaF, Correlation, InformationGain, ReliefF


def h(*counts):
    total = sum(counts)
    return -sum(c / total * log2(c / total) for c in counts if c)


def test_information_gain_of_a_categorical_feature():
    # Value 0: three a, one b. Value 1: four b.
    # H(Y) = H(3/8) = 0.9544; H(Y|X) = ½·H(1/4) + ½·0 = 0.4056; IG = 0.5488.
    X = np.array([[0, 0, 0, 0, 1, 1, 1, 1]]).T
    y = list("aaabbbbb")
    got = InformationGain(1, categorical_features=[0]).fit(X, y).scores_[0]
    assert got == pytest.approx(h(3, 5) - h(1, 3) / 2, abs=1e-14)
    assert got == pytest.approx(0.5488, abs=5e-5)


def test_missing_values_are_spread_by_the_marginal_shares():
    # Known: value 0 twice a, value 1 once b; the values' shares are 2/3 and 1/3.
    # One b without a value becomes 2/3 of a b at value 0, 1/3 of a b at value 1:
    #            a    b
    #   value 0  2   2/3
    #   value 1  0   4/3
    # Spread within its class it would be a whole b at value 1, and IG = H(Y) = 1.
    X = np.array([[0.0, 0.0, 1.0, np.nan]]).T
    got = InformationGain(1, categorical_features=[0]).fit(X, list("aabb")).scores_[0]
    assert got == pytest.approx(1 - (8 / 3) / 4 * h(2, 2 / 3), abs=1e-14)
    assert got < 0.5


def test_symmetrical_uncertainty():
    # X = 0 0 1 1, Y = a a a b: H(X) = 1, H(Y) = 0.8113, H(X,Y) = H(2,1,1) = 1.5.
    # SU = 2·(1 + 0.8113 − 1.5) / (1 + 0.8113) = 0.3437.
    X = np.array([[0, 0, 1, 1]]).T
    fitted = FCBF(1, categorical_features=[0]).fit(X, list("aaab"))
    assert fitted.scores_[0] == pytest.approx(2 * (h(1, 3) - 0.5) / (1 + h(1, 3)))
    assert fitted.scores_[0] == pytest.approx(0.3437, abs=5e-5)


def test_fcbf_accepts_then_lists_the_redundant_then_the_irrelevant():
    # y splits eight samples in halves.
    # 0: constant, tells nothing.            SU(0, y) = 0
    # 1: y with one sample wrong.              SU(1, y) = 0.5616
    # 2: y itself.                           SU(2, y) = 1
    # 3: another column independent of y.    SU(3, y) = 0
    # 4: y again, under other names.         SU(4, y) = 1
    # 5: y with the same sample wrong.         SU(5, y) = 0.5616
    # 2 comes first; SU(2, q) = SU(y, q) ≥ s_q for every q, so 4, 1 and 5 fall to it.
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    wrong = np.array([0, 0, 0, 1, 1, 1, 1, 1])
    other = np.array([0, 1, 0, 1, 0, 1, 0, 1])
    X = np.column_stack([np.zeros(8), wrong, y, other, 5 - y, wrong + 2])
    fitted = FCBF(None, categorical_features=range(6)).fit(X, y)
    su = 2 * (1 - 5 / 8 * h(1, 4)) / (1 + h(3, 5))
    np.testing.assert_allclose(fitted.scores_, [0, su, 1, 0, 1, su], atol=1e-14)
    assert fitted.order_.tolist() == [2, 4, 1, 5, 0, 3]
    assert fitted.n_features_ == 1
    assert fitted.support_.tolist() == [False, False, True, False, False, False]


def test_fcbf_keeps_what_no_accepted_feature_explains():
    # y has four classes of two samples each; columns 0 and 1 are its two binary digits,
    # column 2 their exclusive or. Each tells 1 of 2 bits, SU = 2·1/(1+2) = 2/3, and
    # any two of them are independent, so none falls.
    y = np.repeat([0, 1, 2, 3], 2)
    X = np.column_stack([y // 2, y % 2, y // 2 ^ y % 2])
    fitted = FCBF(None, categorical_features=[0, 1, 2]).fit(X, y)
    np.testing.assert_allclose(fitted.scores_, 2 / 3)
    assert fitted.n_features_ == 3


def test_a_feature_removed_by_a_removed_one_stays():
    # Only accepted features remove others. The oracle says which; the library agrees.
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 60)
    a = np.where(rng.random(60) < 0.1, 1 - y, y)
    b = np.where(rng.random(60) < 0.15, 1 - a, a)
    c = np.where(rng.random(60) < 0.15, 1 - b, b)
    X = np.column_stack([c, b, a])
    codes = X.T.tolist()
    scores, order, n_kept = oracle.fcbf(codes, y.tolist(), [True] * 3)
    chain = [oracle.symmetrical_uncertainty(codes[2], codes[j]) for j in (1, 0)]
    assert chain[0] >= scores[1], "the best removes the second"
    assert oracle.symmetrical_uncertainty(codes[1], codes[0]) >= scores[0]
    fitted = FCBF(None, categorical_features=[0, 1, 2]).fit(X, y)
    assert fitted.order_.tolist() == order
    assert fitted.n_features_ == n_kept


def test_f_ratio():
    # Classes 1 2 3 and 5 6 7: means 2 and 6, grand mean 4.
    # BSS = 6·4 = 24 on 1 df, WSS = 4 on 4 df: F = 24. r² = 24/28.
    X = np.array([[1.0, 2, 3, 5, 6, 7]]).T
    y = [0, 0, 0, 1, 1, 1]
    fitted = AnovaF(1).fit(X, y)
    assert fitted.scores_.tolist() == [24.0]
    assert fitted.pvalues_[0] == pytest.approx(0.00805, abs=5e-6)
    assert Correlation(1).fit(X, y).scores_[0] == pytest.approx((24 / 28) ** 0.5)


def test_constant_and_perfect_features():
    # Constant within each class: F is infinite. Constant altogether: undefined, last.
    X = np.array(
        [[3.3, 0, 0.1, 0], [3.3, 1, 0.1, 0], [3.3, 0, 0.7, 1], [3.3, 0, 0.7, 1]]
    )
    y = [0, 0, 1, 1]
    fitted = AnovaF(1).fit(X, y)
    np.testing.assert_array_equal(fitted.scores_, [np.nan, 1.0, np.inf, np.inf])
    assert fitted.order_.tolist() == [2, 3, 1, 0]
    assert fitted.pvalues_[2] == 0
    assert np.isnan(fitted.pvalues_[0])
    np.testing.assert_allclose(Correlation(1).fit(X, y).scores_, [0, 3**-0.5, 1, 1])


def test_relieff_on_four_points():
    # One column 0 1 | 3 4 (range 4), one neighbour.
    # Sample 0: hit 1 at ¼, miss 3 at ¾. Sample 1: hit ¼, miss 3 at ½. By symmetry the
    # same for the others: W = mean(¾, ½, ½, ¾) − ¼ = 0.375.
    X = np.array([[0.0, 1.0, 3.0, 4.0]]).T
    fitted = ReliefF(1, n_neighbors=1).fit(X, [0, 0, 1, 1])
    assert fitted.scores_.tolist() == [0.375]


def test_relieff_shares_the_place_of_the_last_neighbour():
    # Class a at 0 and at ±1, class b at ±4 (range 8), one neighbour.
    # Sample 0: hits −1 and 1 both at 1/8, misses −4 and 4 both at 1/2: by symmetry.
    # Samples ±1: hit 0 at 1/8, miss at 3/8. Samples ±4: hit the other at 1, miss 3/8.
    # W = (1/2 + 4·3/8)/5 − (3·1/8 + 2·1)/5 = 2/5 − 2.375/5 = −0.075.
    X = np.array([[0.0, -1.0, 1.0, -4.0, 4.0]]).T
    fitted = ReliefF(1, n_neighbors=1).fit(X, list("aaabb"))
    assert fitted.scores_[0] == pytest.approx(-0.075, abs=1e-15)


def test_relieff_weighs_misses_by_class_priors():
    # Classes a a | b b b | c at 0 0 | 1 1 1 | 2 (range 2), k = 1; hits are at 0, c has
    # none. P = 2/6, 3/6, 1/6.
    # a: b at ½ weighs (3/6)/(4/6) = ¾, c at 1 weighs ¼:   ½·¾ + 1·¼ = 5/8, twice.
    # b: a at ½ weighs 2/3, c at ½ weighs 1/3:              ½, three times.
    # c: a at 1 weighs 2/5, b at ½ weighs 3/5:              7/10, once.
    # W = (2·5/8 + 3·½ + 7/10) / 6 = 3.45/6 = 0.575.
    X = np.array([[0.0, 0.0, 1.0, 1.0, 1.0, 2.0]]).T
    fitted = ReliefF(1, n_neighbors=1).fit(X, list("aabbbc"))
    assert fitted.scores_[0] == pytest.approx(0.575, abs=1e-15)


@pytest.mark.parametrize("power", [-1070, -1000, 1020])
def test_relieff_measures_ranges_whose_inverse_or_size_no_number_holds(power):
    """A power of two moves the point, not the digits: weights stay the same."""
    rng = np.random.default_rng(1)
    y = np.arange(30) % 3
    X = rng.integers(-7, 8, size=(30, 4)).astype(float)
    far = np.ldexp(X, power)  # from −1.4e308 to 1.4e308, or all below the normal ones
    folds = [np.arange(30) % 5 != f for f in range(5)]
    selector = ReliefF(2, n_neighbors=3)
    weights = selector.fit(X, y).scores_
    np.testing.assert_array_equal(selector.fit(far, y).scores_, weights)
    one = np.column_stack([X[:, :3], far[:, 3]])
    np.testing.assert_array_equal(selector.fit(one, y).scores_, weights)
    for order, fold in zip(selector.rank_many(one, y, folds), folds, strict=True):
        assert order.tolist() == selector.fit(X[fold], y[fold]).order_.tolist()
