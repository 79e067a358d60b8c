"""Runs that are stopped, killed and begun again."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time

import pytest
from tests.experiments.synthetic import Grid, GridSpec

from veridical.experiments import Processes, Serial, Store, run_study, store, verify

RUN = """
import sys
from tests.experiments.synthetic import Grid, GridSpec
from veridical.experiments import Processes, run_study

path, n_units, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
report = run_study(
    Grid(seconds=seconds), GridSpec(n_units=n_units), path, executor=Processes(2)
)
print(report.counts, report.stopped, flush=True)
"""


def start(path, n_units=60, seconds=0.02):
    """Run a grid in a process group of its own."""
    places = [os.getcwd(), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    return subprocess.Popen(
        [sys.executable, "-c", RUN, str(path), str(n_units), str(seconds)],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places))},
    )


def count(path):
    if not path.exists():
        return 0
    with Store(path) as store:
        return len(store)


def wait_for_rows(path, n_rows, process, patience=30.0):
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if count(path) >= n_rows:
                return
        except Exception:
            pass  # the file is only being made
        time.sleep(0.05)


def test_kill_9_and_resume_is_an_uninterrupted_run(tmp_path, canonical):
    path = tmp_path / "s.sqlite"
    with start(path) as process:
        wait_for_rows(path, 60, process)
        os.killpg(process.pid, signal.SIGKILL)
    assert 60 <= count(path) < 300
    assert verify(path).ok

    report = run_study(Grid(), GridSpec(n_units=60), path, executor=Serial())

    assert report.computed == 300 - (len(rows_of(path)) - report.computed)
    assert str(report.counts) == "planned 300 = ok 300 + failed 0 + pending 0"
    run_study(Grid(), GridSpec(n_units=60), tmp_path / "whole", executor=Serial())
    assert canonical(path) == canonical(tmp_path / "whole")
    assert verify(path).ok


def rows_of(path):
    with Store(path) as store:
        return list(store.rows())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_what_is_finished(tmp_path, number):
    path = tmp_path / "s.sqlite"
    with start(path, seconds=0.05) as process:
        wait_for_rows(path, 20, process)
        os.killpg(process.pid, signal.SIGINT) if number == signal.SIGINT else (
            process.send_signal(number)
        )
        words, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert f"ok {count(path)} + failed 0" in words
    assert words.endswith("signal\n")
    assert 20 <= count(path) < 300


class Interrupted(Grid):
    """Gets a Ctrl-C while it is being planned."""

    def units(self, spec):
        os.kill(os.getpid(), signal.SIGINT)
        return super().units(spec)


def test_a_signal_while_the_store_is_made_is_one_too(tmp_path, monkeypatch):
    def create_tables(connection):
        os.kill(os.getpid(), signal.SIGINT)
        create_as_ever(connection)

    create_as_ever = store.create_tables
    monkeypatch.setattr(store, "create_tables", create_tables)
    check_nothing_done(run_study(Grid(), GridSpec(), tmp_path / "s.sqlite"))
    assert count(tmp_path / "s.sqlite") == 0


def test_a_signal_while_planning_is_one_too(tmp_path):
    check_nothing_done(run_study(Interrupted(), GridSpec(), tmp_path / "s.sqlite"))


def check_nothing_done(report):
    assert report.stopped == "signal"
    assert str(report.counts) == "planned 50 = ok 0 + failed 0 + pending 50"


@pytest.mark.slow
def test_fifty_kills_of_the_whole_group(tmp_path, canonical):
    path, spec, generator = (
        tmp_path / "s.sqlite",
        GridSpec(n_units=600),
        random.Random(0),
    )
    rows, lost, at_work = 0, 0, 0
    began = time.monotonic()
    for number in range(50):
        with start(path, spec.n_units, 0.06) as process:
            if number % 2:  # somewhere in the work, however busy the machine is
                wait_for_rows(path, rows + 1, process)
                time.sleep(generator.uniform(0.0, 1.5))
            else:  # from the first import to the middle of a batch
                time.sleep(generator.uniform(0.2, 6.0))
            assert process.poll() is None  # it was killed, it did not finish
            os.killpg(process.pid, signal.SIGKILL)
        now = count(path)
        lost += now < rows
        at_work += now > rows
        rows = now
        assert not path.exists() or verify(path).ok
    report = run_study(Grid(), spec, path, executor=Processes(2))

    seconds = time.monotonic() - began
    print(
        f"\n50 kills of the group, {at_work} of them after rows were saved; {rows} of "
        f"3000 cells were there before the last run; {lost} lost; {seconds:.0f} s"
    )
    assert lost == 0
    assert at_work >= 25
    assert str(report.counts) == "planned 3000 = ok 3000 + failed 0 + pending 0"
    assert count(path) == 3000  # no cell twice
    assert verify(path).ok
    run_study(Grid(), spec, tmp_path / "whole", executor=Serial())
    assert canonical(path) == canonical(tmp_path / "whole")


def test_a_limit_on_the_time(tmp_path):
    path = tmp_path / "s.sqlite"
    study = Grid(seconds=0.05)
    began = time.monotonic()

    report = run_study(
        study, GridSpec(n_units=100), path, executor=Processes(1), limit_seconds=2.0
    )

    assert time.monotonic() - began >= 2.0
    assert report.stopped == "time"
    assert report.counts.ok == count(path) == report.computed > 0
    assert report.counts.pending == 500 - report.computed


def test_nothing_to_do_is_done_at_once(filled):
    report = run_study(Grid(), GridSpec(), filled)

    assert report.computed == 0
    assert report.stopped is None


def test_failed_cells_can_be_tried_again(tmp_path, canonical):
    path = tmp_path / "s.sqlite"
    ill = Grid(poison=((2, 3, "exception"),))
    report = run_study(ill, GridSpec(), path, executor=Serial())
    assert str(report.counts) == "planned 50 = ok 49 + failed 1 + pending 0"

    report = run_study(ill, GridSpec(), path, executor=Serial(), retry_failed=True)
    assert report.computed == 1
    assert str(report.counts) == "planned 50 = ok 49 + failed 1 + pending 0"

    report = run_study(Grid(), GridSpec(), path, executor=Serial(), retry_failed=True)
    assert str(report.counts) == "planned 50 = ok 50 + failed 0 + pending 0"
    assert count(path) == 52
    run_study(Grid(), GridSpec(), tmp_path / "whole", executor=Serial())
    assert canonical(path) == canonical(tmp_path / "whole")


def test_watching_shows_only_saved_cells(tmp_path):
    path = tmp_path / "s.sqlite"
    seen = []

    def watch(progress):
        seen.append((progress.counts.ok, count(path)))
        assert progress.counts.planned == 50
        assert progress.eta is None or progress.eta >= 0

    run_study(Grid(seconds=0.01), GridSpec(), path, executor=Serial(), watch=watch)

    assert len(seen) > 1
    assert all(shown == saved for shown, saved in seen)
    assert seen[-1] == (50, 50)
