"""The sample's filings as XBRL packages and data sets: the readers find the facts that the simulator filed."""

from collections import Counter
from collections.abc import Iterator
from datetime import date, timedelta
from functools import cache
from typing import Any, NamedTuple

import httpx

from pipelines.edgar.decode.data_set_list import DATA_SETS_URL, decode_data_set_list
from pipelines.edgar.decode.data_sets import DataSet, read_data_set
from pipelines.edgar.filing.package import Package, open_package, read_package
from pipelines.sample import SampleTransport, Security, sample_filers, simulate
from pipelines.sample.business.errors import as_filed
from pipelines.sample.edgar.data_sets import listed
from pipelines.sample.edgar.faces import faces
from pipelines.sample.edgar.left_out import stated

FILERS = {filer.cik: filer for filer in sample_filers()}
TWIN_RIVER, ALDER, LANTERN, ANVIL = "9990000012", "9990000018", "9990000004", "9990000021"
CLASSES = "us-gaap:StatementClassOfStockAxis=us-gaap:"
BLOCKS = "us-gaap:StatementBusinessSegmentsAxis=own:"
STANDARD = {"us-gaap", "ifrs-full", "dei"}


class Fact(NamedTuple):
    """A number of an instance, or of companyfacts, which has no dimensions."""

    taxonomy: str
    element: str
    unit: str
    start: str | None
    end: str
    dimensions: str
    value: float


class Filed(NamedTuple):
    """A filing with facts in companyfacts."""

    cik: str
    accession: str
    form: str
    filed: str

    @property
    def folder(self) -> str:
        """The address of its folder."""
        return f"https://www.sec.gov/Archives/edgar/data/{int(self.cik)}/{self.accession.replace('-', '')}/"


HTTP = httpx.Client(transport=SampleTransport())


@cache
def companyfacts(cik: str, http: httpx.Client = HTTP) -> dict[Filed, list[Fact]]:
    """The facts of the companyfacts document by filing; empty if there is no document."""
    found: dict[Filed, list[Fact]] = {}
    answer = http.get(f"https://data.sec.gov/api/xbrl/companyfacts/CIK{cik}.json")
    for taxonomy, concepts in answer.json()["facts"].items() if answer.status_code == 200 else ():
        for element, concept in concepts.items():
            for unit, facts in concept["units"].items():
                for fact in facts:
                    filed = Filed(cik, fact["accn"], fact["form"], fact["filed"])
                    one = Fact(taxonomy, element, unit, fact.get("start"), fact["end"], "", float(fact["val"]))
                    found.setdefault(filed, []).append(one)
    return found


def names_in(filed: Filed, http: httpx.Client = HTTP) -> set[str]:
    """The files that the index of a folder names; none if there is no folder."""
    answer = http.get(f"{filed.folder}index.json")
    return {item["name"] for item in answer.json()["directory"]["item"]} if answer.status_code == 200 else set()


def files_of(filed: Filed, http: httpx.Client = HTTP) -> dict[str, bytes]:
    """The files that are read: the files in the zip file, and of an inline report the separate instance."""
    names = names_in(filed, http)
    zipped = f"{filed.accession}-xbrl.zip"
    files = open_package(http.get(filed.folder + zipped).content, zipped) if zipped in names else {}
    return files | {name: http.get(filed.folder + name).content for name in names if name.endswith("_htm.xml")}


@cache
def packages() -> dict[Filed, Package]:
    """All packages of the sample, read."""
    found = {filed: files_of(filed) for cik in FILERS for filed in companyfacts(cik)}
    return {filed: read_package(files, filed.cik, filed.accession) for filed, files in found.items() if files}


@cache
def data_sets() -> dict[str, DataSet]:
    """All data sets of the sample, read."""
    quarters = decode_data_set_list(HTTP.get(DATA_SETS_URL).content)
    return {quarter.name: read_data_set(HTTP.get(quarter.address).content, quarter.name) for quarter in quarters}


