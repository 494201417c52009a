"""The resource that all assets share: the running synchronization with its home and its source.

Belongs here: the run configuration, locking the home during the run, and recording its result.
Does not: the work of the run (assets, stages).
"""

import os
import re
import time
from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
from pydantic import PrivateAttr

from pipelines.edgar.raw_store import RawStore
from pipelines.edgar.sources import Source, open_source
from pipelines.home import Home
from pipelines.lake import Lake
from pipelines.run_history import held_back_by
from pipelines.stages import Asked
from pipelines.tables import FOOTERS, published_before
from pipelines.workers import Workers, started
from warehouse import runs
from warehouse.pointer import Pointer

LAUNCHED_BY, COMMAND = "fundamentals/launched_by", "command"
"""The tag of a run of the command `fundamentals sync`."""
LONGEST_TAG = 63
UNFIT = re.compile(r"[^A-Za-z0-9_.-]")


def tags_of(source: str, symbols: str) -> dict[str, str]:
    """The tags of a run, by which the UI filters runs: its source, and its symbols if it is for some only."""
    given = {"fundamentals/source": Path(source).name, "fundamentals/symbols": symbols.replace(",", ".").upper()}
    return {name: UNFIT.sub("_", value)[:LONGEST_TAG].strip("._-") for name, value in given.items() if value}


class Synchronization(dg.ConfigurableResource):  # type: ignore[type-arg]
    """One synchronization: its configuration, and the folders of its data.

    It locks the home from the first asset to the last, so that no other synchronization writes at the same time.
    """

    source: str = "sample"
    symbols: str = ""
    full: bool = False

    _is_command: bool = PrivateAttr(default=True)
    _result: str = PrivateAttr(default=runs.FAILED)
    _started_at: datetime = PrivateAttr()
    _workers: Workers = PrivateAttr()
    _before: Future[Pointer | None] = PrivateAttr()

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Generator["Synchronization", None, None]:
        """Prepare and lock the home. The synchronization has the time of this call.

        The command is told at once who holds the home; a run that Dagster launched waits for it.
        """
        home = self.home
        home.prepare()
        run, wait = context.run, None
        self._is_command = not run or run.tags.get(LAUNCHED_BY) == COMMAND
        if run and context.instance and context.log and not self._is_command:
            context.instance.add_run_tags(run.run_id, tags_of(self.source, self.symbols))
            wait = context.log.info
        processes = os.environ.get("FUNDAMENTALS_PROCESSES", "")
        with home.writing(wait), started(processes) as workers, ThreadPoolExecutor(1) as looking:
            self._started_at = datetime.now(UTC)
            self._workers = workers
            self._before = looking.submit(published_before, self.home.published)
            self._result, began = runs.FAILED, time.monotonic()
            try:
                yield self
            finally:
                with suppress(Exception):  # a full disk, say, must not hide why the synchronization failed
                    if self._result == runs.FAILED and _is_held_back(context):
                        self._result = runs.HELD_BACK
                    self._record(time.monotonic() - began)

    def _record(self, seconds: float) -> None:
        """Add this synchronization to the record beside the builds."""
        lake = self.lake
        quarantined = lake.read("quarantine")["cik"].n_unique() if lake.holds("quarantine") else None
        failed = lake.read("documents")["failure"].count() if lake.holds("documents") else None
        runs.note(self.home.published, self._result, datetime.now(UTC), seconds, quarantined, failed)

    def ended(self, result: str) -> None:
        """Note the result of the synchronization, one of warehouse.runs.RESULTS; without it, it failed."""
        self._result = result

    @property
    def is_command(self) -> bool:
        """Whether `fundamentals sync` runs this, not Dagster."""
        return self._is_command

    @property
    def home(self) -> Home:
        """The home that FUNDAMENTALS_HOME names."""
        return Home.from_environment()

    @property
    def lake(self) -> Lake:
        """The tables between the stages."""
        return Lake(self.home.tables, FOOTERS)

    @property
    def store(self) -> RawStore:
        """The raw zone."""
        return RawStore(self.home.root)

    @property
    def workers(self) -> Workers:
        """The processes that share the work."""
        return self._workers

    @property
    def before(self) -> Pointer | None:
        """The pointer to the build that was published before; None if there was none, or a damaged one.

        Its files are read in a thread from the start of the run, because nothing needs the result before the tables.
        """
        return self._before.result()

    @property
    def started_at(self) -> datetime:
        """When this synchronization began, in UTC; everything that it records has this time."""
        return self._started_at

    @property
    def sync_id(self) -> str:
        """The id of the synchronization and of the build that it publishes."""
        return f"{self._started_at:%Y%m%dT%H%M%S%fZ}"

    @property
    def asked(self) -> Asked:
        """The requested symbols, in upper case, and whether to process everything again."""
        symbols = (symbol.strip().upper() for symbol in self.symbols.split(","))
        return Asked(tuple(symbol for symbol in symbols if symbol), self.full)

    @property
    def confirms_shrink(self) -> bool:
        """Whether FUNDAMENTALS_CONFIRM_SHRINK confirms a list of companies that a check doubts."""
        return os.environ.get("FUNDAMENTALS_CONFIRM_SHRINK", "") == "yes"

    def open(self) -> Source:
        """Open the source, and claim the home for its kind of data.

        Raises:
            SourceError: the source cannot be opened.
            HomeError: the home holds the other kind of data.
        """
        source = open_source(
            self.source,
            user_agent=os.environ.get("EDGAR_USER_AGENT"),
            base_url=os.environ.get("EDGAR_BASE_URL"),
        )
        self.home.claim(source.kind)
        return source


def _is_held_back(context: dg.InitResourceContext) -> bool:
    """Whether a check has held back publishing in the run."""
    return bool(context.run and context.instance and held_back_by(context.instance, context.run.run_id))
