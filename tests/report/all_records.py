"""One record of every kind, with the words in it given from outside."""

from __future__ import annotations

from unittest.mock import patch

from tests.report import pages
from tests.report.page_texts import plain


class _FoundError(Exception):
    """The record that a page would have been made of."""


def _stop(record, *_):
    raise _FoundError(record)


def record_of_page(build, say=plain):
    """The record behind a page of the catalogue."""
    with patch.object(pages.report, "page", _stop):
        try:
            build(say)
        except _FoundError as found:
            return found.args[0]
    raise AssertionError("no record was shown")


#: By kind; a watched study is no record.
KINDS = {
    "-".join(filter(None, key)).removesuffix("-bare"): (
        lambda say=plain, b=build: record_of_page(b, say)
    )
    for key, build in pages.CATALOGUE.items()
    if key[0] != "watch"
}
