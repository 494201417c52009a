"""Reads the rows of a large build in a separate process, so that requests are not slowed down meanwhile.

Belongs here: that process, and how its result reaches the one that serves. Does not: reading the rows (memory), when
they are read (reader).

Reading and encoding the rows of 6,000 companies takes two seconds of a processor core. A thread would take them from
the event loop, which then waits for the interpreter lock in each of its turns. The process writes the rows into an
unnamed file, which the service maps: taking over 120 MB is a moment's work, and nothing is copied. As long as the
previous build answers requests, the requests have priority.
"""

import mmap
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
from itertools import accumulate, pairwise
from pathlib import Path
from typing import BinaryIO

import duckdb

from warehouse.errors import BuildUnreadable, first_line
from warehouse.read.memory import Memory, read

NICE = 5
"""Added to the nice value of the process unless it is urgent: on the core of a busy service it then gets a quarter."""


def read_in_process(file: Path, *, is_urgent: bool) -> Memory:
    """Read the rows of a build's file in another process, which ends with this one.

    Args:
        file: the file.
        is_urgent: whether requests wait for the rows; if not, requests have priority.

    Raises:
        BuildUnreadable: the file is not a build, or the process was killed, could not be started or had no space.
    """
    command = [sys.executable, "-m", __name__, str(file), str(0 if is_urgent else NICE)]
    try:
        with tempfile.TemporaryFile() as rows:
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=rows, stderr=subprocess.PIPE) as process:
                said = process.stderr.read() if process.stderr else b""
            if process.returncode:
                reason = said.decode(errors="replace").strip().partition("\n")[0]  # libraries may add lines as it ends
                raise BuildUnreadable(f"{file}: {reason or f'its reader ended with status {process.returncode}'}")
            return _mapped(rows)
    except OSError as error:
        raise BuildUnreadable(f"{file}: no process can read its rows: {first_line(error)}") from error


def _write(memory: Memory, rows: BinaryIO) -> None:
    """Write rows: first the large buffers, then everything else, then where each part ends."""
    parts: list[pickle.PickleBuffer] = []
    rest = pickle.dumps(memory, protocol=5, buffer_callback=parts.append)
    sizes = [rows.write(part.raw()) for part in parts] + [rows.write(rest)]
    ends = pickle.dumps([0, *accumulate(sizes)])
    rows.write(ends + len(ends).to_bytes(8))


def _mapped(file: BinaryIO) -> Memory:
    """Load the rows from a file; their large buffers stay in the mapped file."""
    content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    size = int.from_bytes(content[-8:])
    ends: list[int] = pickle.loads(content[-8 - size : -8])
    *parts, rest = (content[start:end] for start, end in pairwise(ends))
    memory: Memory = pickle.loads(rest, buffers=parts)
    return memory


def _end_with_parent() -> None:
    os.read(sys.stdin.fileno(), 1)
    os._exit(1)


def main(file: Path, nice: int) -> None:
    """Read a build and write its rows to standard output; on failure write the reason to standard error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is meant for the service; this process ends with it
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.nice(nice)
    try:
        _write(read(file), sys.stdout.buffer)
        sys.stdout.flush()
    except (duckdb.Error, OSError) as error:
        sys.exit(first_line(error))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
