"""Canonical JSON of a value, from which keys and seeds are hashed."""

from __future__ import annotations

import hashlib
import json
from typing import Any

_encoder = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)


def canonical(value: Any) -> str:
    """Write a value as canonical JSON: equal values give equal text.

    Keys are sorted, nothing is padded, numbers are written as Python's ``repr`` does.

    Raises
    ------
    ValueError
        For NaN and infinities.
    TypeError
        For values that JSON cannot represent.

    Examples
    --------
    >>> canonical({"b": 0.5, "a": [1, "ü"]})
    '{"a":[1,"ü"],"b":0.5}'
    """
    return _encoder.encode(value)


def digest(value: Any) -> bytes:
    """Hash a value by its canonical JSON: SHA-256, 32 bytes."""
    return hashlib.sha256(canonical(value).encode()).digest()
