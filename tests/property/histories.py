"""Histories of synchronizations: a home that follows simulated filers from one filing date to the next.

Belongs here: driving the stages with the documents that EDGAR would have had on a day, and looking at the log that they
leave. Does not: any property (the tests), or what filers are drawn from (tests.strategies).
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

from pipelines import log, stages, tables
from pipelines.edgar.client import EdgarClient
from pipelines.edgar.documents import FactColumns, decode_facts, decode_submissions
from pipelines.edgar.raw_store import RawStore
from pipelines.edgar.sample import Company, Filer, SampleTransport, Served, simulate
from pipelines.edgar.sources import Source
from pipelines.lake import Lake
from pipelines.normalize.elements import wanted_elements
from pipelines.normalize.facts.reports import RAW_SCHEMA
from pipelines.normalize.history.versions import VERSION_OF, numbered
from pipelines.normalize.pipeline import Standardized, standardize
from pipelines.stages import Asked
from warehouse.schema import ITEM_NAMES

FIRST_SYNCHRONIZATION = datetime(2026, 1, 5, 6, tzinfo=UTC)
TOLD = [*VERSION_OF, "value", "accession", "form", "filed", "cause", "method", "flags", "legs"]
"""What a version says of the filings; the rest of a row is when and by what rules it was recorded."""


def listed(filer: Filer) -> bool:
    """Whether EDGAR has facts of a filer."""
    return Served.FACTS in filer.served


@lru_cache(maxsize=64)
def simulated(filer: Filer) -> Company:
    """What a filer files: made once for all that ask, for the same filer gives the same company."""
    return simulate(filer)


def decoded(companies: Iterable[Company], days: Iterable[date | None]) -> pl.DataFrame:
    """The facts of some companies' documents, each of its day, as the decoder gives them."""
    columns = FactColumns()
    for company, day in zip(companies, days, strict=True):
        document = json.dumps(company.companyfacts(day)).encode()
        columns.extend(decode_facts(document, company.filer.cik, wanted_elements()).columns)
    return pl.DataFrame(columns.as_dict(), schema_overrides=RAW_SCHEMA).select(RAW_SCHEMA.names())


def acceptances(companies: Iterable[Company]) -> pl.DataFrame:
    """When EDGAR accepted each filing of some companies, where the submissions tell."""
    rows = [
        (filing.accession, filing.accepted_at)
        for company in companies
        if Served.SUBMISSIONS in company.filer.served
        for filing in decode_submissions(json.dumps(company.submissions()).encode(), company.filer.cik).filings
        if filing.accepted_at
    ]
    frame = pl.DataFrame(rows, schema={"accession": pl.String, "accepted_at": pl.String}, orient="row")
    return frame.with_columns(pl.col("accepted_at").str.to_datetime(time_unit="us", time_zone="UTC"))


def replayed(*filers: Filer, filed_by: date | Sequence[date] | None = None) -> Standardized:
    """What the filings of some filers lead to: all, or those filed by a day, which may be another of each filer."""
    days = filed_by if isinstance(filed_by, Sequence) else [filed_by] * len(filers)
    told = [(simulated(filer), day) for filer, day in zip(filers, days, strict=True) if listed(filer)]
    companies = [company for company, _ in told]
    return standardize(decoded(companies, [day for _, day in told]), acceptances(companies))


def current(found: Standardized) -> pl.DataFrame:
    """The values that stand after the newest filing: VERSION_OF, `value` and where they come from."""
    return numbered(found.versions).filter("is_current")


@dataclass
class Follower:
    """A home that synchronizes with simulated filers: each time with what was filed by a day."""

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
        """When the first synchronization of any home is."""
        return FIRST_SYNCHRONIZATION

    def synchronize(
        self,
        filed_by: date | None = None,
        *,
        symbols: Sequence[str] = (),
        full: bool = False,
        killed: bool = False,
    ) -> pl.DataFrame:
        """Synchronize with what was filed by a day, and return all versions.

        Args:
            filed_by: the day; the whole history where left out.
            symbols: those asked for; all where left out.
            full: do everything again though nothing is new.
            killed: before the pointer was moved: the tables and the segment are there, and nothing commits them.
        """
        self.synchronizations += 1
        store = RawStore(self.folder)
        with self._source(filed_by) as source:
            listings = stages.update_listings(source, store, self.lake, self.now)
            ciks = stages.companies_asked(listings, Asked(tuple(symbols)))
            stages.update_documents(source, store, self.lake, ciks, self.now)
        again = ciks if full else []
        stages.update_facts(store, self.lake, again)
        stages.update_values(self.lake, again)
        sync_id = f"{self.now:%Y%m%dT%H%M%S%fZ}"
        segments = stages.update_versions(self.lake, self.log, self.segments, sync_id, self.now)
        if not killed:
            self.segments = segments
        return self.versions()

    def versions(self) -> pl.DataFrame:
        """All versions, as the newest synchronization left them."""
        return self.lake.read(stages.VERSIONS)

    def recorded(self) -> pl.DataFrame:
        """The committed log as it lies on the disk, in the order of recording: values as they were recorded."""
        return log.read(self.log, self.segments)

    def appended(self) -> int:
        """How many versions the newest synchronization appended."""
        return self.versions().filter(pl.col("recorded_at") == self.now).height

    def served(self) -> pl.DataFrame:
        """Table `financials`, as rows of one value."""
        syncs = tables.synchronization("s", self.now.isoformat(), "sample", {}, None)
        financials = tables.assemble(self.lake, syncs)["financials"].filter("is_primary")
        items = [name for name in financials.columns if name in ITEM_NAMES]
        index = ["cik", "period_kind", "period_end"]
        return financials.unpivot(items, index=index, variable_name="item").drop_nulls("value")

    def _source(self, filed_by: date | None) -> Source:
        transport: httpx.BaseTransport = Remembering(self.filers, filed_by=filed_by)
        if self.edit:
            transport = Edited(transport, self.edit)
        return Source("sample", "sample", EdgarClient(transport, user_agent=None, pace=None, attempts=1))


class Remembering(SampleTransport):
    """A transport that simulates a company once for all synchronizations."""

    def _company(self, filer: Filer) -> Company:
        return simulated(filer)


class Edited(httpx.BaseTransport):
    """A transport whose companyfacts are changed on the way."""

    def __init__(self, inner: httpx.BaseTransport, edit: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        self._inner, self._edit = inner, edit

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The answer of the inner transport, facts edited."""
        response = self._inner.handle_request(request)
        if response.status_code != 200 or "companyfacts" not in str(request.url):
            return response
        document = self._edit(json.loads(response.read()))
        return httpx.Response(200, content=json.dumps(document).encode(), request=request)


def told(versions: pl.DataFrame) -> list[tuple[Any, ...]]:
    """What versions say of the filings, in order."""
    return versions.select(TOLD).rows()
