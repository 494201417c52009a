"""XML documents of filings, parsed within limits.

Belongs here: parsing bytes of any origin, and parts that all XML documents share: elements by namespace, dates,
numbers, and names with a prefix. Does not: what a document means (instance, linkbases).

lxml reads them, because it checks encodings and namespaces, stops at libxml2's limits of depth and of the growth of
entities, and takes a tenth of a second for ten megabytes; the standard library's parser lacks these limits.
"""

import math
import re
from functools import lru_cache

from lxml import etree

from pipelines.edgar.errors import DocumentError

MAX_FILE = 1 << 27
"""Most bytes of one file of a filing: thirty times the largest file in 125 real packages."""

MOST_TAGS = 2_000_000
"""Most tags of one file, and of all files of a filing: fifty times the maximum in 125 real packages. Trees with this
number of elements take 300 MB."""

OWN = "own"
"""The taxonomy of elements that the filer defines itself."""

XLINK = "{http://www.w3.org/1999/xlink}"
LINK = "{http://www.xbrl.org/2003/linkbase}"

NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
STANDARD = re.compile(r"https?://(?:[a-z]+\.)?(?:fasb\.org|xbrl\.us|xbrl\.sec\.gov|xbrl\.ifrs\.org)/")
"""The beginning of the addresses of standard taxonomies: of their namespaces and of their schemas."""
RELEASE = re.compile(r"\d{4}([qQ]\d|-\d\d-\d\d)?", re.ASCII)

Concept = tuple[str, str]
"""An element: its taxonomy (`us-gaap`, `ifrs-full`, `dei`, `srt`, ..., or OWN) and its name without a prefix."""


def parsed(raw: bytes, place: str) -> etree._Element:
    """The root of an XML document, without comments and processing instructions.

    Entities are not expanded, nothing is loaded, and elements are nested 256 deep at most.

    Raises:
        DocumentError: the document is not well-formed, not in its declared encoding, too large, or has a document type.
    """
    if len(raw) > MAX_FILE:
        raise DocumentError(f"has {len(raw):,} bytes, expected at most {MAX_FILE:,}", place)
    if (tags := raw.count(b"<")) > MOST_TAGS:
        raise DocumentError(f"has {tags:,} tags, expected at most {MOST_TAGS:,}", place)
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
        collect_ids=False,
    )
    try:
        root = etree.fromstring(raw, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise DocumentError(f"is not a complete XML document: {error}; it begins with {raw[:40]!r}", place) from error
    about = root.getroottree().docinfo
    if about.internalDTD is not None or about.externalDTD is not None:
        raise DocumentError("declares a document type, which documents of EDGAR do not have", place)
    return root


def local_name(tag: str) -> str:
    """The name of an element without its namespace."""
    return tag.rpartition("}")[2]


@lru_cache(maxsize=1 << 10)
def taxonomy_of(address: str) -> str:
    """The taxonomy of a namespace: `us-gaap` of http://fasb.org/us-gaap/2024, whatever its prefix in the document."""
    if not STANDARD.match(address):
        return OWN
    parts = [part for part in address.split("/")[3:] if part and not RELEASE.fullmatch(part)]
    return parts[-1] if parts else OWN


def concept_of(name: str, namespaces: dict[str | None, str]) -> Concept:
    """The element that a name with a prefix stands for, such as `us-gaap:Assets`."""
    prefix, _, element = name.strip().rpartition(":")
    return taxonomy_of(namespaces.get(prefix or None, "")), element


def number_of(text: str | None, default: float, place: str) -> float:
    """Parse a finite number; `default` if the text is missing.

    Raises:
        DocumentError: the text is not a number.
    """
    if text is None:
        return default
    value = float(text) if NUMBER.fullmatch(text.strip()) else math.nan
    if not math.isfinite(value):
        raise DocumentError(f"{text[:40]!r} is not a number", place)
    return value
