"""Downloads of files of a build, counted by account.

Belongs here: how many downloads an account may have at the same time, and how much it may receive on a day. Does not:
the files (site.downloads), the limits of requests (limits).

Each worker counts by itself, in memory.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from serve.access.limits import DAY, LIMITS, until_reset
from serve.http.errors import RateLimited

AT_ONCE = 2
TIMES = 10  # an account may receive all files of a build so often on a day
WAIT = 10  # seconds after which a client may try again that has too many downloads


class Transfers:
    """The downloads of one process; used by the event loop only."""

    def __init__(self) -> None:
        """Count from zero."""
        self._open: Counter[str] = Counter()
        self._sent: Counter[str] = Counter()
        self._day = 0

    def check(self, account: str, all_files: int, now: float) -> None:
        """Refuse a download that is one too many.

        Args:
            account: the account's e-mail address.
            all_files: size of all files of the build, bytes.
            now: Unix time.

        Raises:
            RateLimited: the account has AT_ONCE downloads, or has received all files TIMES times on this UTC day.
        """
        limit = LIMITS[DAY]
        if self._day != (day := limit.start(now)):
            self._day = day
            self._sent.clear()
        if self._open[account] >= AT_ONCE:
            raise RateLimited(AT_ONCE, "account", WAIT, "downloads at the same time")
        if self._sent[account] >= TIMES * all_files:
            raise RateLimited(TIMES * all_files, limit.window, until_reset(limit, now), "bytes of downloads")

    def note(self, account: str, size: int) -> None:
        """Count bytes that were sent."""
        self._sent[account] += size

    @contextmanager
    def one(self, account: str) -> Iterator[None]:
        """Count a download until the block ends."""
        self._open[account] += 1
        try:
            yield
        finally:
            self._open[account] -= 1
            if not self._open[account]:
                del self._open[account]
