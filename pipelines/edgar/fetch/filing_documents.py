"""The documents of filings: the SEC's data sets by quarter, and the XBRL package of one filing.

Belongs here: their addresses, the files that make up a package, requesting them, and storing them as received. Does
not: which of them are wanted, and in which order (stages.filed.wanted_filings), their contents (data_sets, package).

    {folder of the filing}/{accession}-xbrl.zip     the report, its schema and linkbases, and the instance
    {folder of the filing}/{report}_htm.xml         the instance of an inline report, which the SEC extracts
    {folder of the filing}/index.json               the names of all files: if the two above are not enough
"""

import io
import re
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, cast

import msgspec

from pipelines.edgar.answers import MAX_BYTES, Client, Fetched, NotFound
from pipelines.edgar.decode.data_set_list import Quarter
from pipelines.edgar.decode.decoding import decode
from pipelines.edgar.decode.filing_list import XbrlFiling
from pipelines.edgar.errors import DocumentError, FetchError
from pipelines.edgar.fetch.raw_store import RawStore
from pipelines.edgar.source.source import Source
from pipelines.edgar.zip_directory import LARGEST_OF_PACKAGE, check_directory

if TYPE_CHECKING:
    from pipelines.edgar.source.client import EdgarClient

ARCHIVES = "https://www.sec.gov/Archives/edgar/data/"
DATA_SETS = "https://www.sec.gov/files/dera/data/financial-statement-data-sets/"

NOT_THERE = "is not there (404)"
"""The failure of a document that the source does not have; it is not requested again."""

MOST_FILES = 6
"""The largest number of a filing's files that are requested one by one."""

INSTANCE, INDEX, REPORT = "_htm.xml", "index.json", ".htm"
SAFE = re.compile(r"[\w.~-]+", re.ASCII)
"""The form of the names of files that are requested, because a name becomes a part of an address."""

ACCESSION = re.compile(r"\d{10}-\d{2}-\d{6}", re.ASCII)
RENDERED = r"(?!R\d+\.xml|FilingSummary\.xml|defnref\.xml)"
PARTS = tuple(
    re.compile(pattern, re.ASCII | re.IGNORECASE)
    for pattern in (
        r".*_htm\.xml",
        rf"{RENDERED}.*(?<!_pre|_cal|_lab|_def|_ref|_htm)\.xml",
        r".*_pre\.xml",
        r".*_cal\.xml",
        r".*\.xsd",
        r".*_lab\.xml",
        r"MetaLinks\.json",
    )
)
"""The files of a package that are requested one by one, the most important first: instance, presentation, calculation,
schema, labels, and the files of the SEC's renderer."""

Progress = Callable[[str, int, int], object]


class Document(NamedTuple):
    """One document of a filing or a quarter: its file, and its digest in the raw zone or the reason why it is
    missing."""

    file: str
    digest: str | None = None
    failure: str | None = None

    @property
    def can_pass(self) -> bool:
        """Whether the request failed with an error that can pass, so that a later request may succeed."""
        return self.failure not in (None, NOT_THERE)


class _Item(msgspec.Struct):
    name: str


class _Directory(msgspec.Struct):
    item: list[_Item]


class _Index(msgspec.Struct):
    directory: _Directory


_INDEX = msgspec.json.Decoder(_Index)


