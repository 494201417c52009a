"""Checks the source of documents: it can be opened, has the home's kind of data, and answers.

Belongs here: opening a source, and at most one request. Does not: reading documents (edgar).
"""

import os
from collections.abc import Iterator

from pipelines.edgar.answers import TICKERS_URL, NotFound
from pipelines.edgar.errors import FetchError, SourceError
from pipelines.sources import open_source
from pipelines.storage.home import MARKER, Home, HomeError, kind_in
from warehouse.contract.findings import DAMAGE, WARNING, WELL, Finding


def check(home: Home, source: str) -> Iterator[Finding]:
    """Open a source as a synchronization does; from the SEC, request the list of companies."""
    if not source:
        yield Finding("source", WELL, "not examined: FUNDAMENTALS_SOURCE names none")
        return
    try:
        opened = open_source(
            source,
            user_agent=os.environ.get("EDGAR_USER_AGENT"),
            base_url=os.environ.get("EDGAR_BASE_URL"),
            attempts=1,
        )
    except SourceError as error:
        yield Finding("source", DAMAGE, str(error), "set FUNDAMENTALS_SOURCE and EDGAR_USER_AGENT")
        return
    with opened:
        marker = home.root / MARKER
        try:
            if marker.exists() and kind_in(marker) != opened.kind:
                advice = "set FUNDAMENTALS_SOURCE or FUNDAMENTALS_HOME: real and fictional data are never mixed"
                yield Finding("source", DAMAGE, f"{source} does not suit the home's {kind_in(marker)} data", advice)
                return
            if isinstance(opened.client.get(TICKERS_URL), NotFound):
                yield Finding("source", DAMAGE, f"{source} has no list of companies", "set FUNDAMENTALS_SOURCE")
                return
        except HomeError:
            pass  # the check of the home reports it
        except (FetchError, SourceError) as error:
            yield Finding("source", WARNING, str(error), "synchronize later; the published build stays")
            return
    yield Finding("source", WELL, f"{source} answers")
