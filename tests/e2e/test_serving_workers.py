"""Worker processes on one socket, with a real Redis server: revocation, restart and stop.

That all workers together pass sixty requests a minute: tests/scale/test_replicas.py.
"""

import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from serve.access.accounts import Accounts
from tests import builds
from tests.servers import (
    ONCE_IN_A_WHILE,
    PATIENCE,
    Served,
    active_key,
    as_process,
    redis_server,
    wait_until,
)

EMAIL = "reader@example.org"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    builds.small(home / "published")
    return home


@pytest.fixture
def redis(program: Callable[[str, str], str]) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    executable = program("redis-server", "redis-server")
    with tempfile.TemporaryDirectory() as folder, redis_server(executable, Path(folder)) as running:
        yield running


def test_while_redis_is_away_the_process_counts_on_and_the_status_is_degraded(
    home: Path, program: Callable[[str, str], str]
) -> None:
    """As docs/architecture.md says: from the last count that it knows; once Redis is back, its counts apply."""
    executable, key = program("redis-server", "redis-server"), active_key(home)
    with (
        tempfile.TemporaryDirectory() as folder,
        redis_server(executable, Path(folder)) as (url, process),
        as_process(home, REDIS_URL=url) as served,
        httpx.Client(base_url=f"{served.address}/v1") as client,
    ):

        def status() -> str:
            response = client.get("/status", headers={"X-Api-Key": key})
            return str(response.json()["data"]["status"])

        def left_of_the_day() -> str:
            response = client.get("/companies", headers={"X-Api-Key": key})
            return response.headers["RateLimit"].partition('"day";r=')[2].partition(";")[0]

        assert status() == "up"
        assert [left_of_the_day() for _ in range(2)] == ["9999", "9998"]
        process.kill()
        process.wait(PATIENCE)
        assert [left_of_the_day() for _ in range(2)] == ["9997", "9996"]
        assert status() == "degraded"
        with redis_server(executable, Path(folder)):
            wait_until(lambda: status() == "up", ONCE_IN_A_WHILE)
            assert left_of_the_day() == "9999", "a new Redis server has no counts"


def test_a_revocation_takes_effect_in_every_worker_within_five_seconds(home: Path, redis: tuple[str, object]) -> None:
    key = active_key(home)
    with as_process(home, "--workers", "2", REDIS_URL=redis[0]) as served:

        def ask() -> int:
            return httpx.get(f"{served.address}/v1/companies", headers={"X-Api-Key": key}).status_code

        known: set[int] = set()
        while len(known) < 2:
            assert ask() in (200, 429)
            known = {line["worker"] for line in served.requests() if line["key"]}
        accounts = Accounts(home / "accounts.sqlite")
        accounts.revoke_key(accounts.keys_of(EMAIL)[0].id, time.time())
        accounts.close()
        deadline = time.monotonic() + 5
        refusing: set[int] = set()
        while len(refusing) < 2:
            assert ask() != 200 or time.monotonic() < deadline
            refusing = {line["worker"] for line in served.requests() if line["status"] == 401}


def test_all_workers_give_the_same_response(home: Path, redis: tuple[str, object]) -> None:
    """Except for its time; and the same ETag, so that any worker can answer a conditional request."""
    key = active_key(home)
    with as_process(home, "--workers", "2", REDIS_URL=redis[0]) as served:
        both_workers(served)
        answers = set()
        deadline = time.monotonic() + 2 * PATIENCE
        while len({line["worker"] for line in served.requests() if line["key"] and line["status"] == 200}) < 2:
            # The kernel chooses the worker: one can use up the limit of a minute before the other is asked.
            assert time.monotonic() < deadline
            response = httpx.get(f"{served.address}/v1/companies/LNTR", headers={"X-Api-Key": key})
            if response.status_code == 429:
                time.sleep(int(response.headers["Retry-After"]))
                continue
            body = response.json()
            del body["meta"]["generated_at"]
            answers.add((response.headers["ETag"], str(body)))
    assert len(answers) == 1


def lives(process: int) -> bool:
    """Whether a process exists and is not a zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


OF_THE_STATUS = "fundamentals_requests_total", (("path", "/v1/status"), ("status", "200"))


def metrics(served: Served) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """The metrics of a service by name and labels, read with the parser of Prometheus' own client."""
    found = re.search(r"metrics are on (\S+)", served.errors.read_text())
    assert found
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(httpx.get(found[1]).text)
        for sample in family.samples
    }


def both_workers(served: Served) -> set[int]:
    """The two workers of a service, once both have responded."""
    wait_until(lambda: httpx.get(f"{served.address}/v1/status") and len(served.workers()) >= 2, ONCE_IN_A_WHILE)
    return served.workers()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes below /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_killed_worker_is_restarted_and_all_end_on_a_signal(
    home: Path, redis: tuple[str, object], number: signal.Signals
) -> None:
    """The metrics are the sum of all workers, including the killed worker."""
    with as_process(home, "--workers", "2", REDIS_URL=redis[0], FUNDAMENTALS_METRICS_PORT="0") as served:
        first = both_workers(served)
        os.kill(min(first), signal.SIGKILL)
        wait_until(lambda: httpx.get(f"{served.address}/v1/status") and len(served.workers()) == 3, ONCE_IN_A_WHILE)
        wait_until(lambda: metrics(served)["fundamentals_worker_restarts_total", ()] == 1)
        # a worker counts just before it logs, and the one that was killed may have lost lines of the log
        logged = sum(request["status"] == 200 for request in served.requests())
        counted = metrics(served)[OF_THE_STATUS]
        assert logged <= counted <= logged + 20
        httpx.get(f"{served.address}/v1/status")
        assert metrics(served)[OF_THE_STATUS] == counted + 1
        served.process.send_signal(number)
        assert served.process.wait(PATIENCE) == 0
        assert not any(map(lives, served.workers()))
        text = served.errors.read_text()
    assert f"worker {min(first)} ended with status -9; restarted\n" in text
    assert text.endswith("stopped\n")
    assert "Traceback" not in text


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes below /proc")
def test_all_workers_end_if_the_supervisor_is_killed(home: Path, redis: tuple[str, object]) -> None:
    with as_process(home, "--workers", "2", REDIS_URL=redis[0]) as served:
        workers = both_workers(served)
        served.process.kill()
        wait_until(lambda: not any(map(lives, workers)))


def test_the_days_count_survives_a_restart_without_redis(home: Path) -> None:
    key = active_key(home)

    def left_of_the_day() -> str:
        response = httpx.get(f"{served.address}/v1/companies", headers={"X-Api-Key": key})
        return response.headers["RateLimit"].partition('"day";r=')[2].partition(";")[0]

    with as_process(home) as served:
        assert [left_of_the_day() for _ in range(3)] == ["9999", "9998", "9997"]
    with as_process(home) as served:
        assert left_of_the_day() in ("9996", "9999"), "9999 where midnight has passed between the two"
