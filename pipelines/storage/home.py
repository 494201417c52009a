"""The home: the folder with all data of one installation.

Belongs here: the folders of a home, the kind of its data (real or fictional), and the lock that allows one
synchronization at a time.
Does not: the contents of the files (edgar.fetch.raw_store, lake, warehouse.build.publish).
"""

import fcntl
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TextIO

from pipelines.errors import PipelineError
from warehouse.files import SERVING_LOCK, make_private

Kind = Literal["edgar", "sample"]
DEFAULT_HOME = Path(".data/edgar")
PROJECT = Path(__file__).resolve().parents[2]
SETTINGS = "dagster.yaml"
"""The name of the file of Dagster's settings."""
MARKER = "home.json"
LOCK = "synchronization.lock"
ASKED_EVERY = 0.5
"""Seconds between two attempts to lock a home that another synchronization has locked."""
NOTICE_EVERY = 60.0
"""Seconds between two messages about waiting."""
WORDS: dict[str, str] = {"edgar": "real", "sample": "fictional"}


class HomeError(PipelineError):
    """The home cannot be used: it is not writable, has the other kind of data, or is in use."""


@dataclass(frozen=True, slots=True)
class Home:
    """The folders of a home. Creating the object does not touch the disk."""

    root: Path

    @classmethod
    def from_environment(cls) -> "Home":
        """The home that FUNDAMENTALS_HOME names; if it is not set, `.data/edgar` in the current folder."""
        return cls(Path(os.environ.get("FUNDAMENTALS_HOME") or DEFAULT_HOME).absolute())

    @property
    def tables(self) -> Path:
        """Parquet tables between the stages."""
        return self.root / "tables"

    @property
    def published(self) -> Path:
        """The builds and the pointer to the current one."""
        return self.root / "published"

    @property
    def log(self) -> Path:
        """The segments of the version log."""
        return self.root / "log"

    @property
    def dagster(self) -> Path:
        """DAGSTER_HOME: run history and settings of this home."""
        return self.root / "dagster"

    def prepare(self) -> None:
        """Create the folders, readable by their owner only, and write the settings of Dagster.

        Raises:
            HomeError: the folder cannot be created or written.
        """
        try:
            for folder in (self.root, self.tables, self.log, self.published, self.dagster):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            make_private(self.root)
            for lock in (LOCK, SERVING_LOCK):
                (self.root / lock).touch()
            shutil.copyfile(PROJECT / SETTINGS, self.dagster / "dagster.yaml")
        except OSError as error:
            raise HomeError(
                f"{self.root}: cannot be written ({error.strerror}); set FUNDAMENTALS_HOME to a folder of yours"
            ) from error

    def claim(self, kind: Kind) -> None:
        """Mark the home with its kind of data; the first call decides it permanently.

        Raises:
            HomeError: the home has the other kind of data.
        """
        marker = self.root / MARKER
        if not marker.exists():
            written = marker.with_suffix(".tmp")
            written.write_text(json.dumps({"kind": kind}))
            written.replace(marker)
        held = kind_in(marker)
        if held != kind:
            other = self.root.parent / kind if self.root.name in WORDS else f"{self.root}-{kind}"
            raise HomeError(
                f"{self.root} holds {WORDS[held]} data, and this source is {WORDS[kind]}: "
                f"the two are never mixed; use another home: FUNDAMENTALS_HOME={other}"
            )

    @contextmanager
    def writing(self, wait: Callable[[str], object] | None = None) -> Iterator[None]:
        """Lock the home for one synchronization. The lock ends with the process, even if it is killed.

        Args:
            wait: called with a message while another synchronization holds the lock, first at once and then every
                minute; None: do not wait.

        Raises:
            HomeError: another synchronization has locked it; the message names its process.
        """
        with (self.root / LOCK).open("r+") as lock:
            noticed = 0.0
            while not _is_locked(lock):
                holder = f"another synchronization is running ({lock.read().strip() or 'of an older version'})"
                lock.seek(0)
                if wait is None:
                    raise HomeError(f"{self.root}: {holder}; wait for it to end, or stop it, and try again")
                if not noticed or time.monotonic() - noticed >= NOTICE_EVERY:
                    noticed = time.monotonic()
                    wait(f"{self.root}: {holder}; this one waits until it ends")
                time.sleep(ASKED_EVERY)
            lock.truncate()
            lock.write(f"process {os.getpid()}, since {datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")
            lock.flush()
            yield


def _is_locked(lock: TextIO) -> bool:
    """Try to lock a file; False if another process has locked it."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def kind_in(marker: Path) -> str:
    """The kind of data in a marker file.

    Raises:
        HomeError: the file is not a valid marker.
    """
    text = marker.read_text(errors="replace")
    try:
        kind = json.loads(text)["kind"]
    except (ValueError, KeyError, TypeError):
        kind = None
    if kind not in WORDS:
        raise HomeError(f"{marker} says {text[:80]!r}, not which kind of data the home holds; delete it")
    return str(kind)
