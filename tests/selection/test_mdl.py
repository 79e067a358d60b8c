"""Fayyad and Irani's cuts: against brute force, by hand, and as a transformer."""

from math import log2

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.oracles import selection as oracle
from tests.selection.problems import examples, problems

from veridical._core.errors import InputError
from veridical.selection import InformationGain, MDLDiscretizer


def cuts(x, y, **parameters):
    X = np.asarray(x, dtype=float)[:, None]
    return MDLDiscretizer(**parameters).fit(X, list(y)).cut_points_[0].tolist()


@pytest.mark.parametrize("cost", ["cuts", "samples"])
@given(problem=problems(missing=True))
@examples(40)
def test_cuts_and_intervals_are_the_oracles(cost, problem):
    discretizer = MDLDiscretizer(mdl_cost=cost).fit(problem.X, problem.y)
    codes = discretizer.transform(problem.X)
    for j, x in enumerate(problem.columns()):
        wanted = oracle.mdl_cuts(x, problem.y.tolist(), cost)
        got = discretizer.cut_points_[j].tolist()
        assert len(got) == len(wanted)
        for cut, (low, high) in zip(got, wanted, strict=True):
            middle = low / 2 + high / 2
            assert abs(cut - middle) <= 2e-16 * max(abs(low), abs(high))
        assert all(lo <= c < hi for c, (lo, hi) in zip(got, wanted, strict=True))
        numbers = [None if v != v else v for v in codes[:, j].tolist()]
        assert numbers == oracle.intervals(x, wanted)


@given(problem=problems(missing=True), data=st.data())
@examples(20)
def test_rows_may_come_in_any_order(problem, data):
    seed = data.draw(st.integers(0, 2**32 - 1))
    rows = np.random.default_rng(seed).permutation(problem.y.size)
    here = MDLDiscretizer().fit(problem.X, problem.y)
    there = MDLDiscretizer().fit(problem.X[rows], problem.y[rows])
    for a, b in zip(here.cut_points_, there.cut_points_, strict=True):
        assert a.tolist() == b.tolist()


def test_two_pure_halves():
    # H = 1 bit; the cut between 2 and 3 leaves 0, so Gain = 1.
    # c = 3 cuts, κ = 2, κ1 = κ2 = 1:
    # Δ = log2(3² − 2) − 2·1 = 0.807;  (log2 3 + 0.807) / 4 = 0.598 < 1.
    assert (log2(3) + log2(7) - 2) / 4 == pytest.approx(0.598, abs=5e-4)
    assert cuts([1, 2, 3, 4], "aabb") == [2.5]
    assert cuts([4, 1, 3, 2], "baba") == [2.5]


def test_alternating_classes_are_not_worth_a_cut():
    # Best cuts: 1 | 3 or 3 | 1 samples, Gain = 1 − ¾·H(1/3) = 0.311.
    # Δ = log2 7 − (2·1 − 1·0 − 2·0.918) = 2.644;  (log2 3 + 2.644) / 4 = 1.06 > 0.311.
    assert cuts([1, 2, 3, 4], "abab") == []


def test_what_a_cut_costs_decides():
    # x is 0 (four of class a) or 1 (one a, three b): one candidate cut, eight samples.
    # H(5/8) = 0.954, H2 = H(1/4) = 0.811: Gain = 0.954 − ½·0.811 = 0.549.
    # Δ = log2 7 − (2·0.954 − 1·0 − 2·0.811) = 2.521.
    # "cuts":  (log2 1 + 2.521) / 8 = 0.315 < 0.549, accepted.
    # "samples": (log2 7 + 2.521) / 8 = 0.666 > 0.549, refused.
    x, y = [0, 0, 0, 0, 1, 1, 1, 1], "aaaaabbb"
    assert cuts(x, y) == [0.5]
    assert cuts(x, y, mdl_cost="samples") == []


def test_of_equally_good_cuts_the_first_is_taken():
    # Samples per value and class, the same from either end:
    #   value    0   1   2   3   4
    #   class a  6   6   0   6   6
    #   class b  0   2  12   2   0
    # The best first cuts are 0|1 and 3|4, equally good; 0|1 is made. Its right side is
    # cut 2|3, then 1|2, and 3|4 does not pay any more. From the other end it is the
    # other way round.
    counts = [(6, 0), (6, 2), (0, 12), (6, 2), (6, 0)]
    x = [v for v, pair in enumerate(counts) for _ in range(sum(pair))]
    y = [label for a, b in counts for label in "a" * a + "b" * b]
    assert cuts(x, y) == [0.5, 1.5, 2.5]
    assert cuts([-v for v in x], y) == [-3.5, -2.5, -1.5]


def test_three_classes_take_two_cuts():
    # First cut off one class: H = log2 3 = 1.585, rest 1 bit on 10 of 15: Gain = 0.918.
    # Δ = log2 25 − (3·1.585 − 0 − 2·1) = 1.889; (log2 14 + 1.889) / 15 = 0.38, taken.
    # Then halves: Gain = 1; (log2 9 + log2 7 − 2) / 10 = 0.398, accepted.
    y = ["a"] * 5 + ["b"] * 5 + ["c"] * 5
    assert cuts(range(15), y) == [4.5, 9.5]


