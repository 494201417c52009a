"""The service under hostile clients, all at once, together with paced load.

Belongs here: the hostile clients, each with an address of its own, and the memory of the service. Does not: paced load
and its judgement (witness).

They run as a process, `python -m tests.torture.attack HOST PORT`, so that threads of the same interpreter do not slow
the readers, until its standard input ends.
"""

import re
import selectors
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.servers import PROJECT, Served, started_by
from tests.torture.ground import Found, Ground
from tests.torture.witness import witnessed

SETTLED = 20
"""Seconds of paced load alone, before the memory is measured for the first time."""
GROWTH = 0.1
"""The part by which the memory may be more at the end."""
IDLE = 0.05
"""Seconds between two pieces of a client that is slow."""
SENT_AT_ONCE = 1 << 16

TRACEBACK = re.compile(r"^Traceback .*\n(?:[ {].*\n)*(.*)", re.MULTILINE)
"""A traceback, perhaps with lines of the access log within; the group is its last line."""

HIDDEN = b"GET /v1/hidden HTTP/1.1\r\nHost: a\r\n\r\n"
PIPELINED = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" * 9000
STATUS = b"GET /v1/status HTTP/1.1\r\nHost: a\r\n"
FORM = (
    b"POST /sign-in HTTP/1.1\r\nHost: a\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\ntoken="
)
BOTH_LENGTHS = STATUS + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n"
TOO_LARGE = STATUS + b"Content-Length: 9000\r\n\r\n" + b"x" * 9000
LARGE = b"GET /v1/openapi.json HTTP/1.1\r\nHost: a\r\n\r\n" * 400
ANSWERED = (("GET", "/"), ("GET", "/v1/openapi.json"), ("GET", "/v1/status"), ("POST", "/sign-in"))
"""Requests that a service in operation has answered before: the code for them is imported, and descriptions are made.
"""


@dataclass(frozen=True, slots=True)
class Hostile:
    """Clients of one address: the bytes that each connection sends again and again, and how it reads.

    `reads` are the bytes that it reads at a time, 0 none; `hangs_up`: it closes as soon as all is sent.
    """

    address: str
    connections: int
    sends: bytes
    reads: int = SENT_AT_ONCE
    hangs_up: bool = False


CLIENTS = (
    Hostile("127.0.0.2", 400, PIPELINED),
    Hostile("127.0.0.3", 20, FORM, reads=0, hangs_up=True),
    Hostile("127.0.0.4", 20, BOTH_LENGTHS + HIDDEN),
    Hostile("127.0.0.5", 20, TOO_LARGE + HIDDEN),
    Hostile("127.0.0.6", 100, LARGE, reads=1),
)
"""Pipelining without end, hanging up within forms, requests behind others, and reading byte by byte; 560 of the 800
connections of a worker, so that connections of others are not refused.
"""


class Connection:
    """A connection of a hostile client, which opens the next one when it ends."""

    def __init__(self, of: Hostile, to: tuple[str, int], selector: selectors.BaseSelector) -> None:
        self._of, self._to, self._selector = of, to, selector
        self._open()

    def _open(self) -> None:
        self._left = memoryview(self._of.sends)
        self._socket = socket.socket()
        self._socket.bind((self._of.address, 0))
        self._socket.setblocking(False)
        self._socket.connect_ex(self._to)
        self._selector.register(self._socket, selectors.EVENT_READ | selectors.EVENT_WRITE, self.act)

    def act(self, events: int) -> None:
        """Send and read as much as is possible."""
        try:
            if events & selectors.EVENT_WRITE and self._left:
                self._left = self._left[self._socket.send(self._left[:SENT_AT_ONCE]) :]
            if not self._left:
                self._selector.modify(self._socket, selectors.EVENT_READ, self.act)
            is_over = self._of.hangs_up and not self._left
            if events & selectors.EVENT_READ and self._of.reads:
                is_over = not self._socket.recv(self._of.reads)
        except BlockingIOError:
            return
        except OSError:
            is_over = True
        if is_over:
            self._selector.unregister(self._socket)
            self._socket.close()
            self._open()


def main(host: str, port: int) -> None:
    """Attack a service until standard input ends."""
    with selectors.DefaultSelector() as selector:
        for of in CLIENTS:
            for _ in range(of.connections):
                Connection(of, (host, port), selector)
        selector.register(sys.stdin.buffer.fileno(), selectors.EVENT_READ, None)
        while True:
            for key, events in selector.select():
                if key.data is None:
                    return
                key.data(events)
            time.sleep(IDLE)


def attacked(ground: Ground, minutes: int) -> Found:
    """Attack a service for some minutes, while other clients send requests at an even pace.

    No answer to these may be wrong, no request that is hidden behind another may be carried out, nothing may be counted
    as a failure, and the memory of the service does not grow.
    """
    found = Found(times=minutes)
    home = ground.copy(ground.folder / "attacked")
    with witnessed(ground, home.folder, found) as witness:
        for method, path in ANSWERED:
            httpx.request(method, witness.served.address + path, timeout=60)
        _wait(ground, SETTLED)
        before = memory(witness.served)
        host, _, port = witness.served.address.removeprefix("http://").partition(":")
        command = [sys.executable, "-m", "tests.torture.attack", host, port]
        largest = 0
        with subprocess.Popen(command, cwd=PROJECT, stdin=subprocess.PIPE) as attackers:
            for _ in range(minutes * 60):
                _wait(ground, 1)
                largest = max(largest, memory(witness.served))
                if attackers.poll() is not None:
                    found.losses.append(f"the hostile clients have ended with status {attackers.returncode}")
                    break
            after = memory(witness.served)
            attackers.communicate()
    log = (home.folder / "stderr").read_text()
    asked = witness.served.requests()
    found.note("requests of hostile clients", len(asked) - found.answers)
    found.note("slowest answer, ms", round(witness.slowest * 1000))
    for name, size in (("before", before), ("at most", largest), ("at the end", after)):
        found.note(f"memory {name}, MB", size >> 20)
    if after > before * (1 + GROWTH):
        found.losses.append(f"the service has {after >> 20} MB of memory, and had {before >> 20}")
    found.losses += [f"{line['path']} was carried out" for line in asked if line["path"] == "/v1/hidden"][:1]
    found.losses += [f"{line['path']} was answered with 500" for line in asked if line["status"] == 500][:1]
    found.losses += [f"the log has a traceback: {line}" for line in TRACEBACK.findall(log)[:1]]
    return found


def memory(served: Served) -> int:
    """The bytes of memory of a service and its workers."""
    return sum(_resident(process) for process in (served.process.pid, *started_by(served.process.pid)))


def _resident(process: int) -> int:
    resident = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    return int(resident[1]) * 1024 if resident else 0


def _wait(ground: Ground, seconds: int) -> None:
    for _ in range(seconds):
        time.sleep(1)
        ground.step()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
