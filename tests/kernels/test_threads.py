"""Threads: every job once, errors raised, no deadlock."""

import multiprocessing
import threading
import time

import pytest

from veridical.kernels.threads import run_jobs, spans


@pytest.mark.parametrize("n_threads", [1, 2, 7])
@pytest.mark.parametrize("n_jobs", [0, 1, 2, 50])
def test_every_job_runs_once(n_threads, n_jobs):
    done = []
    run_jobs(done.append, [(job,) for job in range(n_jobs)], n_threads)
    assert sorted(done) == list(range(n_jobs))


def test_several_threads_take_part():
    meeting = threading.Barrier(3, timeout=20)
    run_jobs(meeting.wait, [()] * 3, 3)  # broken, and an error, unless all three come
    assert not meeting.broken


@pytest.mark.parametrize("n_threads", [1, 3])
def test_an_error_is_raised_and_ends_the_work(n_threads):
    seen = []

    def job(k):
        seen.append(k)
        if k == 5:
            raise ZeroDivisionError("five")
        time.sleep(0.001)

    with pytest.raises(ZeroDivisionError, match="five"):
        run_jobs(job, [(k,) for k in range(1000)], n_threads)
    assert len(seen) < 1000


def test_work_within_work_does_not_lock_up():
    done = []

    def outer(k):
        run_jobs(done.append, [(10 * k + m,) for m in range(10)], 4)

    run_jobs(outer, [(k,) for k in range(100)], 64)
    assert sorted(done) == list(range(1000))


def _total(queue):
    done = []
    run_jobs(done.append, [(k,) for k in range(10)], 3)
    queue.put(sum(done))


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="no fork here"
)
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own():
    run_jobs(len, [("ab",)] * 4, 2)  # the parent's threads exist
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_total, args=(queue,))
    child.start()
    assert queue.get(timeout=30) == 45
    child.join(timeout=30)
    assert child.exitcode == 0


def test_spans_cover_the_range():
    pieces = spans(103, 4, 10)
    assert [lo for lo, _ in pieces] + [103] == [0] + [hi for _, hi in pieces]
    assert len(spans(103, 50, 10)) == 10
