"""The page `/quality`: the quality report of the build that is served.

Belongs here: finding and sending the report. Does not: the report, which each synchronization writes as one page beside
the build (pipelines.quality).
"""

from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from serve.http.errors import NotFound
from serve.site import transfer
from serve.site.building import current_build
from serve.site.pages import HTML, Access, PageRoute, Pages
from warehouse.reader import OpenBuild

PATH = "/quality"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; frame-ancestors 'none'"
"""The report has its styles within itself; it has no scripts and no forms, and loads nothing."""


def report(pages: Pages, build: OpenBuild) -> Path | None:
    """The file of the report; None if there is none, as the report is not needed to publish a build."""
    file = pages.settings.published / f"quality-{build.pointer.build}.html"
    return file if file.is_file() else None


def show(pages: Pages, request: Request) -> Response:
    """The report."""
    with current_build(pages) as build:
        file = report(pages, build)
        if file is None:
            raise NotFound("This build has no quality report.")
        response = Response(file.read_bytes(), media_type=HTML, headers={"Content-Security-Policy": POLICY})
    return transfer.compressed(response, request)


ROUTES: tuple[PageRoute, ...] = ((PATH, show, Access.SUBSCRIBER),)
