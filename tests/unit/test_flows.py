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


def company_with(*later: dict) -> pl.DataFrame:
    """Two years of one company, plus the facts of later filings."""
    company = Filer(month_ends(2022, 8), {REVENUE: [24_165_500_000.0] * 8, NET_INCOME: [MILLION] * 8})
    return raw(company.rows(), list(later))


FIRST_YEAR, SECOND_YEAR = ("2022-01-01", "2022-12-31"), ("2023-01-01", "2023-12-31")


@in_one_call
def test_a_coarser_repetition_changes_nothing():
    """96,662 million, later stated as 96.7 billion: the more precise value and its filing stay."""
    found = yield company_with(fact(REVENUE, 96_700_000_000, *FIRST_YEAR, filed="2025-02-20"))

    assert value_of(found, "revenue", "annual", "2022-12-31") == 96_662_000_000
    legs = found.lineage.filter(item="revenue", period_kind="annual", period_end=day("2022-12-31"))
    assert legs["filed"].to_list() != [day("2025-02-20")]


@in_one_call
def test_two_digits_of_a_known_amount_change_nothing():
    """4,748 million, later stated as 4.7 billion in the text of a note; 4,900 million is another amount."""
    company = Filer(month_ends(2022, 8), {REVENUE: [1_187e6] * 8, NET_INCOME: [MILLION] * 8})

    def after(value):
        later = [fact(REVENUE, value, *year, filed="2025-02-20") for year in (FIRST_YEAR, SECOND_YEAR)]
        return raw(company.rows(), later)

    rounded, other = yield after(4_700e6), after(4_900e6)

    assert value_of(rounded, "revenue", "annual", "2022-12-31") == 4_748e6
    assert value_of(other, "revenue", "annual", "2022-12-31") == 4_900e6


@in_one_call
def test_dividends_rounded_to_a_whole_unit_change_nothing():
    """2.70 and 2.80 a share, later stated as 3; if one of them is stated otherwise, the other is restated."""
    company = Filer(month_ends(2022, 8), {REVENUE: [1_187e6] * 8, NET_INCOME: [MILLION] * 8})

    def after(*amounts):
        reports = [("2024-01-20", (2.7, 2.8)), ("2025-02-20", amounts)]
        stated = [
            fact(DIVIDENDS, amount, *year, filed=filed)
            for filed, of_years in reports
            for year, amount in zip((FIRST_YEAR, SECOND_YEAR), of_years, strict=True)
        ]
        return raw(company.rows(), stated)

    found = yield after(3.0, 3.0), after(3.0, 2.9), after(3.0, 2.8), after(4.0, 3.0)

    assert [value_of(each, "dividends_per_share", "annual", "2022-12-31") for each in found] == [2.7, 3.0, 3.0, 4.0]


@in_one_call
def test_a_finer_repetition_replaces():
    """96,662 million, later stated to the dollar: the more precise value replaces it."""
    found = yield company_with(fact(REVENUE, 96_662_345_678, *FIRST_YEAR, filed="2025-02-20"))

    assert value_of(found, "revenue", "annual", "2022-12-31") == 96_662_345_678


@in_one_call
def test_a_restated_value_replaces():
    """A difference beyond rounding is a restatement: the newest value counts, also if it returns to the first one."""
    years = (FIRST_YEAR, SECOND_YEAR)
    restated = [fact(REVENUE, 97_100_000_000, *year, filed="2025-02-20") for year in years]
    back = fact(REVENUE, 96_662_000_000, *FIRST_YEAR, filed="2026-02-20")

    found = yield company_with(*restated), company_with(*restated, back)

    assert [value_of(each, "revenue", "annual", "2022-12-31") for each in found] == [97_100_000_000, 96_662_000_000]


@in_one_call
def test_an_amendment_of_the_same_day_replaces():
    years = (FIRST_YEAR, SECOND_YEAR)
    amended = (fact(REVENUE, 97_100_000_000, *year, form="10-K/A", filed="2024-02-29") for year in years)
    found = yield company_with(*amended)

    assert value_of(found, "revenue", "annual", "2022-12-31") == 97_100_000_000


