"""Kernels for tests of what works on a GPU: those of the GPU, or numpy's."""

from __future__ import annotations

import pytest
from tests.oracles.device_columns import NumpyColumns
from tests.oracles.device_neighbours import NumpyNeighbours
from tests.oracles.device_pairs import NumpyPairs

from veridical import InputError
from veridical._core import devices
from veridical._core.devices import DeviceReader
from veridical._core.lazy import LazyMatrix
from veridical.criteria.hsic_on_device import OnDevice
from veridical.criteria.moments_on_device import DeviceColumns
from veridical.criteria.relief_on_device import DeviceRelief
from veridical.selection import _base


def has_gpu():
    """Return whether there is a GPU with CuPy."""
    try:
        devices.cupy()
    except InputError:
        return False
    return True


NO_GPU = pytest.mark.skipif(not has_gpu(), reason="there is no GPU with CuPy")
KERNELS = ["numpy", pytest.param("gpu", marks=NO_GPU)]


def choose_kernels(name, monkeypatch):
    """Let the kernels be those of the GPU ("gpu"), or their stand-ins ("numpy")."""
    if name == "numpy":
        monkeypatch.setattr(DeviceRelief, "make_kernels", staticmethod(NumpyNeighbours))
        monkeypatch.setattr(DeviceRelief, "make_columns", staticmethod(NumpyColumns))
        monkeypatch.setattr(DeviceColumns, "make_kernels", staticmethod(NumpyColumns))
        monkeypatch.setattr(OnDevice, "make_kernels", staticmethod(NumpyPairs))
        monkeypatch.setattr(_base, "device_matrix", as_device_matrix)
    return name


def as_device_matrix(X):
    """Pretend that an array is on the GPU."""
    return LazyMatrix(DeviceReader(X), memory_limit=None)
