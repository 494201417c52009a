"""Slow, many, endless and pipelined requests: limits of a client, while other clients are served."""

import asyncio
import contextlib
import re
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from serve import addresses
from serve.api.interface import Interface
from serve.app import PATHS
from serve.http import deadlines, server
from serve.metrics.counts import CONNECTIONS, Counts
from serve.settings import Settings
from tests import builds
from tests.contract.hostile.raw import STATUS, Connection, answered, refused
from tests.servers import PATIENCE, Clock, active_key, as_process, in_process, wait_until


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
        assert connection.ask(STATUS).startswith(b"HTTP/1.1 200 ")
        monkeypatch.setattr(deadlines, "FOR_PART", 0.5)
        connection.send(b"GET /v1/status HTTP/1.1\r\n")
        assert refused(connection.all())


def test_what_arrives_while_the_server_is_busy_meets_the_deadline(
    address: str, own_key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that could not read for longer than a deadline first reads the bytes that came meanwhile."""
    is_busy, has_arrived = threading.Event(), threading.Event()

    def slow(*_: object) -> None:
        is_busy.set()
        assert has_arrived.wait(PATIENCE)
        time.sleep(deadlines.FOR_PART + 0.5)
        raise RuntimeError

    with Connection(address) as other:
        assert other.ask(STATUS).startswith(b"HTTP/1.1 200 ")
        monkeypatch.setattr(deadlines, "FOR_PART", 2)
        with Connection(address) as early:
            assert other.ask(STATUS).startswith(b"HTTP/1.1 200 "), "both connections are accepted"
            monkeypatch.setattr(Interface, "_represented", slow)
            other.send(b"GET /v1/companies?page=9 HTTP/1.1\r\nHost: a\r\nX-Api-Key: %s\r\n\r\n" % own_key.encode())
            assert is_busy.wait(PATIENCE)
            early.send(STATUS.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
            has_arrived.set()
            assert early.all().startswith(b"HTTP/1.1 200 ")


def test_connections_above_the_limit_are_closed(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Connection(address) as first:
        assert first.ask(STATUS).startswith(b"HTTP/1.1 200 ")
        monkeypatch.setattr(server, "CONNECTIONS", 1)
        with contextlib.suppress(ConnectionError):
            assert answered(address, STATUS) == b""
        assert first.ask(STATUS).startswith(b"HTTP/1.1 200 ")


def test_an_address_has_a_share_of_the_connections(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another address gets a connection while the first has all connections that it may have."""
    monkeypatch.setattr(server, "CONNECTIONS", 8)

    def status_from(source: str) -> bytes:
        connection = held.enter_context(Connection(address, source))
        connection.send(STATUS)
        try:
            return connection.socket.recv(12)
        except ConnectionError:
            return b""

    with contextlib.ExitStack() as held:
        assert [status_from("127.0.0.2") for _ in range(6)] == [b"HTTP/1.1 200"] * 4 + [b""] * 2
        assert status_from("127.0.0.3") == b"HTTP/1.1 200"


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
    one = b"GET /v1/status HTTP/1.1\r\nHost: a\r\nX-Request-Id: %d\r\n%s\r\n"
    asked = b"".join(one % (number, b"" if number < 4 else b"Connection: close\r\n") for number in range(5))
    assert re.findall(rb"x-request-id: (\d)", answered(address, asked)) == [b"0", b"1", b"2", b"3", b"4"]


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
"""Requests with responses so large that no system buffers them for a client that does not read them."""


@contextlib.contextmanager
def asked_for_much(address: str) -> Iterator[socket.socket]:
    """A connection of a client that has room for only a small part of the large responses that it requests."""
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
    """It has to receive enough of it each time: at the slowest rate 300 MB would take days."""
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
        assert connection.ask(STATUS).startswith(b"HTTP/1.1 200 ")
        wait_until(lambda: connection.is_closed_after(b"\r\n"))


@pytest.fixture
def kept(address: str, home: Path) -> bytes:
    """The head of a request, without its end, that a service has answered before."""
    key = active_key(home)
    httpx.get(f"{address}/v1/companies/LNTR", headers={"X-Api-Key": key}).raise_for_status()
    return b"GET /v1/companies/LNTR HTTP/1.1\r\nHost: a\r\nX-Api-Key: %s\r\n" % key.encode()


def test_many_pipelined_questions_are_answered_in_order(address: str, kept: bytes) -> None:
    """Also requests after the first sixty, which the rate limit refuses, and requests that wait for another one."""
    other = b"GET /v1/status HTTP/1.1\r\nHost: a\r\nX-Request-Id: other\r\n\r\n"
    numbered = [kept + b"X-Request-Id: %d\r\n\r\n" % n for n in range(300)]
    answers = answered(address, other + b"".join(numbered) + other + kept + b"Connection: close\r\n\r\n")
    ids = re.findall(rb"x-request-id: (\w+)\r\n", answers)
    assert ids[:-1] == [b"other", *(b"%d" % n for n in range(300)), b"other"]
    statuses = re.findall(rb"HTTP/1.1 (\d+) ", answers)
    assert statuses == [b"200"] * 60 + [b"429"] * 241 + [b"200", b"429"]


def test_a_connection_with_short_pauses_stays_open(address: str, kept: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """The deadline of a head begins with its first byte; a pause between two requests does not count."""
    with Connection(address) as connection:
        assert connection.ask(kept + b"\r\n").startswith(b"HTTP/1.1 200 ")
        monkeypatch.setattr(deadlines, "FOR_PART", 0.5)
        for _ in range(3):
            assert connection.ask(kept + b"\r\n").startswith(b"HTTP/1.1 200 ")
            time.sleep(deadlines.FOR_PART * 0.8)
        connection.send(kept)  # never complete
        assert connection.all().startswith(b"HTTP/1.1 422 ")


def test_a_question_with_a_body_is_answered_as_without(address: str, kept: bytes) -> None:
    answers = answered(address, kept + b"Content-Length: 3\r\n\r\nabc" + kept + b"Connection: close\r\n\r\n")
    assert re.findall(rb"HTTP/1.1 (\d+) ", answers) == [b"200", b"200"]
