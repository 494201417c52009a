"""Effect of downloads on other requests: durations at an even pace, alone and during downloads of an account.

Run it with `make bench-downloads`. One worker answers requests of many keys, in turns alone, during as many downloads
as an account may have at the speed of a fast line, and during as many that run as fast as they can. The service and the
load share the cores of the machine. A duration counts from the moment at which its request was due.
"""

import argparse
import asyncio
import itertools
import random
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from serve.access.transfers import AT_ONCE
from tests.bench.serving.requests import create_keys
from tests.numbered import PATHS, publish
from tests.servers import active_key, as_process

RATE = 200  # requests a second
CONNECTIONS = 20
SIZE = 64 << 30  # bytes of the file that is downloaded; it takes no place
WAYS = {"alone": None, "beside downloads of 12 MB a second (100 Mbit/s) each": "12M", "beside unlimited downloads": ""}
"""The downloads at the same time as the requests, and the limit of each download's speed."""


async def durations(address: str, keys: Sequence[str], seconds: float) -> list[float]:
    """Seconds that each request took, of an even pace."""
    host, _, port = urlsplit(address).netloc.partition(":")
    begin, count = time.perf_counter() + 0.2, int(seconds * RATE)
    numbers, took = iter(range(count)), []

    async def ask() -> None:
        reader, writer = await asyncio.open_connection(host, int(port))
        for number in numbers:
            due = begin + number / RATE
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            path, key = PATHS[number % len(PATHS)], random.choice(keys)
            writer.write(f"GET /v1{path} HTTP/1.1\r\nHost: {host}\r\nX-Api-Key: {key}\r\n\r\n".encode())
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200 "), head
            [length] = (line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            await reader.readexactly(int(length.partition(b":")[2]))
            took.append(time.perf_counter() - due)
        writer.close()

    await asyncio.gather(*(ask() for _ in range(CONNECTIONS)))
    return took


@contextmanager
def downloading(address: str, key: str, limit: str | None) -> Iterator[None]:
    """Downloads of an account until the block ends, as many as it may have; None: no download."""
    pointer = httpx.get(f"{address}/v1/status").json()["data"]["build"]
    command = ["curl", "--silent", "--output", "/dev/null", "--header", f"X-Api-Key: {key}"]
    command += ["--limit-rate", limit] if limit else []
    command += [f"{address}/downloads/{pointer}/warehouse.duckdb"]
    running = [subprocess.Popen(command) for _ in range(0 if limit is None else AT_ONCE)]
    try:
        time.sleep(0.5)
        yield
        assert all(each.poll() is None for each in running), "a download has ended"
    finally:
        for each in running:
            each.kill()
            each.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        publish(home / "published", 0)
        [file] = (home / "published").glob("warehouse-*.duckdb")
        file.chmod(0o600)
        with file.open("ab") as stream:
            stream.truncate(SIZE)
        keys = create_keys(home).read_text().split()
        key = active_key(home, "downloads@example.org")
        took: defaultdict[str, list[list[float]]] = defaultdict(list)
        with as_process(home) as served:
            for _, (name, limit) in itertools.product(range(given.rounds), WAYS.items()):
                with downloading(served.address, key, limit):
                    took[name].append(sorted(asyncio.run(durations(served.address, keys, given.seconds))))
    for name, turns in took.items():
        median, p99 = ([1000 * each[int(part * len(each))] for each in turns] for part in (0.5, 0.99))
        print(f"{name}: median {_shown(median)}, p99 {_shown(p99)} milliseconds")


def _shown(turns: Sequence[float]) -> str:
    return " / ".join(f"{each:.1f}" for each in turns)


if __name__ == "__main__":
    main()
