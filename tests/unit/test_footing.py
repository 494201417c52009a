"""Footing: statements of income and cash flows with totals that prove or contradict a figure."""

from collections.abc import Sequence
from datetime import date

import polars as pl
import pytest

from tests.factories import CASH_FLOW, NET_INCOME, REVENUE, Row, Today, fact, raw, row_of, value_of
from tests.shapes.corrections import (
    CASH_FLOWS,
    CASH_OF_YEARS,
    LESSOR,
    MARGIN,
    OF_OPERATIONS,
    OUTFLOW,
    Figures,
    annual,
    years_of_cash,
)
from tests.together import in_one_call

LAST = "2022-12-31"
SPENDING = "PaymentsToAcquirePropertyPlantAndEquipment"
EFFECT = "EffectOfExchangeRateOnCashAndCashEquivalents"
INVESTING = "NetCashProvidedByUsedInInvestingActivities"
CHANGE = "CashAndCashEquivalentsPeriodIncreaseDecrease"
FINE: Figures = {
    CASH_FLOW: 70_123e3,
    INVESTING: -25_011e3,
    "NetCashProvidedByUsedInFinancingActivities": -30_007e3,
    CHANGE: 15_105e3,
}
"""The statement in thousands."""
COST = "CostOfRevenue"


def reports(lines: Figures, more: Sequence[Row] = (), **changed: float) -> pl.DataFrame:
    """Three annual reports with the same lines; the last has other figures."""
    every = {NET_INCOME: 9e6, **({SPENDING: 10e6} if CASH_FLOW in lines else {}), **lines}
    return raw(annual(2020, every), annual(2021, every), annual(2022, {**every, **changed}), more)


def repairs(found: Today) -> list[tuple[str, float, float | None]]:
    return list(found.found.repairs.select("kind", "filed_value", "value").iter_rows())


def judged(found: Today, item: str) -> list[tuple[str, float, float]]:
    """The judgements of an item of the last year, with both sides."""
    of_item = found.found.proofs.filter(pl.col("item") == item, pl.col("period_end") == date.fromisoformat(LAST))
    return list(of_item.select("outcome", "left_side", "right_side").iter_rows())


AFTER_EFFECT = {**CASH_FLOWS, EFFECT: 1.5e6}
AGAIN = [
    fact(tag, value, "2022-01-01", LAST, filed="2024-02-20")
    for tag, value in {**CASH_FLOWS, SPENDING: 10e6, NET_INCOME: 9e6}.items()
]
JUDGED = {
    "cash flows that foot": (reports(CASH_FLOWS), "free_cash_flow", 60e6, [("holds", 15e6, 15e6)]),
    "a margin that foots": (reports(MARGIN), "revenue", 100e6, [("holds", 40e6, 40e6)]),
    "costs of operations that foot": (reports(OF_OPERATIONS), "revenue", 100e6, [("holds", 20e6, 20e6)]),
    # investing cash flow without its minus sign explains the difference
    "another line with the error": (reports(CASH_FLOWS, **{INVESTING: 25e6}), "free_cash_flow", 60e6, []),
    # cash of a business held for sale stands between the activities and the change in cash
    "a small line of the filer's own": (reports(CASH_FLOWS, **{CHANGE: 15e6 - 1_234_567}), "free_cash_flow", 60e6, []),
    "statements that never foot": (
        reports({**CASH_FLOWS, CHANGE: 4e6}, **{CASH_FLOW: 52.3e6}),
        "free_cash_flow",
        42.3e6,
        [],
    ),
    # some filers state the change before the effect of exchange rates; both agree
    "a change before the effect of exchange rates": (
        reports(AFTER_EFFECT),
        "free_cash_flow",
        60e6,
        [("holds", 16.5e6, 15e6)],
    ),
    "a change with the effect of exchange rates": (
        reports({**AFTER_EFFECT, CHANGE: 16.5e6}),
        "free_cash_flow",
        60e6,
        [("holds", 16.5e6, 16.5e6)],
    ),
    # the next annual report states the year again, with the right figure
    "a later report that foots": (
        reports(CASH_FLOWS, AGAIN, **{CASH_FLOW: 52.3e6}),
        "free_cash_flow",
        60e6,
        [("holds", 15e6, 15e6)],
    ),
}
"""Reports, an item, its value of the last year, and the judgements of it, with both sides."""


@pytest.mark.parametrize(("rows", "item", "value", "judgements"), JUDGED.values(), ids=JUDGED)
@in_one_call
def test_a_figure_of_a_statement_is_served(rows, item, value, judgements):
    found = yield rows

    assert value_of(found, item, "annual", LAST) == value
    assert judged(found, item) == judgements


@pytest.mark.parametrize(
    ("lines", "line", "wrong", "kind", "item", "right"),
    [
        (CASH_FLOWS, CASH_FLOW, -70e6, "sign", "free_cash_flow", 60e6),
        (CASH_FLOWS, CASH_FLOW, 70e3, "scale", "free_cash_flow", 60e6),
        (MARGIN, REVENUE, -100e6, "sign", "revenue", 100e6),
        (MARGIN, REVENUE, 100e9, "scale", "revenue", 100e6),
        (OF_OPERATIONS, REVENUE, -100e6, "sign", "revenue", 100e6),
        (OF_OPERATIONS, REVENUE, 100e3, "scale", "revenue", 100e6),
    ],
)
@in_one_call
def test_signs_and_scales_are_corrected_where_the_totals_then_agree(lines, line, wrong, kind, item, right):
    found = yield reports(lines, **{line: wrong})

    assert value_of(found, item, "annual", LAST) == right
    assert repairs(found) == [(kind, wrong, lines[line])]
    assert [outcome for outcome, *_ in judged(found, item)] == ["corrected"]


