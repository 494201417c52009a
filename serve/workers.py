"""Several processes that answer on one socket.

Belongs here: starting them, starting anew one that died, ending all. Does not: what a worker does (commands).

A worker is this module as a program, with the listening socket as a file that it inherits and a pipe as its standard
input, whose end tells it that whoever started it is gone: no worker is left behind, whatever happens to that one.
"""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from types import FrameType

from serve import access_log
from serve.app import create_app
from serve.errors import CommandError
from serve.server import SHUTDOWN, server
from serve.settings import Settings, from_environment

BREATH = 0.2  # seconds between two looks at the workers
AFTER_DEATH = 1.0  # seconds before a worker that died young is started anew
ENDS = (signal.SIGINT, signal.SIGTERM)


def work(settings: Settings, listener: socket.socket, until: Callable[[], object] | None = None) -> None:
    """Answer on a socket until SIGINT or SIGTERM, in this process.

    Args:
        settings: of the service.
        listener: a socket that listens.
        until: blocks, in a thread, for as long as there is a reason to go on; None for ever.

    Raises:
        CommandError: the accounts or the address of Redis are not what they should be.
    """
    running = server(create_app(settings))
    if until:

        def watch() -> None:
            until()
            running.should_exit = True

        threading.Thread(target=watch, name="watch", daemon=True).start()
    with access_log.logging_to(), _interrupted_by(signal.SIGTERM), contextlib.suppress(KeyboardInterrupt):
        running.run(sockets=[listener])


class Workers:
    """Worker processes, and the wish that there be so many."""

    def __init__(self, number: int, command: Callable[[], subprocess.Popen[bytes]]) -> None:
        """Start them.

        Args:
            number: how many.
            command: starts one, its standard input a pipe.
        """
        self._command = command
        self._workers = [(command(), time.monotonic()) for _ in range(number)]

    def mend(self) -> None:
        """Start anew what died; at once where it had lived, else after a moment, for it may die again."""
        for place, (worker, since) in enumerate(self._workers):
            if worker.poll() is not None and time.monotonic() - since > AFTER_DEATH:
                print(f"worker {worker.pid} ended with status {worker.returncode}; started anew", file=sys.stderr)
                _let_go(worker)
                self._workers[place] = (self._command(), time.monotonic())

    def end(self) -> None:
        """Tell all to stop, and wait until they have."""
        for worker, _ in self._workers:
            worker.terminate()
        for worker, _ in self._workers:
            try:
                worker.wait(SHUTDOWN + 5)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()
            _let_go(worker)


def supervise(number: int, host: str, listener: socket.socket) -> None:
    """Have so many workers answer on a socket, with the settings of this environment, until SIGINT or SIGTERM."""
    port = listener.getsockname()[1]
    command = [sys.executable, "-m", "serve.workers", str(listener.fileno()), host, str(port)]

    def start() -> subprocess.Popen[bytes]:
        # a session of its own: Ctrl-C in a terminal is for this process, which tells the workers
        return subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[listener.fileno()], start_new_session=True)

    with _told_to_stop() as stop:
        workers = Workers(number, start)
        try:
            while not stop.wait(BREATH):
                workers.mend()
        finally:
            workers.end()


def main(arguments: Sequence[str]) -> int:
    """Be a worker.

    Args:
        arguments: the number of the socket's file, and host and port that the service is reached by.
    """
    number, host, port = arguments
    with socket.socket(fileno=int(number)) as listener:
        # not sys.stdin: a thread that waits in it cannot be left behind at the end
        work(from_environment(host, int(port)), listener, lambda: os.read(0, 1))
    return 0


@contextlib.contextmanager
def _interrupted_by(number: signal.Signals) -> Iterator[None]:
    """A signal ends the block as Ctrl-C does, and not the process at once, which has a log to write."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(number, before)


@contextlib.contextmanager
def _told_to_stop() -> Iterator[threading.Event]:
    """An event that SIGINT and SIGTERM set."""
    stop = threading.Event()

    def note(_: int, __: FrameType | None) -> None:
        stop.set()

    before = {number: signal.signal(number, note) for number in ENDS}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _let_go(worker: subprocess.Popen[bytes]) -> None:
    if worker.stdin:
        worker.stdin.close()


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except CommandError as error:
        sys.exit(f"fundamentals: {error}")
