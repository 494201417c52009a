"""EDGAR's feed of the newest filings, and the sensor that reads it during the day."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import dagster as dg
import httpx
import msgspec
import polars as pl
import pytest

from pipelines.dagster_app import definitions
from pipelines.edgar import newest
from pipelines.edgar.client import EdgarClient
from pipelines.edgar.errors import DocumentError, FetchError
from pipelines.edgar.newest import Cursor, NewFiling, filings_in, new_filings, newest_url, symbols_of
from pipelines.sample import SampleTransport, sample_filers
from pipelines.stages.schemas import LISTINGS
from pipelines.storage.home import Home
from pipelines.storage.lake import Lake
from tests.edgar_server import EdgarServer, Reply, running_server

AT = datetime(2026, 8, 4, 16, 5, 1, tzinfo=UTC)
FEED = """<?xml version="1.0" encoding="ISO-8859-1" ?>
<feed xmlns="http://www.w3.org/2005/Atom">
<title>Latest Filings - Tue, 04 Aug 2026 12:20:00 EDT</title>
<link rel="alternate" href="/cgi-bin/browse-edgar?action=getcurrent"/>
{}</feed>
"""
ENTRY = """<entry>
<title>{form} - SOCIÉTÉ &amp; CO (NEW) ({cik}) (Filer)</title>
<link rel="alternate" type="text/html" href="https://www.sec.gov/Archives/edgar/data/101/{accession}-index.htm"/>
<summary type="html">
 &lt;b&gt;Filed:&lt;/b&gt; 2026-08-04 &lt;b&gt;AccNo:&lt;/b&gt; {accession} &lt;b&gt;Size:&lt;/b&gt; 5 MB
</summary>
<updated>{updated}</updated>
<category scheme="https://www.sec.gov/" label="form type" term="{form}"/>
<id>urn:tag:sec.gov,2008:accession-number={accession}</id>
</entry>
"""


def entry(number: int, minutes: float = 0, form: str = "10-Q", **given: str) -> str:
    updated = (AT + timedelta(minutes=minutes)).isoformat()
    told = {"cik": f"{number:010}", "accession": f"{number:010}-26-000001", "form": form, "updated": updated}
    return ENTRY.format(**told | given)


def feed(*entries: str) -> bytes:
    return FEED.format("".join(entries)).encode("latin-1")


@pytest.fixture
def server() -> Iterator[EdgarServer]:
    with running_server() as state:
        state.otherwise = Reply(body=feed())
        yield state


@pytest.fixture
def client(server: EdgarServer) -> Iterator[EdgarClient]:
    with EdgarClient(user_agent=None, pace=None, base_url=server.url) as client:
        yield client


def test_entries_of_the_feed():
    eastern = entry(101, updated="2026-08-04T12:05:01-04:00", form="10-Q/A")
    assert filings_in(feed(eastern)) == [NewFiling("0000000101", "10-Q/A", "0000000101-26-000001", AT)]
    assert filings_in(feed()) == []


@pytest.mark.parametrize(
    "raw",
    [
        b"<html>",
        b"",
        feed(entry(101, cik="101")),
        feed(entry(101, accession="x")),
        feed(entry(101, form="")),
        feed(entry(101, updated="yesterday")),
        feed(entry(101, updated="2026-08-04T12:05:01")),
        feed("<entry/>"),
    ],
)
def test_something_else_than_the_feed_is_an_error(raw):
    with pytest.raises(DocumentError, match="feed of the newest filings"):
        filings_in(raw)


def test_filings_are_new_once(server, client):
    """A filing is new from five minutes after its acceptance, when its facts are in the company's document."""
    server.on(newest_url("10-", 0), Reply(body=feed(entry(3, 8), entry(2, 1), entry(1, 1), entry(9, -1))))
    server.on(newest_url("20-F", 0), Reply(body=feed(entry(4, 2, "20-F"))))
    assert new_filings(client, None, AT) == ([], Cursor(AT - timedelta(minutes=5)))
    assert server.asked == []

    new, cursor = new_filings(client, Cursor(AT), AT + timedelta(minutes=10))

    assert [filing.cik[-1] for filing in new] in (["1", "2", "4"], ["2", "1", "4"])
    assert cursor == Cursor(AT + timedelta(minutes=2), ["0000000004-26-000001"])
    assert len(server.asked) == 3
    assert new_filings(client, cursor, AT + timedelta(minutes=11)) == ([], cursor)
    # one more that was accepted in the same second
    server.on(newest_url("40-F", 0), Reply(body=feed(entry(5, 2, "40-F"))))
    new, cursor = new_filings(client, cursor, AT + timedelta(minutes=12))
    assert [filing.cik[-1] for filing in new] == ["5"]
    assert cursor.accessions == ["0000000004-26-000001", "0000000005-26-000001"]
    assert [filing.cik[-1] for filing in new_filings(client, cursor, AT + timedelta(hours=1))[0]] == ["3"]


