"""`fundamentals doctor`: each kind of damage is found and reported with the action to take; safe repairs are made."""

import os
import re
import shutil
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import fundamentals
from pipelines.edgar.fetch.raw_store import Documents, RawStore
from pipelines.health import place
from pipelines.health.tables import names
from pipelines.storage import checksums, version_log
from pipelines.storage.home import Home
from pipelines.storage.lake import Lake
from pipelines.tables import stored
from tests import dagster_records
from tests.damage import flip
from tests.e2e.homes import published, sync, sync_unrecorded
from tests.mirrors import ALFA
from tests.unit.conftest import TwoBuilds
from warehouse.build.pointer import overlay_of
from warehouse.contract.findings import DAMAGE, WARNING, WELL


@pytest.fixture
def home(two_builds: TwoBuilds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """A copy of that home, which the commands use."""
    copy = shutil.copytree(two_builds.home, tmp_path / "home", symlinks=True)
    settings = {"FUNDAMENTALS_HOME": copy, "FUNDAMENTALS_SOURCE": two_builds.source, "COLUMNS": "1000"}
    for name, value in settings.items():
        monkeypatch.setenv(name, str(value))
    yield Home(copy)
    copy.chmod(0o700)


@pytest.fixture
def doctor(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, dict[str, str], str]]:
    """Runs the command; returns the exit status, the damaged parts with their messages, and the output."""

    def run(*arguments: str) -> tuple[int, dict[str, str], str]:
        capsys.readouterr()
        status = fundamentals.main(["doctor", *arguments])
        out = capsys.readouterr().out
        rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in out.splitlines() if line.startswith("│")]
        found: dict[str, str] = {}
        for part, state, *said in rows:
            if state != "well":
                found[part] = f"{found.get(part, '')}{state}: {' '.join(said)}\n"
        return status, found, out

    return run


def tables_of(home: Home) -> list[Path]:
    return [path for path in home.tables.rglob("*") if path.is_file() and path.name != "digests.json"]


def logged(home: Home) -> pl.DataFrame:
    return version_log.read(home.log, version_log.listed(home.log, ()))


def build_of(home: Home) -> tuple[Path, Path]:
    """The files of the current build and of the one before."""
    pointer = published(home.root).pointer
    return home.published / pointer.file, home.published / str(pointer.previous)


def test_a_whole_home_is_well(home, doctor):
    status, found, out = doctor()
    assert (status, found) == (WELL, {})
    assert "2 segments" in out
    assert doctor("--quick")[0] == WELL


def test_the_schedule_of_dagster_is_on_and_its_daemon_lives_or_not(home, doctor):
    dagster_records.write(home.root, is_on=True, lived_at=time.time())
    status, found, out = doctor("--quick")
    assert (status, found) == (WELL, {})
    assert re.search(r"last synchronization \S+, next 2\S+T1[01]:00:00Z", out)
    (home.dagster / "history" / "runs.db").unlink()
    dagster_records.write(home.root, is_on=True, lived_at=time.time() - 600)
    assert "the scheduled ones since did not run" in doctor("--quick")[1]["schedule"]
    dagster_records.write(home.root, is_on=False, lived_at=time.time())
    assert "the schedule is off" in doctor("--quick")[2]


def test_a_damaged_document_of_a_filing_is_removed_and_fetched_again_by_the_next_synchronization(home, doctor):
    store = RawStore(home.root)
    whole, damaged = (store.filing_path(store.put_filing(content * 100)) for content in (b"whole", b"damaged"))
    store.name_documents()
    assert "2 of filings" in doctor()[2]
    flip(damaged)
    status, found, _ = doctor()
    assert (status, set(found)) == (DAMAGE, {"raw zone"})
    assert f"1 documents of filings are damaged, such as {damaged}" in found["raw zone"]
    assert doctor("--quick")[0] == WELL
    assert doctor("--repair")[0] == WELL
    assert store.filing_files() == [whole]


def test_every_part_is_repaired_and_the_next_synchronization_makes_the_same_build(home, two_builds, doctor):
    """A flipped bit in every table, segment, list and record at once, in a document, and in the build before."""
    before, values = published(home.root).content_hash, logged(home)
    facts = RawStore(home.root).seen(ALFA.cik, "companyfacts")
    assert facts
    document = Documents(home.root).path(str(facts.digest))
    runs = home.dagster / "history" / "runs.db"
    for path in (*tables_of(home), *home.log.glob("[cv]*"), document, build_of(home)[1], home.root / "home.json"):
        flip(path)
    runs.write_bytes(b"no database" * 1000)
    build_of(home)[0].chmod(0o600)

    status, found, _ = doctor()
    assert status == DAMAGE
    assert set(found) == {"home", "permissions", "raw zone", "tables", "version log", "builds", "run record"}
    assert "the list of the segments in their order, is damaged" in found["version log"]
    assert "2 segments are damaged or missing" in found["version log"]
    assert str(document) in found["raw zone"]

    _, left, out = doctor("--repair")
    assert {part: said.partition(":")[0] for part, said in left.items()} == {"raw zone": "warning", "tables": "warning"}
    assert f"version log: restored {values.height} versions in 2 segments" in out
    assert not runs.exists()
    restored = logged(home)
    key = ["cik", "period_end", "n", "item"]
    assert_frame_equal(
        restored.drop("rules").sort(key, maintain_order=True),
        values.drop("rules").sort(key, maintain_order=True),
        rel_tol=1e-12,
    )

    done = sync(home.root, two_builds.source)
    assert (done.returncode, "unchanged" in done.stdout) == (0, True), done.stderr
    assert published(home.root).content_hash == before
    assert doctor()[:2] == (WELL, {})


