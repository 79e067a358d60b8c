"""Variances and correlations on a GPU give what the processor gives."""

import numpy as np
import pytest
from tests.oracles.device import KERNELS, as_device_matrix, choose_kernels, has_gpu

from veridical import InputError
from veridical._core import devices
from veridical.criteria.moments_on_device import DeviceColumns
from veridical.selection import (
    FCBF,
    HSIC,
    MRMR,
    SVMRFE,
    AnovaF,
    Correlation,
    DifferentialPrioritization,
    InformationGain,
    Variance,
)

SELECTORS = [
    AnovaF(),
    Correlation(),
    Variance(),
    MRMR(),
    MRMR(scheme="difference"),
    DifferentialPrioritization(),
    DifferentialPrioritization(relevance="one-vs-all"),
]


@pytest.fixture(params=KERNELS)
def kernels(request, monkeypatch):
    """Let the kernels be those of the GPU, or their stand-ins."""
    return choose_kernels(request.param, monkeypatch)


def table(kind, n=60, p=14):
    rng = np.random.default_rng(0)
    y = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    X = rng.standard_normal((n, p)) + y[:, None] * rng.random(p)
    X[:, 3] = X[:, 2]  # a copy
    if kind == "single":
        X = X.astype(np.float32)
    elif kind == "bytes":
        X = rng.integers(0, 5, (n, p)).astype(np.uint8) + (y[:, None] == 1)
        X = X.astype(np.uint8)
    elif kind == "far":
        X += 1e9
    elif kind == "outliers":
        X[5, ::2] *= 1e7
        X[0, 1::2] = 1e17
    elif kind == "integers":
        X = 10**15 + (100 * X).astype(np.int64)
    elif kind == "constant":
        X[:, 1], X[:, 6] = 3.25, y
    elif kind == "huge":
        X[:, 0] *= 1e200
        X[:, 4] *= 1e-200
    return X, y


KINDS = ["normal", "single", "bytes", "integers", "far", "outliers", "constant", "huge"]


def sets_of(n):
    rng = np.random.default_rng(1)
    folds = np.array_split(rng.permutation(n), 5)
    train = [np.setdiff1d(np.arange(n), fold) for fold in folds]
    return [*train, rng.permutation(n)[: n // 2], rng.integers(0, n, n)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_same_orders(kernels, selector, kind):
    X, y = table(kind)
    there = type(selector)(**{**selector.get_params(), "device": "cuda"})
    here = selector.fit(X, y)
    found = there.fit(X, y)
    np.testing.assert_allclose(found.scores_, here.scores_, rtol=1e-12)
    assert found.order_.tolist() == here.order_.tolist()
    sets = sets_of(len(y))
    both = there.rank_many(X, y, sets), selector.rank_many(X, y, sets)
    for one, other in zip(*both, strict=True):
        assert one.tolist() == other.tolist()


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_the_kernels_are_used(monkeypatch, selector):
    choose_kernels("numpy", monkeypatch)

    def refuse(X):
        raise RuntimeError("used")

    monkeypatch.setattr(DeviceColumns, "make_kernels", staticmethod(refuse))
    X, y = table("normal")
    with pytest.raises(RuntimeError, match="used"):
        selector.fit(as_device_matrix(X), y)


def test_bytes_that_begin_anywhere(kernels):
    """A view of bytes need not begin where four of them are read together."""
    X, y = table("bytes", p=16)
    if kernels == "gpu":
        there = devices.cupy().zeros(X.size + 1, dtype=np.uint8)[1:].reshape(X.shape)
        there[:] = devices.cupy().asarray(X)
    else:
        there = X
    found = MRMR().fit(as_device_matrix(there), y)
    assert found.order_.tolist() == MRMR().fit(X, y).order_.tolist()


@pytest.mark.parametrize("target", ["numbers", "survival"])
@pytest.mark.parametrize("selector", [MRMR(), DifferentialPrioritization()], ids=repr)
def test_other_targets(kernels, selector, target):
    X, _ = table("normal")
    y = X[:, 0] + np.random.default_rng(2).standard_normal(len(X))
    if target == "survival":
        times = np.empty(len(X), dtype=[("event", bool), ("time", float)])
        times["event"], times["time"] = y > -1, np.exp(y)
        y = times
    there = type(selector)(device="cuda").fit(X, y)
    assert there.order_.tolist() == selector.fit(X, y).order_.tolist()


def test_weights_groups_and_kept_features(kernels):
    X, y = table("normal")
    w = np.random.default_rng(3).random(len(y)) * 3
    more = {"keep": [7], "feature_groups": np.repeat(np.arange(7), 2)}
    for options in ({}, more):
        here = MRMR(4, **options).fit(X, y, w)
        there = MRMR(4, device="cuda", **options).fit(X, y, w)
        assert there.order_.tolist() == here.order_.tolist()


def test_refused_values_are_named(kernels):
    X, y = table("normal")
    for bad, words in ((np.nan, "is missing in row 7"), (np.inf, "infinite value")):
        X[7, 4] = bad
        there = X if kernels == "numpy" else devices.cupy().asarray(X)
        matrix = as_device_matrix(there)
        for selector in (AnovaF(), MRMR()):
            with pytest.raises(InputError, match=f"Column 4 of X .*{words}"):
                selector.fit(matrix, y)


@pytest.mark.parametrize(
    "selector", [InformationGain(), FCBF(), HSIC(), SVMRFE(), MRMR()], ids=repr
)
def test_a_matrix_on_a_device_is_read_by_all_selectors(kernels, selector):
    X, y = table("normal")
    there = X if kernels == "numpy" else devices.cupy().asarray(X)
    found = selector.fit(as_device_matrix(there), y).order_.tolist()
    assert found == type(selector)().fit(X, y).order_.tolist()


@pytest.mark.skipif(not has_gpu(), reason="there is no GPU with CuPy")
@pytest.mark.parametrize("package", ["cupy", "torch"])
@pytest.mark.parametrize("kind", ["single", "bytes"])
def test_arrays_on_a_gpu_are_accepted(package, kind):
    X, y = table(kind)
    module = pytest.importorskip(package)
    on_gpu, target = module.asarray(X), module.asarray(y)
    if package == "torch":
        on_gpu, target = on_gpu.cuda(), target.cuda()
    for selector in (AnovaF, MRMR, InformationGain):
        here = selector().fit(X, y).order_.tolist()
        assert selector().fit(on_gpu, target).order_.tolist() == here
