"""Rate limits that any number of processes count together, in Redis; without it, each for itself.

Belongs here: asking Redis, within a time that no request exceeds, and what is done while it is away.
Does not: the limits and what is told of them (limits).

Requests that wait at a moment are asked for in one journey: a hundred at once cost two, and no pool of connections.
Where one is not back in time, all that wait are counted here, and all that come, until Redis answers again: nobody
waits longer than one journey may take. What Redis said last of a key is known here too, so that nobody starts anew
because it went away.
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
from serve.errors import CommandError

log = logging.getLogger(__name__)

PATIENCE = 0.04  # seconds that a journey may take
LOOK = 0.005  # seconds between two looks whether it is over
STARTING = 2.0  # seconds that the start waits for it
GIVEN_UP = 1.0  # seconds after which a connection that says nothing is closed
ASKED_EVERY = 0.5  # seconds between two attempts, and between two questions whether Redis is there while nobody asks
AT_ONCE = 64  # requests in one journey

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

Call = tuple[str, tuple[str, ...], tuple[int, ...]]  # a script, its keys, its arguments


class SharedLimits:
    """Counting in Redis, exactly, however many processes do."""

    def __init__(self, url: str) -> None:
        """Nothing is asked yet.

        Raises:
            CommandError: the address is none of a Redis server.
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
                "REDIS_URL is no address of a Redis server, expected something like redis://127.0.0.1:6379/0"
            ) from error
        self._counters = Counters()
        self._waiting: list[tuple[Call, asyncio.Future[Any]]] = []
        self._wanted = asyncio.Event()
        self.degraded = False
        """True while requests are counted in this process alone."""

    async def take(self, key_id: str, now: float) -> Allowance:
        """Count one request.

        Raises:
            RateLimited: a window is used up; the request is counted in none.
        """
        settings = tuple(number for limit in LIMITS for number in (limit.requests, 2 * limit.seconds))
        answer = await self._ask((TAKE, tuple(_name(key_id, window, now) for window in range(len(LIMITS))), settings))
        if answer is None:
            return self._counters.take(key_id, now)
        *used, refused = answer
        self._counters.set(key_id, now, used)
        return allowance(used, now, refused=bool(refused))

    async def give_back(self, key_id: str, now: float) -> Allowance:
        """Take a request that was counted at `now` out of the day again."""
        given_back = self._counters.give_back(key_id, now)
        await self._ask((GIVE_BACK, (_name(key_id, DAY, now),), ()))
        return given_back

    async def used_today(self, key_id: str, now: float) -> int:
        """What a key has used of the day, in all processes; while Redis is away, as far as it is known here."""
        used = await self._ask((LOOK_UP, (_name(key_id, DAY, now),), ()))
        return self._counters.used(key_id, now)[DAY] if used is None else int(used)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Travel between here and Redis until the block ends."""
        try:
            async with asyncio.timeout(STARTING):
                await self._journey([])
        except (RedisError, OSError) as error:
            self._tell(away=True, why=type(error).__name__)
        travelling = asyncio.create_task(self._travel())
        try:
            yield
        finally:
            travelling.cancel()
            await asyncio.wait({travelling})
            await self._redis.aclose()

    async def _ask(self, call: Call) -> Any:
        """What Redis answers; None where it is away."""
        if self.degraded:
            return None
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((call, answer))
        self._wanted.set()
        return await answer

    async def _travel(self) -> None:
        """Take along what waits, again and again; where nothing does, see whether Redis is there."""
        while True:
            with contextlib.suppress(TimeoutError):
                # not wait_for: on Python 3.11 it loses a cancellation that arrives together with the event
                async with asyncio.timeout(ASKED_EVERY):
                    await self._wanted.wait()
            taken, self._waiting = self._waiting[:AT_ONCE], self._waiting[AT_ONCE:]
            if not self._waiting:
                self._wanted.clear()
            journey = asyncio.get_running_loop().create_task(self._journey([call for call, _ in taken]))
            try:
                if not await self._is_back_in_time(journey, bool(taken)):
                    self._give_up(taken, f"no answer within {PATIENCE * 1000:.0f} ms")
                # not awaited itself: what ends this task must not be taken for a failure of the journey
                await asyncio.wait({journey})
            finally:
                journey.cancel()  # under way still where this process ends: nobody would ask what became of it
            if failure := _failure(journey):
                self._give_up(taken, failure)
                continue
            self._tell(away=False)
            for (_, answer), said in zip(taken, journey.result(), strict=True):
                if not answer.done():
                    answer.set_result(said)

    async def _is_back_in_time(self, journey: "asyncio.Task[list[Any]]", is_awaited: bool) -> bool:
        """Whether it is back before somebody has waited for PATIENCE; time that this process was not given is none.

        A machine that has no time for this process has none for Redis: where both share one, and two hundred requests
        come at once, that is a matter of milliseconds, and no reason to count alone.
        """
        time = asyncio.get_running_loop().time
        waited = 0.0
        while waited < PATIENCE:
            began = time()
            await asyncio.wait({journey}, timeout=LOOK)
            if journey.done():
                return True
            took = time() - began
            if (is_awaited or self._waiting) and took < 1.5 * LOOK:
                waited += took
        return False

    def _give_up(self, taken: Sequence[tuple[Call, asyncio.Future[Any]]], why: str) -> None:
        """Let nobody wait any more."""
        self._tell(away=True, why=why)
        for _, answer in (*taken, *self._waiting):
            if not answer.done():
                answer.set_result(None)
        self._waiting = []

    async def _journey(self, calls: Sequence[Call]) -> list[Any]:
        if not calls:  # written, for a server that can only be read is of no use
            await self._redis.set("fundamentals:probe", 1, ex=60)
            return []
        async with self._redis.pipeline(transaction=False) as pipeline:
            for script, keys, arguments in calls:
                pipeline.eval(script, len(keys), *keys, *map(str, arguments))
            return list(await pipeline.execute())

    def _tell(self, *, away: bool, why: str = "") -> None:
        """Note whether Redis is away; log it when that changes. Neither address nor error text: they may hold a key."""
        if away and not self.degraded:
            log.warning("Redis is away (%s): requests are counted in this process until it is back", why)
        elif self.degraded and not away:
            log.warning("Redis is back: requests are counted there")
        self.degraded = away


def _failure(journey: "asyncio.Task[list[Any]]") -> str:
    """What a journey failed of; nothing where it did not."""
    if journey.cancelled():
        return "cancelled"
    error = journey.exception()
    return type(error).__name__ if error else ""


def _name(key_id: str, window: int, now: float) -> str:
    limit = LIMITS[window]
    return f"fundamentals:{{{key_id}}}:{limit.window}:{limit.start(now)}"
