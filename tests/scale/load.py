"""Readers that send requests again and again while parts of the service are stopped.

Belongs here: sending requests at a steady rate, and the result of each. Does not: any test.
"""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import httpx

from tests.servers import PATIENCE

PATHS = ("/v1/companies", "/v1/companies/LNTR", "/v1/companies/LNTR/financials", "/v1/status", "/errors")
EACH = 0.12
"""Seconds between two requests: 500 a minute."""
KEYS = 12
"""Keys that the readers take in turns, so that no key uses up its 60 requests a minute."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: its path, when it was sent (monotonic time), its seconds, and its status; 0 without a response."""

    path: str
    sent: float
    seconds: float
    status: int
    body: dict[str, Any]


class Load:
    """Requests through nginx until the block ends."""

    def __init__(self, address: str, keys: Sequence[str]) -> None:
        """Nothing is sent yet.

        Args:
            address: of nginx.
            keys: at least KEYS keys.
        """
        self._address, self._keys = address, keys
        self._ends = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._ask_on()), name="load")
        self.asked: list[Asked] = []

    def since(self, moment: float) -> list[Asked]:
        """The requests that were sent after a moment, as far as they are complete."""
        return [each for each in self.asked if each.sent >= moment]

    def for_some_time(self, seconds: float) -> list[Asked]:
        """The requests of the next seconds, when they are complete."""
        start = time.monotonic()
        time.sleep(seconds)
        end = time.monotonic()
        time.sleep(0.5)
        return [each for each in self.since(start) if each.sent < end]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._ends.set()
        self._thread.join()

    async def _ask_on(self) -> None:
        async with httpx.AsyncClient(base_url=self._address, timeout=PATIENCE) as client, asyncio.TaskGroup() as asking:
            number = 0
            while not self._ends.is_set():
                asking.create_task(self._ask(client, PATHS[number % len(PATHS)], self._keys[number % len(self._keys)]))
                number += 1
                await asyncio.sleep(EACH)

    async def _ask(self, client: httpx.AsyncClient, path: str, key: str) -> None:
        headers = {"X-Api-Key": key} if path.startswith("/v1/companies") else {}
        sent, status, body = time.monotonic(), 0, {}
        try:
            response = await client.get(path, headers=headers)
            status = response.status_code
            body = response.json() if "json" in response.headers.get("Content-Type", "") else {}
        except httpx.TransportError:
            pass
        self.asked.append(Asked(path, sent, time.monotonic() - sent, status, body))


def statuses(asked: Sequence[Asked]) -> Counter[int]:
    """How often each status was answered; 0: the connection ended without a response."""
    return Counter(each.status for each in asked)


def slowest(asked: Sequence[Asked]) -> float:
    """The seconds of the slowest request."""
    return max(each.seconds for each in asked)
