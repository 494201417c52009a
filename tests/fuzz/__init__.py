"""Hostile bytes for all readers of foreign documents: `make fuzz MINUTES=10`, and a short form among the tests.

Belongs here: the readers (targets), the changes of their seeds, the definition of a failure. Does not: the right
results of each reader (the tests of its module). Bytes that cause a failure become a file of `corpus/TARGET`, which is
a seed from then on.

A failure is an exception of an unexpected type, a response with status 500, more than a second of CPU for a kilobyte,
or memory above a bound.
"""

import io
import json
import logging
import os
import random
import re
import resource
import socket
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import ip_network
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from pipelines.admin import backup, restore
from pipelines.edgar.decode.data_set_list import decode_data_set_list
from pipelines.edgar.decode.data_sets import read_data_set
from pipelines.edgar.decode.documents import decode_facts, decode_page, decode_submissions, decode_tickers
from pipelines.edgar.errors import EdgarError
from pipelines.edgar.filing.package import open_package, read_package
from pipelines.edgar.source.archive import Archive
from pipelines.errors import PipelineError
from pipelines.normalize.elements import wanted_elements
from serve.addresses import client_of
from serve.settings import Settings
from tests import builds, data_sets, filing_packages
from tests.filing_packages import SHEET, SUMS, TITLE, label, packed, zipped
from tests.mirrors import ALFA, Mirror
from tests.servers import PATIENCE, Clock, active_key, in_process
from warehouse.shared.store import Content, Head, StoreError, decoded_head

CORPUS = Path(__file__).parent / "corpus"
CPU = 1.0
"""Seconds for a kilobyte."""
MEMORY = 300 << 20
"""Bytes by which the process may grow while it reads the changed seeds of a target."""
LONGEST = 200_000
WORDS = (
    *(b"{", b"}", b"[", b"]", b'"', b",", b":", b"null", b"-1", b"1e999", b"9" * 400, b"[" * 5000, b"\\u0000"),
    *(b"\xff\xff\xff\xff", b"\x00" * 8, b"PK\x01\x02", b"PK\x05\x06", b"PK\x06\x07", b"\x80\xff", b"../", b"\x00"),
    *(b"\r\n", b"\r\n\r\n", b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n", b"Connection: close\r\n"),
    *(b"<a>" * 300, b"&a;", b"<!DOCTYPE a [<!ENTITY a 'a'>]>", b"<!--", b"<![CDATA[", b" id='day'", b'" '),
    *(b"Cookie: fundamentals-session=a.b\r\n", b"%00", b"&token=", b"[::1]:443", b", ", b"GET / HTTP/1.1\r\n"),
)
"""Text that the formats have, and numbers at their bounds."""
LIST = (
    b"<a class='x' href='/files/2010q1.zip'>2010 Q1</a><!-- <a href=2010q2.zip> --><a href=\"../2010q3.zip?a&amp;b\">"
)
FILING = packed(SHEET, SUMS, TITLE, label("us-gaap:Assets", "Total assets"))
DATA_SETS = [data_sets.zipped(data_sets.members(), method) for method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED)]
INSTANCE, LINKS = f"{filing_packages.NAME}_htm.xml", f"{filing_packages.NAME}.xsd"


@dataclass(frozen=True)
class Target:
    """A reader: its seeds, and the function that reads bytes; errors of the expected types are suppressed in it."""

    name: str
    seeds: Sequence[bytes]
    read: Callable[[bytes], object]


class Failure(Exception):
    """The behaviour of a reader for some bytes."""


