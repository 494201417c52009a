"""A Redis server for tests, which can be killed and brought back at the same address.

Belongs here: starting and killing it. Does not: any test.
"""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.servers import PATIENCE, accepts, free_port, wait_until


@dataclass
class Redis:
    """A Redis server; without files, so that a killed one has lost everything, unless `keeps` says otherwise."""

    executable: str
    folder: Path
    keeps: bool = False
    port: int = field(default_factory=free_port)
    _process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        """Its address."""
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def process(self) -> int:
        """Its process."""
        assert self._process
        return self._process.pid

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", str(self.folder)]
        options += ["--appendonly", "yes"] if self.keeps else []
        self._process = subprocess.Popen([self.executable, *options], stdout=subprocess.DEVNULL)
        wait_until(lambda: accepts(self.port))

    def stop(self) -> None:
        """Kill it."""
        if self._process:
            self._process.kill()
            self._process.wait(PATIENCE)


@contextmanager
def running(executable: str, folder: Path, *, keeps: bool = False) -> Iterator[Redis]:
    """An empty Redis server until the block ends; with `keeps`, it stores its data on disk."""
    redis = Redis(executable, folder, keeps)
    redis.start()
    try:
        yield redis
    finally:
        redis.stop()
