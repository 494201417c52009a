"""The pages of older filings: which are requested from each source, when again, and the effect of a missing page."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pipelines.edgar.answers import page_url
from pipelines.edgar.errors import RefusedError
from pipelines.edgar.fetch.download_plan import DownloadPlan
from pipelines.edgar.fetch.extract import CompanyDocuments, fetch_documents
from pipelines.edgar.fetch.raw_store import RawStore
from pipelines.edgar.source.client import EdgarClient
from pipelines.edgar.source.source import Source
from pipelines.fake_sec.server import EdgarServer, Reply, running_server
from pipelines.sources import open_source
from pipelines.storage.lake import Lake
from tests.archives import zipped
from tests.conftest import SHARED
from tests.e2e.homes import query, sync_unrecorded
from tests.fake_time import FakeTime
from tests.mirrors import ALFA, BRAVO, Mirror, changed

CASE = SHARED / "cases" / "acceptance-times-of-older-filings"

NOW = datetime(2026, 8, 1, tzinfo=UTC)


class Requests:
    """Synchronizations of the documents of ALFA and BRVO from one source, a day apart; `asked` are the pages.

    ALFA has twelve filings, four a year from 2022 on.
    """

    def __init__(self, mirror: Mirror, home: Path, opened: Callable[[], Any]) -> None:
        self.mirror, self.home, self.opened, self.days = mirror, home, opened, 0
        self.asked: list[str] = []

    def __call__(self) -> CompanyDocuments:
        """Bring the documents up to date, and return the documents of ALFA."""
        self.days += 1
        with self.opened() as source:
            get = source.client.get
            source.client.get = lambda url, held=None: self.asked.append(url) or get(url, held)
            self.asked.clear()
            at = NOW + timedelta(days=self.days)
            alfa, bravo = fetch_documents(source, self.store, [ALFA.cik, BRAVO.cik], at).companies
        self.asked[:] = [url.rpartition("/")[2] for url in self.asked if "-submissions-" in url]
        assert (alfa.failure, bravo.failure, bravo.pages, bravo.unread) == ("", "", (), ())
        return alfa

    @property
    def store(self) -> RawStore:
        return RawStore(self.home)


@contextmanager
def live(server: EdgarServer) -> Iterator[Source]:
    time = FakeTime()
    client = EdgarClient(
        user_agent="x mail@example.org", pace=10, base_url=server.url, sleep=time.sleep, clock=time.clock
    )
    with Source("live", "edgar", client, threads=4) as source:
        yield source


@pytest.fixture(params=["live", "mirror", "bulk"])
def requests(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Requests]:
    mirror = Mirror(tmp_path / "mirror", ALFA, BRAVO)
    with running_server() if request.param == "live" else nullcontext(EdgarServer()) as server:
        server.folder = mirror.folder
        opened: dict[str, Callable[[], Any]] = {
            "live": partial(live, server),
            "mirror": lambda: open_source(str(mirror.folder)),
            "bulk": lambda: open_source(str(zipped(mirror, tmp_path / "bulk"))),
        }
        yield Requests(mirror, tmp_path / "home", opened[request.param])


def names(*pages: Path) -> list[str]:
    return [page.name for page in pages]


def test_pages_are_requested_once(requests):
    pages = requests.mirror.page(ALFA, 4, 5, 3)
    found = requests()
    assert requests.asked == names(*pages)
    assert [requests.store.get(digest) for digest in found.pages] == [page.read_bytes() for page in pages]
    assert (requests().pages, requests.asked) == (found.pages, [])


def test_pages_from_before_the_first_filing_with_facts_are_not_requested(requests):
    (page,) = requests.mirror.page(ALFA, 4, 8)
    earlier = {"filingCount": 9, "filingFrom": "1994-01-03", "filingTo": "2022-05-09"}  # the first report is of May 10
    with changed(requests.mirror.submissions(ALFA)) as document:
        document["filings"]["files"].append({"name": page.name.replace("001", "002"), **earlier})
    assert (requests().unread, requests.asked) == ((), names(page))


def test_a_page_is_requested_again_if_a_filing_with_facts_moved_to_it(requests):
    requests.mirror.page(ALFA, 4, 8)
    requests()
    pages = requests.mirror.page(ALFA, 3, 9)
    found = requests()
    assert requests.asked == names(*pages)
    assert [requests.store.get(digest) for digest in found.pages] == [pages[0].read_bytes()]


def test_pages_that_are_divided_anew_are_not_requested_again(requests):
    """Every filing moves some from page to page; each with facts is known from the page as it was before."""
    requests.mirror.page(ALFA, 4, 8)
    before = requests().pages
    requests.mirror.page(ALFA, 4, 5, 3)
    assert (requests().pages, requests.asked) == (before, [])


@pytest.mark.parametrize("content", [None, b"<html>", b"{}", b'{"form": 1}'])
def test_a_page_that_cannot_be_read_is_named_and_requested_again(requests, content):
    first, second = requests.mirror.page(ALFA, 4, 5, 3)
    whole = second.read_bytes()
    second.write_bytes(content or b"")
    if content is None:
        second.unlink()
    found = requests()
    assert found.unread[0].endswith("answers 404, although it is listed") == (content is None)
    assert second.name in found.unread[0]
    assert (len(found.pages), requests.store.get(found.pages[0])) == (1, first.read_bytes())

    assert (requests().unread, requests.asked) == (found.unread, names(second))
    way = DownloadPlan(open_source("sample"), "", frozenset())
    assert way.asks([ALFA.cik, BRAVO.cik], requests.store, (), NOW) == {ALFA.cik}
    second.write_bytes(whole)
    found = requests()
    assert (found.unread, len(found.pages)) == ((), 2)
    assert way.asks([ALFA.cik, BRAVO.cik], requests.store, (), NOW) == set()


def test_the_earlier_page_stays_while_the_new_one_cannot_be_read(requests):
    requests.mirror.page(ALFA, 4, 8)
    before = requests().pages
    (page,) = requests.mirror.page(ALFA, 3, 9)
    page.write_bytes(b"<html>")
    found = requests()
    assert (found.pages, len(found.unread)) == (before, 1)


def test_a_home_of_an_earlier_version_requests_the_pages(requests):
    """Its results of requests say nothing of pages; the documents are as they were."""
    requests.mirror.page(ALFA, 4, 8)
    before = requests().pages
    seen = requests.home / "raw" / "seen.jsonl"
    rows = [json.loads(line) for line in seen.read_text().splitlines()]
    stripped = [{key: row[key] for key in row if not key.startswith("pages")} for row in rows]
    seen.write_text("".join(f"{json.dumps(row)}\n" for row in stripped))
    assert DownloadPlan(open_source("sample"), "", frozenset()).asks([ALFA.cik], requests.store, (), NOW) == set()
    assert (requests().pages, len(requests.asked)) == (before, 1)


def test_a_page_that_is_gone_from_the_raw_zone_is_requested_again(requests):
    requests.mirror.page(ALFA, 4, 8)
    (digest,) = requests().pages
    requests.store.path(digest).unlink()
    assert (requests().pages, len(requests.asked)) == ((digest,), 1)
    assert requests.store.has(digest)


def test_pages_of_another_company_are_never_requested(requests):
    requests.mirror.page(ALFA, 4, 8)
    document = requests.mirror.submissions(ALFA)
    document.write_text(document.read_text().replace(f"CIK{ALFA.cik}-sub", f"CIK{BRAVO.cik}-sub"))
    assert (requests().unread, requests.asked) == ((), [])


def test_a_refusal_of_pages_ends_the_synchronization(tmp_path):
    mirror = Mirror(tmp_path / "mirror", ALFA)
    pages = mirror.page(ALFA, 3, 3, 3, 3)
    with running_server() as server, live(server) as source:
        server.folder = mirror.folder
        for page in pages:
            server.on(page_url(page.name), Reply(403, b"blocked"))
        with pytest.raises(RefusedError, match="403"):
            fetch_documents(source, RawStore(tmp_path / "home"), [ALFA.cik], NOW)


def test_all_filings_of_the_sample_have_their_acceptance(synchronized_sample):
    """Larkspur Components has two pages of older filings."""
    lake = Lake(synchronized_sample / "tables")
    assert lake.of_companies("filings", ["9990000016"])["accepted_at"].null_count() == 0
    (submissions,) = lake.of_companies("documents", ["9990000016"])["submissions_digest"]
    assert len(submissions.split()) == 3


@pytest.mark.skipif(not CASE.is_dir(), reason="real documents are missing: ../shared/cases")
def test_the_filings_of_a_second_page_have_their_times_of_acceptance(tmp_path):
    assert sync_unrecorded(tmp_path, CASE).returncode == 0
    assert query(tmp_path, "SELECT count(*), count(accepted_at) FROM filings") == [(24, 24)]
