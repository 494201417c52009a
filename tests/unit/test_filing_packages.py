"""The XBRL package of a filing: facts with dimensions, lines of the statements, and packages that are refused."""

import json
import zipfile
from collections.abc import Iterable
from itertools import pairwise
from types import ModuleType

import pytest

from pipelines.edgar.errors import DocumentError
from pipelines.edgar.filing import face, linkbases, markup, package
from pipelines.edgar.filing.package import Package, open_package, read_package
from tests.filing_packages import (
    ACCESSION,
    BALANCE_SHEET,
    CIK,
    FACTS,
    NAME,
    NAMESPACES,
    ROLE,
    SHEET,
    SUMS,
    TITLE,
    arc,
    context,
    document,
    element,
    fact,
    instance,
    label,
    link,
    linkbase,
    locator,
    member,
    packed,
    role_type,
    schema,
    text,
    zipped,
)

CLASS_A = member("us-gaap:StatementClassOfStockAxis", "us-gaap:CommonClassAMember")
OF_CLASS_A = "us-gaap:StatementClassOfStockAxis=us-gaap:CommonClassAMember"


def read(files: dict[str, bytes]) -> Package:
    return read_package(files, CIK, ACCESSION)


def facts(*parts: str) -> list[tuple[object, ...]]:
    """The result of reading an instance with these parts: all columns except the columns of the filing."""
    return rows(read({"a.xml": instance(*parts)}).facts.as_dict())


def rows(columns: dict[str, list[object]], *names: str) -> list[tuple[object, ...]]:
    chosen = names or tuple(name for name in columns if name not in ("cik", "accession"))
    return list(zip(*(columns[name] for name in chosen), strict=True))


def lines(files: dict[str, bytes], *names: str) -> list[tuple[object, ...]]:
    return rows(read(files).lines.as_dict(), *names)


# --- Facts ------------------------------------------------------------------------------------------------------


def test_a_fact_has_its_taxonomy_unit_period_and_dimensions() -> None:
    """Taxonomies are known by their namespaces, whatever the prefix; the filer's own element, axis and member too."""
    per_share = element(
        "xbrli:divide",
        *(
            element(f"xbrli:unit{part}", element("xbrli:measure", measure))
            for part, measure in (("Numerator", "iso4217:USD"), ("Denominator", "xbrli:shares"))
        ),
    )
    units = (
        element("xbrli:unit", per_share, id="each"),
        element("xbrli:unit", element("xbrli:measure", "xbrli:pure"), id="1"),
    )
    day = element("alfa:Day", "a=b;c", xmlns_alfa=NAMESPACES["alfa"])
    typed = element("xbrldi:typedMember", day, dimension="alfa:DayAxis")
    contexts = (
        context("both", members=CLASS_A + member("alfa:GrapeAxis", "alfa:RedMember")),
        context("typed", members=typed, at="scenario"),
    )
    old = element("old:Assets", "5", contextRef="day", unitRef="usd", xmlns_old="http://xbrl.us/us-gaap/2009-01-31")

    assert facts(
        *(*units, fact("us-gaap:Revenues", 70, "year"), fact("ifrs-full:Assets", "-1.5e3", decimals="INF"), old),
        *(fact("alfa:Vines", 1, "both", "each", "2"), fact("us-gaap:Assets", "+.5", "typed", "1"), *contexts),
    ) == [
        ("us-gaap", "Revenues", "USD", "2024-01-01", "2024-12-31", "", 70.0, -3.0),
        ("ifrs-full", "Assets", "USD", None, "2024-12-31", "", -1500.0, float("inf")),
        ("us-gaap", "Assets", "USD", None, "2024-12-31", "", 5.0, None),
        ("own", "Vines", "USD/shares", None, "2024-12-31", f"own:GrapeAxis=own:RedMember;{OF_CLASS_A}", 1.0, 2.0),
        ("us-gaap", "Assets", "pure", None, "2024-12-31", "own:DayAxis=a%3Db%3Bc", 0.5, -3.0),
    ]  # fmt: skip


@pytest.mark.parametrize("order", [1, -1])
def test_of_a_fact_stated_twice_the_more_exact_one_counts(order: int) -> None:
    stated = [fact("us-gaap:Assets", value, decimals=of) for value, of in ((1000, "-3"), (1234, "0"), (1234.5, "INF"))]
    assert [row[-2:] for row in facts(*stated[::order])] == [(1234.5, float("inf"))]


