"""Requests documents from EDGAR over HTTP: fair access, retries, conditional requests.

Belongs here: waiting before retries, and what each HTTP status means.
Does not: the connections and their pace (network), addresses and answers (answers), opening a source (sources), the
files of a mirror (mirror), the contents of a document (documents), storing it (raw_store).

Source of the rules of fair access: the SEC's "Accessing EDGAR Data": at most ten requests a second for one user over
all machines and threads, a User-Agent with a name and a mail address, compressed transfer. A user who exceeds the rate
gets 403 until ten minutes after the rate has dropped.
"""

import re
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, suppress
from email.utils import parsedate_to_datetime
from html import unescape
from itertools import chain
from pathlib import Path
from typing import Self, TypeVar

import httpx

from pipelines.edgar.answers import (
    DATA_SETS_URL,
    MAX_BYTES,
    Answer,
    Fetched,
    NotFound,
    NotModified,
    Validators,
    is_web_page,
)
from pipelines.edgar.errors import EdgarError, FetchError, RefusedError
from pipelines.edgar.source.network import DEADLINE, Exchange, Pace, StoppedError, TooSlowError
from pipelines.edgar.source.partial import Downloaded, Partial
from pipelines.waiting import on_terminal

T = TypeVar("T")

ATTEMPTS = 5
FIRST_DELAY = 1.0  # seconds before the second attempt; doubles with each further one
MAX_WAIT = 120.0  # seconds; if the server asks for a longer wait, there are no more attempts
TIMEOUT = httpx.Timeout(30.0, connect=10.0)
REFUSED, TOO_MANY = 403, 429
REFUSALS_IN_A_ROW = 3
"""After so many refusals in a row (403, or a web page in place of the document), no more documents are requested,
because EDGAR blocks the caller."""
PAGE_BYTES, PAGE_LENGTH = 1 << 16, 300
"""The bytes of a refusal's web page that are read, and the characters of its text that are shown."""
WHOLE, PART, RANGE_IMPOSSIBLE = 200, 206, 416
DOWNLOAD_PIECE = 1 << 20
"""Of a large file, at least this number of bytes has to arrive in each DEADLINE."""
LARGEST_DOWNLOAD = 1 << 34
BLOCKED = "the address or the User-Agent is blocked: wait ten minutes, check EDGAR_USER_AGENT"
MARKUP = re.compile(r"<(script|style|head)\b|<!--|<[^<>]*>")
"""A tag, or the beginning of a comment, script, style or head. A page may have many `<`: each is searched once."""
GZIP_BODY = zlib.MAX_WBITS | 16
PIECE = 1 << 20

USUAL_BYTES = 32 << 20
"""A document with more bytes than this waits until no other thread receives one: a small body may inflate to a large
document, and several of these would not fit in memory."""
_large = threading.Lock()


