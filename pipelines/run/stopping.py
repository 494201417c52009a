"""The end of a synchronization that is stopped with Ctrl-C or SIGTERM.

Belongs here: making sure that it ends soon, and what it prints then. Does not: closing connections (edgar).

Python calls the handler of a signal between two of its own instructions only: not while Polars or DuckDB compute, or
while a library waits. So a thread receives the signal as well. If the process has not ended some seconds later, the
thread ends it. That is safe at any moment, as for a process that is killed.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from warehouse.build.pointer import Pointer
from warehouse.build.publish import readable

STATUS = 130
"""The exit status of a process that SIGINT ended, as shells have it."""
ENDINGS = (signal.SIGINT, signal.SIGTERM)

GRACE = 4.0
"""Seconds in which a synchronization may end by itself."""

UNPUBLISHED = "fundamentals sync: stopped; nothing was published, and what was fetched is kept"
PUBLISHED = "fundamentals sync: stopped; a build was published before, and what was fetched is kept"


def of_synchronization(published: Path, before: Pointer | None) -> str:
    """What a synchronization prints that is stopped: filings are fetched after a build is published.

    Args:
        published: the folder of builds.
        before: the pointer when it began.
    """
    return UNPUBLISHED if readable(published) == before else PUBLISHED


@contextmanager
def ends_soon_after_signal(last_words: Callable[[], str], grace: float = GRACE) -> Iterator[None]:
    """SIGINT and SIGTERM interrupt the `with` block; if it does not end within so many seconds, end the process.

    A shell starts commands in the background with SIGINT ignored; here it is not.

    Args:
        last_words: what is printed then.
        grace: the seconds.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are the business of the main thread
        return
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    over = threading.Event()
    watcher = threading.Thread(target=_watch, args=(reader, over, last_words, grace), daemon=True)
    watcher.start()
    handlers = [signal.signal(ending, signal.default_int_handler) for ending in ENDINGS]
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        for ending, handler in zip(ENDINGS, handlers, strict=True):
            signal.signal(ending, handler)
        over.set()
        os.close(writer)
        watcher.join()
        os.close(reader)


def _watch(reader: int, over: threading.Event, last_words: Callable[[], str], grace: float) -> None:
    while received := os.read(reader, 1):
        if received[0] in ENDINGS and not over.wait(grace):
            try:
                print(last_words(), file=sys.stderr, flush=True)
            finally:
                os._exit(STATUS)