@in_one_call
def test_one_filing_that_disagrees_with_two_is_an_outlier():
    """Another filing that repeats its figure confirms it; until then the amount that two filings have stated counts."""
    other = [fact(REVENUE, 97_100_000_000, *FIRST_YEAR, filed=f"{year}-02-20") for year in (2025, 2026, 2027)]
    usual = fact(REVENUE, 96_662_000_000, *FIRST_YEAR, filed="2026-02-20")

    found = yield (
        company_with(other[0]),
        company_with(other[0], usual),
        company_with(*other[:2]),
        company_with(other[0], usual, other[2]),
    )

    values = [value_of(each, "revenue", "annual", "2022-12-31") for each in found]
    assert values == [96_662_000_000, 96_662_000_000, 97_100_000_000, 97_100_000_000]


@in_one_call
def test_a_filing_that_restates_more_than_one_figure_is_no_outlier():
    """The oldest year of an annual report is not stated again; another line of it was restated along."""
    restated = fact(REVENUE, 97_100_000_000, *FIRST_YEAR, filed="2025-02-20")
    income = [fact("OperatingIncomeLoss", 900e6, *FIRST_YEAR, filed=f"{year}-02-20") for year in (2023, 2024)]
    along = fact("OperatingIncomeLoss", 1_338e6, *FIRST_YEAR, filed="2025-02-20")

    alone, with_another = yield company_with(*income, restated), company_with(*income, along, restated)

    assert value_of(alone, "revenue", "annual", "2022-12-31") == 96_662_000_000
    assert value_of(with_another, "revenue", "annual", "2022-12-31") == 97_100_000_000


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


@pytest.mark.parametrize("form", ["DEF 14A", "8-K"])
@in_one_call
def test_proxies_and_announcements_are_ignored(form):
    found = yield company_with(fact(REVENUE, 97_100_000_000, *FIRST_YEAR, form=form, filed="2025-04-20"))

    assert value_of(found, "revenue", "annual", "2022-12-31") == 96_662_000_000


# --- The accounting basis of the year to date


def recast(*, year_too: bool) -> pl.DataFrame:
    """A year of 100 per quarter. The next report recasts its first quarter to 130, an amendment the year to 520."""
    ends = month_ends(2022, 8)
    company = Filer(ends, {REVENUE: [100 * MILLION] * 4 + [130 * MILLION] * 4, NET_INCOME: [MILLION] * 8})
    rows = company.facts().filter(pl.col("filed") < "2023-06-01")
    first_quarter = (pl.col("tag") == REVENUE) & (pl.col("end") == "2022-03-31") & (pl.col("filed") > "2023-01-01")
    rows = rows.with_columns(value=pl.when(first_quarter).then(130 * MILLION).otherwise("value"))
    if not year_too:
        return rows
    restated = fact(REVENUE, 520 * MILLION, *FIRST_YEAR, form="10-K/A", filed="2023-09-01", fy=2022)
    return pl.concat([rows, raw(restated)])


@in_one_call
def test_the_year_to_date_stays_on_one_accounting_basis():
    """Until the year is recast there are no twelve months: 400 - 130 + 130 and 400 - 100 + 130 both mix two bases."""
    found = yield recast(year_too=False)

    assert value_of(found, "revenue", "ttm", "2023-03-31") is None
    assert row_of(found.gaps, "revenue", "ttm", "2023-03-31")["reason"] == "mixed_basis"


@in_one_call
def test_a_recast_year_takes_the_recast_quarter_along():
    """Once the year is recast, both years to date are on the new basis: 520 - 130 + 130."""
    found = yield recast(year_too=True)
    found = row_of(found.values, "revenue", "ttm", "2023-03-31")

    assert found["value"] == 520 * MILLION
    assert "mixed_basis" not in found["flags"]


YEAR_TO_DATE_OF_2023 = ("2023-01-01", "2023-03-31")


@in_one_call
def test_a_year_to_date_restated_alone_is_no_leg_of_the_former_year():
    """Reports from April 2024 on leave out a sold business of 30 a quarter, also in the figures of earlier periods.

    No report shows the first quarter of 2022 without it. The twelve months to March 2023 stay 400 + 110 - 100; with the
    newest year to date they would be 380, on no basis at all.
    """
    company = Filer(month_ends(2022, 12), {REVENUE: [100e6] * 4 + [110e6] * 4 + [80e6] * 4, NET_INCOME: [1e6] * 12})
    again = (pl.col("tag") == REVENUE) & (pl.col("start") < "2024-01-01") & (pl.col("filed") > "2024-04-01")
    rows = company.facts().with_columns(value=pl.when(again).then(pl.col("value") * 8 / 11).otherwise("value"))

    found = yield rows

    assert [series(found, "revenue")[day(end)] / MILLION for end in ("2023-03-31", "2023-06-30", "2023-09-30")] == [
        410,
        420,
        430,
    ]
    year = row_of(found.values, "revenue", "ttm", "2023-12-31")
    assert (year["value"], year["flags"]) == (320 * MILLION, "recast")


