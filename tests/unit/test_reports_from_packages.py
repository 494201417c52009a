"""Reports that are read from their packages before companyfacts have them: the version log, and later changes."""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import patch

import httpx
import pytest

from pipelines.edgar.decode.newest import NewFiling
from pipelines.fake_sec.server import EdgarServer, running_server
from pipelines.run.filing_queue import Queue, Waiting
from pipelines.run.plan import run_all
from pipelines.run.synchronization import Synchronization
from pipelines.sample import SampleTransport, sample_filers
from pipelines.sample.business.filings import Filing
from pipelines.storage.home import Home
from tests.e2e.homes import query

FILER = sample_filers()[0]
WHOLE = SampleTransport([FILER])
REPORTS = [filing for _, filing in WHOLE._filings if filing.form == "10-Q"][-2:]
ITEM, VERSION, VALUE, CAUSE = 3, 4, 6, -5
Row = tuple[object, ...]
LOG = """
    SELECT v.* EXCLUDE (recorded_at, known_at) FROM versions v
    WHERE filed >= '{}' ORDER BY ALL
"""


class Sec(httpx.BaseTransport):
    """The SEC with the packages of all reports, and with documents as they were before a day, or changed."""

    def __init__(self) -> None:
        self.documents = SampleTransport([FILER], filed_by=REPORTS[0].filed - timedelta(days=1))
        self.change: Callable[[str], str] = str
        self.left_out = re.compile(rb"(?!)")  # of packages: nothing

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if "/Archives/edgar/data/" in str(request.url):
            answer = WHOLE.handle_request(request)
            return httpx.Response(answer.status_code, content=self.left_out.sub(b"", answer.content))
        answer = self.documents.handle_request(httpx.Request("GET", request.url))
        if "companyfacts/CIK" in str(request.url):
            return httpx.Response(200, content=self.change(answer.text).encode())
        return answer


@pytest.fixture(scope="module")
def server() -> Iterator[EdgarServer]:
    with running_server() as running:
        yield running


