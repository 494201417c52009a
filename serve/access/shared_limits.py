"""Rate limits that several processes count together in Redis, and each process on its own while Redis is unavailable.

Belongs here: calls to Redis with a time limit, and the fallback. Does not: the limits and their headers (limits).

Calls that wait at the same time are sent to Redis in one batch: a hundred simultaneous requests need two round trips
and one connection. If a batch has no reply within TIMEOUT, its requests and all following ones are counted in this
process until Redis replies again, so that no request waits longer than one batch. The process remembers the last count
that Redis returned for each key and continues from it.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Sequence
from typing import Any

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from serve.access.limits import DAY, LIMITS, Allowance, Counters, allowance
from serve.http.errors import CommandError

log = logging.getLogger(__name__)

TIMEOUT = 0.04  # seconds that a batch may take
LOOK = 0.005  # seconds between two checks whether it is done
STARTING = 2.0  # seconds that the start of the service waits for Redis
GIVEN_UP = 1.0  # seconds without data after which a connection is closed
ASKED_EVERY = 0.5  # seconds between two attempts to reach Redis when it is unavailable or no request waits
AT_ONCE = 64  # calls in one batch

TAKE = """
local used, refused = {}, 0
for window, key in ipairs(KEYS) do
  used[window] = tonumber(redis.call('GET', key) or '0')
  if used[window] >= tonumber(ARGV[2 * window - 1]) then refused = 1 end
end
if refused == 0 then
  for window, key in ipairs(KEYS) do
    used[window] = redis.call('INCR', key)
    redis.call('EXPIRE', key, ARGV[2 * window])
  end
