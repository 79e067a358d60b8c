"""Kernels compile also where nothing can be written to disk."""

import os
import subprocess
import sys

import pytest

from veridical._core.compiling import njit

READ_ONLY = """
import errno
from numba.core import caching

def refuse(*arguments, **options):
    raise OSError(errno.EROFS, "Read-only file system")

caching.os.makedirs = caching.tempfile.TemporaryFile = refuse
caching.tempfile.mkstemp = refuse
"""


def test_where_no_folder_can_be_written_the_first_fit_still_works():
    code = f"""{READ_ONLY}
import numpy as np
import numba
try:
    numba.njit(cache=True)(lambda x: x)
except RuntimeError as error:
    print("numba:", error)
from veridical.kernels.exact import add
from veridical.selection import Correlation
rng = np.random.default_rng(0)
y = np.arange(40) % 2
X = rng.normal(size=(40, 5)) + np.outer(y, [0, 3, 0, 0, 0])
print("best:", Correlation(2).fit(X, y).order_[0], type(add._cache).__name__)
"""
    path = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "numba: cannot cache function" in done.stdout
    assert "best: 1 NullCache" in done.stdout


def test_compiled_code_is_kept_where_it_can_be():
    from veridical.kernels.exact import add

    assert type(add._cache).__name__ == "FunctionCache"
    assert add(1.0, 0.0, 2.0, 0.0) == (3.0, 0.0)


def test_no_cache_on_request_and_other_errors_as_they_are(monkeypatch):
    assert type(njit(cache=False)(abs_of)._cache).__name__ == "NullCache"
    assert njit(nogil=True, cache=False)(abs_of)(-2.0) == 2.0

    def broken(**options):
        raise RuntimeError("something else")

    monkeypatch.setattr("numba.njit", broken)
    with pytest.raises(RuntimeError, match="something else"):
        njit(nogil=True)(abs_of)


def abs_of(x):
    return -x if x < 0 else x
