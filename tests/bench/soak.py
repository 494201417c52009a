"""Many builds published under load: no response is an error, mixes two builds, or is older than its request.

Run it with `make soak`; BUILDS sets their number. wrk puts load on the workers with many keys while one build after the
other is published. Some readers look at each of their responses. It ends with 1 after the first fault.
"""

import argparse
import itertools
import random
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.bench.serving.load import Load, measure, wrk
from tests.bench.serving.requests import create_keys
from tests.numbered import PATHS, numbers_in, publish
from tests.servers import as_process, redis_server

READERS = 3
LINES = 1_000  # of the log of the service that are searched for the reason of a fault
TURN = 2  # seconds of each run of wrk


@dataclass
class Soak:
    """A served home while builds are published: `newest` is the number of the last that was published."""

    address: str
    keys: Path
    requests: Path
    newest: int = 0
    read: int = 0
    seen: set[float] = field(default_factory=set)
    done: threading.Event = field(default_factory=threading.Event)

    def look(self, paths: Sequence[str]) -> None:
        """Check responses until all builds are published."""
        keys = self.keys.read_text().split()
        with httpx.Client(base_url=f"{self.address}/v1") as client:
            for path in itertools.cycle(paths):
                if self.done.is_set():
                    return
                at_least = self.newest
                response = client.get(path, headers={"X-Api-Key": random.choice(keys)})
                assert response.status_code == 200, f"{path}: {response.text}"
                numbers = numbers_in(path, response.json())
                assert len(numbers) == 1, f"{path} mixes builds {numbers}"
                assert min(numbers) >= at_least, f"{path} is of build {numbers}, asked after {at_least} was published"
                self.read += 1
                self.seen |= numbers

    def load(self) -> list[Load]:
        """Put load on the workers until all builds are published."""
        loads = []
        while not self.done.is_set():
            loads.append(measure(self.address, self.requests, self.keys, TURN))
            assert not loads[-1].errors, f"{loads[-1].errors} of {loads[-1].requests} requests failed"
        return loads


@dataclass(frozen=True, slots=True)
class Soaked:
    """The observations: `answered` responses to wrk, and `read` responses that were checked, of `seen` builds."""

    builds: int
    workers: int
    seconds: float
    answered: int
    slowest: float
    read: int
    seen: int

    def __str__(self) -> str:
        return (
            f"{self.builds} builds in {self.seconds:.0f} seconds, workers: {self.workers}, responses: "
            f"{self.answered:,} without an error, the slowest in {self.slowest:.0f} ms; {self.read:,} of {self.seen} "
            "builds were looked at: none mixes builds, or is older than its request"
        )


def soak(home: Path, builds: int, workers: int, redis: str | None) -> Soaked:
    """Publish builds under load.

    Raises:
        AssertionError: a response was an error, mixed two builds, or was older than its request.
    """
    published = home / "published"
    publish(published, 0)
    keys = create_keys(home)  # before it is served: the file of accounts is made anew
    requests = home / "requests.txt"
    requests.write_text("".join(f"/v1{path}\n" for path in PATHS))
    with ExitStack() as stack:
        environment = {}
        if workers > 1:
            assert redis, "several workers need the Debian package redis-server (make system)"
            environment["REDIS_URL"], _ = stack.enter_context(redis_server(redis, home))
        served = stack.enter_context(as_process(home, "--workers", str(workers), **environment))
        running = Soak(served.address, keys, requests)
        pool = stack.enter_context(ThreadPoolExecutor(READERS + 1))
        began = time.monotonic()
        try:
            loading = pool.submit(running.load)
            readers = [pool.submit(running.look, PATHS[place:] + PATHS[:place]) for place in range(READERS)]
            for number in range(1, builds + 1):
                publish(published, number, overlaid=number % 10 > 0)
                running.newest = number
                if failed := [each for each in (loading, *readers) if each.done()]:
                    failed[0].result()
        finally:
            running.done.set()
        for reader in readers:
            reader.result()
        loads = loading.result()
        seconds = time.monotonic() - began
    answered, slowest = sum(each.requests for each in loads), max(each.longest for each in loads) / 1000
    return Soaked(builds, workers, seconds, answered, slowest, running.read, len(running.seen))


def _log(home: Path) -> str:
    """The last lines that the service wrote, without the access log."""
    return "\n".join(line for line in (home / "stderr").read_text().splitlines()[-LINES:] if line[:1] != "{")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--builds", type=int, default=100)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    given = parser.parse_args()
    wrk()
    for workers in given.workers:
        with tempfile.TemporaryDirectory() as home:
            try:
                print(soak(Path(home), given.builds, workers, shutil.which("redis-server")), flush=True)
            except AssertionError as error:
                sys.exit(f"{workers} workers: {error}\n{_log(Path(home))}")


if __name__ == "__main__":
    main()
