"""EDGAR's feed of the newest filings, the queue of the reports in it, and the sensor that reads it."""

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import dagster as dg
import httpx
import polars as pl
import pytest

from pipelines.dagster_app import definitions
from pipelines.edgar.answers import facts_url, submissions_url
from pipelines.edgar.decode import newest
from pipelines.edgar.decode.newest import NewFiling, filings_in, newest_filings, newest_url
from pipelines.edgar.errors import DocumentError, FetchError
from pipelines.edgar.fetch.raw_store import RawStore, Seen
from pipelines.edgar.source.client import EdgarClient
from pipelines.fake_sec.server import EdgarServer, Reply, running_server
from pipelines.run import newest_filings as run_newest_filings
from pipelines.run.filing_queue import FILE, WAITS, Queue, Waiting, wait_after
from pipelines.run.newest_filings import Covered, ask_again, is_time_to_look, to_synchronize
from pipelines.run.plan import run_all
from pipelines.run.synchronization import Synchronization
from pipelines.sample import SampleTransport, sample_filers
from pipelines.stages.batch.schemas import LISTINGS
from pipelines.storage.home import Home
from pipelines.storage.lake import Lake
from tests.mirrors import ALFA, BRAVO, Mirror

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
        for number in (101, 102):
            state.on(
                submissions_url(f"{number:010}"),
                Reply(body=b"0000000%d-26-000000 0000000%d-26-000001" % (number, number)),
            )
        yield state


