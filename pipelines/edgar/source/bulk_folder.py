"""A folder with EDGAR's bulk files: companyfacts.zip, submissions.zip and the list of companies.

Belongs here: answering requests for documents from the archives. Does not: the format of archives (archive),
downloading them (download_plan), opening a source (sources).

The directory of an archive states the size and the checksum of each member. A stored document with the same size and
checksum has not changed, so its member is not read again.
"""

import json
from pathlib import Path

from pipelines.edgar.answers import (
    TICKERS_URL,
    Answer,
    Fetched,
    NotFound,
    NotModified,
    Validators,
    facts_url,
    is_web_page,
    submissions_url,
)
from pipelines.edgar.decode.documents import decode_submissions
from pipelines.edgar.errors import DocumentError, FetchError, SourceError
from pipelines.edgar.source.archive import Archive
from pipelines.edgar.source.mirror import FACTS, SUBMISSIONS, document_in

TICKERS = "company_tickers_exchange.json"
FACTS_AT, SUBMISSIONS_AT = facts_url("").rpartition("/")[0], submissions_url("").rpartition("/")[0]
"""The addresses of EDGAR's folders whose documents are in the archives."""


class BulkFolder:
    """Answers requests from the archives of a folder; safe to use from several threads.

    Args:
        facts: path of companyfacts.zip; the other files are in the same folder.

    Raises:
        SourceError: an archive is damaged, or no file lists the companies.
    """

    def __init__(self, facts: Path) -> None:
        folder = facts.parent
        self._facts = Archive(facts)
        if not self._facts.ciks:
            raise SourceError(f"{facts} has no document of any company; get it again")
        self._submissions = Archive(folder / SUBMISSIONS) if (folder / SUBMISSIONS).exists() else None
        self._tickers = folder / TICKERS
        if not self._tickers.exists() and not self._submissions:
            raise SourceError(
                f"{folder} has neither {TICKERS} nor {SUBMISSIONS}, which list the companies; "
                f"put one of them beside {facts.name}"
            )

    def get(self, url: str, validators: Validators | None = None) -> Answer:
        """The document at `url`; NotModified if the stored document has the size and the checksum of the member.

        Raises:
            FetchError: the member is refused, or is a web page; the list cannot be read, or is not a document.
        """
        if url == TICKERS_URL:
            return Fetched(self._list(), Validators())
        if validators and self.is_known(url, validators):
            return NotModified()
        name, archive = self._place(url)
        if not archive or not (member := archive.member(name)):
            return NotFound()
        if is_web_page(content := archive.read(member)):
            raise FetchError(
                f"{url}: is a web page in {archive.path}, expected a document of EDGAR; get the file again"
            )
        return Fetched(content, Validators())

    def is_known(self, url: str, validators: Validators | None) -> bool:
        """Whether the stored document has the size and the checksum of the member at `url`; with None, whether the
        archive has no such member.

        Raises:
            FetchError: the entry of the member is refused.
        """
        name, archive = self._place(url)
        member = archive.member(name) if archive else None
        if not member or not validators:
            return not member and not validators
        return (validators.size, validators.crc) == (member.size, member.crc)

    def _place(self, url: str) -> tuple[str, Archive | None]:
        """The name of a document, and the archive for documents of its kind, or None."""
        folder, _, name = url.rpartition("/")
        return name, {FACTS_AT: self._facts, SUBMISSIONS_AT: self._submissions}.get(folder)

    def stop(self) -> None:
        """Does nothing: reading a member takes no time."""

    def close(self) -> None:
        """Close the archives."""
        self._facts.close()
        if self._submissions:
            self._submissions.close()

    def _list(self) -> bytes:
        """The list of companies; if the file is missing, it is made from the symbols in the submissions documents."""
        if self._tickers.exists():
            try:
                return document_in(self._tickers)
            except OSError as error:
                raise FetchError(f"{self._tickers} cannot be read: {error.strerror}") from error
        rows = [row for cik in self._facts.ciks for row in self._symbols(cik)]
        if not rows:
            raise FetchError(f"{self._tickers} is missing, and no company of {FACTS} has a symbol in {SUBMISSIONS}")
        return json.dumps({"fields": ["cik", "name", "ticker", "exchange"], "data": rows}).encode()

    def _symbols(self, cik: str) -> list[tuple[int, str, str, str | None]]:
        assert self._submissions
        try:
            member = self._submissions.member(self._place(submissions_url(cik))[0])
            known = decode_submissions(self._submissions.read(member), cik) if member else None
        except (FetchError, DocumentError):
            return []  # its own request reports the error, if another file lists the company
        if not known:
            return []
        exchanges = [*known.exchanges, *[None] * len(known.tickers)]
        return [
            (int(cik), known.name, symbol, exchange or None)
            for symbol, exchange in zip(known.tickers, exchanges, strict=False)
        ]
