"""Requests for data sets and packages, and the record of them: tables `data_sets` and `packages`.

Belongs here: recording results, in which order and how often, and deciding when a source counts as failed. Does not:
choosing filings (wanted_filings), addresses and files (edgar.fetch.filing_documents).

A document that is recorded and stored is not requested again. The absence of a package is recorded, too; after any
other failure, the next run requests the document again.
"""

import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import datetime, timedelta

import polars as pl

from pipelines.edgar.decode.data_set_list import Quarter
from pipelines.edgar.decode.filing_list import XbrlFiling
from pipelines.edgar.errors import SourceError
from pipelines.edgar.fetch.extract import CHECKPOINT_SECONDS, FAILURES_IN_A_ROW, LEAST_COMPANIES_WITH_DOCUMENTS
from pipelines.edgar.fetch.filing_documents import NOT_THERE, Document, FilingDocuments
from pipelines.edgar.fetch.raw_store import RawStore
from pipelines.edgar.source.source import Source
from pipelines.progress import report
from pipelines.stages.batch.schemas import DATA_SETS, PACKAGES, UNREAD_FILINGS
from pipelines.storage.lake import Lake

AT_A_TIME = 64
"""The number of filings that are requested before the budget is checked."""
NEW = timedelta(days=7)
"""The package may appear later than the filing: until a filing has this age, an absent package is requested again."""
COMMIT_SECONDS = 300.0
"""Seconds between two commits to a store: if the machine is lost, at most the requests of this time are lost."""
KEY = ["cik", "accession"]
Row = tuple[str | None, ...]
"""A row of table `packages`; the day of filing is text."""
Commit = Callable[[], object]


def nothing_to_commit() -> None:
    """Does nothing: without a store, no commit is needed."""


class Record:
    """The record of fetched documents, from earlier runs and this run.

    Args:
        store: the raw zone.
        lake: the tables.
        now: the time of the run.
        commit: commits the tables to the store.
        full: whether recorded documents are requested again; with `is_live`, stored packages are not, because the SEC
            never changes them.
        is_live: whether the source is the SEC.
    """

    def __init__(
        self, store: RawStore, lake: Lake, now: datetime, commit: Commit, *, full: bool, is_live: bool
    ) -> None:
        self.store, self._lake, self._full, self._is_live = store, lake, full, is_live
        self._commit, self._commit_at = commit, time.monotonic() + COMMIT_SECONDS
        self.data_sets, self.packages = _read(lake, "data_sets", DATA_SETS), _read(lake, "packages", PACKAGES)
        self._is_stored = pl.col("digest").is_in(_stored(store, lake, self)).fill_null(value=False)
        self._is_absent = (pl.col("failure") == NOT_THERE).fill_null(value=False)
        self._is_old = pl.col("filed") < (now - NEW).date()

    def without_settled(self, quarters: Sequence[Quarter]) -> list[Quarter]:
        """The quarters that still have to be requested."""
        settled = set() if self._full else {*self.data_sets.filter(self._is_stored)["name"]}
        return [quarter for quarter in quarters if quarter.name not in settled]

    @property
    def settled(self) -> pl.DataFrame:
        """`cik`, `accession`: the filings that are not requested again."""
        if self._full and not self._is_live:
            return self.packages.select(KEY).clear()
        is_settled = self._is_stored if self._full else self._is_stored | (self._is_absent & self._is_old)
        return self.packages.filter(is_settled.all().over(KEY)).select(KEY).unique()

    def add_data_set(self, quarter: Quarter, found: Document) -> None:
        """Record a data set. If the request failed, an earlier stored data set of the quarter is kept."""
        is_same = pl.col("name") == quarter.name
        if found.failure and self.data_sets.filter(is_same, self._is_stored).height:
            return
        row = (quarter.name, quarter.address, found.digest, found.failure)
        new = pl.DataFrame([row], schema=DATA_SETS, orient="row")
        self.data_sets = pl.concat([self.data_sets.filter(~is_same), new]).sort("name", descending=True)
        self.store.name_documents()
        self._lake.write("data_sets", self.data_sets)

    def add_packages(self, rows: Sequence[Row]) -> None:
        """Record the files of packages; they replace earlier records of these filings."""
        if not rows:
            return
        new = pl.DataFrame(rows, schema=PACKAGES.to_python() | {"filed": str}, orient="row")
        new = new.with_columns(pl.col("filed").str.to_date("%Y-%m-%d"))
        kept = self.packages.join(new, on=KEY, how="anti")
        self.packages = pl.concat([kept, new]).sort("filed", *KEY, "file", descending=[True, False, False, False])
        self.store.name_documents()
        self._lake.write("packages", self.packages)

    def checkpoint(self) -> None:
        """Commit the record if COMMIT_SECONDS have passed since the last commit."""
        if time.monotonic() >= self._commit_at:
            self._commit()
            self._commit_at = time.monotonic() + COMMIT_SECONDS


