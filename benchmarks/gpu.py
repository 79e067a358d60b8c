"""``python -m benchmarks.gpu``: time and memory of selectors on a GPU.

Features are made on the GPU. A method is called once on a part of the samples, which
compiles everything, and then timed; *memory* is the most that it takes on the GPU
beyond the features. Where a processor can do the same in reasonable time, it does, and
the orders of both are compared. The page ``benchmarks/GPU.md`` is written from the
figures of the run; rows of methods that were not measured, because of ``--only`` or
because another package is not installed, stay with their date. ``--share 0.1`` makes
all tables smaller.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import machine
from veridical._core.devices import cupy
from veridical.selection import (
    HSIC,
    MRMR,
    AnovaF,
    DifferentialPrioritization,
    ReliefF,
)

PAGE = Path(__file__).resolve().parent / "GPU.md"
#: Samples of the call that compiles everything.
FEW = 600
#: Said instead of a time where another package cannot be measured.
NOT_INSTALLED = "not installed"
INTRODUCTION = """\
# On a GPU

Written by `python -m benchmarks.gpu` (`make bench-gpu`); do not edit.

Features are numbers in single precision in the memory of the GPU, of two classes unless
said otherwise. *Time* is that of one call, everything compiled. *Memory* is the most
that the call takes on the GPU beyond the features. *Same order* says whether the
processors of the same machine rank the features alike, and *times* how much longer they
take; the same for another package on the same GPU, where it is installed.

"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu")
    parser.add_argument("--share", type=float, default=1.0, help="of the samples")
    parser.add_argument("--only", default="", help="part of the names of cases")
    parser.add_argument("--page", type=Path, default=PAGE, help="where to write")
    options = parser.parse_args(arguments)
    before = options.page.read_text("utf-8") if options.page.exists() else ""
    rows = read_rows(before)
    for name, measure in CASES.items():
        if options.only in name:
            found = measure(options.share)
            print(name, *found, sep=" | ", flush=True)
            if found[0] != NOT_INSTALLED:
                rows[name] = (time.strftime("%Y-%m-%d"), *found)
            cupy().get_default_memory_pool().free_all_blocks()
    device = cupy().cuda.runtime.getDeviceProperties(0)
    said = f"{device['name'].decode()}, {device['totalGlobalMem'] / 2**30:.0f} GiB"
    said += f"; {machine.cores()} cores, {machine.processor()}"
    options.page.write_text(page(rows, said), encoding="utf-8")
    return 0


def read_rows(text: str) -> dict[str, tuple[str, ...]]:
    """Return the rows of a page that was written before, by the names of the cases."""
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    return {name: tuple(rest) for name, *rest in cells}


def page(rows: Mapping[str, tuple[str, ...]], device: str) -> str:
    """Return the page, with the cases in their order."""
    head = ["", "date", "time", "memory", "same order", "times"]
    lines = [head, ["---"] * len(head)]
    lines += [[name, *rows[name]] for name in CASES if name in rows]
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return f"{INTRODUCTION}Measured on {device}.\n\n{table}"


