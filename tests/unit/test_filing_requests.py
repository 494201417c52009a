"""The filings themselves: documents requested from a mirror and from the SEC, and the records of them."""

import io
import json
import shutil
import zipfile
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import polars as pl
import pytest

import fundamentals
from pipelines.edgar.decode.data_set_list import DATA_SETS_URL
from pipelines.edgar.decode.filing_list import XbrlFiling, decode_xbrl_filings
from pipelines.edgar.errors import DocumentError, RefusedError, SourceError
from pipelines.edgar.fetch.filing_documents import ARCHIVES, DATA_SETS, NOT_THERE, FilingDocuments
from pipelines.edgar.fetch.raw_store import RawStore
from pipelines.edgar.source.client import EdgarClient
from pipelines.edgar.source.mirror import file_of
from pipelines.edgar.source.source import Source
from pipelines.fake_sec.server import EdgarServer, Reply, running_server
from pipelines.run.plan import run_all
from pipelines.run.synchronization import Synchronization
from pipelines.stages.batch.schemas import DOCUMENTS, LISTINGS, UNREAD_FILINGS, UNREAD_REPORTS
from pipelines.stages.filed import filing_requests, wanted_filings
from pipelines.stages.filed.filing_requests import nothing_to_commit
from pipelines.stages.filed.wanted_filings import FilingSelection, Origin, mirrored, update
from pipelines.storage.home import Home
from pipelines.storage.lake import Lake
from tests.fake_time import FakeTime
from tests.mirrors import ALFA, BRAVO, Mirror, write
from warehouse.build.pointer import current

NOW = datetime(2026, 8, 5, 10, tzinfo=UTC)
PAGE = (
    b"<!DOCTYPE html><html><body>"
    + "".join(
        f'<a href="/files/dera/data/financial-statement-data-sets/{name}.zip">{name}</a>'
        for name in ("2026q2", "2026q1", "2025q4")
    ).encode()
)


class Filed(NamedTuple):
    """One filing of a submissions document."""

    accession: str
    filed: str = "2026-07-20"
    form: str = "10-Q"
    report: str = "r.htm"
    is_inline: int | str = 0
    is_xbrl: int | str = 1


OLD, NEW, NEWEST = (
    Filed(f"0000000101-26-00000{n}", day) for n, day in enumerate(("2026-06-30", "2026-07-02", "2026-08-03"))
)
INLINE = Filed("0000000101-26-000009", "2026-07-10", is_inline=1)


