"""The downloads of subscribers: the workbook of a company, and the files of a build in ranges, from one build."""

import gc
import hashlib
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import duckdb
import httpx
import pytest

from serve.access.transfers import AT_ONCE, SPEED, TIMES, Pace, Transfers
from serve.errors import RateLimited
from serve.settings import Settings
from serve.site.company import workbook
from serve.site.reference import downloads
from tests import builds
from tests.servers import NOON, Clock, active_key, in_process, wait_until
from tests.sites import PUBLIC, Read, Site
from warehouse.contract.served import CompanyRow
from warehouse.queries.page_queries import Source, Stated

CELL = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


class Served:
    """A served home, with its clock, and a key of a subscriber."""

    def __init__(self, site: Site, clock: Clock) -> None:
        self.site, self.clock = site, clock
        self.key = active_key(site.home, "program@example.org")

    def get(self, path: str, **headers: str) -> httpx.Response:
        return httpx.get(self.site.address + path, headers={"X-Api-Key": self.key} | headers)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    builds.small(tmp_path / "published")
    clock = Clock()
    with in_process(Settings(tmp_path, f"{PUBLIC}/v1"), clock) as address:
        yield Served(Site(address, tmp_path), clock)


def links(served: Served) -> list[str]:
    """The files that the page links to."""
    with served.site.signed_in() as reader:
        page = Read(reader.get("/downloads").text)
    return [link for link in page.links if link.startswith("/downloads/")]


def database(served: Served) -> str:
    """The address of the DuckDB file."""
    [path] = [each for each in links(served) if each.endswith(".duckdb")]
    return path


def shown(book: bytes, sheet: int) -> dict[str, str]:
    """Each number of a sheet but days, with its format."""
    with zipfile.ZipFile(BytesIO(book)) as parts:
        styles = ElementTree.fromstring(parts.read("xl/styles.xml"))
        held = ElementTree.fromstring(parts.read(f"xl/worksheets/sheet{sheet}.xml"))
    named = {each.get("numFmtId"): each.get("formatCode") for each in styles.iter(f"{CELL}numFmt")}
    named |= {"0": "General", "3": "#,##0"}
    formats = [named[each.get("numFmtId")] or "" for each in styles.iter(f"{CELL}cellXfs").__next__()]
    cells = [(each, each.find(f"{CELL}v")) for each in held.iter(f"{CELL}c") if each.get("t") != "s"]
    found = {value.text or "": formats[int(cell.get("s", "0"))] for cell, value in cells if value is not None}
    return {number: written for number, written in found.items() if written != workbook.DAY}


def rows(book: bytes, sheet: int) -> list[list[tuple[str, str]]]:
    """The cells of a sheet, each with its type and its text."""
    with zipfile.ZipFile(BytesIO(book)) as parts:
        shared = ElementTree.fromstring(parts.read("xl/sharedStrings.xml"))
        texts = ["".join(each.itertext()) for each in shared.iter(f"{CELL}si")]
        held = ElementTree.fromstring(parts.read(f"xl/worksheets/sheet{sheet}.xml"))
    assert not list(held.iter(f"{CELL}f")), "a formula"
    found = []
    for row in held.iter(f"{CELL}row"):
        cells = [(cell.get("t", "n"), "".join(cell.itertext())) for cell in row]
        found.append([(kind, texts[int(text)] if kind == "s" else text) for kind, text in cells])
    return found


def test_the_page_names_each_file_with_its_digest(served: Served) -> None:
    """DuckDB, Parquet and CSV; a downloaded file has the SHA-256 that the page shows, and its entity tag."""
    with served.site.signed_in() as reader:
        page = Read(reader.get("/downloads").text)
    found = links(served)
    assert {Path(each).suffix for each in found} == {".duckdb", ".csv", ".parquet"}
    for path in found:
        response = served.get(path)
        assert response.status_code == 200
        digest = hashlib.sha256(response.content).hexdigest()
        assert digest in page.text
        assert response.headers["etag"] == f'"{digest}"'
        served.clock.now += 10  # within the limit of a minute