class EdgarClient:
    """Requests documents over HTTP; safe to use from several threads.

    Args:
        transport: answers the requests, such as the sample; None: the network.
        user_agent: name and mail address, which the SEC requires; other sources need none.
        pace: requests a second over all threads; None: no limit.
        base_url: address to call instead of the SEC's hosts; the path has the host as its first segment.
        attempts: number of attempts before a request counts as failed.
        deadline: seconds from sending a request to the end of its answer.
        sleep, clock: both in seconds; tests replace them.
    """

    def __init__(
        self,
        transport: httpx.BaseTransport | None = None,
        *,
        user_agent: str | None,
        pace: float | None,
        base_url: str | None = None,
        attempts: int = ATTEMPTS,
        deadline: float = DEADLINE,
        sleep: Callable[[float], object] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        headers = {"Accept": "application/json", "Accept-Encoding": "gzip"}
        if user_agent:
            headers["User-Agent"] = user_agent
        self._stopped = threading.Event()
        self._pace = Pace(pace, sleep=sleep or self._stopped.wait, clock=clock)
        self._exchange = Exchange(self._pace, self._stopped, self._raise_if_blocked, deadline, clock)
        transport = transport or self._exchange.transport()
        self._http = httpx.Client(transport=transport, headers=headers, timeout=TIMEOUT, follow_redirects=False)
        self._base_url = base_url
        self._delays = [FIRST_DELAY * 2**n for n in range(attempts - 1)]
        self._refused_in_a_row = 0
        self._blocked: str | None = None
        self._is_wait_announced = False

    def get(self, url: str, validators: Validators | None = None) -> Answer:
        """Request the document at `url`; with validators, only if it has changed since they were received.

        Raises:
            RefusedError: EDGAR blocks the caller: 403 or a web page for several documents in a row, 429 at the last
                attempt, or a request to wait too long.
            FetchError: any other failure: no connection, an incomplete, slow or oversized body, a redirect, an
                unexpected status, 403 or a web page for this document.
        """
        conditions = validators.headers() if validators else {}
        return self._repeated(url, lambda: self._ask(url, conditions))

    def is_known(self, url: str, validators: Validators | None) -> bool:
        """Always False: only a request shows whether a document has changed."""
        return False

    def download(self, url: str, path: Path, progress: Callable[[int, int], object]) -> Downloaded | NotFound:
        """Download a large file; if an earlier call was interrupted, only the rest of it.

        A file with its final name is complete. Until then, the part that has arrived is in the same folder, with its
        validators.

        Args:
            url: its address.
            path: where to put it.
            progress: called with the number of bytes so far, and the number of all bytes.

        Raises:
            RefusedError, FetchError: as `get`; FetchError also if it arrives too slowly.
        """
        return self._repeated(url, lambda: self._asked(url, lambda: self._continue(url, Partial(path), progress)))

    def stop(self) -> None:
        """Send no more requests, and end the requests in progress within a second; they raise FetchError."""
        self._stopped.set()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _repeated(self, url: str, ask: Callable[[], T]) -> T:
        """Make a request, with retries after failures that may pass."""
        delays = iter(self._delays)
        while True:
            try:
                self._pace.wait_out()
                answer = ask()
            except StoppedError as error:
                raise FetchError(f"{url}: not requested, because the synchronization is being stopped") from error
            except _NotNowError as failure:
                delay = next(delays, None)
                if failure.status == REFUSED:
                    raise self._refused(url, failure) from failure
                if delay is None or failure.retry_after > MAX_WAIT:
                    raise failure.finally_for(url) from failure
                if failure.status is None and not self._is_wait_announced:
                    on_terminal(f"waiting for {url}: {failure}; asked again {len(self._delays)} times at most")
                self._is_wait_announced = (
                    True  # printed once, and only before the first answer: the retries take half a minute
                )
                self._pace.hold(max(delay, failure.retry_after))
            else:
                self._refused_in_a_row, self._is_wait_announced = 0, True
                return answer

    def _ask(self, url: str, conditions: dict[str, str]) -> Answer:
        def ask() -> Answer:
            with self._stream(url, conditions) as response:
                return _answer(url, response, asked_whether_modified=bool(conditions))

        return self._asked(url, ask)

    def _stream(self, url: str, headers: Mapping[str, str]) -> AbstractContextManager[httpx.Response]:
        address = self._base_url.rstrip("/") + "/" + url.removeprefix("https://") if self._base_url else url
        return self._http.stream("GET", address, headers=headers)

    def _continue(self, url: str, partial: Partial, progress: Callable[[int, int], object]) -> Downloaded | NotFound:
        """Continue the download of a large file; start again if it has changed since."""
        with self._stream(url, {"Accept-Encoding": "identity", **partial.headers()}) as response:
            if response.status_code == RANGE_IMPOSSIBLE:
                partial.drop()
                raise _NotNowError("the file has changed since its download began")
            chunks, first = response.iter_raw(), b""
            if response.status_code == PART and partial.fits(response.headers.get("Content-Range", "")):
                done = partial.size
            elif response.status_code == WHOLE and "Content-Encoding" not in response.headers:
                if is_web_page(first := next(chunks, b"")):
                    raise _web_page(first)
                partial.drop()
                done = 0
                partial.note(url, response.headers)
            else:
                # a 304 or a partial answer that was not requested is an error, like any other unexpected answer
                answer = _answer(url, response, asked_whether_modified=False)
                if isinstance(answer, NotFound):
                    return answer
                raise FetchError(f"{url}: comes encoded, expected a plain zip file; check any proxy")
            total = done + int(response.headers.get("Content-Length") or 0)
            with partial.path.open("ab") as file:
                reported = done
                for chunk in chain([first], chunks):
                    file.write(chunk)
                    done += len(chunk)
                    if done > LARGEST_DOWNLOAD:
                        raise FetchError(f"{url}: has more than {LARGEST_DOWNLOAD} bytes, which no file of EDGAR has")
                    if done - reported >= DOWNLOAD_PIECE:
                        reported = done
                        self._exchange.prolong()
                        progress(done, max(total, done))
            progress(done, max(total, done))
        partial.complete()
        return Downloaded(response.headers.get("Last-Modified"))

    def _asked(self, url: str, ask: Callable[[], T]) -> T:
        """Make one attempt, and translate errors of the connection to errors of this module."""
        try:
            return ask()
        except httpx.TransportError as error:
            raise _NotNowError(f"{type(error).__name__}: {error}".removesuffix(": ")) from error
        except zlib.error as error:
            raise _NotNowError(f"its gzip body is broken: {error}") from error
        except TooSlowError as error:
            raise FetchError(f"{url}: {error}; synchronize again later", passes_in=0) from error

    def _refused(self, url: str, failure: "_NotNowError") -> EdgarError:
        """The error for a refusal: of this document alone, or, after several refusals in a row, of the whole source."""
        self._refused_in_a_row += 1
        if self._refused_in_a_row < REFUSALS_IN_A_ROW:
            self._pace.hold(FIRST_DELAY)
            return FetchError(f"{url}: {failure}; if all documents are refused, {BLOCKED}")
        self._blocked = f"{url}: {failure}, as do the {REFUSALS_IN_A_ROW - 1} documents before it; {BLOCKED}"
        return RefusedError(self._blocked)

    def _raise_if_blocked(self) -> None:
        if self._blocked:
            raise RefusedError(self._blocked)


class _NotNowError(Exception):
    """A failed attempt that may succeed when it is repeated."""

    def __init__(self, reason: str, status: int | None = None, retry_after: float = 0.0) -> None:
        super().__init__(reason)
        self.status = status
        self.retry_after = retry_after

    def finally_for(self, url: str) -> FetchError | RefusedError:
        """The error for the caller when there is no further attempt."""
        asked = f", and asks to wait {self.retry_after:.0f} seconds" if self.retry_after else ""
        if self.status == TOO_MANY:
            return RefusedError(f"{url}: {self}{asked}; {BLOCKED}", passes_in=self.retry_after)
        return FetchError(f"{url}: {self}{asked}; synchronize again later", passes_in=self.retry_after)


def _answer(url: str, response: httpx.Response, *, asked_whether_modified: bool) -> Answer:
    status = response.status_code
    if status == 200:
        validators = Validators(response.headers.get("ETag"), response.headers.get("Last-Modified"))
        if is_web_page(content := _body(url, response)) and url != DATA_SETS_URL:
            raise _web_page(content)
        return Fetched(content, validators)
    if status == 404:
        return NotFound()
    if status == 304 and asked_whether_modified:
        return NotModified()
    if status in (REFUSED, TOO_MANY) or status >= 500:
        page = _page(response) if status == REFUSED else ""
        raise _NotNowError(f"answers {status}{page}", status, _retry_after(response.headers))
    if response.has_redirect_location:
        # The documents have fixed addresses; a redirect, to the same host or another, does not come from EDGAR.
        target = response.headers["Location"]
        raise FetchError(f"{url}: redirects to {target}, which is not followed; check EDGAR_BASE_URL and any proxy")
    raise FetchError(f"{url}: answers {status}, expected 200, 304 or 404; check EDGAR_BASE_URL and any proxy")


def _page(response: httpx.Response) -> str:
    """The beginning of the text of a refusal's web page, in quotation marks; empty without text."""
    raw = b""
    for chunk in [response.content] if response.is_stream_consumed else response.iter_raw(PAGE_BYTES):
        raw += chunk
        if len(raw) >= PAGE_BYTES:
            break
    if response.headers.get("Content-Encoding", "").lower() == "gzip":
        with suppress(zlib.error):
            raw = zlib.decompressobj(wbits=GZIP_BODY).decompress(raw, PAGE_BYTES)
    return _quoted(raw)


def _web_page(content: bytes) -> _NotNowError:
    """The refusal of a request that is answered with a web page in place of the document."""
    return _NotNowError(f"answers 200 with a web page in place of the document{_quoted(content)}", REFUSED)


def _quoted(page: bytes) -> str:
    """The beginning of the text of a page, in quotation marks; empty without text."""
    text = " ".join(_texts(page[:PAGE_BYTES].decode(errors="replace")))
    words = " ".join("".join(letter if letter.isprintable() else " " for letter in unescape(text)).split())
    return f' ("{words[:PAGE_LENGTH]}{"…" if len(words) > PAGE_LENGTH else ""}")' if words else ""


def _texts(page: str) -> Iterator[str]:
    """The text of a page without tags, comments, scripts, styles and the head; in linear time."""
    place, lower = 0, page.lower()
    while found := MARKUP.search(lower, place):
        yield page[place : found.start()]
        place = found.end()
        if end := f"</{found[1]}" if found[1] else "-->" if found[0] == "<!--" else "":
            place = lower.find(end, place)
            if place < 0:
                return  # the comment, script, style or head has no end
            place += 0 if found[1] else len(end)
    yield page[place:]


def _body(url: str, response: httpx.Response) -> bytes:
    """The complete body. It is decompressed here, because httpx accepts a gzip stream that ends too early."""
    if response.is_stream_consumed:  # a transport that returns the body from memory
        return response.content
    encoding = response.headers.get("Content-Encoding", "identity").lower()
    if encoding not in ("identity", "gzip"):
        raise FetchError(f"{url}: comes encoded as {encoding!r}, expected gzip or none; check any proxy")
    raw = response.iter_raw()
    content = bytearray()
    with ExitStack() as alone:
        for chunk in _inflate(raw) if encoding == "gzip" else raw:
            if len(content) <= USUAL_BYTES < len(content) + len(chunk):
                alone.enter_context(_large)
            content += chunk
            if len(content) > MAX_BYTES:
                raise FetchError(f"{url}: has more than {MAX_BYTES} bytes, which no document of EDGAR has")
        return bytes(content)


def _inflate(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The content of a gzip body, in pieces of limited size. It may have several members, one after the other."""
    inflater = zlib.decompressobj(wbits=GZIP_BODY)
    for chunk in chunks:
        rest, is_full = chunk, False
        while rest or is_full:
            if inflater.eof:
                inflater = zlib.decompressobj(wbits=GZIP_BODY)
            piece = inflater.decompress(rest, PIECE)
            rest, is_full = inflater.unconsumed_tail or inflater.unused_data, len(piece) == PIECE and not inflater.eof
            yield piece
    if not inflater.eof:
        raise _NotNowError("its gzip body is cut short")


def _retry_after(headers: httpx.Headers) -> float:
    """Seconds that the server asks to wait: a number, or a date, compared with the server's own `Date` header."""
    value = headers.get("Retry-After", "")
    if re.fullmatch(r"\d{1,9}", value, re.ASCII):
        return float(value)
    try:
        return max(0.0, (parsedate_to_datetime(value) - parsedate_to_datetime(headers["Date"])).total_seconds())
    except (KeyError, ValueError, TypeError):  # a date is missing or invalid, or only one of the two has a time zone
        return 0.0
