"""An object storage for tests: moto's S3 server in a process of its own, with one bucket.

Belongs here: starting and ending it, stopping it for a while, damaging its data. Does not: any test.

moto holds its data in memory, so a process that is killed loses them. `stop` therefore closes only the gate between
the clients and moto: connections are refused, as if moto were killed, and `start` brings it back with its data.
"""

import asyncio
import contextlib
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.request import urlopen

import pytest

BUCKET = "fundamentals"
PATIENCE = 60
NEEDED = ("obstore", "moto", "boto3")


def require() -> None:
    """Skip the test where a package is missing."""
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        pytest.skip(f"not installed: {', '.join(missing)} (make scale)")


@dataclass
class Objects:
    """A running storage.

    Attributes:
        port: where it answers.
        server: moto's port, which answers even while the storage is stopped.
        log: moto's log, a line for each request.
    """

    port: int
    server: int
    log: Path
    _gate: "Gate" = field(repr=False)

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables of a process that uses it; FUNDAMENTALS_STORE is one of its prefixes."""
        return {**self.access, "FUNDAMENTALS_STORE": self.address("home")}

    @property
    def access(self) -> dict[str, str]:
        """Where it is, and credentials."""
        return {
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}",
        }

    def address(self, prefix: str) -> str:
        """The address of a store."""
        return f"s3://{BUCKET}/{prefix}"

    def stop(self) -> None:
        """Make it unreachable: connections are cut, and new ones refused. The data stay."""
        self._gate.close()

    def start(self) -> None:
        """Bring it back at the same port."""
        self._gate.open()

    @property
    def requests(self) -> int:
        """The number of requests that were answered so far."""
        return len(self.log.read_bytes().splitlines())

    def keys(self, prefix: str = "") -> dict[str, int]:
        """The size of each object, by its whole key."""
        pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=prefix)
        return {each["Key"]: each["Size"] for page in pages for each in page.get("Contents", [])}

    def read(self, key: str) -> bytes:
        """The content of an object."""
        content: bytes = self._client.get_object(Bucket=BUCKET, Key=key)["Body"].read()
        return content

    def write(self, key: str, content: bytes) -> None:
        """Replace an object."""
        self._client.put_object(Bucket=BUCKET, Key=key, Body=content)

    def copy(self, prefix: str, to: str) -> None:
        """Copy all objects of a prefix under another one, without sending them."""
        for key in self.keys(f"{prefix}/"):
            source = {"Bucket": BUCKET, "Key": key}
            self._client.copy_object(Bucket=BUCKET, Key=f"{to}{key.removeprefix(prefix)}", CopySource=source)

    def remove(self, key: str) -> None:
        """Remove an object."""
        self._client.delete_object(Bucket=BUCKET, Key=key)

    def flip(self, key: str) -> None:
        """Change one byte in the middle of an object."""
        content = bytearray(self.read(key))
        content[len(content) // 2] ^= 0x20
        self.write(key, bytes(content))

    @cached_property
    def _client(self) -> Any:
        """A client of moto itself; making one takes longer than most requests."""
        import boto3

        return boto3.client(
            "s3",
            endpoint_url=f"http://127.0.0.1:{self.server}",
            aws_access_key_id="key",
            aws_secret_access_key="secret",
            region_name="us-east-1",
        )


@contextmanager
def running(folder: Path) -> Iterator[Objects]:
    """A storage with an empty bucket until the block ends; its log is in the folder."""
    require()
    log = folder / "moto.log"
    with log.open("wb") as said:
        process = subprocess.Popen(
            [sys.executable, "-c", SERVER], stdout=said, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        server = _port_in(log, process)
        with Gate(server) as gate:
            objects = Objects(gate.port, server, log, gate)
            objects._client.create_bucket(Bucket=BUCKET)
            yield objects
    finally:
        process.kill()
        process.wait()


SERVER = "import sys; from moto.server import main; sys.argv = ['moto_server', '-p', '0', '-H', '127.0.0.1']; main()"


def _port_in(log: Path, process: subprocess.Popen[bytes]) -> int:
    """The port that a started moto names in its log, as soon as it answers."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        assert process.poll() is None, log.read_text()
        if found := re.search(r"http://127\.0\.0\.1:(\d+)", log.read_text()):
            with contextlib.suppress(OSError), urlopen(f"http://127.0.0.1:{found[1]}/moto-api/", timeout=5):
                return int(found[1])
        time.sleep(0.05)
    raise AssertionError(f"moto does not start: {log.read_text()}")


class Gate:
    """Passes connections on to another port of this machine, while it is open."""

    def __init__(self, to: int) -> None:
        self.port = 0
        self._to = to
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="gate", daemon=True)
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()

    def __enter__(self) -> "Gate":
        self._thread.start()
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def open(self) -> None:
        """Let connections through, if they are not already."""
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()

    def close(self) -> None:
        """Cut all connections, and refuse new ones."""
        asyncio.run_coroutine_threadsafe(self._leave(), self._loop).result()

    async def _listen(self) -> None:
        if self._server:
            return
        self._server = await asyncio.start_server(self._pass_on, "127.0.0.1", self.port, limit=1 << 20)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _leave(self) -> None:
        if self._server:
            # accepted connections get their transport before the server is closed: asyncio would leave them open
            self._loop.remove_reader(self._server.sockets[0])
            await asyncio.sleep(0)
            self._server.close()
            self._server = None
        for writer in [*self._open]:
            writer.transport.abort()
        while self._open:
            await asyncio.sleep(0.01)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._server is None:  # accepted before the gate was closed, and not yet among the cut connections
            writer.transport.abort()
            return
        self._open.add(writer)
        there: asyncio.StreamWriter | None = None
        try:
            back, there = await asyncio.open_connection("127.0.0.1", self._to, limit=1 << 20)
            await asyncio.gather(_copy(reader, there), _copy(back, writer))
        except OSError:
            pass
        finally:
            for each in (writer, there):
                if each:
                    each.transport.abort()
            self._open.discard(writer)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy all bytes, then say that there are no more."""
    while data := await reader.read(1 << 20):
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof():
        with contextlib.suppress(OSError):
            writer.write_eof()


@contextmanager
def used(environment: Mapping[str, str]) -> Iterator[None]:
    """Let this process use a storage until the block ends."""
    with patch.dict("os.environ", environment):
        yield