def test_a_value_equal_to_a_cut_lies_left_and_missing_stays_missing():
    X = np.array([[0.0], [0.0], [1.0], [1.0], [np.nan]])
    fitted = MDLDiscretizer().fit(X, [0, 0, 1, 1, 0])
    assert fitted.cut_points_[0].tolist() == [0.5]
    got = fitted.transform(
        np.array([[0.5], [np.nextafter(0.5, 1)], [-9], [9], [np.nan]])
    )
    np.testing.assert_array_equal(got[:, 0], [0, 1, 0, 1, np.nan])


def test_neighbouring_doubles_can_be_parted():
    low, high = 1.0, np.nextafter(1.0, 2.0)
    X = np.array([[low], [low], [low], [high], [high], [high]])
    fitted = MDLDiscretizer().fit(X, [0, 0, 0, 1, 1, 1])
    assert fitted.transform(X)[:, 0].tolist() == [0, 0, 0, 1, 1, 1]


def test_names_and_frames_pass_through():
    X = pd.DataFrame({"a": [1.0, 2, 3, 4], "b": [5.0, 5, 5, 5]})
    discretizer = MDLDiscretizer().set_output(transform="pandas")
    out = discretizer.fit_transform(X, ["n", "n", "y", "y"])
    assert out.columns.tolist() == ["a", "b"]
    assert out["a"].tolist() == [0, 0, 1, 1]
    assert out["b"].tolist() == [0, 0, 0, 0]
    assert discretizer.get_feature_names_out().tolist() == ["a", "b"]


def test_what_cannot_be_cut_is_named():
    table = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "colour": list("abab")})
    with pytest.raises(InputError, match=r"'colour'.*'a', which is not a number"):
        MDLDiscretizer(categorical_features=None).fit(table, [0, 0, 1, 1])
    with pytest.raises(InputError, match=r"infinite value \(row 2\)"):
        MDLDiscretizer().fit([[1.0], [2.0], [np.inf], [4.0]], [0, 0, 1, 1])
    with pytest.raises(InputError, match=r"no label in row 1"):
        MDLDiscretizer().fit([[1.0], [2.0], [3.0], [4.0]], [0, None, 1, 1])


def test_categorical_features_of_an_array_keep_their_codes():
    # The codes 0 and 1 against 2 and 3 would be worth a cut; 5 is coded as 3.
    codes = np.array([0.0, 1, 0, 1, 2, 5, 2, np.nan])
    numbers = np.arange(8.0)
    X = np.column_stack([codes, numbers])
    y = [0, 0, 0, 0, 1, 1, 1, 1]
    assert MDLDiscretizer().fit(X, y).cut_points_[0].tolist() == [1.5]
    for chosen in ([0], [True, False]):
        fitted = MDLDiscretizer(categorical_features=chosen).fit(X, y)
        assert fitted.cut_points_[0] is None
        assert fitted.cut_points_[1].tolist() == [3.5]
        assert fitted.categories_[0].tolist() == [0, 1, 2, 5]
        assert fitted.categories_[1] is None
        got = fitted.transform(X)
        np.testing.assert_array_equal(got[:, 0], [0, 1, 0, 1, 2, 3, 2, np.nan])
        assert got[:, 1].tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


def test_categorical_features_of_a_frame_are_known_by_their_type():
    table = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "colour": list("abab")})
    fitted = MDLDiscretizer().fit(table, [0, 0, 1, 1])
    assert fitted.cut_points_[1] is None
    assert fitted.transform(table).tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    new = pd.DataFrame({"size": [9.0, 0.0], "colour": ["b", "never seen"]})
    np.testing.assert_array_equal(fitted.transform(new), [[1, 1], [0, np.nan]])
    with pytest.raises(ValueError, match="feature names"):
        fitted.transform(table.rename(columns={"size": "length"}))


def test_gains_of_what_it_gives_are_those_of_what_it_got():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    X = np.column_stack([rng.normal(size=200) + y, (y + rng.integers(0, 2, 200)) % 4])
    cut = MDLDiscretizer(categorical_features=[1]).fit_transform(X, y)
    here = InformationGain(2, categorical_features=[1]).fit(X, y).scores_
    there = InformationGain(2, categorical_features=[0, 1]).fit(cut, y).scores_
    np.testing.assert_allclose(here, there, rtol=1e-12)


@parametrize_with_checks(
    [MDLDiscretizer(categorical_features=[0])],
    expected_failed_checks=lambda _: {
        "check_dtype_object": "a dict among categories is refused by a ValueError that "
        "names the column, in scikit-learn's words only where numbers are expected"
    },
)
def test_it_keeps_the_contract_with_a_categorical_feature(estimator, check):
    check(estimator)
