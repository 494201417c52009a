"""Publications that are killed, and readers while builds are published."""

import itertools
import multiprocessing
import multiprocessing.connection
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests import builds
from tests.published import builds_and_links, names, opened, same_rows
from warehouse.build import publish
from warehouse.build.verify import is_whole
from warehouse.read.reader import Warehouse

PROCESSES = multiprocessing.get_context("forkserver")
"""Processes that begin with the imports of one: nineteen times they would take longer than the publications."""
PROCESSES.set_forkserver_preload([__name__])


def publish_until(
    reached: multiprocessing.connection.Connection, published: Path, made: str, step: str, nth: int
) -> None:
    """Publish, say when a step begins for the nth time, and wait there."""
    owner = {"write": publish.copies, "link": publish.copies, "replace": Path, "hardlink_to": Path}.get(step, publish)
    real, calls = getattr(owner, step), itertools.count(1)

    def interrupted(*given: Any, **named: Any) -> Any:
        if next(calls) == nth:
            reached.send(step)
            signal.pause()
        return real(*given, **named)

    setattr(owner, step, interrupted)
    getattr(builds, made)(published, "b2", sync_id="s2")


@pytest.fixture
def published(tmp_path: Path) -> Path:
    return tmp_path / "published"


@pytest.mark.parametrize(
    ("made", "step", "nth", "left"),
    [
        ("publish_small", "_insert", 2, "b1"),  # half of the tables are in the file
        ("publish_small", "verify", 1, "b1"),
        ("publish_small", "write", 1, "b1"),  # the file is verified, the copies are not written
        ("publish_small", "replace", 2, "b1"),  # the copies have their final name, the file does not
        ("publish_small", "sync", 1, "b1"),  # both have their final names, the pointer is unchanged
        ("publish_small", "_write", 2, "b1"),  # the times are written
        ("publish_small", "_link", 1, "b2"),  # the pointer is changed, the links are not
        ("publish_small", "_link", 2, "b2"),
        ("publish_small", "_clear", 3, "b2"),  # all but the removal of old files is done
        ("publish_overlaid", "replace", 1, "b1"),  # the copy of the base is written, not named
        ("publish_overlaid", "replace", 2, "b1"),  # the overlay is next to the copy of the base
        ("publish_overlaid", "hardlink_to", 1, "b1"),  # the overlay is there without its file
        ("publish_overlaid", "link", 1, "b1"),
        ("publish_overlaid", "replace", 4, "b1"),  # the overlay has its final name, nothing else has
        ("publish_overlaid", "replace", 5, "b1"),
        ("publish_overlaid", "_digests", 1, "b1"),  # all have their final names
        ("publish_overlaid", "_link", 1, "b2"),
        ("publish_overlaid", "_link", 2, "b2"),  # the link to the file is changed, that to the overlay is not
        ("publish_overlaid", "_clear", 3, "b2"),
    ],
)
def test_killed_at_any_step_the_old_or_the_new_build_is_pointed_to(
    published: Path, made: str, step: str, nth: int, left: str
) -> None:
    """The next publication needs no manual repair; the same holds for a build with an overlay."""
    builds.small(published)
    here, there = PROCESSES.Pipe(duplex=False)
    process = PROCESSES.Process(target=publish_until, args=(there, published, made, step, nth))
    process.start()
    there.close()  # only the process can send, so that its end is noticed
    assert here.recv() == step
    process.kill()
    process.join()
    assert publish.current(published).build == left  # type: ignore[union-attr]
    with opened(published) as build:
        assert build.memory.company("LNTR")
        assert build.updated_at("9990000001") == builds.UPDATED["9990000001"]
    same = same_rows(published / "warehouse.duckdb", published / "parquet")
    assert {name for name in same if not same[name]} <= (
        {"filings"} if made == "publish_overlaid" else set()
    )  # wherever the links point

    builds.small(published, "b3", sync_id="s3")
    times = {f"synchronized-{left.replace('b', 's')}.json", "synchronized-s3.json"}
    overlays = {"warehouse-b2.duckdb.wal"} if (made, left) == ("publish_overlaid", "b2") else set()
    assert names(published) == builds_and_links(left, "b3") | times | overlays
    if overlays:
        builds.publish_overlaid(published, "b4", sync_id="s4")
    assert is_whole(published, publish.current(published))  # type: ignore[arg-type]


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_ten_publications_under_readers(published: Path) -> None:
    """Every response is from one build, no reader sees an error, no file stays open; each build has other rows."""
    publications = 10
    one, other = published.parent / "one" / "published", published.parent / "other" / "published"
    fewer = builds.tables()
    fewer["financials"].pop()
    both = [(one, builds.small(one)), (other, builds.publish_small(other, rows=fewer))]
    builds.small(published, "b0")
    warehouse = Warehouse(published)
    done = threading.Event()
    seen: set[str] = set()

    def read() -> None:
        while not done.wait(0.01):
            with warehouse.build() as build:
                counts = [build.rows("SELECT count(*) FROM financials")[0][0] for _ in range(3)]
                assert counts == [build.pointer.rows["financials"]] * 3
                seen.add(build.pointer.build)

    with warehouse.build() as build:
        build.rows("SELECT count(*) FROM financials")
    open_before = descriptors()
    with ThreadPoolExecutor(2) as readers:
        reading = [readers.submit(read) for _ in range(2)]
        try:
            for number in range(1, publications + 1):
                folder, build = both[number % 2]
                copied = builds.copy(folder, build, published, f"b{number}")
                builds.point(published, copied, sync_id=f"s{number}")
        finally:
            done.set()
    assert [each.result() for each in reading] == [None, None]
    with warehouse.build() as build:
        assert build.pointer.build == f"b{publications}"
    assert descriptors() <= open_before
    assert len(seen) > 1
    warehouse.close()
