"""Checks the published builds: the pointer, the files that it names, and the time of the last synchronization.

Belongs here: comparing builds with their digests. Does not: writing a build (warehouse.build.publish).
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial

from pipelines.storage.home import Home
from warehouse.build import publish
from warehouse.build.pointer import POINTER, Pointer, current, description_of, kept, synchronized
from warehouse.build.verify import is_whole
from warehouse.contract.findings import DAMAGE, WARNING, WELL, Finding
from warehouse.errors import WarehouseError
from warehouse.record import dagster_record
from warehouse.record.schedule import expected_synchronization

AGAIN = (
    "run `fundamentals sync`, which publishes it again; until then the service serves the build before, if there is one"
)


def check(home: Home) -> Iterator[Finding]:
    """Check the current build, the build before, and the time of the last synchronization."""
    try:
        now = current(home.published)
        if now is None:
            yield Finding("builds", WARNING, "nothing is published", "run `fundamentals sync`")
            return
        synchronized(home.published, now)
    except WarehouseError as error:
        in_its_place = (home.published / POINTER).is_dir()
        advice = f"move the folder {POINTER} away, and {AGAIN}" if in_its_place else AGAIN
        yield Finding("builds", DAMAGE, str(error).partition(";")[0], advice)
        return
    if is_whole(home.published, now):
        yield Finding("builds", WELL, f"{now.build} is whole: {now.companies:,} companies")
    else:
        yield Finding("builds", DAMAGE, f"{now.build}, which is served, is damaged", AGAIN)
    if now not in kept(home.published):
        text = f"{POINTER} and {description_of(now.file)} differ: one of them was changed by hand or is damaged"
        yield Finding("builds", WARNING, text, "compare them; `fundamentals sync` writes both again, from the first")
    if now.previous:
        yield from _before(home, now)
    yield _last(home, now)


def _before(home: Home, now: Pointer) -> Iterator[Finding]:
    """Check the build before, which can be restored, and is served if the current build is damaged."""
    before = next((each for each in kept(home.published) if each.file == now.previous), None)
    if before and is_whole(home.published, before):
        yield Finding("builds", WELL, f"{before.build}, the build before, is whole")
        return
    text = f"{now.previous}, the build before, is damaged: there is no build to go back to"
    remove = partial(_prune, home) if is_whole(home.published, now) else None
    yield Finding("builds", WARNING, text, "`fundamentals builds prune` removes it", remove)


def _prune(home: Home) -> str:
    publish.prune(home.published)
    return "removed the build before"


def _last(home: Home, pointer: Pointer) -> Finding:
    """Report the time of the last synchronization, and of the next one, if the schedule is on and runs."""
    text = f"last synchronization {pointer.synchronization.finished_at}"
    due = expected_synchronization(home.root, pointer, datetime.now(UTC))
    if due:
        return Finding("schedule", WELL, f"{text}, next {due:%Y-%m-%dT%H:%M:%SZ}")
    if pointer.is_scheduled or dagster_record.is_scheduled(home.root):
        advice = "start Dagster (`make ui` or its service), which runs the schedule, and look at its last run"
        return Finding("schedule", WARNING, f"{text}, and the scheduled ones since did not run", advice)
    return Finding("schedule", WELL, f"{text}; the schedule is off")