@pytest.fixture(autouse=True)
def _without_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports wait for companyfacts; reading from packages is tested in test_filing_queue."""
    monkeypatch.setenv("FUNDAMENTALS_FILINGS", "off")


@pytest.fixture
def client(server: EdgarServer) -> Iterator[EdgarClient]:
    with EdgarClient(user_agent=None, pace=None, base_url=server.url) as client:
        yield client


EASTERN = entry(101, updated="2026-08-04T12:05:01-04:00", form="10-Q/A")


@pytest.mark.parametrize(
    ("text", "at", "day"),
    [
        (EASTERN, AT, "2026-08-04"),
        # without EDGAR's day, the day in New York
        (
            EASTERN.replace("2026-08-04T12", "2026-08-04T18").replace("Filed:&lt;/b&gt; 2026-08-04", ""),
            AT + timedelta(hours=6),
            "2026-08-04",
        ),
        # as EDGAR says
        (EASTERN.replace("Filed:&lt;/b&gt; 2026-08-04", "Filed:&lt;/b&gt; 2026-08-05"), AT, "2026-08-05"),
    ],
)
def test_an_entry_of_the_feed(text, at, day):
    assert filings_in(feed(text)) == ([NewFiling("0000000101", "10-Q/A", "0000000101-26-000001", at, day)], [])


def test_a_feed_without_entries():
    assert filings_in(feed()) == ([], [])


@pytest.mark.parametrize(
    ("malformed", "lacks"),
    [
        (entry(101, cik="101"), "company"),
        (entry(101, accession="x"), "number"),
        (entry(101, form=""), "form"),
        (entry(101, updated="yesterday"), "time"),
        (entry(101, updated="2026-08-04T12:05:01"), "time"),
        (entry(101, updated="0001-01-01T00:00:00+14:00"), "time"),
        ("<entry/>", "company and form and number and time"),
    ],
)
def test_a_malformed_entry_is_returned_beside_the_others(malformed, lacks):
    filings, [skipped] = filings_in(feed(entry(102), malformed, entry(103)))
    assert [filing.cik for filing in filings] == ["0000000102", "0000000103"]
    assert skipped.endswith(f" lacks its {lacks}")


@pytest.mark.parametrize(
    "raw",
    [
        b"<html>",
        b"",
        b"<error/>",
        feed().replace(b"ISO-8859-1", b"no-such-encoding"),
        feed().replace(b"ISO-8859-1", b"big5"),
    ],
)
def test_something_else_than_the_feed_is_an_error(raw):
    with pytest.raises(DocumentError, match="feed of the newest filings"):
        filings_in(raw)


def serve_pages(server: EdgarServer, malformed: int | None = None) -> None:
    """Five pages of entries, a minute apart; one entry may lack its form."""
    for page in range(5):
        numbers = range(newest.PAGE * page, newest.PAGE * (page + 1))
        entries = (entry(number, -page, form="" if number == malformed else "10-Q") for number in numbers)
        server.on(newest_url("10-", newest.PAGE * page), Reply(body=feed(*entries)))


def test_the_feed_is_read_down_to_what_is_known(server, client):
    """Further pages are read while a page has no known filing, so that a burst is read whole, and one page more."""
    serve_pages(server, malformed=100)
    server.on(newest_url("20-F", 0), Reply(body=feed(entry(9, 1, "20-F"))))

    found, skipped, _ = newest_filings(client, {filing_of(210).key}, {})

    assert {int(filing.cik) for filing in found} == {9, *range(100), *range(101, 210), *range(211, 400)}
    assert len(skipped) == 1
    assert found == sorted(found, key=lambda filing: filing.accepted_at)
    assert len(server.asked) == 4 + 2


def test_a_new_queue_reads_the_feed_further_back(server, client):
    """Down to a known filing, and until a time: the newest of the burst may be served already, and others not."""
    serve_pages(server)
    known, since = {filing_of(10).key}, AT - timedelta(minutes=1.5)
    assert len(newest_filings(client, known, {}, since).filings) == 4 * newest.PAGE - 1
    assert len(newest_filings(client, (), {}, since).filings) == 5 * newest.PAGE, "to its end"


def test_another_company_of_a_known_filing_is_new(server, client):
    """Each of them has an entry under the same accession number."""
    both = (entry(101), entry(102, accession="0000000101-26-000001"))
    server.on(newest_url("10-", 0), Reply(body=feed(*both)))
    found = newest_filings(client, {filing_of(101).key}, {}).filings
    assert [(one.cik, one.accession) for one in found] == [("0000000102", "0000000101-26-000001")]


def test_a_missing_feed_is_an_error(server, client):
    server.otherwise = Reply(404)
    with pytest.raises(FetchError, match="answers 404"):
        newest_filings(client, (), {})


def test_a_page_that_has_not_changed_is_not_sent(server, client, home):
    """The entity tag of its last answer is sent, also by the next process; then only new entries are read."""
    url = newest_url("10-", 0)
    first, second = (Reply(body=feed(entry(number)), headers={"ETag": f'"{number}"'}) for number in (101, 102))
    server.on(url, first, Reply(304), second)
    for minute in range(3):
        looked(client, home, 2 * minute)
    tags = [headers.get("If-None-Match") for path, headers in server.asked if path.endswith(url.rpartition("/")[2])]
    assert tags == [None, '"101"', '"101"']
    assert waiting(home) == ["101", "102"]


def test_the_sample_has_a_feed():
    """Newest first, of forms that begin as asked."""
    with httpx.Client(transport=SampleTransport(sample_filers()[:4], filed_by=date(2024, 6, 30))) as sample:
        filings, _ = filings_in(sample.get(newest_url("10-", 0)).content)
    assert 20 < len(filings) <= 100
    assert {filing.form[:3] for filing in filings} == {"10-"}
    assert filings == sorted(filings, key=lambda filing: filing.accepted_at, reverse=True)


# --- the queue of reports that are not served yet


LISTED = Covered({"0000000101": "ALFA"}, {"0000000101": AT - timedelta(hours=1)})
FACTS = facts_url("0000000101")


STATES = Reply(body=b"0000000101-26-000001")


def tells(server: EdgarServer, entries: list[str], *facts: Reply) -> None:
    """The feed has these entries, and companyfacts of the first company are answered one after the other."""
    server.on(newest_url("10-", 0), Reply(body=feed(*entries)))
    server.on(FACTS, *facts)


def waiting(home: Home) -> list[str]:
    """The companies whose reports wait, without their zeros."""
    return [one.filing.cik.lstrip("0") for one in Queue.of(home.root).waiting]


def filing_of(number: int = 101, minutes: float = 0, form: str = "10-Q") -> NewFiling:
    return NewFiling(f"{number:010}", form, f"{number:010}-26-000001", AT + timedelta(minutes=minutes), "2026-08-04")


def looked(
    client: EdgarClient,
    home: Home,
    minutes: float,
    covered: Covered = LISTED,
    tell: Callable[[str], object] = pytest.fail,
) -> list[NewFiling]:
    return to_synchronize(home, client, covered, AT + timedelta(minutes=minutes), tell)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home that has looked at the feed a minute before the first report of these tests."""
    made = Home(tmp_path)
    made.prepare()
    Queue(AT - timedelta(minutes=1), ["0000000001 0000000001-26-000001"]).save(tmp_path)
    return made