@in_one_call
def test_a_year_to_date_restated_alone_counts_if_the_year_before_stays_as_it_was():
    """Ten of the first quarter of 2023 are moved to the second; the report on 2023 repeats the 400 of 2022."""
    company = Filer(month_ends(2022, 12), {REVENUE: [100e6] * 12, NET_INCOME: [1e6] * 12})
    again = [fact(REVENUE, 90e6, *YEAR_TO_DATE_OF_2023, form="10-Q/A", filed="2023-07-01")]
    rows = [row for row in company.rows() if (row["tag"], row["start"], row["end"]) != (REVENUE, *YEAR_TO_DATE_OF_2023)]
    first = [fact(REVENUE, 100e6, *YEAR_TO_DATE_OF_2023, form="10-Q", filed=company.filed(4))]

    found = yield raw(rows, first, again)

    assert value_of(found, "revenue", "ttm", "2023-03-31") == 390 * MILLION


@pytest.mark.parametrize(("factor", "filed"), [(1000, "2024-08-09"), (-1, "2024-08-09"), (0.9, "2025-03-01")])
@in_one_call
def test_a_year_to_date_stated_in_error_counts_as_corrected_later(factor, filed):
    """The cash flow of half a year was filed wrong, and the report of the year after shows it right.

    An error of sign or scale shows by itself. Another error shows as soon as a later report repeats another figure of
    the year and restates none: a change of the accounting basis would restate them.
    """
    flows = [100e6] * 4 + [110e6] * 4 + [120e6] * 4
    company = Filer(month_ends(2022, 12), {REVENUE: [1e9] * 12, CASH_FLOW: flows, CAPITAL_SPENDING: [1e6] * 12})
    first = (pl.col("tag") == CASH_FLOW) & (pl.col("end") == "2023-06-30") & (pl.col("filed") < "2024-01-01")
    rows = company.facts().with_columns(value=pl.when(first).then(pl.col("value") * factor).otherwise("value"))

    found = yield rows
    versions = found.found.versions.filter(item="free_cash_flow", period_end=day("2023-06-30"))

    assert versions.select("value", "filed").rows()[-1] == ((420 - 4) * MILLION, day(filed))


@in_one_call
def test_an_average_restated_before_its_year_is_on_the_basis_of_the_year():
    """The quarters of 2022 left out shares that the year and the comparatives of 2023 count: 100 and 103 million."""
    company = Filer(month_ends(2022, 6), {REVENUE: [MILLION] * 6}, {SHARES: [103e6] * 6})
    first = (pl.col("tag") == SHARES) & (pl.col("form") == "10-Q") & (pl.col("filed") < "2023-01-01")
    rows = company.facts().with_columns(value=pl.when(first).then(100e6).otherwise("value"))

    found = yield rows

    assert value_of(found, "shares_basic", "ttm", "2023-06-30") == pytest.approx(103e6, abs=1)


