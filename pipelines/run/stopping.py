"""The end of a synchronization that is stopped with Ctrl-C.

Belongs here: making sure that it ends soon. Does not: what it prints (synchronize), closing connections (edgar).

Python calls the handler of a signal between two of its own instructions only: not while Polars or DuckDB compute, or
while a library waits. So a thread receives the signal as well. If the process has not ended some seconds later, the
thread ends it. That is safe at any moment, as for a process that is killed.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

STATUS = 130
"""The exit status of a process that SIGINT ended, as shells have it."""

GRACE = 4.0
"""Seconds in which a synchronization may end by itself."""

MESSAGE = "fundamentals sync: stopped; nothing was published, and what was fetched is kept"


@contextmanager
def ends_soon_after_sigint(grace: float = GRACE) -> Iterator[None]:
    """If SIGINT arrives in the `with` block, and this does not end within so many seconds, end the process."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are the business of the main thread
        return
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    over = threading.Event()
    watcher = threading.Thread(target=_watch, args=(reader, over, grace), daemon=True)
    watcher.start()
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        over.set()
        os.close(writer)
        watcher.join()
        os.close(reader)


def _watch(reader: int, over: threading.Event, grace: float) -> None:
    while received := os.read(reader, 1):
        if received[0] == signal.SIGINT and not over.wait(grace):
            print(MESSAGE, file=sys.stderr, flush=True)
            os._exit(STATUS)