def facts_of(package: Package) -> list[Fact]:
    """The numbers of a package."""
    facts = package.facts
    columns = (facts.taxonomy, facts.element, facts.unit, facts.start, facts.end, facts.dimensions, facts.value)
    return [Fact(*row) for row in zip(*columns, strict=True)]


def of(cik: str) -> Iterator[tuple[Filed, list[Fact]]]:
    """The numbers of each periodic report of a company, which has some."""
    for filed, package in packages().items():
        if filed.cik == cik and filed.form != "DEF 14A":
            yield filed, facts_of(package)


def columns_of(facts: list[Fact]) -> dict[tuple[Any, ...], dict[str, float]]:
    """Values by element of each unit, period and set of dimensions."""
    columns: dict[tuple[Any, ...], dict[str, float]] = {}
    for fact in facts:
        columns.setdefault((fact.unit, fact.start, fact.end, fact.dimensions), {})[fact.element] = fact.value
    return columns


def test_the_facts_without_dimensions_are_those_of_companyfacts():
    """Of every filing of the last three years that lists XBRL; elements of the filer's own are besides them."""
    newest = max(filed.filed for filed in packages())
    first = date.fromisoformat(newest) - timedelta(days=3 * 365)

    of_three_years = {filed for cik in FILERS for filed in companyfacts(cik) if filed.filed > first.isoformat()}
    assert packages().keys() == of_three_years
    for filed, package in packages().items():
        found = [fact for fact in facts_of(package) if not fact.dimensions and fact.taxonomy in STANDARD]
        assert Counter(found) == Counter(companyfacts(filed.cik)[filed])
        assert not package.ignored


def test_the_submissions_name_the_report_and_say_whether_it_is_inline():
    """A filing has XBRL if it has facts; its report is in its folder."""
    for cik in ("9990000001", TWIN_RIVER, "9990000010"):
        recent = HTTP.get(f"https://data.sec.gov/submissions/CIK{cik}.json").json()["filings"]["recent"]
        columns = ("accessionNumber", "isXBRL", "isInlineXBRL", "primaryDocument")
        listed_filings = {row[0]: row for row in zip(*(recent[column] for column in columns), strict=True)}
        facts = {filed.accession for filed in companyfacts(cik)}

        assert {accession for accession, is_tagged, *_ in listed_filings.values() if is_tagged} == facts
        for filed in packages():
            if filed.cik == cik:
                _, _, is_inline, document = listed_filings[filed.accession]
                assert is_inline
                assert {document, document.replace(".htm", "_htm.xml")} <= names_in(filed)


def test_the_three_statements_have_the_lines_of_the_simulator_in_their_order():
    """Headings have no number; a total of a balance sheet and an outflow have labels of their own."""
    filings = {filing.accession: filing for one in FILERS.values() for filing in as_filed(one, simulate(one).filings)}
    labels: dict[str, str | None] = {}
    for filed, package in packages().items():
        filer, numbers = FILERS[filed.cik], stated(FILERS[filed.cik], filings[filed.accession])
        concepts = {one.concept for one in numbers}
        wanted = [
            (face.code, number, place.concept[1], place.label_role)
            for face in faces(filer, numbers)
            for number, place in enumerate(face.places)
            if place.concept in concepts and not face.in_brackets
        ]
        lines = package.lines
        roles = [role or "label" for role in lines.label_role]
        found = zip(lines.statement, lines.line, lines.element, roles, lines.abstract, strict=True)
        order = {"BS": 0, "IS": 1, "CF": 2}
        read = sorted((row[:4] for row in found if not row[4]), key=lambda row: order[row[0]])
        assert read == wanted
        if filed.form != "DEF 14A":
            assert {row[0] for row in read} == order.keys()
        labels |= dict(zip(lines.element, lines.label, strict=True))
    payments = "PaymentsToAcquirePropertyPlantAndEquipment"
    assert (labels["Assets"], labels[payments]) == ("Total assets", "Payments to acquire property plant and equipment")