@contextmanager
def targets() -> Iterator[list[Target]]:
    """All readers, until the block ends; one is a service on a socket."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        mirror = Mirror(folder / "mirror", ALFA)
        facts, submissions = mirror.facts(ALFA).read_bytes(), mirror.submissions(ALFA).read_bytes()
        recent = json.dumps(json.loads(submissions)["filings"]["recent"]).encode()
        builds.small(folder / "home" / "published")
        key = active_key(folder / "home")
        listed = {"form": 1, "made_at": "", "build": "b", "files": {"published/CURRENT.json": "0" * 64}}
        logged: list[str] = []
        noting = logging.Handler(logging.ERROR)
        noting.emit = lambda record: logged.append(record.getMessage())  # type: ignore[method-assign]
        with in_process(Settings(folder / "home"), Clock()) as address, _noted_by(noting):
            yield [
                Target("companyfacts", [facts], _expecting(lambda raw: decode_facts(raw, ALFA.cik, wanted_elements()))),
                Target("submissions", [submissions], _expecting(lambda raw: decode_submissions(raw, ALFA.cik))),
                Target("page", [recent], _expecting(lambda raw: decode_page(raw, ALFA.cik))),
                Target("tickers", [mirror.tickers.read_bytes()], _expecting(decode_tickers)),
                Target("data set", DATA_SETS, _expecting(lambda raw: read_data_set(raw, "2010q1"))),
                Target("list of data sets", [LIST], _expecting(decode_data_set_list)),
                Target("archive", [_zipped()], _expecting(lambda raw: _read_archive(folder / "a.zip", raw))),
                Target("package", [zipped(FILING)], _expecting(lambda raw: _read_filing(open_package(raw, "zip")))),
                Target("instance", [FILING[INSTANCE]], _expecting(lambda raw: _read_filing(FILING | {INSTANCE: raw}))),
                Target("linkbases", [FILING[LINKS]], _expecting(lambda raw: _read_filing(FILING | {LINKS: raw}))),
                Target("forwarded", [b"203.0.113.9:5000, [2001:db8::7]:443, 10.0.0.1"], _forwarded),
                Target(
                    "backup",
                    [json.dumps({**listed, "links": {"published/x": "CURRENT.json"}}).encode()],
                    _expecting(lambda raw: _read_list(folder, raw)),
                ),
                Target("head", [_head()], _read_head),
                Target("front", _requests(key), lambda raw: _ask(address, raw, logged)),
            ]


def changed(seed: bytes, chance: random.Random) -> bytes:
    """A seed with some changes: bytes flipped, cut out, repeated, and words inserted."""
    made = bytearray(seed)
    for _ in range(chance.choice((1, 1, 2, 4, 16))):
        at, length = chance.randrange(len(made) + 1), chance.choice((1, 1, 4, 64, 4096))
        match chance.randrange(4):
            case 0:
                made[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                del made[at : at + length]
            case 2:
                made[at:at] = made[at : at + length] * chance.choice((1, 2, 50))
            case _:
                made[at:at] = chance.choice(WORDS)
    return bytes(made[:LONGEST])


def fuzz(target: Target, times: int, seed: int, until: float = float("inf")) -> int:
    """Let a reader read its seeds, then changed ones.

    Args:
        target: the reader.
        times: how many changed seeds at most.
        seed: of the chance.
        until: the time of `time.monotonic` at which it ends.

    Returns:
        how many bytes were read.

    Raises:
        Failure: what happened, and the file in the corpus that brings it about.
    """
    chance, read = random.Random(seed), 0
    seeds = [*target.seeds, *(path.read_bytes() for path in sorted((CORPUS / target.name).glob("*")))]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number in range(len(seeds) + times):
        if time.monotonic() > until:
            break
        raw = seeds[number] if number < len(seeds) else changed(chance.choice(seeds), chance)
        began = time.process_time()
        try:
            target.read(raw)
            took, allowed = time.process_time() - began, CPU * max(1.0, len(raw) / 1024)
            if took > allowed:
                raise Failure(f"took {took:.1f} seconds of CPU for {len(raw):,} bytes")
            if (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 > MEMORY:
                raise Failure(f"took more than {MEMORY >> 20} MiB")
        except Exception as error:
            (CORPUS / target.name).mkdir(parents=True, exist_ok=True)
            kept = CORPUS / target.name / f"{seed}-{number}"
            kept.write_bytes(raw)
            raise Failure(f"{target.name}: {kept}: {type(error).__name__}: {error}") from error
        read += len(raw)
    return read


def _expecting(read: Callable[[bytes], object]) -> Callable[[bytes], None]:
    def checked(raw: bytes) -> None:
        with suppress(EdgarError, PipelineError):
            read(raw)

    return checked


def _zipped() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in (101, 102):
            archive.writestr(f"CIK{number:010}.json", b"{}" * 100)
    return packed.getvalue()


def _read_filing(files: Mapping[str, bytes]) -> None:
    read_package(files, filing_packages.CIK, filing_packages.ACCESSION)


def _read_archive(path: Path, raw: bytes) -> None:
    path.write_bytes(raw)
    archive = Archive(path)
    try:
        for cik in archive.ciks:
            with suppress(EdgarError):
                if member := archive.member(f"CIK{cik}.json"):
                    archive.read(member)
    finally:
        archive.close()


def _read_list(folder: Path, raw: bytes) -> None:
    (folder / backup.LIST).write_bytes(raw)
    restore._contents(folder)


def _head() -> bytes:
    files = dict.fromkeys(("home.json", "published/CURRENT.json", "log/versions-1.parquet"), Content("0" * 64, 5))
    links, then = {"published/x": "CURRENT.json"}, datetime(2026, 3, 2, tzinfo=UTC)
    return msgspec.json.encode(Head("run", then, files, links, {"2" * 64: then}, lease=3, codes=("1" * 12,)))


def _read_head(raw: bytes) -> None:
    """Read HEAD; every path that it names is a shared file below the home, and so is every target of its links."""
    with suppress(StoreError):
        head = decoded_head(raw, "HEAD")
        named = [*head.files, *head.links, *(Path(link).parent / to for link, to in head.links.items())]
        places = {os.path.normpath(Path("/home", path)).split("/")[2] for path in named}
        assert places <= {"home.json", "raw", "tables", "log", "published"}


def _forwarded(raw: bytes) -> None:
    scope = {"client": ("10.0.0.1", 1), "headers": [(b"x-forwarded-for", raw)]}
    assert client_of(scope, [ip_network("10.0.0.0/8")])


def _requests(key: str) -> list[bytes]:
    form = b"token=a&form_token=b"
    head = b"POST /sign-in HTTP/1.1\r\nHost: a\r\nCookie: fundamentals-session=a.b\r\nOrigin: http://a\r\n"
    return [
        b"GET /v1/companies/LNTR HTTP/1.1\r\nHost: a\r\nX-Api-Key: %s\r\nConnection: close\r\n\r\n" % key.encode(),
        b"GET /companies/LNTR?period=annual HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip;q=0.5\r\n\r\n",
        head + b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n" % len(form) + form,
        b"GET /v1/status HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
    ]


@contextmanager
def _noted_by(handler: logging.Handler) -> Iterator[None]:
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)


def _ask(address: str, raw: bytes, logged: list[str]) -> None:
    """Send bytes, and read the responses; an error in the log is a failure, too."""
    logged.clear()
    parts = urlsplit(address)
    with socket.create_connection((parts.hostname, parts.port), PATIENCE) as client, suppress(ConnectionError):
        client.sendall(raw)
        client.shutdown(socket.SHUT_WR)
        received = b"".join(iter(lambda: client.recv(1 << 16), b""))
        if re.search(rb"HTTP/1\.1 5\d\d ", received):
            raise Failure(f"was answered with {received[:60]!r}")
    if logged:
        raise Failure(logged[0])
