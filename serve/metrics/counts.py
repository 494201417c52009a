"""The counts of the service, in memory that worker processes can share.

Belongs here: the list of counts, and counting. Does not: when something is counted (http.edge, http.server, app), the
exposition of the counts (exposition).

Each worker writes to its own memory, so that no worker waits for another; the sum counts the work of all of them. The
supervisor owns the memory of several workers: a restarted worker continues the counts of the one that ended.
"""

import mmap
import os
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

DISCONNECTED = 499  # the status, in counts and log, of a request whose connection ended before it could be answered
STATUSES = (200, 303, 304, 401, 403, 404, 405, 413, 415, 422, 429, DISCONNECTED, 500)
BOUNDS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""The upper bounds of the histogram of request durations, in seconds."""

REFUSALS, LOOKUPS = "fundamentals_refusals", "fundamentals_cache_lookups"
RESTARTS, CONNECTIONS, DEGRADED = "fundamentals_worker_restarts", "fundamentals_connections", "fundamentals_degraded"
UNREADABLE = "fundamentals_build_unreadable"
NOTED_AT = "noted at"  # Unix time at which the worker last noted its condition; not a metric itself
OF_CONNECTIONS = "connections"  # the name of the limit of connections, among the limits of requests
OF_REQUESTS = ("minute", "day", "account", "failed keys", "sign-in attempts", "requests of the status")
TALLIES = (
    *((REFUSALS, limit) for limit in OF_REQUESTS),
    (REFUSALS, OF_CONNECTIONS),
    (LOOKUPS, "hit"),
    (LOOKUPS, "miss"),
    (RESTARTS, ""),
    (CONNECTIONS, ""),
    (DEGRADED, ""),
    (UNREADABLE, ""),
    (NOTED_AT, ""),
)
"""Counts that do not belong to a path, each with the value of its label, if it has one."""
STATES = (CONNECTIONS, DEGRADED, UNREADABLE, NOTED_AT)
"""Tallies that rise and fall; a worker starts them at 0."""

OTHER = "other"  # the path of requests without an endpoint or a page, and a status that is not listed
BUCKETS = len(STATUSES) + 1  # the place of the durations among the numbers of a path
SECONDS = BUCKETS + len(BOUNDS) + 1
WIDTH = SECONDS + 1
NUMBER = 8  # bytes of a number, a double: exact for whole numbers up to 9e15


class Counts:
    """The counts of one worker, or the sum of several: a row of numbers for each path, and then the tallies."""

    def __init__(self, paths: Sequence[str], memory: "memoryview[int] | None" = None) -> None:
        """Use the given memory, or new memory, for counts.

        Args:
            paths: the templates of the paths that are counted separately.
            memory: of `size_of(paths)` bytes or more, which other processes may read.
        """
        self.paths = (OTHER, *paths)
        size = size_of(paths)
        self.numbers = (memory or memoryview(bytearray(size)))[:size].cast("d")
        self._rows = {path: WIDTH * place for place, path in enumerate(self.paths)}
        self._statuses = {status: place for place, status in enumerate(STATUSES, 1)}
        self._tallies = {tally: WIDTH * len(self.paths) + place for place, tally in enumerate(TALLIES)}

    def request(self, path: str, status: int, seconds: float) -> None:
        """Count a request. Costs less than half a microsecond, because each request is counted."""
        numbers, row = self.numbers, self._rows.get(path, 0)
        numbers[row + self._statuses.get(status, 0)] += 1
        numbers[row + BUCKETS + bisect_left(BOUNDS, seconds)] += 1
        numbers[row + SECONDS] += seconds

    def add(self, tally: str, label: str = "", number: int = 1) -> None:
        """Add to a tally."""
        self.numbers[self._tallies[tally, label]] += number

    def set(self, tally: str, number: float) -> None:
        """Set a tally that rises and falls."""
        self.numbers[self._tallies[tally, ""]] = number

    def requests(self) -> Iterator[tuple[str, str, float]]:
        """Path, status and number of all counted requests."""
        for path, row in self._rows.items():
            for place, status in enumerate((OTHER, *map(str, STATUSES))):
                if number := self.numbers[row + place]:
                    yield path, status, number

    def durations(self) -> Iterator[tuple[str, list[float], float]]:
        """Path, number of requests up to each of the BOUNDS and in all, and the sum of their seconds."""
        for path, row in self._rows.items():
            up_to, total = [], 0.0
            for number in self.numbers[row + BUCKETS : row + SECONDS]:
                up_to.append(total := total + number)
            if total:
                yield path, up_to, self.numbers[row + SECONDS]

    def of(self, tally: str) -> dict[str, float]:
        """The numbers of a tally by label."""
        return {label: self.numbers[at] for (name, label), at in self._tallies.items() if name == tally}


def size_of(paths: Sequence[str]) -> int:
    """The size of counts in bytes."""
    return NUMBER * (WIDTH * (len(paths) + 1) + len(TALLIES))


def total(counts: Sequence[Counts]) -> Counts:
    """The sum of the counts of several workers."""
    summed = Counts(counts[0].paths[1:])
    for place, numbers in enumerate(zip(*(each.numbers for each in counts), strict=True)):
        summed.numbers[place] = sum(numbers)
    return summed


@contextmanager
def shared(paths: Sequence[str], workers: int) -> Iterator[tuple[int, list[Counts]]]:
    """A file in memory with the counts of several workers, until the block ends: its descriptor, and the counts."""
    file = os.memfd_create("counts")
    try:
        os.ftruncate(file, workers * _part(paths))
        yield file, [opened(paths, file, place) for place in range(workers)]
    finally:
        os.close(file)


def opened(paths: Sequence[str], file: int, place: int) -> Counts:
    """The counts of a worker, at its place in a shared file. Tallies that rise and fall are reset to 0."""
    part = _part(paths)
    counts = Counts(paths, memoryview(mmap.mmap(file, part, offset=place * part)))
    for state in STATES:
        counts.set(state, 0)
    return counts


def _part(paths: Sequence[str]) -> int:
    """The size in bytes of one worker's part in a shared file; each part begins at a page of memory."""
    return -(-size_of(paths) // mmap.ALLOCATIONGRANULARITY) * mmap.ALLOCATIONGRANULARITY
