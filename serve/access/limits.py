"""Rate limits: requests per minute and per day, per key, in fixed windows aligned to the minute and the day in UTC.

Belongs here: the limits, their response headers, and counting in one process. Does not: counting across processes
(shared_limits), requests without a valid key (attempts), the decision which requests count (api.interface).
"""

import asyncio
import contextlib
import logging
import math
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from serve.access.accounts import OTHER_DAYS, Accounts
from serve.clock import Clock
from serve.errors import CommandError, RateLimited

log = logging.getLogger(__name__)

KEPT_EVERY = 0.25  # seconds between two writes of the day's counts; a killed process loses the counts since
KEPT_AT_ONCE = 500  # keys per write, the longest waiting first; a larger write would delay requests by milliseconds


class Limit(NamedTuple):
    """A number of requests in a window of `seconds`; windows are aligned to Unix time, and so to UTC."""

    requests: int
    window: str
    seconds: int

    def start(self, now: float) -> int:
        """Unix time at which the window that contains `now` began."""
        return int(now // self.seconds) * self.seconds


LIMITS = (Limit(60, "minute", 60), Limit(10_000, "day", 86_400))
DAY = 1  # index of the daily limit
TAKE, UNCHANGED, GIVE_BACK, LOOK_UP = (1, 1), (1, 0), (0, -1), (0, 0)
"""Amounts that are added to the count of each window (minute, day).

TAKE: a request; UNCHANGED: a request answered by 304; GIVE_BACK: the difference of the two; LOOK_UP: nothing.
"""

Used = tuple[int, ...]  # the requests in the current window of each of the LIMITS
NEVER: tuple[tuple[int, ...], Used] = ((), ())


class Allowance(NamedTuple):
    """The requests that a key has used of each of the LIMITS, including the request at `now`."""

    used: Used
    now: float

    @property
    def headers(self) -> dict[str, str]:
        """The headers of section 8 for the window with the fewest requests left, and of the IETF draft for all."""
        pairs = (line.partition(": ") for line in lines(self.used, self.now).decode().splitlines())
        return {name: value for name, _, value in pairs}


def lines(used: Used, now: float) -> bytes:
    """The headers of an allowance, as lines of a response."""
    (of_minute, of_day), (minute, day) = LIMITS, used
    minute = of_minute.requests - minute if minute < of_minute.requests else 0
    day = of_day.requests - day if day < of_day.requests else 0
    form = _forms(LIMITS, int(now))[day < minute]
    return form % (day if day < minute else minute, minute, day)


def refusal(used: Used, now: float) -> RateLimited:
    """The error for a request that was counted in no window, because a window was used up.

    It names the longest of the used-up windows, and the wait until it resets.
    """
    limit = max((limit for limit, count in zip(LIMITS, used, strict=True) if count >= limit.requests), key=_length)
    error = RateLimited(limit.requests, limit.window, until_reset(limit, now))
    error.headers = {**(error.headers or {}), **fields(list(zip(LIMITS, used, strict=True)), now)}
    return error


class Counters:
    """Counts by key and window, in memory; a key's old windows are dropped at its next request."""

    def __init__(self) -> None:
        self._counts: dict[str, tuple[Used, Used]] = {}  # the starts of windows, and the counts
        self._starts: Used = ()
        self._second = -1

    def add(self, key_id: str, now: float, amounts: Sequence[int]) -> tuple[Used, bool]:
        """Add to the counts of a key.

        Args:
            key_id: identifier of the key.
            now: Unix time.
            amounts: the amount to add to the count of each window, for example TAKE.

        Returns:
            The counts, and whether the request was refused because a window is used up; then nothing was added.
        """
        current = self._current(now)
        minute, day = used = self._used(key_id, current)
        more, more_of_day = amounts
        if more > 0 and (minute >= LIMITS[0].requests or day >= LIMITS[DAY].requests):
            return used, True
        used = (minute + more, day + more_of_day if day else max(0, more_of_day))
        self._counts[key_id] = current, used
        return used, False

    def used(self, key_ids: Iterable[str], now: float) -> list[Used]:
        """The requests that keys have used of each of the LIMITS."""
        current = self._current(now)
        return [self._used(key_id, current) for key_id in key_ids]

    def _current(self, now: float) -> Used:
        """The starts of the windows that contain `now`."""
        second = math.floor(now)
        if second != self._second:
            self._second, starts = second, _starts(LIMITS, second)
            if starts != self._starts:
                self._starts = starts
        return self._starts

    def _used(self, key_id: str, current: Used) -> Used:
        seen, used = self._counts.get(key_id, NEVER)
        if seen is current or seen == current:
            return used
        if not seen:
            return (0,) * len(LIMITS)
        return tuple([count if start == of else 0 for start, of, count in zip(current, seen, used, strict=True)])

    def set(self, key_id: str, now: float, used: Sequence[int]) -> None:
        """Set the requests that a key has used of each of the LIMITS."""
        self._counts[key_id] = self._current(now), tuple(used)


class Limits(ABC):
    """A counter of requests, for one or several processes."""

    degraded = False
    """Whether counts are temporarily inexact."""

    @abstractmethod
    def add(self, key_id: str, now: float, amounts: Sequence[int], then: Callable[[Used, bool], None]) -> None:
        """Add to the counts of a key as Counters does, and call `then` with the result, at once or later."""

    @abstractmethod
    def running(self) -> contextlib.AbstractAsyncContextManager[None]:
        """Run background work until the block ends."""

    async def take(self, key_id: str, now: float, amounts: Sequence[int] = TAKE) -> Allowance:
        """Add to the counts of a key; raises RateLimited if a window is used up."""
        taken: asyncio.Future[tuple[Used, bool]] = asyncio.get_running_loop().create_future()

        def then(used: Used, refused: bool) -> None:
            if not taken.done():  # the waiting task may have been cancelled
                taken.set_result((used, refused))

        self.add(key_id, now, amounts, then)
        used, refused = await taken
        if refused:
            raise refusal(used, now)
        return Allowance(used, now)

    async def used_today(self, key_id: str, now: float) -> int:
        """The number of requests of a key on the current day."""
        return (await self.take(key_id, now, LOOK_UP)).used[DAY]


class Day:
    """The counts of one process for a day; `changed` has the keys whose counts are not stored yet, in order."""

    __slots__ = ("changed", "counters", "stored")

    def __init__(self) -> None:
        self.counters = Counters()
        self.changed: dict[str, None] = {}
        self.stored: dict[str, int] | None = None
        """The counts that this process has stored or read; None: nothing was read yet."""


class LocalLimits(Limits):
    """A counter for one process; it stores the day's counts in the accounts database every KEPT_EVERY seconds.

    Each day has its own counts, so that today's counts are still there after the clock was wrong for a while.
    """

    def __init__(self, accounts: Accounts, clock: Clock) -> None:
        self._accounts = accounts
        self._clock = clock
        self._days: dict[int, Day] = {}
        self._is_behind = False
        self._storing = asyncio.Lock()

    def add(self, key_id: str, now: float, amounts: Sequence[int], then: Callable[[Used, bool], None]) -> None:
        """See Limits."""
        day = self._of(now)
        day.changed[key_id] = None
        then(*day.counters.add(key_id, now, amounts))

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Load the day's stored counts, and store the counts of this process until the block ends."""
        now = self._clock()
        await self._load(now, self._of(now))
        keeping = asyncio.create_task(self._keep_on())
        try:
            yield
        finally:
            async with self._storing:  # counts being stored must not arrive after the final counts
                keeping.cancel()
            await asyncio.wait({keeping})
            await self._keep(sum(len(day.changed) for day in self._days.values()))

    def _of(self, now: float) -> Day:
        """The counts of the day that contains the given time."""
        start = LIMITS[DAY].start(now)
        return self._days.get(start) or self._days.setdefault(start, Day())

    async def _load(self, now: float, day: Day) -> None:
        """Add the stored counts of a day to its counts, and drop other days; done once a day."""
        if day.stored is None:
            start = LIMITS[DAY].start(now)
            day.stored = await asyncio.to_thread(self._accounts.day_counts, start)
            for key_id, count in day.stored.items():
                day.counters.add(key_id, now, (0, count))
            await asyncio.to_thread(self._accounts.forget_days, start)
            for other in sorted(self._days.keys() - {start}, reverse=True)[OTHER_DAYS:]:
                del self._days[other]

    async def _keep_on(self) -> None:
        while True:
            await asyncio.sleep(KEPT_EVERY)
            await self._keep()

    async def _keep(self, most: int = KEPT_AT_ONCE) -> None:
        """Store the changed counts, of at most `most` keys for each day; after a failure they are stored later."""
        async with self._storing:
            now = self._clock()
            for start, day in list(self._days.items()):
                if day.changed:
                    await self._keep_day(start, now if self._of(now) is day else float(start), day, most)

    async def _keep_day(self, start: int, moment: float, day: Day, most: int) -> None:
        changed = list(islice(day.changed, most))
        for key_id in changed:
            del day.changed[key_id]
        try:
            await self._load(moment, day)
            stored = day.stored or {}
            used = day.counters.used(changed, moment)
            counts = {key_id: counted[DAY] for key_id, counted in zip(changed, used, strict=True)}
            more = {key_id: count - stored.get(key_id, 0) for key_id, count in counts.items()}
            await asyncio.to_thread(self._accounts.add_day_counts, start, more)
        except CommandError as error:
            if not self._is_behind:
                log.warning("the day's counts were not stored: %s", error)
            self._is_behind = True
            day.changed |= dict.fromkeys(changed)
        else:
            day.stored = stored | counts
            self._is_behind = False


def fields(windows: Sequence[tuple[Limit, int]], now: float) -> dict[str, str]:
    """The headers RateLimit-Policy and RateLimit of draft-ietf-httpapi-ratelimit-headers, from limits and counts."""
    second = math.floor(now)
    left = [
        f'"{limit.window}";r={max(0, limit.requests - used)};t={limit.seconds - second % limit.seconds}'
        for limit, used in windows
    ]
    return {"RateLimit-Policy": _policy(tuple([limit for limit, _ in windows])), "RateLimit": ", ".join(left)}


@lru_cache(maxsize=16)
def _policy(limits: tuple[Limit, ...]) -> str:
    return ", ".join(f'"{limit.window}";q={limit.requests};w={limit.seconds}' for limit in limits)


@lru_cache(maxsize=16)
def _forms(limits: tuple[Limit, ...], second: int) -> list[bytes]:
    """The header lines at a second, with placeholders for numbers, by the window with the fewest requests left."""
    starts = _starts(limits, second)
    left = ", ".join(f'"{limit.window}";r=%d;t={limit.seconds - second % limit.seconds}' for limit in limits)
    return [
        f"X-RateLimit-Limit: {limit.requests}\r\nX-RateLimit-Remaining: %d\r\n"
        f"X-RateLimit-Reset: {start + limit.seconds}\r\nRateLimit-Policy: {_policy(limits)}\r\n"
        f"RateLimit: {left}\r\n".encode()
        for limit, start in zip(limits, starts, strict=True)
    ]


@lru_cache(maxsize=16)
def _starts(limits: tuple[Limit, ...], second: int) -> tuple[int, ...]:
    """The starts of the windows that contain a second."""
    return tuple(limit.start(second) for limit in limits)


def until_reset(limit: Limit, now: float) -> int:
    """Whole seconds until the window that contains `now` ends, at least one."""
    return math.ceil(limit.start(now) + limit.seconds - now)


def _length(limit: Limit) -> int:
    return limit.seconds
