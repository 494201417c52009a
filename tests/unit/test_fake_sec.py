"""The fake SEC: EDGAR's documents of a report at each time, faults, the reports that are filed, and the commands."""

import http.client
import io
import re
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest

import fundamentals
from pipelines.edgar.answers import (
    DATA_SETS_URL,
    TICKERS_URL,
    Fetched,
    NotFound,
    NotModified,
    facts_url,
    submissions_url,
)
from pipelines.edgar.decode.daily_index import companies_in, days_listed, index_url, listing_url
from pipelines.edgar.decode.documents import decode_tickers
from pipelines.edgar.decode.newest import newest_filings, newest_url
from pipelines.edgar.errors import EdgarError, FetchError, RefusedError
from pipelines.edgar.fetch.download_plan import BULK_URLS
from pipelines.edgar.source.bulk_folder import BulkFolder
from pipelines.edgar.source.client import EdgarClient
from pipelines.fake_sec import faults as table
from pipelines.fake_sec.edgar import FakeEdgar, accepted, at_most
from pipelines.fake_sec.faults import FAULTS, PARTS, Fault, Faults
from pipelines.fake_sec.reports import Reports, ReportsError
from pipelines.fake_sec.server import EdgarServer, Reply, running_server
from pipelines.run.stopping import STATUS
from pipelines.sample import sample_filers, simulate
from pipelines.sample.business.filings import Filing
from pipelines.storage.home import PROJECT
from tests.e2e.homes import PATIENCE, run
from tests.fake_time import FakeTime
from tests.mirrors import ALFA, Mirror

FILERS = sample_filers()[:2]
FILER = FILERS[0]
REPORT = [filing for filing in simulate(FILER).filings if filing.is_periodic][-1]
PACKAGE = f"https://www.sec.gov/Archives/edgar/data/{int(FILER.cik)}/{REPORT.accession.replace('-', '')}/"
MONDAY = datetime(2026, 3, 2, 21, 5, tzinfo=UTC)
"""Five past four in the afternoon, in New York."""
FORMS = {"10-Q", "10-K"}


@dataclass
class Moment:
    """The time of the fake SEC, which tests set."""

    now: datetime = MONDAY

    def __call__(self) -> datetime:
        return self.now


@dataclass
class Rehearsed:
    """A fake SEC with two companies; the first has filed a report on a Monday at five past four."""

    moment: Moment
    faults: Faults
    server: EdgarServer
    client: EdgarClient

    def holds(self, url: str) -> bool:
        """Whether the document there has the report."""
        answer = self.client.get(url)
        return isinstance(answer, Fetched) and REPORT.accession.encode() in answer.content


@pytest.fixture
def sec() -> Iterator[Rehearsed]:
    moment, time = Moment(), FakeTime()
    faults = Faults(moment)
    edgar = FakeEdgar(FILERS, {REPORT.accession}, now=moment, faults=faults, delay=at_most(timedelta(minutes=1)))
    edgar.accept(FILER, accepted(REPORT, MONDAY))
    with (
        running_server() as server,
        EdgarClient(
            user_agent="Example mail@example.org", pace=None, base_url=server.url, sleep=time.sleep, clock=time.clock
        ) as client,
    ):
        server.transport, server.changed = edgar, faults.changed
        yield Rehearsed(moment, faults, server, client)


# --- EDGAR at a time


def test_the_feed_and_the_package_have_a_report_at_once(sec):
    sec.moment.now -= timedelta(seconds=1)
    before = newest_filings(sec.client, (), {}).filings
    assert isinstance(sec.client.get(PACKAGE + "index.json"), NotFound)
    sec.moment.now += timedelta(seconds=1)
    [new] = {*newest_filings(sec.client, (), {}).filings} - {*before}
    assert (new.cik, new.form, new.accession, new.accepted_at) == (FILER.cik, REPORT.form, REPORT.accession, MONDAY)
    assert sec.holds(PACKAGE + "index.json")
    assert isinstance(sec.client.get(f"{PACKAGE}{REPORT.accession}-xbrl.zip"), Fetched)
    other = PACKAGE.replace(str(int(FILER.cik)), str(int(FILERS[1].cik)))
    assert isinstance(sec.client.get(other + "index.json"), NotFound)


