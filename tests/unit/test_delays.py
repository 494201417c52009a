"""The delays of filings: which filings a build adds, and how late they are."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests import builds
from warehouse.build import delays
from warehouse.build.pointer import Pointer, current


def filing(number: int, age: timedelta | None) -> dict[str, object]:
    """A filing that was accepted so long ago; None: the time is not known."""
    accepted_at = age and datetime.now(UTC).replace(tzinfo=None) - age
    read = {"accession": f"9990000001-26-{number:06}", "accepted_at": accepted_at, "share_basis": 1.0}
    return builds.filings()[0] | read


def published(folder: Path, *several: list[dict[str, object]]) -> list[Pointer]:
    """Publish a build for each list of filings; the pointers to them."""
    pointers = []
    for number, filings in enumerate(several, 1):
        builds.publish_small(folder, f"b{number}", builds.tables() | {"filings": filings})
        pointer = current(folder)
        assert pointer
        pointers.append(pointer)
    return pointers


def test_a_build_adds_the_filings_of_the_last_days_that_the_build_before_has_not(tmp_path: Path) -> None:
    """Not filings of the build before, filings without a known time, the history of a new company, or reports that
    are listed but not read yet: their delay ends when they are read.
    """
    held, minutes, hours = filing(1, timedelta(hours=2)), filing(2, timedelta(minutes=5)), filing(3, timedelta(hours=9))
    others = [filing(4, None), filing(5, timedelta(days=8)), filing(6, timedelta(hours=1)) | {"share_basis": None}]
    before, now = published(tmp_path, [held, hours | {"share_basis": None}], [held, minutes, hours, *others])
    found = sorted(sum(delay) for delay in delays.of(tmp_path, before, now, {}))
    assert found == pytest.approx([5 * 60, 9 * 3600], abs=120)
    assert delays.of(tmp_path, now, now, {}) == []


def test_a_delay_is_the_secs_until_edgar_had_the_documents_and_ours_from_then_on(tmp_path: Path) -> None:
    """Nobody's clock makes a part negative; of a filing that nobody waited for, all of it is ours."""
    at = datetime.now(UTC)
    before, now = published(tmp_path, [], [filing(number, timedelta(hours=1)) for number in (1, 2, 3, 4)])
    minutes = {1: 10, 2: 70, 3: -10}
    there = {f"9990000001-26-{number:06}": at - timedelta(minutes=ago) for number, ago in minutes.items()}
    waits, works = zip(*delays.of(tmp_path, before, now, there), strict=True)
    assert sorted(waits) == pytest.approx([0, 0, 50 * 60, 60 * 60], abs=120)
    assert sorted(works) == pytest.approx([0, 10 * 60, 60 * 60, 60 * 60], abs=120)


def test_a_clock_that_is_behind_makes_no_negative_delay(tmp_path: Path) -> None:
    before, now = published(tmp_path, [], [filing(1, timedelta(minutes=-10))])
    assert delays.of(tmp_path, before, now, {}) == [(0.0, 0.0)]
