"""Bodies that nobody asked for, that are too large, or that hide another request."""

import logging
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from serve.app import PATHS
from serve.http import server
from serve.metrics.counts import Counts
from serve.settings import Settings
from tests.contract.hostile.raw import HIDDEN, Connection, answered, closed_after
from tests.servers import Clock, in_process, wait_until


def test_a_body_is_ignored(address: str, own_key: str) -> None:
    head = b"GET /v1/companies/LNTR HTTP/1.1\r\nHost: a\r\nX-Api-Key: %s\r\n" % own_key.encode()
    whole = b"Content-Length: 4\r\n\r\nbody"
    chunked = b"Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n"
    with Connection(address) as connection:
        for body in (whole, chunked, b"Expect: 100-continue\r\n" + whole, b"\r\n"):
            assert connection.ask(head + body).startswith(b"HTTP/1.1 200 ")
    for body in (b"Content-Length: 1000000000\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\nnonsense\r\n"):
        answer = answered(address, head + body)
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert answer.count(b"HTTP/1.1") == 1


def test_a_large_fast_body_is_discarded(address: str) -> None:
    size = 5_000_000
    with Connection(address) as connection:
        connection.send(b"POST /v1/companies HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % size)
        assert connection.ask(b"x" * size).startswith(b"HTTP/1.1 405 ")


def test_two_lengths_of_a_body_end_the_connection(address: str, paths: Callable[[], list[str]]) -> None:
    """RFC 9112, 6.1: such a request may be an attempt to hide another request, so no further one is read."""
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
    """It is answered as a request without a body, before the body is complete, and no other request is read after
    it.
    """
    answer = closed_after(address, LARGE[name])
    assert paths() == ["/v1/status"]
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.count(b"HTTP/1.1") == 1
    if name == "announced":
        assert b"\r\nconnection: close\r\n" in answer


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
        wait_until(lambda: connection.is_closed_after(b"x"))


@pytest.mark.parametrize("length", [b"Content-Length: 9000000\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n4000\r\n"])
def test_a_form_that_is_too_large_is_answered_before_it_is_complete(address: str, length: bytes) -> None:
    form = b"Content-Type: application/x-www-form-urlencoded\r\n" + length + b"token=" + b"x" * 9000
    head = b"POST /sign-in HTTP/1.1\r\nHost: a\r\nOrigin: https://data.example.org\r\n"
    assert answered(address, head + form).startswith(b"HTTP/1.1 413 ")


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
    assert [status for path, status, _ in counts.requests() if path == "/sign-in"] == ["499"]
    assert "failed" not in caplog.text
    assert "Traceback" not in caplog.text
