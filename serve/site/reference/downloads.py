"""The page `/downloads` and the files of the current build: DuckDB, Parquet and CSV, for subscribers.

Belongs here: which files there are, and sending them in ranges. Does not: making them (warehouse.build.publish,
warehouse.build.copies), the limits of an account (access.transfers), access (mount).

The address of a file names its build. The first request for it links the file into the folder `downloads` of the home,
so that later ranges come from the same build, even if newer builds have replaced it. A link is removed an hour after
the last bytes of its build were sent.
"""

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

import anyio
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.types import Message, Receive, Scope, Send

from serve.access.transfers import AT_ONCE, TIMES, Transfer
from serve.clock import Clock
from serve.errors import NotFound
from serve.site.frame.building import current_build
from serve.site.frame.pages import Access, PageRoute, Pages
from serve.site.text.markdown import Document, write
from warehouse.build.pointer import Pointer, copies_of, kept, overlay_of
from warehouse.contract.fictional import is_fictional
from warehouse.contract.views import PUBLISHED

PATH = "/downloads"
FOLDER = "downloads"
KEPT = 3600.0  # seconds that a build is kept after the last request for it, and after the end of a response
MARKED_EVERY = 60.0  # seconds after which a response in progress marks its build as used again
DATABASE = "warehouse.duckdb"
OVERLAY = overlay_of(DATABASE)
DATABASES = {
    DATABASE: "All tables, views and macros, for DuckDB.",
    OVERLAY: f"The rows that are newer: DuckDB reads them if this file lies beside {DATABASE} under this name.",
}
MEANT = {table.name: table.description for table in PUBLISHED}
MEDIA = {
    ".duckdb": "application/octet-stream",
    ".wal": "application/octet-stream",
    ".parquet": "application/vnd.apache.parquet",
    ".csv": "text/csv; charset=utf-8",
}
BUILD, NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*"), re.compile(r"[a-z_]+(\.[a-z]+){1,2}")
SIZES = ((1e9, "GB"), (1e6, "MB"), (1e3, "KB"))


@dataclass(frozen=True, slots=True)
class File:
    """A file of a build: its name for subscribers, where it is, its size in bytes and its SHA-256."""

    name: str
    path: Path
    size: int
    digest: str

    @property
    def what(self) -> str:
        """A description of its content."""
        return MEANT.get(self.path.stem, DATABASES.get(self.name, ""))


def files(published: Path, pointer: Pointer) -> Iterator[File]:
    """The files of a build; empty if an earlier release published it, because their digests are not known."""
    for name, digest in pointer.digests.items():
        database = {pointer.file: DATABASE, overlay_of(pointer.file): OVERLAY}.get(name)
        path = published / name if database else published / copies_of(pointer.file) / name
        with suppress(FileNotFoundError):  # a newer build has replaced this one meanwhile
            yield File(database or name, path, path.stat().st_size, digest)


def document(pages: Pages, _: Request) -> Document:
    """The page, with the files of the current build."""
    with current_build(pages) as build:
        pointer = build.pointer
        [(cik,)] = build.rows("SELECT min(cik) FROM companies")
    held = list(files(pages.settings.published, pointer))
    text = write(
        "downloads.md",
        pointer=pointer,
        base_at=pointer.base_at if pointer.base != pointer.build else "",
        is_fictional=is_fictional(cik or ""),
        kinds=[
            (kind, [each for each in held if f".{kind.lower()}" in each.name]) for kind in ("DuckDB", "CSV", "Parquet")
        ],
        address=lambda each: f"{PATH}/{pointer.build}/{each.name}",
        size=in_words,
        total=in_words(sum(each.size for each in held)),
        digests="\n".join(f"{each.digest}  {each.name}" for each in held),
        example=f"{pages.settings.pages}{PATH}/{pointer.build}/{DATABASE}",
        at_once=AT_ONCE,
        times=TIMES,
    )
    return Document(text)


def in_words(size: int) -> str:
    """A size in bytes with a unit."""
    unit, name = next(((unit, name) for unit, name in SIZES if size >= unit), (1, "bytes"))
    return f"{size / unit:,.1f} {name}" if unit > 1 else f"{size} {name}"


