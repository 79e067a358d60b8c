"""Launch the kernels that find neighbours on a GPU; the notation is in the source.

`NeighbourKernels` has one method for each of them. Arrays are those of `xp`, CuPy. The
tests have the same methods in numpy, as an oracle for the kernels and in their place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from veridical._core.devices import cupy
from veridical.kernels.cuda import BLOCKS, THREADS, as_values, launcher

#: Samples of a tile of distances: rows and columns of D are multiples of it.
TILE = 128
#: Features that are read together: rows of Z are a multiple of it.
DEPTH = 16
#: Largest number of samples in a list of candidates, and of those wanted.
MAX_CAPACITY, MAX_WANTED = 256, 128
#: Samples that a block decides.
_WARPS = 4
#: Bytes of shared memory for this, 24 for each candidate.
_SHARED_BYTES = 24 * MAX_CAPACITY * _WARPS


class DeviceMixedFeatures(NamedTuple):
    """Categorical and incomplete features, and their scales; see `value_difference`."""

    columns: Any
    low: Any
    inverse: Any
    n_vals: Any


class NeighbourLists(NamedTuple):
    """Samples that may be neighbours; `n` of each list, −1 where it is too short."""

    index: Any
    distance: Any
    n: Any
    cutoff: Any


class Near(NamedTuple):
    """Neighbours of asked samples by class, and their weights; `n` as above."""

    index: Any
    weight: Any
    n: Any


@dataclass(frozen=True)
class DeviceSamples:
    """Samples sorted by class: their rows of X, their classes, and where these end."""

    rows: Any
    classes: Any
    bounds: Any


@dataclass(frozen=True)
class DeviceSet:
    """A training set on the GPU: scales, multiplicities and sizes of its classes."""

    inverse: Any
    mixed: DeviceMixedFeatures
    counts: Any
    queries: Any
    class_size: Any
    n: float


class NeighbourKernels:
    """The kernels for some features.

    Parameters
    ----------
    X : array of shape (n, p)
        The features; they are copied to the GPU, where they are not there.
    """

    def __init__(self, X: Any) -> None:
        self.xp = cupy()
        self.X = as_values(X)
        self._launch = launcher("neighbours", self.X.dtype)

    def free_bytes(self) -> int:
        """Return the free memory of the GPU, with what CuPy keeps for later arrays."""
        kept = self.xp.get_default_memory_pool().free_bytes()
        return int(self.xp.cuda.runtime.memGetInfo()[0] + kept)

    def scale(
        self, samples: DeviceSamples, columns: Any, centre: Any, factor: Any
    ) -> Any:
        """Return Z for some features of all samples."""
        n, q, p = len(samples.rows), len(columns), self.X.shape[1]
        width, depth = -(-n // TILE) * TILE, -(-q // DEPTH) * DEPTH
        Z = self.xp.empty((depth, width), dtype=np.float32)
        self._launch(
            "scale_samples", (width // 32, -(-depth // 32)), (32, 8), self.X,
            np.int64(p), samples.rows, np.int32(n), columns, np.int32(q), centre,
            factor, np.int32(depth), np.int32(width), Z,
        )  # fmt: skip
        return Z

    def add_distances(
        self, own: Any, Z: Any, D: Any, *, symmetric: bool, accumulate: bool
    ) -> None:
        """Add the distances of the samples of `own` to those of Z, or set D to them."""
        grid = Z.shape[1] // TILE, own.shape[1] // TILE
        self._launch(
            "add_distances", grid, (256,), own, np.int64(own.shape[1]), Z,
            np.int64(Z.shape[1]), np.int32(len(Z)), np.int32(symmetric),
            np.int32(accumulate), D,
        )  # fmt: skip

    def mirror(self, D: Any) -> None:
        """Copy what is above the diagonal of D to below."""
        self._launch(
            "mirror", (D.shape[1] // 32, len(D) // 32), (32, 8), D, np.int64(len(D))
        )

    def add_mixed(
        self, samples: DeviceSamples, asked: Any, mixed: DeviceMixedFeatures, D: Any
    ) -> None:
        """Add the distances over categorical and incomplete features to D."""
        n, m = len(samples.rows), len(asked)
        self._launch(
            "add_mixed", (m, -(-n // THREADS)), (THREADS,), self.X,
            np.int64(self.X.shape[1]), samples.rows, np.int32(n), asked,
            np.int32(m), *_arguments(mixed), np.int64(D.shape[1]), D,
        )  # fmt: skip

    def list_nearest(
        self, samples: DeviceSamples, D: Any, m: int, wanted: int, capacity: int
    ) -> NeighbourLists:
        """List about `wanted` nearest samples of each class for the first m of D."""
        n_classes = len(samples.bounds) - 1
        xp, slots = self.xp, (m, n_classes)
        found = NeighbourLists(
            xp.zeros((*slots, capacity), dtype=np.int32),
            xp.zeros((*slots, capacity), dtype=np.float32),
            xp.empty(slots, dtype=np.int32),
            xp.empty(slots, dtype=np.float32),
        )
        self._launch(
            "list_nearest", slots, (256,), D, np.int64(D.shape[1]), samples.bounds,
            np.int32(wanted), np.int32(capacity), *found,
        )  # fmt: skip
        return found

    def decide(
        self,
        samples: DeviceSamples,
        one: DeviceSet,
        asked: Any,
        listed: NeighbourLists,
        k: int,
        shares: Any,
        error: float,
        relative: float,
        wider: Any,
    ) -> Near:
        """Decide which candidates are neighbours in a training set."""
        m, n_classes, capacity = listed.index.shape
        xp = self.xp
        near = Near(
            xp.zeros(listed.index.shape, dtype=np.int32),
            xp.zeros(listed.index.shape),
            xp.empty((m, n_classes), dtype=np.int32),
        )
        self._launch(
            "decide", (-(-m * n_classes // _WARPS),), (32, _WARPS), self.X,
            np.int64(self.X.shape[1]), samples.rows, one.inverse,
            *_arguments(one.mixed), asked, np.int32(m), samples.classes,
            np.int32(n_classes), np.int32(capacity), *listed, one.counts, one.queries,
            one.class_size, np.float64(one.n), np.int32(k), shares,
            np.int32(len(shares) - 1), np.float64(error), np.float64(relative),
            wider, *near, shared_mem=_SHARED_BYTES,
        )  # fmt: skip
        return near

    def sum_numeric(self, samples: DeviceSamples, asked: Any, near: Near) -> Any:
        """Sum weight × |difference| of every feature over the neighbours."""
        m, n_classes, capacity = near.index.shape
        p = self.X.shape[1]
        grid = -(-p // THREADS), self._parts(p, m)
        total = self.xp.empty((grid[1], p))
        self._launch(
            "sum_numeric", grid, (THREADS,), self.X, np.int64(p), samples.rows,
            asked, np.int32(m), np.int32(n_classes), np.int32(capacity), *near, total,
        )  # fmt: skip
        return total.sum(axis=0)

    def sum_mixed(
        self, samples: DeviceSamples, asked: Any, near: Near, mixed: DeviceMixedFeatures
    ) -> Any:
        """Sum weight × difference of categorical and incomplete features."""
        m, n_classes, capacity = near.index.shape
        p, size = self.X.shape[1], len(mixed.columns)
        grid = -(-size // THREADS), self._parts(size, m)
        total = self.xp.empty((grid[1], size))
        self._launch(
            "sum_mixed", grid, (THREADS,), self.X, np.int64(p), samples.rows,
            *_arguments(mixed), asked, np.int32(m), np.int32(n_classes),
            np.int32(capacity), *near, total,
        )  # fmt: skip
        return total.sum(axis=0)

    def _parts(self, n_features: int, m: int) -> int:
        """Return into how many parts asked samples are divided."""
        return max(1, min(BLOCKS // -(-n_features // THREADS), m, 65535))


def _arguments(mixed: DeviceMixedFeatures) -> tuple[Any, ...]:
    """Return the arguments of kernels that stand for these features."""
    return (mixed.columns, np.int32(len(mixed.columns)), *mixed[1:])
