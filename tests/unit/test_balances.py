"""Total debt and cash from the lines of one balance sheet: no amount twice, and no part in addition to its total."""

import polars as pl
import pytest

from pipelines.normalize.balance import composition
from pipelines.normalize.elements import AMOUNT, CONCEPTS
from pipelines.normalize.facts.matching import used_of
from tests.factories import (
    CASH,
    CIK,
    NET_INCOME,
    REVENUE,
    Row,
    Today,
    day,
    fact,
    raw,
    row_of,
    standardized,
    stated,
    value_of,
    with_total_assets,
)
from tests.shapes.balances import NOTE, one_note

PARTS_ADD_UP = "classified.noncurrent-maturities-and-short-term"
WITH_CURRENT = "classified.noncurrent-and-current"
LARGEST_SUM = "instruments.largest-sum-without-double-counting"

DEBT_CASES = {
    # three lines that do not overlap
    "parts add up": ({"noncurrent": 70, "current_maturities": 20, "short_term": 10}, 100, PARTS_ADD_UP),
    "noncurrent alone": ({"noncurrent": 70}, 70, PARTS_ADD_UP),
    "maturities under two tags count once": (
        {"noncurrent": 70, "current_maturities": 20, "short_term": 20},
        90,
        "classified.noncurrent-and-maturities",
    ),
    "maturities under two tags, a rounding apart": (
        {"noncurrent": 70, "current_maturities": 20, "short_term": 20.01},
        90,
        "classified.noncurrent-and-maturities",
    ),
    # the total of maturities and short-term borrowings
    "current debt is the parent of both": (
        {"noncurrent": 70, "current_maturities": 20, "short_term": 10, "current": 30},
        100,
        WITH_CURRENT,
    ),
    "current debt covers unnamed lines": (
        {"noncurrent": 70, "current_maturities": 20, "short_term": 10, "current": 31},
        101,
        WITH_CURRENT,
    ),
    "current debt without parts": ({"noncurrent": 70, "current": 30}, 100, WITH_CURRENT),
    "current debt that is the maturities": (
        {"noncurrent": 70, "current_maturities": 20, "short_term": 10, "current": 20},
        100,
        "classified.noncurrent-current-and-short-term",
    ),
    "one amount under three tags": (
        {"noncurrent": 70, "current_maturities": 20, "short_term": 20, "current": 20},
        90,
        WITH_CURRENT,
    ),
    "current debt below the maturities is no parent": (
        {"noncurrent": 70, "current_maturities": 20, "short_term": 10, "current": 5},
        100,
        PARTS_ADD_UP,
    ),
    # totals of long-term debt
    "a whole beside all parts adds nothing": (
        {"noncurrent": 70, "current_maturities": 20, "long_term": 90},
        90,
        PARTS_ADD_UP,
    ),
    "a whole that repeats the noncurrent part": (
        {"noncurrent": 70, "current_maturities": 20, "long_term": 70},
        90,
        PARTS_ADD_UP,
    ),
    "a whole with unnamed maturities": (
        {"noncurrent": 70, "long_term": 90},
        90,
        "classified.long-term-debt-with-unnamed-maturities",
    ),
    "a whole with unnamed maturities, and short-term": (
        {"noncurrent": 70, "short_term": 10, "long_term": 90},
        100,
        "classified.long-term-debt-with-unnamed-maturities",
    ),
    "the maturities are tagged as short-term": (
        {"noncurrent": 70, "short_term": 20, "long_term": 90},
        90,
        "classified.long-term-debt-with-maturities-as-short-term",
    ),
    "a whole below its part is no whole": ({"noncurrent": 70, "short_term": 10, "long_term": 60}, 80, PARTS_ADD_UP),
    "a whole without parts": ({"long_term": 90}, 90, LARGEST_SUM),
    "a whole and short-term": ({"long_term": 90, "short_term": 10}, 100, LARGEST_SUM),
    "a whole with its maturities beside it": (
        {"long_term": 90, "current_maturities": 20},
        90,
        "classified.long-term-debt-and-short-term",
    ),
    "a whole, its maturities under the short-term tag too": (
        {"long_term": 90, "current_maturities": 20, "short_term": 20},
        90,
        "classified.long-term-debt",
    ),
    # instruments on an unclassified balance sheet
    "instruments add up": ({"advances": 50, "subordinated": 20, "junior": 10}, 80, LARGEST_SUM),
    "a total of the instruments beside them": (
        {"long_term": 80, "advances": 50, "subordinated": 20, "junior": 10},
        80,
        LARGEST_SUM,
    ),
    "a line that adds up the others": ({"other": 70, "advances": 50, "subordinated": 20}, 70, LARGEST_SUM),
    "a line beside the others": ({"other": 5, "advances": 50, "subordinated": 20}, 75, LARGEST_SUM),
    "one instrument under two elements": ({"other": 50, "advances": 50}, 50, LARGEST_SUM),
    "long-term debt covers the notes in it": ({"long_term": 90, "notes": 60}, 90, LARGEST_SUM),
    "advances above long-term debt are beside it": ({"long_term": 30, "advances": 50}, 80, LARGEST_SUM),
    "drawn credit lines count with proof alone": ({"advances": 50, "credit_line": 400}, 50, LARGEST_SUM),
    # one total of all debt
    "everything in one line": ({"all": 100}, 100, "filer-total"),
    "everything in one line beside parts": ({"noncurrent": 70, "current_maturities": 20, "all": 105}, 90, PARTS_ADD_UP),
    "everything in one line beside what is due": ({"current": 30, "all": 100}, 100, "classified.filer-total"),
    # no long-term debt
    "current debt only": ({"current": 30}, 30, "classified.current-alone"),
    "short-term only": ({"short_term": 10}, 10, LARGEST_SUM),
    "maturities only": ({"current_maturities": 20}, 20, "classified.maturities-and-short-term"),
    "maturities and short-term only": (
        {"current_maturities": 20, "short_term": 10},
        30,
        "classified.maturities-and-short-term",
    ),
    "the same maturities twice, and nothing else": (
        {"current_maturities": 20, "short_term": 20},
        20,
        "classified.maturities-alone",
    ),
    # zero is an amount
    "no debt, and said so": ({"noncurrent": 0, "current_maturities": 0}, 0, PARTS_ADD_UP),
    "a whole of nothing": ({"long_term": 0}, 0, "filed-as-zero"),
    "an instrument of nothing": ({"advances": 0}, 0, "filed-as-zero"),
}