def make_table(n: int, p: int, seed: int = 0) -> tuple[Any, Any]:
    """Make noise on the GPU in which ten features differ between the classes."""
    xp = cupy()
    random = xp.random.RandomState(seed)
    X = xp.empty((n, p), dtype=np.float32)
    y = (random.random_sample(n) < 0.5).astype(np.int32)
    step = max(1, (1 << 28) // p)
    for lo in range(0, n, step):
        part = X[lo : lo + step]
        part[:] = random.standard_normal(part.shape, dtype=np.float32)
    X[:, :10] += 0.1 * y[:, None] * xp.arange(1, 11, dtype=np.float32)
    return X, y


@contextmanager
def most_memory() -> Iterator[Callable[[], int]]:
    """Measure the largest amount of memory that is taken on the GPU."""
    xp = cupy()
    pool = xp.get_default_memory_pool()
    pool.free_all_blocks()
    most = [pool.used_bytes()]

    class Watch(xp.cuda.MemoryHook):  # type: ignore[misc]
        name = "most"

        def malloc_postprocess(self, **_: Any) -> None:
            most.append(max(most.pop(), pool.used_bytes()))

    before = pool.used_bytes()
    with Watch():
        yield lambda: most[0] - before


def timed(call: Callable[[], Any]) -> tuple[Any, float, int]:
    """Return the result of a call, its seconds and its bytes."""
    xp = cupy()
    with most_memory() as memory:
        xp.cuda.Device().synchronize()
        begin = time.perf_counter()
        result = call()
        xp.cuda.Device().synchronize()
        seconds = time.perf_counter() - begin
        return result, seconds, memory()


def against_host(
    order: Callable[[Any, Any], Any], X: Any, y: Any, m: int
) -> tuple[str, str]:
    """Let the processor rank m samples too: are orders equal, how much slower is it?"""
    if not m:
        return "", ""
    own, gpu_seconds, _ = timed(lambda: order(X[:m], y[:m]))
    host, labels = cupy().asnumpy(X[:m]), cupy().asnumpy(y[:m])
    order(host[:FEW], labels[:FEW])
    begin = time.perf_counter()
    expected = order(host, labels)
    ratio = f"{(time.perf_counter() - begin) / gpu_seconds:.0f} ×"
    agrees = "yes" if all(map(np.array_equal, own, expected)) else "NO"
    return agrees + (f" ({m:,} samples)" if m < len(X) else ""), ratio


def relief(n: int, p: int, target: str = "classes", folds: int = 0, compare: int = 0):
    """Return a measurement of ReliefF; `compare` samples are given to the processor."""

    def order(X: Any, y: Any, **more: Any) -> Any:
        if not folds:
            return [ReliefF(n_jobs=-1, **more).fit(X, y).order_]
        rows = np.arange(len(X))
        sets = [rows[rows % folds != k] for k in range(folds)]
        return ReliefF(n_jobs=-1, **more).rank_many(X, y, sets)

    def measure(share: float) -> tuple[str, ...]:
        X, y = make_table(max(FEW, int(n * share)), p)
        if target == "numbers":
            y = X[:, :10] @ cupy().arange(10, dtype=np.float32)
        order(X[:FEW], y[:FEW])
        _, seconds, memory = timed(lambda: order(X, y))
        agrees, ratio = against_host(order, X, y, min(compare, len(X)))
        return f"{seconds:.3g} s", f"{memory / 1e9:.2f} GB", agrees, ratio

    return measure


def make_codes(n: int, p: int) -> tuple[Any, Any]:
    """Make codes of five values on the GPU, as bytes; ten features tell the classes."""
    xp = cupy()
    random = xp.random.RandomState(0)
    y = (random.random_sample(n) < 0.5).astype(np.int32)
    X = xp.empty((n, p), dtype=np.uint8)
    step = max(1, (1 << 30) // p)
    for lo in range(0, n, step):
        part = X[lo : lo + step]
        part[:] = random.randint(0, 5, part.shape, dtype=np.uint8)
    X[:, :10] += (y[:, None] * (random.random_sample((n, 10)) < 0.2)).astype(np.uint8)
    return X, y


def peer(n: int, p: int) -> Callable[[float], tuple[str, ...]]:
    """Return a measurement of fast-select's ReliefF on the GPU, beside ours."""

    def measure(share: float) -> tuple[str, ...]:
        # numba-cuda asks for a name that numpy 2.5 no longer has.
        vars(np).setdefault("row_stack", np.vstack)
        try:
            from fast_select import ReliefF as Peer
        except ImportError:
            return NOT_INSTALLED, "", "", ""
        X, y = make_table(max(FEW, int(n * share)), p)
        host, labels = cupy().asnumpy(X), cupy().asnumpy(y)
        ours = ReliefF(n_neighbors=10, device="cuda")
        theirs = Peer(n_features_to_select=10, n_neighbors=10, backend="gpu")
        seconds = []
        for one in (ours, theirs):
            one.fit(host[:FEW], labels[:FEW])
            seconds.append(timed(lambda one=one: one.fit(host, labels))[1])
        found = set(np.argsort(-theirs.feature_importances_)[:5].tolist())
        agrees = "yes" if found == set(ours.order_[:5].tolist()) else "NO"
        ratio = f"fast-select {seconds[1] / seconds[0]:.0f} ×"
        return f"{seconds[0]:.3g} s", "", f"{agrees} (first five)", ratio

    return measure


def sums(
    selector: Any,
    n: int,
    p: int,
    *,
    make: Callable[[int, int], tuple[Any, Any]] = make_table,
    compare: int = 0,
) -> Callable[[float], tuple[str, ...]]:
    """Return a measurement of a selector; the processor is given `compare` samples."""

    def measure(share: float) -> tuple[str, ...]:
        X, y = make(max(FEW, int(n * share)), p)
        selector.fit(X[:FEW], y[:FEW])
        _, seconds, memory = timed(lambda: selector.fit(X, y))
        agrees, ratio = against_host(
            lambda X, y: [selector.set_params(n_jobs=-1).fit(X, y).order_],
            X, y, min(compare, len(X)),
        )  # fmt: skip
        return f"{seconds:.3g} s", f"{memory / 1e9:.2f} GB", agrees, ratio

    return measure


CASES = {
    "`ReliefF`, 50,000 × 100 from the host": peer(50_000, 100),
    "`ReliefF`, 20,000 × 100": relief(20_000, 100, compare=20_000),
    "`ReliefF`, 100,000 × 100": relief(100_000, 100, compare=30_000),
    "`ReliefF`, 100,000 × 100, ten folds": relief(
        100_000, 100, folds=10, compare=10_000
    ),
    "`ReliefF` for numbers, 100,000 × 100": relief(
        100_000, 100, "numbers", compare=10_000
    ),
    "`ReliefF`, 1,000,000 × 100": relief(1_000_000, 100),
    "`ReliefF`, 1,000 × 50,000": relief(1_000, 50_000, compare=1_000),
    "`ReliefF`, 1,000 × 50,000, ten folds": relief(
        1_000, 50_000, folds=10, compare=1_000
    ),
    "`ReliefF`, 30,000 × 200,000": relief(30_000, 200_000),
    "`ReliefF`, 30,000 × 200,000, ten folds": relief(30_000, 200_000, folds=10),
    "`AnovaF`, 1,000,000 × 1,000": sums(AnovaF(), 1_000_000, 1_000, compare=200_000),
    "`MRMR`, 1,000,000 × 1,000": sums(MRMR(), 1_000_000, 1_000, compare=200_000),
    "`DifferentialPrioritization`, 1,000,000 × 1,000": sums(
        DifferentialPrioritization(), 1_000_000, 1_000, compare=200_000
    ),
    "`MRMR`, 200 of 16,000 features in bytes, 4,000,000 samples": sums(
        MRMR(200, n_searched=200), 4_000_000, 16_000, make=make_codes, compare=20_000
    ),
    "`HSIC`, Gaussian kernel, 2,000 × 20,000": sums(
        HSIC(kernel="rbf"), 2_000, 20_000, compare=600
    ),
}


if __name__ == "__main__":
    sys.exit(main())
