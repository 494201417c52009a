"""The static files of the pages: style sheets, scripts, icon."""

from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from serve.site.frame import transfer
from serve.site.frame.pages import Access, PageRoute, Pages, static

KEPT = "public, max-age=86400"  # links contain the file's fingerprint, so that a changed file is fetched at once
FILES = {
    "style.css": "text/css; charset=utf-8",
    "frame.css": "text/css; charset=utf-8",
    "complete.js": "text/javascript; charset=utf-8",
    "company.css": "text/css; charset=utf-8",
    "rules.css": "text/css; charset=utf-8",
    "statements.css": "text/css; charset=utf-8",
    "copy.js": "text/javascript; charset=utf-8",
    "charts.js": "text/javascript; charset=utf-8",
    "ages.js": "text/javascript; charset=utf-8",
    "tabs.js": "text/javascript; charset=utf-8",
    "trial.js": "text/javascript; charset=utf-8",
    "trial.css": "text/css; charset=utf-8",
    "icon.svg": "image/svg+xml",
}


def show_file(_: Pages, request: Request, *, name: str) -> Response:
    """A static file."""
    return transfer.shared(Response(static(name), media_type=FILES[name]), request, KEPT)


ROUTES: tuple[PageRoute, ...] = tuple((f"/{name}", partial(show_file, name=name), Access.PUBLIC) for name in FILES)
