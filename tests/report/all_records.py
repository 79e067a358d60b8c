"""One record of every kind, with the words in it given from outside."""

from __future__ import annotations

from unittest.mock import patch

from tests.report import estimates_records, pages, study_pages
from tests.report.saying import plain


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
    from dataclasses import replace

    return replace(made, method=say(made.method), estimator=say("C4.5"), notes=notes)


def calibration(say=plain):
    """Predicted probabilities of one model."""
    return of_page(pages.correction, say).uncorrected


#: By kind; a watched study is no record.
KINDS = {
    **{
        "-".join(filter(None, key)): (lambda say=plain, b=build: of_page(b, say))
        for key, build in pages.CATALOGUE.items()
        if key[0] != "watch"
    },
    "estimate": estimate,
    "calibration": calibration,
}
