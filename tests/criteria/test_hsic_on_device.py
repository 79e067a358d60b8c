"""HSIC on a GPU gives what the processor gives."""

import numpy as np
import pytest
from tests.oracles.device import KERNELS, as_device_matrix, choose_kernels

from veridical import InputError
from veridical._core import devices
from veridical.criteria import hsic_on_device
from veridical.criteria.hsic_on_device import OnDevice
from veridical.selection import HSIC

SELECTORS = [HSIC(), HSIC(kernel="rbf"), HSIC(kernel="rbf", search="backward")]


@pytest.fixture(params=KERNELS)
def kernels(request, monkeypatch):
    """Let the kernels be those of the GPU, or their stand-ins."""
    return choose_kernels(request.param, monkeypatch)


def table(target="classes", n=150, p=14):
    rng = np.random.default_rng(0)
    y = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    X = rng.standard_normal((n, p)) + y[:, None] * rng.random(p)
    X[:, 3] = X[:, 2]  # a copy
    X[:, 5] = 2.5
    X[:, 6] += 1e6
    X[:, 7] *= 1e-8
    if target == "numbers":
        return X, np.sin(3 * X[:, 0]) + X[:, 1]
    return X, y


def on_device(selector):
    return type(selector)(**{**selector.get_params(), "device": "cuda"})


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("target", ["classes", "numbers"])
@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_same_orders(kernels, selector, target, dtype):
    X, y = table(target)
    X = X.astype(dtype)
    here, there = selector.fit(X, y), on_device(selector).fit(X, y)
    assert there.order_.tolist() == here.order_.tolist()
    if selector.search == "ranking":
        scale = np.abs(here.scores_).max()
        np.testing.assert_allclose(there.scores_, here.scores_, atol=1e-12 * scale)


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_same_orders_in_many_training_sets(kernels, selector):
    X, y = table(n=70)
    rng = np.random.default_rng(1)
    folds = np.array_split(rng.permutation(len(y)), 3)
    sets = [np.setdiff1d(np.arange(len(y)), fold) for fold in folds]
    sets.append(rng.integers(0, len(y), len(y)))  # samples occur several times
    both = on_device(selector).rank_many(X, y, sets), selector.rank_many(X, y, sets)
    for there, here in zip(*both, strict=True):
        assert there.tolist() == here.tolist()


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_weights_and_blocks_of_features(kernels, selector, monkeypatch):
    X, y = table(n=40)
    weight = np.random.default_rng(2).integers(0, 4, len(y))
    expected = selector.fit(X, y, weight).order_.tolist()
    monkeypatch.setattr(hsic_on_device, "BLOCK_BYTES", 8 * len(y) * 3)
    assert on_device(selector).fit(X, y, weight).order_.tolist() == expected


def test_the_kernel_is_used(monkeypatch):
    choose_kernels("numpy", monkeypatch)

    def refuse():
        raise RuntimeError("used")

    monkeypatch.setattr(OnDevice, "make_kernels", staticmethod(refuse))
    X, y = table(n=40)
    with pytest.raises(RuntimeError, match="used"):
        HSIC().fit(as_device_matrix(X), y)


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_refused_values_are_named(kernels, selector):
    X, y = table(n=40)
    for bad, words in ((np.nan, "is missing in row 7"), (np.inf, "infinite value")):
        X[7, 4] = bad
        there = X if kernels == "numpy" else devices.cupy().asarray(X)
        with pytest.raises(InputError, match=f"Column 4 of X .*{words}"):
            selector.fit(as_device_matrix(there), y)
