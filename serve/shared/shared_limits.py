"""Rate limits that several processes count together in Redis; each process counts by itself while Redis is unavailable.

Belongs here: the script that counts in Redis, its deadline, and the circuit breaker. Does not: the limits and their
headers (limits), the connection (redis_connection).

One script does all counting. Requests that arrive in the same turn of the event loop share one call of it. A call has
DEADLINE seconds. When one fails, the circuit opens: the connection is closed, its requests and all following ones are
counted in this process, which continues from the last counts that Redis returned, and no request waits. A probe twice
a second connects again and closes the circuit.
"""

import asyncio
import contextlib
import logging
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, cast

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from serve.access.limits import LIMITS, LOOK_UP, Counters, Limits, Used
from serve.errors import CommandError
from serve.shared.redis_connection import Connection, Word, connect

log = logging.getLogger(__name__)

DEADLINE = 0.1  # seconds for a call with requests
CONNECTING = 1.0  # seconds for a probe, which may have to connect
PROBED_EVERY = 0.5  # seconds between two probes

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
PROBE = "probe"  # the key of a probe; it checks that Redis accepts writes

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
        self._counters = Counters()
        self._connection: Connection | None = None
        self._script = b""  # the digest by which Redis knows the script
        self._waiting: list[Waiting] = []
        self._called: deque[tuple[list[Waiting], asyncio.TimerHandle]] = deque()
        self.degraded = False
        """True while the circuit is open, and this process counts requests by itself."""

    def add(self, key_id: str, now: float, amounts: Sequence[int], then: Callable[[Used, bool], None]) -> None:
        """See Limits; `then` is called when Redis has replied."""
        if self.degraded:
            then(*self._counters.add(key_id, now, amounts))
            return
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._call_for_all)
        self._waiting.append((key_id, now, amounts, then))

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep a connection to Redis until the block ends."""
        await self._probe()
        probing = asyncio.create_task(self._probe_on())
        try:
            yield
        finally:
            probing.cancel()
            await asyncio.wait({probing})
            self.degraded = True  # remaining requests are counted here
            self._fail("")
            await self._redis.aclose()

    async def _probe_on(self) -> None:
        while True:
            await asyncio.sleep(PROBED_EVERY)
            await self._probe()

    async def _probe(self) -> None:
        """Connect if there is no connection, and send a call that counts nothing, to test whether Redis answers."""
        replied = asyncio.Event()
        try:
            async with asyncio.timeout(CONNECTING):
                if self._connection is None:
                    settings = cast("Any", self._redis.connection_pool).make_connection()
                    connection = await connect(settings, self._fail)
                    self._script = await connection.ask("SCRIPT", "LOAD", SCRIPT)
                    self._connection = connection
                self._call([(PROBE, time.time(), LOOK_UP, lambda *_: replied.set())], CONNECTING)
                await replied.wait()
        except (OSError, TimeoutError, RedisError) as error:
            self._fail("no reply in time" if isinstance(error, TimeoutError) else type(error).__name__)

    def _call_for_all(self) -> None:
        """Call the script for all waiting requests."""
        waiting, self._waiting = self._waiting, []
        if waiting:
            self._call(waiting, DEADLINE)

    def _call(self, waiting: list[Waiting], deadline: float) -> None:
        timer = asyncio.get_running_loop().call_later(deadline, self._fail, "no reply in time")
        self._called.append((waiting, timer))
        if self._connection is None:
            self._fail("no connection")
            return
        names = [name for key_id, now, _, _ in waiting for name in _names(key_id, now)]
        amounts = [amount for _, _, each, _ in waiting for amount in each]
        words: list[Word] = ["EVALSHA", self._script.decode(), len(names), *names, *SETTINGS, *amounts]
        self._connection.send(words, self._counted)

    def _counted(self, text: bytes) -> None:
        """Pass a reply of Redis to the requests of the oldest call.

        Raises:
            ValueError: the text is not a reply to this call.
        """
        numbers, size = [int(number) for number in text.split()], len(LIMITS)
        if len(numbers) != len(self._called[0][0]) * (size + 1):
            raise ValueError("another number of replies than of calls")
        waiting, timer = self._called.popleft()
        timer.cancel()
        self._set_degraded(False)
        for place, each in enumerate(waiting):
            at = place * (size + 1)
            self._pass_on(each, (tuple(numbers[at : at + size]), bool(numbers[at + size])))

    def _fail(self, why: str) -> None:
        """Close the connection, and count unanswered and later requests in this process."""
        called, self._called = self._called, deque()
        waiting, self._waiting = [each for calls, _ in called for each in calls] + self._waiting, []
        for _, timer in called:
            timer.cancel()
        if self._connection:
            self._connection.close()
            self._connection = None
        self._set_degraded(True, why)
        for each in waiting:
            self._pass_on(each, None)

    def _pass_on(self, waiting: Waiting, reply: Reply | None) -> None:
        """Pass the reply of Redis to a request; without a reply, count the request in this process."""
        key_id, now, amounts, then = waiting
        if reply is None:
            reply = self._counters.add(key_id, now, amounts)
        else:
            self._counters.set(key_id, now, reply[0])
        then(*reply)

    def _set_degraded(self, degraded: bool, why: str = "") -> None:
        """Set `degraded`, and log a change, without the address and the error text, which may contain a password."""
        if degraded and not self.degraded:
            log.warning("Redis is unavailable (%s): requests are counted in this process until it is back", why)
        elif self.degraded and not degraded:
            log.warning("Redis is back: requests are counted there")
        self.degraded = degraded


def _names(key_id: str, now: float) -> list[str]:
    """The names of a key's counts in Redis, one for each window."""
    return [f"fundamentals:{{{key_id}}}:{limit.window}:{limit.start(now)}" for limit in LIMITS]
