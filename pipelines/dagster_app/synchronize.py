"""The command `fundamentals sync`: runs the steps in this process, shows its progress, and prints the result.

Belongs here: output on the terminal. Does not: any work (assets, stages).
"""

import errno
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.table import Table
from rich.text import Text

from pipelines.dagster_app.recorder import run_recorded
from pipelines.edgar.decode import listing_checks
from pipelines.errors import PipelineError
from pipelines.progress import progress_to
from pipelines.run.stopping import STATUS, ends_soon_after_signal, of_synchronization
from pipelines.stages.documents import Selection, companies_asked
from pipelines.storage.home import Home
from pipelines.storage.lake import Lake
from warehouse.build.publish import readable
from warehouse.errors import WarehouseError

OF_RUN = ("seen", "changed", "failed")
"""The names of counts of the companies that were requested."""

OF_HOME = {
    "with_documents": "companies with documents",
    "quarantined": "companies in quarantine",
    "covered": "companies covered",
    "symbols": "symbols covered",
    "values": "values of twelve months",
    "versions": "versions of twelve months",
}
"""The names of counts of all companies in the home, with their words."""
SOME_FAILED = 3
"""The exit status of a synchronization that published a build, but could not fetch all documents."""

FULL = (errno.ENOSPC, errno.EDQUOT)
FREE_SPACE = "free space on the disk, and synchronize again"
SHOWN_REASONS = 20
STEPS_SHOWN = 200
"""The largest number of updates of a progress bar: 8,000 updates take 0.1 seconds."""


