"""The access log: one line of JSON per request, on standard error.

Belongs here: the fields of a line, and the thread that writes lines. Does not: collecting the fields (edge).

A line never contains an API key. Queries are not logged, and of methods only those of HTTP. The path is logged as the
template of its endpoint; for a path without an endpoint, text that looks like a key is masked. A separate thread writes
the lines, so that a slow reader or a full pipe never delays a request, and writes those of some hundredths of a second
at once, because each wake-up of the thread interrupts requests. When the queue is full, lines are dropped, and their
number is logged.
"""

import contextlib
import logging
import os
import queue
import re
import sys
import time
from collections.abc import Iterator
from logging.handlers import QueueHandler, QueueListener
from typing import TextIO

import msgspec

from serve.access.keys import PREFIX
from serve.clock import timestamp

ACCESS = logging.getLogger("serve.access")
FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
KEYS = re.compile(rf"{PREFIX}\w*")
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "CONNECT", "OPTIONS", "TRACE"})  # RFC 9110, 5789
LONGEST = 200  # characters logged of a path without an endpoint
HELD = 10_000  # lines that the queue holds
GATHERED = 0.02  # seconds in which lines are gathered to be written at once
ENDING = 1.0  # seconds that `close` waits for the queue to be written


def note(
    *, request_id: str, method: str, path: str, status: int, size: int, seconds: float, key_id: str | None, now: float
) -> None:
    """Log one request.

    Args:
        request_id: value of the response's X-Request-Id header.
        method: HTTP method; any other text is logged as empty, because it may be a key.
        path: path template of the endpoint, or the requested path if it has no endpoint.
        status: HTTP status of the response.
        size: bytes of the response body.
        seconds: time from the request's head to the end of the response.
        key_id: identifier of the API key (not the key itself); None without a valid key.
        now: Unix time.
    """
    if not ACCESS.isEnabledFor(logging.INFO):
        return
    line = {
        "time": timestamp(now),
        "id": request_id,
        "method": method if method in METHODS else "",
        "path": KEYS.sub(f"{PREFIX}…", path)[:LONGEST],
        "status": status,
        "bytes": size,
        "ms": round(seconds * 1000, 2),
        "key": key_id,
        "worker": os.getpid(),
    }
    # a record without the place of the call, which takes longer to find than all else here
    ACCESS.handle(logging.LogRecord(ACCESS.name, logging.INFO, "", 0, msgspec.json.encode(line).decode(), None, None))


class Queued(QueueHandler):
    """A log handler that queues lines, and never blocks."""

    queue: "queue.SimpleQueue[str | None]"
    dropped = 0

    def prepare(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        return self.format(record)

    def enqueue(self, record: object) -> None:
        """Queue a line, or count it as dropped."""
        if self.queue.qsize() < HELD:
            self.queue.put_nowait(str(record))
        else:
            self.dropped += 1


class Writer(QueueListener):
    """The thread that writes the queued lines."""

    def __init__(self, queued: Queued, stream: TextIO) -> None:
        super().__init__(queued.queue)
        self._queued = queued
        self._stream = stream

    def handle(self, record: object) -> None:
        """Write a line, and then those that are queued in the next GATHERED seconds."""
        self._write([str(record)])
        time.sleep(GATHERED)
        lines = []
        while not self._queued.queue.empty():
            if (line := self.dequeue(False)) is None:
                self.enqueue_sentinel()
                break
            lines.append(str(line))
        self._write(lines)

    def _write(self, lines: list[str]) -> None:
        dropped, self._queued.dropped = self._queued.dropped, 0
        if dropped:
            lines.append(f"{dropped} log lines were dropped: the queue was full")
        with contextlib.suppress(OSError, ValueError):  # standard error was closed
            self._stream.write("".join(f"{each}\n" for each in lines))
            self._stream.flush()

    def stop(self) -> None:
        """Write the queued lines, and wait at most ENDING seconds for it."""
        self.enqueue_sentinel()
        if self._thread:
            self._thread.join(ENDING)


@contextlib.contextmanager
def logging_to(stream: TextIO | None = None) -> Iterator[None]:
    """Log to a stream (default: standard error) until the block ends: requests as JSON, other records as text."""
    queued = Queued(queue.SimpleQueue())
    queued.setFormatter(Bare())
    writer = Writer(queued, stream or sys.stderr)
    writer.start()
    root = logging.getLogger()
    before = ACCESS.level
    root.addHandler(queued)
    ACCESS.setLevel(logging.INFO)
    try:
        yield
    finally:
        root.removeHandler(queued)
        ACCESS.setLevel(before)
        writer.stop()
        queued.close()


class Bare(logging.Formatter):
    """A formatter that writes requests without a prefix and other records with time, level and logger name."""

    def __init__(self) -> None:
        super().__init__(FORMAT)

    def format(self, record: logging.LogRecord) -> str:
        """Format a record as one line, followed by its traceback if it has one."""
        return record.getMessage() if record.name == ACCESS.name else super().format(record)
