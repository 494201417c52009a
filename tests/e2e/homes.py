"""The command `fundamentals sync`, and a home read from outside, for the end-to-end tests of the pipeline.

Belongs here: running the command, in this process or in a separate one; reading the published build. Does not: any
test.
"""

import gc
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import fundamentals
from pipelines.storage.checksums import NOTES
from pipelines.storage.home import PROJECT, Home
from pipelines.storage.lake import Lake
from warehouse.build.opening import open_read_only
from warehouse.build.overlay import copy_of_base
from warehouse.build.pointer import Pointer, copies_of, current, description_of, overlay_of
from warehouse.build.pointer import kept as kept_builds
from warehouse.build.verify import content_hash

if TYPE_CHECKING:
    from pipelines.fake_sec.server import EdgarServer
    from pipelines.run.plan import Outcome

USER_AGENT = "Example Research mail@example.org"
PATIENCE = 600
"""Seconds after which a process counts as hanging: many times as long as the longest needs on a busy machine."""


def environment(home: Path, **more: str) -> dict[str, str]:
    """The environment of a process that works on a home."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("FUNDAMENTALS_", "DAGSTER_", "REDIS_"))
    }
    return inherited | {"FUNDAMENTALS_HOME": str(home), "COLUMNS": "100", **more}


def command(*arguments: object) -> list[str]:
    """The command line that starts `fundamentals`."""
    return [sys.executable, "-m", "fundamentals", *map(str, arguments)]


def sync(home: Path, source: object, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run `fundamentals sync` to its end in this process, whose imports are done already."""
    return run(home, "sync", "--source", source, *arguments, **more)


def sync_unrecorded(home: Path, source: object, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """The same without Dagster's record, which takes half of the time with a few companies.

    The steps, the conditions and the result are the same (tests/unit/test_composition.py).
    """
    # imported here, because the process that hands out the tests does not need it
    from pipelines.dagster_app import synchronize

    with patch.object(synchronize, "run_recorded", run_unrecorded):
        return sync(home, source, *arguments, **more)


def run_unrecorded(home: Home, source: str, symbols: str = "", *, full: bool = False) -> "Outcome":
    """The same as `run_recorded`, without Dagster."""
    from pipelines.run.plan import run_all
    from pipelines.run.synchronization import Synchronization

    return run_all(Synchronization(home, source, symbols, full))


def sync_live(home: Path, server: "EdgarServer", *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """The same with a server in place of the SEC's hosts, and without filings."""
    settings = {"EDGAR_USER_AGENT": USER_AGENT, "EDGAR_BASE_URL": server.url, "FUNDAMENTALS_FILINGS": "off"}
    return sync_unrecorded(home, "live", *arguments, **settings, **more)


def run(home: Path, *arguments: object, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end in this process."""
    words = command(*arguments)
    with (
        patch.dict(os.environ, environment(home, **more), clear=True),
        redirect_stdout(StringIO()) as out,
        redirect_stderr(StringIO()) as err,
        patch.object(gc, "freeze"),  # imports of the tests stay frozen
        patch.object(gc, "unfreeze"),
    ):
        status = fundamentals.main(words[3:])
    return subprocess.CompletedProcess(words, status, out.getvalue(), err.getvalue())


def sync_as_process(home: Path, source: object, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run `fundamentals sync` to its end in a separate process, as users do."""
    return run_as_process(home, "sync", "--source", source, *arguments, **more)


def run_as_process(
    home: Path, *arguments: object, program: Path = PROJECT, **more: str
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end in a separate process; with the program in a folder."""
    return subprocess.run(
        command(*arguments),
        cwd=program,
        env=environment(home, **more),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def ended(done: subprocess.CompletedProcess[str], status: int = 0) -> subprocess.CompletedProcess[str]:
    """A command that was run; fails if it has not ended with this status."""
    assert done.returncode == status, f"{done.returncode}: {done.stdout}{done.stderr}"
    return done


@dataclass(frozen=True, slots=True)
class Published:
    """The publication of a home: the pointer, and the build read back."""

    pointer: Pointer
    rows: Mapping[str, int]
    content_hash: str

    @property
    def is_whole(self) -> bool:
        """Whether the build matches its pointer."""
        return (self.rows, self.content_hash) == (self.pointer.rows, self.pointer.content_hash)


def published(home: Path) -> Published:
    """Open the current build, and count and hash all of it."""
    folder = home / "published"
    pointer = current(folder)
    assert pointer, f"nothing is published in {folder}"
    with open_read_only(folder / pointer.file) as connection:
        rows = {name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchall()[0][0] for name in pointer.rows}
        return Published(pointer, rows, content_hash(connection))


def query(home: Path, sql: str) -> list[tuple[object, ...]]:
    """Query the link that analysts open."""
    with open_read_only(home / "published" / "warehouse.duckdb") as connection:
        return connection.execute(sql).fetchall()


def debris(home: Path) -> list[str]:
    """Files of a killed run that no later run removed."""
    pointer = published(home).pointer
    builds = [file for file in (pointer.file, pointer.previous) if file]
    kept = {*builds, *map(copies_of, builds), *map(description_of, builds), *map(overlay_of, builds)}
    kept |= {each.synchronized_file for each in kept_builds(home / "published")}
    kept |= {f"quality-{file.removeprefix('warehouse-').removesuffix('.duckdb')}.html" for file in builds}
    kept |= {"CURRENT.json", "warehouse.duckdb", "parquet", "quality.html", "runs.json", "statements"}
    kept |= {overlay_of("warehouse.duckdb"), copy_of_base(pointer.base)}
    left = [path.name for path in (home / "published").iterdir() if path.name not in kept]
    left += [path.name for path in (home / "published" / "statements").glob("*") if path.suffix != ".parquet"]
    lake = Lake(home / "tables")
    for path in (each for each in lake.folder.iterdir() if each.name != NOTES):
        if path.is_dir():
            left += {each.name for each in path.iterdir()} - {"manifest.json", *lake.manifest(path.name).parts}
        elif path.suffix != ".parquet":
            left.append(path.name)
    left += [path.name for path in (home / "log").iterdir() if path.name not in {*pointer.log, "committed.json", NOTES}]
    return left + [path.name for path in (home / "raw" / "incoming").iterdir()]