def test_further_pages_are_read_if_all_of_a_page_is_new(server, client, monkeypatch):
    monkeypatch.setattr(newest, "PAGE", 2)
    pages = [feed(entry(1, 6), entry(2, 5)), feed(entry(3, 4), entry(4, 3)), feed(entry(5, 2), entry(6, -1))]
    for number, page in enumerate(pages):
        server.on(newest_url("10-", 2 * number), Reply(body=page))
    assert len(new_filings(client, Cursor(AT), AT + timedelta(hours=1))[0]) == 5


def test_after_the_clock_was_ahead_the_feed_is_read_from_now_on(server, client):
    """Otherwise nothing would be new until that time."""
    ahead = Cursor(AT + timedelta(days=400))
    assert new_filings(client, ahead, AT) == ([], Cursor(AT - timedelta(minutes=5)))
    assert server.asked == []


def test_a_missing_feed_is_an_error(server, client):
    server.otherwise = Reply(404)
    with pytest.raises(FetchError, match="answers 404"):
        new_filings(client, Cursor(AT), AT)


def test_symbols_of_listed_filers():
    filings = [NewFiling("2", "10-K", "", AT), NewFiling("1", "10-Q", "", AT), NewFiling("9", "10-Q", "", AT)]
    assert symbols_of(filings, [("1", "B"), ("1", "B-A"), ("2", "A"), ("3", "C")]) == ["A", "B"]


def test_the_sample_has_a_feed():
    """Newest first, of forms that begin as asked."""
    with httpx.Client(transport=SampleTransport(sample_filers()[:4], filed_by=date(2024, 6, 30))) as sample:
        filings = filings_in(sample.get(newest_url("10-", 0)).content)
    assert 20 < len(filings) <= 100
    assert {filing.form[:3] for filing in filings} == {"10-"}
    assert filings == sorted(filings, key=lambda filing: filing.accepted_at, reverse=True)


# --- the sensor


def evaluate(instance: dg.DagsterInstance, cursor: Cursor | None) -> dg.SensorResult | dg.SkipReason:
    [sensor] = definitions.build_definitions({}).sensors
    told = msgspec.json.encode(cursor).decode() if cursor else None
    return sensor(dg.build_sensor_context(instance=instance, cursor=told))


def test_the_sensor_synchronizes_companies_that_filed(server, tmp_path: Path, monkeypatch):
    """Off until it is turned on; the first look only remembers the time."""
    [sensor] = definitions.build_definitions({}).sensors
    assert sensor.default_status is dg.DefaultSensorStatus.STOPPED
    assert sensor.minimum_interval_seconds == definitions.FEED_INTERVAL
    for name, value in {
        "EDGAR_USER_AGENT": "Example mail@example.org",
        "EDGAR_BASE_URL": server.url,
        "FUNDAMENTALS_HOME": str(tmp_path),
    }.items():
        monkeypatch.setenv(name, value)
    server.on(newest_url("10-", 0), Reply(body=feed(entry(101), entry(102))))
    since = Cursor(AT - timedelta(minutes=1))
    with dg.DagsterInstance.ephemeral() as instance:
        home = Home(tmp_path)
        home.prepare()
        with home.writing():
            assert "another synchronization is running" in evaluate(instance, None).skip_message
        assert not server.asked, "one process at a time asks the SEC"
        first = evaluate(instance, None)
        assert (first.run_requests, bool(first.cursor)) == ([], True)
        unknown = evaluate(instance, since)
        assert unknown.skip_message == "2 new reports, and no list of companies: synchronize all companies once"
        assert isinstance(unknown, dg.SkipReason), "the cursor stays"
        rows = [dict.fromkeys(LISTINGS.names()) | {"cik": "0000000101", "symbol": "ALFA", "is_listed": True}]
        Lake(tmp_path / "tables").write("listings", pl.DataFrame(rows, schema=LISTINGS))
        [request] = evaluate(instance, since).run_requests
        assert request.run_config == {"source": "live", "symbols": "ALFA"}
        server.on(newest_url("10-", 0), Reply(body=feed(entry(102))))
        others = evaluate(instance, since)
        assert (others.run_requests, bool(others.cursor)) == ([], True)
        assert others.skip_reason.skip_message == "1 new reports, none of a listed company"
        server.on(newest_url("10-", 0), Reply(body=b"<html>"))
        assert "is not a feed" in evaluate(instance, since).skip_message
        monkeypatch.delenv("EDGAR_USER_AGENT")
        assert "needs EDGAR_USER_AGENT" in evaluate(instance, since).skip_message