CASH_CASES = {
    "the filer's own total comes first": (
        {"cash_total": 50, "cash": 30, "short_term_investments": 15},
        50,
        "filer-total",
    ),
    "a total without parts": ({"cash_total": 50}, 50, "filer-total"),
    "a total below its cash is no total": (
        {"cash_total": 20, "cash": 30, "short_term_investments": 15},
        45,
        "cash-and-securities",
    ),
    "cash and the securities beside it": ({"cash": 30, "short_term_investments": 15}, 45, "cash-and-securities"),
    "cash alone": ({"cash": 30}, 30, "cash-alone"),
    "nothing held": ({"cash": 0}, 0, "cash-alone"),
}


Case = tuple[dict[str, float], float, str]


def of_cases(cases: dict[str, Case], first: int = 0) -> list[tuple[int, float, str]]:
    """The number of each case (that of its company), its amount and its rule."""
    return [(number, amount, rule) for number, (_, amount, rule) in enumerate(cases.values(), first)]


ELEMENT = {concept.name: concept.sources[0].counted[0] for concept in CONCEPTS}
"""An element that states each line."""


def sheet(lines: dict[str, float]) -> pl.DataFrame:
    """One balance sheet with some lines and total assets, in millions, on the fiscal grid."""
    rows = [
        {"concept": name, "value": value * 1e6, "vintage": number, "used": used_of(name, 0, [ELEMENT[name]])}
        for number, (name, value) in enumerate({"assets": 500, **lines}.items())
    ]
    return pl.DataFrame(rows, schema_overrides={"vintage": pl.UInt32, "concept": AMOUNT}).with_columns(
        cik=pl.lit(int(CIK), pl.Int64),
        q=pl.lit(4, pl.Int32),
        seq=pl.lit(0, pl.Int32),
        n=pl.lit(0, pl.Int32),
        rank=pl.lit(0, pl.Int16),
        end=pl.lit(day("2023-12-31")),
        filed=pl.lit(day("2024-02-20")),
        regime=pl.lit(0, pl.Int32),
        amended=pl.lit(value=False),
        grain=pl.lit(1e6),
    )


def balances(sheets: pl.DataFrame) -> composition.Balances:
    """Debt and cash of companies without a special industry."""
    filings = sheets.select("cik", "seq").unique().sort("cik", "seq")
    return composition.balances(sheets, filings.with_columns(industry=pl.lit("general")))


def of_debt(lines: dict[str, float]) -> dict[str, float]:
    return {f"debt_{name}": value for name, value in lines.items()}


@pytest.fixture(scope="module")
def composed() -> pl.DataFrame:
    """The result of each case above: one company per case, in their order, in one batch."""
    cases = [*(of_debt(lines) for lines, *_ in DEBT_CASES.values()), *(lines for lines, *_ in CASH_CASES.values())]
    sheets = [sheet(lines).with_columns(cik=pl.lit(number, pl.Int64)) for number, lines in enumerate(cases)]
    return balances(pl.concat(sheets)).composed


@pytest.mark.parametrize(("number", "debt", "rule"), of_cases(DEBT_CASES), ids=DEBT_CASES)
def test_total_debt(composed, number, debt, rule):
    """Long-term debt, current maturities and short-term borrowings, each amount once, with the rule of the value."""
    found = composed.filter(cik=number)

    assert found["value"].to_list() == pytest.approx([debt * 1e6], rel=1e-6)
    assert found["rule"].to_list() == [f"debt.{rule}"]


@pytest.mark.parametrize(("number", "cash", "rule"), of_cases(CASH_CASES, len(DEBT_CASES)), ids=CASH_CASES)
def test_cash_and_equivalents(composed, number, cash, rule):
    found = composed.filter(cik=number)

    assert found.select("value", "rule").rows() == [(cash * 1e6, f"cash.{rule}")]


@pytest.mark.parametrize(
    ("lines", "is_flagged"),
    [
        ({"noncurrent": 70, "current_maturities": 20, "long_term": 90}, False),
        ({"noncurrent": 70, "current_maturities": 20, "short_term": 10, "long_term": 90, "all": 100}, False),
        ({"noncurrent": 70, "current_maturities": 20, "long_term": 70}, False),
        ({"noncurrent": 70, "current_maturities": 20, "long_term": 97}, True),
        ({"noncurrent": 70, "current_maturities": 20, "all": 120}, True),
    ],
)
def test_a_total_that_contradicts_its_parts_is_flagged(lines, is_flagged):
    """The sum of the lines is used if the filer's own total is neither it nor it without short-term borrowings."""
    found = balances(sheet(of_debt(lines)))

    assert found.composed["flag"].to_list() == [composition.CONTRADICTED if is_flagged else None]
    assert ("debt.total-contradicts-parts" in found.decisions["rule"]) == is_flagged


