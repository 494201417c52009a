"""Histories of synchronizations: a home that follows simulated filers from one filing date to the next.

Belongs here: running the stages with the documents that EDGAR would have had on a day, and reading the resulting log.
Does not: any property (the tests), the drawn filers (tests.strategies).
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

import httpx
import polars as pl

from pipelines.edgar.decode.documents import FactColumns, decode_facts, decode_submissions
from pipelines.edgar.fetch.raw_store import RawStore
from pipelines.edgar.source.client import EdgarClient
from pipelines.edgar.source.source import Source
from pipelines.normalize.elements import wanted_elements
from pipelines.normalize.facts.raw import RAW_SCHEMA
from pipelines.normalize.facts.reports import ACCEPTED
from pipelines.normalize.history.log import VERSION_OF
from pipelines.normalize.history.versions import numbered
from pipelines.normalize.pipeline import Standardized, standardize
from pipelines.sample import Company, Filer, SampleTransport, Served, TruthRow, simulate
from pipelines.stages import documents, facts, values, versions
from pipelines.stages.batch.schemas import VERSIONS
from pipelines.stages.documents import Selection
from pipelines.storage import version_log
from pipelines.storage.lake import Lake
from pipelines.tables import build_tables, stored
from warehouse.contract.line_items import ITEM_NAMES

FIRST_SYNCHRONIZATION = datetime(2026, 1, 5, 6, tzinfo=UTC)
COMPARED = [*VERSION_OF, "value", "accession", "form", "filed", "cause", "method", "flags", "legs"]
"""The columns of a version on its filings; the others are on when, and by which rules, it was recorded."""


def listed(filer: Filer) -> bool:
    """Whether EDGAR has facts of a filer."""
    return Served.FACTS in filer.served


@lru_cache(maxsize=256)
def simulated(filer: Filer) -> Company:
    """The filings of a filer, simulated once and cached: the same filer gives the same company."""
    return simulate(filer)


@lru_cache(maxsize=256)
def truth(filer: Filer, day: date | None = None) -> list[TruthRow]:
    """The true values of a filer, in all or as of a day."""
    return simulated(filer).truth(day)


def decoded(companies: Iterable[Company], days: Iterable[date | None]) -> pl.DataFrame:
    """The facts of some companies' documents, each of its day, as the decoder returns them."""
    columns = FactColumns()
    for company, day in zip(companies, days, strict=True):
        document = json.dumps(company.companyfacts(day)).encode()
        columns.extend(decode_facts(document, company.filer.cik, wanted_elements()).columns)
    return pl.DataFrame(columns.as_dict(), schema_overrides=RAW_SCHEMA).select(RAW_SCHEMA.names())


def acceptances(companies: Iterable[Company]) -> pl.DataFrame:
    """When EDGAR accepted each filing of some companies, as far as the submissions state it."""
    rows = [
        (company.filer.cik, filing.accession, filing.accepted_at)
        for company in companies
        if Served.SUBMISSIONS in company.filer.served
        for filing in decode_submissions(json.dumps(company.submissions()).encode(), company.filer.cik).filings
        if filing.accepted_at
    ]
    frame = pl.DataFrame(rows, schema={**ACCEPTED, "accepted_at": pl.String}, orient="row")
    return frame.with_columns(pl.col("accepted_at").str.to_datetime(time_unit="us", time_zone="UTC"))


def replayed(*filers: Filer, filed_by: date | Sequence[date] | None = None) -> Standardized:
    """The result for the filings of these filers: all, or the filings until a day, which may differ by filer."""
    days = filed_by if isinstance(filed_by, Sequence) else [filed_by] * len(filers)
    told = [(simulated(filer), day) for filer, day in zip(filers, days, strict=True) if listed(filer)]
    companies = [company for company, _ in told]
    return standardize(decoded(companies, [day for _, day in told]), acceptances(companies))


def current(found: Standardized) -> pl.DataFrame:
    """The values after the newest filing: VERSION_OF, `value` and their provenance."""
    return numbered(found.versions).filter("is_current")


