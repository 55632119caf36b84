"""Signals sent to this process while it works."""

import contextlib
import os
import signal
import threading


@contextlib.contextmanager
def _handled(number, handler):
    assert threading.current_thread() is threading.main_thread()
    before = signal.signal(number, handler)
    timers = []

    def send_after(seconds):
        timers.append(threading.Timer(seconds, os.kill, (os.getpid(), number)))
        timers[-1].start()

    try:
        yield send_after
    finally:
        for timer in timers:
            timer.cancel()
            timer.join()
        signal.signal(number, before)


@contextlib.contextmanager
def signal_after(seconds, number=signal.SIGINT, handler=signal.default_int_handler):
    """Send this process a signal later; the handler is the given one meanwhile."""
    with _handled(number, handler) as send_after:
        send_after(seconds)
        yield


@contextlib.contextmanager
def listening(number=signal.SIGINT, handler=signal.default_int_handler):
    """Signals that the test raises itself are heard; jobs in the background are born deaf to Ctrl-C."""
    with _handled(number, handler):
        yield


@contextlib.contextmanager
def signal_on_call(number=signal.SIGINT, handler=signal.default_int_handler):
    """Yields a function: its first call has a signal sent to this process a moment later, when work goes on.

    Given as a callback it waits for the first certificate, however long a busy machine takes to get there."""
    called = threading.Event()
    with _handled(number, handler) as send_after:

        def send(*_):
            if not called.is_set():
                called.set()
                send_after(0.1)

        yield send
