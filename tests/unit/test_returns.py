"""Return on invested capital: its parts, its bounds, and each reason for a missing value."""

from typing import Any

import pytest

from pipelines.normalize.items.line_items import recomputed
from tests.factories import (
    CASH,
    NET_INCOME,
    REVENUE,
    Filer,
    Today,
    fact,
    month_ends,
    raw,
    row_of,
    value_of,
)
from tests.together import in_one_call
from tests.unit.test_versions import reasons_of_items

OPERATING, PRETAX, TAX = (
    "OperatingIncomeLoss",
    "IncomeLossFromContinuingOperationsBeforeIncomeTaxesExtraordinaryItemsNoncontrollingInterest",
    "IncomeTaxExpenseBenefit",
)
INTEREST, INVESTMENTS = "InterestExpense", "InvestmentIncomeInterest"
DEBT, EQUITY, ASSETS, MINORITIES = "LongTermDebtNoncurrent", "StockholdersEquity", "Assets", "MinorityInterest"
ENDS = month_ends(2021, 12)
LAST = ENDS[11]

CAPITAL = {DEBT: [200] * 8 + [300] * 4, EQUITY: [500] * 8 + [600] * 4, CASH: [100] * 12, ASSETS: [1000] * 12}
INCOME = {OPERATING: [50] * 12, PRETAX: [40] * 12, TAX: [8] * 12}
"""200 of operating income a year, taxed at 20 %, on capital of 600 and, in the last year, 800."""

Amounts = dict[str, list[float] | None]


def filer(income: Amounts, capital: Amounts | None = None, **more: Any) -> Filer:
    """Three fiscal years, in millions; amounts given as None are not stated."""

    def stated(amounts: Amounts) -> dict[str, list[float]]:
        return {tag: [value * 1e6 for value in values] for tag, values in amounts.items() if values is not None}

    return Filer(ENDS, {REVENUE: [100e6] * 12, **stated(income)}, {}, stated({**CAPITAL, **(capital or {})}), **more)


def roic(found: Today) -> float | None:
    return value_of(found, "roic", "annual", LAST)


def reason(found: Today, end: Any = LAST) -> str | None:
    return row_of(found.gaps, "roic", "annual", end).get("reason")


NET_INTEREST, BOTH_SIDES = "InterestIncomeExpenseNonoperatingNet", {INTEREST: [12] * 12, INVESTMENTS: [2] * 12}


COSTS, SELLING, COST_OF_SALES = "CostsAndExpenses", "SellingGeneralAndAdministrativeExpense", "CostOfRevenue"


WITH_INTEREST, LOW = {OPERATING: [50] * 12, INTEREST: [10] * 12}, {PRETAX: [10] * 12, TAX: [2] * 12}


WITHOUT_PRETAX, WITHOUT_OPERATING = {**INCOME, PRETAX: None}, {**INCOME, OPERATING: None}


DISCONTINUED = "IncomeLossFromDiscontinuedOperationsNetOfTax"


