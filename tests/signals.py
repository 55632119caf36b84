"""Signals sent to this process while it works."""

import contextlib
import os
import signal
import threading
import time


@contextlib.contextmanager
def signal_after(seconds, number=signal.SIGINT, handler=signal.default_int_handler):
    """Send this process a signal later; the handler is the given one meanwhile. Yields a list with the time sent."""
    assert threading.current_thread() is threading.main_thread()
    sent = []

    def send():
        sent.append(time.perf_counter())
        os.kill(os.getpid(), number)

    before = signal.signal(number, handler)
    timer = threading.Timer(seconds, send)
    timer.start()
    try:
        yield sent
    finally:
        timer.cancel()
        timer.join()
        signal.signal(number, before)
