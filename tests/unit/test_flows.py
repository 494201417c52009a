"""Trailing twelve months from filed figures: the identities between years, quarters and years to date."""

from datetime import date, timedelta

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.factories import (
    CAPITAL_SPENDING,
    CASH,
    CASH_FLOW,
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
    outcomes,
    raw,
    row_of,
    value_of,
    week_ends,
)
from tests.shapes.flows import (
    recast_from_the_second_quarter_on,
    recast_with_quarterly_data,
    report_without_zeros,
    restated_from_the_annual_report_on,
    year_with_another_digit,
)
from tests.strategies import not_the_simplest
from tests.together import each_standardized, in_one_call

amounts = st.integers(-900_000, 900_000).map(lambda thousands: thousands * 1e3)
counts = st.integers(1_000, 9_000).map(lambda thousands: thousands * 1e3)
once = settings(max_examples=1, deadline=None)
FINANCING = "NetCashProvidedByUsedInFinancingActivities"
CHANGE = "CashAndCashEquivalentsPeriodIncreaseDecrease"
WEEKS_52 = [13, 13, 13, 13]


def ten_of_each(one: st.SearchStrategy[float]) -> st.SearchStrategy[list[list[float]]]:
    """Ten quarters of each of five companies, which the pipeline reads together."""
    return not_the_simplest(st.lists(st.lists(one, min_size=10, max_size=10), min_size=5, max_size=5))


def series(found: Today, item: str, kind: str = "ttm") -> dict[date, float]:
    """Values of an item by period end."""
    rows = found.values.filter(item=item, period_kind=kind).sort("period_end")
    return dict(rows.select("period_end", "value").iter_rows())


def of_four(ends: list[date], quarters: list[float]) -> dict[date, float]:
    """The sum of four quarters, for each period end that has four."""
    return {ends[n]: float(sum(quarters[n - 3 : n + 1])) for n in range(3, len(ends))}


# --- The identity


WEEKS = [[13, 13, 13, 13], [13, 13, 13, 14], [12, 12, 12, 16], [16, 12, 12, 13], [14, 13, 13, 13]]
"""Weeks of the quarters of a year."""


@once
@given(drawn=ten_of_each(amounts))
def test_twelve_months_are_the_last_four_quarters(drawn):
    """FY + YTD - prior YTD equals the sum of the last four quarters, for any ten quarters."""
    before = day("2021-01-02")
    ends = [week_ends(before, [*weeks, *weeks, *weeks[:2]]) for weeks in WEEKS]
    companies = [
        Filer(days, {NET_INCOME: each, CASH_FLOW: each}, before=before) for days, each in zip(ends, drawn, strict=True)
    ]

    for found, days, quarters in zip(each_standardized([each.facts() for each in companies]), ends, drawn, strict=True):
        assert series(found, "net_income") == of_four(days, quarters)


@once
@given(drawn=ten_of_each(counts))
def test_both_ways_lead_to_the_same_twelve_months(drawn):
    """Years and years to date alone, and discrete quarters alone, give the same twelve months."""
    ends = month_ends(2021, 10)
    is_revenue, days = pl.col("tag") == REVENUE, pl.col("end").str.to_date() - pl.col("start").str.to_date()
    is_quarter, is_first = days < timedelta(days=100), pl.col("end").str.ends_with("03-31")
    filed = []
    for quarters in drawn:
        company = Filer(ends, {REVENUE: quarters, NET_INCOME: quarters})
        fourth = [fact(REVENUE, quarters[n], company.start(n), ends[n], filed=company.filed(n)) for n in (3, 7)]
        filed.append(company.facts().filter(~is_revenue | ~is_quarter | is_first))
        filed.append(raw(company.rows(), fourth).filter(~is_revenue | is_quarter))

    found = each_standardized(filed)

    for quarters, by_years, by_quarters in zip(drawn, found[::2], found[1::2], strict=True):
        assert series(by_years, "revenue") == series(by_quarters, "revenue") == of_four(ends, quarters)
        methods = [row_of(each.values, "revenue", "ttm", "2023-06-30")["method"] for each in (by_years, by_quarters)]
        assert methods == ["year_to_date", "four_quarters"]


@in_one_call
def test_amounts_per_share_are_summed_by_quarters():
    """The fourth quarter is the year less nine months; at a year end the value as filed is used."""
    ends = month_ends(2022, 6)
    company = Filer(ends, {REVENUE: [MILLION] * 6, EPS: [1.00, 1.10, 1.20, 1.30, 1.40, 1.50], DIVIDENDS: [0.25] * 6})

    found = yield company.facts()

    assert series(found, "eps_basic") == {ends[3]: 4.6, ends[4]: 5.0, ends[5]: 5.4}
    assert series(found, "dividends_per_share") == {ends[3]: 1.0, ends[4]: 1.0, ends[5]: 1.0}
    assert row_of(found.values, "eps_basic", "ttm", ends[3])["method"] == "fiscal_year"
    assert row_of(found.values, "eps_basic", "ttm", ends[5])["method"] == "four_quarters"


@in_one_call
def test_a_whole_years_dividend_declared_at_once_counts_once():
    """Dividends of 0.94 declared in one quarter, then of 0.99: twelve months are 0.94 and 0.99, not four times that."""
    company = Filer(month_ends(2022, 5), {REVENUE: [MILLION] * 5, DIVIDENDS: [0.94, 0, 0, 0, 0.99]})

    found = yield company.facts()

    assert list(series(found, "dividends_per_share").values()) == [0.94, 0.99]


# --- Averages


