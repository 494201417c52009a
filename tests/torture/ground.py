"""Homes with faults, an untouched home for comparison, and the conditions that must hold after any fault.

Belongs here: the days, the untouched home, copies of it, synchronizing as users do, and the judgement. Does not: the
faults, requests to a service (witness).
"""

import random
import shutil
import subprocess
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

import duckdb
import polars as pl

from pipelines.errors import PipelineError
from pipelines.normalize.items.line_items import served
from pipelines.stages.batch.schemas import VALUE_TABLES
from pipelines.storage import version_log
from pipelines.storage.lake import Lake
from serve.access.accounts import Accounts
from tests.e2e.homes import debris, published, sync, sync_as_process
from tests.torture.days import Days
from warehouse.build import overlay
from warehouse.build.pointer import current
from warehouse.errors import WarehouseError

KEYS = 60
"""Keys of the readers; each may send 60 requests a minute."""
KEYS_OF_ACCOUNT = 10
LAKE = ("facts", "registrants", "acceptances", *VALUE_TABLES)
"""Tables of companies with rows that do not show when they were made."""

OF_THE_CODE = ("basis", "rules")
"""Columns of the log that a build does not have: a restored segment has today's entries there, and values as published.
"""


@dataclass
class Found:
    """The results of a fault: how often it happened, and one sentence for each error."""

    times: int = 0
    losses: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    answers: int = 0
    remarks: dict[str, int] = field(default_factory=dict)
    skipped: str = ""

    def note(self, remark: str, number: int = 1) -> None:
        """Count an event that is allowed, but worth reporting."""
        self.remarks[remark] = self.remarks.get(remark, 0) + number


class Ground:
    """The source, and the untouched home, which is synchronized once a day."""

    def __init__(self, folder: Path, seed: int, step: Callable[[], object]) -> None:
        self.folder = folder
        self.drawn = random.Random(seed)
        self.step = step
        self.days = Days(folder / "source")
        self.untouched = folder / "untouched"
        self.keys = [f"key_{number}" for number in range(KEYS)]
        self._follow()
        accounts = Accounts(self.untouched / "accounts.sqlite")
        owners = [f"reader-{number // KEYS_OF_ACCOUNT}@example.org" for number in range(KEYS)]
        now = time.time()
        self.secrets = [accounts.create_key(owner, now, key) for owner, key in zip(owners, self.keys, strict=True)]
        for owner in dict.fromkeys(owners):
            accounts.set_subscription(owner, "active", now)
        accounts.close()
        self.turn()  # so that there is a build before the newest one

    def turn(self) -> None:
        """Let the companies file for one more day, and bring the untouched home up to date."""
        self.days.turn(self.days.today + 1)
        self._follow()

    def _follow(self) -> None:
        with patch.object(overlay, "MIN_FILE_SIZE", 0):  # its builds have overlays, like builds of many companies
            done = sync(self.untouched, self.days.folder)
        assert done.returncode == 0, done.stderr
        self.hash = published(self.untouched).content_hash

    def copy(self, home: Path) -> "Home":
        """A copy of the untouched home, as it is today."""
        shutil.copytree(self.untouched, home, symlinks=True, dirs_exist_ok=True)
        return Home(self, home)


class Home:
    """A home under torture."""

    def __init__(self, ground: Ground, folder: Path) -> None:
        self.ground = ground
        self.folder = folder
        self._log = self._recorded()

    def synchronize(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run the command to its end."""
        return sync_as_process(self.folder, self.ground.days.folder, *arguments, **environment)

    def is_of_today(self) -> bool:
        """Whether the published build has the filings of today."""
        return published(self.folder).content_hash == self.ground.hash

    def judged(self, *, is_healed: bool = False) -> list[str]:
        """Errors after any fault; after the next run also damage that this run should have repaired."""
        losses = []
        try:
            held = published(self.folder)
            if not held.is_whole:
                losses.append(f"build {held.pointer.build} is not as it was published")
            now = self._recorded()
        except (AssertionError, OSError, ValueError, PipelineError, WarehouseError, duckdb.Error) as error:
            return [f"unreadable: {error!r}"]
        if not now.head(self._log.height).equals(self._log):
            losses.append(f"the log has {now.height} versions, and not the {self._log.height} of before first")
        self._log = now
        if is_healed:
            if held.content_hash != self.ground.hash:
                losses.append(f"build {held.pointer.build} differs from that of the untouched home")
            losses += [f"{name} is left over" for name in debris(self.folder)]
            losses += self._different_tables()
        return losses

    def _recorded(self) -> pl.DataFrame:
        pointer = current(self.folder / "published")
        assert pointer
        versions = version_log.read(self.folder / "log", pointer.log)
        return versions.drop(OF_THE_CODE).with_columns(value=served("value"))

    def _different_tables(self) -> Collection[str]:
        """The tables between the stages that differ from the tables of the untouched home."""
        mine, untouched = Lake(self.folder / "tables"), Lake(self.ground.untouched / "tables")
        return [f"table {name} differs" for name in LAKE if not mine.read(name).equals(untouched.read(name))]


def failures(done: subprocess.CompletedProcess[str], *, may_fail: bool = False) -> list[str]:
    """The forbidden output of a run: more than one line, or anything if it may not fail."""
    if not done.returncode or (may_fail and "Traceback" not in done.stderr):
        return []
    return [f"status {done.returncode}: {told(done)}"]


def told(done: subprocess.CompletedProcess[str]) -> str:
    """The last line of a run."""
    return (done.stderr.strip() or "nothing said").splitlines()[-1]
