"""The end of a synchronization that is stopped with Ctrl-C or SIGTERM.

Belongs here: making sure that it ends soon, and its last message. Does not: closing connections (edgar).

Python calls a signal handler only between two of its own instructions, not while Polars or DuckDB compute or a library
waits. So a thread receives the signal, too. If the process has not ended some seconds later, the thread ends it. This
is safe at any moment, like killing the process.
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
"""The exit status of a process that SIGINT ended, as in shells."""
ENDINGS = (signal.SIGINT, signal.SIGTERM)

GRACE = 4.0
"""Seconds within which a synchronization may end by itself."""

UNPUBLISHED = "fundamentals sync: stopped; nothing was published, and what was fetched is kept"
PUBLISHED = "fundamentals sync: stopped; a build was published before, and what was fetched is kept"


def of_synchronization(published: Path, before: Pointer | None) -> str:
    """The message of a stopped synchronization; it depends on whether the first build was published before the filings.

    Args:
        published: the folder of builds.
        before: the pointer at the beginning of the synchronization.
    """
    return UNPUBLISHED if readable(published) == before else PUBLISHED


@contextmanager
def ends_soon_after_signal(last_words: Callable[[], str], grace: float = GRACE) -> Iterator[None]:
    """Let SIGINT and SIGTERM interrupt the `with` block; if it does not end within the grace time, end the process.

    A shell starts background commands with SIGINT ignored; this function makes it work again.

    Args:
        last_words: returns the message that is printed then.
        grace: the grace time in seconds.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread can handle signals
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
            signal.signal(ending, handler or signal.SIG_DFL)
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
