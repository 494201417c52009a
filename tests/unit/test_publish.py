"""Publishing: the content of a build and of its copies, the pointer, and refused builds."""

import hashlib
import json
import os
import random
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from tests import builds
from tests.published import builds_and_links, names, same_rows
from warehouse.build import copies, publish
from warehouse.build.opening import open_read_only
from warehouse.build.pointer import synchronized
from warehouse.build.rows import Rows
from warehouse.build.verify import Sums, is_whole, verify
from warehouse.contract import definitions, schema, views
from warehouse.contract.table import Column, Table
from warehouse.errors import BuildUnreadable

ROOT = Path(__file__).parents[2]


@pytest.fixture
def published(tmp_path: Path) -> Path:
    return tmp_path / "published"


@pytest.fixture
def filed(tmp_path: Path) -> dict[str, Rows]:
    """The files of the tables of the small build, which is not published yet."""
    return builds.write(tmp_path / "tables", builds.tables())


def stored(file: Path, sql: str) -> list[tuple[Any, ...]]:
    with open_read_only(file) as connection:
        return connection.execute(sql).fetchall()


def test_a_build_holds_the_rows_of_the_parquet_files_by_column_name_sorted(published: Path) -> None:
    rows = builds.tables()
    random.Random(7).shuffle(rows["financials"])
    made = builds.publish_small(published, rows=rows)

    found = stored(
        published / made.file, "SELECT symbol, period_kind, CAST(period_end AS VARCHAR), revenue FROM financials"
    )
    expected = [(r["symbol"], r["period_kind"], str(r["period_end"]), r.get("revenue")) for r in rows["financials"]]
    assert found == sorted(expected, key=lambda row: row[:3])
    assert dict(made.rows) == {table.name: len(rows.get(table.name, [])) for table in schema.TABLES}


def test_every_table_and_column_has_a_comment(published: Path) -> None:
    file = published / builds.small(published).file
    held = "SELECT table_name, comment FROM duckdb_tables() UNION ALL SELECT view_name, comment FROM duckdb_views()"
    assert {table.name: table.description for table in views.PUBLISHED}.items() <= dict(stored(file, held)).items()
    assert set(
        stored(file, "SELECT table_name, column_name, data_type, comment FROM duckdb_columns() WHERE NOT internal")
    ) == {
        (table.name, column.name, column.type, column.comment) for table in views.PUBLISHED for column in table.columns
    }


def test_the_file_is_read_only_and_of_the_older_storage_version(published: Path) -> None:
    file = published / builds.small(published).file
    assert stat.S_IMODE(file.stat().st_mode) == 0o400
    [(tags,)] = stored(file, "SELECT tags FROM duckdb_databases() WHERE NOT internal")
    assert tags["storage_version"].startswith("v1.5.0")


def test_the_pointer_names_the_current_build(published: Path) -> None:
    made = builds.publish_small(published)
    said = json.loads((published / "CURRENT.json").read_text())
    seal = said.pop("seal")
    plain = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert seal == hashlib.sha256(plain.encode()).hexdigest()
    published_at = said.pop("published_at")
    assert datetime.fromisoformat(published_at).tzinfo == UTC
    assert said == {
        "build": "b1",
        "file": "warehouse-b1.duckdb",
        "content_hash": made.content_hash,
        "rows": dict(made.rows),
        "inputs": "fictional",
        "newest_filing": "2025-05-15",
        "companies": 4,
        "synchronization": builds.SYNCHRONIZATION,
        "synchronized_file": "synchronized-s1.json",
        "previous": None,
        "log": [],
        "base": "b1",
        "base_at": published_at,
        "renewed": [],
        "sums": {name: str(sums) for name, sums in made.sums.items()},
        "digest": made.digest,
        "digests": {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in (published / "warehouse-b1.duckdb", *(published / "parquet").iterdir())
        },
        "is_scheduled": True,
        "quarantined": 0,
        "release": "",
    }
    assert synchronized(published, publish.current(published)) == builds.UPDATED  # type: ignore[arg-type]
    link = published / "warehouse.duckdb"
    assert (str(link.readlink()), stored(link, "SELECT count(*) FROM companies")) == ("warehouse-b1.duckdb", [(7,)])


