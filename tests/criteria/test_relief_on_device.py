"""ReliefF on a GPU gives what the processor gives.

Without a GPU its kernels are replaced by numpy's, so that all else is tested.
"""

import numpy as np
import pytest
from tests.oracles.device import KERNELS, as_device_matrix, choose_kernels, has_gpu

from veridical import InputError
from veridical._core import devices
from veridical._core.devices import DeviceReader
from veridical._core.lazy import LazyMatrix
from veridical.criteria import relief_on_device
from veridical.criteria.relief_on_device import DeviceRelief
from veridical.selection import MultiSURF, ReliefF


@pytest.fixture(params=KERNELS)
def kernels(request, monkeypatch):
    """Let the kernels be those of the GPU, or their stand-ins."""
    return choose_kernels(request.param, monkeypatch)


def table(kind, seed=0, n=150, p=9):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((n, p)), rng.integers(0, 2, n)
    X[:, 1] += y
    if kind == "single":
        X = X.astype(np.float32)
    elif kind == "three":
        y = rng.choice(3, n, p=[0.7, 0.25, 0.05])
        X[:, 2] += y
    elif kind == "integers":
        X = rng.integers(0, 3, (n, p)).astype(float)
        X[:, 0] += y
    elif kind == "outliers":
        X[rng.integers(0, n, p), np.arange(p)] *= 1e6
    elif kind == "missing":
        X[rng.random((n, p)) < 0.02] = np.nan
        X[:, 0] = rng.random(n)
    elif kind == "constant":
        X[:, 3] = 2.5
        X[:20, 4], X[20:, 4] = 1.0, 0.0
    elif kind == "codes":
        X[:, 5:8] = rng.integers(0, 4, (n, 3))
    elif kind == "far":
        X += 1e7
    elif kind == "wide":
        X = rng.standard_normal((n, 1100))
        X[:, 7] += y
    return X, y


KINDS = (
    "normal", "single", "three", "integers", "outliers", "missing", "constant",
    "codes", "far", "wide",
)  # fmt: skip


def options(kind):
    return {"categorical_features": [5, 6, 7]} if kind == "codes" else {}


def same(one, other):
    np.testing.assert_allclose(one.scores_, other.scores_, rtol=1e-9, atol=1e-11)
    assert one.order_.tolist() == other.order_.tolist()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [1, 10])
def test_weights_of_all_samples(kernels, kind, k):
    X, y = table(kind)
    more = options(kind)
    here = ReliefF(n_neighbors=k, **more).fit(X, y)
    there = ReliefF(n_neighbors=k, device="cuda", **more).fit(X, y)
    same(there, here)