def test_a_balance_sheet_without_such_lines_has_no_value():
    """A missing line is not zero, and securities without cash are not cash."""
    found = balances(sheet({"assets": 500, "short_term_investments": 15}))

    assert found.composed.is_empty()
    assert found.parts.is_empty()


def test_no_lines_give_empty_frames():
    found = balances(sheet({"assets": 500}).clear())
    lines, decisions = composition.single_lines(sheet({"cash": 30}).filter(pl.col("concept") == "cash"))

    assert found.composed.schema == composition.COMPOSED
    assert found.parts.schema == composition.PARTS
    assert [frame.height for frame in (found.composed, found.missed, found.decisions, lines, decisions)] == [0] * 5


def test_the_lines_that_were_added_are_kept():
    """With their precision: a sum of two lines has two rounding errors."""
    lines = {"debt_short_term": 20, "debt_current_maturities": 20, "debt_noncurrent": 70}

    found = balances(sheet(lines))

    assert found.composed.select("sum", "concept", "grain").rows() == [(0, "total_debt", 2e6)]
    assert found.parts.rows() == [(0, 3, None), (0, 2, None)]


# --- From filings


def filed(date_filed: str, form: str = "10-K", **lines: float) -> list[Row]:
    """A report on 2023 and its balance sheet, or a later report that shows it again; amounts in millions."""
    year = 2023 if date_filed < "2025" else 2024
    flows = [
        fact(tag, 100e6, f"{year}-01-01", f"{year}-12-31", form=form, filed=date_filed) for tag in (REVENUE, NET_INCOME)
    ]
    return [
        *flows,
        *(fact(tag, value * 1e6, None, "2023-12-31", form=form, filed=date_filed) for tag, value in lines.items()),
    ]


def of_ifrs(**lines: float) -> list[Row]:
    """A report on 2023 under IFRS and its balance sheet."""
    return [{**row, "taxonomy": "ifrs-full"} for row in filed("2024-02-20", "20-F", **lines)]


def of_a_bank(**lines: float) -> list[Row]:
    """A report on 2023 of a bank, with some lines of its balance sheet."""
    income = [
        fact(tag, 50e6, "2023-01-01", "2023-12-31", filed="2024-02-20")
        for tag in ("InterestIncomeExpenseNet", "NoninterestIncome")
    ]
    return [*filed("2024-02-20", Deposits=900, **lines), *income]


PARTS = {"LongTermDebtNoncurrent": 70, "LongTermDebtCurrent": 20, "ShortTermBorrowings": 10}
CASH_AND_SECURITIES = {CASH: 30, "MarketableSecuritiesCurrent": 15}
NOTES = {"NotesPayable": 60, "LoansPayable": 15}
MORTGAGES_NAMED = [
    *filed("2024-02-20", **NOTES),
    *filed("2024-05-02", form="10-Q", **NOTES, SecuredDebt=9),
    *filed("2025-02-20", **NOTES),
]
ONE_LINE = {"LongTermDebtNoncurrent": 70, "ShortTermBorrowings": 10}
RESTRICTED = "CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents"

OF_AVEPOINT = {
    "AccountsPayableCurrent": 1.384,
    "AccruedLiabilitiesAndOtherLiabilities": 53.766,
    "OperatingLeaseLiabilityCurrent": 5.3,
    "ContractWithCustomerLiabilityCurrent": 121.515,
    "LiabilitiesCurrent": 176.665,
    "ContractWithCustomerLiabilityNoncurrent": 7.741,
    "OtherLiabilitiesNoncurrent": 5.603,
    "BusinessCombinationContingentConsiderationLiabilityNoncurrent": 18.346,
    "DeferredCompensationSharebasedArrangementsLiabilityClassifiedNoncurrent": 9.383,
    "Liabilities": 217.738,
}

LEASES = {
    "LinesOfCreditCurrent": 6.516,
    "NotesPayableCurrent": 0.093,
    "LongTermNotesPayable": 0.024,
    "OtherShortTermBorrowings": 0.503,
    "OperatingLeaseLiabilityNoncurrent": 1.529,
}

TOTAL_OF_FLOWS = {"CashCashEquivalentsAndShortTermInvestments": 53.555, RESTRICTED: 53.555, "RestrictedCash": 17.2}
OF_GOOGLE = {
    "LongTermDebtNoncurrent": 1_990,
    "LongTermDebtAndCapitalLeaseObligations": 2_236,
    "CapitalLeaseObligationsNoncurrent": 246,
    "LongTermDebtAndCapitalLeaseObligationsCurrent": 1_009,
    "DebtCurrent": 3_009,
}
"""At the end of 2013: the line of the balance sheet is 2,236, and current debt includes leases of 9."""