@pytest.mark.parametrize("content", [b'{"build": 1}', b'{"build": "b\xb0"}', b""])
def test_without_a_build_there_is_no_pointer_and_a_damaged_one_is_an_error(published: Path, content: bytes) -> None:
    assert publish.current(published) is None
    builds.small(published)
    (published / "CURRENT.json").write_bytes(content)
    with pytest.raises(BuildUnreadable, match=r"CURRENT\.json.*fundamentals sync"):
        publish.current(published)
    builds.small(published, "b2")
    assert publish.current(published).build == "b2"  # type: ignore[union-attr]


def test_unused_files_are_removed_except_the_previous_build(published: Path) -> None:
    builds.small(published)
    for number in (2, 3):
        builds.small(published, f"b{number}", sync_id=f"s{number}")
    (published / ".building-b0.duckdb.wal").touch()
    (published / ".building-b0.spill").mkdir()
    publish.record(published, synchronization=builds.SYNCHRONIZATION | {"sync_id": "s4"}, updated={})
    assert names(published) == builds_and_links("b2", "b3") | {"synchronized-s2.json", "synchronized-s4.json"}


def test_a_synchronization_that_found_nothing_new_is_recorded_without_a_build(published: Path) -> None:
    builds.small(published)
    before = publish.current(published)
    later = builds.SYNCHRONIZATION | {"sync_id": "s2", "finished_at": "2026-03-03T08:00:00.123456+02:00"}
    publish.record(published, synchronization=later, updated={"9990000001": "2026-03-03T06:00:00+00:00"})
    after = publish.current(published)
    assert before
    assert after
    assert synchronized(published, after) == {"9990000001": "2026-03-03T06:00:00Z"}
    assert after.synchronization.finished_at == "2026-03-03T06:00:00Z"
    same = ("build", "published_at", "previous", "inputs")
    assert [getattr(after, name) for name in same] == [getattr(before, name) for name in same]
    publish.record(published, synchronization=later, updated={}, inputs="other inputs, same rows")
    assert publish.current(published) == msgspec.structs.replace(after, inputs="other inputs, same rows")


@pytest.mark.parametrize("is_lost", [False, True])
def test_recording_needs_a_published_build(published: Path, is_lost: bool) -> None:
    if is_lost:
        (published / builds.small(published).file).unlink()
    with pytest.raises(publish.PublishError, match="no build to record"):
        publish.record(published, synchronization=builds.SYNCHRONIZATION, updated={})


# --- copies


def test_a_build_has_parquet_copies_of_its_tables(published: Path) -> None:
    """The copies have the same names, columns and rows, and are read-only; the link leads to the newest copies."""
    for build in ("b1", "b2"):
        made = builds.publish_small(published, build)
        assert (published / "parquet").readlink() == Path(f"parquet-{build}")
        assert names(published / "parquet") == {
            *(f"{table.name}.parquet" for table in views.PUBLISHED),
            *(f"{view.name}.csv" for view in views.VIEWS),
        }
        assert set(same_rows(published / made.file, published / "parquet").values()) == {True}
    assert {stat.S_IMODE(path.stat().st_mode) for path in (published / "parquet").iterdir()} == {0o400}


def test_the_copies_say_what_their_columns_mean(published: Path) -> None:
    builds.small(published)
    for table in views.PUBLISHED:
        described = pq.read_schema(published / f"parquet/{table.name}.parquet")
        assert described.metadata[b"description"].decode() == table.description
        said = [{name.decode(): text.decode() for name, text in field.metadata.items()} for field in described]
        assert said == [
            {"description": column.description, "unit": column.unit, "type": column.type} for column in table.columns
        ]