def test_companyfacts_and_submissions_have_it_after_the_lag(sec):
    """With its filing date, and the time of its acceptance."""
    documents = facts_url(FILER.cik), submissions_url(FILER.cik)
    assert [sec.holds(url) for url in documents] == [False, False]
    sec.moment.now += timedelta(minutes=1)
    assert [sec.holds(url) for url in documents] == [True, True]
    listed = sec.client.get(submissions_url(FILER.cik)).content
    assert b"2026-03-02T21:05:00.000Z" in listed
    assert b'"filingDate":["2026-03-02"' in listed


def test_the_index_of_the_day_is_written_in_the_evening(sec):
    """On business days; the listing of a quarter has no other days, and no future day."""
    day = date(2026, 3, 2)
    assert isinstance(sec.client.get(index_url(day)), NotFound)
    assert days_listed(sec.client.get(listing_url(day)).content)[0][-1] == date(2026, 2, 27)
    sec.moment.now = datetime(2026, 3, 3, 3, tzinfo=UTC)  # ten in the evening in New York
    assert companies_in(sec.client.get(index_url(day)).content, day, FORMS) == ({FILER.cik}, [])
    assert companies_in(sec.client.get(index_url(date(2026, 2, 27))).content, date(2026, 2, 27), FORMS) == (set(), [])
    assert isinstance(sec.client.get(index_url(date(2026, 2, 28))), NotFound)
    days, malformed = days_listed(sec.client.get(listing_url(day)).content)
    assert (days[0], days[-1], malformed) == (date(2026, 1, 1), day, [])
    assert {each.weekday() for each in days} == set(range(5))
    assert days_listed(sec.client.get(listing_url(date(2026, 4, 1))).content) == ([], [])


def test_the_index_of_an_earlier_day_has_the_history(sec):
    [filing, *_] = [one for one in simulate(FILER).filings if one.form in FORMS]
    companies, _ = companies_in(sec.client.get(index_url(filing.filed)).content, filing.filed, FORMS)
    assert FILER.cik in companies


def test_bulk_files_have_what_was_filed_by_the_night(sec, tmp_path):
    def downloaded() -> bool:
        for name, url in BULK_URLS.items():
            (tmp_path / name).unlink(missing_ok=True)
            assert sec.client.download(url, tmp_path / name, lambda *_: None).last_modified == made
        folder = BulkFolder(tmp_path / "companyfacts.zip")
        documents = [folder.get(url) for url in (facts_url(FILER.cik), submissions_url(FILER.cik))]
        folder.close()
        has = {REPORT.accession.encode() in document.content for document in documents}
        assert len(has) == 1
        return has.pop()

    made = "Mon, 02 Mar 2026 08:00:00 GMT"
    assert not downloaded()
    sec.moment.now = datetime(2026, 3, 3, 8, tzinfo=UTC)
    made = "Tue, 03 Mar 2026 08:00:00 GMT"
    assert downloaded()


def test_data_sets_have_no_report_that_was_held_back(sec):
    """They end with the sample's history: there is no data set of the quarter in which reports are filed now."""
    page = sec.client.get(DATA_SETS_URL).content
    names = re.findall(rb'href="(.*?\.zip)"', page)
    assert len(names) == 8
    accessions = {name: zip_text(sec.client.get(f"https://www.sec.gov{name.decode()}").content) for name in names}
    assert not any(REPORT.accession in text for text in accessions.values())
    assert any("0009990000-" in text for text in accessions.values())


