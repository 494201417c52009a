"""The fiscal calendar: derived from the dates of facts, with a position for every fact."""

from datetime import date, timedelta

import polars as pl
import pytest

from pipelines.normalize.periods import calendar
from tests.factories import (
    CASH,
    CASH_FLOW,
    NET_INCOME,
    REVENUE,
    Filer,
    Row,
    day,
    fact,
    month_ends,
    ordered_facts,
    raw,
    stated,
    value_of,
    week_ends,
)
from tests.shapes import flows
from tests.together import in_one_call

WEEKS_52, WEEKS_53 = (13, 13, 13, 13), (13, 13, 13, 14)


def filer(ends: list[date], **more) -> Filer:
    """Two elements that add up, so that each year is stated by more than one element."""
    amounts = [100e6 + 1e6 * number for number in range(len(ends))]
    return Filer(ends, {REVENUE: amounts, NET_INCOME: [amount / 10 for amount in amounts]}, **more)


def grid_of(rows: pl.DataFrame) -> pl.DataFrame:
    return calendar.fiscal_grid(ordered_facts(rows))[0]


def labels(rows: pl.DataFrame) -> list[str]:
    """`2021Q4 2021-12-31*` for each quarter end; year ends have a star."""
    return [
        f"{row['fiscal_year']}Q{row['fiscal_quarter']} {row['period_end']}{'*' if row['is_year_end'] else ''}"
        for row in grid_of(rows).filter(pl.col("fiscal_quarter") > 0).to_dicts()
    ]


# --- Lengths of periods


@pytest.mark.parametrize(
    ("days", "quarters"),
    [
        (84, 1), (91, 1), (98, 1), (112, 1), (119, 1),
        (168, 2), (182, 2), (196, 2), (252, 3), (273, 3), (280, 3),
        (364, 4), (366, 4), (371, 4),
        (30, None), (75, 1), (74, None), (125, 1), (126, None), (189, 2), (518, None),
    ],
)  # fmt: skip
def test_a_period_is_one_to_four_quarters(days, quarters):
    """The limits include quarters of 12 to 17 weeks; a month, or a transition period of 17 months, is left out."""
    assert pl.select(calendar.quarters_spanned(pl.lit(days))).item() == (quarters or 0)


def test_the_days_of_a_duration_include_both_ends():
    year = pl.DataFrame({"start": [day("2023-01-01")], "end": [day("2023-12-31")]})

    assert year.select(calendar.duration_days()).item() == 365


@pytest.mark.parametrize(
    ("year_end", "month"),
    [
        ("2021-01-03", 12),
        ("2020-12-27", 12),
        ("2025-02-01", 1),
        ("2017-09-03", 8),
        ("2024-02-03", 1),
        ("2025-01-11", 1),
    ],
)
def test_the_first_ten_days_of_a_month_belong_to_the_month_before(year_end, month):
    assert pl.select(calendar.nominal_month(pl.lit(day(year_end)))).item() == month


# --- Calendars


WHOLE = filer(month_ends(2022, 12)).facts()
FORM, FILED, START = pl.col("form"), pl.col("filed"), pl.col("start")


def in_quarters(*periods: tuple[str, str, str]) -> list[Row]:
    """Revenue and net income of periods in quarterly reports: first and last day, and the day of filing."""
    return [
        fact(tag, 5e6, start, end, form="10-Q", filed=filed)
        for start, end, filed in periods
        for tag in (REVENUE, NET_INCOME)
    ]


LABELS = {
    "calendar quarters": (
        filer(month_ends(2022, 6)).facts(),
        [
            "2022Q1 2022-03-31",
            "2022Q2 2022-06-30",
            "2022Q3 2022-09-30",
            "2022Q4 2022-12-31*",
            "2023Q1 2023-03-31",
            "2023Q2 2023-06-30",
        ],
    ),
    # the year begins with its years to date; the day before is a year end, with the balance sheet of that date
    "a company without an annual report has its current year": (
        filer(month_ends(2023, 3, last_month=6)).facts(),
        ["2022Q4 2022-06-30*", "2023Q1 2022-09-30", "2023Q2 2022-12-31", "2023Q3 2023-03-31"],
    ),
}
"""What is filed, and all labels."""


