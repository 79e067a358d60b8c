"""Arrays in the memory of a GPU.

Arrays of CuPy and CUDA tensors of PyTorch are recognized by the interface that they
share (``__cuda_array_interface__``). They take the place of a table as a `LazyMatrix`:
a selector with kernels for the GPU works on the array itself, and any other reads it
into the memory of the processor by blocks. CuPy is imported when a GPU is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import IntArray
from veridical._core.errors import InputError
from veridical._core.lazy import LazyMatrix, is_lazy

#: Where a selector works: None is where the data are.
Device = Literal["cpu", "cuda"] | None


def is_on_device(X: Any) -> bool:
    """Return whether an array is in the memory of a GPU."""
    package = type(X).__module__.split(".")[0]
    if package == "torch":
        return bool(getattr(X, "is_cuda", False))
    return package == "cupy" and hasattr(X, "__cuda_array_interface__")


def check_device(device: Any) -> Device:
    """Check the parameter ``device`` of a selector.

    Examples
    --------
    >>> check_device("cpu")
    'cpu'
    """
    if device is None or (isinstance(device, str) and device in ("cpu", "cuda")):
        return device  # type: ignore[return-value]
    raise InputError(
        f"device={device!r} is not known; use 'cuda' for the GPU, 'cpu', or None for "
        "where the data are."
    )


@cache
def cupy() -> Any:
    """Import CuPy, and see that there is a GPU.

    Raises
    ------
    InputError
        If CuPy is not installed, or finds no GPU.
    """
    try:
        import cupy as found
    except ImportError as error:
        raise InputError(
            f"Work on a GPU needs CuPy, which cannot be imported ({error}); install "
            "'veridical[cuda]', or use device='cpu' and arrays of numpy."
        ) from error
    try:
        n_devices = found.cuda.runtime.getDeviceCount()
    except found.cuda.runtime.CUDARuntimeError:
        n_devices = 0
    if not n_devices:
        raise InputError(
            "Work on a GPU needs one of NVIDIA, and CuPy finds none; see nvidia-smi, "
            "or use device='cpu' and arrays of numpy."
        )
    return found


def to_host(values: Any) -> Any:
    """Copy an array from the GPU; return anything else as it is."""
    return cupy().asnumpy(_as_cupy(values)) if is_on_device(values) else values


def _as_cupy(X: Any) -> Any:
    """Return an array of CuPy; what is on the GPU is not copied."""
    return cupy().asarray(X.detach() if hasattr(X, "detach") else X)


@contextmanager
def memory_errors() -> Iterator[None]:
    """Raise an error that says what to do where the memory of the GPU is too small."""
    try:
        yield
    except Exception as error:
        if type(error).__name__ != "OutOfMemoryError":
            raise
        raise InputError(
            f"The memory of the GPU is too small ({error}); use device='cpu', fewer "
            "samples or features, or float32."
        ) from error


@dataclass(frozen=True, eq=False)
class DeviceReader:
    """Reads columns of an array in the memory of a GPU.

    Parameters
    ----------
    device_array : cupy.ndarray of shape (n, p)
        Its values.
    """

    device_array: Any

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        n, p = self.device_array.shape
        return int(n), int(p)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the numbers that are read."""
        return np.dtype("f4" if self.device_array.dtype == np.float32 else "f8")

    def read(self, columns: IntArray) -> NDArray[Any]:
        """Copy some columns to the memory of the processor."""
        if np.array_equal(columns, np.arange(self.shape[1])):
            part = self.device_array
        else:
            lo, hi = int(columns.min(initial=0)), int(columns.max(initial=-1)) + 1
            part = self.device_array[:, lo:hi]
            if not np.array_equal(columns, np.arange(lo, hi)):
                part = part[:, columns - lo]
        return np.asarray(to_host(part), dtype=self.dtype)


def device_matrix(X: Any) -> LazyMatrix:
    """Return an array on the GPU as a matrix that selectors read."""
    array = _as_cupy(X)
    if array.device.id != 0:
        raise InputError(
            f"X is on GPU {array.device.id}, and the first one is used; start Python "
            f"with CUDA_VISIBLE_DEVICES={array.device.id}, or copy X to the first."
        )
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise InputError(
            f"X is an array of {array.ndim} dimensions and type {array.dtype} on the "
            "GPU; pass numbers with rows and columns."
        )
    return LazyMatrix(DeviceReader(array), memory_limit=None)


def device_values(values: Any) -> Any:
    """Return the features of a table that are on the GPU; None if they are not."""
    return values.device_array if is_lazy(values) and values.is_on_device else None
