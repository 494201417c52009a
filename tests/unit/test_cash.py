"""Cash: securities of any term, restricted cash, and deposits, each on the side that the filing's arithmetic shows."""

import pytest

from tests.factories import CASH, REVENUE, Row, fact, raw, row_of, value_of
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


def served(found, end: str = END, kind: str = "annual") -> float | None:
    value = value_of(found, OF_CASH, kind, end)
    return value and value / 1e6


OPEN = {CASH: 2170, RECEIVABLE: 1405, CURRENT_ASSETS: 4961}
"""Current assets with cash and receivables, and 1,386 that no element of the taxonomy states."""


@pytest.mark.parametrize(
    ("securities", "cash"),
    [
        ({INVESTMENTS: 592, FOR_LONG: 1729}, 2762),
        ({INVESTMENTS: 592, FOR_LONG: 1729, MARKETABLE: 406}, 2762),
        ({INVESTMENTS: 592, FOR_SALE: 286, TO_MATURITY: 306, MARKETABLE: 506}, 2762),
        ({INVESTMENTS: 592, FOR_SALE: 286, TO_MATURITY: 305, MARKETABLE: 506}, 2676),
        ({INVESTMENTS: 592, FOR_LONG: 520}, 2170),
        ({INVESTMENTS: 1492, FOR_LONG: 1729}, 2170),
        ({INVESTMENTS: 592}, 2170),
        ({FOR_LONG: 1729, MARKETABLE: 406}, 2576),
    ],
    ids=[
        "less than the long-term ones",
        "marketable securities are elsewhere",
        "the sum of two classes",
        "not their sum",
        "they may include the long-term ones",
        "no room",
        "nothing shows their term",
        "marketable securities alone",
    ],
)
@in_one_call
def test_investments_that_cannot_be_long_term_are_current(securities, cash):
    """Where the current assets do not add up, as a line of them is under an element of the filer's own."""
    found = yield raw(report({**OPEN, **securities}))

    assert served(found) == cash


@pytest.mark.parametrize("before", [SECURITIES, FOR_SALE + "Current"], ids=["short-term", "for sale"])
@in_one_call
def test_securities_under_another_element_are_not_missing(before):
    """The year before they had an element for current securities."""
    older = report({**OPEN, before: 510}, BEFORE, filed=EARLIER)
    found = yield raw(older, report({**OPEN, INVESTMENTS: 592, FOR_LONG: 1729}))

    assert served(found) == 2762


BESIDE = {CASH: 1348.4, OF_FLOWS: 1348.4, RESTRICTED: 384.1, RECEIVABLE: 921.7, INVENTORY: 407.3}
AT_START = {CASH: 1215.2, OF_FLOWS: 1215.2, RESTRICTED: 401.5, RECEIVABLE: 888.8, INVENTORY: 421.9}
SUM, SUM_AT_START = 3061.5, 2927.4
WITHOUT_LINE = {tag: value for tag, value in BESIDE.items() if tag != CASH}
FOR_CLIENTS = {CASH: 1348.4, OF_FLOWS: 1348.4, "RestrictedInvestmentsCurrent": 384.1, RECEIVABLE: 921.7}


@pytest.mark.parametrize(
    ("lines", "at_start", "cash"),
    [
        ({**BESIDE, CURRENT_ASSETS: SUM}, {**AT_START, CURRENT_ASSETS: SUM_AT_START}, 1348.4),
        ({**BESIDE, CURRENT_ASSETS: SUM + 577.6}, {}, 1348.4),
        ({**WITHOUT_LINE, CURRENT_ASSETS: SUM}, {**AT_START, CURRENT_ASSETS: SUM_AT_START}, 1348.4),
        ({**FOR_CLIENTS, CURRENT_ASSETS: 3231.8}, {}, 1348.4),
        ({**BESIDE, CURRENT_ASSETS: SUM - 384.1}, {**AT_START, CURRENT_ASSETS: SUM_AT_START - 401.5}, 964.3),
        ({**BESIDE, CURRENT_ASSETS: SUM - 384.1}, {}, 964.3),
        ({CASH: 1348.4, OF_FLOWS: 1348.4, NOTE_OF_RESTRICTED: 384.1, CURRENT_ASSETS: 3231.8}, {}, 964.3),
        ({OF_FLOWS: 1348.4, RESTRICTED: 384.1, CURRENT_ASSETS: 3231.8}, {}, 964.3),
    ],
    ids=[
        "a line in both columns",
        "a line for which there is room",
        "a line beside the cash of the flows",
        "restricted investments",
        "in the line of cash",
        "in the line of cash, one column",
        "a note",
        "only the cash of the flows",
    ],
)
@in_one_call
def test_restricted_cash_is_taken_off_only_where_the_line_of_cash_includes_it(lines, at_start, cash):
    """The line of cash is the cash of the cash flow statement."""
    found = yield raw(report(lines), column(at_start, BEFORE))

    assert served(found) == pytest.approx(cash)