def test_a_damaged_part_of_a_table_costs_only_its_companies(home, two_builds, doctor):
    """A missing table is found, too."""
    part, small = home.tables / "facts" / "000001.parquet", home.tables / "warehouse_companies.parquet"
    flip(part)
    small.unlink()
    status, found, _ = doctor("--quick")
    assert (status, "warehouse_companies" in found["tables"], "facts" in found["tables"]) == (DAMAGE, True, False)
    assert doctor()[0] == DAMAGE
    assert doctor("--repair")[:2] == (WELL, {})
    done = sync_unrecorded(home.root, two_builds.source)
    assert (done.returncode, "unchanged" in done.stdout) == (0, True), done.stderr
    assert doctor()[:2] == (WELL, {})


def test_a_table_that_a_later_version_added_is_missing_only_if_it_was_written(tmp_path):
    added = "warehouse_projections"
    (tmp_path / "contents").mkdir()
    assert "warehouse_lineage" in names(Lake(tmp_path))
    assert added not in names(Lake(tmp_path))
    (tmp_path / "written").write_bytes(b"")
    checksums.note(tmp_path, {tmp_path / added / "manifest.json": tmp_path / "written"})
    assert added in names(Lake(tmp_path))


@pytest.mark.parametrize(("name_of", "damage"), [(str, flip), (overlay_of, flip), (overlay_of, Path.unlink)])
def test_a_damaged_build_is_found_and_published_again(home, two_builds, doctor, name_of, damage):
    """A segment cannot be restored from it then; so is a damaged or missing overlay."""
    damage(Path(name_of(str(build_of(home)[0]))))
    status, found, _ = doctor()
    assert status == DAMAGE
    assert "which is served, is damaged" in found["builds"]
    assert "`fundamentals sync`" in found["builds"]
    [first, _] = sorted(home.log.glob("versions-*"))
    whole = first.read_bytes()
    flip(first)
    assert "nothing: the published build is damaged too; restore the log from a backup" in doctor("--repair")[2]
    first.write_bytes(whole)
    assert "damaged" in sync_unrecorded(home.root, two_builds.source).stdout
    assert doctor()[0] == WELL


def test_a_damaged_segment_stops_the_synchronization(home, two_builds):
    flip(min(home.log.glob("versions-*")))
    done = sync_unrecorded(home.root, two_builds.source)
    assert done.returncode == 1
    assert "run `fundamentals doctor --repair`" in done.stderr


def test_a_segment_that_is_not_in_the_build_stays_damaged(home, doctor):
    """After going back to an older build, that build lacks the newest segment."""
    newest = max(home.log.glob("versions-*"))
    assert fundamentals.main(["builds", "rollback"]) == 0
    flip(newest)
    damaged = newest.read_bytes()
    status, found, out = doctor("--repair")
    assert status == DAMAGE
    assert f"nothing: the published build has no version of {newest.name}; restore the log from a backup" in out
    assert "version log" in found
    assert newest.read_bytes() == damaged


def test_damaged_pointers_and_lists_of_requests(home, doctor):
    (home.published / "CURRENT.json").write_bytes(b'{"\xe9')
    (home.root / "raw" / "seen.jsonl").write_text("{")
    status, found, _ = doctor()
    assert status == DAMAGE
    assert {"builds", "raw zone"} <= set(found)
    assert "`fundamentals sync`" in found["builds"]
    doctor("--repair")
    assert not (home.root / "raw" / "seen.jsonl").exists()


def test_tables_are_repaired_without_a_build(home, two_builds, doctor):
    """Rows that only a build has are then lost; the next synchronization makes all others and publishes."""
    for path in (*home.published.glob("*.json"), *tables_of(home)):
        path.write_bytes(b'{"\xe9')
    assert "not repaired" not in doctor("--repair")[2]
    done = sync_unrecorded(home.root, two_builds.source)
    assert (done.returncode, doctor()[0]) == (0, WELL), done.stderr


def test_a_pointer_that_differs_from_its_seal_or_its_copy(home, doctor):
    """A flipped bit may leave another time or number; a pointer of an earlier release has no seal."""
    pointer = home.published / "CURRENT.json"
    content = pointer.read_text()
    pointer.write_text(content.replace('"companies": 2', '"companies": 3'))
    status, found, _ = doctor("--quick")
    assert (status, "differs from its seal" in found["builds"]) == (DAMAGE, True)
    older = msgspec.json.decode(content) | {"companies": 3}
    pointer.write_bytes(msgspec.json.encode({name: value for name, value in older.items() if name != "seal"}))
    status, found, _ = doctor("--quick")
    assert (status, "CURRENT.json and warehouse-" in found["builds"]) == (WARNING, True)