@pytest.mark.parametrize(("with_quarters", "twelve_months"), [(True, 370e6), (False, None)])
@in_one_call
def test_a_half_year_before_a_restatement_of_its_quarters_is_not_subtracted(with_quarters, twelve_months):
    """The annual report restates 2022 and its quarters, 360 million instead of 400; the half year of 200 is old.

    If the quarters of 2023 are known, twelve months are the sum of four quarters, otherwise they are withheld.
    """
    quarters = (("01-01", "03-31"), ("04-01", "06-30"), ("07-01", "09-30"), ("10-01", "12-31"))
    former = [(200, "2022-01-01", "2022-06-30", "10-Q", "2022-08-01")]
    anew = [(90, f"2022-{start}", f"2022-{end}", "10-K", "2023-02-20") for start, end in quarters]
    anew.append((360, "2022-01-01", "2022-12-31", "10-K", "2023-02-20"))
    newest = [(190, "2023-01-01", "2023-06-30", "10-Q", "2023-08-01")]
    if with_quarters:
        newest += [(95, f"2023-{start}", f"2023-{end}", "10-Q", "2023-08-01") for start, end in quarters[:2]]
    rows = [
        fact(REVENUE, amount * MILLION, start, end, form=form, filed=filed)
        for amount, start, end, form, filed in (*former, *anew, *newest)
    ]

    found = yield raw(rows)

    assert value_of(found, "revenue", "ttm", "2023-06-30") == twelve_months


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
    first, year = (
        (pl.col("tag") == REVENUE) & (pl.col("start") == f"{start}-01-01") & (pl.col("end") == f"{end}")
        for start, end in (("2022", "2022-03-31"), ("2022", "2022-12-31"))
    )
    again = (pl.col("tag") == REVENUE) & (pl.col("end") == "2023-03-31") & (pl.col("filed") > "2024-01-01")
    rows = company.facts().with_columns(
        value=pl.when(first & (pl.col("filed") > "2023-01-01"))
        .then(1_013 * MILLION)
        .when(year & (pl.col("filed") > "2024-01-01"))
        .then(restated_year * MILLION)
        .when(again)
        .then(pl.col("value") * restated_later)
        .otherwise("value")
    )

    found = yield rows

    assert value_of(found, "revenue", "ttm", "2023-03-31") == twelve_months


@pytest.mark.parametrize(("quarter_of_2022", "twelve_months"), [(80e6, 320e6), (90e6, 400e6)])
@in_one_call
def test_the_quarterly_data_of_a_recast_are_twelve_months_on_its_basis(quarter_of_2022, twelve_months):
    """If the quarters of 2022 do not add up to the year in the filing of the recast, the windows stay as they were."""
    rows = [
        row | {"value": quarter_of_2022} if (row["end"], row["filed"]) == ("2022-09-30", "2024-02-20") else row
        for row in recast_with_quarterly_data()
    ]
    found = yield raw(rows)

    assert value_of(found, "revenue", "ttm", "2023-06-30") == twelve_months
    assert value_of(found, "revenue", "annual", "2022-12-31") == 320e6


@pytest.mark.parametrize(("has_quarters", "twelve_months"), [(True, 320e6), (False, 400e6)])
@in_one_call
def test_a_quarter_before_the_recast_is_the_next_window_less_its_quarter(has_quarters, twelve_months):
    """Merck to March 2021: the next report shows the half-years and second quarters without the discontinued
    business.
    """
    rows = [
        row
        for row in recast_from_the_second_quarter_on()
        if has_quarters or row["tag"] != REVENUE or row["start"][5:] != "04-01"
    ]
    found = yield raw(rows)

    assert value_of(found, "revenue", "ttm", "2023-03-31") == twelve_months
    assert value_of(found, "revenue", "ttm", "2023-06-30") == 320e6


@pytest.mark.parametrize(("before", "twelve_months"), [(440e6, 440e6), (412e6, None), (400e6, None), (360e6, None)])
@in_one_call
def test_a_year_whose_filing_restates_the_one_before_is_on_the_new_basis(before, twelve_months):
    """Bank of America 2025: its first quarter is restated with the next report, and 2024 with the annual report."""
    found = yield raw(restated_from_the_annual_report_on(before))

    assert value_of(found, "revenue", "ttm", "2024-03-31") == twelve_months


@in_one_call
def test_dollars_of_a_report_in_thousands_are_not_added_to_thousands():
    """-660 thousand of a year, and -1,543 and 340 of its quarters."""
    found = yield raw(report_without_zeros())
    gap = row_of(found.gaps, "net_income", "ttm", "2023-03-31")

    assert value_of(found, "net_income", "annual", "2022-12-31") == -660e3
    assert value_of(found, "net_income", "ttm", "2023-03-31") is None
    assert (gap["reason"], gap["rule"]) == ("line_in_other_units", "ttm.no-mixed-units")


@pytest.mark.parametrize(("prior", "twelve_months"), [(6_500e3, 26_168e3), (6_448, None), (1_448, None)])
@in_one_call
def test_thousands_of_sales_stated_as_dollars_are_not_added_to_thousands(prior, twelve_months):
    """Only the first quarter of 2022 is so: twelve months to March 2023 would be too large by a quarter."""
    rows = [
        fact(REVENUE, prior, "2022-01-01", "2022-03-31", form="10-Q", filed="2022-05-10"),
        fact(REVENUE, 25_954e3, "2022-01-01", "2022-12-31", filed="2023-02-20"),
        fact(REVENUE, 6_714e3, "2023-01-01", "2023-03-31", form="10-Q", filed="2023-05-10"),
    ]

    found = yield raw(rows)

    assert value_of(found, "revenue", "ttm", "2023-03-31") == twelve_months