def sets_of(n, seed=0):
    rng = np.random.default_rng(seed)
    folds = np.array_split(rng.permutation(n), 10)
    train = [np.setdiff1d(np.arange(n), fold) for fold in folds]
    halves = [rng.permutation(n)[: n // 2] for _ in range(3)]
    return [*train, *halves, rng.integers(0, n, n), rng.permutation(n)[:25]]


@pytest.mark.parametrize("kind", KINDS)
def test_orders_of_many_training_sets(kernels, kind):
    X, y = table(kind)
    more, sets = options(kind), sets_of(len(y))
    here = ReliefF(n_neighbors=4, **more).rank_many(X, y, sets)
    there = ReliefF(n_neighbors=4, device="cuda", **more).rank_many(X, y, sets)
    for one, other in zip(there, here, strict=True):
        assert one.tolist() == other.tolist()


@pytest.mark.parametrize("kind", ["normal", "integers", "missing", "wide"])
@pytest.mark.parametrize("decay", [None, 5.0])
def test_numbers_as_target(kernels, kind, decay):
    X, _ = table(kind)
    target = np.nan_to_num(X[:, 0]) + np.random.default_rng(1).standard_normal(len(X))
    here = ReliefF(n_neighbors=20, decay=decay).fit(X, target)
    there = ReliefF(n_neighbors=20, decay=decay, device="cuda").fit(X, target)
    same(there, here)
    sets = sets_of(len(X))[8:]
    one = ReliefF(n_neighbors=5, decay=decay).rank_many(X, target, sets)
    other = ReliefF(n_neighbors=5, decay=decay, device="cuda")
    for a, b in zip(other.rank_many(X, target, sets), one, strict=True):
        assert a.tolist() == b.tolist()


def test_survival_times(kernels):
    X, _ = table("normal")
    rng = np.random.default_rng(2)
    y = np.empty(len(X), dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = rng.random(len(X)) < 0.6, rng.exponential(np.exp(X[:, 1]))
    same(ReliefF(device="cuda").fit(X, y), ReliefF().fit(X, y))


def test_weights_and_drawn_samples(kernels):
    X, y = table("three")
    w = np.random.default_rng(3).integers(0, 4, len(y))
    same(ReliefF(device="cuda").fit(X, y, w), ReliefF().fit(X, y, w))
    drawn = {"n_samples": 20, "random_state": 0}
    same(ReliefF(device="cuda", **drawn).fit(X, y), ReliefF(**drawn).fit(X, y))


def test_parts_of_the_samples_give_what_all_give(kernels, monkeypatch):
    """Distances of few samples at a time, where all do not fit into memory."""
    X, y = table("single", n=300)
    whole = ReliefF(device="cuda").fit(X, y)
    monkeypatch.setattr(relief_on_device, "MAX_CHUNK_BYTES", 4 * 384 * 128)
    same(ReliefF(device="cuda").fit(X, y), whole)


def test_lists_are_used_and_samples_left_open_are_decided(kernels, monkeypatch):
    """Short lists leave samples open, which the processor decides."""
    n_open = []
    found = DeviceRelief._add_on_host

    def count(self, s, asked):
        n_open.append(asked.size)
        return found(self, s, asked)

    monkeypatch.setattr(DeviceRelief, "_add_on_host", count)
    X, y = table("normal", n=700)
    here = ReliefF(n_neighbors=3).fit(X, y)
    same(ReliefF(n_neighbors=3, device="cuda").fit(X, y), here)
    assert not n_open
    X = np.random.default_rng(0).integers(0, 2, (700, 2)).astype(float)
    same(
        ReliefF(n_neighbors=3, device="cuda").fit(X, y),
        ReliefF(n_neighbors=3).fit(X, y),
    )
    assert sum(n_open) > 100


def test_many_neighbours_and_extreme_ranges_are_left_to_the_processor(kernels):
    X, y = table("normal", n=400)
    same(
        ReliefF(n_neighbors=150, device="cuda").fit(X, y),
        ReliefF(n_neighbors=150).fit(X, y),
    )
    X[:, 0] *= 1e-300
    same(ReliefF(device="cuda").fit(X, y), ReliefF().fit(X, y))


def test_a_matrix_on_the_device_is_used_there(kernels):
    X, y = table("single")
    on_device = X
    if kernels == "gpu":
        on_device = devices.cupy().asarray(X)
    matrix = LazyMatrix(DeviceReader(on_device), memory_limit=None)
    here = ReliefF().fit(X, y)
    same(ReliefF().fit(matrix, y), here)
    assert (
        ReliefF(device="cpu").fit(matrix, y).scores_.tolist() == here.scores_.tolist()
    )
    X[3, 4] = np.inf
    if kernels == "gpu":
        on_device[3, 4] = np.inf
    with pytest.raises(InputError, match=r"Column 4 .* infinite value \(row 3\)"):
        ReliefF().fit(matrix, y)


def test_codes_of_an_array_on_a_device_are_refused_with_a_cure(kernels):
    X, y = table("codes")
    with pytest.raises(InputError, match="pass the array in memory"):
        ReliefF(categorical_features=[5]).fit(as_device_matrix(X), y)


def test_memory_that_is_too_small_is_said(monkeypatch):
    choose_kernels("numpy", monkeypatch)

    class OutOfMemoryError(Exception):
        """As CuPy's."""

    def fail(self):
        raise OutOfMemoryError("no room for 60 GB")

    monkeypatch.setattr(DeviceRelief, "weights", fail)
    X, y = table("normal")
    with pytest.raises(InputError, match=r"too small \(no room for 60 GB\); use"):
        ReliefF(device="cuda").fit(X, y)


@pytest.mark.skipif(not has_gpu(), reason="there is no GPU with CuPy")
def test_many_samples_with_codes():
    """More samples than a grid of blocks has rows."""
    rng = np.random.default_rng(0)
    n = 70_000
    X, y = rng.random((n, 3)).astype(np.float32), rng.integers(0, 2, n)
    X[:, 2] = rng.integers(0, 4, n)
    more = {"categorical_features": [2], "n_samples": 300, "random_state": 0}
    same(ReliefF(device="cuda", **more).fit(X, y), ReliefF(**more).fit(X, y))
    whole = ReliefF(device="cuda", categorical_features=[2]).fit(X, y)
    assert np.isfinite(whole.scores_).all()


def test_columns_of_a_matrix_on_the_device():
    X, _ = table("normal")
    reader = DeviceReader(X)
    for columns in ([0, 1, 2], [4, 2, 2, 8], [], list(range(9))):
        places = np.array(columns, dtype=np.intp)
        np.testing.assert_array_equal(reader.read(places), X[:, places])


def test_what_is_wrong_is_said(monkeypatch):
    X, y = table("normal")
    with pytest.raises(InputError, match="device='gpu' is not known; use 'cuda'"):
        ReliefF(device="gpu").fit(X, y)
    monkeypatch.setitem(__import__("sys").modules, "cupy", None)
    devices.cupy.cache_clear()
    with pytest.raises(InputError, match="needs CuPy, which cannot be imported"):
        ReliefF(device="cuda").fit(X, y)
    devices.cupy.cache_clear()


@pytest.mark.skipif(not has_gpu(), reason="there is no GPU with CuPy")
@pytest.mark.parametrize("package", ["cupy", "torch"])
@pytest.mark.parametrize("selector", [ReliefF(), MultiSURF()])
def test_arrays_on_a_gpu_are_accepted(package, selector):
    X, y = table("single")
    module = pytest.importorskip(package)
    on_gpu = module.asarray(X)
    target = module.asarray(y)
    if package == "torch":
        on_gpu, target = on_gpu.cuda().requires_grad_(), target.cuda()
    here = type(selector)().fit(X, y)
    same(selector.fit(on_gpu, target), here)
