"""The client of EDGAR, against a real server on a loopback port; only the time is simulated."""

import gzip
import re
import socket
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from threading import Timer
from time import monotonic, sleep
from typing import Any

import httpcore
import httpx
import pytest

from pipelines.edgar.answers import (
    TICKERS_URL,
    Fetched,
    NotFound,
    NotModified,
    Validators,
    facts_url,
    is_web_page,
    submissions_url,
)
from pipelines.edgar.errors import EdgarError, FetchError, RefusedError
from pipelines.edgar.source import client as client_module
from pipelines.edgar.source import network
from pipelines.edgar.source.client import EdgarClient
from pipelines.edgar.source.network import Pace
from pipelines.edgar.source.partial import Downloaded
from pipelines.edgar.source.source import REQUESTS_A_SECOND
from pipelines.fake_sec.server import EdgarServer, Reply, running_server
from tests.fake_time import FakeTime
from tests.servers import PATIENCE, PROJECT

URL = facts_url("0000320193")
USER_AGENT = "Example Research mail@example.org"
DOCUMENT = b'{"cik":320193,"entityName":"Example","facts":{}}'


@pytest.fixture
def time() -> FakeTime:
    return FakeTime()


@pytest.fixture
def client(server: EdgarServer, time: FakeTime) -> Iterator[EdgarClient]:
    with EdgarClient(user_agent=USER_AGENT, pace=10, base_url=server.url, sleep=time.sleep, clock=time.clock) as client:
        yield client


def test_addresses_are_those_of_the_sec():
    assert URL == "https://data.sec.gov/api/xbrl/companyfacts/CIK0000320193.json"
    assert submissions_url("0000320193") == "https://data.sec.gov/submissions/CIK0000320193.json"
    assert TICKERS_URL == "https://www.sec.gov/files/company_tickers_exchange.json"


def test_requests_follow_the_rules_of_the_sec(server, client):
    """The path has the host as its first segment, the User-Agent names the requester, and compression is accepted."""
    server.on(URL, Reply(body=DOCUMENT, headers={"ETag": '"one"', "Last-Modified": "Sat, 01 Aug 2026 00:00:00 GMT"}))

    answer = client.get(URL)

    assert answer == Fetched(DOCUMENT, Validators('"one"', "Sat, 01 Aug 2026 00:00:00 GMT"))
    [(path, headers)] = server.asked
    assert path == "/data.sec.gov/api/xbrl/companyfacts/CIK0000320193.json"
    assert headers["User-Agent"] == USER_AGENT
    assert headers["Accept-Encoding"] == "gzip"
    assert "If-None-Match" not in headers
    assert "If-Modified-Since" not in headers


def test_validators_make_the_request_conditional(server, client):
    server.on(URL, Reply(304))

    assert client.get(URL, Validators('"one"', "Sat, 01 Aug 2026 00:00:00 GMT")) == NotModified()

    [(_, headers)] = server.asked
    assert headers["If-None-Match"] == '"one"'
    assert headers["If-Modified-Since"] == "Sat, 01 Aug 2026 00:00:00 GMT"


PACKED = gzip.compress(DOCUMENT)
GZIP = {"Content-Encoding": "gzip"}
CUT_OFF = {
    "cut": Reply(body=DOCUMENT, cut=20),
    "a checksum cut off": Reply(body=PACKED[:-9], headers=GZIP),
    "a byte cut off": Reply(body=PACKED[:-1], headers=GZIP),
    "a cut compressed body": Reply(body=PACKED, headers=GZIP, cut=30),
    "no gzip": Reply(body=b"not gzip at all", headers=GZIP),
    "more than gzip": Reply(body=PACKED + b"more", headers=GZIP),
}
"""Truncated by the connection or inside its compression: the request is retried, and the body never used."""
REFUSED = {
    "304 without a validator": (Reply(304), FetchError, "answers 304", 1),
    "a failing server": (Reply(503), FetchError, r"CIK0000320193\.json: answers 503; synchronize again later", 5),
    "a too long wait": (
        Reply(429, headers={"Retry-After": "3600"}),
        RefusedError,
        "asks to wait 3600 seconds",
        1,
    ),
    "a broken page of a refusal": (Reply(403, b"", GZIP), FetchError, "answers 403; if all", 1),
    "a redirect": (
        Reply(302, headers={"Location": "https://example.org/login"}),
        FetchError,
        "redirects to https://example.org/login, which is not followed",
        1,
    ),
    "a redirect on the server": (
        Reply(302, headers={"Location": "/elsewhere.json"}),
        FetchError,
        r"redirects to /elsewhere\.json, which is not followed",
        1,
    ),
    "an unexpected status": (Reply(418), FetchError, "answers 418, expected 200, 304 or 404", 1),
    # also a body that is small until it is decompressed
    "a too large body": (Reply(body=gzip.compress(b" " * 1001), headers=GZIP), FetchError, "more than 1000 bytes", 1),
    "an unaccepted encoding": (
        Reply(body=DOCUMENT, headers={"Content-Encoding": "br"}),
        FetchError,
        "'br', expected gzip",
        1,
    ),
    **{name: (reply, FetchError, "CIK0000320193", 5) for name, reply in CUT_OFF.items()},
}
"""A reply, its error, and the number of requests: an error that may pass is asked again."""


