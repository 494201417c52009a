"""The statements as filed: the lines that a build has, the lines of a value among them, and how they are shown."""

from datetime import date
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest

from pipelines.normalize.history.log import FACT
from pipelines.stages.batch.schemas import STATEMENT_LINES
from pipelines.storage.lake import Lake
from pipelines.tables import newest_statements
from serve.cli import explanation
from serve.provenance import find
from serve.site.company import values
from tests.factories import CIK, day
from tests.published import opened
from warehouse.explanation.statements import statements
from warehouse.queries.explain_queries import Leg, StatementRow

PACKAGE, SET, OLD, ANNUAL = "a-package", "a-set", "old", "annual"
YEAR = {"start": day("2023-10-01"), "end": day("2024-09-28")}
YEAR_BEFORE = {"start": day("2022-10-02"), "end": day("2023-09-30")}


def line(place: int, element: str, value: float | None, accession: str = PACKAGE, **more: Any) -> dict[str, Any]:
    """A line of a balance sheet on 28 September 2024, with a value or a heading."""
    of_sheet = {"statement": "BS", "end": None if value is None else YEAR["end"], "unit": "USD"}
    named = {"label": f"{element} in words", "element": element, "taxonomy": "us-gaap", "own": False}
    flags = {"abstract": value is None, "negated": False, "value": value}
    return {"cik": CIK, "accession": accession, "source": "filing", "line": place} | of_sheet | named | flags | more


def leg(accession: str, tag: str, filed: str, **more: Any) -> dict[str, Any]:
    return {"accession": accession, "tag": tag, "filed": day(filed)} | more


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """A lake with a package and a quarter, which has both filings of the company."""
    made = Lake(tmp_path)
    cash = [{"statement": "CF", "end": end} for end in (YEAR["end"], YEAR_BEFORE["end"])]
    of_package = [
        line(0, "AssetsAbstract", None),
        line(4, "Cash", 5.0),
        line(4, "Cash", 4.0, end=YEAR_BEFORE["end"]),
        line(5, "ShareholderLoan", 7.0, own=True, taxonomy=None),
        line(5, "ShareholderLoan", 6.0, own=True, taxonomy=None, end=YEAR_BEFORE["end"]),
        line(6, "Notes", 1.0, member="RelatedParty"),
        line(6, "Notes", 2.0, member="OtherParty"),
        line(4, "Cash", 3.0, end=day("2022-10-01")),  # of the cash flow statement
        line(1, "NetIncomeLoss", 9.0, statement="CF", **YEAR),
        line(2, "Cash", 4.0, **cash[1]),
        line(2, "Cash", 5.0, **cash[0]),
        line(3, "Cash", 4.0, **cash[1]),
        line(3, "Cash", 5.0, **cash[0]),
    ]
    of_set = {"source": "data set", "report": 2, "quarters": 0, "end": day("2024-06-30")}
    in_set = [line(1, "Cash", 4.5, SET, **of_set), line(1, "Cash", 99.0, PACKAGE, **of_set)]
    before = [line(1, "Cash", 1.0, OLD, **of_set), line(1, "Cash", 2.0, ANNUAL, end=day("2020-09-26"))]
    for name, rows in (("statement_lines", [*of_package, *before]), ("statement_lines_2024q3", in_set)):
        made.replace_companies(name, [pl.DataFrame(rows, schema=STATEMENT_LINES)], {CIK: "digest"})
    periods = pl.DataFrame({"cik": [CIK], "period_end": [day("2024-06-29")]})
    made.replace_companies("periods", [periods], {CIK: "digest"})
    reports = [(PACKAGE, "10-K", "2024-11-01"), (OLD, "10-Q", "2022-11-01"), (ANNUAL, "10-K/A", "2020-11-01")]
    filings = [{"cik": CIK, "accession": name, "form": form, "filed": day(filed)} for name, form, filed in reports]
    made.replace_companies("filings", [pl.DataFrame(filings)], {CIK: "digest"})
    return made


def rows_of(lake: Lake, statement: str) -> list[tuple[Any, ...]]:
    legs = [
        leg(PACKAGE, "own:ShareholderLoan", "2024-11-01"),
        leg(PACKAGE, "us-gaap:Notes", "2024-11-01", member="RelatedParty"),
        leg(SET, "us-gaap:Cash", "2024-08-01"),
        leg(OLD, "us-gaap:Cash", "2022-11-01"),
    ]
    current = pl.DataFrame({"cik": [CIK], "legs": [legs]}, schema={"cik": pl.String, "legs": pl.List(FACT)})
    found = newest_statements.of_values(lake.limited_to([CIK]), current, newest_statements.quarters_of(lake)).filter(
        statement=statement
    )
    columns = ("accession", "line", "tag", "member", "quarters", "end", "value")
    return found.select(columns).sort("accession", "line", "end", descending=[False, False, True]).rows()


