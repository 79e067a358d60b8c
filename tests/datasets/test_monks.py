"""The MONK's rules, on all 432 combinations and on the published files."""

import os
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from veridical._core.errors import InputError
from veridical.datasets import SOURCES, make_monks, read
from veridical.datasets.monks import RELEVANT, RULES

COMBINATIONS = np.array(
    list(product([1, 2, 3], [1, 2, 3], [1, 2], [1, 2, 3], [1, 2, 3, 4], [1, 2]))
)


def rule(problem, row):
    """Restate the published rules, one row at a time."""
    a1, a2, _, a4, a5, _ = row
    if problem == 1:
        return a1 == a2 or a5 == 1
    if problem == 2:
        return list(row).count(1) == 2
    return (a5 == 3 and a4 == 1) or (a5 != 4 and a2 != 3)


@pytest.mark.parametrize(("problem", "positives"), [(1, 216), (2, 142), (3, 228)])
def test_rules_on_all_combinations(problem, positives):
    labels = RULES[problem](COMBINATIONS)
    assert labels.sum() == positives
    assert labels.tolist() == [bool(rule(problem, row)) for row in COMBINATIONS]


@pytest.mark.parametrize("problem", [1, 2, 3])
def test_relevant_columns_are_those_that_can_change_the_class(problem):
    table = RULES[problem](COMBINATIONS).reshape(3, 3, 2, 3, 4, 2)
    matters = [j for j in range(6) if (np.ptp(table.astype(int), axis=j) > 0).any()]
    assert tuple(matters) == RELEVANT[problem]
    relevant = make_monks(problem, 5, random_state=0, return_relevant=True)[2]
    assert relevant.tolist() == matters


@pytest.mark.parametrize("problem", [1, 2, 3])
def test_draws_are_uniform_and_obey_the_rule(problem):
    X, y = make_monks(problem, 43_200, noise=0, random_state=0, as_frame=False)
    assert [rule(problem, row) for row in X[:2000]] == y[:2000].astype(bool).tolist()
    _, counts = np.unique(X, axis=0, return_counts=True)
    assert len(counts) == 432
    statistic = ((counts - 100) ** 2 / 100).sum()  # chi-squared with 431 df
    assert abs(statistic - 431) < 5 * np.sqrt(2 * 431)


def test_noise_flips_labels_and_leaves_attributes():
    X, y = make_monks(3, 20_000, random_state=0)
    X_clean, y_clean = make_monks(3, 20_000, noise=0, random_state=0)
    pd.testing.assert_frame_equal(X, X_clean)
    assert (y != y_clean).mean() == pytest.approx(0.05, abs=0.007)
    all_flipped, none_flipped = (
        make_monks(3, 50, noise=noise, random_state=0)[1] for noise in (1, 0)
    )
    np.testing.assert_array_equal(all_flipped, 1 - none_flipped)


def test_only_the_third_problem_is_noisy_and_only_in_training():
    for name, source in SOURCES.items():
        if name.startswith("monks"):
            problem = int(name[-1])
            for draw, noisy in ((source, problem == 3), (source.test, False)):
                X, y = draw(2000, random_state=1)
                expected = RULES[problem](X.to_numpy().astype(int))
                assert (y != expected).any() == noisy


def test_frame_is_categorical_with_all_legal_values():
    X, _ = make_monks(1, 3, random_state=0)
    assert list(X.columns) == ["a1", "a2", "a3", "a4", "a5", "a6"]
    sizes = [X[c].cat.categories.tolist() for c in X.columns]
    assert [s[-1] for s in sizes] == [3, 3, 2, 3, 4, 2]
    assert all(s == list(range(1, s[-1] + 1)) for s in sizes)
    assert not any(X[c].cat.ordered for c in X.columns)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"problem": 4}, "problem=4"),
        ({"problem": 1, "n_samples": 0}, "n_samples"),
        ({"problem": 1, "noise": 1.5}, "noise"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(InputError, match=message):
        make_monks(**arguments)


@pytest.mark.parametrize("problem", [1, 2, 3])
def test_agrees_with_the_published_files(problem):
    folder = os.environ.get("VERIDICAL_DATA")
    if not folder:
        pytest.skip("VERIDICAL_DATA is not set")
    X, y = read(Path(folder) / f"monks{problem}_test.csv.gz", target="class")
    assert len(X) == 432
    np.testing.assert_array_equal(RULES[problem](X.to_numpy()), y)
    X, y = read(Path(folder) / f"monks{problem}_train.csv.gz", target="class")
    wrong = (RULES[problem](X.to_numpy()) != y).sum()
    assert wrong == (6 if problem == 3 else 0)
