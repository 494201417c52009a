"""Current reports: a recast restates values, a press release does not."""

import pytest

from pipelines.normalize.facts.stated import without_partial_recasts
from tests.factories import (
    CASH,
    CASH_FLOW,
    DIVIDENDS,
    EPS,
    NET_INCOME,
    REVENUE,
    Filer,
    day,
    fact,
    month_ends,
    raw,
    row_of,
    stated,
    value_of,
)
from tests.shapes.flows import annual_report
from tests.together import in_one_call

YEAR = ("2022-01-01", "2022-12-31")
ANNUAL = {REVENUE: 900e6, NET_INCOME: 90e6, EPS: 1.5, CASH_FLOW: 120e6}
RECAST = {REVENUE: 800e6, NET_INCOME: 90e6, CASH_FLOW: 110e6}
RECAST_CONCEPTS = {"revenue": 800e6, "net_income_parent": 90e6, "operating_cash_flow": 110e6}


def report(figures, form="10-K", filed="2023-02-20", period=YEAR, taxonomy="us-gaap"):
    return [fact(tag, value, *period, form=form, filed=filed, taxonomy=taxonomy) for tag, value in figures.items()]


def kept(*reports):
    """The facts that count, by filing date and concept."""
    found, _ = without_partial_recasts(stated(raw(*reports))[0])
    return {(str(row["filed"]), row["concept"]): row["value"] for row in found.rows(named=True)}


def current(figures, filed="2023-04-25", form="8-K"):
    """The facts that a current report adds to the annual one."""
    told = kept(report(ANNUAL), report(figures, form, filed))
    return {concept: value for (day, concept), value in told.items() if day == filed}


@pytest.mark.parametrize(
    ("figures", "form", "expected"),
    [
        # after a change of segments or a spin-off, audited statements are filed again with a current report
        *((RECAST, form, RECAST_CONCEPTS) for form in ("8-K", "6-K", "8-K/A")),
        # a press release rounds and repeats figures: the figures of periodic reports stay
        ({REVENUE: 800e6}, "8-K", {}),
        ({NET_INCOME: 91e6, EPS: 1.52}, "8-K", {}),
        ({REVENUE: 800e6, NET_INCOME: 91e6}, "8-K", {}),  # a press release has an income statement
        ({NET_INCOME: 91e6, CASH_FLOW: 110e6}, "8-K", {}),
        ({REVENUE: 800e6, CASH_FLOW: 110e6}, "8-K", {}),
        # net income of the year was in the annual report; dividends per share were not
        ({NET_INCOME: 91e6, DIVIDENDS: 0.52}, "8-K", {"dividends_per_share": 0.52}),
    ],
)
def test_a_complete_set_of_statements_restates_and_single_figures_do_not(figures, form, expected):
    assert current(figures, form=form) == expected


def test_a_balance_sheet_may_be_the_second_statement():
    filed = "2023-04-25"
    sheet = fact(CASH, 50e6, None, "2022-12-31", form="8-K", filed=filed)

    told = kept(report(ANNUAL), report({REVENUE: 800e6, NET_INCOME: 90e6}, "8-K", filed), sheet)

    assert told[filed, "revenue"] == 800e6


def test_a_figure_stated_before_the_periodic_report_is_used():
    """An announcement three weeks earlier: its figure is known from then on, and the periodic report repeats it."""
    early = "2023-02-01"

    told = kept(report(ANNUAL), report({REVENUE: 899e6}, "8-K", early))

    assert (told[early, "revenue"], told["2023-02-20", "revenue"]) == (899e6, 900e6)


@pytest.mark.parametrize(
    "before",
    [[{**row, "cik": "9990000902"} for row in report(ANNUAL)], report(ANNUAL, period=("2021-01-01", "2021-12-31"))],
    ids=["of another company", "of another year"],
)
def test_each_company_and_period_is_decided_separately(before):
    """Other reports do not make a figure a repetition."""
    assert ("2023-04-25", "revenue") in kept(before, report({REVENUE: 800e6}, "8-K", "2023-04-25"))