def test_the_copies_of_equal_rows_are_equal(published: Path) -> None:
    """Byte by byte."""
    first, second = (builds.publish_small(published, build).digests.items() for build in ("b1", "b2"))
    assert {each for each in first if "duckdb" not in each[0]} == {each for each in second if "duckdb" not in each[0]}


def test_rows_that_are_not_in_order_are_sorted(published: Path, filed: dict[str, Rows]) -> None:
    path = filed["companies"].files[0][0]
    pq.write_table(pq.read_table(path).sort_by([("symbol", "descending")]), path)
    publish.build(published, filed, "b1")
    symbols = pq.read_table(published / "parquet-b1/companies.parquet")["symbol"].to_pylist()
    assert symbols == sorted(row["symbol"] for row in builds.companies())


@pytest.mark.parametrize(("first", "in_order"), [("9990000001", True), ("9990000001", False), ("9990000004", False)])
def test_a_table_from_several_files_has_its_rows_in_order(
    published: Path, filed: dict[str, Rows], first: str, in_order: bool
) -> None:
    """With a sort and, if the files have the rows in order, without; the build does not depend on it."""
    whole = publish.build(published, filed, "b1")
    path = filed["versions"].files[0][0]
    rows, other = pq.read_table(path), path.with_name("other.parquet")
    is_first = pc.less_equal(rows["cik"], first)
    halves = [rows.filter(is_first), rows.filter(pc.invert(is_first))]
    for half, into in zip(halves if in_order else reversed(halves), (path, other), strict=True):
        pq.write_table(half, into)
    divided = Rows([(path, None), (other, None)], in_order)
    made = publish.build(published, {**filed, "versions": divided}, "b2")
    assert (made.content_hash, divided.are_sorted) == (whole.content_hash, in_order)
    assert same_rows(published / made.file, published / "parquet-b2")["versions"]
    order = ", ".join(schema.BY_NAME["versions"].order)
    in_file, sorted_ = (stored(published / made.file, f"FROM versions {by}") for by in ("", f"ORDER BY {order}"))
    assert in_file == sorted_


def test_a_copy_that_differs_from_its_table_is_noticed(
    published: Path, filed: dict[str, Rows], monkeypatch: pytest.MonkeyPatch
) -> None:
    checksum = copies._checksum
    monkeypatch.setattr(copies, "_checksum", lambda *given: (*checksum(*given)[:1], given[1]))
    with pytest.raises(publish.VerificationError, match=r"companies\.parquet does not have the rows of its table"):
        publish.build(published, filed, "b1")
    assert names(published) == set()


# --- the content hash


def test_the_content_hash_does_not_depend_on_run_times_or_order(published: Path) -> None:
    first = builds.small(published)
    rows = builds.tables()
    rows["financials"].reverse()
    for row in rows["companies"]:
        row["data_updated_at"] = datetime(2030, 1, 1, tzinfo=UTC)
    rows["syncs"] = [{"sync_id": "s1", "source": "sample"}]
    assert builds.publish_small(published, "b2", rows).content_hash == first.content_hash


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("companies", "name", "Lantern Harbour Works, Inc."),
        ("companies", "name", None),
        ("companies", "is_listed", False),
        ("financials", "revenue", 1000.0000000000001),
        ("filings", "accepted_at", datetime(2025, 2, 15, 21, 30, 0, 1, tzinfo=UTC)),
    ],
)
def test_the_content_hash_depends_on_every_value(published: Path, table: str, column: str, value: object) -> None:
    first = builds.small(published)
    rows = builds.tables()
    rows[table][0][column] = value
    assert builds.publish_small(published, "b2", rows).content_hash != first.content_hash


def test_the_content_hash_changes_if_two_rows_exchange_a_value(published: Path) -> None:
    first = builds.small(published)
    rows = builds.tables()
    one, other = rows["financials"][:2]
    assert one["revenue"] != other["revenue"]
    one["revenue"], other["revenue"] = other["revenue"], one["revenue"]
    assert builds.publish_small(published, "b2", rows).content_hash != first.content_hash