@pytest.mark.parametrize(("reply", "error", "said", "requests"), REFUSED.values(), ids=REFUSED)
def test_a_reply_that_is_no_document_is_an_error(server, client, time, monkeypatch, reply, error, said, requests):
    monkeypatch.setattr(client_module, "MAX_BYTES", 1000)
    server.on(URL, reply)
    with pytest.raises(error, match=said):
        client.get(URL, Validators())
    assert len(server.asked) == requests
    assert time.slept == [1.0, 2.0, 4.0, 8.0][: requests - 1]


def test_a_404_is_a_valid_response(client, time):
    assert client.get(URL) == NotFound()
    assert time.slept == []


@pytest.mark.parametrize(
    ("replies", "waits"),
    [
        *(([Reply(status), Reply(status)], [1.0, 2.0]) for status in (500, 502, 503)),
        # a refusal for a while waits as long as it says
        ([Reply(429, headers={"Retry-After": "7"})], [7.0]),
        ([Reply(429, headers={"Retry-After": "0"})], [1.0]),
        ([Reply(429, headers={"Retry-After": "soon"})], [1.0]),
        ([Reply(429, headers={"Retry-After": "Sat, 01 Jan 2000 00:00:00 GMT"})], [1.0]),
        *(([broken], [1.0]) for broken in CUT_OFF.values()),
    ],
)
@pytest.mark.parametrize("last", [Reply(body=DOCUMENT), Reply(body=PACKED, headers=GZIP)], ids=["plain", "gzip"])
def test_temporary_failures_are_retried(server, client, time, replies, waits, last):
    server.on(URL, *replies, last)

    assert client.get(URL) == Fetched(DOCUMENT, Validators())

    assert time.slept == waits


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Date": "Sat, 01 Aug 2026 00:00:00 GMT", "Retry-After": "Sat, 01 Aug 2026 00:00:30 GMT"}, 30.0),
        ({"Date": "Sat, 01 Aug 2026 00:00:00 -0000", "Retry-After": "Sat, 01 Aug 2026 00:00:30 GMT"}, 0.0),
        ({"Retry-After": "Sat, 01 Aug 2026 00:00:30 GMT"}, 0.0),
        ({"Retry-After": "²"}, 0.0),
    ],
)
def test_a_retry_after_date_is_relative_to_the_servers_date(headers, seconds):
    assert client_module._retry_after(httpx.Headers(headers, encoding="utf-8")) == seconds


SEC_PAGE = b"""<!DOCTYPE html><html><head><title>SEC.gov</title><style>p {color: red}</style></head><body>
<!-- id --><h1>Your Request Originates from an Undeclared Automated Tool</h1>
<p>To allow for equitable access to all users,\x00 SEC reserves the right to limit requests &amp; tools.</p>
</body></html>"""


PAGES = [(SEC_PAGE, {}), (gzip.compress(SEC_PAGE), GZIP)]


@pytest.mark.parametrize(("body", "headers"), PAGES)
def test_a_refusal_says_what_the_page_says(server, client, body, headers):
    server.on(URL, Reply(403, body, headers))
    said = (
        'answers 403 ("Your Request Originates from an Undeclared Automated Tool To allow for equitable access to all '
        'users, SEC reserves the right to limit requests & tools."); if all documents are refused, the address or'
    )
    with pytest.raises(FetchError, match=re.escape(said)) as refused:
        client.get(URL)
    assert len(server.asked) == 1
    assert "\n" not in str(refused.value)


