"""A real server on a free port over the small build, with a clock that tests set; responses are validated.

Or a service that runs elsewhere, with the small build, whose public address is https://data.example.org/v1:
CONTRACT_ADDRESS is its address with the version segment, CONTRACT_ACCOUNTS the file or the address of its accounts.
Tests that set the clock or start a service of their own are skipped then.
"""

import itertools
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import jsonschema_rs
import pytest

from serve.access.accounts import Accounts
from serve.api import description as openapi
from serve.api.endpoints import ENDPOINTS
from serve.settings import Settings
from tests import builds
from tests.once import made_once
from tests.servers import NOON, Clock, in_process


@dataclass
class Ticking(Clock):
    """Unix time that advances by ten seconds per request, so that no rate limit is reached."""

    def __call__(self) -> float:
        self.now += 10
        return self.now


@dataclass
class Served:
    """A running service: its address, its home, its clock, and ways to create keys."""

    address: str
    home: Path
    clock: Clock

    @property
    def now(self) -> float:
        """The time of the service, which a test only reads."""
        return self.clock.now

    @contextmanager
    def accounts(self) -> Iterator[Accounts]:
        """The accounts, opened as by a command in another process."""
        with closing(Accounts(self.place)) as accounts:
            yield accounts

    @property
    def place(self) -> Path | str:
        """The file or the address of the accounts."""
        return self.home / "accounts.sqlite"


class Elsewhere(Served):
    """A service that was not started here."""

    def __init__(self, address: str, accounts: str) -> None:
        self.address = address
        self._accounts = accounts

    @property
    def place(self) -> Path | str:
        """The file or the address of the accounts."""
        return self._accounts if "://" in self._accounts else Path(self._accounts)

    @property
    def now(self) -> float:
        """The time."""
        return time.time()

    @property
    def clock(self) -> Clock:
        """Skips the test."""
        pytest.skip("sets the clock of the service, which runs elsewhere")

    @clock.setter
    def clock(self, clock: Clock) -> None:
        raise AttributeError("clock")


ELSEWHERE = os.environ.get("CONTRACT_ADDRESS")


class Now:
    """The time at which a response was made; of a service elsewhere, it is in the last hour."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if not ELSEWHERE:
            return other == "2026-03-02T12:00:00Z"
        return (
            0
            <= time.time() - datetime.strptime(str(other), "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp()
            < 3600
        )


NOW = Now()


def only_here(reason: str) -> None:
    """Skip the rest of a test if its service runs elsewhere."""
    if ELSEWHERE:
        pytest.skip(reason)


@contextmanager
def serving(home: Path, clock: Clock | None = None) -> Iterator[Served]:
    """Serve a home on a free port until the block ends."""
    if ELSEWHERE:
        pytest.skip("starts a service of its own")
    clock = clock or Clock()
    with in_process(Settings(home, "https://data.example.org/v1"), clock) as address:
        yield Served(f"{address}/v1", home, clock)


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The small build, served for the whole session."""
    if ELSEWHERE:
        yield Elsewhere(ELSEWHERE, os.environ["CONTRACT_ACCOUNTS"])
        return
    home = tmp_path_factory.mktemp("home")
    builds.small(home / "published")
    with serving(home) as running:
        yield running


@pytest.fixture(autouse=True)
def noon(served: Served) -> None:
    """Set the same time before every test."""
    if not ELSEWHERE:
        served.clock.now = NOON


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Served]:
    """A separate service with an empty home."""
    with serving(tmp_path) as running:
        yield running


numbers = itertools.count()


def new_key(served: Served, status: str | None = "active") -> tuple[str, str]:
    """A key of a new account, which has its own rate limits: the key, and the account's e-mail."""
    email = f"reader{next(numbers)}-{os.getpid()}@example.org"
    with served.accounts() as accounts:
        key = accounts.create_key(email, served.now)
        if status == "active":
            accounts.set_subscription(email, "active", served.now)
            if ELSEWHERE:  # the first key may be known with its inactive subscription, for some seconds
                key = accounts.create_key(email, served.now)
    return key, email


@pytest.fixture
def key(served: Served) -> str:
    """An active key of this test only."""
    return new_key(served)[0]