def test_statements_are_read_from_top_to_bottom():
    """A balance sheet begins with cash, an income statement with revenue, a cash flow statement with net income."""
    lines = next(package.lines for filed, package in packages().items() if filed.cik == LANTERN)
    order: dict[str, list[str]] = {}
    for statement, element, is_heading in zip(lines.statement, lines.element, lines.abstract, strict=True):
        if not is_heading:
            order.setdefault(statement, []).append(element)

    assert order["BS"] == [
        *("CashAndCashEquivalentsAtCarryingValue", "ShortTermInvestments", "StoresAndOtherAssets", "Assets"),
        *("CommercialPaper", "LongTermDebtCurrent", "LongTermDebtNoncurrent", "VendorFinancingArrangements"),
        *("ObligationsOfStores", "Liabilities", "StockholdersEquity"),
    ]
    assert order["IS"][:4] + order["IS"][5:8] == [
        *("Revenues", "CostOfRevenue", "GrossProfit", "OperatingIncomeLoss"),
        *("IncomeTaxExpenseBenefit", "NetIncomeLoss", "EarningsPerShareBasic"),
    ]
    assert order["CF"] == [
        *("NetIncomeLoss", "AdjustmentsOfNetIncomeToCash", "NetCashProvidedByUsedInOperatingActivities"),
        "PaymentsToAcquirePropertyPlantAndEquipment",
    ]


def test_the_sums_of_the_calculation_are_exact():
    """In each column, consolidated or of a block."""
    checked = Counter[str]()
    for package in packages().values():
        columns, lines = columns_of(facts_of(package)), package.lines
        sums: dict[str, dict[str, float]] = {}
        for element, parent, weight in zip(lines.element, lines.parent, lines.weight, strict=True):
            if parent and weight:
                sums.setdefault(parent, {})[element] = weight
        for column in columns.values():
            for total, addends in sums.items():
                if column.keys() >= {total, *addends}:
                    assert column[total] == sum(column[element] * weight for element, weight in addends.items())
                    checked[total] += 1
    assert checked.keys() >= {"NetIncomeLoss", "GrossProfit", "Assets", "Liabilities", "LongTermDebt", "Revenues"}


def classes_of(cik: str) -> dict[str, Security]:
    """The classes of common stock of a filer by their dimensions."""
    return {CLASSES + security.member: security for security in FILERS[cik].securities if security.part}


def test_classes_of_stock_add_up_to_the_company():
    """Average shares of the classes times their worth add up to the company's; so do the shares of the cover page.

    Earnings and dividends of a share are the company's times the worth of the class, in whole cents.
    """
    elements = {"EarningsPerShareBasic", "EarningsPerShareDiluted", "WeightedAverageNumberOfSharesOutstandingBasic"}
    for cik, more in ((TWIN_RIVER, set()), (ALDER, {"CommonStockDividendsPerShareDeclared"})):
        classes = classes_of(cik)
        for _, facts in of(cik):
            columns = columns_of(facts)
            by_class = [column for (*_, dimensions), column in columns.items() if dimensions in classes]
            assert {element for column in by_class for element in column} >= elements | more
            for (unit, start, end, dimensions), column in columns.items():
                if dimensions or unit not in ("shares", "USD/shares"):
                    continue
                for element, value in column.items():
                    values = {name: columns[unit, start, end, name][element] for name in classes}
                    if unit == "shares":
                        assert sum(values[name] * float(one.worth) for name, one in classes.items()) == value
                    else:
                        differences = [abs(values[name] - value * float(one.worth)) for name, one in classes.items()]
                        assert max(differences) < 0.0051