def zipped(name: str = "r.xml") -> bytes:
    """A zip file, always the same."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(zipfile.ZipInfo(name), "<xbrl/>")
    return packed.getvalue()


def submissions(filer_cik: str, *filed: Filed) -> bytes:
    columns = ("accessionNumber", "filingDate", "form", "primaryDocument", "isInlineXBRL", "isXBRL")
    recent = {name: list(values) for name, values in zip(columns, zip(*filed, strict=True), strict=True)}
    return json.dumps({"cik": int(filer_cik), "name": "X", "filings": {"recent": recent}}).encode()


def url(filing: Filed, name: str) -> str:
    return f"{ARCHIVES}101/{filing.accession.replace('-', '')}/{name}"


def zip_of(filing: Filed) -> str:
    return url(filing, f"{filing.accession}-xbrl.zip")


IN_A = "CommonClassAMember"
TEXTS = {"cik": pl.String, "class_member": pl.String}


class Bench:
    """A raw zone and tables with the submissions of a company, and a server in place of the SEC."""

    def __init__(self, folder: Path, server: EdgarServer) -> None:
        self.server, self.folder = server, folder / "mirror"
        self.store, self.lake = RawStore(folder / "home"), Lake(folder / "home/tables")

    def file(self, *filed: Filed, pages: Sequence[bytes] = ()) -> None:
        """Let the company have these filings, and pages of older filings."""
        digests = " ".join(map(self.store.put, (submissions(ALFA.cik, *filed), *pages)))
        row = (ALFA.cik, "unchanged", "facts", digests, None, NOW)
        documents = pl.DataFrame([row], schema=DOCUMENTS, orient="row")
        self.lake.replace_companies("documents", [documents], {ALFA.cik: ""})

    def serve(self, *filed: Filed) -> None:
        """Let the server have the zip files of these filings, and the instances of inline reports."""
        for filing in filed:
            self.server.on(zip_of(filing), Reply(body=zipped(filing.accession)))
            if filing.is_inline:
                self.server.on(url(filing, "r_htm.xml"), Reply(body=b"<xbrl/>"))

    def index(self, filing: Filed, *names: str) -> None:
        """Let the server have an index of the folder of a filing."""
        body = json.dumps({"directory": {"item": [{"name": name} for name in names]}}).encode()
        self.server.on(url(filing, "index.json"), Reply(body=body))

    def run(
        self,
        wanted: str = "recent",
        *,
        ciks: Sequence[str] | None = None,
        full: bool = False,
        now: datetime = NOW,
        threads: int = 1,
        commit: Callable[[], object] = nothing_to_commit,
    ) -> list[str]:
        """Request from the server; return the paths that were requested, in order."""
        before, time = len(self.server.asked), FakeTime()
        client = EdgarClient(
            user_agent="x mail@example.org",
            pace=None,
            base_url=self.server.url,
            attempts=1,
            sleep=time.sleep,
            clock=time.clock,
        )
        self.told: list[str] = []
        self.failures: list[str] = []
        store = RawStore(self.store.home)
        with Source("live", "edgar", client, threads) as source:
            try:
                asked = FilingSelection(wanted, ciks, now, full)  # type: ignore[arg-type]
                tell = self.told.append
                self.failures = update(Origin(source), store, self.lake, asked, tell, tell, commit)
            finally:
                self.asked = ["https:/" + path for path, _ in self.server.asked[before:]]
        return self.asked

    def read_mirror(self, *, full: bool = False) -> list[str]:
        """Read the mirror; return the failures."""
        origin = mirrored(self.folder)
        assert origin
        store = RawStore(self.store.home)
        return update(origin, store, self.lake, FilingSelection("recent", None, NOW, full), pytest.fail, pytest.fail)

    def hold(self, address: str, content: bytes) -> None:
        """Put a document into the mirror."""
        path = file_of(self.folder, address)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    def packages(self) -> list[tuple[str, str, bool]]:
        """Accession, file and failure of each row, newest first; each digest belongs to a stored document."""
        rows = self.lake.read("packages")
        assert all(RawStore(self.store.home).get(digest) for digest in rows["digest"].drop_nulls())
        return rows.select("accession", "file", "failure").rows()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with running_server() as server:
        server.on(DATA_SETS_URL, Reply(body=PAGE))
        for name in ("2026q2", "2026q1", "2025q4"):
            server.on(f"{DATA_SETS}{name}.zip", Reply(body=zipped(name), headers={"ETag": '"1"'}))
        yield Bench(tmp_path, server)


# --- the list of filings


def test_filings_with_xbrl_are_listed():
    """Also reports with unknown XBRL; no report without XBRL, and no 8-K with XBRL that has no numbers."""
    rows = [
        Filed("a", form="10-K/A", is_inline=1),
        Filed("b", form="10-Q", is_xbrl=""),
        Filed("c", form="10-Q", is_xbrl=0),
        Filed("d", form="8-K", is_xbrl=""),
        Filed("e", form="8-K"),
        Filed("f", form="6-K"),
        Filed("g", form="6-K", is_xbrl=""),
    ]
    document = json.loads(submissions(ALFA.cik, *rows))
    document["filings"]["recent"]["isXBRLNumeric"] = [0, 0, 0, 0, 0, 1, 1]
    found = decode_xbrl_filings(json.dumps(document).encode(), ALFA.cik, {"10-K", "10-Q"}, {"8-K", "6-K"})
    assert found[0] == XbrlFiling(ALFA.cik, "a", "10-K/A", "2026-07-20", "r.htm", is_xbrl=True, is_inline=True)
    assert [(filing.accession, filing.is_xbrl) for filing in found[1:]] == [("b", None), ("f", True), ("g", None)]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (b'"isXBRL": [1]', b'"isXBRL": [1, 1]', "unequal lengths"),
        (b"2026-07-20", b"2026-13-20", "filingDate"),
        (b'"cik": 101', b'"cik": 102', "another company's"),
        (b'"form": ["10-Q"]', b'"form": "10-Q"', "expected a list"),
    ],
)
def test_a_wrong_list_is_an_error(old, new, reason):
    raw = submissions(ALFA.cik, Filed("a"))
    assert old in raw
    with pytest.raises(DocumentError, match=reason):
        decode_xbrl_filings(raw.replace(old, new), ALFA.cik, {"10-Q"}, {"8-K"})


# --- a mirror


def test_a_mirror_without_filings_is_no_origin(tmp_path):
    assert mirrored(Mirror(tmp_path, ALFA).folder) is None


def test_all_of_a_mirror_is_read_once(bench):
    """Whatever the day, and the flags; a filing without a folder is left out, and nothing is read again."""
    unknown, elsewhere = (
        Filed("0000000101-10-000001", "2010-02-01", is_inline="", is_xbrl=""),
        Filed("0000000101-10-000002"),
    )
    bench.file(INLINE, unknown, elsewhere)
    for filing in (INLINE, unknown):
        bench.hold(zip_of(filing), zipped())
    bench.hold(url(INLINE, "r_htm.xml"), b"<xbrl>inline</xbrl>")
    names = [{"name": name} for name in ("r.htm", "other_htm.xml")]
    bench.hold(url(unknown, "index.json"), json.dumps({"directory": {"item": names}}).encode())
    bench.hold(url(unknown, "other_htm.xml"), b"<xbrl>unknown</xbrl>")
    for name in ("2009q3", "2010q1"):
        bench.hold(f"{DATA_SETS}{name}.zip", zipped(name))
    bench.hold(f"{DATA_SETS}readme.zip", zipped())

    assert bench.read_mirror() == []
    rows = [
        (INLINE.accession, f"{INLINE.accession}-xbrl.zip", None),
        (INLINE.accession, "r_htm.xml", None),
        (unknown.accession, f"{unknown.accession}-xbrl.zip", None),
        (unknown.accession, "other_htm.xml", None),
    ]
    assert sorted(bench.packages()) == sorted(rows)
    data_sets = bench.lake.read("data_sets")
    assert data_sets["name"].to_list() == ["2010q1", "2009q3"]
    assert [bench.store.get(digest) for digest in data_sets["digest"]] == [zipped("2010q1"), zipped("2009q3")]

    for path in filter(Path.is_file, bench.folder.rglob("*")):
        path.write_bytes(b"changed")
    assert bench.read_mirror() == []
    assert bench.lake.read("data_sets").equals(data_sets)
    assert len(bench.read_mirror(full=True)) == 4  # now the single files are read, no zip file
    assert bench.lake.read("data_sets").equals(data_sets)


def test_companies_without_companyfacts_count_in_a_mirror(bench):
    rows = pl.DataFrame([(ALFA.cik, "no_facts", None, None, None, NOW)], schema=DOCUMENTS, orient="row")
    bench.lake.replace_companies("documents", [rows], {ALFA.cik: ""})
    bench.hold(f"https://data.sec.gov/submissions/CIK{ALFA.cik}.json", submissions(ALFA.cik, NEW))
    bench.hold(zip_of(NEW), zipped())
    assert bench.read_mirror() == []
    assert bench.packages() == [(NEW.accession, f"{NEW.accession}-xbrl.zip", None)]


# --- the SEC


def test_the_newest_data_sets_and_later_filings_are_requested(bench, monkeypatch, capsys):
    """Newest first, after a message; the next run requests only the list of data sets."""
    monkeypatch.setattr(wanted_filings, "QUARTERS", 2)
    bench.file(NEW, OLD, INLINE, NEWEST)
    bench.serve(OLD, NEW, INLINE, NEWEST)

    data_sets = [DATA_SETS_URL, *(f"{DATA_SETS}{name}.zip" for name in ("2026q2", "2026q1"))]
    packages = [zip_of(NEWEST), zip_of(INLINE), url(INLINE, "r_htm.xml"), zip_of(NEW)]
    assert bench.run() == data_sets + packages
    assert bench.told == [
        "the filings themselves (FUNDAMENTALS_FILINGS=off does without): 2 data sets and packages of 3 filings: "
        "6 requests, about 0.2 GB, at least 0 minutes"
    ]
    assert capsys.readouterr().err == f"{bench.told[0]}\n"
    assert bench.run() == [DATA_SETS_URL]
    assert (bench.told, len(bench.packages())) == ([], 4)
    for document in (zipped("2026q1"), zipped(NEW.accession)):
        bench.store.filing_path(sha256(document).hexdigest()).unlink()  # as fundamentals doctor, and a restored backup
    assert bench.run() == [DATA_SETS_URL, f"{DATA_SETS}2026q1.zip", zip_of(NEW)]
    assert bench.run("all") == [DATA_SETS_URL, f"{DATA_SETS}2025q4.zip", zip_of(OLD)]
    assert bench.run(full=True) == data_sets


@pytest.mark.parametrize(
    ("symbols", "classes"), [(("ALFA-A", "ALFA-B"), ()), (("ALFA",), (IN_A,))], ids=["symbols", "earnings by class"]
)
def test_all_packages_of_a_company_with_classes_are_requested(bench, symbols, classes):
    """However old they are, because covers and facts distinguish the classes; of other companies only filings newer
    than data sets.
    """
    bench.file(OLD)
    bench.serve(OLD)
    listed = [(ALFA.cik, symbol, "Alfa", "NYSE", n, True, "common", n == 0) for n, symbol in enumerate(symbols)]
    bench.lake.write("listings", pl.DataFrame(listed[:1], schema=LISTINGS, orient="row"))
    assert bench.run()[1:] == [f"{DATA_SETS}{name}.zip" for name in ("2026q2", "2026q1", "2025q4")]
    bench.lake.write("listings", pl.DataFrame(listed, schema=LISTINGS, orient="row"))
    of_classes = pl.DataFrame({"cik": [ALFA.cik] * len(classes), "class_member": classes}, schema_overrides=TEXTS)
    bench.lake.write("classes", of_classes)
    assert bench.run()[1:] == [zip_of(OLD)]


@pytest.mark.parametrize(("days", "is_asked"), [(1, False), (2, True)])
def test_the_package_of_a_report_that_companyfacts_lack_is_requested(bench, days, is_asked):
    """A day after it was filed, also if a data set of its quarter is there: this was made from the same facts."""
    bench.file(OLD)
    bench.serve(OLD)
    unread = pl.DataFrame({"cik": [ALFA.cik], "accession": [OLD.accession], "filed": [NOW.date() - timedelta(days)]})
    bench.lake.replace_companies(UNREAD_REPORTS, [unread], {ALFA.cik: ""})
    assert (zip_of(OLD) in bench.run()) is is_asked


def test_filings_on_pages_of_older_filings_are_requested(bench):
    """Each once, as the submissions have it; a page that is malformed is left out, and named."""
    early = Filed("0000000101-12-000001", "2012-07-01")
    page = json.loads(submissions(ALFA.cik, OLD._replace(filed="2011-01-01"), early))["filings"]["recent"]
    bench.file(OLD, pages=[json.dumps(page).encode(), b"{}"])
    bench.serve(OLD, early)
    assert bench.run("all", ciks=[ALFA.cik]) == [zip_of(OLD), zip_of(early)]
    assert "1 pages of older filings are left out, such as: page of older filings of CIK 0000000101" in bench.told[0]
    assert bench.lake.read("packages")["filed"].cast(pl.String).to_list() == [OLD.filed, early.filed]


def test_named_symbols_have_the_packages_of_two_years(bench):
    early = Filed("0000000101-24-000001", "2024-07-01")
    bench.file(OLD, early)
    bench.serve(OLD, early)
    assert bench.run(ciks=[BRAVO.cik]) == []
    assert bench.run(ciks=[ALFA.cik]) == [zip_of(OLD)]
    assert bench.run("all", ciks=[ALFA.cik]) == [zip_of(early)]


def test_without_a_zip_file_the_most_important_files_are_requested(bench):
    """Six at most, instance first. Names that are not valid file names are left out."""
    bench.file(NEW)
    others = ("x.xsd", "R2.xml", "FilingSummary.xml", "MetaLinks.json", "x_lab.xml", "x_def.xml", "x_cal.xml")
    bench.index(NEW, *others, "a/b.xsd", "x_pre.xml", "x.xml", "x.htm")
    wanted = ["x.xml", "x_pre.xml", "x_cal.xml", "x.xsd", "x_lab.xml", "MetaLinks.json"]
    for name in wanted:
        bench.server.on(url(NEW, name), Reply(body=name.encode()))
    assert bench.run(ciks=[ALFA.cik]) == [zip_of(NEW), url(NEW, "index.json"), *(url(NEW, name) for name in wanted)]
    assert bench.packages() == [(NEW.accession, name, None) for name in sorted(wanted)]


def test_an_instance_of_another_document_is_found_in_the_index(bench):
    bench.file(INLINE)
    bench.server.on(zip_of(INLINE), Reply(body=zipped()))
    bench.index(INLINE, "r.htm", "ex99.htm", "ex99_htm.xml")
    bench.server.on(url(INLINE, "ex99_htm.xml"), Reply(body=b"<xbrl/>"))
    names = ["r_htm.xml", "index.json", "ex99_htm.xml"]
    assert bench.run(ciks=[ALFA.cik]) == [zip_of(INLINE), *(url(INLINE, name) for name in names)]
    assert [file for _, file, _ in bench.packages()] == [f"{INLINE.accession}-xbrl.zip", "ex99_htm.xml"]


def test_404_is_remembered_of_what_is_not_new(bench):
    """Other failures are asked again by the next run, and with --full 404, too."""
    bench.file(NEW, NEWEST, OLD)
    bench.server.on(zip_of(OLD), Reply(500))
    asked = [[zip_of(filing), url(filing, "index.json")] for filing in (NEWEST, NEW)]
    assert bench.run(ciks=[ALFA.cik]) == [*asked[0], *asked[1], zip_of(OLD)]
    assert [failure for *_, failure in bench.packages()][:2] == [NOT_THERE, NOT_THERE]
    assert len(bench.failures) == 1
    assert "answers 500" in bench.failures[0]
    assert bench.run(ciks=[ALFA.cik]) == [*asked[0], zip_of(OLD)]
    bench.serve(OLD)
    assert bench.run(ciks=[ALFA.cik], now=NOW + timedelta(days=9)) == [zip_of(OLD)]
    assert bench.run(ciks=[ALFA.cik], full=True) == [*asked[0], *asked[1]]


@pytest.mark.parametrize(
    ("body", "reason"),
    [(b"<html>Maintenance</html>", "a web page in place of the document"), (zipped()[:-30], "is not a whole zip file")],
)
def test_what_is_no_zip_file_is_not_stored(bench, body, reason):
    bench.file(NEW)
    bench.server.on(zip_of(NEW), Reply(body=body))
    bench.server.on(f"{DATA_SETS}2026q2.zip", Reply(body=body))
    assert zip_of(NEW) in bench.run()
    documents = [(failure.partition(":")[0], reason in failure) for failure in bench.failures]
    assert documents == [("data set 2026q2", True), (f"filing {NEW.accession} of CIK {ALFA.cik}", True)]
    assert bench.lake.read("data_sets")["digest"].null_count() == 1
    assert bench.run() == [DATA_SETS_URL, f"{DATA_SETS}2026q2.zip", zip_of(NEW)]


def test_a_run_ends_when_its_budget_is_used(bench, monkeypatch):
    """The next run goes on."""
    monkeypatch.setattr(wanted_filings, "BUDGET", {"recent": 4})
    monkeypatch.setattr(filing_requests, "AT_A_TIME", 1)
    filed = [Filed(f"0000000101-26-1000{n:02}", f"2026-07-{n:02}", is_inline=1) for n in range(1, 5)]
    bench.file(*filed)
    bench.serve(*filed)
    for two in (filed[:1:-1], filed[1::-1]):
        expected = [address for filing in two for address in (zip_of(filing), url(filing, "r_htm.xml"))]
        assert bench.run(ciks=[ALFA.cik]) == expected
        assert ("requests are left for the next runs" in bench.told[0]) == (two[0] is filed[3])


def test_a_refusal_ends_the_requests_and_what_was_fetched_stays(bench):
    refused = [Filed(f"0000000101-26-2000{n:02}", "2026-07-05") for n in range(5)]
    bench.file(NEWEST, *refused)
    bench.serve(NEWEST)
    for filing in refused:
        bench.server.on(zip_of(filing), Reply(403))
    with pytest.raises(RefusedError):
        bench.run(ciks=[ALFA.cik])
    assert bench.asked == [zip_of(filing) for filing in (NEWEST, *refused[:1:-1])]
    assert bench.packages()[0] == (NEWEST.accession, f"{NEWEST.accession}-xbrl.zip", None)


@pytest.mark.parametrize(
    ("number", "filed", "reply", "said", "asked", "is_recorded"),
    [
        (9, {}, Reply(500), "5 in a row failed", 5, True),
        # it answers 404 to everything, and none of these answers is recorded
        (20, {"filed": "2026-07-05"}, Reply(404), "404 for all of 20 filings", 40, False),
    ],
    ids=["failures in a row", "nothing at all"],
)
def test_a_source_that_fails_is_left(bench, number, filed, reply, said, asked, is_recorded):
    bench.file(*(Filed(f"0000000101-26-3000{n:02}", **filed) for n in range(number)))
    bench.server.otherwise = reply
    with pytest.raises(SourceError, match=said):
        bench.run(ciks=[ALFA.cik])
    assert len(bench.asked) == asked
    assert bench.lake.holds("packages") == is_recorded


def test_a_stopped_run_has_recorded_what_it_fetched(bench, monkeypatch):
    """At each checkpoint, so that a killed run loses little; the next run goes on."""
    monkeypatch.setattr(filing_requests, "AT_A_TIME", 1)
    monkeypatch.setattr(filing_requests, "CHECKPOINT_SECONDS", 0.0)
    filed = [Filed(f"0000000101-26-5000{n:02}", f"2026-07-{20 - n}") for n in range(4)]
    bench.file(*filed)
    bench.serve(*filed)
    package = FilingDocuments.package
    monkeypatch.setattr(filing_requests, "COMMIT_SECONDS", 0.0)
    committed: list[int] = []

    def killed(self: FilingDocuments, filing: XbrlFiling) -> object:
        if filing.accession == filed[2].accession:
            assert len(bench.packages()) == 2
            assert committed == [1, 2]
            raise KeyboardInterrupt
        return package(self, filing)

    monkeypatch.setattr(FilingDocuments, "package", killed)
    with pytest.raises(KeyboardInterrupt):
        bench.run(ciks=[ALFA.cik], commit=lambda: committed.append(len(bench.packages())))
    monkeypatch.setattr(FilingDocuments, "package", package)
    assert bench.run(ciks=[ALFA.cik]) == [zip_of(filing) for filing in filed[2:]]
    assert [accession for accession, *_ in bench.packages()] == [filing.accession for filing in filed]


def test_with_a_store_only_what_it_has_lost_is_requested_again(bench, monkeypatch):
    """The documents need not be on this machine, which may be another machine than before."""
    stored: list[str] = []
    monkeypatch.setattr(RawStore, "remote", SimpleNamespace(put_document=lambda digest, _: stored.append(digest)))
    bench.file(NEW, OLD)
    bench.serve(NEW, OLD)
    assert bench.run(ciks=[ALFA.cik]) == [zip_of(NEW), zip_of(OLD)]
    assert {*stored} == {*bench.lake.read("packages")["digest"]}
    shutil.rmtree(bench.store.root / "filings")
    assert bench.run(ciks=[ALFA.cik]) == []
    lost = (None, NEW.accession, ALFA.cik, "is missing", "")
    bench.lake.write("unread_filings", pl.DataFrame([lost], schema=UNREAD_FILINGS, orient="row"))
    assert bench.run(ciks=[ALFA.cik]) == [zip_of(NEW)]


def test_packages_are_requested_in_parallel(bench, monkeypatch):
    """They are recorded in order; after failures in a row no more are requested."""
    monkeypatch.setattr(filing_requests, "AT_A_TIME", 4)
    filed = [Filed(f"0000000101-26-6000{n:02}", f"2026-07-{30 - n}") for n in range(20)]
    bench.file(*filed)
    bench.serve(*filed[:10])
    bench.server.otherwise = Reply(500)
    with pytest.raises(SourceError):
        bench.run(ciks=[ALFA.cik], threads=4)
    rows = [(accession, failure is None) for accession, _, failure in bench.packages()]
    assert rows == [(filing.accession, number < 10) for number, filing in enumerate(filed[:15])]
    assert len(bench.asked) <= 16


def test_the_download_of_a_data_set_goes_on(bench):
    bench.file(OLD)
    body = bytes(range(256)) * 100 + zipped()
    reply = Reply(body=body, headers={"ETag": '"7"'})
    bench.server.on(f"{DATA_SETS}2026q2.zip", Reply(body=body, headers={"ETag": '"7"'}, cut=10_000), reply)
    bench.run()
    assert "data set 2026q2" in bench.failures[0]
    bench.run()
    assert bench.server.asked[-1][1]["Range"] == "bytes=10000-"
    newest = bench.lake.read("data_sets").row(0, named=True)
    assert (newest["name"], bench.store.get(newest["digest"])) == ("2026q2", body)
    assert [path.name for path in (bench.store.root / "bulk").iterdir()] == []


def test_without_the_list_of_data_sets_no_package_is_requested(bench):
    """Until a data set is known, the service cannot know which filings are newer."""
    bench.file(NEW)
    bench.server.on(DATA_SETS_URL, Reply(404))
    assert bench.run() == [DATA_SETS_URL]
    assert bench.told == [f"the list of data sets cannot be read, so none is fetched: {DATA_SETS_URL}: answers 404"]


# --- the step of a synchronization


def with_packages(mirror: Mirror) -> None:
    """Let the mirror have the package of the newest filing of a company."""
    recent = json.loads(mirror.submissions(ALFA).read_bytes())["filings"]["recent"]
    accession = recent["accessionNumber"][0]
    path = file_of(mirror.folder, f"{ARCHIVES}101/{accession.replace('-', '')}/{accession}-xbrl.zip")
    path.parent.mkdir(parents=True)
    path.write_bytes(zipped())


def test_a_synchronization_reads_the_filings_of_a_mirror(synchronized: Home, same_mirror: Mirror, monkeypatch):
    """Unless they are off."""
    with_packages(same_mirror)
    lake = Lake(synchronized.tables)
    monkeypatch.setenv("FUNDAMENTALS_FILINGS", "off")
    shutil.rmtree(synchronized.published / "statements")
    counts = run_all(Synchronization(synchronized, str(same_mirror.folder))).counts
    assert not {"packages", "filed_facts"} & counts.keys()
    assert not lake.holds("packages")
    assert not (synchronized.published / "statements").exists()
    monkeypatch.setenv("FUNDAMENTALS_FILINGS", "recent")
    counts = run_all(Synchronization(synchronized, str(same_mirror.folder))).counts
    assert (counts["published"], counts["packages"], lake.height("packages")) == (0, 1, 1)


def test_the_sec_is_asked_after_publication(same_mirror: Mirror, tmp_path, monkeypatch):
    """If the SEC refuses, the error ends the run, so that the follower pauses; published builds stay."""
    document = json.loads(same_mirror.submissions(ALFA).read_bytes())
    recent = document["filings"]["recent"]
    recent |= {
        "isXBRL": [1] * len(recent["form"]),
        "filingDate": [f"{datetime.now(UTC):%Y-%m-%d}"] * len(recent["form"]),
    }
    write(same_mirror.submissions(ALFA), document)
    home = Home(tmp_path / "live")
    with running_server() as server:
        server.folder, server.otherwise = same_mirror.folder, Reply(403, b"blocked")
        monkeypatch.setenv("EDGAR_USER_AGENT", "Name mail@example.org")
        monkeypatch.setenv("EDGAR_BASE_URL", server.url)
        with pytest.raises(RefusedError, match=r"blocked: wait ten minutes.*what is published stays as it is"):
            run_all(Synchronization(home, "live", symbols="ALFA"))
        asked = [path for path, _ in server.asked if path.endswith("-xbrl.zip")]
    assert current(home.published)
    assert len(asked) == 3


def test_a_failure_does_not_fail_the_synchronization(synchronized: Home, same_mirror: Mirror, monkeypatch, caplog):
    with_packages(same_mirror)
    monkeypatch.setattr(RawStore, "filing_files", lambda _: (_ for _ in ()).throw(SourceError("the source refuses")))
    assert run_all(Synchronization(synchronized, str(same_mirror.folder))).counts["packages"] == 0
    assert [line for line in caplog.messages if "the source refuses" in line] == [
        "filings: the source refuses; values are made without, and the next synchronization goes on with the filings"
    ]


def test_a_wrong_setting_is_an_error_of_one_line(same_mirror, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FUNDAMENTALS_HOME", str(tmp_path / "new"))
    monkeypatch.setenv("FUNDAMENTALS_FILINGS", "some")
    assert fundamentals.main(["sync", "--source", str(same_mirror.folder)]) == 1
    assert capsys.readouterr().err == (
        "fundamentals sync: FUNDAMENTALS_FILINGS is 'some', expected off, recent or all\n"
    )
