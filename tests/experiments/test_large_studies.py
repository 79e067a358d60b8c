"""A million cells; a disk that is too small."""

from __future__ import annotations

import resource
import subprocess
import time

import pytest
from tests.experiments.synthetic import Grid, GridSpec

from veridical.experiments import Plan, Serial, Store, StoreError, run_study, verify


def peak_megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(path, n_units, n_cells):
    """Rows per second, bytes per cell, seconds to plan a resume, growth of memory."""
    study, spec = Grid(width=10), GridSpec(n_units=n_units, n_cells=n_cells)
    n = n_units * n_cells
    run_study(study, GridSpec(n_units=1, seed=9), path, executor=Serial())
    before = peak_megabytes()
    began = time.monotonic()
    report = run_study(study, spec, path, executor=Serial())
    seconds = time.monotonic() - began
    assert str(report.counts) == f"planned {n} = ok {n} + failed 0 + pending 0"
    larger = GridSpec(n_units=n_units + 1, n_cells=n_cells)
    began = time.monotonic()
    with Store(path) as store:
        plan = Plan(study, larger, store.keys())
    (task,) = plan.tasks()  # the very last unit: all of the grid is gone through again
    planning = time.monotonic() - began
    assert len(task.keys) == plan.counts.pending == n_cells
    return {
        "rows per second": n / seconds,
        "bytes per cell": path.stat().st_size / n,
        "planning seconds": planning,
        "megabytes more": peak_megabytes() - before,
    }


def test_ten_thousand_cells(tmp_path):
    found = measure(tmp_path / "s.sqlite", 100, 100)

    assert found["bytes per cell"] < 1024
    assert found["megabytes more"] < 50


@pytest.mark.slow
def test_a_million_cells(tmp_path):
    found = measure(tmp_path / "s.sqlite", 10_000, 100)

    print("\n10^6 cells:", {name: round(value, 1) for name, value in found.items()})
    assert found["rows per second"] >= 2000
    assert found["bytes per cell"] <= 1024
    assert found["planning seconds"] <= 10
    assert found["megabytes more"] < 100
    assert verify(tmp_path / "s.sqlite").ok


@pytest.fixture
def small_disk(tmp_path):
    """A disk of two megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder], capture_output=True
    )
    if mount.returncode:
        pytest.skip("mounting a small disk needs rights we do not have")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.mark.slow
def test_a_full_disk(small_disk, tmp_path, canonical):
    study, spec = Grid(width=10), GridSpec(n_units=200, n_cells=25)
    path = small_disk / "s.sqlite"
    with pytest.raises(StoreError, match="What was saved before is intact"):
        run_study(study, spec, path, executor=Serial())
    found = verify(path)
    print(f"\nfull disk: {found.n_rows} of 5000 cells were saved")
    assert found.ok
    assert found.n_rows > 100

    with pytest.raises(StoreError, match="disk is full"):
        run_study(study, spec, path, executor=Serial())
    assert verify(path).ok
    with Store(path) as store:
        assert len(store) >= found.n_rows
    subprocess.run(["mount", "-o", "remount,size=64m", small_disk], check=True)
    report = run_study(study, spec, path, executor=Serial())

    assert report.counts.pending == 0
    run_study(study, spec, tmp_path / "whole", executor=Serial())
    assert canonical(path) == canonical(tmp_path / "whole")