def test_the_cover_page_names_the_symbol_of_each_security():
    """With the member of its class where there are several, otherwise without dimensions."""
    symbols: dict[str, dict[str, str]] = {}
    for filed, package in packages().items():
        rows = zip(package.texts.element, package.texts.dimensions, package.texts.value, strict=True)
        symbols[filed.cik] = {dimensions: text for element, dimensions, text in rows if element == "TradingSymbol"}

    assert symbols[TWIN_RIVER] == {
        f"{CLASSES}CommonClassAMember": "XQTR-A",
        f"{CLASSES}CommonClassBMember": "XQTR-B",
        f"{CLASSES}PreferredStockMember": "XQTR-PA",
        f"{CLASSES}WarrantMember": "XQTR-WT",
    }
    assert (symbols[ALDER], symbols["9990000001"]) == ({f"{CLASSES}CommonClassAMember": "XQALD"}, {"": "XQORC"})


def test_own_elements_are_what_the_other_lines_leave_of_a_total():
    """A line of borrowing is one of them, and in no calculation of companyfacts."""
    for filed, facts in of(LANTERN):
        own = {fact.element for fact in facts if fact.taxonomy == "own"}
        lines = packages()[filed].lines
        of_line = dict(zip(lines.element, zip(lines.label, lines.parent, strict=True), strict=True))

        assert own == {line.element for line in FILERS[LANTERN].own_lines}
        borrowing = ("Borrowings under vendor financing arrangements", "Liabilities")
        assert of_line["VendorFinancingArrangements"] == borrowing
        assert all(fact.value > 0 for fact in facts if fact.element == "VendorFinancingArrangements")
        assert not own & {fact.element for rows in companyfacts(LANTERN).values() for fact in rows}


def test_the_blocks_of_a_balance_sheet_add_up_to_the_consolidated_one():
    """Each block balances as the whole does."""
    names = [BLOCKS + block.member for block in FILERS[ANVIL].blocks]
    for _, facts in of(ANVIL):
        columns = columns_of(facts)
        whole = {key: column for key, column in columns.items() if not key[3] and "Assets" in column}
        assert len(whole) == 2
        for key, column in whole.items():
            blocks = [columns[*key[:3], name] for name in names]
            assert column == {element: sum(block[element] for block in blocks) for element in column}
            for block in blocks:
                assert block["Assets"] == block["Liabilities"] + block["StockholdersEquity"]


def test_par_values_stand_in_brackets_and_on_no_statement():
    for filed, facts in of(TWIN_RIVER):
        assert {fact.value for fact in facts if fact.element == "CommonStockParOrStatedValuePerShare"} == {0.01}
        assert "CommonStockParOrStatedValuePerShare" not in packages()[filed].lines.element


def test_linkbases_stand_within_the_schema_or_beside_it():
    """The index of a folder names all its files; the zip file has the report instead of the extracted instance."""
    for cik, count in (("9990000001", 1), ("9990000002", 4)):
        filed = next(filed for filed in packages() if filed.cik == cik)
        items = HTTP.get(f"{filed.folder}index.json").json()["directory"]["item"]
        zipped = f"{filed.accession}-xbrl.zip"
        packed = open_package(HTTP.get(filed.folder + zipped).content, zipped)

        assert len(packed) == count
        assert len(names_in(filed) - {*packed, zipped}) == 2  # the report and the instance
        for item in items:
            assert len(HTTP.get(filed.folder + item["name"]).content) == int(item["size"])
        assert HTTP.get(f"{filed.folder}other.xml").status_code == 404


def test_before_inline_reports_the_instance_is_in_the_zip_file():
    """The three years are the years before the last day that is served."""
    http = httpx.Client(transport=SampleTransport([FILERS[LANTERN]], filed_by=date(2018, 12, 31)))
    found = {filed: files for filed in companyfacts(LANTERN, http) if (files := files_of(filed, http))}

    assert {filed.filed[:4] for filed in found} == {"2016", "2017", "2018"}
    for filed, files in found.items():
        assert not any(name.endswith("_htm.xml") for name in files)
        assert len(read_package(files, LANTERN, filed.accession).lines) > 20


