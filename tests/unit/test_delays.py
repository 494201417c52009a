"""The delays of filings: which filings a build adds, and how late they are."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests import builds
from warehouse.build import delays
from warehouse.build.pointer import current


def filing(number: int, age: timedelta | None) -> dict[str, object]:
    """A filing that was accepted so long ago; None: the time is not known."""
    accepted_at = age and datetime.now(UTC).replace(tzinfo=None) - age
    read = {"accession": f"9990000001-26-{number:06}", "accepted_at": accepted_at, "share_basis": 1.0}
    return builds.filings()[0] | read


def test_a_build_adds_the_filings_of_the_last_days_that_the_build_before_has_not(tmp_path: Path) -> None:
    """Not filings of the build before, filings without a known time, the history of a new company, or reports that
    are listed but not read yet: their delay ends when they are read.
    """
    held, minutes, hours = filing(1, timedelta(hours=2)), filing(2, timedelta(minutes=5)), filing(3, timedelta(hours=9))
    others = [filing(4, None), filing(5, timedelta(days=8)), filing(6, timedelta(hours=1)) | {"share_basis": None}]
    rows = builds.tables()
    builds.publish_small(tmp_path / "published", "b1", rows | {"filings": [held, hours | {"share_basis": None}]})
    before = current(tmp_path / "published")
    builds.publish_small(tmp_path / "published", "b2", rows | {"filings": [held, minutes, hours, *others]})
    now = current(tmp_path / "published")
    assert before
    assert now
    found = sorted(sum(delay) for delay in delays.of(tmp_path / "published", before, now, {}))
    assert found == pytest.approx([5 * 60, 9 * 3600], abs=120)
    assert delays.of(tmp_path / "published", now, now, {}) == []


def test_a_delay_is_the_secs_until_edgar_had_the_documents_and_ours_from_then_on(tmp_path: Path) -> None:
    """Nobody's clock makes a part negative; of a filing that nobody waited for, all of it is ours."""
    rows, at = builds.tables(), datetime.now(UTC)
    builds.publish_small(tmp_path, "b1", rows | {"filings": []})
    before = current(tmp_path)
    filings = [filing(number, timedelta(hours=1)) for number in (1, 2, 3, 4)]
    builds.publish_small(tmp_path, "b2", rows | {"filings": filings})
    now = current(tmp_path)
    assert before
    assert now
    minutes = {1: 10, 2: 70, 3: -10}
    there = {f"9990000001-26-{number:06}": at - timedelta(minutes=ago) for number, ago in minutes.items()}
    waits, works = zip(*delays.of(tmp_path, before, now, there), strict=True)
    assert sorted(waits) == pytest.approx([0, 0, 50 * 60, 60 * 60], abs=120)
    assert sorted(works) == pytest.approx([0, 10 * 60, 60 * 60, 60 * 60], abs=120)


def test_a_clock_that_is_behind_makes_no_negative_delay(tmp_path: Path) -> None:
    builds.publish_small(tmp_path, "b1", builds.tables() | {"filings": []})
    before = current(tmp_path)
    builds.publish_small(tmp_path, "b2", builds.tables() | {"filings": [filing(1, timedelta(minutes=-10))]})
    now = current(tmp_path)
    assert before
    assert now
    assert delays.of(tmp_path, before, now, {}) == [(0.0, 0.0)]
