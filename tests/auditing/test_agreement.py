"""Agreement of selectors with features: permuted labels, ties, and the candidates."""

from __future__ import annotations

import numpy as np
import pytest

from veridical._core.reading import read_table
from veridical.auditing.agreement import (
    candidates,
    find_agreement,
    measure_agreement,
    permute_labels,
    slow_candidates,
    student_pvalue,
)
from veridical.auditing.records import LEVEL, SIGNAL_LEVEL, Preselection
from veridical.datasets import make_random_labels
from veridical.selection import SELECTORS, AnovaF, InformationGain, selectors_for


def test_permuted_agreements_are_those_of_refitting():
    X, y = make_random_labels(30, 60, random_state=0)
    chosen = AnovaF(8).fit(X, y).get_support(indices=True)

    permuted, pvalue = permute_labels(AnovaF(8), read_table(X, y), chosen, 20, 5)

    rng = np.random.default_rng(5)
    for common in permuted:
        again = AnovaF(8).fit(X, rng.permutation(y)).get_support(indices=True)
        assert common == np.intersect1d(again, chosen).size
    assert pvalue == student_pvalue(8, permuted) < LEVEL


def test_pvalue_of_one_more_value():
    assert student_pvalue(3, [3, 1, 0]) == 2 / 4
    assert student_pvalue(0, [0] * 9) == 1
    assert student_pvalue(20, [0, 1] * 50) < 1e-6
    assert student_pvalue(4, [0, 3] * 50) > LEVEL


@pytest.mark.parametrize("n_permutations", [25, 99])
def test_student_pvalues_keep_their_level_with_few_permutations(n_permutations):
    rng = np.random.default_rng(n_permutations)
    n = 20_000
    hits = rng.binomial(50, 0.5, size=(n, n_permutations + 1)) / 50

    pvalues = np.array([student_pvalue(row[0], row[1:]) for row in hits])

    # With 25 permutations no share reaches this level.
    assert np.mean(pvalues <= SIGNAL_LEVEL) < SIGNAL_LEVEL + 4 * np.sqrt(
        SIGNAL_LEVEL / n
    )


@pytest.mark.parametrize(
    "name", sorted(set(selectors_for("classes")) - {"svm-rfe", "variance"})
)
def test_every_selector_is_recognised(name):
    X, y = make_random_labels(40, 150, random_state=3)
    chosen = SELECTORS[name](10).fit(X, y).get_support(indices=True)

    found = find_agreement(read_table(X, y), chosen, 0)

    assert found.overlap[found.best] == 10
    used = Preselection(tuple(chosen), found.name, False, found.overlap, found.pvalue)
    assert used.agrees


def test_slow_selectors_are_tried_where_no_fast_one_agrees():
    X, y = make_random_labels(30, 120, random_state=1)
    chosen = SELECTORS["svm-rfe"](12).fit(X, y).get_support(indices=True)

    found = find_agreement(read_table(X, y), chosen, 0)

    assert found.best == "svm-rfe"
    assert found.name in candidates(read_table(X, y))  # inside the folds a fast one
    assert found.pvalue <= LEVEL


@pytest.mark.parametrize(
    ("n", "p", "n_classes", "tried"),
    [
        (62, 2000, 2, True),
        (203, 1543, 5, True),
        (72, 12_582, 3, True),
        (1000, 300, 2, False),
        (200, 20_000, 2, False),
    ],
)
def test_slow_selectors_are_tried_where_they_take_a_few_seconds(n, p, n_classes, tried):
    table = read_table(np.zeros((n, p)), np.arange(n) % n_classes)
    assert slow_candidates(table) == (["svm-rfe"] if tried else [])


def test_features_chosen_by_their_place_do_not_count():
    """Without information about the class all features are tied."""
    X = np.tile(np.arange(10.0), (2, 1)).T.repeat(2, axis=0)[:, [0] * 40]
    X = X + np.arange(40)
    y = np.arange(20) % 2  # every value has one sample of each class
    table = read_table(X, y)
    chosen = InformationGain(5).fit(X, y).get_support(indices=True)

    found = measure_agreement(InformationGain(5), "gain", table, chosen, 0)

    assert found.overlap == {"gain": 5}
    assert found.pvalue == 1


@pytest.mark.parametrize(("place", "shared"), [(0, 1), (30, 5)])
def test_ties_do_not_agree_with_the_first_features_of_the_table(place, shared):
    X = np.arange(20.0)[:, None] // 2 + np.arange(40)
    y = np.arange(20) % 2  # every value has one sample of each class
    X[:, place] = 10 * y + np.arange(20) % 3
    chosen = InformationGain(5).fit(X, y).get_support(indices=True)
    # Ties are chosen from the beginning, where features that were known may stand too.
    assert np.setdiff1d(chosen, 30).tolist() == list(range(5 - (place == 30)))

    found = find_agreement(read_table(X, y), chosen, 0)

    assert max(found.overlap.values()) == shared
