"""Builds with an overlay: the rows of companies that changed, in addition to a base that stays as it is."""

import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests import builds
from tests.published import names
from warehouse.build import overlay, publish
from warehouse.build.digest import digests_of
from warehouse.build.opening import open_read_only
from warehouse.build.pointer import overlay_of
from warehouse.build.verify import is_whole
from warehouse.contract import views
from warehouse.read import reader
from warehouse.read.memory import Memory
from warehouse.read.reader import FALLEN_BACK, Warehouse
from warehouse.read.reading import read_in_process


@pytest.fixture
def published(tmp_path: Path) -> Path:
    return tmp_path / "published"


@pytest.fixture
def _small_builds_get_overlays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overlay, "MIN_FILE_SIZE", 0)


overlaid = pytest.mark.usefixtures("_small_builds_get_overlays")


def told_by(file: Path) -> list[list[Any]]:
    """All rows, comments and macros in the file of a build."""
    statements = [
        *(f'FROM "{table.name}" ORDER BY ALL' for table in views.PUBLISHED),
        "SELECT column_name, comment FROM duckdb_columns() WHERE NOT internal ORDER BY ALL",
        "SELECT function_name, parameters FROM duckdb_functions() WHERE NOT internal ORDER BY ALL",
    ]
    with open_read_only(file) as connection:
        return [connection.execute(statement).fetchall() for statement in statements]


def build_of(warehouse: Warehouse) -> tuple[str, str | None]:
    """The build that a reader has, and the reason if it is not the newest."""
    with warehouse.build() as build:
        return build.pointer.build, warehouse.reason


@overlaid
def test_a_build_with_an_overlay_has_the_rows_of_one_with_all_rows_written(published: Path, tmp_path: Path) -> None:
    """Also a build with the same base as the build before; the file and the copies are the base's."""
    for build_id, revenue in (("b2", 4321.0), ("b3", 5432.1)):
        made, rows = builds.renewed(published, build_id, revenue)
        builds.point(published, made)
        whole = builds.publish_small(tmp_path / build_id / "published", build_id, rows)
        assert (made.base, whole.base) == ("b1", build_id)
        assert (made.content_hash, made.rows, made.sums) == (whole.content_hash, whole.rows, whole.sums)
        assert told_by(published / made.file) == told_by(tmp_path / build_id / "published" / whole.file)
    pointer = publish.current(published)
    assert pointer is not None
    assert pointer.base_at <= pointer.published_at
    assert {**digests_of(published, pointer.file)} == pointer.digests
    assert is_whole(published, pointer)
    for path in ("warehouse-{}.duckdb", "parquet-{}/financials.parquet"):
        assert (published / path.format("b2")).samefile(published / path.format("b3"))
    assert stat.S_IMODE((published / "warehouse-b3.duckdb.wal").stat().st_mode) == 0o400


@overlaid
def test_the_links_lead_to_the_newest_rows(published: Path) -> None:
    """A build with all rows has no overlay, and no overlay of the build before stays next to it; after a rollback
    there is one.
    """

    def revenue() -> float:
        with duckdb.connect(published / "warehouse.duckdb", read_only=True) as connection:
            newest = "SELECT max(revenue) FROM financials WHERE revenue IN (4321, 5432)"
            return float(connection.execute(newest).fetchall()[0][0])

    builds.point(published, builds.renewed(published)[0])
    assert revenue() == 4321
    made, rows = builds.renewed(published, "b3", 5432.0)
    builds.point(published, made)
    assert revenue() == 5432
    builds.publish_small(published, "b4", rows)
    assert revenue() == 5432
    held = {"warehouse-b3.duckdb.wal", "warehouse-b4.duckdb", "warehouse.duckdb.wal"} & names(published)
    assert held == {"warehouse-b3.duckdb.wal", "warehouse-b4.duckdb"}
    publish.rollback(published)
    assert (published / "warehouse.duckdb.wal").readlink() == Path("warehouse-b3.duckdb.wal")
    assert revenue() == 5432
    assert not [name for name in names(published) if "b2" in name]


