"""Debt and cash of real balance sheets, for each known composition, compared with the filings' lines."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from tests.factories import Today, day, row_of, standardized, value_of
from tests.golden.conftest import facts_of

MILLION = 1e6

DEBT: dict[str, tuple[str, str, float]] = {
    # company, balance sheet, debt
    "commercial paper beside both halves": ("AAPL", "2025-09-27", 78_328 + 12_350 + 7_979),
    "current debt is the parent of maturities and commercial paper": ("PG", "2025-06-30", 24_995 + 9_513),
    "both halves with finance leases, loans and commercial paper": ("KO", "2025-12-31", 42_119 + 1_822 + 1_551),
    "finance leases are on lines of their own": ("WMT", "2026-01-31", 34_624 + 3_542 + 6_596),
    "notes and current notes": ("ORCL", "2026-05-31", 122_342 + 7_199),
    "maturities under two elements": ("NVDA", "2026-04-26", 7_470 + 1_000),
    "maturities tagged as short-term borrowings": ("MRVL", "2026-01-31", 4_470.6),
    "no current part, and so tagged": ("MRVL", "2026-05-02", 4_961.3),
    "convertible notes alone": ("SNOW", "2025-04-30", 2_273.6),
    "no debt, which the liabilities prove": ("SNOW", "2023-01-31", 0),
    "no debt, and other lines": ("META", "2019-12-31", 0),
    "no debt until the first bonds": ("AAPL", "2012-09-29", 0),
    "finance leases beside, larger than debt": ("MSFT", "2026-06-30", 40_294),
    "current part and total": ("GE", "2025-12-31", 18_808 + 1_686),
    "a bank's long-term debt and short-term borrowings": ("JPM", "2025-12-31", 435_206 + 64_776),
    "a bank's advances and notes": ("BVFL", "2025-03-31", 15.0 + 34.9),
    "a bank's advances, notes and a loan": ("BAFN", "2025-06-30", 47.7),
    "a line that is the total of advances and notes": ("AMAL", "2025-06-30", 75.5),
    "advances that are half another line": ("FBLA", "2025-09-30", 63.4),
    "a drawn credit line": ("TCBX", "2022-09-30", 111.2),
    "the limit of a credit line": ("FSBC", "2021-12-31", 28.4),
    "a bank that owes nothing but deposits": ("RRBI", "2025-09-30", 0),
    "current bonds are a part of the current borrowings": ("TSM", "2024-12-31", 926_604.5 + 31_824.4 + 59_857.9),
}

CASH: dict[str, tuple[str, str, float]] = {
    "the filer's own total": ("MSFT", "2026-06-30", 76_843),
    "cash and current securities": ("AAPL", "2020-09-26", 38_016 + 52_927),
    "securities under a new element": ("NVDA", "2026-04-26", 13_237 + 37_098 + 30_237),
    "restricted cash beside": ("WMT", "2026-01-31", 10_727),
    "restricted cash on the line": ("BRK-B", "2026-03-31", 58_810 - 688),
    "the total of the cash flow statement is the line": ("PG", "2025-06-30", 9_556),
    "a bank's two lines": ("JPM", "2025-12-31", 343_338),
    "a bank that lends overnight": ("MNSB", "2025-09-30", 127.3),
    "interest-bearing deposits within the line": ("CARE", "2025-09-30", 106.9),
    "securities as they are measured": ("TSM", "2024-12-31", 2_127_627.0 + 207.7 + 192_202.7 + 101_971.3),
    "marketable securities on one line": ("KHC", "2025-12-27", 2_615 + 1_060),
}

MISSED: dict[str, tuple[str, str, str, str]] = {
    "quarterly documents without securities": ("MSFT", "2026-03-31", "cash_and_equivalents", "securities_not_shown"),
    "short-term investments told once a year": ("KO", "2026-04-03", "cash_and_equivalents", "securities_not_shown"),
    "a mortgage without an element": ("ACU", "2023-12-31", "total_debt", "line_left_out"),
    "long-term debt under an element of its own": ("APD", "2023-12-31", "total_debt", "line_left_out"),
}

SECTIONS: dict[str, tuple[str, str, str, dict[str, tuple[float | None, float | None]]]] = {
    # company, the filing's own day, section, and both columns of its lines and its total
    "current liabilities with commercial paper": (
        "AAPL",
        "2025-09-27",
        "current liabilities",
        {
            "AccountsPayableCurrent": (69_860, 68_960),
            "OtherLiabilitiesCurrent": (66_387, 78_304),
            "ContractWithCustomerLiabilityCurrent": (9_055, 8_249),
            "CommercialPaper": (7_979, 9_967),
            "LongTermDebtCurrent": (12_350, 10_912),
            "LiabilitiesCurrent": (165_631, 176_392),
        },
    ),
    "current liabilities of a day without debt, which lack the line of partners": (
        "META",
        "2021-03-31",
        "current liabilities",
        {
            "AccountsPayableTradeCurrent": (878, 1_331),
            "AccountsPayableOtherCurrent": (1_006, 1_093),
            "OperatingLeaseLiabilityCurrent": (1_040, 1_023),
            "AccruedLiabilitiesCurrent": (9_411, 11_152),
            "ContractWithCustomerLiabilityCurrent": (334, None),
            "LiabilitiesCurrent": (12_717, 14_981),
        },
    ),
}

SYMBOLS = sorted({case[0] for cases in (DEBT, CASH, MISSED, SECTIONS) for case in cases.values()})


@pytest.fixture(scope="module")
def companies(mirror: Path, company_numbers: dict[str, str]) -> Today:
    """The companies of all cases, in one batch."""
    return standardized(facts_of(mirror, sorted({company_numbers[symbol] for symbol in SYMBOLS})))


@pytest.fixture(scope="module")
def served(companies: Today, company_numbers: dict[str, str]) -> Callable[[str, str, str], float | None]:
    """The value of a symbol, item and balance sheet, in millions."""

    def find(symbol: str, item: str, end: str) -> float | None:
        value = value_of(companies, item, "ttm", end, company_numbers[symbol])
        return None if value is None else value / MILLION

    return find


@pytest.mark.parametrize(("symbol", "end", "expected"), DEBT.values(), ids=DEBT)
def test_debt(served, symbol, end, expected):
    """The lines of the balance sheet, each once."""
    assert served(symbol, "total_debt", end) == pytest.approx(expected, rel=1e-4, abs=0.06)


@pytest.mark.parametrize(("symbol", "end", "expected"), CASH.values(), ids=CASH)
def test_cash(served, symbol, end, expected):
    """Cash and short-term investments, without restricted cash."""
    assert served(symbol, "cash_and_equivalents", end) == pytest.approx(expected, rel=1e-4, abs=0.06)


@pytest.mark.parametrize(("symbol", "end", "item", "reason"), MISSED.values(), ids=MISSED)
def test_a_line_that_disappeared_withholds_the_value(companies, company_numbers, symbol, end, item, reason):
    """A part of it was stated before and is nowhere in the document: no value, and the reason."""
    assert value_of(companies, item, "ttm", end, company_numbers[symbol]) is None
    assert row_of(companies.gaps, item, "ttm", end, company_numbers[symbol])["reason"] == reason


@pytest.mark.parametrize(("symbol", "end", "section", "expected"), SECTIONS.values(), ids=SECTIONS)
def test_the_lines_of_a_balance_sheet(companies, company_numbers, symbol, end, section, expected):
    """As the filing has them, in both columns."""
    lines = companies.found.balance_sheet_lines.filter(cik=company_numbers[symbol], section=section, day=day(end))
    in_millions = lines.select("element", pl.col("amount", "compared") / MILLION)

    assert {element: (own, compared) for element, own, compared in in_millions.rows()} == expected


def test_published_lines_add_up_to_their_total(companies):
    """In both columns, wherever the table says so; but for the rounding of their unit."""
    columns = companies.found.balance_sheet_lines.filter("adds_up").unpivot(
        ["amount", "compared"], index=["cik", "accession", "section", "class"]
    )
    signed = pl.when(pl.col("class") == "total").then(-1).otherwise(1) * pl.col("value")
    left = columns.group_by("cik", "accession", "section", "variable").agg(
        left=signed.sum().abs(), total=pl.col("value").filter(pl.col("class") == "total").first()
    )

    assert left.height > 1000
    assert left.filter(pl.col("left") > pl.col("total").abs() * 0.001).is_empty()


def test_no_debt_exceeds_the_liabilities(companies, mirror, company_numbers):
    """And no cash exceeds total assets, in every balance sheet of every company here."""
    wanted = dict.fromkeys(("us-gaap", "ifrs-full"), frozenset({"Liabilities", "Assets"}))
    facts = facts_of(mirror, sorted({company_numbers[symbol] for symbol in SYMBOLS}), wanted)
    filed = facts.with_columns(pl.col("end").str.to_date())
    totals = filed.filter(pl.col("value") > 0).group_by("cik", "tag", "end").agg(total=pl.col("value").max())
    pairs = pl.DataFrame({"item": ["total_debt", "cash_and_equivalents"], "tag": ["Liabilities", "Assets"]})

    both = companies.values.join(pairs, on="item").join(
        totals, left_on=["cik", "tag", "period_end"], right_on=["cik", "tag", "end"]
    )

    assert both.height > 1000
    assert both.filter(pl.col("value") > pl.col("total") * 1.001).is_empty()
