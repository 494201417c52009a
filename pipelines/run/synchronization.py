"""A synchronization: its request, the folders of its home, and the lock of the home while it runs.

Belongs here: the state that all steps share. Does not: the steps (steps), their order (plan), Dagster (resources).
"""

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import duckdb

from pipelines.edgar.fetch.raw_store import RawStore
from pipelines.edgar.source.source import Source
from pipelines.run.heartbeat import available
from pipelines.run.result import StepResult
from pipelines.settings import filings_wanted, store_patience
from pipelines.shared import cluster
from pipelines.shared.code_in_force import CodeError, in_force, require_no_newer, version
from pipelines.shared.lease import leased
from pipelines.shared.shared_home import WorkingCopy, commit_alone, of_home, taken_over
from pipelines.sources import SAMPLE, SAMPLE_NEXT_DAY, open_source
from pipelines.stages.documents import Selection
from pipelines.storage.home import Home
from pipelines.storage.lake import Lake
from pipelines.tables import stored
from pipelines.workers import ALONE, Workers, started
from warehouse.build import delays, runs
from warehouse.build.pointer import Pointer, current
from warehouse.build.publish import readable
from warehouse.build.verify import is_whole
from warehouse.errors import BuildUnreadable
from warehouse.record import dagster_record
from warehouse.shared import refusal
from warehouse.shared.store import Head, Store, StoreConflict, StoreError


class Log(Protocol):
    """The log of a synchronization: a logger, or the log of a Dagster run."""

    def info(self, msg: object) -> object:
        """Report finished work."""

    def warning(self, msg: object) -> object:
        """Report a problem that somebody should look at."""


RECORD = f"published/{runs.FILE}"
"""The record of runs: the only file that a failed run commits, so that replicas have its result."""


def published_before(published: Path) -> Pointer | None:
    """The pointer to the published build; None if nothing is published, or if the build is damaged and must be
    published again."""
    pointer = readable(published)
    return pointer if pointer and is_whole(published, pointer) else None


SYNC_ID = "%Y%m%dT%H%M%S%fZ"
"""The form of the id of a synchronization and of its build: the time when the synchronization began."""


def began(build: str) -> datetime | None:
    """The beginning of the synchronization that made a build; None if the id of the build is not a time."""
    with suppress(ValueError):
        return datetime.strptime(build, SYNC_ID).replace(tzinfo=UTC)
    return None


@contextmanager
def _refusals_noted(store: Store) -> Iterator[None]:
    """If the code of this machine may not write the store, record this in the store, for the metrics of all
    replicas."""
    try:
        yield
    except CodeError:
        with suppress(StoreError):
            store.put_note(refusal.OBJECT, refusal.encoded(refusal.Refusal(datetime.now(UTC), version())))
        raise


