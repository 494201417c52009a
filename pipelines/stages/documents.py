"""The documents of the companies: tables `listings`, `documents` and `doubts`, and the raw zone.

Belongs here: choosing the companies of a synchronization, and recording the state of their documents. Does not:
fetching (edgar.fetch.extract), the format of a document (edgar.decode.documents), its facts (facts).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from difflib import get_close_matches

import polars as pl

from pipelines.edgar.decode import listing_checks
from pipelines.edgar.decode.documents import decode_tickers
from pipelines.edgar.fetch.extract import CompanyDocuments, Extracted, fetch_documents, fetch_tickers
from pipelines.edgar.fetch.raw_store import RawStore
from pipelines.edgar.source.source import Source
from pipelines.errors import PipelineError
from pipelines.normalize.listings import classified
from pipelines.normalize.periods.successions import chains
from pipelines.progress import report
from pipelines.stages.batch.schemas import DOCUMENTS, LISTINGS
from pipelines.storage.lake import Lake


class UnknownSymbolError(PipelineError):
    """A symbol that is not in the SEC's list."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The scope of a synchronization: given symbols or all companies, and whether to process everything again."""

    symbols: tuple[str, ...] = ()
    full: bool = False


def update_listings(source: Source, store: RawStore, lake: Lake, now: datetime) -> pl.DataFrame:
    """Bring table `listings` up to date; a symbol that leaves the SEC's list stays in the table, marked as not listed.

    A listing whose row is malformed now is kept in the place of this row. Table `doubts` has the malformed rows, and
    the changes that a check has to confirm before the list is published.

    Raises:
        SourceError: the list cannot be fetched.
        DocumentError: the document is not a list of companies, or has no readable row.
    """
    document = fetch_tickers(source, store, now)
    rows, malformed = decode_tickers(store.get(str(document.digest)))
    listed_now = pl.DataFrame(
        [(row.cik, row.symbol, row.name, row.exchange) for row in rows],
        schema=dict.fromkeys(("cik", "symbol", "name", "exchange"), pl.String),
        orient="row",
    )
    before = lake.read("listings") if lake.holds("listings") else pl.DataFrame(schema=LISTINGS)
    known = (
        lake.read(listing_checks.TABLE)
        if lake.holds(listing_checks.TABLE)
        else pl.DataFrame(schema=listing_checks.DOUBTS)
    )
    found = listing_checks.found(listed_now, before.filter("is_listed"), known, now, malformed)
    if not found.equals(known) or not lake.holds(listing_checks.TABLE):
        lake.write(listing_checks.TABLE, found)
    position = pl.int_range(pl.len(), dtype=pl.Int32).alias("position")
    listed_now = listed_now.with_columns(position)
    kept = listing_checks.kept(malformed, before.filter("is_listed"), listed_now)
    listed = classified(
        pl.concat([kept.select(listed_now.columns), listed_now])  # a malformed row comes before the next readable one
        .sort("position", maintain_order=True)
        .unique("symbol", keep="first", maintain_order=True)
        .with_columns(position, is_listed=pl.lit(value=True))
    ).select(LISTINGS.names())
    gone = before.join(listed, on="symbol", how="anti").with_columns(is_listed=pl.lit(value=False))
    listed = pl.concat([listed, gone.select(LISTINGS.names())])
    if not listed.equals(before):
        lake.write("listings", listed)
    return listed


def companies_asked(listings: pl.DataFrame, asked: Selection) -> list[str]:
    """The companies to synchronize, in the order of the list.

    Raises:
        UnknownSymbolError: a symbol is not in the list.
    """
    listed = listings.filter("is_listed")
    company_of = dict(listed.select("symbol", "cik").iter_rows())
    unknown = [symbol for symbol in asked.symbols if symbol not in company_of]
    if unknown:
        close = get_close_matches(unknown[0], company_of, n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise UnknownSymbolError(
            f"no such symbol in the SEC's list of {len(company_of)}: {', '.join(unknown)}{hint} "
            "(classes are written with a dash: BRK-B)"
        )
    ciks = [company_of[symbol] for symbol in asked.symbols] or listed["cik"].to_list()
    return list(dict.fromkeys(ciks))


def with_predecessors(ciks: Sequence[str], listings: pl.DataFrame) -> list[str]:
    """The companies and their possible predecessors, because the documents of both are needed."""
    earlier = chains(ciks, listings.filter("is_listed")["cik"])
    return list(dict.fromkeys([*ciks, *(cik for chain in earlier.values() for cik in chain)]))


def update_documents(
    source: Source,
    store: RawStore,
    lake: Lake,
    ciks: Sequence[str],
    now: datetime,
    absence_lasts: timedelta | None = None,
    ask: Collection[str] | None = None,
) -> tuple[pl.DataFrame, Extracted]:
    """Bring the raw zone and table `documents` up to date; the table has the state of each company's documents.

    Args:
        absence_lasts: how long a 404 is not requested again; None: the default of the source.
        ask: the companies to request; None: all.

    Returns:
        the table, and the results of the requests.

    Raises:
        SourceError: the source refuses, or fails for several companies in a row.
    """

    def tell(done: int, total: int, _: CompanyDocuments) -> None:
        report("documents", done, total)

    extracted = fetch_documents(source, store, ciks, now, progress=tell, absence_lasts=absence_lasts, ask=ask)
    before = {row[0]: row for row in lake.read("documents").iter_rows()} if lake.holds("documents") else {}
    rows = []
    for company in extracted.companies:
        held_submissions = before[company.cik][3] if company.cik in before else None
        held = company.submissions.digest if company.submissions else None
        submissions = " ".join((held, *company.pages)) if held else None
        asked_and_answered = not company.failure and company.facts.change != "skipped"
        at = now if asked_and_answered else before[company.cik][5] if company.cik in before else None
        rows.append(
            (
                company.cik,
                company.facts.change,
                company.facts.digest,
                submissions or held_submissions,
                company.failure or None,
                at,
            )
        )
    changed = pl.DataFrame(rows, schema=DOCUMENTS, orient="row")
    lake.replace_companies("documents", [changed], dict.fromkeys(ciks, ""))
    return lake.read("documents"), extracted


def note_read(lake: Lake, ciks: Collection[str], now: datetime) -> None:
    """Record in table `documents` that companies are up to date although their documents were not requested."""
    if ciks:
        rows = lake.of_companies("documents", ciks).with_columns(
            synchronized_at=pl.lit(now, DOCUMENTS["synchronized_at"])
        )
        lake.replace_companies("documents", [rows], dict.fromkeys(ciks, ""))
