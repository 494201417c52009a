"""The XBRL packages of 125 real filings, one of them in two versions: their facts compared with companyfacts, their
statements, and the totals in these.

The collectors changed most packages: they use newer taxonomies than the filing, and an element that is missing there
counts as the filer's own. Their values are as filed.
"""

import gzip
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from pipelines.edgar.filing.package import Package, read_package, root_of
from tests.conftest import SHARED

FILINGS, DATA_SETS = SHARED / "filings", SHARED / "data-sets"
MIRRORS = tuple(SHARED / name / "data.sec.gov/api/xbrl/companyfacts" for name in ("edgar", "edgar-single"))
ACCESSION = re.compile(r"\d{10}-\d\d-\d{6}")
READ = re.compile(r"\.(xml|xsd|json)(\.gz)?$")

pytestmark = pytest.mark.skipif(not FILINGS.is_dir(), reason="real filings are missing: ../shared/filings")

Key = tuple[str, str, str, str | None, str]  # taxonomy, element, unit, start, end


class Fact(msgspec.Struct):
    end: str
    val: float
    accn: str
    form: str
    filed: str
    start: str | None = None


class Concept(msgspec.Struct):
    units: dict[str, list[Fact]]


class CompanyFacts(msgspec.Struct):
    facts: dict[str, dict[str, Concept]]


def read_all() -> Iterator[tuple[str, Package]]:
    for folder in sorted(FILINGS.glob("CIK*/*/")):
        files = {path.name.removesuffix(".gz"): content(path) for path in folder.iterdir() if READ.search(path.name)}
        if any(name.endswith(".xml") and root_of(raw).endswith("}xbrl") for name, raw in files.items()):
            yield f"{folder.parent.name}/{folder.name}", read_package(files, folder.parent.name[3:], folder.name)


