"""The commands `fundamentals builds`: list the kept builds, go back to the one before, remove it.

Belongs here: output on the terminal, and locking the home. Does not: any change of the folder of builds (publish).

With a store, the home takes over its builds first, and a change is committed to it, so that all replicas follow.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime

from pipelines.errors import PipelineError
from pipelines.home import Home
from pipelines.lease import leading
from pipelines.working_copy import WorkingCopy, of_home, taken_over
from warehouse import publish
from warehouse.errors import WarehouseError
from warehouse.pointer import Pointer, current, kept
from warehouse.store import StoreConflict
from warehouse.verify import is_whole


def main(action: str) -> str:
    """Run one action: `list`, `rollback` or `prune`.

    Returns:
        what to print.

    Raises:
        PipelineError: nothing is published, or it cannot be done; one line.
    """
    home = Home.from_environment()
    try:
        with _taken_over(home, action) as copy:
            now = current(home.published)
            if now is None:
                raise PipelineError(f"home {home.root}: nothing is published; run `fundamentals sync`")
            if action == "list":
                earlier = [each for each in kept(home.published) if each.file == now.previous]
                return "\n".join(_line(home, each, is_current=each is now) for each in [now, *earlier])
            if copy:
                changed = CHANGES[action](home.published)
                _commit(copy, action)
            else:
                with home.writing():
                    changed = CHANGES[action](home.published)
    except WarehouseError as error:
        raise PipelineError(str(error)) from error
    if action == "rollback":
        return f"build {changed.build} is current; the next synchronization publishes the newest data again"
    return f"only build {changed.build} is kept"


CHANGES = {"rollback": publish.rollback, "prune": publish.prune}


@contextmanager
def _taken_over(home: Home, action: str) -> Iterator[WorkingCopy | None]:
    """With a store, its builds in the home, which is locked until the block ends; without one nothing is done.

    Who changes the builds holds the lease on the store.
    """
    copy = of_home(home)
    if copy is None:
        yield None
        return
    home.prepare()
    with home.writing(), nullcontext() if action == "list" else leading(copy.store) as copy.lease:
        copy.checkout(_is_published)
        yield copy


def _is_published(path: str) -> bool:
    return path.startswith("published/")


def _commit(copy: WorkingCopy, action: str) -> None:
    """Commit the builds to the store; if another run was faster, take over its builds.

    Nothing is committed to an empty store: HEAD would name builds only, and the next synchronization would remove the
    tables and the version log of this home, which it does not name. That synchronization stores all of the home.
    """
    if copy.held is None:
        return
    try:
        copy.commit(f"builds {action}, {datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", _is_published)
    except StoreConflict as conflict:
        raise taken_over(copy, conflict, _is_published) from conflict


def _line(home: Home, pointer: Pointer, *, is_current: bool) -> str:
    state = "whole" if is_whole(home.published, pointer) else "damaged"
    return (
        f"{'*' if is_current else ' '} {pointer.build}  published {pointer.published_at}  {state}  "
        f"{pointer.companies:,} companies  newest filing {pointer.newest_filing}"
    )
