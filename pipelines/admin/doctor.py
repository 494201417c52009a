"""The command `fundamentals doctor`: examines a home, prints problems with advice, and makes safe repairs.

Belongs here: the list of checks, output on the terminal, locking the home for repairs. Does not: the checks (health,
serve.cli.health).

A synchronization may replace files during the examination. So a check that finds a problem is run twice.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from rich.console import Console
from rich.table import Table

from pipelines.errors import PipelineError
from pipelines.health import (
    builds,
    place,
    raw_zone,
    rules,
    run_record,
    several_machines,
    source,
    store,
    tables,
    version_log,
)
from pipelines.storage.home import LOCK, Home
from warehouse.build.publish import readable
from warehouse.contract.findings import DAMAGE, NAMES, WELL, Finding
from warehouse.errors import WarehouseError

Check = Callable[[], Iterable[Finding]]


def main(more: Sequence[tuple[str, Check]], *, source_name: str = "", quick: bool = False, repair: bool = False) -> int:
    """Examine the home that FUNDAMENTALS_HOME names, and print a table.

    Args:
        more: further checks, by the part that they examine.
        source_name: the source to check; empty: the source of the last synchronization, if it was live or the sample.
        quick: do not read documents and tables.
        repair: make safe repairs, and examine again.

    Returns:
        the exit status: 0 without problems, 1 with warnings, 2 with damage.

    Raises:
        PipelineError: a repair is not possible now, because a synchronization is running.
    """
    home = Home.from_environment()
    checks = [*_checks(home, source_name, quick=quick), *more]
    if repair and home.root.is_dir():
        (home.root / LOCK).touch()
        with home.writing():
            for line in _repaired(_all(checks)):
                print(line)
    found = _all(checks)
    _show(found)
    return max(finding.state for finding in found)


def _checks(home: Home, source_name: str, *, quick: bool) -> Iterator[tuple[str, Check]]:
    """The checks of the pipeline's data; if the home does not exist, only the first check."""
    yield "home", partial(place.folder, home)
    if not home.root.is_dir():
        return
    yield "permissions", partial(place.permissions, home)
    yield "disk", partial(place.disk, home)
    yield "clock", partial(place.clock, home)
    yield "raw zone", partial(raw_zone.check, home, quick=quick)
    yield "tables", partial(tables.check, home, quick=quick)
    yield "version log", partial(version_log.check, home)
    yield "builds", partial(builds.check, home)
    yield "rules", partial(rules.check, home, quick=quick)
    if store.is_used():
        yield "store", partial(store.check, home, quick=quick)
        yield "lease", partial(several_machines.check_lease, home)
    if os.environ.get("FUNDAMENTALS_CLUSTER"):
        yield "cluster", several_machines.check_cluster
    yield "run record", partial(run_record.check, home)
    yield "source", partial(source.check, home, source_name or _last_source(home))


def _all(checks: Iterable[tuple[str, Check]]) -> list[Finding]:
    """The findings of all checks."""
    return [finding for name, check in checks for finding in _examined(name, check)]


def _last_source(home: Home) -> str:
    pointer = readable(home.published)
    last = pointer.synchronization.source if pointer else ""
    return last if last in ("live", "sample") else ""


def _examined(name: str, check: Check) -> list[Finding]:
    """The findings of a check; a check with problems is run twice."""
    for _ in range(2):
        try:
            found = list(check())
        except (OSError, PipelineError, WarehouseError) as error:
            found = [Finding(name, DAMAGE, str(error), "check the disk and the permissions")]
        if all(finding.state == WELL for finding in found):
            break
    return found


def _repaired(found: Iterable[Finding]) -> Iterator[str]:
    """Repair in the order of the checks; yields lines about the repairs."""
    for finding in found:
        if finding.repair:
            try:
                yield f"{finding.part}: {finding.repair()}"
            except (OSError, PipelineError, WarehouseError) as error:
                yield f"{finding.part}: not repaired: {error}"


def _show(found: Sequence[Finding]) -> None:
    table = Table(title="Examination", title_justify="left")
    for name in ("part", "state", "found", "what to do"):
        table.add_column(name, overflow="fold")
    for finding in found:
        advice = finding.advice + ("; `fundamentals doctor --repair` does what is safe" if finding.repair else "")
        table.add_row(finding.part, NAMES[finding.state], finding.text, advice)
    Console().print(table, markup=False)