# --- Through all steps

ENDS = month_ends(2021, 8)
FILER = Filer(ENDS, {REVENUE: [100e6] * 8, NET_INCOME: [10e6] * 8, CASH_FLOW: [20e6] * 8}, balances={CASH: [5e6] * 8})


@pytest.mark.parametrize(
    ("current_report", "versions"),
    [
        # between the recast and the next annual report, twelve months are on its basis if the quarters are
        ({REVENUE: 360e6, NET_INCOME: 40e6, CASH_FLOW: 75e6}, [("10-K", 400e6), ("8-K", 360e6)]),
        ({REVENUE: 399e6, NET_INCOME: 39e6}, [("10-K", 400e6)]),
    ],
    ids=["recast", "press release"],
)
@in_one_call
def test_a_recast_year_is_a_new_version_and_a_press_release_makes_none(current_report, versions):
    found = yield raw(FILER.rows(), report(current_report, "8-K", "2023-04-25"))

    of_year = found.found.versions.filter(item="revenue", period_end=day("2022-12-31"))
    assert of_year.select("form", "value").rows() == versions
    assert value_of(found, "revenue", "annual", "2022-12-31") == versions[-1][1]


def foreign(half_years):
    """A foreign issuer: a year under IFRS in each 20-F, and a half year with its comparative in each 6-K."""
    rows = []
    for number, amount in enumerate(half_years):
        year, is_half = 2021 + number // 2, number % 2 == 0
        form, filed, last_day = ("6-K", f"{year}-07-30", "06-30") if is_half else ("20-F", f"{year + 1}-03-10", "12-31")
        for back in (0, 1) if year > 2021 else (0,):
            before = number - 2 * back
            told = half_years[before] if is_half else half_years[before - 1] + half_years[before]
            period = f"{year - back}-01-01", f"{year - back}-{last_day}"
            rows += report({"Revenue": told, "ProfitLoss": told / 10}, form, filed, period, "ifrs-full")
        cash = fact("CashAndCashEquivalents", amount, None, f"{year}-{last_day}", form=form, filed=filed)
        rows.append({**cash, "taxonomy": "ifrs-full"})
    return rows


@in_one_call
def test_half_year_reports_of_foreign_issuers_give_twelve_months_between():
    """FY + half year - half year before: 300 + 170 - 140 at the end of June."""
    found = yield raw(foreign([140e6, 160e6, 170e6, 180e6]))

    row = row_of(found.values, "revenue", "ttm", "2022-06-30")
    assert (row["value"], row["method"]) == (330e6, "year_to_date")
    assert value_of(found, "revenue", "annual", "2022-06-30") is None
    assert value_of(found, "revenue", "annual", "2022-12-31") == 350e6


@in_one_call
def test_without_half_year_reports_a_foreign_issuer_has_years_only():
    annual = [row for row in foreign([140e6, 160e6, 170e6, 180e6]) if row["form"] == "20-F"]

    found = yield raw(annual)

    ends = found.values.filter(item="revenue", period_kind="ttm")["period_end"].to_list()
    assert [str(end) for end in ends] == ["2021-12-31", "2022-12-31"]


@pytest.mark.parametrize(("taxonomy", "is_recast"), [("us-gaap", True), ("ifrs-full", False)])
@in_one_call
def test_a_year_is_recast_within_one_set_of_standards_only(taxonomy, is_recast):
    """The report of 2022 states a higher amount for 2021 than the report of 2021 does."""
    rows = [*annual_report(2020), *annual_report(2021), *annual_report(2022, 1.2, taxonomy=taxonomy)]

    found = yield raw(rows)
    row = row_of(found.values, "revenue", "annual", "2021-12-31")

    assert row["filed"] == day("2023-02-20")
    assert ("recast" in row["flags"].split(",")) is is_recast