def test_what_is_no_valid_fact_is_left_out_and_counted() -> None:
    flawed = (
        *(fact("us-gaap:Cash", value) for value in ("", "1,000", "inf", "1_0", "1e300", "٣")),
        *(fact("us-gaap:Cash", 1, of) for of in ("absent", "other", "late", "forever", "wrong")),
        *(fact("us-gaap:Cash", 1, unit="absent"), fact("us-gaap:Cash", "", xsi_nil="true"), fact("us-gaap:Assets", 2)),
    )
    contexts = (
        *(context("other", cik="0000000102"), context("late", ("2024-02-01", "2024-01-01"))),
        *(context("wrong", ("2024-13-01",)), context("forever", ())),
    )
    ignored = read({"a.xml": instance(fact("us-gaap:Assets", 1), *flawed, *contexts)})

    assert ignored.facts.element == ["Assets"]
    assert ignored.ignored == {
        "no number": 6,
        "no such context": 1,
        "no such unit": 1,
        "another value with the same decimals": 1,
        "another entity": 1,
        "no valid period": 3,
    }


def test_texts_that_identify_a_class_of_stock_have_its_dimensions() -> None:
    stated = (
        *(
            text("dei:TradingSymbol", " ALFA ", "a"),
            text("us-gaap:TradingSymbol", "X"),
            text("dei:DocumentType", "10-K"),
        ),
        *(text("dei:EntityFilerCategory", "Large"), text("dei:Security12bTitle", "x" * 1001)),
    )
    texts = read({"a.xml": instance(context("a", members=CLASS_A), *stated)}).texts
    assert rows(texts.as_dict(), "element", "dimensions", "value") == [
        ("TradingSymbol", OF_CLASS_A, "ALFA"),
        ("DocumentType", "", "10-K"),
    ]


def test_contexts_and_units_with_the_same_id_must_be_the_same() -> None:
    assert len(facts(context("day"), *FACTS)) == 4
    with pytest.raises(DocumentError, match=r"filing .*, a\.xml: two contexts have the id 'day'"):
        facts(context("day", ("2023-12-31",)))
    with pytest.raises(DocumentError, match="two units have the id 'usd'"):
        facts(element("xbrli:unit", element("xbrli:measure", "iso4217:EUR"), id="usd"))


def test_another_companys_filing_is_refused_and_a_co_registrants_accepted() -> None:
    entity = context("sub", members=member("dei:LegalEntityAxis", "alfa:SubMember"))
    assert facts(*FACTS, entity, text("dei:EntityCentralIndexKey", "0000000102", "sub"))
    with pytest.raises(DocumentError, match="dei:EntityCentralIndexKey is '0000000102'"):
        facts(text("dei:EntityCentralIndexKey", "0000000102"))
    with pytest.raises(DocumentError, match="the contexts are of CIK"):
        read_package({"a.xml": instance(*FACTS)}, "0000000102", ACCESSION)


# --- Lines ------------------------------------------------------------------------------------------------------


def test_lines_have_order_depth_labels_and_totals() -> None:
    """If a line is added to several totals, the total on the statement counts."""
    elsewhere = link("calculation", "Sheet", [("alfa:Elsewhere", "us-gaap:AssetsCurrent")])
    words = label("us-gaap:Assets", "Total assets", "totalLabel"), label("us-gaap:Assets", "Assets")
    assert lines(packed(SHEET, elsewhere, SUMS, TITLE, *words)) == [
        ("BS", 0, 0, "us-gaap", "StatementOfFinancialPositionAbstract", True, None, None, False, [], None, None, None),
        ("BS", 1, 1, "us-gaap", "AssetsAbstract", True, None, None, False, [], None, None, None),
        ("BS", 2, 2, "us-gaap", "AssetsCurrent", False, None, None, False, [""], "us-gaap", "Assets", 1.0),
        ("BS", 3, 2, "own", "Vines", False, None, None, False, [""], "us-gaap", "Assets", 1.0),
        ("BS", 4, 2, "us-gaap", "Assets", False, "Assets", None, False, [""], None, None, None),
        ("BS", 5, 1, "us-gaap", "LiabilitiesAndStockholdersEquity", False, None, None, False, [""], None, None, None),
    ]


