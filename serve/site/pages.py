"""What every page has: who may see it, what it works with, how a template becomes a response.

Belongs here: the interface between the pages and what mounts them (mount). Does not: any page.

A module of pages lists them as data, in ROUTES:

    ROUTES: tuple[PageRoute, ...] = (("/errors", show_errors, Access.PUBLIC),)

A handler takes the Pages and the request; a plain function runs in a thread, where it may ask the warehouse. It raises
an ApiError, NotFound for one, to answer with a page that tells so.
"""

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from serve.access.accounts import Accounts
from serve.access.limits import Limits
from serve.access.sign_ins import Session
from serve.clock import Clock
from serve.settings import Settings
from serve.site.sessions import Sessions
from warehouse.reader import Warehouse

HERE = Path(__file__).parent
HTML, MARKDOWN = "text/html; charset=utf-8", "text/markdown; charset=utf-8"
DISCLAIMER = "The data is provided as is and is not investment advice."
NAVIGATION = (
    ("/reference", "Reference"),
    ("/dictionary", "Dictionary"),
    ("/errors", "Errors"),
    ("/changelog", "Changelog"),
    ("/companies", "Companies"),
    ("/profile", "Profile"),
)
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    # not no-referrer: with that, browsers send `Origin: null` with a form (Fetch, "append a request Origin header"),
    # and forms are refused by their origin; no other site learns more from this one
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Of every page; a response that has its own keeps it."""


class Access(Enum):
    """Who may see a page: anybody, who is signed in, who is signed in and has an active subscription."""

    PUBLIC = "public"
    SIGNED_IN = "signed in"
    SUBSCRIBER = "subscriber"


@dataclass(frozen=True, slots=True)
class Pages:
    """What every page works with."""

    settings: Settings
    warehouse: Warehouse
    accounts: Accounts
    limits: Limits
    sessions: Sessions
    clock: Clock
    templates: Environment = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "templates", environment(self.settings))

    @property
    def root(self) -> str:
        """The path that the pages lie below for a browser: empty, unless a proxy has put them elsewhere."""
        return urlsplit(self.settings.pages).path

    def render(
        self, request: Request, template: str, status: int = 200, media_type: str = HTML, **context: Any
    ) -> Response:
        """A template as a response.

        Args:
            request: what is answered.
            template: its name below templates/; what ends with .html is escaped.
            status: of HTTP.
            media_type: of the response.
            context: what the template names, beside `path`, `session` and `form_token` (of whoever asks) and the
                globals of `environment`. `twin` is the path of the page's Markdown twin, where it has one.
        """
        session: Session | None = getattr(request.state, "session", None)
        text = self.templates.get_template(template).render(
            path=request.scope["path"],
            session=session,
            form_token=getattr(request.state, "form_token", None),
            **context,
        )
        return Response(text, status, media_type=media_type)


Handler = Callable[[Pages, Request], Response | Awaitable[Response]]
PageRoute = tuple[str, Handler, Access]  # a path, with placeholders; how it is answered; for whom


def environment(settings: Settings) -> Environment:
    """Templates, and what each of them may name: `root` goes before every path in a link."""
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["moment"] = moment
    root = urlsplit(settings.pages).path
    made.globals.update(
        root=root,
        base_url=settings.base_url,
        navigation=NAVIGATION,
        disclaimer=DISCLAIMER,
        asset=lambda name: f"{root}/{name}?v={fingerprint(name)}",
    )
    return made


@cache
def static(name: str) -> bytes:
    """A file that pages name."""
    return (HERE / "static" / name).read_bytes()


@cache
def fingerprint(name: str) -> str:
    """What tells a file from its former content, so that browsers may keep it."""
    return hashlib.sha256(static(name)).hexdigest()[:12]


def moment(timestamp: str) -> Markup:
    """A time, ISO 8601 in UTC, for people and for programs."""
    return Markup('<time datetime="{0}">{1} {2} UTC</time>').format(timestamp, timestamp[:10], timestamp[11:16])


def values_of(request: Request) -> Mapping[str, str]:
    """The fields of the form that a request has sent."""
    values: Mapping[str, str] = request.state.form
    return values
