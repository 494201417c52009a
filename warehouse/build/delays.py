"""The delays of filings: seconds from the acceptance of a filing to the publication of the first build that has it.

The SEC's part ends when EDGAR has the documents from which values are made; the rest is the service's part.

Belongs here: which filings a build adds, and their delays. Does not: their record (runs), the metric (serve.metrics).
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from warehouse.build.opening import Row, open_read_only
from warehouse.build.pointer import Pointer

LATEST = timedelta(days=7)
"""Age from which a filing has no delay: older filings are the history of a new company, and nobody waited for them."""
ACCEPTED = "SELECT accession, epoch(accepted_at) FROM filings WHERE accepted_at > ? AND share_basis IS NOT NULL"
KNOWN = "SELECT accession FROM filings WHERE list_contains(?, accession) AND share_basis IS NOT NULL"
"""A listed report that has not been read yet has no share basis, and does not count."""


class Delay(NamedTuple):
    """The delay of a filing in seconds.

    at_edgar: until EDGAR had its documents.
    at_service: from then until the service published it.
    """

    at_edgar: float
    at_service: float


def of(published: Path, before: Pointer, now: Pointer, available: Mapping[str, datetime]) -> list[Delay]:
    """The delays of the filings that a build adds to the previous build, in no order.

    Args:
        published: the folder of builds.
        before: the pointer to the previous build.
        now: the pointer to the build.
        available: when EDGAR had the documents of filings, by accession number, in UTC; for a filing without an entry
            the whole delay counts as the service's, because the service did not look.

    Raises:
        duckdb.Error: one of the two builds cannot be read.
    """
    published_at = datetime.fromisoformat(now.published_at)
    end, there = published_at.timestamp(), {accession: at.timestamp() for accession, at in available.items()}
    since = published_at.replace(tzinfo=None) - LATEST
    accepted: dict[str, float] = dict(_rows(published / now.file, ACCEPTED, [since]))
    known = {accession for (accession,) in _rows(published / before.file, KNOWN, [list(accepted)])}
    new = {accession: min(at, end) for accession, at in accepted.items() if accession not in known}
    begun = {accession: min(max(there.get(accession, at), at), end) for accession, at in new.items()}
    return [Delay(begun[accession] - at, end - begun[accession]) for accession, at in new.items()]


def _rows(file: Path, sql: str, parameters: Sequence[object]) -> list[Row]:
    with open_read_only(file) as connection:
        return connection.execute(sql, parameters).fetchall()