def test_a_long_page_of_a_refusal_is_shortened(server, client):
    server.on(URL, Reply(403, b"no " * 100_000))
    with pytest.raises(FetchError) as refused:
        client.get(URL)
    assert "no no …" in str(refused.value).replace("no…", "no …")
    assert len(str(refused.value)) < 600


@pytest.mark.parametrize("part", ["<", "<script", "<!--", "<head>", "</", "<a", "<style></style>"])
def test_the_text_of_a_page_is_found_in_linear_time(part):
    """However many tags begin and do not end: or each would be sought to the end."""
    code = "import sys; from pipelines.edgar.source.client import _texts; [*_texts(sys.argv[1])]"
    page = part * (100_000 // len(part))  # the system takes no longer argument
    subprocess.run([sys.executable, "-c", code, page], cwd=PROJECT, timeout=PATIENCE, check=True)


def test_several_refusals_in_a_row_end_all_requests(server, client):
    """After that no request is sent any more, because each would prolong the block."""
    server.otherwise = Reply(403)
    for number in range(2):
        with pytest.raises(FetchError):
            client.get(facts_url(f"{number:010}"))
    for number in range(2, 5):
        with pytest.raises(
            RefusedError, match=r"as do the 2 documents before it; .* wait ten minutes, check EDGAR_USE"
        ):
            client.get(facts_url(f"{number:010}"))
    assert len(server.asked) == 3


@pytest.mark.parametrize(("body", "headers"), PAGES)
def test_a_web_page_in_place_of_a_document_is_a_refusal(server, client, body, headers):
    """The SEC sends its page with status 200, too."""
    server.on(URL, Reply(403))
    server.otherwise = Reply(200, body, headers)
    said = 'answers 200 with a web page in place of the document ("Your Request Originates from an Undeclared Automated'
    for url, error in ((URL, FetchError), (TICKERS_URL, FetchError), (URL + "n", RefusedError), (URL, RefusedError)):
        with pytest.raises(error, match="check EDGAR_USER_AGENT") as refused:
            client.get(url)
        assert url == URL or said in str(refused.value)
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("content", "is_page"),
    [
        (b"<!DOCTYPE html><p>", True),
        (b"\xef\xbb\xbf\r\n <HTML lang=en>", True),
        (
            b'<?xml version="1.0"?>\n<!-- a --><!-- b -->\n<!doctype html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN">',
            True,
        ),
        (b"<head><title>SEC.gov</title>", True),
        (b"<?xml version='1.0'?><feed xmlns='http://www.w3.org/2005/Atom'>", False),
        (b"<htmlx>", False),
        (b'{"html":"<html>"}', False),
        (b"Description: <html>", False),
        (b"<!---->" * 10_000, False),
        (b"", False),
    ],
)
def test_what_a_web_page_is(content, is_page):
    assert is_web_page(content) is is_page


def test_refusals_with_an_answer_between_them_end_nothing(server, client):
    server.on(URL, Reply(403), Reply(403), Reply(body=DOCUMENT), Reply(403), Reply(403), Reply(404))
    told = []
    for _ in range(6):
        try:
            told.append(type(client.get(URL)))
        except FetchError:
            told.append(FetchError)
    assert told == [FetchError, FetchError, Fetched, FetchError, FetchError, NotFound]


def test_an_unreachable_server_is_reported_in_one_line(time):
    with running_server() as gone:
        pass
    with (
        EdgarClient(
            user_agent=None, pace=None, base_url=gone.url, attempts=2, sleep=time.sleep, clock=time.clock
        ) as client,
        pytest.raises(EdgarError, match="ConnectError") as failure,
    ):
        client.get(URL)
    assert "\n" not in str(failure.value)
    assert time.slept == [1.0]