RETURNS: dict[str, tuple[Amounts, Amounts, float]] = {
    # income, capital, and income after tax; capital is the mean of 300 + 600 - 100 now and 200 + 500 - 100 before
    "operating income after tax over mean capital": (INCOME, {}, 200 * (1 - 32 / 160)),
    "operating income as stated comes first, whatever else is stated": ({**INCOME, **BOTH_SIDES}, {}, 160),
    "an operating loss is not reduced by tax": (
        {OPERATING: [-50] * 12, PRETAX: [-60] * 12, TAX: [-8] * 12},
        {},
        -200,
    ),
    "capital includes the minorities whose income is included": (INCOME, {MINORITIES: [100] * 12}, 160 * 700 / 800),
    # the filed rate between 0 and 35 %; the statutory rate if there is a loss before tax
    "a one-off charge of tax is not part of operating income": ({**INCOME, TAX: [30] * 12}, {}, 200 * 0.65),
    "no rate below zero": ({**INCOME, TAX: [-8] * 12}, {}, 200),
    "the statutory rate of a loss": ({**INCOME, PRETAX: [-10] * 12, TAX: [-8] * 12}, {}, 200 * 0.79),
    "the statutory rate of no income": ({**INCOME, PRETAX: [0] * 12, TAX: [0] * 12}, {}, 200 * 0.79),
    "the statutory rate without a tax": ({**INCOME, PRETAX: [-10] * 12, TAX: None}, {}, 200 * 0.79),
    # net income of 32 plus tax of 8, without the loss of a discontinued business: 40 before tax
    "income before tax from all net income": ({**WITHOUT_PRETAX, "ProfitLoss": [32] * 12}, {}, 160),
    "income before tax from net income": ({**WITHOUT_PRETAX, "NetIncomeLoss": [32] * 12}, {}, 160),
    "income before tax without a discontinued business": (
        {**WITHOUT_PRETAX, "ProfitLoss": [27] * 12, DISCONTINUED: [-5] * 12},
        {},
        160,
    ),
    # one contradiction alone proves nothing: operating income of 50 is used, whatever follows it
    "a loss on investments, below the line": ({**WITH_INTEREST, **LOW, COSTS: [50] * 12}, {}, 160),
    "further lines of costs": ({**WITH_INTEREST, **LOW, COST_OF_SALES: [40] * 12, SELLING: [8] * 12}, {}, 160),
    "nothing proves a contradiction": ({**WITH_INTEREST, **LOW}, {}, 160),
    "a total of costs that includes interest": ({**INCOME, **WITH_INTEREST, COSTS: [60] * 12}, {}, 160),
    "income from affiliates above operating income": (
        {**WITH_INTEREST, PRETAX: [36] * 12, TAX: [7.2] * 12, COSTS: [55] * 12},
        {},
        160,
    ),
}


@pytest.mark.parametrize(("income", "capital", "after_tax"), RETURNS.values(), ids=RETURNS)
@in_one_call
def test_the_return_of_stated_income(income, capital, after_tax):
    found = yield filer(income, capital).facts()

    row = row_of(found.values, "roic", "annual", LAST)
    assert (row["value"], row["flags"]) == (pytest.approx(after_tax / 700, rel=1e-5), "")


@pytest.mark.parametrize(
    ("interest", "flags"),
    [
        ({INTEREST: [10] * 12}, ""),  # investment income that is not stated is not subtracted
        ({NET_INTEREST: [-10] * 12}, ""),
        ({"InterestIncomeExpenseNet": [-10] * 12}, ""),
        ({**BOTH_SIDES, NET_INTEREST: [-9] * 12}, ""),  # both sides come before the net
        ({INTEREST: [-10] * 12}, ",sign_repaired"),
    ],
)
@in_one_call
def test_interest_is_added_back_to_income_before_tax(interest, flags):
    """40 before tax after 10 of net interest paid: 50 per quarter."""
    found = yield filer({**WITHOUT_OPERATING, **interest}).facts()

    row = row_of(found.values, "roic", "annual", LAST)
    assert (row["value"], row["flags"]) == (pytest.approx(160 / 700, rel=1e-5), f"derived_operating_income{flags}")


@pytest.mark.parametrize(("net_income", "tax"), [(128e6, 32e6), (136e6, 24e6)])
@in_one_call
def test_a_tax_restated_without_its_income_counts_if_net_income_moved_the_other_way(net_income, tax):
    """AAR 2011: without a division sold, tax is 24 and income before tax less, by an unknown amount; Texas Instruments
    2016: a new standard reduces the tax, and raises net income."""
    year = ("2023-01-01", "2023-12-31")
    again = {OPERATING: 200.5e6, TAX: 24e6, NET_INCOME: net_income}
    later = [fact(tag, value, *year, form="10-K/A", filed="2024-06-03") for tag, value in again.items()]
    found = yield raw(filer({**INCOME, NET_INCOME: [32] * 12}).rows(), *later)

    assert value_of(found, "roic", "annual", LAST) == pytest.approx(200.5 * (1 - tax / 160e6) / 700, rel=1e-5)


