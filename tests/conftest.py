"""One browser for all tests of a worker, and tests that are the same on every run."""

import pytest
from hypothesis import settings
from tests.report.browser import Browser, find_browser

# `make test` draws the same examples everywhere, so that a red run can be repeated;
# `make test-all` explores new ones.
settings.register_profile(
    "repeatable", derandomize=True, deadline=None, max_examples=50
)
settings.register_profile("explore", deadline=None)
settings.load_profile("repeatable")


def pytest_make_parametrize_id(val):
    """Name a test by the size of its bytes, never by the bytes themselves.

    Packed files carry the time they were packed at. Were it part of a test's name,
    two workers that collect a second apart would disagree on what there is to run.
    """
    return f"{len(val)}-bytes" if isinstance(val, bytes) else None


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    if find_browser() is None:
        pytest.skip("no Chromium here; install it or set CHROME_BIN")
    started = Browser(tmp_path_factory.mktemp("chromium"))
    yield started
    started.close()
