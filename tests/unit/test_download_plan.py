"""The ways to bring documents up to date: bulk files, daily index, one by one; and the formats of the index."""

import json
import os
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from pipelines.edgar.answers import Fetched, NotModified, Validators, facts_url
from pipelines.edgar.decode import daily_index
from pipelines.edgar.decode.daily_index import companies_in, days_listed, index_url, listing_url
from pipelines.edgar.errors import DocumentError, RefusedError
from pipelines.edgar.fetch import download_plan
from pipelines.edgar.fetch.download_plan import BULK_URLS, DownloadPlan, Memory, chosen
from pipelines.edgar.fetch.raw_store import RawStore, Seen
from pipelines.edgar.source.client import EdgarClient
from pipelines.edgar.source.source import Source
from pipelines.fake_sec.server import EdgarServer, Reply
from pipelines.sources import open_source
from tests.archives import zipped
from tests.fake_time import FakeTime
from tests.mirrors import ALFA, BRAVO, Mirror

NOW = datetime(2026, 8, 5, 10, tzinfo=UTC)  # a Wednesday, six in the morning in New York
FORMS = frozenset({"10-K", "10-Q", "8-K"})
INDEX = """Description:           Daily Index of EDGAR Dissemination Feed
Last Data Received:    Aug 3, 2026
Comments:              webmaster@sec.gov
Anonymous FTP:         ftp://ftp.sec.gov/edgar/
\x20
CIK|Company Name|Form Type|Date Filed|File Name
--------------------------------------------------------------------------------
101|ALFA WORKS INC|10-Q|20260803|edgar/data/101/0000000101-26-000002.txt
102|BRAVO WORKS INC /DE/|4|20260803|edgar/data/102/0000000102-26-000009.txt
1000184|Société | Co|10-K/A|20260803|edgar/data/1000184/0001104659-26-100300.txt
103|CARGO|8-K12B|20260803|edgar/data/103/0000000103-26-000009.txt
"""


@pytest.fixture
def live(server: EdgarServer) -> Iterator[Source]:
    time = FakeTime()
    client = EdgarClient(
        user_agent="x mail@example.org", pace=None, base_url=server.url, attempts=2, sleep=time.sleep, clock=time.clock
    )
    with Source("live", "edgar", client, threads=4, absence_lasts=timedelta(days=7)) as source:
        yield source


@pytest.fixture
def store(tmp_path: Path) -> RawStore:
    store = RawStore(tmp_path / "home")
    store.checkpoint()
    return store


@pytest.fixture
def choose(live: Source, store: RawStore, request: pytest.FixtureRequest) -> object:
    """Chooses a way that stays open until the end of the test."""
    with ExitStack() as stack:
        told: list[tuple[str, int, int]] = []

        def enter(now: datetime = NOW, *, named: bool = False, full: bool = False) -> DownloadPlan:
            return stack.enter_context(
                chosen(live, store, now, FORMS, named=named, full=full, progress=lambda *args: told.append(args))
            )

        enter.told = told  # type: ignore[attr-defined]
        yield enter


def remembered(store: RawStore, **given: object) -> None:
    memory = {"complete_at": NOW - timedelta(days=2), "base": date(2026, 8, 2)} | given
    DownloadPlan(None, "", None, Memory(**memory)).remember(store, given.get("pending", []))


def list_days(server: EdgarServer, *days: date) -> None:
    names = [f"{kind}.{day:%Y%m%d}.idx" for day in days for kind in ("company", "crawler", "form", "master")]
    items = [
        {"last-modified": "08/03/2026 10:05:43 PM", "name": name, "type": "file", "href": name, "size": "1 KB"}
        for name in names
    ]
    folder = {"directory": {"item": items, "name": "daily-index/2026/QTR3/", "parent-dir": "../"}}
    server.on(listing_url(date(2026, 8, 1)), Reply(body=json.dumps(folder).encode()))


# --- formats


FOLDER = "https://www.sec.gov/Archives/edgar/daily-index/2026"


def test_addresses_of_the_index():
    assert [listing_url(date(2026, 9, 30)), index_url(date(2026, 10, 1)), index_url(date(2026, 1, 2))] == [
        f"{FOLDER}/QTR3/index.json",
        f"{FOLDER}/QTR4/master.20261001.idx",
        f"{FOLDER}/QTR1/master.20260102.idx",
    ]