def test_a_build_has_the_columns_of_the_statements_of_the_newest_filings(lake):
    """From a package rather than from its data set; only members that are a leg. A data set has the fiscal day.

    An annual report of the newest five years is there though no value comes from it, an older quarterly report is not.
    """
    end, before = YEAR["end"], YEAR_BEFORE["end"]
    assert rows_of(lake, "BS") == [
        (PACKAGE, 1, "us-gaap:AssetsAbstract", None, None, None, None),
        (PACKAGE, 2, "us-gaap:Cash", None, 0, end, 5.0),
        (PACKAGE, 2, "us-gaap:Cash", None, 0, before, 4.0),
        (PACKAGE, 3, "own:ShareholderLoan", None, 0, end, 7.0),
        (PACKAGE, 3, "own:ShareholderLoan", None, 0, before, 6.0),
        (PACKAGE, 4, "us-gaap:Notes", "RelatedParty", 0, end, 1.0),
        (SET, 1, "us-gaap:Cash", None, 0, date(2024, 6, 29), 4.5),
        (ANNUAL, 1, "us-gaap:Cash", None, 0, date(2020, 9, 26), 2.0),
    ]


def test_cash_of_a_cash_flow_statement_is_in_the_column_of_its_period(lake):
    """The first of two lines has the cash at the beginning, the second the cash at the end."""
    assert rows_of(lake, "CF") == [
        (PACKAGE, 1, "us-gaap:NetIncomeLoss", None, 4, YEAR["end"], 9.0),
        (PACKAGE, 2, "us-gaap:Cash", None, 4, YEAR["end"], 4.0),
        (PACKAGE, 3, "us-gaap:Cash", None, 4, YEAR["end"], 5.0),
    ]


# --- Shown statements ------------------------------------------------------------------------------------------------


def row(statement: str, place: int, label: str, tag: str, value: float | None, **more: Any) -> StatementRow:
    head = {"accession": PACKAGE, "form": "10-K", "filed": "2024-11-01", "url": "https://www.sec.gov/a-package"}
    of_line = {"statement": statement, "line": place, "depth": 1, "label": label, "tag": tag, "member": None}
    flags = {"is_heading": value is None, "negated": False, "unit": "USD", "quarters": 4, "end": "2024-09-28"}
    return StatementRow(**(head | of_line | flags | {"value": value} | more))


ROWS = [
    row("CF", 1, "Net income", "us-gaap:NetIncomeLoss", 9e6),
    row("IS", 1, "Net income [Abstract]", "us-gaap:IncomeAbstract", None, depth=0),
    row("IS", 2, "Profit for the year", "us-gaap:NetIncomeLoss", 9e6),
    row("IS", 2, "Profit for the year", "us-gaap:NetIncomeLoss", 8e6, end="2023-09-30"),
    row("IS", 3, "Taxes", "own:TaxesOfTheYear", 2e6, negated=True),
    row("IS", 3, "Taxes", "own:TaxesOfTheYear", 1e6, end="2024-06-29", quarters=1),
]


def fact(tag: str, value: float) -> Leg:
    return Leg(1, "add", 1.0, 1.0, value, tag, "USD", "2023-10-01", "2024-09-30", "10-K", "2024-11-01", PACKAGE, None)


def test_a_fact_is_marked_on_one_statement():
    """On the income statement rather than on the cash flow statement, in its period; other columns are as long."""
    [shown] = statements(ROWS, [fact("us-gaap:NetIncomeLoss", 9e6)])
    assert (shown.name, [(column.end, column.months) for column in shown.columns]) == (
        "Income statement",
        [("2024-09-28", 12), ("2023-09-30", 12)],
    )
    assert [(each.label, each.values, each.marks) for each in shown.lines] == [
        ("Net income", (None, None), ()),
        ("Profit for the year", (9e6, 8e6), (1,)),
        ("Taxes", (-2e6, None), ()),
    ]
    assert shown.lines[1].legs == ((1,), ())
    assert statements(ROWS, [fact("us-gaap:NetIncomeLoss", 7e6)]) == []


def test_explain_and_the_page_show_the_statement(synchronized_sample):
    """With the filer's words, the number of the fact and a link to the filing; nothing else changes without one."""
    with opened(synchronized_sample / "published") as build:
        explained = msgspec.structs.replace(find(build, "XQORC", "net_income", "FY2024"), statements=())
    with_one = msgspec.structs.replace(
        explained, statements=tuple(statements(ROWS, [fact("us-gaap:NetIncomeLoss", 9e6)]))
    )
    printed, page = (
        [explanation.text(one, 80) for one in (explained, with_one)],
        [values.document(one, "/filings", "USD").text for one in (explained, with_one)],
    )
    assert """\
Income statement as filed
  10-K of 2024-11-01, a-package, in millions of USD

                             12 months   12 months
                            2024-09-28  2023-09-30
      Net income
  [1]  Profit for the year           9           8
       Taxes                        -2           -
""" in printed[1]
    assert "statement as filed" not in printed[0]
    assert "[Filing: 10-K of 2024-11-01](https://www.sec.gov/a-package)" in page[1]
    assert r"| **Profit for the year \[1\]** | **9** | 8 |" in page[1]
    assert "#statements" not in page[0]
