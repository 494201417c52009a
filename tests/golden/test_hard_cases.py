"""Difficult filings in small: fictional filers that file as the named companies did, through all steps.

Belongs here: one case per test, with the values served for it. Does not: real documents (test_real_companies), the
details of a rule (the unit tests).
"""

from datetime import date

import pytest

from tests.factories import (
    CAPITAL_SPENDING,
    CASH,
    CASH_FLOW,
    DILUTED,
    DIVIDENDS,
    EPS,
    MILLION,
    NET_INCOME,
    REVENUE,
    SHARES,
    Filer,
    Row,
    Today,
    day,
    fact,
    month_ends,
    raw,
    row_of,
    value_of,
    week_ends,
)
from tests.together import in_one_call

ENDS = month_ends(2021, 12)
ALL_SPENDING = "PaymentsToAcquireProductiveAssets"
CONTRACTS = "RevenueFromContractWithCustomerExcludingAssessedTax"


def filer(**traits: object) -> Filer:
    """Three years of equal quarters; `ends`, `sums` and so on if a case needs others."""
    of_filer = {"ends": ENDS, "sums": {REVENUE: [100 * MILLION] * 12, NET_INCOME: [10 * MILLION] * 12}} | traits
    return Filer(**of_filer)  # type: ignore[arg-type]


def changed(rows: list[Row], value: float, **where: str) -> list[Row]:
    """The rows, with another value where all of `where` (tag, start, end, filed) match."""
    return [
        {**row, "value": value} if all(row[field] == sought for field, sought in where.items()) else row for row in rows
    ]


def days(year: int) -> tuple[str, str]:
    """A fiscal year that ends in September."""
    return f"{year - 1}-10-01", f"{year}-09-30"


def told(found: Today, item: str, end: str) -> list[tuple[float, str]]:
    """The stated values of twelve months, each with the form that stated it."""
    versions = found.found.versions.filter(item=item, period_end=day(end))
    return versions.select("value", "form").rows()


def ttm(found: Today, item: str, end: str) -> float | None:
    return value_of(found, item, "ttm", end)


# --- Time


@in_one_call
def test_twelve_months_in_quarterly_reports_are_not_fiscal_years():
    """Amazon's 10-Qs state twelve months to each quarter end in addition to the quarter."""
    company = filer()
    printed = [
        fact(NET_INCOME, 40 * MILLION, company.start(n - 3), ENDS[n], form="10-Q", filed=company.filed(n))
        for n in (4, 5, 6, 8, 9, 10)
    ]

    found = yield raw(company.rows(), printed)

    years = found.values.filter(item="net_income", period_kind="annual")["period_end"].to_list()
    assert years == [ENDS[3], ENDS[7], ENDS[11]]


@in_one_call
def test_the_last_quarter_of_17_weeks_is_one_quarter():
    """Costco's fourth quarter had 119 days in a year of 53 weeks that ended in September; others end in August."""
    weeks = [12, 12, 12, 17, 12, 12, 12, 16]
    company = filer(
        ends=week_ends(day("2016-08-28"), weeks),
        before=day("2016-08-28"),
        sums={NET_INCOME: [550e6, 520e6, 690e6, 919e6, 640e6, 700e6, 750e6, 1040e6], REVENUE: [9e9] * 8},
    )
    fourth = fact(NET_INCOME, 919e6, company.start(3), company.ends[3], filed=company.filed(3))

    found = yield raw(company.rows(), fourth)

    assert value_of(found, "net_income", "annual", "2017-09-03") == 2679e6
    assert row_of(found.values, "net_income", "annual", "2017-09-03")["flags"] == "weeks_53"
    assert value_of(found, "net_income", "annual", "2018-09-02") == 3130e6


@in_one_call
def test_a_first_quarter_of_16_weeks_is_a_quarter():
    """Restaurants have quarters of 16, 12, 12 and 12 weeks."""
    ends = week_ends(day("2021-12-26"), [16, 12, 12, 12, 16, 12])
    company = filer(ends=ends, before=day("2021-12-26"), sums={REVENUE: [160e6, 120e6, 121e6, 122e6, 170e6, 130e6]})

    found = yield company.facts()

    assert ttm(found, "revenue", str(ends[4])) == (120 + 121 + 122 + 170) * MILLION
    assert row_of(found.values, "revenue", "ttm", ends[4])["period"] == "2023Q1"


