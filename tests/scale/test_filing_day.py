"""A day of filings, followed on a played clock: all are served within minutes, also if the follower is killed.

The server is a real one on a loopback port, the follower the command in a process, and it is killed with SIGKILL.
"""

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from pipelines.fake_sec.server import running_server
from pipelines.run.filing_queue import Queue
from pipelines.sample import sample_filers
from pipelines.sample.edgar.company import simulate
from pipelines.sample.filer.traits import Filer, Served
from pipelines.storage.home import PROJECT
from tests.e2e.homes import PATIENCE, environment, query
from tests.filing_day import (
    BURST,
    LONG,
    OUTAGE,
    SHORT,
    Clock,
    FilingDay,
    Publications,
    at,
    faults_of_day,
    filings_of_day,
    joined,
)

MEDIAN = {"off": timedelta(minutes=3), "recent": timedelta(minutes=2)}
LONGEST = {"off": timedelta(minutes=10), "recent": timedelta(minutes=5)}
AFTER_OUTAGE = timedelta(minutes=5)
"""The most that the median and the 99th percentile of the delay may be, with and without packages, and the delay after
an outage of the feed."""
REQUESTS, THREADS = 9, 10
"""Requests sent in a second; and requests that may be on their way, so that more arrive together."""
SAME = """
    SELECT v.* EXCLUDE (recorded_at),
        list((l.leg, l.tag, l.start, l."end", l.value, l.accession) ORDER BY l.leg) AS legs
    FROM versions v LEFT JOIN lineage l USING (cik, period_kind, period_end, item, version)
    GROUP BY ALL
"""
CURRENT = "SELECT * EXCLUDE (recorded_at, version, known_at, cause, rule, method) FROM versions WHERE is_current"
MANY = 10
"""So many companies are worth processes of their own."""
KILL_AFTER = 4
"""Real seconds after its moment within which the follower is killed: its work at that moment takes less."""

REPORTING = [
    filer
    for filer in sample_filers()
    if not filer.business and filer.served == frozenset(Served)
    if any(filing.is_periodic for filing in simulate(filer).filings)
]
"""The filers of the sample with periodic reports."""
FILED_BY = REPORTING[1]
CO_REGISTRANT = replace(FILED_BY, cik="9990007001", symbols=("XQCOR",), name="Example Co Inc")
"""Two companies that file their reports of the day together."""
UNLISTED = [replace(REPORTING[0], cik=f"{9990008001 + n}", symbols=(), name=f"Example Notes {n} Inc") for n in range(3)]
"""Filers that report too, but have no symbol."""
UNLISTED_CIKS = {filer.cik for filer in UNLISTED}


def companies(number: int) -> list[Filer]:
    """Listed filers with periodic reports: the filers of the sample, and ordinary filers like the first of them."""
    filers = REPORTING
    more = [
        replace(filers[0], cik=f"{9990005000 + n}", symbols=(f"XQZ{n}",), name=f"Example Works {n} Inc")
        for n in range(number - len(filers))
    ]
    return [*filers, *more][:number]


