"""Cash: securities of any term, restricted cash, and deposits, each on the side that the filing's arithmetic shows."""

import pytest

from tests.factories import CASH, REVENUE, Row, fact, outcomes, row_of
from tests.together import in_one_call

END, BEFORE, QUARTER = "2023-12-31", "2022-12-31", "2023-09-30"
FILED, EARLIER = "2024-02-20", "2023-02-20"
OF_CASH, OF_FLOWS = "cash_and_equivalents", "CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents"
INVESTMENTS, FOR_LONG, MARKETABLE = "Investments", "LongTermInvestments", "MarketableSecurities"
FOR_SALE, TO_MATURITY = "AvailableForSaleSecuritiesDebtSecurities", "HeldToMaturitySecurities"
RESTRICTED, NOTE_OF_RESTRICTED = "RestrictedCashCurrent", "RestrictedCash"
RECEIVABLE, INVENTORY, CURRENT_ASSETS = "AccountsReceivableNetCurrent", "InventoryNet", "AssetsCurrent"
DUE_FROM_BANKS, IN_BANKS = "CashAndDueFromBanks", "InterestBearingDepositsInBanks"
SECURITIES, DEPOSITS, LIABILITIES, ASSETS = "ShortTermInvestments", "Deposits", "Liabilities", "Assets"

Lines = dict[str, float]


def report(lines: Lines, of: str = END, *, filed: str = FILED, form: str = "10-K") -> list[Row]:
    """A balance sheet in millions, and the revenue of its year to date."""
    flow = fact(REVENUE, 70e6, f"{of[:4]}-01-01", of, form=form, filed=filed)
    return [flow, *column(lines, of, filed=filed, form=form)]


def column(lines: Lines, of: str, *, filed: str = FILED, form: str = "10-K") -> list[Row]:
    """A further column of a balance sheet in millions."""
    return [fact(tag, round(value * 1e6), None, of, form=form, filed=filed) for tag, value in lines.items()]


OPEN = {CASH: 2170, RECEIVABLE: 1405, CURRENT_ASSETS: 4961}
"""Current assets with cash and receivables, and 1,386 that no element of the taxonomy states."""


INVESTED = {
    # where the current assets do not add up, as a line of them is under an element of the filer's own
    "less than the long-term ones": ({INVESTMENTS: 592, FOR_LONG: 1729}, 2762),
    "marketable securities are elsewhere": ({INVESTMENTS: 592, FOR_LONG: 1729, MARKETABLE: 406}, 2762),
    "the sum of two classes": ({INVESTMENTS: 592, FOR_SALE: 286, TO_MATURITY: 306, MARKETABLE: 506}, 2762),
    "not their sum": ({INVESTMENTS: 592, FOR_SALE: 286, TO_MATURITY: 305, MARKETABLE: 506}, 2676),
    "they may include the long-term ones": ({INVESTMENTS: 592, FOR_LONG: 520}, 2170),
    "no room": ({INVESTMENTS: 1492, FOR_LONG: 1729}, 2170),
    "nothing shows their term": ({INVESTMENTS: 592}, 2170),
    "marketable securities alone": ({FOR_LONG: 1729, MARKETABLE: 406}, 2576),
}
"""Investments that cannot be long-term are current: further lines, and the cash."""


BESIDE = {CASH: 1348.4, OF_FLOWS: 1348.4, RESTRICTED: 384.1, RECEIVABLE: 921.7, INVENTORY: 407.3}
AT_START = {CASH: 1215.2, OF_FLOWS: 1215.2, RESTRICTED: 401.5, RECEIVABLE: 888.8, INVENTORY: 421.9}
SUM, SUM_AT_START = 3061.5, 2927.4
WITHOUT_LINE = {tag: value for tag, value in BESIDE.items() if tag != CASH}
FOR_CLIENTS = {CASH: 1348.4, OF_FLOWS: 1348.4, "RestrictedInvestmentsCurrent": 384.1, RECEIVABLE: 921.7}


