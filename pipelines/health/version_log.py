"""Checks the version log: its segments are unchanged since they were written; restores them from the published build.

Belongs here: finding damage, and choosing the build with the rows. Does not: reading and writing segments
(storage.version_log), converting rows of a build to a segment (restoring).
"""

from collections.abc import Iterator, Sequence
from functools import partial

from pipelines.health.restoring import NotInBuild, restored
from pipelines.storage import checksums, version_log
from pipelines.storage.home import Home
from warehouse.build.pointer import current
from warehouse.build.publish import readable
from warehouse.build.verify import is_whole
from warehouse.contract.findings import DAMAGE, WELL, Finding
from warehouse.errors import WarehouseError

FROM_BACKUP = "restore the log from a backup with `fundamentals restore`"


def check(home: Home) -> Iterator[Finding]:
    """Check the list of the segments, and each segment."""
    path = home.log / version_log.COMMITTED
    pointer = readable(home.published)
    pointed = pointer.log if pointer else ()
    if not pointed and not path.exists():
        yield Finding("version log", WELL, "empty")
        return
    is_listed = not checksums.damaged(home.log, [path])
    try:
        segments = version_log.listed(home.log, pointed) if is_listed else pointed
    except version_log.LogError:
        segments, is_listed = pointed, False
    if not is_listed:
        text = f"{path}, the list of the segments in their order, is damaged or missing"
        yield Finding("version log", DAMAGE, text, FROM_BACKUP, partial(_list, home) if pointed else None)
    damaged = [each.name for each in checksums.damaged(home.log, [home.log / name for name in segments])]
    if damaged:
        text = f"{len(damaged)} segments are damaged or missing, such as {home.log / damaged[0]}"
        yield Finding("version log", DAMAGE, text, FROM_BACKUP, partial(restore, home, segments, damaged))
    elif is_listed:
        yield Finding("version log", WELL, f"{len(segments):,} segments")


def _list(home: Home) -> str:
    """Write the list again from the pointer, which names all segments in their order, also after an older build was
    restored."""
    pointer = current(home.published)
    version_log.remember(home.log, pointer.log if pointer else ())
    return f"wrote {home.log / version_log.COMMITTED} again, from the pointer"


def restore(home: Home, segments: Sequence[str], damaged: Sequence[str]) -> str:
    """Write damaged segments again from the published build, if the log then has the same versions as the build.

    Returns:
        a message about the restored segments, or the reason why nothing was restored.
    """
    try:
        pointer = current(home.published)
        if pointer is None or not is_whole(home.published, pointer):
            return f"nothing: the published build is damaged too; {FROM_BACKUP}"
        rows = restored(home.log, home.published / pointer.file, segments, damaged)
    except (WarehouseError, NotInBuild, version_log.LogError) as error:
        return f"nothing: {error}; {FROM_BACKUP}"
    for name, versions in rows.items():
        version_log.write(home.log, version_log.sync_id_of(name), versions)
    count = sum(map(len, rows.values()))
    return f"restored {count:,} versions in {len(rows)} segments from build {pointer.build}"
