"""Requests documents from EDGAR over HTTP: fair access, retries, conditional requests.

Belongs here: pacing, waiting before retries, and what each HTTP status means.
Does not: addresses and answers (answers), opening a source (sources), the files of a mirror (mirror), the contents of a
document (documents), storing it (raw_store).

Source of the rules of fair access: the SEC's "Accessing EDGAR Data": at most ten requests a second for one user over
all machines and threads, a User-Agent with a name and a mail address, compressed transfer. A user who exceeds the rate
gets 403 until ten minutes after the rate has dropped.
"""

import re
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from email.utils import parsedate_to_datetime
from typing import Self

import httpx

from pipelines.edgar.answers import MAX_BYTES, Answer, Fetched, NotFound, NotModified, Validators
from pipelines.edgar.errors import FetchError, RefusedError

ATTEMPTS = 5
FIRST_DELAY = 1.0  # seconds before the second attempt; doubles with each further one
MAX_WAIT = 120.0  # seconds; if the server asks for a longer wait, there are no more attempts
TIMEOUT = httpx.Timeout(30.0, connect=10.0)
REFUSALS = (403, 429)
GZIP_BODY = zlib.MAX_WBITS | 16


class Pace:
    """Spaces requests of any number of threads evenly; `None` requests a second: no limit."""

    def __init__(
        self,
        per_second: float | None,
        *,
        sleep: Callable[[float], object] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._interval = 1 / per_second if per_second else 0.0
        self._sleep = sleep
        self._clock = clock
        self._lock = threading.Lock()
        self._next = clock()

    def wait(self) -> None:
        """Wait until the caller may send the next request."""
        with self._lock:
            now = self._clock()
            turn = max(now, self._next)
            self._next = turn + self._interval
        if turn > now:
            self._sleep(turn - now)

    def hold(self, seconds: float) -> None:
        """Stop all threads for so long, because one refused request means that all should slow down."""
        with self._lock:
            self._next = max(self._next, self._clock() + seconds)


class EdgarClient:
    """Requests documents over HTTP; safe to use from several threads.

    Args:
        transport: the network, or the sample.
        user_agent: name and mail address, which the SEC requires; other sources need none.
        pace: requests a second over all threads; None: no limit.
        base_url: address to call instead of the SEC's hosts; the path has the host as its first segment.
        attempts: number of attempts before a request counts as failed.
        sleep, clock: in seconds; tests replace them.
    """

    def __init__(
        self,
        transport: httpx.BaseTransport,
        *,
        user_agent: str | None,
        pace: float | None,
        base_url: str | None = None,
        attempts: int = ATTEMPTS,
        sleep: Callable[[float], object] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        headers = {"Accept": "application/json", "Accept-Encoding": "gzip"}
        if user_agent:
            headers["User-Agent"] = user_agent
        self._http = httpx.Client(transport=transport, headers=headers, timeout=TIMEOUT, follow_redirects=False)
        self._pace = Pace(pace, sleep=sleep, clock=clock)
        self._base_url = base_url
        self._delays = [FIRST_DELAY * 2**n for n in range(attempts - 1)]

    def get(self, url: str, validators: Validators | None = None) -> Answer:
        """Request the document at `url`; with validators, only if it has changed since they were received.

        Raises:
            RefusedError: 403 or 429 at the last attempt, or with a request to wait too long.
            FetchError: any other failure: no connection, an incomplete or oversized body, a redirect, an unexpected
                status.
        """
        conditions = validators.headers() if validators else {}
        delays = iter(self._delays)
        while True:
            self._pace.wait()
            try:
                return self._ask(url, conditions)
            except _NotNowError as failure:
                delay = next(delays, None)
                if delay is None or failure.retry_after > MAX_WAIT:
                    raise failure.finally_for(url) from failure
                self._pace.hold(max(delay, failure.retry_after))

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, url: str, conditions: dict[str, str]) -> Answer:
        address = self._base_url.rstrip("/") + "/" + url.removeprefix("https://") if self._base_url else url
        try:
            with self._http.stream("GET", address, headers=conditions) as response:
                return _answer(url, response, asked_whether_modified=bool(conditions))
        except httpx.TransportError as error:
            raise _NotNowError(f"{type(error).__name__}: {error}".removesuffix(": ")) from error
        except zlib.error as error:
            raise _NotNowError(f"its gzip body is broken: {error}") from error


class _NotNowError(Exception):
    """A failed attempt that may succeed when it is repeated."""

    def __init__(self, reason: str, status: int | None = None, retry_after: float = 0.0) -> None:
        super().__init__(reason)
        self.status = status
        self.retry_after = retry_after

    def finally_for(self, url: str) -> FetchError | RefusedError:
        """The error for the caller when there is no further attempt."""
        asked = f", and asks to wait {self.retry_after:.0f} seconds" if self.retry_after else ""
        if self.status in REFUSALS:
            advice = "the address or the User-Agent is blocked: wait ten minutes, check EDGAR_USER_AGENT"
            return RefusedError(f"{url}: {self}{asked}; {advice}")
        return FetchError(f"{url}: {self}{asked}; synchronize again later")


def _answer(url: str, response: httpx.Response, *, asked_whether_modified: bool) -> Answer:
    status = response.status_code
    if status == 200:
        validators = Validators(response.headers.get("ETag"), response.headers.get("Last-Modified"))
        return Fetched(_body(url, response), validators)
    if status == 404:
        return NotFound()
    if status == 304 and asked_whether_modified:
        return NotModified()
    if status in REFUSALS or status >= 500:
        raise _NotNowError(f"answers {status}", status, _retry_after(response.headers))
    if response.has_redirect_location:
        # The documents have fixed addresses; a redirect, to the same host or another, does not come from EDGAR.
        target = response.headers["Location"]
        raise FetchError(f"{url}: redirects to {target}, which is not followed; check EDGAR_BASE_URL and any proxy")
    raise FetchError(f"{url}: answers {status}, expected 200, 304 or 404; check EDGAR_BASE_URL and any proxy")


def _body(url: str, response: httpx.Response) -> bytes:
    """The complete body. It is decompressed here, because httpx accepts a gzip stream that ends too early."""
    if response.is_stream_consumed:  # a transport that returns the body from memory
        return response.content
    encoding = response.headers.get("Content-Encoding", "identity").lower()
    if encoding not in ("identity", "gzip"):
        raise FetchError(f"{url}: comes encoded as {encoding!r}, expected gzip or none; check any proxy")
    raw = response.iter_raw()
    chunks = []
    size = 0
    for chunk in _inflate(raw) if encoding == "gzip" else raw:
        chunks.append(chunk)
        size += len(chunk)
        if size > MAX_BYTES:
            raise FetchError(f"{url}: has more than {MAX_BYTES} bytes, which no document of EDGAR has")
    return b"".join(chunks)


def _inflate(chunks: Iterable[bytes]) -> Iterator[bytes]:
    inflater = zlib.decompressobj(wbits=GZIP_BODY)
    for chunk in chunks:
        yield inflater.decompress(chunk)
    if not inflater.eof or inflater.unused_data:
        raise _NotNowError("its gzip body " + ("goes on after its end" if inflater.eof else "is cut short"))


def _retry_after(headers: httpx.Headers) -> float:
    """Seconds that the server asks to wait: a number, or a date, compared with the server's own `Date` header."""
    value = headers.get("Retry-After", "")
    if re.fullmatch(r"\d{1,9}", value, re.ASCII):
        return float(value)
    try:
        return max(0.0, (parsedate_to_datetime(value) - parsedate_to_datetime(headers["Date"])).total_seconds())
    except (KeyError, ValueError, TypeError):  # a date is missing or invalid, or only one of the two has a time zone
        return 0.0