def test_a_report_is_synchronized_when_companyfacts_names_it(server, client, home):
    """Not before: EDGAR adds the facts a while after the acceptance. Others than periodic reports do not wait."""
    tells(
        server,
        [entry(101), entry(102, form="10-D")],
        Reply(body=b"{}"),
        Reply(404),
        Reply(418),
        Reply(body=b'{"accn":"0000000101-26-000001"}'),
    )
    assert [looked(client, home, minutes) for minutes in (0, 1, 2, 4)] == [[], [], [], []]
    assert [one.filing for one in Queue.of(home.root).waiting] == [filing_of()]
    assert looked(client, home, 10) == [filing_of()]


def test_a_report_waits_for_submissions_too(server, client, home):
    """They have the time of acceptance, without which the order of versions would be another one."""
    tells(server, [entry(101)], STATES)
    server.on(submissions_url("0000000101"), Reply(body=b"{}"), STATES)
    assert [looked(client, home, minutes) for minutes in (0, 2)] == [[], [filing_of()]]


def test_a_report_waits_until_it_is_published(server, client, home):
    """A synchronization that failed, or was killed, is requested again; an earlier one does not count."""
    tells(server, [entry(101)], STATES)
    assert [looked(client, home, minutes) for minutes in (0, 1, 16.005)] == [[filing_of()], [], [filing_of()]]
    published = Covered(LISTED.symbols, {"0000000101": AT + timedelta(minutes=16)})  # in whole seconds
    assert looked(client, home, 17, published) == []
    assert Queue.of(home.root).waiting == []
    assert looked(client, home, 60, published) == [], "the feed still names it"


def test_a_report_whose_synchronization_was_killed_survives_one_of_all_companies(server, client, home):
    """After it all companies have its time, though it requested only the companies of the daily index."""
    tells(server, [entry(101)], STATES)
    assert looked(client, home, 0) == [filing_of()]
    ask_again(home)
    all_at_two = Covered(LISTED.symbols, {"0000000101": AT + timedelta(minutes=2)})
    assert looked(client, home, 3, all_at_two) == [filing_of()]


def test_a_report_that_nothing_states_is_asked_for_all_day(server, client, home):
    """Every two minutes for an hour, each quarter of an hour for a day, each hour for two weeks: so companyfacts that
    come late need no weekly bulk file."""
    tells(server, [entry(101)], Reply(body=b"nothing new"))

    def requests(until: int, step: int = 1) -> int:
        before = len(server.asked)
        for minute in range(times[-1], until, step):
            assert looked(client, home, minute) == []
        times.append(until)
        return len([path for path, _ in server.asked[before:] if "companyfacts" in path])

    times, day = [0], 24 * 60
    assert (requests(60), requests(day), requests(3 * day, 10)) == (30, 92, 2 * 24)
    server.on(FACTS, STATES)
    assert looked(client, home, 3 * day) == [filing_of()]


def test_a_report_is_given_up_after_two_weeks():
    waits = [wait_after(asked) for asked in range(500)]
    assert [wait is None for wait in waits] == [False] * 434 + [True] * 66
    assert sum((wait for wait in waits if wait), timedelta(0)) == WAITS[-1][1]


def test_a_clock_that_was_ahead_gives_no_report_up(server, client, home):
    """It is 400 days ahead for one look; the next look requests the report as before."""
    tells(server, [entry(101)], Reply(body=b"{}"), Reply(body=b"{}"), STATES)
    assert [looked(client, home, minutes) for minutes in (0, 400 * 24 * 60, 3)] == [[], [], [filing_of()]]


