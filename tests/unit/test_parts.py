"""Figures that the same line's figures of other periods contradict."""

import pytest

from tests.factories import (
    ASSETS,
    CAPITAL_SPENDING,
    CASH,
    CASH_FLOW,
    DIVIDENDS,
    NET_INCOME,
    REVENUE,
    Filer,
    fact,
    month_ends,
    raw,
    row_of,
    value_of,
)
from tests.together import in_one_call

YEAR = ("2022-01-01", "2022-12-31")
"""The first fiscal year of the filer."""


def filed(quarters=6, change=None, **sums):
    """The facts of a filer of six quarters; `change` gives another value to some facts, or None to leave one out."""
    ends = month_ends(2022, quarters)
    to_the_dollar = [
        [start + step * n for n in range(quarters)] for start, step in ((50_000_321, 1e6), (500_000_123, 3e6))
    ]
    balances = dict(zip((CASH, ASSETS), to_the_dollar, strict=True))
    rows = Filer(ends, {NET_INCOME: [1e6] * quarters, **sums}, balances=balances).rows()
    changed = [{**row, "value": change(row) if change else row["value"]} for row in rows]
    return raw([row for row in changed if row["value"] is not None])


def of_year(tag, value):
    """Gives the fiscal year of a line another value, in all filings."""
    return of_period(tag, *YEAR, lambda _: value)


def of_period(tag, start, end, change):
    """Changes the value of a line for a period, in all filings."""
    of = (tag, start, end)
    return lambda row: change(row["value"]) if (row["tag"], row["start"], row["end"]) == of else row["value"]


FLOWS = {CASH_FLOW: [90e6] * 4, CAPITAL_SPENDING: [25e6] * 4}


OF_YEAR = {
    # banks file the quarterly rate of 0.08 for the year; 0.08 a quarter make 0.32
    "a quarterly dividend in the context of a year is left out": (
        filed(6, of_year(DIVIDENDS, 0.08), **{DIVIDENDS: [0.08] * 6}),
        "dividends_per_share",
        None,
    ),
    "the only dividend of a year counts": (
        filed(6, None, **{DIVIDENDS: [0.08, 0, 0, 0, 0.08, 0]}),
        "dividends_per_share",
        0.08,
    ),
    "a quarter with the figure of its year does not contradict the year": (
        filed(
            4,
            of_period(REVENUE, "2022-07-01", "2022-09-30", lambda _: 100_123_000),
            **{REVENUE: [20e6, 20e6, 30e6, 30_123_000]},
        ),
        "revenue",
        100_123_000,
    ),
    "nine months a thousand times too large do not contradict the half year, the quarters and the year": (
        filed(4, of_period(CAPITAL_SPENDING, "2022-01-01", "2022-09-30", lambda value: value * 1000), **FLOWS),
        "free_cash_flow",
        260e6,
    ),
}


@pytest.mark.parametrize(("facts", "item", "expected"), OF_YEAR.values(), ids=OF_YEAR)
@in_one_call
def test_the_figure_of_a_year_next_to_its_parts(facts, item, expected):
    found = yield facts

    assert value_of(found, item, "annual", "2022-12-31") == expected


@in_one_call
def test_a_year_with_the_figure_of_a_quarter_is_left_out():
    """10, 20, 30 and 40 are 100; the annual report states the 30 of the third quarter for the year."""
    found = yield filed(4, of_year(REVENUE, 30_123_000), **{REVENUE: [10e6, 20e6, 30_123_000, 40e6]})

    assert value_of(found, "revenue", "annual", "2022-12-31") is None
    gap = row_of(found.gaps, "revenue", "annual", "2022-12-31")
    assert (gap["reason"], gap["rule"]) == ("contradicted_by_parts", "correction.parts.repeats-quarter")
    proof = found.found.proofs.filter(rule="correction.parts.repeats-quarter", item="revenue").row(0, named=True)
    assert (proof["outcome"], proof["left_side"]) == ("withheld", 30_123_000)


@in_one_call
def test_a_dividend_after_a_split_is_not_below_that_of_a_quarter_before_it():
    """Walmart declares a year's dividend in the first quarter: 2.28 before a split of three for one, 0.76 after."""
    found = yield raw(
        fact(DIVIDENDS, 2.28, "2022-01-01", "2022-03-31", form="10-Q", filed="2022-05-01"),
        fact(NET_INCOME, 5e6, "2022-01-01", "2022-03-31", form="10-Q", filed="2022-05-01"),
        fact(DIVIDENDS, 0.76, *YEAR, filed="2023-02-20"),
        fact(NET_INCOME, 20e6, *YEAR, filed="2023-02-20"),
    )

    assert value_of(found, "dividends_per_share", "annual", "2022-12-31") == 0.76


@in_one_call
def test_spending_of_a_year_is_not_below_that_of_nine_months():
    """A year in thousands among quarters in units."""
    found = yield filed(6, of_year(CAPITAL_SPENDING, 100e3), **{CAPITAL_SPENDING: [25e6] * 6, CASH_FLOW: [90e6] * 6})

    assert value_of(found, "free_cash_flow", "annual", "2022-12-31") is None
    assert row_of(found.gaps, "free_cash_flow", "annual", "2022-12-31")["rule"] == "correction.parts.below-part"


