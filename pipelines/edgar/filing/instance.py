"""Reads an XBRL instance: the facts of one filing, with the dimensions of their contexts.

Belongs here: contexts, units, numbers, and the texts that identify a company and its securities. Does not: which facts
are on a statement (face), or what they mean (normalize). Nothing is corrected: an invalid fact is left out and counted
in `Instance.ignored`.

Source of the format: XBRL 2.1, sections 4.6 to 4.8; XBRL Dimensions 1.0; the EDGAR Filer Manual, chapter 6.
"""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from lxml import etree

from pipelines.edgar.decode.columns import Columns
from pipelines.edgar.decode.decoding import is_date, ten_digits
from pipelines.edgar.decode.documents import LARGEST
from pipelines.edgar.errors import DocumentError
from pipelines.edgar.filing.markup import NUMBER, Concept, concept_of, local_name, taxonomy_of

XBRLI = "{http://www.xbrl.org/2003/instance}"
EXPLICIT, TYPED = (f"{{http://xbrl.org/2006/xbrldi}}{kind}Member" for kind in ("explicit", "typed"))
ROOT, CONTEXT, UNIT = f"{XBRLI}xbrl", f"{XBRLI}context", f"{XBRLI}unit"
NIL = "{http://www.w3.org/2001/XMLSchema-instance}nil"
CIK_SCHEME = "http://www.sec.gov/CIK"

IDENTIFYING = frozenset(
    {
        "AmendmentFlag",
        "DocumentPeriodEndDate",
        "DocumentType",
        "EntityCentralIndexKey",
        "EntityRegistrantName",
        "Security12bTitle",
        "SecurityExchangeName",
        "TradingSymbol",
    }
)
"""The elements of `dei` whose texts are read."""

LONGEST_TEXT = 1000
"""Most characters of a text of these elements: six times the longest in 125 real packages."""

ESCAPED = str.maketrans({"%": "%25", ";": "%3B", "=": "%3D"})


@dataclass(slots=True)
class StatedFacts(Columns):
    """Numbers that filings state, one row for each element, unit, period and set of dimensions.

    Dates are text; `start` is missing for an instant. `decimals` is infinite if the value is exact, and missing if the
    filing does not state it. `dimensions` are the sorted dimensions of the context: `us-gaap:StatementClassOfStockAxis=
    us-gaap:CommonClassAMember`, several joined with `;`, empty for the company as a whole; the filer's own axes and
    members have the prefix `own`. A typed member is given as its text, with `%`, `;` and `=` escaped as in a URL.
    """

    cik: list[str] = field(default_factory=list)
    accession: list[str] = field(default_factory=list)
    taxonomy: list[str] = field(default_factory=list)
    element: list[str] = field(default_factory=list)
    unit: list[str] = field(default_factory=list)
    start: list[str | None] = field(default_factory=list)
    end: list[str] = field(default_factory=list)
    dimensions: list[str] = field(default_factory=list)
    value: list[float] = field(default_factory=list)
    decimals: list[float | None] = field(default_factory=list)


@dataclass(slots=True)
class StatedTexts(Columns):
    """The texts of the elements IDENTIFYING of `dei`, with columns as in StatedFacts."""

    cik: list[str] = field(default_factory=list)
    accession: list[str] = field(default_factory=list)
    element: list[str] = field(default_factory=list)
    start: list[str | None] = field(default_factory=list)
    end: list[str] = field(default_factory=list)
    dimensions: list[str] = field(default_factory=list)
    value: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Instance:
    """The facts of one filing. `ignored` counts the facts that were left out, by reason.

    `stated` counts the numbers of each element by their dimensions; an element with nil facts only has an empty count.
    """

    facts: StatedFacts
    texts: StatedTexts
    stated: dict[Concept, Counter[str]]
    ignored: Counter[str]


class _Period(NamedTuple):
    start: str | None
    end: str
    dimensions: str


class _Number(NamedTuple):
    decimals: float
    value: float


_Numbers = dict[tuple[Concept, str, _Period], _Number]  # by element, unit and period


@dataclass(slots=True)
class _Contexts:
    """Contexts by their id: the periods of usable contexts, and the reasons why the others are unusable."""

    periods: dict[str, _Period] = field(default_factory=dict)
    unusable: dict[str, str] = field(default_factory=dict)


def read_instance(root: etree._Element, cik: str, accession: str, place: str) -> Instance:
    """Read the facts of a parsed instance.

    If a fact is stated several times, the one with the largest `decimals` is used, because notes often repeat an exact
    amount of a table as a rounded amount. Nil facts are left out.

    Raises:
        DocumentError: the instance is another company's, or two contexts or units have the same id.
    """
    contexts, units = _contexts(root, cik, place), _units(root, place)
    numbers, texts, ignored = _Numbers(), StatedTexts(), Counter[str]()
    stated: dict[Concept, Counter[str]] = {}
    for concept, context, fact in _facts(root):
        reference = fact.get("unitRef")
        is_number = reference is not None
        if not (is_number or (concept[0] == "dei" and concept[1] in IDENTIFYING)):
            continue
        period, unit, text = contexts.periods.get(context), units.get(reference), (fact.text or "").strip()
        if period is None:
            ignored[contexts.unusable.get(context, "no such context")] += 1
        elif fact.get(NIL) in ("true", "1"):
            if is_number:
                stated.setdefault(concept, Counter())
        elif flaw := _flaw_of_number(text, unit) if is_number else _flaw_of_text(text):
            ignored[flaw] += 1
        elif unit is None:
            texts.append(cik, accession, concept[1], *period, text)
        else:
            number = _Number(_decimals(fact.get("decimals")), float(text))
            known = numbers.setdefault((concept, unit, period), number)
            if known is number:
                stated.setdefault(concept, Counter())[period.dimensions] += 1
            elif number.decimals > known.decimals:
                numbers[concept, unit, period] = number
            elif number.decimals == known.decimals and number.value != known.value:
                ignored["another value with the same decimals"] += 1
    _check_registrant(texts, cik, place)
    return Instance(_columns(numbers, cik, accession), texts, stated, ignored)


