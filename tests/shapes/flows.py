"""Series of reports in which each rule of twelve months, of recasts and of breaks decides.

Belongs here: years, quarters and years to date, and how later filings show them again. Does not: the line items
computed from them (items).
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import date

from tests.factories import (
    ASSETS,
    CAPITAL_SPENDING,
    CASH,
    CASH_FLOW,
    DIVIDENDS,
    EPS,
    NET_INCOME,
    REVENUE,
    SHARES,
    Filer,
    Row,
    fact,
    month_ends,
    week_ends,
)
from tests.shapes import Shape, joined

MILLION = 1e6
YEAR_2022 = ("2022-01-01", "2022-12-31")
SECOND_QUARTER_OF_2022 = ("2022-04-01", "2022-06-30")
CONTRACTS = "RevenueFromContractWithCustomerExcludingAssessedTax"


def company(quarters: int = 6, first_year: int = 2022, **sums: Sequence[float]) -> list[Row]:
    """A company that earns a million per quarter, with further figures (money in millions)."""
    ends, earned = month_ends(first_year, quarters), [MILLION] * quarters
    return Filer(ends, {NET_INCOME: earned, **sums}, balances={CASH: earned}).rows()


def changed(rows: Iterable[Row], holds: Callable[[Row], bool], change: Callable[[float], float]) -> list[Row]:
    """The facts, some with another value."""
    return [{**row, "value": change(row["value"])} if holds(row) else row for row in rows]


def sales(quarters: int = 6, amount: float = 100e6) -> list[Row]:
    """The same sales in every quarter."""
    return company(quarters, **{REVENUE: [amount] * quarters})


def years_shown_again(tag: str, amount: float, quarters: Sequence[float]) -> list[Row]:
    """Three years; the newest annual report restates the first two, and no report their quarters.

    A quarter later the first quarter of the third year is restated as well.
    """
    rows = company(12, 2021, **{tag: quarters, CAPITAL_SPENDING: [0] * 12})
    again = [fact(tag, amount, f"{year}-01-01", f"{year}-12-31", filed="2024-02-29") for year in (2021, 2022)]
    quarter = fact(tag, quarters[8] * 1.1, "2023-01-01", "2023-03-31", form="10-Q", filed="2024-05-10")
    return [*(row for row in rows if row["filed"] < "2024-02-29"), *again, quarter]


def half_year_after_a_transition_period() -> list[Row]:
    """Three months of 2022, nine in a transition report, and half a year of the next fiscal year, as cash flows are."""
    stated = (
        ("2022-01-01", "2022-03-31", 100e6, "10-Q", "2022-05-10"),
        ("2022-01-01", "2022-09-30", 320e6, "10-KT", "2022-11-20"),
        ("2022-10-01", "2023-03-31", 240e6, "10-Q", "2023-05-10"),
    )
    before = company(4, 2021, **{REVENUE: [90e6] * 4})
    return [
        *before,
        *(fact(REVENUE, amount, start, end, form=form, filed=on) for start, end, amount, form, on in stated),
    ]


def recast_with_its_quarter() -> list[Row]:
    """The first quarter of 2023 restates the first of 2022 from 100 to 130; an amendment restates the year to 520."""
    rows = changed(
        [row for row in sales(5, 100e6) if row["filed"] < "2023-06-01"],
        lambda row: row["tag"] == REVENUE and row["form"] == "10-Q" and row["filed"] > "2023-01-01",
        lambda value: value * 1.3,
    )
    return [*rows, fact(REVENUE, 520e6, *YEAR_2022, form="10-K/A", filed="2023-09-01", fy=2022)]


def lesser_element(quarters: Sequence[str], years: Sequence[str]) -> list[Row]:
    """Total revenue of 2021 and the smaller revenue from contracts; later reports state only the latter."""
    rows = company(8, 2021, **{REVENUE: [100e6] * 8, CONTRACTS: [80e6] * 8})
    only_contracts = (*quarters, *years)
    return [row for row in rows if row["tag"] != REVENUE or not row["end"].startswith(only_contracts)]


def fifty_three_weeks() -> list[Row]:
    ends = week_ends(date(2020, 8, 30), [13, 13, 13, 13, 13, 13, 13, 14])
    return Filer(ends, {REVENUE: [MILLION] * 8, NET_INCOME: [MILLION] * 8}, before=date(2020, 8, 30)).rows()


def own_twelve_months(amount: float) -> list[Row]:
    """A filer that states its own twelve months to an interim quarter end."""
    return [*sales(), fact(REVENUE, amount, "2022-07-01", "2023-06-30", form="10-Q", filed="2023-08-09", fy=2023)]


def fifty_five_weeks() -> list[Row]:
    """A year with a last quarter of 16 weeks, and the quarter after it."""
    before, weeks = date(2021, 12, 31), [13, 13, 13, 16, 13]
    sums = {REVENUE: [MILLION] * 5, NET_INCOME: [MILLION] * 5}
    return Filer(week_ends(before, weeks), sums, before=before).rows()


def second_quarter_apart(quarters: int) -> list[Row]:
    """Sales of 150 for the second quarter of 2023, which its year to date does not have and later reports drop."""
    return changed(
        sales(quarters),
        lambda row: row["tag"] == REVENUE and row["start"] == "2023-04-01" and row["filed"] < "2024-01-01",
        lambda value: value * 1.5,
    )


def recast_quarter() -> list[Row]:
    """The first quarter of 2023 restates the first of 2022 from 100 to 130; the year is not restated."""
    return [row for row in recast_with_its_quarter() if row["form"] != "10-K/A"]


def year_with_another_digit(wrong: float = 432e6) -> list[Row]:
    """Sales of 402 million in 2022, which only the next annual report states so."""
    return changed(
        sales(8, 100.5e6),
        lambda row: row["tag"] == REVENUE and (row["start"], row["end"]) == YEAR_2022 and row["filed"] < "2024-01-01",
        lambda _: wrong,
    )


def half_year_of_another_scale() -> list[Row]:
    """Operating cash flow of the first half of 2023, which its own report states a thousand times too large."""
    flows = [100e6] * 4 + [110e6] * 4 + [120e6] * 2
    rows = company(10, **{CASH_FLOW: flows, CAPITAL_SPENDING: [MILLION] * 10})
    return changed(
        rows,
        lambda row: (row["tag"], row["end"], row["filed"]) == (CASH_FLOW, "2023-06-30", "2023-08-09"),
        lambda value: value * 1000,
    )


def average_proved_before() -> list[Row]:
    """NVIDIA: the first report is of a second quarter; a year later the first one is stated, by little otherwise.

    Before, its average number of shares is the half year less the second quarter; it states no income of both.
    """
    half = NET_INCOME, "2022-01-01", "2022-06-30"
    earned, held = [MILLION] * 12, [542_287_250.0] * 12
    rows = Filer(month_ends(2021, 12), {NET_INCOME: earned}, {SHARES: held}, {CASH: earned}).rows()
    return changed(
        (row for row in rows if row["filed"] > "2022-07-01" and (row["tag"], row["start"], row["end"]) != half),
        lambda row: (row["tag"], row["start"], row["end"]) == (SHARES, "2022-01-01", "2022-03-31"),
        lambda _: 542_307_000,
    )


def report_without_zeros() -> list[Row]:
    """A quarterly report that states its thousands as dollars, and the first annual report after it."""
    quarter = {"form": "10-Q", "filed": "2023-05-10"}
    return [
        fact(NET_INCOME, -1_543, "2023-01-01", "2023-03-31", **quarter),
        fact(NET_INCOME, 340, "2022-01-01", "2022-03-31", **quarter),
        fact(CASH, 4_234, None, "2023-03-31", **quarter),
        fact(NET_INCOME, -660e3, *YEAR_2022, filed="2024-02-20"),
        fact(NET_INCOME, -823e3, "2023-01-01", "2023-12-31", filed="2024-02-20"),
    ]


def year_recast_and_quarter_with_more_digits() -> list[Row]:
    """2022 is restated to about three quarters of its sales; then its first quarter is stated with more digits."""
    rows = [row for row in sales(8) if row["filed"] < "2024-02-20"]
    again = fact(REVENUE, 305e6, *YEAR_2022, filed="2024-02-20")
    return [*rows, again, fact(REVENUE, 100.4e6, "2022-01-01", "2022-03-31", form="10-Q", filed="2024-05-10")]


def recast_with_quarterly_data() -> list[Row]:
    """The report of 2023 restates 2022, and the quarters of both years, to four fifths of their sales."""
    ends = [f"{year}-{end}" for year in (2022, 2023) for end in ("03-31", "06-30", "09-30", "12-31")]
    again = [fact(REVENUE, 80e6, f"{end[:5]}{int(end[5:7]) - 2:02}-01", end, filed="2024-02-20") for end in ends]
    years = [fact(REVENUE, 320e6, f"{year}-01-01", f"{year}-12-31", filed="2024-02-20") for year in (2022, 2023)]
    return [*sales(7), *again, *years]


def recast_from_the_second_quarter_on(share: float = 0.8) -> list[Row]:
    """Reports from the half-year of 2023 on state four fifths of all sales, also of the periods of the year before."""
    rows = changed(
        sales(8), lambda row: row["tag"] == REVENUE and row["filed"] > "2023-07-01", lambda value: value * share
    )
    return [*rows, fact(REVENUE, 400e6 * share, *YEAR_2022, filed="2024-02-20")]


def restated_from_the_annual_report_on(before: float = 440e6) -> list[Row]:
    """The annual report of 2023 and the next one state a tenth more sales; the former 440 million for 2022, not 400."""
    rows = changed(
        sales(9), lambda row: row["tag"] == REVENUE and row["filed"] > "2024-01-01", lambda value: value * 1.1
    )
    return changed(
        rows,
        lambda row: (row["tag"], row["start"], row["end"]) == (REVENUE, *YEAR_2022) and row["filed"] > "2024-01-01",
        lambda _: before,
    )


WINDOWS: dict[str, list[Row]] = {
    "ttm.fiscal-year": sales(),
    "ttm.year-to-date": sales(),
    "ttm.four-quarters": company(**{DIVIDENDS: [0.25] * 6}),
    "ttm.quarter-by-difference": company(**{EPS: [1.0] * 6}),
    "ttm.year-before-recast": year_recast_and_quarter_with_more_digits(),
    "flag.before-recast": year_recast_and_quarter_with_more_digits(),
    "ttm.next-less-quarter": recast_from_the_second_quarter_on(),
    "ttm.across-year-ends": half_year_after_a_transition_period(),
    "ttm.quarters-of-recast": recast_with_quarterly_data(),
    "ttm.newest-comparative": recast_with_its_quarter(),
    "ttm.no-mixed-elements": lesser_element(["2022-03", "2022-06", "2022-09"], []),
    "ttm.not-twelve-months": fifty_five_weeks(),
    "flag.weeks-53": fifty_three_weeks(),
    "flag.other-element": lesser_element(["2022-03", "2022-06", "2022-09"], ["2022-12"]),
    "flag.ways-disagree": changed(
        company(**{EPS: [1.0] * 6}),
        lambda row: row["tag"] == EPS and row["start"] == "2023-04-01",
        lambda value: value * 1.5,
    ),
    "ttm.own-twelve-months": own_twelve_months(380e6),
    "ttm.no-mixed-bases": recast_quarter(),
    "ttm.no-contradicting-ways": second_quarter_apart(6),
    "ttm.no-mixed-units": report_without_zeros(),
    "ttm.no-year-in-dispute": year_with_another_digit(),
    "flag.recast": years_shown_again(CASH_FLOW, 160e6, [100e6] * 4 + [110e6] * 4 + [120e6] * 4),
    "precision.coarser-repetition": [
        *company(8, **{REVENUE: [24_165_500_000] * 8}),
        fact(REVENUE, 96_700_000_000, *YEAR_2022, filed="2025-02-20"),
    ],
    "period.outlier": [*sales(8, 100.5e6), fact(REVENUE, 421e6, *YEAR_2022, filed="2025-02-20")],
    "period.corrected-error": half_year_of_another_scale(),
    "period.proved-before": average_proved_before(),
    "period.two-in-one-filing": [
        *sales(),
        *(
            fact(REVENUE, amount, start, end, filed="2025-02-20")
            for start, end, amount in (("2022-01-01", "2023-01-01", 410e6), ("2022-01-02", "2022-12-31", 420e6))
        ),
    ],
    "flag.first-seen-as-comparative": [
        fact(REVENUE, 90e6, f"{year}-01-01", f"{year}-12-31", filed="2024-02-20") for year in (2022, 2023)
    ],
}

ANNUAL = {REVENUE: 900e6, NET_INCOME: 90e6, CASH_FLOW: 120e6}


def report(figures: dict[str, float], form: str = "10-K", filed: str = "2023-02-20") -> list[Row]:
    return [fact(tag, value, *YEAR_2022, form=form, filed=filed) for tag, value in figures.items()]


RECASTS: dict[str, list[Row]] = {
    "recast.partial": joined(report(ANNUAL), report({REVENUE: 800e6}, "8-K", "2023-04-25")),
}


def annual_report(year: int, scale: float = 1.0, years: int = 2, taxonomy: str = "us-gaap") -> list[Row]:
    """A year with the years before it as comparatives; figures grow by a tenth per year."""
    names = IN_IFRS if taxonomy == "ifrs-full" else {}
    rows = []
    for back in range(years):
        of, growth = year - back, scale * 1.1 ** (year - back - 2018)
        for tag, amount in {**ANNUAL, ASSETS: 900e6, CASH: 80e6}.items():
            start = None if tag in (ASSETS, CASH) else f"{of}-01-01"
            value, name = round(amount * growth, -3), names.get(tag, tag)
            rows.append(fact(name, value, start, f"{of}-12-31", filed=f"{year + 1}-02-20", taxonomy=taxonomy))
    return rows


IN_IFRS = {
    REVENUE: "Revenue",
    NET_INCOME: "ProfitLoss",
    CASH_FLOW: "CashFlowsFromUsedInOperatingActivities",
    ASSETS: "Assets",
    CASH: "CashAndCashEquivalents",
}
SHELL = [*annual_report(2018, scale=0.01), *annual_report(2019, scale=0.01)]

BREAKS: dict[str, list[Row]] = {
    "break.entity.nearly-all-figures": joined(SHELL, annual_report(2020, years=3), annual_report(2021)),
    **dict.fromkeys(
        ("break.purchasing-power", "flag.purchasing-power"),
        joined(annual_report(2019, years=3), annual_report(2020, 1.5, years=3), annual_report(2021, 2.25, years=3)),
    ),
    "break.standards": joined(annual_report(2019), annual_report(2020), annual_report(2021, taxonomy="ifrs-full")),
    "break.one-company-a-period": joined(
        SHELL,
        [fact("LongTermDebtNoncurrent", 4e6, None, "2019-12-31", filed="2020-02-20")],
        annual_report(2020, years=3),
        annual_report(2021),
    ),
    "break.twelve-months-across": joined(SHELL, annual_report(2020, years=3), annual_report(2021)),
}

QUARTERS: dict[str, list[Row]] = {
    "quarter.as-filed": sales(),
    "quarter.no-other-element": [
        row
        for row in lesser_element((), ())
        if row["tag"] != REVENUE or (row["start"], row["end"]) != SECOND_QUARTER_OF_2022
    ],
    "quarter.far-from-years-to-date": changed(
        sales(8),
        lambda row: row["tag"] == REVENUE and (row["start"], row["end"]) == SECOND_QUARTER_OF_2022,
        lambda value: value * 0.3,
    ),
    "quarter.in-other-units": changed(
        sales(8, 123_457_000),
        lambda row: row["tag"] == REVENUE and row["form"] == "10-Q" and row["start"].startswith("2022"),
        lambda value: value / 1000,
    ),
    "quarter.no-recast-difference": changed(
        sales(8),
        lambda row: row["tag"] == REVENUE and row["filed"] > "2024",
        lambda value: value * 0.9,
    ),
    "gap.quarter-not-stated": [
        row for row in sales() if row["tag"] != REVENUE or row["end"] not in ("2022-06-30", "2022-09-30")
    ],
}

SHAPES = tuple(Shape(rule, rows) for table in (WINDOWS, RECASTS, BREAKS, QUARTERS) for rule, rows in table.items())
