"""Reads the documents of a share, and makes their rows.

Belongs here: handling unreadable documents, and keeping earlier rows together with new ones. Does not: choosing
documents (statements), the formats (edgar), the columns (filed_rows).
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import polars as pl

from pipelines.edgar.decode.data_sets import companies_of, read_data_set
from pipelines.edgar.errors import CorruptError, DocumentError
from pipelines.edgar.fetch.raw_store import Documents
from pipelines.edgar.filing.package import Package, open_package, read_package
from pipelines.stages.batch import schemas
from pipelines.stages.batch.batches import joined
from pipelines.stages.batch.isolation import OF_THE_MACHINE, described
from pipelines.stages.filed import filed_rows
from pipelines.stages.filed.filed_digests import Tables
from pipelines.stages.filed.shares import (
    DECODED,
    Filing,
    Notes,
    Share,
    Unread,
    code_of_data_sets,
    of_quarter,
    wanted_companies,
)
from pipelines.storage.lake import Lake

Decoded = TypeVar("Decoded")


def work(home: Path, lake: Lake, share: Share) -> tuple[Tables, Notes]:
    """The rows of a share, and the documents that cannot be read."""
    store = Documents(home)
    of_filings = [digest for each in share.filings.values() for filing in each for digest in filing.files.values()]
    store.bring_filings([share.digest] if share.quarter else of_filings)
    return _work_on_quarter(store, lake, share) if share.quarter else _work_on_filings(store, lake, share)


def _work_on_quarter(store: Documents, lake: Lake, share: Share) -> tuple[Tables, Notes]:
    wanted = wanted_companies(lake)

    def decoded() -> tuple[Tables, list[str]]:
        raw = store.get(share.digest)
        companies = companies_of(raw, share.quarter)
        data = read_data_set(raw, share.quarter, wanted.intersection(companies))
        rows = filed_rows.of_data_set(data)
        return {of_quarter(name, share.quarter): frame for name, frame in rows.items()}, companies

    found, reason, tried = _read(decoded, joined(share.digest, code_of_data_sets()))
    return (found[0], ([], found[1])) if found else ({}, ([(share.quarter, None, None, reason, tried)], []))


def _work_on_filings(store: Documents, lake: Lake, share: Share) -> tuple[Tables, Notes]:
    """The rows of the companies in a share: new rows of the filings that are read now, and the earlier rows of their
    other filings."""
    packages: list[Package] = []
    unread: list[Unread] = []
    tried: list[tuple[str, str, str]] = []
    for cik, filings in share.filings.items():
        for filing in filings:
            read, reason, digest = _read(partial(_package, store, cik, filing), filing.digest)
            if read:
                packages.append(read)
            else:
                unread.append((None, filing.accession, cik, reason, digest))
            if read or digest:
                tried.append((cik, filing.accession, filing.digest))
    rows = filed_rows.of_packages(packages)
    rows[DECODED] = pl.DataFrame(tried, schema=schemas.DECODED_FILINGS, orient="row")
    planned = [filing.accession for filings in share.filings.values() for filing in filings]
    replaced = {DECODED: planned}
    for name, frame in rows.items():
        if lake.holds(name) and share.filings:
            accessions = replaced.get(name, [package.accession for package in packages])
            held = lake.of_companies(name, share.filings, ~pl.col("accession").is_in(accessions))
            rows[name] = pl.concat([held, frame]) if held.schema == frame.schema else frame
    return rows, (unread, [])


def _package(store: Documents, cik: str, filing: Filing) -> Package:
    """Read a filing from its zip file and its single files."""
    contents: dict[str, bytes] = {}
    for name, digest in filing.files.items():
        raw = store.get(digest)
        if name.lower().endswith(".zip"):
            contents |= open_package(raw, f"filing {filing.accession} of CIK {cik}, {name}")
        else:
            contents[name] = raw
    return read_package(contents, cik, filing.accession)


def _read(decode: Callable[[], Decoded], tried: str) -> tuple[Decoded | None, str, str]:
    """Decode a document; if it cannot be read, return the reason and the digest `tried`.

    The digest is empty if the raw zone is damaged; then the document is read again by the next run. An error of the
    machine ends the run.
    """
    try:
        return decode(), "", ""
    except (Exception, pl.exceptions.PanicException) as error:
        if isinstance(error, CorruptError):
            return None, str(error), ""
        if isinstance(error, DocumentError):
            return None, str(error), tried
        if isinstance(error, OF_THE_MACHINE):
            raise
        return None, described(error), tried