@pytest.mark.parametrize(("rows", "found"), LABELS.values(), ids=LABELS)
def test_labels(rows, found):
    assert labels(rows) == found


LABELLED = {
    # most retailers call the year to the end of January 2024 fiscal 2023; the label of most reports is used
    "a year may be named after the year it begins in": (
        filer(month_ends(2022, 10, last_month=1), names=-1).facts(),
        slice(3, 4),
        ["2021Q4 2022-01-31*"],
    ),
    "or after the year it ends in": (
        filer(month_ends(2022, 10, last_month=1)).facts(),
        slice(3, 4),
        ["2022Q4 2022-01-31*"],
    ),
    "reports without a name are named after the year they end in": (
        filer(month_ends(2022, 4)).facts().with_columns(fy=pl.lit(None, pl.Int32)),
        slice(-1, None),
        ["2022Q4 2022-12-31*"],
    ),
    # as many years as the reports cover; figures with dates after their filing are errors
    "interim reports after the last annual report get quarters": (
        raw(
            WHOLE.filter((FORM == "10-Q") | (FILED < "2023-06-01")).to_dicts(),
            fact(REVENUE, 5e6, "2034-01-01", "2034-03-31", form="10-Q", filed="2024-11-09"),
        ),
        slice(-3, None),
        ["2024Q1 2024-03-31", "2024Q2 2024-06-30", "2024Q3 2024-09-30"],
    ),
}
"""What is filed, and some of the labels."""


@pytest.mark.parametrize(("rows", "places", "found"), LABELLED.values(), ids=LABELLED)
def test_some_labels(rows, places, found):
    assert labels(rows)[places] == found


YEAR_ENDS = {
    # 53 weeks to 3 January 2021 are fiscal year 2020, and the next year ends in December
    "a year that ends in early January belongs to the year before": (
        filer(
            week_ends(day("2018-12-30"), [*WEEKS_52, *WEEKS_53, *WEEKS_52]),
            before=day("2018-12-30"),
        ).facts(),
        ["2019Q4 2019-12-29*", "2020Q4 2021-01-03*", "2021Q4 2022-01-02*"],
    ),
    # three quarters of a year, and the first of the next; a year that begins on another day does not count
    "every year of interim reports without an annual report begins after a year end": (
        raw(
            in_quarters(("2023-05-01", "2024-01-31", "2024-03-09"), ("2024-05-01", "2024-07-31", "2024-09-07")),
            fact(REVENUE, 5e6, "2024-08-01", "2024-10-31", form="10-Q", filed="2024-12-08"),
        ),
        ["2023Q4 2023-04-30*", "2024Q4 2024-04-30*"],
    ),
    # a quarterly report with more lines for the year before than for its own year
    "lines of comparatives do not begin the current year": (
        raw(
            in_quarters(("2023-01-01", "2023-03-31", "2024-05-08"), ("2024-01-01", "2024-03-31", "2024-05-08")),
            fact(CASH_FLOW, 5e6, "2023-01-01", "2023-03-31", form="10-Q", filed="2024-05-08"),
        ),
        ["2023Q4 2023-12-31*"],
    ),
}
"""What is filed, and the labels of year ends."""


@pytest.mark.parametrize(("rows", "found"), YEAR_ENDS.values(), ids=YEAR_ENDS)
def test_year_ends(rows, found):
    assert [label for label in labels(rows) if label.endswith("*")] == found


