"""The page `/quality`: the quality report of the build that is served.

Belongs here: finding the report, and sending it with the header of the site. Does not: the report, which each
synchronization writes as one page next to the build, with its own styles (pipelines.quality).
"""

from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from serve.site.frame import transfer
from serve.site.frame.building import current_build
from serve.site.frame.pages import HEADERS, HTML, Access, PageRoute, Pages
from warehouse.read.reader import OpenBuild

PATH = "/quality"
POLICY = HEADERS["Content-Security-Policy"].replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")
"""The policy of the page, which allows the inline styles of the report."""
NONE = "This build has no quality report: it could not be written. The next synchronization writes one."
ICON = '<link rel="icon" href="data:,">'


def report(pages: Pages, build: OpenBuild) -> Path | None:
    """The file of the report; None if it is missing, because a build can be published without it."""
    file = pages.settings.published / f"quality-{build.pointer.build}.html"
    return file if file.is_file() else None


def show(pages: Pages, request: Request) -> Response:
    """Respond with the report."""
    with current_build(pages) as build:
        file = report(pages, build)
        if file is None:
            return pages.render(request, "message.html", title="No quality report", text=NONE, asked="", near=())
        text = _framed(pages, request, file.read_text(encoding="utf-8"))
    return transfer.compressed(Response(text, media_type=HTML, headers={"Content-Security-Policy": POLICY}), request)


def _framed(pages: Pages, request: Request, report: str) -> str:
    """The report with the header of the site."""
    head, header = (pages.text(request, template) for template in ("framing.html", "header.html"))
    for mark, framed in (
        (ICON, ""),
        ("</head>", f"{head}</head>"),
        ("<body>", f"<body>\n{header}"),
        ("<main>", '<main id="main" tabindex="-1">'),
    ):
        report = report.replace(mark, framed, 1)
    return report


ROUTES: tuple[PageRoute, ...] = ((PATH, show, Access.SUBSCRIBER),)
