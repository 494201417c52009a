"""Readers that ask a service all the time, whatever happens to its home.

Belongs here: asking, judging each answer, and comparing the counts of requests. Does not: any fault.
"""

import itertools
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import httpx

from tests.servers import Served, as_process
from tests.torture.days import COMPANIES, PATHS, WrongAnswer
from tests.torture.ground import Found, Ground

READERS = 2
PAUSE = 0.08
"""Seconds between two requests of a reader: less than 60 a minute with each key."""
DAY = 86_400


class Witness:
    """Readers of a served home.

    `newest` is the day of the newest build that is known to be published, `slowest` the longest time of an answer in
    seconds.
    """

    def __init__(self, ground: Ground, served: Served, found: Found) -> None:
        self.newest = ground.days.today
        self.served = served
        self.counts: Counter[str] = Counter()
        self.done = threading.Event()
        self.slowest = 0.0
        self._ground = ground
        self._found = found

    def read(self, paths: Sequence[str], keys: Sequence[tuple[str, str]]) -> None:
        """Ask until it is over; each answer must be of a day between the newest known one and today."""
        with httpx.Client(base_url=f"{self.served.address}/v1", timeout=60) as client:
            for number, (path, (key, secret)) in enumerate(zip(itertools.cycle(paths), itertools.cycle(keys))):
                if self.done.wait(PAUSE):
                    return
                path, at_least = path.format(number % COMPANIES), self.newest
                try:
                    began = time.monotonic()
                    response = client.get(path, headers={"X-Api-Key": secret})
                    self.slowest = max(self.slowest, time.monotonic() - began)
                    self.counts[key] += response.status_code == 200
                    if response.status_code != 200:
                        raise WrongAnswer(f"{path}: {response.status_code} {response.text}")
                    first, last = self._ground.days.day_of(path, response.json())
                    if last < at_least or first > self._ground.days.today:
                        raise WrongAnswer(f"{path} is of day {first} to {last}, and not from {at_least} on")
                    self._found.answers += 1
                except (httpx.HTTPError, WrongAnswer, LookupError, ValueError) as error:
                    self._found.wrong.append(f"{error!r}"[:1000])


@contextmanager
def witnessed(ground: Ground, home: Path, found: Found) -> Iterator[Witness]:
    """Serve a home and send requests until the block ends; then the stored counts must equal the number of answers."""
    began = int(time.time() // DAY)
    with as_process(home) as served:
        witness = Witness(ground, served, found)
        keys = list(zip(ground.keys, ground.secrets, strict=True))
        with ThreadPoolExecutor(READERS) as pool:
            readers = [
                pool.submit(witness.read, PATHS[place:] + PATHS[:place], keys[place::READERS])
                for place in range(READERS)
            ]
            try:
                yield witness
            finally:
                witness.done.set()
        for reader in readers:
            reader.result()
    if int(time.time() // DAY) == began:
        found.losses += _miscounted(home, witness.counts)


def _miscounted(home: Path, counts: Counter[str]) -> list[str]:
    with closing(sqlite3.connect(home / "accounts.sqlite")) as accounts:
        stored = dict(accounts.execute("SELECT key_id, sum(requests) FROM daily_requests GROUP BY key_id").fetchall())
    return [
        f"{key} has {stored.get(key, 0)} requests counted, and sent {sent}"
        for key, sent in counts.items()
        if stored.get(key, 0) != sent
    ]
