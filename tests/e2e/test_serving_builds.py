"""Builds published under load: no errors, and no response that mixes two builds."""

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from serve.settings import Settings
from tests import builds
from tests.servers import Clock, active_key, in_process

BUILDS = 10
READERS = 3
PAUSE = 0.05
"""Seconds between two requests of a reader, because publishing shares the processor with them."""
PERIODS = 8


def publish(published: Path, number: int) -> None:
    """Publish a build whose number is in everything that a response can contain."""
    company = builds.company("LNTR", 1, name=f"Lantern {number}", exchange="Nasdaq", sic="3571")
    periods = [
        builds.period(company, "annual", builds.date(2000 + year, 12, 31), 4, revenue=float(number), roic=number + 0.5)
        for year in range(PERIODS)
    ]
    for row in periods:
        for name in set(row) - {column.name for column in builds.schema.BY_NAME["financials"].columns}:
            del row[name]
    moment = f"2026-03-02T06:05:{number:02d}Z"
    builds.publish_small(
        published,
        f"b{number}",
        {"companies": [company], "financials": periods},
        {company["cik"]: moment},
        sync_id=f"s{number}",
        finished_at=moment,
    )


def numbers_in(path: str, body: dict[str, object]) -> set[float]:
    """The numbers of all builds in a response."""
    data = body["data"]
    if path.endswith("/status"):
        return {float(data["build"][1:]), float(data["last_synchronized_at"][-3:-1])}
    if "financials" in path:
        assert len(data) == PERIODS
        return {value for row in data for value in (row["values"]["revenue"], row["values"]["roic"] - 0.5)}
    companies = data if isinstance(data, list) else [data]
    return {
        number
        for company in companies
        for number in (float(company["name"].split()[1]), float(company["data_updated_at"][-3:-1]))
    }


@pytest.mark.parametrize("cache", [True, False])
def test_builds_published_under_load(tmp_path: Path, cache: bool) -> None:
    """A request after a publication gets the new build."""
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
                    clock.now = builds.MADE_AT.timestamp() + 60 * next(seconds)
                    at_least = newest
                    response = client.get(path)
                    assert response.status_code == 200, response.text
                    numbers = numbers_in(path, response.json())
                    assert len(numbers) == 1, f"{path} mixes builds {numbers}"
                    assert min(numbers) >= at_least, f"{path} is older than what was published before it was asked"
                    seen |= numbers
                    done.wait(PAUSE)
            return seen

        paths = ["/companies", "/companies/LNTR", "/companies/LNTR/financials?period=annual", "/status"]
        with ThreadPoolExecutor(READERS) as pool:
            try:
                readers = [pool.submit(read, paths[place:] + paths[:place]) for place in range(READERS)]
                for number in range(1, BUILDS + 1):
                    publish(published, number)
                    newest = number
            finally:
                done.set()
            seen = set().union(*(reader.result() for reader in readers))
    assert len(seen) > BUILDS / 4, "they were read while they changed"