class Requests:
    """The requests of one run; `failures` names the documents that could not be fetched, with reasons."""

    def __init__(self, source: Source, record: Record) -> None:
        self._source, self._record = source, record
        self._documents = FilingDocuments(source, record.store, report)
        self._in_a_row = 0
        self.failures: list[str] = []

    def data_sets(self, quarters: Sequence[Quarter]) -> None:
        """Fetch data sets; each is recorded before the next one is requested.

        Raises:
            SourceError: the source refuses, or fails several times in a row.
            PipelineError: the raw zone or a table cannot be read or written.
        """
        for number, quarter in enumerate(quarters):
            report("data sets", number, len(quarters))
            found = self._documents.data_set(quarter)
            self._record.add_data_set(quarter, found)
            self._record.checkpoint()
            self._note(f"data set {quarter.name}", [found])
        report("data sets", len(quarters), len(quarters))

    def packages(self, filings: Sequence[XbrlFiling], budget: int = sys.maxsize) -> None:
        """Fetch packages until the budget of requests is used; they are recorded every half minute.

        Raises:
            SourceError: the source refuses, fails several times in a row, or has no package for many filings.
            PipelineError: the raw zone or a table cannot be read or written.
        """
        rows: list[Row] = []
        checkpoint_at, used = time.monotonic() + CHECKPOINT_SECONDS, 0
        try:
            with closing(self._in_order(filings)) as answers:
                for first in range(0, len(filings), AT_A_TIME):
                    used += self._take(filings[first : first + AT_A_TIME], answers, rows)
                    report("packages", min(first + AT_A_TIME, len(filings)), len(filings))
                    if used >= budget:
                        break
                    if time.monotonic() >= checkpoint_at:
                        self._record.add_packages(rows)
                        rows, checkpoint_at = [], time.monotonic() + CHECKPOINT_SECONDS
                        self._record.checkpoint()
        finally:
            self._record.add_packages(rows)

    def _take(
        self,
        filings: Sequence[XbrlFiling],
        answers: Iterator[tuple[list[Document], int]],
        rows: list[Row],
    ) -> int:
        """Add the rows of the next filings, and return the number of their requests.

        If the SEC answers 404 for all of many filings, the source counts as failed, and these answers are not recorded.
        """
        requests, absent = 0, list[Row]()
        for filing, (found, asked) in zip(filings, answers, strict=False):
            requests += asked
            new = [(filing.cik, filing.accession, filing.form, filing.filed, *document) for document in found]
            (absent if all(document.failure == NOT_THERE for document in found) else rows).extend(new)
            self._note(f"filing {filing.accession} of CIK {filing.cik}", found)
        if self._source.name == "live" and len(absent) == len(filings) >= LEAST_COMPANIES_WITH_DOCUMENTS:
            raise SourceError(f"the source answers 404 for all of {len(filings)} filings; check EDGAR_BASE_URL")
        rows += absent
        return requests

    def _note(self, what: str, found: Sequence[Document]) -> None:
        """Note a failure, and raise SourceError after several in a row."""
        failed = [document for document in found if document.can_pass]
        self._in_a_row = self._in_a_row + 1 if failed else 0
        if failed:
            self.failures.append(f"{what}: {failed[0].failure}")
        if self._in_a_row == FAILURES_IN_A_ROW:
            raise SourceError(f"{self.failures[-1]}; {self._in_a_row} in a row failed, so the source counts as failed")

    def _in_order(self, filings: Sequence[XbrlFiling]) -> Generator[tuple[list[Document], int]]:
        """Request several packages in parallel, and yield the results in order.

        After an error, or when the caller stops reading, no further requests start, and requests in progress are ended.
        """
        if self._source.threads == 1:
            yield from map(self._documents.package, filings)
            return
        pool = ThreadPoolExecutor(self._source.threads, thread_name_prefix="edgar")
        try:
            for first in range(0, len(filings), AT_A_TIME):
                yield from pool.map(self._documents.package, filings[first : first + AT_A_TIME])
        except BaseException:
            self._source.client.stop()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        pool.shutdown()


def _stored(store: RawStore, lake: Lake, record: Record) -> list[str]:
    """The digests of stored documents; with a store, of all recorded documents except those that could not be read from
    it."""
    if not store.remote:
        return [path.name.partition(".")[0] for path in store.filing_files()]
    lost = _read(lake, "unread_filings", UNREAD_FILINGS).filter(pl.col("digest") == "")
    data_sets = record.data_sets.join(lost, on="name", how="anti")["digest"]
    packages = record.packages.join(lost, on=KEY, how="anti")["digest"]
    return [*data_sets.drop_nulls(), *packages.drop_nulls()]


def _read(lake: Lake, name: str, schema: pl.Schema) -> pl.DataFrame:
    """A table, or an empty one."""
    return lake.read(name) if lake.holds(name) else pl.DataFrame(schema=schema)