def test_companies_of_the_wanted_forms():
    """Amendments count; a name may have bars, and is in Latin-1."""
    day = date(2026, 8, 3)
    assert companies_in(INDEX.encode("latin-1"), day, FORMS) == ({"0000000101", "0001000184"}, [])
    other = INDEX.replace("File Name", "Filename").replace("\n", "\r\n").encode("latin-1")
    assert companies_in(other, day, {"4"}) == ({"0000000102"}, [])


def test_malformed_lines_of_an_index_are_skipped():
    """A company with a readable number counts as one that filed. With many malformed lines it is not an index."""
    day, lines = date(2026, 8, 3), INDEX.splitlines(keepends=True)
    wrong = ["105|X|4|20261303|edgar/data/105/x.txt\n", "|X|10-K|20260803|edgar/data/106/x.txt\n", "SEE\x85NOTE\n"]
    companies, skipped = companies_in("".join([*lines[:-1], *wrong, lines[-1]]).encode("latin-1"), day, FORMS)
    assert companies == {"0000000101", "0001000184", "0000000105"}
    assert [line.partition("expected")[0] for line in skipped] == [
        f"daily index of 2026-08-03: has the line {line.strip()!r}, " for line in wrong
    ]
    with pytest.raises(DocumentError, match=r"daily index of 2026-08-03: has the line"):
        companies_in("".join([*lines[:-1], *wrong, *wrong, lines[-1]]).encode("latin-1"), day, FORMS)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "has no line 'CIK|Company Name"),
        (b"<html>Maintenance</html>", "has no line"),
        (INDEX.encode()[:-20], "has the line '103"),
        (INDEX.encode()[:-80], "has the line '1000184"),
        (INDEX.replace("|20260803|", "|2026-13-03|").encode(), "expected CIK"),
    ],
)
def test_an_index_that_is_cut_off_is_an_error(raw, reason):
    with pytest.raises(DocumentError) as error:
        companies_in(raw, date(2026, 8, 3), FORMS)
    assert "daily index of 2026-08-03" in str(error.value)
    assert reason in str(error.value)


def test_days_of_a_listing():
    names = [
        "master.20260803.idx",
        "form.20260804.idx",
        "master.20260230.idx",
        "master.070194.idx",
        "master.20260804.idx.gz",
    ]
    items: list[object] = [{"name": name} for name in names]
    for odd, told in (([], []), ([{"name": None}, "x"], ["{'name': None}", "x"])):
        assert days_listed(json.dumps({"directory": {"item": items + odd}}).encode()) == (
            [date(2026, 8, 3)],
            [f"listing of the daily index: has the file {item}, expected one with a name" for item in told],
        )
    with pytest.raises(DocumentError, match="listing of the daily index"):
        days_listed(b"<html>")
    assert daily_index._day("x") is None


# --- which way


@pytest.fixture
def bulk(server: EdgarServer, tmp_path: Path) -> Path:
    """The bulk files of two companies, served and on the disk."""
    facts = zipped(Mirror(tmp_path / "mirror", ALFA, BRAVO), tmp_path / "bulk")
    for name, url in BULK_URLS.items():
        made = {"Last-Modified": "Wed, 05 Aug 2026 07:12:00 GMT", "ETag": f'"{name}"'}
        server.on(url, Reply(body=(facts.parent / name).read_bytes(), headers=made))
    return facts


def test_the_first_time_by_bulk_files(choose, live, store, bulk, tmp_path):
    way = choose()
    assert way.why == "bulk files: nothing was synchronized with the SEC before"
    assert (way.filed, way.asks([ALFA.cik], store, [], NOW), way.source.name) == (None, None, "live")
    whole = (tmp_path / f"mirror/data.sec.gov/api/xbrl/companyfacts/CIK{ALFA.cik}.json").read_bytes()
    assert way.source.client.get(facts_url(ALFA.cik)) == Fetched(whole, Validators())
    held = Validators('"an etag of the interface"', size=len(whole), crc=zlib.crc32(whole))
    assert way.source.client.get(facts_url(ALFA.cik), held) == NotModified()
    assert {name for name, _, _ in choose.told} == set(BULK_URLS)
    way.remember(store, [BRAVO.cik])
    assert list((store.root / "bulk").iterdir()) == []  # their contents are in the raw zone
    assert download_plan._memory(store) == Memory(NOW, date(2026, 8, 4), [], [BRAVO.cik])


@pytest.mark.parametrize(
    ("headers", "base"),
    [({}, date(2026, 8, 4)), ({"Last-Modified": "Sat, 01 Aug 2026 07:12:00 GMT"}, date(2026, 7, 31))],
    ids=["without a date, as made today", "older ones need the index of more days"],
)
def test_bulk_files_need_the_index_since_they_were_made(choose, server, bulk, headers, base):
    for name, url in BULK_URLS.items():
        server.on(url, Reply(body=(bulk.parent / name).read_bytes(), headers=headers))
    assert choose().memory == Memory(NOW, base)