async def send(pages: Pages, request: Request) -> Response:
    """Respond with a file of a build, or a range of it."""
    session, (build, name) = request.state.session, (request.path_params[part] for part in ("build", "name"))
    account = session.email if session else await run_in_threadpool(pages.accounts.email_of, request.state.key_id)
    found = await run_in_threadpool(_found, pages, build, name)
    if found is None:
        raise NotFound(f"This build is no longer here, or has no such file. {PATH} has those of the newest build.")
    of, all_files = found
    tag = f'"{of.digest}"'
    headers = {
        "ETag": tag,
        "Cache-Control": "private, no-transform",
        "Vary": "Cookie, X-Api-Key",
        "Content-Disposition": f"attachment; filename={of.name}",
    }
    held = {each.strip().removeprefix("W/") for each in request.headers.get("if-none-match", "").split(",")}
    if held & {tag, "*"}:
        return Response(status_code=304, headers=headers)
    transfer = await run_in_threadpool(pages.transfers.take, account, all_files, pages.clock())
    return Sending(of, headers, transfer, pages.clock)


class Sending(FileResponse):
    """A response that sends a file or ranges of it, piece by piece, until the client has everything or hangs up."""

    def __init__(self, of: File, headers: Mapping[str, str], transfer: Transfer, clock: Clock) -> None:
        """Send an existing file, as a download of an account."""
        super().__init__(of.path, headers=headers, media_type=MEDIA[of.path.suffix], stat_result=of.path.stat())
        self._transfer, self._clock = transfer, clock
        self._build = of.path.parent.parent
        self._marked_at = self._sent_at = clock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it; reading waits until the client has received the previous piece."""

        async def send_and_count(message: Message) -> None:
            wait = self._transfer.note(len(message.get("body", b"")))
            self._sent_at = self._clock()
            if not 0 <= self._sent_at - self._marked_at < MARKED_EVERY:
                self._mark()
            if message["type"] == "http.response.body" and not message.get("more_body", False):
                self._transfer.close()  # before the client has everything and requests the next file
            await send(message)
            await anyio.sleep(wait)

        async def end_with_client() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            sending.cancel_scope.cancel()

        with closing(self._transfer):
            async with anyio.create_task_group() as sending:
                sending.start_soon(end_with_client)
                await super().__call__(scope, receive, send_and_count)
                sending.cancel_scope.cancel()
            self._mark()

    def _mark(self) -> None:
        """Mark the build as used at the time when the last bytes were sent."""
        self._marked_at = self._sent_at
        with suppress(FileNotFoundError):
            if self._sent_at > self._build.stat().st_mtime:  # unless another response has marked it later
                os.utime(self._build, (self._sent_at, self._sent_at))


def _found(pages: Pages, build: str, name: str) -> tuple[File, int] | None:
    """A file of a build, linked so that it stays while it is requested, and the size of the newest build's files."""
    published, folder, now = pages.settings.published, pages.settings.home / FOLDER, pages.clock()
    _clear(folder, now)
    builds = kept(published)
    pointer = next((each for each in builds if each.build == build), None)
    of = next((each for each in files(published, pointer) if each.name == name), None) if pointer else None
    if of:
        place = folder / build / of.digest / name
        place.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError, FileNotFoundError):  # already linked; or a newer build has just replaced it
            os.link(of.path, place)
    # both must be names, not patterns
    places = sorted((folder / build).glob(f"*/{name}")) if BUILD.fullmatch(build) and NAME.fullmatch(name) else []
    if not places:
        return None
    os.utime(folder / build, (now, now))
    size = sum(each.size for each in files(published, builds[0])) if builds else 0
    return File(name, places[0], places[0].stat().st_size, places[0].parent.name), size


def _clear(folder: Path, now: float) -> None:
    """Remove the links to builds that were not requested for KEPT seconds."""
    for of_build in folder.glob("*"):
        if now - of_build.stat().st_mtime > KEPT:
            shutil.rmtree(of_build, ignore_errors=True)


DOCUMENT = (PATH, document, Access.FILE)
ROUTES: tuple[PageRoute, ...] = ((f"{PATH}/{{build}}/{{name}}", send, Access.FILE),)