@pytest.fixture(scope="module")
def first(server: EdgarServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that was synchronized before the reports; tests do not change it."""
    server.transport = Sec()
    return at(server, Home(tmp_path_factory.mktemp("first") / "home"), synchronize).root


@pytest.fixture(scope="module")
def together(server: EdgarServer, first: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of that home that has followed both reports at once; tests do not change it."""
    server.transport = Sec()
    folder = tmp_path_factory.mktemp("together") / "home"
    return at(server, Home(copied(first, folder)), lambda home: follow(home, *REPORTS)).root


@pytest.fixture(scope="module")
def once(server: EdgarServer, first: Path, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[object, ...]]:
    """The log of a copy of that home that has read companyfacts with both reports."""
    server.transport = WHOLE
    folder = tmp_path_factory.mktemp("once") / "home"
    return log_of(at(server, Home(copied(first, folder)), lambda home: synchronize(home, FILER.symbols[0])))


@pytest.fixture
def sec(server: EdgarServer, monkeypatch: pytest.MonkeyPatch) -> Sec:
    for name, value in settings(server).items():
        monkeypatch.setenv(name, value)
    server.transport = made = Sec()
    return made


def settings(server: EdgarServer) -> dict[str, str]:
    return {"EDGAR_USER_AGENT": "Example mail@example.org", "EDGAR_BASE_URL": server.url}


def at(server: EdgarServer, home: Home, work: Callable[[Home], object]) -> Home:
    """Do some work on a home with the server as the SEC."""
    with patch.dict(os.environ, settings(server)):
        work(home)
    return home


def copied(home: Path, folder: Path) -> Path:
    return shutil.copytree(home, folder, symlinks=True)


def synchronize(home: Home, symbols: str = "") -> None:
    run_all(Synchronization(home, "live", symbols))


def follow(home: Home, *reports: Filing, is_stated: bool = False) -> None:
    """Synchronize the company for reports that the feed has named, as `fundamentals follow` does."""
    now = datetime.now(UTC).replace(microsecond=0)
    named = [NewFiling(FILER.cik, one.form, one.accession, one.accepted, f"{one.filed}") for one in reports]
    waiting = [Waiting(one, now, read_at=now, stated_at=now if is_stated else None) for one in named]
    Queue(now, [one.key for one in named], waiting).save(home.root)
    run_all(Synchronization(home, "live", FILER.symbols[0], newest=True))


def log_of(home: Home) -> list[Row]:
    return query(home.root, LOG.format(REPORTS[0].filed))


def test_reports_from_packages_give_the_log_of_one_synchronization(together, once):
    """Before companyfacts have them."""
    read = log_of(Home(together))
    assert [row for row in read if "source" in row] == []
    assert read == once


def test_so_they_do_whatever_their_order_and_after_companyfacts_have_them(sec, first, once, tmp_path):
    home = Home(copied(first, tmp_path / "home"))
    follow(home, REPORTS[1])
    assert {row[0] for row in query(home.root, "SELECT accession FROM filings WHERE NOT in_companyfacts")} == {
        REPORTS[1].accession
    }
    follow(home, REPORTS[0])
    assert first_by_newest(log_of(home)) == once
    sec.documents = WHOLE
    follow(home, *REPORTS, is_stated=True)
    assert first_by_newest(log_of(home)) == once


def first_by_newest(log: list[Row]) -> list[Row]:
    """A log without the one value that was first served from the newest report alone: diluted earnings per share.

    Its year to date leads to 4.43, and with the report before four quarters lead to 4.44, a version with cause source.
    """
    [early] = [row for row in log if row[VALUE] == 4.43 and row[ITEM] == "eps_diluted"]
    [late] = [row for row in log if row[:VERSION] == early[:VERSION] and row is not early]
    assert (early[VERSION], late[VERSION], late[VALUE], late[CAUSE]) == (1, 2, 4.44, "source")
    as_first = (*late[:VERSION], 1, *late[VERSION + 1 : CAUSE], "initial", *late[CAUSE + 1 :])
    return [as_first if row is early else row for row in log if row is not late]


def test_where_companyfacts_differ_within_rounding_a_version_has_the_cause_source(sec, together, tmp_path):
    home = Home(copied(together, tmp_path / "home"))
    before, after = before_and_after(sec, home, multiplied(1.004))
    new = [row for row in after if row not in before]
    assert {row[CAUSE] for row in new if row[VERSION] > 1} == {"source"}
    assert len([row for row in new if row[VERSION] > 1]) > 10
    assert query(home.root, "SELECT count(*) FROM changes") == [(0,)]


@pytest.mark.parametrize("factor", [1, 1.006, 1000, None], ids=["equal", "more than rounding", "scale", "missing"])
def test_what_companyfacts_state_otherwise_or_lack_changes_no_version(sec, together, tmp_path, factor):
    """If the difference is above 0.5 %, the report's own amount is right; so is an amount that only the report
    states.
    """
    before, after = before_and_after(sec, Home(copied(together, tmp_path / "home")), multiplied(factor))
    assert before
    assert after == before


def test_what_only_companyfacts_state_gives_a_first_value_or_one_with_the_cause_source(sec, first, tmp_path):
    """Earnings per share, which are calculated without it, and dividends per share, which cannot be."""
    sec.left_out = re.compile(rb"<us-gaap:(?:EarningsPerShareBasic|CommonStockDividendsPerShareDeclared) .*\n")
    home = Home(copied(first, tmp_path / "home"))
    follow(home, *REPORTS)
    before, after = before_and_after(sec, home, str)
    new = [row for row in after if row not in before and row[VERSION] > 1]
    assert [(row[ITEM], row[VERSION], row[CAUSE]) for row in new] == [("eps_basic", 2, "source")]
    initial = {(row[ITEM], row[CAUSE]) for row in after if row[ITEM] not in {row[ITEM] for row in before}}
    assert initial == {("dividends_per_share", "initial")}
    assert query(home.root, "SELECT DISTINCT item FROM changes") == [("dividends_per_share",)]


def before_and_after(sec: Sec, home: Home, change: Callable[[str], str]) -> tuple[list[Row], list[Row]]:
    """The log of a home that read the reports from packages, before and after companyfacts have them."""
    before = log_of(home)
    sec.documents, sec.change = WHOLE, change
    follow(home, *REPORTS, is_stated=True)
    return before, log_of(home)


def multiplied(factor: float | None) -> Callable[[str], str]:
    """Companyfacts with other amounts of the newest report; None: without any."""
    newest = REPORTS[1].accession

    def changed(text: str) -> str:
        document = json.loads(text)
        for concept in document["facts"]["us-gaap"].values():
            for unit, rows in concept["units"].items():
                kept = [row for row in rows if factor or row["accn"] != newest]
                concept["units"][unit] = [
                    {**row, "val": row["val"] * factor} if factor and row["accn"] == newest else row for row in kept
                ]
        return json.dumps(document)

    return changed