@in_one_call
def test_a_year_that_ends_in_early_january_is_named_after_the_one_before():
    """Johnson & Johnson's 2020 ended on 3 January 2021."""
    ends = week_ends(day("2019-12-29"), [13, 13, 13, 14, 13, 13])
    company = filer(ends=ends, before=day("2019-12-29"), sums={REVENUE: [MILLION] * 6}, names=-1)

    found = yield company.facts()

    assert row_of(found.values, "revenue", "annual", "2021-01-03")["period"] == "FY2020"
    assert row_of(found.values, "revenue", "ttm", ends[4])["period"] == "2021Q1"


@in_one_call
def test_a_change_of_the_fiscal_year_end_makes_no_half_year_a_year():
    """L3Harris reported 27 weeks between its June and its December years; twelve months continue across them."""
    before = filer(ends=month_ends(2020, 8, last_month=6))
    start = "2021-07-01"
    between = [
        fact(tag, value, start, end, form=form, filed=filed)
        for tag, quarter in ((REVENUE, 100e6), (NET_INCOME, 10e6))
        for value, end, form, filed in (
            (quarter, "2021-09-30", "10-Q", "2021-11-09"),
            (2 * quarter, "2021-12-31", "10-KT", "2022-03-01"),
        )
    ]
    after = [
        fact(tag, quarter * 4, "2022-01-01", "2022-12-31", filed="2023-03-01")
        for tag, quarter in ((REVENUE, 100e6), (NET_INCOME, 10e6))
    ]

    found = yield raw(before.rows(), between, after)

    years = found.values.filter(item="revenue", period_kind="annual")["period_end"].to_list()
    assert years == [day("2020-06-30"), day("2021-06-30"), day("2022-12-31")]
    assert set(found.values.filter(item="revenue")["value"]) == {400 * MILLION}


@pytest.mark.parametrize("months", [1, 2, 10, 11])
@in_one_call
def test_a_change_of_the_fiscal_year_end_loses_no_year(months):
    """Workday's years ended in December and then in January: the month between is not a quarter.

    Earlier quarters stay as filed, whatever quarters the comparatives of the new years have.
    """
    before = filer(ends=month_ends(2020, 8, last_month=6))
    of_new_years = filer(ends=month_ends(2021 + (months > 6), 12, last_month=(6 + months - 1) % 12 + 1))
    since = [row for row in of_new_years.rows() if row["filed"] > str(of_new_years.filed(3))]

    found = yield raw(before.rows(), since)

    ends = [*before.ends[3:], *of_new_years.ends[7:]]
    assert {end: ttm(found, "revenue", str(end)) for end in ends} == dict.fromkeys(ends, 400 * MILLION)
    years = found.values.filter(item="revenue", period_kind="annual")["period_end"].to_list()
    assert years == [before.ends[3], before.ends[7], of_new_years.ends[7], of_new_years.ends[11]]


@in_one_call
def test_labels_of_filings_decide_nothing():
    """A year of 10-Qs that are all labelled FY of another year (Disney, Snowflake, General Electric)."""
    rows = [{**row, "fy": 2019} if row["form"] == "10-Q" else row for row in filer().rows()]

    mislabelled, usual = yield raw(rows), filer().facts()

    assert mislabelled.values.rows() == usual.values.rows()


# --- Errors in filings


@in_one_call
def test_the_second_quarter_filed_for_six_months_restates_nothing():
    """NVIDIA's annual report for 2017 stated the quarter's revenue, income and EPS for the six months."""
    sums = {REVENUE: [1937e6, 2234e6] * 6, NET_INCOME: [507e6, 583e6] * 6, EPS: [0.85, 0.98] * 6}
    wrong = [fact(tag, quarters[1], "2022-01-01", "2022-06-30", filed="2023-03-01") for tag, quarters in sums.items()]

    found = yield raw(filer(sums=sums).rows(), wrong)

    assert told(found, "revenue", "2022-06-30") == [(2 * (1937 + 2234) * MILLION, "10-Q")]
    assert told(found, "net_income", "2022-06-30") == [(2 * (507 + 583) * MILLION, "10-Q")]
    assert ttm(found, "eps_basic", "2022-06-30") == 3.66


