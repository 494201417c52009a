"""The access log: one line of JSON per request, on standard error.

Belongs here: the fields of a line, and the thread that writes lines. Does not: collecting the fields (edge).

A line never contains an API key. Queries are not logged, and of methods only those of HTTP. The path is logged as the
template of its endpoint; for a path without an endpoint, text that looks like a key is masked. A separate thread writes
the lines, so that a slow reader or a full pipe never delays a request. When the queue is full, lines are dropped, and
their number is logged.
"""

import contextlib
import json
import logging
import os
import queue
import re
import sys
import threading
from collections.abc import Iterator
from typing import TextIO

from serve.access.keys import PREFIX
from serve.clock import timestamp

ACCESS = logging.getLogger("serve.access")
FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
KEYS = re.compile(rf"{PREFIX}\w*")
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "CONNECT", "OPTIONS", "TRACE"})  # RFC 9110, 5789
LONGEST = 200  # characters logged of a path without an endpoint
HELD = 10_000  # lines that the queue holds
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
    ACCESS.info(json.dumps(line, ensure_ascii=False, separators=(",", ":")))


class Writer(logging.Handler):
    """A log handler that queues lines for a writer thread."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._stream = stream
        self._lines: queue.Queue[str | None] = queue.Queue(HELD)
        self._dropped = 0
        self._thread = threading.Thread(target=self._write, name="log", daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        """Queue a record; never block."""
        try:
            self._lines.put_nowait(self.format(record))
        except queue.Full:
            self._dropped += 1

    def close(self) -> None:
        """Write the queued lines, and wait at most ENDING seconds for it."""
        with contextlib.suppress(queue.Full):
            self._lines.put_nowait(None)
        self._thread.join(ENDING)
        super().close()

    def _write(self) -> None:
        while (line := self._lines.get()) is not None:
            dropped, self._dropped = self._dropped, 0
            lines = [line, f"{dropped} log lines were dropped: the queue was full"] if dropped else [line]
            with contextlib.suppress(OSError, ValueError):  # standard error was closed
                self._stream.write("".join(f"{each}\n" for each in lines))
                self._stream.flush()


@contextlib.contextmanager
def logging_to(stream: TextIO | None = None) -> Iterator[None]:
    """Log to a stream (default: standard error) until the block ends: requests as JSON, other records as text."""
    writer, access = Writer(stream or sys.stderr), Bare()
    writer.setFormatter(access)
    root = logging.getLogger()
    before = ACCESS.level
    root.addHandler(writer)
    ACCESS.setLevel(logging.INFO)
    try:
        yield
    finally:
        root.removeHandler(writer)
        ACCESS.setLevel(before)
        writer.close()


class Bare(logging.Formatter):
    """A formatter that writes requests without a prefix and other records with time, level and logger name."""

    def __init__(self) -> None:
        super().__init__(FORMAT)

    def format(self, record: logging.LogRecord) -> str:
        """Format a record as one line, followed by its traceback if it has one."""
        return record.getMessage() if record.name == ACCESS.name else super().format(record)
