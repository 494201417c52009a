"""Unread reports of a build: reports that the SEC lists, while no source that is read has their facts.

Belongs here: finding the unread reports of a company. Does not: when a report is unread
(pipelines.normalize.facts.unread), words.
"""

import msgspec

from warehouse.contract.fictional import address
from warehouse.read.reader import OpenBuild


class UnreadReport(msgspec.Struct, frozen=True):
    """An unread report: its number, form, day of filing and address."""

    accession: str
    form: str
    filed: str
    url: str | None


def unread_reports(build: OpenBuild, cik: str) -> list[UnreadReport]:
    """The unread reports of a company, the newest first; empty for builds without the column that marks them."""
    if "in_companyfacts" not in build.columns["filings"]:
        return []
    found = build.rows(
        f"SELECT accession, form, CAST(filed AS VARCHAR), {address('filings')} FROM filings WHERE cik = $cik "
        "AND NOT in_companyfacts AND share_basis IS NULL ORDER BY filed DESC, accession",
        {"cik": cik},
    )
    return [UnreadReport(*row) for row in found]
