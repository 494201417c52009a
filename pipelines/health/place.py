"""Checks the place of the data: the folder of the home and its permissions, the disk, the clock.

Belongs here: folder, disk and clock. Does not: the contents of files (raw_zone, tables, version_log, builds).
"""

import os
import shutil
import stat
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from pipelines.storage.home import MARKER, Home, HomeError, kind_in
from warehouse.build.pointer import Pointer, current
from warehouse.contract.findings import DAMAGE, WARNING, WELL, Finding
from warehouse.errors import WarehouseError
from warehouse.files import OTHERS, make_private

LEAST_SPACE = 64 << 20
"""The least free bytes; with less, accounts and the record of runs can hardly be written."""
TOLERANCE = timedelta(minutes=2)
"""Times may be this much later than the clock, because another machine may write the home."""
READ_ONLY = ("warehouse-*.duckdb", "parquet-*/*.parquet")


def folder(home: Home) -> Iterator[Finding]:
    """Check whether the home exists, and report its kind of data."""
    if not home.root.is_dir():
        yield Finding(
            "home", DAMAGE, f"{home.root} is not a folder", "set FUNDAMENTALS_HOME, or run `fundamentals sync`"
        )
        return
    marker = home.root / MARKER
    if not marker.exists():
        yield Finding("home", WARNING, f"{home.root}: nothing was synchronized yet", "run `fundamentals sync`")
        return
    try:
        yield Finding("home", WELL, f"{home.root}: {kind_in(marker)} data")
    except HomeError as error:
        yield Finding("home", DAMAGE, str(error), "write the marker again", partial(_mark, home))


def _mark(home: Home) -> str:
    """Mark the home with the kind of data of its published build."""
    pointer = current(home.published)
    if pointer is None:
        return "nothing: no published build says which kind of data the home holds"
    (home.root / MARKER).unlink()
    home.claim("sample" if pointer.synchronization.source == "sample" else "edgar")
    return f"marked the home as one of the source {pointer.synchronization.source}"


def permissions(home: Home) -> Iterator[Finding]:
    """Check that other users cannot read the home, that its owner can write it, and that nobody can change a published
    build."""
    if stat.S_IMODE(home.root.stat().st_mode) & OTHERS:
        text = f"other users can read {home.root}, which has hashes of keys and the secret that signs cookies"
        yield Finding("permissions", DAMAGE, text, f"chmod 700 {home.root}", partial(_close, home.root))
        return
    held = [Path(parent, name) for parent, folders, files in os.walk(home.root) for name in [*folders, *files]]
    closed = [path for path in held if not path.is_symlink() and path.exists() and not _is_open(path)]
    if closed:
        text = f"{len(closed):,} files or folders cannot be read or written, such as {closed[0]}"
        yield Finding("permissions", DAMAGE, text, f"as root: chown -R {os.getuid()} {home.root}; chmod -R u+rwX")
    writable = [path for name in READ_ONLY for path in home.published.glob(name) if path.stat().st_mode & 0o222]
    if writable:
        text = f"{len(writable)} files of published builds can be changed, such as {writable[0].name}"
        yield Finding("permissions", WARNING, text, "chmod 400 on these files", partial(_protect, writable))
    if not closed and not writable:
        yield Finding("permissions", WELL, f"only the owner reads {len(held):,} files and folders")


def _is_open(path: Path) -> bool:
    """Whether this user can read a file, or use a folder."""
    return os.access(path, os.R_OK | os.W_OK | os.X_OK if path.is_dir() else os.R_OK)


def _close(root: Path) -> str:
    make_private(root)
    return "took the permissions of others away"


def _protect(files: list[Path]) -> str:
    for path in files:
        path.chmod(0o400)
    return f"made {len(files)} files read-only"


def disk(home: Home) -> Iterator[Finding]:
    """Check that the disk has space for one more copy of the tables and the build, which a full synchronization
    writes."""
    free = shutil.disk_usage(home.root).free
    needed = max(LEAST_SPACE, sum(map(_size, (home.tables, home.published))))
    text = f"{free / 2**30:,.1f} GiB free, and a full synchronization writes up to {needed / 2**30:,.1f} GiB"
    state = DAMAGE if free < LEAST_SPACE else WARNING if free < needed else WELL
    yield Finding("disk", state, text, "free space, or `fundamentals builds prune`" if state else "")


def _size(folder: Path) -> int:
    paths = [Path(parent, name) for parent, _, files in os.walk(folder) for name in files]
    return sum(path.lstat().st_size for path in paths if path.exists())


def clock(home: Home, now: datetime | None = None) -> Iterator[Finding]:
    """Check that the clock is not behind the newest recorded time; otherwise it was set back, or was ahead before."""
    now, (newest, what) = now or datetime.now(UTC), _newest(home)
    if newest > now + TOLERANCE:
        text = f"the clock says {now:%Y-%m-%d %H:%M} UTC, but {what} has the time {newest:%Y-%m-%d %H:%M} UTC"
        advice = "set the clock; if it was ahead before, this goes by itself at that time, and nothing is lost"
        yield Finding("clock", WARNING, text, advice)
    else:
        yield Finding("clock", WELL, f"{now:%Y-%m-%d %H:%M} UTC")


def _newest(home: Home) -> tuple[datetime, str]:
    """The newest time in the pointer, and its name."""
    try:
        pointer: Pointer | None = current(home.published)
    except WarehouseError:
        pointer = None
    if pointer is None:
        return datetime.min.replace(tzinfo=UTC), ""
    times = {"the build": pointer.published_at, "the last synchronization": pointer.synchronization.finished_at}
    return max((datetime.fromisoformat(time), what) for what, time in times.items())
