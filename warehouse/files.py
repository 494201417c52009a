"""Helpers for the files of a home: paths and companies in SQL, durable writes, and who may read them.

Belongs here: functions that several modules share. Does not: which files there are (publish, copies).
"""

import contextlib
import fcntl
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

OTHERS = 0o077
"""The permissions of everybody but the owner: the umask of commands, and what `make_private` removes."""
SERVED = "serving.lock"
"""The file of a home that services lock together as long as they run, and a command that replaces files alone."""


def quoted(path: Path) -> str:
    """A path as an SQL string literal."""
    return "'" + str(path).replace("'", "''") + "'"


def of_companies(ciks: Iterable[str]) -> str:
    """Whether a row is of one of some companies, as SQL."""
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
    """Let nobody but the owner read a home and what is in it; nothing is done if the folder itself is private already.

    Without permission for the folder nobody reaches what is in it. It loses its own permissions last: if the command is
    killed before, the next one does it again. What belongs to another user stays as it is.
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
    """Lock a file until the block ends, if nobody else has; yields whether it is locked. Several may share a lock."""
    with path.open("a") as file:
        try:
            fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True
