"""Reports that are read from their packages before companyfacts have them: the version log, and what follows later."""

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from pipelines.edgar.newest import NewFiling
from pipelines.fake_sec.server import EdgarServer, running_server
from pipelines.run.filing_queue import Queue, Waiting
from pipelines.run.plan import composed
from pipelines.run.synchronization import Synchronization
from pipelines.sample import SampleTransport, sample_filers
from pipelines.sample.filings import Filing
from pipelines.storage.home import Home
from tests.e2e.homes import query

FILER = sample_filers()[0]
WHOLE = SampleTransport([FILER])
REPORTS = [filing for _, filing in WHOLE._filings if filing.form == "10-Q"][-2:]
ITEM, VERSION, CAUSE = 3, 4, -5
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


@pytest.fixture
def sec(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sec]:
    monkeypatch.setenv("EDGAR_USER_AGENT", "Example mail@example.org")
    with running_server() as server:
        monkeypatch.setenv("EDGAR_BASE_URL", server.url)
        yield prepared(server)


def prepared(server: EdgarServer) -> Sec:
    made = Sec()
    server.transport = made
    return made


def first(folder: Path) -> Home:
    """A home that was synchronized before the reports."""
    home = Home(folder)
    composed(Synchronization(home, "live"))
    return home


def follow(home: Home, *reports: Filing, is_stated: bool = False) -> None:
    """Synchronize the company for reports that the feed has named, as `fundamentals follow` does."""
    now = datetime.now(UTC).replace(microsecond=0)
    named = [NewFiling(FILER.cik, one.form, one.accession, one.accepted, f"{one.filed}") for one in reports]
    waiting = [Waiting(one, now, read_at=now, stated_at=now if is_stated else None) for one in named]
    Queue(now, [one.key for one in named], waiting).save(home.root)
    composed(Synchronization(home, "live", FILER.symbols[0], newest=True))


def log_of(home: Home) -> list[Row]:
    return query(home.root, LOG.format(REPORTS[0].filed))


@pytest.mark.parametrize("together", [True, False], ids=["together", "newest first"])
def test_reports_from_packages_give_the_log_of_one_synchronization(sec, tmp_path, together):
    """Whatever their order, before companyfacts have them and after."""
    home, once = first(tmp_path / "home"), first(tmp_path / "once")
    if together:
        follow(home, *REPORTS)
    else:
        follow(home, REPORTS[1])
        assert {row[0] for row in query(home.root, "SELECT accession FROM filings WHERE NOT in_companyfacts")} == {
            REPORTS[1].accession
        }
        follow(home, REPORTS[0])
    read = log_of(home)
    sec.documents = WHOLE
    follow(home, *REPORTS, is_stated=True)
    composed(Synchronization(once, "live", FILER.symbols[0]))
    assert read == log_of(home)
    assert [row for row in read if "source" in row] == []
    assert read == log_of(once)


def test_where_companyfacts_differ_within_rounding_a_version_has_the_cause_source(sec, tmp_path):
    home, before, after = before_and_after(sec, tmp_path, multiplied(1.004))
    new = [row for row in after if row not in before]
    assert {row[CAUSE] for row in new if row[VERSION] > 1} == {"source"}
    assert len([row for row in new if row[VERSION] > 1]) > 10
    assert query(home.root, "SELECT count(*) FROM changes") == [(0,)]


@pytest.mark.parametrize("factor", [1, 1.006, 1000, None], ids=["equal", "more than rounding", "scale", "missing"])
def test_what_companyfacts_state_otherwise_or_lack_changes_no_version(sec, tmp_path, factor):
    """Of a difference above 0.5 % the amount of the report itself is right; so is what only the report states."""
    _, before, after = before_and_after(sec, tmp_path, multiplied(factor))
    assert before
    assert after == before


def test_what_only_companyfacts_state_gives_a_first_value_or_one_with_the_cause_source(sec, tmp_path):
    """Earnings per share, which are calculated without it, and dividends per share, which cannot be."""
    sec.left_out = re.compile(rb"<us-gaap:(?:EarningsPerShareBasic|CommonStockDividendsPerShareDeclared) .*\n")
    home, before, after = before_and_after(sec, tmp_path, str)
    new = [row for row in after if row not in before and row[VERSION] > 1]
    assert [(row[ITEM], row[VERSION], row[CAUSE]) for row in new] == [("eps_basic", 2, "source")]
    first = {(row[ITEM], row[CAUSE]) for row in after if row[ITEM] not in {row[ITEM] for row in before}}
    assert first == {("dividends_per_share", "initial")}
    assert query(home.root, "SELECT DISTINCT item FROM changes") == [("dividends_per_share",)]


def before_and_after(sec: Sec, folder: Path, change: Callable[[str], str]) -> tuple[Home, list[Row], list[Row]]:
    """A home that read the reports from packages first, and its log before and after companyfacts had them."""
    home = first(folder / "home")
    follow(home, *REPORTS)
    before = log_of(home)
    sec.documents, sec.change = WHOLE, change
    follow(home, *REPORTS, is_stated=True)
    return home, before, log_of(home)


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
