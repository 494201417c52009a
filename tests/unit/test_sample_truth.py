"""The truth of the sample equals its simulated books, and has no value where the filings support none."""

from datetime import date
from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.sample import Company, Filer, TruthRow, sample_filers, simulate
from pipelines.sample.business.books import Quarter, keep_books
from pipelines.sample.business.schedule import known_from
from tests.strategies import FIRST_DAY, LAST_DAY, examples, filers

pytestmark = pytest.mark.no_cover  # tracing the simulator would take as long as the tests

FLOWS = {
    "revenue": lambda flows: (
        flows["revenue"] if "revenue" in flows else flows["net_interest_income"] + flows["noninterest_income"]
    ),
    "net_income": lambda flows: flows["net_income"],
    "free_cash_flow": lambda flows: flows["operating_cash_flow"] - flows["capex"] - flows.get("equipment_on_lease", 0),
}
BALANCES = {
    "total_debt": lambda balances: balances["debt"],
    "cash_and_equivalents": lambda balances: balances["cash"] + balances["short_term_investments"],
}
WEIGHTED = ("shares_basic", "shares_diluted")


@cache
def company(word: str) -> Company:
    return simulate(next(filer for filer in sample_filers() if word in filer.name))


def truth(word: str, item: str, kind: str = "ttm") -> dict[date, float]:
    return {row.period_end: row.value for row in company(word).truth() if (row.item, row.period_kind) == (item, kind)}


def check_against_books(filer: Filer, rows: list[TruthRow]) -> None:
    """Every true value equals the sum over the quarters of the books, within the rounding of filings.

    Values stated only under other standards are as these standards have them.
    """
    books = keep_books(filer)
    ordinals, quarters_of_all = {key: n for n, key in enumerate(books)}, list(books.values())
    for row in (row for row in rows if not told_under_other_standards(filer, row)):
        last = ordinals[row.fiscal_year, row.fiscal_quarter]
        quarters = quarters_of_all[last - 3 : last + 1]
        assert row.period_end == quarters[-1].period.end
        if row.item in FLOWS:
            assert abs(row.value - sum(FLOWS[row.item](quarter.flows) for quarter in quarters)) <= row.tolerance
        elif row.item in BALANCES:
            assert abs(row.value - BALANCES[row.item](quarters[-1].balances)) <= row.tolerance
        elif row.item in WEIGHTED:
            assert abs(row.value - mean_by_days(quarters, row.item)) <= row.tolerance
        elif row.item == "dividends_per_share":
            assert abs(row.value - sum(quarter.dividends_per_share for quarter in quarters)) <= row.tolerance
        else:
            least, most = earnings_per_share(books, list(books)[last - 3 : last + 1], row.fiscal_quarter == 4)
            assert least - row.tolerance - 1e-6 <= row.value <= most + row.tolerance + 1e-6


def told_under_other_standards(filer: Filer, row: TruthRow) -> bool:
    """Periods before, or within, the three years of the report in which a foreign filer changes to US-GAAP."""
    if filer.conversion is None:
        return False
    since = filer.conversion.year - (2 if row.fiscal_quarter == 4 else -1)
    return row.fiscal_year < since


def earnings_per_share(books: dict, quarters: list[tuple[int, int]], is_year: bool) -> tuple[float, float]:
    """The least and the largest earnings per share of a year, or of four filed or derived quarters."""

    def earned(year: int, first: int, last: int) -> float:
        summed = [books[year, n] for n in range(first, last + 1)]
        return sum(quarter.flows["net_income"] for quarter in summed) / mean_by_days(summed, "shares_basic")

    if is_year:
        [year] = {year for year, _ in quarters}
        return earned(year, 1, 4), earned(year, 1, 4)
    ways = [{earned(year, n, n), earned(year, 1, n) - (earned(year, 1, n - 1) if n > 1 else 0)} for year, n in quarters]
    return sum(map(min, ways)), sum(map(max, ways))


def mean_by_days(quarters: list[Quarter], item: str) -> Fraction:
    days = [quarter.period.days for quarter in quarters]
    return Fraction(sum(getattr(q, item) * n for q, n in zip(quarters, days, strict=True)), sum(days))


def test_the_truth_agrees_with_the_books():
    for filer in sample_filers():
        check_against_books(filer, simulate(filer).truth())


def test_twelve_months_at_a_year_end_are_the_year():
    for filer in sample_filers():
        annual, ttm = (
            {(row.period_end, row.item): row for row in simulate(filer).truth() if row.period_kind == kind}
            for kind in ("annual", "ttm")
        )
        for key, row in annual.items():
            assert (ttm[key].value, row.fiscal_quarter) == (row.value, 4)
        assert {row.fiscal_quarter for row in ttm.values()} <= {1, 2, 3, 4}


def test_a_plain_filer_has_every_item_from_its_first_full_year_on():
    """Three years of flows before the first interim period, two balance sheets, then all nine items every quarter."""
    rows = company("Orchard").truth()
    first = [row for row in rows if row.period_end == date(2013, 12, 31)]
    later = [row for row in rows if row.period_end >= date(2014, 12, 31)]

    assert {row.item for row in first} == {
        "revenue",
        "net_income",
        "free_cash_flow",
        "eps_basic",
        "dividends_per_share",
        *WEIGHTED,
    }
    assert {row.cik for row in rows} == {"9990000001"}
    ends = {row.period_end for row in later}
    assert (len(ends), max(ends), len(later)) == (44, date(2025, 9, 30), 9 * (44 + 11))