@once
@given(drawn=ten_of_each(counts))
def test_share_days_add_up(drawn):
    """Weighted averages are not summed: the average of twelve months is the day-weighted mean of its quarters."""
    ends = month_ends(2021, 10)
    companies = [Filer(ends, {REVENUE: [MILLION] * 10}, {SHARES: sorted(means)}) for means in drawn]

    for company, found in zip(companies, each_standardized([each.facts() for each in companies]), strict=True):
        averages = series(found, "shares_basic")
        assert list(averages) == ends[3:]
        for last, value in enumerate(averages.values(), 3):
            assert value == pytest.approx(company.mean(SHARES, last - 3, last), abs=1)


@in_one_call
def test_an_average_over_weeks_is_weighted_by_them():
    """A quarter of 17 weeks has more weight than one of 12 weeks."""
    before = day("2021-01-02")
    ends = week_ends(before, [12, 12, 12, 17, 12, 12, 12, 16, 12])
    company = Filer(ends, {REVENUE: [MILLION] * 9}, {SHARES: [100e6, 100e6, 100e6, 102e6] * 2 + [100e6]}, before=before)

    found = yield company.facts()
    found = series(found, "shares_basic")

    assert found[ends[3]] == pytest.approx((36 * 100e6 + 17 * 102e6) / 53, abs=1)
    assert found[ends[4]] == pytest.approx((36 * 100e6 + 17 * 102e6) / 53, abs=1)
    assert found[ends[8]] == pytest.approx((36 * 100e6 + 16 * 102e6) / 52, abs=1)


# --- Too few periods for twelve months


@in_one_call
def test_three_quarters_are_no_estimate_of_four():
    """A company that has just begun to report has no twelve months before its first full year."""
    found = yield Filer(month_ends(2023, 3), {REVENUE: [MILLION] * 3, NET_INCOME: [MILLION] * 3}).facts()

    assert found.values.is_empty()


@in_one_call
def test_a_missing_leg_leaves_the_period_out():
    """Without the first year there is no comparative to subtract; the value is missing and not estimated."""
    company = Filer(month_ends(2021, 11), {REVENUE: [MILLION * n for n in range(1, 12)], NET_INCOME: [MILLION] * 11})
    rows = company.facts()
    lacking = rows.filter((pl.col("tag") != REVENUE) | (pl.col("end") != "2022-09-30"))

    whole, found = yield rows, lacking

    assert set(series(whole, "revenue")) - set(series(found, "revenue")) == {
        day("2022-09-30"),
        day("2023-09-30"),
    }


@in_one_call
def test_annual_reports_alone_give_a_twelve_months_a_year():
    """A filer without quarterly reports has one TTM value per year, equal to the annual value."""
    company = Filer(
        month_ends(2021, 12), {REVENUE: [MILLION] * 12, EPS: [0.5] * 12}, annual_only=True, annual_form="20-F"
    )

    found = yield company.facts()

    ttm, annual = series(found, "revenue"), series(found, "revenue", "annual")
    assert ttm == annual == {day(f"{year}-12-31"): 4 * MILLION for year in (2021, 2022, 2023)}
    assert row_of(found.values, "revenue", "ttm", "2023-12-31")["period"] == "2023Q4"


@in_one_call
def test_the_window_of_53_weeks_is_marked():
    before = day("2020-08-30")
    ends = week_ends(before, [*WEEKS_52, 13, 13, 13, 14, 13])
    found = yield Filer(ends, {REVENUE: [MILLION] * 9, NET_INCOME: [MILLION] * 9}, before=before).facts()

    flags = {
        row["period_end"]: row["flags"] for row in found.values.filter(item="revenue", period_kind="ttm").to_dicts()
    }

    assert [flags[end] for end in ends[3:]] == ["", "", "", "", "weeks_53", "weeks_53"]


# --- Repetitions and restatements


TAG, START, END, FILED, VALUE = (pl.col(name) for name in ("tag", "start", "end", "filed", "value"))


def otherwise(filer: Filer, value: float | pl.Expr, where: pl.Expr) -> pl.DataFrame:
    """What a filer files, with another value of some facts."""
    return filer.facts().with_columns(value=pl.when(where).then(value).otherwise("value"))


def company_with(*later: dict, quarter: float = 24_165_500_000) -> list[Row]:
    """Two years of one company, plus the facts of later filings."""
    return [*Filer(month_ends(2022, 8), {REVENUE: [quarter] * 8, NET_INCOME: [MILLION] * 8}).rows(), *later]


FIRST_YEAR, SECOND_YEAR = ("2022-01-01", "2022-12-31"), ("2023-01-01", "2023-12-31")
OPERATING = "OperatingIncomeLoss"


def again(value: float, filed: str = "2025-02-20", years=(FIRST_YEAR,), tag: str = REVENUE, **report) -> list[Row]:
    """A figure of 2022, or of several years, in a later report."""
    return [fact(tag, value, *year, filed=filed, **report) for year in years]