class FilingDocuments:
    """Requests documents of filings, and stores them; safe to use from several threads.

    Args:
        source: the opened source; data sets from the SEC are downloaded to a file, and an interrupted download is
            continued.
        store: the raw zone.
        progress: called with the name of a file during its download, the number of bytes so far, and of all bytes.
    """

    def __init__(self, source: Source, store: RawStore, progress: Progress) -> None:
        self._source, self._store, self._progress = source, store, progress

    def data_set(self, quarter: Quarter) -> Document:
        """The zip file of a quarter.

        Raises:
            RefusedError: the source refuses all requests.
            RawStoreError: the raw zone cannot be written.
        """
        ask = self._downloaded if self._source.name == "live" else self._content
        try:
            content = ask(quarter.name, quarter.address)
        except FetchError as error:
            return Document(quarter.name, failure=str(error))
        return self._stored(quarter.name, content, is_zip=True)

    def package(self, filing: XbrlFiling) -> tuple[list[Document], int]:
        """The files of the package of a filing, and the number of requests. If no file is found, one failure is
        returned.

        Raises:
            RefusedError: the source refuses all requests.
            RawStoreError: the raw zone cannot be written.
        """
        if not (ACCESSION.fullmatch(filing.accession) and filing.cik.isdigit()):
            return [Document(INDEX, failure=f"{filing.accession!r} is no accession number")], 0
        asked = _Package(self, folder_url(filing))
        return asked.files(filing), asked.requests

    def document(self, folder: str, name: str) -> Document:
        """One file of a filing."""
        try:
            content = self._content(name, folder + name)
        except FetchError as error:
            return Document(name, failure=str(error))
        return self._stored(name, content, is_zip=name.endswith(".zip"))

    def index(self, folder: str) -> list[str] | Document:
        """The names of the files of a filing, or the failure to read them."""
        return _names(self._source.client, folder)

    def report_in(self, packed: Document) -> str:
        """The name of the report in the zip file of a package: the largest document; empty if there is none."""
        raw, reports = io.BytesIO(self._store.get(str(packed.digest))), []
        with suppress(DocumentError, zipfile.BadZipFile):  # the reader of the package reports its flaws
            check_directory(raw, LARGEST_OF_PACKAGE, packed.file)
            with zipfile.ZipFile(raw) as archive:
                reports = [each for each in archive.infolist() if each.filename.endswith(REPORT)]
        return max(reports, key=lambda each: each.file_size).filename if reports else ""

    def _content(self, _: str, url: str) -> bytes | None:
        """The document at an address; None if the source does not have it."""
        answer = self._source.client.get(url)
        return answer.content if isinstance(answer, Fetched) else None

    def _downloaded(self, name: str, url: str) -> bytes | None:
        """The large file at an address; None if the source does not have it."""
        client, path = cast("EdgarClient", self._source.client), self._store.root / "bulk" / f"{name}.zip"
        answer = client.download(url, path, lambda done, total: self._progress(path.name, done, total))
        if isinstance(answer, NotFound):
            return None
        try:
            if (size := path.stat().st_size) > MAX_BYTES:
                raise FetchError(f"{url}: has {size:,} bytes, which no data set has")
            return path.read_bytes()
        finally:
            path.unlink()

    def _stored(self, name: str, content: bytes | None, *, is_zip: bool) -> Document:
        """Store a document. A web page instead of a zip file, or an incomplete zip file, is a failure, and is requested
        again."""
        if content is None:
            return Document(name, failure=NOT_THERE)
        if is_zip and not zipfile.is_zipfile(io.BytesIO(content)):
            return Document(name, failure=f"is not a whole zip file; it begins with {content[:40]!r}")
        return Document(name, self._store.put_filing(content))


class _Package:
    """The requests for one filing."""

    def __init__(self, documents: FilingDocuments, folder: str) -> None:
        self._documents, self._folder = documents, folder
        self.requests = 0

    def files(self, filing: XbrlFiling) -> list[Document]:
        """The zip file, and the instance if the zip file lacks it; without a zip file, the most important files."""
        packed = self._file(f"{filing.accession}-xbrl.zip")
        if packed.can_pass:
            return [packed]
        if packed.failure:
            return self._listed(MOST_FILES) or [packed]
        if filing.is_inline is False:
            return [packed]
        report, instance = filing.primary_document, Document(INSTANCE, failure=NOT_THERE)
        report = report or self._documents.report_in(packed)
        if report.endswith(REPORT) and SAFE.fullmatch(report):
            instance = self._file(report.removesuffix(REPORT) + INSTANCE)
            if instance.failure != NOT_THERE:
                return [packed, instance]
        # the report is not the filing's first document, or the SEC has not extracted the instance yet
        return [packed, *(self._listed(1, PARTS[:1]) or [instance] * bool(filing.is_inline))]

    def _listed(self, most: int, parts: Sequence[re.Pattern[str]] = PARTS) -> list[Document]:
        """Request the most important of the files that the index names."""
        self.requests += 1
        names = self._documents.index(self._folder)
        if isinstance(names, Document):
            return [names] if names.can_pass else []
        wanted = dict.fromkeys(name for part in parts for name in names if part.fullmatch(name))
        return [self._file(name) for name in [*wanted][:most]]

    def _file(self, name: str) -> Document:
        self.requests += 1
        return self._documents.document(self._folder, name)


def has_instance(client: Client, cik: str, accession: str) -> bool:
    """Whether the folder of a filing contains its facts; False also if the folder cannot be read now.

    Raises:
        RefusedError: the source refuses all requests.
    """
    names = _names(client, _folder(cik, accession))
    return isinstance(names, list) and any(part.fullmatch(name) for part in PARTS[:2] for name in names)


def _names(client: Client, folder: str) -> list[str] | Document:
    """The names of the files of a filing, or why they are not known."""
    try:
        answer = client.get(folder + INDEX)
        if not isinstance(answer, Fetched):
            return Document(INDEX, failure=NOT_THERE)
        items = decode(_INDEX, answer.content, folder + INDEX).directory.item
    except (FetchError, DocumentError) as error:
        return Document(INDEX, failure=str(error))
    return [item.name for item in items if SAFE.fullmatch(item.name)]


def folder_url(filing: XbrlFiling) -> str:
    """The address of the folder of a filing."""
    return _folder(filing.cik, filing.accession)


def _folder(cik: str, accession: str) -> str:
    return f"{ARCHIVES}{int(cik)}/{accession.replace('-', '')}/"