@pytest.mark.parametrize(
    "weeks",
    [WEEKS_52, (12, 12, 12, 16), (12, 12, 12, 17), (16, 12, 12, 12), (16, 12, 12, 13), (14, 13, 13, 13)],
    ids=str,
)
def test_years_of_weeks(weeks):
    """Years of 52 or 53 weeks, whichever quarter is the long one: a quarter's number is its position in the year."""
    before = day("2020-08-30")
    quarter_ends = week_ends(before, [*weeks, *WEEKS_52, *weeks, *weeks[:2]])

    grid = grid_of(filer(quarter_ends, before=before).facts()).filter(pl.col("fiscal_quarter") > 0)

    assert grid["period_end"].to_list() == quarter_ends
    assert grid["fiscal_quarter"].to_list() == [1, 2, 3, 4] * 3 + [1, 2]


TWO_YEARS, THREE_YEARS = filer(month_ends(2021, 8)), filer(month_ends(2021, 10))


def of_both(value: float, start: object, end: object, **report) -> list[Row]:
    return [fact(tag, value, start, end, **report) for tag in (REVENUE, NET_INCOME)]


UNCHANGED = {
    "one report with an odd name": (
        filer(month_ends(2019, 20)).facts(),
        filer(month_ends(2019, 20))
        .facts()
        .with_columns(fy=pl.when(FILED == "2021-03-01").then(pl.col("fy") - 1).otherwise("fy")),
    ),
    # some filers state trailing twelve months in every 10-Q
    "twelve months in a quarterly report": (
        THREE_YEARS.facts(),
        raw(
            THREE_YEARS.rows(),
            *(
                of_both(500e6, THREE_YEARS.start(n - 3), THREE_YEARS.ends[n], form="10-Q", filed=THREE_YEARS.filed(n))
                for n in (4, 5, 6, 8, 9)
            ),
        ),
    ),
    "a year that a later report repeats a day off": (
        TWO_YEARS.facts(),
        raw(TWO_YEARS.rows(), of_both(400e6, "2021-01-02", "2022-01-01", filed=TWO_YEARS.filed(7), fy=2022)),
    ),
    # pro forma years with other dates, shown next to the real ones
    "a comparative that overlaps reported years": (
        TWO_YEARS.facts(),
        raw(TWO_YEARS.rows(), of_both(9e6, "2021-07-01", "2022-06-30", filed=TWO_YEARS.filed(7), fy=2022)),
    ),
    # the quarter end is the date of most facts
    "a stray end of a quarter": (
        TWO_YEARS.facts(),
        raw(
            TWO_YEARS.rows(),
            fact(REVENUE, 1e6, "2022-04-01", "2022-06-29", form="10-Q", filed=TWO_YEARS.filed(5)),
        ),
    ),
}
"""What is filed, and the same with something that is no fiscal period."""


@pytest.mark.parametrize(("rows", "more"), UNCHANGED.values(), ids=UNCHANGED)
def test_the_calendar_stays_the_same_with(rows, more):
    assert labels(more) == labels(rows)


def test_annual_reports_alone_give_only_year_ends():
    grid = grid_of(filer(month_ends(2021, 12), annual_only=True, annual_form="20-F").facts())

    assert grid.select("period_end", "fiscal_quarter", "is_year_end").rows() == [
        (day("2020-12-31"), 0, False),
        (day("2021-12-31"), 4, True),
        (day("2022-12-31"), 4, True),
        (day("2023-12-31"), 4, True),
    ]
    assert grid["q"].to_list() == [0, 4, 8, 12]
    assert grid["previous_end"].to_list() == [None] * 4


def test_a_company_without_durations_has_no_calendar():
    assert grid_of(raw(fact(CASH, 5, None, "2023-12-31"))).is_empty()


def test_a_quarter_without_facts_keeps_its_number():
    """The numbers continue after the missing quarter, and the quarter after it has no previous end."""
    grid = grid_of(WHOLE.filter((FORM == "10-K") | ((FORM == "10-Q") & (FILED == "2024-05-10"))))

    assert grid.select("q", "period_end", "previous_end").rows() == [
        (0, day("2021-12-31"), None),
        (4, day("2022-12-31"), None),
        (5, day("2023-03-31"), day("2022-12-31")),
        (8, day("2023-12-31"), None),
        (9, day("2024-03-31"), day("2023-12-31")),
        (12, day("2024-12-31"), None),
    ]


