"""One contender in one process: whatever becomes of it is told, never raised."""

import signal
from pathlib import Path
from time import monotonic, sleep

import numpy as np
import pytest
from benchmarks.cases import CASES
from benchmarks.definitions import Contender, Missing, Result
from benchmarks.measure import call, compare, read_outcome, run_case, run_contender
from tests.benchmarks.samples import CASE

from benchmarks import worker

MIB = 2**20


def raising(error):
    def run(_):
        raise error

    return run


def test_the_best_of_three_calls_counts_after_a_small_one(monkeypatch):
    monkeypatch.setattr(worker, "ENOUGH", 0.0)
    seen = []

    def run(problem):
        seen.append(problem.X.shape)
        return Result(np.arange(3))

    measurement, result = worker.measure(CASE, Contender("counted", run))
    assert seen == [(20, 12)] + 3 * [(40, 30)]
    assert (measurement.status, measurement.calls) == ("measured", 3)
    assert measurement.data_bytes == 40 * 30 * 8
    assert result.order.tolist() == [0, 1, 2]


def test_short_calls_are_made_more_often_but_not_for_ever(monkeypatch):
    measurement, _ = worker.measure(CASE, Contender("short", lambda _: Result()))
    assert measurement.calls == worker.MOST
    monkeypatch.setattr(worker, "ENOUGH", 0.05)
    longer = Contender("longer", lambda _: sleep(0.01) or Result())
    assert 1 < worker.measure(CASE, longer)[0].calls <= 5


def test_a_slow_contender_is_called_once(monkeypatch):
    monkeypatch.setattr(worker, "SLOW", -1.0)
    measurement, _ = worker.measure(CASE, CASE.contender("ours"))
    assert measurement.calls == 1


def test_a_contender_that_measures_itself_is_believed():
    own = Contender("own", lambda _: Result(seconds=12.5, note="inside R"))
    measurement, _ = worker.measure(CASE, own)
    assert (measurement.seconds, measurement.calls) == (12.5, 1)
    assert measurement.note == "inside R"


@pytest.mark.parametrize(
    ("error", "status", "note"),
    [
        (Missing("no java on the PATH"), "missing", "no java on the PATH"),
        (ModuleNotFoundError(name="skrebate"), "missing", "not installed: skrebate"),
        (ValueError("bad\nmore"), "failed", "ValueError: bad"),
        (OSError("no file /home/someone/x.txt"), "failed", "OSError: no file …/x.txt"),
    ],
)
def test_failures_become_reasons_without_folders(error, status, note):
    measurement, result = worker.measure(CASE, Contender("x", raising(error)))
    assert (measurement.status, measurement.note) == (status, note)
    assert measurement.seconds is None
    assert result is None


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(),
    reason="only Linux lets a process forget its peak of memory",
)
def test_growth_is_seen_below_an_earlier_peak():
    def prepare(problem):
        np.ones(64 * MIB // 8)  # made and dropped: must not hide what follows
        return problem

    def run(problem):
        size = 32 * MIB if problem.X.shape == (40, 30) else 8
        return Result(np.ones(size // 8)[:1])

    measurement, _ = worker.measure(CASE, Contender("hungry", run, prepare=prepare))
    assert 28 * MIB < measurement.peak < 48 * MIB


def test_memory_of_other_processes_is_not_claimed():
    elsewhere = Contender("elsewhere", lambda _: Result(), own_processes=True)
    assert worker.measure(CASE, elsewhere)[0].peak is None


def test_the_end_of_a_worker_is_read_right():
    over = read_outcome("x", -signal.SIGALRM, "", "", 300)
    assert (over.status, over.seconds, over.note) == ("over", 300, "over 300 s")
    killed = read_outcome("x", -signal.SIGKILL, "", "", 300)
    assert (killed.status, killed.note) == ("failed", "ended by SIGKILL")
    assert read_outcome("x", None, "", "", 300).status == "failed"
    broken = read_outcome("x", 1, "", "Traceback\nImportError: no", 300)
    assert broken.note == "ImportError: no"


def test_a_result_without_its_counterpart_is_not_compared():
    case = CASES["anova"]
    contender = case.contender("scikit-learn")
    alone = compare(case, contender, {"scikit-learn": Result(scores=np.ones(3))})
    assert alone.holds is None
    assert "no result of veridical" in alone.words


def test_a_contender_over_its_limit_is_stopped_not_crashed():
    case = CASES["anova"]
    contender = case.contender("scikit-learn")
    measurement, result = run_contender(case, contender, limit=1e-6, small=True)
    assert measurement.status == "over"
    assert result is None


def test_what_a_worker_leaves_behind_is_neither_waited_for_nor_left():
    # The sleeper inherits the output; it must not keep the caller waiting.
    shell = ["sh", "-c", "sleep 600 & echo $!; echo why >&2; exit 3"]
    code, out, err = call(shell, timeout=60)
    assert (code, err.strip()) == (3, "why")
    deadline = monotonic() + 30  # a signal takes its time on a busy machine
    while not _is_gone(int(out)) and monotonic() < deadline:
        sleep(0.01)
    assert _is_gone(int(out))


def test_a_worker_that_hangs_is_ended():
    code, _, _ = call(["sleep", "600"], timeout=0.1)
    assert code is None


def _is_gone(process):
    """Whether a process is dead, or dead but not yet collected by its parent."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state == "Z"


def test_a_case_runs_from_end_to_end():
    told = []
    record = run_case(CASES["anova"], limit=60, small=True, tell=told.append)
    assert [m.status for m in told] == ["measured", "measured"]
    assert record.measurements == tuple(told)
    assert record.find("scikit-learn").agreement.holds is True
