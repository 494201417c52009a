"""`fundamentals builds`: the kept builds, going back to the one before, removing it."""

from pathlib import Path

import msgspec
import pytest

import fundamentals
from pipelines.storage.home import Home
from tests import builds
from warehouse.build import publish
from warehouse.build.pointer import POINTER
from warehouse.read.reader import Warehouse


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home with two builds; the second was made from another segment of the log."""
    monkeypatch.setenv("FUNDAMENTALS_HOME", str(tmp_path / "home"))
    home = Home(tmp_path / "home")
    home.prepare()
    builds.small(home.published)
    builds.small(home.published, "b2", sync_id="s2")
    pointer = publish.current(home.published)
    assert pointer
    (home.published / POINTER).write_bytes(msgspec.json.encode(msgspec.structs.replace(pointer, log=("a", "b"))))
    return home


def run(capsys: pytest.CaptureFixture[str], action: str) -> tuple[int, list[str]]:
    """The exit status and the printed lines."""
    status = fundamentals.main(["builds", action])
    printed = capsys.readouterr()
    return status, (printed.err if status else printed.out).splitlines()


def listed(capsys: pytest.CaptureFixture[str]) -> list[tuple[str, ...]]:
    status, lines = run(capsys, "list")
    assert status == 0
    return [tuple(line.split()[:2] if line[0] == "*" else ["-", line.split()[0]]) for line in lines]


def damage(path: Path) -> None:
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:-1])


def test_builds_are_listed_with_their_state(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    damage(home.published / "warehouse-b1.duckdb")
    status, [now, before] = run(capsys, "list")
    assert status == 0
    assert now.startswith("* b2  published 20")
    assert now.endswith("  whole  4 companies  newest filing 2025-05-15")
    assert before.startswith("  b1  published 20")
    assert "  damaged  " in before


def test_going_back_serves_the_build_before_and_keeps_the_log(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    """Going back again returns."""
    warehouse = Warehouse(home.published)
    with warehouse.build() as build:
        assert build.pointer.build == "b2"
    status, [said] = run(capsys, "rollback")
    assert (status, said) == (
        0,
        "build b1 is current; the next synchronization publishes the newest data again",
    )
    with warehouse.build() as build:
        assert (build.pointer.build, build.pointer.log) == ("b1", ("a", "b"))
        assert build.updated_at("9990000001") == builds.UPDATED["9990000001"]
    warehouse.close()
    assert (home.published / "warehouse.duckdb").readlink() == Path("warehouse-b1.duckdb")
    assert listed(capsys) == [("*", "b1"), ("-", "b2")]
    assert run(capsys, "rollback")[0] == 0
    assert listed(capsys) == [("*", "b2"), ("-", "b1")]


def test_a_damaged_build_is_not_gone_back_to(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    damage(home.published / "parquet-b1" / "rules.parquet")
    status, [said] = run(capsys, "rollback")
    assert status == 1
    assert said.endswith("warehouse-b1.duckdb is damaged; build b2 stays published")
    assert listed(capsys)[0] == ("*", "b2")


def test_the_build_before_is_removed(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "prune") == (0, ["only build b2 is kept"])
    assert listed(capsys) == [("*", "b2")]
    assert not [path.name for path in home.published.iterdir() if "b1" in path.name or "s1" in path.name]
    status, [said] = run(capsys, "rollback")
    assert (status, said.rpartition(": ")[2]) == (1, "there is no previous build to go back to")


@pytest.mark.parametrize("action", ["rollback", "prune"])
def test_not_while_a_synchronization_runs(home: Home, capsys: pytest.CaptureFixture[str], action: str) -> None:
    with home.writing():
        status, [said] = run(capsys, action)
    assert status == 1
    assert "another synchronization" in said


def test_without_a_build_there_is_nothing_to_manage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FUNDAMENTALS_HOME", str(tmp_path / "empty"))
    status, [said] = run(capsys, "list")
    assert status == 1
    assert "nothing is published; run `fundamentals sync`" in said
