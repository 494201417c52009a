"""`fundamentals follow`, as a process: a report is served when companyfacts has it, also after the process was killed.
That it is served from its package: tests/unit/test_reports_from_packages.py, and the game day.

The server is a real one on a loopback port; behind it is the simulator. Only the pauses of the command are shorter.
"""

import math
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pipelines.dagster_app.follow import NICENESS
from pipelines.edgar.decode.newest import newest_url
from pipelines.fake_sec.server import EdgarServer, Reply, running_server
from pipelines.run.filing_queue import Queue
from pipelines.run.stopping import STATUS
from pipelines.sample import SampleTransport, sample_filers
from pipelines.storage.home import PROJECT
from serve.app import PATHS
from serve.metrics.counts import Counts
from tests.e2e.homes import PATIENCE, environment, query
from tests.unit.test_metrics import samples
from tests.unit.test_newest import entry, feed

FILERS = sample_filers()[:1]
QUICKLY = """
import signal
import sys
from datetime import timedelta
signal.signal(signal.SIGINT, signal.SIG_IGN)  # as in the background of a shell
from pipelines.run import filing_queue, newest_filings
newest_filings.EVERY = newest_filings.AT_NIGHT = timedelta(seconds=0.2)
filing_queue.WAITS = ((timedelta(seconds=1), timedelta(hours=1)),)
import fundamentals
sys.exit(fundamentals.main(["follow"]))
"""


@contextmanager
def following(home: Path, server: EdgarServer) -> Iterator["subprocess.Popen[str]"]:
    """The command in a process, which is killed at the end of the block."""
    process = subprocess.Popen(
        [sys.executable, "-c", QUICKLY],
        cwd=PROJECT,
        env=environment(
            home,
            EDGAR_USER_AGENT="Example mail@example.org",
            EDGAR_BASE_URL=server.url,
            FUNDAMENTALS_FILINGS="off",
        ),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def line_with(process: "subprocess.Popen[str]", text: str) -> str:
    """The next line that has a text; fails if the process ends before."""
    assert process.stdout
    for line in process.stdout:
        if text in line:
            return line
    pytest.fail(f"ended without a line with {text!r}: {process.stderr.read() if process.stderr else ''}")


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture
def server() -> Iterator[EdgarServer]:
    with running_server() as state:
        state.otherwise = Reply(body=feed())
        yield state


def test_a_report_is_served_when_companyfacts_has_it(server, tmp_path):
    """The process is killed while the report waits, and continues where it ended when it is started again; SIGTERM
    ends it, also where a shell has started it in the background. It comes after other processes, such as a service.
    """
    home = tmp_path / "home"
    after = SampleTransport(FILERS)
    filer, report = max(
        ((filer, filing) for filer, filing in after._filings if filing.form == "10-Q"), key=lambda one: one[1].filed
    )
    server.transport = SampleTransport(FILERS, filed_by=report.filed - timedelta(days=1))
    for form in ("10-", "20-F", "40-F"):
        server.on(newest_url(form, 0), Reply(body=feed()))
    with following(home, server) as process:
        assert ": published" in line_with(process, "all companies: ")
        own = os.getpriority(os.PRIO_PROCESS, 0)
        assert os.getpriority(os.PRIO_PROCESS, process.pid) == min(own + NICENESS, 19)
        named = entry(int(filer.cik), cik=filer.cik, accession=report.accession, updated=datetime.now(UTC).isoformat())
        odd = Reply(body=feed().replace(b"ISO-8859-1", b"no-such-encoding"))
        server.on(newest_url("10-", 0), odd, Reply(body=feed(named)))
        assert "feed of the newest filings: is not a feed: unknown encoding" in line_with(process, "feed")
        until(lambda: any(one.asked > 1 for one in Queue.of(home).waiting))
    held = query(home, f"SELECT max(filed) FROM filings WHERE cik = '{filer.cik}'")

    with following(home, server) as process:
        assert ": no value is new" in line_with(process, "all companies: ")
        server.transport = after
        served = line_with(process, report.accession)
        assert served.split("  ")[1].startswith(f"{filer.symbols[0]} 10-Q {report.accession}, ")
        assert ": published, " in served
        process.terminate()
        assert process.wait(PATIENCE) == STATUS
    assert query(home, f"SELECT max(filed) FROM filings WHERE cik = '{filer.cik}'") != held


def test_an_address_that_refuses_connections_is_one_line_at_once(tmp_path):
    """Before any of the further attempts, which take half a minute."""
    with running_server() as closed:
        pass
    with following(tmp_path / "home", closed) as process:
        assert process.stderr
        assert re.match(
            r"waiting for https://\S+: ConnectError: .*refused; asked again 4 times", process.stderr.readline()
        )
        assert process.poll() is None


@pytest.fixture
def thresholds() -> dict[str, float]:
    """The number above which each alarm of the follower is raised, by its metric."""
    rules = (PROJECT / "deploy" / "prometheus" / "rules.yml").read_text()
    found = re.findall(r"expr: (fundamentals_(?:follower|feed|waiting)\w+) > ([\d *]+)$", rules, re.MULTILINE)
    return {name: math.prod(map(float, numbers.split("*"))) for name, numbers in found}


def test_a_follower_that_is_killed_is_seen_within_minutes(server, tmp_path, thresholds):
    """While it lives, it reads the feed, and a report that waits has an age; nothing of this goes on after its end."""
    home = tmp_path / "home"
    server.transport = SampleTransport(FILERS)
    accepted_at = datetime.now(UTC) - timedelta(hours=2)
    named = entry(101, cik=FILERS[0].cik, accession="0000000101-26-000009", updated=accepted_at.isoformat())

    def measured(later: float = 0) -> dict[str, float]:
        return samples(home / "published", Counts(PATHS), now=time.time() + later)

    with following(home, server) as process:
        line_with(process, "all companies: ")
        until(lambda: "fundamentals_feed_age_seconds" in measured())
        assert measured()["fundamentals_waiting_reports"] == 0
        server.on(newest_url("10-", 0), Reply(body=feed(named)))
        until(lambda: measured()["fundamentals_waiting_reports"] == 1)
        alive = measured()
        assert len(thresholds) == 3
        assert all(alive[name] < limit for name, limit in thresholds.items())
        assert alive["fundamentals_waiting_report_age_seconds"] > 7200
    dead = measured(later=7 * 3600)
    assert all(dead[name] > limit for name, limit in thresholds.items())