FILED: dict[str, tuple[list[Row], str, float | None]] = {
    "secured debt of any term is more than the current debt": (
        filed("2024-02-20", DebtCurrent=111, SecuredDebt=126, OtherBorrowings=12, Liabilities=130),
        "total_debt",
        None,
    ),
    "two equal lines of the current liabilities": (
        filed(
            "2024-02-20",
            LongTermDebtNoncurrent=70,
            LongTermDebtCurrent=20,
            ShortTermBorrowings=20,
            AccountsPayableTradeCurrent=30,
            LiabilitiesCurrent=70,
        ),
        "total_debt",
        110,
    ),
    # filed figures, item, its amount at the end of 2023
    "elements become debt": (filed("2024-02-20", **PARTS, **CASH_AND_SECURITIES), "total_debt", 100),
    "and cash": (filed("2024-02-20", **PARTS, **CASH_AND_SECURITIES), "cash_and_equivalents", 45),
    # AAR in 2012: its credit line, which is due, is among the current maturities
    "short-term borrowings among the current maturities": (
        filed(
            "2024-02-20",
            LongTermDebtNoncurrent=599.321,
            LongTermDebtCurrent=221.661,
            ShortTermBorrowings=201.589,
            CapitalLeaseObligationsCurrent=0.085,
            AccountsPayableCurrent=194.481,
            AccruedLiabilitiesCurrent=144.759,
            LiabilitiesCurrent=560.986,
        ),
        "total_debt",
        820.982,
    ),
    # a small line may be hidden among other liabilities
    "small borrowings that the current liabilities do not show": (
        filed(
            "2024-02-20",
            LongTermDebtNoncurrent=1366.111,
            LongTermDebtCurrent=12.007,
            ShortTermBorrowings=1.003,
            AccountsPayableCurrent=900.123,
            LiabilitiesCurrent=912.130,
        ),
        "total_debt",
        1379.121,
    ),
    # Applied Optoelectronics in 2024: long-term debt is stated as zero
    "instruments that the non-current liabilities prove": (
        filed(
            "2024-02-20",
            LongTermDebtCurrent=26.682,
            LongTermDebtNoncurrent=0,
            ConvertibleLongTermNotesPayable=134.497,
            NotesPayableToBankNoncurrent=4.313,
            OperatingLeaseLiabilityNoncurrent=9.041,
            LiabilitiesCurrent=170.069,
            Liabilities=317.920,
        ),
        "total_debt",
        165.492,
    ),
    # Advanced Oxygen in 2025: the current liabilities have no room for what is due, which is the non-current loan
    "one loan as current and as non-current": (
        filed(
            "2024-02-20",
            LongTermDebtCurrent=0.127029,
            LongTermDebtNoncurrent=0,
            LongTermDebt=0.127029,
            LongTermNotesPayable=0.127029,
            LiabilitiesCurrent=0.150434,
            Liabilities=0.277463,
        ),
        "total_debt",
        0.127029,
    ),
    "two current instruments beside the maturities": (
        filed(
            "2024-02-20",
            LongTermDebtNoncurrent=70.707,
            LongTermDebtCurrent=30.303,
            ConvertibleNotesPayableCurrent=10.101,
            SubordinatedDebtCurrent=5.252,
            AccountsPayableCurrent=40.404,
            LiabilitiesCurrent=86.060,
        ),
        "total_debt",
        116.363,
    ),
    # Coca-Cola in 2023: its line of loans and notes payable includes commercial paper
    "loans and notes on the balance sheet": (
        filed(
            "2024-02-20",
            LongTermDebtNoncurrent=35626,
            LongTermDebtCurrent=1171,
            CommercialPaper=4643,
            NotesAndLoansPayable=4828,
            AccountsPayableAndAccruedLiabilitiesCurrent=16483,
            AccruedIncomeTaxesCurrent=1633,
            LiabilitiesCurrent=24115,
        ),
        "total_debt",
        41625,
    ),
    # AvePoint in 2023: the current leases are within the accrued liabilities
    "no debt by both totals": (filed("2024-02-20", **OF_AVEPOINT), "total_debt", 0),
    "no debt by both totals, but a line is missing": (
        filed("2024-02-20", **{**OF_AVEPOINT, "Liabilities": 218.738}),
        "total_debt",
        None,
    ),
    # Sweets & Treats in 2015
    "notes to related parties that the totals prove": (
        filed(
            "2024-02-20",
            AccountsPayableAndAccruedLiabilitiesCurrent=0.022525,
            AccruedLiabilitiesCurrent=0.000055,
            CustomerDepositsCurrent=0.000304,
            SalesAndExciseTaxPayableCurrent=0.000012,
            NotesPayableRelatedPartiesClassifiedCurrent=0.010152,
            LiabilitiesCurrent=0.033048,
            Liabilities=0.033048,
        ),
        "total_debt",
        0.010152,
    ),
    # General Electric in 2014: a line of its own has no element; the total includes finance leases as its parts do
    "the filer's total with finance leases": (
        filed(
            "2024-02-20",
            LongTermDebtAndCapitalLeaseObligations=186596,
            ShortTermBorrowings=70425,
            DebtAndCapitalLeaseObligations=261424,
            Liabilities=518023,
        ),
        "total_debt",
        261424,
    ),
    # Air Transport Services in 2023: its line is "cash, cash equivalents and restricted cash"
    "a total of cash that is that of the cash flow statement": (
        filed("2024-02-20", **TOTAL_OF_FLOWS),
        "cash_and_equivalents",
        36.355,
    ),
    "a total of cash that is not that of the cash flow statement": (
        filed("2024-02-20", **{**TOTAL_OF_FLOWS, RESTRICTED: 53.556}),
        "cash_and_equivalents",
        53.555,
    ),
    "a total of cash without restricted cash": (
        filed("2024-02-20", **{**TOTAL_OF_FLOWS, "RestrictedCash": 0}),
        "cash_and_equivalents",
        53.555,
    ),
    "a total of cash beside its line of cash": (
        filed("2024-02-20", **TOTAL_OF_FLOWS, CashAndCashEquivalentsAtCarryingValue=30),
        "cash_and_equivalents",
        53.555,
    ),
    "both parts with finance leases": (filed("2024-02-20", **OF_GOOGLE), "total_debt", 5_245),
    "a line that is not long-term debt and leases": (
        filed("2024-02-20", **{**OF_GOOGLE, "CapitalLeaseObligationsNoncurrent": 240}),
        "total_debt",
        4_999,
    ),
    "current maturities without finance leases": (
        filed("2024-02-20", **OF_GOOGLE, LongTermDebtCurrent=1_000),
        "total_debt",
        4_999,
    ),
    # United Parcel Service in 2022: the line is all debt, with its maturities, and the leases are a part of it
    "a line of all debt under the element of the non-current part": (
        filed(
            "2024-02-20",
            LongTermDebtNoncurrent=17_321,
            LongTermDebtAndCapitalLeaseObligations=19_662,
            FinanceLeaseLiabilityNoncurrent=298,
            LongTermDebtAndCapitalLeaseObligationsCurrent=2_341,
            LongTermDebtCurrent=2_341,
        ),
        "total_debt",
        19_662,
    ),
    # BK Technologies in 2022 and 2023: its leases are under elements of borrowings
    "leases that add up to the operating lease liability": (
        filed(
            "2024-02-20",
            LinesOfCreditCurrent=3.958,
            NotesPayableCurrent=0.272,
            LongTermDebtAndCapitalLeaseObligations=2.032,
            OtherShortTermBorrowings=0.466,
            OperatingLeaseLiability=2.498,
        ),
        "total_debt",
        4.23,
    ),
    "current leases, and later without their total": (
        [
            *filed("2024-02-20", **LEASES, OperatingLeaseLiability=2.032),
            *filed("2024-05-04", form="10-Q", **LEASES),
        ],
        "total_debt",
        6.633,
    ),
    # Netflix in 2022: its total includes restricted cash
    "current assets that add up without the filer's total": (
        filed(
            "2024-02-20",
            CashCashEquivalentsAndShortTermInvestments=6081.858,
            CashAndCashEquivalentsAtCarryingValue=5147.176,
            ShortTermInvestments=911.276,
            OtherAssetsCurrent=3208.021,
            AssetsCurrent=9266.473,
        ),
        "cash_and_equivalents",
        6058.452,
    ),
    # Red Cat in 2023: the cash flow statement includes the cash of a business for sale
    "the element for cash alone, and investments": (
        filed(
            "2024-02-20",
            Cash=3.173649,
            **{RESTRICTED: 3.260305},
            Investments=12.814038,
            AccountsReceivableNetCurrent=0.719862,
            InventoryNet=8.920573,
            OtherAssetsCurrent=1.263735,
            AssetsOfDisposalGroupIncludingDiscontinuedOperationCurrent=5.283155,
            AssetsCurrent=32.175012,
        ),
        "cash_and_equivalents",
        15.987687,
    ),
    # General Electric in 2023: the line of cash includes restricted cash
    "securities beside cash with restricted cash": (
        filed(
            "2024-02-20",
            **{RESTRICTED: 16967},
            RestrictedCash=447,
            EquitySecuritiesFvNi=5706,
            ReceivablesNetCurrent=15466,
            InventoryNet=16528,
            ContractWithCustomerAssetNetCurrent=1500,
            OtherAssetsCurrent=1647,
            AssetsOfDisposalGroupIncludingDiscontinuedOperationCurrent=1985,
            AssetsCurrent=59799,
        ),
        "cash_and_equivalents",
        22226,
    ),
    # SharpLink in 2022: the cash flow statement includes restricted cash and that of a business for sale
    "cash alone beside restricted cash": (
        filed(
            "2024-02-20",
            **{f"{RESTRICTED}IncludingDisposalGroupAndDiscontinuedOperations": 51.105486},
            Cash=39.324529,
            RestrictedCash=11.132957,
        ),
        "cash_and_equivalents",
        39.324529,
    ),
    # Mastercard in 2023: its marketable securities are equity securities, which are not current
    "investments of both classes": (
        filed(
            "2024-02-20",
            CashAndCashEquivalentsAtCarryingValue=8588,
            Investments=592,
            MarketableSecurities=506,
            AvailableForSaleSecuritiesDebtSecurities=286,
            HeldToMaturitySecurities=306,
            AssetsCurrent=18961,
        ),
        "cash_and_equivalents",
        9180,
    ),
    # Scientific Energy in 2022
    "a cash flow statement less bank overdrafts": (
        filed(
            "2024-02-20",
            **{RESTRICTED: 2.077797},
            CashAndCashEquivalentsAtCarryingValue=2.677775,
            BankOverdrafts=0.599978,
        ),
        "cash_and_equivalents",
        2.677775,
    ),
    # General Electric in 2014: the element of all current debt states only a part of it
    "current debt that is less than the short-term borrowings": (
        filed("2024-02-20", LongTermDebtAndCapitalLeaseObligations=187, DebtCurrent=12, ShortTermBorrowings=70),
        "total_debt",
        257,
    ),
    # the next year's report shows only long-term debt of the old balance sheet: missing lines are not a restatement
    "a later report with fewer lines of debt restates nothing": (
        [*filed("2024-02-20", **PARTS), *filed("2025-02-20", LongTermDebtNoncurrent=70)],
        "total_debt",
        100,
    ),
    "a later report without securities restates nothing": (
        [*filed("2024-02-20", **CASH_AND_SECURITIES), *filed("2025-02-20", **{CASH: 30})],
        "cash_and_equivalents",
        45,
    ),
    "a later report with the same lines restates": (
        [*filed("2024-02-20", **PARTS), *filed("2025-02-20", **{**PARTS, "LongTermDebtNoncurrent": 75})],
        "total_debt",
        105,
    ),
    # mortgages under an element of the filer's own are under one of the taxonomy a quarter later;
    # the year after shows only the old lines again, which withdraws nothing
    "before a line has an element of the taxonomy": (filed("2024-02-20", **NOTES), "total_debt", 75),
    "a later report that states one line more restates": (
        [row for row in MORTGAGES_NAMED if row["filed"] < "2025"],
        "total_debt",
        84,
    ),
    "a report without it again takes nothing away": (MORTGAGES_NAMED, "total_debt", 84),
    # the next year's report splits one line into two elements, one of them for a part of the other
    "an amount within a line is no line more": (
        [
            *filed("2024-02-20", **ONE_LINE),
            *filed("2025-02-20", **ONE_LINE, NotesPayableRelatedPartiesNoncurrent=40),
        ],
        "total_debt",
        80,
    ),
    "an amendment restates with whatever lines": (
        [*filed("2024-02-20", **PARTS), *filed("2024-06-20", form="10-K/A", LongTermDebt=110)],
        "total_debt",
        110,
    ),
    # JPMorgan's 10-Q/A of 2012 repeats long-term debt of the year end without commercial paper
    "an amendment that lacks a line restates nothing": (
        [*filed("2024-02-20", **PARTS), *filed("2024-06-20", form="10-Q/A", LongTermDebtNoncurrent=70)],
        "total_debt",
        100,
    ),
    "current bonds are within the current portion of borrowings": (
        of_ifrs(
            NoncurrentPortionOfNoncurrentBondsIssued=70,
            CurrentPortionOfLongtermBorrowings=20,
            CurrentBondsIssuedAndCurrentPortionOfNoncurrentBondsIssued=15,
        ),
        "total_debt",
        90,
    ),
    "current bonds that are larger are beside it": (
        of_ifrs(
            NoncurrentPortionOfNoncurrentBondsIssued=70,
            CurrentPortionOfLongtermBorrowings=20,
            CurrentBondsIssuedAndCurrentPortionOfNoncurrentBondsIssued=25,
        ),
        "total_debt",
        115,
    ),
    "current bonds alone": (
        of_ifrs(
            NoncurrentPortionOfNoncurrentBondsIssued=70,
            CurrentBondsIssuedAndCurrentPortionOfNoncurrentBondsIssued=15,
        ),
        "total_debt",
        85,
    ),
    "two filings never make one balance sheet": (
        [*filed("2024-02-20", LongTermDebtNoncurrent=70), *filed("2025-02-20", LongTermDebtCurrent=20)],
        "total_debt",
        70,
    ),
    # its securities are its business and not cash
    "a bank holds its cash on two lines": (
        of_a_bank(CashAndDueFromBanks=20, InterestBearingDepositsInBanks=300, ShortTermInvestments=50),
        "cash_and_equivalents",
        320,
    ),
    # short-term borrowings are never all of the debt
    "a bank with unsecured debt": (of_a_bank(UnsecuredLongTermDebt=240, ShortTermBorrowings=70), "total_debt", 310),
    "a bank with senior notes": (of_a_bank(SeniorLongTermNotes=240, ShortTermBorrowings=70), "total_debt", 310),
    "unsecured debt has its maturities apart": (
        filed("2024-02-20", UnsecuredLongTermDebt=27, UnsecuredDebtCurrent=7),
        "total_debt",
        34,
    ),
    "operating leases, deposits and payables are no debt": (
        filed(
            "2024-02-20",
            **{
                "OperatingLeaseLiabilityNoncurrent": 40,
                "Deposits": 900,
                "AccountsPayableCurrent": 30,
                "SecuritiesSoldUnderAgreementsToRepurchase": 60,
                CASH: 1,
            },
        ),
        "total_debt",
        None,
    ),
    # a filer whose only line of cash is the total of the cash flow statement
    "restricted cash that is stated apart is taken off": (
        filed("2024-02-20", **{RESTRICTED: 30, "RestrictedCashAndCashEquivalents": 4}),
        "cash_and_equivalents",
        26,
    ),
}

