"""Rate limits that several processes count together in Redis, and each process by itself while Redis is unavailable.

Belongs here: the script that counts in Redis, its deadline, and the circuit breaker. Does not: the limits and their
headers (limits).

One script does all counting. Requests that wait at the same time are one call of it, so that a hundred of them need one
round trip. A call has DEADLINE seconds. When one fails, the circuit opens: its requests and all following ones are
counted in this process, which continues from the last counts that Redis returned, and nobody waits. A probe twice a
second closes the circuit again.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Sequence
from itertools import zip_longest

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from serve.access.limits import DAY, LIMITS, Allowance, Counters, allowance
from serve.http.errors import CommandError

log = logging.getLogger(__name__)

DEADLINE = 0.1  # seconds for a call that requests wait for
CONNECTING = 1.0  # seconds for a call that nobody waits for, which may have to connect
PROBED_EVERY = 0.5  # seconds between two calls while no request waits

SCRIPT = """
local windows, replies = (#ARGV - #KEYS) / 2, {}
for first = 0, #KEYS - 1, windows do
  local used, amounts, refused = {}, {}, 0
  for window = 1, windows do
    used[window] = tonumber(redis.call('GET', KEYS[first + window]) or 0)
    amounts[window] = tonumber(ARGV[2 * windows + first + window])
    if amounts[window] > 0 and used[window] >= tonumber(ARGV[window]) then refused = 1 end
  end
  for window = 1, windows do
    if refused == 0 and used[window] + amounts[window] >= 0 then
      used[window] = redis.call('INCRBY', KEYS[first + window], amounts[window])
      redis.call('EXPIRE', KEYS[first + window], ARGV[windows + window])
    end
    replies[#replies + 1] = used[window]
  end
  replies[#replies + 1] = refused
end
return table.concat(replies, ' ')
"""
"""Adds amounts to counts, unless a limit is reached.

ARGV has the limit and then the lifetime of each window; after these and in KEYS, each call has one amount and one key
for each window. The reply has for each call the count of each window, and 1 if it was refused.
"""
SETTINGS = [*(limit.requests for limit in LIMITS), *(2 * limit.seconds for limit in LIMITS)]
TAKE, GIVE_BACK, LOOK_UP = (1, 1), (0, -1), (0, 0)
PROBE = "probe"  # the key of a call without requests; it checks that Redis accepts writes

Reply = tuple[Sequence[int], bool]  # the count of each window, and whether the call was refused


class SharedLimits:
    """A counter in Redis, exact across any number of processes."""

    never_waits = False

    def __init__(self, url: str) -> None:
        """Create a client; it does not connect yet.

        Raises:
            CommandError: `url` is not the address of a Redis server.
        """
        try:
            self._redis = Redis.from_url(url, retry=Retry(NoBackoff(), 0))
        except ValueError as error:
            raise CommandError(
                "REDIS_URL is not the address of a Redis server, expected something like redis://127.0.0.1:6379/0"
            ) from error
        self._script = self._redis.register_script(SCRIPT)
        self._counters = Counters()
        self._waiting: list[tuple[list[str], tuple[int, ...], asyncio.Future[Reply | None]]] = []
        self._is_wanted = asyncio.Event()
        self.degraded = False
        """True while the circuit is open, and this process counts requests by itself."""

    async def take(self, key_id: str, now: float) -> Allowance:
        """Count one request.

        Raises:
            RateLimited: a window is used up; the request is counted in no window.
        """
        reply = await self._ask(key_id, now, TAKE)
        if reply is None:
            return self._counters.take(key_id, now)
        used, refused = reply
        self._counters.set(key_id, now, used)
        return allowance(used, now, refused=refused)

    async def give_back(self, key_id: str, now: float) -> Allowance:
        """Subtract a request that was counted at `now` from the day's count."""
        given_back = self._counters.give_back(key_id, now)
        await self._ask(key_id, now, GIVE_BACK)
        return given_back

    async def used_today(self, key_id: str, now: float) -> int:
        """The requests of a key in the current day in all processes; in this process while Redis is unavailable."""
        reply = await self._ask(key_id, now, LOOK_UP)
        return (self._counters.used(key_id, now) if reply is None else reply[0])[DAY]

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Call Redis until the block ends."""
        await self._call(CONNECTING)
        calling = asyncio.create_task(self._call_on())
        try:
            yield
        finally:
            calling.cancel()
            await asyncio.wait({calling})
            await self._redis.aclose()

    async def _ask(self, key_id: str, now: float, amounts: tuple[int, ...]) -> Reply | None:
        """The reply of Redis; None while the circuit is open."""
        if self.degraded:
            return None
        answer: asyncio.Future[Reply | None] = asyncio.get_running_loop().create_future()
        self._waiting.append((_names(key_id, now), amounts, answer))
        self._is_wanted.set()
        return await answer

    async def _call_on(self) -> None:
        """Call Redis whenever requests wait, and otherwise to learn whether it is available."""
        while True:
            with contextlib.suppress(TimeoutError):
                # not wait_for: on Python 3.11 it loses a cancellation that arrives together with the event
                async with asyncio.timeout(PROBED_EVERY):
                    await self._is_wanted.wait()
            await self._call(CONNECTING if self.degraded else DEADLINE)

    async def _call(self, deadline: float) -> None:
        """Call the script for all requests that wait; if it fails, these and later ones are counted in this process."""
        self._is_wanted.clear()
        waiting, self._waiting = self._waiting, []
        names = [name for each, _, _ in waiting for name in each] or _names(PROBE, time.time())
        amounts = [amount for _, each, _ in waiting for amount in each] or LOOK_UP
        replies: list[Reply] = []
        # a task of its own, and not awaited: Redis's client may lose the cancellation of the task that awaits it
        call = asyncio.create_task(self._counted(names, amounts))
        call.add_done_callback(_failure)
        try:
            await asyncio.wait({call}, timeout=deadline)
            if failure := _failure(call):
                self._set_degraded(True, failure)
                waiting, self._waiting = waiting + self._waiting, []
            else:
                replies = call.result()
                self._set_degraded(False)
        finally:
            call.cancel()
            for (_, _, answer), reply in zip_longest(waiting, replies[: len(waiting)]):
                if not answer.done():
                    answer.set_result(reply)

    async def _counted(self, names: Sequence[str], amounts: Sequence[int]) -> list[Reply]:
        """The replies of Redis to one call of the script."""
        text = await self._script(keys=names, args=[*SETTINGS, *amounts])
        numbers, size = [int(number) for number in text.split()], len(LIMITS)
        return [(numbers[at : at + size], bool(numbers[at + size])) for at in range(0, len(numbers), size + 1)]

    def _set_degraded(self, degraded: bool, why: str = "") -> None:
        """Set `degraded`, and log a change; without the address and the error text, which may contain a password."""
        if degraded and not self.degraded:
            log.warning("Redis is unavailable (%s): requests are counted in this process until it is back", why)
        elif self.degraded and not degraded:
            log.warning("Redis is back: requests are counted there")
        self.degraded = degraded


def _names(key_id: str, now: float) -> list[str]:
    """The names of a key's counts in Redis, one for each window."""
    return [f"fundamentals:{{{key_id}}}:{limit.window}:{limit.start(now)}" for limit in LIMITS]


def _failure(call: "asyncio.Task[list[Reply]]") -> str:
    """Why a call has no reply; empty if it has one."""
    if not call.done():
        return "no reply in time"
    if call.cancelled():
        return "cancelled"
    error = call.exception()
    return type(error).__name__ if error else ""