@in_one_call
def test_a_year_with_the_figure_of_its_first_quarter_needs_no_other_quarter():
    """Texas Community Bancshares states 264,372 for the first quarter of 2020 and for 2020, in its first report."""
    first = {"form": "10-Q", "filed": "2021-06-28"}
    rows = [
        fact(NET_INCOME, 264_372, "2020-01-01", "2020-03-31", **first),
        fact(NET_INCOME, 264_372, "2020-01-01", "2020-12-31", **first),
        fact(NET_INCOME, 242_539, "2021-01-01", "2021-03-31", **first),
        fact(REVENUE, 5e6, "2021-01-01", "2021-03-31", **first),
    ]
    then = fact(NET_INCOME, 749_000, "2020-01-01", "2020-12-31", filed="2022-03-23")

    first_report, after_next = yield raw(rows), raw(rows, then)

    assert value_of(first_report, "net_income", "ttm", "2021-03-31") is None
    assert value_of(after_next, "net_income", "ttm", "2021-03-31") == 749_000 + 242_539 - 264_372


NET_SPENDING = "PaymentsForProceedsFromProductiveAssets"


@pytest.mark.parametrize(
    ("tag", "cash_flow", "expected"),
    [
        (CAPITAL_SPENDING, [2e6, 2e6, 2e6, 60e6], 60e6),  # 200 thousand are 0.3 % of the cash flow of the year
        (CAPITAL_SPENDING, [2e6, 2e6, 2e6, 6e6], None),
        (NET_SPENDING, [2e6, 2e6, 2e6, 6e6], 6e6),  # disposals are subtracted
    ],
)
@in_one_call
def test_spending_may_fall_by_little_or_net_of_disposals(tag, cash_flow, expected):
    """Nine months are below the half year by 200 thousand; the quarters after them need the nine months."""
    ends = month_ends(2022, 7)
    spending = [1_000_321, 1e6, -200_123, 200_123] + [1e6] * 3
    rows = Filer(
        ends, {CASH_FLOW: cash_flow + [5e6] * 3, tag: spending}, to_date_only=frozenset({CASH_FLOW, tag})
    ).rows()
    # the year is known before the nine months, which only the report a year later states
    found = yield raw([row for row in rows if row["filed"] > "2022-12-31"])
    value = value_of(found, "free_cash_flow", "ttm", "2023-09-30")

    assert value == (None if expected is None else sum(cash_flow[3:]) + 15e6 - 3_200_123)


@in_one_call
def test_cash_of_the_day_before_is_left_out():
    """The report on a quarter states the cash of the last year end in its own context; assets there have moved."""

    def change(row):
        is_last = row["tag"] == CASH and row["end"] == "2023-03-31"
        return 53_412_345 if is_last or (row["tag"] == CASH and row["end"] == "2022-12-31") else row["value"]

    found = yield filed(5, change)

    assert value_of(found, "cash_and_equivalents", "ttm", "2022-12-31") == 53_412_345
    assert value_of(found, "cash_and_equivalents", "ttm", "2023-03-31") is None


@in_one_call
def test_a_restated_balance_that_is_the_figure_of_another_day_restates_nothing():
    """Texas Instruments stated 1,294 at 2009-06-30 in its report on 2009-09-30, whose cash is 1,294; it was 1,765."""
    rows = [
        fact(CASH, 1_765e6, None, "2022-06-30", form="10-Q", filed="2022-07-29"),
        fact(ASSETS, 9_000e6, None, "2022-06-30", form="10-Q", filed="2022-07-29"),
        fact(NET_INCOME, 5e6, "2022-01-01", "2022-06-30", form="10-Q", filed="2022-07-29"),
        fact(CASH, 1_294e6, None, "2022-06-30", form="10-Q", filed="2022-10-30"),
        fact(ASSETS, 9_000e6, None, "2022-06-30", form="10-Q", filed="2022-10-30"),
        fact(CASH, 1_294e6, None, "2022-09-30", form="10-Q", filed="2022-10-30"),
        fact(ASSETS, 9_100e6, None, "2022-09-30", form="10-Q", filed="2022-10-30"),
        fact(NET_INCOME, 7e6, "2022-01-01", "2022-09-30", form="10-Q", filed="2022-10-30"),
        fact(NET_INCOME, 8e6, *YEAR, filed="2023-02-20"),
    ]
    found = yield raw(rows)

    assert value_of(found, "cash_and_equivalents", "ttm", "2022-06-30") == 1_765e6
    assert value_of(found, "cash_and_equivalents", "ttm", "2022-09-30") == 1_294e6


@in_one_call
def test_a_year_that_two_annual_reports_state_alike_counts_without_its_quarters():
    """The years leave out software that the quarters include: the year has a value, windows between years have no
    value.
    """
    spending = [10e6, 12e6, 14e6, 2e6]
    company = Filer(month_ends(2021, 12), {CASH_FLOW: [40e6] * 12, CAPITAL_SPENDING: spending * 3}).rows()
    rows = [
        {**row, "value": 31e6} if row["tag"] == CAPITAL_SPENDING and row["form"] == "10-K" else row for row in company
    ]
    again = fact(CAPITAL_SPENDING, 31e6, "2021-01-01", "2021-12-31", filed="2023-02-20")
    found = yield raw(rows, [again])

    assert value_of(found, "free_cash_flow", "annual", "2021-12-31") == 129e6
    assert value_of(found, "free_cash_flow", "ttm", "2022-03-31") is None
    assert value_of(found, "free_cash_flow", "annual", "2023-12-31") is None
