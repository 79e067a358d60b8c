"""A record shown in a terminal says what was found, in a line, not all it holds."""

from __future__ import annotations

import pytest
from sklearn.naive_bayes import GaussianNB

from veridical.auditing import audit
from veridical.comparison import calibrate, compare, sensitivity, truth
from veridical.datasets import make_linear
from veridical.evaluation import select
from veridical.selection import AnovaF, Correlation, ReliefF

DATA = make_linear(40, 30, random_state=0)
OPTIONS = {"estimator": "nb", "n_features_to_select": 5, "random_state": 0}


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: compare([AnovaF(), ReliefF()], *DATA, **OPTIONS),
            ["AnovaF against ReliefF", "IN", "OUT", "p = "],
        ),
        (
            lambda: truth(
                [AnovaF(), ReliefF()], "linear", n_train=30, n_sets=3, **OPTIONS
            ),
            ["AnovaF against ReliefF", "TRUTH"],
        ),
        (
            lambda: compare([AnovaF(), ReliefF(), Correlation()], *DATA, **OPTIONS),
            ["AnovaF", "Correlation", "mean ranks", "p = "],
        ),
        (
            lambda: sensitivity([AnovaF(), ReliefF()], *DATA, n_sets=3, **OPTIONS),
            ["AnovaF against ReliefF", "of 9 data sets"],
        ),
        (
            lambda: audit(GaussianNB(), *DATA, n_permutations=19, random_state=0),
            ["IN 0."],
        ),
        (
            lambda: select("anova", *DATA, n_features_to_select=8, random_state=0),
            ["AnovaF", "and 3 more", "accuracy 0."],
        ),
        (
            lambda: calibrate("paired-t", n_simulations=20, random_state=0),
            ["rejects", "nominal 0.05"],
        ),
    ],
    ids=["compare", "truth", "many", "sensitivity", "audit", "select", "calibrate"],
)
def test_records_show_what_was_found(make, words):
    shown = repr(make())
    assert all(word in shown for word in words), shown
    assert len(shown) < 700


def test_data_are_shown_without_their_columns():
    record = compare([AnovaF(), ReliefF()], *DATA, **OPTIONS)
    assert (
        repr(record.data)
        == "DataSummary('the data', 40 samples, 30 features, 2 classes)"
    )


def test_records_with_arrays_are_compared_by_identity():
    record = compare([AnovaF(), ReliefF()], *DATA, **OPTIONS)
    again = compare([AnovaF(), ReliefF()], *DATA, **OPTIONS)
    assert record == record
    assert record != again
