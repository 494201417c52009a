"""Services and Redis servers for tests: in this process with a clock that tests set, or as separate processes.

Belongs here: starting them, finding their address and their processes, ending them. Does not: any test.
"""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from serve.access.accounts import Accounts
from serve.app import create_app
from serve.http.edge import Front
from serve.http.server import server
from serve.metrics.counts import Counts
from serve.settings import Settings

PROJECT = Path(__file__).resolve().parent.parent
NOON = 1_772_452_800.0  # 2026-03-02T12:00:00Z, the first second of a minute
PATIENCE = 60
"""Seconds after which a process counts as hanging; no process needs a tenth of them."""


@dataclass
class Clock:
    """Unix time that stands still until a test changes it."""

    now: float = NOON

    def __call__(self) -> float:
        return self.now


@contextmanager
def in_process(settings: Settings, clock: Clock, counts: Counts | None = None) -> Iterator[str]:
    """Serve in a thread of this process until the block ends; yields the address, without the version segment."""
    with in_thread(create_app(settings, clock=clock, counts=counts)) as address:
        yield address


@contextmanager
def in_thread(app: Front) -> Iterator[str]:
    """Serve an application in a thread of this process until the block ends; yields the address."""
    with socket.create_server(("127.0.0.1", 0), backlog=512) as listener:
        running = server(app)
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            while not running.started:
                assert thread.is_alive(), "the server does not start"
                time.sleep(0.01)
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            running.should_exit = True
            thread.join()


@dataclass
class Served:
    """`fundamentals serve` as a process: its address, and the file of its standard error."""

    process: subprocess.Popen[bytes]
    address: str
    errors: Path

    def requests(self) -> list[dict[str, Any]]:
        """The lines of the access log."""
        return [json.loads(line) for line in self.errors.read_text().splitlines() if line.startswith("{")]

    def workers(self) -> set[int]:
        """The processes that have responded."""
        return {request["worker"] for request in self.requests()}


@contextmanager
def as_process(home: Path, *arguments: str, program: Path = PROJECT, **environment: str) -> Iterator[Served]:
    """Serve a home on a free port, until the block ends; with the program in a folder."""
    errors = home / "stderr"
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("FUNDAMENTALS_", "REDIS_"))}
    command = [sys.executable, "-m", "fundamentals", "serve", "--port", "0", *arguments]
    with (
        errors.open("wb") as stream,
        subprocess.Popen(
            command, cwd=program, env=inherited | {"FUNDAMENTALS_HOME": str(home)} | environment, stderr=stream
        ) as process,
    ):
        try:
            address = _until(lambda: re.search(r"serving (\S+)/v1 from ", errors.read_text()), process)[1]
            _until(lambda: _answers(address), process)
            yield Served(process, address, errors)
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait(PATIENCE)


@contextmanager
def redis_server(executable: str, folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """An empty Redis server in a folder: its address, and its process."""
    path = folder / "redis.sock"
    command = [executable, "--port", "0", "--unixsocket", str(path), "--save", "", "--dir", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            _until(lambda: path.exists() and _accepts(path), process)
            yield f"unix://{path}", process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()


@contextmanager
def away(stop: Callable[[], object], start: Callable[[], object]) -> Iterator[None]:
    """A part that others need is stopped until the block ends."""
    stop()
    try:
        yield
    finally:
        start()


def active_key(home: Path, email: str = "reader@example.org") -> str:
    """A new key of an account with an active subscription."""
    accounts = Accounts(home / "accounts.sqlite")
    key = accounts.create_key(email, time.time())
    accounts.set_subscription(email, "active", time.time())
    accounts.close()
    return key


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def accepts(port: int) -> bool:
    """Whether something listens on a port of this machine."""
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def started_by(process: int) -> list[int]:
    """The processes that a process has started."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has ended
            continue
        if parent == process:
            found.append(int(path.parent.name))
    return found


ONCE_IN_A_WHILE = 0.25
"""Seconds between two requests of `/v1/status`; an address may send a limited number a minute."""


def wait_until(state: Callable[[], object], every: float = 0.02) -> None:
    """Wait until a state is reached that another thread or process brings about; look every so many seconds."""
    deadline = time.monotonic() + PATIENCE
    while not state():
        assert time.monotonic() < deadline
        time.sleep(every)


async def until(state: Callable[[], object]) -> None:
    """Wait until a state is reached that the event loop or another thread brings about."""
    async with asyncio.timeout(PATIENCE):
        while not state():
            await asyncio.sleep(0.005)


def _until(found: Any, process: subprocess.Popen[bytes]) -> Any:
    """The result of a function as soon as it is not empty."""
    deadline = time.monotonic() + PATIENCE
    while not (result := found()):
        assert process.poll() is None, "the process has ended"
        assert time.monotonic() < deadline, "the process does not get ready"
        time.sleep(0.02)
    return result


def _answers(address: str) -> bool:
    try:
        return httpx.get(f"{address}/v1/status").status_code == 200
    except httpx.TransportError:
        return False


def _accepts(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(str(path)) == 0