def test_it_does_not_matter_where_links_stand() -> None:
    """In files of any name, in the schema, or a role in several links of several files."""
    halves = link("presentation", "Sheet", BALANCE_SHEET[:4]), link("presentation", "Sheet", BALANCE_SHEET[4:])
    apart = {"i.xml": instance(*FACTS), "s.xsd": schema(TITLE), "1.xml": linkbase(SHEET), "2.xml": linkbase(SUMS)}
    assert lines(packed(SUMS, *halves, TITLE)) == lines(apart) == lines(packed(SHEET, SUMS, TITLE))


def test_an_arc_is_prohibited_by_one_of_the_same_or_a_higher_priority() -> None:
    def below(*arcs: str) -> list[tuple[object, ...]]:
        names = map(locator, ("us-gaap:Assets", "us-gaap:AssetsCurrent", "us-gaap:LiabilitiesAndStockholdersEquity"))
        sheet = element("link:presentationLink", *names, *arcs, xlink_role=f"{ROLE}Sheet")
        return lines(packed(sheet, TITLE), "element")

    pair = ("presentation", "us-gaap:Assets", "us-gaap:AssetsCurrent", 2)
    kept = arc("presentation", "us-gaap:Assets", "us-gaap:LiabilitiesAndStockholdersEquity")
    never = arc(*pair, use="prohibited")
    both = [("Assets",), ("LiabilitiesAndStockholdersEquity",), ("AssetsCurrent",)]
    assert below(kept, arc(*pair), never) == both[:2]
    assert below(never, arc(*pair, priority="1"), kept) == below(arc(*pair, priority="1"), never, kept) == both
    assert below(never, arc(*pair, priority="1"), arc(*pair, use="prohibited", priority="2"), kept) == both[:2]


def test_names_of_own_elements_are_those_of_the_schema() -> None:
    """An id of any form, with or without the schema's name before it; encoded like a URL."""
    names = locator("us-gaap:Assets"), element("link:loc", xlink_label="v", xlink_href="#v%C3%AFnes-1")
    line = arc("presentation", "us-gaap:Assets", "v")
    sheet = element("link:presentationLink", *names, line, xlink_role=f"{ROLE}BalanceSheet")
    own = document("xs:schema", element("xs:element", id="vïnes-1", name="Vines"), sheet)
    found = lines({"i.xml": instance(*FACTS), "s.xsd": own}, "taxonomy", "element")
    assert found == [("us-gaap", "Assets"), ("own", "Vines")]


def test_of_labels_in_several_languages_the_english_one_is_taken() -> None:
    words = (
        label("us-gaap:Assets", "Actifs", language="fr"),
        label("us-gaap:Assets", " Total\n assets ", language="en-GB"),
    )
    for several in (words, words[::-1]):
        assert ("Assets", "Total assets") in lines(packed(SHEET, TITLE, *several), "element", "label")
    assert ("Assets", "Actifs") in lines(packed(SHEET, TITLE, words[0]), "element", "label")


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("http://www.xbrl.org/2003/role/periodStartLabel", ("At first", "periodStartLabel", False)),
        ("http://www.xbrl.org/2003/role/totalLabel", ("Total", "totalLabel", False)),
        ("http://www.xbrl.org/2009/role/negatedTotalLabel", ("Total", "negatedTotalLabel", True)),
        ("http://xbrl.us/us-gaap/role/label/negatedTotal", ("Total", "negatedTotal", True)),
        ("http://xbrl.us/us-gaap/role/label/negated", ("Assets", "negated", True)),
        ("http://www.xbrl.org/2009/role/negatedNetLabel", ("Less", "negatedNetLabel", True)),
        ("http://www.xbrl.org/2003/role/terseLabel", ("Assets", "terseLabel", False)),
    ],
)
def test_a_line_has_the_label_that_the_statement_prefers(address: str, expected: tuple[object, ...]) -> None:
    texts = {"label": "Assets", "totalLabel": "Total", "negatedNetLabel": "Less", "periodStartLabel": "At first"}
    words = (label("us-gaap:Assets", words, role) for role, words in texts.items())
    pair = ("us-gaap:StatementOfFinancialPositionAbstract", "us-gaap:Assets")
    sheet = link("presentation", "Sheet", [pair], preferredLabel=address)
    assert lines(packed(sheet, TITLE, *words), "label", "label_role", "negated")[1:] == [expected]


