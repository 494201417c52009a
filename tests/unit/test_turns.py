"""The turns of clients: nobody waits behind all requests of one client."""

import asyncio
import contextlib
import gc
import logging
import socket
from collections.abc import Iterator
from ipaddress import ip_network

import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from serve.http import server, turns
from serve.http.caching import Sent
from serve.http.edge import Exchange, Front, Reply
from serve.metrics.counts import Counts
from tests.servers import PATIENCE, in_thread, wait_until

FORM = b"POST /form HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n"


class Working:
    """An application that works on each request until the test lets it respond; /at-once is answered without work."""

    def __init__(self) -> None:
        self.working: list[str] = []
        self.gone = 0
        self.goes_on = False

    def at_once(self, target: bytes, sent: Sent, exchange: Exchange, reply: Reply) -> bool:
        return False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await Request(scope, receive).body()
        except ClientDisconnect:
            self.gone += 1
            raise
        self.working.append(scope["client"][0])
        while not self.goes_on and scope["path"] != "/at-once":
            await asyncio.sleep(0.001)
        await PlainTextResponse("done")(scope, receive, send)


@pytest.fixture
def app() -> Working:
    return Working()


@pytest.fixture
def address(app: Working) -> Iterator[tuple[str, int]]:
    with in_thread(Front(app, "", Counts(()), [ip_network("127.0.0.9")])) as address:
        host, _, port = address.removeprefix("http://").partition(":")
        yield host, int(port)
        app.goes_on = True


@contextlib.contextmanager
def sent(address: tuple[str, int], source: str, request: bytes, number: int = 1) -> Iterator[list[socket.socket]]:
    """So many connections from an address; each has sent a request."""
    with contextlib.ExitStack() as held:
        made = [held.enter_context(socket.create_connection(address, PATIENCE, (source, 0))) for _ in range(number)]
        for each in made:
            each.sendall(request)
        yield made


def answered(connection: socket.socket) -> bool:
    """Whether a connection receives the application's response."""
    return connection.recv(1 << 16).startswith(b"HTTP/1.1 200 ")


def get(path: str, more: str = "") -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: a\r\n{more}\r\n".encode()


def test_a_client_waits_for_its_own_requests_only(app: Working, address: tuple[str, int]) -> None:
    """Of twenty requests of one client eight are worked on; another client is answered meanwhile, and then the rest."""
    with sent(address, "127.0.0.2", get("/"), 20) as many:
        wait_until(lambda: len(app.working) == turns.AT_ONCE)
        with sent(address, "127.0.0.3", get("/at-once")) as (other,):
            assert answered(other)
        assert app.working == ["127.0.0.2"] * turns.AT_ONCE + ["127.0.0.3"]
        app.goes_on = True
        assert all(map(answered, many))
    assert app.working.count("127.0.0.2") == 20


def test_the_clients_of_a_proxy_have_turns_of_their_own(app: Working, address: tuple[str, int]) -> None:
    with sent(address, "127.0.0.9", get("/", "X-Forwarded-For: 192.0.2.1\r\n"), 20):
        wait_until(lambda: len(app.working) == turns.AT_ONCE)
        with sent(address, "127.0.0.9", get("/at-once", "X-Forwarded-For: 192.0.2.2\r\n")) as (other,):
            assert answered(other)


def test_who_waits_for_a_body_takes_no_turn(app: Working, address: tuple[str, int]) -> None:
    """Otherwise eight slow forms would stop all other clients of the address."""
    with sent(address, "127.0.0.2", FORM, 20) as slow, sent(address, "127.0.0.2", get("/at-once")) as (other,):
        assert answered(other)
        app.goes_on = True
        for each in slow:
            each.sendall(b"body")
            assert answered(each)


@pytest.mark.parametrize("requests", [1, 3])
def test_no_work_is_done_for_who_has_gone(app: Working, address: tuple[str, int], requests: int) -> None:
    """Also if the client has sent further requests, which are not read yet, so that the end of the connection is not
    seen.
    """
    with sent(address, "127.0.0.2", get("/"), turns.AT_ONCE):
        wait_until(lambda: len(app.working) == turns.AT_ONCE)
        with sent(address, "127.0.0.2", get("/") * requests, 5):
            pass
        with (
            sent(address, "127.0.0.2", get("/at-once")) as (last,),
            sent(address, "127.0.0.3", get("/at-once")) as (other,),
        ):
            assert other.recv(1 << 16)
            app.goes_on = True
            assert answered(last)
    assert app.working.count("127.0.0.2") == turns.AT_ONCE + 1


def test_nothing_is_left_of_a_connection_that_has_ended(app: Working, address: tuple[str, int]) -> None:
    """Nor is anything left of a request: the garbage collector runs rarely, and hostile clients hang up thousands of
    times before.
    """
    app.goes_on = True
    gc.collect()
    gc.disable()
    try:
        for _ in range(3):
            with sent(address, "127.0.0.2", get("/"), 20) as whole:
                for each in whole:
                    assert each.recv(1 << 16)
                    each.sendall(get("/"))
                    assert each.recv(1 << 16)
                assert kept(RequestResponseCycle) == 20
            with sent(address, "127.0.0.2", FORM, 20):
                pass
        wait_until(lambda: not kept(server.BoundedProtocol, RequestResponseCycle, asyncio.Task))
    finally:
        gc.enable()


def kept(*kinds: type) -> int:
    """How many connections, requests and tasks of requests there are, in use or not."""
    found = [each for each in gc.get_objects() if isinstance(each, kinds)]
    return sum(not isinstance(each, asyncio.Task) or "run_asgi" in repr(each) for each in found)


def test_a_service_that_ends_before_a_response_closes_the_connection(
    app: Working, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the request is worked on or waits for its turn: without a traceback, and not as a failure."""
    monkeypatch.setattr(server, "SHUTDOWN", 0.1)
    counts = Counts(())
    with contextlib.ExitStack() as held, caplog.at_level(logging.INFO):
        with in_thread(Front(app, "", counts)) as address:
            host, _, port = address.removeprefix("http://").partition(":")
            clients = held.enter_context(sent((host, int(port)), "127.0.0.2", get("/"), turns.AT_ONCE + 4))
            wait_until(lambda: len(app.working) == turns.AT_ONCE)
        assert [each.recv(1 << 16) for each in clients] == [b""] * len(clients)
    assert [record for record in caplog.records if record.exc_info] == []
    assert sum('"status":499' in record.getMessage() for record in caplog.records) == len(clients)
