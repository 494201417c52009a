"""How a test run ends when it is told to: SIGTERM ends it, whatever a test does with the interruption.

Belongs here: what the process that runs tests does on SIGTERM. Does not: any test, the processes that tests start.
"""

import os
import signal
import threading
from types import FrameType

import pytest

GRACE = 20.0
"""Seconds for fixtures to end the servers they started; then the process ends as it is."""
ENDED = 128 + signal.SIGTERM


def pytest_configure() -> None:
    """From the start."""
    obey()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Again before each test: Dagster, where a test runs it, replaces the handler."""
    obey()


def obey() -> None:
    """Let SIGTERM end the run."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, end)


def end(_: int, __: FrameType | None) -> None:
    """Interrupt the test as Ctrl-C does; a second SIGTERM ends the process at once, and so does the time."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    last = threading.Timer(GRACE, os._exit, (ENDED,))
    last.daemon = True
    last.start()
    raise KeyboardInterrupt