def test_on_other_days_by_daily_index(choose, server, store):
    """The listing shows which days have an index; only days that were not read before are read."""
    remembered(store, days=[date(2026, 8, 2)], pending=["0000000555"])
    list_days(server, date(2026, 7, 31), *(date(2026, 8, day) for day in (2, 3, 4, 6)))
    lines = f"{INDEX[: INDEX.index('101|')]}777|X|8-K|20260804|edgar/data/777/x.txt\n"
    for day, index in ((3, INDEX), (4, lines)):
        server.on(index_url(date(2026, 8, day)), Reply(body=index.encode("latin-1")))

    way = choose()

    assert way.why == "daily index: 2 new days (2026-08-03, 2026-08-04), 3 companies filed"
    assert way.filed == {"0000000101", "0001000184", "0000000777", "0000000555"}
    assert len(server.asked) == 3
    way.remember(store, ["0000000777"])
    days = [date(2026, 8, day) for day in (2, 3, 4)]
    assert download_plan._memory(store) == Memory(NOW - timedelta(days=2), date(2026, 8, 2), days, ["0000000777"])
    server.asked.clear()
    assert (choose(NOW + timedelta(hours=1)).filed, len(server.asked)) == ({"0000000777"}, 1)


def note(store: RawStore, cik: str, status: str = "ok", digest: str | None = "d", at: datetime = NOW) -> None:
    store.note(Seen(cik=cik, kind="companyfacts", status=status, source="live", fetched_at=at, digest=digest))


def test_companies_that_were_never_requested_or_whose_documents_are_gone_are_requested(live, store):
    note(store, "1")
    note(store, "2", "no_facts", None)
    note(store, "3", "no_facts")
    way = DownloadPlan(live, "", frozenset({"5"}))
    assert way.asks(["1", "2", "3", "4"], store, [], NOW) == {"3", "4", "5"}


def test_companies_in_quarantine_are_requested_again_once_a_day(live, store):
    """Days are New York's, as in the daily index; companies that are not listed any more are not requested."""
    yesterday, midnight = NOW - timedelta(hours=6, minutes=1), NOW - timedelta(hours=6)
    for cik, at in (("1", yesterday), ("2", midnight), ("3", yesterday), ("4", yesterday)):
        note(store, cik, at=at)
    way = DownloadPlan(live, "", frozenset())
    asked = [way.asks(["1", "2", "3"], store, ["1", "2", "4"], NOW + timedelta(days=days)) for days in (0, 1)]
    assert asked == [{"1"}, {"1", "2"}]


@pytest.mark.parametrize("answer", [Reply(404), Reply(403), Reply(body=b"<html>"), Reply(503)])
def test_a_listed_day_that_cannot_be_read_is_no_failure(choose, server, store, answer):
    """It is read the next time."""
    remembered(store)
    list_days(server, date(2026, 8, 3), date(2026, 8, 4))
    server.on(index_url(date(2026, 8, 3)), Reply(body=INDEX.encode("latin-1")))
    server.on(index_url(date(2026, 8, 4)), answer)
    way = choose()
    assert way.why.startswith(
        "daily index: 1 new days (2026-08-03), 2 companies filed; 2026-08-04 cannot be read yet ("
    )
    assert way.memory.days == [date(2026, 8, 3)]


def test_a_malformed_line_of_a_listed_day_is_told(choose, server, store):
    """The day is read: its other companies are requested."""
    remembered(store)
    list_days(server, date(2026, 8, 3))
    server.on(index_url(date(2026, 8, 3)), Reply(body=INDEX.replace("101|", "x|", 1).encode("latin-1")))
    way = choose()
    assert (way.filed, way.memory.days) == ({"0001000184"}, [date(2026, 8, 3)])
    assert "; skipped 1 malformed, such as daily index of 2026-08-03: has the line 'x|" in way.why


def test_a_new_quarter_without_a_folder_is_no_failure(choose, server, store):
    remembered(store, base=date(2026, 6, 30))
    server.on(listing_url(date(2026, 6, 30)), Reply(body=b'{"directory": {"item": [{"name": "master.20260630.idx"}]}}'))
    server.on(index_url(date(2026, 6, 30)), Reply(body=INDEX.encode("latin-1")))
    way = choose()
    assert way.why.startswith("daily index: 1 new days (2026-06-30), 2 companies filed; https://www.sec.gov/")
    assert way.why.endswith("2026/QTR3/index.json: answers 404")