@in_one_call
def test_the_tax_of_recast_quarters_is_that_of_their_income():
    """Air Products 2016: the quarters of income before tax are off the recast year by a minority's share."""
    quarter, year = {OPERATING: 40e6, PRETAX: 30_231e3, TAX: 6e6}, {OPERATING: 160e6, PRETAX: 120_123e3, TAX: 24e6}
    again = []
    for of, times in ((2022, 1.0), (2023, 1.1)):
        periods = [(f"{of}-{3 * n - 2:02}-01", str(ENDS[4 * (of - 2021) + n - 1]), quarter) for n in range(1, 5)]
        for start, end, amounts in [*periods, (f"{of}-01-01", f"{of}-12-31", year)]:
            again += [fact(tag, value * times, start, end, filed="2024-02-20") for tag, value in amounts.items()]
    found = yield raw([row for row in filer(INCOME).rows() if row["filed"] < "2024-02-01"], *again)

    rate = 25.2 / (30.231 * 2 * 2.1)
    assert value_of(found, "roic", "ttm", "2023-06-30") == pytest.approx(168 * (1 - rate) / 700, rel=1e-5)


@in_one_call
def test_a_later_report_without_discontinued_operations_has_no_income_before_tax():
    """Procter & Gamble 2009: a table of five years states net income and tax of the year, and nothing discontinued."""
    again = {"ProfitLoss": 128e6, TAX: 32e6}
    income = {**INCOME, PRETAX: None, NET_INCOME: [32] * 12, "IncomeLossFromDiscontinuedOperationsNetOfTax": [4] * 12}
    year = ("2023-01-01", "2023-12-31")
    table = [fact(tag, value, *year, form="10-K/A", filed="2024-06-03") for tag, value in again.items()]
    found = yield raw(filer(income).rows(), *table)

    assert value_of(found, "roic", "annual", LAST) == pytest.approx(200 * (1 - 32 / 144) / 700, rel=1e-5)


@in_one_call
def test_without_a_line_of_tax_income_that_equals_income_before_tax_is_not_taxed():
    """Net income of 40 after no tax of 40 before it."""
    untaxed, taxed = yield tuple(filer({**INCOME, TAX: None, NET_INCOME: [net] * 12}).facts() for net in (40, 32))

    assert roic(untaxed) == pytest.approx(200 / 700, rel=1e-5)
    assert roic(taxed) is None


@in_one_call
def test_income_before_interest_replaces_operating_income_and_is_flagged():
    """40 before tax, 12 of interest paid, 2 of interest earned: 50 per quarter, flagged, from three filed amounts."""
    found = yield filer({**INCOME, OPERATING: None, INTEREST: [12] * 12, INVESTMENTS: [2] * 12}).facts()

    row = row_of(found.values, "roic", "annual", LAST)
    legs = found.lineage.filter(item="roic", period_kind="annual", period_end=LAST, role="operating_income")
    assert row["value"] == pytest.approx(160 / 700, rel=1e-5)
    assert row["flags"] == "derived_operating_income"
    assert sorted(legs.select("tag", "weight").rows()) == [
        (f"us-gaap:{PRETAX}", 1.0),
        (f"us-gaap:{INTEREST}", 1.0),
        (f"us-gaap:{INVESTMENTS}", -1.0),
    ]


WITHOUT: list[tuple[Amounts, Amounts, str]] = [
    ({OPERATING: None}, {}, "no_operating_income"),
    ({PRETAX: None}, {}, "no_pretax_income"),
    ({TAX: None}, {}, "no_income_tax"),
    ({}, {EQUITY: None}, "no_equity"),
    ({}, {DEBT: None}, "no_total_debt"),
    ({}, {CASH: None}, "no_cash"),
    ({}, {EQUITY: [-400] * 12}, "non_positive_capital"),  # buy-backs: invested capital is negative
    ({}, {EQUITY: [-150] * 8 + [600] * 4}, "non_positive_capital"),  # at one of the two ends
    ({}, {EQUITY: [-80] * 8 + [-170] * 4}, "thin_capital"),  # 2.5 % of assets: the ratio would be meaningless
]