FILED_FIRST, RESTATED, BOTH_YEARS = 96_662_000_000, 97_100_000_000, (FIRST_YEAR, SECOND_YEAR)
OF_INCOME = [*again(900e6, "2023-02-20", tag=OPERATING), *again(900e6, "2024-02-20", tag=OPERATING)]
LATER = {
    "a coarser repetition, 96.7 billion, changes nothing": (again(96_700_000_000), FILED_FIRST),
    "a finer repetition, to the dollar, replaces": (again(96_662_345_678), 96_662_345_678),
    # a difference beyond rounding is a restatement: the newest value counts, also if it returns to the first one
    "a restated value replaces": (again(RESTATED, years=BOTH_YEARS), RESTATED),
    "a value that is restated back replaces": (
        [*again(RESTATED, years=BOTH_YEARS), *again(FILED_FIRST, "2026-02-20")],
        FILED_FIRST,
    ),
    "an amendment of the same day replaces": (again(RESTATED, "2024-02-29", BOTH_YEARS, form="10-K/A"), RESTATED),
    # another filing that repeats its figure confirms it; until then the amount that two filings have stated counts
    "one filing that disagrees with two is an outlier": (again(RESTATED), FILED_FIRST),
    "an outlier before a report that has the usual amount": (
        [*again(RESTATED), *again(FILED_FIRST, "2026-02-20")],
        FILED_FIRST,
    ),
    "two filings that disagree with two": ([*again(RESTATED), *again(RESTATED, "2026-02-20")], RESTATED),
    "an outlier that a third report confirms": (
        [*again(RESTATED), *again(FILED_FIRST, "2026-02-20"), *again(RESTATED, "2027-02-20")],
        RESTATED,
    ),
    # the oldest year of an annual report is not stated again; another line of it was restated along
    "a filing that restates one of two figures is an outlier": ([*OF_INCOME, *again(RESTATED)], FILED_FIRST),
    "a filing that restates more than one figure is no outlier": (
        [*OF_INCOME, *again(1_338e6, tag=OPERATING), *again(RESTATED)],
        RESTATED,
    ),
    "a proxy statement is ignored": (again(RESTATED, "2025-04-20", form="DEF 14A"), FILED_FIRST),
    "an announcement is ignored": (again(RESTATED, "2025-04-20", form="8-K"), FILED_FIRST),
}
"""Later facts, and the revenue of 2022."""


@pytest.mark.parametrize(("later", "revenue"), LATER.values(), ids=LATER)
@in_one_call
def test_repetitions_and_restatements(later, revenue):
    found = yield company_with(*later)

    assert value_of(found, "revenue", "annual", "2022-12-31") == revenue


@in_one_call
def test_the_leg_of_a_repeated_year_is_the_more_precise_filing():
    """96,662 million, later stated as 96.7 billion: the filing of the more precise value stays."""
    found = yield company_with(*again(96_700_000_000))
    legs = found.lineage.filter(item="revenue", period_kind="annual", period_end=day("2022-12-31"))

    assert legs["filed"].to_list() == [day("2023-03-01")]


@pytest.mark.parametrize(
    ("amounts", "value"), [((3.0, 3.0), 2.7), ((3.0, 2.9), 3.0), ((3.0, 2.8), 3.0), ((4.0, 3.0), 4.0)]
)
@in_one_call
def test_dividends_rounded_to_a_whole_unit_change_nothing(amounts, value):
    """2.70 and 2.80 a share, later stated as 3; if one of them is stated otherwise, the other is restated."""
    found = yield company_with(
        *(
            fact(DIVIDENDS, amount, *year, filed=filed)
            for filed, of_years in (("2024-01-20", (2.7, 2.8)), ("2025-02-20", amounts))
            for year, amount in zip(BOTH_YEARS, of_years, strict=True)
        ),
        quarter=1_187e6,
    )

    assert value_of(found, "dividends_per_share", "annual", "2022-12-31") == value


@pytest.mark.parametrize(("financing", "value"), [(-3_178, 8_178), (-3_000, 8_000)])
@in_one_call
def test_a_figure_with_which_its_statement_foots_is_no_outlier(financing, value):
    """Operating cash flow is stated 178 higher, and financing 178 lower: the activities still make the change."""
    lines = {CASH_FLOW: 8_000, "NetCashProvidedByUsedInInvestingActivities": -1_000, FINANCING: -3_000, CHANGE: 4_000}
    again = lines | {CASH_FLOW: 8_178, FINANCING: financing}
    rows = [
        fact(tag, amount * MILLION, *FIRST_YEAR, filed=f"{filed}-02-20")
        for filed, figures in ((2023, lines), (2024, lines), (2025, again))
        for tag, amount in {**figures, CAPITAL_SPENDING: 500}.items()
    ]

    found = yield company_with(*rows)
    assert value_of(found, "free_cash_flow", "annual", "2022-12-31") == (value - 500) * MILLION


# --- The accounting basis of the year to date


def recast() -> pl.DataFrame:
    """A year of 100 per quarter. The next report recasts its first quarter to 130."""
    company = Filer(month_ends(2022, 8), {REVENUE: [100e6] * 4 + [130e6] * 4, NET_INCOME: [MILLION] * 8})
    first_quarter = (TAG == REVENUE) & (END == "2022-03-31") & (FILED > "2023-01-01")
    return otherwise(company, 130e6, first_quarter).filter(FILED < "2023-06-01")


@in_one_call
def test_a_recast_year_takes_the_recast_quarter_along():
    """Once an amendment recasts the year to 520, both years to date are on the new basis: 520 - 130 + 130."""
    year = fact(REVENUE, 520 * MILLION, *FIRST_YEAR, form="10-K/A", filed="2023-09-01", fy=2022)
    found = yield pl.concat([recast(), raw(year)])
    found = row_of(found.values, "revenue", "ttm", "2023-03-31")

    assert found["value"] == 520 * MILLION
    assert "mixed_basis" not in found["flags"]


@in_one_call
def test_a_year_to_date_restated_alone_is_no_leg_of_the_former_year():
    """Reports from April 2024 on leave out a sold business of 30 a quarter, also in the figures of earlier periods.

    No report shows the first quarter of 2022 without it. The twelve months to March 2023 stay 400 + 110 - 100; with the
    newest year to date they would be 380, on no basis at all.
    """
    company = Filer(month_ends(2022, 12), {REVENUE: [100e6] * 4 + [110e6] * 4 + [80e6] * 4, NET_INCOME: [1e6] * 12})
    found = yield otherwise(company, VALUE * 8 / 11, (TAG == REVENUE) & (START < "2024-01-01") & (FILED > "2024-04-01"))

    of_windows = found.values.filter(item="revenue", period_kind="ttm").sort("period_end").select("value", "flags")
    assert of_windows.rows()[1:4] == [(410e6, ""), (420e6, ""), (430e6, "")]
    assert of_windows.row(4) == (320e6, "recast")