def content(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def companyfacts(package: Package) -> dict[Key, float]:
    """The facts of a filing in companyfacts; if the accession is not known, of the first filing of this form and
    day.
    """
    paths = [path for mirror in MIRRORS if (path := mirror / f"CIK{package.cik}.json").is_file()]
    stated = [
        ((taxonomy, element, unit, fact.start, fact.end), fact)
        for path in paths
        for taxonomy, concepts in msgspec.json.decode(path.read_bytes(), type=CompanyFacts).facts.items()
        for element, concept in concepts.items()
        for unit, facts in concept.units.items()
        for fact in facts
    ]
    accession = package.accession
    if not ACCESSION.fullmatch(accession):
        texts = dict(zip(package.texts.element, package.texts.value, strict=True))
        form, day = texts.get("DocumentType", "10-K"), texts.get("DocumentPeriodEndDate") or accession[-10:]
        same = [fact for _, fact in stated if fact.form == form and fact.end == day]
        accession = min(same, key=lambda fact: fact.filed).accn if same else ""
    return {key: fact.val for key, fact in stated if fact.accn == accession}


def of_the_company(package: Package) -> dict[Key, float]:
    """The facts without dimensions, of standard elements."""
    columns = package.facts
    keys = zip(columns.taxonomy, columns.element, columns.unit, columns.start, columns.end, strict=True)
    rows = zip(keys, columns.dimensions, columns.value, strict=True)
    return {key: value for key, dimensions, value in rows if not dimensions and key[0] != "own"}


def test_facts_are_those_of_companyfacts(packages: dict[str, Package]) -> None:
    """Companyfacts cut this one value to six decimals."""
    compared, different = 0, []
    for name, package in packages.items():
        theirs, ours = companyfacts(package), of_the_company(package)
        compared += len(theirs.keys() & ours.keys())
        different += [(name, *key) for key in theirs.keys() & ours.keys() if theirs[key] != ours[key]]
    assert [row[:3] for row in different] == [
        ("CIK0000789019/0001193125-15-272806", "dei", "EntityListingParValuePerShare")
    ]
    assert (len(packages), compared >= 35_000) == (126, True)


def test_all_three_statements_are_found(packages: dict[str, Package]) -> None:
    assert {name: {*package.lines.statement} for name, package in packages.items()} == {
        name: {"BS", "IS", "CF"} for name in packages
    }


NOT_EXACT = {
    # the filer gives the addend only by related and other parties
    "CIK0000092521/unknown-10-K-2023-12-31": {"AssetsCurrent", "LiabilitiesCurrent"},
    "CIK0001703073/unknown-10-K-2023-12-31": {"AssetsCurrent", "LiabilitiesCurrent"},
    "CIK0001854275/unknown-10-K-2025-03-31": {"AssetsCurrent", "LiabilitiesCurrent"},
    # the calculation has another element than the statement, leaves it out, or has the wrong sign
    "CIK0001165002/unknown-10-K-2023-12-31": {"AssetsCurrent", "LiabilitiesCurrent"},
    "CIK0001111711/unknown-10-Q-2023-09-30": {"AssetsCurrent"},
    "CIK0000028823/unknown-10-Q-2023-06-30": {"LiabilitiesCurrent"},
    "CIK0001605331/unknown-10-K-2025-08-31": {"LiabilitiesCurrent"},
    "CIK0001605331/unknown-10-Q-2025-11-30": {"LiabilitiesCurrent"},
    # the filer's sum differs by one dollar
    "CIK0001394056/unknown-10-Q-2025-06-30": {"AssetsCurrent"},
}


def test_the_addends_of_current_totals_add_up(packages: dict[str, Package]) -> None:
    """In each column of the balance sheet, with the weights of the calculation; all exceptions are filers' errors."""
    columns, exact, not_exact = 0, 0, dict[str, set[str]]()
    for name, package in packages.items():
        values = of_the_company_and_own(package)
        lines = package.lines
        addends = [
            (total, (taxonomy, element), weight)
            for statement, taxonomy, element, total, weight in zip(
                lines.statement, lines.taxonomy, lines.element, lines.parent, lines.weight, strict=True
            )
            if statement == "BS"
        ]
        for total in ("AssetsCurrent", "LiabilitiesCurrent"):
            weights = {element: weight for parent, element, weight in addends if parent == total}
            for day in values.get(("us-gaap", "LiabilitiesAndStockholdersEquity"), {}):
                amount = values.get(("us-gaap", total), {}).get(day)
                if weights and amount is not None:
                    found = sum(weight * values.get(element, {}).get(day, 0) for element, weight in weights.items())
                    columns, exact = columns + 1, exact + (found == amount)
                    if found != amount:
                        not_exact.setdefault(name, set()).add(total)
    assert not_exact == NOT_EXACT
    assert (columns, exact) == (460, 439)


def of_the_company_and_own(package: Package) -> dict[tuple[str, str], dict[str, float]]:
    """The amounts without dimensions of days, by element and day."""
    columns = package.facts
    found: dict[tuple[str, str], dict[str, float]] = {}
    for taxonomy, element, start, end, dimensions, value in zip(
        columns.taxonomy, columns.element, columns.start, columns.end, columns.dimensions, columns.value, strict=True
    ):
        if not dimensions and start is None:
            found.setdefault((taxonomy, element), {})[end] = value
    return found


def test_lines_are_those_of_the_data_set(packages: dict[str, Package]) -> None:
    """Apple's 10-K of 2024: number, element and sign of each line with a number; the data set has labels, too."""
    with zipfile.ZipFile(DATA_SETS / "2024q4-apple-10k.zip") as archive:
        heading, *rows = (line.split("\t") for line in archive.read("pre.txt").decode().splitlines())
    table = [dict(zip(heading, row, strict=True)) for row in rows]
    theirs = {
        (row["stmt"], int(row["line"]), row["tag"], row["negating"])
        for row in table
        if row["adsh"] == "0000320193-24-000123" and row["stmt"] in ("BS", "IS", "CF") and row["inpth"] == "0"
    }
    lines = packages["CIK0000320193/0000320193-24-000123"].lines
    ours = zip(lines.statement, lines.line, lines.element, map(str, map(int, lines.negated)), strict=True)
    assert {row for row, abstract in zip(ours, lines.abstract, strict=True) if not abstract} == theirs
    assert len(theirs) == 74


def test_lines_of_a_complete_folder_have_labels_and_totals(packages: dict[str, Package]) -> None:
    """Apple's 10-Q of March 2025, with labels from MetaLinks.json: the cash flow statement as printed, some lines."""
    lines = packages["CIK0000320193/0000320193-25-000057"].lines
    printed = {
        (statement, line): row
        for statement, line, *row in zip(
            *(lines.statement, lines.line, lines.label, lines.label_role, lines.negated, lines.parent, lines.weight),
            strict=True,
        )
    }
    cash = "Cash, cash equivalents, and restricted cash and cash equivalents"
    assert printed["CF", 1] == [f"{cash}, beginning balances", "periodStartLabel", False, None, None]
    assert printed["CF", 32] == [f"{cash}, ending balances", "periodEndLabel", False, None, None]
    investing = ["NetCashProvidedByUsedInInvestingActivities", -1.0]
    assert printed["CF", 17] == ["Purchases of marketable securities", "negatedLabel", True, *investing]
    assert printed["IS", 8] == ["Cost of sales", "terseLabel", False, "GrossProfit", -1.0]
    net_sales = lines.members[lines.element.index("RevenueFromContractWithCustomerExcludingAssessedTax")]
    assert net_sales == ["", *(f"srt:ProductOrServiceAxis=us-gaap:{name}Member" for name in ("Product", "Service"))]