FLAGGED: dict[str, tuple[dict[str, float], str, str]] = {
    "finance leases": ({"LongTermDebtAndCapitalLeaseObligations": 70}, "total_debt", "includes_finance_leases"),
    "principal": ({"DebtLongtermAndShorttermCombinedAmount": 70}, "total_debt", "may_be_principal"),
    "restricted cash": ({RESTRICTED: 30}, "cash_and_equivalents", "may_include_restricted_cash"),
    "nothing besides": ({"LongTermDebtNoncurrent": 70, CASH: 30}, "total_debt", ""),
}

NONCURRENT_LIABILITIES = {"OtherLiabilitiesNoncurrent": 20, "Liabilities": 150}
RULES: dict[str, tuple[list[Row], str, float | None]] = {
    # rule, a filing that it decides, item, amount
    "cash.securities.current-by-footing": (
        filed(
            "2024-02-20",
            AssetsCurrent=60,
            AccountsReceivableNetCurrent=10,
            AvailableForSaleSecuritiesDebtSecurities=30,
            **{CASH: 20},
        ),
        "cash_and_equivalents",
        50,
    ),
    "cash.without-securities-by-footing": (
        filed(
            "2024-02-20",
            AssetsCurrent=40,
            AccountsReceivableNetCurrent=10,
            ShortTermInvestments=15,
            **{CASH: 30},
        ),
        "cash_and_equivalents",
        30,
    ),
    "cash.total-contradicts-parts": (
        filed("2024-02-20", CashCashEquivalentsAndShortTermInvestments=60, ShortTermInvestments=15, **{CASH: 30}),
        "cash_and_equivalents",
        60,
    ),
    "debt.classified.long-term-debt-with-maturities-as-short-term": (
        filed("2024-02-20", LongTermDebtNoncurrent=70, ShortTermBorrowings=20, LongTermDebt=90),
        "total_debt",
        90,
    ),
    "debt.classified.long-term-debt-with-unnamed-maturities": (
        filed("2024-02-20", LongTermDebtNoncurrent=70, ShortTermBorrowings=10, LongTermDebt=90),
        "total_debt",
        100,
    ),
    "debt.classified.noncurrent-current-and-short-term": (
        filed("2024-02-20", LongTermDebtNoncurrent=70, LongTermDebtCurrent=20, DebtCurrent=20, ShortTermBorrowings=10),
        "total_debt",
        100,
    ),
    "debt.classified.noncurrent-and-current": (
        filed("2024-02-20", LongTermDebtNoncurrent=70, LongTermDebtCurrent=20, DebtCurrent=31, ShortTermBorrowings=10),
        "total_debt",
        101,
    ),
    "debt.classified.noncurrent-and-short-term-by-footing": (
        filed(
            "2024-02-20",
            LongTermDebtNoncurrent=70,
            LongTermDebtCurrent=20,
            ShortTermBorrowings=50,
            AccountsPayableAndAccruedLiabilitiesCurrent=30,
            LiabilitiesCurrent=80,
        ),
        "total_debt",
        120,
    ),
    "debt.classified.noncurrent-and-maturities": (
        filed("2024-02-20", LongTermDebtNoncurrent=70, LongTermDebtCurrent=20, ShortTermBorrowings=20),
        "total_debt",
        90,
    ),
    "debt.classified.noncurrent-maturities-and-short-term": (filed("2024-02-20", **PARTS), "total_debt", 100),
    "debt.classified.long-term-debt": (
        filed("2024-02-20", LongTermDebt=90, LongTermDebtCurrent=20, ShortTermBorrowings=20),
        "total_debt",
        90,
    ),
    "debt.classified.long-term-debt-and-short-term": (
        filed("2024-02-20", LongTermDebt=90, LongTermDebtCurrent=20, ShortTermBorrowings=10),
        "total_debt",
        100,
    ),
    "debt.classified.filer-total": (
        filed("2024-02-20", DebtCurrent=30, DebtLongtermAndShorttermCombinedAmount=100),
        "total_debt",
        100,
    ),
    "debt.classified.current-alone": (filed("2024-02-20", DebtCurrent=30), "total_debt", 30),
    "debt.classified.maturities-alone": (
        filed("2024-02-20", LongTermDebtCurrent=20, ShortTermBorrowings=20),
        "total_debt",
        20,
    ),
    "debt.classified.maturities-and-short-term": (
        filed("2024-02-20", LongTermDebtCurrent=20, ShortTermBorrowings=10),
        "total_debt",
        30,
    ),
    "debt.filed-as-zero": (filed("2024-02-20", LongTermDebt=0), "total_debt", 0),
    "debt.filer-total": (filed("2024-02-20", DebtLongtermAndShorttermCombinedAmount=100), "total_debt", 100),
    "debt.total-contradicts-parts": (filed("2024-02-20", **{**PARTS, "LongTermDebt": 97}), "total_debt", 100),
    "debt.short-term.without-maturities": (
        filed(
            "2024-02-20",
            LongTermDebtNoncurrent=70,
            LongTermDebtCurrent=20,
            ShortTermBorrowings=30,
            CommercialPaper=10,
        ),
        "total_debt",
        100,
    ),
    "debt.short-term.notes-payable": (
        filed("2024-02-20", LongTermDebtNoncurrent=70, LongTermDebtCurrent=20, NotesPayableCurrent=15),
        "total_debt",
        105,
    ),
    "debt.notes.noncurrent-by-footing": (
        filed("2024-02-20", NotesPayable=70, DebtCurrent=20, LiabilitiesCurrent=60, **NONCURRENT_LIABILITIES),
        "total_debt",
        90,
    ),
    "debt.notes.long-term-debt-by-footing": (
        filed("2024-02-20", NotesPayable=75, LongTermDebtCurrent=15, LiabilitiesCurrent=70, **NONCURRENT_LIABILITIES),
        "total_debt",
        75,
    ),
    "debt.long-term-debt.noncurrent": (
        filed("2024-02-20", LongTermDebt=60, LongTermDebtCurrent=20, LiabilitiesCurrent=70, **NONCURRENT_LIABILITIES),
        "total_debt",
        80,
    ),
    "debt.beside.noncurrent-instrument": (
        filed("2024-02-20", LongTermDebtNoncurrent=30, ConvertibleDebtNoncurrent=50),
        "total_debt",
        80,
    ),
    "debt.filer-total-below-lines": (
        filed(
            "2024-02-20",
            LongTermDebtNoncurrent=269,
            LongTermDebtCurrent=17,
            DebtLongtermAndShorttermCombinedAmount=271,
        ),
        "total_debt",
        271,
    ),
    "debt.beside.other-borrowings": (
        filed("2024-02-20", DebtCurrent=111, OtherBorrowings=15, SecuredDebt=126),
        "total_debt",
        126,
    ),
    "debt.beside.short-term-loans": (
        filed(
            "2024-02-20",
            LongTermNotesPayable=102,
            ShortTermBorrowings=2,
            LoansPayableCurrent=32,
            LiabilitiesCurrent=145,
        ),
        "total_debt",
        136,
    ),
    "debt.current.exact-amount": (
        filed("2024-02-20", LongTermDebtNoncurrent=300, LongTermDebtCurrent=17, ShortTermBorrowings=59, DebtCurrent=60),
        "total_debt",
        359,
    ),
    "debt.short-term.net-of-issue-costs": (
        filed(
            "2024-02-20",
            LongTermDebtNoncurrent=300,
            NotesPayableCurrent=24,
            NotesAndLoansPayableCurrent=27,
            DeferredFinanceCostsCurrentNet=3,
        ),
        "total_debt",
        324,
    ),
    "debt.current-maturities.part-of-notes-and-loans": (
        filed("2024-02-20", LongTermDebtNoncurrent=300, NotesPayableCurrent=24, NotesAndLoansPayableCurrent=27),
        "total_debt",
        327,
    ),
    "debt.withheld.part-exceeds-its-liabilities": (
        filed("2024-02-20", LongTermDebtNoncurrent=20, LongTermDebtCurrent=5, Liabilities=60, LiabilitiesCurrent=45),
        "total_debt",
        None,
    ),
    "debt.beside.long-term-debt-by-footing": (
        filed("2024-02-20", LongTermLoansPayable=55, LongTermDebt=9, LiabilitiesCurrent=192, Liabilities=256),
        "total_debt",
        64,
    ),
    "debt.beside.current-instrument": (
        filed("2024-02-20", LongTermDebtNoncurrent=30, LongTermDebtCurrent=5, ConvertibleDebtCurrent=40),
        "total_debt",
        75,
    ),
    "debt.filer-total-above-notes": (
        filed("2024-02-20", LongTermDebtNoncurrent=30, DebtLongtermAndShorttermCombinedAmount=60, Liabilities=100),
        "total_debt",
        60,
    ),
    "debt.withheld.current-maturities-with-larger-notes": (
        filed("2024-02-20", DebtCurrent=5, NotesPayable=60),
        "total_debt",
        None,
    ),
    "balance.restated.filer-total": (
        [*filed("2024-02-20", **PARTS), *filed("2025-02-20", DebtLongtermAndShorttermCombinedAmount=130)],
        "total_debt",
        130,
    ),
    "balance.left-out.below-filer-total": (
        [
            *filed("2024-02-20", LongTermDebtNoncurrent=70),
            *filed("2025-02-20", LongTermDebtNoncurrent=70, LongTermDebt=90),
            *filed("2026-02-20", LongTermDebtNoncurrent=70, LongTermDebt=70),
        ],
        "total_debt",
        90,
    ),
    "balance.restated.by-amendment": FILED["an amendment restates with whatever lines"],
    "balance.restated.same-elements": FILED["a later report with the same lines restates"],
    "balance.restated.more-lines": FILED["a later report that states one line more restates"],
    "balance.left-out.other-lines": FILED["a report without it again takes nothing away"],
}

