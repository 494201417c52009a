"""The served pages: signed in by a link, and parsed for links, anchors and text.

Belongs here: helpers that tests of all pages share. Does not: any test, sending forms (browsers).
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

import httpx

from serve.access.accounts import Accounts
from serve.access.sign_ins import SignIns
from serve.settings import Settings
from tests.browsers import Browser, Document
from tests.servers import Clock, as_process, in_process

EMAIL = "reader@example.org"
PUBLIC = "http://data.example.org"  # httpx sends no secure cookie to a server without TLS


@dataclass(frozen=True, slots=True)
class Site:
    """A served home."""

    address: str
    home: Path

    def link(self, email: str = EMAIL) -> str:
        """A one-time sign-in link; the account's subscription is active from then on."""
        accounts = Accounts(self.home / "accounts.sqlite")
        token = SignIns(accounts).invite(email, time.time())
        accounts.set_subscription(email, "active", time.time())
        accounts.close()
        return f"{self.address}/sign-in?token={token}"

    @contextmanager
    def signed_in(self) -> Iterator[httpx.Client]:
        """A client that is signed in."""
        with Browser(self.address) as browser:
            browser.sign_in(self.link()).raise_for_status()
            yield browser.client


@contextmanager
def installed(home: Path) -> Iterator[Site]:
    """Serve a home as `fundamentals serve` does, until the block ends; its public address is the one it listens on."""
    with as_process(home) as served:
        yield Site(served.address, home)


@contextmanager
def published(home: Path) -> Iterator[Site]:
    """Serve a home in this process, until the block ends, with the public address PUBLIC."""
    with in_process(Settings(home, f"{PUBLIC}/v1"), Clock()) as address:
        yield Site(address, home)


class Read(Document):
    """A parsed page: its links, anchors and elements."""

    @property
    def words(self) -> str:
        """The text, with single spaces."""
        return " ".join(self.text.split())

    @property
    def ids(self) -> list[str]:
        """All anchors."""
        return [known["id"] or "" for _, known in self.elements if "id" in known]

    @property
    def links(self) -> list[str]:
        """The targets of links."""
        return [known["href"] or "" for tag, known in self.elements if tag == "a" and "href" in known]

    @property
    def loads(self) -> list[str]:
        """The files that a browser loads automatically."""
        loading = ("link", "script", "img")
        return [known.get("href") or known.get("src") or "" for tag, known in self.elements if tag in loading]

    @property
    def inline(self) -> list[str]:
        """Inline scripts and styles, which the page's policy forbids."""
        return [
            tag
            for tag, known in self.elements
            if tag == "style" or (tag == "script" and "src" not in known) or _has_code(known)
        ]


class Main(HTMLParser):
    """The text of a page's main part, as a browser returns it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text = ""
        self.is_within = False
        self.feed(html)

    @property
    def words(self) -> str:
        """The text, with single spaces."""
        return " ".join(self.text.split())

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Detect the start of the main part."""
        self.is_within |= tag == "main"

    def handle_endtag(self, tag: str) -> None:
        """Detect the end of the main part."""
        self.is_within &= tag != "main"

    def handle_data(self, data: str) -> None:
        """Collect text."""
        self.text += data if self.is_within else ""


def _has_code(known: dict[str, str | None]) -> bool:
    return any(name == "style" or name.startswith("on") for name in known)
