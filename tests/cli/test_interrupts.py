"""Ctrl-C at awkward moments, in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

from veridical._core import interrupts
from veridical.cli import study_options
from veridical.experiments import Store

pytestmark = pytest.mark.skipif(
    os.name == "nt", reason="signals are sent otherwise there"
)

FRAME = """
import os, signal, sys, threading, time
from veridical.__main__ import main
from veridical._core import interrupts
from veridical.cli.commands import Group

def stop():
    signal.raise_signal(signal.SIGINT)  # to this thread, hence at once

def verb(self, ctx):
{body}

Group.invoke = verb
sys.argv = ["veridical", "schema"]
main()
"""


def stopped(body, **more):
    """Run this instead of a verb; return what became of it."""
    code = FRAME.format(body=textwrap.indent(textwrap.dedent(body), "    "))
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **more},
    )


def check(done, words=interrupts.STOP_MESSAGE):
    assert done.returncode == 130, done.stderr
    assert done.stderr == f"{words}\n"


def test_where_it_can_be_caught_what_is_open_is_closed():
    done = stopped("""
        try:
            stop()
            time.sleep(30)
        finally:
            print("closed")
    """)

    check(done)
    assert done.stdout == "closed\n"


@pytest.mark.parametrize("hook", ["_object_compiled_hook", "_object_getbuffer_hook"])
def test_in_the_middle_of_compiling(hook):
    # LLVM calls these from C, where no exception passes.
    done = stopped(f"""
        from numba import njit
        from numba.core.codegen import JITCodeLibrary

        hook = JITCodeLibrary.{hook}

        def interrupted(*arguments):
            stop()
            return hook(*arguments)

        JITCodeLibrary.{hook} = interrupted
        njit(lambda x: x + 1)(1)
        print("went on")
    """)

    check(done)
    assert done.stdout == ""


def test_in_the_middle_of_an_import():
    done = stopped("""
        class Finder:
            def find_spec(self, *_):
                stop()

        sys.meta_path.insert(0, Finder())
        try:
            import chess_of_the_last_century
        except BaseException:
            pass
        print("went on")
    """)

    check(done)
    assert done.stdout == ""


def test_code_that_catches_the_interrupt_is_ended_too():
    done = stopped("""
        interrupts._SECONDS_TO_END = 0.2
        try:
            stop()
            time.sleep(30)
        except KeyboardInterrupt:
            time.sleep(30)
        print("went on")
    """)

    check(done)
    assert done.stdout == ""


def test_an_error_caused_by_the_interrupt_is_not_reported():
    done = stopped("""
        try:
            stop()
            time.sleep(30)
        except KeyboardInterrupt:
            pass
        raise RuntimeError("no compiled object yet")
    """)

    check(done)


def test_a_second_one_does_not_wait():
    done = stopped("""
        interrupts._SECONDS_TO_END = 1000
        try:
            stop()
            time.sleep(30)
        finally:
            stop()
            time.sleep(30)
    """)

    check(done)


def test_threads_at_work_do_not_delay_the_end():
    done = stopped("""
        from concurrent.futures import ThreadPoolExecutor
        ThreadPoolExecutor(1).submit(time.sleep, 1000)
        stop()
        time.sleep(30)
    """)

    check(done)


def test_processes_at_work_end_too():
    # The process keeps stdout open: it is awaited here, for less than it would take.
    done = stopped("""
        import multiprocessing
        multiprocessing.get_context("fork").Process(
            target=time.sleep, args=(1000,)
        ).start()
        stop()
        time.sleep(30)
    """)

    check(done)


def test_a_signal_that_is_ignored_stays_ignored():
    code = FRAME.replace(
        "\nGroup.", "\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nGroup."
    )
    body = '    stop()\n    print("went on")'
    done = subprocess.run(
        [sys.executable, "-c", code.format(body=body)],
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert (done.returncode, done.stdout) == (0, "went on\n"), done.stderr


def test_a_study_says_its_own_word_and_no_other():
    body = """
        from veridical.cli.study_options import errors_printed
        with errors_printed():
            {}
            stop()
            time.sleep(30)
    """
    words = study_options._STOPPED_AT_ONCE

    check(stopped(body.format("")), words)
    check(stopped(body.format("interrupts._NO_EXCEPTIONS = {'__main__'}")), words)


def test_a_search_with_a_store_says_what_is_kept(tmp_path):
    """Two signals: the first asks the search to end, the second stops it at once."""
    store = tmp_path / "kept.db"
    body = """
        from veridical.cli import choose
        from veridical.evaluation import prediction_store

        save = prediction_store.PredictionStore.save

        def interrupted(self, procedure, found):
            save(self, procedure, found)
            {}
            stop()
            stop()
            time.sleep(30)

        prediction_store.PredictionStore.save = interrupted
        choose.choose(
            selectors=["anova", "mrmr"], estimators=["nb"], features=["2"],
            store=__import__("pathlib").Path({!r}), quiet=True,
        )
    """
    for how in ("", "interrupts._NO_EXCEPTIONS = {'__main__'}"):
        done = stopped(body.format(how, str(store)))
        check(
            done,
            "Stopped. No report was written; predictions that were finished are in "
            f"{store}, and the same command resumes from them.",
        )
    with Store(store) as kept:
        assert len(list(kept.rows())) == 2


def test_while_the_command_line_is_being_loaded():
    code = """
import os, signal, sys

class Finder:
    def find_spec(self, name, *_):
        if name == "veridical.cli":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
from veridical.__main__ import main
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60
    )
    check(done)
    assert done.stdout == ""
