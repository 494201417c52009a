"""Debt under an element of the filer's own, or of some members: its published lines."""

from collections.abc import Sequence
from dataclasses import fields
from datetime import date

import polars as pl
import pytest

from pipelines.normalize.elements import describe_sources
from pipelines.normalize.faces.facts import Filed
from pipelines.normalize.faces.sources import FILING
from pipelines.normalize.pipeline import Standardized, standardize
from tests.factories import CIK, Row, raw, with_total_assets
from tests.unit.test_footing_of_columns import BEFORE, DAY, USUAL, report

LOAN, NOTES = "ShareholderLoan", "NotesPayable"
RELATED = "us-gaap:RelatedPartyTransactionsByRelatedPartyAxis=us-gaap:RelatedPartyMember"
LINES = tuple(
    {"AccountsPayableCurrent": NOTES, "LongTermDebtNoncurrent": LOAN}.get(element, element) for element in USUAL
)
"""Notes to related parties are a current liability in place of payables, and a loan is one in place of debt."""
COLUMNS = [
    *("cik", "accession", "source", "statement", "report", "line", "label", "element", "taxonomy", "own", "abstract"),
    *("negated", "member", "parent", "weight", "unit", "start", "end", "quarters", "value"),
]


def faces(rows: Sequence[Row]) -> Filed:
    """The balance sheets of a filing, with the own element and the member."""
    found = []
    for place, (standard, element) in enumerate(zip(USUAL, LINES, strict=True)):
        own, member = element == LOAN, RELATED if element == NOTES else None
        words = {LOAN: "Loan from shareholder", NOTES: "Notes payable to related parties"}.get(element, element)
        of_taxonomy = (None if own else "us-gaap", own, False, False, member)
        for row in rows:
            if row["tag"] == standard:
                head = (CIK, row["accession"], FILING, "BS", None, place, words, element, *of_taxonomy)
                found.append((*head, None, None, "USD", None, date.fromisoformat(row["end"]), None, row["value"]))
    lines = pl.DataFrame(found, schema=COLUMNS, orient="row", infer_schema_length=None).with_columns(
        pl.col("parent", "member").cast(pl.String),
        pl.col("start").cast(pl.Date),
        pl.col("quarters", "report").cast(pl.Int32),
        pl.col("weight").cast(pl.Float64),
    )
    filings = pl.DataFrame({"cik": CIK, "accession": rows[0]["accession"], "form": "10-K", "filed": rows[0]["filed"]})
    facts = lines.clear().select(
        *("cik", "accession", "source", "taxonomy", "element", "own", "unit", "start", "end", "quarters", "value"),
        *("member", "label"),
    )
    return Filed(facts, lines, filings)


def standardized(*reports: Sequence[Row]) -> Standardized:
    """The values of reports with an own element and a member that companyfacts lacks."""
    left_out = ("AccountsPayableCurrent", "LongTermDebtNoncurrent")
    in_companyfacts = raw([row for rows in reports for row in rows if row["tag"] not in left_out])
    both = [faces(rows) for rows in reports]
    filed = Filed(*(pl.concat(getattr(each, field.name) for each in both) for field in fields(Filed)))
    return standardize(with_total_assets(in_companyfacts), filed=filed, validate=True)


@pytest.fixture(scope="module")
def found() -> Standardized:
    return standardized(report(USUAL))


def test_legs_say_where_their_facts_were_read(found):
    """The element, the member and the words as filed; a fact that companyfacts has is read there."""
    [debt] = found.versions.filter(item="total_debt", period_end=date.fromisoformat(DAY)).tail(1).to_dicts()
    names = ("tag", "source", "member", "label")
    assert {tuple(leg[name] for name in names) for leg in debt["legs"]} == {
        ("own:ShareholderLoan", "filing", None, "Loan from shareholder"),
        ("us-gaap:LongTermDebtCurrent", "companyfacts", None, None),
        ("us-gaap:NotesPayable", "filing", RELATED, "Notes payable to related parties"),
    }


def test_lines_of_balance_sheets_have_elements_as_filed(found):
    lines = found.balance_sheet_lines.filter(pl.col("class") == "borrowing").sort("element")
    assert lines.select("element", "member", "amount", "adds_up").rows() == [
        ("LongTermDebtCurrent", None, 5.25e6, True),
        ("NotesPayable", RELATED, 11.019e6, True),
        ("ShareholderLoan", None, 40.751e6, True),
    ]


def test_a_line_that_is_no_longer_stated_has_the_element_of_the_last_filing():
    before = report(USUAL, "2023-02-20", (BEFORE, "2021-12-31"))
    lines = standardized(before, report({**USUAL, "LongTermDebtNoncurrent": (None, None)})).balance_sheet_lines
    assert lines.filter(pl.col("amount").is_null()).select("element", "class").rows() == [(LOAN, "borrowing")]


def test_an_own_element_in_place_of_a_standard_one_is_no_change_of_standards():
    corrected = report(
        {**USUAL, "LongTermDebtNoncurrent": (41.751, 46.001), "OtherLiabilitiesNoncurrent": (8.119, 9.377)}
    )
    corrected = [row | {"form": "10-K/A", "filed": "2024-05-20", "accession": "corrected"} for row in corrected]
    in_companyfacts = [row for row in corrected if row["tag"] != "LongTermDebtNoncurrent"]
    facts = with_total_assets(raw(report(USUAL), in_companyfacts))
    versions = standardize(facts, filed=faces(corrected)).versions.filter(
        item="total_debt", period_end=date(2023, 12, 31)
    )
    assert versions.select("value", "cause").rows() == [(46.001e6, "initial"), (58.02e6, "restatement")]


def test_no_published_text_has_a_name_of_the_rules(found):
    """No table of values, and not the sources of the line items."""
    for field in fields(found):
        frame: pl.DataFrame = getattr(found, field.name)
        assert "face:" not in str(frame.to_dicts()), field.name
    for item in ("total_debt", "cash_and_equivalents"):
        assert "face:" not in describe_sources(item)
