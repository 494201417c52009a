"""Items beyond the specification: gross profit, operating income, diluted earnings, cash flows, assets and equity.

Belongs here: their values from the lines of statements, and the reasons of missing ones. Does not: the items of the
specification (test_items), their rules one by one (test_rules).
"""

import pytest

from tests.factories import CAPITAL_SPENDING, CASH_FLOW, DILUTED, NET_INCOME, SHARES, Today, raw, row_of, value_of
from tests.shapes.items import ASSETS, COSTS, EQUITY, INTEREST, OPERATING, PRETAX, TAX, company
from tests.shapes.statement_items import COST, GOODS, GROSS, SERVICES, revenue_restated
from tests.together import in_one_call

END = "2023-12-31"
WHOLE, MINORITY = "StockholdersEquityIncludingPortionAttributableToNoncontrollingInterest", "MinorityInterest"
OF_OTHERS, BALANCE_SHEET = "NetIncomeLossAttributableToNoncontrollingInterest", "LiabilitiesAndStockholdersEquity"
DILUTED_EPS = "EarningsPerShareDiluted"


def annual(found: Today, item: str) -> float | None:
    """The value of the last year."""
    return value_of(found, item, "annual", END)


@in_one_call
def test_lines_of_statements_are_as_filed():
    """Twelve months of a flow are the year; a balance is the balance of the day; cash that is paid is positive."""
    flows = {CASH_FLOW: 30.0, CAPITAL_SPENDING: 10.0, GROSS: 40.0, OPERATING: 20.0}

    found = yield raw(company(flows, {ASSETS: 1000.0, EQUITY: 500.0}))

    expected = {"operating_cash_flow": 120, "capital_expenditure": 40, "gross_profit": 160, "operating_income": 80}
    expected |= {"total_assets": 1000, "stockholders_equity": 500}
    assert {item: annual(found, item) for item in expected} == {item: each * 1e6 for item, each in expected.items()}
    of_interim = row_of(found.values, "gross_profit", "ttm", "2023-06-30")
    assert (of_interim["value"], of_interim["method"]) == (160e6, "year_to_date")


@in_one_call
def test_gross_profit_is_revenue_less_its_cost_if_none_is_stated():
    """It is flagged, and its legs are revenue and, subtracted, the cost."""
    found = yield raw(company({COST: 60.0}))

    row = row_of(found.values, "gross_profit", "annual", END)
    assert (row["value"], row["flags"]) == (160e6, "derived")
    legs = found.lineage.filter(item="gross_profit", period_kind="annual", period_end=row["period_end"])
    assert legs.select("tag", "weight").rows() == [("us-gaap:Revenues", 1.0), (f"us-gaap:{COST}", -1.0)]


@pytest.mark.parametrize(
    ("rows", "item", "reason", "revenue"),
    [
        # the cost of goods alone is not the cost of revenue
        (company({GOODS: 40.0, SERVICES: 20.0}), "gross_profit", "contradicted_by_filing", 400e6),
        (revenue_restated(), "gross_profit", "mixed_basis", 300e6),
        # the total of segments: revenue less costs, and income before tax and interest, are 88 million; 160 are stated
        (
            company({OPERATING: 40.0, PRETAX: 20.0, TAX: 8.0, INTEREST: 2.0, COSTS: 78.0}),
            "operating_income",
            "contradicted_by_filing",
            400e6,
        ),
    ],
    ids=["cost of goods", "revenue restated alone", "total of segments"],
)
@in_one_call
def test_what_lines_contradict_has_no_value(rows, item, reason, revenue):
    found = yield raw(rows)

    assert (annual(found, item), row_of(found.gaps, item, "annual", END)["reason"]) == (None, reason)
    assert annual(found, "revenue") == revenue


@pytest.mark.parametrize(
    ("flows", "balances", "expected"),
    [
        # equity of shareholders is without noncontrolling interests, which the total alone does not show
        ({}, {WHOLE: 500.0, MINORITY: 40.0}, 460e6),
        ({}, {WHOLE: 500.0}, None),
        # the filing states neither the equity nor the income of others, for any day or period
        ({}, {WHOLE: 500.0, BALANCE_SHEET: 1000.0}, 500e6),
        ({OF_OTHERS: 5.0}, {WHOLE: 500.0, BALANCE_SHEET: 1000.0}, None),
    ],
    ids=["less others", "total alone", "total of a balance sheet", "income of others"],
)
@in_one_call
def test_equity_of_shareholders(flows, balances, expected):
    found = yield raw(company(flows, {**balances, ASSETS: 1000.0}))

    assert annual(found, "stockholders_equity") == expected


@in_one_call
def test_diluted_earnings_per_share_are_as_filed_or_income_over_diluted_shares():
    """The first years state them, the last one does not; 240 million are earned on 120 million diluted shares."""
    rows = company({NET_INCOME: 60.0}, shares=100.0, **{DILUTED_EPS: [0.5] * 12})
    diluted = [{**row, "tag": DILUTED, "value": row["value"] * 1.2} for row in rows if row["tag"] == SHARES]

    found = yield raw([row for row in rows if row["tag"] != DILUTED_EPS or row["end"] < "2023-01-01"], diluted)

    years = {end: row_of(found.values, "eps_diluted", "annual", end) for end in ("2022-12-31", END)}
    assert [(row["value"], row["flags"]) for row in years.values()] == [(2.0, ""), (2.0, "derived")]
