"""Downloads of files of a build, counted by account.

Belongs here: how many downloads an account may have at the same time, how much it may receive on a day, how fast all
are together. Does not: the files (site.downloads), the limits of requests (limits).

All workers of a home count together, in files of its folder `transfers`: an account has AT_ONCE files, one for each
simultaneous download. A download locks one of them, and records in it how many bytes were sent through it on a day.
The system releases the lock of a worker that ends, however it ends.
"""

import fcntl
import hashlib
import os
import time
from contextlib import suppress
from pathlib import Path

from serve.access.limits import DAY, LIMITS, until_reset
from serve.clock import Clock
from serve.errors import RateLimited

FOLDER = "transfers"
ACCOUNT = "account"  # the name of the limit of simultaneous downloads
AT_ONCE = 2
TIMES = 10  # how often an account may receive all files of a build on a day
WAIT = 10  # seconds after which a client with too many downloads may try again
SPEED = 40e6  # bytes a second of all downloads of a worker together, so that other requests do not wait
NOTED = 1 << 20  # bytes sent between two records; a killed worker loses at most as many


class Pace:
    """The moments at which a worker may send further bytes of downloads; used by the event loop only."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        """Start without a delay."""
        self._clock, self._free_at = clock, 0.0

    def wait(self, size: int) -> float:
        """The seconds to wait after `size` bytes were sent."""
        now = self._clock()
        self._free_at = max(self._free_at, now) + size / SPEED
        return self._free_at - now


class Transfer:
    """A download of an account, which occupies one of its places until it is closed."""

    def __init__(self, descriptor: int, day: int, sent: int, pace: Pace) -> None:
        """Take a place whose file is open and locked."""
        self._descriptor, self._day, self._sent, self._unwritten = descriptor, day, sent, 0
        self._pace = pace

    def note(self, size: int) -> float:
        """Count bytes that were sent; returns the seconds to wait before sending more."""
        self._unwritten += size
        if self._unwritten >= NOTED:
            self._write()
        return self._pace.wait(size)

    def close(self) -> None:
        """Record the bytes that were sent, and release the place for another download."""
        if self._descriptor >= 0:
            self._write()
            os.close(self._descriptor)
            self._descriptor = -1

    def _write(self) -> None:
        self._sent, self._unwritten = self._sent + self._unwritten, 0
        with suppress(OSError):  # a full disk does not end a download
            os.pwrite(self._descriptor, f"{self._day} {self._sent:020}".encode(), 0)

    def __del__(self) -> None:
        self.close()  # for a response that was never sent


class Transfers:
    """The downloads of all accounts."""

    def __init__(self, home: Path) -> None:
        """Count in a folder of the home, which the first download creates."""
        self._folder, self._pace = home / FOLDER, Pace()

    def take(self, account: str, all_files: int, now: float) -> Transfer:
        """Take a place for a download.

        Args:
            account: the account's e-mail address.
            all_files: size of all files of the build, bytes.
            now: Unix time.

        Raises:
            RateLimited: the account has AT_ONCE downloads, or has received all files TIMES times on this UTC day.
        """
        limit = LIMITS[DAY]
        day = limit.start(now)
        name = hashlib.sha256(account.encode()).hexdigest()
        self._folder.mkdir(mode=0o700, exist_ok=True)
        places = [self._folder / f"{name}-{place}" for place in range(AT_ONCE)]
        sent = [_sent(path, day) for path in places]
        if sum(sent) >= TIMES * all_files:
            raise RateLimited(TIMES * all_files, limit.window, until_reset(limit, now), "bytes of downloads")
        for path in places:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
            else:
                return Transfer(descriptor, day, _sent(path, day), self._pace)
        raise RateLimited(AT_ONCE, ACCOUNT, WAIT, "downloads at the same time")


def _sent(path: Path, day: int) -> int:
    """The bytes that were sent through a place on a day, as far as they are recorded."""
    try:
        of_day, _, sent = path.read_bytes().partition(b" ")
        return int(sent) if int(of_day) == day else 0
    except (FileNotFoundError, ValueError):
        return 0
