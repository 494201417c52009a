"""The time of the next synchronization."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warehouse.record.schedule import CRON, next_synchronization, promised_synchronization


def test_the_schedule_is_six_every_morning() -> None:
    assert CRON == "0 6 * * *"


@pytest.mark.parametrize(
    ("after", "due"),
    [
        ("2026-01-15T10:59:59+00:00", "2026-01-15T11:00:00+00:00"),
        ("2026-01-15T11:00:00+00:00", "2026-01-16T11:00:00+00:00"),
        ("2026-07-15T09:59:59+00:00", "2026-07-15T10:00:00+00:00"),
        ("2026-07-16T02:00:00+00:00", "2026-07-16T10:00:00+00:00"),
        ("2026-03-07T12:00:00+00:00", "2026-03-08T10:00:00+00:00"),
        ("2026-10-31T12:00:00+00:00", "2026-11-01T11:00:00+00:00"),
        ("2026-12-31T23:59:59+00:00", "2027-01-01T11:00:00+00:00"),
    ],
)
def test_it_is_the_next_6_am_in_new_york_in_every_season(after: str, due: str) -> None:
    assert next_synchronization(datetime.fromisoformat(after)).isoformat() == due


@given(after=st.integers(946_684_800, 4_102_444_800))
def test_it_is_in_the_future_and_within_25_hours(after: int) -> None:
    wait = next_synchronization(datetime.fromtimestamp(after, UTC)).timestamp() - after
    assert 0 < wait <= 25 * 3600


@pytest.mark.parametrize(
    ("is_scheduled", "now", "due"),
    [
        (True, "2026-03-02T12:00:00Z", "2026-03-03T11:00:00+00:00"),  # the one of 11:00 may still run
        (True, "2026-03-02T12:00:01Z", None),
        (False, "2026-03-02T07:00:00Z", None),
    ],
)
def test_a_synchronization_is_promised_while_the_schedule_runs(is_scheduled, now, due):
    last = datetime.fromisoformat("2026-03-02T06:05:00Z")
    promised = promised_synchronization(last, datetime.fromisoformat(now), is_scheduled=is_scheduled)
    assert (promised.isoformat() if promised else None) == due
