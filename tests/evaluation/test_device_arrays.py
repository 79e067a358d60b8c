"""Verbs take arrays on a GPU, and say what they say of arrays in memory."""

import numpy as np
import pytest
from tests.oracles.device import KERNELS, as_device_matrix, choose_kernels

from veridical import compare, estimate, select
from veridical._core import devices
from veridical.criteria.relief_on_device import DeviceRelief
from veridical.selection import MRMR, AnovaF, ReliefF


@pytest.fixture(params=KERNELS)
def kernels(request, monkeypatch):
    """Let the kernels be those of the GPU, or their stand-ins."""
    return choose_kernels(request.param, monkeypatch)


@pytest.fixture
def arrays(kernels):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    X = (rng.standard_normal((80, 12)) + y[:, None]).astype(np.float32)
    there = as_device_matrix(X) if kernels == "numpy" else devices.cupy().asarray(X)
    return X, there, y


OPTIONS = {"cv": 3, "random_state": 0}


@pytest.mark.parametrize("selector", [AnovaF(3), MRMR(3), ReliefF(3)], ids=repr)
def test_select(arrays, selector):
    X, there, y = arrays
    here = select(selector, X, y, estimator="nb", **OPTIONS)
    found = select(selector, there, y, estimator="nb", **OPTIONS)
    assert [one.index for one in found.features] == [one.index for one in here.features]
    assert found.score == here.score


def test_compare_and_estimate(arrays, monkeypatch):
    X, there, y = arrays
    here = compare([AnovaF(3), ReliefF(3)], X, y, estimator="nb", **OPTIONS)
    by_gpu = [AnovaF(3, device="cuda"), ReliefF(3, device="cuda")]
    used = []
    weights = DeviceRelief.weights
    monkeypatch.setattr(
        DeviceRelief, "weights", lambda self: used.append(1) or weights(self)
    )
    for selectors, data, n_used in (
        ([AnovaF(3), ReliefF(3)], there, 0),
        (by_gpu, X, 1),
    ):
        found = compare(selectors, data, y, estimator="nb", **OPTIONS)
        assert found.to_frame().equals(here.to_frame())
        assert bool(used) == bool(n_used)
    assert (
        estimate("nb", there, y, **OPTIONS).value
        == estimate("nb", X, y, **OPTIONS).value
    )
