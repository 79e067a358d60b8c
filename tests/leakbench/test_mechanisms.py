"""Every mechanism moves the score, and its cure gives the score back."""

from __future__ import annotations

import numpy as np
import pytest

from veridical.leakbench import (
    CONTROLS,
    HONEST_SOURCES,
    MECHANISMS,
    draw_table,
    real_sources,
    simulated_sources,
)

#: Mechanisms whose mistake does not change the score.
HARMLESS = {"scaling", "mean-imputation", "pca"}
#: Those that need a search in every table, which takes seconds.
SLOW = {"best-setting", "best-seed"}
DOSES = [
    pytest.param(
        name, dose, id=f"{name} {dose:g}", marks=[pytest.mark.slow] * (name in SLOW)
    )
    for name, mechanism in MECHANISMS.items()
    for dose in mechanism.doses
]


def test_there_are_enough_mechanisms_and_each_says_what_it_is():
    assert len(MECHANISMS) >= 24
    for name, mechanism in MECHANISMS.items():
        assert mechanism.name == name
        for text in (mechanism.recipe, mechanism.cure):
            assert text.endswith("."), name
        assert mechanism.dose
        assert mechanism.doses


@pytest.mark.in_part(4)
@pytest.mark.parametrize(("name", "dose"), DOSES)
def test_a_mechanism_moves_the_score(name, dose):
    sources = simulated_sources()
    moved = [
        MECHANISMS[name].draw(sources[i % len(sources)], i, dose).moved(i)
        for i in range(10)
    ]
    if name in HARMLESS:
        assert abs(np.mean(moved)) < 0.05
    else:
        assert np.mean(moved) > 0.01


def test_without_signal_the_cure_gives_chance():
    scores = [
        MECHANISMS["target-encoding"].draw("noise", i).cured.score(i) for i in range(8)
    ]
    assert abs(np.mean(scores) - 0.5) < 0.06


@pytest.mark.parametrize("name", CONTROLS)
def test_a_control_is_honest(name):
    scores = [CONTROLS[name].draw("noise", i).score(i) for i in range(3)]
    if name == "strong-signal":
        assert np.mean(scores) > 0.8
    else:
        assert abs(np.mean(scores) - 0.5) < 0.2


def test_a_draw_is_repeatable_and_another_differs():
    one, again, other = (MECHANISMS["smote"].draw("signal", i).leaky for i in (0, 0, 1))
    np.testing.assert_array_equal(one.X, again.X)
    assert one.X.shape != other.X.shape or not np.array_equal(one.X, other.X)


@pytest.mark.parametrize("source", [*simulated_sources(), *real_sources()])
def test_a_table_has_two_classes_and_no_constant_feature(source):
    table = draw_table(source, 1)
    assert source in HONEST_SOURCES
    assert set(table.y.tolist()) == {0, 1}
    assert np.isfinite(table.X).all()
    assert (np.ptp(table.X, axis=0) > 0).all()
    assert table.with_noise_features(500).X.shape == (table.n, 500)
    assert (np.diff(table.by_class().y) >= 0).all()