@in_one_call
def test_quarters_of_the_year_before_filed_for_this_year():
    """Amazon's annual report for 2012 stated the quarters of 2011 in the contexts of 2012."""
    revenue = [9_857e6, 9_913e6, 10_876e6, 17_431e6, 13_185e6, 12_834e6, 13_806e6, 21_268e6]
    income = [201e6, 191e6, 63e6, 177e6, 130e6, 7e6, -274e6, 97e6]
    company = filer(ends=month_ends(2011, 8), sums={REVENUE: revenue, NET_INCOME: income})
    wrong = [
        fact(tag, amounts[n], company.start(n + 4), company.ends[n + 4], filed=company.filed(7))
        for tag, amounts in ((REVENUE, revenue), (NET_INCOME, income))
        for n in range(4)
    ]
    first = [
        fact(tag, amounts[3], company.start(3), company.ends[3], filed=company.filed(3))
        for tag, amounts in ((REVENUE, revenue), (NET_INCOME, income))
    ]

    found = yield raw(company.rows(), first, wrong)

    assert [ttm(found, "net_income", end) for end in ("2012-03-31", "2012-06-30", "2012-09-30", "2012-12-31")] == [
        561e6,
        377e6,
        40e6,
        -40e6,
    ]
    assert told(found, "net_income", "2012-09-30") == [(40e6, "10-Q")]


@in_one_call
def test_the_year_filed_for_its_last_quarter():
    """NVIDIA tagged the dividends of the year for its last quarter, too."""
    company = filer(sums={REVENUE: [MILLION] * 12, DIVIDENDS: [0.075] * 4 + [0.085] * 8})
    wrong = [
        fact(DIVIDENDS, company.summed(DIVIDENDS, n - 3, n), company.start(n), ENDS[n], filed=company.filed(n))
        for n in (3, 7, 11)
    ]

    found = yield raw(company.rows(), wrong)

    assert ttm(found, "dividends_per_share", "2022-06-30") == 0.32
    assert ttm(found, "dividends_per_share", "2022-12-31") == 0.34
    assert ttm(found, "dividends_per_share", "2023-09-30") == 0.34


@in_one_call
def test_cash_flow_with_the_opposite_sign_in_the_comparative():
    """Starbucks' report of April 2024 has the cash flow of the year before with a negative sign."""
    flows = {CASH_FLOW: [1180e6] * 12, CAPITAL_SPENDING: [500e6] * 12, REVENUE: [9e9] * 12}
    rows = changed(
        filer(sums=flows).rows(), -2360e6, tag=CASH_FLOW, start="2022-01-01", end="2022-06-30", filed="2023-08-09"
    )

    found = yield raw(rows)

    assert told(found, "free_cash_flow", "2022-06-30") == [(2720e6, "10-Q")]
    assert ttm(found, "free_cash_flow", "2023-06-30") == 2720e6


@in_one_call
@pytest.mark.parametrize("of", [1000.0, 1.0])
def test_a_year_of_a_later_report_in_thousands(of):
    """Golden Sun's report of fiscal 2024 has all amounts of 2022 a thousand times too large; its shares are right."""
    amounts = {REVENUE: 10.6e6, CASH_FLOW: 910_251.0, NET_INCOME: -2_139_320.0}
    rows = [
        fact(tag, amount * level * (of if end == 2022 and year == 2024 else 1), *days(end), filed=filed, form="20-F")
        for year, filed in ((2022, "2023-02-15"), (2023, "2024-02-15"), (2024, "2025-02-14"))
        for end, level in ((2022, 1.0), (2023, 0.8), (2024, 0.7))
        for tag, amount in amounts.items()
        if end <= year
    ]
    counted = [
        fact(SHARES, 1_443_316, *days(2022), filed="2025-02-14", form="20-F"),
        fact(EPS, -1.48, *days(2022), filed="2025-02-14", form="20-F"),
    ]

    found = yield raw(rows, counted)

    values = {"revenue": 10.6e6, "net_income": -2_139_320.0, "shares_basic": 1_443_316.0, "eps_basic": -1.48}
    assert {item: value_of(found, item, "annual", "2022-09-30") for item in values} == values


