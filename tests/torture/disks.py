"""A disk that is full at any stage of a synchronization: a file system in memory with only some free bytes.

Belongs here: the file systems and how they are filled. Does not: the conditions afterwards (ground).
"""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.torture.ground import Found, Ground, failures, told
from tests.torture.witness import witnessed

MEGABYTE = 1 << 20
SIZE = 1 << 30
FILLER = "filler"


def full_home(ground: Ground, times: int) -> Found:
    """Fill the disk of the whole home, which is served meanwhile."""
    return _filled(ground, times, "", 16 * MEGABYTE)


def full_dagster(ground: Ground, times: int) -> Found:
    """Fill the disk of Dagster's folder only."""
    return _filled(ground, times, "dagster", 2 * MEGABYTE)


def _filled(ground: Ground, times: int, below: str, enough: int) -> Found:
    """Synchronize with fewer bytes than are needed, and then with enough.

    How many are enough is learned: a run that succeeds lowers it.
    """
    found = Found()
    if os.geteuid():
        return Found(skipped="only root may mount a file system in memory")
    folder = ground.folder / "full" / below
    with _mounted(folder):
        home = ground.copy(ground.folder / "full")
        with witnessed(ground, home.folder, found) as witness:
            while found.times < times:
                ground.turn()
                free = int(enough * ground.drawn.random())
                with _only(folder, free):
                    done = home.synchronize()
                found.losses += failures(done, may_fail=True) + home.judged()
                if done.returncode:
                    found.times += 1
                    found.note(told(done).rpartition("; ")[2])  # the advice
                else:
                    enough = free
                again = home.synchronize()
                found.losses += failures(again) or home.judged(is_healed=True)
                witness.newest = ground.days.today
                ground.step()
    return found


@contextmanager
def _mounted(folder: Path) -> Iterator[None]:
    """A file system in memory at a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextmanager
def _only(folder: Path, free: int) -> Iterator[None]:
    """Leave only so many bytes free, until the block ends."""
    filler, held = folder / FILLER, os.statvfs(folder)
    try:
        with filler.open("wb") as stream, suppress(OSError):
            os.posix_fallocate(stream.fileno(), 0, max(1, held.f_bavail * held.f_frsize - free))
        yield
    finally:
        filler.unlink()