def main(source: str, symbols: tuple[str, ...], full: bool) -> int:
    """Synchronize, publish a build, and print a short table.

    Args:
        source: `live`, `sample` or the path of a mirror directory.
        symbols: symbols of the companies to update; empty: all.
        full: process all companies again, even with unchanged inputs.

    Returns:
        the exit status: 0 after success, otherwise 1; SOME_FAILED after success without all documents; STATUS if it was
            stopped with Ctrl-C or SIGTERM.
    """
    began = time.monotonic()
    home = Home.from_environment()
    lake = Lake(home.tables)
    last_words = partial(of_synchronization, home.published, readable(home.published))
    try:
        with ends_soon_after_signal(last_words):
            home.prepare()
            with _progress_shown():
                outcome = run_recorded(home, source, ",".join(symbols), full=full)
            left_behind = _left_behind(lake, symbols)
    except (PipelineError, WarehouseError) as error:
        message = f"{error}; {FREE_SPACE}" if os.strerror(errno.ENOSPC) in str(error) else str(error)
        print(f"fundamentals sync: {message}", file=sys.stderr)
        return 1
    except OSError as error:
        advice = FREE_SPACE if error.errno in FULL else "check the disk and the permissions, and synchronize again"
        print(f"fundamentals sync: {home.root}: {error}; {advice}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(last_words(), file=sys.stderr)
        return STATUS
    if outcome.way:
        print(f"Documents: {outcome.way}")
    _show(outcome.counts, time.monotonic() - began, home)
    for line in _notices(outcome.counts, left_behind, listing_checks.skipped(lake.read(listing_checks.TABLE))):
        print(line, file=sys.stderr)
    if outcome.held_back_by:
        print(f"fundamentals sync: nothing was published: {'; '.join(outcome.held_back_by)}", file=sys.stderr)
        return 1
    if failed := outcome.counts.get("failed", 0):
        sys.stdout.flush()
        print(
            f"fundamentals sync: {failed:,} of {outcome.counts['seen']:,} companies failed and keep their previous "
            "values; synchronize again later",
            file=sys.stderr,
        )
        return SOME_FAILED
    return 1 if symbols and left_behind else 0


def _notices(
    counts: Mapping[str, int], left_behind: Sequence[tuple[str, str]], skipped: Sequence[str]
) -> Iterator[str]:
    """The messages about companies, rows of the list and pages that could not be read, although a build is
    published."""
    yield from (line for _, line in left_behind[:SHOWN_REASONS])
    if more := [cik for cik, _ in left_behind[SHOWN_REASONS:]]:
        yield f"quarantined or failed as well, with reasons in the home: CIK {', '.join(more)}"
    yield from (f"skipped: {reason}" for reason in skipped[:SHOWN_REASONS])
    if skipped:
        yield (
            f"fundamentals sync: {len(skipped):,} rows of the SEC's list are malformed and were skipped; what was "
            "listed before stays listed"
        )
    if unread := counts.get("unread_pages", 0):
        yield (
            f"fundamentals sync: {unread:,} pages of older filings could not be read, so some filings have no time of "
            "acceptance; the log of asset `documents` in the Dagster UI names them, and they are requested again the "
            "next time"
        )


def _left_behind(lake: Lake, symbols: tuple[str, ...]) -> list[tuple[str, str]]:
    """The requested companies that could not be brought up to date, with a line for each."""
    if not lake.holds("quarantine"):
        return []  # the first synchronization was held back before
    asked = set(companies_asked(lake.read("listings"), Selection(tuple(symbol.upper() for symbol in symbols))))
    quarantined = [
        (cik, f"quarantined: CIK {cik}: {place}: {reason}")
        for cik, reason, place in lake.read("quarantine").select("cik", "reason", "place").iter_rows()
    ]
    failed = [
        (cik, f"failed: CIK {cik}: {failure}")
        for cik, failure in lake.read("documents").select("cik", "failure").drop_nulls().iter_rows()
    ]
    found = [(cik, f"{line}; its previous values stay") for cik, line in quarantined + failed]
    return [each for each in found if not symbols or each[0] in asked]


def _is_file(stage: str) -> bool:
    """Whether the progress of a stage is counted in bytes: the download of a file."""
    return "." in stage


class _Amount(ProgressColumn):
    """A column with the number of finished and all companies, or bytes with their rate."""

    def render(self, task: Task) -> Text:
        if not _is_file(task.description):
            return MofNCompleteColumn().render(task)
        return Text(" ").join([DownloadColumn().render(task), TransferSpeedColumn().render(task)])


class _Times(ProgressColumn):
    """A column with the elapsed time; for a download, with the remaining time."""

    def render(self, task: Task) -> Text:
        return (TimeRemainingColumn() if _is_file(task.description) else TimeElapsedColumn()).render(task)


@contextmanager
def _progress_shown() -> Iterator[None]:
    """Show a progress bar for each stage on standard error."""
    columns = (TextColumn("{task.description:<16}"), BarColumn(), _Amount(), _Times())
    bars = Progress(*columns, console=Console(stderr=True))
    tasks: dict[str, TaskID] = {}

    def show(stage: str, done: int, total: int) -> None:
        if not tasks:
            bars.start()  # not earlier, because without a bar it would print an empty line above an error
        if stage not in tasks:
            tasks[stage] = bars.add_task(stage, total=total)
        if done == total or _is_file(stage) or done % max(1, total // STEPS_SHOWN) == 0:
            bars.update(tasks[stage], completed=done, total=total)  # the total may grow while batches are planned

    try:
        with progress_to(show):
            yield
    finally:
        if tasks:
            bars.stop()


def _build(counts: Mapping[str, int]) -> str:
    if counts.get("mended"):
        return "published again, because its files were damaged"
    return "published" if counts.get("published") else "unchanged"


def _show(counts: Mapping[str, int], seconds: float, home: Home) -> None:
    table = Table(show_header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_row("This synchronization", style="bold")
    for name in OF_RUN:
        table.add_row(name, f"{counts.get(name, 0):,}")
    table.add_row("seconds", f"{seconds:,.1f}", end_section=True)
    table.add_row("All companies", style="bold")
    for name, words in OF_HOME.items():
        table.add_row(words, f"{counts.get(name, 0):,}")
    table.add_row("build", _build(counts))
    Console().print(table)
    print(f"{home.published / 'warehouse.duckdb'}")
