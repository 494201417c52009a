"""Reads the files that EDGAR's renderer adds to a filing: MetaLinks.json (since 2019) and FilingSummary.xml.

Belongs here: titles of roles, totals and labels, which replace missing schemas and linkbases. Does not: the order of
lines, which these files lack (linkbases).

Source of the formats: the files themselves; the SEC does not describe them.
"""

from typing import Any

import msgspec
from lxml import etree

from pipelines.edgar.decode.decoding import decode
from pipelines.edgar.filing.linkbases import Linkbases, Relation
from pipelines.edgar.filing.markup import Concept, taxonomy_of


class _Report(msgspec.Struct, rename="camel"):
    role: str | None = None
    long_name: str | None = None


class _Addend(msgspec.Struct, rename="camel"):
    parent_tag: str | None = None
    weight: float | None = None
    order: float | None = None


class _Language(msgspec.Struct):
    role: dict[str, str | None] = {}


class _Tag(msgspec.Struct):
    nsuri: str = ""
    localname: str = ""
    calculation: dict[str, _Addend] = {}
    lang: dict[str, _Language] = {}


class _Instance(msgspec.Struct):
    report: dict[str, _Report] = {}
    tag: dict[str, _Tag] = {}


class _MetaLinks(msgspec.Struct):
    instance: dict[str, _Instance] = {}


_DECODER: msgspec.json.Decoder[Any] = msgspec.json.Decoder(_MetaLinks)


def read_meta_links(raw: bytes, place: str) -> Linkbases:
    """Read MetaLinks.json: titles, totals, and labels in the first language; it has no presentation.

    Raises:
        DocumentError: not JSON, or a value of an unexpected type.
    """
    links = Linkbases()
    document: _MetaLinks = decode(_DECODER, raw, place)
    for instance in document.instance.values():
        links.titles |= {report.role: report.long_name or "" for report in instance.report.values() if report.role}
        concepts: dict[str, Concept] = {
            name: (taxonomy_of(tag.nsuri), tag.localname) for name, tag in instance.tag.items()
        }
        for name, tag in instance.tag.items():
            for language in tag.lang.values():
                texts = {role: text for role, text in language.role.items() if text}
                links.labels.setdefault(concepts[name], texts)
            for role, addend in tag.calculation.items():
                parent = concepts.get(addend.parent_tag or "")
                if parent and addend.weight is not None:
                    relation = Relation(role, parent, concepts[name], addend.order or 0.0, addend.weight, "")
                    links.calculation.setdefault(role, []).append(relation)
    return links


def read_filing_summary(root: etree._Element) -> dict[str, str]:
    """The titles of roles, from a parsed FilingSummary.xml."""
    reports = ((report.findtext("Role"), report.findtext("LongName")) for report in root.iter("Report"))
    return {role: title for role, title in reports if role and title}