@pytest.mark.parametrize(
    ("lines", "line", "wrong", "item", "reason"),
    [
        (CASH_FLOWS, CASH_FLOW, 52.3e6, "free_cash_flow", "cash_flow_not_footing"),
        (FINE, CASH_FLOW, 73_123e3, "free_cash_flow", "cash_flow_not_footing"),
        (MARGIN, REVENUE, 26e6, "revenue", "income_not_footing"),
        (OF_OPERATIONS, REVENUE, 26e6, "revenue", "income_not_footing"),
    ],
    ids=["another amount", "one digit", "a quarter's revenue", "a quarter's revenue against costs"],
)
@in_one_call
def test_a_contradicted_figure_is_left_out_and_the_gap_says_why(lines, line, wrong, item, reason):
    found = yield reports(lines, **{line: wrong})

    assert value_of(found, item, "annual", LAST) is None
    assert row_of(found.gaps, item, "annual", LAST)["reason"] == reason
    assert [kind for kind, *_ in repairs(found)] == ["total"]
    assert [outcome for outcome, *_ in judged(found, item)] == ["withheld"]


@pytest.mark.parametrize(
    ("lines", "served"),
    [
        ({REVENUE: 288e3, COST: 135e3, "GrossProfit": 30.9e6}, None),
        ({REVENUE: 288e3, COST: -135e3, "GrossProfit": 423e3}, 288e3),
        ({REVENUE: 100e6, COST: 60e6, "GrossProfit": 30e6}, 100e6),
    ],
    ids=["a part of revenue", "cost without its sign", "a line of the filer's own"],
)
@in_one_call
def test_revenue_below_gross_profit_needs_no_other_statement(lines, served):
    """No cost explains it; a difference below revenue may be a line that the filer has every year."""
    found = yield raw(annual(2022, {NET_INCOME: 9e6, **lines}))

    assert value_of(found, "revenue", "annual", LAST) == served


@pytest.mark.parametrize(("off", "served"), [(0, True), (4e6, False), (4_321e3, True), (4e3, True)])
@in_one_call
def test_cash_that_misses_the_change_by_one_digit_is_left_out(off, served):
    """Cash at the beginning is as stated before; other differences may be restricted cash."""
    found = yield raw(*[years_of_cash(CASH_OF_YEARS[-1] + off)])

    value = value_of(found, "cash_and_equivalents", "annual", LAST)
    assert value == (CASH_OF_YEARS[-1] + off if served else None)
    if not served:
        gap = row_of(found.gaps, "cash_and_equivalents", "annual", LAST)
        assert (gap["reason"], gap["rule"]) == ("contradicted_by_filing", "identity.cash.change-in-period")
        assert [outcome for outcome, *_ in judged(found, "cash_and_equivalents")] == ["withheld"]


@in_one_call
def test_restricted_cash_on_the_line_of_the_cash_flow_statement_explains_the_difference():
    """The cash flow statement includes it, and its own cash foots."""
    flows = "CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents"
    found = yield [
        *years_of_cash(CASH_OF_YEARS[-1] - 4e6),
        fact(flows, CASH_OF_YEARS[2], None, "2021-12-31", filed="2023-02-20"),
        fact(flows, CASH_OF_YEARS[3], None, "2022-12-31", filed="2023-02-20"),
    ]

    assert value_of(found, "cash_and_equivalents", "annual", LAST) == CASH_OF_YEARS[-1] - 4e6


@pytest.mark.parametrize(
    ("more", "served"),
    [
        ({}, False),
        ({"PaymentsToAcquireBusinessesNetOfCashAcquired": 400_000e3}, True),
        ({SPENDING: 99_531e3}, True),
    ],
    ids=["unexplained", "an acquisition", "more than a fraction"],
)
@in_one_call
def test_an_outflow_that_nothing_explains_leaves_capital_expenditure_out(more, served):
    found = yield raw(annual(2022, {NET_INCOME: 9e6, **OUTFLOW, **more}))
    value = value_of(found, "free_cash_flow", "annual", LAST)

    assert value == (305_000e3 - {**OUTFLOW, **more}[SPENDING] if served else None)
    if not served:
        gap = row_of(found.gaps, "free_cash_flow", "annual", LAST)
        assert (gap["reason"], gap["rule"]) == ("contradicted_by_filing", "identity.cash-flow.investing-explained")


@pytest.mark.parametrize(("outflow", "spent"), [(-5_644e3, 5_162e3), (-10_709e3, 10_227e3), (-7_000e3, 10_227e3)])
@in_one_call
def test_leased_equipment_counts_unless_investing_foots_without_it(outflow, spent):
    """Investing may be more than its lines because of lines of the filer's own, and less because of proceeds."""
    found = yield raw(annual(2022, {**LESSOR, INVESTING: outflow}))

    assert value_of(found, "free_cash_flow", "annual", LAST) == -18_034e3 - spent
