"""The memory of processes: proportional set size, which counts a page shared by several processes once in all.

Belongs here: reading it from Linux. Does not: starting the processes (synchronization, universe, serving).
"""

import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path

SAMPLE_EVERY = 0.25
"""Seconds between two samples of the memory."""


class Memory(threading.Thread):
    """Samples the memory of a process and its descendants until it ends."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid, self.largest = pid, 0.0
        self.start()

    def run(self) -> None:
        while Path(f"/proc/{self.pid}").exists():
            self.largest = max(self.largest, sum(map(megabytes, _tree(self.pid))))
            time.sleep(SAMPLE_EVERY)


def megabytes(pid: int) -> float:
    """The memory of one process; 0 if it has ended."""
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    found = re.search(r"^Pss: +(\d+) kB", rollup, re.MULTILINE)
    return int(found[1]) / 1000 if found else 0.0


def _tree(pid: int) -> Iterator[int]:
    yield pid
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return
    for child in children:
        yield from _tree(int(child))
