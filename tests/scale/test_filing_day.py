"""A day of filings, followed on a virtual clock: all are served within minutes, also if the follower is killed.

The server is a real one on a loopback port, the follower the command in a process, and it is killed with SIGKILL.
"""

import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from pipelines.fake_sec.server import running_server
from pipelines.run.newest_filings import Queue
from pipelines.sample import sample_filers
from pipelines.sample.company import simulate
from pipelines.sample.traits import Filer, Served
from pipelines.storage.home import PROJECT
from tests.e2e.homes import PATIENCE, environment, query
from tests.filing_day import BURST, OUTAGE, Accepted, Clock, FilingDay, at, faults_of_day, filings_of_day

MEDIAN, LONGEST, AFTER_OUTAGE = timedelta(minutes=3), timedelta(minutes=10), timedelta(minutes=5)
"""The most that the median and the 99th percentile of the delay may be, and the delay after an outage of the feed."""
SAME = """
    SELECT v.* EXCLUDE (recorded_at),
        list((l.leg, l.tag, l.start, l."end", l.value, l.accession) ORDER BY l.leg) AS legs
    FROM versions v LEFT JOIN lineage l USING (cik, period_kind, period_end, item, version)
    GROUP BY ALL ORDER BY ALL
"""
KILL_AFTER = 4
"""Real seconds after its moment within which the follower is killed: what it does at the moment takes less."""


REPORTING = [
    filer
    for filer in sample_filers()
    if not filer.business and filer.served == frozenset(Served)
    if any(filing.is_periodic for filing in simulate(filer).filings)
]
"""The filers of the sample with periodic reports."""
UNLISTED = [replace(REPORTING[0], cik=f"{9990008001 + n}", symbols=(), name=f"Example Notes {n} Inc") for n in range(3)]
"""Filers that report too, but have no symbol."""


def companies(number: int) -> list[Filer]:
    """Listed filers with periodic reports: those of the sample, and ordinary ones like the first of them."""
    filers = REPORTING
    more = [
        replace(filers[0], cik=f"{9990005000 + n}", symbols=(f"XQZ{n}",), name=f"Example Works {n} Inc")
        for n in range(number - len(filers))
    ]
    return [*filers, *more][:number]


@dataclass
class Follower:
    """The command on a home, with what it printed."""

    home: Path
    clock: Clock
    url: str

    @property
    def log(self) -> Path:
        return self.home.with_suffix(".log")

    @contextmanager
    def running(self) -> Iterator["subprocess.Popen[bytes]"]:
        """A process, killed at the end of the block."""
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.filing_day", str(self.clock.path)],
                cwd=PROJECT,
                env=environment(
                    self.home,
                    EDGAR_USER_AGENT="Example mail@example.org",
                    EDGAR_BASE_URL=self.url,
                    FUNDAMENTALS_FILINGS="off",
                ),
                stdout=log,
                stderr=log,
            )
            try:
                yield process
                assert process.poll() is None, self.log.read_text()
            finally:
                process.kill()
                process.wait()

    def run_until(self, moment: datetime, then: float = 0.0) -> None:
        """Run until a time of the virtual clock and some real seconds more, and kill it."""
        with self.running() as process:
            while self.clock.now() < moment and process.poll() is None:
                time.sleep(0.005)
            time.sleep(then)

    def synchronize_all(self) -> None:
        """Run until all companies are synchronized."""
        done = self.log.read_text().count("all companies: ") if self.log.exists() else 0
        with self.running() as process:
            end = time.monotonic() + PATIENCE
            while self.log.read_text().count("all companies: ") == done and process.poll() is None:
                assert time.monotonic() < end
                time.sleep(0.05)


class Watch(threading.Thread):
    """Records when a filing is first in the published build of a home, by the virtual clock."""

    def __init__(self, home: Path, clock: Clock) -> None:
        super().__init__(daemon=True)
        self._pointer, self._home, self._clock = home / "published" / "CURRENT.json", home, clock
        self.with_values: dict[str, datetime] = {}
        self.listed: dict[str, datetime] = {}
        self.ended = threading.Event()

    def run(self) -> None:
        seen = 0
        while not self.ended.wait(0.02):
            if (written := self._pointer.stat().st_mtime_ns) != seen:
                seen, now = written, self._clock.now()
                for found, sql in ((self.with_values, "FROM versions"), (self.listed, "FROM filings")):
                    for (accession,) in query(self._home, f"SELECT DISTINCT accession {sql}"):
                        found.setdefault(str(accession), now)

    def served_at(self, one: Accepted) -> datetime:
        """When its values were served; where it changed none, when it was listed."""
        accession = one.filing.accession
        return self.with_values.get(accession) or self.listed[accession]


@pytest.mark.long
@pytest.mark.parametrize(("number", "burst", "kills", "hours"), [(6, 4, 2, (15.5, 16.5)), (170, 150, 20, (6, 21.5))])
def test_every_report_of_a_day_is_served_within_minutes(number, burst, kills, hours, tmp_path):
    """Two of the kills are soon after most companies filed, as far as there are more; the others come at any time."""
    begin, end = (at(0) + timedelta(hours=hour) for hour in hours)
    filers = [*companies(number), *UNLISTED]
    filed, draws = filings_of_day(filers, burst, hours), Random(kills)
    clock = Clock(tmp_path / "clock")
    clock.set(begin - timedelta(minutes=20))
    soon = min(2, kills // 2)
    moments = [at(*BURST) + timedelta(minutes=draws.uniform(0, 10)) for _ in range(soon)]
    moments += [begin + draws.random() * (end - begin) for _ in range(kills - soon)]
    with running_server() as server:
        server.transport = FilingDay(filers, filed, clock.now)
        server.changed = faults_of_day(clock.now).changed
        follower = Follower(tmp_path / "home", clock, server.url)
        follower.synchronize_all()
        shutil.copytree(follower.home, tmp_path / "once", symlinks=True)
        watch = Watch(follower.home, clock)
        watch.start()
        for moment in sorted(moments):
            follower.run_until(moment, then=draws.uniform(0, KILL_AFTER))
        follower.run_until(end + timedelta(minutes=30))
        watch.ended.set()
        watch.join()
        clock.set(at(23))
        once = Follower(tmp_path / "once", clock, server.url)
        once.synchronize_all()

    assert {one.filing.cik for one in Queue.of(follower.home).waiting} == {filer.cik for filer in UNLISTED}
    for rows in (SAME, "SELECT * FROM filings ORDER BY ALL"):
        differ = [
            pair
            for pair in zip(query(follower.home, rows), query(once.home, rows), strict=True)
            if len({*map(str, pair)}) > 1
        ]
        assert differ[:1] == []
    delays = {one: watch.served_at(one) - one.at for one in filed if one.filer.symbols}
    in_outage = [one for one in delays if OUTAGE[0] <= one.at - at(0) < OUTAGE[1]]
    usual = sorted(delay for one, delay in delays.items() if one not in in_outage)
    print(
        f"{len(filed)} filings, median {statistics.median(usual)}, longest {usual[-1]}, {len(in_outage)} in the outage"
    )
    assert in_outage
    assert statistics.median(usual) < MEDIAN
    assert usual[round(0.99 * (len(usual) - 1))] < LONGEST
    assert all(watch.served_at(one) < at(0) + OUTAGE[1] + AFTER_OUTAGE for one in in_outage)