@in_one_call
def test_counts_in_thousands_for_a_year_and_a_half():
    """NVIDIA stated its averages in thousands from March 2010 to August 2011."""
    company = filer(
        sums={REVENUE: [MILLION] * 12, NET_INCOME: [55e6] * 12, EPS: [0.10] * 12},
        means={SHARES: [550e6] * 12, DILUTED: [560e6] * 12},
    )
    rows = [
        {**row, "value": row["value"] / 1e3} if row["unit"] == "shares" and row["filed"] < "2022-09-01" else row
        for row in company.rows()
    ]

    found = yield raw(rows)

    for item, count in (("shares_basic", 550e6), ("shares_diluted", 560e6)):
        values = found.values.filter(item=item)["value"]
        assert values.to_list() == pytest.approx([count] * len(values))
    assert found.found.splits.is_empty()


@pytest.mark.parametrize("tag", [SHARES, CAPITAL_SPENDING])
@in_one_call
def test_a_placeholder_is_not_used(tag):
    """Zero shares are stated in place of a missing count; spending under an element of the filer's own is not read."""
    sums = {REVENUE: [MILLION] * 12, CASH_FLOW: [20e6] * 12, CAPITAL_SPENDING: [5e6] * 12}
    company = filer(sums=sums, means={SHARES: [100e6] * 12})
    rows = company.rows()
    if tag == SHARES:
        rows = [{**row, "value": 0.0} if row["tag"] == SHARES and row["form"] == "10-K" else row for row in rows]
    else:
        rows = [row for row in rows if row["tag"] != tag or row["form"] == "10-Q"]
    item = "shares_basic" if tag == SHARES else "free_cash_flow"

    found = yield raw(rows)

    assert value_of(found, item, "annual", "2022-12-31") is None
    reason = "left_out" if tag == SHARES else "no_capital_expenditure"
    assert row_of(found.gaps, item, "annual", "2022-12-31")["reason"] == reason


# --- Bases


@in_one_call
def test_quarters_before_and_after_a_split():
    """Ten for one: three quarters on the old basis and one on the new are served on the new basis."""
    company = filer(
        sums={REVENUE: [MILLION] * 12, NET_INCOME: [100e6] * 12, EPS: [1.0] * 12, DIVIDENDS: [0.4] * 12},
        means={SHARES: [100e6] * 12},
    )
    by = {SHARES: 10, EPS: 0.1, DIVIDENDS: 0.1}
    rows = [
        {**row, "value": row["value"] * by.get(row["tag"], 1)} if row["filed"] > "2023-06-30" else row
        for row in company.rows()
    ]

    found = yield raw(rows)

    assert ttm(found, "eps_basic", "2023-06-30") == 0.4
    assert ttm(found, "dividends_per_share", "2023-06-30") == 0.16
    assert set(found.values.filter(item="shares_basic")["value"]) == {1e9}
    assert set(found.values.filter(item="eps_basic")["value"]) == {0.4}


@in_one_call
def test_earnings_per_share_of_a_year_are_not_a_sum():
    """Apple's four quarters of 2020 add up to 3.29; the year as filed is 3.31."""
    rows = changed(filer(sums={REVENUE: [MILLION] * 12, EPS: [0.8225] * 12}).rows(), 3.31, tag=EPS, form="10-K")

    found = yield raw(rows)

    assert value_of(found, "eps_basic", "annual", "2022-12-31") == 3.31


@in_one_call
def test_restated_quarters_with_an_older_year_to_date():
    """Microsoft restated two quarters in the third; their sum was restated only a year later."""
    income = [4_620e6, 4_998e6, 3_756e6, 3_122e6, 4_690e6, 5_200e6, 4_801e6, 6_513e6]
    company = filer(ends=month_ends(2016, 8, last_month=6), sums={REVENUE: [20e9] * 8, NET_INCOME: income})
    again = [
        fact(NET_INCOME, 4_902e6, "2015-07-01", "2015-09-30", form="10-Q", filed="2016-05-10"),
        fact(NET_INCOME, 5_018e6, "2015-10-01", "2015-12-31", form="10-Q", filed="2016-05-10"),
    ]
    rows = changed(company.rows(), 13_676e6, tag=NET_INCOME, start="2015-07-01", end="2016-03-31")
    rows = changed(rows, 16_798e6, tag=NET_INCOME, start="2015-07-01", end="2016-06-30")
    rows = changed(rows, 9_920e6, tag=NET_INCOME, start="2015-07-01", end="2015-12-31", filed="2017-02-09")

    found = yield raw(rows, again)

    assert value_of(found, "net_income", "annual", "2016-06-30") == 16_798e6
    assert ttm(found, "net_income", "2016-12-31") == (16_798 + 9_890 - 9_920) * MILLION


