"""Ctrl-C as an event, in blocks that may be inside each other."""

import os
import signal
import threading

import pytest

from veridical._core.interrupts import interrupt_event

pytestmark = pytest.mark.skipif(
    os.name == "nt", reason="signals are sent otherwise there"
)
SIGNALS = (signal.SIGINT, signal.SIGTERM)


@pytest.fixture
def received():
    """Handle both signals by a function that counts them."""
    seen = []
    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number in SIGNALS:
        signal.signal(number, lambda number, frame: seen.append(number))
    yield seen
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_signal_sets_the_event_and_the_second_acts_as_before(
    received, number
):
    with interrupt_event() as event:
        assert not event.is_set()
        signal.raise_signal(number)
        assert event.is_set()
        assert received == []
        signal.raise_signal(number)
        assert received == [number]
    signal.raise_signal(number)
    assert received == [number] * 2


def test_the_first_signal_writes_the_message_of_the_outermost_block(received, capfd):
    with interrupt_event("Stopping."), interrupt_event("Stopping inside."):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
    with interrupt_event():
        signal.raise_signal(signal.SIGINT)
    assert capfd.readouterr().err == "Stopping.\n"


def test_one_signal_sets_the_events_of_all_blocks(received):
    with interrupt_event() as outer:
        with interrupt_event() as inner:
            signal.raise_signal(signal.SIGINT)
            assert inner.is_set()
            assert outer.is_set()
            signal.raise_signal(signal.SIGINT)
            assert received == [signal.SIGINT]
        with interrupt_event() as late:
            assert late.is_set()


def test_the_end_of_an_inner_block_leaves_the_outer_one_waiting(received):
    with interrupt_event() as outer:
        with interrupt_event() as inner:
            pass
        signal.raise_signal(signal.SIGTERM)
        assert outer.is_set()
        assert not inner.is_set()
        assert received == []
    signal.raise_signal(signal.SIGTERM)
    assert received == [signal.SIGTERM]


def test_an_error_in_a_block_restores_the_handlers(received):
    handlers = [signal.getsignal(number) for number in SIGNALS]

    def fail():
        with interrupt_event():
            assert [signal.getsignal(number) for number in SIGNALS] != handlers
            raise ValueError("in between")

    with pytest.raises(ValueError, match="in between"):
        fail()
    assert [signal.getsignal(number) for number in SIGNALS] == handlers


def test_another_thread_handles_no_signals(received):
    handlers = [signal.getsignal(number) for number in SIGNALS]
    found = []

    def wait():
        with interrupt_event() as event:
            found.extend(signal.getsignal(number) for number in SIGNALS)
            found.append(event.is_set())

    thread = threading.Thread(target=wait)
    thread.start()
    thread.join()
    assert found == [*handlers, False]
