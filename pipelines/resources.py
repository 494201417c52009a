"""What the assets share: the synchronization that is running, its home and its source.

Belongs here: the run configuration, and holding the home for as long as the run lasts.
Does not: what the run does (assets, stages).
"""

import os
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime

import dagster as dg
from pydantic import PrivateAttr

from pipelines.edgar.raw_store import RawStore
from pipelines.edgar.sources import Source, open_source
from pipelines.home import Home
from pipelines.lake import Lake
from pipelines.stages import Asked


class Synchronization(dg.ConfigurableResource):  # type: ignore[type-arg]
    """One synchronization: what was asked for, and where its data lies.

    It holds the home from its first asset to its last, so that no other synchronization writes beside it.
    """

    source: str = "sample"
    symbols: str = ""
    full: bool = False

    _started_at: datetime = PrivateAttr()

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Generator["Synchronization", None, None]:
        """Prepare and lock the home; the time of the synchronization is the time of this."""
        home = self.home
        home.prepare()
        with home.writing():
            self._started_at = datetime.now(UTC)
            yield self

    @property
    def home(self) -> Home:
        """The home that FUNDAMENTALS_HOME names."""
        return Home.from_environment()

    @property
    def lake(self) -> Lake:
        """The tables between the stages."""
        return Lake(self.home.tables)

    @property
    def store(self) -> RawStore:
        """The raw zone."""
        return RawStore(self.home.root)

    @property
    def started_at(self) -> datetime:
        """When this synchronization began, in UTC: the time of everything that it records."""
        return self._started_at

    @property
    def sync_id(self) -> str:
        """Identifies the synchronization, and the build that it publishes."""
        return f"{self._started_at:%Y%m%dT%H%M%S%fZ}"

    @property
    def asked(self) -> Asked:
        """The symbols asked for, in upper case, and whether to do everything again."""
        symbols = (symbol.strip().upper() for symbol in self.symbols.split(","))
        return Asked(tuple(symbol for symbol in symbols if symbol), self.full)

    def open(self) -> Source:
        """The source; the home is claimed for its kind of data.

        Raises:
            SourceError: it cannot be opened. HomeError: the home holds the other kind.
        """
        source = open_source(
            self.source,
            user_agent=os.environ.get("EDGAR_USER_AGENT"),
            base_url=os.environ.get("EDGAR_BASE_URL"),
        )
        self.home.claim(source.kind)
        return source
