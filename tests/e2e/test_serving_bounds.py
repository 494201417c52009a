"""Malformed and hostile requests: every response is the error envelope, is fast, and reveals no internals."""

import asyncio
import contextlib
import json
import logging
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from serve.api import answers_from_memory
from serve.app import PATHS
from serve.http import addresses, deadlines, edge, server
from serve.http import log as access_log
from serve.metrics.counts import CONNECTIONS, Counts
from serve.settings import Settings
from tests import builds
from tests.servers import PATIENCE, Clock, active_key, as_process, in_process, wait_until

FIXED = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "strict-transport-security": "max-age=31536000",  # because the public address is https
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    builds.small(home / "published")
    return home


@pytest.fixture(scope="module")
def address(home: Path) -> Iterator[str]:
    with in_process(Settings(home, "https://data.example.org/v1"), Clock()) as address:
        yield address


@pytest.fixture(scope="module")
def key(home: Path) -> str:
    return active_key(home)


LENGTH = re.compile(rb"\r\ncontent-length: (\d+)\r\n(?:.+\r\n)*\r\n")


class Connection:
    """A connection that sends any bytes."""

    def __init__(self, address: str, source: str = "127.0.0.1") -> None:
        parts = urlsplit(address)
        self.socket = socket.create_connection((parts.hostname, parts.port), 30, (source, 0))

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, *pieces: bytes) -> None:
        for piece in pieces:
            self.socket.sendall(piece)

    def one(self) -> bytes:
        """One response with its body, and what came before it; not what comes after."""
        received = b""
        while not (length := LENGTH.search(received)):
            byte = self.socket.recv(1)
            assert byte, received
            received += byte
        return received + self.socket.recv(int(length[1]), socket.MSG_WAITALL)

    def all(self) -> bytes:
        """All bytes until the server closes."""
        received = b""
        while piece := self.socket.recv(65536):
            received += piece
        return received


def refused(answer: bytes) -> str:
    """Check that the response is one envelope, 422 `invalid_parameter`, with the common headers; return the detail."""
    head, _, body = answer.partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    assert status == "HTTP/1.1 422 Unprocessable Content"
    assert headers.items() >= FIXED.items()
    assert headers["cache-control"] == "no-store"
    assert headers["content-type"] == "application/json"
    assert headers["connection"] == "close"
    assert int(headers["content-length"]) == len(body)
    assert re.fullmatch("[0-9a-f]{32}", headers["x-request-id"])
    assert "server" not in headers
    error = json.loads(body)["error"]
    assert error["code"] == "invalid_parameter"
    assert error["docs"] == "https://data.example.org/errors#invalid_parameter"
    assert error["details"].keys() == {"request"}
    detail: str = error["details"]["request"]
    assert error["message"] == detail
    return detail


NO_HTTP = [
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    b"hello\r\n\r\n",
    b"GET /v1/status\r\n\r\n",
    b"GET /v1/status HTTP/1.1\r\n\r\n",
    b"GET /v1/status HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    b"GET /v1/status HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n",
    b"GET /v1/status HTTP/1.1\r\nHost: a\r\nX: a\x00b\r\n\r\n",
    b"GET /v1/\xc3\xa9 HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET /v1/a b HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET /v1/status HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
    b"GET /v1/status HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    b"GET /v1/status HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: smoke\r\n\r\n",
]


@pytest.mark.parametrize("sent", NO_HTTP, ids=range(len(NO_HTTP)))
def test_malformed_http_is_refused_with_a_message(address: str, sent: bytes) -> None:
    with Connection(address) as connection:
        connection.send(sent)
        assert refused(connection.all()) == "This is not a valid HTTP/1.1 request."