def test_an_element_may_be_two_lines() -> None:
    """Cash at the beginning and at the end of the period."""
    pair = ("presentation", "us-gaap:AssetsAbstract", "us-gaap:Assets")
    role = "http://www.xbrl.org/2003/role/"
    arcs = (
        arc(*pair, 3, preferredLabel=f"{role}periodEndLabel"),
        arc(*pair, 1, preferredLabel=f"{role}periodStartLabel"),
    )
    sheet = element("link:presentationLink", *map(locator, pair[1:]), *arcs, xlink_role=f"{ROLE}Sheet")
    assert lines(packed(sheet, TITLE), "line", "label_role")[1:] == [(1, "periodStartLabel"), (2, "periodEndLabel")]


def test_members_of_a_line_are_those_on_the_statement() -> None:
    """A line with facts only for other members is left out; a line with only nil facts has no number."""
    red, white = member("alfa:GrapeAxis", "alfa:RedMember"), member("alfa:GrapeAxis", "alfa:WhiteMember")
    day = element("alfa:Day", "1", xmlns_alfa=NAMESPACES["alfa"])
    typed = element("xbrldi:typedMember", day, dimension="alfa:DayAxis")
    more = (
        *(context("red", members=red), context("white", members=white), context("typed", members=typed)),
        *(fact("us-gaap:Assets", 1, of) for of in ("red", "white", "typed")),
        *(fact("us-gaap:Cash", 1, "white"), fact("us-gaap:Land", "", xsi_nil="1")),
    )
    names = "alfa:GrapeAxis", "alfa:DayAxis", "us-gaap:Cash", "us-gaap:Land"
    below = [*(("us-gaap:AssetsAbstract", name) for name in names), ("alfa:GrapeAxis", "alfa:GrapeDomain")]
    sheet = link("presentation", "Sheet", [*BALANCE_SHEET, *below, ("alfa:GrapeDomain", "alfa:RedMember")])

    found = dict(lines(packed(sheet, TITLE, facts=(*FACTS, *more)), "element", "members"))

    assert found["Assets"] == ["", "own:DayAxis=1", "own:GrapeAxis=own:RedMember"]
    assert found["Land"] == []
    assert not {"Cash", "GrapeAxis", "RedMember"} & found.keys()


INCOME = (
    "us-gaap:Revenues",
    "us-gaap:IncomeTaxExpenseBenefit",
    "us-gaap:NetIncomeLoss",
    "us-gaap:EarningsPerShareBasic",
)
CASH = tuple(f"us-gaap:NetCashProvidedByUsedIn{kind}Activities" for kind in ("Operating", "Investing", "Financing"))
SHEET_ELEMENTS = ("us-gaap:Assets", "us-gaap:LiabilitiesAndStockholdersEquity")


@pytest.mark.parametrize(
    ("title", "elements", "expected"),
    [
        ("1 - Statement - Consolidated Statements of Income", INCOME, ["IS"]),
        ("1 - Statement - STATEMENTS OF OPERATIONS AND COMPREHENSIVE LOSS", INCOME, ["IS"]),
        ("1 - Statement - Statements of Comprehensive Income (Loss)", INCOME, ["IS"]),
        ("1 - Statement - Statements of Comprehensive Income (Loss)", ("us-gaap:NetIncomeLoss",), []),
        ("1 - Statement - Statements of Shareholders' Equity", ("us-gaap:NetIncomeLoss", "us-gaap:ProfitLoss"), []),
        ("1 - Statement - Statements of Partners' Capital and Net Income", ("us-gaap:NetIncomeLoss",), []),
        ("1 - Statement - Whatever It Is", CASH, ["CF"]),
        ("1 - Statement - Cash Flows", ("ifrs-full:CashFlowsFromUsedInOperatingActivities",), ["CF"]),
        ("1 - Statement - Financial Position", ("ifrs-full:EquityAndLiabilities",), ["BS"]),
        ("1 - Statement - Balance Sheets (Parenthetical)", SHEET_ELEMENTS, []),
        ("1 - Disclosure - Balance Sheets", SHEET_ELEMENTS, []),
        ("CONDENSED BALANCE SHEETS", SHEET_ELEMENTS, ["BS"]),
        ("BalanceSheetOfTheParentDetails", SHEET_ELEMENTS, []),
        ("Whatever It Is", SHEET_ELEMENTS, []),
    ],
)
def test_a_statement_is_known_by_its_title_and_elements(
    title: str, elements: tuple[str, ...], expected: list[str]
) -> None:
    arcs = [("us-gaap:StatementAbstract", name) for name in elements]
    files = packed(link("presentation", "R", arcs), role_type("R", title), facts=[fact(name, 1) for name in elements])
    assert sorted(read(files).lines.statement) == expected * (len(elements) + 1)