@in_one_call
def test_quarters_that_the_newest_year_confirms_count():
    """Sales of 2022 were 100.3 million a quarter, and 110.7 a year later, when its first half is stated for once."""

    def quarters(year: int, amount: float, numbers: range, **report: str) -> list[Row]:
        ends = ("03-31", "06-30", "09-30", "12-31")
        return [
            fact(REVENUE, amount, f"{year}-{3 * number + 1:02}-01", f"{year}-{ends[number]}", **report)
            for number in numbers
        ]

    half, first, newest = {"form": "10-Q", "filed": "2023-08-09"}, {"filed": "2023-03-01"}, {"filed": "2024-02-29"}
    rows = [
        fact(REVENUE, 401.2e6, "2022-01-01", "2022-12-31", **first),
        *quarters(2022, 100.3e6, range(4), **first),
        fact(REVENUE, 223.8e6, "2023-01-01", "2023-06-30", **half),
        fact(REVENUE, 221.4e6, "2022-01-01", "2022-06-30", **half),
        *quarters(2023, 111.9e6, range(1, 2), **half),
        *quarters(2022, 110.7e6, range(1, 2), **half),
        fact(REVENUE, 447.6e6, "2023-01-01", "2023-12-31", **newest),
        fact(REVENUE, 442.8e6, "2022-01-01", "2022-12-31", **newest),
        *quarters(2023, 111.9e6, range(4), **newest),
        *quarters(2022, 110.7e6, range(4), **newest),
    ]

    found = yield raw(rows)

    assert value_of(found, "revenue", "ttm", "2023-06-30") == pytest.approx(445.2e6)


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
    second = (pl.col("tag") == REVENUE) & (pl.col("start") == "2023-04-01") & (pl.col("filed") < "2024-01-01")
    return company.facts().with_columns(value=pl.when(second).then(150 * MILLION).otherwise("value"))


@in_one_call
def test_two_ways_that_contradict_each_other_are_withheld():
    """The year to date and the quarters lead to 400 and 450, each figure is stated once: neither is served."""
    found = yield quarter_apart(6)

    assert value_of(found, "revenue", "ttm", "2023-06-30") is None
    assert row_of(found.gaps, "revenue", "ttm", "2023-06-30")["reason"] == "ways_contradict"


@in_one_call
def test_a_fiscal_year_with_another_digit_is_in_dispute():
    """The year itself is as in the newest filing; the windows after it do not know which one they follow."""
    found = yield raw(year_with_another_digit(432e6))
    gap = row_of(found.gaps, "revenue", "ttm", "2023-03-31")

    assert value_of(found, "revenue", "annual", "2022-12-31") == 402 * MILLION
    assert value_of(found, "revenue", "ttm", "2023-03-31") is None
    assert (gap["reason"], gap["rule"]) == ("year_in_dispute", "ttm.no-year-in-dispute")


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


@pytest.mark.parametrize("other", [437e6, 403e6])
@in_one_call
def test_a_fiscal_year_restated_by_another_amount_is_not_in_dispute(other):
    """By more digits, or in the last one."""
    found = yield raw(year_with_another_digit(other))

    assert value_of(found, "revenue", "ttm", "2023-03-31") == other


@in_one_call
def test_a_line_defined_anew_is_not_in_dispute():
    """AT&T restated its capital expenditure of 2019 with one other digit, and the quarters of 2020 along with it."""
    quarter = fact(REVENUE, 103.4e6, "2023-01-01", "2023-03-31", form="10-Q", filed="2024-05-10")

    found = yield raw(year_with_another_digit(432e6), quarter)

    assert value_of(found, "revenue", "annual", "2022-12-31") == 402 * MILLION
    assert value_of(found, "revenue", "ttm", "2023-03-31") == 432 * MILLION


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


def recast_years(tag: str, year: float, quarters: list[float], form: str = "10-K", **of_years: float) -> pl.DataFrame:
    """Three years of quarters; the newest annual report recasts the first two years, but not their quarters."""
    ends = month_ends(2021, 12)
    company = Filer(ends, {REVENUE: [MILLION] * 12, tag: quarters}, balances={CASH: [MILLION] * 12})
    again = [fact(tag, year, f"{of}-01-01", f"{of}-12-31", form=form, filed="2024-02-29") for of in (2021, 2022)]
    return raw([row for row in company.rows() if row["filed"] < "2024-02-29"], again)


