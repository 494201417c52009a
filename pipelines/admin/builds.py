"""The commands `fundamentals builds`: list the kept builds, restore the build before, or remove it.

Belongs here: output on the terminal, and locking the home. Does not: any change of the folder of builds (publish).

With a store, its builds are first checked out, and a change is committed to it, so that all replicas follow.
"""

from pipelines.errors import PipelineError
from pipelines.shared.shared_home import changing
from pipelines.storage.home import Home
from warehouse.build import publish
from warehouse.build.pointer import Pointer, current, kept
from warehouse.build.verify import is_whole


def main(action: str) -> str:
    """Run one action: `list`, `rollback` or `prune`.

    Returns:
        the message to print.

    Raises:
        PipelineError: nothing is published, or a synchronization is running.
        WarehouseError: a build is damaged or missing, or the store cannot be used.
    """
    home = Home.from_environment()
    with changing(home, f"builds {action}", _is_published, reads=action == "list"):
        now = current(home.published)
        if now is None:
            raise PipelineError(f"home {home.root}: nothing is published; run `fundamentals sync`")
        if action == "list":
            earlier = [each for each in kept(home.published) if each.file == now.previous]
            return "\n".join(_line(home, each, is_current=each is now) for each in [now, *earlier])
        changed = CHANGES[action](home.published)
    if action == "rollback":
        return f"build {changed.build} is current; the next synchronization publishes the newest data again"
    return f"only build {changed.build} is kept"


CHANGES = {"rollback": publish.rollback, "prune": publish.prune}


def _is_published(path: str) -> bool:
    return path.startswith("published/")


def _line(home: Home, pointer: Pointer, *, is_current: bool) -> str:
    state = "whole" if is_whole(home.published, pointer) else "damaged"
    return (
        f"{'*' if is_current else ' '} {pointer.build}  published {pointer.published_at}  {state}  "
        f"{pointer.companies:,} companies  newest filing {pointer.newest_filing}"
    )