def test_of_several_balance_sheets_the_groups_counts() -> None:
    """The first balance sheet: the others belong to subsidiaries. Without definitions the address of a role is its
    title.
    """
    more = (*SHEET_ELEMENTS, "us-gaap:Liabilities")
    subsidiary = link("presentation", "Sub", [("us-gaap:SubAbstract", name) for name in more])
    titles = TITLE, role_type("Sub", "0000005 - Statement - BALANCE SHEETS OF A SUBSIDIARY")
    both = (*FACTS, fact("us-gaap:Liabilities", 1))
    assert lines(packed(subsidiary, SHEET, *titles, facts=both)) == lines(packed(SHEET, TITLE, facts=both))
    assert read(packed(SHEET.replace("role/Sheet", "role/CONSOLIDATEDBALANCESHEETS"))).lines.statement == ["BS"] * 6


def test_what_the_renderer_says_fills_in_for_what_is_not_there() -> None:
    """MetaLinks.json has totals, labels and titles; FilingSummary.xml titles. The filing's own count where they are."""
    tags = {
        f"us-gaap_{name}": {
            "nsuri": NAMESPACES["us-gaap"],
            "localname": name,
            "lang": {"en-us": {"role": {"label": f"The {name}", "terseLabel": None, "documentation": "long"}}},
            "calculation": {f"{ROLE}Sheet": {"parentTag": total, "weight": weight, "order": 1.0}},
        }
        for name, total, weight in (("Assets", None, None), ("AssetsCurrent", "us-gaap_Assets", -1.0))
    }
    report = {"R2": {"role": f"{ROLE}Sheet", "longName": "2 - Statement - Balance Sheets"}}
    meta = {"MetaLinks.json": json.dumps({"instance": {"a.htm": {"report": report, "tag": tags}}}).encode()}
    titled = element("Report", element("LongName", report["R2"]["longName"]), element("Role", report["R2"]["role"]))
    columns = ("element", "label", "parent", "weight")

    filled = lines(packed(SHEET, facts=FACTS) | meta, *columns)
    assert ("Assets", "The Assets", None, None) in filled
    assert ("AssetsCurrent", "The AssetsCurrent", "Assets", -1.0) in filled
    own = lines(packed(SHEET, SUMS, TITLE, label("us-gaap:Assets", "Mine")) | meta, *columns)
    assert ("Assets", "Mine", None, None) in own
    assert ("AssetsCurrent", "The AssetsCurrent", "Assets", 1.0) in own
    assert lines(packed(SHEET) | {"FilingSummary.xml": document("FilingSummary", titled)}) == lines(
        packed(SHEET, TITLE)
    )
    with pytest.raises(DocumentError, match=r"MetaLinks\.json, instance"):
        read(packed(SHEET) | {"MetaLinks.json": b'{"instance": {"a.htm": {"tag": []}}}'})


def test_without_linkbases_there_are_facts_and_no_lines() -> None:
    others = {"alfa.htm": b"<html>", "R1.xml": b"<InstanceReport/>", "cut.xml": b"<", "fees.xml": instance(FACTS[0])}
    found = read(others | {"i.xml": instance(*FACTS)})
    assert (len(found.facts), len(found.lines)) == (4, 0)


# --- Refused packages --------------------------------------------------------------------------------------------