COMPANIES = [
    *(rows for rows, *_ in FILED.values()),
    *(filed("2024-02-20", **lines) for lines, *_ in FLAGGED.values()),
    *(rows for rows, *_ in RULES.values()),
]
"""The filings of each company of the cases above, in their order."""


def company(number: int) -> str:
    return f"{9_990_010_000 + number}"


def numbered(rows: list[Row], number: int) -> list[Row]:
    """The filings of one case under the CIK of its own company."""
    return [{**row, "cik": company(number), "accession": f"{number}-{row['accession']}"} for row in rows]


@pytest.fixture(scope="module")
def filings() -> pl.DataFrame:
    return raw(*(numbered(rows, number) for number, rows in enumerate(COMPANIES)))


@pytest.fixture(scope="module")
def served(filings) -> Today:
    return standardized(filings)


@pytest.mark.parametrize(
    ("number", "item", "amount"),
    [(number, item, amount) for number, (_, item, amount) in enumerate(FILED.values())],
    ids=FILED,
)
def test_debt_and_cash_of_filings(served, number, item, amount):
    value = value_of(served, item, "annual", "2023-12-31", company(number))

    assert value == (None if amount is None else amount * 1e6)


@pytest.mark.parametrize(
    ("before", "debt"),
    [
        (NOTE, 127_029),
        ({**NOTE, "LongTermNotesPayable": 0.127030}, 254_059),
        ({"LongTermDebtCurrent": 0.127029, "LongTermLoansPayable": 0.127029}, 254_058),
    ],
    ids=["one amount", "another amount", "another element"],
)
def test_one_note_under_two_elements_is_one_borrowing_on_both_days(before, debt):
    """The total of the newest day shows that both elements state one note; the day before has no total."""
    found = standardized(raw(one_note(before)))

    assert value_of(found, "total_debt", "annual", "2023-12-31") == 127_029
    assert value_of(found, "total_debt", "annual", "2022-12-31") == debt