@pytest.mark.parametrize(("symbols", "is_asked_again"), [("", True), ("ALFA", False)])
def test_a_synchronization_of_all_companies_lets_reports_be_asked_for_again(home, tmp_path, symbols, is_asked_again):
    """Whoever begins it: the command, Dagster's schedule or a user."""
    stated = Waiting(filing_of(), due_at=AT + timedelta(minutes=15), stated_at=AT)
    Queue(AT, [], [stated]).save(tmp_path)
    mirror = Mirror(tmp_path / "mirror", ALFA, BRAVO)
    run_all(Synchronization(home, str(mirror.folder), symbols))
    [waiting] = Queue.of(tmp_path).waiting
    assert (waiting.stated_at is None) is is_asked_again


def test_a_report_of_a_company_that_becomes_listed(server, client, home):
    """It is not requested until then; after a day the synchronization of the morning does."""
    server.on(newest_url("10-", 0), Reply(body=feed(entry(102), entry(103))))
    server.on(facts_url("0000000102"), Reply(body=b"0000000102-26-000001"))
    assert looked(client, home, 0) == []
    assert not [path for path, _ in server.asked if "companyfacts" in path]
    new = Covered({"0000000102": "NEW"}, {})
    assert looked(client, home, 60, new) == [filing_of(102)]
    looked(client, home, 24 * 60 - 1, new)
    assert waiting(home) == ["102", "103"]
    looked(client, home, 24 * 60 + 15, new)
    assert waiting(home) == ["102"]


def test_the_first_look_takes_what_was_filed_since_the_last_synchronization(server, client, tmp_path):
    """Within some minutes, because clocks differ; earlier filings are in the build."""
    home = Home(tmp_path)
    home.prepare()
    (tmp_path / FILE).write_bytes(b"damaged")
    others = (entry(102, -75), entry(101, -90, accession="0000000101-26-000000"))
    tells(server, [entry(101, -65), *others], Reply(body=b"0000000101-26-000000 0000000101-26-000001"))
    served = Covered(LISTED.symbols, LISTED.synchronized, {"0000000101 0000000101-26-000000": True})
    assert [filing.accession for filing in looked(client, home, 0, served)] == ["0000000101-26-000001"]
    assert waiting(home) == ["101"]


def test_a_feed_that_cannot_be_read_loses_nothing(server, client, home):
    """Its error is reported, and the waiting reports are requested."""
    server.on(newest_url("10-", 0), Reply(body=feed(entry(101))), Reply(body=b"<feed>"), Reply(418))
    server.on(FACTS, Reply(body=b"{}"), Reply(404), STATES)
    told: list[str] = []
    assert looked(client, home, 0, tell=told.append) == told == []
    assert [looked(client, home, minutes, tell=told.append) for minutes in (2, 4)] == [[], [filing_of()]]
    assert [("is not a feed" in line, "answers 418" in line) for line in told] == [(True, False), (False, True)]
    assert Queue.of(home.root).looked_at == AT


def test_a_malformed_entry_hides_no_report_and_is_told_once(server, client, home):
    tells(server, [entry(102, form=""), entry(101)], STATES)
    told: list[str] = []
    assert looked(client, home, 0, tell=told.append) == [filing_of()]
    assert looked(client, home, 2, tell=told.append) == []
    assert told == [
        "skipped 1 malformed entries of the feed: ' - SOCIÉTÉ & CO (NEW) (0000000102) (Filer)' lacks its form"
    ]


def test_a_wrong_date_makes_no_other_report_new_again(server, client, home, monkeypatch):
    """A time ahead counts as now.

    So many numbers are remembered, whatever their dates; the numbers read last are kept.
    """
    monkeypatch.setattr(run_newest_filings, "REMEMBERED", 3)
    late, old = entry(102, 60 * 24 * 400), entry(103, -60 * 24 * 400)
    tells(server, [late, entry(101), old], STATES)
    both = Covered({**LISTED.symbols, "0000000102": "BRVO", "0000000103": "CRGO"}, LISTED.synchronized)
    server.on(facts_url("0000000102"), Reply(body=b"0000000102-26-000001"))
    server.on(facts_url("0000000103"), Reply(body=b"0000000103-26-000001"))
    server.on(submissions_url("0000000103"), Reply(body=b"0000000103-26-000001"))
    ahead = filing_of(102)._replace(accepted_at=AT, filed="2026-08-04")
    assert looked(client, home, 0, both) == [filing_of(103, -60 * 24 * 400), filing_of(), ahead]
    assert [looked(client, home, minutes, both) for minutes in (2, 4)] == [[], []]
    assert Queue.of(home.root).read == [filing_of(number).key for number in (103, 101, 102)]


