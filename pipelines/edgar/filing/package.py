"""Reads the XBRL package of one filing: its facts, and the lines of its statements.

Belongs here: opening the zip file safely, recognizing the files of a package, and reading all of them. Does not:
fetching or storing them; reading single files (instance, linkbases, renderer), which lines are a statement (face).

The files are recognized by their root elements, because their names follow no rule: the date of the schema may differ
from the date of the instance, linkbases may be inside of the schema, and each filing agent has its own names.
"""

import io
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from lxml import etree

from pipelines.edgar.errors import DocumentError
from pipelines.edgar.filing.face import StatementLines, statement_lines
from pipelines.edgar.filing.instance import ROOT, StatedFacts, StatedTexts, read_instance
from pipelines.edgar.filing.linkbases import LINKBASE, SCHEMA, Linkbases, read_linkbases
from pipelines.edgar.filing.markup import MAX_FILE, MOST_TAGS, parsed
from pipelines.edgar.filing.renderer import read_filing_summary, read_meta_links
from pipelines.edgar.zip_directory import LARGEST_OF_PACKAGE, check_directory

MAX_PACKAGE = 1 << 28
"""Most bytes that are read of the files of one package."""

MOST_MEMBERS = 2_000
"""Most files of one zip file; a filing has about ten, with pictures about a hundred."""

METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
READ = (".xml", ".xsd", ".json")
META_LINKS, SUMMARY = "MetaLinks.json", "FilingSummary"


@dataclass(frozen=True, slots=True)
class Package:
    """The facts, texts and lines of one filing. `lines` is empty if no presentation or no statement is recognized;
    `ignored` counts the invalid facts by reason."""

    cik: str
    accession: str
    facts: StatedFacts
    texts: StatedTexts
    lines: StatementLines
    ignored: Counter[str]


def open_package(content: bytes, place: str) -> dict[str, bytes]:
    """The XML and JSON files in the zip file of a package, by their names; the report and pictures are not inflated.

    Raises:
        DocumentError: not a whole zip file, encrypted, or larger than MAX_PACKAGE when inflated.
    """
    check_directory(io.BytesIO(content), LARGEST_OF_PACKAGE, place)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            wanted = [member for member in members if member.filename.lower().endswith(READ)]
            size = sum(member.file_size for member in wanted)
            if any(member.compress_type not in METHODS for member in wanted):
                raise DocumentError("has a member that is packed with a method other than deflate", place)
            if len(members) > MOST_MEMBERS or size > MAX_PACKAGE or any(m.file_size > MAX_FILE for m in wanted):
                reason = f"has {len(members):,} files, and {size:,} bytes when inflated, which no package has"
                raise DocumentError(reason, place)
            return {member.filename.rpartition("/")[2]: _inflated(archive, member) for member in wanted}
    # RuntimeError: encrypted; NotImplementedError: an unknown method
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError, ValueError, OSError) as error:
        reason = f"is not a whole zip file: {error}; it begins with {content[:40]!r}"
        raise DocumentError(reason, place) from error


def _inflated(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Inflate a member, at most to the size in the directory; a member with another size fails the checksum."""
    with archive.open(member) as file:
        return file.read(member.file_size + 1)


def read_package(files: Mapping[str, bytes], cik: str, accession: str) -> Package:
    """Read the files of one filing, by their names.

    Without linkbases, the result has facts but no lines. MetaLinks.json, if present, adds totals, labels and titles
    that the linkbases lack; FilingSummary.xml adds titles. Of several instances the largest is read: the others belong
    to exhibits.

    Args:
        files: name to content; files that are neither XML nor JSON are skipped.
        cik: ten digits: the company whose filing it must be.
        accession: the accession number of the filing.

    Raises:
        DocumentError: no instance, a malformed file, another company's filing, or more than MAX_PACKAGE bytes or
            MOST_TAGS tags in all files together.
    """
    place = f"filing {accession} of CIK {cik}"
    size, tags = sum(map(len, files.values())), sum(raw.count(b"<") for raw in files.values())
    if size > MAX_PACKAGE or tags > MOST_TAGS:
        raise DocumentError(f"has {size:,} bytes with {tags:,} tags in all files, which no package has", place)
    instances: dict[str, bytes] = {}
    linking: list[etree._Element] = []
    titles: dict[str, str] = {}
    for name, raw in sorted(files.items()):
        if not name.lower().endswith((".xml", ".xsd")):
            continue
        root = root_of(raw)
        if root == ROOT:
            instances[name] = raw
        elif root in (SCHEMA, LINKBASE):
            linking.append(parsed(raw, f"{place}, {name}"))
        elif root == SUMMARY:
            titles = read_filing_summary(parsed(raw, f"{place}, {name}"))
    if not instances:
        raise DocumentError(f"has no XBRL instance among its files {sorted(files)}", place)
    name = max(instances, key=lambda name: len(instances[name]))
    instance = read_instance(parsed(instances[name], f"{place}, {name}"), cik, accession, f"{place}, {name}")
    links = read_linkbases(linking, place)
    if META_LINKS in files:
        _fill_in(links, read_meta_links(files[META_LINKS], f"{place}, {META_LINKS}"))
    links.titles = titles | links.titles
    lines = statement_lines(links, instance.stated, cik, accession, place)
    return Package(cik, accession, instance.facts, instance.texts, lines, instance.ignored)


def root_of(raw: bytes) -> str:
    """The name of a document's root element; empty if the document ends before it."""
    try:
        events = etree.iterparse(io.BytesIO(raw), events=("start",), resolve_entities=False, load_dtd=False)
        return str(next(events)[1].tag)
    except (etree.XMLSyntaxError, StopIteration, ValueError):
        return ""


def _fill_in(links: Linkbases, rendered: Linkbases) -> None:
    """Add totals, labels and titles that only EDGAR's renderer has."""
    links.titles = rendered.titles | links.titles
    links.calculation = links.calculation or rendered.calculation
    for concept, texts in rendered.labels.items():
        links.labels[concept] = texts | links.labels.get(concept, {})
