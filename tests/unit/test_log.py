"""The version log on disk: committed segments stay, files of a killed run are removed."""

import json
from datetime import UTC, date, datetime
from pathlib import Path

import polars as pl
import pytest

from pipelines.normalize.history.log import LOG
from pipelines.storage import version_log
from tests.damage import flip
from tests.factories import CIK, day

LATER = ("concept", "rule", "source", "member", "label")
"""The fields of legs that segments of older programs lack."""
NOW = datetime(2026, 8, 1, 6, tzinfo=UTC)


def rows(value: float, **more: object) -> pl.DataFrame:
    """A segment of one version."""
    row = {
        "cik": CIK,
        "period_end": day("2024-12-31"),
        "item": "revenue",
        "value": value,
        "cause": "initial",
        "legs": [{"role": "sum", "weight": 1.0, "value": value}],
        "recorded_at": NOW,
    }
    return pl.DataFrame([row | more], schema=LOG)


def names(folder: Path) -> list[str]:
    """The files in the folder of the log besides their digests."""
    return sorted(path.name for path in folder.iterdir() if path.name != "digests.json")


def values(folder: Path, segments: tuple[str, ...]) -> list[float]:
    """The values of the versions in some segments, in the order of recording."""
    return version_log.read(folder, segments)["value"].to_list()


def test_a_log_without_segments_has_its_columns(tmp_path):
    """A segment counts once the pointer names it; a missing log needs no cleaning."""
    version_log.clear(tmp_path / "nowhere", ())
    assert not (tmp_path / "nowhere").exists()
    version_log.write(tmp_path, "20260801", rows(1))
    for folder in (tmp_path, tmp_path / "nowhere"):
        read = version_log.read(folder, ())
        assert (read.schema, read.height) == (LOG, 0)


def test_written_versions_are_read_in_the_order_of_recording(tmp_path):
    """The order of the named segments, whatever their names; times of recording keep their microseconds."""
    recorded = [rows(1, recorded_at=NOW.replace(microsecond=123_456)), rows(2)]
    names_of = [
        version_log.write(tmp_path, name, of) for name, of in zip(("20260802", "20260801"), recorded, strict=True)
    ]

    assert version_log.read(tmp_path, names_of).equals(pl.concat(recorded))


def test_columns_that_the_log_does_not_have_are_dropped(tmp_path):
    name = version_log.write(tmp_path, "20260801", rows(1).with_columns(more=pl.lit(1)))

    assert pl.read_parquet_schema(tmp_path / name) == LOG


def test_a_segment_of_an_older_program_is_read(tmp_path):
    """Missing columns and fields of legs are null; its facts come from companyfacts."""
    recorded = rows(1)
    legs = pl.List(pl.Struct([field for field in LOG["legs"].inner.fields if field.name not in LATER]))
    older = recorded.select(pl.exclude("rule", "legs"), pl.col("legs").cast(legs))
    older.write_parquet(tmp_path / "versions-20260801.parquet")

    read = version_log.read(tmp_path, ("versions-20260801.parquet",))

    assert read.schema == LOG
    assert read["rule"].to_list() == [None]
    leg = read["legs"].item()[0]
    assert leg["value"] == 1.0
    assert [leg[name] for name in LATER] == [None, None, "companyfacts", None, None]
    assert read.select(older.columns).drop("legs").equals(older.drop("legs"))


@pytest.mark.parametrize(
    ("columns", "said"),
    [(rows(1).drop("value"), "run `fundamentals doctor --repair`"), (None, r"versions-20260801\.parquet")],
    ids=["without values", "missing"],
)
def test_a_committed_segment_that_cannot_be_read_is_an_error(tmp_path, columns, said):
    """It is better to stop the synchronization than to continue with an incomplete history."""
    if columns is not None:
        columns.write_parquet(tmp_path / "versions-20260801.parquet")
    with pytest.raises(version_log.LogError, match=said):
        version_log.read(tmp_path, ("versions-20260801.parquet",))


def test_uncommitted_segments_are_removed(tmp_path):
    """Segments that a killed run wrote after the last committed one, and unfinished files."""
    committed = tuple(version_log.write(tmp_path, day_of_run, rows(1)) for day_of_run in ("20260801", "20260803"))
    version_log.write(tmp_path, "20260804", rows(2))
    (tmp_path / ".versions-20260805.parquet.tmp").write_bytes(b"half")

    version_log.clear(tmp_path, committed)

    assert (names(tmp_path), values(tmp_path, committed)) == ([*committed], [1, 1])
    version_log.clear(tmp_path, ())
    assert names(tmp_path) == [], "without a committed segment all are removed"


