"""Executors: the same results everywhere, and crashes that harm no other cell."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest
from tests.experiments.synthetic import POISONS, Grid, GridSpec

from veridical._core.errors import InputError
from veridical.experiments import (
    Limits,
    Plan,
    Processes,
    Serial,
    Store,
    WorkerError,
    run_study,
)
from veridical.experiments.attempts import run_unit
from veridical.experiments.supervisor import CAN_FORK, WORKER, start_fork

SMALL = Limits(seconds=1.0, memory=10**8)
# Only a cell that hangs may reach the time limit, however busy the machine is.
PATIENT = Limits(seconds=120.0, memory=10**8)
HERE = ("error", "invalid", "unpicklable")


def statuses(path):
    """Status and values of every cell, by unit and number."""
    with Store(path) as store:
        frame = store.frame()
    return {(row.unit, row.cell): row.status for row in frame.itertuples()}


def poisoned(kinds):
    """A grid with one kind of poison in each of its first units, in the middle."""
    poison = tuple((u, 2, kind) for u, kind in enumerate(kinds))
    return Grid(poison=poison, talk=True)


@pytest.mark.parametrize("hang", [False, True])
def test_every_failing_cell_has_its_status_and_no_other_fails(tmp_path, hang):
    path = tmp_path / "s.sqlite"
    kinds = [kind for kind in POISONS if (POISONS[kind] == "timeout") == hang]
    limits = Limits(seconds=5.0) if hang else PATIENT
    spec = GridSpec(n_units=len(kinds) + 1, n_cells=4)

    report = run_study(poisoned(kinds), spec, path, executor=Processes(2, limits))

    found = statuses(path)
    for unit, kind in enumerate(kinds):
        assert found.pop((unit, 2)) == POISONS[kind], kind
    assert set(found.values()) == {"ok"}
    assert report.counts.failed == len(kinds)
    assert report.counts.pending == 0


def test_results_beside_failing_cells_are_the_same(tmp_path):
    kinds = [kind for kind, status in POISONS.items() if status == "crashed"][:3]
    spec = GridSpec(n_units=4, n_cells=4)
    run_study(poisoned(kinds), spec, tmp_path / "a", executor=Processes(1, PATIENT))
    run_study(Grid(), spec, tmp_path / "b", executor=Serial())

    with Store(tmp_path / "a") as a, Store(tmp_path / "b") as b:
        healthy = {row.key: row.values for row in b.rows()}
        for row in a.rows():
            assert row.status == "crashed" or row.values == healthy[row.key]


def test_serial_contains_what_python_can_contain(tmp_path):
    kinds = [kind for kind, status in POISONS.items() if status in HERE]
    path = tmp_path / "s.sqlite"

    run_study(poisoned(kinds), GridSpec(), path, executor=Serial())

    found = statuses(path)
    for unit, kind in enumerate(kinds):
        assert found.pop((unit, 2)) == POISONS[kind]
    assert set(found.values()) == {"ok"}


def test_why_a_cell_failed_is_kept(tmp_path):
    path = tmp_path / "s.sqlite"
    kinds = ["exception", "segfault", "loop"]
    run_study(poisoned(kinds), GridSpec(), path, executor=Processes(2, SMALL))

    with Store(path) as store:
        told = {row.status: row.detail for row in store.failures()}
    assert told["error"] == "RuntimeError: no such luck"
    assert "Segmentation fault" in told["crashed"]
    assert "synthetic.py" in told["crashed"]  # where it was
    assert "killed after 1 s" in told["timeout"]


def test_a_hung_cell_is_killed_at_its_time_limit(tmp_path):
    """It would sleep for days."""
    path = tmp_path / "s.sqlite"
    run_study(
        poisoned(["sleep"]),
        GridSpec(n_units=1),
        path,
        executor=Processes(1, Limits(seconds=1.0)),
    )
    assert "timeout" in statuses(path).values()


def test_cells_do_not_depend_on_earlier_failures():
    study = Grid(poison=((0, 1, "exception"), (0, 2, "too few"), (0, 4, "exception")))
    (unit,) = study.units(GridSpec(n_units=1, n_cells=6))

    results = list(run_unit(study, unit))

    assert [r.number for r in results] == list(range(6))
    assert [r.status for r in results] == ["ok", "error", "error", "ok", "error", "ok"]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_processes_give_what_serial_gives(tmp_path, canonical, n_jobs):
    spec = GridSpec(n_units=6)
    run_study(Grid(), spec, tmp_path / "a", executor=Serial())
    run_study(Grid(), spec, tmp_path / "b", executor=Processes(n_jobs))

    assert canonical(tmp_path / "a") == canonical(tmp_path / "b")


class Shuffled(Serial):
    """Takes the tasks in another order."""

    def run(self, study, tasks, stop):
        tasks = list(tasks)
        random.Random(0).shuffle(tasks)
        yield from super().run(study, iter(tasks), stop)


def test_the_order_does_not_matter(tmp_path, canonical):
    run_study(Grid(), GridSpec(), tmp_path / "a", executor=Serial())
    run_study(Grid(), GridSpec(), tmp_path / "b", executor=Shuffled())

    assert canonical(tmp_path / "a") == canonical(tmp_path / "b")


def test_workers_have_one_thread_each(tmp_path):
    environment = tmp_path / "threads"
    study = Threads(str(environment))
    run_study(study, GridSpec(n_units=1, n_cells=1), tmp_path / "s.sqlite")

    assert set(environment.read_text().split()) == {"1"}


class Threads(Grid):
    """Writes down how many threads its libraries may use."""

    def run(self, unit):
        import numpy  # noqa: F401
        from threadpoolctl import threadpool_info

        numbers = [os.environ["NUMBA_NUM_THREADS"], os.environ["OMP_NUM_THREADS"]]
        numbers += [str(pool["num_threads"]) for pool in threadpool_info()]
        with open(self.name, "w") as file:
            file.write(" ".join(numbers))
        yield from super().run(unit)


def test_a_study_that_cannot_travel_is_refused(tmp_path):
    class Local(Grid):
        pass

    with pytest.raises(InputError, match="module of its own"):
        run_study(Local(), GridSpec(), tmp_path / "s.sqlite", executor=Processes(1))


def test_a_study_that_cannot_be_loaded_ends_the_run(tmp_path):
    with pytest.raises(WorkerError, match="cannot be loaded here"):
        run_study(Stubborn(), GridSpec(), tmp_path / "s", executor=Processes(2))


class Stubborn(Grid):
    def __reduce__(self):
        return refuse, ()


def refuse():
    raise RuntimeError("cannot be loaded here")


def test_no_worker_process_remains_after_a_run(tmp_path):
    before = set(threading.enumerate())
    run_study(Grid(), GridSpec(), tmp_path / "s.sqlite", executor=Processes(2))

    assert children() == []
    # Threads that wait for kernels stay; those that kept the two workers do not.
    new = [thread.name for thread in set(threading.enumerate()) - before]
    assert sum(not name.startswith("veridical_") for name in new) < 2


def children(parent=None):
    """Process numbers of the workers of a process."""
    listed = subprocess.run(
        [
            "ps",
            "-ww",
            "-o",
            "pid=,stat=,comm=,args=",
            "--ppid",
            str(parent or os.getpid()),
        ],
        capture_output=True,
        text=True,
    ).stdout
    return [
        int(line.split()[0])
        for line in listed.splitlines()
        if (WORKER in line or "experiments.worker" in line)
        and not line.split()[1].startswith("Z")
    ]


def kill_workers(n_kills, every, done, seed=0):
    """Kill one worker of this process at a time; how many were killed."""
    generator, killed = random.Random(seed), 0
    while killed < n_kills and not done.wait(every * (0.5 + generator.random())):
        found = children()
        if found:
            os.kill(generator.choice(found), signal.SIGKILL)
            killed += 1
    return killed


def run_with_kills(study, spec, path, n_kills, every):
    done, killed = threading.Event(), []
    killer = threading.Thread(
        target=lambda: killed.append(kill_workers(n_kills, every, done))
    )
    killer.start()
    try:
        report = run_study(study, spec, path, executor=Processes(2))
    finally:
        done.set()
        killer.join()
    return report, killed[0]


def test_killed_workers_are_replaced(tmp_path, canonical):
    study, spec = Grid(seconds=0.05), GridSpec(n_units=16)

    report, killed = run_with_kills(study, spec, tmp_path / "a", 4, 0.5)

    assert killed >= 2
    assert str(report.counts) == "planned 80 = ok 80 + failed 0 + pending 0"
    run_study(Grid(), spec, tmp_path / "b", executor=Serial())
    assert canonical(tmp_path / "a") == canonical(tmp_path / "b")


@pytest.mark.slow
def test_a_hundred_workers_are_killed(tmp_path, canonical):
    study, spec = Grid(seconds=0.1), GridSpec(n_units=400)

    report, killed = run_with_kills(study, spec, tmp_path / "a", 100, 0.8)

    print(f"\n{killed} workers killed, {report.counts}, {report.seconds:.0f} s")
    assert killed == 100
    assert str(report.counts) == "planned 2000 = ok 2000 + failed 0 + pending 0"
    run_study(Grid(), spec, tmp_path / "b", executor=Serial())
    assert canonical(tmp_path / "a") == canonical(tmp_path / "b")


@pytest.mark.slow
def test_failing_cells_cost_little_time(tmp_path):
    kinds = ["segfault", "abort", "exit 0", "exit 3", "memory", "loop"]
    kinds += ["exception", "nan", "unpicklable", "too few"]
    spec = GridSpec(n_units=100)
    limits = Limits(seconds=5.0, memory=10**8)
    poison = tuple((10 * i + 5, 2, kind) for i, kind in enumerate(kinds))
    seconds = {}
    for name, taken in (("healthy", ()), ("poisoned", poison)):
        study = Grid(seconds=0.2, poison=taken)
        report = run_study(study, spec, tmp_path / name, executor=Processes(2, limits))
        seconds[name] = report.seconds

    found = statuses(tmp_path / "poisoned")
    for unit, cell, kind in poison:
        assert found.pop((unit, cell)) == POISONS[kind], kind
    assert set(found.values()) == {"ok"}
    assert len(found) == 490
    overhead = seconds["poisoned"] / seconds["healthy"] - 1
    print(f"\n10 poisons among 500 cells: {seconds}, overhead {overhead:.1%}")
    assert overhead < 0.20


def test_limits_that_make_no_sense():
    with pytest.raises(InputError, match="is not positive"):
        Limits(seconds=0)
    with pytest.raises(InputError, match="is below 1"):
        Processes(0)


def test_tasks_are_taken_as_workers_become_free(tmp_path):
    taken = []

    def tasks():
        for task in Plan(Grid(seconds=0.01), GridSpec(n_units=50)).tasks():
            taken.append(task)
            yield task

    stop = threading.Event()
    stream = Processes(1).run(Grid(seconds=0.01), tasks(), stop)
    outcomes = [o for o, _ in zip(stream, range(200), strict=False) if o is not None]
    stop.set()
    outcomes += [o for o in stream if o is not None]

    assert len(taken) < 50
    assert 0 < len(outcomes) <= 5 * len(taken)


@pytest.mark.skipif(not CAN_FORK, reason="no forks here")
def test_a_copy_keeps_none_of_its_parents_files(tmp_path):
    with open(tmp_path / "kept", "w") as kept, open(tmp_path / "said", "a+b") as said:
        process = start_fork(said)
        try:
            links = Path(f"/proc/{process._pid}/fd")
            deadline = time.monotonic() + 20
            while time.monotonic() < deadline:
                try:
                    held = {os.readlink(link) for link in links.iterdir()}
                except FileNotFoundError:  # closed between the two
                    continue
                if kept.name not in held:
                    break
                time.sleep(0.01)
            assert kept.name not in held
            process.stdin.close()  # its input ends, so it does
            assert process.wait(timeout=20) == 0
        finally:
            process.kill()
    process.stdout.close()


def test_workers_may_be_started_anew(monkeypatch, tmp_path, canonical):
    monkeypatch.setattr("veridical.experiments.supervisor.CAN_FORK", False)
    spec = GridSpec(n_units=4)
    run_study(Grid(), spec, tmp_path / "a", executor=Processes(2))
    run_study(Grid(), spec, tmp_path / "b", executor=Serial())
    assert canonical(tmp_path / "a") == canonical(tmp_path / "b")
