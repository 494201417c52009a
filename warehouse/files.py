"""Helpers for the files of a home: paths and companies in SQL, durable writes, and file permissions.

Belongs here: functions that several modules share. Does not: which files there are (publish, copies).
"""

import contextlib
import fcntl
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

OTHERS = 0o077
"""The permissions of group and others: commands use it as umask, and `make_private` removes it."""
SERVING_LOCK = "serving.lock"
"""A lock file in a home: running services share the lock, and a command that replaces files takes it alone."""


def quoted(path: Path) -> str:
    """A path as an SQL string literal."""
    return "'" + str(path).replace("'", "''") + "'"


def of_companies(ciks: Iterable[str]) -> str:
    """SQL: whether a row belongs to one of the given companies."""
    listed = ", ".join(f"'{cik}'" for cik in sorted(ciks))
    return f"cik IN ({listed})" if listed else "false"


def sync(path: Path) -> None:
    """Flush a file, or the entries of a folder, to disk, so that they survive a power failure."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_private(home: Path) -> None:
    """Remove all permissions of other users from a home and its files; does nothing if the folder is private already.

    Without permission for the folder nobody reaches the files in it. The folder itself is changed last: if the command
    is killed before that, the next one starts again. Files of another user stay as they are.
    """
    if not home.is_dir() or not stat.S_IMODE(home.stat().st_mode) & OTHERS:
        return
    for folder, _, files in os.walk(home, topdown=False):
        for path in [*(Path(folder, name) for name in files), Path(folder)]:
            with contextlib.suppress(OSError):
                if path == home or not path.is_symlink():
                    path.chmod(stat.S_IMODE(path.stat().st_mode) & ~OTHERS)


@contextlib.contextmanager
def locked(path: Path, *, shared: bool = False) -> Iterator[bool]:
    """Lock a file until the block ends, if possible; yields whether it is locked. Many processes may share a lock."""
    with path.open("a") as file:
        try:
            fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True
