"""``python -m benchmarks.scale``: time, memory and growth on large tables.

Every method is measured in a process of its own, after a call on a small part that
compiles everything: processor time of one call, and the most memory that it takes
beyond the table; then once more with half the samples, and with half the features. The
page ``benchmarks/SCALE.md`` is written from the figures of the run. ``--share 0.1``
makes all tables smaller.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from benchmarks import machine

PAGE = Path(__file__).resolve().parent / "SCALE.md"
PEER = "f_classif"  # of scikit-learn
#: What is measured on all large tables.
FILTERS = (
    "AnovaF()",
    "Correlation()",
    "InformationGain()",
    "MRMR()",
    "DifferentialPrioritization()",
    "FCBF()",
    "HSIC()",
)
#: What compares all samples, or solves for one number of each.
PAIRWISE = (
    "ReliefF()",
    "ReliefF(n_samples=500)",
    "MultiSURF()",
    "SVMRFE()",
    "SVMRFE(step=0.1)",
    "DAGSVM()",
    "SVMPlus()",
    "C45()",
    "NaiveBayes()",
)


class Shape(NamedTuple):
    """A kind of table: how it is stored, its size, and the share of stored values."""

    form: str
    n: int
    p: int
    density: float = 1.0

    @property
    def words(self) -> str:
        """Describe it for a heading."""
        size = f"{self.n:,} samples × {self.p:,} features"
        stored = "" if self.density == 1 else f", {100 * self.density:g} % stored"
        return f"{FORMS[self.form]}: {size}{stored}"


FORMS = {
    "dense": "Dense, float32",
    "map": "Memory map, float32",
    "bytes": "Bytes",
    "csr": "Compressed rows, float32",
    "parquet": "Parquet, by blocks of an eighth",
    "tall": "Dense, methods that compare samples",
}
CASES = (
    (Shape("dense", 20_000, 1_000), (PEER, *FILTERS)),
    (Shape("map", 20_000, 1_000), (PEER, *FILTERS)),
    (Shape("bytes", 20_000, 1_000), FILTERS),
    (Shape("csr", 20_000, 20_000, 0.05), (PEER, *FILTERS)),
    (Shape("parquet", 20_000, 1_000), FILTERS),
    (Shape("tall", 8_000, 50), PAIRWISE),
)

INTRODUCTION = """\
# Large tables

Written by `python -m benchmarks.scale` (`make bench-scale`); do not edit.

*Time* is processor time of one call on one thread, everything compiled. *Memory* is the
most that the call takes beyond the table, as a multiple of the table; pages of files
that are mapped count, although the system takes them back when it needs them. *n* and
*p* are the exponents with which time grows when there are twice as many samples or
features: 1 is proportional. The three classes are independent of the features.
Each is one run: where other work shares the machine, exponents of calls that take less
than a second can be wrong by 1 or 2.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale")
    parser.add_argument("--share", type=float, default=1.0, help="of the samples")
    parser.add_argument("--forms", default=",".join(FORMS), help=", ".join(FORMS))
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one is not None:
        name, *shape = json.loads(options.one)
        print(json.dumps(measure_growth(name, Shape(*shape))))
        return 0
    wanted = options.forms.split(",")
    parts = [INTRODUCTION, f"Measured on {time.strftime('%Y-%m-%d')}: {_machine()}.\n"]
    for shape, names in CASES:
        if shape.form in wanted:
            own = shape._replace(n=max(200, int(shape.n * options.share)))
            parts.append(section(own, names))
            PAGE.write_text("\n".join(parts), encoding="utf-8")
    return 0


def _machine() -> str:
    about = machine.describe()
    return f"{about['Cores']} cores, {about['Processor']}"