def test_a_document_that_is_held_is_not_transferred_again(server, client, home):
    """Facts that a synchronization fetched meanwhile count: the answer is 304, and the stored document names it."""
    store = RawStore(home.root)
    digest = store.put(b"0000000101-26-000001")
    of_facts = {"kind": "companyfacts", "status": "ok", "source": "live", "digest": digest}
    store.note(Seen(cik="0000000101", fetched_at=AT, etag='"1"', **of_facts))
    store.checkpoint()
    tells(server, [entry(101)], Reply(304))
    assert looked(client, home, 0) == [filing_of()]
    assert server.asked[-2][1]["If-None-Match"] == '"1"'


@pytest.mark.parametrize(
    ("at", "seconds", "looks"),
    [
        ("2026-08-04T16:05:00Z", 59, False),
        ("2026-08-04T16:05:00Z", 60, True),
        ("2026-08-04T16:05:00Z", -3600, True),  # the clock was ahead
        ("2026-08-05T02:05:00Z", 60, True),  # five past ten in the evening: the feed has the last reports
        ("2026-08-05T02:35:00Z", 60, False),
        ("2026-08-08T16:05:00Z", 599, False),  # a Saturday
        ("2026-08-08T16:05:00Z", 600, True),
    ],
)
def test_the_feed_is_read_each_minute_while_edgar_accepts_filings(at, seconds, looks):
    now = datetime.fromisoformat(at)
    assert is_time_to_look(Queue(), now)
    assert is_time_to_look(Queue(now - timedelta(seconds=seconds)), now) is looks


# --- the sensor


def evaluate(instance: dg.DagsterInstance) -> dg.RunRequest | dg.SkipReason:
    [sensor] = definitions.build_definitions({}).sensors
    return sensor(dg.build_sensor_context(instance=instance))


def test_the_sensor_synchronizes_companies_that_filed(server, tmp_path: Path, monkeypatch):
    """Off until it is turned on; a company is requested by its symbol."""
    sensors = [definitions.build_definitions({"FUNDAMENTALS_FOLLOW": follow}).sensors[0] for follow in ("", "yes")]
    off, on = dg.DefaultSensorStatus.STOPPED, dg.DefaultSensorStatus.RUNNING
    assert [sensor.default_status for sensor in sensors] == [off, on]
    assert sensors[0].minimum_interval_seconds == 60
    for name, value in {
        "EDGAR_USER_AGENT": "Example mail@example.org",
        "EDGAR_BASE_URL": server.url,
        "FUNDAMENTALS_HOME": str(tmp_path),
    }.items():
        monkeypatch.setenv(name, value)
    now = datetime.now(UTC).isoformat()
    tells(server, [entry(101, updated=now), entry(102, updated=now)], STATES)
    with dg.DagsterInstance.ephemeral() as instance:
        home = Home(tmp_path)
        home.prepare()
        assert evaluate(instance).skip_message == "nothing is published yet: synchronize all companies once"
        rows = [dict.fromkeys(LISTINGS.names()) | {"cik": "0000000101", "symbol": "ALFA", "is_listed": True}]
        Lake(home.tables).write("listings", pl.DataFrame(rows, schema=LISTINGS))
        monkeypatch.setattr(definitions.Covered, "of", lambda _: Covered({"0000000101": "ALFA"}, {"0000000101": AT}))
        with home.writing():
            assert "another synchronization is running" in evaluate(instance).skip_message
        assert not server.asked, "one process at a time asks the SEC"
        assert evaluate(instance).run_config == {"source": "live", "symbols": "ALFA", "newest": True}
        assert evaluate(instance).skip_message == "the SEC has no new report of a listed company"
        monkeypatch.delenv("EDGAR_USER_AGENT")
        assert "needs EDGAR_USER_AGENT" in evaluate(instance).skip_message
