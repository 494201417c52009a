"""Bulk archives: their directory, single members, and archives that are refused."""

import struct
import tracemalloc
import warnings
import zipfile
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipelines.edgar.answers import (
    TICKERS_URL,
    Fetched,
    NotFound,
    NotModified,
    Validators,
    facts_url,
    submissions_url,
)
from pipelines.edgar.errors import FetchError, SourceError
from pipelines.edgar.fetch.extract import fetch_documents
from pipelines.edgar.fetch.raw_store import RawStore
from pipelines.edgar.source import archive as archive_module
from pipelines.edgar.source.archive import Archive
from pipelines.edgar.source.bulk_folder import BulkFolder
from pipelines.sources import open_source
from tests.archives import zipped
from tests.mirrors import ABSENT, ALFA, BRAVO, Mirror

A, B, C = "0000000101", "0000000102", "0000000103"
CONTENT = b'{"cik":101,"facts":{"text":"' + b"x" * 1000 + b'"}}'


def name(cik: str) -> str:
    return f"CIK{cik}.json"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "companyfacts.zip"


def write(path: Path, *members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> None:
    with zipfile.ZipFile(path, "w", method) as archive, warnings.catch_warnings(action="ignore"):
        for member, content in members:
            archive.writestr(member, content)


def content_of(path: Path, cik: str) -> bytes:
    with closing(Archive(path)) as archive:
        return archive.read(archive.member(name(cik)))


OTHERS = [
    "../0000000101.json",
    "CIK000000010A.json",
    "CIX0000000101.json",
    "CIK0000000101.jsom",
    "/etc/passwd/1.json",
]


def refusal(path: Path, cik: str) -> str:
    with pytest.raises(FetchError) as refused:
        content_of(path, cik)
    assert str(refused.value).startswith(f"{path}, {name(cik)}: ")
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])
def test_members_are_found_and_read(path, method):
    page = "CIK0000000101-submissions-001.json"
    write(path, (name(B), b"{}"), (page, b"page"), (name(A), CONTENT), ("readme", b""), method=method)
    archive = Archive(path)
    assert archive.ciks == [A, B]
    member = archive.member(name(A))
    assert (member.size, member.crc) == (len(CONTENT), zlib.crc32(CONTENT))
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(lambda _: archive.read(member), range(20))) == {CONTENT}
    assert [archive.read(archive.member(each)) for each in (name(B), page)] == [b"{}", b"page"]
    absent = (name(C), "CIK0000000101-submissions-002.json", "readme")
    assert [archive.member(each) for each in absent] == [None] * 3
    archive.close()
    archive.close()


@pytest.mark.parametrize("others", [[], OTHERS], ids=["nothing", "other names"])
def test_names_that_are_no_documents_are_no_companies(path, others):
    """A climbing name is never a path, because nothing is unpacked to the disk."""
    write(path, *((other, b"{}") for other in others))
    assert (Archive(path).ciks, Archive(path).member(name(A))) == ([], None)


def test_an_archive_with_64_bit_fields_is_read(path, monkeypatch):
    """As submissions.zip, which has nearly a million members."""
    monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 1)
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 50)
    write(path, (name(A), CONTENT), (name(B), b"{}"), (name(C), CONTENT))
    assert b"PK\6\6" in path.read_bytes()
    assert Archive(path).ciks == [A, B, C]
    assert content_of(path, A) == content_of(path, C) == CONTENT
    assert content_of(path, B) == b"{}"


def test_the_directory_of_many_members_takes_little_memory(path):
    """Only positions and numbers are held: tens of bytes a member, not the kilobyte of an object."""
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(20_000):
            archive.writestr(name(f"{number:010}"), b"")
    opened = Archive(path)
    assert len(opened.ciks) == 20_000
    held = sum(array.nbytes for arrays in opened._entries.values() for array in arrays)
    assert held + len(opened._directory) < 20_000 * 100