@pytest.mark.parametrize(("factor", "filed"), [(1000, "2024-08-09"), (-1, "2024-08-09"), (0.9, "2025-03-01")])
@in_one_call
def test_a_year_to_date_stated_in_error_counts_as_corrected_later(factor, filed):
    """The cash flow of half a year was filed wrong, and the report of the year after shows it right.

    An error of sign or scale shows by itself. Another error shows as soon as a later report repeats another figure of
    the year and restates none: a change of the accounting basis would restate them.
    """
    flows = [100e6] * 4 + [110e6] * 4 + [120e6] * 4
    company = Filer(month_ends(2022, 12), {REVENUE: [1e9] * 12, CASH_FLOW: flows, CAPITAL_SPENDING: [1e6] * 12})
    found = yield otherwise(
        company, VALUE * factor, (TAG == CASH_FLOW) & (END == "2023-06-30") & (FILED < "2024-01-01")
    )

    versions = found.found.versions.filter(item="free_cash_flow", period_end=day("2023-06-30"))
    assert versions.select("value", "filed").rows()[-1] == ((420 - 4) * MILLION, day(filed))


OF_QUARTERS = [("01-01", "03-31"), ("04-01", "06-30"), ("07-01", "09-30"), ("10-01", "12-31")]


def quarters_of(year: int, amount: float, numbers: range, **report: str) -> list[Row]:
    """The same revenue for several quarters of a year, in one report."""
    return [
        fact(REVENUE, amount, f"{year}-{start}", f"{year}-{end}", **report)
        for start, end in OF_QUARTERS[numbers.start : numbers.stop]
    ]


@pytest.mark.parametrize(
    ("restated_year", "restated_later", "twelve_months"),
    [(4_139, 1.0, 4_129e6), (4_139, 1.2, 4_002e6), (8_000, 1.0, 4_002e6)],
)
@in_one_call
def test_a_year_restated_after_its_quarter_was_by_little_is_on_the_new_basis(
    restated_year, restated_later, twelve_months
):
    """The first quarter of 2022 becomes 1,013 million, and 2022 then 4,139 million instead of 4,012.

    If the quarter of 2023 is restated as well, or the year by far more, the year follows a basis that came later.
    """
    company = Filer(month_ends(2022, 9), {REVENUE: [1_003 * MILLION] * 9, NET_INCOME: [MILLION] * 9})
    of_revenue, of_2022 = TAG == REVENUE, START == "2022-01-01"
    found = yield company.facts().with_columns(
        value=pl.when(of_revenue & of_2022 & (END == "2022-03-31") & (FILED > "2023-01-01"))
        .then(1_013 * MILLION)
        .when(of_revenue & of_2022 & (END == "2022-12-31") & (FILED > "2024-01-01"))
        .then(restated_year * MILLION)
        .when(of_revenue & (END == "2023-03-31") & (FILED > "2024-01-01"))
        .then(VALUE * restated_later)
        .otherwise("value")
    )

    assert value_of(found, "revenue", "ttm", "2023-03-31") == twelve_months


QUARTERS_ON_TWO_BASES = {
    "a quarter from the year before its recast, and two after it": [
        fact(REVENUE, 72e6, "2021-01-01", "2021-09-30", form="10-Q", filed="2022-11-05"),
        fact(REVENUE, 25e6, "2021-07-01", "2021-09-30", form="10-Q", filed="2022-11-05"),
        fact(REVENUE, 100e6, "2021-01-01", "2021-12-31", filed="2023-02-20"),
        fact(REVENUE, 141.7e6, "2021-01-01", "2021-12-31", form="10-K/A", filed="2023-04-20"),
        fact(REVENUE, 37e6, "2022-01-01", "2022-03-31", form="10-Q", filed="2023-05-05"),
        fact(REVENUE, 38e6, "2022-04-01", "2022-06-30", form="10-Q", filed="2023-08-05"),
    ],
    "a half year that its quarters do not add up to": [
        fact(REVENUE, 72e6, "2021-01-01", "2021-09-30", form="10-Q", filed="2022-11-05"),
        fact(REVENUE, 25e6, "2021-07-01", "2021-09-30", form="10-Q", filed="2022-11-05"),
        fact(REVENUE, 100e6, "2021-01-01", "2021-12-31", filed="2023-02-20"),
        fact(REVENUE, 26e6, "2022-01-01", "2022-03-31", form="10-Q", filed="2023-05-05"),
        fact(REVENUE, 38e6, "2022-04-01", "2022-06-30", form="10-Q", filed="2023-08-05"),
        fact(REVENUE, 75e6, "2022-01-01", "2022-06-30", form="10-Q", filed="2023-08-05"),
    ],
}


@pytest.mark.parametrize("case", QUARTERS_ON_TWO_BASES)
@in_one_call
def test_quarters_on_two_bases_are_not_added_up(case):
    """No half year of 2021 is known, so that twelve months to June 2022 could be the sum of four quarters only."""
    others = [fact(NET_INCOME, MILLION, row["start"], row["end"], filed=row["filed"]) for row in _years_of(case)]
    found = yield raw(QUARTERS_ON_TWO_BASES[case], others)

    assert value_of(found, "revenue", "ttm", "2021-12-31") == max(row["value"] for row in _years_of(case))
    assert value_of(found, "revenue", "ttm", "2022-06-30") is None


def _years_of(case: str) -> list[Row]:
    return [row for row in QUARTERS_ON_TWO_BASES[case] if row["form"].startswith("10-K")]


