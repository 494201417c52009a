"""The XBRL package of a simulated filing: instance, schema, linkbases, and their zip file, as in the filing's folder.

Belongs here: the formats and the names of files. Does not: the facts (filings, left_out), the statements (faces).

Filers with an even number have the linkbases in separate files, the others inside of the schema. For an inline report,
the zip file has the report, and the instance that EDGAR extracts is a separate file of the folder.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from html import escape

from pipelines.sample.business.filings import Filing
from pipelines.sample.edgar.bulk import archive
from pipelines.sample.edgar.faces import Face, Place, faces, label
from pipelines.sample.edgar.left_out import OWN, Concept, Pair, Stated, cover, stated
from pipelines.sample.filer.traits import Filer

INLINE_SINCE = 2019
ROLE = "http://www.example.com/role/"
ROLES = "http://www.xbrl.org/2003/role/"
TAXONOMIES = {
    "us-gaap": ("http://fasb.org/us-gaap/{year}", "https://xbrl.fasb.org/us-gaap/{year}/elts/us-gaap-{year}.xsd"),
    "dei": ("http://xbrl.sec.gov/dei/{year}", "https://xbrl.sec.gov/dei/{year}/dei-{year}.xsd"),
    "ifrs-full": (
        "http://xbrl.ifrs.org/taxonomy/{year}-03-27/ifrs-full",
        "https://xbrl.ifrs.org/taxonomy/{year}-03-27/full_ifrs/full_ifrs-cor_{year}-03-27.xsd",
    ),
    OWN: ("http://www.example.com/{day}", "example-{day}.xsd"),
}
"""Namespace and schema of each prefix."""
BASE = {
    "xbrli": "http://www.xbrl.org/2003/instance",
    "link": "http://www.xbrl.org/2003/linkbase",
    "xlink": "http://www.w3.org/1999/xlink",
    "xs": "http://www.w3.org/2001/XMLSchema",
    "xbrldi": "http://xbrl.org/2006/xbrldi",
    "iso4217": "http://www.xbrl.org/2003/iso4217",
}
EXACT = "INF"
Period = tuple[date | None, date]


def is_inline(filing: Filing) -> bool:
    """Whether the report itself has the facts (inline XBRL)."""
    return filing.filed.year >= INLINE_SINCE


def primary_document(filing: Filing) -> str:
    """The file name of the report."""
    return f"{_stem(filing)}.htm"


def instance_name(filing: Filing) -> str:
    """The file name of the instance."""
    return f"{_stem(filing)}_htm.xml" if is_inline(filing) else f"{_stem(filing)}.xml"


def folder(filer: Filer, filing: Filing) -> dict[str, bytes]:
    """The files of a filing with facts, by name, including `index.json` of the folder."""
    report = f"<html><body><p>{filing.form} of {escape(filer.name)}, which is fictional.</p></body></html>\n".encode()
    numbers = stated(filer, filing)
    instance = {instance_name(filing): _instance(filer, filing, numbers)}
    schema = _Taxonomy(filer, filing, faces(filer, numbers)).files()
    packed = schema | ({primary_document(filing): report} if is_inline(filing) else instance)
    files = {primary_document(filing): report, **instance, **schema, f"{filing.accession}-xbrl.zip": archive(packed)}
    return files | {"index.json": _index(filer, filing, files)}


def _index(filer: Filer, filing: Filing, files: Mapping[str, bytes]) -> bytes:
    written = f"{filing.filed} 06:00:00"
    items = [
        {"last-modified": written, "name": name, "type": "text.gif", "size": str(len(content))}
        for name, content in files.items()
    ]
    parent = f"/Archives/edgar/data/{int(filer.cik)}"
    name = f"{parent}/{filing.accession.replace('-', '')}"
    return json.dumps({"directory": {"item": items, "name": name, "parent-dir": parent}}).encode()


def _stem(filing: Filing) -> str:
    return f"example-{filing.report_date:%Y%m%d}"


def _addresses(filing: Filing, which: int) -> dict[str, str]:
    """Namespaces (0) or schemas (1) for the year of the filing, by prefix."""
    year, day = filing.report_date.year, f"{filing.report_date:%Y%m%d}"
    return {prefix: both[which].format(year=year, day=day) for prefix, both in TAXONOMIES.items()}


def _document(root: str, content: Iterable[str], namespaces: Mapping[str, str], **attributes: str) -> bytes:
    declared = "".join(f' xmlns:{prefix}="{address}"' for prefix, address in namespaces.items())
    more = "".join(f' {name}="{value}"' for name, value in attributes.items())
    head = f'<?xml version="1.0" encoding="UTF-8"?>\n<{root}{declared}{more}>\n'
    return "".join([head, *content, f"</{root}>\n"]).encode()


# -- instance ---------------------------------------------------------------------------------------------------------


def _instance(filer: Filer, filing: Filing, numbers: Sequence[Stated]) -> bytes:
    """All contexts and units, then the texts of the cover page and the numbers."""
    contexts: dict[tuple[Period, tuple[Pair, ...]], str] = {}
    units: dict[str, str] = {}
    year = filing.fiscal_year
    first = filing.report_date if year is None else min(filer.calendar.year(year).start, filing.report_date)
    facts = []
    for text in cover(filer, filing):
        context = contexts.setdefault(((first, filing.report_date), text.members), f"c{len(contexts) + 1}")
        name = f"dei:{text.element}"
        facts.append(f'<{name} contextRef="{context}">{escape(text.value)}</{name}>\n')
    for fact, members in numbers:
        context = contexts.setdefault(((fact.start, fact.end), members), f"c{len(contexts) + 1}")
        unit = units.setdefault(fact.unit, f"u{len(units) + 1}")
        name, exact = f"{fact.taxonomy}:{fact.tag}", _decimals(fact.unit, filer)
        facts.append(f'<{name} contextRef="{context}" unitRef="{unit}" decimals="{exact}">{fact.value}</{name}>\n')
    made = (_context(name, filer.cik, *key) for key, name in contexts.items())
    reference = f'<link:schemaRef xlink:type="simple" xlink:href="{_stem(filing)}.xsd"/>\n'
    content = [reference, *made, *(_unit(name, unit) for unit, name in units.items()), *facts]
    return _document("xbrli:xbrl", content, BASE | _addresses(filing, 0))


def _decimals(unit: str, filer: Filer) -> str:
    """Money in whole units of the filer; numbers of shares and figures per share are exact."""
    return f"{1 - len(str(filer.unit))}" if unit.isalpha() and unit.isupper() else EXACT


def _context(name: str, cik: str, period: Period, members: Iterable[Pair]) -> str:
    start, end = period
    dates = f"<xbrli:startDate>{start}</xbrli:startDate><xbrli:endDate>{end}</xbrli:endDate>"
    pairs = "".join(f'<xbrldi:explicitMember dimension="{axis}">{of}</xbrldi:explicitMember>' for axis, of in members)
    return (
        f'<xbrli:context id="{name}"><xbrli:entity>'
        f'<xbrli:identifier scheme="http://www.sec.gov/CIK">{cik}</xbrli:identifier>'
        + (f"<xbrli:segment>{pairs}</xbrli:segment>" if pairs else "")
        + "</xbrli:entity><xbrli:period>"
        + (dates if start else f"<xbrli:instant>{end}</xbrli:instant>")
        + "</xbrli:period></xbrli:context>\n"
    )


def _unit(name: str, unit: str) -> str:
    measures = [f"<xbrli:measure>{_measure(part)}</xbrli:measure>" for part in unit.split("/")]
    if len(measures) == 1:
        return f'<xbrli:unit id="{name}">{measures[0]}</xbrli:unit>\n'
    parts = zip(("unitNumerator", "unitDenominator"), measures, strict=True)
    divided = "".join(f"<xbrli:{part}>{measure}</xbrli:{part}>" for part, measure in parts)
    return f'<xbrli:unit id="{name}"><xbrli:divide>{divided}</xbrli:divide></xbrli:unit>\n'


def _measure(unit: str) -> str:
    return f"iso4217:{unit}" if unit.isupper() else f"xbrli:{unit}"


# -- schema and linkbases ---------------------------------------------------------------------------------------------


class _Taxonomy:
    """The schema and the linkbases of one filing."""

    def __init__(self, filer: Filer, filing: Filing, shown: Sequence[Face]) -> None:
        self.filer = filer
        self.filing = filing
        self.faces = shown
        self.schemas = _addresses(filing, 1)

    def files(self) -> dict[str, bytes]:
        """The files by their names."""
        stem = _stem(self.filing)
        links = {
            "pre": "".join(map(self._presentation, self.faces)),
            "cal": "".join(self._calculation(face) for face in self.faces if face.sums),
            "lab": self._labels(),
        }
        if self.filer.number % 2:
            return {f"{stem}.xsd": self._schema("".join(links.values()))}
        within = "".join(f'<link:linkbaseRef xlink:type="simple" xlink:href="{stem}_{kind}.xml"/>\n' for kind in links)
        bases = {f"{stem}_{kind}.xml": _document("link:linkbase", [link], BASE) for kind, link in links.items()}
        return {f"{stem}.xsd": self._schema(within)} | bases

    def _schema(self, links: str) -> bytes:
        """The roles, the linkbases or references to them, and the own elements."""
        roles = [
            f'<link:roleType id="R{face.number}" roleURI="{_role(face)}">'
            f"<link:definition>{face.number:07d} - Statement - {face.title}</link:definition>"
            "<link:usedOn>link:presentationLink</link:usedOn></link:roleType>\n"
            for face in self.faces
        ]
        own = sorted({concept for face in self.faces for concept in face.concepts if concept[0] == OWN})
        elements = [f'<xs:element id="{OWN}_{name}" name="{name}" nillable="true"/>\n' for _, name in own]
        appinfo = "".join(["<xs:annotation><xs:appinfo>\n", *roles, links, "</xs:appinfo></xs:annotation>\n"])
        target = _addresses(self.filing, 0)[OWN]
        return _document("xs:schema", [appinfo, *elements], BASE, targetNamespace=target)

    def _presentation(self, face: Face) -> str:
        arcs = [
            _arc("presentation", face.places[place.below].concept, place.concept, order, _preferred(place))
            for order, place in enumerate(face.places)
            if place.below is not None
        ]
        return self._link("presentation", (place.concept for place in face.places), arcs, _role(face))

    def _calculation(self, face: Face) -> str:
        arcs = [
            _arc("calculation", total, addend, order, f' weight="{weight}"')
            for order, (total, addend, weight) in enumerate(face.sums)
        ]
        return self._link("calculation", (one for sum_ in face.sums for one in sum_[:2]), arcs, _role(face))

    def _labels(self) -> str:
        """The label of each element, and the label of each total."""
        places = [place for face in self.faces for place in face.places]
        concepts = dict.fromkeys(place.concept for place in places)
        roles = dict.fromkeys([(one, "label") for one in concepts] + [(one.concept, one.label_role) for one in places])
        labels = (
            f'<link:label xlink:type="resource" xlink:label="{_name(concept)}_lab" xlink:role="{ROLES}{role}"'
            f' xml:lang="en-US">{escape(label(self.filer, concept, role))}</link:label>\n'
            for concept, role in roles
        )
        arcs = (
            f'<link:labelArc xlink:type="arc" xlink:from="{_name(one)}" xlink:to="{_name(one)}_lab"/>\n'
            for one in concepts
        )
        return self._link("label", concepts, [*labels, *arcs], f"{ROLES}link")

    def _link(self, kind: str, concepts: Iterable[Concept], parts: Iterable[str], role: str) -> str:
        """A link with a locator for each element."""
        locators = (
            f'<link:loc xlink:type="locator" xlink:href="{self.schemas[prefix]}#{prefix}_{name}"'
            f' xlink:label="{prefix}_{name}"/>\n'
            for prefix, name in dict.fromkeys(concepts)
        )
        head = f'<link:{kind}Link xlink:type="extended" xlink:role="{role}">\n'
        return "".join([head, *locators, *parts, f"</link:{kind}Link>\n"])


def _role(face: Face) -> str:
    return f"{ROLE}R{face.number}"


def _preferred(place: Place) -> str:
    return "" if place.label_role == "label" else f' preferredLabel="{ROLES}{place.label_role}"'


def _name(concept: Concept) -> str:
    return "_".join(concept)


def _arc(kind: str, parent: Concept, child: Concept, order: int, more: str) -> str:
    ends = f'xlink:from="{_name(parent)}" xlink:to="{_name(child)}"'
    return f'<link:{kind}Arc xlink:type="arc" {ends} order="{order}"{more}/>\n'