end
used[#used + 1] = refused
return used
"""
GIVE_BACK = """
if tonumber(redis.call('GET', KEYS[1]) or '0') > 0 then return redis.call('DECR', KEYS[1]) end
return 0
"""
LOOK_UP = "return tonumber(redis.call('GET', KEYS[1]) or '0')"

Call = tuple[str, tuple[str, ...], tuple[int, ...]]  # a Lua script, its keys, its arguments


class SharedLimits:
    """A counter in Redis, exact across any number of processes."""

    def __init__(self, url: str) -> None:
        """Create a client; it does not connect yet.

        Raises:
            CommandError: `url` is not the address of a Redis server.
        """
        try:
            self._redis = Redis.from_url(
                url,
                socket_connect_timeout=GIVEN_UP,
                socket_timeout=GIVEN_UP,
                retry=Retry(NoBackoff(), 0),
            )
        except ValueError as error:
            raise CommandError(
                "REDIS_URL is not the address of a Redis server, expected something like redis://127.0.0.1:6379/0"
            ) from error
        self._counters = Counters()
        self._waiting: list[tuple[Call, asyncio.Future[Any]]] = []
        self._wanted = asyncio.Event()
        self.degraded = False
        """True while this process counts requests on its own."""

    async def take(self, key_id: str, now: float) -> Allowance:
        """Count one request.

        Raises:
            RateLimited: a window is used up; the request is counted in no window.
        """
        settings = tuple(number for limit in LIMITS for number in (limit.requests, 2 * limit.seconds))
        answer = await self._ask((TAKE, tuple(_name(key_id, window, now) for window in range(len(LIMITS))), settings))
        if answer is None:
            return self._counters.take(key_id, now)
        *used, refused = answer
        self._counters.set(key_id, now, used)
        return allowance(used, now, refused=bool(refused))

    async def give_back(self, key_id: str, now: float) -> Allowance:
        """Subtract a request that was counted at `now` from the day's count."""
        given_back = self._counters.give_back(key_id, now)
        await self._ask((GIVE_BACK, (_name(key_id, DAY, now),), ()))
        return given_back

    async def used_today(self, key_id: str, now: float) -> int:
        """The requests of a key in the current day in all processes; in this process while Redis is unavailable."""
        used = await self._ask((LOOK_UP, (_name(key_id, DAY, now),), ()))
        return self._counters.used(key_id, now)[DAY] if used is None else int(used)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Send batches to Redis until the block ends."""
        try:
            async with asyncio.timeout(STARTING):
                await self._send([])
        except (RedisError, OSError) as error:
            self._set_degraded(True, why=type(error).__name__)
        sending = asyncio.create_task(self._send_batches())
        try:
            yield
        finally:
            sending.cancel()
            await asyncio.wait({sending})
            await self._redis.aclose()

    async def _ask(self, call: Call) -> Any:
        """The reply of Redis; None while it is unavailable."""
        if self.degraded:
            return None
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((call, answer))
        self._wanted.set()
        return await answer

    async def _send_batches(self) -> None:
        """Send the waiting calls, batch after batch; while none waits, check that Redis is available."""
        while True:
            with contextlib.suppress(TimeoutError):
                # not wait_for: on Python 3.11 it loses a cancellation that arrives together with the event
                async with asyncio.timeout(ASKED_EVERY):
                    await self._wanted.wait()
            taken, self._waiting = self._waiting[:AT_ONCE], self._waiting[AT_ONCE:]
            if not self._waiting:
                self._wanted.clear()
            batch = asyncio.get_running_loop().create_task(self._send([call for call, _ in taken]))
            try:
                if not await self._is_in_time(batch, bool(taken)):
                    self._give_up(taken, f"no reply within {TIMEOUT * 1000:.0f} ms")
                # wait, not await: a cancellation of this task must not look like a failure of the batch
                await asyncio.wait({batch})
            finally:
                batch.cancel()  # when this task is cancelled, nobody waits for the batch any more
            if failure := _failure(batch):
                self._give_up(taken, failure)
                continue
            self._set_degraded(False)
            for (_, answer), reply in zip(taken, batch.result(), strict=True):
                if not answer.done():
                    answer.set_result(reply)

    async def _is_in_time(self, batch: "asyncio.Task[list[Any]]", is_awaited: bool) -> bool:
        """Whether a batch is done before a request has waited for TIMEOUT.

        Time in which this process did not get the processor does not count: on a busy machine Redis may be just as
        slow for some milliseconds, and that is no reason to count without it.
        """
        time = asyncio.get_running_loop().time
        waited = 0.0
        while waited < TIMEOUT:
            began = time()
            await asyncio.wait({batch}, timeout=LOOK)
            if batch.done():
                return True
            took = time() - began
            if (is_awaited or self._waiting) and took < 1.5 * LOOK:
                waited += took
        return False

    def _give_up(self, taken: Sequence[tuple[Call, asyncio.Future[Any]]], why: str) -> None:
        """Release all waiting requests to be counted in this process."""
        self._set_degraded(True, why=why)
        for _, answer in (*taken, *self._waiting):
            if not answer.done():
                answer.set_result(None)
        self._waiting = []

    async def _send(self, calls: Sequence[Call]) -> list[Any]:
        """The replies of Redis to a batch of calls; an empty batch checks that Redis accepts writes."""
        if not calls:
            await self._redis.set("fundamentals:probe", 1, ex=60)
            return []
        async with self._redis.pipeline(transaction=False) as pipeline:
            for script, keys, arguments in calls:
                pipeline.eval(script, len(keys), *keys, *map(str, arguments))
            return list(await pipeline.execute())

    def _set_degraded(self, degraded: bool, *, why: str = "") -> None:
        """Set `degraded`, and log a change; without the address and the error text, which may contain a password."""
        if degraded and not self.degraded:
            log.warning("Redis is unavailable (%s): requests are counted in this process until it is back", why)
        elif self.degraded and not degraded:
            log.warning("Redis is back: requests are counted there")
        self.degraded = degraded


def _failure(batch: "asyncio.Task[list[Any]]") -> str:
    """The name of a batch's error; empty if it succeeded."""
    if batch.cancelled():
        return "cancelled"
    error = batch.exception()
    return type(error).__name__ if error else ""


def _name(key_id: str, window: int, now: float) -> str:
    limit = LIMITS[window]
    return f"fundamentals:{{{key_id}}}:{limit.window}:{limit.start(now)}"
