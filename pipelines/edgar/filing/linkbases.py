"""Reads the linkbases and schemas of one filing: order and totals of the lines, labels, and titles of the statements.

Belongs here: links of presentation, calculation and labels, in linkbases or inside of a schema. Does not: which links
are a statement (face), the files of EDGAR's renderer (renderer).

Source of the format: XBRL 2.1, sections 3.5 and 5.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import NamedTuple, TypeVar
from urllib.parse import unquote

from lxml import etree

from pipelines.edgar.errors import DocumentError
from pipelines.edgar.filing.markup import LINK, OWN, STANDARD, XLINK, Concept, number_of

T = TypeVar("T")

SCHEMA, LINKBASE = "{http://www.w3.org/2001/XMLSchema}schema", f"{LINK}linkbase"
ELEMENT = "{http://www.w3.org/2001/XMLSchema}element"
LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
LANGUAGES = ("en-us", "en")

MOST_RELATIONS = 500_000
"""Most relations of one kind in one filing: a hundred times the maximum in 125 real packages. Locators may share a
name, so a few lines of XML can stand for millions of relations."""


class Relation(NamedTuple):
    """A parent and a child: a line below another in a presentation, or an addend of a total in a calculation."""

    role: str
    parent: Concept
    child: Concept
    order: float
    weight: float
    label_role: str  # the last part of its address, such as totalLabel; empty in a calculation


@dataclass(slots=True)
class Linkbases:
    """The presentation, calculation, labels and titles of one filing.

    `labels` are the texts of each element by the last part of their role's address (`label`, `totalLabel`, ...), and
    `titles` the definitions of roles: `0000004 - Statement - CONSOLIDATED BALANCE SHEETS`.
    """

    presentation: dict[str, list[Relation]] = field(default_factory=dict)
    calculation: dict[str, list[Relation]] = field(default_factory=dict)
    labels: dict[Concept, dict[str, str]] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)


def read_linkbases(roots: Sequence[etree._Element], place: str) -> Linkbases:
    """Read the parsed schemas and linkbases of a filing.

    A relation that another one of the same or a higher priority prohibits is left out. Labels are English where there
    are several languages.

    Raises:
        DocumentError: an order, weight or priority that is no number, or more than MOST_RELATIONS.
    """
    names = {element.get("id", ""): element.get("name", "") for root in roots for element in _elements(root)}

    def links(kind: str) -> Iterator[etree._Element]:
        return (link for root in roots for link in root.iter(f"{LINK}{kind}"))

    def relations(kind: str) -> dict[str, list[Relation]]:
        stated = (arc for link in links(f"{kind}Link") for arc in _relations(link, f"{kind}Arc", names, place))
        return _by_role(_in_force(_limited(stated, place)))

    return Linkbases(
        presentation=relations("presentation"),
        calculation=relations("calculation"),
        labels=_best(_limited((label for link in links("labelLink") for label in _labels(link, names)), place)),
        titles={role.get("roleURI", ""): _one_line(role.findtext(f"{LINK}definition")) for role in links("roleType")},
    )


def _elements(root: etree._Element) -> Iterator[etree._Element]:
    return root.iter(ELEMENT) if root.tag == SCHEMA else iter(())


def _concept(href: str, names: Mapping[str, str]) -> Concept:
    """The element of a locator: `...us-gaap-2024.xsd#us-gaap_Assets`, or `aapl.xsd#aapl_Vendor` of an own schema.

    Without the schema that defines it, an own element has the name that its id ends with.
    """
    address, _, identifier = href.partition("#")
    identifier = unquote(identifier)
    prefix, _, name = identifier.partition("_")
    if STANDARD.match(address):
        return prefix, name
    return OWN, names.get(identifier) or name


def _locators(link: etree._Element, names: Mapping[str, str]) -> dict[str, dict[Concept, None]]:
    """The elements of a link, by the names of their locators, which are valid in this link only."""
    locators: dict[str, dict[Concept, None]] = {}
    for locator in link.iterchildren(f"{LINK}loc"):
        concept = _concept(locator.get(f"{XLINK}href", ""), names)
        locators.setdefault(locator.get(f"{XLINK}label", ""), {})[concept] = None
    return locators


def _relations(
    link: etree._Element, arcs: str, names: Mapping[str, str], place: str
) -> Iterator[tuple[Relation, float, bool]]:
    """The relations of a link, each with its priority and whether it is a prohibition."""
    locators, role = _locators(link, names), link.get(f"{XLINK}role", "")
    for arc in link.iterchildren(f"{LINK}{arcs}"):
        order = number_of(arc.get("order"), 1, place)
        weight = number_of(arc.get("weight"), 1, place)
        priority = number_of(arc.get("priority"), 0, place)
        label_role = _last_part(arc.get("preferredLabel", ""))
        prohibits = arc.get("use") == "prohibited"
        children = locators.get(arc.get(f"{XLINK}to", ""), {})
        for parent in locators.get(arc.get(f"{XLINK}from", ""), {}) if children else ():
            for child in children:
                yield Relation(role, parent, child, order, weight, label_role), priority, prohibits


def _in_force(relations: Iterable[tuple[Relation, float, bool]]) -> list[Relation]:
    """The relations without a prohibition of the same or a higher priority, each once."""
    strongest: dict[Relation, tuple[float, bool]] = {}
    for relation, priority, prohibits in relations:
        strongest[relation] = max(strongest.get(relation, (priority, prohibits)), (priority, prohibits))
    return [relation for relation, (_, prohibits) in strongest.items() if not prohibits]


def _by_role(relations: Iterable[Relation]) -> dict[str, list[Relation]]:
    roles: dict[str, list[Relation]] = {}
    for relation in relations:
        roles.setdefault(relation.role, []).append(relation)
    return roles


def _labels(link: etree._Element, names: Mapping[str, str]) -> Iterator[tuple[Concept, str, int, str]]:
    """The labels of a link: element, role, rank of the language, text."""
    locators, resources = _locators(link, names), dict[str, list[tuple[str, int, str]]]()
    for label in link.iterchildren(f"{LINK}label"):
        role = _last_part(label.get(f"{XLINK}role", "label"))
        text = (role, _rank(label.get(LANGUAGE, "")), _one_line(label.text))
        resources.setdefault(label.get(f"{XLINK}label", ""), []).append(text)
    for arc in link.iterchildren(f"{LINK}labelArc"):
        if arc.get("use") != "prohibited":
            for concept in locators.get(arc.get(f"{XLINK}from", ""), {}):
                for text in resources.get(arc.get(f"{XLINK}to", ""), ()):
                    yield concept, *text


def _best(labels: Iterable[tuple[Concept, str, int, str]]) -> dict[Concept, dict[str, str]]:
    """The labels of each element by role, in the preferred language."""
    best: dict[Concept, dict[str, str]] = {}
    for concept, role, _, text in sorted(labels, key=itemgetter(2)):
        best.setdefault(concept, {}).setdefault(role, text)
    return best


def _limited(relations: Iterable[T], place: str) -> Iterator[T]:
    for count, relation in enumerate(relations):
        if count == MOST_RELATIONS:
            raise DocumentError(f"has more than {MOST_RELATIONS:,} relations between elements and labels", place)
        yield relation


def _rank(language: str) -> int:
    """The place of a language in the order of preference."""
    language = language.lower()
    return next((rank for rank, first in enumerate(LANGUAGES) if language.startswith(first)), len(LANGUAGES))


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split())


def _last_part(address: str) -> str:
    return re.split(r"[/#]", address)[-1]