@pytest.mark.parametrize(
    ("table", "changes", "message"),
    [
        ("companies", {"symbol": "LNTR-B"}, "companies has 2 rows with the key LNTR-B;"),
        ("financials", {"roic": float("nan")}, r"financials\.roic has 1 values that are not finite"),
        ("financials", {"roic": float("inf")}, r"financials\.roic has 1 values that are not finite"),
        ("companies", {"currency": None}, "table companies: .*NOT NULL.*currency"),
    ],
)
def test_a_row_that_is_not_allowed_is_refused(
    published: Path, table: str, changes: dict[str, Any], message: str
) -> None:
    """In one line; the build that is published stays as it is."""
    rows = builds.tables()
    rows[table][0] |= changes
    builds.small(published)
    before, files = (published / "CURRENT.json").read_bytes(), names(published)
    with pytest.raises(publish.PublishError, match=message) as raised:
        builds.publish_small(published, "b2", rows)
    assert isinstance(raised.value, publish.VerificationError) is (None not in changes.values())
    assert "\n" not in str(raised.value)
    assert ((published / "CURRENT.json").read_bytes(), names(published)) == (before, files)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("DELETE FROM build.main.filings WHERE rowid = 0", "filings has 4 rows, expected 5"),
        (
            "UPDATE build.main.filings SET form = '10-Q' WHERE rowid = 0",
            "filings has other rows than it was made from",
        ),
    ],
    ids=["lost", "changed"],
)
def test_rows_that_are_lost_or_changed_are_noticed(
    published: Path, filed: dict[str, Rows], monkeypatch: pytest.MonkeyPatch, statement: str, message: str
) -> None:
    insert = publish._insert

    def faulty(connection: duckdb.DuckDBPyConnection, table: Table, rows: Rows) -> None:
        insert(connection, table, rows)
        if table.name == "filings":
            connection.execute(statement)

    monkeypatch.setattr(publish, "_insert", faulty)
    with pytest.raises(publish.VerificationError, match=message):
        publish.build(published, filed, "b1")
    assert names(published) == set()


# --- refused builds


def test_a_damaged_file_is_noticed(published: Path) -> None:
    made = builds.small(published)
    content = bytearray((published / made.file).read_bytes())
    for place in range(12288, len(content), 4096):  # past the headers
        content[place : place + 64] = os.urandom(64)
    (published / "damaged.duckdb").write_bytes(content)
    with pytest.raises(publish.VerificationError):
        verify(published / "damaged.duckdb", dict.fromkeys(made.rows, Sums()))


def test_a_flipped_bit_in_a_published_file_is_found(published: Path) -> None:
    builds.small(published)
    pointer = publish.current(published)
    assert pointer
    files = [published / pointer.file, *(published / "parquet").iterdir()]
    assert len(files) == 1 + len(views.PUBLISHED) + len(views.VIEWS)
    for path in files:
        assert is_whole(published, pointer)
        content = path.read_bytes()
        path.chmod(0o644)
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 128]))
        assert not is_whole(published, pointer), path
        path.write_bytes(content)
    files[-1].unlink()
    assert not is_whole(published, pointer)


def test_a_build_without_a_digest_is_judged_by_its_rows(published: Path) -> None:
    """An earlier release published it; recording a synchronization adds the digest."""
    made = builds.small(published)
    pointer = publish.current(published)
    assert pointer
    older = msgspec.structs.replace(pointer, digest="", digests={})
    assert is_whole(published, older)
    assert not is_whole(published, msgspec.structs.replace(older, content_hash="other"))
    (published / "CURRENT.json").write_bytes(msgspec.json.encode(older))
    publish.record(published, synchronization=builds.SYNCHRONIZATION, updated={}, is_scheduled=True)
    assert publish.current(published) == pointer
    (published / made.file).chmod(0o644)
    (published / made.file).write_bytes(b"no database")
    assert not is_whole(published, older)


