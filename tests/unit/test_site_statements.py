"""The statements as filed of a company: the page, its links to values and back, the file, and a company without any."""

import csv
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests import builds
from tests.published import opened
from tests.sites import PUBLIC, Read, Site, published
from warehouse.contract.line_items import SERVED_NAMES
from warehouse.explanation.statements import of_filing
from warehouse.queries import statement_queries

SYMBOL = "XQORC"
PAGE = f"/companies/{SYMBOL}/statements"


@pytest.fixture(scope="module")
def site(synchronized_sample: Path) -> Iterator[Site]:
    with published(synchronized_sample) as running:
        yield running


def test_three_clicks_lead_from_a_company_to_the_filing_of_its_statements(reader: httpx.Client) -> None:
    """Company, statements of the newest filing, the filing; all reports of two years and the annual reports are
    there.
    """
    assert PAGE in Read(reader.get(f"/companies/{SYMBOL}").text).links
    newest = Read(reader.get(PAGE).text)
    filings = [link for link in newest.links if link.startswith("/filings/")]
    assert [reader.get(link).status_code for link in filings] == [200]
    others = [link for link in newest.links if link.startswith(f"{PAGE}?filing=")]
    # three annual reports have packages in the sample, and eight quarters six quarterly ones, one of them is shown
    assert len(others) == 3 + 6 - 1
    assert f"{PAGE}?filing={filings[0].rpartition('/')[2]}" not in others
    assert reader.get(f"{PAGE}?filing=0000000000-00-000000").status_code == 404


def test_a_line_leads_to_its_value_and_the_value_to_the_line(reader: httpx.Client) -> None:
    """Revenue of the fiscal year: its page leads to the line of the income statement, whose figure leads back."""
    value = f"/companies/{SYMBOL}/revenue/FY2024"
    back = next(link for link in Read(reader.get(value).text).links if link.startswith(f"{PAGE}?filing="))
    page = Read(reader.get(back).text)
    assert back.partition("#")[2] in page.ids
    assert len(page.ids) == len(set(page.ids))
    row = next(
        line
        for line in reader.get(back.replace("/statements", "/statements.md")).text.split("\n")
        if f"{{#{back.partition('#')[2]}}}" in line
    )
    cells = row.strip("| ").split(" | ")
    assert cells[0].strip("\N{NO-BREAK SPACE}").startswith("Revenues")
    assert cells[1] == f"[6,215]({PUBLIC}{value})"
    assert cells[2] == "5,884"  # a comparative: the value of that year is from its own report
    assert "Revenue FY2024" in cells[-1]


def test_every_fact_of_a_filing_on_a_statement_is_marked(synchronized_sample: Path) -> None:
    """A fact of a value that states an amount of a line, in the period of a column, is a mark of the line."""
    with opened(synchronized_sample / "published") as build:
        company = build.memory.company(SYMBOL)
        assert company
        filing = next(each for each in statement_queries.filings(build, company.cik) if each.form == "10-K")
        uses = statement_queries.uses(build, company, filing.accession, SERVED_NAMES)
        rows = statement_queries.rows(build, company.cik, filing)
        marked = {leg for statement in of_filing(rows, uses) for line in statement.lines for leg in line.marks}
        known = {(row.tag, row.value, row.end) for row in rows}
        assert marked == {use.leg for use in uses if (use.tag, use.value, use.end) in known}
        assert {uses[leg].item for leg in marked} >= {"revenue", "net_income", "total_debt", "free_cash_flow"}
        assert any(line.is_total for statement in of_filing(rows, uses) for line in statement.lines)


def test_the_file_has_every_figure_of_the_page(reader: httpx.Client) -> None:
    """One row for each figure, with its values; without a filing the rows of all filings."""
    everything = list(csv.DictReader(reader.get(f"{PAGE}.csv").text.splitlines()))
    accessions = {row["accession"] for row in everything}
    assert len(accessions) == 9
    one = max(accessions)
    rows = list(csv.DictReader(reader.get(f"{PAGE}.csv?filing={one}").text.splitlines()))
    assert rows == [row for row in everything if row["accession"] == one]
    revenue = [row for row in rows if row["tag"] == "us-gaap:Revenues"]
    assert [(row["months"], row["values_made_from_it"]) for row in revenue] == [
        ("3", ""),
        ("3", ""),
        ("9", "revenue 2025Q3"),
        ("9", ""),
    ]


def test_a_company_without_statements_says_why(tmp_path: Path) -> None:
    """Companyfacts alone have no lines."""
    builds.small(tmp_path / "published")
    with published(tmp_path) as site, site.signed_in() as reader:
        page = reader.get("/companies/LNTR/statements")
        assert page.status_code == 200
        assert "No statements of this company are in the data" in Read(page.text).words
        assert "companyfacts" in page.text
        assert len(reader.get("/companies/LNTR/statements.csv").text.splitlines()) == 1
