"""A flipped bit in each kind of file of a home, and files of a build that are cut or missing.

Belongs here: the kinds of files, the damage, and the repair of each. Does not: finding damage (doctor), the conditions
afterwards (ground).
"""

import os
import random
import shutil
import sqlite3
import subprocess
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import httpx
import polars as pl

from serve.access.accounts import Accounts
from serve.errors import CommandError
from serve.settings import Settings
from tests.e2e.homes import published, run
from tests.servers import Clock, in_process
from tests.torture.days import COMPANIES, PATHS, WrongAnswer
from tests.torture.ground import Found, Ground, Home, failures, told


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file.

    paths: below the home. mended_by: the repair of damage: the next synchronization, or doctor's repair. has_digest:
    whether its digest is known, so that each bit counts.
    """

    paths: str
    mended_by: Literal["synchronization", "repair"]
    has_digest: bool = False


KINDS = {
    "build": Kind("published/warehouse.duckdb", "synchronization", has_digest=True),
    "overlay": Kind("published/warehouse.duckdb.wal", "synchronization", has_digest=True),
    "Parquet copy of a build": Kind("published/parquet/*.parquet", "synchronization", has_digest=True),
    "times of synchronizations": Kind("published/synchronized-*.json", "synchronization"),
    "pointer": Kind("published/CURRENT.json", "repair"),
    "table": Kind("tables/*.parquet", "synchronization", has_digest=True),
    "part of a table": Kind("tables/*/*.parquet", "synchronization", has_digest=True),
    "manifest of a table": Kind("tables/*/manifest.json", "synchronization", has_digest=True),
    "segment of the log": Kind("log/versions-*.parquet", "repair", has_digest=True),
    "list of segments": Kind("log/committed.json", "repair", has_digest=True),
    "raw document": Kind("raw/??/*.zst", "repair", has_digest=True),
    "list of documents": Kind("raw/seen.jsonl", "repair"),
    "kind of the home": Kind("home.json", "repair"),
    "record of runs": Kind("dagster/history/**/*.db", "repair"),
}
ACCOUNTS = "accounts.sqlite"


def files(home: Path, kind: str) -> list[Path]:
    """The files of a kind."""
    return sorted(home.glob(KINDS[kind].paths))


def flip(path: Path, drawn: random.Random) -> None:
    """Flip a bit of a file, which keeps its permissions."""
    content = bytearray(path.read_bytes())
    place = drawn.randrange(8 * len(content))
    content[place // 8] ^= 1 << place % 8
    mode = path.stat().st_mode
    path.chmod(0o600)
    path.write_bytes(content)
    path.chmod(mode)


def cut(path: Path, _: random.Random, *, parts: int) -> None:
    """Leave the first one of several parts of a file."""
    mode = path.stat().st_mode
    path.chmod(0o600)
    os.truncate(path, path.stat().st_size // parts)
    path.chmod(mode)


def remove(path: Path, _: random.Random) -> None:
    """Remove a file; a link to it stays."""
    path.resolve().unlink()


Happens = Callable[[Path, random.Random], None]
CUTS: dict[str, Happens] = {
    "cut to a half": partial(cut, parts=2),
    "cut to a quarter": partial(cut, parts=4),
    "removed": remove,
}
SERVED = ("build", "overlay", "times of synchronizations", "pointer")


def flipped(ground: Ground, times: int) -> Found:
    """Flip a bit of each kind of file."""
    return _damaged(ground, times, [(kind, kind, flip) for kind in KINDS])


def shortened(ground: Ground, times: int) -> Found:
    """Cut or remove the files of a build that DuckDB opens."""
    damage = [(f"{kind} {how}", kind, shorten) for kind in ("build", "overlay") for how, shorten in CUTS.items()]
    return _damaged(ground, times, damage)


def _damaged(ground: Ground, times: int, damage: Iterable[tuple[str, str, Happens]]) -> Found:
    """Let damage, with a name, happen to a kind of file; serve the home, and synchronize it after the next day."""
    found = Found()
    for number in range(times):
        while not files(ground.untouched, "overlay"):  # some builds have all rows written
            ground.turn()
        before = ground.folder / f"before-{number}"
        shutil.copytree(ground.untouched, before, symlinks=True)
        ground.turn()
        for name, kind, happens in damage:
            folder = shutil.copytree(before, ground.folder / f"bits-{number}" / name.replace(" ", "-"), symlinks=True)
            home = Home(ground, folder)
            path = ground.drawn.choice(files(folder, kind))
            happens(path, ground.drawn)
            found.times += 1
            if kind in SERVED:
                is_noticed = kind == "overlay" or happens is not flip  # else when the block with the bit is read
                try:
                    found.wrong += _asked(ground, folder, published(before).pointer.build, is_noticed, found)
                except AssertionError as error:
                    found.wrong.append(f"{name}: {error}")
            mended_by, losses = _mended(home, KINDS[kind].mended_by)
            found.note(f"{name}: {mended_by}")
            found.losses += [f"{name}, {path.relative_to(folder)}: {loss}" for loss in losses]
            shutil.rmtree(folder)
            ground.step()
        shutil.rmtree(before)
    return found


def _mended(home: Home, by: str) -> tuple[str, list[str]]:
    """The repair of a home, and the errors found after it."""
    done = _command(home, "sync", "--source", home.ground.days.folder)
    losses = failures(done) or home.judged(is_healed=True)
    if not losses or by == "synchronization":
        return "synchronization", losses
    lines = failures(done, may_fail=True)
    repaired = _command(home, "doctor", "--repair")
    done = _command(home, "sync", "--source", home.ground.days.folder)
    again = failures(done) or home.judged(is_healed=True)
    return "repair", lines + [f"{losses[0]}; after {told(repaired)}: {loss}" for loss in again]


def _command(home: Home, *words: object) -> subprocess.CompletedProcess[str]:
    """A command in this process; an error that it does not expect is reported as a process reports it."""
    try:
        return run(home.folder, *words)
    except (Exception, pl.exceptions.PanicException):  # noqa: BLE001 - whatever it is
        return subprocess.CompletedProcess(words, 1, "", traceback.format_exc())


def _asked(ground: Ground, home: Path, newest: str, is_noticed: bool, found: Found) -> Iterator[str]:
    """Ask the service of a damaged home; the wrong answers.

    An answer must have the rows of the build that the status names, which may be another one after the answer. The
    newest is of yesterday; it must not be named if the damage to it is noticed when it is opened.
    """
    yesterday = ground.days.today - 1
    with in_process(Settings(home), Clock(time.time())) as address, httpx.Client(base_url=f"{address}/v1") as client:

        def named() -> int:
            return yesterday - (client.get("/status").json()["data"]["build"] != newest)

        day = named()
        if is_noticed and day == yesterday:
            yield f"{home.name}: the damage is not noticed"
        for place in range(COMPANIES):
            for path in (each.format(place) for each in PATHS):
                response = client.get(path, headers={"X-Api-Key": ground.drawn.choice(ground.secrets)})
                try:
                    if response.status_code != 200:
                        raise WrongAnswer(response.text)
                    first, last = ground.days.day_of(path, response.json())
                    before, day = day, named()
                    if not any(first <= each <= last for each in (before, day)):
                        raise WrongAnswer(f"{path} is of day {first} to {last}, the build of day {day}")
                    found.answers += 1
                except (WrongAnswer, LookupError, ValueError) as error:
                    yield f"{home.name}: {error!r}"


CERTAIN = {"accounts": ("id", "email"), "keys": ("id", "sha256"), "subscriptions": ("account_id", "status")}
"""Columns of the accounts that SQLite checks, by an index or a condition. Others are times, labels and numbers."""


def flipped_accounts(ground: Ground, times: int) -> Found:
    """Flip a bit of the accounts: the service refuses them in a line that names the command to use, or all data that
    matter are unchanged.
    """
    found = Found()
    folder = ground.folder / "accounts"
    folder.mkdir()
    whole = _certain(ground.untouched / ACCOUNTS)
    for number in range(times):
        path = shutil.copyfile(ground.untouched / ACCOUNTS, folder / f"{number}.sqlite")
        flip(path, ground.drawn)
        found.times += 1
        try:
            with closing(Accounts(path)) as accounts:
                accounts.check()
        except CommandError as error:
            found.note("refused")
            if "restore" not in str(error) or "\n" in str(error):
                found.losses.append(str(error))
            continue
        is_same = False
        with suppress(sqlite3.Error):
            is_same = _certain(path) == whole
        if not is_same:
            found.losses.append(f"{path.name}: is opened, although accounts, keys or subscriptions differ")
        ground.step()
    return found


def _certain(path: Path) -> list[list[object]]:
    """The rows of the accounts, in the columns that SQLite checks."""
    with closing(sqlite3.connect(path)) as accounts:
        return [
            accounts.execute(f"SELECT {', '.join(columns)} FROM {table} ORDER BY rowid").fetchall()
            for table, columns in CERTAIN.items()
        ]