def test_earnings_per_share_are_the_sum_of_quarters_as_filed():
    """The fourth quarter is the year less nine months, so the sum differs from earnings divided by shares."""
    facts = company("Orchard").companyfacts()["facts"]["us-gaap"]["EarningsPerShareBasic"]["units"]["USD/shares"]
    filed = {(fact["start"], fact["end"]): fact["val"] for fact in facts}
    fourth = filed["2018-01-01", "2018-12-31"] - filed["2018-01-01", "2018-09-30"]
    quarters = [filed["2019-01-01", "2019-03-31"], filed["2019-04-01", "2019-06-30"], filed["2018-07-01", "2018-09-30"]]

    assert truth("Orchard", "eps_basic")[date(2019, 6, 30)] == pytest.approx(fourth + sum(quarters))


def test_items_that_are_never_tagged_have_no_value():
    for word, missing in (("Ridge", "free_cash_flow"), ("Juniper", "total_debt")):
        assert not {missing, "dividends_per_share"} & {row.item for row in company(word).truth()}


@pytest.mark.parametrize(
    ("word", "year", "items", "untouched"),
    [
        ("Copper", 2019, ["revenue", "net_income", "eps_basic"], ["free_cash_flow", "total_debt"]),
        ("Meadow", 2021, ["revenue"], ["net_income", "eps_basic", "free_cash_flow"]),
    ],
)
def test_no_value_for_twelve_months_that_mix_bases(word, year, items, untouched):
    """The quarters of the earlier revised year were never restated, but the years were."""
    quarters = {
        quarter.end for label in (year - 1, year) for quarter in company(word).filer.calendar.year(label).quarters[:3]
    }
    years = {company(word).filer.calendar.year_end(label) for label in (year - 2, year - 1, year)}

    years.add(company(word).filer.calendar.year(year + 1).quarters[0].end)
    for item in items:
        assert (quarters | years) & truth(word, item).keys() == years
    for item in untouched:
        assert quarters <= set(truth(word, item))


def test_no_value_where_only_the_prospectus_states_one():
    """After an offering: no balance sheet, cash flow or sum of earnings per share before the first reports' periods."""
    assert min(truth("Nimbus", "cash_and_equivalents")) == date(2019, 12, 31)
    assert min(truth("Nimbus", "free_cash_flow", "annual")) == date(2018, 12, 31)
    assert [date(2020, 6, 30) in truth("Nimbus", item) for item in ("revenue", "free_cash_flow")] == [True, False]
    assert [end in truth("Nimbus", "eps_basic") for end in (date(2021, 9, 30), date(2022, 3, 31))] == [False, True]


@pytest.mark.parametrize("word", ["Silent", "Granite"])
def test_no_value_without_facts(word):
    assert company(word).truth() == []


def test_nothing_is_true_before_the_first_annual_report():
    assert company("Orchard").truth(filed_by=date(2015, 12, 31)) == [] != company("Orchard").truth(date(2016, 3, 15))


def test_the_truth_of_a_day_has_the_share_basis_of_that_day():
    """Before the split, four times the earnings per share and a quarter of the shares; money is the same."""
    end = date(2019, 9, 28)
    then = {row.item: row.value for row in company("Harbor").truth(filed_by=date(2020, 7, 31)) if row.period_end == end}
    now = {row.item: row.value for row in company("Harbor").truth() if row.period_end == end}

    assert then["eps_basic"] / now["eps_basic"] == pytest.approx(4, rel=0.01)
    assert then["dividends_per_share"] == pytest.approx(4 * now["dividends_per_share"])
    assert now["shares_basic"] / then["shares_basic"] == pytest.approx(4, rel=1e-6)
    assert then["revenue"] == now["revenue"]


def test_the_truth_of_a_day_does_not_know_a_later_amendment():
    filer = company("Copper").filer
    amended = known_from(filer, filer.revisions[0])
    year_end = date(2019, 12, 31)

    def revenue(day: date) -> float:
        return next(
            row.value for row in company("Copper").truth(day) if (row.item, row.period_end) == ("revenue", year_end)
        )

    assert revenue(date.fromordinal(amended.toordinal() - 1)) > revenue(amended) == truth("Copper", "revenue")[year_end]


def test_a_foreign_filer_has_years_in_its_own_currency():
    rows = company("Fjord").truth()
    revenue = company("Fjord").companyfacts()["facts"]["ifrs-full"]["Revenue"]["units"]["EUR"]

    assert {row.fiscal_quarter for row in rows} == {4}
    assert {row.value for row in rows if row.item == "revenue"} == {fact["val"] for fact in revenue}


# -- any mix of traits -----------------------------------------------------------------------------------------------


def keys(rows: list[TruthRow]) -> set[tuple]:
    return {(row.period_kind, row.period_end, row.item) for row in rows}


@examples(25)
@given(filer=filers(), day=st.dates(FIRST_DAY, LAST_DAY))
def test_whatever_the_traits_the_truth_and_the_filings_agree(filer, day):
    """Books and truth agree, filings balance, an earlier cut is a subset, and nothing depends on chance."""
    one = simulate(filer)
    rows = one.truth()

    check_against_books(filer, rows)
    assert simulate(filer).filings == one.filings
    assert len(keys(rows)) == len(rows)
    if not (filer.revisions or filer.merged):  # later revisions of figures known before
        assert keys(one.truth(filed_by=day)) <= keys(rows)
    for filing in one.filings:
        balance = {(fact.line.item, fact.column): fact.value for fact in filing.facts if fact.line}
        for (item, column), value in balance.items():
            if item == "assets":
                difference = value - balance["liabilities", column] - balance["equity", column]
                assert abs(difference) <= (1_000_000 if filer.rounded_in else 0)
