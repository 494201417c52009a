"""A mirror directory: EDGAR's documents as files, laid out by host and path.

Belongs here: answering requests for documents from the files of a directory; checking that a file is a document. Does
not: opening a source (sources), requests to EDGAR itself (client).
"""

import stat
from pathlib import Path
from urllib.parse import unquote

from pipelines.edgar.answers import MAX_BYTES, Answer, Fetched, NotFound, Validators, is_web_page
from pipelines.edgar.errors import FetchError

FACTS, SUBMISSIONS = "companyfacts.zip", "submissions.zip"
"""The names of the SEC's bulk files."""

NO_VALIDATORS = Validators()


class MirrorFolder:
    """Answers requests from a mirror directory: the content of the file, or NotFound if the file does not exist.

    Most companies of the SEC's list have no file in a mirror. So each folder is listed once, at the first request, and
    a name that is not in the list is answered without access to the disk.

    Nothing outside of the directory is served: a path with `..` is not found. A link to a file outside of the
    directory is an error, because a missing document would look like a company without facts.
    """

    def __init__(self, folder: Path) -> None:
        self._root = folder.resolve()
        self._listed: dict[str, frozenset[str]] = {}

    def get(self, url: str, validators: Validators | None = None) -> Answer:
        """The document at `url`. A mirror returns no validators, and ignores the validators of the request.

        Raises:
            FetchError: the file cannot be read, is no document (document_in), or is a link out of the directory.
        """
        try:
            return self._answer(url)
        except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: a path that no file can have
            return NotFound()
        except OSError as error:
            raise FetchError(f"{url}: {error}; synchronize again later") from error

    def is_known(self, url: str, validators: Validators | None) -> bool:
        """Always False: a file is compared by its content."""
        return False

    def stop(self) -> None:
        """Does nothing: reading a file takes no time."""

    def close(self) -> None:
        """Does nothing: no file stays open."""

    def _answer(self, url: str) -> Answer:
        folder, _, name = _relative_path(url).rpartition("/")
        if name not in self._names(folder):
            return NotFound()
        file = self._root / folder / name
        if not stat.S_ISREG(file.stat().st_mode):
            return NotFound()
        if not file.resolve().is_relative_to(self._root):
            raise FetchError(f"{url}: {file} leads out of the mirror directory; put the file itself there")
        return Fetched(document_in(file), NO_VALIDATORS)

    def _names(self, folder: str) -> frozenset[str]:
        """The names of the files in a folder; empty for a folder outside of the directory."""
        if folder not in self._listed:
            files = () if ".." in folder.split("/") else (self._root / folder).iterdir()
            self._listed[folder] = frozenset(path.name for path in files)
        return self._listed[folder]


def document_in(file: Path) -> bytes:
    """Read the document in a file.

    Raises:
        FetchError: the file is larger than any document, or a web page, such as a saved refusal of the SEC.
        OSError: the file cannot be read.
    """
    if (size := file.stat().st_size) > MAX_BYTES:
        raise FetchError(f"{file} has {size} bytes, which no document of EDGAR has; get the file again")
    if is_web_page(content := file.read_bytes()):
        raise FetchError(f"{file} is a web page, expected a document of EDGAR; get the file again")
    return content


def file_of(folder: Path, url: str) -> Path:
    """The file of a document in a mirror directory."""
    return folder / _relative_path(url)


def _relative_path(url: str) -> str:
    """Host and path of an address without query, as a relative path."""
    path = url.removeprefix("https://").strip("/")
    return unquote(path) if "%" in path else path