@overlaid
def test_readers_keep_their_rows_while_an_overlay_is_written(published: Path) -> None:
    """Also readers in other processes, which have locked the file."""
    builds.small(published)
    reads = "import duckdb, sys; c = duckdb.connect(sys.argv[1], read_only=True); print(flush=True); sys.stdin.read(1)"
    reads += "; print(c.execute('SELECT max(revenue) FROM financials WHERE revenue = 4321').fetchall())"
    command = [sys.executable, "-c", reads, str(published / "warehouse-b1.duckdb")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reader:
        assert reader.stdout
        reader.stdout.readline()
        made, _ = builds.renewed(published)
        said, _ = reader.communicate("x")
    assert (made.base, said.strip()) == ("b1", "[(None,)]")


@overlaid
def test_an_overlay_of_many_rows_leaves_the_base_as_it_is(published: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are written in several transactions: in one, DuckDB would write some of them into the file itself."""
    monkeypatch.setattr(overlay, "ROWS", 5)
    builds.small(published)
    before = (published / "warehouse-b1.duckdb").read_bytes()
    assert builds.renewed(published)[0].base == "b1"
    assert (published / "warehouse-b1.duckdb").read_bytes() == before


@overlaid
def test_an_overlay_has_only_the_rows_that_differ(published: Path) -> None:
    """Also of tables that are made as a whole, such as the table of filings."""
    builds.small(published)
    builds.publish_overlaid(published)
    content = (published / "warehouse-b2.duckdb.wal").read_bytes()
    [changed, *others] = [row["accession"].encode() for row in builds.tables()["filings"]]
    assert changed in content
    assert [each for each in others if each in content] == []


@overlaid
def test_a_base_into_which_rows_were_written_is_given_up(published: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overlay, "NO_CHECKPOINT", "1B")
    assert builds.renewed(published)[0].base == "b2"
    assert not list(published.glob(".base-*"))


@overlaid
@pytest.mark.parametrize(
    "changed",
    [
        {"base_at": "2020-01-01T00:00:00Z"},
        {"base_at": "2100-01-01T00:00:00Z"},
        {"base_at": ""},
        {"sums": {}},
        {"file": "damaged.duckdb"},
        {"file": "wrong.duckdb"},
    ],
    ids=str,
)
def test_all_rows_are_written(published: Path, tmp_path: Path, changed: dict[str, Any]) -> None:
    """The base is of yesterday, of a clock that was ahead, or of an earlier release, damaged, or has another value of a
    company that is not replaced: the number or the sums of the rows show it."""
    builds.small(published)
    (published / "damaged.duckdb").write_bytes(b"no database")
    if changed == {"file": "wrong.duckdb"}:
        rows = builds.tables()
        del rows["financials"][-1]
        other = builds.publish_small(tmp_path / "other" / "published", "b1", rows)
        (published / "wrong.duckdb").write_bytes((tmp_path / "other" / "published" / other.file).read_bytes())
    assert builds.renewed(published, **changed)[0].base == "b2"
    assert not (published / "warehouse-b2.duckdb.wal").exists()


@pytest.mark.parametrize(("name", "value"), [("MIN_FILE_SIZE", 1 << 40), ("MAX_OVERLAY_SIZE", 0), ("MAX_COMPANIES", 0)])
def test_all_rows_are_written_of_a_small_build_after_a_large_overlay_or_if_many_companies_differ(
    published: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: int
) -> None:
    monkeypatch.setattr(overlay, "MIN_FILE_SIZE", 0)
    monkeypatch.setattr(overlay, name, value)
    assert builds.renewed(published)[0].base == "b2"


@pytest.mark.parametrize("damaged", [lambda whole: whole[:-1], lambda whole: bytes([whole[0] ^ 1]) + whole[1:], None])
def test_a_damaged_overlay_is_noticed(published: Path, damaged: Callable[[bytes], bytes] | None) -> None:
    """DuckDB opens the build without the rows of such an overlay. A reader that has the build open keeps it."""
    builds.small(published)
    builds.publish_overlaid(published, sync_id="s2")
    with closing(Warehouse(published)) as opened, closing(Warehouse(published)) as starting:
        assert build_of(opened) == ("b2", None)
        path, pointer = published / "warehouse-b2.duckdb.wal", publish.current(published)
        whole = path.read_bytes()
        path.unlink()
        if damaged:
            path.write_bytes(damaged(whole))
        assert pointer
        assert not is_whole(published, pointer)
        assert [build_of(each) for each in (starting, opened)] == [("b1", FALLEN_BACK), ("b2", None)]
        publish.record(published, synchronization=builds.SYNCHRONIZATION | {"sync_id": "s3"}, updated={})
        assert build_of(opened) == ("b2", FALLEN_BACK)
        builds.small(published, "b3", sync_id="s4")
        assert [build_of(each) for each in (starting, opened)] == [("b3", None)] * 2


def test_an_overlay_that_is_not_of_the_build_is_noticed(published: Path) -> None:
    """DuckDB would answer with its rows."""
    builds.small(published)
    builds.publish_overlaid(published, sync_id="s2")
    publish.rollback(published)
    (published / "warehouse-b1.duckdb.wal").hardlink_to(published / "warehouse-b2.duckdb.wal")
    with closing(Warehouse(published)) as warehouse:
        assert build_of(warehouse) == ("b2", FALLEN_BACK)


@overlaid
def test_rows_that_were_read_from_an_overlay_while_it_was_damaged_are_not_served(
    published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The build before is served."""
    monkeypatch.setattr(reader, "AT_ONCE", 0)
    builds.small(published)
    builds.publish_overlaid(published, sync_id="s2")

    def read(file: Path, *, is_urgent: bool) -> Memory:
        Path(overlay_of(str(file))).unlink(missing_ok=True)
        return read_in_process(file, is_urgent=is_urgent)

    with closing(Warehouse(published, read)) as warehouse:
        assert build_of(warehouse) == ("b1", FALLEN_BACK)