def quarter_apart(quarters: int) -> pl.DataFrame:
    """Sales of 100 each quarter, and of 150 for the second quarter of 2023, which its year to date does not have."""
    company = Filer(month_ends(2022, quarters), {REVENUE: [100 * MILLION] * quarters, NET_INCOME: [MILLION] * quarters})
    return otherwise(company, 150e6, (TAG == REVENUE) & (START == "2023-04-01") & (FILED < "2024-01-01"))


@pytest.mark.parametrize(
    ("rows", "item", "year", "reason", "rule"),
    [
        # the windows after the year do not know which amount they follow
        (year_with_another_digit(432e6), "revenue", 402e6, "year_in_dispute", "ttm.no-year-in-dispute"),
        # -660 thousand of a year, and -1,543 and 340 of its quarters: dollars are not added to thousands
        (report_without_zeros(), "net_income", -660e3, "line_in_other_units", "ttm.no-mixed-units"),
    ],
    ids=["another digit", "a report in thousands"],
)
@in_one_call
def test_a_year_is_served_and_the_windows_after_it_are_withheld(rows, item, year, reason, rule):
    """The year itself is as in the newest filing."""
    found = yield rows
    gap = row_of(found.gaps, item, "ttm", "2023-03-31")

    assert value_of(found, item, "annual", "2022-12-31") == year
    assert value_of(found, item, "ttm", "2023-03-31") is None
    assert (gap["reason"], gap["rule"]) == (reason, rule)


@pytest.mark.parametrize(
    ("amounts", "item", "wrong", "served"),
    [
        ({"means": {SHARES: [39_900_000] * 2 + [40_528_000] * 2 + [41_000_000] * 4}}, "shares_basic", 300_000, None),
        ({"means": {SHARES: [40_215_733] * 8}}, "shares_basic", 300_000, 40_215_733),
        ({"sums": {DIVIDENDS: [0.25] * 8}}, "dividends_per_share", 0.05, None),
    ],
)
@in_one_call
def test_shares_and_amounts_per_share_of_a_year_may_be_in_dispute_too(amounts, item, wrong, served):
    """The average of a year has days as weights; dividends are in dispute by five cents.

    Interim averages decide where only one of the two years is like them.
    """
    sums = {REVENUE: [1e8] * 8, **amounts.get("sums", {})}
    filer = Filer(month_ends(2022, 8), sums, amounts.get("means", {}))
    tag = next(iter({**amounts.get("means", {}), **amounts.get("sums", {})}))
    rows = [
        {**row, "value": row["value"] + wrong}
        if (row["tag"], row["start"], row["end"]) == (tag, "2022-01-01", "2022-12-31") and row["filed"] < "2024-01-01"
        else row
        for row in filer.rows()
        # without the quarters, which lead to twelve months in another way
        if row["tag"] != tag or row["start"][5:7] == "01"
    ]

    found = yield raw(rows)

    assert value_of(found, item, "ttm", "2023-06-30") == served
    assert served or row_of(found.gaps, item, "ttm", "2023-06-30")["reason"] == "year_in_dispute"


@in_one_call
def test_of_two_ways_the_one_that_two_filings_confirm_counts():
    """The reports of the year after repeat the years to date, and not the quarter."""
    found = yield quarter_apart(12)
    found = row_of(found.values, "revenue", "ttm", "2023-06-30")

    assert (found["value"], found["method"]) == (400 * MILLION, "year_to_date")


@pytest.mark.parametrize(
    ("stated", "value", "method"),
    [
        (400, 400, "own_twelve_months"),
        (403, 403, "own_twelve_months"),
        (380, 380, "own_twelve_months"),
        (200, 400, "year_to_date"),
    ],
)
@in_one_call
def test_twelve_months_that_the_filer_states_count(stated, value, method):
    """If a filer states its own twelve months to an interim quarter, as Amazon does, these are the twelve months.

    A figure that is far off belongs to another period.
    """
    ends = month_ends(2022, 6)
    company = Filer(ends, {REVENUE: [100 * MILLION] * 6, NET_INCOME: [101 * MILLION] * 6})
    own = fact(REVENUE, stated * MILLION, day("2022-07-01"), ends[5], form="10-Q", filed=company.filed(5), fy=2023)

    found = yield raw(company.rows(), own)
    found = row_of(found.values, "revenue", "ttm", "2023-06-30")

    assert (found["value"], found["method"], found["flags"]) == (value * MILLION, method, "")


# --- Free cash flow


@in_one_call
def test_free_cash_flow_is_cash_from_operations_less_spending_on_property():
    """Cash flow statements state years to date only; each of the two flows is computed separately."""
    ends = month_ends(2022, 7)
    company = Filer(
        ends,
        {
            REVENUE: [MILLION] * 7,
            CASH_FLOW: [10e6, 20e6, 30e6, 40e6, 50e6, 60e6, 70e6],
            CAPITAL_SPENDING: [1e6, 2e6, 3e6, 4e6, 5e6, 6e6, 7e6],
        },
    )

    found = yield company.facts()

    assert list(series(found, "free_cash_flow").values()) == [90e6, 126e6, 162e6, 198e6]


@in_one_call
def test_periods_shifted_by_a_day_are_the_same_periods():
    """A year to date that starts a day late is still that year to date."""
    ends = month_ends(2022, 6)
    company = Filer(ends, {REVENUE: [n * MILLION for n in range(1, 7)], NET_INCOME: [MILLION] * 6})
    late = (pl.col("start") == "2023-01-01") & (pl.col("tag") == REVENUE)
    rows = company.facts().with_columns(start=pl.when(late).then(pl.lit("2023-01-02")).otherwise("start"))

    found = series((yield rows), "revenue")

    assert list(found.values()) == [10 * MILLION, 14 * MILLION, 18 * MILLION]
    assert found.keys() == {day("2022-12-31") + timedelta(days=n) for n in (0, 90, 181)}