OF_BANK = {ASSETS: 1000, LIABILITIES: 900}
BOTH = {DUE_FROM_BANKS: 22, IN_BANKS: 35, **OF_BANK}


@pytest.mark.parametrize(
    ("before", "cash"),
    [
        ({DUE_FROM_BANKS: 20, IN_BANKS: 31, OF_FLOWS: 20}, 22),
        ({DUE_FROM_BANKS: 20, IN_BANKS: 31, CASH: 20}, 22),
        ({DUE_FROM_BANKS: 20, IN_BANKS: 31, OF_FLOWS: 51}, 57),
        ({DUE_FROM_BANKS: 20, IN_BANKS: 31}, 57),
    ],
    ids=["cash of the flows", "line of cash", "in the cash of the flows", "not known"],
)
@pytest.mark.parametrize("is_own", [True, False], ids=["its own column", "an earlier filing"])
@in_one_call
def test_cash_of_a_bank_has_deposits_as_in_the_year_before(before, cash, is_own):
    """As the filing shows in its other column, or an earlier filing for the day of that column."""
    known = {**before, **OF_BANK}
    found = yield raw(
        report(known, BEFORE, filed=EARLIER),
        report(BOTH),
        column(known if is_own else {DUE_FROM_BANKS: 20, **OF_BANK}, BEFORE),
    )

    assert served(found) == cash
    assert row_of(found.values, OF_CASH, "annual", END)["flags"] == ""


@in_one_call
def test_what_a_later_filing_says_of_deposits_changes_nothing_before():
    """A year keeps its sum if no filing of that time stated that the amounts are separate."""
    known = {DUE_FROM_BANKS: 25, IN_BANKS: 38, OF_FLOWS: 25, **OF_BANK}
    found = yield raw(report(BOTH), report(known, "2024-12-31", filed="2025-02-20"))

    assert served(found) == 57
    assert served(found, "2024-12-31") == 25


@pytest.mark.parametrize(
    ("lines", "cash"),
    [
        ({DEPOSITS: 700, LIABILITIES: 800}, 21),
        ({"InterestBearingDepositLiabilities": 700}, 21),
        ({LIABILITIES: 800}, None),
        ({DEPOSITS: 700, CURRENT_ASSETS: 300, "LiabilitiesCurrent": 750}, None),
    ],
    ids=["deposits", "a class of deposits", "no bank", "a classified balance sheet"],
)
@in_one_call
def test_a_later_filing_does_not_show_that_the_cash_of_a_bank_lacks_securities(lines, cash):
    """Securities on the balance sheets before and after the quarter."""

    def sheet(amounts: Lines) -> Lines:
        return {**amounts, ASSETS: 910, **lines}

    found = yield raw(
        report(sheet({CASH: 21}), QUARTER, filed="2023-11-10", form="10-Q"),
        report(sheet({CASH: 22, SECURITIES: 16})),
        column(sheet({CASH: 20, SECURITIES: 15}), BEFORE),
    )

    assert served(found, QUARTER, "ttm") == cash


@in_one_call
def test_an_unclassified_sheet_of_a_bank_may_state_securities_no_more():
    """A bank with deposits under an element of its own: its industry shows that it is a bank."""
    of_bank = {LIABILITIES: 800, ASSETS: 910}
    interest = [
        fact(tag, 9e6, f"{filed[:3]}{int(filed[3]) - 1}-01-01", end, filed=filed)
        for end, filed in ((BEFORE, EARLIER), (END, FILED))
        for tag in ("InterestAndDividendIncomeOperating", "InterestIncomeExpenseNet", "NoninterestIncome")
    ]
    found = yield raw(
        interest,
        report({CASH: 20, SECURITIES: 15, **of_bank}, BEFORE, filed=EARLIER),
        report({CASH: 21, **of_bank, ASSETS: 940}),
    )

    assert served(found) == 21


@pytest.mark.parametrize(
    ("before", "cash"),
    [({}, 147.5), ({"CashAndCashEquivalents": 178.4}, 147.5), ({"CashAndCashEquivalents": 163.8}, None)],
    ids=["nothing else", "the same amount", "another amount"],
)
@in_one_call
def test_what_is_at_central_banks_is_cash_unless_both_are_stated_apart(before, cash):
    """Deutsche Bank: one column has the line of the balance sheet alone, the other has cash, too."""
    at_central_banks = (
        {"CashAndBankBalancesAtCentralBanks": 147.5, ASSETS: 1400},
        {
            "CashAndBankBalancesAtCentralBanks": 178.4,
            ASSETS: 1300,
            **before,
        },
    )
    rows = [
        fact(tag, round(value * 1e6), None, of, taxonomy="ifrs-full")
        for lines, of in zip(at_central_banks, (END, BEFORE), strict=True)
        for tag, value in lines.items()
    ]
    found = yield raw(rows, fact("Revenue", 70e6, "2023-01-01", END, taxonomy="ifrs-full"))

    assert served(found) == cash
