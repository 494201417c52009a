"""The build that a page shows.

Belongs here: opening it, caching results made from it, and the errors of a page without a build or a company. Does not:
the pages.
"""

import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

from serve.api.condition import NOTHING_YET
from serve.errors import NotFound, ServerError
from serve.site.frame.directory import close_matches
from serve.site.frame.pages import Pages
from warehouse.errors import NothingPublished
from warehouse.queries.company_queries import Listed
from warehouse.read.reader import OpenBuild

T = TypeVar("T")

KEPT = 64  # results cached per build: four companies side by side take 75 ms, the front page 60
_kept: WeakKeyDictionary[OpenBuild, dict[Hashable, Any]] = WeakKeyDictionary()
_lock = threading.Lock()


def cached(build: OpenBuild, asked: Hashable, make: Callable[[], T]) -> T:
    """Cache a result that depends only on the build and on `asked`; when the cache is full, the oldest is dropped."""
    with _lock:
        held = _kept.setdefault(build, {})
        found = held.get(asked)
    if found is None:
        found = make()
        with _lock:
            if len(held) >= KEPT:
                del held[next(iter(held))]
            held[asked] = found
    return cast("T", found)


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
    """No covered company has a symbol; with the requested symbol, and similar companies."""

    def __init__(self, build: OpenBuild, asked: str) -> None:
        super().__init__("No company with this symbol is covered.")
        self.asked = asked
        self.near: Sequence[Listed] = close_matches(build, asked)