# --- Years that are recast without their quarters


def recast_years(tag: str, year: float, quarters: list[float], **report) -> pl.DataFrame:
    """Three years of quarters; the newest annual report recasts the first two years, but not their quarters."""
    company = Filer(month_ends(2021, 12), {REVENUE: [MILLION] * 12, tag: quarters}, balances={CASH: [MILLION] * 12})
    anew = again(year, "2024-02-29", [("2021-01-01", "2021-12-31"), FIRST_YEAR], tag, **report)
    return raw([row for row in company.rows() if row["filed"] < "2024-02-29"], anew)


@in_one_call
def test_a_year_recast_alone_leaves_the_twelve_months_between_as_they_were():
    """A new standard takes 240 of 400 from the years, and no quarter before the newest year was recast to it.

    160 + 110 - 100 would attribute the recast of a whole year to three quarters.
    """
    rows = recast_years(CASH_FLOW, 160 * MILLION, [100 * MILLION] * 4 + [110 * MILLION] * 4 + [120 * MILLION] * 4)
    spending = Filer(month_ends(2021, 12), {CAPITAL_SPENDING: [0.0] * 12}).facts().filter(FILED < "2024-02-29")
    alone, with_spending = yield rows, pl.concat([rows, spending])

    assert series(alone, "free_cash_flow") == {}
    found = [value / MILLION for value in series(with_spending, "free_cash_flow").values()]
    assert found[1:] == [410, 420, 430, 160, 450, 460, 470]


@in_one_call
def test_a_year_that_was_stated_wrongly_is_replaced_by_the_right_one():
    """The last quarter's 0.115 was stated for the year, with 0.28 for nine months: the later 0.395 counts."""
    paid = [0.085, 0.0975, 0.0975, 0.115, 0.115, 0.115, 0.115, 0.14]
    company = Filer(month_ends(2021, 8), {REVENUE: [MILLION] * 8, DIVIDENDS: paid})
    year = (START == "2021-01-01") & (END == "2021-12-31")
    found = yield otherwise(company, 0.115, (TAG == DIVIDENDS) & year & (FILED == "2022-03-01"))

    assert value_of(found, "dividends_per_share", "annual", "2021-12-31") == 0.395
    assert value_of(found, "dividends_per_share", "ttm", "2022-03-31") == 0.425
    assert found.found.versions.filter(item="dividends_per_share")["value"].min() >= 0


@pytest.mark.parametrize(("item", "tag", "year"), [("revenue", REVENUE, 22), ("dividends_per_share", DIVIDENDS, None)])
@in_one_call
def test_amounts_that_cannot_be_negative_have_no_negative_quarter(item, tag, year):
    """If a year is less than its nine months, the fourth quarter is null, because these amounts cannot be negative.

    The year is null too, except for revenue, because a bank's revenue is net of losses on securities.
    """
    company = Filer(month_ends(2021, 7), {NET_INCOME: [MILLION] * 7, tag: [10.0] * 7})
    rows = otherwise(company, 22.0, (tag == TAG) & (END == "2021-12-31"))
    found = yield rows.filter((tag != TAG) | (END != "2021-06-30") | (START != "2021-01-01"))

    assert value_of(found, item, "annual", "2021-12-31") == year
    assert value_of(found, item, "ttm", "2022-06-30") is None
    assert (found.found.versions.filter(item=item)["value"].min() or 0) >= 0


@pytest.mark.parametrize(
    ("tag", "factor", "item", "value"),
    [
        (CASH_FLOW, -1, "free_cash_flow", 360 * MILLION),
        (CASH_FLOW, 1000, "free_cash_flow", 360 * MILLION),
        (CASH_FLOW, 0.001, "free_cash_flow", 360 * MILLION),
        (REVENUE, 1000, "revenue", 400 * MILLION),
    ],
)
@in_one_call
def test_a_year_of_another_sign_or_scale_counts_as_corrected(tag, factor, item, value):
    """The next annual report states the year rightly, so that twelve months in between are right, too."""
    flows = {CASH_FLOW: [100e6] * 8, REVENUE: [100e6] * 8, CAPITAL_SPENDING: [10e6] * 8}
    company = Filer(month_ends(2022, 8), {NET_INCOME: [MILLION] * 8, **flows}, balances={CASH: [MILLION] * 8})
    rows = otherwise(company, VALUE * factor, (tag == TAG) & (VALUE == 400e6) & (FILED < "2024-01-01"))

    found = yield rows

    assert rows.filter(tag=tag, value=400e6 * factor)["end"].to_list() == ["2022-12-31"]
    assert list(series(found, item).values()) == [value] * 5


def sales_moved_within_a_year() -> list[Row]:
    """Ten of the first quarter of 2023 are moved to the second; the report on 2023 repeats the 400 of 2022."""
    company = Filer(month_ends(2022, 12), {REVENUE: [100e6] * 12, NET_INCOME: [1e6] * 12})
    quarter = ("2023-01-01", "2023-03-31")
    return [
        *(row for row in company.rows() if (row["tag"], row["start"], row["end"]) != (REVENUE, *quarter)),
        fact(REVENUE, 100e6, *quarter, form="10-Q", filed=company.filed(4)),
        fact(REVENUE, 90e6, *quarter, form="10-Q/A", filed="2023-07-01"),
    ]


HALF, NEWEST = {"form": "10-Q", "filed": "2023-08-09"}, {"filed": "2024-02-29"}


