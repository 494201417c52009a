"""The log of a synchronization: progress of long steps, and after each step its counts and seconds.

Belongs here: the connection between the steps and a log, such as the log of a Dagster run. Does not: the progress bars
of the command (synchronize), the work of a step (steps).
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pipelines.progress import progress_to
from pipelines.run.synchronization import Log

EVERY = 10.0
"""Seconds between two lines about the progress of a step."""
SHOWN = 20
"""The largest number of companies that are named one by one."""


@contextmanager
def progress_in(log: Log) -> Iterator[None]:
    """Write the progress of the `with` block into the log, at most every few seconds."""
    last = time.monotonic()

    def tell(stage: str, done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last >= EVERY:
            last = time.monotonic()
            log.info(f"{stage}: {done:,} of {total:,} ({done / total:.0%})")

    with progress_to(tell):
        yield


def in_words(counts: dict[str, int], seconds: float) -> str:
    """Describe counts and seconds of a step in one line."""
    numbers = [f"{name.removeprefix('dagster/').replace('_', ' ')} {count:,}" for name, count in counts.items()]
    return f"{', '.join(numbers)}; {seconds:.1f} seconds"


def warn_of_each(log: Log, what: str, companies: Sequence[str]) -> None:
    """Write one warning about companies or documents, with a line for each of the first; without any, write no
    warning."""
    if companies:
        more = [f"and {len(companies) - SHOWN:,} more"] if len(companies) > SHOWN else []
        log.warning("\n".join([f"{len(companies):,} {what}:", *companies[:SHOWN], *more]))
