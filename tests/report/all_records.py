"""One record of every kind, with the words in it given from outside."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import numpy as np
from tests.report import estimates_records, pages, records, study_pages
from tests.report.saying import plain

from veridical.comparison import friedman
from veridical.comparison.records import Calibration, MeasuredSize
from veridical.evaluation import NestedCV


class _FoundError(Exception):
    """The record that a page would have been made of."""


def _stop(record, *_):
    raise _FoundError(record)


def of_page(build, say=plain):
    """The record behind a page of the catalogue."""
    with (
        patch.object(pages.report, "to_json", _stop),
        patch.object(pages.selection, "page", _stop),
        patch.object(study_pages.studies, "page", _stop),
    ):
        try:
            build(say)
        except _FoundError as found:
            return found.args[0]
    raise AssertionError("no record was shown")


def estimate(say=plain):
    """One estimate alone."""
    made = estimates_records.with_failure(estimator=say("C4.5")).estimates[0]
    notes = tuple(say(note) for note in made.notes)
    return replace(made, method=say(made.method), estimator=say("C4.5"), notes=notes)


def calibration(say=plain):
    """Predicted probabilities of one model."""
    return of_page(pages.correction, say).uncorrected


def significance(say=plain):
    """One significance test."""
    made = records.t_test([0.9, 0.8, 0.7, 0.9], [0.7, 0.7, 0.6, 0.8], 0.3, say("my t"))
    return replace(made, assumptions=say("The differences are normal."))


def ranks(say=plain):
    """Three selectors, ranked on four splits."""
    scores = [[0.9, 0.8, 0.9, 0.6], [0.8, 0.7, 0.8, 0.7], [0.7, 0.6, 0.7, 0.5]]
    return friedman(scores)


def null(say=plain):
    """How often a test rejects where there is nothing to find."""
    size = MeasuredSize(0.05, 0.1, 0.02, 0.3, 20, say("10 folds, naive Bayes"))
    return Calibration(say("paired-t"), size, np.arange(20) / 10, 0.8)


def nested(say=plain):
    """What nested cross-validation found."""
    return NestedCV(0.8, 0.05, 0.04, 0.79, 100, 10, 50)


#: By kind; a watched study is no record.
KINDS = {
    **{
        "-".join(filter(None, key)): (lambda say=plain, b=build: of_page(b, say))
        for key, build in pages.CATALOGUE.items()
        if key[0] != "watch"
    },
    "estimate": estimate,
    "calibration-table": calibration,
    "calibration": null,
    "test": significance,
    "friedman": ranks,
    "nested-cv": nested,
}
