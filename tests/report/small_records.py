"""Records without data and settings of their own, with the words given from outside."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from tests.report import estimates_records, records
from tests.report.page_texts import Say, plain

from veridical.comparison import (
    binomial_truthfulness,
    friedman,
    paired_t,
    welch_bias,
)
from veridical.comparison.records import Calibration, MeasuredSize
from veridical.evaluation import NestedCV
from veridical.evaluation.records import Bin, CalibrationTable


def estimate(say: Say = plain):
    """One estimate alone."""
    made = estimates_records.with_failure(estimator=say("C4.5")).estimates[0]
    notes = tuple(say(note) for note in made.notes)
    return replace(made, method=say(made.method), estimator=say("C4.5"), notes=notes)


def table(label: str, positive: str, expected: float, bend: float) -> CalibrationTable:
    """Probabilities that lean towards one half as ``bend`` says."""
    mean = (np.arange(10) + 0.5) / 10
    n = (70, 22, 9, 6, 0, 3, 5, 8, 17, 60)
    bins = [
        Bin(i / 10, (i + 1) / 10, n[i], *((None, None) if not n[i] else both))
        for i, both in enumerate(zip(mean, 0.5 + bend * (mean - 0.5), strict=True))
    ]
    return CalibrationTable(
        label, positive, tuple(bins), 200, 0.08, expected, 0.3, 0.08
    )


def calibration(say: Say = plain):
    """Predicted probabilities of one model."""
    return table(say("uncorrected"), say("tumour"), 0.01, 0.6)


def significance(say: Say = plain):
    """One significance test."""
    made = records.t_test([0.9, 0.8, 0.7, 0.9], [0.7, 0.7, 0.6, 0.8], 0.3, say("my t"))
    return replace(made, assumptions=say("The differences are normal."))


def many_tests(say: Say = plain):
    """Three tests at once, one of them without a p-value."""
    a = [[0.9, 0.8, 0.7, 0.9], [0.9, 0.8, 0.9, 0.9], [0.7, 0.6, 0.9, 0.8]]
    b = [[0.7, 0.7, 0.6, 0.8], [0.8, 0.7, 0.8, 0.8], [0.7, 0.7, 0.8, 0.8]]
    made = paired_t(np.array(a)[:, None], np.array(b)[:, None])
    return replace(
        made, name=say("my t"), assumptions=say("The differences are normal.")
    )


def truthfulness(say: Say = plain):
    """How often IN and OUT were right."""
    made = binomial_truthfulness(9, 1, both_right=20, both_wrong=10)
    return replace(
        made, name=say("binomial"), assumptions=say("The data sets are independent.")
    )


def bias(say: Say = plain):
    """A method whose accuracy is too high."""
    made = welch_bias([0.9, 0.85, 0.8, 0.9, 0.85], [0.70, 0.72, 0.68, 0.70])
    return replace(made, name=say("Welch"), assumptions=say("Both samples are normal."))


def ranks(say: Say = plain):
    """Three selectors, ranked on four splits."""
    scores = [[0.9, 0.8, 0.9, 0.6], [0.8, 0.7, 0.8, 0.7], [0.7, 0.6, 0.7, 0.5]]
    return friedman(scores)


def many_ranks(say: Say = plain):
    """Twelve tests of three selectors, of which two rank them alike on all splits."""
    scores = np.random.default_rng(1).integers(9, size=(12, 3, 4)) / 9
    scores[:2] = np.arange(3)[:, None] / 3
    return friedman(scores)


def null(say: Say = plain):
    """How often a test rejects where there is nothing to find."""
    size = MeasuredSize(0.05, 0.1, 0.02, 0.3, 20, say("10 folds, naive Bayes"))
    return Calibration(say("paired-t"), size, np.arange(20) / 10, 0.8)


def nested(say: Say = plain):
    """What nested cross-validation found."""
    return NestedCV(0.8, 0.05, 0.04, 0.79, 100, 10, 50)
