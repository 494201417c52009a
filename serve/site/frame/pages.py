"""The parts that all pages share: access levels, shared objects, templates.

Belongs here: the types that page modules and their routing (mount) share. Does not: any page.

A module of pages lists its routes as data, in ROUTES:

    ROUTES: tuple[PageRoute, ...] = (("/errors", show_errors, Access.PUBLIC),)

A handler takes the Pages and the request. A plain function runs in a worker thread, where it may query the warehouse;
a coroutine function runs in the event loop. To respond with an error page, a handler raises an ApiError.
"""

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import Response

from serve import names
from serve.access.accounts import Accounts
from serve.access.attempts import Attempts
from serve.access.holders import Holders
from serve.access.limits import Limits
from serve.access.sign_ins import Session
from serve.access.transfers import Transfers
from serve.clock import Clock
from serve.settings import Settings
from serve.site.frame.sessions import Sessions
from serve.site.text.figures import moment
from serve.site.text.markdown import TEMPLATES
from warehouse.read.reader import Warehouse

HERE = Path(__file__).parents[1]
HTML, MARKDOWN = "text/html; charset=utf-8", "text/markdown; charset=utf-8"
DISCLAIMER = "The data is provided as is and is not investment advice."


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the site in the header: its first page, its name, and its pages if it shows them in a second row."""

    address: str
    name: str
    pages: tuple[tuple[str, str], ...] = ()
    others: tuple[str, ...] = ()
    """Further paths of the section."""

    def has(self, path: str) -> bool:
        """Whether a page is in this section."""
        paths = (self.address, *self.others, *(address for address, _ in self.pages))
        return any(path == each or path.startswith(f"{each}/") for each in paths)


NAVIGATION = (
    Section("/companies", "Companies", others=("/changes", "/downloads")),
    Section("/compare", "Compare"),
    Section("/quality", "Quality"),
    Section(
        "/reference",
        "Docs",
        (
            ("/reference", "Reference"),
            ("/dictionary", "Dictionary"),
            ("/rules", "Rules"),
            ("/errors", "Errors"),
            ("/changelog", "Changelog"),
        ),
    ),
    Section("/profile", "Account", others=("/sign-in",)),
)
"""The header of every page, the same for everyone, so that caches may keep public pages."""
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    # not no-referrer: then browsers would send `Origin: null` with a form (Fetch, "append a request Origin header"),
    # but the origin of forms is checked; other sites still receive no Referer
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Headers added to every page that does not set them itself."""


class Access(Enum):
    """Who may see a page: everybody, signed-in accounts, or signed-in accounts with an active subscription.

    A PUBLIC page is the same for everybody; an OPEN page knows who is signed in. A FILE is for subscribers, in a
    browser or in a program that sends a key.
    """

    PUBLIC = "public"
    OPEN = "open"
    SIGNED_IN = "signed in"
    SUBSCRIBER = "subscriber"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class Pages:
    """The objects that all pages share."""

    settings: Settings
    warehouse: Warehouse
    accounts: Accounts
    holders: Holders
    attempts: Attempts
    limits: Limits
    sessions: Sessions
    clock: Clock
    transfers: Transfers = field(init=False)
    templates: Environment = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "transfers", Transfers(self.settings.home))
        object.__setattr__(self, "templates", environment(self.settings))

    @property
    def root(self) -> str:
        """The path prefix of the pages: empty unless a proxy serves them below another path."""
        return urlsplit(self.settings.pages).path

    def render(self, request: Request, template: str, status: int = 200, **context: Any) -> Response:
        """Render a template as a response.

        Args:
            request: the request.
            template: file name in templates/; values are escaped.
            status: HTTP status.
            context: variables of the template, in addition to `path`, `session` and `form_token` of the request and
                the globals of `environment`. `alternate` is the path of the same page as Markdown, if there is one.
        """
        return Response(self.text(request, template, **context), status, media_type=HTML)

    def text(self, request: Request, template: str, **context: Any) -> str:
        """Render a template as text, with the same variables."""
        session: Session | None = getattr(request.state, "session", None)
        return self.templates.get_template(template).render(
            path=request.scope["path"],
            session=session,
            form_token=getattr(request.state, "form_token", None),
            **context,
        )


Handler = Callable[[Pages, Request], Response | Awaitable[Response]]
PageRoute = tuple[str, Handler, Access]  # path template, handler, access level


def environment(settings: Settings) -> Environment:
    """The Jinja environment of the HTML templates, with filters and globals; `root` is the prefix of every path."""
    templates = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {"moment": moment, "named": names.shown}
    root = urlsplit(settings.pages).path
    templates.globals.update(
        root=root,
        base_url=settings.base_url,
        navigation=NAVIGATION,
        disclaimer=DISCLAIMER,
        asset=lambda name: f"{root}/{name}?v={fingerprint(name)}",
    )
    return templates


@cache
def static(name: str) -> bytes:
    """The content of a static file."""
    return (HERE / "static" / name).read_bytes()


@cache
def fingerprint(name: str) -> str:
    """A hash of a static file's content, which changes its URL when the file changes."""
    return hashlib.sha256(static(name)).hexdigest()[:12]


def values_of(request: Request) -> Mapping[str, str]:
    """The form fields of a request."""
    values: Mapping[str, str] = request.state.form
    return values