@dataclass
class Synchronization:
    """One synchronization with a source; it may write inside of `running`.

    Attributes:
        home: the home that it reads and writes.
        source: `live`, `sample`, `sample-next-day`, or the path of a mirror or of companyfacts.zip.
        symbols: symbols of the companies to update, separated by commas; empty: all.
        full: whether all companies are processed again, even with unchanged inputs.
        newest: whether it is for reports of the feed: their packages are read, and documents of the companies are
            requested only if they are known to name the reports.
        started_at: its beginning, in UTC; all its records have this time.
        workers: the processes that share the work.
        result: one of warehouse.build.runs.RESULTS; FAILED until a step changes it.
        copy: the working copy of the store in the home, while it runs; None without a store.
        first: the first build, published before the filings were fetched; None without a first build.
        held_back_by: the gates that hold back publishing, each with its description.
    """

    home: Home
    source: str = "sample"
    symbols: str = ""
    full: bool = False
    newest: bool = False
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    workers: Workers = ALONE
    result: str = runs.FAILED
    copy: WorkingCopy | None = None
    first: StepResult | None = None
    held_back_by: list[str] = field(default_factory=list)
    _looking: Future[Pointer | None] | None = None
    _began: float = 0.0
    _is_recorded: bool = False
    _is_shared: bool = False

    @contextmanager
    def running(self, wait: Callable[[str], object] | None = None) -> Iterator["Synchronization"]:
        """Prepare and lock the home until the `with` block ends; then record the result in the folder of builds.

        With a store, the lease on it is taken, and the state of the store is copied to the home.

        Args:
            wait: called with a message while another synchronization holds the home; None: do not wait.

        Raises:
            HomeError: the home cannot be written, or, without `wait`, another synchronization holds it.
            LeaseError: without `wait`, another synchronization holds the lease on the store.
            SettingError: FUNDAMENTALS_FILINGS has an invalid value.
            CodeError: the code or the rules are older than the version that last wrote the store or the home.
            StoreError: the store cannot be used.
        """
        filings_wanted()  # a wrong setting ends the run before it begins
        self.home.prepare()
        with ExitStack() as held:
            held.enter_context(self.home.writing(wait))
            place = cluster.address()
            self.copy = copy = of_home(self.home, patience=store_patience())
            if copy:
                copy.lease = held.enter_context(leased(copy.store, wait))
                head = copy.checkout()
                with _refusals_noted(copy.store):
                    copy.codes = in_force(head.codes if head else ())
            if pointer := readable(self.home.published):
                require_no_newer(pointer.release, self.home.root)
            if copy and place:
                self.workers = cluster.Cluster(place, copy, self._commit)
                held.callback(self.workers.end)
            else:
                self.workers = held.enter_context(started(os.environ.get("FUNDAMENTALS_PROCESSES", "")))
            looking = held.enter_context(ThreadPoolExecutor(1))
            self._begin()
            self.first = None
            self._looking = looking.submit(published_before, self.home.published)
            try:
                self.lake.tidy()
                yield self
            finally:
                with suppress(Exception):  # a full disk, say, must not hide why the synchronization failed
                    if self.result == runs.FAILED and self.held_back_by:
                        self.result = runs.HELD_BACK
                    self._record()
                    if self.copy and self.result == runs.HELD_BACK:  # the next run needs the doubts
                        self.copy.commit(f"{self.sync_id}, held back")
                    if self.copy and self.result == runs.FAILED:
                        commit_alone(self.home, self.copy.lease, f"{self.sync_id}, failed", RECORD)
                self.copy, self.workers = None, ALONE

    def _begin(self) -> None:
        self.started_at, self.result = datetime.now(UTC), runs.FAILED
        self._began, self._is_recorded, self._is_shared = time.monotonic(), False, False

    def begin_again(self) -> None:
        """Begin the build after the first build, with a new time, id and record."""
        self._begin()
        self._looking = Future()
        self._looking.set_result(readable(self.home.published))

    def use_first_build(self, first: StepResult) -> None:
        """Use the first build as the result, because no row has changed since; it is recorded already."""
        self.result = runs.PUBLISHED if first.counts["published"] else runs.UNCHANGED
        self._is_recorded = self._is_shared = True

    def record_and_commit(self, log: Log) -> None:
        """Record the run, and commit the state of the home to the store; without a store, only record the run.

        Nothing is done until the run has published a build or found no changes. After the first commit, only new
        changes are committed, and an error is only a warning, because readers have the build.

        Raises:
            StoreConflict: another run was committed meanwhile; the home now has its state.
            StoreError: the store cannot be written; its earlier state stays the current one.
        """
        if self.result == runs.FAILED:
            return
        self._record()
        if self.copy is None:
            return
        if not self._is_shared:
            self._share(self.copy, log)
            self._is_shared = True
            return
        try:
            if self.copy.differing():
                self._share(self.copy, log)
        except StoreError as error:
            log.warning(f"{error}; the build was committed before")

    def commit_what_is_fetched(self) -> None:
        """Commit the state of the home to the store during a step after the first build; without a store, do nothing.

        Raises:
            StoreConflict: another run was committed meanwhile; the home now has its state.
            StoreError: the store cannot be written; its earlier state stays the current one.
        """
        if self.copy and self._is_shared:
            self._commit()

    def _share(self, copy: WorkingCopy, log: Log) -> None:
        head = self._commit()
        log.info(f"committed to {copy.store.address}: {len(head.files):,} files")
        try:
            if self.result == runs.PUBLISHED and (removed := copy.remove_unnamed()):
                log.info(f"removed from {copy.store.address}: {removed:,} objects that nothing has named for a day")
        except StoreError as error:
            log.warning(f"{error}; objects that nothing names are removed after another synchronization")

    def _commit(self) -> Head:
        """Commit the state of the home; if another run was faster, copy its state to the home, and raise the
        conflict."""
        assert self.copy, "there is a store"
        try:
            return self.copy.commit(self.sync_id)
        except StoreConflict as conflict:
            raise taken_over(self.copy, conflict) from conflict

    def _record(self) -> None:
        """Add this synchronization to the record in the folder of builds, once."""
        if self._is_recorded:
            return
        self._is_recorded = True
        lake, seconds = self.lake, time.monotonic() - self._began
        quarantined = lake.read("quarantine")["cik"].n_unique() if lake.holds("quarantine") else None
        failed = lake.read("documents")["failure"].count() if lake.holds("documents") else None
        late = self._delays() if self.result == runs.PUBLISHED else []
        runs.note(self.home.published, self.result, datetime.now(UTC), seconds, quarantined, failed, late)

    def _delays(self) -> list[delays.Delay]:
        """The delays of the filings that the new build adds; empty in the first build of a home, or if a build cannot
        be read."""
        before = self.before
        with suppress(duckdb.Error, BuildUnreadable):
            now = current(self.home.published)
            if before and now:
                published_at = datetime.fromisoformat(now.published_at)
                filings = self.lake.read(stored.assembled("filings"), ["accession", "accepted_at", "share_basis"])
                at = filings["accepted_at"].dt.replace_time_zone("UTC")
                new = filings.with_columns(at).filter(at > published_at - delays.LATEST).drop_nulls()
                accepted = dict(zip(new["accession"], new["accepted_at"], strict=True))
                return delays.of(self.home.published / before.file, published_at, accepted, available(self.home))
        return []

    @property
    def lake(self) -> Lake:
        """The tables between the stages."""
        return Lake(self.home.tables)

    @property
    def store(self) -> RawStore:
        """The raw zone."""
        return RawStore(self.home.root)

    @property
    def before(self) -> Pointer | None:
        """The pointer to the build that was published before; None if nothing was published, or if the build is
        damaged.

        A thread reads its files from the start of the run, because the result is needed only for the tables.
        """
        return self._looking.result() if self._looking else published_before(self.home.published)

    @property
    def sync_id(self) -> str:
        """The id of the synchronization and of the build that it publishes."""
        return f"{self.started_at:{SYNC_ID}}"

    @property
    def asked(self) -> Selection:
        """The requested symbols, in upper case, and whether to process everything again."""
        symbols = (symbol.strip().upper() for symbol in self.symbols.split(","))
        return Selection(tuple(symbol for symbol in symbols if symbol), self.full)

    @property
    def source_name(self) -> str:
        """The name of the source without any path of this machine."""
        return {"live": "live", SAMPLE: "sample", SAMPLE_NEXT_DAY: "sample"}.get(self.source, "mirror")

    @property
    def is_scheduled(self) -> bool:
        """Whether Dagster's schedule, or another program such as a systemd timer, starts the daily synchronization."""
        return os.environ.get("FUNDAMENTALS_SCHEDULED", "") == "yes" or dagster_record.is_scheduled(self.home.root)

    @property
    def publishes_first(self) -> bool:
        """Whether a build is published before filings are fetched: for the SEC, whose filings may take hours, except
        for reports of the feed."""
        return self.source == "live" and not self.newest

    @property
    def confirms_shrink(self) -> bool:
        """Whether FUNDAMENTALS_CONFIRM_SHRINK confirms a doubtful list of companies."""
        return os.environ.get("FUNDAMENTALS_CONFIRM_SHRINK", "") == "yes"

    def _has_next_day(self) -> bool:
        """Whether the home has companies of the sample's next day; the sample then does not go back to the day
        before."""
        from pipelines.sample import has_next_day  # imported here, because no other source needs the simulator

        return self.lake.holds("listings") and has_next_day(self.lake.read("listings", ["cik"])["cik"])

    def open(self) -> Source:
        """Open the source, and mark the home with its kind of data.

        Raises:
            SourceError: the source cannot be opened.
            HomeError: the home holds the other kind of data.
        """
        source = open_source(
            SAMPLE_NEXT_DAY if self.source == SAMPLE and self._has_next_day() else self.source,
            user_agent=os.environ.get("EDGAR_USER_AGENT"),
            base_url=os.environ.get("EDGAR_BASE_URL"),
        )
        self.home.claim(source.kind)
        return source
