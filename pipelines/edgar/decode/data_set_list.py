"""The list of the Financial Statement Data Sets: the addresses of the quarters on the SEC's page.

Belongs here: finding the addresses in the page. Does not: requesting them, what the zip files contain (data_sets).

The addresses are read from the page instead of built, because they are not regular: 2020q1 was at
`/files/node/add/data_distribution/` for some time.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from html import unescape
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

from pipelines.edgar.answers import DATA_SETS_URL
from pipelines.edgar.errors import DocumentError

HOSTS = ("www.sec.gov", "sec.gov")
ZIP_FILE = re.compile(r"/(?P<quarter>20\d\dq[1-4])(_\d+)?\.zip", re.ASCII | re.IGNORECASE)
"""The end of an address. A number may follow, as in some names of other data sets, which have a word there:
`2010q1_notes_1.zip`."""

LINK = re.compile(
    r"""<a\s[^<>]*?(?<=\s)href\s*=\s*(?P<address>"[^"<>]*"|'[^'<>]*'|[^\s<>"']+)""", re.ASCII | re.IGNORECASE
)
"""A link. Python's HTML parser raises AssertionError for some pages that are malformed."""


class Quarter(NamedTuple):
    """A zip file: its quarter by day of filing, such as `2010q1`, and its address."""

    name: str
    address: str


def decode_data_set_list(raw: bytes) -> list[Quarter]:
    """Read the page: one zip file for each quarter, newest first. If a quarter has several, the first on the page is
    used.

    Links to other files or hosts are left out.

    Raises:
        DocumentError: the page has no such link.
    """
    found: dict[str, str] = {}
    for link in _links(raw.decode("utf-8", "replace")):
        with suppress(ValueError):  # an address such as http://[
            parts = urlsplit(urljoin(DATA_SETS_URL, link))
            match = ZIP_FILE.fullmatch(parts.path, max(0, parts.path.rfind("/")))
            if match and parts.scheme in ("http", "https") and parts.netloc.lower() in HOSTS:
                found.setdefault(match["quarter"].lower(), f"https://{HOSTS[0]}{parts.path}")
    if not found:
        raise DocumentError("has no link to the zip file of a quarter", "list of data sets")
    return [Quarter(name, found[name]) for name in sorted(found, reverse=True)]


def _links(page: str) -> Iterator[str]:
    """The addresses in the links of a page; comments are left out."""
    first, *others = page.split("<!--")
    shown = "".join([first, *(text.partition("-->")[2] for text in others)])
    return (unescape(match["address"].strip("\"'")).strip() for match in LINK.finditer(shown))