def test_data_sets_are_those_of_the_last_eight_quarters_that_ended():
    """Each has the periodic reports that were filed in it."""
    periodic = {"10-K", "10-Q", "20-F", "6-K", "10-KT", "10-K/A"}
    found = [
        row
        for name, data_set in data_sets().items()
        for row in data_set.filings.select("accession", "filed", "form").rows()
        if f"{row[1].year}q{(row[1].month + 2) // 3}" == name
    ]
    last = max(row[1] for row in found)

    assert list(data_sets()) == ["2025q3", "2025q2", "2025q1", "2024q4", "2024q3", "2024q2", "2024q1", "2023q4"]
    assert sum(data_set.filings.height for data_set in data_sets().values()) == len(found)
    assert not any(data_set.ignored for data_set in data_sets().values())
    assert {row[0] for row in found} == {
        filed.accession
        for filed in packages()
        if filed.form in periodic and "2023-10-01" <= filed.filed <= last.isoformat()
    }
    assert [listed(date(2024, 3, day))[0] for day in (30, 31)] == [(2023, 4), (2024, 1)]
    assert HTTP.get("https://www.sec.gov/files/dera/data/financial-statement-data-sets/2025q4.zip").status_code == 404


def test_data_sets_agree_with_the_packages():
    """By accession, element, unit and value; lines by statement, number, element and label."""
    by_accession = {filed.accession: package for filed, package in packages().items()}
    for data_set in data_sets().values():
        for [accession], rows in data_set.facts.group_by("accession"):
            package = by_accession[str(accession)]
            on_faces = {*package.lines.element, "CommonStockParOrStatedValuePerShare"}
            numbers = Counter(
                (fact.element, fact.unit, bool(fact.dimensions), round(fact.value, 4))
                for fact in facts_of(package)
                if fact.element in on_faces
            )
            found = rows.select("element", "unit", "segments", "value").rows()
            assert Counter((element, unit, bool(part), value) for element, unit, part, value in found) == numbers
        for [accession], rows in data_set.lines.group_by("accession"):
            lines = by_accession[str(accession)].lines
            wanted = zip(
                lines.statement, lines.line, lines.element, lines.label, lines.negated, lines.abstract, strict=True
            )
            found = rows.select("statement", "line", "element", "label", "negating").rows()
            assert set(found) == {row[:5] for row in wanted if not row[5]}


def test_data_sets_cut_the_names_of_members_and_mark_own_elements():
    facts = data_sets()["2025q3"].facts

    def found(cik: str, column: str) -> set[str | None]:
        return set(facts.filter(facts["cik"].cast(str) == cik)[column].cast(str).to_list())

    assert found(TWIN_RIVER, "segments") == {None, "ClassOfStock=CommonClassA;", "ClassOfStock=CommonClassB;"}
    assert found(ANVIL, "segments") == {None, "BusinessSegments=FinancialServices;", "BusinessSegments=Machinery;"}
    own = facts.filter(facts["own"])
    assert set(own["element"].cast(str)) == {line.element for line in FILERS[LANTERN].own_lines}


def test_the_files_of_filings_are_made_once_and_are_always_the_same():
    """A request with the entity tag of an answer is answered without making the file again."""
    filed = next(iter(packages()))
    addresses = [f"{filed.folder}index.json", DATA_SETS_URL, data_set_address("2025q3")]
    other = httpx.Client(transport=SampleTransport())
    for address in addresses:
        answer = HTTP.get(address)
        assert other.get(address).content == answer.content
        assert HTTP.get(address, headers={"If-None-Match": answer.headers["etag"]}).status_code == 304


def data_set_address(name: str) -> str:
    """The address of a quarter."""
    return next(each.address for each in decode_data_set_list(HTTP.get(DATA_SETS_URL).content) if each.name == name)
