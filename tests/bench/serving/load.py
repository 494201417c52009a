"""Load on a server: wrk with a file of requests, and its measurements.

Belongs here: running wrk, and the processor cores of server and load. Does not: which requests are sent (requests).
"""

import json
import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SCRIPT = Path(__file__).with_name("load.lua")
CONNECTIONS = 16
LONGEST = 600
"""Seconds after which sending all requests is given up."""


@dataclass(frozen=True, slots=True)
class Load:
    """Measurements of wrk: responses, their bytes, microseconds, errors, and durations of responses."""

    requests: int
    bytes: int
    duration: int
    errors: int
    p50: int
    p99: int
    longest: int

    @property
    def rate(self) -> float:
        """Responses a second."""
        return self.requests / (self.duration / 1e6)

    @property
    def size(self) -> float:
        """Mean bytes of a response with its head."""
        return self.bytes / max(1, self.requests)


def wrk() -> str:
    """The path of wrk.

    Raises:
        SystemExit: it is missing.
    """
    found = shutil.which("wrk")
    if not found:
        raise SystemExit("wrk is missing: install the Debian package wrk (make system)")
    return found


def measure(address: str, requests: Path, keys: Path, seconds: int, *, once: bool = False) -> Load:
    """Send requests over CONNECTIONS connections.

    Args:
        address: address of the server.
        requests: the file of requests, one a line: a path, or a path, a tab and an entity tag.
        keys: the file of keys, one a line.
        seconds: how long.
        once: send each request once, in order, instead of in random order; the file must have enough of them.
    """
    said = _run(address, requests, keys, seconds, once).splitlines()
    if not said:
        raise SystemExit(f"{requests} has too few requests for {seconds} seconds")
    return Load(**json.loads(said[-1]))


def send_all(address: str, requests: Path, keys: Path) -> None:
    """Send each request once; wrk ends after the last, and reports nothing."""
    _run(address, requests, keys, LONGEST, True)


def _run(address: str, requests: Path, keys: Path, seconds: int, once: bool) -> str:
    arguments = ["once" if once else "random", str(requests), str(keys), str(random.randrange(1 << 30))]
    options = [f"-c{CONNECTIONS}", "-t1", f"-d{seconds}s", "--timeout", "30s", "-s", str(SCRIPT), address]
    ran = subprocess.run([wrk(), *options, "--", *arguments], capture_output=True, text=True, check=False)
    if ran.returncode:
        raise SystemExit(f"wrk failed: {ran.stdout}{ran.stderr}")
    return ran.stdout


@contextmanager
def on_core(number: int | None) -> Iterator[None]:
    """Let the processes that the block starts run on one processor core only; None: on all.

    Raises:
        SystemExit: there are fewer cores.
    """
    cores = os.sched_getaffinity(0)
    if number is None:
        yield
        return
    if number >= len(cores):
        raise SystemExit(f"server and load need {number + 1} processor cores, and there are {len(cores)}")
    os.sched_setaffinity(0, {sorted(cores)[number]})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)
