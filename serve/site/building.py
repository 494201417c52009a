"""The build that a page shows.

Belongs here: opening it, and the errors of a page without a build or a company. Does not: the pages.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from serve.api.condition import NOTHING_YET
from serve.http.errors import NotFound, ServerError
from serve.site.directory import close_matches
from serve.site.pages import Pages
from warehouse.company_queries import Listed
from warehouse.errors import NothingPublished
from warehouse.reader import OpenBuild


@contextmanager
def current_build(pages: Pages) -> Iterator[OpenBuild]:
    """The current build.

    Raises:
        ServerError: no build is published.
    """
    try:
        with pages.warehouse.build() as build:
            yield build
    except NothingPublished:
        raise ServerError(NOTHING_YET) from None


class CompanyNotFound(NotFound):
    """No covered company has a symbol; with what was asked for, and the companies that it may mean."""

    def __init__(self, build: OpenBuild, asked: str) -> None:
        super().__init__("No company with this symbol is covered.")
        self.asked = asked
        self.near: Sequence[Listed] = close_matches(build, asked)
