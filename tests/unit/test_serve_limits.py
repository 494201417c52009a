"""Rate limits that several workers count in a real Redis server, and the fallback while Redis is unavailable."""

import asyncio
import gc
import signal
import subprocess
import tempfile
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from serve.access.limits import GIVE_BACK
from serve.errors import CommandError, RateLimited
from serve.settings import Settings
from serve.shared import shared_limits
from serve.shared.redis_connection import Connection
from serve.shared.shared_limits import SharedLimits
from tests import builds
from tests.servers import NOON, Clock, active_key, in_process, redis_server, until

Redis = tuple[str, "subprocess.Popen[bytes]"]
DEADLINE = shared_limits.DEADLINE


@pytest.fixture(scope="module")
def executable(program: Callable[[str, str], str]) -> str:
    return program("redis-server", "redis-server")


@pytest.fixture
def redis(executable: str) -> Iterator[Redis]:
    """A separate server for each test; the path of its socket must be short."""
    with tempfile.TemporaryDirectory() as folder, redis_server(executable, Path(folder)) as running:
        yield running


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries are fast in tests, and replies may take long, because the machine may be busy."""
    monkeypatch.setattr(shared_limits, "PROBED_EVERY", 0.02)
    monkeypatch.setattr(shared_limits, "DEADLINE", 30)
    monkeypatch.setattr(shared_limits, "CONNECTING", 30)


def with_workers(url: str, count: int, work: Callable[..., Coroutine[Any, Any, None]]) -> None:
    """Run with the limits of several workers, which are independent of each other."""

    async def run() -> None:
        workers = [SharedLimits(url) for _ in range(count)]
        async with asyncio.TaskGroup() as group:
            stop = asyncio.Event()
            ready = [asyncio.Event() for _ in workers]

            async def live(worker: SharedLimits, is_ready: asyncio.Event) -> None:
                async with worker.running():
                    is_ready.set()
                    await stop.wait()

            for worker, is_ready in zip(workers, ready, strict=True):
                group.create_task(live(worker, is_ready))
            for is_ready in ready:
                await is_ready.wait()
            try:
                await work(*workers)
            finally:
                stop.set()

    asyncio.run(run())


async def allowed(worker: SharedLimits, now: float, key_id: str = "key_1") -> bool:
    try:
        await worker.take(key_id, now)
    except RateLimited:
        return False
    return True


def test_sixty_of_two_hundred_requests_pass_with_any_number_of_workers(redis: Redis) -> None:
    """Across the boundary of a minute at most twice that."""

    async def work(*workers: SharedLimits) -> None:
        async def wave(now: float) -> int:
            asked = [allowed(workers[number % 4], now) for number in range(200)]
            return sum(await asyncio.gather(*asked))

        assert await wave(NOON + 59.999) == 60
        assert await wave(NOON + 60.0) == 60
        assert await wave(NOON + 119.999) == 0
        assert not any(worker.degraded for worker in workers)

    with_workers(redis[0], 4, work)


def test_the_headers_are_those_of_one_process(redis: Redis) -> None:
    async def work(one: SharedLimits, other: SharedLimits) -> None:
        await one.take("key_1", NOON + 30)
        headers = (await other.take("key_1", NOON + 30)).headers
        assert headers["X-RateLimit-Remaining"] == "58"
        assert headers["RateLimit"] == '"minute";r=58;t=30, "day";r=9998;t=43170'
        assert (await one.take("key_1", NOON + 30, GIVE_BACK)).used == (2, 1)
        assert (await other.take("key_1", NOON + 30)).used == (3, 2)
        for _ in range(57):
            await one.take("key_1", NOON + 30)
        with pytest.raises(RateLimited, match="60 requests per minute") as raised:
            await other.take("key_1", NOON + 30)
        assert raised.value.headers
        assert raised.value.headers["Retry-After"] == "30"
        assert (await other.take("key_2", NOON + 30)).used == (1, 1)

    with_workers(redis[0], 2, work)


def test_the_day_is_counted_too_and_survives_a_restart_of_all_workers(
    redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        shared_limits, "LIMITS", (shared_limits.LIMITS[0], shared_limits.LIMITS[0].__class__(3, "day", 86_400))
    )
    monkeypatch.setattr("serve.access.limits.LIMITS", shared_limits.LIMITS)
    monkeypatch.setattr(shared_limits, "SETTINGS", [60, 3, 120, 172_800])

    async def use_up(worker: SharedLimits) -> None:
        assert [await allowed(worker, NOON + 60 * minute) for minute in range(4)] == [True, True, True, False]

    async def ask_again(worker: SharedLimits) -> None:
        with pytest.raises(RateLimited, match="3 requests per day"):
            await worker.take("key_1", NOON + 600)
        assert await allowed(worker, NOON + 43_200), "the next day"

    with_workers(redis[0], 1, use_up)
    with_workers(redis[0], 1, ask_again)


def test_counts_in_redis_expire(redis: Redis) -> None:
    async def work(worker: SharedLimits) -> None:
        await worker.take("key_1", NOON)
        client = worker._redis
        left = {key.decode(): await client.ttl(key) for key in await client.keys("fundamentals:{key_1}*")}
        assert sorted(left.values()) == [120, 172_800]

    with_workers(redis[0], 1, work)


def test_a_silent_server_is_not_waited_for_and_the_process_counts(
    redis: Redis, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It continues from the last count of Redis, so no key gets another sixty requests, and uses Redis again when it
    replies.
    """

    async def work(worker: SharedLimits) -> None:
        for _ in range(50):
            await worker.take("key_1", NOON)
        monkeypatch.setattr(shared_limits, "DEADLINE", DEADLINE)
        redis[1].send_signal(signal.SIGSTOP)
        async with asyncio.timeout(30):
            assert sum(await asyncio.gather(*(allowed(worker, NOON) for _ in range(200)))) == 10
        assert worker.degraded
        assert (await worker.take("key_2", NOON)).used == (1, 1)
        assert (await worker.take("key_2", NOON, GIVE_BACK)).used == (1, 0)
        assert await worker.used_today("key_1", NOON) == 60
        monkeypatch.setattr(shared_limits, "DEADLINE", 30)
        redis[1].send_signal(signal.SIGCONT)
        await until(lambda: not worker.degraded)
        assert (await worker.take("key_3", NOON)).used == (1, 1)

    with_workers(redis[0], 1, work)
    assert "Redis is unavailable (no reply in time)" in caplog.text
    assert "Redis is back" in caplog.text


