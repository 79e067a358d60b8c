"""Compile functions, with a cache on disk where there is room for one.

Every kernel takes its `njit` from here: numba's own raises where it may write neither
beside the source nor into the user's cache folder, as in a read-only container. Then
kernels are compiled anew in every process instead. Where compilation takes long, the
reporter of the work says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numba
import numpy as np
from numba import extending
from numba.core import compiler, event, types

from veridical._core.progress import add_compiling_time

# numba has no type annotations.
_compiler: Any = compiler
_events: Any = event
_extending: Any = extending
_types: Any = types


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
        compiled = numba.njit(pipeline_class=_ForPython, **options)(function)
        if cache:
            try:
                compiled.enable_caching()
            except RuntimeError as error:
                if "no locator available" not in str(error):
                    raise
        return _compile_apart(
            compiled,
            lambda: numba.njit(pipeline_class=_ForKernels, **options)(function),
        )

    return compile_one


def by_type(declared: Any) -> Any:
    """Let kernels call the implementation for the type of their first argument.

    That is a named tuple or an array; `functools.singledispatch`, for compiled code. A
    kernel that calls `declared` is compiled for each type that it is called with, so
    that one loop serves several problems and costs none of them anything.

    Parameters
    ----------
    declared : function
        Its name, arguments and documentation; its body is never run.

    Returns
    -------
    function
        The same, with a decorator ``declared.register(type)`` for implementations,
        which are Python functions that numba can compile.
    """
    implementations: dict[Any, Any] = {}

    def choose(first: Any, *_others: Any) -> Any:
        kind = np.ndarray if isinstance(first, _types.Array) else None
        return implementations.get(getattr(first, "instance_class", kind))

    _extending.overload(
        declared, strict=False, jit_options={"pipeline_class": _ForKernels}
    )(choose)

    def register(kind: type) -> Callable[[Any], Any]:
        def keep(implementation: Any) -> Any:
            implementations[kind] = implementation
            return implementation

        return keep

    declared.register = register
    return declared


class _ForPython(compiler.Compiler):
    """Compile a kernel that Python calls; nobody calls it from C."""

    def define_pipelines(self) -> Any:
        """Leave the wrapper for C out."""
        self.state.flags.no_cfunc_wrapper = True
        return _compiler.Compiler.define_pipelines(self)


class _ForKernels(compiler.Compiler):
    """Compile a kernel that other kernels call.

    It needs no wrappers at all. What numba compiles into it is not affected: the flags
    that are inherited were copied before.
    """

    def define_pipelines(self) -> Any:
        """Leave all wrappers out."""
        flags = self.state.flags
        flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        return _compiler.Compiler.define_pipelines(self)


def _compile_apart(kernel: Any, make_inner: Callable[[], Any]) -> Any:
    """Let a kernel that another kernel calls be compiled apart, without wrappers.

    The wrappers convert arguments from Python, and take a sixth of the time. The code
    becomes a part of the calling kernel, and is kept on disk with that one.

    It is compiled for types only, never for the value of an argument: while numba
    infers types, a variable that begins with 0 is a literal 0 at first, and a kernel
    that is called with it would be compiled for that, without use.
    """
    inner = lru_cache(maxsize=1)(make_inner)

    def resolve_types(args: Any, kws: Any) -> Any:
        plain = {name: _types.unliteral(one) for name, one in dict(kws).items()}
        return inner().get_call_template(tuple(map(_types.unliteral, args)), plain)

    kernel.get_call_template = resolve_types
    kernel.get_overload = lambda signature: inner().get_overload(signature)
    return kernel


class _CompilingTime(event.Listener):
    """Report the seconds of every compilation that is not part of another one."""

    def __init__(self) -> None:
        self._depth = 0
        self._began = 0.0

    def on_start(self, event: Any) -> None:
        """Start the clock."""
        if not self._depth:
            self._began = time.monotonic()
        self._depth += 1

    def on_end(self, event: Any) -> None:
        """Stop the clock."""
        self._depth -= 1
        if not self._depth:
            add_compiling_time(time.monotonic() - self._began)


_events.register("numba:compile", _CompilingTime())
