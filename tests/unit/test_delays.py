"""The delays of filings: which filings a build adds, and how late they are."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests import builds
from warehouse.build import delays
from warehouse.build.pointer import current

NOW = datetime.now(UTC)


def name(number: int) -> str:
    return f"9990000001-26-{number:06}"


def accepted(**ago: timedelta) -> dict[str, datetime]:
    """When filings were accepted, `_1` so long ago."""
    return {name(int(number[1:])): NOW - age for number, age in ago.items()}


def published(folder: Path, *filings: int, unread: int | None = None) -> Path:
    """The file of a build with these filings, and one that is listed but not read yet."""
    read = [builds.filings()[0] | {"accession": name(number), "share_basis": 1.0} for number in filings]
    listed = [] if unread is None else [builds.filings()[0] | {"accession": name(unread), "share_basis": None}]
    builds.publish_small(folder, "b1", builds.tables() | {"filings": [*read, *listed]})
    pointer = current(folder)
    assert pointer
    return folder / pointer.file


def test_a_build_adds_the_filings_that_the_build_before_has_not(tmp_path: Path) -> None:
    """Also a report that was listed there but not read."""
    before = published(tmp_path, 1, unread=3)
    hours = timedelta(hours=1)
    filed = accepted(_1=2 * hours, _2=hours / 12, _3=9 * hours)

    assert sorted(sum(delay) for delay in delays.of(before, NOW, filed, {})) == pytest.approx([5 * 60, 9 * 3600])
    assert delays.of(before, NOW, accepted(_1=2 * hours), {}) == []


def test_a_delay_is_the_secs_until_edgar_had_the_documents_and_ours_from_then_on(tmp_path: Path) -> None:
    """Nobody's clock makes a part negative; of a filing that nobody waited for, all of it is ours."""
    hour = timedelta(hours=1)
    there = {name(number): NOW - timedelta(minutes=ago) for number, ago in {1: 10, 2: 70, 3: -10}.items()}

    found = delays.of(published(tmp_path), NOW, accepted(_1=hour, _2=hour, _3=hour, _4=hour), there)

    waits, works = zip(*found, strict=True)
    assert sorted(waits) == pytest.approx([0, 0, 50 * 60, 60 * 60])
    assert sorted(works) == pytest.approx([0, 10 * 60, 60 * 60, 60 * 60])


def test_a_clock_that_is_behind_makes_no_negative_delay(tmp_path: Path) -> None:
    assert delays.of(published(tmp_path), NOW, accepted(_1=timedelta(minutes=-10)), {}) == [(0.0, 0.0)]


def test_without_a_recent_filing_no_build_is_opened(tmp_path: Path) -> None:
    assert delays.of(tmp_path / "none.duckdb", NOW, {}, {}) == []
