"""Worker processes that serve on one listening socket.

Belongs here: running a server, and starting, restarting and stopping worker processes. Does not: the application (app),
the exposition of metrics (metrics.exposition).

A worker runs this module as a program. It inherits the listening socket and the memory of its counts as file
descriptors. Its standard input is a pipe from the supervisor: when the pipe closes, the supervisor has ended, and the
worker stops too.
"""

import contextlib
import gc
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from types import FrameType

from serve.app import PATHS, create_app
from serve.errors import CommandError
from serve.http import log as access_log
from serve.http.server import SHUTDOWN, server
from serve.metrics.counts import RESTARTS, Counts, opened, shared
from serve.settings import Settings, from_environment

CHECK_EVERY = 0.2  # seconds between two checks of the workers
SHORTEST_LIFE = 1.0  # seconds before an ended worker is restarted, so that a failing one does not restart in a loop
SWITCHED_EVERY = 0.0002  # seconds that a thread may keep the interpreter while another one waits
ENDS = (signal.SIGINT, signal.SIGTERM)


def exposed(settings: Settings, counts: Sequence[Counts]) -> contextlib.AbstractContextManager[None]:
    """Expose the counts of workers in the `with` block, if the settings have a port for metrics."""
    if settings.metrics_port is None:
        return contextlib.nullcontext()
    # imported here, because it takes a twentieth of a second
    from serve.metrics import exposition
    from warehouse.shared.store import ONCE, opened

    store = opened(settings.store, ONCE) if settings.store else None
    return exposition.exposed(settings.published, counts, settings.metrics_port, settings.metrics_host, store)


def work(
    settings: Settings, listener: socket.socket, counts: Counts, until: Callable[[], object] | None = None
) -> None:
    """Serve on a socket in this process until SIGINT or SIGTERM.

    Args:
        settings: settings of the service.
        listener: a listening socket.
        counts: where requests are counted.
        until: called in a thread; the server stops when it returns. None: only signals stop it.

    Raises:
        CommandError: the accounts cannot be opened, or REDIS_URL is not the address of a Redis server.
    """
    running = server(create_app(settings, counts=counts), settings.connection_share, settings.proxies)
    if until:

        def watch() -> None:
            until()
            running.should_exit = True

        threading.Thread(target=watch, name="watch", daemon=True).start()
    with _undelayed(), access_log.logging_to(), _interrupted_by(signal.SIGTERM), contextlib.suppress(KeyboardInterrupt):
        running.run(sockets=[listener])


class Workers:
    """A fixed number of worker processes."""

    def __init__(self, counts: Sequence[Counts], command: Callable[[int], subprocess.Popen[bytes]]) -> None:
        """Start the workers.

        Args:
            counts: the counts of each worker.
            command: starts the worker at a place, with a pipe as its standard input.
        """
        self._counts = counts
        self._command = command
        self._workers = [(command(place), time.monotonic()) for place in range(len(counts))]

    def restart_ended(self) -> None:
        """Restart workers that ended, but none within SHORTEST_LIFE seconds of its start."""
        for place, (worker, since) in enumerate(self._workers):
            if worker.poll() is not None and time.monotonic() - since > SHORTEST_LIFE:
                print(f"worker {worker.pid} ended with status {worker.returncode}; restarted", file=sys.stderr)
                _close_pipe(worker)
                self._counts[place].add(RESTARTS)
                self._workers[place] = (self._command(place), time.monotonic())

    def end(self) -> None:
        """Stop all workers, and wait until they have ended."""
        for worker, _ in self._workers:
            worker.terminate()
        for worker, _ in self._workers:
            try:
                worker.wait(SHUTDOWN + 5)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()
            _close_pipe(worker)


def supervise(settings: Settings, number: int, host: str, listener: socket.socket) -> None:
    """Run `number` workers on a socket, with the settings of the environment, until SIGINT or SIGTERM.

    Raises:
        CommandError: the port of the metrics is in use.
    """
    with shared(PATHS, number) as (file, counts), exposed(settings, counts), _stop_signals() as stop_requested:
        files = [listener.fileno(), file]
        command = [sys.executable, "-m", "serve.cli.workers", *map(str, files), host, str(listener.getsockname()[1])]

        def start(place: int) -> subprocess.Popen[bytes]:
            # a separate session: Ctrl-C in a terminal reaches only the supervisor, which then stops the workers
            return subprocess.Popen(
                [*command, str(place)], stdin=subprocess.PIPE, pass_fds=files, start_new_session=True
            )

        workers = Workers(counts, start)
        try:
            while not stop_requested(CHECK_EVERY):
                workers.restart_ended()
        finally:
            workers.end()


def main(arguments: Sequence[str]) -> int:
    """Run a worker.

    Args:
        arguments: file descriptors of the listening socket and of the memory of the counts, host, port, and the
            number of the worker, from 0.
    """
    number, file, host, port, place = arguments
    counts = opened(PATHS, int(file), int(place))
    with socket.socket(fileno=int(number)) as listener:
        # not sys.stdin: a thread that is blocked in it cannot be abandoned when the interpreter exits
        work(from_environment(host, int(port)), listener, counts, lambda: os.read(0, 1))
    return 0


@contextlib.contextmanager
def _undelayed() -> Iterator[None]:
    """Keep background threads and the garbage collector from delaying requests for long, until the block ends.

    The event loop waits for the interpreter at each of its callbacks: for five milliseconds each, by default, while the
    rows of a new build are read.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCHED_EVERY)
    gc.freeze()  # else the garbage collector would scan imported modules again and again, for some 50 ms each
    try:
        yield
    finally:
        gc.unfreeze()  # else DuckDB's module reports all its types as leaks at exit
        sys.setswitchinterval(before)


@contextlib.contextmanager
def _interrupted_by(number: signal.Signals) -> Iterator[None]:
    """Let a signal end the block like Ctrl-C, instead of ending the process before its log is written."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(number, before)


@contextlib.contextmanager
def _stop_signals() -> Iterator[Callable[[float], bool]]:
    """A function that waits for SIGINT or SIGTERM, at most the given seconds, and returns whether one has come.

    The handler writes to a socket. If it set a threading.Event, it would wait forever for the lock of the event when
    the signal interrupts the thread at the begin or the end of a wait, where it holds the lock.
    """
    reading, writing = socket.socketpair()

    def note(_: int, __: FrameType | None) -> None:
        with contextlib.suppress(BlockingIOError):  # the socket is full of unread signals
            writing.send(b"\0")

    with reading, writing:
        writing.setblocking(False)
        before = {number: signal.signal(number, note) for number in ENDS}
        try:
            yield lambda seconds: bool(select.select([reading], [], [], seconds)[0])
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _close_pipe(worker: subprocess.Popen[bytes]) -> None:
    if worker.stdin:
        worker.stdin.close()


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except CommandError as error:
        sys.exit(f"fundamentals: {error}")