def test_a_member_is_found_without_copying_the_directory(path):
    """The directory of submissions.zip has 65 MB, and there is a look-up for each company."""

    class Watched(bytes):
        longest = 0

        def __getitem__(self, part: slice) -> bytes:  # type: ignore[override]
            found = super().__getitem__(part)
            Watched.longest = max(Watched.longest, len(found))
            return found

    write(path, *((name(f"{number:010}"), b"{}") for number in range(200)))
    archive = Archive(path)
    archive._directory = Watched(archive._directory)
    assert all(archive.member(name(cik)) for cik in archive.ciks)
    assert Watched.longest < 100


# --- hostile members


HOSTILE = {
    "a bomb": ([(name(A), b" " * 10_001)], None, "has 10001 bytes, which no document of EDGAR has"),
    "broken data": (
        [(name(A), CONTENT)],
        lambda whole: whole[:50] + b"\xff" * 10 + whole[60:],
        "cannot be read: Error -3",
    ),
    "two members of one name": ([(name(A), b"{}"), (name(A), b"[]")], None, "has 2 members with its name"),
    "another name where it begins": (
        [(name(A), b"{}")],
        lambda whole: whole.replace(name(A).encode(), b"../../../../passwd", 1),
        "is named b'../../../../passwd' where it begins",
    ),
}
"""Members, what is then made of the archive, and the reason why member A is refused."""