@pytest.mark.parametrize(
    ("complete_at", "full", "why"),
    [
        (NOW - timedelta(days=7), False, "the last complete synchronization is 7 days old"),
        # otherwise the daily index alone would count until a week after the wrong time
        (
            NOW + timedelta(days=400),
            False,
            "the last complete synchronization is of 2027-09-09: the clock was ahead",
        ),
        (NOW - timedelta(days=2), True, "with --full all documents are wanted"),
    ],
    ids=["once a week", "after the clock was ahead", "for everything again"],
)
def test_all_documents_are_brought_by_bulk_files(choose, store, bulk, complete_at, full, why):
    remembered(store, complete_at=complete_at)
    assert choose(full=full).why == f"bulk files: {why}"


def test_a_bulk_file_that_is_dated_after_today_is_downloaded_again(choose, server, store, bulk):
    """The server named no date, and the clock was ahead when the file was downloaded."""
    (store.root / "bulk").mkdir()
    for name in BULK_URLS:
        file = store.root / "bulk" / name
        file.write_bytes((bulk.parent / name).read_bytes())
        os.utime(file, (0, (NOW + timedelta(days=400)).timestamp()))
    choose()
    assert len(server.asked) == 2


@pytest.mark.parametrize("answer", [Reply(404), Reply(403, b"no listing"), Reply(body=b"[]")])
def test_without_a_daily_index_by_bulk_files(choose, server, store, bulk, answer):
    remembered(store)
    server.on(listing_url(NOW.date()), answer)
    assert choose().why.startswith("bulk files: the daily index lists no day (")


def test_without_bulk_files_one_by_one(choose, live, store):
    way = choose()
    assert way.why == (
        "one by one: nothing was synchronized with the SEC before, and the bulk files cannot be used: "
        "https://www.sec.gov/Archives/edgar/daily-index/xbrl/companyfacts.zip: answers 404"
    )
    assert (way.source, way.filed, way.memory) == (live, None, Memory(NOW, date(2026, 8, 4)))


def test_a_bulk_file_that_was_downloaded_before_is_used(choose, server, store, bulk):
    """A synchronization was stopped, or failed, after the first of the two; the next night it is downloaded again."""
    submissions = server.replies.pop("/" + BULK_URLS["submissions.zip"].removeprefix("https://"))
    assert choose().why.endswith("submissions.zip: answers 404")
    server.on(BULK_URLS["submissions.zip"], *submissions)
    server.asked.clear()
    assert choose().memory == Memory(NOW, date(2026, 8, 4))
    assert [path.rpartition("/")[2] for path, _ in server.asked] == ["submissions.zip"]
    server.asked.clear()
    choose(NOW + timedelta(days=2))
    assert len(server.asked) == 2


def test_a_damaged_bulk_file_is_not_kept(choose, server, live, store, bulk):
    server.on(BULK_URLS["companyfacts.zip"], Reply(body=b"Maintenance"))
    way = choose()
    assert "companyfacts.zip is not a whole zip file" in way.why
    assert way.source is live
    assert list((store.root / "bulk").iterdir()) == []


@pytest.mark.parametrize("content", [b"{", b'{"complete_at": "\xb0"}'])
def test_a_damaged_memory_counts_as_none(choose, store, bulk, content):
    (store.root / "index.json").write_bytes(content)
    assert choose().why == "bulk files: nothing was synchronized with the SEC before"


def test_a_source_that_refuses_everything_is_left_after_three_requests(choose, server, store):
    remembered(store)
    server.otherwise = Reply(403, b"Undeclared Automated Tool")  # listing, archive, document
    way = choose()
    for cik in (ALFA.cik, BRAVO.cik):
        with pytest.raises(RefusedError, match="Undeclared Automated Tool"):
            way.source.client.get(facts_url(cik))
    assert len(server.asked) == 3


def test_named_symbols_and_other_sources_one_by_one(choose, live, store):
    way = choose(named=True)
    assert (way.source, way.why, way.asks(["1"], store, ["1"], NOW)) == (live, "one by one: symbols were named", None)
    way.remember(store, [])
    assert not (store.root / "index.json").exists()
    with (
        open_source("sample") as sample,
        chosen(sample, store, NOW, FORMS, named=False, progress=lambda *_: None) as way,
    ):
        assert (way.source, way.why) == (sample, "")
