"""The delays of filings: seconds from the acceptance of a filing to the publication of the first build that has it.

Belongs here: which filings a build adds, and their delays. Does not: their record (runs), the metric (serve.metrics).
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

from warehouse.pointer import Pointer
from warehouse.reader import Row, open_read_only

LATEST = timedelta(days=7)
"""Older filings that a build adds are the history of a company that is new in it: nobody waited for them."""
ACCEPTED = "SELECT accession, epoch(accepted_at) FROM filings WHERE accepted_at > ? AND share_basis IS NOT NULL"
KNOWN = "SELECT accession FROM filings WHERE list_contains(?, accession) AND share_basis IS NOT NULL"
"""Without the reports that are listed, while nothing is read of them: these have no share basis."""


def of(published: Path, before: Pointer, now: Pointer) -> list[float]:
    """The delays of the filings that a build has and the build before has not, in no order.

    Args:
        published: the folder of builds.
        before: the pointer to the build before.
        now: the pointer to the build.

    Raises:
        duckdb.Error: one of both cannot be read.
    """
    published_at = datetime.fromisoformat(now.published_at)
    since = published_at.replace(tzinfo=None) - LATEST
    accepted: dict[str, float] = dict(_rows(published / now.file, ACCEPTED, [since]))
    known = {accession for (accession,) in _rows(published / before.file, KNOWN, [list(accepted)])}
    return [max(0.0, published_at.timestamp() - at) for accession, at in accepted.items() if accession not in known]


def _rows(file: Path, sql: str, parameters: Sequence[object]) -> list[Row]:
    with open_read_only(file) as connection:
        return connection.execute(sql, parameters).fetchall()
