"""One browser for all tests of a worker."""

import pytest
from tests.report.browser import Browser, find_browser


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    if find_browser() is None:
        pytest.skip("no Chromium here; install it or set CHROME_BIN")
    started = Browser(tmp_path_factory.mktemp("chromium"))
    yield started
    started.close()