@in_one_call
def test_a_year_recast_alone_leaves_the_twelve_months_between_as_they_were():
    """A new standard takes 240 of 400 from the years, and no quarter before the newest year was recast to it.

    160 + 110 - 100 would attribute the recast of a whole year to three quarters.
    """
    quarters = [100 * MILLION] * 4 + [110 * MILLION] * 4 + [120 * MILLION] * 4

    rows = recast_years(CASH_FLOW, 160 * MILLION, quarters)
    alone, with_spending = yield rows, pl.concat([rows, spending(month_ends(2021, 12))])

    assert series(alone, "free_cash_flow") == {}
    found = series(with_spending, "free_cash_flow")
    assert [found[day(end)] / MILLION for end in ("2022-03-31", "2022-06-30", "2022-09-30")] == [410, 420, 430]
    assert found[day("2022-12-31")] == 160 * MILLION
    assert [found[day(end)] / MILLION for end in ("2023-03-31", "2023-06-30", "2023-09-30")] == [450, 460, 470]


def spending(ends: list[date]) -> pl.DataFrame:
    """Spending on property, stated as zero."""
    company = Filer(ends, {CAPITAL_SPENDING: [0.0] * len(ends)})
    return raw([row for row in company.rows() if row["filed"] < "2024-02-29"])


@in_one_call
def test_the_recast_of_a_year_is_not_put_into_its_fourth_quarter():
    """4.00 per share, later 3.15 without a sold business: the fourth quarter stays 1.00 and does not become 0.15."""
    found = yield recast_years(EPS, 3.15, [1.0] * 4 + [1.0] * 4 + [1.5] * 4)

    assert value_of(found, "eps_basic", "annual", "2022-12-31") == 3.15
    assert value_of(found, "eps_basic", "ttm", "2023-03-31") == 4.5
    assert value_of(found, "eps_basic", "ttm", "2023-09-30") == 5.5


@in_one_call
def test_a_fourth_quarter_is_on_the_basis_of_its_nine_months():
    """4.00 per share, recast to 4.40; the reports of the year after recast the earlier quarters, too.

    The fourth quarter is 4.40 - 3.30, not the 4.00 first stated less 3.30.
    """
    company = Filer(month_ends(2021, 8), {REVENUE: [MILLION] * 8, EPS: [1.0] * 4 + [1.2] * 4})
    comparative = (pl.col("tag") == EPS) & (pl.col("filed") > "2022-04-01") & (pl.col("end") < "2022-01-01")
    rows = company.facts().with_columns(value=pl.when(comparative).then(pl.col("value") * 1.1).otherwise("value"))

    found = yield rows

    assert value_of(found, "eps_basic", "annual", "2021-12-31") == 4.4
    assert value_of(found, "eps_basic", "ttm", "2022-03-31") == 4.5
    assert value_of(found, "eps_basic", "ttm", "2022-09-30") == 4.7


@in_one_call
def test_a_year_that_was_stated_wrongly_is_replaced_by_the_right_one():
    """The last quarter's 0.115 was stated for the year, with 0.28 for nine months: the later 0.395 counts."""
    ends = month_ends(2021, 8)
    paid = [0.085, 0.0975, 0.0975, 0.115, 0.115, 0.115, 0.115, 0.14]
    company = Filer(ends, {REVENUE: [MILLION] * 8, DIVIDENDS: paid})
    wrong = (pl.col("tag") == DIVIDENDS) & (pl.col("start") == "2021-01-01") & (pl.col("filed") == "2022-03-01")
    rows = company.facts().with_columns(
        value=pl.when(wrong & (pl.col("end") == "2021-12-31")).then(0.115).otherwise("value")
    )

    found = yield rows

    assert value_of(found, "dividends_per_share", "annual", "2021-12-31") == 0.395
    assert value_of(found, "dividends_per_share", "ttm", "2022-03-31") == 0.425
    assert found.found.versions.filter(item="dividends_per_share")["value"].min() >= 0