def in_dollars(prior: float) -> list[Row]:
    """Sales in thousands; of the first quarter of 2022, some are stated as dollars."""
    return [
        fact(REVENUE, prior, "2022-01-01", "2022-03-31", form="10-Q", filed="2022-05-10"),
        fact(REVENUE, 25_954e3, *FIRST_YEAR, filed="2023-02-20"),
        fact(REVENUE, 6_714e3, "2023-01-01", "2023-03-31", form="10-Q", filed="2023-05-10"),
    ]


def dividends_with_nine_months_of(amount: float) -> list[Row]:
    """The year would leave 0.50 for its fourth quarter, and 0.30 by three quarters may have a special dividend."""
    rows = [
        fact(DIVIDENDS, 0.10, "2022-01-01", "2022-03-31", form="10-Q", filed="2022-05-10"),
        fact(DIVIDENDS, 0.10, "2022-04-01", "2022-06-30", form="10-Q", filed="2022-08-10"),
        fact(DIVIDENDS, amount, "2022-01-01", "2022-09-30", form="10-Q", filed="2022-11-10"),
        fact(DIVIDENDS, 0.15, "2022-07-01", "2022-09-30", form="10-Q", filed="2023-11-10"),
        fact(DIVIDENDS, 0.65, *FIRST_YEAR, filed="2023-02-20"),
        fact(DIVIDENDS, 0.10, "2023-01-01", "2023-03-31", form="10-Q", filed="2023-05-10"),
        fact(DIVIDENDS, 0.15, "2023-04-01", "2023-06-30", form="10-Q", filed="2023-08-10"),
    ]
    return [*rows, *(row | {"tag": REVENUE, "unit": "USD", "value": 1e6} for row in rows)]


def restated_with_its_quarters(known: int) -> list[Row]:
    """The annual report restates 2022 and its quarters, 360 million instead of 400; the half year of 200 is old.

    If the quarters of 2023 are known, twelve months are the sum of four quarters, otherwise they are withheld.
    """
    newest = {"form": "10-Q", "filed": "2023-08-01"}
    return [
        fact(REVENUE, 200e6, "2022-01-01", "2022-06-30", form="10-Q", filed="2022-08-01"),
        *quarters_of(2022, 90e6, range(4), filed="2023-02-20"),
        fact(REVENUE, 360e6, *FIRST_YEAR, filed="2023-02-20"),
        fact(REVENUE, 190e6, "2023-01-01", "2023-06-30", **newest),
        *quarters_of(2023, 95e6, range(known), **newest),
    ]


