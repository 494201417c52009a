"""The command `fundamentals follow`: synchronizes companies minutes after they filed, until it is stopped.

Belongs here: the loop, and its output on the terminal. Does not: choosing companies (run.newest_filings), synchronizing
(recorder).
"""

import os
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from pipelines.dagster_app.recorder import run_recorded
from pipelines.edgar.decode.newest import NewFiling
from pipelines.edgar.errors import RefusedError
from pipelines.edgar.source.source import Source
from pipelines.errors import PipelineError
from pipelines.run import stopping
from pipelines.run.filing_queue import Queue
from pipelines.run.heartbeat import HeartbeatWriter, figures
from pipelines.run.newest_filings import CLOCKS, EVERY, MOST_SYNCHRONIZED, Covered, exclusive_access, to_synchronize
from pipelines.run.steps import MALFORMED_ROWS
from pipelines.run.stopping import ends_soon_after_signal
from pipelines.sources import open_source
from pipelines.stages.documents import UnknownSymbolError
from pipelines.storage.home import Home
from warehouse.errors import WarehouseError
from warehouse.record.schedule import next_synchronization

STOPPED = "fundamentals follow: stopped; the reports that wait are in the home"
AFTER_A_REFUSAL = timedelta(minutes=10)
"""The wait after a refusal: EDGAR refuses all requests until ten minutes after their rate has dropped."""
NICENESS = 10
"""The increase of the command's niceness, so that a service on the same machine has priority."""


def main(symbols: tuple[str, ...]) -> int:
    """Follow the SEC's newest filings until Ctrl-C; synchronize all companies at the start and each morning.

    Args:
        symbols: the companies to follow; empty: all listed companies.

    Returns:
        the exit status: 1 if the source cannot be opened; otherwise stopping.STATUS, after Ctrl-C or SIGTERM.
    """
    os.nice(NICENESS)
    home = Home.from_environment()
    try:
        with ends_soon_after_signal(lambda: STOPPED):
            _source().client.close()  # a wrong setting is reported at once
            home.prepare()
            heart = HeartbeatWriter(home)
            with heart.beating():
                _follow(home, symbols, heart)
    except (PipelineError, WarehouseError) as error:
        print(f"fundamentals follow: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(STOPPED, file=sys.stderr)
    return stopping.STATUS


def _follow(home: Home, symbols: tuple[str, ...], heart: HeartbeatWriter) -> None:
    """Synchronize all companies at the start and each morning, and companies with new filings in between; after an
    error, print it and continue."""
    all_at: datetime | None = None
    _tell(f"follows {', '.join(symbols) or 'all companies'} into {home.root}, until you press Ctrl-C")
    while True:
        began, now, pause = time.monotonic(), datetime.now(UTC), EVERY
        try:
            if _is_time_for_all(all_at, now):
                _tell(f"all companies: {_synchronized(home, symbols)}")
                all_at, pause = now, timedelta(0)  # the queue may have reports from an earlier process
            elif _update(home, symbols, now, heart) >= MOST_SYNCHRONIZED:
                pause = timedelta(0)  # more are due
        except UnknownSymbolError:
            raise
        except (PipelineError, WarehouseError, OSError) as error:  # the queue keeps reports that are not served
            _tell(str(error))
            pause = AFTER_A_REFUSAL if isinstance(error, RefusedError) else pause
        time.sleep(max(0.0, began + pause.total_seconds() - time.monotonic()))


def _is_time_for_all(last: datetime | None, now: datetime) -> bool:
    """Whether all companies have to be synchronized again; also if the clock was ahead at the last time."""
    return last is None or now < last - CLOCKS or now >= next_synchronization(last)


def _update(home: Home, symbols: tuple[str, ...], now: datetime, heart: HeartbeatWriter) -> int:
    """Synchronize the companies with a report that a source has now; return the number of these reports."""
    covered = Covered.of(home, symbols)
    with exclusive_access(home), _source() as source:
        filings = to_synchronize(home, source.client, covered, now, _tell)
    heart.give(figures(Queue.of(home.root), covered))
    if filings:
        done = _synchronized(home, sorted({covered.symbols[filing.cik] for filing in filings}), newest=True)
        _tell(f"{', '.join(_named(filing, covered.symbols) for filing in filings)}: {done}")
    return len(filings)


def _source() -> Source:
    return open_source("live", user_agent=os.environ.get("EDGAR_USER_AGENT"), base_url=os.environ.get("EDGAR_BASE_URL"))


def _named(filing: NewFiling, symbols: Mapping[str, str]) -> str:
    """Describe a report in words, with its age."""
    age = max(datetime.now(UTC) - filing.accepted_at, timedelta(0))  # EDGAR's clock may be ahead
    return f"{symbols[filing.cik]} {filing.form} {filing.accession}, {age.total_seconds() / 60:.1f} minutes old"


def _synchronized(home: Home, symbols: Sequence[str], *, newest: bool = False) -> str:
    """Synchronize the given companies, or all without symbols; return the result in words."""
    began = time.monotonic()
    outcome = run_recorded(home, "live", ",".join(symbols), newest=newest)
    if outcome.held_back_by:
        return f"nothing was published: {'; '.join(outcome.held_back_by)}"
    result = "published" if outcome.counts.get("published") else "no value is new"
    skipped = outcome.counts.get(MALFORMED_ROWS)
    more = f"; {skipped:,} rows of the SEC's list are malformed and were skipped" if skipped else ""
    return f"{result}, {time.monotonic() - began:.1f} seconds{more}"


def _tell(text: str) -> None:
    """Print a line with the time."""
    print(f"{datetime.now(UTC):%Y-%m-%d %H:%M:%SZ}  {text}", flush=True)