@pytest.mark.parametrize("item", ["revenue", "dividends_per_share"])
@in_one_call
def test_amounts_that_cannot_be_negative_have_no_negative_quarter(item):
    """If a year is less than its nine months, the fourth quarter is null, because these amounts cannot be negative.

    The year is null too, except for revenue, because a bank's revenue is net of losses on securities.
    """
    tag = REVENUE if item == "revenue" else DIVIDENDS
    company = Filer(month_ends(2021, 7), {NET_INCOME: [MILLION] * 7, tag: [10.0] * 7})
    year = (pl.col("tag") == tag) & (pl.col("end") == "2021-12-31")
    six_months = (pl.col("tag") == tag) & (pl.col("end") == "2021-06-30") & (pl.col("start") == "2021-01-01")
    rows = company.facts().filter(~six_months).with_columns(value=pl.when(year).then(22.0).otherwise("value"))

    found = yield rows

    values = found.found.versions.filter(item=item)
    assert value_of(found, item, "annual", "2021-12-31") == (22 if item == "revenue" else None)
    assert value_of(found, item, "ttm", "2022-06-30") is None
    assert (values["value"].min() or 0) >= 0


@pytest.mark.parametrize(("nine_months", "twelve_months"), [(0.35, 0.70), (0.15, None)])
@in_one_call
def test_nine_months_of_dividends_that_are_less_than_their_quarters_are_a_rate(nine_months, twelve_months):
    """The year would leave 0.50 for its fourth quarter, and 0.30 by three quarters may have a special dividend."""
    rows = [
        fact(DIVIDENDS, 0.10, "2022-01-01", "2022-03-31", form="10-Q", filed="2022-05-10"),
        fact(DIVIDENDS, 0.10, "2022-04-01", "2022-06-30", form="10-Q", filed="2022-08-10"),
        fact(DIVIDENDS, nine_months, "2022-01-01", "2022-09-30", form="10-Q", filed="2022-11-10"),
        fact(DIVIDENDS, 0.15, "2022-07-01", "2022-09-30", form="10-Q", filed="2023-11-10"),
        fact(DIVIDENDS, 0.65, "2022-01-01", "2022-12-31", filed="2023-02-20"),
        fact(DIVIDENDS, 0.10, "2023-01-01", "2023-03-31", form="10-Q", filed="2023-05-10"),
        fact(DIVIDENDS, 0.15, "2023-04-01", "2023-06-30", form="10-Q", filed="2023-08-10"),
    ]
    found = yield raw(rows, [row | {"tag": REVENUE, "unit": "USD", "value": 1e6} for row in rows])

    assert value_of(found, "dividends_per_share", "annual", "2022-12-31") == 0.65
    assert value_of(found, "dividends_per_share", "ttm", "2023-06-30") == twelve_months


@in_one_call
def test_losses_may_follow_profits_within_a_year():
    """Amounts that can be negative are subtracted: a year of 10 less nine months of 30 is a quarter's loss of 20."""
    company = Filer(month_ends(2021, 7), {REVENUE: [MILLION] * 7, NET_INCOME: [10e6, 10e6, 10e6, -20e6, 5e6, 5e6, 5e6]})

    found = yield company.facts()

    assert series(found, "net_income")[day("2022-06-30")] == 0.0


@in_one_call
def test_a_year_that_was_an_error_counts_as_corrected():
    """The first annual report states a fifth of a year's cash flow, the next one all of it: no recast, but an error.

    Twelve months between them take the right year, together with the interim periods that nobody restated.
    """
    flows = {CASH_FLOW: [100e6, 110e6, 120e6, 130e6] * 2, CAPITAL_SPENDING: [0] * 8}
    company = Filer(month_ends(2022, 8), {NET_INCOME: [MILLION] * 8, **flows})
    rows = company.facts().with_columns(
        value=pl.when((pl.col("tag") == CASH_FLOW) & (pl.col("end") == "2022-12-31") & (pl.col("filed") < "2023-06-01"))
        .then(92e6)
        .otherwise("value")
    )

    found = yield rows

    assert series(found, "free_cash_flow")[day("2023-03-31")] == 460e6


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
    is_wrong = (pl.col("tag") == tag) & (pl.col("value") == 400e6) & (pl.col("filed") < "2024-01-01")
    rows = company.facts().with_columns(value=pl.when(is_wrong).then(pl.col("value") * factor).otherwise("value"))

    found = yield rows

    assert rows.filter(tag=tag, value=400e6 * factor)["end"].to_list() == ["2022-12-31"]
    assert set(series(found, item).values()) == {value}
    assert len(series(found, item)) == 5