@pytest.fixture
def client(served: Served) -> Iterator[httpx.Client]:
    """A client without a key that validates every response with the description."""
    # each test from another address of this machine: failed keys are counted by address, and here with the real time
    address = f"127.{random.randrange(256)}.{random.randrange(256)}.{random.randrange(1, 255)}" if ELSEWHERE else None
    transport = httpx.HTTPTransport(local_address=address)
    hooks = {"response": [assert_described]}
    with httpx.Client(base_url=served.address, transport=transport, event_hooks=hooks) as client:
        yield client


DESCRIPTION = openapi.description(ENDPOINTS, "https://data.example.org/v1")
OPERATIONS = [
    (re.compile("/v1" + re.sub(r"{\w+}", "[^/]+", path)), item["get"]["responses"])
    for path, item in DESCRIPTION["paths"].items()
]


def resolved(part: dict[str, Any]) -> dict[str, Any]:
    """The schema that a reference in the description names."""
    while "$ref" in part:
        _, kind, name = part["$ref"].removeprefix("#/").split("/")
        part = DESCRIPTION["components"][kind][name]
    return part


def assert_described(response: httpx.Response) -> None:
    """Check that a response is documented: its status, its headers, its body to the last field."""
    for pattern, told in OPERATIONS:
        if pattern.fullmatch(response.request.url.path):
            described = resolved(told[str(response.status_code)])
            for name, header in described["headers"].items():
                header = resolved(header)
                if name not in response.headers and not header["required"]:
                    continue
                numeric = header["schema"]["type"] == "integer"
                assert_valid(int(response.headers[name]) if numeric else response.headers[name], header["schema"])
            if response.read() or response.status_code == 200:
                assert_valid(response.json(), described["content"]["application/json"]["schema"])


def assert_valid(value: object, schema: dict[str, Any]) -> None:
    """Check that a value fits a schema of the description."""
    whole = {**schema, "components": DESCRIPTION["components"]}
    jsonschema_rs.Draft202012Validator(whole, validate_formats=True).validate(value)


def minute_of(served: Served) -> int:
    """The start of the minute, Unix time; for a service elsewhere, a minute with some seconds left."""
    if isinstance(served, Elsewhere) and (left := 60 - time.time() % 60) < 5:
        time.sleep(left + 0.1)
    return int(served.now // 60) * 60


Get = Callable[..., httpx.Response]


@pytest.fixture
def get(client: httpx.Client, key: str) -> Get:
    """GET a path with a key."""

    def get(path: str, **parameters: str | int) -> httpx.Response:
        return client.get(path, params=parameters or None, headers={"X-Api-Key": key})

    return get


def assert_error(response: httpx.Response, status: int, code: str) -> dict[str, str]:
    """Check the envelope of an error (section 7); return its details."""
    assert (response.status_code, response.headers["content-type"]) == (status, "application/json"), response.text
    error: dict[str, Any] = response.json()["error"]
    names = ["code", "message", "docs", "details"] if code == "invalid_parameter" else ["code", "message", "docs"]
    docs = f"https://data.example.org/errors#{code}"
    assert response.json() == {"error": {name: error.get(name) for name in names} | {"code": code, "docs": docs}}
    assert error["message"]
    return error.get("details", {})


@pytest.fixture(scope="session")
def generated_client(served: Served, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The package that openapi-python-client makes of the served description, without a warning; it can be imported."""
    name = "fundamentals_client"

    def generate(folder: Path) -> None:
        folder.mkdir()
        (folder / "openapi.json").write_bytes(httpx.get(f"{served.address}/openapi.json").content)
        (folder / "settings.yml").write_text("post_hooks: []\n", encoding="utf-8")  # no formatting, which takes time
        command = [sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none", "--fail-on-warning"]
        files = ["--path", "openapi.json", "--config", "settings.yml", "--output-path", name]
        made = subprocess.run([*command, *files], cwd=folder, capture_output=True, text=True, check=False)
        assert made.returncode == 0, made.stdout + made.stderr

    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(made_once(tmp_path_factory, "generated-client", generate))
        yield name
