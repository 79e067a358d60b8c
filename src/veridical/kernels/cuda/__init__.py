"""Kernels for NVIDIA GPUs: sources in CUDA C++, and modules that launch them.

A source is compiled by CuPy when it is first used, for the type of the features and for
the GPU, and kept in CuPy's cache.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from veridical._core.devices import cupy


@cache
def compiled(source: str, values: DTypeLike) -> Any:
    """Compile a source of this folder.

    Parameters
    ----------
    source : str
        Its name without ending.
    values : dtype
        Type of the features, float32 or float64.
    """
    text = resources.files(__name__).joinpath(f"{source}.cu").read_text("utf-8")
    name = {"f4": "float", "f8": "double"}[np.dtype(values).str[1:]]
    return cupy().RawModule(
        code=text, options=("-std=c++17", f"-DVALUE={name}"), name_expressions=None
    )


def as_values(X: Any) -> Any:
    """Copy features to the GPU where they are not there, as rows of floats.

    Whole numbers of up to 16 bits become single precision, which holds them exactly.
    """
    xp = cupy()
    single = X.dtype in (np.float32, np.float16) or (
        X.dtype.kind in "iub" and X.dtype.itemsize <= 2
    )
    return xp.ascontiguousarray(xp.asarray(X), dtype=np.float32 if single else np.float64)
