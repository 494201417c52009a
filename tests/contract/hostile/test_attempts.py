"""Requests without a valid key are limited by the client's address; a request with a valid key never is."""

import http.client
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from serve.access import attempts
from serve.access.accounts import Accounts
from serve.access.attempts import ATTEMPTS, FAILED_KEYS, SIGN_INS, STATUS, Attempts
from serve.access.keys import new_key
from serve.access.sign_ins import SignIns
from serve.addresses import client_of
from serve.errors import CommandError, RateLimited
from serve.http.connections import Connections
from serve.settings import Settings, from_environment
from tests.browsers import Browser
from tests.servers import Clock, active_key, in_process

LIMITS = {kind: limit.requests for kind, limit in ATTEMPTS.items()}
PROXIES = from_environment(environment={"FUNDAMENTALS_TRUSTED_PROXY": "127.0.0.5, 10.0.0.0/8"}).proxies


@pytest.fixture(scope="module")
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="module")
def address(home: Path, clock: Clock) -> Iterator[str]:
    """A service that knows 127.0.0.5 as a proxy."""
    with in_process(Settings(home, proxies=PROXIES), clock) as address:
        yield address


@pytest.fixture(autouse=True)
def next_minute(clock: Clock) -> None:
    clock.now += 60


class Client:
    """A client with an address of its own."""

    def __init__(self, address: str, source: str = "127.0.0.2") -> None:
        parts = urlsplit(address)
        self._connection = http.client.HTTPConnection(str(parts.hostname), parts.port, 30, (source, 0))

    def ask(self, path: str, method: str = "GET", **headers: str) -> http.client.HTTPResponse:
        """The response, whose body is in `text`."""
        self._connection.request(method, path, headers=headers)
        response: Any = self._connection.getresponse()
        response.text = response.read().decode()
        return response

    def statuses(self, count: int, path: str, **headers: str) -> list[int]:
        return [self.ask(path, **headers).status for _ in range(count)]

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()


@pytest.fixture
def client(address: str) -> Iterator[Client]:
    with Client(address) as client:
        yield client


@pytest.mark.parametrize(
    "headers", [{}, {"X-Api-Key": "x"}, {"X-Api-Key": new_key()}], ids=["none", "wrong", "unknown"]
)
def test_failed_keys_of_an_address_are_limited(
    client: Client, address: str, home: Path, headers: dict[str, str]
) -> None:
    """A valid key is answered, even if it was never seen before; and other addresses are not refused."""
    most = LIMITS[FAILED_KEYS]
    assert client.statuses(most, "/v1/companies", **headers) == [401] * most
    refused: Any = client.ask("/v1/companies", **headers)
    assert refused.status == 429
    assert json.loads(refused.text)["error"] == {
        "code": "rate_limited",
        "message": f"The limit of {most} failed keys from one address per minute is reached; try again in 60 seconds.",
        "docs": "http://127.0.0.1:8000/errors#rate_limited",
    }
    assert refused.headers["Retry-After"] == "60"
    assert refused.headers["RateLimit"] == '"minute";r=0;t=60'
    assert client.ask("/v1/companies", **{"X-Api-Key": active_key(home, f"{new_key()[9:]}@example.org")}).status == 200
    with Client(address, "127.0.0.3") as other:
        assert other.ask("/v1/companies", **headers).status == 401


def test_the_next_minute_begins_again(client: Client, clock: Clock) -> None:
    client.statuses(LIMITS[FAILED_KEYS], "/v1/companies")
    clock.now += 59
    assert client.ask("/v1/companies").headers["Retry-After"] == "1"
    clock.now += 1
    assert client.ask("/v1/companies").status == 401


def test_the_status_is_limited_without_a_key(client: Client, home: Path) -> None:
    most = LIMITS[STATUS]
    assert client.statuses(most + 1, "/v1/status") == [200] * most + [429]
    assert client.ask("/v1/status", **{"X-Api-Key": active_key(home)}).status == 200
    assert client.ask("/v1/companies").status == 401, "counted apart"


def test_sign_in_attempts_are_limited(client: Client, home: Path) -> None:
    """By link and by form; the page without a token is not counted."""
    most = LIMITS[SIGN_INS]
    assert client.statuses(most, "/sign-in?token=x") == [403] * most
    refused: Any = client.ask("/sign-in?token=x")
    assert (refused.status, refused.headers["Retry-After"]) == (429, "60")
    assert "The limit of 20 sign-in attempts from one address per minute is reached" in refused.text
    assert client.ask("/sign-in").status == 200


