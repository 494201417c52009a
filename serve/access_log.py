"""The access log: one line of JSON a request, on standard error.

Belongs here: what a line says, and how lines leave the process. Does not: what is noted of a request (front).

A line never holds a key: queries are not logged, an address is logged as the path of its endpoint, and where it has
none, what looks like a key is blotted out. Lines are written by a thread of their own: a reader that is slow, or a full
pipe, holds up no request. What it cannot take is dropped, and how much that was is told.
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
LONGEST = 200  # characters of a path that no endpoint has
HELD = 10_000  # lines that wait to be written
ENDING = 1.0  # seconds that the end waits for them


def note(
    *, request_id: str, method: str, path: str, status: int, size: int, seconds: float, key_id: str | None, now: float
) -> None:
    """Log one request.

    Args:
        request_id: as the response has it.
        method: of HTTP.
        path: the endpoint's, with placeholders, or one that no endpoint has.
        status: of the response.
        size: bytes of its body.
        seconds: from the request's head to the end of the response.
        key_id: the identifier of the key that it was made with, which is not the key.
        now: Unix time.
    """
    if not ACCESS.isEnabledFor(logging.INFO):
        return
    line = {
        "time": timestamp(now),
        "id": request_id,
        "method": method[:LONGEST],
        "path": KEYS.sub(f"{PREFIX}…", path)[:LONGEST],
        "status": status,
        "bytes": size,
        "ms": round(seconds * 1000, 2),
        "key": key_id,
        "worker": os.getpid(),
    }
    ACCESS.info(json.dumps(line, ensure_ascii=False, separators=(",", ":")))


class Writer(logging.Handler):
    """Hands lines to a thread that writes them."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._stream = stream
        self._lines: queue.Queue[str | None] = queue.Queue(HELD)
        self._dropped = 0
        self._thread = threading.Thread(target=self._write, name="log", daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        """Take a record; never wait."""
        try:
            self._lines.put_nowait(self.format(record))
        except queue.Full:
            self._dropped += 1

    def close(self) -> None:
        """Write what is there, unless nobody reads it."""
        with contextlib.suppress(queue.Full):
            self._lines.put_nowait(None)
        self._thread.join(ENDING)
        super().close()

    def _write(self) -> None:
        while (line := self._lines.get()) is not None:
            dropped, self._dropped = self._dropped, 0
            lines = [line, f"{dropped} lines were dropped: nobody reads them"] if dropped else [line]
            with contextlib.suppress(OSError, ValueError):  # standard error was closed
                self._stream.write("".join(f"{each}\n" for each in lines))
                self._stream.flush()


@contextlib.contextmanager
def logging_to(stream: TextIO | None = None) -> Iterator[None]:
    """Log to a stream, standard error by default, until the block ends: requests as bare JSON, all else as text."""
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
    """Requests as they are, everything else with time, level and name."""

    def __init__(self) -> None:
        super().__init__(FORMAT)

    def format(self, record: logging.LogRecord) -> str:
        """One line, or several where there is a trace."""
        return record.getMessage() if record.name == ACCESS.name else super().format(record)
