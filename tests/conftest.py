"""One browser for all tests of a worker, and tests that are the same on every run."""

import os
import signal
import zlib

import numpy as np
import pytest
from hypothesis import settings
from tests.report.browser import Browser, find_browser

import veridical

# `make test` draws the same examples everywhere, so that a red run can be repeated;
# `make test-all` explores new ones.
settings.register_profile(
    "repeatable", derandomize=True, deadline=None, max_examples=50
)
settings.register_profile("explore", deadline=None)
settings.load_profile("repeatable")

# A shell lets its jobs in the background ignore Ctrl-C, and all that they start; tests
# send it to commands.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_make_parametrize_id(val):
    """Name a test by the size of its bytes, never by the bytes themselves.

    Packed files carry the time they were packed at. Were it part of a test's name,
    two workers that collect a second apart would disagree on what there is to run.
    """
    return f"{len(val)}-bytes" if isinstance(val, bytes) else None


@pytest.hookimpl(tryfirst=True)  # before slow tests are left out
def pytest_collection_modifyitems(items):
    """Make slow what a test marked ``in_part(k)`` leaves to `make test-all`.

    Which cases run is as good as random, so that no value of a parameter is left out.
    """
    for item in items:
        mark = item.get_closest_marker("in_part")
        if mark is not None and zlib.crc32(item.nodeid.encode()) % mark.args[0]:
            item.add_marker(pytest.mark.slow)


#: Calls that compile the largest kernels; the first takes as long as all others.
COMPILED = (
    ("anova", "c45"),
    ("relieff", "svm"),
    ("information-gain", "nb"),
    ("mrmr", "1nn"),
    ("ddp", "nb"),
)


def pytest_collection_finish(session):
    """Compile for the whole suite: every process a part, for all, before tests begin.

    Else each process would compile everything for itself, most of it at the same time.
    """
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    if not worker or len(session.items) < 5000:
        return
    X = np.random.default_rng(0).normal(size=(30, 5))
    first = worker == "gw0"
    for selector, estimator in COMPILED[:1] if first else COMPILED[1:]:
        veridical.select(
            selector, X, np.arange(30) % 2, estimator=estimator, cv=2, progress=False
        )


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    if find_browser() is None:
        pytest.skip("no Chromium here; install it or set CHROME_BIN")
    started = Browser(tmp_path_factory.mktemp("chromium"))
    yield started
    started.close()