def test_years_without_a_report_are_counted():
    """Two reports five years apart: the quarters between them keep their numbers."""
    early, late = filer(month_ends(2012, 4)), filer(month_ends(2018, 6))
    between = fact(REVENUE, 5e6, "2015-04-01", "2015-06-30", form="10-Q", filed="2018-08-09")

    grid = grid_of(raw(early.rows(), late.rows(), between))
    number = dict(grid.select("period_end", "q").iter_rows())

    assert number[day("2018-12-31")] - number[day("2012-12-31")] == 24
    assert number[day("2015-06-30")] - number[day("2012-12-31")] == 10


def test_interim_reports_before_the_first_annual_report_get_quarters():
    """Whole years before the first year of an annual report, as many as the interim reports need."""
    late = WHOLE.filter((FORM == "10-Q") | ((FILED > "2024-06-01") & (START >= "2024-01-01")))

    found = labels(late)

    assert found[:3] == ["2022Q1 2022-03-31", "2022Q2 2022-06-30", "2022Q3 2022-09-30"]
    assert [label for label in found if label.endswith("*")] == ["2024Q4 2024-12-31*"] == found[-1:]


# --- Transition periods


def transition() -> tuple[pl.DataFrame, list[float]]:
    """Fiscal years to June until 2022, then six months to December in a 10-KT, then calendar years."""
    old = filer(month_ends(2021, 8, last_month=6))
    new = filer(month_ends(2023, 5), before=day("2022-12-31"))
    stub = [
        fact(tag, value, "2022-07-01", end, form=form, filed=filed)
        for revenue, end, form, filed in (
            (110e6, "2022-09-30", "10-Q", "2022-11-09"),
            (230e6, "2022-12-31", "10-KT", "2023-03-01"),
        )
        for tag, value in _both(revenue)
    ]
    return raw(old.rows(), stub, new.rows()), [*old.sums[REVENUE], 110e6, 120e6, *new.sums[REVENUE]]


def _both(revenue: float) -> list[tuple[str, float]]:
    return [(REVENUE, revenue), (NET_INCOME, revenue / 10)]


def after_transition(start: str, end: str, *quarters: str, form: str = "10-KT") -> pl.DataFrame:
    """Calendar years until 2023, a transition period, and year to date figures until the ends of two quarters."""
    first = f"{day(end) + timedelta(days=1)}"
    rows = [
        fact(tag, value, *period, form=each, filed=f"{day(period[1]) + timedelta(days=40)}")
        for *period, each in ((start, end, form), *((first, quarter, "10-Q") for quarter in quarters))
        for tag, value in _both(100e6)
    ]
    return raw(filer(month_ends(2022, 8)).rows(), rows)


@pytest.mark.parametrize(
    ("start", "end", "quarters", "form", "found", "month"),
    [
        # no annual report on the new fiscal year is filed yet
        ("2024-01-01", "2024-03-31", ("2024-06-30", "2024-09-30"), "10-KT", ("2025Q1", "2025Q2"), 3),
        ("2024-01-01", "2024-02-29", ("2024-05-31", "2024-08-31"), "10-KT", ("2025Q1", "2025Q2"), 2),
        ("2024-01-01", "2024-09-30", ("2024-12-31", "2025-03-31"), "10-KT", ("2025Q1", "2025Q2"), 9),
        ("2024-01-01", "2024-03-31", ("2024-06-30", "2024-09-30"), "10-Q", ("2024Q2", "2024Q3"), 12),
        ("2023-11-01", "2024-03-31", ("2024-06-30", "2024-09-30"), "10-KT", ("2024Q2", "2024Q3"), 12),
    ],
    ids=["three months", "two months", "nine months", "a quarter", "not after a fiscal year"],
)
@in_one_call
def test_the_fiscal_year_begins_anew_after_a_transition_report_only(start, end, quarters, form, found, month):
    rows = after_transition(start, end, *quarters, form=form)

    assert labels(rows)[-2:] == [f"{label} {quarter}" for label, quarter in zip(found, quarters, strict=True)]
    today = yield rows
    assert today.found.profiles["fiscal_year_end_month"].to_list() == [month]