XBRL = '<xbrl xmlns="http://www.xbrl.org/2003/instance">'
TENFOLD = "".join(f"<!ENTITY {b} '{f'&{a};' * 10}'>" for a, b in pairwise("abcdefghij"))
ENTITIES = f"<!DOCTYPE xbrl [<!ENTITY a '1234567890'>{TENFOLD}]>"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (f"{ENTITIES}{XBRL}<a>&j;</a></xbrl>", "not a complete XML document"),
        (f"{ENTITIES}{XBRL}<a b='&j;'/></xbrl>", "not a complete XML document"),
        (f"<!DOCTYPE xbrl [<!ENTITY a SYSTEM 'file:///etc/hostname'>]>{XBRL}<a>&a;</a></xbrl>", "document type"),
        (f"<!DOCTYPE xbrl SYSTEM 'http://127.0.0.1:9/a.dtd'>{XBRL}</xbrl>", "document"),
        (f"{XBRL}{'<a>' * 600_000}{'</a>' * 600_000}</xbrl>", "expected at most 1,000,000"),
        (f"{XBRL}{'<a>' * 400_000}{'</a>' * 400_000}</xbrl>", "Excessive depth in document: 256"),
        (f"{XBRL}<a>\u00e9</a></xbrl>".encode("latin-1"), "not a complete XML document"),
        (f'<?xml version="1.0" encoding="no-such"?>{XBRL}</xbrl>', "XBRL instance|not a complete XML document"),
        (instance(*FACTS)[:-40], "not a complete XML document"),
        (b"<!DOCTYPE html><html><body>Request Rate Threshold Exceeded</body></html>", "no XBRL instance"),
        (b"", "no XBRL instance"),
    ],
)  # fmt: skip
def test_a_hostile_instance_is_an_error_of_its_filing(
    raw: str | bytes, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(markup, "MOST_TAGS", 1_000_000)
    with pytest.raises(DocumentError, match=f"^filing {ACCESSION} of CIK {CIK}.*({reason})"):
        read({f"{NAME}.xml": raw.encode() if isinstance(raw, str) else raw})


@pytest.mark.parametrize("limit", ["MOST_TAGS", "MAX_PACKAGE"])
def test_the_files_of_a_package_are_limited_together(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of many small linkbases would pass by itself."""
    files = packed(SHEET, TITLE)
    larger = files | {f"{number}.xml": linkbase(SHEET) for number in range(50)}
    count = {"MOST_TAGS": lambda raw: raw.count(b"<"), "MAX_PACKAGE": len}[limit]
    monkeypatch.setattr(package, limit, 2 * sum(map(count, files.values())))
    assert read(files).lines.line
    with pytest.raises(DocumentError, match=f"^filing {ACCESSION} .*in all files, which no package has"):
        read(larger)


def endless(count: int) -> Iterable[tuple[str, str]]:
    """Elements that each stand twice below the element before."""
    return ((f"alfa:A{n}", f"alfa:A{n + 1}") for n in range(count) for _ in "ab")


def one_name(kind: str) -> dict[str, bytes]:
    """A package with a linkbase whose locators have the same name."""
    names = (element("link:loc", xlink_label="x", xlink_href=f"#alfa_{n}") for n in range(40))
    texts = (element("link:label", str(n), xlink_label="x") for n in range(40))
    return packed(element(f"link:{kind}Link", *names, *texts, arc(kind, "x", "x"), xlink_role=ROLE))


HOSTILE = {
    "a file larger than any": (markup, "MAX_FILE", {"a.xml": instance(*FACTS)}, "expected at most 1,000"),
    "lines without end": (
        linkbases,
        "MOST_RELATIONS",
        packed(link("presentation", "Sheet", [*endless(40), ("alfa:A0", "us-gaap:Assets")]), TITLE),
        "more than 10,000 lines",
    ),
    "an order that is no number": (
        linkbases,
        "MOST_RELATIONS",
        packed(link("presentation", "Sheet", BALANCE_SHEET, priority="high"), TITLE),
        "'high' is not a number",
    ),
    "an infinite weight": (
        linkbases,
        "MOST_RELATIONS",
        packed(link("calculation", "Sheet", BALANCE_SHEET, weight="1e999"), TITLE),
        "'1e999' is not a number",
    ),
    "locators with the same name": (linkbases, "MOST_RELATIONS", one_name("presentation"), "more than 1,000 relations"),
    "labels with the same name": (
        linkbases,
        "MOST_RELATIONS",
        one_name("label"),
        "more than 1,000 relations",
    ),
}
"""The limit that is a thousand, the files, and the reason why they are refused."""


@pytest.mark.parametrize(("module", "limit", "files", "reason"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_files_are_an_error_of_their_filing(
    module: ModuleType, limit: str, files: dict[str, bytes], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, limit, 1000)
    with pytest.raises(DocumentError, match=f"^filing {ACCESSION} .*{reason}"):
        read(files)


def test_lines_of_one_element_cannot_multiply_its_values_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """All its members and periods count: 30 lines of 20 facts are 600 values."""
    lines_of_one = [(f"alfa:A{n}", "us-gaap:Assets") for n in range(30)]
    top = [("us-gaap:AssetsAbstract", f"alfa:A{n}") for n in range(30)]
    days = [(f"d{n}", f"20{n + 1:02}-12-31") for n in range(10)]
    members = [(f"m{n}", member("us-gaap:Axis", f"alfa:M{n}")) for n in range(10)]
    parts = [context(name, (day,)) for name, day in days] + [context(name, members=each) for name, each in members]
    facts = [fact("us-gaap:Assets", 1, of=name) for name, _ in (*days, *members)]
    axis = [("us-gaap:AssetsAbstract", "us-gaap:Axis")]
    files = packed(link("presentation", "Sheet", [*top, *lines_of_one, *axis]), TITLE, facts=[*parts, *facts])
    monkeypatch.setattr(face, "MOST_VALUES", 600)
    assert len(read(files).lines) == 31
    monkeypatch.setattr(face, "MOST_VALUES", 599)
    with pytest.raises(DocumentError, match=f"^filing {ACCESSION} .*more than 599 values"):
        read(files)


def test_an_element_below_itself_ends_the_lines_there() -> None:
    again = ("us-gaap:Assets", "us-gaap:AssetsAbstract")
    assert lines(packed(link("presentation", "Sheet", (*BALANCE_SHEET, again)), TITLE)) == lines(packed(SHEET, TITLE))


# --- Zip files --------------------------------------------------------------------------------------------------


def test_a_zip_file_is_opened_to_what_is_read_of_it() -> None:
    files = packed(SHEET, TITLE)
    inside = {f"folder/{name}": content for name, content in files.items()} | {"alfa.htm": b"x", "logo.jpg": b"x"}
    assert open_package(zipped(inside), "a.zip") == files


def test_a_zip_bomb_is_refused_before_it_is_inflated(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = zipped({f"{n}.xml": b" " * (1 << 20) for n in range(3)})
    monkeypatch.setattr(zipfile.ZipFile, "read", lambda *_: pytest.fail("inflated"))
    for limit, most in (("MAX_PACKAGE", 3 << 20), ("MAX_FILE", 1 << 20), ("MOST_MEMBERS", 3)):
        with monkeypatch.context() as patch:
            patch.setattr(package, limit, most - 1)
            with pytest.raises(DocumentError, match=r"a\.zip: has 3 files, and 3,145,728 bytes when inflated"):
                open_package(bomb, "a.zip")


def test_a_large_directory_is_refused_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = zipped({f"{n}.htm": b"" for n in range(6000)})
    monkeypatch.setattr(zipfile.ZipFile, "__init__", lambda *_: pytest.fail("read"))
    with pytest.raises(DocumentError, match=r"^a\.zip: has a directory of 3\d\d,\d+ bytes, expected at most 262,144"):
        open_package(raw, "a.zip")


def test_a_damaged_zip_file_is_an_error() -> None:
    whole = zipped(packed(SHEET, TITLE))
    encrypted = bytearray(whole)
    encrypted[whole.index(b"PK\1\2") + 8] |= 1
    damaged = bytearray(whole)
    damaged[60] ^= 255
    for raw in (b"", b"<!DOCTYPE html>", whole[: len(whole) // 2], whole[:-5], bytes(encrypted), bytes(damaged)):
        with pytest.raises(DocumentError, match=r"^a\.zip: is not a whole zip file"):
            open_package(raw, "a.zip")