OF_RESTRICTED = {
    "a line in both columns": ({**BESIDE, CURRENT_ASSETS: SUM}, {**AT_START, CURRENT_ASSETS: SUM_AT_START}, 1348.4),
    "a line for which there is room": ({**BESIDE, CURRENT_ASSETS: SUM + 577.6}, {}, 1348.4),
    "a line beside the cash of the flows": (
        {**WITHOUT_LINE, CURRENT_ASSETS: SUM},
        {**AT_START, CURRENT_ASSETS: SUM_AT_START},
        1348.4,
    ),
    "restricted investments": ({**FOR_CLIENTS, CURRENT_ASSETS: 3231.8}, {}, 1348.4),
    "in the line of cash": (
        {**BESIDE, CURRENT_ASSETS: SUM - 384.1},
        {**AT_START, CURRENT_ASSETS: SUM_AT_START - 401.5},
        964.3,
    ),
    "in the line of cash, one column": ({**BESIDE, CURRENT_ASSETS: SUM - 384.1}, {}, 964.3),
    "a note": ({CASH: 1348.4, OF_FLOWS: 1348.4, NOTE_OF_RESTRICTED: 384.1, CURRENT_ASSETS: 3231.8}, {}, 964.3),
    "only the cash of the flows": ({OF_FLOWS: 1348.4, RESTRICTED: 384.1, CURRENT_ASSETS: 3231.8}, {}, 964.3),
}
"""It is taken off only where the line of cash, the cash of the cash flow statement, includes it."""


OF_BANK = {ASSETS: 1000, LIABILITIES: 900}
BOTH = {DUE_FROM_BANKS: 22, IN_BANKS: 35, **OF_BANK}


OF_DEPOSITS = {
    "cash of the flows": ({DUE_FROM_BANKS: 20, IN_BANKS: 31, OF_FLOWS: 20}, 22),
    "line of cash": ({DUE_FROM_BANKS: 20, IN_BANKS: 31, CASH: 20}, 22),
    "in the cash of the flows": ({DUE_FROM_BANKS: 20, IN_BANKS: 31, OF_FLOWS: 51}, 57),
    "not known": ({DUE_FROM_BANKS: 20, IN_BANKS: 31}, 57),
}
"""The cash of a bank has deposits as in the year before, as the filing shows in its other column, or an earlier filing
for the day of that column.
"""


@pytest.mark.parametrize(("before", "cash"), OF_DEPOSITS.values(), ids=OF_DEPOSITS)
@pytest.mark.parametrize("is_own", [True, False], ids=["its own column", "an earlier filing"])
@in_one_call
def test_cash_of_a_bank_has_deposits_as_in_the_year_before(before, cash, is_own):
    known = {**before, **OF_BANK}
    found = yield [
        *report(known, BEFORE, filed=EARLIER),
        *report(BOTH),
        *column(known if is_own else {DUE_FROM_BANKS: 20, **OF_BANK}, BEFORE),
    ]
    row = row_of(found.values, OF_CASH, "annual", END)

    assert (row["value"], row["flags"]) == (cash * 1e6, "")


def between_sheets_with_securities(lines: Lines) -> list[Row]:
    """A quarter without securities, which the balance sheets before and after it have."""
    return [
        *report({CASH: 21, ASSETS: 910, **lines}, QUARTER, filed="2023-11-10", form="10-Q"),
        *report({CASH: 22, SECURITIES: 16, ASSETS: 910, **lines}),
        *column({CASH: 20, SECURITIES: 15, ASSETS: 910, **lines}, BEFORE),
    ]


def of_a_bank_by_its_industry() -> list[Row]:
    """A bank with deposits under an element of its own."""
    return [
        *(
            fact(tag, 9e6, f"{end[:4]}-01-01", end, filed=filed)
            for end, filed in ((BEFORE, EARLIER), (END, FILED))
            for tag in ("InterestAndDividendIncomeOperating", "InterestIncomeExpenseNet", "NoninterestIncome")
        ),
        *report({CASH: 20, SECURITIES: 15, LIABILITIES: 800, ASSETS: 910}, BEFORE, filed=EARLIER),
        *report({CASH: 21, LIABILITIES: 800, ASSETS: 940}),
    ]


