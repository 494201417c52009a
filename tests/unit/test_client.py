"""The client of EDGAR, against a real server on a loopback port; only the time is simulated."""

import gzip
import threading
from collections.abc import Iterator

import httpx
import pytest

from pipelines.edgar import client as client_module
from pipelines.edgar.answers import (
    TICKERS_URL,
    Fetched,
    NotFound,
    NotModified,
    Validators,
    facts_url,
    submissions_page_url,
    submissions_url,
)
from pipelines.edgar.client import EdgarClient, Pace
from pipelines.edgar.errors import EdgarError, FetchError, RefusedError
from tests.edgar_server import EdgarServer, FakeTime, Reply, running_server

URL = facts_url("0000320193")
USER_AGENT = "Example Research mail@example.org"
DOCUMENT = b'{"cik":320193,"entityName":"Example","facts":{}}'


@pytest.fixture
def server() -> Iterator[EdgarServer]:
    with running_server() as state:
        yield state


@pytest.fixture
def time() -> FakeTime:
    return FakeTime()


@pytest.fixture
def client(server: EdgarServer, time: FakeTime) -> Iterator[EdgarClient]:
    transport = httpx.HTTPTransport()
    with EdgarClient(
        transport, user_agent=USER_AGENT, pace=10, base_url=server.url, sleep=time.sleep, clock=time.clock
    ) as client:
        yield client


def test_addresses_are_those_of_the_sec():
    assert URL == "https://data.sec.gov/api/xbrl/companyfacts/CIK0000320193.json"
    assert submissions_url("0000320193") == "https://data.sec.gov/submissions/CIK0000320193.json"
    page = submissions_page_url("CIK0000320193-submissions-001.json")
    assert page == "https://data.sec.gov/submissions/CIK0000320193-submissions-001.json"
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


def test_an_unexpected_304_is_an_error(server, client):
    server.on(URL, Reply(304))
    with pytest.raises(FetchError, match="answers 304"):
        client.get(URL, Validators())


def test_a_404_is_a_valid_response(client, time):
    assert client.get(URL) == NotFound()
    assert time.slept == []


def test_a_gzip_body_is_decompressed(server, client):
    server.on(URL, Reply(body=gzip.compress(DOCUMENT), headers={"Content-Encoding": "gzip"}))
    assert client.get(URL) == Fetched(DOCUMENT, Validators())


@pytest.mark.parametrize("status", [500, 502, 503])
def test_temporary_failures_are_retried(server, client, time, status):
    server.on(URL, Reply(status), Reply(status), Reply(body=DOCUMENT))

    assert isinstance(client.get(URL), Fetched)

    assert time.slept == [1.0, 2.0]


def test_retries_of_a_failing_server_end(server, client, time):
    server.on(URL, Reply(503))

    with pytest.raises(FetchError, match=r"CIK0000320193\.json: answers 503; synchronize again later"):
        client.get(URL)

    assert len(server.asked) == 5
    assert time.slept == [1.0, 2.0, 4.0, 8.0]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "0"}, 1.0),
        ({"Retry-After": "soon"}, 1.0),
        ({"Retry-After": "Sat, 01 Jan 2000 00:00:00 GMT"}, 1.0),
    ],
)
def test_a_429_waits_as_long_as_retry_after(server, client, time, headers, seconds):
    server.on(URL, Reply(429, headers=headers), Reply(body=DOCUMENT))

    assert isinstance(client.get(URL), Fetched)

    assert time.slept == [seconds]


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


def test_a_too_long_retry_after_is_an_error(server, client, time):
    server.on(URL, Reply(429, headers={"Retry-After": "3600"}))
    with pytest.raises(RefusedError, match="asks to wait 3600 seconds"):
        client.get(URL)
    assert time.slept == []


def test_a_permanent_refusal_says_what_to_check(server, client):
    server.on(URL, Reply(403))
    with pytest.raises(RefusedError, match=r"answers 403; .* wait ten minutes, check EDGAR_USER_AGENT") as refused:
        client.get(URL)
    assert len(server.asked) == 5
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("location", ["https://example.org/login", "/elsewhere.json"])
def test_no_redirect_is_followed(server, client, location):
    server.on(URL, Reply(302, headers={"Location": location}))
    with pytest.raises(FetchError, match=f"redirects to {location}, which is not followed"):
        client.get(URL)
    assert len(server.asked) == 1


def test_an_unexpected_status_is_not_retried(server, client):
    server.on(URL, Reply(418))
    with pytest.raises(FetchError, match="answers 418, expected 200, 304 or 404"):
        client.get(URL)
    assert len(server.asked) == 1


PACKED = gzip.compress(DOCUMENT)
CUT_OFF = [
    Reply(body=DOCUMENT, cut=20),
    Reply(body=PACKED[:-9], headers={"Content-Encoding": "gzip"}),
    Reply(body=PACKED[:-1], headers={"Content-Encoding": "gzip"}),
    Reply(body=PACKED, headers={"Content-Encoding": "gzip"}, cut=30),
    Reply(body=b"not gzip at all", headers={"Content-Encoding": "gzip"}),
    Reply(body=PACKED + b"more", headers={"Content-Encoding": "gzip"}),
]


@pytest.mark.parametrize("broken", CUT_OFF)
def test_a_truncated_body_is_an_error(server, client, broken):
    """Truncated by the connection or inside its compression: the request is retried, and the body never used."""
    server.on(URL, broken)
    with pytest.raises(FetchError):
        client.get(URL)
    assert len(server.asked) == 5


@pytest.mark.parametrize("broken", CUT_OFF)
def test_a_body_that_is_truncated_once_is_retried(server, client, broken):
    server.on(URL, broken, Reply(body=DOCUMENT))
    assert client.get(URL) == Fetched(DOCUMENT, Validators())


def test_a_too_large_body_is_refused(server, client, monkeypatch):
    """Also a body that is small until it is decompressed."""
    monkeypatch.setattr(client_module, "MAX_BYTES", 1000)
    server.on(URL, Reply(body=gzip.compress(b" " * 1001), headers={"Content-Encoding": "gzip"}))
    with pytest.raises(FetchError, match="more than 1000 bytes"):
        client.get(URL)


def test_an_unaccepted_encoding_is_an_error(server, client):
    server.on(URL, Reply(body=DOCUMENT, headers={"Content-Encoding": "br"}))
    with pytest.raises(FetchError, match="'br', expected gzip"):
        client.get(URL)


def test_an_unreachable_server_is_reported_in_one_line(time):
    with running_server() as gone:
        pass
    transport = httpx.HTTPTransport()
    with (
        EdgarClient(
            transport, user_agent=None, pace=None, base_url=gone.url, attempts=2, sleep=time.sleep, clock=time.clock
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
            pace.wait()
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
    pace.wait()
    pace.hold(30)
    pace.wait()
    pace.wait()
    assert time.slept == pytest.approx([30, 0.1])


def test_without_a_rate_limit_no_request_waits(time):
    pace = Pace(None, sleep=time.sleep, clock=time.clock)
    for _ in range(100):
        pace.wait()
    assert time.slept == []


def test_a_transport_that_answers_from_memory_needs_no_stream():
    with EdgarClient(
        httpx.MockTransport(lambda request: httpx.Response(200, content=DOCUMENT)), user_agent=None, pace=None
    ) as client:
        assert client.get(URL) == Fetched(DOCUMENT, Validators())
