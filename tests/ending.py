"""The end of a test run on a signal: SIGTERM ends it, whatever a test does with the interruption.

Belongs here: the handling of SIGTERM in the process that runs tests. Does not: any test, processes that tests start.
"""

import os
import signal
import threading
from types import FrameType

import pytest

GRACE = 20.0
"""Seconds for fixtures to end the servers they started; then the process is ended."""
ENDED = 128 + signal.SIGTERM


def pytest_configure() -> None:
    """Install the handler at the start."""
    obey()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Install the handler before each test, because Dagster replaces it in some tests."""
    obey()


def obey() -> None:
    """Let SIGTERM end the run."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, end)


def end(_: int, __: FrameType | None) -> None:
    """Interrupt the test like Ctrl-C; a second SIGTERM, or the end of GRACE, ends the process at once."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    last = threading.Timer(GRACE, os._exit, (ENDED,))
    last.daemon = True
    last.start()
    raise KeyboardInterrupt