def zip_text(content: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return archive.read("sub.txt").decode()


def test_a_document_that_has_not_changed_is_not_sent(sec):
    url = facts_url(FILER.cik)
    first = sec.client.get(url)
    assert isinstance(sec.client.get(url, first.validators), NotModified)
    sec.moment.now += timedelta(minutes=1)
    assert isinstance(sec.client.get(url, first.validators), Fetched)


@pytest.mark.parametrize(
    ("at", "filed"),
    [
        (datetime(2026, 3, 2, 22, 30, tzinfo=UTC), date(2026, 3, 2)),
        (datetime(2026, 3, 2, 22, 31, tzinfo=UTC), date(2026, 3, 3)),
        (datetime(2026, 3, 3, 4, 59, tzinfo=UTC), date(2026, 3, 3)),
        (datetime(2026, 3, 7, 1, tzinfo=UTC), date(2026, 3, 9)),
        (datetime(2026, 3, 8, 15, tzinfo=UTC), date(2026, 3, 9)),
    ],
)
def test_what_is_accepted_after_half_past_five_is_filed_on_the_next_business_day(at, filed):
    assert (accepted(REPORT, at).filed, accepted(REPORT, at).accepted) == (filed, at)


def edgar_of(sec: Rehearsed, filed: list[tuple[Any, Filing, datetime]], delay: Any) -> None:
    """Serve another EDGAR, which accepts reports at other times."""
    held = {filing.accession for _, filing, _ in filed}
    filers = [*dict.fromkeys(filer for filer, *_ in filed)]
    sec.server.transport = FakeEdgar(filers, held, now=sec.moment, delay=delay)
    for filer, filing, at in filed:
        sec.server.transport.accept(filer, accepted(filing, at))


LAST_TWO = [filing for filing in simulate(FILER).filings if filing.is_periodic][-2:]


def test_of_two_reports_of_a_company_the_later_one_is_not_known_alone(sec):
    """Whatever their lags are: a document is made again with all earlier filings."""
    first, second = LAST_TWO
    filed = [(FILER, second, MONDAY), (FILER, first, MONDAY - timedelta(minutes=1))]
    edgar_of(sec, filed, at_most(timedelta(hours=5)))
    seen = set()
    for _ in range(301):
        content = sec.client.get(facts_url(FILER.cik)).content
        seen.add((first.accession.encode() in content, second.accession.encode() in content))
        sec.moment.now += timedelta(minutes=1)
    assert {(False, False), (True, True)} <= seen
    assert (False, True) not in seen


def test_a_document_may_never_have_a_filing_although_it_has_later_ones(sec):
    first, second = LAST_TWO

    def delay(kind: str, filing: Filing) -> timedelta | None:
        return None if (kind, filing.accession) == ("companyfacts", first.accession) else timedelta(0)

    edgar_of(sec, [(FILER, filing, MONDAY) for filing in LAST_TWO], delay)
    facts, listed = (sec.client.get(url(FILER.cik)).content for url in (facts_url, submissions_url))
    assert [filing.accession.encode() in facts for filing in (first, second)] == [False, True]
    assert first.accession.encode() in listed


def test_the_package_of_co_registrants_is_in_the_folder_of_each(sec):
    """It belongs to the company that is filed for first; the feed names the filing once for each company."""
    edgar_of(sec, [(filer, REPORT, MONDAY) for filer in FILERS], at_most(timedelta(0)))
    named = [one.cik for one in newest_filings(sec.client, (), {}).filings if one.accession == REPORT.accession]
    assert named == [filer.cik for filer in FILERS]
    folders = [PACKAGE.replace(str(int(FILER.cik)), str(int(filer.cik))) for filer in FILERS]
    first, second = (sec.client.get(f"{folder}{REPORT.accession}-xbrl.zip").content for folder in folders)
    assert first == second


# --- Faults

ADDRESSES = {
    "list": [TICKERS_URL],
    "feed": [newest_url("10-", 0), newest_url("20-F", 100)],
    "index": [index_url(date(2026, 3, 2)), listing_url(date(2026, 3, 2))],
    "bulk": [*BULK_URLS.values()],
    "companyfacts": [facts_url(FILER.cik)],
    "submissions": [
        submissions_url(FILER.cik),
        f"https://data.sec.gov/submissions/CIK{FILER.cik}-submissions-001.json",
    ],
    "filings": ["https://www.sec.gov/Archives/edgar/data/101/000000010126000001/index.json"],
    "data-sets": [
        DATA_SETS_URL,
        "https://www.sec.gov/files/dera/data/financial-statement-data-sets/2026q1.zip",
    ],
}


@pytest.mark.parametrize("part", PARTS)
def test_a_fault_of_a_part_concerns_its_addresses_only(part):
    faults = Faults(Moment(), [Fault("503", part)])
    hit = {
        name
        for name, urls in ADDRESSES.items()
        for url in urls
        if faults.changed("/" + url.removeprefix("https://"), Reply()).status == 503
    }
    assert hit == ({*ADDRESSES} if part == table.ALL else {part})


@pytest.mark.parametrize(
    ("fault", "error", "says"),
    [
        ("429", RefusedError, "answers 429"),
        ("403", FetchError, 'answers 403 ("Your Request Originates from an Undeclared Automated Tool")'),
        ("503", FetchError, "answers 503"),
        ("page", FetchError, "answers 200 with a web page in place of the document"),
        ("cut", FetchError, "peer closed connection without sending complete message body"),
    ],
)
def test_the_client_sees_a_fault_until_it_is_mended(fault, error, says, sec):
    sec.faults.begin(Fault(fault))
    with pytest.raises(EdgarError, match=re.escape(says)) as raised:
        sec.client.get(facts_url(FILER.cik))
    assert type(raised.value) is error
    sec.faults.mend()
    assert isinstance(sec.client.get(facts_url(FILER.cik)), Fetched)


def test_a_document_with_a_fault_is_another_one(sec):
    """It is sent even to a client that has the right document; 404 does not count as a document."""
    url = facts_url(FILER.cik)
    whole = sec.client.get(url)
    sec.faults.begin(Fault("malformed"))
    half = sec.client.get(url, whole.validators)
    assert half.content == whole.content[: len(whole.content) // 2]
    assert half.validators.etag is None
    sec.faults.mend()
    sec.faults.begin(Fault("404"))
    assert isinstance(sec.client.get(url), NotFound)


def test_the_list_of_companies_lacks_every_second_row(sec):
    whole = sec.client.get(TICKERS_URL)
    sec.faults.begin(Fault("half"))
    half = sec.client.get(TICKERS_URL, whole.validators)
    rows, left = (decode_tickers(answer.content)[0] for answer in (whole, half))
    assert left == rows[::2]
    assert 0 < len(left) < len(rows)
    assert isinstance(sec.client.get(newest_url("10-", 0)), Fetched)  # no JSON: as it is


def test_a_slow_document_comes_byte_by_byte():
    assert FAULTS["slow"].changed(Reply(body=b"ab")) == Reply(body=b"ab", drip=1.0)


def test_a_late_report_is_added_when_the_fault_is_mended(sec):
    """Reports filed before the fault began are added meanwhile."""
    sec.faults.begin(Fault("late", "companyfacts", begins=MONDAY))
    sec.moment.now += timedelta(minutes=20)
    assert (sec.holds(facts_url(FILER.cik)), sec.holds(submissions_url(FILER.cik))) == (False, True)
    sec.faults.mend()
    assert sec.holds(facts_url(FILER.cik))
    for begins, holds in ((sec.moment.now, True), (MONDAY, False)):
        sec.faults.mend()
        sec.faults.begin(Fault("late", begins=begins))
        assert (sec.holds(facts_url(FILER.cik)), sec.holds(PACKAGE + "index.json")) == (holds, holds)


def test_a_clock_that_is_ahead_is_that_of_the_feed(sec):
    sec.faults.begin(Fault("clock"))
    newest = newest_filings(sec.client, (), {}).filings[-1]
    assert newest.accepted_at == MONDAY + timedelta(days=1)


def test_a_fault_has_a_time_and_a_share(sec):
    sec.faults.begin(Fault("503", begins=MONDAY + timedelta(minutes=1), ends=MONDAY + timedelta(minutes=2), share=0.25))
    for fewest, most in ((0, 0), (200, 300), (0, 0)):
        refused = sum(sec.faults.changed("/x", Reply()).status == 503 for _ in range(1000))
        assert fewest <= refused <= most
        sec.moment.now += timedelta(minutes=1)


def test_the_docs_have_every_fault_and_every_part():
    page = (PROJECT / "docs" / "commands.md").read_text(encoding="utf-8")
    section = page.partition("\n## The fake SEC\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?`) \| (.*?) \|$", section, re.MULTILINE)
    named = [name for cell, _ in rows for name in re.findall(r"`(.*?)`", cell)]
    assert named == [*FAULTS, *(part for part in PARTS if part != table.ALL)]
    assert dict(rows).items() >= {f"`{name}`": fault.meaning for name, fault in FAULTS.items()}.items()


# --- Reports


def test_each_company_files_its_oldest_report_first(tmp_path):
    reports = Reports(FILERS, 2, None)
    held = {filer.cik: [one for one in simulate(filer).filings if one.is_periodic][-2:] for filer in FILERS}
    assert reports.held_back == {one.accession for each in held.values() for one in each}
    filed = [*reports.file(MONDAY, "", 2), *reports.file(MONDAY, "", 2)]
    assert {filer.cik for filer, _ in filed[:2]} == {*held}
    assert [one.accession for filer, one in filed if filer is FILER] == [one.accession for one in held[FILER.cik]]
    assert {one.accepted for _, one in filed} == {MONDAY}
    with pytest.raises(ReportsError, match="0 reports are left to file"):
        reports.file(MONDAY, "", 1)


def test_what_was_filed_is_remembered(tmp_path):
    file = tmp_path / "folder" / "filed"
    filed = Reports(FILERS, 2, file).file(MONDAY, FILER.symbols[0], 1)
    again = Reports(FILERS, 2, file)
    assert [*again.remembered()] == filed
    assert len(again) == 3
    with pytest.raises(ReportsError, match=f"1 reports of {FILER.symbols[0]} are left to file"):
        again.file(MONDAY, FILER.symbols[0], 2)
    for line in (b"{", b'{"accession":"0-0-0","accepted_at":"2026-03-02T21:05:00Z"}', b"\xff"):
        file.write_bytes(line)
        with pytest.raises(ReportsError, match="remove the file"):
            [*Reports(FILERS, 2, file).remembered()]


def test_only_companies_with_documents_and_a_symbol_file():
    ciks = {filer.cik for filer, _ in Reports(sample_filers(), 4, None)._waiting.values()}
    assert len(ciks) > 15
    assert not {filer.cik for filer in sample_filers() if len(filer.served) < 2} & ciks


# --- The server


def test_nothing_outside_of_the_folder_is_served(tmp_path):
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "mirror").mkdir()
    with running_server() as server:
        server.folder = tmp_path / "mirror"
        connection = http.client.HTTPConnection(urlsplit(server.url).netloc)
        for path in ("/../secret", "/x/../../secret", f"/{tmp_path}/secret"):
            connection.request("GET", path)
            answer = connection.getresponse()
            assert (answer.status, answer.read()) == (404, b"")
        connection.request("POST", "/fake-sec", b"{}")
        assert connection.getresponse().status == 405
        connection.close()


# --- The commands


@dataclass
class Running:
    """`fundamentals fake-sec serve` as a process, and its port."""

    process: "subprocess.Popen[str]"
    port: str = ""

    def line(self) -> str:
        """The next line that it prints."""
        assert self.process.stdout
        return self.process.stdout.readline().rstrip("\n")

    def told(self, *arguments: str, port: str = "") -> tuple[int, str]:
        """The exit status and the output of another command of the fake SEC."""
        done = run(PROJECT, "fake-sec", *arguments, "--port", port or self.port)
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def serve() -> Iterator[Callable[..., Running]]:
    """Starts the command; it is killed at the end of the test."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: object) -> Running:
        words = [sys.executable, "-m", "fundamentals", "fake-sec", "serve", "--port", "0", *map(str, arguments)]
        process = subprocess.Popen(words, cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        started.append(process)
        return Running(process)

    yield start
    for process in started:
        process.kill()
        process.communicate()


@contextmanager
def client_of(url: str) -> Iterator[EdgarClient]:
    with EdgarClient(user_agent=None, pace=None, base_url=url, attempts=1) as client:
        yield client


def test_it_prints_what_to_set_files_reports_and_carries_out_orders(serve, tmp_path):
    running = serve("--lag", "1s", "--held-back", "1", "--remember", tmp_path / "filed")
    introduced = re.fullmatch(
        r".{19}Z  the fake SEC is on (http://127\.0\.0\.1:(\d+)), with (\d+) reports to file; in another terminal:",
        running.line(),
    )
    assert introduced
    url, running.port, number = introduced.groups()
    assert [running.line() for _ in range(4)] == [
        f'export EDGAR_BASE_URL="{url}"',
        'export EDGAR_USER_AGENT="Rehearsal rehearsal@example.org"',
        'export FUNDAMENTALS_HOME=".data/rehearsal"',
        "fundamentals sync --source live  # or: fundamentals follow",
    ]

    status, said = running.told("file", "XQORC")
    assert (status, said) == (0, f"filed: XQORC {REPORT.form} {REPORT.accession} for {REPORT.report_date}\n")
    assert running.line().endswith(f"  {said.strip()}")
    status, said = running.told("file", "--number", "3")
    assert (status, said.count("filed: ")) == (0, 3)
    assert [running.line().partition("  ")[2] for _ in range(3)] == said.splitlines()
    with client_of(url) as client:
        feed = newest_filings(client, (), {})
        assert REPORT.accession in {one.accession for one in feed.filings}
        assert running.told("fault", "503", "--on", "feed")[1] == "fault: feed: answers 503 until it is mended\n"
        with pytest.raises(FetchError, match="answers 503"):
            newest_filings(client, (), {})
        assert running.told("mend") == (0, "all faults are mended\n")
        assert newest_filings(client, (), {}).filings

    status, said = running.told("fault", "429", "--for", "1s", "--share", "0.5")
    assert status == 0
    assert re.fullmatch(r"fault: all: answers 429 for 50% of the replies until \d\d:\d\d:\d\dZ\n", said)
    assert running.told("fault", "fire") == (
        1,
        f"fundamentals: there is no 'fire', expected {', '.join(FAULTS)}\n",
    )
    assert running.told("fault", "503", "--on", "roof")[1].startswith(
        "fundamentals: there is no 'roof', expected all, "
    )
    assert running.told("file", "XQORC")[1].startswith("fundamentals: 0 reports of XQORC are left to file")
    assert running.told("mend", port="1")[1].startswith("fundamentals: no fake SEC on http://127.0.0.1:1: ")

    running.process.send_signal(signal.SIGINT)
    assert running.process.wait(PATIENCE) == STATUS
    again = serve("--held-back", "1", "--remember", tmp_path / "filed")
    assert f"with {int(number) - 4} reports to file" in again.line()


def test_it_files_reports_by_itself_until_none_is_left(serve):
    running = serve("--every", "1s", "--held-back", "1")
    assert int(re.search(r"with (\d+) reports", running.line())[1]) > 15
    assert "filed: XQ" in [running.line() for _ in range(5)][-1]
    running.process.send_signal(signal.SIGTERM)
    assert running.process.wait(PATIENCE) == STATUS


def test_it_serves_a_mirror(serve, tmp_path):
    """With a feed in which nothing is; a mirror files nothing."""
    mirror = Mirror(tmp_path / "mirror", ALFA)
    running = serve("--source", mirror.folder)
    introduced = re.search(r"on (http://127\.0\.0\.1:(\d+)), with the mirror (\S+); ", running.line())
    assert introduced
    url, running.port, folder = introduced.groups()
    assert folder == str(mirror.folder)
    with client_of(url) as client:
        assert client.get(facts_url(ALFA.cik)).content == mirror.facts(ALFA).read_bytes()
        assert newest_filings(client, (), {}).filings == []
        running.told("fault", "503", "--on", "companyfacts")
        with pytest.raises(FetchError, match="answers 503"):
            client.get(facts_url(ALFA.cik))
    assert running.told("file") == (1, "fundamentals: a mirror files no reports: serve the sample to file some\n")


def test_what_it_cannot_serve_is_an_error_of_one_line(serve, tmp_path):
    with running_server() as other:
        port = urlsplit(other.url).port
        taken = serve("--source", Mirror(tmp_path / "mirror", ALFA).folder, "--port", port)
        assert re.fullmatch(
            rf"fundamentals: port {port} cannot be used: .*; give another one with --port", taken.line()
        )
        assert taken.process.wait(PATIENCE) == 1
    missing = serve("--source", tmp_path / "missing")
    assert "missing is not a directory; give live, sample" in missing.line()
    (tmp_path / "filed").write_text("{")
    damaged = serve("--remember", tmp_path / "filed")
    assert "filed has the line b'{': remove the file, and begin with an empty home" in damaged.line()


@pytest.mark.parametrize(
    "wrong",
    [
        ["serve", "--every", "5"],
        ["serve", "--lag", "0s"],
        ["serve", "--held-back", "0"],
        ["fault", "503", "--share", "0"],
        ["fault", "503", "--share", "1.5"],
        ["fault", "503", "--share", "nan"],
        ["fault", "503", "--for", "1d"],
        ["file", "--number", "-1"],
        [],
    ],
)
def test_wrong_usage(wrong, capsys):
    assert fundamentals.main(["fake-sec", *wrong]) == 2
    assert "Usage: fundamentals fake-sec" in capsys.readouterr().err
