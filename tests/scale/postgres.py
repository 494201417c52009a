"""A PostgreSQL server for tests: an empty cluster in a folder of its own, on a free port of the loopback interface.

Belongs here: starting it, stopping it in each way that faults need, new databases. Does not: any test.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.scale.__main__ import program
from tests.servers import free_port, started_by

USER, PASSWORD = "fundamentals", "pass/w:rd@1#"
ACCOUNTS = ("postgres", "nobody")  # users of the system; the server refuses to run as root
PATIENCE = 60.0  # seconds to start or to stop


class Postgres:
    """A PostgreSQL server."""

    def __init__(self, programs: Path, data: Path, log: Path, port: int) -> None:
        self._programs, self._data, self._log, self.port = programs, data, log, port
        self._process: subprocess.Popen[bytes] | None = None
        self._frozen: list[int] = []
        self._made = 0

    @property
    def url(self) -> str:
        """The address of its first database."""
        return self._url("postgres")

    def database(self) -> str:
        """The address of a new, empty database."""
        self._made += 1
        self.execute(f"CREATE DATABASE new_{self._made}")
        return self._url(f"new_{self._made}")

    def emptied(self) -> str:
        """The address of one database, which has lost all that was in it: much less work than a new one."""
        url = self._url("new_0")
        if self.execute("SELECT 1 FROM pg_database WHERE datname = 'new_0'"):
            self.execute(
                "DROP SCHEMA public CASCADE; CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO PUBLIC", url
            )
        else:
            self.execute("CREATE DATABASE new_0")
        return url

    def execute(self, statement: str, url: str | None = None) -> list[tuple[Any, ...]]:
        """The rows of a statement, which commits itself; in the first database unless `url` names another one."""
        import psycopg

        address = (url or self.url).replace("+psycopg", "")
        with closing(psycopg.connect(address, autocommit=True, connect_timeout=5)) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def start(self) -> None:
        """Start the server, and wait until it accepts connections."""
        import psycopg

        options = ["-p", str(self.port), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="]
        quick = ["-c", "fsync=off", "-c", "max_connections=200", "-c", "shared_buffers=32MB"]
        command = [str(self._programs / "postgres"), "-D", str(self._data), *options, *quick]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self._data, **_as_other())
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                self.execute("SELECT 1")
                return
            except psycopg.OperationalError:
                assert self._process.poll() is None, self._log.read_text()
                assert time.monotonic() < deadline, self._log.read_text()
                time.sleep(0.05)

    def stop(self) -> None:
        """Stop the server in order; transactions are rolled back."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """Stop the server as a crash does: connections break off, and the next start recovers."""
        self._end(signal.SIGQUIT)

    def kill_all(self) -> None:
        """Kill all its processes at once, as when its machine loses power."""
        assert self._process
        for process in [self._process.pid, *started_by(self._process.pid)]:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self._process.wait(PATIENCE)

    def freeze(self) -> None:
        """Let the server answer nothing, though its connections stay open."""
        assert self._process
        self._frozen = [self._process.pid, *started_by(self._process.pid)]
        for process in self._frozen:
            os.kill(process, signal.SIGSTOP)

    def thaw(self) -> None:
        """Let the server answer again."""
        for process in self._frozen:
            os.kill(process, signal.SIGCONT)
        self._frozen = []

    def _end(self, how: signal.Signals) -> None:
        self.thaw()
        if self._process and self._process.poll() is None:
            self._process.send_signal(how)
            self._process.wait(PATIENCE)

    def _url(self, database: str) -> str:
        return f"postgresql+psycopg://{USER}:{quote(PASSWORD, safe='')}@127.0.0.1:{self.port}/{database}"


@contextmanager
def running(folder: Path) -> Iterator[Postgres]:
    """A running server, until the block ends; its log is `postgres.log` in the folder.

    The cluster is in a temporary folder, because another user than root has to own it and reach it.
    """
    programs = installed()
    with tempfile.TemporaryDirectory(prefix="postgres-") as place:
        data, secret = Path(place) / "data", Path(place) / "password"
        secret.write_text(PASSWORD)
        other = _as_other()
        if other:
            for path in (Path(place), secret):
                shutil.chown(path, other["user"], other["group"])
        initialize = [str(programs / "initdb"), "-D", str(data), "-U", USER, "--pwfile", str(secret), "--no-sync"]
        options = ["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8"]
        done = subprocess.run([*initialize, *options], capture_output=True, text=True, cwd=place, **other)
        assert done.returncode == 0, done.stderr
        server = Postgres(programs, data, folder / "postgres.log", free_port())
        try:
            server.start()
            yield server
        finally:
            server.kill()


def installed() -> Path:
    """The folder of the server's programs; without one, or without its driver, the test is skipped."""
    pytest.importorskip("psycopg", reason="psycopg is not installed: run `make scale`")
    found = program("postgres")
    if found is None:
        pytest.skip("PostgreSQL is not installed (Debian package postgresql)")
    return Path(found).resolve().parent


def _as_other() -> dict[str, Any]:
    """How to run a program as another user than root; nothing if this is not root."""
    if os.getuid() != 0:
        return {}
    import pwd

    known = {each.pw_name: each for each in pwd.getpwall()}
    user = next(known[name] for name in ACCOUNTS if name in known)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
