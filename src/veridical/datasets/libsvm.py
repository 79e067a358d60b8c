"""Tables as libsvm and svmlight write them: a label, then ``index:value`` pairs."""

from __future__ import annotations

import io
import math
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from veridical._core.errors import InputError
from veridical._core.reading import check_features
from veridical._core.text import quote
from veridical.datasets.limits import memory

#: Labels are read as integers below this; beyond it doubles are not exact.
_LARGEST_EXACT = 2.0**53

_NUMBER = rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_LINE = re.compile(
    rb"\s*" + _NUMBER + rb"(?:\s+(?:qid:\d+|\d+:" + _NUMBER + rb"))*\s*(?:#.*)?"
)


def looks_like_libsvm(content: bytes) -> bool:
    """Return whether the first lines are labels with ``index:value`` pairs."""
    lines = [line for line in content[:65536].splitlines()[:10] if line.strip()]
    lines = [line for line in lines if not line.lstrip().startswith(b"#")]
    return any(b":" in line for line in lines) and all(
        _LINE.fullmatch(line) for line in lines
    )


def read_libsvm(
    content: bytes, target: str | None, name: str
) -> tuple[Any, NDArray[Any]]:
    """Read a sparse table from libsvm's format.

    Indices may count from 0 or from 1; where the smallest is not 0, from 1.

    Parameters
    ----------
    content : bytes
        The whole file.
    target : str or None
        Must be None: the class is first in each line and has no name.
    name : str
        Name of the file in messages.

    Returns
    -------
    X : csr_array
        The features.
    y : array
        The labels, integers where all of them are.
    """
    if target is not None:
        raise InputError(
            f"{name} is in libsvm's format, where the target is first in each line and "
            f"features have no names; leave {target!r} out. Survival times need "
            "another format, such as CSV."
        )
    _check_lines(content, name)
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(io.BytesIO(content), zero_based="auto")
    except (ValueError, OverflowError) as error:
        raise InputError(
            f"{name} cannot be read ({error}); the indices in each line must ascend."
        ) from error
    if not X.nnz:
        raise InputError(
            f"{name} has no feature values; a line looks like '1 3:0.5 7:2', the class "
            "and then index:value for each feature."
        )
    whole = np.all(y == np.round(y)) and np.all(np.abs(y) < _LARGEST_EXACT)
    labels = y.astype(np.int64) if whole else y
    table = csr_array(X)
    check_features(table, name)
    return table, labels


def _check_lines(content: bytes, name: str) -> None:
    """Raise for a line that is not a label with pairs, or too large an index."""
    room = memory() // 8
    for number, line in enumerate(content.splitlines(), 1):
        line = line.partition(b"#")[0].strip()
        if not line:
            continue
        if not _LINE.fullmatch(line):
            raise InputError(
                f"Line {number} of {name} is "
                f"{quote(line[:40].decode(errors='replace'))}, not a numeric "
                "label followed by index:value pairs; correct the line."
            )
        label = line.split()[0]
        if not math.isfinite(float(label)):
            raise InputError(
                f"Line {number} of {name} has a label too large to be a number "
                f"({label.decode()}); replace it."
            )
        last = -1
        for pair in line.split()[1:]:
            index, _, value = pair.partition(b":")
            if index == b"qid":
                continue
            if int(index) <= last:
                raise InputError(
                    f"Line {number} of {name} has index {int(index)} after {last}; "
                    "indices must ascend within a line."
                )
            last = int(index)
            if not math.isfinite(float(value)):
                raise InputError(
                    f"Line {number} of {name} holds a number too large to be one "
                    f"({pair.decode()}); replace it."
                )
        if last > room:
            raise InputError(
                f"Line {number} of {name} has the index {last}, more features than fit "
                "into the memory of this computer; the file may be damaged."
            )
