"""Real quarters of the Financial Statement Data Sets: values looked up in the filings by hand.

Belongs here: single filings, and counts of whole quarters. Does not: malformed zip files (unit/test_data_sets).
"""

import gzip
import io
import zipfile
from datetime import UTC, date, datetime
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest

from pipelines.edgar.decode.data_sets import DataSet, read_data_set
from tests.conftest import SHARED

BERKSHIRE, APPLE, ASML = "0001067983", "0000320193", "0000937966"
TITLES = {"IS": "STATEMENTSOFOPERATIONS", "BS": "BALANCESHEETS", "CF": "STATEMENTSOFCASHFLOWS"}
"""The ends of the roles of Apple's statements."""
XLINK, HEADINGS = "{http://www.w3.org/1999/xlink}", ("Abstract", "Axis", "Domain", "Member", "Table", "LineItems")


def quarter(name: str) -> Path:
    path = SHARED / "data-sets" / f"{name}.zip"
    if not path.exists():
        pytest.skip("real quarters are missing: shared/data-sets")
    return path


def values_of(data: DataSet, element: str, day: date) -> dict[str | None, float]:
    facts = data.facts.filter(pl.col("element") == element, pl.col("ddate") == day)
    return dict(facts.select("segments", "value").iter_rows())


def test_a_company_states_its_earnings_by_class_and_its_debt_by_block():
    """Berkshire's 10-K of 2009: its balance sheet has three blocks, and no total of notes payable."""
    data = read_data_set(quarter("2010q1"), "2010q1", [BERKSHIRE])

    (filing,) = data.filings.iter_rows(named=True)
    assert filing | {"accession": ""} == {
        "accession": "",
        "cik": BERKSHIRE,
        "form": "10-K",
        "filed": date(2010, 3, 1),
        "accepted_at": datetime(2010, 3, 1, 11, 2, tzinfo=UTC),
        "period": date(2009, 12, 31),
        "fy": 2009,
        "fp": "FY",
        "prevrpt": False,
        "instance": "brka-20091231.xml",
        "co_registrants": None,
    }
    end = date(2009, 12, 31)
    earnings = {"ClassOfStock=CommonClassA;": 5193, "ClassOfStock=CommonClassB;": 3.46}
    assert values_of(data, "EarningsPerShareBasic", end) == earnings
    assert {block: debt / 1e6 for block, debt in values_of(data, "NotesPayable", end).items()} == {
        "BusinessSegments=InsuranceAndOther;": 3719,
        "BusinessSegments=UtilitiesAndEnergy;": 19579,
        "BusinessSegments=FinanceAndFinancialProducts;": 14611,
    }


def test_units_are_those_of_companyfacts():
    """Money per share has the currency as its unit in the data sets."""
    data = read_data_set(quarter("2010q1"), "2010q1", [ASML])
    shares = "WeightedAverageNumberOfSharesOutstandingBasic"
    units = {"EarningsPerShareBasic": "EUR/shares", "Assets": "EUR", shares: "shares"}
    stated = data.facts.filter(pl.col("element").is_in(units)).select("element", "unit").unique()
    assert dict(stated.iter_rows()) == units


@pytest.mark.parametrize(
    ("name", "filings", "numbers", "empty", "lines"),
    [("2009q3", 276, 80_298, 35, 26_137), ("2010q1", 315, 123_626, 139, 31_913), ("2010q2", 327, 85_031, 350, 30_177)],
)
def test_every_row_of_a_quarter_is_read(name, filings, numbers, empty, lines):
    """Rows of `num.txt` without a value are left out, and the parenthetical lines of the statements."""
    data = read_data_set(quarter(name), name)
    assert (data.filings.height, data.facts.height, data.lines.height) == (filings, numbers - empty, lines)
    assert data.ignored == {"num.txt: value": empty}


def test_the_lines_of_statements_are_those_of_the_presentation_linkbase():
    """Apple's 10-K of 2024: all lines in their order. Its commitments have a line in both, and no number."""
    packed = io.BytesIO(quarter("2024q4-apple-10k").read_bytes())
    with zipfile.ZipFile(packed, "a") as archive:
        archive.writestr("tag.txt", "tag\tversion\tdatatype\nEarningsPerShareBasic\tus-gaap/2024\tperShare\n")
    data = read_data_set(packed.getvalue(), "2024q4", [APPLE])
    (linkbase,) = (SHARED / "filings" / f"CIK{APPLE}" / data.filings["accession"][0]).glob("*_pre.xml.gz")

    listed = data.lines.group_by("statement", maintain_order=True).agg(pl.col("element").cast(pl.String))
    assert dict(listed.iter_rows()) == lines_of(linkbase)
    assert data.lines["report"].unique().sort().to_list() == [3, 5, 8]
    stated = set(data.facts["element"])
    assert [element for element in data.lines["element"] if element not in stated] == ["CommitmentsAndContingencies"]


def lines_of(linkbase: Path) -> dict[str, list[str]]:
    """The lines of the statements of a presentation linkbase, in their order, without headings."""
    found = {}
    for link in ElementTree.fromstring(gzip.decompress(linkbase.read_bytes())):
        names = {loc.get(f"{XLINK}label"): loc.get(f"{XLINK}href", "").partition("_")[2] for loc in link}
        below: dict[str | None, list[tuple[float, str]]] = {}
        for arc in link:
            if arc.get("order"):
                child = (float(arc.get("order", 0)), arc.get(f"{XLINK}to", ""))
                below.setdefault(arc.get(f"{XLINK}from"), []).append(child)
        inner = {label for children in below.values() for _, label in children}

        def walk(label, below=below, names=names):
            yield names[label]
            for _, child in sorted(below.get(label, [])):
                yield from walk(child)

        for statement, title in TITLES.items():
            if link.get(f"{XLINK}role", "").endswith(title):
                roots = [label for label in below if label not in inner]
                found[statement] = [name for root in roots for name in walk(root) if not name.endswith(HEADINGS)]
    return found
