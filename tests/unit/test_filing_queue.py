"""Reports that are read from their packages as soon as the feed names them."""

import json
from collections.abc import Iterator
from datetime import date

import polars as pl
import pytest

from pipelines.edgar.answers import facts_url, submissions_url
from pipelines.edgar.decode.newest import newest_url
from pipelines.edgar.fetch.filing_documents import ARCHIVES
from pipelines.fake_sec.server import EdgarServer, Reply, running_server
from pipelines.run import newest_filings
from pipelines.run.filing_queue import Queue
from pipelines.run.newest_filings import Covered, from_packages, note_served
from pipelines.stages.batch.schemas import DECODED_FILINGS, FED, FEED_FILINGS, SERVED, UNREAD_FILINGS
from pipelines.stages.filed.shares import DECODED, UNREAD
from pipelines.storage.lake import Lake
from tests.unit.test_newest import AT, LISTED, client, entry, feed, filing_of, home, looked

__all__ = ["client", "home"]
REPORT, FACTS = filing_of(), facts_url("0000000101")
NAMING = Reply(body=REPORT.accession.encode())


@pytest.fixture
def server() -> Iterator[EdgarServer]:
    with running_server() as state:
        for form in ("10-", "20-F", "40-F"):
            state.on(newest_url(form, 0), Reply(body=feed()))
        state.on(newest_url("10-", 0), Reply(body=feed(entry(101))))
        state.on(submissions_url("0000000101"), NAMING)
        yield state


def index_of(number: int) -> str:
    return f"{ARCHIVES}{number}/{filing_of(number).accession.replace('-', '')}/index.json"


def folder_with(*names: str) -> Reply:
    return Reply(body=json.dumps({"directory": {"item": [{"name": name} for name in names]}}).encode())


def published(is_in_companyfacts: bool) -> Covered:
    return Covered(LISTED.symbols, LISTED.synchronized, {REPORT.key: is_in_companyfacts})


def documents_asked(server: EdgarServer) -> int:
    return len([path for path, _ in server.asked if "companyfacts" in path or "submissions" in path])


def test_a_report_is_read_from_its_package_at_once(server, client, home):
    """No document is asked whether it names the report; the synchronization requests only the package."""
    assert looked(client, home, 0) == [REPORT]
    assert documents_asked(server) == 0
    assert from_packages(home, ["0000000101", "0000000102"]) == {"0000000101"}


def test_a_report_that_was_read_from_its_package_waits_for_companyfacts(server, client, home):
    """Then the company is synchronized once more, and the report leaves the queue; no document is requested before."""
    server.on(FACTS, Reply(body=b"{}"), Reply(body=b"{}"), NAMING)
    assert looked(client, home, 0) == [REPORT]
    assert [looked(client, home, minutes, published(False)) for minutes in (1, 2, 4)] == [[], [], []]
    assert from_packages(home, ["0000000101"]) == {"0000000101"}
    assert looked(client, home, 6, published(False)) == [REPORT]
    assert from_packages(home, ["0000000101"]) == set()
    assert looked(client, home, 7, published(True)) == []
    assert Queue.of(home.root).waiting == []


def test_a_package_that_is_not_there_yet_is_looked_for(server, client, home):
    """The first time without asking, later by the index of its folder; companyfacts may be earlier."""
    server.on(index_of(101), Reply(404), folder_with("x-xbrl.zip"), Reply(418), folder_with("x.htm", "x_htm.xml"))
    server.on(FACTS, Reply(body=b"{}"))
    assert [looked(client, home, minutes) for minutes in (0, 2, 4, 6)] == [[REPORT], [], [], []]
    assert looked(client, home, 8) == [REPORT]
    server.on(index_of(101), Reply(404))
    server.on(FACTS, NAMING)
    assert looked(client, home, 10) == [REPORT]
    assert from_packages(home, ["0000000101"]) == set(), "its documents are requested"


def test_in_a_burst_the_first_reports_are_read_first(server, client, home, monkeypatch):
    """So many together; and while packages are there, no report is asked for that is served already."""
    monkeypatch.setattr(newest_filings, "MOST_SYNCHRONIZED", 2)
    server.on(newest_url("10-", 0), Reply(body=feed(*(entry(number) for number in range(101, 106)))))
    symbols = {f"{number:010}": f"S{number}" for number in range(101, 106)}
    found = [looked(client, home, minutes / 60, Covered(symbols, {})) for minutes in range(3)]
    assert [[int(one.cik) for one in filings] for filings in found] == [[101, 102], [103, 104], [105]]
    assert documents_asked(server) == 0


def test_a_second_company_of_a_known_filing_is_read_too(server, client, home):
    """Companies that file together have one accession number, which is not all that is known of each."""
    assert looked(client, home, 0) == [REPORT]
    second = entry(102, accession=REPORT.accession)
    server.on(newest_url("10-", 0), Reply(body=feed(second, entry(101))))
    both = Covered({**LISTED.symbols, "0000000102": "BRVO"}, {}, {REPORT.key: True})
    assert [filing.cik for filing in looked(client, home, 1, both)] == ["0000000102"]


def test_while_documents_cannot_be_read_the_feed_is(server, client, home):
    """After three failures in a row the other reports wait for the next look, because each would take as long."""
    numbers = range(101, 108)
    symbols = {f"{number:010}": f"S{number}" for number in numbers}
    covered = Covered(symbols, {}, dict.fromkeys((filing_of(number).key for number in numbers), False))
    server.on(newest_url("10-", 0), Reply(body=feed(*map(entry, numbers))))
    for cik in symbols:
        server.on(facts_url(cik), Reply(418))
    assert looked(client, home, 0, covered) == []
    assert documents_asked(server) == 3
    assert [one.asked for one in Queue.of(home.root).waiting] == [1, 1, 1, 0, 0, 0, 0]


def test_a_package_that_states_nothing_or_cannot_be_decoded_is_not_read_again(home):
    """For example the package of an amendment of Part III, or of a co-registrant; a package that was not decoded is
    read again.
    """
    lake, keys = Lake(home.tables), [("0000000101", f"0000000101-26-00000{number}") for number in range(4)]
    filings = [(*key, date(2026, 8, 4), is_in) for key, is_in in zip(keys, (True, False), strict=False)]
    lake.write("filings", pl.DataFrame(filings, ["cik", "accession", "filed", "in_companyfacts"], orient="row"))
    of_feed = [(*key, "10-K/A", date(2026, 8, 4), AT) for key in keys]
    lake.write(FED, pl.DataFrame(of_feed, FEED_FILINGS, orient="row"))
    lake.write(DECODED, pl.DataFrame([(*key, "") for key in keys[1:3]], DECODED_FILINGS, orient="row"))
    unread = [(None, *reversed(keys[2]), "of another company", "1"), (None, *reversed(keys[3]), "damaged", "")]
    lake.write(UNREAD, pl.DataFrame(unread, UNREAD_FILINGS, orient="row"))
    note_served(lake)
    assert lake.read(SERVED).rows() == [(*keys[0], True), (*keys[1], False), (*keys[2], False)]