def _facts(root: etree._Element) -> Iterator[tuple[Concept, str, etree._Element]]:
    """The facts of an instance: element, id of the context, and the fact."""
    concepts: dict[str, Concept] = {}
    for fact in root:
        if (context := fact.get("contextRef")) is not None:
            if (concept := concepts.get(fact.tag)) is None:
                namespace, _, name = fact.tag.rpartition("}")
                concept = concepts[fact.tag] = (taxonomy_of(namespace[1:]), name)
            yield concept, context, fact


def _flaw_of_number(text: str, unit: str | None) -> str | None:
    if unit is None:
        return "no such unit"
    return None if NUMBER.fullmatch(text) and abs(float(text)) <= LARGEST else "no number"


def _flaw_of_text(text: str) -> str | None:
    return None if 0 < len(text) <= LONGEST_TEXT else "no text, or too long"


def _decimals(text: str | None) -> float:
    """The decimals of a fact; if they are missing, minus infinity."""
    if text == "INF":
        return math.inf
    return float(text) if text and NUMBER.fullmatch(text) else -math.inf


def _columns(numbers: _Numbers, cik: str, accession: str) -> StatedFacts:
    facts = StatedFacts()
    for (concept, unit, period), (decimals, value) in numbers.items():
        known = None if decimals == -math.inf else decimals
        facts.append(cik, accession, *concept, unit, *period, value, known)
    return facts


def _check_registrant(texts: StatedTexts, cik: str, place: str) -> None:
    """Raise DocumentError if the cover page names another company as the registrant; co-registrants are ignored."""
    for element, dimensions, text in zip(texts.element, texts.dimensions, texts.value, strict=True):
        if element == "EntityCentralIndexKey" and not dimensions and ten_digits(text, place) != cik:
            raise DocumentError(f"dei:EntityCentralIndexKey is {text!r}: the filing is another company's", place)


def _contexts(root: etree._Element, cik: str, place: str) -> _Contexts:
    contexts, read = _Contexts(), dict[str, tuple[str, str | None, str | None, str]]()
    companies: set[str] = set()
    for element in root.iterchildren(CONTEXT):
        name = element.get("id", "")
        found = _company(element), *_dates(element), _dimensions(element)
        if read.setdefault(name, found) != found:
            raise DocumentError(f"two contexts have the id {name[:80]!r}", place)
        company, start, end, dimensions = found
        companies.add(company)
        if company != cik:
            contexts.unusable[name] = "another entity"
        elif end is None or not is_date(end) or not (start is None or (is_date(start) and start <= end)):
            contexts.unusable[name] = "no valid period"
        else:
            contexts.periods[name] = _Period(start, end, dimensions)
    if companies and cik not in companies:
        raise DocumentError(f"the contexts are of CIK {sorted(companies)[:3]}: the filing is another company's", place)
    return contexts


def _company(context: etree._Element) -> str:
    """The CIK of a context in ten digits; empty if its entity is not a company of EDGAR."""
    identifier = context.find(f"{XBRLI}entity/{XBRLI}identifier")
    if identifier is None or identifier.get("scheme") != CIK_SCHEME:
        return ""
    return (identifier.text or "").strip().zfill(10)


def _dates(context: etree._Element) -> tuple[str | None, str | None]:
    """Start and end of a context; an instant has no start, a period without an end has no end."""
    period = context.find(f"{XBRLI}period")
    dates = {} if period is None else {local_name(date.tag): (date.text or "").strip() for date in period}
    return dates.get("startDate"), dates.get("endDate", dates.get("instant"))


def _dimensions(context: etree._Element) -> str:
    """The axes and members of a context, in its segment or scenario."""
    return ";".join(sorted(f"{axis}={member}" for axis, member in _members(context)))


def _members(context: etree._Element) -> Iterator[tuple[str, str]]:
    for member in context.iter(EXPLICIT, TYPED):
        namespaces = member.nsmap
        axis = ":".join(concept_of(member.get("dimension", ""), namespaces))
        if member.tag == TYPED:
            yield axis, "".join(member.itertext()).strip().translate(ESCAPED)
        else:
            yield axis, ":".join(concept_of(member.text or "", namespaces))


def _units(root: etree._Element, place: str) -> dict[str, str]:
    """Units by their id, as companyfacts names them: USD, shares, USD/shares, pure."""
    units: dict[str, str] = {}
    for element in root.iterchildren(UNIT):
        divide = element.find(f"{XBRLI}divide")
        if divide is None:
            unit = _measures(element)
        else:
            parts = (divide.find(f"{XBRLI}{part}") for part in ("unitNumerator", "unitDenominator"))
            unit = "/".join("" if part is None else _measures(part) for part in parts)
        name = element.get("id", "")
        if units.setdefault(name, unit) != unit:
            raise DocumentError(f"two units have the id {name[:80]!r}", place)
    return units


def _measures(element: etree._Element) -> str:
    measures = (measure.text or "" for measure in element.iterchildren(f"{XBRLI}measure"))
    return "*".join(sorted(measure.strip().rpartition(":")[2] for measure in measures))