@pytest.mark.parametrize("piece", [100, 100_000])
@pytest.mark.parametrize(
    "head",
    [
        b"GET /v1/status HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Long: %s\r\n\r\n" % (b"x" * 17_000),
        b"GET /v1/status?q=%s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" % (b"x" * 17_000),
        b"GET /v1/status HTTP/1.1\r\nHost: a\r\nConnection: close\r\n%s\r\n" % (b"X-Many: a\r\n" * 2000),
    ],
    ids=["header", "query", "many"],
)
def test_a_head_that_is_too_large_is_refused(address: str, head: bytes, piece: int) -> None:
    """If it arrives in pieces, the server stops reading; if in one piece, it is refused afterwards."""
    with Connection(address) as connection:
        try:
            connection.send(*(head[start : start + piece] for start in range(0, len(head), piece)))
            answer = connection.all()
        except ConnectionError:
            return  # it was closed while the rest was still being sent
        assert b" 422 " in answer.partition(b"\r\n")[0]
        assert b"The request line and headers are longer than 16384 bytes." in answer


def test_an_endless_head_is_refused_after_the_deadline(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Slowloris: byte by byte, each in time, and never complete; other clients are served meanwhile."""
    with httpx.Client(base_url=address) as other:
        other.get("/v1/status").raise_for_status()  # it has a connection before the deadline is short
        monkeypatch.setattr(deadlines, "FOR_PART", 0.5)
        with Connection(address) as slow, Connection(address) as silent:
            slow.send(b"GET /v1/status HTTP/1.1\r\nHost: a\r\n")
            assert other.get("/v1/status").status_code == 200
            slow.socket.settimeout(0.05)
            answer = b""
            while not answer:
                try:
                    slow.send(b"X")
                    answer = slow.socket.recv(65536)
                except TimeoutError:
                    continue
            slow.socket.settimeout(PATIENCE)
            answer += slow.all()
            assert refused(answer) == "The request was not complete within 0.5 seconds."
            assert silent.all() == b"", "one that says nothing is closed without a word"


def test_a_second_head_has_the_same_deadline(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Connection(address) as connection:
        connection.send(b"GET /v1/status HTTP/1.1\r\nHost: a\r\n\r\n")
        assert connection.one().startswith(b"HTTP/1.1 200 ")
        monkeypatch.setattr(deadlines, "FOR_PART", 0.5)
        connection.send(b"GET /v1/status HTTP/1.1\r\n")
        assert refused(connection.all())


def test_what_arrives_while_the_server_is_busy_meets_the_deadline(
    address: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that could not read for longer than a deadline reads first what came meanwhile."""
    is_busy, has_arrived = threading.Event(), threading.Event()
    status = b"GET /v1/status HTTP/1.1\r\nHost: a\r\n\r\n"

    def slow(*_: object) -> None:
        is_busy.set()
        assert has_arrived.wait(PATIENCE)
        time.sleep(deadlines.FOR_PART + 0.5)
        raise RuntimeError

    with Connection(address) as other:
        other.send(status)
        assert other.one().startswith(b"HTTP/1.1 200 ")
        monkeypatch.setattr(deadlines, "FOR_PART", 2)
        with Connection(address) as early:
            other.send(status)
            assert other.one().startswith(b"HTTP/1.1 200 "), "both connections are accepted"
            monkeypatch.setattr(answers_from_memory, "represent", slow)
            other.send(b"GET /v1/companies?page=9 HTTP/1.1\r\nHost: a\r\nX-Api-Key: %s\r\n\r\n" % key.encode())
            assert is_busy.wait(PATIENCE)
            early.send(status.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
            has_arrived.set()
            assert early.all().startswith(b"HTTP/1.1 200 ")


def test_a_body_is_ignored(address: str, key: str) -> None:
    head = b"GET /v1/companies/LNTR HTTP/1.1\r\nHost: a\r\nX-Api-Key: %s\r\n" % key.encode()
    whole = b"Content-Length: 4\r\n\r\nbody"
    chunked = b"Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n"
    with Connection(address) as connection:
        for body in (whole, chunked, b"Expect: 100-continue\r\n" + whole, b"\r\n"):
            connection.send(head + body)
            assert connection.one().startswith(b"HTTP/1.1 200 ")
    for body in (b"Content-Length: 1000000000\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\nnonsense\r\n"):
        with Connection(address) as connection:
            connection.send(head + body)
            answer = connection.all()
            assert answer.startswith(b"HTTP/1.1 200 ")
            assert answer.count(b"HTTP/1.1") == 1


def test_a_large_fast_body_is_discarded(address: str) -> None:
    with Connection(address) as connection:
        size = 5_000_000
        connection.send(b"POST /v1/companies HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % size)
        connection.send(b"x" * size)
        assert connection.one().startswith(b"HTTP/1.1 405 ")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "TRACE", "CONNECT", "FOO"])
def test_other_methods_are_405(address: str, method: str) -> None:
    """Sent as raw bytes, because HTTP clients treat TRACE and CONNECT specially."""
    with Connection(address) as connection:
        connection.send(f"{method} /v1/companies HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
        head, _, body = connection.all().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 405 ")
    assert b"\r\nallow: GET" in head
    assert (body == b"") == (method == "HEAD")


def test_an_upgrade_is_ignored(address: str) -> None:
    for upgrade in ("websocket", "h2c"):
        asked = {"Connection": "Upgrade", "Upgrade": upgrade, "Sec-WebSocket-Key": "AA==", "HTTP2-Settings": "AA"}
        assert httpx.get(f"{address}/v1/status", headers=asked).status_code == 200


def test_connections_above_the_limit_are_closed(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Connection(address) as first:
        first.send(b"GET /v1/status HTTP/1.1\r\nHost: a\r\n\r\n")
        assert first.one().startswith(b"HTTP/1.1 200 ")
        monkeypatch.setattr(server, "CONNECTIONS", 1)
        with Connection(address) as second:
            try:
                second.send(b"GET /v1/status HTTP/1.1\r\nHost: a\r\n\r\n")
                assert second.all() == b""
            except ConnectionError:
                pass
        first.send(b"GET /v1/status HTTP/1.1\r\nHost: a\r\n\r\n")
        assert first.one().startswith(b"HTTP/1.1 200 ")


# --- every response, and the log


def test_every_response_has_its_headers_and_none_names_the_software(address: str, key: str) -> None:
    asked = ["/v1/status", "/v1/companies", "/v1/companies/NOPE", "/v1/companies?page=0", "/v2", "/v1/openapi.json"]
    for path in asked:
        response = httpx.get(address + path, headers={"X-Api-Key": key})
        assert response.headers.items() >= FIXED.items(), path
        assert re.fullmatch("[0-9a-f]{32}", response.headers["X-Request-Id"])
        assert not {"server", "x-powered-by", "via"} & response.headers.keys()


@pytest.mark.parametrize("sent", ["a", "A-1_b.C", "x" * 64])
def test_a_valid_request_id_is_kept(address: str, sent: str) -> None:
    assert httpx.get(f"{address}/v1/status", headers={"X-Request-Id": sent}).headers["X-Request-Id"] == sent


@pytest.mark.parametrize("sent", ["", "x" * 65, "a b", 'a"b', "fds_live_" + "a" * 40, "ä"])
def test_an_invalid_request_id_is_replaced(address: str, sent: str) -> None:
    response = httpx.get(f"{address}/v1/status", headers={"X-Request-Id": sent.encode("latin-1")})  # type: ignore[dict-item]
    assert re.fullmatch("[0-9a-f]{32}", response.headers["X-Request-Id"])
    twice = httpx.get(f"{address}/v1/status", headers=[("X-Request-Id", "a"), ("X-Request-Id", "b")])
    assert re.fullmatch("[0-9a-f]{32}", twice.headers["X-Request-Id"])


def test_the_log_has_one_line_per_request_and_no_key(address: str, key: str, caplog: pytest.LogCaptureFixture) -> None:
    paths = [
        "/v1/companies/LNTR?limit=1",
        f"/v1/companies?apikey={key}",
        f"/v1/companies/{key}",
        f"/{key}/x",
        f"/v1/companies?search={key}",
        "/" + "x" * 300,
    ]
    with caplog.at_level(logging.INFO, "serve.access"):
        for path in paths:
            httpx.get(address + path, headers={"X-Api-Key": key, "X-Request-Id": "mine"})
        with Connection(address) as connection:
            connection.send(b"%s\r\n\r\n" % key.encode())
            refused(connection.all())
        for method in (key.encode(), b"PROPFIND"):
            with Connection(address) as connection:
                connection.send(b"%s /v1/status HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" % method)
                connection.all()
        wait_until(lambda: len(caplog.messages) == len(paths) + 3)
    lines: list[dict[str, Any]] = [json.loads(message) for message in caplog.messages]
    assert key not in caplog.text
    assert [(line["path"], line["status"]) for line in lines] == [
        ("/v1/companies/{symbol}", 422),
        ("/v1/companies", 422),
        ("/v1/companies/{symbol}", 404),
        ("/fds_live_…/x", 404),
        ("/v1/companies", 422),
        ("/" + "x" * 199, 404),
        ("", 422),
        ("", 405),
        ("/v1/status", 405),
    ]
    names = ["time", "id", "method", "path", "status", "bytes", "ms", "key", "worker"]
    assert all(list(line) == names for line in lines)
    assert [line["id"] for line in lines[:6]] == ["mine"] * 6
    assert [line["method"] for line in lines] == ["GET"] * 6 + ["", "", ""], "only methods of HTTP"
    assert re.fullmatch("key_[0-9a-f]{16}", lines[0]["key"])
    assert lines[2]["key"] == lines[0]["key"]
    assert lines[3]["key"] is None
    assert all(line["bytes"] > 0 and line["ms"] >= 0 for line in lines)


class Stuck:
    """A stream that blocks until it is released."""

    def __init__(self) -> None:
        self.written: list[str] = []
        self.is_read = False

    def write(self, text: str) -> None:
        while not self.is_read:
            time.sleep(0.001)
        self.written.append(text)

    def flush(self) -> None:
        pass


def test_a_blocked_log_delays_no_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines are queued, then dropped; their number is logged once the stream is read again, at once or in parts."""
    monkeypatch.setattr(access_log, "HELD", 3)
    stream = Stuck()
    logger = logging.getLogger("serve.test")
    with access_log.logging_to(stream):  # type: ignore[arg-type]
        for number in range(10):
            logger.warning("line %d", number)
        stream.is_read = True
    text = "".join(stream.written)
    assert re.search(r"WARNING serve\.test: line 0\n", text)
    dropped = re.findall(r"^(\d) log lines were dropped: the queue was full$", text, re.MULTILINE)
    assert sum(map(int, dropped)) in (6, 7)


def test_a_failure_outside_of_any_endpoint_has_the_envelope(
    address: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: object) -> int:
        raise RuntimeError("secret")

    monkeypatch.setattr(edge, "_size_of_head", fail)
    response = httpx.get(f"{address}/v1/status")
    assert (response.status_code, response.json()["error"]["code"]) == (500, "server_error")
    assert response.headers["X-Request-Id"] in caplog.text
    assert "secret" not in response.text


# --- what a connection may take


def closed_after(address: str, sent: bytes, method: str = "GET") -> bytes:
    """What a server answers to a request, after which it closes the connection."""
    with Connection(address) as connection:
        connection.send(f"{method} /v1/status HTTP/1.1\r\nHost: a\r\n".encode() + sent)
        return connection.all()


HIDDEN = b"GET /v1/hidden HTTP/1.1\r\nHost: a\r\n\r\n"


@pytest.fixture
def paths(address: str, caplog: pytest.LogCaptureFixture) -> Iterator[Callable[[], list[str]]]:
    """The paths of the requests of a test that were carried out, as the access log has them."""

    def until_now() -> list[str]:
        httpx.get(f"{address}/v1/last")
        wait_until(lambda: "/v1/last" in caplog.text)
        return [path for message in caplog.messages if (path := json.loads(message)["path"]) != "/v1/last"]

    with caplog.at_level(logging.INFO, "serve.access"):
        yield until_now


def test_two_lengths_of_a_body_end_the_connection(address: str, paths: Callable[[], list[str]]) -> None:
    """RFC 9112, 6.1: such a request may be an attempt to hide another one, so no other one is read after it."""
    body = b"4\r\nbody\r\n0\r\n\r\n" + HIDDEN
    answer = closed_after(address, b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n" + body)
    assert paths() == ["/v1/status"], "what is hidden behind it is not carried out either"
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b"\r\nconnection: close\r\n" in answer
    assert answer.count(b"HTTP/1.1") == 1


CHUNK = b"2000\r\n" + b"x" * 0x2000 + b"\r\n"
LARGE = {
    "announced": b"Content-Length: 9000\r\n\r\n",
    "complete": b"Content-Length: 9000\r\n\r\n" + b"x" * 9000 + HIDDEN,
    "chunks": b"Transfer-Encoding: chunked\r\n\r\n" + 2 * CHUNK + b"0\r\n\r\n" + HIDDEN,
    "extensions": b"Transfer-Encoding: chunked\r\n\r\n" + b"1;%s\r\nx\r\n" % (b"y" * 500_000) + b"0\r\n\r\n" + HIDDEN,
    "trailer": b"Transfer-Encoding: chunked\r\n\r\n0\r\n" + b"X-Api-Key: no\r\n" * 50_000 + b"\r\n" + HIDDEN,
}


@pytest.mark.parametrize("name", LARGE)
def test_a_large_body_ends_the_connection(address: str, name: str, paths: Callable[[], list[str]]) -> None:
    """It is answered as it would be without, before the body is complete, and no other request is read after it."""
    answer = closed_after(address, LARGE[name])
    assert paths() == ["/v1/status"]
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.count(b"HTTP/1.1") == 1
    if name == "announced":
        assert b"\r\nconnection: close\r\n" in answer


def test_a_large_head_that_is_malformed_too_is_refused_once(address: str, caplog: pytest.LogCaptureFixture) -> None:
    with Connection(address) as connection:
        connection.send(b"GET /v1/status HTTP/1.1\r\nHost: a\r\nno colon\r\n" + b"x" * 17_000)
        assert refused(connection.all()) == "This is not a valid HTTP/1.1 request."
    assert "Fatal error" not in caplog.text


def test_a_large_head_is_refused_before_it_is_complete(address: str) -> None:
    with Connection(address) as connection:
        connection.send(b"GET /v1/status HTTP/1.1\r\nHost: a\r\nX-Long: ", b"x" * 17_000)
        assert refused(connection.all()) == "The request line and headers are longer than 16384 bytes."


def test_an_endless_body_is_not_read_on(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection is closed after a few megabytes, and in any case after a few seconds."""
    monkeypatch.setattr(server, "LINGERED", 1_000_000)
    with Connection(address) as connection:
        connection.send(b"POST /v1/status HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        with pytest.raises(ConnectionError):
            connection.send(*[CHUNK] * 10_000)


def test_a_connection_is_closed_soon_after_a_large_body(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "LINGER", 0.1)
    with Connection(address) as connection:
        connection.send(b"GET /v1/status HTTP/1.1\r\nHost: a\r\nContent-Length: 9000\r\n\r\n")
        assert connection.all().startswith(b"HTTP/1.1 200 ")

        def is_closed() -> bool:
            try:
                connection.send(b"x")  # once it is closed, answered by a reset
            except ConnectionError:
                return True
            return False

        wait_until(is_closed)


def test_an_address_has_a_share_of_the_connections(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another address gets a connection while one has all that it may have."""
    monkeypatch.setattr(server, "CONNECTIONS", 8)
    parts = urlsplit(address)

    def status_from(source: str, held: list[socket.socket]) -> bytes:
        held.append(socket.create_connection((parts.hostname, parts.port), 30, (source, 0)))
        held[-1].sendall(b"GET /v1/status HTTP/1.1\r\nHost: a\r\n\r\n")
        try:
            return held[-1].recv(12)
        except ConnectionError:
            return b""

    held: list[socket.socket] = []
    try:
        assert [status_from("127.0.0.2", held) for _ in range(6)] == [b"HTTP/1.1 200"] * 4 + [b""] * 2
        assert status_from("127.0.0.3", held) == b"HTTP/1.1 200"
    finally:
        for connection in held:
            connection.close()


@pytest.mark.parametrize(
    ("address", "origin"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
    ],
)
def test_a_subscriber_is_one_address(address: str, origin: str) -> None:
    assert addresses.origin(address) == origin


def test_pipelined_requests_are_answered_in_order(address: str) -> None:
    with Connection(address) as connection:
        one = b"GET /v1/%s HTTP/1.1\r\nHost: a\r\nX-Request-Id: %s\r\n%s\r\n"
        last = b"Connection: close\r\n"
        connection.send(b"".join(one % (b"status", b"%d" % n, b"" if n < 4 else last) for n in range(5)))
        answers = connection.all()
    assert re.findall(rb"x-request-id: (\d)", answers) == [b"0", b"1", b"2", b"3", b"4"]


def memory(process: int) -> int:
    """The bytes of memory of a process."""
    resident = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    assert resident
    return int(resident[1]) * 1024


def test_pipelined_requests_take_no_memory(tmp_path: Path) -> None:
    """As many connections as an address may have, with ten thousand requests each, wait; other clients do not."""
    builds.small(tmp_path / "published")
    one = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
    with as_process(tmp_path) as served, contextlib.ExitStack() as held:
        assert httpx.get(served.address).status_code == 200
        before = memory(served.process.pid)
        for _ in range(400):
            connection = held.enter_context(Connection(served.address, "127.0.0.2"))
            connection.socket.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                connection.send(one * (250_000 // len(one)))
        for _ in range(20):
            assert httpx.get(f"{served.address}/v1/status", timeout=30).status_code == 200
            time.sleep(0.1)
        assert memory(served.process.pid) < before + 25_000_000


MANY = 400
"""Requests whose responses no system keeps for a client that does not receive them."""


@contextlib.contextmanager
def asked_for_much(address: str) -> Iterator[socket.socket]:
    """A connection whose client has room for little of the large responses that it asks for."""
    parts = urlsplit(address)
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(PATIENCE)
        client.connect((parts.hostname, parts.port))
        last = b"GET /v1/openapi.json HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        client.sendall(last.replace(b"Connection: close\r\n", b"") * (MANY - 1) + last)
        yield client


def test_a_client_that_reads_byte_by_byte_does_not_hold_a_connection(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadlines, "FOR_RESPONSE", 0.5)
    monkeypatch.setattr(deadlines, "SLOWEST", 10_000_000)
    counts = Counts(PATHS)
    with in_process(Settings(home), Clock(), counts) as address:
        with asked_for_much(address) as client:
            assert client.recv(1)
            assert counts.of(CONNECTIONS) == {"": 1}

            def is_closed() -> bool:
                client.recv(1)
                return not counts.of(CONNECTIONS)[""]

            wait_until(is_closed)
        with asked_for_much(address) as client:
            answered = b"".join(iter(lambda: client.recv(1 << 16), b"")).count(b"HTTP/1.1 200 ")
            assert answered == MANY, "one that reads on gets all"


def test_a_client_has_no_more_time_for_a_large_response_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has to receive enough of it each time: 300 MB would be days at the slowest rate."""
    monkeypatch.setattr(deadlines, "FOR_RESPONSE", 0.05)
    monkeypatch.setattr(deadlines, "SLOWEST", 1000)
    with contextlib.closing(asyncio.new_event_loop()) as loop:
        receiving = deadlines.Receiving(loop, loop.stop)
        receiving.wait(300_000_000)
        hung = loop.call_later(PATIENCE, pytest.fail, "it has more time")
        loop.run_forever()
        hung.cancel()
        assert receiving.is_too_slow(300_000_000 - 49)
        assert not receiving.is_too_slow(300_000_000 - 50)


def test_empty_lines_do_not_keep_a_connection_open(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They do not extend the time that a connection may be idle."""
    monkeypatch.setattr(deadlines, "KEEP_ALIVE", 1)
    with Connection(address) as connection:
        connection.send(b"GET /v1/status HTTP/1.1\r\nHost: a\r\n\r\n")
        assert connection.one().startswith(b"HTTP/1.1 200 ")

        def is_closed() -> bool:
            try:
                connection.send(b"\r\n")
            except ConnectionError:
                return True
            return False

        wait_until(is_closed)


def test_the_connection_is_closed_after_an_upgrade_was_asked_for(address: str) -> None:
    asked = b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\nGET /v1/hidden HTTP/1.1\r\nHost: a\r\n\r\n"
    answer = closed_after(address, asked)
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.count(b"HTTP/1.1") == 1


def test_an_empty_field_is_not_part_of_the_next(address: str) -> None:
    answer = closed_after(address, b"X-Empty:\r\nX-Request-Id: mine\r\nConnection: close\r\n\r\n")
    assert b"\r\nx-request-id: mine\r\n" in answer


@pytest.mark.parametrize("length", [b"Content-Length: 9000000\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n4000\r\n"])
def test_a_form_that_is_too_large_is_answered_before_it_is_complete(address: str, length: bytes) -> None:
    form = b"Content-Type: application/x-www-form-urlencoded\r\n" + length + b"token=" + b"x" * 9000
    with Connection(address) as connection:
        connection.send(b"POST /sign-in HTTP/1.1\r\nHost: a\r\nOrigin: https://data.example.org\r\n" + form)
        assert connection.all().startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize("length", [b"Content-Length: 100\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n64\r\n"])
def test_a_client_that_hangs_up_within_a_form_is_no_failure(
    home: Path, length: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    """It is counted as a disconnect, and leaves no traceback: anybody can do it without limit."""
    counts = Counts(PATHS)
    form = b"Content-Type: application/x-www-form-urlencoded\r\n" + length + b"token="
    with (
        caplog.at_level(logging.INFO),
        in_process(Settings(home), Clock(), counts) as address,
        Connection(address) as connection,
    ):
        connection.send(b"POST /sign-in HTTP/1.1\r\nHost: a\r\n" + form)
        httpx.get(f"{address}/v1/status")  # the form has arrived
        connection.socket.close()
        wait_until(lambda: '"path":"/sign-in"' in caplog.text)
    statuses = [status for path, status, _ in counts.requests() if path == "/sign-in"]
    assert statuses == ["499"]
    assert "failed" not in caplog.text
    assert "Traceback" not in caplog.text


# --- questions that were answered before, which are answered without a task


@pytest.fixture
def kept(address: str, home: Path) -> bytes:
    """The head of a request, without its end, that a service has answered before."""
    key = active_key(home)
    httpx.get(f"{address}/v1/companies/LNTR", headers={"X-Api-Key": key}).raise_for_status()
    return b"GET /v1/companies/LNTR HTTP/1.1\r\nHost: a\r\nX-Api-Key: %s\r\n" % key.encode()


def test_many_pipelined_questions_are_answered_in_order(address: str, kept: bytes) -> None:
    """Also those after sixty, which the rate limit refuses, and those that wait for another."""
    other = b"GET /v1/status HTTP/1.1\r\nHost: a\r\nX-Request-Id: other\r\n\r\n"
    with Connection(address) as connection:
        numbered = [kept + b"X-Request-Id: %d\r\n\r\n" % n for n in range(300)]
        connection.send(other + b"".join(numbered) + other + kept + b"Connection: close\r\n\r\n")
        answers = connection.all()
    ids = re.findall(rb"x-request-id: (\w+)\r\n", answers)
    assert ids[:-1] == [b"other", *(b"%d" % n for n in range(300)), b"other"]
    statuses = re.findall(rb"HTTP/1.1 (\d+) ", answers)
    assert statuses == [b"200"] * 60 + [b"429"] * 241 + [b"200", b"429"]


def test_a_connection_with_short_pauses_stays_open(address: str, kept: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """The deadline of a head begins with it; a pause between two requests is no part of it."""
    with Connection(address) as connection:
        connection.send(kept + b"\r\n")
        assert connection.one().startswith(b"HTTP/1.1 200 ")
        monkeypatch.setattr(deadlines, "FOR_PART", 0.5)
        for _ in range(3):
            connection.send(kept + b"\r\n")
            assert connection.one().startswith(b"HTTP/1.1 200 ")
            time.sleep(deadlines.FOR_PART * 0.8)
        connection.send(kept)  # never complete
        assert connection.all().startswith(b"HTTP/1.1 422 ")


def test_a_question_with_a_body_is_answered_as_without(address: str, kept: bytes) -> None:
    with Connection(address) as connection:
        connection.send(kept + b"Content-Length: 3\r\n\r\nabc" + kept + b"Connection: close\r\n\r\n")
        answers = connection.all()
    assert re.findall(rb"HTTP/1.1 (\d+) ", answers) == [b"200", b"200"]


def test_questions_about_data_start_no_task(address: str, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the first time nor later, and also if there is no answer; what needs no key or a thread does."""
    started: list[str] = []
    run = RequestResponseCycle.run_asgi

    async def noted(cycle: RequestResponseCycle, app: Any) -> None:
        started.append(cycle.scope["path"])
        await run(cycle, app)

    monkeypatch.setattr(RequestResponseCycle, "run_asgi", noted)
    expected = {
        "/v1/companies?search=a%20b": 200,
        "/v1/companies/lntr": 200,
        "/v1/companies/LNTR/financials?items=roic,revenue&limit=2": 200,
        "/v1/companies/%4CNTR/financials/revisions": 200,
        "/v1/companies/LNTR/valuation": 200,
        "/v1/companies/NOPE/valuation": 404,
        "/v1/companies/LNTR?limit=1": 422,
    }
    with httpx.Client(base_url=address, headers={"X-Api-Key": key}) as client:
        for path, status in [*expected.items()] * 2:
            assert client.get(path).status_code == status, path
        tag = client.get("/v1/companies").headers["ETag"]
        again = client.get("/v1/companies?page=1", headers={"If-None-Match": tag})
        assert (again.status_code, again.content) == (304, b"")
        assert started == []
        for path in ("/v1/companies?search=%C3%B6", "/v1/status", "/v1/companies?apikey=1", "/v1/companies/"):
            client.get(path)
            assert started.pop() == path.partition("?")[0]
        client.get("/v1/companies", headers={"X-Api-Key": "other"})
        assert started == ["/v1/companies"]


def test_a_failure_of_an_answer_in_memory_is_logged_and_counted_once(
    address: str, key: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("secret")

    first = httpx.get(f"{address}/v1/companies", headers={"X-Api-Key": key})
    monkeypatch.setattr(answers_from_memory, "represent", fail)
    response = httpx.get(f"{address}/v1/companies?page=7", headers={"X-Api-Key": key})
    assert (response.status_code, response.json()["error"]["code"]) == (500, "server_error")
    assert "secret" not in response.text
    assert "RuntimeError: secret" in caplog.text
    monkeypatch.undo()
    later = httpx.get(f"{address}/v1/companies", headers={"X-Api-Key": key})
    assert int(first.headers["X-RateLimit-Remaining"]) - int(later.headers["X-RateLimit-Remaining"]) == 2