def test_without_a_line_of_debt_there_is_a_reason(served):
    number = list(FILED).index("operating leases, deposits and payables are no debt")

    gaps = served.gaps.filter(item="total_debt", cik=company(number))

    assert gaps["reason"].unique().to_list() == ["no_tag"]


@pytest.mark.parametrize(
    ("number", "item", "flag"),
    [(number, item, flag) for number, (_, item, flag) in enumerate(FLAGGED.values(), len(FILED))],
    ids=FLAGGED,
)
def test_a_value_has_the_flags_of_its_sources(served, number, item, flag):
    """What the only line may contain in addition is published as a flag of the value."""
    assert row_of(served.values, item, "annual", "2023-12-31", company(number))["flags"] == flag


@pytest.fixture(scope="module")
def decided(filings) -> set[tuple[int, str]]:
    """Company and rule of all decisions on balance sheets."""
    instants = stated(with_total_assets(filings))[0].filter(pl.col("start").is_null())
    found = balances(instants.with_columns(q=pl.lit(4, pl.Int32), n=pl.lit(0, pl.Int32), regime=pl.lit(0, pl.Int32)))
    return {*found.decisions.select("cik", "rule").rows(), *found.composed.select("cik", "rule").rows()}


@pytest.mark.parametrize(
    ("number", "rule", "item", "amount"),
    [
        (number, rule, item, amount)
        for number, (rule, (_, item, amount)) in enumerate(RULES.items(), len(FILED) + len(FLAGGED))
    ],
    ids=RULES,
)
def test_each_rule_has_a_filing_that_it_decides(served, decided, number, rule, item, amount):
    """The decision leads to the amount that an accountant would write down."""
    value = value_of(served, item, "annual", "2023-12-31", company(number))

    assert (int(company(number)), rule) in decided
    assert value == (None if amount is None else amount * 1e6)
