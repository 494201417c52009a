"""The access log: one line of JSON per request, on standard error.

Belongs here: the fields of a line, and the thread that writes lines. Does not: collecting the fields (edge).

A line never contains an API key. Queries are not logged, and only methods of HTTP. The path is logged as the template
of its endpoint; for a path without an endpoint, text that looks like a key is masked. A separate thread writes the
lines, so that a slow reader or a full pipe never delays a request. It gets the lines of some hundredths of a second
at once, because each wake-up of the thread interrupts requests. When the queue is full, lines are dropped, and their
number is logged.
"""

import asyncio
import contextlib
import logging
import os
import queue
import re
import sys
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
HELD = 500  # batches of lines that the queue holds
GATHERED = 0.02  # seconds in which lines are gathered to be written at once
ENDING = 1.0  # seconds that `close` waits for the queue to be written
WORKER = os.getpid()
ENCODER = msgspec.json.Encoder()
WRITTEN: "list[Queued]" = []
"""The queue of the thread that writes lines. If it is empty, a line is a record of the logger `serve.access`."""


class Line(msgspec.Struct, gc=False):
    """The fields of a line, in the order in which they are written."""

    time: str
    id: str
    method: str
    path: str
    status: int
    bytes: int
    ms: float
    key: str | None
    worker: int


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
    line = Line(
        timestamp(now),
        request_id,
        method if method in METHODS else "",
        (KEYS.sub(f"{PREFIX}…", path) if PREFIX in path else path)[:LONGEST],
        status,
        size,
        int(seconds * 100_000) / 100,  # rounding takes longer
        key_id,
        WORKER,
    )
    if WRITTEN:
        WRITTEN[-1].gather(line)
    elif ACCESS.isEnabledFor(logging.INFO):
        ACCESS.info("%s", ENCODER.encode(line).decode())


class Queued(QueueHandler):
    """A log handler that queues text of whole lines, and never blocks."""

    queue: "queue.SimpleQueue[str | None]"
    dropped = 0

    def __init__(self) -> None:
        super().__init__(queue.SimpleQueue())
        self.setFormatter(logging.Formatter(FORMAT))
        self._gathered: list[Line] = []

    def prepare(self, record: logging.LogRecord) -> str:
        """Format a record as a line."""
        return f"{self.format(record)}\n"

    def enqueue(self, record: object) -> None:
        """Queue lines, or count them as dropped."""
        lines = str(record)
        if self.queue.qsize() < HELD:
            self.queue.put_nowait(lines)
        else:
            self.dropped += lines.count("\n")

    def gather(self, line: Line) -> None:
        """Queue a line together with the lines of the next GATHERED seconds; call it in the event loop."""
        if not self._gathered:
            asyncio.get_running_loop().call_later(GATHERED, self.enqueue_gathered)
        self._gathered.append(line)

    def enqueue_gathered(self) -> None:
        """Queue the lines that were gathered."""
        if self._gathered:
            lines, self._gathered = ENCODER.encode_lines(self._gathered), []
            self.enqueue(lines.decode())


class Writer(QueueListener):
    """The thread that writes the queued lines."""

    def __init__(self, queued: Queued, stream: TextIO) -> None:
        super().__init__(queued.queue)
        self._queued = queued
        self._stream = stream

    def handle(self, record: object) -> None:
        """Write queued lines."""
        lines = str(record)
        dropped, self._queued.dropped = self._queued.dropped, 0
        if dropped:
            lines += f"{dropped} log lines were dropped: the queue was full\n"
        with contextlib.suppress(OSError, ValueError):  # standard error was closed
            self._stream.write(lines)
            self._stream.flush()

    def stop(self) -> None:
        """Write the queued lines, and wait for that at most ENDING seconds."""
        self.enqueue_sentinel()
        if self._thread:
            self._thread.join(ENDING)


@contextlib.contextmanager
def logging_to(stream: TextIO | None = None) -> Iterator[None]:
    """Log to a stream (default: standard error) until the block ends: requests as JSON, other records as text."""
    queued = Queued()
    writer = Writer(queued, stream or sys.stderr)
    writer.start()
    root = logging.getLogger()
    root.addHandler(queued)
    WRITTEN.append(queued)
    try:
        yield
    finally:
        root.removeHandler(queued)
        WRITTEN.remove(queued)
        queued.enqueue_gathered()
        writer.stop()
        queued.close()
