"""The sources of documents, with one interface: the SEC, a mirror directory, bulk files, and the sample.

Belongs here: opening a source by its name or path, with errors that say what to give instead. Does not: requests
(edgar), the contents of the sample (sample).
"""

import re
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

from pipelines.edgar.answers import TICKERS_URL
from pipelines.edgar.errors import UnopenedError
from pipelines.edgar.source.mirror import MirrorFolder, file_of
from pipelines.edgar.source.source import REQUESTS_A_SECOND, Source, archive_threads

SAMPLE, SAMPLE_NEXT_DAY = "sample", "sample-next-day"
"""The fictional filers, without and with their filings of the next day."""
MAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
USER_AGENT_ADVICE = (
    'set it to your name and mail address, which the SEC requires: EDGAR_USER_AGENT="Name mail@example.org"'
)


def open_source(
    name: str, *, user_agent: str | None = None, base_url: str | None = None, attempts: int | None = None
) -> Source:
    """Open a source; close it by using it as a context manager.

    Args:
        name: `live`, `sample`, `sample-next-day`, or the path of a mirror directory or of a companyfacts.zip with the
            other bulk files in its folder.
        user_agent: for live: name and mail address (EDGAR_USER_AGENT).
        base_url: for live: the address of a server to use instead of the SEC's two hosts (EDGAR_BASE_URL).
        attempts: for live: the most requests for one document; None: the default of the client.

    Raises:
        UnopenedError: the source cannot be opened; nothing has been requested.
    """
    if name == "live":
        return _live(user_agent, base_url, attempts)
    if name in (SAMPLE, SAMPLE_NEXT_DAY):
        return _sample(is_next_day=name == SAMPLE_NEXT_DAY)
    return _mirror(Path(name))


def _live(user_agent: str | None, base_url: str | None, attempts: int | None) -> Source:
    if not user_agent:
        raise UnopenedError(f"source live needs EDGAR_USER_AGENT; {USER_AGENT_ADVICE}")
    if not MAIL.search(user_agent):
        raise UnopenedError(f"EDGAR_USER_AGENT is {user_agent!r}, without a mail address; {USER_AGENT_ADVICE}")
    if not (user_agent.isascii() and user_agent.isprintable()):
        raise UnopenedError(f"EDGAR_USER_AGENT is {user_agent!r}, which an HTTP header cannot contain: use plain ASCII")
    if base_url and not _is_web_address(base_url):
        raise UnopenedError(f"EDGAR_BASE_URL is {base_url!r}, expected an address such as http://127.0.0.1:9000")
    from pipelines.edgar.source.client import ATTEMPTS, EdgarClient

    client = EdgarClient(
        user_agent=user_agent, pace=REQUESTS_A_SECOND, base_url=base_url or None, attempts=attempts or ATTEMPTS
    )
    return Source("live", "edgar", client, threads=8, absence_lasts=timedelta(days=7))


def _sample(*, is_next_day: bool) -> Source:
    from pipelines.edgar.source.client import EdgarClient

    # imported here, because no other source needs the simulator
    from pipelines.sample import SampleTransport, next_day_filers, sample_filers

    transport = SampleTransport(next_day_filers() if is_next_day else sample_filers())
    return Source("sample", "sample", EdgarClient(transport, user_agent=None, pace=None, attempts=1))


def _mirror(folder: Path) -> Source:
    hint = "give live, sample, or a mirror directory (www.sec.gov/… and data.sec.gov/… below it) or companyfacts.zip"
    if folder.suffix.lower() == ".zip":
        from pipelines.edgar.source.bulk_folder import BulkFolder

        return Source("mirror", "edgar", BulkFolder(folder), threads=archive_threads())
    tickers = file_of(folder, TICKERS_URL)
    try:
        tickers.open("rb").close()
    except (FileNotFoundError, NotADirectoryError) as error:
        if not folder.is_dir():
            raise UnopenedError(f"{folder} is not a directory; {hint}") from error
        raise UnopenedError(f"{folder} has no {tickers.relative_to(folder)}, the list of companies; {hint}") from error
    except (OSError, ValueError) as error:
        raise UnopenedError(f"{folder} cannot be read: {error}; {hint}") from error
    return Source("mirror", "edgar", MirrorFolder(folder))


def _is_web_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return False
