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
from collections.abc import AsyncIterator, Callable, Sequence
from itertools import zip_longest

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from serve.access.limits import LIMITS, LOOK_UP, Counters, Limits, Used
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
    if amounts[1] > 0 and used[window] >= tonumber(ARGV[window]) then refused = 1 end
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
"""Adds amounts to counts, unless the first is above 0 and a limit is reached.

ARGV has the limit and then the lifetime of each window; after these and in KEYS, each call has one amount and one key
for each window. The reply has for each call the count of each window, and 1 if it was refused.
"""
SETTINGS = [*(limit.requests for limit in LIMITS), *(2 * limit.seconds for limit in LIMITS)]
PROBE = "probe"  # the key of a call without requests; it checks that Redis accepts writes

Reply = tuple[Used, bool]  # the count of each window, and whether the call was refused
Waiting = tuple[str, float, Sequence[int], Callable[[Used, bool], None]]  # the arguments of `add`


class SharedLimits(Limits):
    """A counter in Redis, exact across any number of processes."""

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
        self._waiting: list[Waiting] = []
        self._is_wanted = asyncio.Event()
        self.degraded = False
        """True while the circuit is open, and this process counts requests by itself."""

    def add(self, key_id: str, now: float, amounts: Sequence[int], then: Callable[[Used, bool], None]) -> None:
        """See Limits; `then` is called when Redis has replied."""
        if self.degraded:
            then(*self._counters.add(key_id, now, amounts))
            return
        self._waiting.append((key_id, now, amounts, then))
        self._is_wanted.set()

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
        names = [name for key_id, now, _, _ in waiting for name in _names(key_id, now)] or _names(PROBE, time.time())
        amounts = [amount for _, _, each, _ in waiting for amount in each] or LOOK_UP
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
            for each, reply in zip_longest(waiting, replies[: len(waiting)]):
                self._pass_on(each, reply)

    def _pass_on(self, waiting: Waiting, reply: Reply | None) -> None:
        """Pass the reply of Redis on; without one, count in this process."""
        key_id, now, amounts, then = waiting
        if reply is None:
            reply = self._counters.add(key_id, now, amounts)
        else:
            self._counters.set(key_id, now, reply[0])
        then(*reply)

    async def _counted(self, names: Sequence[str], amounts: Sequence[int]) -> list[Reply]:
        """The replies of Redis to one call of the script."""
        text = await self._script(keys=names, args=[*SETTINGS, *amounts])
        numbers, size = [int(number) for number in text.split()], len(LIMITS)
        return [(tuple(numbers[at : at + size]), bool(numbers[at + size])) for at in range(0, len(numbers), size + 1)]

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
