"""The same work on Dask."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import threading
import time

import pytest
from tests.experiments.synthetic import POISONS, Grid, GridSpec
from tests.experiments.test_executors import children

from veridical._core.errors import InputError
from veridical.experiments import Cluster, Limits, Plan, Serial, Store, run_study
from veridical.experiments.supervisor import WORKER

pytest.importorskip("distributed")


def dask_workers():
    """Process numbers of the Dask workers: those that keep a worker of ours."""
    listed = subprocess.run(
        ["ps", "-eo", "pid=,ppid=,comm="], capture_output=True, text=True
    ).stdout
    table = [line.split(maxsplit=2) for line in listed.splitlines()]
    found, wanted = [], {str(os.getpid())}
    while wanted:
        below = [row for row in table if row[1] in wanted]
        found += [int(row[1]) for row in below if WORKER in row[2]]
        wanted = {row[0] for row in below}
    return found


def test_dask_equals_serial_and_contains_failing_cells(tmp_path, canonical):
    kinds = ("segfault", "nan", "loop", "exception")
    study = Grid(poison=tuple((u, 1, kind) for u, kind in enumerate(kinds)))
    spec = GridSpec(n_units=8)
    limits = Limits(seconds=5.0)

    report = run_study(study, spec, tmp_path / "a", executor=Cluster(None, 2, limits))

    assert str(report.counts) == "planned 40 = ok 36 + failed 4 + pending 0"
    with Store(tmp_path / "a") as store:
        frame = store.frame()
        healthy = {r.key: r.values for r in store.rows() if r.status == "ok"}
    failed = frame[frame["status"] != "ok"].sort_values("unit")
    assert list(failed["status"]) == [POISONS[kind] for kind in kinds]
    run_study(Grid(), spec, tmp_path / "b", executor=Serial())
    with Store(tmp_path / "b") as store:
        for row in store.rows():
            assert healthy.get(row.key, row.values) == row.values


@pytest.fixture
def scheduler():
    """The address of a scheduler that somebody else runs, with a worker."""
    import distributed

    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        host="127.0.0.1",
        protocol="tcp",
        dashboard_address=None,
    ) as cluster:
        yield cluster.scheduler_address


def test_a_running_scheduler_is_used_and_left_as_it_was(scheduler, tmp_path, canonical):
    spec = GridSpec(n_units=4)

    run_study(Grid(), spec, tmp_path / "a", executor=Cluster(scheduler))

    run_study(Grid(), spec, tmp_path / "b", executor=Serial())
    assert canonical(tmp_path / "a") == canonical(tmp_path / "b")
    assert children() == []


def test_a_run_that_is_stopped_leaves_no_unit_behind(scheduler):
    study, spec, stop = Grid(seconds=600.0), GridSpec(n_units=4), threading.Event()

    for _ in Cluster(scheduler).run(study, Plan(study, spec).tasks(), stop):
        if children():  # it is at work
            stop.set()
    began = time.monotonic()
    while children() and time.monotonic() < began + 20:
        time.sleep(0.05)

    assert children() == []


def test_a_scheduler_that_does_not_answer_is_named(tmp_path, monkeypatch):
    import distributed

    class Silent:
        def __init__(self, address, timeout):
            raise OSError(f"timed out after {timeout} s")

    monkeypatch.setattr(distributed, "Client", Silent)

    with pytest.raises(InputError, match=r"tcp://127\.0\.0\.1:9"):
        run_study(
            Grid(),
            GridSpec(),
            tmp_path / "s.sqlite",
            executor=Cluster("tcp://127.0.0.1:9"),
        )


def test_without_dask_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(InputError, match="pip install"):
        Cluster()


@pytest.mark.slow
def test_serial_processes_and_dask_agree(tmp_path, canonical):
    from veridical.experiments import Processes

    spec = GridSpec(n_units=120)
    executors = {
        "serial": Serial(),
        "one process": Processes(1),
        "two processes": Processes(2),
        "dask": Cluster(None, 2),
    }
    exports = {}
    for name, executor in executors.items():
        run_study(Grid(width=10), spec, tmp_path / name, executor=executor)
        exports[name] = canonical(tmp_path / name)

    assert len(set(exports.values())) == 1


def kill_dask_workers(every, done, killed):
    generator = random.Random(0)
    while not done.wait(every):
        found = dask_workers()
        if found:
            os.kill(generator.choice(found), signal.SIGKILL)
            killed.append(time.monotonic())


@pytest.mark.slow
def test_dask_survives_its_workers(tmp_path, canonical):
    study, spec = Grid(seconds=0.25), GridSpec(n_units=300, n_cells=2)
    calm = run_study(study, spec, tmp_path / "calm", executor=Cluster(None, 2))
    done, killed = threading.Event(), []
    killer = threading.Thread(target=kill_dask_workers, args=(3.0, done, killed))
    killer.start()
    try:
        report = run_study(study, spec, tmp_path / "s", executor=Cluster(None, 2))
    finally:
        done.set()
        killer.join()

    print(
        f"\n600 cells on Dask: {calm.seconds:.0f} s undisturbed, "
        f"{report.seconds:.0f} s with {len(killed)} workers killed"
    )
    assert str(report.counts) == "planned 600 = ok 600 + failed 0 + pending 0"
    assert len(killed) >= 10
    assert report.seconds < 2 * calm.seconds
    assert canonical(tmp_path / "calm") == canonical(tmp_path / "s")
