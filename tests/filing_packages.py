"""Small XBRL packages of a fictional filing, for tests.

Belongs here: the documents of a package, part by part, in the forms in which filings have them. Does not: the results
of reading them (tests/unit/test_filing_packages.py).
"""

import io
import zipfile
from collections.abc import Iterable, Mapping

CIK, ACCESSION = "0000000101", "0000000101-25-000001"
NAME = "alfa-20241231"
ROLE = "http://www.alfa.com/role/"
OWN = "http://www.alfa.com/20241231"
NAMESPACES = {
    "xbrli": "http://www.xbrl.org/2003/instance",
    "link": "http://www.xbrl.org/2003/linkbase",
    "xlink": "http://www.w3.org/1999/xlink",
    "xs": "http://www.w3.org/2001/XMLSchema",
    "xsi": "http://www.w3.org/2001/XMLSchema-instance",
    "xbrldi": "http://xbrl.org/2006/xbrldi",
    "iso4217": "http://www.xbrl.org/2003/iso4217",
    "us-gaap": "http://fasb.org/us-gaap/2024",
    "ifrs-full": "http://xbrl.ifrs.org/taxonomy/2024-03-27/ifrs-full",
    "dei": "http://xbrl.sec.gov/dei/2024",
    "alfa": OWN,
}
USD = '<xbrli:unit id="usd"><xbrli:measure>iso4217:USD</xbrli:measure></xbrli:unit>'
DAY, YEAR = ("2024-12-31",), ("2024-01-01", "2024-12-31")


def element(tag: str, *content: str, **attributes: str) -> str:
    """An XML element; `xlink_href` is the attribute `xlink:href`."""
    pairs = "".join(f' {name.replace("_", ":", 1)}="{value}"' for name, value in attributes.items())
    return f"<{tag}{pairs}>{''.join(content)}</{tag}>"


def document(tag: str, *content: str, namespaces: Mapping[str, str] = NAMESPACES) -> bytes:
    """A document with this root element."""
    declared = "".join(f' xmlns:{prefix}="{address}"' for prefix, address in namespaces.items())
    return f"<{tag}{declared}>{''.join(content)}</{tag}>".encode()


def context(name: str, dates: tuple[str, ...] = DAY, members: str = "", cik: str = CIK, at: str = "segment") -> str:
    """A context of an instant or a period, with members in its segment or scenario."""
    names = ("xbrli:instant",) if len(dates) == 1 else ("xbrli:startDate", "xbrli:endDate")
    period = element("xbrli:period", *map(element, names, dates))
    within = element(f"xbrli:{at}", members) if members else ""
    identifier = element("xbrli:identifier", cik, scheme="http://www.sec.gov/CIK")
    entity = element("xbrli:entity", identifier, within if at == "segment" else "")
    return element("xbrli:context", entity, period, within if at == "scenario" else "", id=name)


def member(axis: str, value: str) -> str:
    """An explicit member of an axis."""
    return element("xbrldi:explicitMember", value, dimension=axis)


def fact(name: str, value: object, of: str = "day", unit: str = "usd", decimals: str = "-3", **more: str) -> str:
    """A number; the context is one day unless another context is named."""
    return element(name, str(value), contextRef=of, unitRef=unit, decimals=decimals, **more)


def text(name: str, value: str, of: str = "year") -> str:
    """A fact without a unit."""
    return element(name, value, contextRef=of)


def instance(*parts: str) -> bytes:
    """An instance with the contexts `day` and `year`, the unit `usd`, and further parts."""
    return document("xbrli:xbrl", context("day"), context("year", YEAR), USD, *parts)


def locator(name: str) -> str:
    """The locator of an element `us-gaap:Assets` or `alfa:Vendor`, named after it."""
    prefix, _, local = name.partition(":")
    schema = f"{NAME}.xsd" if prefix == "alfa" else f"https://xbrl.fasb.org/{prefix}/2024/elts/{prefix}-2024.xsd"
    return element("link:loc", xlink_label=name, xlink_href=f"{schema}#{prefix}_{local}", xlink_type="locator")


def arc(kind: str, parent: str, child: str, order: object = 1, **more: str) -> str:
    """An arc between two locators, or between a locator and a label."""
    return element(f"link:{kind}Arc", xlink_from=parent, xlink_to=child, order=str(order), **more)


def link(kind: str, role: str, arcs: Iterable[tuple[str, str]], **more: str) -> str:
    """A link of parents and children in this order, with their locators."""
    pairs = list(arcs)
    names = dict.fromkeys(name for pair in pairs for name in pair)
    made = (arc(kind, parent, child, order, **more) for order, (parent, child) in enumerate(pairs))
    return element(f"link:{kind}Link", *map(locator, names), *made, xlink_role=ROLE + role)


def label(name: str, value: str, role: str = "label", language: str = "en-US") -> str:
    """A link with one label of an element."""
    address = f"http://www.xbrl.org/2003/role/{role}"
    words = element("link:label", value, xlink_label="words", xlink_role=address, xml_lang=language)
    return element("link:labelLink", locator(name), words, arc("label", name, "words"))


def role_type(role: str, definition: str) -> str:
    """The definition of a role, as a schema has it."""
    return element("link:roleType", element("link:definition", definition), roleURI=ROLE + role)


def schema(*parts: str) -> bytes:
    """A schema with these parts, which may be linkbases, too."""
    return document("xs:schema", element("xs:annotation", element("xs:appinfo", *parts)))


def linkbase(*links: str) -> bytes:
    """A linkbase of its own."""
    return document("link:linkbase", *links)


BALANCE_SHEET = (
    ("us-gaap:StatementOfFinancialPositionAbstract", "us-gaap:AssetsAbstract"),
    ("us-gaap:AssetsAbstract", "us-gaap:AssetsCurrent"),
    ("us-gaap:AssetsAbstract", "alfa:Vines"),
    ("us-gaap:AssetsAbstract", "us-gaap:Assets"),
    ("us-gaap:StatementOfFinancialPositionAbstract", "us-gaap:LiabilitiesAndStockholdersEquity"),
)
FACTS = (
    fact("us-gaap:AssetsCurrent", 60),
    fact("alfa:Vines", 40),
    fact("us-gaap:Assets", 100),
    fact("us-gaap:LiabilitiesAndStockholdersEquity", 100),
)
SHEET = link("presentation", "Sheet", BALANCE_SHEET)
SUMS = link("calculation", "Sheet", (("us-gaap:Assets", "us-gaap:AssetsCurrent"), ("us-gaap:Assets", "alfa:Vines")))
TITLE = role_type("Sheet", "0000002 - Statement - CONSOLIDATED BALANCE SHEETS")


def packed(*links: str, facts: Iterable[str] = FACTS) -> dict[str, bytes]:
    """The files of a filing: its instance, and a schema that holds these links."""
    return {f"{NAME}_htm.xml": instance(*facts), f"{NAME}.xsd": schema(*links)}


def zipped(files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """The files as a zip file."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()
