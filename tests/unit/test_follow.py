"""The loop of `fundamentals follow`, while the clock of the machine is wrong."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from pipelines.dagster_app import follow
from pipelines.run.heartbeat import HeartbeatWriter
from pipelines.storage.home import Home

BEGIN = datetime(2026, 8, 4, 16, tzinfo=UTC)


class Ended(BaseException):
    """The time of the test is over."""


class Machine:
    """A machine with a clock that is wrong between two times; waiting advances the true time, and so does an update."""

    def __init__(self, ahead: timedelta, wrong: tuple[float, float], hours: float) -> None:
        self.ahead, self.wrong, self.end = ahead, wrong, hours * 60
        self.minutes, self.looks, self.all = 0.0, list[float](), list[float]()

    def now(self, _: object) -> datetime:
        is_wrong = self.wrong[0] <= self.minutes < self.wrong[1]
        return BEGIN + timedelta(minutes=self.minutes) + self.ahead * is_wrong

    def sleep(self, seconds: float) -> None:
        self.minutes += seconds / 60
        if self.minutes > self.end:
            raise Ended

    def update(self, *_: object) -> int:
        self.looks.append(self.minutes)
        self.minutes += 0.25
        return 0

    def synchronize(self, *_: object) -> str:
        self.all.append(self.minutes)
        return "published"


@pytest.mark.parametrize(
    ("ahead", "wrong"),
    [
        (timedelta(), (0, 0)),
        (timedelta(days=1), (0, 60.1)),  # set back a day in the middle of an update
        (timedelta(days=-1), (60.1, 999)),
        (timedelta(days=400), (0, 1)),
        (timedelta(days=400), (60, 61)),
    ],
)
def test_a_wrong_clock_stops_neither_the_looks_nor_the_daily_run(tmp_path: Path, monkeypatch, ahead, wrong):
    """Each minute there is a look, whatever the clock says; all companies are synchronized at six in New York."""
    machine = Machine(ahead, wrong, hours=30)
    monkeypatch.setattr(follow, "datetime", SimpleNamespace(now=machine.now))
    clock = SimpleNamespace(monotonic=lambda: 60 * machine.minutes, sleep=machine.sleep)
    monkeypatch.setattr(follow, "time", clock)
    monkeypatch.setattr(follow, "_update", machine.update)
    monkeypatch.setattr(follow, "_synchronized", machine.synchronize)
    monkeypatch.setattr(follow, "_tell", lambda _: None)

    with pytest.raises(Ended):
        follow._follow(Home(tmp_path), (), HeartbeatWriter(Home(tmp_path)))

    pauses = [later - earlier for earlier, later in zip(machine.looks, machine.looks[1:], strict=False)]
    assert max(pauses) <= 2, "in the minute in which all companies are synchronized there is no look"
    six = 18 * 60  # minutes from noon to six in New York
    assert any(six <= minutes <= six + 1 for minutes in machine.all)
    assert len(machine.all) <= 4, "once more for each time that the clock changes"
