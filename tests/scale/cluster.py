"""Replicas of the service with two workers each, behind nginx; all of them on this machine.

Belongs here: starting and killing replicas, one key for a test. Does not: nginx (front), PostgreSQL (postgres), object
storage (objects), any test.
"""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from pipelines.shared.shared_home import of_home
from pipelines.storage.home import Home
from serve.access.accounts import Accounts
from serve.access.sign_ins import SignIns
from tests import builds
from tests.browsers import Browser
from tests.e2e.homes import ended, environment, run_as_process
from tests.scale.front import Front
from tests.scale.objects import Objects, used
from tests.scale.postgres import Postgres
from tests.scale.redis import Redis
from tests.servers import ONCE_IN_A_WHILE, PATIENCE, PROJECT, accepts, free_port, wait_until

SITE = "https://data.example.org"
WORKERS = 2
NUMBERS = itertools.count()


@dataclass
class Replica:
    """`fundamentals serve` with a home and a port of its own, in a process group of its own."""

    home: Path
    variables: Mapping[str, str]
    port: int = field(default_factory=free_port)
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def address(self) -> str:
        """Where it listens, without the version segment."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and wait until it listens."""
        self.begin()
        process = self.process
        wait_until(lambda: accepts(self.port) or (process and process.poll() is not None))
        assert process
        assert process.poll() is None, self.log()

    def begin(self) -> None:
        """Start it, without waiting."""
        command = [sys.executable, "-m", "fundamentals", "serve", "--port", str(self.port), "--workers", str(WORKERS)]
        with (self.home / "stderr").open("ab") as errors:
            self.process = subprocess.Popen(
                command,
                cwd=PROJECT,
                env=environment(self.home, **self.variables),
                stderr=errors,
                start_new_session=True,
            )

    def kill(self) -> None:
        """Kill the supervisor and its workers at once, as a machine that loses power."""
        if self.process and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(PATIENCE)

    def stop(self) -> None:
        """Stop it as systemd does."""
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(PATIENCE)

    def log(self) -> str:
        """The text that it has written to standard error."""
        return (self.home / "stderr").read_text()

    def requests(self) -> list[dict[str, Any]]:
        """The lines of its access log."""
        return [json.loads(line) for line in self.log().splitlines() if line.startswith("{")]

    def workers(self) -> set[int]:
        """The processes that have answered since the last start."""
        answered = {line["worker"] for line in self.requests()}
        return {each for each in answered if Path(f"/proc/{each}").exists()}

    def status(self) -> dict[str, Any]:
        """The status of one of its workers; empty if it does not answer."""
        try:
            response = httpx.get(f"{self.address}/v1/status", timeout=PATIENCE)
        except httpx.TransportError:
            return {}
        return dict(response.json()["data"]) if response.status_code == 200 else {}


class Visitor(Browser):
    """A browser that believes to be at the public address, so that it sends cookies of https, and that origin."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.client.event_hooks["request"].append(self._send_cookies)

    def _send_cookies(self, request: httpx.Request) -> None:
        """The client itself sends cookies of https with https only."""
        if cookies := "; ".join(f"{each.name}={each.value}" for each in self.client.cookies.jar):
            request.headers["Cookie"] = cookies

    def post(self, path: str, values: dict[str, str], origin: str | None = SITE) -> httpx.Response:
        """Send values as a form."""
        return super().post(path, values, origin)


@dataclass(frozen=True)
class Cluster:
    """Replicas and nginx in front of them; commands run in a home of their own, as on a third machine."""

    front: Front
    replicas: tuple[Replica, ...]
    home: Path
    variables: Mapping[str, str]
    redis: Redis
    storage: Objects
    database: Postgres

    def publish(self, build: str) -> None:
        """Publish the small build under another name, and commit it to the store."""
        home = Home(self.home)
        with used(self.storage.environment):
            copy = of_home(home)
            assert copy
            copy.checkout()
            builds.publish_small(home.published, build, sync_id=build)
            copy.commit(build)

    @property
    def accounts(self) -> str:
        """The address of the accounts."""
        return self.variables["FUNDAMENTALS_ACCOUNTS_URL"]

    @contextmanager
    def opened_accounts(self) -> Iterator[Accounts]:
        """The accounts that all replicas use."""
        with closing(Accounts(self.accounts)) as accounts:
            yield accounts

    def keys(self, number: int, of: str = "reader") -> list[str]:
        """New keys, each of an account of its own with an active subscription."""
        made = []
        with self.opened_accounts() as accounts:
            for _ in range(number):
                email = f"{of}-{next(NUMBERS)}@example.org"
                accounts.create_key(email, time.time())
                accounts.set_subscription(email, "active", time.time())
                # workers may know the first one with its inactive subscription, for some seconds
                made.append(accounts.create_key(email, time.time()))
        return made

    def sign_in_link(self, email: str) -> str:
        """The path that signs in an account with an active subscription."""
        with self.opened_accounts() as accounts:
            token = SignIns(accounts).invite(email, time.time())
            accounts.set_subscription(email, "active", time.time())
        return f"/sign-in?token={token}"

    def command(self, *arguments: str) -> str:
        """The output of a command of `fundamentals`."""
        return ended(run_as_process(self.home, *arguments, **self.variables)).stdout.strip()

    def workers(self, of: Callable[[dict[str, Any]], object] = bool) -> set[int]:
        """The processes that have answered a request of a kind."""
        return {line["worker"] for replica in self.replicas for line in replica.requests() if of(line)}

    def all_workers_answer(self) -> None:
        """Wait until all workers have answered."""
        for replica in self.replicas:
            wait_until(lambda replica=replica: replica.status() and len(replica.workers()) == WORKERS, ONCE_IN_A_WHILE)


@contextmanager
def stopped_at_the_end(replicas: tuple[Replica, ...]) -> Iterator[None]:
    """Stop the replicas when the block ends, killed ones too."""
    try:
        yield
    finally:
        for replica in replicas:
            replica.stop()


def early_in_a_minute(seconds: float = 15) -> None:
    """Wait until the minute has some seconds left."""
    if (left := 60 - time.time() % 60) < seconds:
        time.sleep(left + 0.1)