def test_a_transition_period_is_not_a_fiscal_year():
    found = labels(transition()[0])

    assert [label for label in found if label.endswith("*")] == [
        "2021Q4 2021-06-30*",
        "2022Q4 2022-06-30*",
        "2023Q4 2023-12-31*",
    ]
    assert [label[-10:] for label in found if "2022-0" in label or "2022-1" in label][-2:] == [
        "2022-09-30",
        "2022-12-31",
    ]


@in_one_call
def test_twelve_months_tile_a_transition_period():
    """After the change, twelve months are still the last four quarters, whatever years these belong to."""
    rows, quarters = transition()

    today = yield rows
    found = today.values.filter(item="revenue", period_kind="ttm").sort("period_end")

    expected = [sum(quarters[number - 3 : number + 1]) for number in range(3, len(quarters))]
    assert found["value"].to_list() == expected
    assert found["period_end"].to_list()[5:7] == [day("2022-09-30"), day("2022-12-31")]


@in_one_call
def test_twelve_months_across_a_new_year_end_need_no_quarters():
    """Half a year, and the nine months before it less the three that are more than twelve months ago; nothing less."""
    found = yield raw(flows.half_year_after_a_transition_period())

    assert value_of(found, "revenue", "ttm", "2023-03-31") == 240e6 + 320e6 - 100e6
    [legs] = found.found.versions.filter(item="revenue", period_end=day("2023-03-31"))["legs"].to_list()
    assert [(leg["value"], leg["weight"]) for leg in legs] == [(320e6, 1.0), (240e6, 1.0), (100e6, -1.0)]


# --- The position of a fact


def placed(rows: pl.DataFrame) -> pl.DataFrame:
    """The values on the fiscal grid, with the label of the quarter that each ends in."""
    vintages, _ = stated(rows)
    grid = grid_of(rows)
    return calendar.on_grid(vintages, grid)[0].join(grid.select("cik", "q", "period_end"), on=["cik", "q"])


def test_facts_find_their_quarter_and_their_length():
    company = filer(month_ends(2022, 8), balances={CASH: [5e6] * 8})

    found = placed(company.facts()).select("concept", "period_end", "n", "days").unique()

    third = found.filter(period_end=day("2023-09-30"))
    assert sorted(third.select("concept", "n").rows()) == [
        ("cash", 0),
        ("net_income_parent", 1),
        ("net_income_parent", 3),
        ("revenue", 1),
        ("revenue", 3),
    ]
    assert third.filter(concept="revenue").sort("n")["days"].to_list() == [92, 273]


@pytest.mark.parametrize(
    ("start", "end", "fits"),
    [
        ("2023-04-01", "2023-06-30", True),
        ("2023-04-02", "2023-06-30", True),  # filers start a day late
        ("2023-04-01", "2023-07-07", True),  # or end a week late
        ("2023-04-01", "2023-07-09", False),
        ("2023-04-15", "2023-06-30", False),
        ("2023-06-01", "2023-06-30", False),  # a month
        ("2022-07-01", "2023-06-30", True),  # twelve months that are not a fiscal year
        (None, "2023-06-26", True),
        (None, "2023-06-27", True),  # a balance near two ends belongs to the nearer one
        (None, "2023-05-15", False),
    ],
)
def test_facts_of_other_dates_are_not_of_a_fiscal_period(start, end, fits):
    """Dates within a week of the grid count as dates of the grid; a fact with other dates is not used."""
    tag = "OperatingIncomeLoss" if start else CASH
    rows = raw(filer(month_ends(2022, 8)).rows(), fact(tag, 5e6, start, end, form="10-Q", filed="2023-08-09"))

    found = placed(rows).filter(pl.col("concept").is_in(["operating_income", "cash"]))

    assert found["period_end"].to_list() == ([day("2023-06-30")] if fits else [])