CASES = {
    # 4,748 million, later stated as 4.7 billion in the text of a note; 4,900 million is another amount
    "two digits of a known amount change nothing": (
        company_with(*again(4_700e6, years=BOTH_YEARS), quarter=1_187e6),
        {"annual 2022-12-31": {"revenue": 4_748e6}},
    ),
    "two digits of another amount restate": (
        company_with(*again(4_900e6, years=BOTH_YEARS), quarter=1_187e6),
        {"annual 2022-12-31": {"revenue": 4_900e6}},
    ),
    # only the first quarter of 2022 is so: twelve months to March 2023 would be too large by a quarter
    **{
        f"sales of {prior} are not added to thousands unless they are in thousands": (
            in_dollars(prior),
            {"ttm 2023-03-31": {"revenue": served}},
        )
        for prior, served in {6_500e3: 26_168e3, 6_448: "line_in_other_units", 1_448: "line_in_other_units"}.items()
    },
    **{
        f"nine months of dividends of {amount} beside their quarters": (
            dividends_with_nine_months_of(amount),
            {"annual 2022-12-31": {"dividends_per_share": 0.65}, "ttm 2023-06-30": {"dividends_per_share": served}},
        )
        for amount, served in {0.35: 0.70, 0.15: None}.items()
    },
    "a half year before a restatement of its quarters is not subtracted": (
        restated_with_its_quarters(0),
        {"ttm 2023-06-30": {"revenue": "mixed_basis"}},
    ),
    "the quarters after a restatement are added up": (
        restated_with_its_quarters(2),
        {"ttm 2023-06-30": {"revenue": 370e6}},
    ),
    # if the quarters of 2022 do not add up to the year in the filing of the recast, the windows stay as they were
    **{
        f"the quarterly data of a recast, {quarter} of one": (
            [
                row | {"value": quarter} if (row["end"], row["filed"]) == ("2022-09-30", "2024-02-20") else row
                for row in recast_with_quarterly_data()
            ],
            {"ttm 2023-06-30": {"revenue": served}, "annual 2022-12-31": {"revenue": 320e6}},
        )
        for quarter, served in {80e6: 320e6, 90e6: 400e6}.items()
    },
    # Merck to March 2021: the next report shows the half-years and second quarters without the discontinued business
    "a quarter before the recast is the next window less its quarter": (
        recast_from_the_second_quarter_on(),
        {"ttm 2023-03-31": {"revenue": 320e6}, "ttm 2023-06-30": {"revenue": 320e6}},
    ),
    "a quarter before the recast, without the next one": (
        [row for row in recast_from_the_second_quarter_on() if row["tag"] != REVENUE or row["start"][5:] != "04-01"],
        {"ttm 2023-03-31": {"revenue": 400e6}, "ttm 2023-06-30": {"revenue": 320e6}},
    ),
    # 400 - 130 + 130 and 400 - 100 + 130 both mix two bases
    "until the year is recast there are no twelve months": (
        recast(),
        {"ttm 2023-03-31": {"revenue": "mixed_basis"}},
    ),
    "a year to date restated alone counts if the year before stays as it was": (
        sales_moved_within_a_year(),
        {"ttm 2023-03-31": {"revenue": 390e6}},
    ),
    # the quarters of 2022 left out shares that the year and the comparatives of 2023 count: 100 and 103 million
    "an average restated before its year is on the basis of the year": (
        otherwise(
            Filer(month_ends(2022, 6), {REVENUE: [MILLION] * 6}, {SHARES: [103e6] * 6}),
            100e6,
            (TAG == SHARES) & (pl.col("form") == "10-Q") & (FILED < "2023-01-01"),
        ),
        {"ttm 2023-06-30": {"shares_basic": pytest.approx(103e6, abs=1)}},
    ),
    # Bank of America 2025: its first quarter is restated with the next report, and 2024 with the annual report
    **{
        f"a year whose filing restates the one before, of {before}": (
            restated_from_the_annual_report_on(before),
            {"ttm 2024-03-31": {"revenue": served}},
        )
        for before, served in {440e6: 440e6, 412e6: "mixed_basis", 400e6: "mixed_basis", 360e6: "mixed_basis"}.items()
    },
    # sales of 2022 were 100.3 million a quarter, and 110.7 a year later, when its first half is stated for once
    "quarters that the newest year confirms count": (
        [
            fact(REVENUE, 401.2e6, *FIRST_YEAR, filed="2023-03-01"),
            *quarters_of(2022, 100.3e6, range(4), filed="2023-03-01"),
            fact(REVENUE, 223.8e6, "2023-01-01", "2023-06-30", **HALF),
            fact(REVENUE, 221.4e6, "2022-01-01", "2022-06-30", **HALF),
            *quarters_of(2023, 111.9e6, range(1, 2), **HALF),
            *quarters_of(2022, 110.7e6, range(1, 2), **HALF),
            fact(REVENUE, 447.6e6, *SECOND_YEAR, **NEWEST),
            fact(REVENUE, 442.8e6, *FIRST_YEAR, **NEWEST),
            *quarters_of(2023, 111.9e6, range(4), **NEWEST),
            *quarters_of(2022, 110.7e6, range(4), **NEWEST),
        ],
        {"ttm 2023-06-30": {"revenue": pytest.approx(445.2e6)}},
    ),
    # the year to date and the quarters lead to 400 and 450, each figure is stated once
    "two ways that contradict each other are withheld": (
        quarter_apart(6),
        {"ttm 2023-06-30": {"revenue": "ways_contradict"}},
    ),
    "a year restated by more digits is not in dispute": (
        year_with_another_digit(437e6),
        {"ttm 2023-03-31": {"revenue": 437e6}},
    ),
    "a year restated in the last digit is not in dispute": (
        year_with_another_digit(403e6),
        {"ttm 2023-03-31": {"revenue": 403e6}},
    ),
    # AT&T restated its capital expenditure of 2019 with one other digit, and the quarters of 2020 along with it
    "a line defined anew is not in dispute": (
        [
            *year_with_another_digit(432e6),
            fact(REVENUE, 103.4e6, "2023-01-01", "2023-03-31", form="10-Q", filed="2024-05-10"),
        ],
        {"annual 2022-12-31": {"revenue": 402e6}, "ttm 2023-03-31": {"revenue": 432e6}},
    ),
    # 4.00 per share, later 3.15 without a sold business: the fourth quarter stays 1.00 and does not become 0.15
    "the recast of a year is not put into its fourth quarter": (
        recast_years(EPS, 3.15, [1.0] * 8 + [1.5] * 4),
        {
            "annual 2022-12-31": {"eps_basic": 3.15},
            "ttm 2023-03-31": {"eps_basic": 4.5},
            "ttm 2023-09-30": {"eps_basic": 5.5},
        },
    ),
    # 4.00 per share, recast to 4.40; the reports of the year after recast the earlier quarters, too: the fourth
    # quarter is 4.40 - 3.30, not the 4.00 first stated less 3.30
    "a fourth quarter is on the basis of its nine months": (
        otherwise(
            Filer(month_ends(2021, 8), {REVENUE: [MILLION] * 8, EPS: [1.0] * 4 + [1.2] * 4}),
            VALUE * 1.1,
            (TAG == EPS) & (FILED > "2022-04-01") & (END < "2022-01-01"),
        ),
        {
            "annual 2021-12-31": {"eps_basic": 4.4},
            "ttm 2022-03-31": {"eps_basic": 4.5},
            "ttm 2022-09-30": {"eps_basic": 4.7},
        },
    ),
    # amounts that can be negative are subtracted: a year of 10 less nine months of 30 is a quarter's loss of 20
    "losses may follow profits within a year": (
        Filer(
            month_ends(2021, 7), {REVENUE: [MILLION] * 7, NET_INCOME: [10e6, 10e6, 10e6, -20e6, 5e6, 5e6, 5e6]}
        ).facts(),
        {"ttm 2022-06-30": {"net_income": 0.0}},
    ),
    # The first annual report states a fifth of a year's cash flow, the next one all of it: no recast, but an error.
    # Twelve months between them take the right year, together with the interim periods that nobody restated.
    "a year that was an error counts as corrected": (
        otherwise(
            Filer(
                month_ends(2022, 8),
                {
                    NET_INCOME: [MILLION] * 8,
                    CASH_FLOW: [100e6, 110e6, 120e6, 130e6] * 2,
                    CAPITAL_SPENDING: [0] * 8,
                },
            ),
            92e6,
            (TAG == CASH_FLOW) & (END == "2022-12-31") & (FILED < "2023-06-01"),
        ),
        {"ttm 2023-03-31": {"free_cash_flow": 460e6}},
    ),
}
"""What a company files, and the values that follow, or the reasons why they are missing."""


@pytest.mark.parametrize(("rows", "expected"), CASES.values(), ids=CASES)
@in_one_call
def test_values_that_filings_lead_to(rows, expected):
    found = yield rows

    assert outcomes(found, expected) == expected