def test_committed_and_foreign_files_are_never_removed(tmp_path):
    """An older segment that the pointer does not name was not written by the previous run."""
    older, committed = (
        version_log.write(tmp_path, name, rows(value)) for value, name in enumerate(("20260801", "20260803"))
    )
    (tmp_path / "notes.txt").write_text("kept")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert set(before) == {older, committed, "notes.txt", "digests.json"}

    for _ in range(2):
        version_log.clear(tmp_path, (committed,))
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_repeated_synchronization_overwrites_its_segment(tmp_path):
    """Killed before the commit and run again with the same id: only the later rows remain."""
    version_log.write(tmp_path, "20260801", rows(1))
    name = version_log.write(tmp_path, "20260801", rows(2))

    assert (names(tmp_path), values(tmp_path, (name,))) == ([name], [2])


@pytest.mark.parametrize("second", ["20260802", "20250627"], ids=["as usual", "the clock was set back"])
def test_the_order_is_that_of_commits_whatever_the_names(tmp_path, second):
    """A pointer that is rolled back names fewer segments; segments committed since then stay and are read."""
    first = version_log.write(tmp_path, "20260801", rows(1))
    segments = (first, version_log.write(tmp_path, second, rows(2)))
    assert version_log.committed(tmp_path, (first,)) == (first,)
    for known in (segments, (), (first,)):
        assert version_log.committed(tmp_path, known) == segments
    version_log.clear(tmp_path, segments)
    assert values(tmp_path, segments) == [1, 2]


def test_a_list_that_was_sorted_by_name_is_put_in_order_by_filings(tmp_path):
    """A version recorded with the clock set back has a later filing; a segment of other companies stays in its
    place.
    """
    other = version_log.write(tmp_path, "20260101", rows(7, cik="0000000009"))
    filed = [date(2026, month, 1) for month in (2, 5, 8)]
    first = version_log.write(tmp_path, "20260301", rows(1, filed=filed[0]))
    second = version_log.write(tmp_path, "20250401", rows(2, filed=filed[1]))
    third = version_log.write(tmp_path, "20260901", rows(3, filed=filed[2]))
    (tmp_path / "committed.json").write_text(json.dumps(sorted([other, first, second, third])))

    for _ in range(2):
        segments = version_log.committed(tmp_path, (first,))
        assert segments == (other, first, second, third)
    assert version_log.read(tmp_path, segments, [CIK])["value"].to_list() == [1, 2, 3]


def test_filings_that_contradict_each_other_leave_the_order_of_names(tmp_path):
    early, late = date(2026, 2, 1), date(2026, 5, 1)
    rows_of = [
        pl.concat([rows(1, filed=early), rows(2, item="net_income", filed=late)]),
        pl.concat([rows(1, filed=late), rows(2, item="net_income", filed=early)]),
    ]
    names = [version_log.write(tmp_path, name, each) for name, each in zip(("a", "b"), rows_of, strict=True)]
    three = version_log.write(tmp_path, "0", rows(3))
    (tmp_path / "committed.json").write_text(json.dumps([three, *names]))
    assert version_log.committed(tmp_path, ()) == (three, *names)


@pytest.mark.parametrize("written", ["{", "{}", '{"in_order": 1}'])
def test_a_damaged_list_is_an_error_that_says_what_to_do(tmp_path, written):
    (tmp_path / "committed.json").write_text(written)
    with pytest.raises(version_log.LogError, match=r"committed\.json: .*; run `fundamentals doctor --repair`"):
        version_log.committed(tmp_path, ())


@pytest.mark.parametrize("damage", [flip, Path.unlink], ids=["flipped", "missing"])
def test_a_segment_that_is_not_as_it_was_written_stops_the_synchronization(tmp_path, damage):
    """A flipped bit may be in a value, where Parquet has no checksum."""
    name = version_log.write(tmp_path, "20260801", rows(1))
    version_log.check(tmp_path, [name])
    damage(tmp_path / name)
    with pytest.raises(version_log.LogError, match=rf"{name}: (damaged|missing); run `fundamentals doctor --repair`"):
        version_log.check(tmp_path, [name])


def test_a_segment_of_an_earlier_release_gets_its_digest(tmp_path):
    name = version_log.write(tmp_path, "20260801", rows(1))
    (tmp_path / "digests.json").unlink()
    version_log.check(tmp_path, [name])
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(version_log.LogError):
        version_log.check(tmp_path, [name])
