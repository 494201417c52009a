"""`fundamentals sync`: its builds and its error messages.

Some tests start it as a process, as users do; most run the same command in this process, whose imports are done
already.
"""

import json
import shutil
import stat
import subprocess
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from pipelines.edgar.source.archive import Archive, Member
from pipelines.storage.lake import Lake
from tests.archives import zipped
from tests.e2e.homes import ended, published, query, sync, sync_as_process, sync_unrecorded
from tests.mirrors import ABSENT, ALFA, BRAVO, CARGO, Filer, Mirror

REVENUES = "SELECT symbol, revenue FROM financials WHERE period = 'FY2024' ORDER BY symbol"
FILERS = (ALFA, BRAVO, CARGO)


def revenues(*filers: Filer) -> list[tuple[str, int]]:
    return [(filer.symbol, filer.trailing(2024, 4)) for filer in filers]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Mirror, Path]:
    """A mirror, and a home synchronized with it; tests do not change them."""
    folder = tmp_path_factory.mktemp("small")
    mirror, home = Mirror(folder / "mirror", *FILERS, ABSENT), folder / "home"
    ended(sync(home, mirror.folder))
    return mirror, home


@pytest.fixture
def own(small: tuple[Mirror, Path], tmp_path: Path) -> tuple[Mirror, Path]:
    """The same mirror and a copy of the home, which a test may change."""
    home = shutil.copytree(small[1], tmp_path / "home", symlinks=True)
    return Mirror(tmp_path / "mirror", *FILERS, ABSENT), home


@pytest.fixture(scope="module")
def refusing(small: tuple[Mirror, Path]) -> Path:
    """A copy of the home for all tests of refused synchronizations."""
    return shutil.copytree(small[1], small[1].with_name("refusing"), symlinks=True)


@pytest.fixture
def kept(refusing: Path) -> Iterator[Path]:
    """A home that must have the same build and pointer after the test."""
    pointer = refusing / "published" / "CURRENT.json"
    before = pointer.read_bytes()
    yield refusing
    assert pointer.read_bytes() == before
    assert published(refusing).is_whole
    assert query(refusing, REVENUES) == revenues(*FILERS)


def refused(done: subprocess.CompletedProcess[str], *words: str) -> None:
    """Check for exit status 1 and one line on standard error."""
    assert done.returncode == 1, done.stderr
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    told = [line for line in lines if line.startswith("fundamentals sync: ")]
    assert len(told) == 1, done.stderr
    assert all(word in told[0] for word in words), told[0]
    assert "Traceback" not in done.stderr
    assert all("━" in line for line in lines if line not in told), done.stderr


def test_a_mirror_is_published_with_a_report(small):
    _, home = small
    whole = published(home)
    assert whole.is_whole
    assert whole.pointer.companies == 3
    assert whole.pointer.synchronization.source == "mirror"
    assert query(home, REVENUES) == revenues(*FILERS)


def test_a_second_run_appends_and_publishes_nothing(tmp_path):
    mirror, home = Mirror(tmp_path / "mirror", *FILERS, ABSENT), tmp_path / "home"
    first = sync_as_process(home, mirror.folder)
    made = [home, *(path for path in home.rglob("*") if not path.is_symlink())]
    assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in made} == {0}, "readable by its owner only"
    before, files = published(home), sorted(path.name for path in home.glob("published/warehouse-*"))

    second = sync_as_process(home, mirror.folder)

    assert (first.returncode, second.returncode) == (0, 0), second.stderr
    assert cells(first.stdout) | {"seconds": ""} == {
        "This synchronization": "",
        "seen": "4",
        "changed": "3",
        "failed": "0",
        "seconds": "",
        "All companies": "",
        "companies with documents": "3",
        "companies in quarantine": "0",
        "companies covered": "3",
        "symbols covered": "3",
        "values of twelve months": "234",
        "versions of twelve months": "234",
        "build": "published",
    }
    assert (cells(second.stdout)["changed"], cells(second.stdout)["build"]) == ("0", "unchanged")
    assert first.stdout.splitlines()[-1] == str(home / "published" / "warehouse.duckdb")
    after = published(home)
    assert sorted(path.name for path in home.glob("published/warehouse-*")) == files
    assert (after.rows, after.content_hash) == (before.rows, before.content_hash)
    assert after.pointer.build == before.pointer.build
    assert after.pointer.published_at == before.pointer.published_at
    assert after.pointer.synchronization.sync_id > before.pointer.synchronization.sync_id
    times = json.loads((home / "published" / after.pointer.synchronized_file).read_text())
    assert set(times.values()) == {after.pointer.synchronization.started_at}
    assert query(home, "SELECT count(*) FROM syncs") == [(1,)]