@dataclass
class Follower:
    """A home that synchronizes with simulated filers, each time with the documents of a day."""

    folder: Path
    filers: Sequence[Filer]
    segments: tuple[str, ...] = ()
    synchronizations: int = 0
    edit: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    lake: Lake = field(init=False)

    def __post_init__(self) -> None:
        self.lake = Lake(self.folder / "tables")

    @property
    def log(self) -> Path:
        return self.folder / "log"

    @property
    def now(self) -> datetime:
        return FIRST_SYNCHRONIZATION + timedelta(days=self.synchronizations)

    @staticmethod
    def first_time() -> datetime:
        """The time of the first synchronization of every home."""
        return FIRST_SYNCHRONIZATION

    def synchronize(
        self,
        filed_by: date | None = None,
        *,
        symbols: Sequence[str] = (),
        full: bool = False,
        killed: bool = False,
    ) -> pl.DataFrame:
        """Synchronize with the documents of a day, and return all versions.

        Args:
            filed_by: the day; default: the whole history.
            symbols: the requested symbols; default: all.
            full: process everything again, even if unchanged.
            killed: stop before the pointer is written: the tables and the segment exist, but are not committed.
        """
        self.synchronizations += 1
        store = RawStore(self.folder)
        with self._source(filed_by) as source:
            listings = documents.update_listings(source, store, self.lake, self.now)
            ciks = documents.companies_asked(listings, Selection(tuple(symbols)))
            documents.update_documents(source, store, self.lake, ciks, self.now)
        again = ciks if full else []
        facts.update(store, self.lake, again)
        values.update(self.lake, again)
        sync_id = f"{self.now:%Y%m%dT%H%M%S%fZ}"
        segments = versions.update(self.lake, self.log, self.segments, sync_id, self.now)
        if not killed:
            self.segments = segments
        return self.versions()

    def accept(self) -> None:
        """Accept the documents of all companies in quarantine, as the operator does."""
        self.lake.write("accepted", self.lake.read("quarantine").select("cik", "raw_document"))

    def versions(self) -> pl.DataFrame:
        """All versions after the newest synchronization."""
        return self.lake.read(VERSIONS)

    def recorded(self) -> pl.DataFrame:
        """The committed log on disk, in the order of recording, with values as they were recorded."""
        return version_log.read(self.log, self.segments)

    def appended(self) -> int:
        """The number of versions that the newest synchronization appended."""
        return self.versions().filter(pl.col("recorded_at") == self.now).height

    def served(self) -> pl.DataFrame:
        """Table `financials`, one row per value."""
        syncs = build_tables.synchronization("s", self.now.isoformat(), "sample", {}, None)
        assert build_tables.assemble_companies(self.lake) == []
        build_tables.assemble_others(self.lake, syncs)
        financials = self.lake.read(stored.assembled("financials")).filter("is_primary")
        items = [name for name in financials.columns if name in ITEM_NAMES]
        index = ["cik", "period_kind", "period_end"]
        return financials.unpivot(items, index=index, variable_name="item").drop_nulls("value")

    def _source(self, filed_by: date | None) -> Source:
        transport: httpx.BaseTransport = SampleTransport(self.filers, filed_by=filed_by, simulated=simulated)
        if self.edit:
            transport = Edited(transport, self.edit)
        return Source("sample", "sample", EdgarClient(transport, user_agent=None, pace=None, attempts=1))


class Edited(httpx.BaseTransport):
    """A transport that changes the companyfacts of another transport."""

    def __init__(self, inner: httpx.BaseTransport, edit: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        self._inner, self._edit = inner, edit

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The response of the inner transport with changed facts."""
        request.headers.pop("If-None-Match", None)  # the tag of the inner transport does not depend on the edit
        response = self._inner.handle_request(request)
        if response.status_code != 200 or "companyfacts" not in str(request.url):
            return response
        document = self._edit(json.loads(response.read()))
        return httpx.Response(200, content=json.dumps(document).encode(), request=request)


def told(versions: pl.DataFrame) -> list[tuple[Any, ...]]:
    """The columns of versions on their filings, in order."""
    return versions.select(COMPARED).rows()
