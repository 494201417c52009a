"""The delays of filings: seconds from the acceptance of a filing to the publication of the first build that has it.

The SEC's part ends when EDGAR has the documents from which values are made; the rest is the service's part.

Belongs here: which filings a build adds, and their delays. Does not: their record (runs), the metric (serve.metrics).
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from warehouse.build.opening import open_read_only

LATEST = timedelta(days=7)
"""Age from which a filing has no delay: older filings are the history of a new company, and nobody waited for them."""
KNOWN = "SELECT accession FROM filings WHERE list_contains(?, accession) AND share_basis IS NOT NULL"
"""A listed report that has not been read yet has no share basis, and does not count."""


class Delay(NamedTuple):
    """The delay of a filing in seconds.

    at_edgar: until EDGAR had its documents.
    at_service: from then until the service published it.
    """

    at_edgar: float
    at_service: float


def of(before: Path, now: datetime, accepted: Mapping[str, datetime], available: Mapping[str, datetime]) -> list[Delay]:
    """The delays of the filings that a build adds to the previous build, in no order.

    Args:
        before: the file of the previous build. It is opened only if it may lack a filing.
        now: when the build was published, in UTC.
        accepted: when EDGAR accepted the filings of the build that have a share basis, from LATEST before `now` on, by
            accession number, in UTC.
        available: when EDGAR had the documents of filings, by accession number, in UTC; for a filing without an entry
            the whole delay counts as the service's, because the service did not look.

    Raises:
        duckdb.Error: the previous build cannot be read.
    """
    end, there = now.timestamp(), {accession: at.timestamp() for accession, at in available.items()}
    known = _known(before, list(accepted)) if accepted else set()
    new = {accession: min(at.timestamp(), end) for accession, at in accepted.items() if accession not in known}
    begun = {accession: min(max(there.get(accession, at), at), end) for accession, at in new.items()}
    return [Delay(begun[accession] - at, end - begun[accession]) for accession, at in new.items()]


def _known(before: Path, accessions: Sequence[str]) -> set[str]:
    """The given filings that a build has."""
    with open_read_only(before) as connection:
        return {accession for (accession,) in connection.execute(KNOWN, [accessions]).fetchall()}
