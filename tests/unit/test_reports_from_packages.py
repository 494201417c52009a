"""Reports that are read from their packages before companyfacts have them: the version log, and what follows later."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import patch

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
VERSION, CAUSE = 4, -5
LOG = """
    SELECT v.* EXCLUDE (recorded_at, known_at) FROM versions v
    WHERE filed >= '{}' ORDER BY ALL
"""


class Sec(httpx.BaseTransport):
    """The SEC with the packages of all reports, and with documents as they were before a day, or changed."""

    def __init__(self) -> None:
        self.documents = SampleTransport([FILER], filed_by=REPORTS[0].filed - timedelta(days=1))
        self.change: Callable[[str], str] = str

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if "/Archives/edgar/data/" in str(request.url):
            return WHOLE.handle_request(request)
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
    composed(Synchronization(home, "live", symbols))


def follow(home: Home, *reports: Filing, is_stated: bool = False) -> None:
    """Synchronize the company for reports that the feed has named, as `fundamentals follow` does."""
    now = datetime.now(UTC).replace(microsecond=0)
    named = [NewFiling(FILER.cik, one.form, one.accession, one.accepted, f"{one.filed}") for one in reports]
    waiting = [Waiting(one, now, read_at=now, stated_at=now if is_stated else None) for one in named]
    Queue(now, [one.key for one in named], waiting).save(home.root)
    composed(Synchronization(home, "live", FILER.symbols[0], newest=True))


def log_of(home: Home) -> list[tuple[object, ...]]:
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
    assert log_of(home) == once
    sec.documents = WHOLE
    follow(home, *REPORTS, is_stated=True)
    assert log_of(home) == once


def test_where_companyfacts_differ_a_version_has_the_cause_source(sec, together, tmp_path):
    """By less than rounding; of a larger difference the amount that the report itself states is right, and stays."""
    home = Home(copied(together, tmp_path / "home"))
    before = log_of(home)
    sec.documents = WHOLE
    newest = REPORTS[1].accession

    def changed(text: str) -> str:
        document = json.loads(text)
        for concept in document["facts"]["us-gaap"].values():
            for rows in concept["units"].values():
                for row in rows:
                    row["val"] = row["val"] * 1.004 if row["accn"] == newest else row["val"]
        return json.dumps(document)

    sec.change = changed
    follow(home, *REPORTS, is_stated=True)
    after = log_of(home)
    new = [row for row in after if row not in before]
    assert {row[CAUSE] for row in new if row[VERSION] > 1} == {"source"}
    assert len([row for row in new if row[VERSION] > 1]) > 10
    assert query(home.root, "SELECT count(*) FROM changes") == [(0,)]