def test_ten_requests_per_second_over_all_threads():
    """Whatever the threads do, no second has more than ten requests, and every request is sent."""
    now = threading.local()
    turns: list[float] = []

    def clock() -> float:
        return getattr(now, "seconds", 0.0)

    def sleep(seconds: float) -> None:
        now.seconds = clock() + seconds

    pace = Pace(10, sleep=sleep, clock=clock)

    def ask_ten_times() -> None:
        for _ in range(10):
            with pace.turn():
                turns.append(clock())

    threads = [threading.Thread(target=ask_ten_times) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    turns.sort()
    assert turns == pytest.approx([n / 10 for n in range(80)])


def test_requests_are_paced_and_the_first_is_not_delayed(server, client, time):
    for _ in range(4):
        client.get(URL)
    assert time.slept == pytest.approx([0.1, 0.1, 0.1])


def test_a_refused_request_slows_all_threads(time):
    pace = Pace(10, sleep=time.sleep, clock=time.clock)
    for seconds in (30, 0, 0):
        with pace.turn():
            pace.hold(seconds)
    assert time.slept == pytest.approx([30, 0.1])


def test_without_a_rate_limit_no_request_waits(time):
    pace = Pace(None, sleep=time.sleep, clock=time.clock)
    for _ in range(100):
        with pace.turn():
            pass
    assert time.slept == []


def test_a_late_request_delays_the_next(time):
    """Two requests are never closer than a tenth of a second, whatever happens between a turn and its request."""
    pace = Pace(10, sleep=time.sleep, clock=time.clock)
    sent = []
    for late in (0.0, 0.3, 0.0, 0.07, 0.0):
        with pace.turn():
            time.now += late
            sent.append(time.now)
    assert [after - before for before, after in pairwise(sent)] == pytest.approx([0.4, 0.1, 0.17, 0.1])


def test_no_second_has_more_than_ten_requests_at_the_socket(server, monkeypatch):
    """Measured where the requests arrive. Threads that are late between their turn and sending do not catch up."""
    arrived: list[float] = []
    answer = server.next_reply
    monkeypatch.setattr(server, "next_reply", lambda path: (arrived.append(monotonic()), answer(path))[1])
    delays = iter([0.4, 0.3, 0.2, 0.1])

    class SlowBackend(httpcore.SyncBackend):
        """Sends the first requests late."""

        def connect_tcp(self, *args: Any, **more: Any) -> httpcore.NetworkStream:
            stream = super().connect_tcp(*args, **more)
            send = stream.write
            monkeypatch.setattr(stream, "write", lambda *buffer: (sleep(next(delays, 0.0)), send(*buffer)))
            return stream

    monkeypatch.setattr(httpcore, "SyncBackend", SlowBackend)
    with (
        EdgarClient(user_agent=USER_AGENT, pace=REQUESTS_A_SECOND, base_url=server.url) as client,
        ThreadPoolExecutor(8) as pool,
    ):
        list(pool.map(client.get, [facts_url(f"{number:010}") for number in range(14)]))
    assert len(arrived) == 14
    arrived.sort()
    assert all(eleventh - first > 1 for first, eleventh in zip(arrived, arrived[10:], strict=False))


# --- slow answers, and the end of a synchronization


@contextmanager
def dripping_server(answer: bytes, every: float) -> Iterator[str]:
    """A server that sends its answer and then one byte at a time, without end."""
    listener = socket.create_server(("127.0.0.1", 0))
    ended = threading.Event()

    def drip(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.recv(65536)
            connection.sendall(answer)
            while not ended.wait(every):
                connection.sendall(b" ")

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=drip, args=(listener.accept()[0],), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    ended.set()
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join()


HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n{"


@pytest.mark.parametrize(
    "answer", [HEAD, b"HTTP/1.1 200", b"HTTP/1.1 200 OK\r\nX-Slow: "], ids=["body", "status", "headers"]
)
def test_an_answer_that_never_ends_has_a_deadline(answer):
    """Each byte arrives in time, but the whole answer does not. The request is not repeated."""
    with (
        dripping_server(answer, 0.01) as url,
        EdgarClient(user_agent=None, pace=None, base_url=url, deadline=0.2) as client,
        pytest.raises(FetchError, match=r"CIK0000320193\.json: the answer is not complete after 0 seconds"),
    ):
        client.get(URL)


def test_a_silent_server_is_left_after_the_read_timeout(monkeypatch):
    monkeypatch.setattr(network, "SLICE", 0.05)
    monkeypatch.setattr(client_module, "TIMEOUT", httpx.Timeout(0.2))
    with (
        dripping_server(HEAD, 60) as url,
        EdgarClient(user_agent=None, pace=None, base_url=url, attempts=1) as client,
        pytest.raises(FetchError, match="ReadTimeout"),
    ):
        client.get(URL)


@pytest.mark.parametrize("answer", [HEAD, b""], ids=["body", "status"])
def test_stopping_ends_requests_in_progress(answer, monkeypatch):
    monkeypatch.setattr(network, "SLICE", 0.05)
    with (
        dripping_server(answer, 60) as url,
        EdgarClient(user_agent=None, pace=0.01, base_url=url) as client,
        ThreadPoolExecutor(3) as pool,
    ):
        asked = [pool.submit(client.get, URL) for _ in range(3)]  # one waits for bytes, the others for their turn
        Timer(0.1, client.stop).start()
        failures = [str(each.exception(timeout=5)) for each in asked]
    assert all("is being stopped" in failure for failure in failures)


# --- memory


def test_the_large_documents_of_all_threads_are_received_one_by_one(server, monkeypatch):
    """A body of a few kilobytes may inflate to a large document; eight at the same time would not fit in memory."""
    monkeypatch.setattr(client_module, "USUAL_BYTES", 1 << 20)
    monkeypatch.setattr(client_module, "PIECE", 1 << 14)
    large: list[int] = []
    most = 0

    class Watched:
        def __enter__(self) -> None:
            nonlocal most
            lock.acquire()
            large.append(1)
            most = max(most, len(large))

        def __exit__(self, *_: object) -> None:
            large.pop()
            lock.release()

    lock = client_module._large
    monkeypatch.setattr(client_module, "_large", Watched())
    content = b" " * (8 << 20)
    server.on(URL, Reply(body=gzip.compress(content), headers={"Content-Encoding": "gzip"}))
    with (
        EdgarClient(user_agent=None, pace=None, base_url=server.url) as client,
        ThreadPoolExecutor(8) as pool,
    ):
        tracemalloc.start()
        answers = pool.map(lambda _: client.get(URL) == Fetched(content, Validators()), range(8))
        assert all(answers)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert most == 1
    assert peak < 8 * (2 << 20) + 8 * len(content)


def test_a_body_of_several_gzip_members_is_decompressed(server, client, monkeypatch):
    """RFC 1952, 2.2: a gzip file is a series of members. Also where a piece of the output ends with a member."""
    monkeypatch.setattr(client_module, "PIECE", 8)
    for content in (DOCUMENT, DOCUMENT[:40], b" " * 10_000):
        members = gzip.compress(content[:16]) + gzip.compress(b"") + gzip.compress(content[16:])
        server.on(URL, Reply(body=members, headers={"Content-Encoding": "gzip"}))
        assert client.get(URL) == Fetched(content, Validators())


def test_a_transport_that_answers_from_memory_needs_no_stream():
    with EdgarClient(
        httpx.MockTransport(lambda request: httpx.Response(200, content=DOCUMENT)), user_agent=None, pace=None
    ) as client:
        assert client.get(URL) == Fetched(DOCUMENT, Validators())


# --- downloads

ZIP_URL = "https://www.sec.gov/Archives/edgar/daily-index/xbrl/companyfacts.zip"
FILE = bytes(range(256)) * 40
TAG = {"ETag": '"zip-1"', "Last-Modified": "Sat, 01 Aug 2026 07:00:00 GMT"}


def download(client: EdgarClient, path: Path) -> tuple[object, list[tuple[int, int]]]:
    told: list[tuple[int, int]] = []
    return client.download(ZIP_URL, path, lambda done, total: told.append((done, total))), told


def test_a_file_is_downloaded_with_progress(server, client, tmp_path, monkeypatch):
    monkeypatch.setattr(client_module, "DOWNLOAD_PIECE", 4096)
    server.on(ZIP_URL, Reply(body=FILE, headers=TAG))
    answer, told = download(client, tmp_path / "bulk" / "facts.zip")
    assert answer == Downloaded(TAG["Last-Modified"])
    assert told == sorted(told)
    assert {total for _, total in told} == {10240}
    assert told[-1] == (10240, 10240)
    assert (tmp_path / "bulk" / "facts.zip").read_bytes() == FILE
    assert [path.name for path in (tmp_path / "bulk").iterdir()] == ["facts.zip"]
    assert server.asked[0][1]["Accept-Encoding"] == "identity"


@pytest.mark.parametrize(
    ("headers", "condition"),
    [
        (TAG, '"zip-1"'),
        ({"Last-Modified": TAG["Last-Modified"]}, TAG["Last-Modified"]),
        (TAG | {"ETag": 'W/"1"'}, TAG["Last-Modified"]),
        ({}, None),
    ],
    ids=["strong", "date", "weak", "none"],
)
def test_an_interrupted_download_is_continued(server, client, tmp_path, headers, condition):
    """With a validator, so that the parts of two files are never put together; without one, from the beginning.

    Whatever was left of an earlier download: a damaged note starts it again.
    """
    (tmp_path / "facts.zip.part").write_bytes(b"xyz")
    (tmp_path / "facts.zip.part.json").write_text("{")
    server.on(ZIP_URL, Reply(body=FILE, headers=headers, cut=6000), Reply(body=FILE, headers=headers))
    assert isinstance(download(client, tmp_path / "facts.zip")[0], Downloaded)
    assert (tmp_path / "facts.zip").read_bytes() == FILE
    assert [(asked["If-Range"], asked["Range"]) for _, asked in server.asked] == [
        (None, None),
        (condition, "bytes=6000-" if condition else None),
    ]


def test_another_process_continues_a_download(server, client, tmp_path):
    server.on(ZIP_URL, Reply(body=FILE, headers=TAG, cut=6000), Reply(503))
    with pytest.raises(FetchError, match="answers 503"):
        download(client, tmp_path / "facts.zip")
    assert not (tmp_path / "facts.zip").exists()
    server.on(ZIP_URL, Reply(body=FILE, headers=TAG))
    server.asked.clear()
    _, told = download(client, tmp_path / "facts.zip")
    assert [asked["Range"] for _, asked in server.asked] == ["bytes=6000-"]
    assert told[-1] == (len(FILE), len(FILE))
    assert (tmp_path / "facts.zip").read_bytes() == FILE


def test_a_web_page_in_place_of_a_file_loses_nothing_of_it(server, client, tmp_path):
    server.on(ZIP_URL, Reply(body=FILE, headers=TAG, cut=6000), Reply(body=SEC_PAGE), Reply(body=FILE, headers=TAG))
    with pytest.raises(
        FetchError, match=r'a web page in place of the document \("Your Request Originates .* check EDGAR'
    ):
        download(client, tmp_path / "facts.zip")
    download(client, tmp_path / "facts.zip")
    assert [asked["Range"] for _, asked in server.asked] == [None, "bytes=6000-", "bytes=6000-"]
    assert (tmp_path / "facts.zip").read_bytes() == FILE


OTHER = FILE[::-1] + b"more"


@pytest.mark.parametrize(
    "replies",
    [
        [Reply(body=OTHER, headers={"ETag": '"zip-2"'})],
        [Reply(416), Reply(body=OTHER)],
        [Reply(206, OTHER, {"Content-Range": "bytes 0-10243/10244"}), Reply(416), Reply(body=OTHER)],
    ],
    ids=["whole", "impossible", "another part"],
)
def test_a_file_that_has_changed_is_downloaded_from_the_beginning(server, client, tmp_path, replies):
    server.on(ZIP_URL, Reply(body=FILE, headers=TAG, cut=6000), *replies)
    with suppress(FetchError):  # a part that was not asked for is an error, and never used
        download(client, tmp_path / "facts.zip")
        assert (tmp_path / "facts.zip").read_bytes() == OTHER
    download(client, tmp_path / "facts.zip")
    assert (tmp_path / "facts.zip").read_bytes() == OTHER


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(403, b"no"), 'answers 403 \\("no"\\)'),
        (Reply(body=gzip.compress(FILE), headers=GZIP), "comes encoded, expected a plain zip file"),
        (Reply(body=FILE), "more than 5000 bytes"),
    ],
    ids=["refused", "encoded", "too large"],
)
def test_a_download_has_the_errors_of_other_requests(server, client, tmp_path, monkeypatch, reply, said):
    monkeypatch.setattr(client_module, "LARGEST_DOWNLOAD", 5000)
    assert download(client, tmp_path / "facts.zip")[0] == NotFound()
    server.on(ZIP_URL, reply)
    with pytest.raises(FetchError, match=said):
        download(client, tmp_path / "facts.zip")


def test_a_download_that_drips_has_a_deadline(tmp_path, monkeypatch):
    """Each part of it has the deadline of a document, so that a large file may take long."""
    monkeypatch.setattr(client_module, "DOWNLOAD_PIECE", 10)
    head = HEAD.replace(b"9999", b"45")
    with dripping_server(head, 0.02) as url:
        with EdgarClient(user_agent=None, pace=None, base_url=url, deadline=0.5) as client:
            assert download(client, tmp_path / "slow.zip")[0] == Downloaded(None)  # 0.9 seconds
        with (
            EdgarClient(user_agent=None, pace=None, base_url=url, deadline=0.1) as client,
            pytest.raises(FetchError, match="is not complete"),
        ):
            download(client, tmp_path / "too-slow.zip")