def test_the_form_that_signs_in_is_an_attempt(
    address: str, home: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ATTEMPTS, SIGN_INS, attempts.Limit(1, "minute", 60))
    with closing(Accounts(home / "accounts.sqlite")) as accounts:
        token = SignIns(accounts).invite("reader@example.org", clock.now)
    with Browser(address) as browser:
        page = browser.get(f"/sign-in?token={token}")
        assert browser.press(page).status_code == 429
        clock.now += 60
        assert browser.press(page).status_code == 200


def test_behind_a_proxy_the_client_is_the_one_that_it_names(address: str) -> None:
    """The header of any other client is ignored: it could send a new address each time."""
    most = LIMITS[FAILED_KEYS]
    with Client(address, "127.0.0.5") as proxy, Client(address, "127.0.0.6") as other:
        for number in range(most):
            forged = {"X-Forwarded-For": f"192.0.2.{number}"}
            assert other.ask("/v1/companies", **forged).status == 401
            assert proxy.ask("/v1/companies", **{"X-Forwarded-For": f"192.0.2.{number}, 198.51.100.7"}).status == 401
        assert other.ask("/v1/companies", **{"X-Forwarded-For": "192.0.2.200"}).status == 429
        assert proxy.ask("/v1/companies", **{"X-Forwarded-For": "198.51.100.7"}).status == 429
        assert proxy.ask("/v1/companies", **{"X-Forwarded-For": "198.51.100.8"}).status == 401


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("192.0.2.1", ["198.51.100.1"], "192.0.2.1"),
        ("10.1.2.3", [], "10.1.2.3"),
        ("10.1.2.3", ["198.51.100.1"], "198.51.100.1"),
        ("10.1.2.3", ["203.0.113.9, 198.51.100.1"], "198.51.100.1"),
        ("10.1.2.3", ["203.0.113.9", "198.51.100.1"], "198.51.100.1"),
        ("10.1.2.3", ["203.0.113.9, 198.51.100.1, 10.9.9.9"], "198.51.100.1"),
        ("10.1.2.3", ["10.9.9.9"], "10.9.9.9"),
        ("10.1.2.3", ["198.51.100.1, unknown"], "10.1.2.3"),
        ("::ffff:10.1.2.3", ["198.51.100.1"], "198.51.100.1"),
        ("10.1.2.3", ["203.0.113.9:5000"], "203.0.113.9"),
        ("10.1.2.3", ["[2001:db8::7]:443"], "2001:db8::7"),
        ("10.1.2.3", ["203.0.113.9:5000, [2001:db8::7],10.9.9.9:80"], "2001:db8::7"),
        ("10.1.2.3", ["2001:db8::7"], "2001:db8::7"),
        ("10.1.2.3", ["[]:443"], "10.1.2.3"),
        ("10.1.2.3", ["203.0.113.9:port"], "10.1.2.3"),
        (None, ["198.51.100.1"], ""),
    ],
)
def test_the_client_is_the_last_address_that_is_no_proxy(peer: str | None, forwarded: list[str], client: str) -> None:
    headers = [(b"x-forwarded-for", each.encode()) for each in forwarded]
    assert client_of({"client": (peer, 1) if peer else None, "headers": headers}, PROXIES) == client


def test_the_number_of_counted_addresses_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "MOST", 3)
    counting = Attempts((), Clock())
    for number in range(100):
        counting.count(STATUS, {"client": (f"192.0.2.{number}", 1)})
        assert len(counting._counts) <= 3
    for _ in range(LIMITS[STATUS]):
        counting.count(STATUS, {"client": ("192.0.2.200", 1)})
    with pytest.raises(RateLimited):
        counting.count(STATUS, {"client": ("192.0.2.200", 1)})


def test_a_proxy_may_have_all_connections() -> None:
    held = Connections(0.5, PROXIES)
    assert [held.opened("10.0.0.1", 4) for _ in range(5)] == [True] * 4 + [False]
    held = Connections(0.5)
    assert [held.opened("10.0.0.1", 4) for _ in range(3)] == [True] * 2 + [False]


@pytest.mark.parametrize("text", ["proxy.example.org", "10.0.0.5/8", "10.0.0.5;10.0.0.6", "300.1.1.1"])
def test_what_is_no_address_is_no_proxy(text: str) -> None:
    with pytest.raises(CommandError, match=r"FUNDAMENTALS_TRUSTED_PROXY is .* expected addresses like"):
        from_environment(environment={"FUNDAMENTALS_TRUSTED_PROXY": text})
