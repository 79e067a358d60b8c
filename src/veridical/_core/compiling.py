"""Compile functions, with a cache on disk where there is room for one.

Every kernel takes its `njit` from here: numba's own raises where it may write neither
beside the source nor into the user's cache folder, as in a read-only container. Then
kernels are compiled anew in every process instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def njit(*, cache: bool = True, **options: Any) -> Callable[[Any], Any]:
    """Compile a function as ``numba.njit`` does; without a cache where none can be.

    Parameters
    ----------
    cache : bool
        Whether to keep the compiled code on disk, where a folder can be written.
    **options : any
        Further options of ``numba.njit``.

    Returns
    -------
    callable
        The decorator.
    """

    def compile_one(function: Any) -> Any:
        if cache:
            try:
                return numba.njit(cache=True, **options)(function)
            except RuntimeError as error:
                if "no locator available" not in str(error):
                    raise
        return numba.njit(**options)(function)

    return compile_one