def test_simultaneous_requests_are_one_call(redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    """And each reply reaches the request that asked for it."""

    async def work(worker: SharedLimits) -> None:
        calls = []
        send = Connection.send

        def counted(connection: Connection, words: list[str], then: Callable[[bytes], None]) -> None:
            calls.append(sum(str(word).startswith("fundamentals:{key_") for word in words))
            send(connection, words, then)

        monkeypatch.setattr(Connection, "send", counted)
        taken = await asyncio.gather(*(worker.take(f"key_{number % 3}", NOON) for number in range(100)))
        assert [each.used for each in taken] == [(number // 3 + 1, number // 3 + 1) for number in range(100)]
        assert 200 in calls

    with_workers(redis[0], 1, work)


@pytest.mark.parametrize(
    "reply", [b"$8\r\nnonsense\r\n", b"$1\r\n1\r\n", b"$-1\r\n", b"$x\r\n", b":1\r\n", b"-OOM password\r\n"]
)
def test_a_reply_that_cannot_be_read_fails_no_request(
    redis: Redis, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, reply: bytes
) -> None:
    async def work(worker: SharedLimits) -> None:
        with monkeypatch.context() as patched:
            receive = Connection.data_received
            patched.setattr(Connection, "data_received", lambda connection, _: receive(connection, reply))
            assert (await worker.take("key_1", NOON)).used == (1, 1)
            assert worker.degraded
        await until(lambda: not worker.degraded)

    with_workers(redis[0], 1, work)
    assert "password" not in caplog.text


def test_replies_may_arrive_in_pieces(redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    receive = Connection.data_received

    def in_pieces(connection: Connection, data: bytes) -> None:
        for place in range(len(data)):
            receive(connection, data[place : place + 1])

    async def work(worker: SharedLimits) -> None:
        monkeypatch.setattr(Connection, "data_received", in_pieces)
        assert [(await worker.take("key_1", NOON)).used for _ in range(2)] == [(1, 1), (2, 2)]
        assert not worker.degraded

    with_workers(redis[0], 1, work)


def test_a_script_that_redis_has_forgotten_is_loaded_again(redis: Redis) -> None:
    async def work(worker: SharedLimits) -> None:
        await worker._redis.script_flush()
        assert (await worker.take("key_1", NOON)).used == (1, 1)
        await until(lambda: not worker.degraded)
        assert (await worker.take("key_2", NOON)).used == (1, 1)

    with_workers(redis[0], 1, work)


def test_password_and_database_of_the_address_are_used(redis: Redis, caplog: pytest.LogCaptureFixture) -> None:
    async def work(worker: SharedLimits) -> None:
        await worker.take("key_1", NOON)
        client = worker._redis
        assert len(await client.keys("fundamentals:{key_1}*")) == 2, "in the same database as the client's"
        await client.config_set("requirepass", "secret")

    async def without(worker: SharedLimits) -> None:
        assert worker.degraded

    address = redis[0]
    with_workers(f"{address}?db=3", 1, work)
    with_workers(address, 1, without)
    with_workers(f"{address}?password=wrong", 1, without)
    with_workers(f"{address}?db=3&password=secret", 1, work)
    assert "secret" not in caplog.text


def test_a_process_that_ends_during_a_call_ends_without_errors(redis: Redis, caplog: pytest.LogCaptureFixture) -> None:
    """The call is cancelled before the connection is closed, and its request is counted in the process."""

    async def work(worker: SharedLimits) -> None:
        nonlocal asked
        redis[1].send_signal(signal.SIGSTOP)
        asked = asyncio.ensure_future(worker.take("key_1", NOON))
        await asyncio.sleep(0.005)

    asked: asyncio.Future[Any] | None = None
    with_workers(redis[0], 1, work)
    redis[1].send_signal(signal.SIGCONT)
    gc.collect()

    assert asked
    assert asked.result().used == (1, 1)
    assert "never retrieved" not in caplog.text


def test_a_process_that_ends_while_a_request_arrives_ends(tmp_path: Path) -> None:
    """At whatever step the cancellation arrives, it is not lost, and nothing waits forever."""

    async def end_after(steps: int) -> None:
        worker = SharedLimits(f"unix://{tmp_path}/nobody")
        async with worker.running():
            worker.degraded = False
            asked = asyncio.ensure_future(worker.take("key_1", NOON))
            for _ in range(steps):
                await asyncio.sleep(0)
        assert (await asked).used == (1, 1)

    async def end() -> None:
        for steps in range(6):
            async with asyncio.timeout(30):
                await end_after(steps)

    asyncio.run(end())


def test_a_process_that_ends_at_any_step_of_a_call_ends(redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    """Redis's client may lose a cancellation; the task that calls it does not."""
    monkeypatch.setattr(shared_limits, "PROBED_EVERY", 0)

    async def end() -> None:
        for steps in range(60):
            worker = SharedLimits(redis[0])
            async with asyncio.timeout(30), worker.running():
                for _ in range(steps):
                    await asyncio.sleep(0)

    asyncio.run(end())


def test_a_stopped_server_is_noticed_without_requests_and_found_again(executable: str) -> None:
    with tempfile.TemporaryDirectory() as folder, redis_server(executable, Path(folder)) as (url, process):

        async def work(worker: SharedLimits) -> None:
            process.kill()
            await asyncio.to_thread(process.wait)
            await until(lambda: worker.degraded)
            assert (await worker.take("key_1", NOON)).used == (1, 1)
            with redis_server(executable, Path(folder)):
                await until(lambda: not worker.degraded)
                assert (await worker.take("key_2", NOON)).used == (1, 1)

        with_workers(url, 1, work)


def test_a_connection_that_breaks_fails_no_request(redis: Redis) -> None:
    async def work(worker: SharedLimits) -> None:
        redis[1].kill()
        await asyncio.to_thread(redis[1].wait)
        assert (await worker.take("key_1", NOON)).used == (1, 1)
        assert worker.degraded

    with_workers(redis[0], 1, work)


def test_a_service_starts_without_its_redis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(worker: SharedLimits) -> None:
        assert (await worker.take("key_1", NOON)).used == (1, 1)
        assert worker.degraded

    with_workers(f"unix://{tmp_path}/nobody", 1, work)


@pytest.mark.parametrize("url", ["nowhere", "http://127.0.0.1", "redis://127.0.0.1:port"])
def test_a_malformed_address_is_an_error_without_its_password(url: str) -> None:
    with pytest.raises(CommandError, match="REDIS_URL is not the address"):
        SharedLimits(url)


def test_an_application_counts_in_the_redis_of_its_settings(redis: Redis, tmp_path: Path) -> None:
    """A second application over the same home sees the counts of the first one."""
    builds.small(tmp_path / "published")
    key = active_key(tmp_path)
    remaining = []
    for _ in range(2):
        with in_process(Settings(tmp_path, redis_url=redis[0]), Clock()) as address:
            response = httpx.get(f"{address}/v1/companies", headers={"X-Api-Key": key})
            remaining.append(response.headers["X-RateLimit-Remaining"])
    assert remaining == ["59", "58"]
