"""The delays of filings: seconds from the acceptance of a filing to the publication of the first build that has it.

The SEC's part ends when EDGAR has the documents of which values are made; the service's part is the rest.

Belongs here: which filings a build adds, and their delays. Does not: their record (runs), the metric (serve.metrics).
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from warehouse.opening import Row, open_read_only
from warehouse.pointer import Pointer

LATEST = timedelta(days=7)
"""Older filings that a build adds are the history of a company that is new in it: nobody waited for them."""
ACCEPTED = "SELECT accession, epoch(accepted_at) FROM filings WHERE accepted_at > ? AND share_basis IS NOT NULL"
KNOWN = "SELECT accession FROM filings WHERE list_contains(?, accession) AND share_basis IS NOT NULL"
"""Without the reports that are listed, while nothing is read of them: these have no share basis."""


class Delay(NamedTuple):
    """The seconds until a filing was served: until EDGAR had its documents, and from then on."""

    wait: float
    work: float


def of(published: Path, before: Pointer, now: Pointer, available: Mapping[str, datetime]) -> list[Delay]:
    """The delays of the filings that a build has and the build before has not, in no order.

    Args:
        published: the folder of builds.
        before: the pointer to the build before.
        now: the pointer to the build.
        available: when EDGAR had the documents of filings, by accession number, in UTC; all of the delay of another
            filing is the service's, which did not look.

    Raises:
        duckdb.Error: one of both cannot be read.
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
