"""The command `fundamentals sync`: runs the Dagster job in this process, shows its progress, tells what came of it.

Belongs here: the terminal. Does not: any work (assets, stages).
"""

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from pipelines.definitions import run_job
from pipelines.errors import PipelineError
from pipelines.home import Home
from pipelines.lake import Lake
from pipelines.progress import heard_by
from warehouse.errors import WarehouseError

TOLD = ("seen", "with_documents", "changed", "failed", "quarantined", "covered", "values", "versions")
SHOWN_REASONS = 20


def main(source: str, symbols: tuple[str, ...], full: bool) -> int:
    """Synchronize, publish a build, and print a short table.

    Args:
        source: `live`, `sample` or the path of a mirror directory.
        symbols: those to update; all where empty.
        full: do everything again though nothing is new.

    Returns:
        the exit status: 0 where the job did what was asked, 1 where it did not.
    """
    began = time.monotonic()
    home = Home.from_environment()
    try:
        home.prepare()
        with _progress_shown():
            outcome = run_job(home, source, ",".join(symbols), full=full)
    except (PipelineError, WarehouseError) as error:
        print(f"fundamentals sync: {error}", file=sys.stderr)
        return 1
    quarantine = Lake(home.tables).read("quarantine")
    _show(outcome.counts, time.monotonic() - began, home)
    for cik, reason, place, _ in quarantine.head(SHOWN_REASONS).iter_rows():
        print(f"quarantined: CIK {cik}: {place}: {reason}; its previous values stay", file=sys.stderr)
    if outcome.held_back_by:
        print(f"fundamentals sync: nothing was published: {'; '.join(outcome.held_back_by)}", file=sys.stderr)
        return 1
    return 1 if symbols and (quarantine.height or outcome.counts.get("failed")) else 0


@contextmanager
def _progress_shown() -> Iterator[None]:
    """A bar a stage on standard error, for as long as the stages work."""
    columns = (TextColumn("{task.description:<10}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bars:
        tasks: dict[str, TaskID] = {}

        def show(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done)

        with heard_by(show):
            yield


def _show(counts: Mapping[str, int], seconds: float, home: Home) -> None:
    table = Table(title="Synchronization", title_justify="left", show_header=False)
    table.add_column()
    table.add_column(justify="right")
    for name in TOLD:
        table.add_row(name.replace("_", " "), f"{counts.get(name, 0):,}")
    table.add_row("seconds", f"{seconds:,.1f}")
    table.add_row("build", "published" if counts.get("published") else "unchanged")
    Console().print(table)
    print(f"{home.published / 'warehouse.duckdb'}")