@in_one_call
def test_a_new_revenue_standard_is_applied_to_quarters_before_the_year():
    """Quarters of both years on the new standard, last year on the old: no value until an annual report restates it."""
    company = filer(sums={REVENUE: [100e6] * 4 + [107e6] * 4 + [115e6] * 4, NET_INCOME: [10e6] * 12})
    rows = [
        {**row, "value": row["value"] * 1.07}
        if row["tag"] == REVENUE and row["filed"] > "2023-01-01" and row["end"] < "2023-01-01" and row["form"] == "10-Q"
        else row
        for row in company.rows()
    ]
    rows = changed(rows, 107e6 * 4 * 1.07, tag=REVENUE, end="2022-12-31", filed="2024-02-29")

    found = yield raw(rows)
    versions = found.found.versions.filter(item="revenue", period_end=day("2023-06-30"))

    (only,) = versions.rows(named=True)
    assert only["value"] == pytest.approx((4 * 107 * 1.07 + 2 * 115 - 2 * 107 * 1.07) * MILLION)
    assert (only["flags"], only["filed"]) == ("", day("2024-02-29"))


@in_one_call
def test_an_amended_year_is_a_restatement():
    """Apple's 10-K/A of January 2010 restates two years."""
    before = [row for row in filer().rows() if row["filed"] < "2023-04-01"]
    again = [fact(REVENUE, 470e6, "2022-01-01", "2022-12-31", form="10-K/A", filed="2023-04-01")]

    found = yield raw(before, again)

    assert told(found, "revenue", "2022-12-31") == [(400e6, "10-K"), (470e6, "10-K/A")]
    assert found.found.versions.filter(item="revenue")["cause"].to_list()[-1] == "restatement"


# --- What feeds an item


@in_one_call
def test_contract_revenue_is_used_if_total_revenue_ends():
    """Costco's newest report has no total any more. Mastercard states its total and contracts before rebates."""
    company = filer(sums={REVENUE: [100e6] * 12, CONTRACTS: [100e6] * 12, NET_INCOME: [10e6] * 12})
    rows = [row for row in company.rows() if row["tag"] != REVENUE or row["filed"] < "2023-10-01"]
    gross = filer(sums={REVENUE: [100e6] * 12, CONTRACTS: [150e6] * 12})

    without_total, with_total = yield raw(rows), gross.facts()

    assert ttm(without_total, "revenue", "2023-09-30") == 400e6
    assert ttm(with_total, "revenue", "2023-09-30") == 400e6


def spender(line: str, noted: float) -> list[Row]:
    """Five million of `line` per quarter in its cash flow statements; four quarters of `noted` in annual notes only."""
    company = filer(
        sums={
            REVENUE: [MILLION] * 12,
            CASH_FLOW: [50 * MILLION] * 12,
            line: [5e6] * 12,
            CAPITAL_SPENDING: [noted] * 12,
        },
        to_date_only=frozenset({CASH_FLOW, line}),
    )
    return [row for row in company.rows() if row["tag"] != CAPITAL_SPENDING or row["form"] == "10-K"]


@in_one_call
def test_capital_expenditure_of_a_note_is_not_used():
    """Albertsons' annual reports state another amount, including unpaid purchases, under the preferred element."""
    found = yield raw(spender(ALL_SPENDING, 4.5e6))

    assert value_of(found, "free_cash_flow", "annual", "2022-12-31") == 180e6
    assert ttm(found, "free_cash_flow", "2023-06-30") == 180e6