def at_central_banks(before: Lines) -> list[Row]:
    """Deutsche Bank: one column has the line of the balance sheet alone, the other has cash, too."""
    at, under_ifrs = "CashAndBankBalancesAtCentralBanks", {"taxonomy": "ifrs-full"}
    return [
        *(
            fact(tag, round(value * 1e6), None, of, **under_ifrs)
            for lines, of in (({at: 147.5, ASSETS: 1400}, END), ({at: 178.4, ASSETS: 1300, **before}, BEFORE))
            for tag, value in lines.items()
        ),
        fact("Revenue", 70e6, "2023-01-01", END, **under_ifrs),
    ]


IN_QUARTER, IN_YEAR = f"ttm {QUARTER}", f"annual {END}"
CASES = {
    **{name: (report({**OPEN, **lines}), {IN_YEAR: cash}) for name, (lines, cash) in INVESTED.items()},
    # the year before they had an element for current securities
    **{
        f"securities under another element, {before}": (
            report({**OPEN, before: 510}, BEFORE, filed=EARLIER) + report({**OPEN, INVESTMENTS: 592, FOR_LONG: 1729}),
            {IN_YEAR: 2762},
        )
        for before in (SECURITIES, FOR_SALE + "Current")
    },
    **{
        f"restricted cash, {name}": (report(lines) + column(at_start, BEFORE), {IN_YEAR: cash})
        for name, (lines, at_start, cash) in OF_RESTRICTED.items()
    },
    # a year keeps its sum if no filing of that time stated that the amounts are separate
    "what a later filing says of deposits changes nothing before": (
        report(BOTH)
        + report({DUE_FROM_BANKS: 25, IN_BANKS: 38, OF_FLOWS: 25, **OF_BANK}, "2024-12-31", filed="2025-02-20"),
        {IN_YEAR: 57, "annual 2024-12-31": 25},
    ),
    # a later filing does not show that the cash of a bank lacks securities
    "deposits": (between_sheets_with_securities({DEPOSITS: 700, LIABILITIES: 800}), {IN_QUARTER: 21}),
    "a class of deposits": (
        between_sheets_with_securities({"InterestBearingDepositLiabilities": 700}),
        {IN_QUARTER: 21},
    ),
    "no bank": (between_sheets_with_securities({LIABILITIES: 800}), {IN_QUARTER: "securities_not_shown"}),
    "a classified balance sheet": (
        between_sheets_with_securities({DEPOSITS: 700, CURRENT_ASSETS: 300, "LiabilitiesCurrent": 750}),
        {IN_QUARTER: "securities_not_shown"},
    ),
    "an unclassified sheet of a bank may state securities no more": (of_a_bank_by_its_industry(), {IN_YEAR: 21}),
    # what is at central banks is cash unless both are stated apart
    "at central banks, and nothing else": (at_central_banks({}), {IN_YEAR: 147.5}),
    "at central banks, the same amount": (at_central_banks({"CashAndCashEquivalents": 178.4}), {IN_YEAR: 147.5}),
    "at central banks, another amount": (
        at_central_banks({"CashAndCashEquivalents": 163.8}),
        {IN_YEAR: "not_on_balance_sheet"},
    ),
}
"""What is filed, and the cash of periods in millions, or the reason why it is missing."""


@pytest.mark.parametrize(("rows", "cash"), CASES.values(), ids=CASES)
@in_one_call
def test_the_cash_of_filings(rows, cash):
    expected = {
        period: {OF_CASH: each if isinstance(each, str) else pytest.approx(each * 1e6)} for period, each in cash.items()
    }
    found = yield rows

    assert outcomes(found, expected) == expected