def cells(table: str) -> dict[str, str]:
    rows = [line.strip("│").split("│") for line in table.splitlines() if line.startswith("│")]
    return {name.strip(): value.strip() for name, value in rows}


def test_an_unknown_symbol(small, kept):
    """As a process: a shell sees its exit status and its one line."""
    done = sync_as_process(kept, small[0].folder, "--symbols", "BRVO,ALFB")
    refused(done, "no such symbol", "ALFB", "did you mean ALFA?")


REFUSED = {
    "nowhere": ("nowhere is not a directory", "give live, sample, or a mirror"),
    "file": ("file is not a directory",),
    "loop": ("loop", "give live, sample, or a mirror"),
    "empty": ("has no www.sec.gov/files/company_tickers_exchange.json", "the list of companies"),
    "damaged/companyfacts.zip": ("companyfacts.zip is not a whole zip file", "get it again"),
    "live": ("needs EDGAR_USER_AGENT", 'EDGAR_USER_AGENT="Name mail@example.org"'),
    "sample": ("holds real data", "use another home: FUNDAMENTALS_HOME="),
}
"""Sources, in a folder if they are files, and the expected message about each."""


@pytest.mark.parametrize("source", REFUSED)
def test_a_source_that_is_refused(small, kept, tmp_path, source):
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "empty").mkdir()
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "companyfacts.zip").write_bytes(b"PK")
    refused(sync(kept, source if source in ("live", "sample") else tmp_path / source), *REFUSED[source])