@in_one_call
def test_the_line_of_the_cash_flow_statement_restates_that_of_a_note():
    """The first annual report does not show the difference; the second one has interim reports before it."""
    rows = [row for row in spender(ALL_SPENDING, 4.5e6) if row["filed"] > "2022-01-01"]

    found = yield raw(rows)

    assert told(found, "free_cash_flow", "2021-12-31") == [(182e6, "10-K"), (180e6, "10-K")]


@in_one_call
def test_a_smaller_line_of_interim_reports_does_not_replace_capital_expenditure():
    """The rest may be on a line whose element is not read."""
    found = yield raw(spender("PaymentsToAcquireOtherPropertyPlantAndEquipment", 20e6))

    assert value_of(found, "free_cash_flow", "annual", "2022-12-31") == 120e6


@in_one_call
def test_dividends_that_begin_within_a_year():
    """Alphabet's first dividend was in the second quarter of 2024: the year has three, as the year itself states."""
    company = filer(sums={REVENUE: [MILLION] * 12, DIVIDENDS: [0, 0, 0, 0, 0, 0.2, 0.2, 0.2] + [0.21] * 4})
    rows = [row for row in company.rows() if row["tag"] != DIVIDENDS or row["value"] > 0]

    found = yield raw(rows)

    assert value_of(found, "dividends_per_share", "annual", "2022-12-31") == pytest.approx(0.6)
    assert ttm(found, "dividends_per_share", "2022-09-30") is None


@pytest.mark.parametrize(("of_year", "expected"), [(0.86, 0.88), (15.86, None)], ids=["raised", "special"])
@in_one_call
def test_dividends_of_the_quarter_alone(of_year, expected):
    """Texas Instruments' quarterly reports state the quarter's dividend only: the fourth is derived from the year.

    Costco's quarters leave out a special dividend that the year includes: it is not the fourth quarter's.
    """
    company = filer(sums={REVENUE: [MILLION] * 12, DIVIDENDS: [0.2] * 4 + [0.21, 0.21, 0.21, 0.23] + [0.22] * 4})
    quarters_alone = [
        row
        for row in company.rows()
        if row["tag"] != DIVIDENDS or row["form"] == "10-K" or (day(row["end"]) - day(row["start"])).days < 100
    ]
    rows = changed(quarters_alone, of_year, tag=DIVIDENDS, start="2022-01-01", end="2022-12-31")

    found = yield raw(rows)

    assert ttm(found, "dividends_per_share", "2023-06-30") == (expected and 0.88)
    assert ttm(found, "dividends_per_share", "2022-09-30") == 0.83


@in_one_call
def test_a_convenience_translation_is_not_served():
    """Taiwan Semiconductor's newest year is stated in dollars, too."""
    company = filer(annual_only=True, annual_form="20-F")
    books = [{**row, "unit": "TWD"} for row in company.rows()]
    translated = [{**row, "value": row["value"] / 32} for row in company.rows() if row["end"] == "2023-12-31"]

    found = yield raw(books, translated)

    assert value_of(found, "revenue", "annual", "2023-12-31") == 400e6
    assert found.found.profiles["currency"].to_list() == ["TWD"]


@in_one_call
def test_a_security_that_changed_its_element_is_not_lost():
    """NVIDIA's marketable securities are under another element since 2026, with cash of a quarter of their amount."""
    cash = {CASH: [13e9] * 12, "MarketableSecuritiesCurrent": [37e9] * 12}
    rows = [
        {**row, "tag": "DebtSecuritiesCurrent"}
        if row["tag"] == "MarketableSecuritiesCurrent" and row["filed"] > "2023-10-01"
        else row
        for row in filer(balances=cash).rows()
    ]

    found = yield raw(rows)

    held = found.values.filter(item="cash_and_equivalents", period_kind="ttm")
    assert set(held["value"]) == {50e9}
    assert held["period_end"].max() == date(2023, 12, 31)


@in_one_call
def test_proxy_statements_restate_nothing():
    """Chevron's proxy rounds 21,369 to 21,400; Arista's states a millionth of the true value."""
    proxies = [
        fact(NET_INCOME, value, "2022-01-01", "2022-12-31", form="DEF 14A", filed=filed)
        for value, filed in ((40_400_000, "2024-04-07"), (40, "2025-04-16"))
    ]

    found = yield raw(filer().rows(), proxies)

    assert told(found, "net_income", "2022-12-31") == [(40e6, "10-K")]