def test_of_a_build_with_an_overlay_both_files_are_downloaded(served: Served, tmp_path: Path) -> None:
    """In one folder, DuckDB reads them as one; the page says of which time the other files are."""
    made = builds.publish_overlaid(served.site.home / "published")
    with served.site.signed_in() as reader:
        assert "The CSV and Parquet files are those of 20" in Read(reader.get("/downloads").text).text
    found = {Path(path).name: path for path in links(served) if ".duckdb" in path}
    assert list(found) == ["warehouse.duckdb", "warehouse.duckdb.wal"]
    for name, path in found.items():
        (tmp_path / name).write_bytes(served.get(path).content)
    with duckdb.connect(tmp_path / "warehouse.duckdb", read_only=True) as connection:
        overlaid = f"SELECT count(*) FROM filings WHERE form = '{builds.OVERLAID_FORM}'"
        counts = connection.execute(f"SELECT ({overlaid}), count(*) FROM versions").fetchall()
    assert counts == [(1, made.rows["versions"])]


def test_a_download_goes_on_where_it_broke_off(served: Served) -> None:
    path = database(served)
    whole = served.get(path)
    part = served.get(path, Range="bytes=1000-", **{"If-Range": whole.headers["etag"]})
    assert (part.status_code, part.content) == (206, whole.content[1000:])
    assert served.get(path, Range="bytes=0-9", **{"If-Range": '"other"'}).content == whole.content
    assert served.get(path, **{"If-None-Match": whole.headers["etag"]}).status_code == 304
    assert served.get(path, Range=f"bytes={len(whole.content)}-").status_code == 416


def test_ranges_come_from_one_build_while_others_are_published(served: Served) -> None:
    """For an hour after the last request; then the build goes, and the address says so."""
    path = database(served)
    first = served.get(path, Range="bytes=0-99")
    for build in ("b2", "b3", "b4"):
        builds.small(served.site.home / "published", build)
    assert not (served.site.home / "published/warehouse-b1.duckdb").exists()
    served.clock.now += downloads.KEPT
    rest = served.get(path, Range="bytes=100-")
    digest = hashlib.sha256(first.content + rest.content).hexdigest()
    assert f'"{digest}"' == first.headers["etag"] == rest.headers["etag"]
    served.clock.now += downloads.KEPT + 1
    assert served.get(path).status_code == 404
    assert not list((served.site.home / downloads.FOLDER).iterdir())
    assert links(served)[0].startswith("/downloads/b4/")


@pytest.mark.parametrize(
    "path",
    [
        "/downloads/b1/accounts.sqlite",
        "/downloads/b1/CURRENT.json",
        "/downloads/../accounts.sqlite",
        "/downloads/%2e%2e/accounts.sqlite",
        "/downloads/b1/%2e%2e%2faccounts.sqlite",
        "/downloads/*/warehouse.duckdb",
        "/downloads/b9/warehouse.duckdb",
    ],
)
def test_nothing_else_is_downloaded(served: Served, path: str) -> None:
    assert (served.get(links(served)[0]).status_code, served.get(path).status_code) == (200, 404)


FILES = (
    "/downloads.md",
    "/companies/LNTR.md",
    "/companies.csv",
    "/compare.csv?symbols=LNTR",
    "/companies/LNTR/financials.csv",
    "/companies/LNTR/financials.xlsx",
)