def test_accounts(home, doctor, capsys):
    """The service refuses to start with damaged accounts."""
    accounts = home.root / "accounts.sqlite"
    with closing(sqlite3.connect(accounts)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        [(page,)] = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_keys_1'")
        [(size,)] = connection.execute("PRAGMA page_size")
    content = bytearray(accounts.read_bytes())
    content[page * size - 3] ^= 1  # within the last entry of an index
    accounts.write_bytes(content)
    status, found, _ = doctor("--repair")
    assert status == DAMAGE
    assert "run `fundamentals restore PATH --accounts`" in found["accounts"]
    capsys.readouterr()
    assert fundamentals.main(["serve", "--port", "0"]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert "the file is damaged: stop the service, and run `fundamentals restore PATH --accounts`" in line


LIVE = {"EDGAR_USER_AGENT": "Name mail@example.org", "EDGAR_BASE_URL": "http://127.0.0.1:1"}


@pytest.mark.parametrize(
    ("environment", "arguments", "part", "said"),
    [
        ({"REDIS_URL": "redis://127.0.0.1:1/0"}, (), "redis", "warning: .*does not answer"),
        ({"REDIS_URL": "nonsense"}, (), "redis", "damage: .*not the address"),
        ({"FUNDAMENTALS_CACHE": "perhaps"}, (), "settings", "FUNDAMENTALS_CACHE is 'perhaps'"),
        ({}, ("--source", "nowhere"), "source", "damage: .*is not a directory"),
        ({}, ("--source", "live"), "source", "damage: .*needs EDGAR_USER_AGENT"),
        ({}, ("--source", "sample"), "source", "damage: .*does not suit the home"),
        (LIVE, ("--source", "live"), "source", "^warning"),  # it is asked once
        ({"FUNDAMENTALS_HOME": "/nowhere"}, (), "home", "damage: .*is not a folder"),
    ],
)
def test_what_is_wrong_outside_of_the_home(home, doctor, monkeypatch, environment, arguments, part, said):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert re.search(said, doctor("--quick", *arguments)[1][part])


def test_the_home_is_private_again(home, doctor):
    home.root.chmod(0o755)
    assert "other users can read" in doctor("--quick")[1]["permissions"]
    assert doctor("--quick", "--repair")[0] == WELL
    assert stat.S_IMODE(home.root.stat().st_mode) == 0o700


@pytest.mark.skipif(os.getuid() == 0, reason="root reads every file")
def test_files_of_another_user(home, doctor):
    (home.root / "home.json").chmod(0)
    assert "cannot be read or written" in doctor("--quick")[1]["permissions"]


@pytest.mark.parametrize(("free", "state"), [(1 << 20, DAMAGE), (65 << 20, WELL)])
def test_disk(home, monkeypatch, free, state):
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": free}))
    [found] = place.disk(home)
    assert found.state == state


def test_clock(home):
    """Set back behind the newest synchronization."""
    [found] = place.clock(home, datetime(2020, 1, 1, tzinfo=UTC))
    assert (found.state, found.text[:40]) == (WARNING, "the clock says 2020-01-01 00:00 UTC, but")
    [found] = place.clock(home)
    assert found.state == WELL


def test_nothing_is_repaired_while_a_synchronization_runs(home, capsys):
    flip(home.log / "committed.json")
    with home.writing():
        assert fundamentals.main(["doctor", "--repair"]) == 1
    assert "another synchronization is running" in capsys.readouterr().err


def test_a_home_that_is_replaced_while_it_is_examined(home, doctor, monkeypatch: Any):
    """Parts that seem damaged are examined twice."""
    answers = iter([["a table"], []])
    monkeypatch.setattr("pipelines.health.tables._damaged", lambda *_, **__: next(answers, []))
    monkeypatch.setattr("pipelines.health.tables.names", lambda _: ["facts"])
    assert doctor("--quick")[0] == WELL


def test_values_that_other_rules_made_are_found_and_made_again(home, two_builds, doctor):
    """With digests that say that all is well, as from a worker with older rules; an ordinary run cannot notice the
    difference.
    """
    lake = Lake(home.tables)
    rows, made_from = lake.read("replayed"), lake.inputs("replayed")
    before = published(home.root).content_hash
    lake.replace_companies("replayed", [rows.with_columns(pl.col("value") + 1)], made_from)
    status, found, _ = doctor()
    assert (status, set(found)) == (DAMAGE, {"rules"})
    assert "`fundamentals sync --full`" in found["rules"]
    assert "rules" not in doctor("--quick")[1]

    done = sync_unrecorded(home.root, two_builds.source, "--full")
    assert done.returncode == 0, done.stderr
    assert doctor()[:2] == (WELL, {})
    assert published(home.root).content_hash == before


def test_a_build_of_other_code_is_told(home, doctor, monkeypatch):
    monkeypatch.setattr(stored, "code_digest", lambda: "other")
    status, found, _ = doctor("--quick")
    assert (status, [*found]) == (WARNING, ["rules"])
    assert "the build is not of the rules in force" in found["rules"]