@pytest.mark.parametrize(("income", "capital", "why"), WITHOUT)
@in_one_call
def test_each_reason_for_a_missing_return(income, capital, why):
    found = yield filer({**INCOME, **income}, capital).facts()

    assert (roic(found), reason(found)) == (None, why)


def test_every_reason_has_a_case():
    assert {why for *_, why in WITHOUT} | {"no_capital_a_year_before", "basis_break"} == {
        why for why, item in reasons_of_items() if item == "roic"
    }


@in_one_call
def test_the_first_year_has_no_capital_before_it():
    found = yield filer(INCOME).facts()

    values = [value_of(found, "roic", "annual", end) for end in ENDS[3::4]]
    assert [value is not None for value in values] == [False, True, True]
    assert reason(found, ENDS[3]) == "no_capital_a_year_before"


@in_one_call
def test_a_change_of_accounting_standards_between_the_two_ends_breaks_it():
    """Annual reports under IFRS, and from the last year on under US GAAP without restated comparatives."""
    names = {
        OPERATING: "ProfitLossFromOperatingActivities",
        PRETAX: "ProfitLossBeforeTax",
        TAX: "IncomeTaxExpenseContinuingOperations",
        REVENUE: "Revenue",
        EQUITY: "Equity",
        DEBT: "LongtermBorrowings",
        CASH: "CashAndCashEquivalents",
        ASSETS: "Assets",
    }
    rows = filer(INCOME, annual_only=True).rows()
    before = [{**row, "tag": names[row["tag"]], "taxonomy": "ifrs-full"} for row in rows if row["filed"] < str(ENDS[8])]
    after = [row for row in rows if row["filed"] > str(ENDS[8]) and row["end"] > str(ENDS[8])]

    found = yield raw(before, after)

    assert value_of(found, "roic", "annual", ENDS[7]) == pytest.approx(160 / 600, rel=1e-5)
    assert (roic(found), reason(found)) == (None, "basis_break")


@in_one_call
def test_a_bank_has_no_invested_capital():
    lending = {"InterestIncomeExpenseNet": [60] * 12, "NoninterestIncome": [40] * 12}

    found = yield filer({**INCOME, **lending}, {"Deposits": [900] * 12}).facts()

    assert (roic(found), reason(found)) == (None, "financial_company")


@pytest.mark.parametrize(
    "income",
    [
        INCOME,
        {**WITHOUT_OPERATING, **BOTH_SIDES},
        {**WITHOUT_OPERATING, NET_INTEREST: [-10] * 12},
        {**INCOME, OPERATING: [90] * 12, INTEREST: [-10] * 12, "CostsAndExpenses": [50] * 12},
    ],
)
@in_one_call
def test_a_return_can_be_recomputed_from_its_legs(income):
    found = yield filer(income).facts()
    legs = found.lineage.filter(item="roic", period_kind="annual", period_end=LAST)

    assert recomputed(legs, ["item"])["recomputed"].item() == pytest.approx(roic(found), rel=1e-5)


@pytest.mark.parametrize("costs", [{COSTS: [62] * 12}, {COST_OF_SALES: [50] * 12, SELLING: [12] * 12}])
@in_one_call
def test_a_total_of_segments_is_not_used_as_operating_income(costs):
    """50 per quarter before corporate expenses: sales of 100 less costs of 62 are 38, and so are 30 + 10 - 2."""
    income = {OPERATING: [50] * 12, PRETAX: [30] * 12, TAX: [6] * 12, INTEREST: [10] * 12, INVESTMENTS: [2] * 12}
    found = yield filer({**income, **costs}).facts()

    row, contradicted = row_of(found.values, "roic", "annual", LAST), "contradicted_operating_income"
    assert (row["value"], row["flags"]) == (pytest.approx(4 * 38 * 0.8 / 700, rel=1e-5), contradicted)
    assert "us-gaap:OperatingIncomeLoss" not in found.lineage.filter(item="roic")["tag"]
