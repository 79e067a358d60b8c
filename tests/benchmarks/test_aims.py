"""An aim is reached, missed, or cannot be judged; never more than was measured."""

from dataclasses import replace

import pytest
from benchmarks.aims import Faster, Lean, show_ratio
from benchmarks.definitions import Measurement
from tests.benchmarks.samples import RECORD


def with_memory(peak, n_samples=40):
    ours = Measurement("ours", "measured", 0.5, 3, peak, 9600, n_samples)
    return replace(RECORD, measurements=(ours,))


@pytest.mark.parametrize(("times", "reached"), [(4, True), (4.1, False)])
def test_faster_holds_the_ratio_against_the_aim(times, reached):
    verdict = Faster("ours", "equal", times).assess(RECORD)
    assert verdict.reached is reached
    assert verdict.firm
    assert verdict.found == "4.00 × as fast"


def test_an_aim_below_one_allows_to_be_slower():
    aim = Faster("equal", "ours", 1 / 5)
    assert aim.words == "equal: at most 5 × the time of ours"
    assert aim.assess(RECORD).reached is True
    assert aim.assess(RECORD).found == "4.00 × the time"
    assert Faster("equal", "ours", 1 / 3).assess(RECORD).reached is False


def test_a_time_over_the_limit_can_say_yes_but_never_no():
    assert Faster("ours", "slow", 600).assess(RECORD).reached is True
    assert Faster("ours", "slow", 601).assess(RECORD).reached is None
    assert Faster("ours", "slow", 2).assess(RECORD).found.startswith("more than 600")


@pytest.mark.parametrize("than", ["wrong", "absent", "broken", "nobody"])
def test_no_claim_against_contenders_not_measured_or_with_other_results(than):
    verdict = Faster("ours", than, 0.01).assess(RECORD)
    assert verdict.reached is None
    assert than in verdict.found


def test_nothing_is_claimed_for_a_result_that_differs_or_a_time_over_the_limit():
    assert Faster("wrong", "equal", 2).assess(RECORD).reached is None
    assert Faster("slow", "equal", 0.001).assess(RECORD).reached is None


def test_a_noted_figure_stands_in_for_an_absent_peer_and_is_named():
    verdict = Faster("ours", "absent", 2, recorded=3.0).assess(RECORD)
    assert verdict.reached is True
    assert not verdict.firm
    assert "not installed" in verdict.found
    assert "3 s" in verdict.found
    measured = Faster("ours", "equal", 100, recorded=1e9).assess(RECORD)
    assert measured.reached is False


@pytest.mark.parametrize(
    ("peak", "reached"), [(2 * 9600 + 8 * 1600, True), (2 * 9600 + 8 * 1600 + 1, False)]
)
def test_lean_allows_twice_x_and_a_square_of_the_rows(peak, reached):
    assert Lean("ours").assess(with_memory(peak)).reached is reached


def test_lean_without_a_figure_is_not_judged():
    assert Lean("ours").assess(with_memory(None)).reached is None
    assert Lean("absent").assess(RECORD).reached is None


def test_ratios_are_shown_with_the_digits_they_deserve():
    assert [show_ratio(r) for r in (0.123, 9.876, 98.76, 987.6)] == [
        "0.12",
        "9.88",
        "98.8",
        "988",
    ]
