"""Builds published under load, and damaged builds: no errors, and no response that mixes two builds."""

import itertools
import random
import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from serve.settings import Settings
from tests.numbered import MADE_AT, PATHS, numbers_in, publish
from tests.servers import Clock, active_key, as_process, in_process, wait_until
from tests.torture.bits import CUTS
from warehouse.read.reader import FALLEN_BACK

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


def flip(path: Path, _: random.Random) -> None:
    """Flip the first bit, by which DuckDB knows an overlay: it ignores this one."""
    content = path.read_bytes()
    path.chmod(0o600)
    path.write_bytes(bytes([content[0] ^ 1]) + content[1:])


@pytest.mark.parametrize(
    ("overlaid", "name", "damage"),
    [
        *((True, "warehouse.duckdb.wal", damage) for damage in (*CUTS.values(), flip)),
        *((False, "warehouse.duckdb", damage) for damage in (CUTS["cut to a half"], CUTS["removed"])),
    ],
)
def test_a_service_that_starts_with_a_damaged_build_serves_the_one_before(
    tmp_path: Path, overlaid: bool, name: str, damage: Callable[[Path, random.Random], None]
) -> None:
    """No answer has rows of another build than the status names, which says why; the next build is served."""
    published = tmp_path / "published"
    publish(published, 0)
    publish(published, 1, overlaid=overlaid)
    damage(published / name, random.Random())
    with (
        as_process(tmp_path, FUNDAMENTALS_METRICS_PORT="0") as served,
        httpx.Client(base_url=f"{served.address}/v1", headers={"X-Api-Key": active_key(tmp_path)}) as client,
    ):

        def state() -> tuple[str, str, str | None]:
            status = client.get("/status").json()["data"]
            return status["build"], status["status"], status["reason"]

        assert [numbers_in(path, client.get(path).json()) for path in PATHS] == [{0.0}] * len(PATHS)
        assert state() == ("b0", "degraded", FALLEN_BACK)
        [metrics] = re.findall(r"metrics are on (\S+)", served.errors.read_text())
        wait_until(lambda: "\nfundamentals_build_unreadable 1.0\n" in httpx.get(metrics).text)
        publish(published, 2)
        assert numbers_in(PATHS[0], client.get(PATHS[0]).json()) == {2.0}
        assert state() == ("b2", "up", None)
