"""Limits of requests without a valid key, by the client's address: failed keys, sign-in attempts, status requests.

Belongs here: their limits, and counting. Does not: which address a client has (serve.addresses), the limits of keys
(limits).

Each worker counts by itself, in fixed windows of a minute. A request with a valid key is not counted here.
"""

import threading
from collections import Counter
from collections.abc import Sequence

from starlette.types import Scope

from serve.access.limits import Limit, fields, until_reset
from serve.addresses import Network, client_of, origin
from serve.clock import Clock
from serve.errors import RateLimited

FAILED_KEYS = "failed keys"
SIGN_INS = "sign-in attempts"
STATUS = "requests of the status"
ATTEMPTS = {FAILED_KEYS: Limit(60, "minute", 60), SIGN_INS: Limit(20, "minute", 60), STATUS: Limit(120, "minute", 60)}
MOST = 50_000  # addresses counted at the same time; beyond that all counts restart, so that memory is bounded


class Attempts:
    """The counts of one process, safe for threads."""

    def __init__(self, proxies: Sequence[Network], clock: Clock) -> None:
        """Start counting.

        Args:
            proxies: the proxies whose header X-Forwarded-For names the client.
            clock: returns Unix time.
        """
        self._proxies = proxies
        self._clock = clock
        self._lock = threading.Lock()
        self._counts: Counter[tuple[str, str]] = Counter()
        self._start = 0

    def count(self, kind: str, scope: Scope) -> None:
        """Count an attempt by the client that sent a request.

        Args:
            kind: one of ATTEMPTS.
            scope: the request.

        Raises:
            RateLimited: the client's address has exceeded the limit of the minute.
        """
        now, limit, address = self._clock(), ATTEMPTS[kind], origin(client_of(scope, self._proxies))
        with self._lock:
            if self._start != limit.start(now) or len(self._counts) >= MOST:
                self._start = limit.start(now)
                self._counts.clear()
            self._counts[kind, address] += 1
            count = self._counts[kind, address]
        if count > limit.requests:
            error = RateLimited(limit.requests, limit.window, until_reset(limit, now), f"{kind} from one address")
            error.limit = kind
            error.headers = {**(error.headers or {}), **fields([(limit, count)], now)}
            raise error