@pytest.mark.parametrize("path", [*FILES, "/downloads/b1/warehouse.duckdb"])
def test_a_program_sends_its_key_in_the_header_only(served: Served, path: str) -> None:
    """Its requests count like requests of the interface; errors have the interface's envelope."""
    response = served.get(path)
    assert (response.status_code, response.headers["x-ratelimit-remaining"]) == (200, "59")
    assert httpx.get(served.site.address + path).status_code == 403
    wrong = httpx.get(served.site.address + path, headers={"X-Api-Key": "fds_live_wrong"})
    in_url = served.get(f"{path}{'&' if '?' in path else '?'}api_key={served.key}")
    assert [(each.status_code, each.json()["error"]["code"]) for each in (wrong, in_url)] == [
        (401, "unauthenticated"),
        (422, "invalid_parameter"),
    ]


def test_a_workbook_has_the_values_and_their_sources(served: Served) -> None:
    """A sheet for each kind of periods has the rows of the CSV, one a row for each fact, with the filing's address."""
    book = served.get("/companies/LNTR/financials.xlsx").content
    line = served.get("/companies/LNTR/financials.csv").text.splitlines()
    for sheet, kind in ((1, "ttm"), (2, "annual")):
        heads, *values = rows(book, sheet)
        assert [text for _, text in heads] == line[0].split(",")
        assert [row[2][1] for row in values] == [each.split(",")[2] for each in line if f",{kind}," in each]
        assert ("n", "4000") in values[0]
    heads, *sources = rows(book, 3)
    assert [text for _, text in heads] == list(workbook.SOURCES)
    assert ("s", f"{PUBLIC}/filings/9990000001-25-000002") in [row[-1] for row in sources]


def test_numbers_of_a_workbook_are_shown_by_their_unit() -> None:
    """Amounts with thousands, ratios in per cent, also among sources; the cells keep every digit."""
    held = {"revenue": 435_617_000_000.0, "eps_basic": 1.5, "roic": 0.0614, "debt_to_fcf": 2.0}
    book = made_of("ACME", "USD", "annual", "FY2024", held, source=("roic", "A", "USD", "1"))
    assert shown(book, 2) == {"435617000000": "#,##0", "1.5": "#,##0.00##", "0.0614": "0.0%", "2": "0.0"}
    assert shown(book, 3) == {"0.0614": "0.0%", "7.5": "#,##0", "1": "General"}


def test_text_of_a_workbook_is_no_formula() -> None:
    book = made_of("=1+1", "-USD", "ttm", "+1", {"revenue": 7.5}, source=("revenue", "@A1", "=cmd", "-1"))
    told = [cell for sheet in (1, 3) for row in rows(book, sheet)[1:] for cell in row]
    texts = ("=1+1", "+1", "-USD", "@A1", "=cmd", "-1")
    assert {("n", "7.5"), *(("s", text) for text in texts)} <= set(told)


def made_of(
    symbol: str, currency: str, kind: str, period: str, values: dict[str, float], source: tuple[str, str, str, str]
) -> bytes:
    """A workbook of values of one period; the source has an item, a tag, a unit and an accession number."""
    company = CompanyRow(symbol, "N", None, "9990000001", None, None, currency, "2024-12-31", None, None, 12)
    rest, day = (1, None, 1.0, None, "10-K", "2025-02-15", None), "2024-12-31"
    stated = [Stated(item, kind, period, day, value, *rest) for item, value in values.items()]
    item, tag, unit, accession = source
    fact = (1, "add", 1.0, 1.0, 7.5, tag, unit, None, day, "10-K", "2025-02-15", accession, None)
    return workbook.content(company, stated, [Source(item, kind, period, day, *fact)])


def test_an_account_has_some_downloads_at_the_same_time(tmp_path: Path) -> None:
    """All workers of a home together; an ended worker has released its places, however it ended."""
    workers = [Transfers(tmp_path), Transfers(tmp_path)]
    opened = [workers[place % 2].take("a", 100, NOON) for place in range(AT_ONCE)]
    for worker in workers:
        with pytest.raises(RateLimited, match=f"{AT_ONCE} downloads at the same time per account"):
            worker.take("a", 100, NOON)
        worker.take("b", 100, NOON).close()
    opened[0].close()
    del opened[1]
    gc.collect()
    opened += [workers[0].take("a", 100, NOON) for _ in range(AT_ONCE)]
    for each in opened:
        each.close()