def test_a_build_that_replaces_a_damaged_one_keeps_the_previous_one(published: Path) -> None:
    builds.small(published)
    made = builds.copy(published, builds.small(published, "b2", sync_id="s2"), published, "b3")
    times = {"synchronization": builds.SYNCHRONIZATION, "updated": {}}
    publish.point(published, made, inputs="fictional", is_mended=True, **times)  # type: ignore[arg-type]
    assert publish.current(published).previous == "warehouse-b1.duckdb"  # type: ignore[union-attr]
    assert names(published) == builds_and_links("b1", "b3") | {"synchronized-s1.json"}


@pytest.mark.parametrize(
    ("table", "file", "message"),
    [
        ("prices", "filings.parquet", "no such table: prices"),
        ("filings", "companies.parquet", r"table filings: .*missing .*'accepted_at TI.*unknown .*'currency V"),
        ("filings", "filings.csv", r"table filings: .*filings\.csv"),
        ("filings", "nothing.parquet", r"table filings: .*nothing\.parquet"),
    ],
)
def test_a_file_that_does_not_have_the_rows_of_a_table_is_refused(
    published: Path, filed: dict[str, Rows], table: str, file: str, message: str
) -> None:
    """Of a table or with a column that the schema does not know, or not in Parquet."""
    folder = filed["filings"].files[0][0].parent
    (folder / "filings.csv").write_text("accession,cik")
    with pytest.raises(publish.PublishError, match=message):
        publish.build(published, filed | {table: Rows([(folder / file, None)])}, "b1")


@pytest.mark.parametrize(
    ("build_id", "sync_id", "message"),
    [
        ("../b1", "s2", "cannot be part of a file name"),
        ("b2", "../s1", "cannot be part of a file name"),
        ("b1", "s2", "published already"),
    ],
)
def test_ids_that_cannot_be_part_of_a_new_file_name_are_refused(
    published: Path, build_id: str, sync_id: str, message: str
) -> None:
    builds.publish_small(published)
    with pytest.raises(publish.PublishError, match=message):
        builds.publish_small(published, build_id, sync_id=sync_id)


def test_a_synchronization_that_lacks_a_time_is_refused(published: Path) -> None:
    made = publish.build(published, {}, "b1")
    with pytest.raises(publish.PublishError, match="finished_at"):
        publish.point(published, made, inputs="x", synchronization={"sync_id": "s1", "started_at": ""}, updated={})


@pytest.mark.parametrize("time", ["", "yesterday", "2026-03-02", "2026-03-02T06:00:00"])
def test_a_malformed_time_is_refused(published: Path, time: str) -> None:
    made = builds.small(published)
    before = publish.current(published)
    with pytest.raises(publish.PublishError, match="is not a time"):
        builds.small(published, "b2", finished_at=time)
    with pytest.raises(publish.PublishError, match="is not a time"):
        builds.point(published, made, {"9990000001": time})
    assert publish.current(published) == before


def test_an_unwritable_folder_is_reported_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(publish.PublishError, match="cannot publish"):
        publish.build(tmp_path / "file", {}, "b1")
    monkeypatch.setattr(definitions, "_made", [])
    monkeypatch.setattr(definitions, "STORAGE_VERSION", "v0.0.0")
    with pytest.raises(publish.PublishError, match="build b1: "):
        publish.build(tmp_path / "published", {}, "b1")


def test_a_comma_far_down_in_a_csv_is_read_back_like_one_at_its_beginning(tmp_path: Path) -> None:
    """DuckDB detects the format of a file from its first 20,480 rows, unless the format is given."""
    columns = (Column("row", "BIGINT", ""), Column("name", "VARCHAR", ""))
    view, copy = Table("names", "", ("row",), columns), tmp_path / "names.parquet"
    with duckdb.connect() as build:
        named = "CASE WHEN row < 30_000 THEN 'plain' ELSE 'one, two' END"
        build.execute(f"CREATE VIEW names AS SELECT row, {named} AS name FROM range(30_001) rows(row)")
        copies._write_csv(build, view, copy, copies.write_parquet(build, view, "names", copy))
    assert (tmp_path / "names.csv").read_text().endswith('30000,"one, two"\n')
