"""Kernels for NVIDIA GPUs: sources in CUDA C++, and modules that launch them.

A source is compiled by CuPy when it is first used, for the type of the features and for
the GPU, and kept in CuPy's cache.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from veridical._core.devices import cupy

#: Threads of a block, in kernels that have a thread for each feature or sample.
THREADS = 128
#: Blocks of a launch that keep all processors of a GPU busy.
BLOCKS = 8192

_TYPES = {
    "f4": "float",
    "f8": "double",
    "b1": "unsigned char",
    "u1": "unsigned char",
    "i1": "signed char",
    "u2": "unsigned short",
    "i2": "short",
    "u4": "unsigned int",
    "i4": "int",
    "u8": "unsigned long long",
    "i8": "long long",
}


@cache
def _compiled(source: str, kind: str) -> Any:
    """Compile a source of this folder for features of a type of numpy."""
    text = resources.files(__name__).joinpath(f"{source}.cu").read_text("utf-8")
    value = f"-DVALUE={_TYPES[kind]}"
    return cupy().RawModule(code=text, options=("-std=c++17", value))


def launcher(source: str, dtype: DTypeLike) -> Callable[..., None]:
    """Return what launches kernels.

    Parameters
    ----------
    source : str
        Name of a source of this folder, without ending.
    dtype : dtype
        Type of the features.

    Returns
    -------
    callable
        It takes the name of a kernel, the sizes of the grid and of a block, and the
        arguments of the kernel.
    """
    module = _compiled(source, np.dtype(dtype).str[1:])

    def launch(name: str, grid: Any, block: Any, *args: Any, **options: Any) -> None:
        sizes = tuple(map(int, grid)), tuple(map(int, block))
        module.get_function(name)(*sizes, args, **options)

    return launch


def as_values(X: Any) -> Any:
    """Copy features to the GPU where they are not there, as rows of floats.

    Whole numbers of up to 16 bits become single precision, which holds them exactly.
    """
    single = X.dtype in (np.float32, np.float16) or (
        X.dtype.kind in "iub" and X.dtype.itemsize <= 2
    )
    dtype = np.float32 if single else np.float64
    return cupy().ascontiguousarray(cupy().asarray(X), dtype=dtype)