@pytest.mark.parametrize(("members", "change", "reason"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_member_is_refused_and_the_others_are_read(path, monkeypatch, members, change, reason):
    monkeypatch.setattr(archive_module, "MAX_BYTES", 10_000)
    write(path, *members, (name(B), b"{}"))
    if change:
        path.write_bytes(change(path.read_bytes()))
    assert reason in refusal(path, A)
    assert (content_of(path, B), Archive(path).ciks) == (b"{}", [A, B])


def test_a_directory_that_is_larger_than_any_is_refused(path):
    """It is refused before it is read; the test file is sparse, so its bytes take no space."""
    directory, end = 60 << 30, struct.Struct("<4sQ2H2L4Q")
    with path.open("wb") as file:
        file.truncate(directory)
        file.seek(directory)
        file.write(end.pack(b"PK\6\6", 44, 45, 45, 0, 0, 0, 0, directory, 0))
        file.write(struct.pack("<4sLQL", b"PK\6\7", 0, directory, 1) + b"PK\5\6" + b"\xff" * 16 + b"\0\0")
    with pytest.raises(SourceError, match=f"has {directory} bytes, which none of EDGAR has; get it again"):
        Archive(path)


def patched(path: Path, cik: str, at: int, value: bytes) -> None:
    """Overwrite bytes of the entry of a member in the directory."""
    archive = Archive(path)
    start = path.read_bytes().index(archive._directory) + archive.member(name(cik)).position
    content = bytearray(path.read_bytes())
    content[start + at : start + at + len(value)] = value
    path.write_bytes(content)


SIZE, PACKED, CRC, FLAGS, METHOD, OFFSET = 24, 20, 16, 8, 10, 42


@pytest.mark.parametrize(
    ("at", "value", "reason"),
    [
        (SIZE, struct.pack("<L", 10), "has not the 10 bytes"),  # it inflates to more
        (SIZE, struct.pack("<L", 9999), "has not the 9999 bytes"),
        (PACKED, struct.pack("<L", 5), "has not the"),
        (PACKED, struct.pack("<L", 1 << 20), "ends after the end of the archive"),
        (PACKED, struct.pack("<L", (1 << 32) - 1), "64-bit sizes are missing"),
        (CRC, b"\0\0\0\0", "does not match its checksum"),
        (FLAGS, b"\1\0", "is encrypted"),
        (METHOD, b"\x0c\0", "packed with method 12, expected 8"),
        (OFFSET, struct.pack("<L", 3), "where it begins"),
        (OFFSET, struct.pack("<L", 1 << 30), "cannot be read"),
    ],
)
def test_a_member_that_is_not_as_the_directory_says_is_refused(path, at, value, reason):
    write(path, (name(B), b"{}"), (name(A), CONTENT))
    patched(path, A, at, value)
    assert reason in refusal(path, A)
    assert content_of(path, B) == b"{}"


def test_a_member_from_two_to_the_63_on_is_refused(path):
    write(path, (name(A), CONTENT))
    archive = Archive(path)
    with pytest.raises(FetchError, match="cannot be read"):
        archive.read(replace(archive.member(name(A)), offset=1 << 63))


def test_a_member_that_inflates_to_more_than_it_states_takes_no_memory(path):
    write(path, (name(A), b" " * (20 << 20)))
    patched(path, A, SIZE, struct.pack("<L", 10))
    tracemalloc.start()
    assert "has not the 10 bytes" in refusal(path, A)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20


# --- damaged archives


AT_64 = struct.Struct("<4sQ2H2L4Q").pack(b"PK\6\6", 44, 45, 45, 0, 0, 2, 2, 100, 1 << 63)
DAMAGES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "empty": (lambda _: b"", "its end is missing"),
    "text": (lambda _: b"<html>" * 50, "its end is missing"),
    "cut": (lambda whole: whole[:-30], "its end is missing"),
    "head cut": (lambda whole: whole[60:], "entry at byte|outside"),
    "no mark": (lambda whole: whole.replace(b"PK\1\2", b"PK\1\3", 1), "entry at byte 0 of its directory has no mark"),
    "fewer": (lambda whole: whole[:-12] + struct.pack("<H", 7) + whole[-10:], "has 2 entries, but should have 7"),
    "end outside": (lambda whole: whole[:-6] + struct.pack("<L", 1 << 30) + whole[-2:], "outside of the file"),
    "no 64-bit end": (lambda whole: whole[:-6] + b"\xff" * 4 + whole[-2:], "its 64-bit end is missing"),
    "other 64-bit end": (
        lambda whole: whole[:-22] + struct.pack("<4sLQL", b"PK\6\7", 0, 0, 1) + whole[-22:],
        "its 64-bit end is missing",
    ),
    "64-bit end nowhere": (
        lambda whole: whole[:-22] + struct.pack("<4sLQL", b"PK\6\7", 0, (1 << 64) - 1, 1) + whole[-22:],
        "too large|too big|int",
    ),
    "directory nowhere": (
        lambda whole: whole[:-22] + AT_64 + struct.pack("<4sLQL", b"PK\6\7", 0, len(whole) - 22, 1) + whole[-22:],
        "outside of the file",
    ),
}


@pytest.mark.parametrize(("damage", "reason"), DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_archive_is_an_error_of_the_source(path, damage, reason):
    write(path, (name(A), CONTENT), (name(B), b"{}" * 50))
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(SourceError, match=f"is not a whole zip file: .*({reason}).*; get it again"):
        Archive(path)


# --- the folder as a source


@pytest.fixture
def mirror(tmp_path: Path) -> Mirror:
    return Mirror(tmp_path / "mirror", ALFA, BRAVO, ABSENT)


@pytest.fixture
def facts(mirror: Mirror, tmp_path: Path) -> Path:
    """companyfacts.zip of the mirror, with the other bulk files next to it."""
    return zipped(mirror, tmp_path / "bulk")


def without_list(facts: Path) -> Path:
    """The path of the list of companies, which is then not there."""
    (facts.parent / "company_tickers_exchange.json").unlink()
    return facts.parent / "company_tickers_exchange.json"


def test_a_folder_of_bulk_files_is_a_source(mirror, facts):
    with open_source(str(facts)) as source:
        get = source.client.get
        assert (source.name, source.kind) == ("mirror", "edgar")
        assert get(TICKERS_URL) == Fetched(mirror.tickers.read_bytes(), Validators())
        whole = mirror.facts(ALFA).read_bytes()
        assert get(facts_url(ALFA.cik)) == Fetched(whole, Validators())
        assert get(facts_url(ALFA.cik), Validators(size=len(whole), crc=zlib.crc32(whole))) == NotModified()
        assert isinstance(get(facts_url(ALFA.cik), Validators(size=len(whole), crc=1)), Fetched)
        assert isinstance(get(submissions_url(BRAVO.cik)), Fetched)
        assert get(facts_url(ABSENT.cik)) == NotFound()
        source.client.stop()


def test_documents_that_are_held_as_the_directory_says_are_not_requested(mirror, facts, tmp_path, monkeypatch):
    """A document that is missing in the raw zone is requested, and so is one that was never there: it might exist
    now.
    """
    store, ciks, asked = RawStore(tmp_path / "home"), [filer.cik for filer in (ALFA, BRAVO, ABSENT)], []
    with open_source(str(facts)) as source:
        before = fetch_documents(source, store, ciks, datetime.now(UTC)).companies
        get = source.client.get
        monkeypatch.setattr(source.client, "get", lambda url, held=None: asked.append(url) or get(url, held))
        after = fetch_documents(source, store, ciks, datetime.now(UTC)).companies
        assert asked == [facts_url(ABSENT.cik)]
        store.path(after[0].facts.digest).unlink()
        again = fetch_documents(source, store, ciks, datetime.now(UTC)).companies

    assert [company.facts.digest for company in after] == [company.facts.digest for company in before]
    assert [company.facts.change for company in after] == ["unchanged", "unchanged", "no_facts"]
    assert facts_url(ALFA.cik) in asked
    assert store.get(again[0].facts.digest) == mirror.facts(ALFA).read_bytes()


def test_without_the_list_the_submissions_name_the_companies(facts):
    without_list(facts)
    with open_source(str(facts)) as source:
        assert source.client.get(TICKERS_URL).content == (
            b'{"fields": ["cik", "name", "ticker", "exchange"], '
            b'"data": [[101, "ALFA WORKS INC", "ALFA", "Nasdaq"], [102, "BRVO WORKS INC", "BRVO", "Nasdaq"]]}'
        )


def test_an_archive_without_any_company_is_no_source(facts):
    write(facts, ("readme.txt", b"nothing"))
    with pytest.raises(SourceError, match="has no document of any company; get it again"), open_source(str(facts)):
        pass


def test_without_submissions_there_are_facts_only(facts):
    (facts.parent / "submissions.zip").unlink()
    with open_source(str(facts)) as source:
        assert source.client.get(submissions_url(ALFA.cik)) == NotFound()
        assert isinstance(source.client.get(facts_url(ALFA.cik)), Fetched)
    without_list(facts)
    with pytest.raises(SourceError, match=r"has neither company_tickers_exchange.json nor submissions.zip, which list"):
        open_source(str(facts))


def test_a_list_without_any_symbol_is_an_error(facts):
    write(facts.parent / "submissions.zip", (name(ALFA.cik), b"<html>"))
    listed = without_list(facts)
    with closing(BulkFolder(facts)) as folder:
        with pytest.raises(FetchError, match="has a symbol in submissions"):
            folder.get(TICKERS_URL)
        listed.mkdir()
        with pytest.raises(FetchError, match="Is a directory"):
            folder.get(TICKERS_URL)


def test_a_file_or_member_that_is_no_document_is_an_error(facts):
    """A web page, or more bytes than any document has; the other members are read."""
    write(facts, (name(ALFA.cik), b"<html>Undeclared Automated Tool</html>"), (name(BRAVO.cik), b"{}"))
    listed = facts.parent / "company_tickers_exchange.json"
    with listed.open("wb") as file:
        file.truncate(60 << 30)
    with open_source(str(facts)) as source:
        with pytest.raises(FetchError, match=r"is a web page in .*companyfacts.zip, expected a document of EDGAR; get"):
            source.client.get(facts_url(ALFA.cik))
        assert isinstance(source.client.get(facts_url(BRAVO.cik)), Fetched)
        with pytest.raises(FetchError, match="has 64424509440 bytes, which no document of EDGAR has; get"):
            source.client.get(TICKERS_URL)
        listed.write_bytes(b"<html>")
        with pytest.raises(FetchError, match="is a web page, expected a document of EDGAR; get"):
            source.client.get(TICKERS_URL)


@pytest.mark.parametrize("path", ["nowhere/companyfacts.zip", "x" * 5000 + ".zip", "a\0b.zip"])
def test_a_missing_archive_is_an_error(path):
    with pytest.raises(SourceError, match="cannot be read: ") as error:
        open_source(path)
    assert "\n" not in str(error.value)
