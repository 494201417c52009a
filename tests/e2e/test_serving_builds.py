"""Builds published under load: no errors, and no response that mixes two builds."""

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from serve.settings import Settings
from tests.numbered import MADE_AT, PATHS, numbers_in, publish
from tests.servers import Clock, active_key, in_process

BUILDS = 10
READERS = 3
PAUSE = 0.05
"""Seconds between two requests of a reader, because publishing shares the processor with them."""


@pytest.mark.parametrize("cache", [True, False])
def test_builds_published_under_load(tmp_path: Path, cache: bool) -> None:
    """A request after a publication gets the new build; two of three have an overlay."""
    published = tmp_path / "published"
    publish(published, 0)
    clock = Clock()
    key = active_key(tmp_path)
    seconds = itertools.count()
    done = threading.Event()
    newest = 0

    with in_process(Settings(tmp_path, cache=cache), clock) as address:

        def read(paths: list[str]) -> set[float]:
            seen: set[float] = set()
            with httpx.Client(base_url=f"{address}/v1", headers={"X-Api-Key": key}) as client:
                for path in itertools.cycle(paths):
                    if done.is_set():
                        return seen
                    # a minute per request: no rate limit is reached
                    clock.now = MADE_AT.timestamp() + 60 * next(seconds)
                    at_least = newest
                    response = client.get(path)
                    assert response.status_code == 200, response.text
                    numbers = numbers_in(path, response.json())
                    assert len(numbers) == 1, f"{path} mixes builds {numbers}"
                    assert min(numbers) >= at_least, f"{path} is older than what was published before it was asked"
                    seen |= numbers
                    done.wait(PAUSE)
            return seen

        paths = [*PATHS, "/status"]
        with ThreadPoolExecutor(READERS) as pool:
            try:
                readers = [pool.submit(read, paths[place:] + paths[:place]) for place in range(READERS)]
                for number in range(1, BUILDS + 1):
                    publish(published, number, overlaid=number % 3 > 0)
                    newest = number
            finally:
                done.set()
            seen = set().union(*(reader.result() for reader in readers))
    assert len(seen) > BUILDS / 4, "they were read while they changed"