def test_an_account_receives_all_files_some_times_a_day(tmp_path: Path) -> None:
    """Through all of its places, and also if the service starts again."""
    one, other = (Transfers(tmp_path).take("a", 100, NOON) for _ in range(2))
    one.note(TIMES * 100 - 1)
    one.close()
    Transfers(tmp_path).take("a", 100, NOON).close()
    other.note(1)
    other.close()
    with pytest.raises(RateLimited, match=f"{TIMES * 100} bytes of downloads per day"):
        Transfers(tmp_path).take("a", 100, NOON)
    Transfers(tmp_path).take("b", 100, NOON).close()
    Transfers(tmp_path).take("a", 100, NOON + 86_400).close()


def test_the_downloads_of_a_worker_share_a_speed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are; the time in which nothing was sent is not made up for."""
    clock = Clock()
    pace = Pace(clock)
    assert [pace.wait(int(SPEED / 10)) for _ in range(3)] == pytest.approx([0.1, 0.2, 0.3])
    clock.now += 5
    assert pace.wait(int(SPEED)) == pytest.approx(1.0)
    transfers = Transfers(tmp_path)
    monkeypatch.setattr(transfers, "_pace", pace)
    for account, waits in (("a", 2.0), ("b", 3.0)):
        transfer = transfers.take(account, 100, NOON)
        assert transfer.note(int(SPEED)) == pytest.approx(waits)
        transfer.close()


def test_a_count_that_was_not_written_whole_is_none(tmp_path: Path) -> None:
    Transfers(tmp_path).take("a", 100, NOON).close()
    for path in (tmp_path / "transfers").iterdir():
        path.write_bytes(b"\x00\x00")
    Transfers(tmp_path).take("a", 100, NOON).close()


def lengthen(served: Served) -> None:
    """Make the build's file too large to be received at once, with nothing in it that takes place."""
    big = served.site.home / "published/warehouse-b1.duckdb"
    big.chmod(0o600)
    with big.open("ab") as stream:
        stream.truncate(1 << 30)


def test_a_client_that_hangs_up_frees_its_place(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    """A file that nobody reads any more is not read to its end."""
    path = database(served)
    lengthen(served)
    with ExitStack() as opened:
        address, key = served.site.address + path, {"X-Api-Key": served.key}
        pieces = [opened.enter_context(httpx.stream("GET", address, headers=key)).iter_raw() for _ in range(AT_ONCE)]
        for each in pieces:  # they are kept: a response whose pieces nobody keeps is closed
            next(each)
        refused = served.get(path)
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "10")
    wait_until(lambda: served.get(path, Range="bytes=0-9").status_code == 206)
    noted = [place.read_bytes().split() for place in (served.site.home / "transfers").iterdir()]
    assert 0 < sum(int(sent[1]) for sent in noted if sent) < 1 << 29
    assert caplog.records == []


def test_a_build_stays_while_a_response_of_it_is_sent(served: Served) -> None:
    """However long that takes, and an hour longer, so that a download that breaks off then can go on."""
    path = database(served)
    lengthen(served)
    with httpx.stream("GET", served.site.address + path, headers={"X-Api-Key": served.key}) as response:
        pieces = response.iter_raw(1 << 20)
        next(pieces)
        for build in ("b2", "b3", "b4"):
            builds.small(served.site.home / "published", build)
        served.clock.now += 3 * downloads.KEPT
        for _ in range(64):  # more than the system receives in advance
            next(pieces)
        served.clock.now += downloads.KEPT - 60
        other = {"X-Api-Key": active_key(served.site.home, "other@example.org")}
        assert served.get(links(served)[0], **other).status_code == 200
    assert served.get(path, Range="bytes=100-109", **other).status_code == 206