def test_a_broken_document_is_quarantined(own):
    """Its company keeps its values, the others are updated and published; unit/test_stages has the kinds of damage."""
    mirror, home = own
    grown = replace(CARGO, scale=400)
    mirror.hold(replace(BRAVO, scale=900), grown)
    facts = mirror.facts(BRAVO)
    facts.write_bytes(facts.read_bytes()[: facts.stat().st_size // 2])

    done = ended(sync_unrecorded(home, mirror.folder))
    assert (cells(done.stdout)["companies in quarantine"], cells(done.stdout)["build"]) == ("1", "published")
    told = [line for line in done.stderr.splitlines() if line.startswith("quarantined: CIK 0000000102: ")]
    assert len(told) == 1
    assert "is not a complete JSON document" in told[0]
    assert "its previous values stay" in told[0]
    assert "Traceback" not in done.stderr
    assert published(home).is_whole
    assert query(home, REVENUES) == revenues(ALFA, BRAVO, grown)
    assert query(home, "SELECT cik, reason IS NOT NULL, place LIKE 'companyfacts of%' FROM quarantine") == [
        (BRAVO.cik, True, True)
    ]
    # the broken company alone is a failure; another company is not
    ended(sync_unrecorded(home, mirror.folder, "--symbols", "BRVO"), 1)
    ended(sync_unrecorded(home, mirror.folder, "--symbols", "ALFA"))


def test_a_file_that_is_no_document_is_the_failure_of_its_company(own):
    """A saved refusal of the SEC, or more bytes than any document has, which take no space here. Nothing is stored."""
    mirror, home = own
    grown = replace(ALFA, scale=400)
    mirror.hold(grown)
    mirror.facts(BRAVO).write_text("<!DOCTYPE html><html><h1>Undeclared Automated Tool</h1></html>")
    with mirror.submissions(CARGO).open("wb") as file:
        file.truncate(400 << 20)
    before = Lake(home / "tables").read("documents")

    done = ended(sync_unrecorded(home, mirror.folder), 3)
    what = ["is a web page, expected a document of EDGAR", "has 419430400 bytes, which no document of EDGAR has"]
    for filer, file, reason in zip((BRAVO, CARGO), (mirror.facts(BRAVO), mirror.submissions(CARGO)), what, strict=True):
        line = f"failed: CIK {filer.cik}: {file} {reason}; get the file again; its previous values stay"
        assert line in done.stderr.splitlines()
    assert query(home, REVENUES) == revenues(grown, BRAVO, CARGO)
    assert query(home, "SELECT * FROM quarantine") == []
    kept = pl.col("cik").is_in([BRAVO.cik, CARGO.cik]), ["cik", "facts_digest", "submissions_digest", "synchronized_at"]
    after = Lake(home / "tables").read("documents")
    assert after.filter(kept[0]).select(kept[1]).equals(before.filter(kept[0]).select(kept[1]))


def test_a_list_of_companies_that_is_no_document_ends_the_run_in_one_line(own):
    mirror, home = own
    with mirror.tickers.open("wb") as file:
        file.truncate(60 << 30)
    refused(sync(home, mirror.folder), "has 64424509440 bytes, which no document of EDGAR has; get the file again")


def test_one_symbol_is_updated_and_the_rest_kept(own):
    mirror, home = own
    first = published(home).pointer
    grown = replace(BRAVO, scale=900)
    mirror.hold(grown, replace(CARGO, scale=900))

    ended(sync_unrecorded(home, mirror.folder, "--symbols", "brvo"))
    assert query(home, REVENUES) == revenues(ALFA, grown, CARGO)
    after = published(home)
    assert after.is_whole
    times = json.loads((home / "published" / after.pointer.synchronized_file).read_text())
    assert times[BRAVO.cik] == after.pointer.synchronization.started_at
    assert times[ALFA.cik] == times[CARGO.cik] == first.synchronization.started_at
    assert query(home, "SELECT count(*) FROM syncs") == [(2,)]
    assert query(home, "SELECT count(*) > 0 FROM changes") == [(True,)]

    ended(sync_unrecorded(home, mirror.folder, "--symbols", "brvo"))

    again = published(home).pointer
    assert (again.build, again.content_hash) == (after.pointer.build, after.content_hash), "changes cause no build"
    assert again.synchronization.sync_id > after.pointer.synchronization.sync_id


def test_a_full_run_gives_the_same_build(own):
    """--full computes every row again, and no new build is published."""
    mirror, home = own
    before = published(home)
    done = ended(sync_unrecorded(home, mirror.folder, "--full"))
    assert cells(done.stdout)["build"] == "unchanged"
    after = published(home)
    assert (after.pointer.build, after.content_hash) == (before.pointer.build, before.content_hash)


def test_bulk_files_and_another_order_give_the_same_build_as_the_mirror(small, tmp_path):
    """Also without the list of companies: then the submissions name the symbols."""
    mirror, home = small
    facts = zipped(mirror, tmp_path / "bulk")
    ended(sync_unrecorded(tmp_path / "home", mirror.folder, "--symbols", "CRGO"))
    ended(sync_unrecorded(tmp_path / "home", facts))
    assert published(tmp_path / "home").content_hash == published(home).content_hash
    assert query(tmp_path / "home", "SELECT DISTINCT source FROM syncs") == [("mirror",)]
    (facts.parent / "company_tickers_exchange.json").unlink()
    ended(sync_unrecorded(tmp_path / "other", facts))
    assert query(tmp_path / "other", REVENUES) == revenues(*FILERS)


def test_only_changed_members_of_bulk_files_are_read(own, tmp_path, monkeypatch):
    """Size and checksum in the directory show which; the source of the stored documents does not matter."""
    mirror, home = own
    grown = replace(BRAVO, scale=900)
    mirror.hold(grown)
    read: list[str] = []
    reading = Archive.read

    def watched(archive: Archive, member: Member) -> bytes:
        read.append(f"{archive.path.name} {member.name}")
        return reading(archive, member)

    monkeypatch.setattr(Archive, "read", watched)
    facts = zipped(mirror, tmp_path / "bulk")
    ended(sync_unrecorded(home, facts))
    assert read == [f"companyfacts.zip CIK{BRAVO.cik}.json"]
    assert query(home, REVENUES) == revenues(ALFA, grown, CARGO)
    assert cells(sync_unrecorded(home, facts).stdout)["build"] == "unchanged"
    assert len(read) == 1


def test_a_hostile_member_of_bulk_files_is_the_failure_of_its_company(own, tmp_path):
    mirror, home = own
    facts = zipped(mirror, tmp_path / "bulk")
    with zipfile.ZipFile(facts, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr(f"CIK{BRAVO.cik}.json", b"{}")
    done = ended(sync_unrecorded(home, facts), 3)
    assert f"companyfacts.zip, CIK{BRAVO.cik}.json: has 2 members with its name" in done.stderr
    assert query(home, REVENUES) == revenues(*FILERS)