@dataclass
class Follower:
    """The command on a home, with its output; alone it starts no processes, which cost more than a few companies."""

    home: Path
    clock: Clock
    url: str
    filings: str = "off"
    is_alone: bool = False

    @property
    def log(self) -> Path:
        return self.home.with_suffix(".log")

    @contextmanager
    def running(self, *arguments: Path) -> Iterator["subprocess.Popen[bytes]"]:
        """A process, killed at the end of the block."""
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.filing_day", str(self.clock.path), *map(str, arguments)],
                cwd=PROJECT,
                env=environment(
                    self.home,
                    EDGAR_USER_AGENT="Example mail@example.org",
                    EDGAR_BASE_URL=self.url,
                    FUNDAMENTALS_FILINGS=self.filings,
                    FUNDAMENTALS_PROCESSES="1" if self.is_alone else "",
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

    def run_until(self, moment: datetime, copied: Path, then: float = 0.0) -> None:
        """Run until a time of the played clock and some real seconds more, and kill it.

        Args:
            moment: the time.
            copied: where the home is copied to when all companies are synchronized, unless it was.
            then: the seconds.
        """
        with self.running(copied) as process:
            while self.clock.seen() < moment and process.poll() is None:
                time.sleep(0.02)
            time.sleep(then)

    def synchronize_all(self) -> None:
        """Run until all companies are synchronized."""
        with self.running() as process:
            end = time.monotonic() + PATIENCE
            while "all companies: " not in self.log.read_text() and process.poll() is None:
                assert time.monotonic() < end
                time.sleep(0.05)


@pytest.mark.parametrize(
    ("filings", "number", "burst", "kills", "hours"),
    [
        ("recent", 4, 2, 1, (15.5, 16.5)),
        pytest.param("off", 170, 150, 20, (6, 21.5), marks=pytest.mark.long),
        pytest.param("recent", 76, 29, 10, (6, 22), marks=pytest.mark.long),
    ],
)
def test_every_report_of_a_day_is_served_within_minutes(filings, number, burst, kills, hours, tmp_path):
    """Up to two of the kills are soon after most companies filed; the others come at any time.

    With packages, companyfacts are up to twenty minutes late, some are never there, and a company is listed on the day;
    a co-registrant waits for them, because the package belongs to the company with which it filed. The day of 400
    filings begins on the Friday before.
    """
    reads, is_long = filings != "off", filings != "off" and burst > 10
    begin, end = (at(0) + timedelta(hours=hour) for hour in hours)
    filers = [*companies(number), *UNLISTED]
    filed = joined(filings_of_day(filers, burst, hours, is_long=is_long), FILED_BY, CO_REGISTRANT)
    filers, draws = [*filers, CO_REGISTRANT], Random(kills)
    clock = Clock(tmp_path / "clock")
    clock.set(at(-51, -20) if is_long else begin - timedelta(minutes=20))
    soon = min(kills, 2)
    moments = [at(*BURST) + timedelta(minutes=draws.uniform(0, 10)) for _ in range(soon)]
    moments += [begin + draws.random() * (end - begin) for _ in range(kills - soon)]
    late, lag = (companies(number)[-1], LONG) if reads else (None, SHORT)
    with running_server() as server:
        sec = server.transport = FilingDay(filers, filed, clock.seen, lag, late)
        server.changed = faults_of_day(clock.seen).changed
        follower, once = (
            Follower(tmp_path / name, clock, server.url, filings, is_alone=number < MANY) for name in ("home", "once")
        )
        for moment in sorted(moments):
            follower.run_until(moment, once.home, then=draws.uniform(0, KILL_AFTER))
        follower.run_until(end + timedelta(minutes=30), once.home)
        asked_at, served = [*sec.asked_at], Publications(clock).times()
        clock.set(max(at(23), clock.seen()))
        server.changed = None  # the run for comparison has lost no request to a fault
        once.synchronize_all()

    waiting = {one.filing.key for one in Queue.of(follower.home).waiting if one.filing.cik not in UNLISTED_CIKS}
    assert waiting == {one.key for one in filed if reads and one.filer.symbols and one.is_odd(0)}
    for rows in (CURRENT, "SELECT * FROM financials") if reads else (SAME, "SELECT * FROM filings"):
        pairs = zip(*(query(home, f"{rows} ORDER BY ALL") for home in (follower.home, once.home)), strict=True)
        assert [pair for pair in pairs if len({*map(str, pair)}) > 1][:1] == []
    expected = [one for one in filed if one.filer.symbols]
    assert {one.key for one in expected} <= served.keys()
    delays = {one: served[one.key] - one.at for one in expected}
    in_outage = [one for one in delays if OUTAGE[0] <= one.at - at(0) < OUTAGE[1]]
    apart = (late, CO_REGISTRANT)
    usual = sorted(delay for one, delay in delays.items() if one not in in_outage and one.filer not in apart)
    print(
        f"{len(filed)} filings, median {statistics.median(usual)}, 99 % {usual[round(0.99 * (len(usual) - 1))]}, "
        f"longest {usual[-1]}, {len(in_outage)} in the outage; {len(asked_at):,} requests, at most "
        f"{max(_within(asked_at, 1))} in a second and {max(_within(asked_at, 10))} in ten"
    )
    assert in_outage
    assert statistics.median(usual) <= MEDIAN[filings]
    assert usual[round(0.99 * (len(usual) - 1))] <= LONGEST[filings]
    assert all(served[one.key] < at(0) + OUTAGE[1] + AFTER_OUTAGE for one in in_outage)
    latest = timedelta(seconds=lag[1]) + LONGEST[filings]
    assert all(delay <= latest for one, delay in delays.items() if one.filer is CO_REGISTRANT)
    assert max(_within(asked_at, 10)) <= 10 * REQUESTS + THREADS


def _within(times: list[datetime], seconds: float) -> list[int]:
    """For each request, how many came in the seconds that end with it."""
    first, found = 0, []
    for number, last in enumerate(times):
        while times[first] <= last - timedelta(seconds=seconds):
            first += 1
        found.append(number - first + 1)
    return found