def section(shape: Shape, names: Sequence[str]) -> str:
    """Measure one kind of table; return its part of the page."""
    lines = [f"## {shape.words}\n", "|  | time | memory | n | p |"]
    lines.append("| --- | --- | --- | --- | --- |")
    for name in names:
        whole, *halves = measure_apart(name, shape)
        cells = [f"{whole['seconds']:.2f} s", f"{whole['memory']:.2f} ×"]
        for half in halves:
            ratio = whole["seconds"] / max(half["seconds"], 1e-9)
            cells.append(f"{math.log2(ratio):.1f}")
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def measure_apart(name: str, shape: Shape) -> list[dict[str, float]]:
    """Measure one method on one table and its halves, in a process of its own."""
    given = json.dumps([name, *shape])
    command = [sys.executable, "-m", "benchmarks.scale", "--one", given]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: list[dict[str, float]] = json.loads(done.stdout.splitlines()[-1])
    return found


def measure_growth(name: str, shape: Shape) -> list[dict[str, float]]:
    """Measure the table, half of its samples, and half of its features."""
    halves = shape._replace(n=shape.n // 2), shape._replace(p=shape.p // 2)
    call = _peer if name == PEER else _fit(name)
    with tempfile.TemporaryDirectory() as folder:
        small = make(shape._replace(n=600, p=20), Path(folder))
        call(*small[:2])
        return [measure(call, each) for each in (shape, *halves)]


def measure(call: Callable[[Any, Any], Any], shape: Shape) -> dict[str, float]:
    """Return the processor time and the memory of one call."""
    with tempfile.TemporaryDirectory() as folder:
        X, y, size = make(shape, Path(folder))
        _reset_peak()
        before, start = _status("VmRSS"), time.process_time()
        call(X, y)
        seconds = time.process_time() - start
        return {"seconds": seconds, "memory": (_status("VmHWM") - before) / size}


def _fit(written: str) -> Callable[[Any, Any], Any]:
    from veridical import learning, selection

    method = eval(written, {**vars(learning), **vars(selection)})
    if written.startswith("SVMPlus"):
        return lambda X, y: method.fit(X, y, X[:, : X.shape[1] // 4] ** 2)
    return lambda X, y: method.fit(X, y)


def _peer(X: Any, y: Any) -> None:
    from sklearn.feature_selection import f_classif

    f_classif(X, y)


def make(shape: Shape, folder: Path) -> tuple[Any, Any, int]:
    """Draw a table; return its features, its classes, and its size in bytes."""
    rng = np.random.default_rng(0)
    folder.mkdir(exist_ok=True)
    n, p = shape.n, shape.p
    y = np.arange(n) % 3
    if shape.form == "csr":
        m = int(n * p * shape.density)
        ends = np.searchsorted(np.sort(rng.integers(0, n, m)), np.arange(n + 1))
        values = rng.gamma(2.0, size=m).astype(np.float32)
        columns = rng.integers(0, p, m).astype(np.int32)
        X = sparse.csr_array((values, columns, ends.astype(np.int32)), shape=(n, p))
        X.sum_duplicates()
        return X, y, X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    dtype, scale = (np.int8, 10) if shape.form == "bytes" else (np.float32, 1)
    X = np.lib.format.open_memmap(folder / "X.npy", "w+", dtype, (n, p))
    for first in range(0, n, 1000):
        X[first : first + 1000] = scale * rng.normal(size=X[first : first + 1000].shape)
    X.flush()
    size = X.nbytes
    if shape.form == "map":
        return np.load(folder / "X.npy", mmap_mode="r"), y, size
    if shape.form == "parquet":
        import pandas as pd

        from veridical.datasets import read

        frame = pd.DataFrame(np.asarray(X)).add_prefix("x").assign(y=y)
        frame.to_parquet(folder / "X.parquet")
        return read(folder / "X.parquet", "y", memory_limit=size)[0], y, size
    return np.array(X), y, size


def _status(field: str) -> int:
    with open("/proc/self/status", encoding="ascii") as status:
        line = next(line for line in status if line.startswith(field))
    return int(line.split()[1]) * 1024


def _reset_peak() -> None:
    with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")


if __name__ == "__main__":
    sys.exit(main())
